package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"spillway/host/agent/tool"
)

// read decodes a tool's input. It is strict, so that a model hears of a misspelt
// member instead of getting something else than it asked for.
func read(input json.RawMessage, into any) error {
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("input: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// configure decodes a row's configuration, which was validated, over its defaults.
func configure(config json.RawMessage, into any) error {
	if len(config) == 0 {
		return nil
	}
	return json.Unmarshal(config, into)
}

// failure is what the model is told of an error that it may do something about.
func failure(err error) (tool.Result, error) { return tool.Failed("%v", err), nil }

// notRun is the error of a tool that has begun nothing.
func notRun(err error) error { return fmt.Errorf("%w: %w", tool.ErrNotRun, err) }

// maxAsked bounds what a question shows of an input, in bytes.
const maxAsked = 4096

// oneLine is s on one line, for a question: whoever answers it must see what there
// is, line ends and control characters too.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range shorten(strings.TrimSpace(s), maxAsked) {
		switch {
		case r == '\n':
			b.WriteString(" ⏎ ")
		case r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
