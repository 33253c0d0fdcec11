package faults

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"spillway/host/dialect/dialecttest"
	"spillway/host/state/record"
	"spillway/tests/internal/caller"
)

// TestResume: a client that opted in sees what was produced, who was interrupted
// and who goes on, in one sound answer of its dialect; everybody else an error.
func TestResume(t *testing.T) {
	clients := []struct {
		speaks              caller.Dialect
		dialect, path, body string
	}{
		{caller.Messages, "anthropic", "/v1/messages", `{"model":"primary/large","max_tokens":999,"stream":true,"messages":[{"role":"user","content":"count"}]}`},
		{caller.Chat, "openai", "/v1/chat/completions", `{"model":"primary/large","stream":true,"messages":[{"role":"user","content":"count"}]}`},
		{caller.Responses, "responses", "/v1/responses", `{"model":"primary/large","stream":true,"input":"count"}`},
	}
	const sorry = `[interrupted: TRANSPORT at primary/large; continued by `
	for _, tt := range []struct {
		name, primary string
		policy        string // the client's, "" for none
		settings      string // the profile's
		outcome       record.Outcome
		attempts      []string
		marks         []string
	}{
		{"the same vendor goes on", "cut=40; ok", "resume", "fail", record.OKAfterRetry,
			[]string{"primary primary/large TRANSPORT", "resume primary/large ok"}, []string{sorry + "primary/large]"}},
		{"another one", "cut=40", "resume", "fail", record.OKAfterFallback,
			[]string{"primary primary/large TRANSPORT", "resume primary/large TRANSPORT", "resume fallback/small ok"},
			[]string{sorry + "primary/large]", sorry + "fallback/small]"}},
		{"by the profile", "cut=40; ok", "", "resume", record.OKAfterRetry,
			[]string{"primary primary/large TRANSPORT", "resume primary/large ok"}, []string{sorry + "primary/large]"}},
		{"not by this client", "cut=40; ok", "fail", "resume", record.FailedMidstream,
			[]string{"primary primary/large TRANSPORT"}, nil},
	} {
		for _, c := range clients {
			t.Run(tt.name+"/"+c.dialect, func(t *testing.T) {
				t.Parallel()
				s := play(t, c.speaks, scaled().but(settings{"stream": tt.settings}), primary(tt.primary), fallback("ok"))
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+c.path, strings.NewReader(c.body))
				if err != nil {
					t.Fatal(err)
				}
				if tt.policy != "" {
					req.Header.Set("X-Spillway-Stream", tt.policy)
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				got, err := io.ReadAll(resp.Body)
				if resp.StatusCode != http.StatusOK {
					t.Fatalf("%d: %s", resp.StatusCode, got)
				}
				s.record(resp.Header.Get("X-Spillway-Request-Id"), tt.outcome, tt.attempts...)
				if tt.marks == nil {
					if fault := dialecttest.CheckFailed(c.dialect, got); fault != nil || err == nil {
						t.Errorf("%v, %v: %s", fault, err, got)
					}
					return
				}
				if fault := dialecttest.Check(c.dialect, got); fault != nil || err != nil {
					t.Errorf("%v, %v: %s", fault, err, got)
				}
				for _, mark := range tt.marks {
					if !strings.Contains(string(got), mark) {
						t.Errorf("no %q in %s", mark, got)
					}
				}
				if whole := fmt.Sprintf("w%d@", answerTokens-1); !strings.Contains(string(got), whole) {
					t.Errorf("the answer is not whole: %s", got)
				}
			})
		}
	}
}
