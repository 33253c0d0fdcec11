package serve

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"spillway/sdk"
)

// FuzzConvert: whatever a frame of a peer holds, what is read of it can be sent
// on, and is then read alike: a message that was cut stays as it is.
func FuzzConvert(f *testing.F) {
	fail := failureToWire(&sdk.Failure{Code: sdk.CodeQuota, Message: "used up", RetryAfter: 1, Attempt: 2})
	for _, m := range []proto.Message{
		fail,
		eventToWire(sdk.Event{Kind: sdk.KindFinish, Finish: sdk.FinishStop, Usage: &sdk.Usage{Input: 1}}),
		outcomeToWire(sdk.Outcome{Seq: 1, Call: "c", Failure: failureFromWire(fail)}),
		decisionToWire(sdk.Decision{Call: "c", Target: &sdk.Route{Provider: "p"}, Skipped: []sdk.Skip{{Reason: "r"}}, Changes: []sdk.Change{{Target: "p"}}}),
		statusToWire(sdk.Status{Targets: []sdk.TargetStatus{{Target: "p"}}, Orders: []sdk.Order{{Verb: sdk.VerbPin}}}),
		viewToWire(sdk.Request{Provider: "p", Model: "m", Metadata: map[string]string{"a": "b"}}),
		catalogueToWire(sdk.Catalogue{Providers: []sdk.Provider{{Name: "p", Models: []sdk.Model{{ID: "m"}}}}}),
		manifestToWire(sdk.Manifest{Name: "n", Schema: []byte("{}"), Judge: true}),
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		again(t, b, failureFromWire, failureToWire)
		again(t, b, eventFromWire, eventToWire)
		again(t, b, outcomeFromWire, outcomeToWire)
		again(t, b, decisionFromWire, decisionToWire)
		again(t, b, statusFromWire, statusToWire)
		again(t, b, viewFromWire, viewToWire)
		again(t, b, catalogueFromWire, catalogueToWire)
		again(t, b, manifestFromWire, manifestToWire)
		again(t, b, dispatchFromWire, dispatchToWire)
		again(t, b, planFromWire, planToWire)
	})
}

// again reads b as a W, sends on what was read, and reads it once more.
func again[T any, W any, P interface {
	*W
	proto.Message
}](t *testing.T, b []byte, from func(P) T, to func(T) P) {
	t.Helper()
	first := P(new(W))
	if proto.Unmarshal(b, first) != nil {
		return
	}
	sent := to(from(first))
	data, err := proto.Marshal(sent)
	if err != nil {
		t.Fatalf("%T: %v", first, err)
	}
	read := P(new(W))
	if err := proto.Unmarshal(data, read); err != nil {
		t.Fatalf("%T: %v", first, err)
	}
	if twice := to(from(read)); !proto.Equal(sent, twice) {
		t.Errorf("%T:\nfirst  %v\nsecond %v", first, sent, twice)
	}
}
