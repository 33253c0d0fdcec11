package dialect

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"spillway/sdk"
)

// promptReader fills a prompt from a request body that Inspect has accepted.
type promptReader struct {
	sdk.Prompt
	dropped dropped
}

// partsOf reads content, a string or a list of what part reads.
func partsOf(v gjson.Result, part func(gjson.Result) (sdk.Part, bool)) []sdk.Part {
	if v.Type == gjson.String {
		return []sdk.Part{sdk.TextPart(text(v))}
	}
	var parts []sdk.Part
	elements(v, func(e gjson.Result) {
		if p, ok := part(e); ok {
			p.Cache = e.Get("cache_control").IsObject()
			parts = append(parts, p)
		}
	})
	return parts
}

// fields calls f for every member of v that has a value.
func fields(v gjson.Result, f func(key string, val gjson.Result)) {
	if !v.IsObject() {
		return
	}
	v.ForEach(func(key, val gjson.Result) bool {
		if val.Type != gjson.Null {
			f(text(key), val)
		}
		return true
	})
}

// elements calls f for every element of v if it is a list.
func elements(v gjson.Result, f func(gjson.Result)) {
	if !v.IsArray() {
		return
	}
	v.ForEach(func(_, val gjson.Result) bool {
		f(val)
		return true
	})
}

// say adds a turn. Results of tools stand in messages of their own, those that
// follow each other in one.
func (r *promptReader) say(role sdk.Role, parts []sdk.Part) {
	for len(parts) > 0 {
		result := parts[0].Kind == sdk.PartToolResult
		n := 1
		for n < len(parts) && (parts[n].Kind == sdk.PartToolResult) == result {
			n++
		}
		m := sdk.Message{Role: role, Parts: parts[:n:n]}
		if result {
			m.Role = sdk.RoleTool
		}
		if last := len(r.Messages) - 1; result && last >= 0 && r.Messages[last].Role == sdk.RoleTool {
			r.Messages[last].Parts = append(r.Messages[last].Parts, m.Parts...)
		} else {
			r.Messages = append(r.Messages, m)
		}
		parts = parts[n:]
	}
}

// done returns the prompt once every field was read.
func (r *promptReader) done() *sdk.Prompt {
	if c := r.ToolChoice; c != nil && c.Mode == "tool" && !r.hasTool(c.Name) {
		r.dropped.add("tool_choice")
		r.ToolChoice = nil
	}
	r.Dropped = r.dropped
	return &r.Prompt
}

func (r *promptReader) hasTool(name string) bool {
	for _, t := range r.Tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// number returns v as a pointer, nil if it is no number.
func number(v gjson.Result) *float64 {
	if v.Type != gjson.Number {
		return nil
	}
	f := v.Num
	return &f
}

// raw copies v as it stands if it is an object.
func raw(v gjson.Result) json.RawMessage {
	if !v.IsObject() {
		return nil
	}
	return json.RawMessage(v.Raw)
}

// dataURL splits a data URL of base64.
func dataURL(url string) (mediaType, data string, ok bool) {
	head, data, found := strings.Cut(url, ",")
	mediaType, isData := strings.CutPrefix(head, "data:")
	mediaType, isBase64 := strings.CutSuffix(mediaType, ";base64")
	return mediaType, data, found && isData && isBase64
}

// imageOf is the image at a URL, which may hold the data itself. It reports
// false if there is none.
func imageOf(url string) (sdk.Part, bool) {
	if mediaType, data, ok := dataURL(url); ok {
		return sdk.Part{Kind: sdk.PartImage, MediaType: mediaType, Data: data}, true
	}
	return sdk.Part{Kind: sdk.PartImage, URL: url}, url != ""
}

// arguments reads those of a call. The vocabulary wants an object.
func (r *promptReader) arguments(v gjson.Result) json.RawMessage {
	args := arguments(v)
	if object := objectOf(args); object != nil {
		return object
	}
	if strings.TrimSpace(args) != "" {
		r.dropped.add("tool_calls.arguments")
	}
	return json.RawMessage("{}")
}

// joinText joins the text of parts with blank lines and says whether there was
// anything else among them.
func joinText(parts []sdk.Part) (joined string, others bool) {
	var texts []string
	for _, p := range parts {
		switch {
		case p.Kind != sdk.PartText:
			others = true
		case p.Text != "":
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n"), others
}
