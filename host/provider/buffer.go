package provider

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"spillway/sdk"
)

// maxBuffered bounds an answer that is held back whole. Models' longest answers
// have a few hundred thousand tokens, each of them a frame of some 200 bytes.
const maxBuffered = 64 << 20

// mayHold is how much of an answer is kept before it is handed out.
func (a *attempt) mayHold() int {
	if a.request.Dispatch.Buffer {
		return maxBuffered
	}
	return maxHeld
}

// heldEvents decodes the frames of an answer that was held back.
func (a *attempt) heldEvents() (events []sdk.Event) {
	d := a.dialect.NewDecoder()
	emit := func(e sdk.Event) { events = append(events, e) }
	for _, f := range a.held {
		if len(f.data) > 0 {
			d.Decode(f.event, f.data, emit)
		}
	}
	d.Close(emit)
	return events
}

// invalid says how a complete answer is not what was asked for, nil if it is: an
// answer that was to follow a JSON schema must.
func (a *attempt) invalid(events []sdk.Event) *sdk.Failure {
	if !a.request.Shape.Structured || a.facts.Finish != sdk.FinishStop {
		return nil
	}
	p, err := a.payload.Prompt()
	if err != nil || p.Schema == nil {
		return nil // it was sent as it was; nothing to check it by
	}
	var text strings.Builder
	for _, e := range events {
		if e.Kind == sdk.KindTextDelta {
			text.WriteString(e.Text)
		}
	}
	if err := follows(text.String(), p.Schema.Schema); err != nil {
		f := sdk.NewFailure(sdk.CodeServer, "buffer.schema", "the answer does not follow the JSON schema that was asked for: "+err.Error())
		f.Phase = a.phase()
		return f
	}
	return nil
}

// schemaURL names a request's schema; nothing is ever fetched.
const schemaURL = "request:schema"

// follows checks a text by a schema; one that cannot be compiled checks only that
// the text is JSON.
func follows(text string, schema []byte) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	if len(schema) == 0 {
		if _, ok := v.(map[string]any); !ok {
			return fmt.Errorf("got %T, want an object", v)
		}
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if c.AddResource(schemaURL, doc) != nil {
		return nil
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil
	}
	return compiled.Validate(v)
}
