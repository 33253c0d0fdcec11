package classify

import "spillway/sdk"

// policyPhrases recognise a refusal for what the request says.
func policyPhrases() []phrase {
	return []phrase{
		{
			name: "policy", code: sdk.CodePolicy,
			any: []string{
				`\bcontent[\s_-](?:filter|management|policy|moderation|safety|security)`,
				`\bcontent exists risk\b`,
				`\bconsidered high risk\b`,
				`\b(?:flagged|blocked|rejected|refused|filtered|triggered)\b[^\n]{0,60}\b(?:polic|safety|moderation|risk|sensitive|inappropriate|harmful|unsafe)`,
				`\b(?:safety|moderation|usage|content|acceptable use|responsible ai)[\s_-](?:polic|system|check|filter|guideline)\w*[^\n]{0,30}(?:triggered|reject|block|flag|violat|\b)`,
				`\bviolat\w*\b[^\n]{0,60}\b(?:polic|guideline|terms|content)`,
				`\b(?:inappropriate|prohibited|unsafe|harmful|sensitive|disallowed) (?:content|information|words?|material)`,
			},
			unless: `\bdata policy\b|\brate[\s_-]limit|\baccount\b`,
		},
		{
			name: "policy-zh", code: sdk.CodePolicy,
			any: []string{
				`敏感`,
				`不安全`,
				`不[适適][当當]`,
				`[违違][规規](?:[内內]容|信息)`,
				`[内內]容[^\n。]{0,10}(?:[违違][规規]|不合[规規]|[审審][核查]|安全|[风風][险險])`,
				`安全[审審][核查]`,
				`[风風][险險][内內]容`,
				`[违違]反[^\n。]{0,10}(?:政策|法[规規律])`,
			},
		},
	}
}
