package upstream

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/tests/bench/mark"
)

// start serves vendors a and b in this process.
func start(t *testing.T) *Control {
	t.Helper()
	orderR, orderW := io.Pipe()
	replyR, replyW := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(orderR, replyW, map[string]string{"a": "127.0.0.1:0", "b": "127.0.0.1:0"})
	}()
	t.Cleanup(func() {
		orderW.Close()
		if err := <-ended; err != nil {
			t.Errorf("serve ended with %v", err)
		}
	})
	c, err := NewControl(orderW, replyR)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ask sends request seq to a vendor.
func ask(t *testing.T, c *Control, name string, seq int, stream bool) (status int, body string, err error) {
	t.Helper()
	prompt := mark.Mark{Name: "r", Seq: seq, At: time.Now()}.Append(nil)
	request := `{"messages":[{"content":"` + string(prompt) + `"}]`
	if stream {
		request += `,"stream":true,"stream_options":{"include_usage":true}`
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(c.URLs()[name]+"/v1/chat/completions", "application/json", strings.NewReader(request+"}"))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func TestAnswers(t *testing.T) {
	c := start(t)
	if err := c.Behave(map[string]Behaviour{"a": {Chunks: 3, Bytes: 2000}}); err != nil {
		t.Fatal(err)
	}
	_, body, err := ask(t, c, "a", 0, false)
	if err != nil || !json.Valid([]byte(body)) || !strings.Contains(body, Filler(2000)) {
		t.Errorf("whole: %v: %s", err, body)
	}
	_, body, err = ask(t, c, "a", 1, true)
	if err != nil {
		t.Fatal(err)
	}
	var seqs []int
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(line, "data: ")
		if ok && !strings.HasPrefix(data, "[DONE]") && !json.Valid([]byte(data)) {
			t.Errorf("no JSON: %s", data)
		}
		if m, _, ok := mark.Find([]byte(line)); ok {
			seqs = append(seqs, m.Seq)
		}
	}
	if d := cmp.Diff([]int{0, 1, 2}, seqs); d != "" || !strings.HasSuffix(body, "data: [DONE]\n\n") || !strings.Contains(body, `"completion_tokens":3`) {
		t.Errorf("stream (-want +got):\n%s%s", d, body)
	}
	seen, err := c.Seen()
	if err != nil || seen["a"].Requests != 2 || seen["a"].Finished != 2 || seen["a"].Arrival <= 0 || seen["b"].Requests != 0 {
		t.Errorf("got %+v, %v", seen, err)
	}
}

func TestPace(t *testing.T) {
	c := start(t)
	if err := c.Behave(map[string]Behaviour{"a": {Chunks: 4, Gap: 10 * time.Millisecond}}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, _, err := ask(t, c, "a", 0, true); err != nil || time.Since(began) < 30*time.Millisecond {
		t.Errorf("%v after %v, want three gaps of 10 ms", err, time.Since(began))
	}
}

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		name string
		b    Behaviour
		ok   func(status int, body string, err error) bool
	}{
		{"status", Behaviour{Mode: Status, Status: 529}, func(status int, body string, err error) bool {
			return err == nil && status == 529 && strings.Contains(body, "overloaded_error")
		}},
		{"refuse", Behaviour{Mode: Refuse}, func(_ int, _ string, err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }},
		{"reset", Behaviour{Mode: Reset}, func(_ int, _ string, err error) bool { return errors.Is(err, syscall.ECONNRESET) }},
		{"die", Behaviour{Mode: Die, Chunks: 9, DieAfter: 2}, func(_ int, body string, err error) bool {
			return errors.Is(err, io.ErrUnexpectedEOF) && strings.Count(body, "#a:") == 2
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t)
			if err := c.Behave(map[string]Behaviour{"a": tt.b}); err != nil {
				t.Fatal(err)
			}
			if status, body, err := ask(t, c, "a", 7, true); !tt.ok(status, body, err) {
				t.Errorf("got %d, %v: %s", status, err, body)
			}
			if _, _, err := ask(t, c, "b", 7, true); err != nil {
				t.Fatal(err)
			}
			want := 1
			if tt.b.Mode == Refuse {
				want = 0 // nobody was there to turn it away
			}
			seen, err := c.Seen()
			if err != nil || len(seen["b"].Switches) != want {
				t.Errorf("b took over %v, %v, want %d", seen["b"].Switches, err, want)
			}
			if err := c.Behave(map[string]Behaviour{"a": {Chunks: 1}}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := ask(t, c, "a", 8, true); err != nil {
				t.Errorf("well again: %v", err)
			}
		})
	}
}

func TestHang(t *testing.T) {
	c := start(t)
	if err := c.Behave(map[string]Behaviour{"a": {Mode: Hang}}); err != nil {
		t.Fatal(err)
	}
	client := http.Client{Timeout: 50 * time.Millisecond}
	_, err := client.Post(c.URLs()["a"]+"/v1/chat/completions", "application/json", strings.NewReader("#r:0:1#"))
	if err == nil {
		t.Error("got an answer")
	}
	if seen, err := c.Seen(); err != nil || seen["a"].Requests != 1 {
		t.Errorf("got %+v, %v", seen, err)
	}
}

func TestBadOrders(t *testing.T) {
	c := start(t)
	for _, o := range []map[string]Behaviour{
		{"a": {Mode: "nonsense"}}, {"a": {Mode: Status, Status: 200}}, {"c": {}},
	} {
		if err := c.Behave(o); err == nil {
			t.Errorf("took %+v", o)
		}
	}
}
