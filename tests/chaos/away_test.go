package chaos

import (
	"testing"

	"spillway/host/state/record"
	"spillway/sdk"
)

// TestAway: a request whose plugin was away ends with the first thing that a vendor
// said, whatever the plugin had given up before, and nobody decided that this is all.
func TestAway(t *testing.T) {
	attempt := func(code sdk.Code, action sdk.Action, why string) record.Attempt {
		return record.Attempt{Failure: record.Failure{Code: code}, Action: action, Why: why}
	}
	limited, aborted := attempt(sdk.CodeRateLimit, "", ""), attempt(sdk.CodeAborted, "", "")
	for _, tt := range []struct {
		name     string
		told     sdk.Code
		attempts []record.Attempt
		want     bool
	}{
		{"nobody decided", sdk.CodeRateLimit, []record.Attempt{limited}, true},
		{"given up before", sdk.CodeRateLimit, []record.Attempt{aborted, limited}, true},
		{"said when it was back", sdk.CodeRateLimit, []record.Attempt{limited, attempt(sdk.CodeRateLimit, sdk.ActionStop, "nobody was there to decide")}, true},
		{"decided", sdk.CodeRateLimit, []record.Attempt{attempt(sdk.CodeRateLimit, sdk.ActionStop, "nothing left")}, false},
		{"told another", sdk.CodeServer, []record.Attempt{limited, attempt(sdk.CodeServer, "", "")}, false},
		{"the caller's end", sdk.CodeAborted, []record.Attempt{aborted}, false},
		{"never asked", sdk.CodeRateLimit, nil, false},
	} {
		if got := away(record.Request{Failure: &record.Failure{Code: tt.told}, Attempts: tt.attempts}); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}
