package host

import (
	"strings"

	"spillway/host/profile"
	"spillway/sdk"
)

// Severity says how bad a finding is.
type Severity string

// Severities.
const (
	SeverityError   Severity = "error"   // a file or an entry cannot be used as it stands
	SeverityWarning Severity = "warning" // something takes no effect, or not the one that was meant
	SeverityInfo    Severity = "info"    // the profile is right, but for what it finds here
)

// Finding is one thing that Check has to say. Its fault's path is that of the
// setting within the entry's config, or a key of the row.
type Finding struct {
	Severity Severity `json:"severity"`
	Entry    string   `json:"entry,omitempty"` // id
	Layer    string   `json:"layer,omitempty"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`   // from 1
	Column   int      `json:"column,omitempty"` // from 1
	sdk.Fault
	Near []string `json:"near,omitempty"` // what is known and resembles it, best first

	wordsFirst bool // of skipped patches: the original's words come before the place
}

// Report is what Check found.
type Report struct {
	Profile  string    `json:"profile"` // its folder
	Entries  int       `json:"entries"` // that are to be started
	Findings []Finding `json:"findings"`
}

// Count counts the findings of a severity.
func (r *Report) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// String gives one line: "severity: file:line:column: entry: path: message, got
// value (allowed: …); nearest known: …".
func (f Finding) String() string {
	var near string
	if len(f.Near) > 0 {
		near = "; nearest known: " + strings.Join(f.Near, ", ")
	}
	at := profile.Pos{File: f.File, Line: f.Line, Column: f.Column}.String()
	if f.wordsFirst {
		return string(f.Severity) + ": " + f.Message + " (" + at + near + ")"
	}
	s := string(f.Severity) + ": "
	if at != "" {
		s += at + ": "
	}
	if f.Entry != "" {
		s += f.Entry + ": "
	}
	return s + f.Fault.String() + near
}

// finding makes a finding on one line: messages may come from strangers.
func finding(s Severity, entry string, at profile.Pos, fault sdk.Fault, near ...string) Finding {
	fault.Message = strings.Join(strings.Fields(fault.Message), " ")
	return Finding{
		Severity: s, Entry: entry, Layer: at.Layer, File: at.File, Line: at.Line, Column: at.Column, Fault: fault, Near: near,
	}
}
