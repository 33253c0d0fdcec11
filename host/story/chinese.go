package story

var chinese = lexicon{
	language: Chinese,
	comma:    "，", colon: "：", semicolon: "；", stop: "。",
	open: "（", close: "）", quote: "“%s”",

	units: struct{ ms, s, min, h, d string }{" 毫秒", " 秒", " 分", " 小时", " 天"},
	ago:   "%s前", ahead: "%s后",
	untilLeft: "到 %s（还有 %s）", untilOver: "到 %s（已过）",

	rules: ruleWords{
		header: "响应头 %s", status: "仅凭状态码 %s", phrase: "它的措辞（规则 %s）", pattern: "你的模式 /%s/",
		shape: "回答的形态（%s）", finish: "回答的结束原因（%s）", client: "文字 %s",
		socket: "网络（%s）", field: "它的错误 %s %s",
		firstContent: "首段内容的时限", idle: "两段内容之间的时限", total: "整个回答的时限",
		silence: "，此前长时间没有动静", other: "规则 %s",
	},
	rangeOf: targetWords{
		vendor: "%s（整个供应商）", model: "%s", key: "密钥 %s（%s）", keyOf: "密钥 %s（%s）用于 %s",
		request: "只有这个请求",
	},
	head: headWords{
		request: "请求 %s", wanted: "想用 %s", streamed: "流式", whole: "非流式", dialect: "%s 协议",
	},
	kinds: kindWords{
		primary: "问 %s", wished: "问 %s：调用方指定", retry: "再问 %s",
		failover: "改问 %s：同一模型，换个地方", key: "换一把密钥问 %s",
		fallback: "改问 %s：另一个模型", probe: "问 %s：看它是否已恢复",
		resume: "请 %s 从中断处续写", withKey: "密钥 %s",
	},
	labels: labelWords{
		columns: 6,
		because: "因为", passed: "跳过", dropped: "去掉", waited: "等待", answer: "回答", said: "原话", detail: "详情", hint: "提示",
		meaning: "判断", concerns: "影响", paused: "暂停", testing: "试探", healthy: "恢复",
		next: "接着", tokens: "用量", damaged: "损坏",
	},
	facts: factWords{
		waited: "先等 %s再问", after: "%s，用时 %s", noAnswer: "%s内没有回答", broke: "%s后有首段内容，%s后中断",
		complete: "%s后完成", content: "%s后有首段内容，%s后完成", gaveUp: "不再需要：调用方 %s后放弃",
		stillRunning: "还没有", notSent: "什么也没有发出",
		toldBy: "依据%s", atFirst: "乍看是%s",
		wait: "%s后再来", back: "%s恢复（%s）", hintFrom: "来自 %s",
		damaged: "略去了回答中 %d 段读不懂的数据", noVendor: "没有问任何供应商",
		pluginAnswer: "插件自行作答，没有问任何供应商", noFurther: "不再问别的供应商",
		tokensIn: "输入 %d", tokensOut: "输出 %d", cached: "其中缓存 %d", reasoning: "其中推理 %d",
	},
	next: nextWords{
		retry: "再问同一个", wait: "等一等，再问同一个", failover: "同一模型，换个地方：%s",
		key: "%s 的另一把密钥", fallback: "另一个模型：%s", stop: "到此为止",
	},
	ending: endingWords{
		answered: "由 %s 作答，用时 %s", instead: "由 %s 代替 %s 作答，用时 %s",
		afterOne: "此前失败 1 次", afterMany: "此前失败 %d 次", clean: "调用方只看到一个完整的回答",
		byPlugin:     "由插件作答，用时 %s，没有问任何供应商",
		callersFault: "被拒，原因在请求本身，%s", verbatim: "调用方得到的是供应商的原话",
		failed: "%s后失败，没有任何回答，%s", unknown: "原因不明",
		told: "调用方得到 %s", again: "可在 %s（%s）再试",
		midstream: "%s后中断，回答已交出一部分，%s；这部分仍归调用方，并已说明它不完整",
		cancelled: "调用方 %s后放弃，那时还没有任何回答", cancelledMiddle: "调用方 %s后放弃，回答只到一半",
		running: "已运行 %s，还没有结束",
	},
	notice: noticeWords{
		switched: "已切换到 %s", key: "已换用 %s 的另一把密钥", again: "再问 %s",
		waiting: "等 %s，再问 %s", probe: "试探 %s 是否已恢复",
		resume: "由 %s 从中断处续写", skipped: "跳过 %s（%s）",
	},
	status: statusWords{
		listening: "监听 %s", up: "已运行 %s", off: "没有主机在运行；以下是最后存下的",
		health: "健康状况（插件 %s 所见）", healthy: "所有供应商正常",
		plugins: "插件", entries: "没有运行的条目", providers: "供应商", nothing: "无",
		scope: "范围", target: "对象", state: "状态", since: "起于", until: "剩余", code: "代码", why: "原因",
		entry: "条目", version: "版本", pid: "进程", upFor: "已运行", restarts: "重启", bypassed: "绕过", trouble: "故障",
		provider: "供应商", models: "模型", keys: "密钥",
		module: "模块",
		scopes: struct{ route, vendor, key string }{"模型", "供应商", "密钥"},
		states: struct{ open, halfOpen, closed string }{"暂停", "试探", "正常"},
		down:   "停止", over: "已到", failures: "连续失败 %d 次", trips: "连续暂停 %d 次", more: "另有 %d 个",
	},
	waiting: "等待内容", flows: "内容到达", held: "发问前等待",
	answered: "已作答", running: "进行中",
}
