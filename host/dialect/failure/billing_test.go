package failure

import (
	"testing"

	"spillway/sdk"
)

// TestBilling: money is told apart from plans and limits, since it ends when
// somebody pays and not at a known time.
func TestBilling(t *testing.T) {
	tests := []struct {
		name, vendor string
		status       int
		body         string
		want         bool
	}{
		{"payment required", "deepseek", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, true},
		{"arrears code", "dashscope", 400, `{"code":"Arrearage","message":"Access denied."}`, true},
		{"balance code of a vendor", "zhipu", 429, `{"error":{"code":"1113","message":"x"}}`, true},
		{"balance code of nobody we know", "nobody", 403, `{"error":{"code":"INSUFFICIENT_BALANCE","message":"x"}}`, true},
		{"plan used up", "zhipu", 429, `{"error":{"code":"1308","message":"x"}}`, false},
		{"quota of a plan", "openai", 429, `{"error":{"code":"insufficient_quota","message":"x"}}`, false},
		{"rate limit", "openai", 429, `{"error":{"code":"rate_limit_exceeded","message":"x"}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := From(Evidence{Vendor: tt.vendor, Dialect: "openai", Phase: sdk.PhaseResponse, Status: tt.status, Body: []byte(tt.body)})
			if f.Billing != tt.want {
				t.Errorf("billing: got %t (%s, %s), want %t", f.Billing, f.Code, f.Rule, tt.want)
			}
		})
	}
}
