package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	maxName   = 64 // of a tool at any vendor
	separator = "__"
	hashBytes = 4 // in a name that could not stay as it is
)

// toolName is the name by which models call a server's tool. It is made of the
// row's id and the tool's own name; if these had to change, a hash of both keeps
// it apart from others. Names that did not change cannot meet: the first
// separator ends the id.
func toolName(id, tool string) string {
	name := safe(id) + separator + safe(tool)
	plain := id+separator+tool == name && len(name) <= maxName &&
		!strings.Contains(id, separator) && !strings.HasSuffix(id, "_")
	if plain {
		return name
	}
	sum := sha256.Sum256([]byte(id + "\x00" + tool))
	suffix := "_" + hex.EncodeToString(sum[:hashBytes])
	return name[:min(len(name), maxName-len(suffix))] + suffix
}

// safe has only characters that every vendor takes, one byte each.
func safe(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}
