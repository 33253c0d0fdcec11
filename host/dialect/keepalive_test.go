package dialect

import (
	"bytes"
	"testing"

	"spillway/host/sse"
	"spillway/sdk"
)

func TestRelayKeepAlive(t *testing.T) {
	tests := []struct {
		name   string
		d      Dialect
		sample string
		want   string
	}{
		{"messages", Anthropic(), "", "event: ping\ndata: {\"type\":\"ping\"}\n\n"},
		{"responses", Responses(), "", "event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n"},
		{"chat", OpenAI(), "data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}],\"created\":5}\n\n",
			"data: {\"id\":\"c1\",\"created\":5,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":null}]}\n\n"},
		{"chat with more lines", OpenAI(), ": hi\r\nid: 4\r\ndata:{\"id\":\"c1\"}\r\nretry: 3\r\n\r\n",
			"data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":null}]}\n\n"},
		{"data on two lines", OpenAI(), "data: {\"id\":\ndata: \"c1\"}\n\n", ""},
		{"no data", OpenAI(), ": hi\n\n", ""},
		{"nothing", OpenAI(), "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(RelayKeepAlive(tt.d, []byte(tt.sample))); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestEncodeKeepAlive: it brings the start once, and leaves the rest as it would
// be without it.
func TestEncodeKeepAlive(t *testing.T) {
	for _, d := range []Dialect{Anthropic(), OpenAI(), Responses()} {
		e := d.NewEncoder(AnswerOptions{ID: "x", Model: "m"})
		first, second := EncodeKeepAlive(e, nil), EncodeKeepAlive(e, nil)
		if len(second) == 0 || len(first) <= len(second) {
			t.Errorf("%s: got %q, then %q", d.Name(), first, second)
		}
		if again := e.Encode(nil, sdk.Event{Kind: sdk.KindStart, ID: "y"}); len(again) > 0 {
			t.Errorf("%s: a second start: %q", d.Name(), again)
		}
	}
}

// FuzzRelayKeepAlive: whatever a vendor sent, the frame made of it is one frame
// that means nothing.
func FuzzRelayKeepAlive(f *testing.F) {
	f.Add([]byte("data: {\"id\":\"c1\",\"created\":5,\"model\":\"m\",\"choices\":[]}\n\n"))
	f.Add([]byte("event: x\ndata: {\"id\":{\"a\":[1]},\"model\":null}\r\n\r\n"))
	f.Add([]byte("data: {\"id\":{\r\"a\":1}}\n\n"))
	f.Fuzz(func(t *testing.T, sample []byte) {
		frame := RelayKeepAlive(OpenAI(), sample)
		if frame == nil {
			return
		}
		r := sse.NewReader(bytes.NewReader(frame), 0)
		got, err := r.Next()
		if err != nil || got.Partial || len(got.Raw) != len(frame) {
			t.Fatalf("%v, %q of %q", err, got.Raw, frame)
		}
		if m := OpenAI().Scan(got.Event, got.Data); m.Kind != MarkNoise {
			t.Errorf("%q means %d", frame, m.Kind)
		}
	})
}
