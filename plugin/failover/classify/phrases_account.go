package classify

import "spillway/sdk"

// accountPhrases recognise who is refused: the account (banned, locked, wrong
// region), or the key.
func accountPhrases() []phrase {
	const banned = `(?:banned|suspended|disabled|deactivated|terminated|blocked|locked|restricted|frozen|closed|archived|on hold)`
	return []phrase{
		{
			name: "banned", code: sdk.CodeAuth, scope: sdk.ScopeVendor,
			any: []string{
				`\b(?:account|organi[sz]ation|team|workspace|project|tenant|consumer|subscription|user)s?\b[^\n.]{0,40}\b(?:is|are|was|were|be|been|has|currently)\b[^\n.]{0,20}\b` + banned + `\b`,
				`\baccount ` + banned + `\b`,
				`\b` + banned + `\b (?:\w+ ){0,2}(?:account|organi[sz]ation|user|team)\b`,
				`\bpermanently banned\b`,
				`\baccess\b[^\n.]{0,20}\bterminated\b`,
				`\bappeal your suspension\b`,
				`\bfair[\s-]use policy\b`,
				`\bdisabled in this account\b`,
			},
			unless: `\b(?:model|endpoint|channel|content|prompt|output)s?\b[^\n.]{0,20}\b` + banned + `|\b(?:api )?keys?\b (?:is|has been|was) ` + banned,
		},
		{
			name: "banned-zh", code: sdk.CodeAuth, scope: sdk.ScopeVendor,
			any: []string{
				`(?:[账賬帳][户号戶號]|用[户戶]|[组組][织織]|企[业業])[^\n。]{0,14}(?:封禁|被封|禁用|[冻凍][结結]|[锁鎖]定|停用|注[销銷]|封停|[违違][规規]|非活[动動]|[异異]常)`,
				`封[号號]`,
				`拉黑`,
				`公平使用`,
				`(?:地[区區]|[国國]家|区域)[^\n。]{0,8}(?:不支持|受限|限制|不可用|禁止)`,
				`不支持[^\n。]{0,8}(?:地[区區]|[国國]家)`,
				`ip[^\n。]{0,6}(?:白名[单單]|禁止|封禁)`,
			},
			unless: `模型|渠道`,
		},
		{
			name: "region", code: sdk.CodeAuth, scope: sdk.ScopeVendor,
			any: []string{
				`\b(?:country|region|territory|location)\b[^\n.]{0,40}\b(?:not (?:supported|allowed|available|permitted)|unsupported|blocked|restricted)`,
				`\bnot (?:available|supported|allowed) in your (?:country|region|location)`,
				`\b(?:ip|address)\b[^\n.]{0,30}\b(?:not (?:allowed|in)|blocked|banned)`,
				`\b(?:ip|address)\b[^\n.]{0,40}\b(?:allow|white)-?list`,
				`\bfirewall rules\b`,
			},
			unless: `\bmodel\b`,
		},
		{
			name: "organization", code: sdk.CodeAuth, scope: sdk.ScopeVendor,
			any: []string{
				`\b(?:no longer|not) an? (?:active )?member of\b`,
				`\bauthentication is currently not (?:allowed|supported)`,
				`\bdisabled\b[^\n.]{0,30}\bsubscription access`,
				`\bonly (?:available|authori[sz]ed|allowed|permitted) for (?:use with )?(?:coding|claude)`,
				`\bcontact your (?:organi[sz]ation|workspace) admin`,
				`\boperation not allowed\b`,
				`\b(?:api|service)\b[^\n.]{0,24}\b(?:has not been|is not|was not) (?:used|enabled|activated)\b`,
				`\b(?:account|organi[sz]ation|subscription)\b[^\n.]{0,20}\b(?:not (?:authori[sz]ed|permitted|allowed|eligible)|does not have access)\b`,
			},
			unless: `\bmodel\b`,
		},
		{
			name: "permission", code: sdk.CodeAuth, scope: sdk.ScopeKey,
			any: []string{
				`\binsufficient permissions?\b`,
				`\bnot have (?:sufficient|enough|the (?:required|necessary)) (?:permission|privilege|right|scope)s?\b`,
				`\bmissing scopes?\b`,
			},
			unless: `\bmodel\b`,
		},
		{
			name: "credential", code: sdk.CodeInvalidCredential, scope: sdk.ScopeKey,
			any: []string{
				`\b(?:invalid|incorrect|wrong|missing|expired|revoked|bad|unknown|no|malformed)\b[^\n.]{0,16}\b(?:x-)?(?:api[\s_-]?keys?|bearer token|access token|auth(?:entication|orization)? (?:token|header|credentials?|key)|credentials?|security token|subscription key)\b`,
				`\b(?:api[\s_-]?key|(?:oauth|bearer|access|security|refresh|auth\w*|session) token|credentials?|signature)\b[^\n]{0,50}\b(?:invalid|incorrect|not valid|not found|expired|revoked|disabled|deleted|missing|required|not recognized|malformed|not provided|invalidated|leaked|blocked|suspended)\b`,
				`\binvalid authentication\b`,
				`\bauthentication fail`,
				`\bunauthori[sz]ed\b`,
				`\bnot authenticated\b`,
				`\binvalid token\b`,
				`\btoken (?:is |has )?(?:expired|invalid)\b`,
				`\bauth header format\b`,
				`\b(?:could not|failed to|unable to) (?:parse|verify|validate|decode)\b[^\n.]{0,16}\b(?:auth\w*|access|bearer|api|jwt|oauth)[\s_-]?(?:token|key)\b`,
			},
			unless: `\bcontext\b|\bcooling\b`,
		},
		{
			name: "credential-zh", code: sdk.CodeInvalidCredential, scope: sdk.ScopeKey,
			any: []string{
				`(?:令牌|密[钥鑰]|秘[钥鑰]|api[\s_-]?key|apikey|token|凭[证證]|[签簽]名)[^\n。]{0,12}(?:[无無]效|[过過]期|[错錯][误誤]|失效|不正[确確]|不存在|[为為]空|缺失|不可用|禁用|非法|有[误誤]|未提供)`,
				`[无無]效的? ?(?:令牌|密[钥鑰]|api|token|凭[证證])`,
				`(?:身份)?(?:[验驗][证證]|[认認][证證]|[鉴鑒][权權])[^\n。]{0,4}(?:失[败敗]|不通[过過]|未通[过過])`,
				`未提供(?:令牌|密[钥鑰])`,
				`未授[权權]`,
				`未登[录錄]`,
			},
			unless: `token ?[数數]|模型`,
		},
	}
}
