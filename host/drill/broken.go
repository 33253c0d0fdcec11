package drill

import (
	"slices"
	"strings"

	"spillway/host/story"
	"spillway/sdk"
)

// Broken is a part of the profile that can never work as it stands.
type Broken struct {
	Kind   BrokenKind `json:"kind"`
	Where  string     `json:"where,omitempty"` // file:line:column
	Entry  string     `json:"entry,omitempty"`
	About  string     `json:"about,omitempty"` // a setting, or a request
	Detail string     `json:"detail,omitempty"`
	Skips  []sdk.Skip `json:"skips,omitempty"` // who is passed over, and why
	Why    string     `json:"why"`             // all but the place, in English
}

// BrokenKind says what is broken.
type BrokenKind string

// Kinds of what is broken.
const (
	BrokenFault      BrokenKind = "fault"       // Detail, as the check or the start tells it
	BrokenModel      BrokenKind = "model"       // About names a model that Detail's provider does not list
	BrokenUnfit      BrokenKind = "unfit"       // nobody may be served by About
	BrokenUnled      BrokenKind = "unled"       // no request leads to About
	BrokenNoFailover BrokenKind = "no_failover" // nobody moves a failing call of those that About lists
	BrokenNobody     BrokenKind = "nobody"      // nobody is asked for About
	BrokenRefused    BrokenKind = "refused"     // a plugin refuses requests for About, which Detail says
	BrokenAlone      BrokenKind = "alone"       // none of those who are to take over from About may
)

// Note is something to know, which is no fault.
type Note struct {
	Kind   NoteKind   `json:"kind"`
	About  string     `json:"about"`
	Detail string     `json:"detail,omitempty"`
	Skips  []sdk.Skip `json:"skips,omitempty"` // who is passed over, and why
}

// NoteKind says what a note is about.
type NoteKind string

// Kinds of notes.
const (
	NoteAlone   NoteKind = "alone"   // About has nobody to take over
	NoteStrict  NoteKind = "strict"  // About wants nobody else
	NoteLast    NoteKind = "last"    // after About nobody is left, of the requests to Detail
	NoteSkipped NoteKind = "skipped" // for requests to About somebody is passed over
)

// unserved tells of listed routes that nobody can be served by.
func (s *surveyed) unserved() {
	for _, l := range s.listed {
		r := s.resolve(l.route)
		models, runs := s.models[r.Provider]
		if !runs { // as the check has told
			continue
		}
		b := Broken{Where: l.place, Entry: l.entry, About: l.path + " (" + r.String() + ")"}
		skip, skipped := s.reason(r)
		switch {
		case r.Model != "" && len(models) > 0 && !slices.Contains(models, r.Model):
			b.Kind, b.Detail = BrokenModel, strings.Join(models, ", ")+near(r.Model, models)
		case s.reached(r):
			continue
		case skipped:
			b.Kind, b.Skips = BrokenUnfit, []sdk.Skip{skip}
		default:
			b.Kind = BrokenUnled
		}
		s.dead[r] = true
		s.broken(b)
	}
}

// note tells of a line without anybody to take over.
func (s *surveyed) note(l Line) {
	name := l.name()
	var skipped []sdk.Skip
	told := true // each of them
	for _, k := range l.Skipped {
		if _, runs := s.models[k.Route.Provider]; runs {
			skipped = append(skipped, k)
			told = told && s.dead[k.Route]
		}
	}
	alive := slices.DeleteFunc(slices.Clone(l.Routes), func(r sdk.Route) bool { return s.dead[r] })
	note := func(n Note) { s.report.Notes = append(s.report.Notes, n) }
	switch {
	case len(l.Routes) == 0 && l.refusal != "":
		s.broken(Broken{Kind: BrokenRefused, About: name, Detail: l.refusal})
	case len(l.Routes) == 0:
		s.broken(Broken{Kind: BrokenNobody, About: name, Skips: skipped})
	case l.idle():
		s.unmoved = append(s.unmoved, name)
	case len(alive) > 1:
		if len(skipped) > 0 {
			note(Note{Kind: NoteSkipped, About: name, Skips: skipped})
		}
		note(Note{Kind: NoteLast, About: alive[len(alive)-1].String(), Detail: name})
	case !told:
		s.broken(Broken{Kind: BrokenAlone, About: name, Skips: skipped})
	case l.to.Wants.Strict:
		note(Note{Kind: NoteStrict, About: name})
	default:
		note(Note{Kind: NoteAlone, About: name})
	}
}

// name is how a line is called.
func (l Line) name() string {
	if l.Alias == "" {
		return l.to.Route.String()
	}
	return l.Alias + " (" + l.to.Route.String() + ")"
}

// idle reports whether no plugin does anything about failures.
func (l Line) idle() bool { return len(l.Routes) == 1 && !l.decided }

// why says what is broken.
func (b Broken) why(w *lexicon) string {
	reason := ""
	if len(b.Skips) > 0 {
		reason = story.Skipped(b.Skips[0].Reason, w.language)
	}
	return strings.NewReplacer(
		"{about}", plain(b.About), "{detail}", plain(b.Detail), "{reason}", reason, "{skips}", w.skipped(b.Skips),
	).Replace(w.broken[b.Kind])
}

// String says it in English.
func (n Note) String() string { return n.in(&english) }

func (n Note) in(w *lexicon) string {
	return strings.NewReplacer("{about}", plain(n.About), "{detail}", plain(n.Detail), "{skips}", w.skipped(n.Skips)).Replace(w.notes[n.Kind])
}

// skipped tells who is passed over, and why.
func (w *lexicon) skipped(skips []sdk.Skip) string {
	var parts []string
	for _, k := range skips {
		parts = append(parts, plain(k.Route.String())+w.colon+story.Skipped(k.Reason, w.language))
	}
	return strings.Join(parts, w.semicolon)
}

// in gives "file:line:column: entry: why".
func (b Broken) in(w *lexicon) string {
	text := b.why(w)
	if b.Entry != "" {
		text = b.Entry + ": " + text
	}
	if b.Where != "" {
		text = b.Where + ": " + text
	}
	return text
}

// String gives "file:line:column: entry: why", in English.
func (b Broken) String() string { return b.in(&english) }
