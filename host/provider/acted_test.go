package provider

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"spillway/host/dialect"
	"spillway/sdk"
)

// TestActed: a failure says whether a tool that the vendor runs may have done
// something by then.
func TestActed(t *testing.T) {
	const (
		ping  = `{"type":"ping"}`
		tool  = `{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"code_execution","input":{}}}`
		sorry = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	)
	code, search := []string{"code_execution_20250825"}, []string{"web_search_20250305"}
	hang := 10 * time.Second
	tests := []struct {
		name   string
		hosted []string // of the request
		frames []gap
		code   sdk.Code
		acted  bool
	}{
		{"it fell silent after the tool", code, []gap{{0, tool}, {hang, ""}}, sdk.CodeTimeout, true},
		{"it reported a failure after the tool", code, []gap{{0, tool}, {0, sorry}}, sdk.CodeOverloaded, true},
		{"it was lost after the tool", code, []gap{{0, tool}}, sdk.CodeTransport, true},
		{"it fell silent, and nothing is known of the tool", code, []gap{{0, ping}, {hang, ""}}, sdk.CodeTimeout, true},
		{"it reported a failure before the tool", code, []gap{{0, ping}, {0, sorry}}, sdk.CodeOverloaded, false},
		{"it never began to answer", code, []gap{{hang, ""}}, sdk.CodeTimeout, false},
		{"a tool that only reads", search, []gap{{0, tool}, {hang, ""}}, sdk.CodeTimeout, false},
		{"no such tool", nil, []gap{{0, ping}, {hang, ""}}, sdk.CodeTimeout, false},
		{"a tool that nobody had named", nil, []gap{{0, tool}, {0, sorry}}, sdk.CodeOverloaded, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := ask(t, inMemory(t, streamed(tt.frames...)), dialect.Anthropic(), true, 1, sdk.Limits{FirstContent: time.Second})
				a.payload.Hosted = tt.hosted
				f := sdk.AwaitVisible(t.Context(), a)
				if f == nil || f.Code != tt.code || f.Acted != tt.acted {
					t.Errorf("got %+v, want %s, acted %t", f, tt.code, tt.acted)
				}
			})
		})
	}
}

// TestActedRefused: a vendor that refuses a request has run nothing.
func TestActedRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := ask(t, inMemory(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }), dialect.Anthropic(), true, 1, sdk.Limits{})
		a.payload.Hosted = []string{"code_execution_20250825"}
		if f := sdk.AwaitVisible(t.Context(), a); f == nil || f.Acted {
			t.Errorf("got %+v, want a failure after which the request may be repeated", f)
		}
	})
}
