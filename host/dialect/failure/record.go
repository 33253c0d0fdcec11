package failure

import (
	"net/http"
	"time"

	"spillway/sdk"
)

// Record is a recorded vendor answer, as `spillway classify --jsonl` reads it.
type Record struct {
	ID       string            `json:"id"`
	Vendor   string            `json:"vendor"`
	Protocol string            `json:"protocol"` // openai, anthropic, gemini or other
	Phase    sdk.Phase         `json:"phase"`
	Status   int               `json:"status"` // 0 or null without a response
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
}

// Evidence is the record as evidence seen at the given time.
func (r Record) Evidence(now time.Time) Evidence {
	h := make(http.Header, len(r.Headers))
	for k, v := range r.Headers {
		h.Set(k, v)
	}
	return Evidence{
		Vendor:  r.Vendor,
		Dialect: r.Protocol,
		Phase:   r.Phase,
		Status:  r.Status,
		Header:  h,
		Body:    []byte(r.Body),
		Now:     now,
	}
}

// FromRecord judges a recorded answer as if it had just arrived.
func FromRecord(r Record) *sdk.Failure { return From(r.Evidence(time.Now())) }
