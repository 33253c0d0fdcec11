package classify

import "spillway/sdk"

// busyPhrases recognise what passes by itself: a vendor without capacity, an
// ordinary rate limit, a timeout.
func busyPhrases() []phrase {
	return []phrase{
		{
			name: "overloaded", code: sdk.CodeOverloaded,
			any: []string{
				`\boverload`,
				`\b(?:at|over|no|insufficient|limited|out of|exceed\w*) capacity\b`,
				`\bcapacity (?:available|exceeded|constraints?|limits?)\b`,
				`\b(?:high|heavy|peak|increased) (?:demand|load|traffic|volume)`,
				`\bhigh amounts? of traffic\b`,
				`\b(?:server|service|system|model|engine|cluster)s?\b[^\n.]{0,30}\b(?:busy|overwhelmed)\b`,
				`\btemporarily (?:unavailable|limiting)`,
				`\bservice (?:is )?(?:currently )?unavailable`,
				`\bmodel\b[^\n]{0,60}\bis (?:currently )?loading`,
				`\bloading model\b`,
				`\bqueue is full`,
				`\bmaximum pending requests`,
				`\bno (?:available )?(?:\w+ )?(?:accounts?|instances?)\b`,
			},
		},
		{
			name: "overloaded-zh", code: sdk.CodeOverloaded,
			any: []string{
				`繁忙`,
				`[过過超][载載]`,
				`拥[挤堵]`,
				`[负負][载載][^\n。]{0,8}(?:[饱飽]和|[过過]高|已[满滿]|[较較]高)`,
				`[访訪][问問]量[^\n。]{0,6}[过過]大`,
				`(?:算力|[资資]源)(?:不足|[紧緊][张張缺])`,
				`高峰`,
				`排[队隊]`,
			},
		},
		{
			name: "rate-limit", code: sdk.CodeRateLimit,
			any: []string{
				`\brate[\s_-]?limit`,
				`\btoo many (?:requests|tokens|concurrent)`,
				`\bthrottl`,
				`\bconcurren\w+ (?:\w+ )?limit`,
				`\brequest limit\b`,
				`\bcooling down\b`,
				`\ball (?:\w+ )?(?:accounts|credentials|keys) (?:are )?(?:rate[\s-])?(?:limited|busy|exhausted)\b`,
				`\bslow down\b`,
				`\brequest(?:s|[\s_]rate)?\b[^\n.]{0,24}\btoo (?:quickly|fast|frequent|often|high)`,
			},
			// The limiter itself is broken.
			unless: `[\s_](?:check|lookup|query)[\s_]failed\b|\bfailed to (?:check|verify|load|query)\b[^\n.]{0,16}\b(?:rate|limit)`,
		},
		{
			name: "rate-limit-zh", code: sdk.CodeRateLimit,
			any: []string{
				`(?:[请請]求|[调調]用|[访訪][问問]|操作|使用)[^\n。]{0,8}(?:[频頻]率|[频頻]繁|[过過][快多])`,
				`[频頻]率[^\n。]{0,6}(?:[过過太]?高|限)`,
				`[过過]于[频頻]繁`,
				`限流`,
				`速率限制`,
				`流量限制`,
				`[并並][发發][数數]?[^\n。]{0,8}(?:[过過]高|超|限|上限)`,
				`[请請]求[数數]?[^\n。]{0,4}(?:[过過]多|超限|上限)`,
			},
		},
		{
			name: "timeout", code: sdk.CodeTimeout, weak: true,
			any: []string{
				`\btimed[\s-]?out\b`,
				`\btime-?out\b`,
				`\bdeadline exceeded\b`,
				`超[时時]`,
			},
		},
	}
}
