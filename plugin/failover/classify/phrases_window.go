package classify

import (
	"time"

	"spillway/sdk"
)

// rateWords is wording of an ordinary rate limit; it excludes the rules of
// plans and money, whose words such messages borrow for their advertisements.
const rateWords = `\brate[\s_-]*limit|\btoo many requests\b|per[\s_-]?min|per[\s_-]?sec|\b[RTQI]P[MSH]\b`

// windowPhrases recognise limits by their window: a minute is a rate, a day is
// a quota of that model. Disclaimers come first.
func windowPhrases() []phrase {
	return []phrase{
		{
			name: "not-your-limit", code: sdk.CodeOverloaded,
			any: []string{
				`\bnot your (?:usage|rate) limit`,
				`\bnot your (?:api )?key's (?:rate )?limit`,
				`\bnot (?:an? )?account (?:rate )?limit`,
			},
		},
		{
			// A wait of hours is no rate limit, whatever it is called.
			name: "long-wait", code: sdk.CodeQuota, scope: sdk.ScopeRoute, wait: 2 * time.Hour,
			any: []string{
				`\brate[\s_-]?limit`,
				`\btoo many requests\b`,
				`[频頻]率`,
				`限流`,
			},
		},
		{
			name: "rate-of-account", code: sdk.CodeRateLimit, scope: sdk.ScopeVendor,
			any: []string{
				`(?:[您你]|用[户戶]|[账賬帳][户号戶號])[^\n。]{0,16}(?:[达達]到|超[过過出]|触[发發])[^\n。]{0,10}(?:[请請]求[数數]|速率|[频頻]率|[并並][发發])[^\n。]{0,6}[限上]`,
				`\b(?:your|this) (?:account|organi[sz]ation|team|workspace)(?:'s)?\b[^\n]{0,24}\brate limit`,
			},
			unless: `\bmodel\b`,
		},
		{
			name: "rate-of-account", code: sdk.CodeRateLimit, scope: sdk.ScopeVendor,
			any: []string{
				`\blimit\b[^\n]{0,60}\bper (?:min|sec)\w*\b[^\n.]{0,60}\bfor (?:(?:your|this|the) )?(?:\w+ ){0,2}(?:account|organi[sz]ation|plan|subscription)\b`,
				`\b(?:rate|concurrency) limit\b[^\n.]{0,24}\bfor (?:(?:your|this|the) )?(?:user|account|organi[sz]ation|team)\b`,
				`\byour (?:account|organi[sz]ation|team|plan) is limited to\b[^\n.]{0,16}\b(?:concurrent|per (?:min|sec)|(?:requests|tokens) per (?:min|sec))`,
			},
			unless: `\bmodel\b|\bendpoint\b|\bdeployment\b`,
		},
		{
			name: "rate-window", code: sdk.CodeRateLimit, narrow: true,
			any: []string{
				`per[\s_-]?(?:min(?:ute)?|sec(?:ond)?)s?[^a-z][^\n]{0,160}` + limitWord,
				limitWord + `[^\n]{0,160}per[\s_-]?(?:min(?:ute)?|sec(?:ond)?)s?(?:[^a-z]|$)`,
				`(?:\b|_)(?:[RTQI]P[MSH]|ITPM|OTPM|QPS)\b`,
				`\brequests? ?/ ?(?:min|sec)`,
				`\btokens? ?/ ?min`,
				`每分[钟鐘]`,
				`每秒`,
				`\d ?(?:分[钟鐘]|秒)[内內]`,
			},
		},
		{
			name: "day-of-key", code: sdk.CodeQuota, scope: sdk.ScopeKey,
			any: []string{
				`\bkey\b[^\n.]{0,20}\blimited to\b[^\n.]{0,30}(?:/|\bper) ?(?:day|month)`,
			},
		},
		{
			name: "day-of-account", code: sdk.CodeQuota, scope: sdk.ScopeVendor,
			any: []string{
				`\b(?:organi[sz]ation|account|team|workspace)\b[^\n.]{0,12}\b(?:max )?(?:[RTI]PD\b|daily )`,
			},
			unless: `\bmodel\b|\breached for \S+ in\b`,
		},
		{
			name: "day-window", code: sdk.CodeQuota, scope: sdk.ScopeRoute,
			any: []string{
				`per[\s_-]?(?:day|month)(?:[^a-z]|$)`,
				`(?:\b|_)[RTI]PD\b`,
				`\bdaily (?:request|token|call|api)s?\b[^\n.]{0,24}\blimit`,
				`/ ?(?:day|month)\b`,
				`(?:今[日天]|[当當][日天]|每[日天]|[单單]日)[^\n。]{0,14}(?:上限|限[额額制]|配[额額]|次[数數]|用完|用[尽盡]|耗[尽盡])`,
			},
			unless: `\bprice|\bcost`,
		},
	}
}

const limitWord = `(?:limit|exceed|quota|too many|reached)`
