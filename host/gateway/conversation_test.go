package gateway

import (
	"net/http"
	"strings"
	"testing"

	"spillway/host/dialect"
)

func TestConversation(t *testing.T) {
	tests := []struct {
		name   string
		seen   dialect.Inspection
		header http.Header
		want   string
	}{
		{"nothing", dialect.Inspection{}, nil, ""},
		{"Claude Code", dialect.Inspection{}, http.Header{"X-Claude-Code-Session-Id": {"c"}}, "c"},
		{"Codex", dialect.Inspection{}, http.Header{"Session-Id": {"s"}, "Thread-Id": {"t"}}, "t"},
		{"opencode", dialect.Inspection{}, http.Header{"X-Session-Affinity": {"a"}, "X-Session-Id": {"s"}}, "s"},
		{"DSH", dialect.Inspection{}, http.Header{"X-Deepseek-Harness-Session-Id": {"d"}, "X-Deepseek-Harness-User-Id": {"u"}}, "d"},
		{"the body first", dialect.Inspection{Conversation: "b", User: "u"}, http.Header{"X-Session-Id": {"s"}}, "b"},
		{"the user last", dialect.Inspection{User: "u"}, http.Header{"X-Session-Id": {"s"}}, "s"},
		{"the user alone", dialect.Inspection{User: "u"}, nil, "u"},
		{"too long", dialect.Inspection{User: "u"}, http.Header{"X-Session-Id": {strings.Repeat("s", maxConversation+1)}}, "u"},
		{"as long as may be", dialect.Inspection{}, http.Header{"X-Session-Id": {strings.Repeat("s", maxConversation)}}, strings.Repeat("s", maxConversation)},
	}
	for _, tt := range tests {
		if got := conversation(tt.seen, tt.header); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	pi := http.Header{}
	pi.Set("session_id", "p") // as the server's reader spells it
	if got := conversation(dialect.Inspection{}, pi); got != "p" {
		t.Errorf("pi: got %q", got)
	}
}
