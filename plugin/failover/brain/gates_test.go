package brain

import (
	"testing"
	"time"

	"spillway/sdk"
)

// TestGates: an alternative counts only once it was measured on the contract's file
// and was good enough; another way to the same model needs no proof.
func TestGates(t *testing.T) {
	head := sdk.Route{Provider: "a", Model: "m"}
	same := sdk.Route{Provider: "b", Model: "m"}
	other := sdk.Route{Provider: "c", Model: "n"}
	cat := sdk.Catalogue{Providers: []sdk.Provider{
		{Name: "a", Models: []sdk.Model{{ID: "m"}}}, {Name: "b", Models: []sdk.Model{{ID: "m"}}}, {Name: "c", Models: []sdk.Model{{ID: "n"}}},
	}}
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	measure := func(eval string, task, schema float64, schemas int) sdk.Measurement {
		return sdk.Measurement{Eval: eval, Route: other, At: at, Tasks: 10, TaskSuccess: task, Schemas: schemas, SchemaValid: schema}
	}
	both := &Gates{Eval: "coding.jsonl", TaskSuccess: 0.9, SchemaValid: 0.95}
	tests := []struct {
		name     string
		gates    *Gates
		measured []sdk.Measurement
		want     string // why other is passed over
	}{
		{name: "no gates"},
		{"unmeasured", both, nil, "contract code@3: not measured on coding.jsonl"},
		{"measured on another file", both, []sdk.Measurement{measure("prose.jsonl", 1, 1, 10)}, "contract code@3: not measured on coding.jsonl"},
		{"without tasks", both, []sdk.Measurement{{Eval: "coding.jsonl", Route: other}}, "contract code@3: not measured on coding.jsonl"},
		{"no schema in the file", both, []sdk.Measurement{measure("coding.jsonl", 1, 0, 0)}, "contract code@3: not measured on coding.jsonl"},
		{"good enough", both, []sdk.Measurement{measure("coding.jsonl", 0.9, 0.95, 10)}, ""},
		{"too few tasks", both, []sdk.Measurement{measure("coding.jsonl", 0.8996, 1, 10)}, "contract code@3: task success 0.899 on coding.jsonl, 0.9 wanted"},
		{"too few schemas", both, []sdk.Measurement{measure("coding.jsonl", 1, 0.5, 10)}, "contract code@3: schema valid 0.5 on coding.jsonl, 0.95 wanted"},
		{"no schema wanted", &Gates{Eval: "coding.jsonl", TaskSuccess: 0.5}, []sdk.Measurement{measure("coding.jsonl", 0.5, 0, 0)}, ""},
		{"measured again", both, []sdk.Measurement{measure("coding.jsonl", 0.1, 1, 10), measure("coding.jsonl", 1, 1, 10)}, ""},
		{"an older one comes late", both, []sdk.Measurement{
			measure("coding.jsonl", 1, 1, 10), {Eval: "coding.jsonl", Route: other, At: at.Add(-time.Hour), Tasks: 10},
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now := Instant{Wall: at}
			b := New(now, Policy{
				Priority:  []sdk.Route{head, same, other},
				Contracts: map[string]*Contract{"code": {Version: 3, Gates: tt.gates}},
			})
			for _, m := range tt.measured {
				b.Measured(m)
			}
			var turn Turn
			step := b.Start(now, &turn, Query{Head: head, Wants: sdk.Wants{Contract: "code"}}, cat, nil)
			if step.Route != head {
				t.Fatalf("first %s, want the head", step.Route)
			}
			var asked []sdk.Route
			var skipped []sdk.Skip
			for !step.Stopped() {
				asked = append(asked, step.Route)
				step = b.Failed(now, &turn, *sdk.NewFailure(sdk.CodeModelUnavailable, "test", ""), 0)
				skipped = append(skipped, step.Skipped...)
			}
			if len(asked) < 2 || asked[1] != same {
				t.Errorf("asked %v: another way to the same model needs no proof", asked)
			}
			got := ""
			for _, s := range skipped {
				if s.Route == other {
					got = s.Reason
				}
			}
			if served := len(asked) == 3; got != tt.want || served != (tt.want == "") {
				t.Errorf("passed over for %q, asked %v; want %q", got, asked, tt.want)
			}
		})
	}
}

func TestMeasuredIsBounded(t *testing.T) {
	b := New(Instant{}, Policy{})
	for i := range maxMeasured + 10 {
		b.Measured(sdk.Measurement{Eval: "e", Route: sdk.Route{Provider: "p", Model: string(rune(i))}})
	}
	if n := len(b.measured); n > maxMeasured {
		t.Errorf("%d measurements kept, at most %d", n, maxMeasured)
	}
}
