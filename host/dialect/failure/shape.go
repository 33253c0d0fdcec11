package failure

import (
	"strings"

	"spillway/sdk"
)

// shape is what a body looks like.
type shape uint8

const (
	shapeEmpty shape = iota
	shapeHTML
	shapeJSON
	shapeText
	shapeStream
)

// answer is what a body shows of a model's answer.
type answer struct {
	frames  bool   // at least one data frame or an answer object
	content bool   // visible content
	finish  string // why the model stopped, in the vendor's word
	ended   bool   // the stream's terminal event
}

// finishes are the stop reasons that are failures in disguise.
var finishes = map[string]sdk.Code{
	"contentfilter":              sdk.CodePolicy,
	"sensitive":                  sdk.CodePolicy,
	"safety":                     sdk.CodePolicy,
	"prohibitedcontent":          sdk.CodePolicy,
	"blocklist":                  sdk.CodePolicy,
	"spii":                       sdk.CodePolicy,
	"recitation":                 sdk.CodePolicy,
	"imagesafety":                sdk.CodePolicy,
	"insufficientsystemresource": sdk.CodeOverloaded,
	"network":                    sdk.CodeServer,
}

// shapeDecision judges an answer whose status and codes say nothing.
func shapeDecision(ev Evidence, r *reading) decision {
	shaped := func(code sdk.Code, rule string) decision {
		return decision{verdict: verdict{code: code}, rule: "shape:" + rule}
	}
	a := r.answer
	if code := finishes[fold(a.finish)]; code != "" {
		return decision{verdict: verdict{code: code}, rule: "finish:" + a.finish}
	}
	if r.shape == shapeText || r.message != "" {
		if f, ok := clientVerdict(r.message); ok {
			return decision{verdict: f.verdict, cause: f.cause, rule: "client:" + f.text, generic: true}
		}
		d := shaped(sdk.CodeServer, "message")
		d.generic = true
		return d
	}
	switch {
	case a.finish == "error":
		return shaped(sdk.CodeServer, "finish-error")
	case ev.Phase == sdk.PhaseStream && (a.content || a.frames) && a.finish == "" && !a.ended:
		d := shaped(sdk.CodeTransport, "cut")
		d.cause = sdk.CauseCut
		return d
	case r.shape == shapeEmpty && !a.frames:
		return shaped(sdk.CodeEmptyResponse, "empty")
	}
	return shaped(sdk.CodeEmptyResponse, "no-answer")
}

func isHTML(text string) bool {
	head := strings.ToLower(text[:min(len(text), 512)])
	return strings.HasPrefix(head, "<!doctype") || strings.HasPrefix(head, "<html") ||
		strings.HasPrefix(head, "<head") || strings.HasPrefix(head, "<body") ||
		strings.HasPrefix(head, "<?xml") && strings.Contains(head, "<html")
}

var titleTag = express(`(?is)<title[^>]*>(.{0,300}?)</title>`)

// htmlTitle is a page's title, for people.
func htmlTitle(page string) string {
	m := titleTag().FindStringSubmatch(page[:min(len(page), 4096)])
	if m == nil {
		return ""
	}
	return strings.Join(strings.Fields(m[1]), " ")
}
