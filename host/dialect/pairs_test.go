package dialect_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spillway/host/dialect"
	"spillway/sdk"
)

var update = flag.Bool("update", false, "write the translated requests and answers")

// Real agents' requests, and the answers to them, as each dialect's speaker gets
// them from each other's.
func TestTranslated(t *testing.T) {
	for _, way := range pairs() {
		from, to := way[0], way[1]
		t.Run(from.Name()+" to "+to.Name(), func(t *testing.T) {
			p := parse(t, from, string(testdata(t, from.Name()+"/agent.json")))
			body, dropped, err := to.BuildRequest(p, dialect.Outbound{Model: "target", Stream: true, MaxOutput: 16000})
			if err != nil {
				t.Fatal(err)
			}
			events, ok := to.ParseAnswer(testdata(t, to.Name()+"/answer.json"))
			if !ok {
				t.Fatal("no answer")
			}
			answer := from.BuildAnswer(events, dialect.AnswerOptions{ID: "42", Model: "m", Created: 7, Freeform: []string{"apply_patch"}})
			var got bytes.Buffer
			fmt.Fprintf(&got, "dropped: %s\n\nrequest: ", strings.Join(slices.Concat(p.Dropped, dropped), ", "))
			indent(t, &got, body)
			got.WriteString("\nanswer: ")
			indent(t, &got, answer)
			name := "testdata/translated/" + from.Name() + "_to_" + to.Name() + ".txt"
			if *update {
				if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func indent(t *testing.T, dst *bytes.Buffer, body []byte) {
	t.Helper()
	if err := json.Indent(dst, body, "", " "); err != nil {
		t.Fatal(err)
	}
	dst.WriteByte('\n')
}

// What all dialects can say survives the way from each to each other and back.
func TestRequestRoundTrips(t *testing.T) {
	no, half := false, 0.5
	want := &sdk.Prompt{
		System: []sdk.Part{sdk.TextPart("Be kind.")},
		Messages: []sdk.Message{
			{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("Look: \"ü\"\n"),
				{Kind: sdk.PartImage, MediaType: "image/png", Data: "AA=="}, {Kind: sdk.PartImage, URL: "https://a.example/x"},
				{Kind: sdk.PartDocument, MediaType: "application/pdf", Data: "AA=="}}},
			{Role: sdk.RoleAssistant, Parts: []sdk.Part{sdk.TextPart("Calling."),
				{Kind: sdk.PartToolCall, ID: "call_1", Name: "f", Input: json.RawMessage(`{"a":[1,2.50]}`)},
				{Kind: sdk.PartToolCall, ID: "toolu_2", Name: "g", Input: json.RawMessage(`{}`)}}},
			{Role: sdk.RoleTool, Parts: []sdk.Part{
				{Kind: sdk.PartToolResult, ID: "call_1", Result: []sdk.Part{sdk.TextPart("one")}},
				{Kind: sdk.PartToolResult, ID: "toolu_2", Result: []sdk.Part{sdk.TextPart("two")}}}},
			{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("Go on.")}},
		},
		Tools: []sdk.Tool{
			{Name: "f", Description: "does f", Schema: json.RawMessage(`{"type":"object","properties":{"a":{}}}`), Strict: true},
			{Name: "g", Schema: json.RawMessage(`{"type":"object"}`)},
		},
		ToolChoice:    &sdk.ToolChoice{Mode: "auto"},
		ParallelTools: &no,
		MaxTokens:     100,
		Temperature:   &half,
		Stop:          []string{"END"},
		Effort:        "high",
		Schema:        &sdk.Schema{Schema: json.RawMessage(`{"type":"object"}`), Strict: true},
		User:          "anna",
	}
	for _, way := range pairs() {
		t.Run(way[0].Name()+" to "+way[1].Name(), func(t *testing.T) {
			want := *want
			if slices.Contains(way[:], dialect.Responses()) { // knows no stop strings
				want.Stop = nil
			}
			got := &want
			for _, d := range []dialect.Dialect{way[0], way[1], way[0]} {
				body, dropped := build(t, d, got, dialect.Outbound{})
				if len(dropped) > 0 {
					t.Errorf("%s dropped %q", d.Name(), dropped)
				}
				got = parse(t, d, body)
				got.Reasoning = false // the OpenAI dialects read it from the effort
			}
			if diff := cmp.Diff(&want, got, cmpopts.IgnoreFields(sdk.Schema{}, "Name")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
