package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"spillway/host/dialect/dialecttest"
	"spillway/host/gateway"
	"spillway/host/state/record"
)

// keep is the gateway's row with limits that a test can wait for.
func keep(hold, alive int) string {
	return fmt.Sprintf("- {id: gateway, name: gateway, config: {holdHeadersMs: %d, keepAliveMs: %d, checkGrammar: 1}}\n", hold, alive)
}

// never is a limit that no test reaches.
const never = 3_600_000

// beats is the frames of a dialect that only keep alive.
var beats = map[string]string{
	"anthropic": "event: ping\n",
	"openai":    `"choices":[{"index":0,"delta":{},"finish_reason":null}]`,
	"responses": "event: keepalive\n",
}

// beatless is a stream without the frames that only keep alive, and how many of
// them there were.
func beatless(dialect string, stream []byte) ([]byte, int) {
	var kept []byte
	n := 0
	for frame := range bytes.SplitAfterSeq(stream, []byte("\n\n")) {
		if bytes.Contains(frame, []byte(beats[dialect])) {
			n++
			continue
		}
		kept = append(kept, frame...)
	}
	return kept, n
}

// listen reads a body until it holds n frames that only keep alive.
func listen(t *testing.T, dialect string, body io.Reader, n int) []byte {
	t.Helper()
	var got []byte
	p := make([]byte, 4<<10)
	for bytes.Count(got, []byte(beats[dialect])) < n {
		m, err := body.Read(p)
		got = append(got, p[:m]...)
		if err != nil {
			t.Fatalf("%v after %s", err, got)
		}
	}
	return got
}

// TestKeepAlive: silence before the first content and in the middle of an answer
// is filled with events that mean nothing, and the answer is whole and sound.
func TestKeepAlive(t *testing.T) {
	for _, vendor := range apis {
		for _, client := range apis {
			t.Run(client.name+" from "+vendor.name, func(t *testing.T) {
				p := newPlayer(t, vendor)
				r := openRig(t, p.row()+keep(1, 10), gateway.Options{})
				early, middle := make(chan struct{}), make(chan struct{})
				p.play(func(s *stage) bool {
					s.wait(early)
					s.say(start(), think("hm"), text("one "))
					s.wait(middle)
					s.say(text("two"), tokens(), stop())
					return true
				})
				resp := open(t, t.Context(), r.url+client.path, fmt.Sprintf(client.body, true))
				defer resp.Body.Close()
				h := resp.Header
				if resp.StatusCode != http.StatusOK || !strings.HasPrefix(h.Get("Content-Type"), "text/event-stream") || h.Get("X-Spillway-Route") != "" {
					t.Fatalf("got %d %v", resp.StatusCode, h)
				}
				got := listen(t, client.name, resp.Body, 3)
				if !bytes.Contains(got, []byte(h.Get("X-Spillway-Request-Id"))) {
					t.Errorf("the answer's id is not ours: %s", got)
				}
				close(early)
				got = append(got, listen(t, client.name, resp.Body, 3)...)
				close(middle)
				rest, err := io.ReadAll(resp.Body)
				got = append(got, rest...)
				if err != nil {
					t.Error(err)
				}
				if err := dialecttest.Check(client.name, got); err != nil {
					t.Errorf("%v\n%s", err, got)
				}
				if !bytes.Contains(got, []byte("one ")) || !bytes.Contains(got, []byte("two")) || !bytes.Contains(got, []byte("hm")) {
					t.Errorf("not the whole answer: %s", got)
				}
				if rec := r.record(h.Get("X-Spillway-Request-Id")); rec.Outcome != record.OK {
					t.Errorf("outcome %s", rec.Outcome)
				}
			})
		}
	}
}

// TestKeepAliveOfRelay: while a vendor's frames are relayed, what is put between
// them is all that differs.
func TestKeepAliveOfRelay(t *testing.T) {
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			p := newPlayer(t, a)
			r := openRig(t, p.row()+keep(never, 10), gateway.Options{})
			silence, sent := make(chan struct{}), make(chan []byte, 1)
			p.play(func(s *stage) bool {
				s.say(start(), text("one "))
				s.wait(silence)
				s.say(text("two"), tokens(), stop())
				sent <- s.all
				return true
			})
			resp := open(t, t.Context(), r.url+a.path, fmt.Sprintf(a.body, true))
			defer resp.Body.Close()
			got := listen(t, a.name, resp.Body, 3)
			close(silence)
			rest, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Error(err)
			}
			got = append(got, rest...)
			if err := dialecttest.Check(a.name, got); err != nil {
				t.Errorf("%v\n%s", err, got)
			}
			if kept, _ := beatless(a.name, got); !bytes.Equal(kept, <-sent) {
				t.Errorf("the vendor's frames were changed:\n%s", got)
			}
		})
	}
}

// TestHeldHeaders: a stream whose content comes in time is relayed with the
// vendor's own start, and a failure in that time has its status.
func TestHeldHeaders(t *testing.T) {
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			p := newPlayer(t, a)
			r := openRig(t, p.row(), gateway.Options{})
			sent := make(chan []byte, 1)
			p.play(func(s *stage) bool {
				s.say(start())
				s.ping()
				s.say(text("one"), tokens(), stop())
				sent <- s.all
				return true
			})
			resp, got, err := post(t, r.url+a.path, fmt.Sprintf(a.body, true))
			if err != nil || resp.Header.Get("X-Spillway-Route") != "p/m1" || !bytes.Equal(got, <-sent) {
				t.Errorf("%v: %v\n%s", err, resp.Header, got)
			}
		})
	}
}

// TestSeveralChoices: an answer with several choices cannot be encoded anew, so
// its headers wait for it.
func TestSeveralChoices(t *testing.T) {
	p := newPlayer(t, dialects[1])
	r := openRig(t, p.row()+keep(1, 10), gateway.Options{})
	pause := make(chan struct{})
	p.play(func(s *stage) bool {
		s.ping()
		s.wait(pause)
		s.say(text("one"), stop())
		return true
	})
	body := strings.Replace(fmt.Sprintf(dialects[1].body, true), "{", `{"n":2,`, 1)
	type answer struct {
		resp *http.Response
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		resp, err := send(t.Context(), r.url+dialects[1].path, body)
		answered <- answer{resp, err}
	}()
	other := open(t, t.Context(), r.url+dialects[1].path, fmt.Sprintf(dialects[1].body, true))
	defer other.Body.Close()
	listen(t, "openai", other.Body, 3)
	select {
	case got := <-answered:
		t.Fatalf("headers came before the content: %+v", got)
	default:
	}
	close(pause)
	several := <-answered
	if several.err != nil {
		t.Fatal(several.err)
	}
	defer several.resp.Body.Close()
	got, err := io.ReadAll(several.resp.Body)
	if err != nil || !bytes.Contains(got, []byte("one")) || bytes.Contains(got, []byte(several.resp.Header.Get("X-Spillway-Request-Id"))) {
		t.Errorf("%v: %s", err, got)
	}
}

// TestReload: another limit holds for the next request.
func TestReload(t *testing.T) {
	p := newPlayer(t, dialects[0])
	r := openRig(t, p.row()+keep(never, never), gateway.Options{})
	pause := make(chan struct{})
	p.play(func(s *stage) bool {
		s.wait(pause)
		s.say(start(), text("one"), stop())
		return true
	})
	r.write(p.row() + keep(1, 10))
	if err := r.runtime.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	resp := open(t, t.Context(), r.url+dialects[0].path, fmt.Sprintf(dialects[0].body, true))
	defer resp.Body.Close()
	listen(t, "anthropic", resp.Body, 2)
	close(pause)
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Error(err)
	}
}

// TestStartedEarly: behind a start of our own, what a vendor of the same dialect
// sends and no vocabulary carries reaches the client.
func TestStartedEarly(t *testing.T) {
	odd := map[string]string{
		"anthropic": "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"web_search_tool_result\",\"content\":[]}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
		"openai":    "data: {\"object\":\"chat.completion.chunk\",\"model\":\"m1\",\"choices\":[{\"index\":0,\"delta\":{\"annotations\":[{\"x\":1}]}}]}\n\n",
		"responses": "event: response.web_search_call.searching\ndata: {\"type\":\"response.web_search_call.searching\",\"item_id\":\"ws\"}\n\n",
	}
	own := map[string]string{"anthropic": `"msg_42"`, "openai": `"chatcmpl-42"`, "responses": `"resp_42"`} // the vendor's ids
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			p := newPlayer(t, a)
			r := openRig(t, p.row()+keep(1, never), gateway.Options{})
			early := make(chan struct{})
			p.play(func(s *stage) bool {
				s.wait(early)
				s.say(start(), text("one"), end())
				s.write([]byte(odd[a.name]))
				s.say(tokens(), stop())
				return true
			})
			resp := open(t, t.Context(), r.url+a.path, fmt.Sprintf(a.body, true))
			defer resp.Body.Close()
			close(early)
			got, err := io.ReadAll(resp.Body)
			if err != nil || !bytes.Contains(got, []byte(odd[a.name])) || bytes.Contains(got, []byte(own[a.name])) {
				t.Errorf("%v: %s", err, got)
			}
		})
	}
}
