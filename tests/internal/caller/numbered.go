package caller

import (
	"fmt"
	"strings"
)

// Numbered is the whole answer of a simulated vendor whose words are numbered.
func Numbered(vendor string, words int) string {
	all := make([]string, words)
	for i := range all {
		all[i] = fmt.Sprintf("w%d@%s", i, vendor)
	}
	return strings.Join(all, " ")
}

// From is the vendor whose whole numbered answer of so many words this is, with its
// end and its usage; else it says what it is.
func (a Answer) From(words int) string {
	_, vendor, _ := strings.Cut(a.Text, "@")
	vendor, _, _ = strings.Cut(vendor, " ")
	if a.Whole() && a.Text == Numbered(vendor, words) && a.Stop == "stop" && a.Output == words {
		return vendor
	}
	return fmt.Sprintf("no whole answer: %+v", a)
}
