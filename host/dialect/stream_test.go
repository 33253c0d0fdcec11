package dialect_test

import (
	"testing"

	"spillway/host/dialect"
	"spillway/sdk"
)

// decode gives the events of a stream and whether it was complete.
func decode(tb testing.TB, d dialect.Dialect, stream []byte) ([]sdk.Event, bool) {
	tb.Helper()
	var events []sdk.Event
	dec := d.NewDecoder()
	emit := func(e sdk.Event) { events = append(events, e) }
	frames(tb, stream, func(event string, data []byte) { dec.Decode(event, data, emit) })
	return events, dec.Close(emit)
}

func encode(d dialect.Dialect, o dialect.AnswerOptions, events []sdk.Event) []byte {
	enc := d.NewEncoder(o)
	var stream []byte
	for _, e := range events {
		stream = enc.Encode(stream, e)
	}
	return stream
}

func start(id, model string) sdk.Event { return sdk.Event{Kind: sdk.KindStart, ID: id, Model: model} }

func blockStart(i int, kind sdk.BlockKind) sdk.Event {
	return sdk.Event{Kind: sdk.KindBlockStart, Index: i, Block: kind}
}

func callStart(i int, id, name string) sdk.Event {
	return sdk.Event{Kind: sdk.KindBlockStart, Index: i, Block: sdk.BlockToolCall, ID: id, Name: name}
}

func delta(i int, kind sdk.EventKind, text string) sdk.Event {
	return sdk.Event{Kind: kind, Index: i, Text: text}
}

func textDelta(i int, text string) sdk.Event { return delta(i, sdk.KindTextDelta, text) }

func callDelta(i int, text string) sdk.Event { return delta(i, sdk.KindToolCallDelta, text) }

func blockEnd(i int) sdk.Event { return sdk.Event{Kind: sdk.KindBlockEnd, Index: i} }

func usage(u sdk.Usage) sdk.Event { return sdk.Event{Kind: sdk.KindUsage, Usage: &u} }

func finish(f sdk.Finish) sdk.Event { return sdk.Event{Kind: sdk.KindFinish, Finish: f} }
