package cli

import (
	"encoding/json"
	"io"
	"sync"

	"spillway/host/agent"
	"spillway/host/agent/session"
	"spillway/host/state/record"
	"spillway/sdk"
)

// eventsHelp describes the lines of --json.
const eventsHelp = `With --json each event is a line of JSON with its name in "event":

  session      the session's id; kept: whether it can be gone on with
  start, block_start, text, reasoning, tool_call, block_end, usage, finish
               an answer as it comes in; finish has a failure if it broke
               block_start has a kind: text, reasoning or tool_call
  request      the answer is whole; its id is for "spillway explain"
  tool_start   a tool begins: id, tool, input, what
  tool_result  … and ends: id, tool, failed, text, took_ms
  switch       another route is asked, or the same again: from, to, kind, reason
  withdrawn    what came of the answer does not count: failure
  wait         nobody can serve: wait_ms, failure
  summary      so many messages were summed up
  ask          a person must decide about a tool call: key, tool, input
  done         the last line: exit, and either the answer's text or the error

Events of an agent that another one has begun carry "depth".`

// eventWriter prints events as lines of JSON.
type eventWriter struct {
	mu  sync.Mutex
	enc *json.Encoder
}

func newEventWriter(w io.Writer) *eventWriter { return &eventWriter{enc: json.NewEncoder(w)} }

// line prints one. Whoever does not read on does not need it.
func (w *eventWriter) line(event string, fields map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := map[string]any{"event": event}
	for key, v := range fields {
		if v != "" && (key != "depth" || v != 0) {
			line[key] = v
		}
	}
	_ = w.enc.Encode(line)
}

// Tell prints an event of the agent.
func (w *eventWriter) Tell(e agent.Event) {
	switch e.Kind {
	case agent.EventAnswer:
		w.answer(*e.Answer, e.Depth)
	case agent.EventRequest:
		w.line("request", map[string]any{"request": e.Request, "depth": e.Depth})
	case agent.EventToolStart:
		w.line("tool_start", map[string]any{"id": e.Call.ID, "tool": e.Call.Tool, "input": e.Call.Input, "what": e.What, "depth": e.Depth})
	case agent.EventToolResult:
		w.line("tool_result", map[string]any{
			"id": e.Call.ID, "tool": e.Call.Tool, "failed": e.Result.Error, "text": session.Text(e.Result.Parts),
			"took_ms": record.Duration(e.Took), "depth": e.Depth,
		})
	case agent.EventSwitch:
		line := map[string]any{"to": e.Attempt.Route.String(), "kind": string(e.Attempt.Kind), "reason": e.Attempt.Reason, "depth": e.Depth}
		if e.Before != nil {
			line["from"] = e.Before.Route.String()
			line["code"] = string(e.Before.Code)
		}
		w.line("switch", line)
	case agent.EventWithdrawn:
		w.line("withdrawn", map[string]any{"failure": record.FailureOf(e.Failure), "request": e.Request, "depth": e.Depth})
	case agent.EventWait:
		w.line("wait", map[string]any{
			"wait_ms": record.Duration(e.Wait), "failure": record.FailureOf(e.Failure), "request": e.Request, "depth": e.Depth,
		})
	case agent.EventSummary:
		w.line("summary", map[string]any{"messages": e.Count, "request": e.Request, "depth": e.Depth})
	}
}

func (w *eventWriter) answer(e sdk.Event, depth int) {
	name := map[sdk.EventKind]string{
		sdk.KindStart: "start", sdk.KindBlockStart: "block_start", sdk.KindTextDelta: "text",
		sdk.KindReasoningDelta: "reasoning", sdk.KindToolCallDelta: "tool_call", sdk.KindBlockEnd: "block_end",
		sdk.KindUsage: "usage", sdk.KindFinish: "finish",
	}[e.Kind]
	line := map[string]any{"text": e.Text, "model": e.Model, "name": e.Name, "finish": string(e.Finish), "depth": depth}
	if e.Kind == sdk.KindBlockStart {
		line["kind"] = map[sdk.BlockKind]string{
			sdk.BlockText: "text", sdk.BlockReasoning: "reasoning", sdk.BlockToolCall: "tool_call",
		}[e.Block]
	}
	if e.Usage != nil {
		line["usage"] = e.Usage
	}
	if e.Failure != nil {
		line["failure"] = record.FailureOf(e.Failure)
	}
	w.line(name, line)
}
