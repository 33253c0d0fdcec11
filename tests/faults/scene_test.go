package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/control"
	"spillway/host/sim"
	"spillway/host/state/record"
	"spillway/host/story"
	"spillway/sdk"
	"spillway/tests/internal/caller"
	"spillway/tests/internal/rig"
)

// answerTokens is the length of every sound answer.
const answerTokens = 60

// patience is how long anything is waited for that comes soon.
const patience = 10 * time.Second

// settings are those of the failover plugin, by the names that users write.
type settings map[string]any

// defaults are the product's own, with the routes of most scenarios.
func defaults() settings { return settings{"priority": []string{large, small}} }

// scaled are the default settings with every duration a fifth of what it is.
func scaled() settings {
	return settings{
		"priority":            []string{large, small},
		"cooldownMs":          3_000, // also bounds the transient cooldown, as 15 s do
		"maxCooldownMs":       60_000,
		"transientCooldownMs": 1_000,
		"keys":                settings{"cooldownMs": 6_000, "maxCooldownMs": 180_000},
		"halts":               settings{"cooldownMs": 12_000, "maxCooldownMs": 60_000, "rateMs": 6_000},
		"budget": settings{
			"deadlineMs": 24_000, "firstContentMs": 2_000, "idleMs": 4_000, "connectMs": 1_000,
			"backoffMs": 50, "maxBackoffMs": 800, "waitUpToMs": 1_000,
		},
	}
}

// but is s with the changes made.
func (s settings) but(changes settings) settings {
	for name, value := range changes {
		if inner, ok := value.(settings); ok {
			if old, ok := s[name].(settings); ok {
				value = maps.Clone(old).but(inner)
			}
		}
		s[name] = value
	}
	return s
}

// row is the plugin's row of a profile.
func (s settings) row(t *testing.T) string {
	t.Helper()
	config, err := json.Marshal(s) // YAML too
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("- {id: failover, name: failover, config: %s}\n", config)
}

// The routes of most scenarios.
const (
	large = "primary/large"
	small = "fallback/small"
)

// primary and fallback are the two vendors of most scenarios.
func primary(script string) sim.Vendor {
	return sim.Vendor{Name: "primary", Models: []string{"large"}, Script: script}
}

func fallback(script string) sim.Vendor {
	return sim.Vendor{Name: "fallback", Models: []string{"small"}, Script: script}
}

// scene is vendors, a process that serves them, and callers of one dialect.
type scene struct {
	*rig.Server
	t       *testing.T
	speaks  caller.Dialect // also the vendors, where a row does not say otherwise
	vendors *sim.Server
	names   *strings.Replacer // of keys, in the place of their fingerprints
	client  *control.Client
}

// stage starts the vendors. They play the refusals of a dialect's author, and their
// answers are numbered words, so that a gap, a repetition or two vendors in one
// answer are seen. It returns their rows of a profile.
func stage(t *testing.T, d caller.Dialect, vendors ...sim.Vendor) (s *scene, rows string) {
	t.Helper()
	var fingerprints []string
	for i := range vendors {
		v := &vendors[i]
		v.Answer.Tokens, v.Answer.Numbered = answerTokens, true
		if v.Like == "" {
			v.Like = author(d)
		}
		if v.Keys == nil {
			v.Keys = []string{"key-of-" + v.Name}
		}
		for _, k := range v.Keys {
			fingerprints = append(fingerprints, sim.Fingerprint(k), k)
		}
	}
	s = &scene{t: t, speaks: d, names: strings.NewReplacer(fingerprints...)}
	if s.vendors = listening(t, vendors); s.vendors == nil {
		t.Fatal("no free ports")
	}
	t.Cleanup(s.vendors.Close)
	for i, e := range s.vendors.Vendors() {
		rows += s.row(d, e.Name(), strings.Join(e.Models(), ", "), vendors[i].Keys...)
	}
	return s, rows
}

// author is the vendor whose dialect it is.
func author(d caller.Dialect) string {
	if d == caller.Messages {
		return "anthropic"
	}
	return "openai"
}

// listening starts vendors on ports that the system gives to nobody by itself:
// one that a vendor has closed stays its own.
func listening(t *testing.T, vendors []sim.Vendor) *sim.Server {
	t.Helper()
	for range 50 {
		s, err := sim.New(sim.Options{Vendors: vendors})
		if err != nil {
			t.Fatal(err)
		}
		if s.Start(context.Background(), fmt.Sprintf("127.0.0.1:%d", 10_000+rand.N(20_000))) == nil {
			return s
		}
	}
	return nil
}

// row is a profile's row of a vendor that is spoken to in a dialect.
func (s *scene) row(d caller.Dialect, vendor, models string, keys ...string) string {
	name := map[caller.Dialect]string{caller.Chat: "openai", caller.Responses: "responses", caller.Messages: "anthropic"}[d]
	return fmt.Sprintf("- {id: %s, name: provider, config: {endpoints: {%s: %s/v1}, models: [%s], keys: [%s]}}\n",
		vendor, name, s.vendors.Vendor(vendor).URL(), models, strings.Join(keys, ", "))
}

// serve runs a profile of the rows.
func (s *scene) serve(rows string) *scene {
	s.t.Helper()
	return s.beside(rig.Serve(s.t, rows))
}

// beside is s as it is seen through another server.
func (s *scene) beside(server *rig.Server) *scene {
	other := *s
	other.Server, other.client = server, control.NewClient(server.Dir)
	return &other
}

// play starts vendors and serves them with settings.
func play(t *testing.T, d caller.Dialect, with settings, vendors ...sim.Vendor) *scene {
	t.Helper()
	s, rows := stage(t, d, vendors...)
	return s.serve(rows + with.row(t))
}

// eventually reports whether something comes to be in good time.
func eventually(cond func() bool) bool { return rig.Within(patience, cond) }

// until waits for something that comes soon.
func (s *scene) until(what string, cond func() bool) {
	s.t.Helper()
	if !eventually(cond) {
		s.t.Fatalf("did not happen: %s", what)
	}
}

// calls are how often vendors were asked: "primary 2", "fallback 1".
func (s *scene) calls() []string {
	var got []string
	for _, e := range s.vendors.Vendors() {
		if n := len(e.Calls()); n > 0 {
			got = append(got, fmt.Sprintf("%s %d", e.Name(), n))
		}
	}
	return got
}

// asked checks how often vendors were asked.
func (s *scene) asked(want ...string) {
	s.t.Helper()
	if d := cmp.Diff(want, s.calls()); d != "" {
		s.t.Errorf("calls that reached vendors (-want +got):\n%s", d)
	}
}

// upstream are the calls that have reached the primary.
func (s *scene) upstream() []sim.Call { return s.vendors.Vendor("primary").Calls() }

// arrived waits until so many calls have reached the primary.
func (s *scene) arrived(n int) []sim.Call {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	calls, err := s.vendors.Vendor("primary").Wait(ctx, n)
	if err != nil {
		s.t.Fatalf("%d calls reached the primary, want %d: %v", len(calls), n, err)
	}
	return calls
}

// gone waits until so many calls have reached the primary and all have ended.
func (s *scene) gone(n int) {
	s.t.Helper()
	s.arrived(n)
	s.until(fmt.Sprintf("%d calls have ended at the primary", n), func() bool {
		for _, c := range s.upstream() {
			if c.End.IsZero() {
				return false
			}
		}
		return true
	})
}

// script changes what a vendor does from now on.
func (s *scene) script(vendor, text string) {
	s.t.Helper()
	if err := s.vendors.Vendor(vendor).SetScript(text); err != nil {
		s.t.Fatal(err)
	}
}

// json runs a command of the program and reads what it prints.
func (s *scene) json(into any, args ...string) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(rig.Run(s.t, s.Command(append(args, "--json")...))), into); err != nil {
		s.t.Fatal(err)
	}
}

// recorded waits for the record of a request, "" for the last one, to tell of that
// outcome and those attempts, each "KIND ROUTE ok" or "KIND ROUTE CODE > ACTION".
// Where nothing is left to decide, since the caller is gone or has seen content, what
// a plugin says of it is left out: it may come too late.
// It returns how the record differs, "" if it does not.
func (s *scene) recorded(id string, outcome record.Outcome, attempts ...string) (rec record.Request, diff string) {
	s.t.Helper()
	want := append([]string{string(outcome)}, attempts...)
	var got []string
	if eventually(func() bool {
		var err error
		rec, err = s.client.Request(s.t.Context(), id)
		got = []string{string(rec.Outcome)}
		for _, a := range rec.Attempts {
			got = append(got, told(a))
		}
		return err == nil && slices.Equal(got, want)
	}) {
		return rec, ""
	}
	return rec, cmp.Diff(want, got)
}

// record checks a record.
func (s *scene) record(id string, outcome record.Outcome, attempts ...string) record.Request {
	s.t.Helper()
	rec, d := s.recorded(id, outcome, attempts...)
	if d != "" {
		s.t.Fatalf("record of %s (-want +got):\n%s", id, d)
	}
	return rec
}

func told(a record.Attempt) string {
	if a.Outcome == record.AttemptOK {
		return fmt.Sprintf("%s %s ok", a.Kind, a.Route)
	}
	code := a.Code
	if a.JudgedCode != "" {
		code = a.JudgedCode
	}
	line := fmt.Sprintf("%s %s %s", a.Kind, a.Route, code)
	if a.Action != "" && !a.Committed && a.Outcome != record.AttemptCancelled {
		line += " > " + string(a.Action)
	}
	return line
}

// against are the circuits that status shows, each "TARGET STATE CODE",
// with keys by name.
func (s *scene) against(v story.StatusView) []string {
	var lines []string
	for _, p := range v.Plugins {
		for _, t := range p.Targets {
			lines = append(lines, strings.TrimSpace(s.names.Replace(fmt.Sprintf("%s %s %s", t.Target, t.State, t.Code))))
		}
	}
	slices.Sort(lines)
	return lines
}

// standing waits until this stands against the vendors and nothing else. It returns
// how what stands differs, "" if it does not.
func (s *scene) standing(want ...string) (diff string) {
	s.t.Helper()
	slices.Sort(want)
	var got []string
	if eventually(func() bool {
		v, err := s.client.Status(s.t.Context())
		got = s.against(v)
		return err == nil && slices.Equal(got, want)
	}) {
		return ""
	}
	return cmp.Diff(want, got)
}

// stands checks what stands against the vendors.
func (s *scene) stands(want ...string) {
	s.t.Helper()
	if d := s.standing(want...); d != "" {
		s.t.Fatalf("what stands against whom (-want +got):\n%s", d)
	}
}

// out waits until the host says that a target is out, and returns what it says.
func (s *scene) out(target string) sdk.TargetStatus {
	s.t.Helper()
	var found sdk.TargetStatus
	s.until(target+" is out", func() bool {
		v, err := s.client.Status(s.t.Context())
		if err != nil { // the store is slow
			return false
		}
		for _, p := range v.Plugins {
			for _, t := range p.Targets {
				if s.names.Replace(t.Target) == target && t.State == sdk.CircuitOpen {
					found = t
					return true
				}
			}
		}
		return false
	})
	return found
}

// over waits until a target may be tested.
func (s *scene) over(target string) {
	s.t.Helper()
	t := time.NewTimer(time.Until(s.out(target).Until))
	defer t.Stop()
	<-t.C
}
