package tools

import (
	"encoding/json"
	"slices"
	"strings"
)

// The policies of a tools-shell row.
const (
	confirmAlways   = "always"
	confirmUnlisted = "unlisted"
	confirmNever    = "never"
)

// Confirm implements tool.Confirmer.
func (s *shell) Confirm(input json.RawMessage) (string, bool) {
	in, err := readShell(input)
	if err != nil {
		return "run a command", false // Run refuses it
	}
	ask := true
	switch s.confirm {
	case confirmNever:
		ask = false
	case confirmUnlisted:
		ask = !listed(in.Command, s.allow)
	}
	return "run: " + oneLine(in.Command), ask
}

// listed reports whether a command is one of those that nobody is asked about: its
// first words are an entry of allow, and it is a simple command in which the shell
// starts nothing else and writes no file.
func listed(command string, allow []string) bool {
	words, simple := simpleWords(command)
	return simple && slices.ContainsFunc(allow, func(entry string) bool {
		first := strings.Fields(entry)
		return len(first) > 0 && len(words) >= len(first) && slices.Equal(words[:len(first)], first)
	})
}

// operators make more of a line than one command and its words, unquoted.
const operators = ";&|<>()$`\\"

// simpleWords cuts a command into words as the shell does, if it has neither
// operators nor substitutions. Anything unusual is not simple.
func simpleWords(command string) (words []string, simple bool) {
	var word strings.Builder
	begun := false
	quote := rune(0)
	for _, r := range command {
		switch {
		case r < ' ' && r != '\t', r == 0x7f, r == '\uFFFD':
			return nil, false
		case quote == '"' && strings.ContainsRune("$`\\", r):
			return nil, false
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case strings.ContainsRune(operators, r):
			return nil, false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, quote == 0
}
