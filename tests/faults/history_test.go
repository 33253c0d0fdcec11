package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"spillway/host/sim"
	"spillway/host/state/record"
	"spillway/tests/internal/rig"
)

// talk is a conversation of an agent that speaks Messages: it keeps what it was
// told byte for byte and sends all of it back.
type talk struct {
	*rig.Server
	t        *testing.T
	vendors  *sim.Server
	thinking string
	turns    []json.RawMessage
	said     map[string][]json.RawMessage // the contents of the turns of each vendor
	call     string                       // id of the tool call that has no result yet
}

// serve lets one vendor answer from now on, and the others be out of order.
func (c *talk) serve(vendor string) {
	c.t.Helper()
	for _, v := range c.vendors.Vendors() {
		script := "503"
		if v.Name() == vendor {
			script = "ok"
		}
		if err := v.SetScript(script); err != nil {
			c.t.Fatal(err)
		}
	}
}

// user adds the user's words; "call look" makes a simulated vendor call the tool.
func (c *talk) user(words string) *talk {
	c.turns = append(c.turns, fmt.Appendf(nil, `{"role":"user","content":%q}`, words))
	return c
}

// result adds the result of the tool call.
func (c *talk) result() *talk {
	c.turns = append(c.turns, fmt.Appendf(nil, `{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"seen","cache_control":{"type":"ephemeral"}}]}`, c.call))
	c.call = ""
	return c
}

func (c *talk) body() string {
	return fmt.Sprintf(`{"model":"anthropic/claude-sonnet-5","max_tokens":4000,"thinking":%s,"metadata":{"user_id":"{\"session_id\":\"B21\"}"},`+
		`"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},`+
		`"system":[{"type":"text","text":"x-anthropic-billing-header: v=1"},{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],`+
		`"tools":[{"name":"look","input_schema":{"type":"object"},"eager_input_streaming":true}],"messages":[%s]}`,
		c.thinking, bytes.Join(slices.Collect(func(yield func([]byte) bool) {
			for _, turn := range c.turns {
				if !yield(turn) {
					return
				}
			}
		}), []byte(",")))
}

// answered makes the call, which the vendor must answer, and keeps the answer.
// It returns what the vendor was sent.
func (c *talk) answered(vendor string) (sent string) {
	c.t.Helper()
	c.serve(vendor)
	resp, err := http.Post(c.URL+"/v1/messages", "application/json", strings.NewReader(c.body()))
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	var calls []sim.Call
	eventually(func() bool { // the vendor books its answer after it was sent
		calls = c.vendors.Vendor(vendor).Calls()
		return len(calls) > 0 && !calls[len(calls)-1].End.IsZero()
	})
	if resp.StatusCode != http.StatusOK || len(calls) == 0 || calls[len(calls)-1].Status != http.StatusOK {
		c.t.Fatalf("turn %d is to be %s's: got %s: %s", len(c.turns), vendor, resp.Status, body)
	}
	var answer struct{ Content json.RawMessage }
	var blocks []struct{ Type, ID string }
	if err := json.Unmarshal(body, &answer); err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(answer.Content, &blocks); err != nil {
		c.t.Fatal(err)
	}
	for _, b := range blocks {
		if b.Type == "tool_use" {
			c.call = b.ID
		}
	}
	c.turns = append(c.turns, fmt.Appendf(nil, `{"role":"assistant","content":%s}`, answer.Content))
	c.said[vendor] = append(c.said[vendor], answer.Content)
	return string(calls[len(calls)-1].Body)
}

// dropped is what the last attempt of the last request left behind.
func (c *talk) dropped() []string {
	c.t.Helper()
	var rec record.Request
	if err := json.Unmarshal([]byte(rig.Run(c.t, c.Command("explain", "--json"))), &rec); err != nil {
		c.t.Fatal(err)
	}
	return rec.Attempts[len(rec.Attempts)-1].Dropped
}

// TestHistoryCrossesVendors is B21: a history with signed thinking and tool loops
// goes from Claude to Kimi, to DeepSeek and home again, in the middle of loops
// too. Each vendor accepts it, strict as it is, ids pair, Claude's own blocks
// come home byte for byte, and a restart forgets nothing of that.
func TestHistoryCrossesVendors(t *testing.T) {
	for _, tt := range []struct {
		name, thinking string
		dialects       []string // of Claude, Kimi and DeepSeek
	}{
		{"Messages alone", `{"type":"adaptive","display":"omitted"}`, []string{"anthropic", "anthropic", "anthropic"}},
		{"translated", `{"type":"adaptive"}`, []string{"anthropic", "openai", "openai"}},
		{"both ways, thinking by a budget", `{"type":"enabled","budget_tokens":2000}`, []string{"anthropic", "anthropic", "openai"}},
		{"the other way round", `{"type":"enabled","budget_tokens":2000}`, []string{"anthropic", "openai", "anthropic"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer := sim.Answer{Reasoning: 5, Tokens: 7, Numbered: true}
			vendors := rig.Vendors(t,
				sim.Vendor{Name: "anthropic", Answer: answer},
				sim.Vendor{Name: "kimi-coding", Answer: answer, ReasoningHistory: true, FilledReasoning: true, NamedCalls: true},
				sim.Vendor{Name: "deepseek", Answer: answer, ReasoningHistory: true})
			rows, env := rig.Providers(vendors, tt.dialects...)
			rows += settings{
				"priority":         []string{"anthropic/claude-sonnet-5", "kimi-coding/k3", "deepseek/deepseek-flash"},
				"failureThreshold": 100, "budget": settings{"backoffMs": 1, "maxBackoffMs": 1},
			}.row(t)
			server := rig.Serve(t, rows, env...)
			c := &talk{Server: server, t: t, vendors: vendors, thinking: tt.thinking, said: map[string][]json.RawMessage{}}

			c.user("call look").answered("anthropic")
			untouched := c.result().body()
			if sent := c.answered("anthropic"); sent != strings.Replace(untouched, `"anthropic/claude-sonnet-5"`, `"claude-sonnet-5"`, 1) {
				t.Errorf("at home the request became %s, want it as it was:\n%s", sent, untouched)
			}
			private := []string{"clear_thinking", "x-anthropic-billing-header", "session_id", "eager_input_streaming", "ephemeral"}
			private = append(private, signatures(t, c.said["anthropic"])...)
			c.user("call look").answered("kimi-coding")
			if !strings.HasPrefix(c.call, "look:") {
				t.Errorf("the caller was told of the call %q, want Kimi's own id", c.call)
			}
			sent := c.result().answered("deepseek")
			for _, s := range append(private, signatures(t, c.said["kimi-coding"])...) {
				if strings.Contains(sent, s) {
					t.Errorf("DeepSeek was told %q: %s", s, sent)
				}
			}
			if got := c.dropped(); !slices.Contains(got, "thinking") && !slices.Contains(got, "reasoning") || !slices.Contains(got, "context_management") {
				t.Errorf("the record names %q as left behind", got)
			}
			c.user("call look").answered("deepseek")
			home := c.result().answered("anthropic")
			c.atHome(home)

			server.Stop()
			c.Server = rig.ServeProfile(t, server.Dir, env...)
			c.atHome(c.user("go on").answered("anthropic"))
		})
	}
}

// atHome checks what Claude was sent of a conversation that others have had a
// part in.
func (c *talk) atHome(sent string) {
	c.t.Helper()
	for _, content := range c.said["anthropic"][:2] {
		if !strings.Contains(sent, string(content)) {
			c.t.Errorf("a turn of Claude's own did not come home as it was: %s in\n%s", content, sent)
		}
	}
	for _, vendor := range []string{"kimi-coding", "deepseek"} {
		for _, s := range signatures(c.t, c.said[vendor]) {
			if strings.Contains(sent, s) {
				c.t.Errorf("Claude was sent reasoning that %s has signed: %s", vendor, sent)
			}
		}
	}
	if !strings.Contains(sent, "x-anthropic-billing-header") {
		c.t.Errorf("what is Claude's own did not come home: %s", sent)
	}
}

// signatures are those of the reasoning in the contents.
func signatures(t *testing.T, contents []json.RawMessage) []string {
	t.Helper()
	var all []string
	for _, content := range contents {
		var blocks []struct{ Signature string }
		if err := json.Unmarshal(content, &blocks); err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			if b.Signature != "" {
				all = append(all, b.Signature)
			}
		}
	}
	return all
}
