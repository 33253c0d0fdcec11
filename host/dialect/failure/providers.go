package failure

import "spillway/sdk"

// providerTables lists the vendors that deviate from their dialect. The first
// whose name fits serves, so the more particular ones stand first.
func providerTables() []table {
	return append(chineseProviders(), []table{
		{
			// A relay hides its upstream's account behind its own: what that
			// account lacks says nothing of the caller's.
			name: "relay", vendors: []string{"one-api", "new-api", "oneapi", "newapi", "v-api", "relay"},
			codes: map[string]verdict{
				"billing_not_active":         quotaRoute,
				"billing_hard_limit_reached": quotaRoute,
				"account_deactivated":        authRoute,
			},
		},
		{name: "anthropic", vendors: []string{"anthropic", "claude"}, rate: sdk.ScopeVendor},
		{
			// Codes of the edge's own error texts, whoever stands behind it.
			name: "cloudflare", vendors: []string{"cloudflare"},
			codes: map[string]verdict{
				"1015": rateVendor,
				"1005": authVendor, "1006": authVendor, "1007": authVendor, "1008": authVendor, "1009": authVendor,
				"1010": authVendor, "1012": authVendor, "1020": authVendor,
				"1016": serverFault, "1033": serverFault,
			},
		},
		{
			name: "mistral", vendors: []string{"mistral"},
			codes: map[string]verdict{
				"1300":                           rateRoute,
				"1500":                           noModel,
				"3505":                           overloaded,
				"3051":                           tooLong,
				"service_tier_capacity_exceeded": overloaded,
			},
		},
		{
			name: "cerebras", vendors: []string{"cerebras"},
			codes: map[string]verdict{
				"token_quota_exceeded":   maybeRate,
				"request_quota_exceeded": maybeRate,
				"queue_exceeded":         overloaded,
				"wrong_api_key":          credential,
			},
		},
		{
			name: "groq", vendors: []string{"groq"},
			codes: map[string]verdict{
				"organization_restricted": authVendor,
				"blocked_api_access":      {code: sdk.CodeAuth, scope: sdk.ScopeVendor, weight: generic},
				"model_decommissioned":    noModel,
				"tool_use_failed":         badRequest,
				"json_validate_failed":    badRequest,
			},
		},
		{
			name: "copilot", vendors: []string{"copilot"},
			codes: map[string]verdict{
				"quota_exceeded":           quotaVendor,
				"model_not_supported":      noModel,
				"user_global_rate_limited": rateVendor,
				"user_weekly_rate_limited": quotaVendor,
				"user_model_rate_limited":  rateRoute,
			},
		},
	}...)
}
