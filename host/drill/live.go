package drill

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"spillway/host"
	"spillway/host/llm"
	"spillway/host/state/record"
	"spillway/sdk"
)

// LiveOptions say what real vendors are asked.
type LiveOptions struct {
	Host   host.Options
	Routes []string // provider/model or all of a provider's; none: all that the profile leads to
	// Patience bounds one question; 0 is a minute.
	Patience time.Duration
	Announce func(requests int)                 // hears how many requests will be made at most, before the first
	Progress func(done, total int, a LiveAsked) // hears of each as it ends, one at a time; may be nil
}

// LiveQuestion is what a route is asked.
type LiveQuestion string

// Questions.
const (
	AskPlain LiveQuestion = "plain" // a word, streamed
	AskTool  LiveQuestion = "tool"  // to call a tool
	AskImage LiveQuestion = "image" // about an image of one pixel
)

// LiveAsked is what came of one question.
type LiveAsked struct {
	Route    sdk.Route       `json:"route"`
	Question LiveQuestion    `json:"question"`
	OK       bool            `json:"ok"`
	Unsure   bool            `json:"unsure,omitempty"`  // it broke off at its limit before one could tell
	Ignored  bool            `json:"ignored,omitempty"` // it answered and called no tool
	Code     sdk.Code        `json:"code,omitempty"`
	Status   int             `json:"status,omitempty"` // the vendor's
	Message  string          `json:"message,omitempty"`
	Took     record.Duration `json:"took_ms"`
}

// LiveReport is what real vendors have answered.
type LiveReport struct {
	Profile  string      `json:"profile"`
	Requests int         `json:"requests"` // that were made
	Absent   []Absent    `json:"absent"`   // not asked, for want of a key
	Broken   []Broken    `json:"broken"`
	Asked    []LiveAsked `json:"asked"`
	Passed   int         `json:"passed"`
	Failed   int         `json:"failed"`
}

const (
	livePatience = time.Minute
	liveAtOnce   = 4
	// liveTokens bounds an answer: the least that every vendor takes.
	liveTokens = 16
)

// question is one to be asked.
type question struct {
	route sdk.Route
	what  LiveQuestion
}

// Live asks each route that the profile leads to, directly and without failover,
// one tiny question for each thing that it is said to be able to. It needs keys and
// costs a few tokens.
func Live(ctx context.Context, o LiveOptions) (*LiveReport, error) {
	s, err := survey(ctx, Options{Host: o.Host, Faster: DefaultFaster})
	if err != nil {
		return nil, err
	}
	r := &LiveReport{Profile: o.Host.Dir, Absent: s.report.Absent, Broken: []Broken{}, Asked: []LiveAsked{}}
	for _, b := range s.report.Broken {
		if b.Kind != BrokenModel { // the vendor knows best which models it has
			r.Broken = append(r.Broken, b)
		}
	}
	r.Failed = len(r.Broken)
	routes, err := s.routes(o.Routes)
	if err != nil || len(routes) == 0 {
		return r, err
	}
	rt, err := openVendors(ctx, o.Host)
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	questions := questionsFor(rt, routes)
	total := 0
	for _, q := range questions {
		total += len(q)
	}
	if o.Announce != nil {
		o.Announce(total)
	}
	asked := make([][]LiveAsked, len(questions))
	var mu sync.Mutex // guards r.Requests, and lets one Progress run at a time
	each(ctx, liveAtOnce, len(questions), func(i int) {
		for _, q := range questions[i] {
			a := ask(ctx, rt, q, cmp.Or(o.Patience, livePatience))
			asked[i] = append(asked[i], a)
			mu.Lock()
			r.Requests++
			if o.Progress != nil {
				o.Progress(r.Requests, total, a)
			}
			mu.Unlock()
			if q.what == AskPlain && !a.OK {
				break // the others would fail for the same cause
			}
		}
	})
	r.Asked = append(r.Asked, slices.Concat(asked...)...)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, a := range r.Asked {
		switch {
		case a.OK:
			r.Passed++
		case !a.Unsure:
			r.Failed++
		}
	}
	return r, nil
}

// openVendors runs a profile's providers and nothing else of it.
func openVendors(ctx context.Context, o host.Options) (*host.Runtime, error) {
	o.VendorsOnly, o.Watch = true, false
	return host.Open(ctx, o)
}

// each calls f with every index below n, some at a time, and returns when all
// calls have ended. None begins once ctx has ended.
func each(ctx context.Context, atOnce, n int, f func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(atOnce, n) {
		wg.Go(func() {
			for i := range next {
				if ctx.Err() == nil {
					f(i)
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
}

// routes are those that the profile's lists name for a request, as far as they were
// asked for.
func (s *surveyed) routes(only []string) ([]sdk.Route, error) {
	var all []sdk.Route
	var known []string
	add := func(r sdk.Route) {
		if _, runs := s.models[r.Provider]; runs && r.Model != "" && !slices.Contains(all, r) {
			all, known = append(all, r), append(known, r.String())
		}
	}
	for _, l := range s.report.Lines {
		for _, r := range l.Routes {
			add(r)
		}
		for _, k := range l.Skipped { // perhaps for want of a measurement
			add(k.Route)
		}
	}
	if err := knownRoutes(only, known); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(r sdk.Route) bool { return !wanted(only, r) }), nil
}

// questionsFor are what each route that runs is asked, a plain question first.
func questionsFor(rt *host.Runtime, routes []sdk.Route) (all [][]question) {
	for _, r := range routes {
		p, ok := rt.Graph().Catalogue().Provider(r.Provider)
		if !ok || p.Passthrough { // it has no key; its clients have
			continue
		}
		of := []question{{r, AskPlain}}
		for _, m := range p.Models {
			if m.ID != r.Model {
				continue
			}
			if slices.Contains(m.Capabilities, sdk.CapTools) {
				of = append(of, question{r, AskTool})
			}
			if slices.Contains(m.Capabilities, sdk.CapVision) {
				of = append(of, question{r, AskImage})
			}
		}
		all = append(all, of)
	}
	return all
}

// pixel is a PNG of one white pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAADklEQVR4nGL6DwgAAP//AQUBAlrdOc0AAAAASUVORK5CYII="

// prompt is the question in full, and what it uses.
func (q question) prompt() (*sdk.Prompt, sdk.Shape) {
	p := &sdk.Prompt{MaxTokens: liveTokens}
	shape := sdk.Shape{PromptTokens: 32, Messages: 1}
	parts := []sdk.Part{sdk.TextPart("Say OK.")}
	switch q.what {
	case AskPlain:
	case AskTool:
		parts = []sdk.Part{sdk.TextPart("Please call ping now, and say nothing else.")}
		p.Tools = []sdk.Tool{{Name: "ping", Description: "Answers a ping.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}
		shape.Tools = 1
	case AskImage:
		parts = []sdk.Part{{Kind: sdk.PartImage, MediaType: "image/png", Data: pixel}, sdk.TextPart("Which colour is it? One word.")}
		shape.Images = 1
	}
	p.Messages = []sdk.Message{{Role: sdk.RoleUser, Parts: parts}}
	return p, shape
}

// ask asks a route.
func ask(ctx context.Context, rt *host.Runtime, q question, patience time.Duration) LiveAsked {
	prompt, shape := q.prompt()
	got := put(ctx, rt, q.route, prompt, shape, patience)
	a := LiveAsked{Route: q.route, Question: q.what, Took: record.Duration(got.took)}
	if f := got.failure; f != nil {
		a.Code, a.Status, a.Message = f.Code, f.Status, sdk.ClipMessage(f.Message)
		return a
	}
	limited := got.finish == sdk.FinishMaxTokens
	a.OK = true
	if q.what == AskTool && len(got.tools) == 0 {
		a.OK, a.Unsure, a.Ignored = false, limited, !limited
	}
	return a
}

// reply is a real vendor's answer.
type reply struct {
	text    string
	tools   []string // that it calls
	finish  sdk.Finish
	failure *sdk.Failure
	took    time.Duration
}

// put asks a route directly, and hears the answer to its end.
func put(ctx context.Context, rt *host.Runtime, r sdk.Route, p *sdk.Prompt, shape sdk.Shape, patience time.Duration) (got reply) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	call, stream := rt.Call(ctx, host.Inbound{
		Route: r, Wants: sdk.Wants{Strict: true}, Stream: true, Payload: llm.PromptPayload(p), MaxTokens: p.MaxTokens, Shape: shape,
	})
	var text strings.Builder
	for e, err := range stream.Events() {
		if err != nil {
			got.failure = sdk.NewFailure(sdk.CodePlugin, "stream", err.Error())
			break
		}
		switch e.Kind {
		case sdk.KindTextDelta:
			text.WriteString(e.Text)
		case sdk.KindBlockStart:
			if e.Block == sdk.BlockToolCall {
				got.tools = append(got.tools, e.Name)
			}
		case sdk.KindFinish:
			got.finish, got.failure = e.Finish, e.Failure
		case sdk.KindStart, sdk.KindReasoningDelta, sdk.KindToolCallDelta, sdk.KindBlockEnd, sdk.KindUsage:
		}
	}
	got.text, got.took = text.String(), time.Since(began)
	call.Trace.Finish(got.failure, got.text != "")
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		got.failure = sdk.NewFailure(sdk.CodeTimeout, "drill.patience", "no answer within "+patience.String())
	}
	return got
}
