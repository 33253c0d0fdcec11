package browser

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"spillway/host/story"
	"spillway/sdk"
)

// TestWhereRequestsGo: what stands against targets, and what a person ordered, decides
// where the picture lets the water in.
func TestWhereRequestsGo(t *testing.T) {
	s, _ := serve(t, nil)
	p := open(t, s, "#status", look{})
	later, before := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	out := func(target string) sdk.TargetStatus {
		return sdk.TargetStatus{Target: target, State: sdk.CircuitOpen, Until: later}
	}
	tests := []struct {
		name     string
		priority []string
		targets  []sdk.TargetStatus
		orders   []sdk.Order
		want     string // what each of a, b and c admits, and who serves
	}{
		{"healthy", nil, nil, nil, "a:yes b:yes c:yes > a"},
		{"by priority", []string{"c", "b/2"}, nil, nil, "c:yes b:yes a:yes > c"},
		{"vendor out", nil, []sdk.TargetStatus{out("a")}, nil, "a:no b:yes c:yes > b"},
		{"first model out", nil, []sdk.TargetStatus{out("a/1")}, nil, "a:no b:yes c:yes > b"},
		{"another model out", nil, []sdk.TargetStatus{out("a/2")}, nil, "a:yes b:yes c:yes > a"},
		{"the model of the priority out", []string{"a/2"}, []sdk.TargetStatus{out("a/2")}, nil, "a:no b:yes c:yes > b"},
		{"one key out", nil, []sdk.TargetStatus{out("a#k1")}, nil, "a:yes b:yes c:yes > a"},
		{"all keys out", nil, []sdk.TargetStatus{out("a#k1"), out("a#k2")}, nil, "a:no b:yes c:yes > b"},
		{"all keys out for the model", nil, []sdk.TargetStatus{out("a#k1/1"), out("a#k2")}, nil, "a:no b:yes c:yes > b"},
		{"all keys out for another model", nil, []sdk.TargetStatus{out("a#k1/2"), out("a#k2/2")}, nil, "a:yes b:yes c:yes > a"},
		{"half open", nil, []sdk.TargetStatus{{Target: "a", State: sdk.CircuitHalfOpen}}, nil, "a:trial b:yes c:yes > b"},
		{"cooldown over", nil, []sdk.TargetStatus{{Target: "a", State: sdk.CircuitOpen, Until: before}}, nil, "a:trial b:yes c:yes > b"},
		{"only a trial is left", nil, []sdk.TargetStatus{{Target: "a/1", State: sdk.CircuitHalfOpen}, out("b"), out("c")}, nil, "a:trial b:no c:no > a"},
		{"nobody", nil, []sdk.TargetStatus{out("a"), out("b"), out("c")}, nil, "a:no b:no c:no > nobody"},
		{"failures, but closed", nil, []sdk.TargetStatus{{Target: "a", State: sdk.CircuitClosed, Failures: 1}}, nil, "a:yes b:yes c:yes > a"},
		{"disabled", nil, nil, []sdk.Order{{Verb: sdk.VerbDisable, Target: "a"}}, "a:no b:yes c:yes > b"},
		{"draining model", nil, nil, []sdk.Order{{Verb: sdk.VerbDrain, Target: "a/1"}}, "a:no b:yes c:yes > b"},
		{"order that is over", nil, nil, []sdk.Order{{Verb: sdk.VerbDisable, Target: "a", Until: before}}, "a:yes b:yes c:yes > a"},
		{"pinned vendor", nil, nil, []sdk.Order{{Verb: sdk.VerbPin, Target: "c"}}, "a:no b:no c:yes > c"},
		{"pinned model", nil, nil, []sdk.Order{{Verb: sdk.VerbPin, Target: "b/2"}}, "a:no b:yes c:no > b"},
		{"pinned and out", nil, []sdk.TargetStatus{out("b")}, []sdk.Order{{Verb: sdk.VerbPin, Target: "b"}}, "a:no b:no c:no > nobody"},
	}
	models := []sdk.Model{{ID: "1"}, {ID: "2"}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			words := map[string]story.TargetWords{}
			for _, x := range tt.targets {
				words[x.Target] = story.TargetWords{}
			}
			view, err := json.Marshal(map[string]any{
				"priority": append([]string{}, tt.priority...), "targets": words,
				"status": story.StatusView{
					Plugins:   []story.PluginView{{Entry: "failover", Targets: tt.targets, Orders: tt.orders}},
					Providers: []sdk.Provider{{Name: "a", Models: models, Keys: []string{"k1", "k2"}}, {Name: "b", Models: models}, {Name: "c"}},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			got := eval[string](p, fmt.Sprintf(`import('/ui/model.js').then(({model}) => {
				const m = model(%s);
				return m.vendors.map(v => v.name + ':' + v.admits).join(' ') + ' > ' + (m.goes?.name ?? 'nobody');
			})`, view))
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
