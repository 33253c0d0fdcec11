package classify

import (
	"time"

	"spillway/sdk"
)

// planPhrases recognise a plan's window or allowance that is used up.
func planPhrases() []phrase {
	const used = `(?:reach|exceed|exhaust|used|hit|spent|met|deplet|ran out|run out)\w*`
	const window = `(?:usage|plan|subscription|session|weekly|monthly|daily|hourly|premium|cycle|(?:\d+|five)[\s-]*(?:hour|day|week)s?)`
	free := []string{
		`\bfree[\s-]*(?:tier|trial|quota|usage|allocated|allocation|allowance|model|credits?|requests?)\b[^\n]{0,60}\b(?:exceed|exhaust|used|reach|limit|spent|end|expir)`,
		`\b(?:exceed|exhaust|used)\w*\b[^\n]{0,40}\bfree (?:trial|tier|allocated|allocation|allowance|quota|usage)`,
		`免[费費][^\n。]{0,8}(?:[额額]度|次[数數]|配[额額]|用量|[试試]用|tokens?)[^\n。]{0,10}(?:用[完尽盡]|耗[尽盡]|超|[达達]|到期|[过過]期|不足|[结結]束)`,
	}
	return []phrase{
		{
			// Who signs in with an account has one free allowance for all models.
			name: "free-plan", code: sdk.CodeQuota, scope: sdk.ScopeVendor, narrow: true,
			any:      free,
			onlyFrom: `\boauth\b`,
		},
		{
			name: "free-allowance", code: sdk.CodeQuota, scope: sdk.ScopeRoute, narrow: true,
			any: free,
		},
		{
			name: "plan-of-model", code: sdk.CodeQuota, scope: sdk.ScopeRoute, narrow: true,
			any: []string{
				`\bbudget for (?:deployment )?model`,
				`\b` + used + `\b[^\n]{0,40}\b(?:limit|quota)\b[^\n.]{0,8}\b(?:on|for|of) (?:this|the) model\b`,
				`\b(?:opus|sonnet|haiku|fable|premium model)\b[^\n.]{0,16}\b(?:limit|quota)\b[^\n.]{0,24}\b` + used,
				`\b` + used + `[^\n.]{0,24}\b(?:opus|sonnet|haiku|fable|premium model)s?\b[^\n.]{0,16}\b(?:limit|quota)\b`,
			},
			unless: rateWords + `|\bcapacity\b`,
		},
		{
			name: "plan-window", code: sdk.CodeQuota, scope: sdk.ScopeVendor, narrow: true,
			any: []string{
				`\b` + used + `\b[^\n]{0,60}\b` + window + `\b[^\n.]{0,24}\b(?:limit|quota|cap|allowance)s?\b`,
				`\b` + window + `(?:/\w+)?[\s_-](?:\w+[\s_-]){0,3}?(?:limit|quota|cap|allowance)s?\b[^\n.]{0,40}\b` + used,
				`\b(?:hit|reached) your (?:\w+ )?limit\b`,
				`\bout of (?:extra )?usage\b`,
				`\bdraw from your extra usage\b`,
				`\busage[\s_-]limit (?:reached|exceeded)`,
				`\bpremium request allowance\b`,
				`\b(?:hour|week|month) allocated quota\b`,
			},
			unless: rateWords + `|\bcapacity\b|\bcontext\b`,
		},
		{
			name: "plan-window-zh", code: sdk.CodeQuota, scope: sdk.ScopeVendor, narrow: true,
			any: []string{
				`(?:使用|用量|套餐|[订訂][阅閱]|[计計][划劃]|每?[周週月]|本[周週月]|\d ?(?:小[时時]|天))[^\n。]{0,10}(?:上限|限[额額]|[额額]度|配[额額])`,
				`(?:[额額]度|配[额額]|限[额額]|用量)[^\n。]{0,6}(?:用[完尽盡]|耗[尽盡]|[达達]到?上限|超[限出过過]|已[满滿])`,
				`(?:限[额額]|[额額]度|配[额額])[^\n。]{0,30}重置`,
			},
			unless: `[频頻]率|[并並][发發]|速率|限流|[请請]求[过過]|令牌|模型`,
		},
		{
			name: "allowance-resets", code: sdk.CodeQuota, scope: sdk.ScopeRoute, wait: 10 * time.Minute,
			any: []string{
				`\bexhausted your capacity\b`,
				`\b(?:limit|quota|allowance) will (?:be )?(?:reset|refresh|renew)`,
			},
		},
		{
			name: "capacity-resets", code: sdk.CodeRateLimit,
			any: []string{
				`\bexhausted your capacity\b`,
			},
		},
		{
			name: "plan-resets", code: sdk.CodeQuota, scope: sdk.ScopeVendor,
			any: []string{
				`\b(?:limit|quota|allowance)s? will (?:be )?(?:reset|refresh|renew|replenish)`,
			},
			unless: rateWords,
		},
		{
			name: "quota-used-up", code: sdk.CodeQuota, scope: sdk.ScopeRoute,
			any: []string{
				`\bquota\b[^\n.]{0,24}\b(?:exceeded|exhausted|used up|has been used|depleted|reached)`,
				`\b(?:exceed|exhaust)\w*\b[^\n.]{0,24}\bquota\b`,
				`\bout of (?:\w+ ){0,2}quota\b`,
				`(?:模型|接口|api)[^\n。]{0,10}(?:[额額]度|配[额額]|次[数數])[^\n。]{0,6}(?:用[完尽盡]|耗[尽盡]|[达達]到?上限|超限|不足)`,
			},
			unless:     rateWords + `|\bcheck quota\b|\ballocated quota\b|\bquota increase\b|\bincrease your quota`,
			unlessFrom: `resource_exhausted`,
		},
	}
}
