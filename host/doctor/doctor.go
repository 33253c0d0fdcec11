package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"

	"spillway/host"
)

// Options say what is looked at.
type Options struct {
	Host   host.Options // the profile, as it is run
	Listen string       // address that serve is to listen on
	Online bool         // ask the vendors whether they take the keys
}

// State is how bad a finding is.
type State string

// States.
const (
	OK      State = "ok"
	Info    State = "info"    // nothing is wrong, but it is good to know
	Warning State = "warning" // something does not work as it could
	Error   State = "error"   // something does not work
)

// Finding is one thing that was looked at.
type Finding struct {
	Check string `json:"check"` // profile, keys, vendors, plugins, files, port, store, clock or hosts
	State State  `json:"state"`
	What  string `json:"what"`
	Mend  string `json:"mend,omitempty"`
}

// Report is what was found.
type Report struct {
	Profile  string    `json:"profile"` // its folder
	Findings []Finding `json:"findings"`
}

// Count counts the findings of a state.
func (r *Report) Count(s State) (n int) {
	for _, f := range r.Findings {
		if f.State == s {
			n++
		}
	}
	return n
}

// examination makes one report.
type examination struct {
	Options
	report *Report
}

// Examine looks at a profile. The error is for one that is not there, and for a
// context that has ended.
func Examine(ctx context.Context, o Options) (*Report, error) {
	if o.Host.Env == nil {
		o.Host.Env = os.LookupEnv
	}
	x := &examination{Options: o, report: &Report{Profile: o.Host.Dir, Findings: []Finding{}}}
	if err := x.profile(ctx); err != nil {
		return nil, err
	}
	x.keys()
	if o.Online {
		x.vendors(ctx)
	}
	x.plugins()
	x.files()
	x.hosts(ctx)
	x.store(ctx)
	x.clock()
	return x.report, context.Cause(ctx)
}

func (x *examination) add(check string, s State, mend, format string, args ...any) {
	what := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ") // on one line: it may be a stranger's
	x.report.Findings = append(x.report.Findings, Finding{Check: check, State: s, What: what, Mend: mend})
}

// profile takes over what the check of the profile has found.
func (x *examination) profile(ctx context.Context) error {
	r, err := host.Check(ctx, x.Host)
	if err != nil {
		return err
	}
	for _, f := range r.Findings {
		switch text := strings.TrimPrefix(f.String(), string(f.Severity)+": "); f.Severity {
		case host.SeverityError:
			x.add("profile", Error, "edit that line; spillway config check tells when it is right", "%s", text)
		case host.SeverityWarning:
			x.add("profile", Warning, "edit that line; spillway config check tells when it is right", "%s", text)
		case host.SeverityInfo: // of keys, see there
		}
	}
	if r.Count(host.SeverityError)+r.Count(host.SeverityWarning) == 0 {
		x.add("profile", OK, "", "%d entries, no fault", r.Entries)
	}
	return nil
}
