package mcp

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/agent/tool"
	"spillway/host/profile"
)

func TestParse(t *testing.T) {
	c, err := parse(json.RawMessage(`{"command":"x"}`))
	if err != nil || time.Duration(c.Start) != 30*time.Second || time.Duration(c.Timeout) != 2*time.Minute || c.Confirm != confirmWrites {
		t.Errorf("defaults: got %+v, %v", c, err)
	}
	c, err = parse(json.RawMessage(`{"url":"http://x","headers":{"A":"s","B":null},"timeoutMs":5,"confirm":"never",
		"tools":{"t":{"effect":"read-only","confirm":true,"disabled":true,"key":"k"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	secret, effect, yes := profile.Secret("s"), tool.ReadOnly, true
	want := config{
		URL: "http://x", Headers: map[string]*profile.Secret{"A": &secret, "B": nil},
		Start: milliseconds(30 * time.Second), Timeout: milliseconds(5 * time.Millisecond), Confirm: confirmNever,
		Tools: map[string]known{"t": {Effect: &effect, Confirm: &yes, Disabled: true, Key: "k"}},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{`{}`, `{"command":"x","url":"y"}`, `{"command":"x","timeoutMs":0}`, `{"command":"x","confirm":"maybe"}`, `[]`} {
		if _, err := parse(json.RawMessage(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestEnvironment(t *testing.T) {
	host := map[string]string{"PATH": "/bin", "HOME": "/home/me", "LANG": "C", "OPENAI_API_KEY": "sk-x", "LD_PRELOAD": "x"}
	secret := profile.Secret("own")
	c := config{Env: map[string]*profile.Secret{"TOKEN": &secret, "LANG": &secret, "HOME": nil, "UNSET": nil}}
	got := environment(&c, func(name string) (string, bool) { v, ok := host[name]; return v, ok })
	if diff := cmp.Diff([]string{"LANG=own", "PATH=/bin", "TOKEN=own"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The row's secrets are in no line that is logged or told.
func TestRedactor(t *testing.T) {
	header, value, longer, tiny := profile.Secret("Bearer abcdefgh-token"), profile.Secret("password"), profile.Secret("password-and-more"), profile.Secret("1")
	c := config{
		Headers: map[string]*profile.Secret{"Authorization": &header, "Unset": nil},
		Env:     map[string]*profile.Secret{"A": &value, "B": &longer, "DEBUG": &tiny},
	}
	got := testServer(c).line("Bearer abcdefgh-token, abcdefgh-token, password-and-more, password, 1\n\x07", 100)
	if want := "[redacted], [redacted], [redacted], [redacted], 1 "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
