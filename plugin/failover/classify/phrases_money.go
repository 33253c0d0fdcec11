package classify

import "spillway/sdk"

// moneyPhrases recognise an empty balance. They are narrow: the bare words
// quota, limit, credit and billing decide nothing, because a false hit stops a
// whole vendor while a missed one costs a request.
func moneyPhrases() []phrase {
	const credits = `(?:available |remaining |usage |prepaid |api |included |monthly |free )*(?:credits?\b|balance\b|funds\b)`
	return []phrase{
		{
			// A mode is an option of the request, not a model: without it the same
			// route serves, so nobody is out.
			name: "credits-for-mode", code: sdk.CodeQuota, scope: sdk.ScopeNone,
			any: []string{
				`\b(?:credits|usage) (?:is |are )?required for (?:\w+ ){1,2}mode\b`,
			},
		},
		{
			name: "extra-usage-feature", code: sdk.CodeQuota, scope: sdk.ScopeRoute,
			any: []string{
				`\b(?:usage )?credits (?:are )?required for\b`,
				`\bextra usage is required for\b`,
			},
		},
		{
			name: "key-budget", code: sdk.CodeQuota, scope: sdk.ScopeKey,
			any: []string{
				`\b(?:api[\s_-]?|virtual )?key\b(?:'s)?[^\n.]{0,24}\b(?:limit|quota|budget|allowance)\b[^\n.]{0,24}\b(?:exceed|reach|exhaust|used up|depleted)`,
				`\bkey with a higher [^\n.]{0,16}limit`,
				`\btoken quota is not enough`,
				`\bbudget has been exceeded`,
				`\bexceeded (?:its |the |your )?(?:key |max )?budget\b`,
				`(?:令牌|密[钥鑰]|api ?key|[该該此] ?token)[^\n。]{0,8}(?:[额額]度|配[额額]|用量)[^\n。]{0,6}(?:用[尽盡完]|耗[尽盡]|不足|超)`,
			},
			unless: rateWords + `|\bfor (?:deployment )?model`,
		},
		{
			name: "balance", code: sdk.CodeQuota, scope: sdk.ScopeVendor, money: true, narrow: true,
			any: []string{
				`\binsufficient[ -](?:\w+[ -]){0,2}?(?:balance|credits?|funds?|quota)\b`,
				`(?:^|: )insufficient_(?:balance|credits?|funds?|quota)\b`,
				`\b(?:balance|credits?|funds)\b[^\n.]{0,30}\b(?:too low|insufficient|not (?:enough|sufficient)|exhausted|depleted|negative|used up|ran out|run out|below zero)`,
				`\b(?:no|out of|zero|without|not enough|requires? more|doesn't have any|don't have (?:any|enough)|do(?:es)? not have (?:any|enough)|lacks?|all|exhausted (?:your |the )?) ?` + credits,
				`\bquota is not enough\b`,
			},
			unless: rateWords + `|\bcapacity\b|\bcredits? (?:card|were|was|will)\b`,
		},
		{
			name: "arrears", code: sdk.CodeQuota, scope: sdk.ScopeVendor, money: true, narrow: true,
			any: []string{
				`\boverdue (?:\w+ )?(?:balance|account|payment|bill|invoice)`,
				`\baccount(?: is| has| has been)? overdue`,
				`\bin arrears`,
				`\barrearage`,
				`\b(?:outstanding|unpaid|past[\s-]due) (?:invoices?|bills?|balance|payments?)`,
				`\bfailure to pay`,
				`\baccount is in good standing`,
				`\bpayment (?:is )?required`,
				`\bplease recharge`,
			},
		},
		{
			name: "spend-limit", code: sdk.CodeQuota, scope: sdk.ScopeVendor, money: true, narrow: true,
			any: []string{
				`\b(?:reach|exceed|hit)\w*\b[^\n]{0,50}\b(?:spend(?:ing)?|budget|billing|cost)[\s_-](?:hard )?(?:limit|cap)`,
				`\b(?:spend(?:ing)?|budget|billing|cost)[\s_-](?:hard )?(?:limit|cap)\b[^\n]{0,30}\b(?:reach|exceed|hit)`,
				`\b(?:out of|over) budget\b`,
				`spending-limit:`,
			},
		},
		{
			name: "billing-off", code: sdk.CodeQuota, scope: sdk.ScopeVendor, money: true,
			any: []string{
				`\bbilling (?:is |has been )?(?:not (?:active|enabled)|inactive|disabled)`,
				`\bnot active\b[^\n]{0,40}\bbilling (?:details|info)`,
				`\b(?:exceed\w*|reached) (?:your |the |its )?current quota\b`,
			},
			unless:     rateWords,
			unlessFrom: `resource_exhausted|\bgemini|\bvertex|\bdashscope|\bqwen`,
		},
		{
			name: "subscription-over", code: sdk.CodeQuota, scope: sdk.ScopeVendor,
			any: []string{
				`\b(?:subscription|plan|package|membership|trial)\b[^\n.]{0,24}\b(?:expired|lapsed|ended|inactive)\b`,
				`\b(?:inactive|expired|no (?:active|valid)) (?:\w+ )?(?:subscription|plan|membership)\b`,
			},
		},
		{
			name: "balance-zh", code: sdk.CodeQuota, scope: sdk.ScopeVendor, money: true, narrow: true,
			any: []string{
				`[余餘][额額][^\n。]{0,6}(?:不足|用[完尽盡]|耗[尽盡]|[过過]低|[为為](?:0|零|[负負]))`,
				`欠[费費]`,
				`透支`,
				`(?:[请請]|[需要])(?:先|尽快|及[时時])?充值`,
				`(?:[点點][数數]|[积積]分|算力[点點])(?:不足|用完|耗[尽盡])`,
				`[资資]源包[^\n。]{0,8}(?:用完|用[尽盡]|耗[尽盡]|不足|到期|[过過]期)`,
				`用[户戶][额額]度不足`,
				`(?:[无無]|[没沒]有)(?:可用|剩[余餘])的?(?:[额額]度|[余餘][额額]|[资資]源包)`,
				`[预預][扣]?[费費]?[额額]度[^\n。]{0,4}(?:失[败敗]|不足)`,
				`[剩可]?[余餘用]?[额額]度(?:不足|已?用[完尽盡]|已?耗[尽盡])`,
				`(?:消[费費]|花[费費])[^\n。]{0,6}(?:上限|限[额額])`,
			},
			unless: `免[费費]|[频頻]率|今[日天]|令牌|模型[额額]度`,
		},
		{
			name: "subscription-over-zh", code: sdk.CodeQuota, scope: sdk.ScopeVendor,
			any: []string{
				`(?:套餐|[订訂][阅閱]|[会會][员員]|服[务務]期)[^\n。]{0,10}(?:到期|[过過]期|失效|[结結]束)`,
				`未(?:[购購][买買]|[订訂][阅閱])`,
			},
		},
	}
}
