package failure

import (
	"testing"
	"time"

	"spillway/sdk"
)

// The forms in which Responses says that an answer failed, in the middle of a
// stream or in its place.
func TestFromResponses(t *testing.T) {
	tests := []struct {
		name, body string
		code       sdk.Code
		rule       string
		retry      time.Duration
	}{
		{"failed", `{"type":"response.failed","sequence_number":7,"response":{"id":"resp_1","object":"response","status":"failed","error":{"code":"server_error","message":"m"},"output":[],"usage":null}}`,
			sdk.CodeServer, "openai.code:server_error", 0},
		{"failed with a hint", `{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Slow down. Please try again in 2.5s."}}}`,
			sdk.CodeRateLimit, "openai.code:rate_limit_exceeded", 2500 * time.Millisecond},
		{"too long", `{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"m"}}}`,
			sdk.CodeContextWindow, "openai.code:context_length_exceeded", 0},
		{"code of its own", `{"type":"response.failed","response":{"error":{"code":"image_too_large","message":"m"}}}`,
			sdk.CodeInvalidRequest, "responses.code:image_too_large", 0},
		{"refused", `{"type":"response.failed","response":{"error":{"code":"bio_policy","message":"m"}}}`,
			sdk.CodePolicy, "responses.code:bio_policy", 0},
		{"error event", `{"type":"error","sequence_number":3,"code":"insufficient_quota","message":"m","param":null}`,
			sdk.CodeQuota, "openai.code:insufficient_quota", 0},
		{"error event of another form", `{"type":"error","error":{"type":"server_error","code":"server_is_overloaded","message":"m"}}`,
			sdk.CodeOverloaded, "openai.code:server_is_overloaded", 0},
		{"failed answer", `{"id":"resp_1","object":"response","status":"failed","error":{"code":"server_error","message":"m"},"output":[]}`,
			sdk.CodeServer, "openai.code:server_error", 0},
		{"given up", `{"id":"resp_1","object":"response","status":"cancelled","error":null,"output":[]}`,
			sdk.CodeServer, "gemini.status:cancelled", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := From(Evidence{Dialect: "responses", Status: 200, Phase: sdk.PhaseStream, Body: []byte(tt.body), Now: time.Now()})
			if f.Code != tt.code || f.Rule != tt.rule || f.RetryAfter != tt.retry {
				t.Errorf("got %s by %s after %s, want %s by %s after %s", f.Code, f.Rule, f.RetryAfter, tt.code, tt.rule, tt.retry)
			}
		})
	}
}
