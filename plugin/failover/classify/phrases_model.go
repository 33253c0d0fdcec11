package classify

import "spillway/sdk"

// modelPhrases recognise that this model is not served, to this account or at
// all.
func modelPhrases() []phrase {
	return []phrase{
		{
			name: "model-unavailable", code: sdk.CodeModelUnavailable,
			any: []string{
				`\bmodels?\b[^\n]{0,100}?\b(?:not exist|not found|doesn't exist|not (?:currently )?(?:available|supported|enabled|open|included|activated|served|deployed|accessible)|unavailable|unsupported|deprecated|decommissioned|retired|no longer|(?:been|was) (?:removed|shut down|sunset)|not have access)`,
				`\b(?:unknown|unsupported|invalid|no such|unrecognized) model\b`,
				`\bnot found the model\b`,
				`\bmodel (?:identifier|id|name) is invalid`,
				`\bnot a valid model\b`,
				`\bmust be verified to use\b`,
				`\b(?:beta|feature) is not (?:yet )?available for (?:this|your)\b`,
				`\b(?:no|not have|doesn't have|don't have|without) (?:\w+ )?(?:access|permission)s?\b[^\n]{0,24}\bmodel`,
				`\baccess to (?:the )?model\b[^\n]{0,20}\bdenied`,
				`\bnot (?:authori[sz]ed|allowed|permitted|entitled|enabled|activated)\b[^\n.]{0,32}\bmodel\b`,
				`\bmodel\b[^\n]{0,40}\bis blocked\b`,
				`\bmodels?\b[^\n.]{0,40}\bnot (?:work with|part of|in|on) (?:\w+ ){0,2}(?:plan|subscription|tier)\b`,
				`\b(?:plan|subscription|package|tier)\b[^\n.]{0,16}\bnot (?:yet |currently )?(?:include|cover|support|contain)`,
				`\bno (?:endpoints?|(?:allowed |available )?providers?|available channels?)\b[^\n]{0,40}\b(?:found|available|for|supported)`,
				`\bdeployment\b[^\n]{0,40}\b(?:not exist|not found)`,
				`\b(?:doesn't|does not) have a free quota tier`,
				`\bon-demand throughput\b`,
				`\brequires a subscription\b`,
				`\bendpoint\b[^\n]{0,40}\b(?:closed|not exist|not found)`,
				`\brequires more system memory\b`,
				`\bno models? loaded\b`,
			},
			unless: `\btemporar|\boverload|\bat capacity|\bcooling|` + rateWords,
		},
		{
			name: "model-unavailable-zh", code: sdk.CodeModelUnavailable,
			any: []string{
				`模型[^\n。]{0,24}(?:不存在|未找到|找不到|不可用|未[开開][通放]|[暂暫]未|下[线線]|停用|[无無][权權]|[没沒]有[权權]限|未配置|未授[权權]|不支持)`,
				`(?:[无無][权權]|[没沒]有[权權]限|不支持|未[开開]通)[^\n。]{0,12}模型`,
				`[无無]可用(?:的)?渠道`,
				`[没沒]有可用(?:的)?渠道`,
				`渠道[^\n。]{0,8}(?:禁用|不可用|不存在|关闭)`,
				`未知的?模型`,
				`套餐[^\n。]{0,6}[未不](?:[开開]放|包含|支持|[开開]通)`,
			},
			unless: `不支持[^\n。]{0,8}(?:[图圖]|工具|[参參]|功能|方法|函[数數]|[视視]|音|[该該]|此|流)`,
		},
	}
}
