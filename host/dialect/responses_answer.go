package dialect

import (
	"cmp"
	"slices"

	"github.com/tidwall/gjson"

	"spillway/sdk"
)

func (responses) ParseAnswer(body []byte) ([]sdk.Event, bool) {
	if !valid(body) {
		return nil, false
	}
	v := gjson.ParseBytes(body)
	finish, broken := responsesFinish(body)
	status := text(v.Get("status"))
	if broken || !v.Get("output").IsArray() || status != "" && status != "completed" && status != "incomplete" {
		return nil, false
	}
	a := answer{
		id:     text(v.Get("id")),
		model:  text(v.Get("model")),
		usage:  responsesUsage([]byte(v.Get("usage").Raw)),
		finish: finish,
	}
	elements(v.Get("output"), func(item gjson.Result) {
		kind, s := responsesSaid(item)
		if kind == 0 || s == "" && kind != sdk.BlockToolCall { // reasoning may be encrypted
			return
		}
		b := answerBlock{kind: kind, text: s}
		if kind == sdk.BlockToolCall {
			b.id, b.name = cmp.Or(text(item.Get("call_id")), text(item.Get("id"))), text(item.Get("name"))
		}
		a.blocks = append(a.blocks, b)
	})
	return a.events(), true
}

func (responses) BuildAnswer(events []sdk.Event, o AnswerOptions) []byte {
	a, ok := fold(events)
	if !ok {
		return nil
	}
	out := newResponsesAnswer(answerID("resp_", a.id, o.ID), "")
	out.Status, out.Details = responsesStatus(a.finish)
	out.Created, out.Model, out.Usage = o.Created, cmp.Or(a.model, o.Model), toResponsesUsage(a.usage)
	for n, b := range a.blocks {
		form := responsesFormOf(b.kind, slices.Contains(o.Freeform, b.name))
		b.text = form.said(b.text)
		if b.kind == sdk.BlockToolCall {
			b.id = callID("call_", b.id)
		}
		out.Output = append(out.Output, form.done(form.id(out.ID, n), b))
	}
	return appendJSON(nil, out)
}
