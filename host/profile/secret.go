package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is text that must not be seen, such as an API key. However it is
// printed, logged or marshalled it says [redacted]; only [Secret.Reveal] gives
// the text. It unmarshals as a string does.
//
// Keep it in exported fields: fmt prints unexported ones without asking.
type Secret string

var (
	_ fmt.Formatter  = Secret("")
	_ slog.LogValuer = Secret("")
	_ json.Marshaler = Secret("")
)

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// Fingerprint names the secret without telling it: "k_" and the first 12 hex
// digits of its SHA-256. Equal secrets have equal fingerprints.
func (s Secret) Fingerprint() string {
	sum := sha256.Sum256([]byte(s))
	return "k_" + hex.EncodeToString(sum[:])[:12]
}

// Format answers every verb, %#v and %x included.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// String is for callers that do not use fmt.
func (Secret) String() string { return redacted }

// LogValue is for log/slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON gives the JSON string "[redacted]".
func (Secret) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

// MarshalText is for text encodings.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalYAML is for the YAML libraries.
func (Secret) MarshalYAML() (any, error) { return redacted, nil }
