package classify

import "spillway/sdk"

// callerPhrases recognise the caller's own faults: a request that the vendor's
// checker rejected, and one that is too long. The checker's rules come first,
// for its messages quote the input.
func callerPhrases() []phrase {
	return []phrase{
		{
			// One request is more than a whole minute's allowance, or a checker has
			// counted the tokens. Names of fields are quoted, and quotations are
			// blanked.
			name: "context-window", code: sdk.CodeContextWindow,
			any: []string{
				`\brequest (?:body )?too large for\b`,
				`\btokens? ?\+[^\n]{0,24}\bmust be (?:<|less|smaller|at most)`,
			},
		},
		{
			// The room asked for the answer, by itself, is more than the model has.
			name: "output-cap", code: sdk.CodeInvalidRequest,
			any: []string{
				`\bmax(?:imum)?[\s_](?:completion[\s_]|output[\s_]|new[\s_])?tokens\b[^\n.]{0,40}(?:\bexceeds?\b|\btoo (?:large|high)|\b(?:greater|larger) than\b|>)`,
			},
			unless: `\bcontext\b|\binputs?\b|\bprompt\b|\bmessages\b|\+|\bbalance|\bcredits?\b|\bquota|` + rateWords,
		},
		{
			name: "validation", code: sdk.CodeInvalidRequest,
			any: []string{
				`^(?:[\w ]{0,30}: )?(?:messages|tools|input|system|contents?|body|params?|generation_?config)(?:\[\d+\]|\.\w+)+`,
				`failed to deserialize`,
				`\bvalidation errors?\b`,
				`\b(?:request|body|schema|input|parameters?) validation failed\b`,
				`\binput (?:should be|tag)\b`,
				`\bunknown variant\b`,
				`\bextra inputs are not`,
				`\b(?:is )?not of type\b`,
				`\binvalid type\b`,
				`unrecognized request argument`,
				`\b(?:unknown|unsupported|missing required|unexpected) (?:parameter|argument|field|value|keyword|role|name)`,
				`\btool_(?:use|call)_ids?\b`,
				`\b(?:invalid|malformed|could not parse|failed to (?:parse|decode)) (?:the )?(?:json|request body|body)`,
				`\bnot valid json\b`,
				`\bmessages? must contain`,
				`\bmust (?:alternate|be followed by)`,
				`'loc':`,
			},
		},
		{
			name: "no-such-path", code: sdk.CodeInvalidRequest,
			any: []string{
				`^(?:\d{3} )?(?:invalid url\b|cannot (?:post|get) /|no route matches|unknown (?:url|path|request url)|page not found)`,
			},
		},
		{
			name: "context-window", code: sdk.CodeContextWindow,
			any: []string{
				`\brequest (?:body )?too large\b`,
				`\b(?:prompt|input|messages?|conversation|context|history|query)\b[^\n.]{0,40}\btoo (?:long|large)\b`,
				`\btoo large for (?:the )?model\b`,
				`\btoo many (?:input|prompt) tokens\b`,
				`\bmax(?:imum)? (?:allowed )?(?:prompt|context|input|sequence|model)(?: token)? ?(?:length|window|size|tokens|limit)\b`,
				`\b(?:context|prompt)[\s_-]?(?:window|length|size|limit)[^\n]{0,40}(?:exceed|overflow|too (?:long|large|small)|limit)`,
				`\brequest (?:size )?exceeds the maximum size\b`,
				`\b(?:exceed|overflow)\w*\b[^\n]{0,60}\b(?:context|model token|input token|prompt token)[\s_-]?(?:window|length|size|limit)`,
				`\b(?:less|smaller|fewer|shorter|greater|longer|larger|more) than (?:or equal to )?the (?:context|model)`,
				`\binput length should be\b`,
				`\bprompt_tokens\b[^\n]{0,20}\bmust be\b`,
				`\btokens must be reduced\b`,
				`\btokens?\b[^\n]{0,24}(?:\+|plus)[^\n]{0,24}max_(?:new_)?tokens\b[^\n]{0,20}\bmust be`,
			},
			unless: `\bimage|per[\s_-]?min`,
		},
		{
			name: "context-window", code: sdk.CodeContextWindow,
			any: []string{
				`\b(?:number of )?tokens?\b[^\n]{0,60}(?:\bexceed\w*|\b(?:greater|larger|more) than|\bcannot exceed|>)[^\n]{0,40}(?:\bmax|\bcontext|\bmodel|\ballowed|\bsupported|\d{4,})`,
				`\b(?:input|prompt|context|request|messages?)\b[^\n.]{0,30}\bexceed\w*\b[^\n.]{0,16}\b(?:max(?:imum)?|allowed)\b[^\n.]{0,24}\btokens?\b`,
				`\b(?:reduce|shorten|trim)\b[^\n]{0,30}\b(?:messages?|prompt|input|context|conversation|history)\b`,
			},
			unless: rateWords + `|try again later`,
		},
		{
			name: "context-window-zh", code: sdk.CodeContextWindow,
			any: []string{
				`(?:prompt|提示[词詞]|上下文|[输輸]入|消息|[对對][话話]|文本)[^\n。]{0,14}(?:超[长長出过過限]|[过太過][长長])`,
				`超[出过過][^\n。]{0,14}(?:上下文|最大[长長]度|[长長]度|最大[输輸]入|模型[^\n。]{0,6}token)`,
				`[长長]度(?:超[出过過限]|[过太過]大)`,
				`token ?[数數]?[量]?(?:超[出过過]|[过過]多)[^\n。]{0,10}(?:最大|模型|上下文)`,
			},
			unless: `[频頻]率|速率|限流|每分[钟鐘]|敏感`,
		},
	}
}
