package failure

import "spillway/sdk"

// Shorthands of the tables. The suffixed ones name a scope that the code itself
// does not have.
var (
	quotaVendor  = verdict{code: sdk.CodeQuota, scope: sdk.ScopeVendor}
	unpaid       = verdict{code: sdk.CodeQuota, scope: sdk.ScopeVendor, money: true}
	quotaRoute   = verdict{code: sdk.CodeQuota, scope: sdk.ScopeRoute}
	quotaKey     = verdict{code: sdk.CodeQuota, scope: sdk.ScopeKey}
	authVendor   = verdict{code: sdk.CodeAuth, scope: sdk.ScopeVendor}
	authRoute    = verdict{code: sdk.CodeAuth, scope: sdk.ScopeRoute}
	credential   = verdict{code: sdk.CodeInvalidCredential}
	noModel      = verdict{code: sdk.CodeModelUnavailable}
	rateRoute    = verdict{code: sdk.CodeRateLimit, scope: sdk.ScopeRoute}
	rateVendor   = verdict{code: sdk.CodeRateLimit, scope: sdk.ScopeVendor}
	overloaded   = verdict{code: sdk.CodeOverloaded}
	serverFault  = verdict{code: sdk.CodeServer}
	timedOut     = verdict{code: sdk.CodeTimeout}
	tooLong      = verdict{code: sdk.CodeContextWindow}
	refused      = verdict{code: sdk.CodePolicy}
	badRequest   = verdict{code: sdk.CodeInvalidRequest}
	maybeRate    = verdict{code: sdk.CodeRateLimit, weight: generic}
	maybeAuth    = verdict{code: sdk.CodeAuth, weight: generic}
	maybeKey     = verdict{code: sdk.CodeInvalidCredential, weight: generic}
	maybeModel   = verdict{code: sdk.CodeModelUnavailable, weight: generic}
	maybeBusy    = verdict{code: sdk.CodeOverloaded, weight: generic}
	maybeQuota   = verdict{code: sdk.CodeQuota, scope: sdk.ScopeRoute, weight: generic}
	vagueRequest = verdict{code: sdk.CodeInvalidRequest, weight: vague}
	vagueServer  = verdict{code: sdk.CodeServer, weight: vague}
)

// dialectTables lists the dialects' own codes. The called dialect's table comes
// first at a lookup, then the others: relays mix them freely.
func dialectTables() []table {
	return []table{
		{name: "anthropic", codes: map[string]verdict{
			"invalid_request_error": vagueRequest,
			"authentication_error":  maybeKey,
			"billing_error":         unpaid,
			"permission_error":      maybeAuth,
			"forbidden":             {code: sdk.CodeAuth, scope: sdk.ScopeVendor, weight: generic},
			"not_found_error":       maybeModel,
			"request_too_large":     tooLong,
			"rate_limit_error":      maybeRate,
			"api_error":             vagueServer,
			"timeout_error":         timedOut,
			"overloaded_error":      overloaded,

			"enforced_spend_limit_reached": unpaid,
			"usage_limit_rejected":         quotaVendor,
		}},
		{name: "openai", codes: map[string]verdict{
			"invalid_request_error":      vagueRequest,
			"invalid_prompt":             refused,
			"context_length_exceeded":    tooLong,
			"string_above_max_length":    badRequest,
			"content_filter":             refused,
			"content_policy_violation":   refused,
			"cyber_policy":               refused,
			"invalid_api_key":            credential,
			"mismatched_organization":    credential,
			"account_deactivated":        authVendor,
			"request_forbidden":          maybeAuth,
			"model_not_found":            noModel,
			"insufficient_quota":         quotaVendor,
			"billing_not_active":         unpaid,
			"billing_hard_limit_reached": unpaid,
			"usage_limit_reached":        quotaVendor,
			"usage_not_included":         noModel,
			"rate_limit_exceeded":        maybeRate,
			"requests":                   maybeRate,
			"tokens":                     maybeRate,
			"server_error":               vagueServer,
			"server_is_overloaded":       overloaded,
			"slow_down":                  overloaded,
			"service_unavailable_error":  maybeBusy,
			"unknown_error":              vagueServer,

			"unsupported_country_region_territory": authVendor,
			// Azure
			"DeploymentNotFound":           noModel,
			"OperationNotSupported":        noModel,
			"NoCapacity":                   overloaded,
			"ResponsibleAIPolicyViolation": refused,
			"PermissionDenied":             maybeAuth,
			"OutOfCallVolumeQuota":         quotaVendor,
			// servers people run themselves
			"exceed_context_size_error": tooLong,
			"unavailable_error":         maybeBusy,
			"BadRequestError":           vagueRequest,
			"NotFoundError":             maybeModel,
		}},
		{name: "gemini", codes: map[string]verdict{
			"INVALID_ARGUMENT":    vagueRequest,
			"FAILED_PRECONDITION": vagueRequest,
			"OUT_OF_RANGE":        vagueRequest,
			"UNAUTHENTICATED":     maybeKey,
			"PERMISSION_DENIED":   maybeAuth,
			"NOT_FOUND":           maybeModel,
			"RESOURCE_EXHAUSTED":  maybeRate,
			"INTERNAL":            vagueServer,
			"UNKNOWN":             vagueServer,
			"UNAVAILABLE":         maybeBusy,
			"DEADLINE_EXCEEDED":   timedOut,
			"CANCELLED":           vagueServer,

			"API_KEY_INVALID":                 credential,
			"API_KEY_EXPIRED":                 credential,
			"API_KEY_SERVICE_BLOCKED":         credential,
			"API_KEY_HTTP_REFERRER_BLOCKED":   credential,
			"API_KEY_IP_ADDRESS_BLOCKED":      credential,
			"ACCESS_TOKEN_EXPIRED":            credential,
			"ACCESS_TOKEN_TYPE_UNSUPPORTED":   credential,
			"ACCOUNT_STATE_INVALID":           authVendor,
			"CONSUMER_SUSPENDED":              authVendor,
			"CONSUMER_INVALID":                authVendor,
			"VALIDATION_REQUIRED":             authVendor,
			"TOS_VIOLATION":                   authVendor,
			"SECURITY_POLICY_VIOLATED":        authVendor,
			"INELIGIBLE_ACCOUNT":              authVendor,
			"UNSUPPORTED_LOCATION":            authVendor,
			"SERVICE_DISABLED":                authVendor,
			"USER_PROJECT_DENIED":             authVendor,
			"BILLING_DISABLED":                unpaid,
			"RATE_LIMIT_EXCEEDED":             maybeRate,
			"QUOTA_EXHAUSTED":                 quotaRoute,
			"MODEL_CAPACITY_EXHAUSTED":        overloaded,
			"INSUFFICIENT_G1_CREDITS_BALANCE": unpaid,
		}},
		{name: "aws", codes: map[string]verdict{
			"ThrottlingException":                 maybeRate,
			"TooManyRequestsException":            maybeRate,
			"ServiceQuotaExceededException":       quotaRoute,
			"ModelNotReadyException":              overloaded,
			"ModelTimeoutException":               timedOut,
			"ModelErrorException":                 vagueServer,
			"ModelStreamErrorException":           serverFault,
			"InternalServerException":             vagueServer,
			"ServiceUnavailableException":         maybeBusy,
			"AccessDeniedException":               maybeAuth,
			"UnrecognizedClientException":         credential,
			"ExpiredTokenException":               credential,
			"InvalidSignatureException":           credential,
			"IncompleteSignatureException":        credential,
			"MissingAuthenticationTokenException": credential,
			"InvalidClientTokenId":                credential,
			"ResourceNotFoundException":           noModel,
			"ValidationException":                 vagueRequest,
		}},
		{name: "relay", codes: map[string]verdict{
			"one_api_error":                  vagueServer,
			"new_api_error":                  vagueServer,
			"upstream_error":                 vagueServer,
			"bad_response_status_code":       vagueServer,
			"get_channel_failed":             noModel,
			"channel:no_available_key":       noModel,
			"channel:invalid_key":            noModel,
			"model_price_error":              noModel,
			"sensitive_words_detected":       refused,
			"prompt_blocked":                 refused,
			"pre_consume_token_quota_failed": quotaKey,
			"insufficient_user_quota":        unpaid,
			"API_KEY_QUOTA_EXHAUSTED":        quotaKey,
			"SUBSCRIPTION_NOT_FOUND":         quotaVendor,
			"GROUP_DISABLED":                 authVendor,
			"model_cooldown":                 rateRoute,
			"auth_unavailable":               authRoute,
			"budget_exceeded":                {code: sdk.CodeQuota, scope: sdk.ScopeKey, weight: generic},
			"key_model_access_denied":        noModel,
			"access_denied":                  maybeAuth,
			"content_flagged":                refused,
			"schema_violation":               badRequest,
		}},
		responsesTable(),
	}
}
