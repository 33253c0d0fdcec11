package failure

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// field is one named value of an object.
type field struct {
	field string
	value gjson.Result
}

// fields sorts an object's members by what they are for. Vendors use a few
// dozen spellings for half a dozen ideas.
type fields struct {
	message, description, errorText gjson.Result

	inner   []gjson.Result // envelopes, the most telling first
	names   []field
	headers gjson.Result
	choice  gjson.Result // a part of a model's answer
	loc     gjson.Result

	after  []field // waits: field holds the unit
	resets gjson.Result
	failed bool
	edge   bool // the answer is an intermediary's, not the vendor's
}

// take sorts one member in; key is folded: lower case without separators.
func (f *fields) take(key string, v gjson.Result) {
	if v.Type == gjson.Null {
		return
	}
	switch key {
	case "error", "errors", "detail", "upstreamerror", "lasterror":
		f.failed = f.failed || key != "detail"
		switch {
		case v.IsObject() || v.IsArray():
			f.envelope(v)
		case v.Type == gjson.String && key == "detail":
			f.description = v
		case v.Type == gjson.String:
			f.errorText = v
		}
	case "message", "msg", "errormessage", "errormsg", "statusmsg", "errmsg":
		if v.IsObject() || v.IsArray() {
			f.envelope(v)
		} else if f.message.String() == "" {
			f.message = v
		}
	case "errordescription", "description":
		if f.description.String() == "" {
			f.description = v
		}
	case "code", "errorcode", "errcode", "statuscode", "httpstatus", "rawstatuscode", "httpcode":
		if v.IsObject() {
			f.envelope(v)
		} else {
			f.name("code", v)
		}
	case "type", "errortype", "name", "errorname":
		f.name("type", v)
	case "status":
		f.name("status", v)
	case "reason", "blockreason":
		f.name("reason", v)
	case "quotaid":
		f.name(quotaIDField, v)
	case "quotalimit":
		if strings.Contains(v.String(), "Per") {
			f.name(quotaIDField, v)
		}
	case "baseresp":
		f.name("base_resp", v.Get("status_code"))
		f.message = v.Get("status_msg")
		f.failed = v.Get("status_code").Int() != 0
	case "body", "responsemetadata", "details", "violations", "innererror", "cause", "header":
		if v.IsObject() || v.IsArray() {
			f.inner = append(f.inner, v)
		}
	case "response":
		if v.IsObject() && (v.Get("error").Exists() || v.Get("Error").Exists()) {
			f.inner = append(f.inner, v)
		}
	case "metadata":
		if v.IsObject() {
			f.inner = append(f.inner, v)
		}
	case "raw":
		f.envelope(v)
	case "headers":
		f.headers = v
	case "result":
		if v.Type == gjson.String {
			f.description = v
		}
	case "ratelimitinfo":
		if v.Get("status").String() == "rejected" {
			f.name("type", text("usage_limit_rejected"))
			f.resets = v.Get("resetsAt")
		}
	case "flaggedinput":
		f.names = append(f.names, field{"reason", text("content_flagged")})
	case "cloudflareerror":
		f.edge = v.Bool()
	case "loc":
		f.loc = v
	case "choices", "candidates", "promptfeedback", "content", "output", "delta", "stopreason", "finishreason":
		f.choice = v
	default:
		f.takeWait(key, v)
	}
}

func (f *fields) takeWait(key string, v gjson.Result) {
	switch key {
	case "retryafterms", "resetafterms", "retryinms":
		f.after = append(f.after, field{"ms", v})
	case "retryafter", "retryafterseconds", "resetsinseconds", "resetinseconds", "retrydelay", "resetafter", "quotaresetdelay", "retryin", "waitseconds", "estimatedtime":
		f.after = append(f.after, field{"s", v})
	case "resetsat", "resetat", "resettime", "reset":
		f.resets = v
	}
}

func text(s string) gjson.Result { return gjson.Result{Type: gjson.String, Str: s} }

func (f *fields) envelope(v gjson.Result) { f.inner = append([]gjson.Result{v}, f.inner...) }

func (f *fields) name(kind string, v gjson.Result) {
	if v.Type != gjson.String && v.Type != gjson.Number {
		return
	}
	switch v.String() {
	case "error", "response.failed", "result", "message", "ok", "success", "rate_limit_event":
		return
	}
	f.names = append(f.names, field{kind, v})
}

// codesFirst returns the names with codes before the types they refine.
func (f *fields) codesFirst() []field {
	slices.SortStableFunc(f.names, func(a, b field) int {
		switch {
		case a.field == "code" && b.field != "code":
			return -1
		case a.field != "code" && b.field == "code":
			return 1
		}
		return 0
	})
	return f.names
}

// validation recognises one entry of a schema checker's report, which quotes
// the caller's input.
func (f *fields) validation() bool { return f.loc.IsArray() && f.message.Exists() }

// isError reports whether the object says that something failed. A bare error
// word beside a message is a name: {"error":"Unauthorized","message":…}.
func (f *fields) isError() bool {
	if f.errorText.String() != "" && (f.message.String() != "" || f.description.String() != "") {
		f.names = append(f.names, field{"error", f.errorText})
	}
	return f.failed || f.message.Exists() && len(f.names) > 0
}

// waits records the hints of this object. Relative ones come first: they need
// no clock.
func (f *fields) waits(r *reading) {
	for _, a := range f.after {
		d, ok := parseWait(a.value.String())
		if a.field == "ms" && a.value.Type == gjson.Number {
			d, ok = time.Duration(a.value.Float()*float64(time.Millisecond)), a.value.Float() < 1e12
		}
		if ok {
			r.waits = append(r.waits, wait{after: d, source: "body"})
		}
	}
	if f.resets.Exists() {
		if t, ok := parseMoment(f.resets.String()); ok {
			r.waits = append(r.waits, wait{at: t, source: "body"})
		}
	}
}
