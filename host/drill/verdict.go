package drill

import (
	"context"
	"fmt"
	"slices"
	"time"

	"spillway/host/gateway"
	"spillway/host/state/record"
	"spillway/sdk"
)

// Sight is what a user saw of a request.
type Sight string

// Sights.
const (
	SawAnswer Sight = "answer" // whole, from one vendor
	SawResume Sight = "resume" // a broken one, and then openly another
	SawError  Sight = "error"  // one clean error
	SawBreak  Sight = "break"  // a part of an answer, and then an error
	SawDamage Sight = "damage" // something that looks whole and is not
	SawHang   Sight = "hang"   // nothing, for longer than any limit
)

// Verdict is what came of one route that failed in one way.
type Verdict struct {
	Alias    string          `json:"alias,omitempty"`
	Head     sdk.Route       `json:"head"`
	Route    sdk.Route       `json:"route"` // the one that failed; those before it in the line were closed
	Scenario string          `json:"scenario"`
	Saw      Sight           `json:"saw"`
	By       sdk.Route       `json:"by,omitzero"`       // of an answer
	Code     sdk.Code        `json:"code,omitempty"`    // of an error
	Status   int             `json:"status,omitempty"`  // with which the gateway tells an error
	Message  string          `json:"message,omitempty"` // of an error, as its vendor worded it
	Attempts int             `json:"attempts"`
	Took     record.Duration `json:"took_ms"`
	Faults   []Fault         `json:"faults,omitempty"` // none: passed
	Nobody   bool            `json:"nobody,omitempty"` // there is nobody to take over
}

// Failing names what is wrong with a verdict.
type Failing string

// Failings.
const (
	FailNotRun    Failing = "not_run"   // the profile could not be run: Detail
	FailHang      Failing = "hang"      // no end
	FailSilent    Failing = "not_taken" // somebody could have answered and did not: Detail says who
	FailDamage    Failing = "damaged"   // not one whole answer, without a word of it
	FailUnclean   Failing = "unclean"   // an error after content, though none was needed
	FailRepeated  Failing = "repeated"  // Count attempts reached the vendor, Most allowed
	FailElsewhere Failing = "elsewhere" // a request's own fault was taken elsewhere: Detail
	FailCharged   Failing = "charged"   // a request's own fault counts against a vendor: Detail
	FailImpatient Failing = "impatient" // the vendor's own wait was not kept
	FailFrames    Failing = "frames"    // Count beginnings or ends
	FailReported  Failing = "reported"  // the error is not the failing route's: Detail
)

// Fault is one thing that is wrong with a verdict.
type Fault struct {
	Failing Failing `json:"failing"`
	Count   int     `json:"count,omitempty"`
	Most    int     `json:"most,omitempty"`
	Detail  string  `json:"detail,omitempty"`
}

// run plays and judges.
func (s *surveyed) run(ctx context.Context, p play) Verdict {
	v := Verdict{Alias: p.line.Alias, Head: p.line.to.Route, Route: p.route(), Scenario: p.scenario.name}
	ctx, cancel := context.WithTimeoutCause(ctx, longest, errHangs)
	defer cancel()
	st, err := open(ctx, s.options.Host, s.options.Faster, func(provider string) string {
		if provider == v.Route.Provider {
			return p.scenario.script(v.Route.Model)
		}
		return "ok"
	})
	if err == nil {
		defer st.close()
		err = st.shut(ctx, p.line.Routes[:p.at])
	}
	if err != nil {
		v.Faults = []Fault{{Failing: FailNotRun, Detail: err.Error()}}
		return v
	}
	h := st.ask(ctx, p.line.to)
	j := judge{play: p, heard: h, stage: st, dead: s.dead, most: max(s.most, perVendor(p.line.to.Wants.Budget)), faster: s.options.Faster, verdict: v}
	return j.judge()
}

// judge turns what was heard into a verdict.
type judge struct {
	play
	heard
	stage   *stage
	dead    map[sdk.Route]bool
	most    int // attempts that may reach one vendor
	faster  int
	verdict Verdict
}

func (j *judge) fault(f Fault) { j.verdict.Faults = append(j.verdict.Faults, f) }

func (j *judge) judge() Verdict {
	v := &j.verdict
	v.Attempts, v.Took = len(j.record.Attempts), record.Duration(j.took)
	j.see()
	able := j.able()
	v.Nobody = len(able) == 0 && (j.scenario.expect == expectAnswer || j.scenario.expect == expectBreak)
	switch v.Saw {
	case SawHang:
		j.fault(Fault{Failing: FailHang, Count: int(j.took.Seconds())})
	case SawDamage:
		j.fault(Fault{Failing: FailDamage, Detail: damage(j.text)})
	case SawAnswer, SawResume:
		if j.scenario.expect == expectRefusal {
			j.fault(Fault{Failing: FailElsewhere, Detail: v.By.String()})
		}
	case SawBreak:
		if j.scenario.expect != expectBreak {
			j.fault(Fault{Failing: FailUnclean})
		}
	case SawError:
		j.refused(able)
	}
	if resumes := j.resumed(); !resumes && (j.starts > 1 || j.finishes > 1) {
		j.fault(Fault{Failing: FailFrames, Count: max(j.starts, j.finishes)})
	}
	j.conduct()
	return *v
}

// see says what the user saw.
func (j *judge) see() {
	v := &j.verdict
	if f := j.failure; f != nil {
		v.Code, v.Status, v.Message = f.Code, gateway.Status(f), sdk.ClipMessage(f.Message)
	}
	switch {
	case j.hung:
		v.Saw = SawHang
	case j.err != nil || j.finishes == 0 || j.failure == nil && !whole(j.text) && !j.resumed():
		v.Saw = SawDamage
	case j.failure != nil && j.text != "":
		v.Saw = SawBreak
	case j.failure != nil:
		v.Saw = SawError
	default:
		v.Saw, v.By = SawAnswer, j.by()
		if !whole(j.text) {
			v.Saw = SawResume
		}
	}
}

// able are the routes after the failing one that can answer.
func (j *judge) able() []sdk.Route {
	failing := j.route()
	after := slices.Clone(j.line.Routes[j.at+1:])
	return slices.DeleteFunc(after, func(r sdk.Route) bool {
		return j.dead[r] || j.scenario.wide && r.Provider == failing.Provider ||
			j.scenario.expect == expectLarger && j.stage.window(r) <= max(1, j.stage.window(failing))
	})
}

// window is the declared window of a route's model, 0 if none is.
func (s *stage) window(r sdk.Route) int {
	p, _ := s.Graph().Catalogue().Provider(r.Provider)
	for _, m := range p.Models {
		if m.ID == r.Model {
			return m.Context
		}
	}
	return 0
}

// refused judges a clean error.
func (j *judge) refused(able []sdk.Route) {
	switch j.scenario.expect {
	case expectRefusal, expectLarger:
		if j.failure.Class() != sdk.ClassCaller {
			j.fault(Fault{Failing: FailReported, Detail: string(j.failure.Code)})
		}
	case expectSame:
		j.fault(Fault{Failing: FailSilent, Detail: j.route().String()})
		return
	case expectAnswer, expectBreak:
	}
	if len(able) > 0 && j.scenario.expect != expectRefusal {
		j.fault(Fault{Failing: FailSilent, Detail: able[0].String()})
	}
}

// conduct looks at what reached the vendors, and what was held against them.
func (j *judge) conduct() {
	failing := j.route()
	calls := j.stage.calls(failing)
	most := j.most
	if j.scenario.once {
		most = 1
		if j.scenario.keyed {
			most = max(1, j.stage.keys[failing.Provider])
		}
	}
	if len(calls) > most {
		j.fault(Fault{Failing: FailRepeated, Count: len(calls), Most: most})
	}
	if j.scenario.hint && len(calls) > 1 {
		if wait := hintSeconds * time.Second / time.Duration(j.faster); calls[1].Time.Sub(calls[0].End) < wait*9/10 {
			j.fault(Fault{Failing: FailImpatient})
		}
	}
	if j.scenario.expect != expectRefusal {
		return
	}
	for provider := range j.stage.vendors {
		if provider != failing.Provider && len(j.stage.calls(sdk.Route{Provider: provider})) > 0 {
			j.fault(Fault{Failing: FailElsewhere, Detail: provider})
		}
	}
	for _, a := range j.record.Attempts {
		for _, c := range a.Circuits {
			j.fault(Fault{Failing: FailCharged, Detail: fmt.Sprintf("%s: %s", c.Target, c.To)})
		}
	}
}

// damage is what was read in the place of a whole answer, shortened.
func damage(text string) string {
	const most = 120
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
