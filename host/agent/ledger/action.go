package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"spillway/host/agent/tool"
)

// Action is one tool call that follows from a message of the user.
type Action struct {
	Session string `json:"session"`
	Message string `json:"message"` // id of the user's message in the session
	Tool    string `json:"tool"`
	// Input is an object; empty is {}. Of an [Entry] that was read from the file
	// it is a JSON string if it was longer than is kept.
	Input json.RawMessage `json:"input"`
	// Ordinal counts the calls before this one in the accepted answers to the
	// message that are equal to it: their keys are the same at ordinal 0.
	Ordinal int `json:"ordinal"`
	// Effect is no part of the key. Plan passes over what is read-only; Run asks
	// the tool itself.
	Effect tool.Effect `json:"effect"`
}

// keyBytes of a hash are enough that no two actions of a person's life meet.
const keyBytes = 16

// Key names the action: equal arguments give an equal key, however they are
// written.
func (a Action) Key() string {
	kind, input := "json", canonicalOrNil(a.Input)
	if input == nil { // the tool will refuse it
		kind, input = "raw", a.Input
	}
	h := sha256.New()
	for _, field := range []string{"spillway tool call 1", a.Session, a.Message, a.Tool, kind, string(input)} {
		fmt.Fprintf(h, "%d:%s,", len(field), field)
	}
	fmt.Fprintf(h, "%d", a.Ordinal)
	return hex.EncodeToString(h.Sum(nil)[:keyBytes])
}

const maxName = 256 // bytes of a session's, message's or tool's name

func (a Action) check() error {
	for _, name := range []struct{ what, value string }{{"session", a.Session}, {"message", a.Message}, {"tool", a.Tool}} {
		if name.value == "" || len(name.value) > maxName {
			return fmt.Errorf("action: %s has %d bytes (allowed: 1 to %d)", name.what, len(name.value), maxName)
		}
	}
	if a.Ordinal < 0 {
		return fmt.Errorf("action: ordinal %d is negative", a.Ordinal)
	}
	return nil
}
