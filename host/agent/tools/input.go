package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

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

// oneLine is s on one line of at most n bytes, for a question.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}
