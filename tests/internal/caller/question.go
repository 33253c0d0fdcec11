package caller

import (
	"encoding/json"
	"strings"
)

// Question is what an agent asks, in no dialect.
type Question struct {
	Model string
	Text  string // "go" if there is none
	Image bool   // one goes with the text
	Tool  string // the name of a tool to be used, "" for none
	Whole bool   // not as a stream
}

// pixel is the smallest image, a PNG.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

type object map[string]any

// Body is the request for a question.
func (d Dialect) Body(q Question) string {
	if q.Text == "" {
		q.Text = "go"
	}
	r := object{"model": q.Model, "stream": !q.Whole}
	anything := object{"type": "object"}
	switch d {
	case Chat:
		parts := []object{{"type": "text", "text": q.Text}}
		if q.Image {
			parts = append(parts, object{"type": "image_url", "image_url": object{"url": "data:image/png;base64," + pixel}})
		}
		r["messages"] = []object{{"role": "user", "content": parts}}
		if !q.Whole {
			r["stream_options"] = object{"include_usage": true}
		}
		if q.Tool != "" {
			r["tools"] = []object{{"type": "function", "function": object{"name": q.Tool, "parameters": anything}}}
			r["tool_choice"] = "required"
		}
	case Responses:
		parts := []object{{"type": "input_text", "text": q.Text}}
		if q.Image {
			parts = append(parts, object{"type": "input_image", "image_url": "data:image/png;base64," + pixel})
		}
		r["input"] = []object{{"role": "user", "content": parts}}
		if q.Tool != "" {
			r["tools"] = []object{{"type": "function", "name": q.Tool, "parameters": anything}}
			r["tool_choice"] = "required"
		}
	case Messages:
		parts := []object{{"type": "text", "text": q.Text}}
		if q.Image {
			parts = append(parts, object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": pixel}})
		}
		r["messages"] = []object{{"role": "user", "content": parts}}
		r["max_tokens"] = 1000
		if q.Tool != "" {
			r["tools"] = []object{{"name": q.Tool, "input_schema": anything}}
			r["tool_choice"] = object{"type": "any"}
		}
	}
	var b strings.Builder
	if err := json.NewEncoder(&b).Encode(r); err != nil {
		panic(err) // strings and maps of them
	}
	return b.String()
}
