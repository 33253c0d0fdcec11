package dialect

import (
	"slices"
	"strings"
)

const (
	maxDropped     = 32 // names kept; a stranger may send any number
	maxDroppedName = 64 // bytes of one
)

// dropped collects the names of what could not be carried, each once, in the
// order of their first appearance.
type dropped []string

func (d *dropped) add(name string) {
	if len(name) > maxDroppedName {
		name = strings.ToValidUTF8(name[:maxDroppedName], "")
	}
	if len(*d) < maxDropped && !slices.Contains(*d, name) {
		*d = append(*d, name)
	}
}
