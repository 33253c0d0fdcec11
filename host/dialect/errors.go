package dialect

import (
	"cmp"
	"strings"

	"spillway/sdk"
)

// invalid is the failure of a request whose field is not as it must be.
func invalid(field, what string) *sdk.Failure {
	return sdk.NewFailure(sdk.CodeInvalidRequest, "dialect.request", field+": "+what)
}

// errorName is how an error is called on the wire.
type errorName struct {
	anthropic string // error.type
	openai    string // error.type
	code      string // error.code of the openai dialect
}

// nameOf picks the wire's name for f. What is wrong with a vendor's account is
// no news about the caller's own key, plan or model, so those names are only
// used for failures that the host made before it sent anything.
func nameOf(f *sdk.Failure) errorName {
	switch f.Code {
	case sdk.CodeInvalidRequest:
		return errorName{"invalid_request_error", "invalid_request_error", "invalid_request"}
	case sdk.CodePolicy:
		return errorName{"invalid_request_error", "invalid_request_error", "content_filter"}
	case sdk.CodeContextWindow:
		return errorName{"invalid_request_error", "invalid_request_error", "context_length_exceeded"}
	case sdk.CodeRateLimit:
		return errorName{"rate_limit_error", "rate_limit_error", "rate_limit_exceeded"}
	case sdk.CodeOverloaded:
		return errorName{"overloaded_error", "server_error", "overloaded"}
	case sdk.CodeTimeout:
		return errorName{"timeout_error", "server_error", "timeout"}
	case sdk.CodeUnknownModel:
		return errorName{"not_found_error", "invalid_request_error", "model_not_found"}
	case sdk.CodeInvalidCredential:
		if f.Attempt == 0 {
			return errorName{"authentication_error", "invalid_request_error", "invalid_api_key"}
		}
	case sdk.CodeAuth:
		if f.Attempt == 0 {
			return errorName{"permission_error", "invalid_request_error", "permission_denied"}
		}
	case sdk.CodeQuota, sdk.CodeModelUnavailable, sdk.CodeServer, sdk.CodeTransport, sdk.CodeEmptyResponse,
		sdk.CodeAborted, sdk.CodeNoAdapter, sdk.CodeLocalNetwork, sdk.CodePlugin:
	}
	return errorName{"api_error", "server_error", strings.ToLower(string(f.Code))}
}

// errorText is what a person reads of f.
func errorText(f *sdk.Failure) string { return cmp.Or(f.Message, f.Error()) }
