package drill

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/sim"
	"spillway/host/story"
	"spillway/sdk"
)

func TestPixel(t *testing.T) {
	data, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(data)); err != nil {
		t.Errorf("the pixel: %v", err)
	}
}

// vendors starts simulated ones as real endpoints.
func vendors(t *testing.T, all ...sim.Vendor) *sim.Server {
	t.Helper()
	s, err := sim.New(sim.Options{Vendors: all})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestAsk: what is told of a route's answers to each question.
func TestAsk(t *testing.T) {
	tests := []struct {
		name     string
		script   string
		question LiveQuestion
		want     LiveAsked // without route, question, message and time
	}{
		{"answers", "ok", AskPlain, LiveAsked{OK: true}},
		{"cut at its limit", "ok tokens=40", AskPlain, LiveAsked{OK: true}},
		{"calls the tool", "ok", AskTool, LiveAsked{OK: true}},
		{"ignores the tool", "ok tool=another tokens=3", AskTool, LiveAsked{Ignored: true}},
		{"says too much for a tool", "ok tool=another tokens=40", AskTool, LiveAsked{Unsure: true}},
		{"sees", "ok", AskImage, LiveAsked{OK: true}},
		{"sees nothing", "invalid-request", AskImage, LiveAsked{Code: sdk.CodeInvalidRequest, Status: 400}},
		{"revoked", "invalid-key", AskPlain, LiveAsked{Code: sdk.CodeInvalidCredential, Status: 401}},
		{"gone", "model-gone", AskPlain, LiveAsked{Code: sdk.CodeModelUnavailable, Status: 404}},
		{"dies", "cut=1", AskPlain, LiveAsked{Code: sdk.CodeTransport, Status: 200}},
		{"silent", "hang", AskPlain, LiveAsked{Code: sdk.CodeTimeout}},
	}
	var all []sim.Vendor
	var base strings.Builder
	for i, tt := range tests {
		all = append(all, sim.Vendor{Name: fmt.Sprintf("v%d", i), Like: "openai", Script: tt.script, Strict: true})
	}
	s := vendors(t, all...)
	for i, v := range s.Vendors() {
		fmt.Fprintf(&base, "- {id: v%d, name: provider-openai, config: {base_url: %q, key: k, models: [m]}}\n", i, v.URL()+"/v1")
	}
	rt, err := openVendors(t.Context(), folder(t, base.String()))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for i, tt := range tests {
		patience := time.Minute
		if tt.script == "hang" {
			patience = 100 * time.Millisecond
		}
		q := question{sdk.Route{Provider: fmt.Sprintf("v%d", i), Model: "m"}, tt.question}
		got := ask(t.Context(), rt, q, patience)
		if got.Took <= 0 || got.Route != q.route || got.Question != q.what {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if calls := s.Vendor(q.route.Provider).Calls(); len(calls) != 1 {
			t.Errorf("%s: %d calls, want 1", tt.name, len(calls))
		}
		got.Route, got.Question, got.Took, got.Message = sdk.Route{}, "", 0, ""
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestLiveReport(t *testing.T) {
	a := sdk.Route{Provider: "a", Model: "m"}
	r := &LiveReport{Profile: "/p", Requests: 4, Passed: 1, Failed: 2, Absent: []Absent{{"b", "no key: set B"}}, Asked: []LiveAsked{
		{Route: a, Question: AskPlain, OK: true},
		{Route: a, Question: AskTool, Ignored: true},
		{Route: a, Question: AskImage, Code: sdk.CodeInvalidRequest, Status: 400, Message: "no\x1b[2J images"},
		{Route: a, Question: AskTool, Unsure: true},
	}}
	want := `profile /p: 4 requests to real vendors
b was not asked: no key: set B

a/m
  ok     plain: answered after 0s
  FAIL   tool: it answered after 0s and called no tool
  FAIL   image: INVALID_REQUEST (status 400): no[2J images
  ?      tool: cut off by the limit of the question before it could be told
drill: 1 passed, 2 failed
`
	var b strings.Builder
	if err := r.Write(&b, story.Options{}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("report (-want +got):\n%s", d)
	}
}
