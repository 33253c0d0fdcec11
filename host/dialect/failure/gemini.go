package failure

import (
	"strings"

	"spillway/sdk"
)

// quotaIDField marks the names of Google's quota violations. One says by its
// parts what window of what was exceeded:
// GenerateRequestsPerDayPerProjectPerModel-FreeTier.
const quotaIDField = "quotaId"

// quotaIDVerdict tells a day's quota from a minute's rate; key is folded.
func quotaIDVerdict(key string) verdict {
	if strings.Contains(key, "perday") {
		return verdict{code: sdk.CodeQuota, scope: sdk.ScopeRoute}
	}
	return verdict{code: sdk.CodeRateLimit, scope: sdk.ScopeRoute}
}
