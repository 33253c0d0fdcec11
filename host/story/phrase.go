package story

// phrases has the words for the failover plugin's rules of wording. Those for
// Chinese, whose names end in "-zh", mean the same.
var phrases = []reason{
	{"banned", "the account is closed or locked", "账号被封或被锁"},
	{"region", "this country or address is not served", "不服务这个地区或地址"},
	{"organization", "the organization or its plan may not use it", "这个组织或它的套餐不许使用"},
	{"permission", "the key lacks a permission", "密钥缺少权限"},
	{"credential", "the key is not accepted", "密钥不被接受"},

	{"key-budget", "the key's own budget is used up", "密钥自己的额度用完"},
	{"balance", "no money is left", "余额不足"},
	{"arrears", "a bill is not paid", "欠费"},
	{"spend-limit", "a limit on spending is reached", "到了消费上限"},
	{"billing-off", "payment is not set up, or what was paid for is used up", "没有开通付费，或已付的用完"},
	{"credits-for-mode", "this way of asking costs extra, and nothing is left for it", "这种用法另收费，而余额不够"},
	{"extra-usage-feature", "this model or feature costs extra, and nothing is left for it", "这个模型或功能另收费，而余额不够"},

	{"subscription-over", "the subscription has ended", "订阅已结束"},
	{"free-plan", "the account's free allowance is used up", "账号的免费额度用完"},
	{"free-allowance", "a free allowance is used up", "免费额度用完"},
	{"plan-of-model", "a plan's allowance for one model is used up", "套餐里这个模型的额度用完"},
	{"plan-window", "the plan's allowance for a period is used up", "套餐这一周期的额度用完"},
	{"plan-resets", "the plan's allowance is used up until it resets", "套餐的额度用完，到期重置"},
	{"allowance-resets", "an allowance is used up until it resets", "额度用完，到期重置"},
	{"capacity-resets", "a limit that soon ends", "很快结束的限额"},
	{"quota-used-up", "a quota is used up", "配额用完"},
	{"long-wait", "a limit that lasts for hours", "持续数小时的限额"},
	{"day-of-key", "the key's allowance for the day is used up", "密钥当天的额度用完"},
	{"day-of-account", "the account's allowance for the day is used up", "账号当天的额度用完"},
	{"day-window", "the allowance for the day is used up", "当天的额度用完"},

	{"rate-of-account", "too many requests of the whole account", "整个账号的请求过多"},
	{"rate-window", "too much in a short time", "短时间内过多"},
	{"rate-limit", "too many requests", "请求过多"},
	{"not-your-limit", "a limit that is the vendor's, not the caller's", "是供应商自己的限制，与调用方无关"},
	{"overloaded", "the vendor has too much to do", "供应商忙不过来"},
	{"timeout", "the vendor ran out of time", "供应商超时"},

	{"model-unavailable", "the model is not offered", "不提供这个模型"},
	{"context-window", "the prompt does not fit", "提示放不下"},
	{"output-cap", "a longer answer is asked for than the model can give", "要求的回答比模型能给的更长"},
	{"validation", "something in the request is not valid", "请求里有不合规的内容"},
	{"no-such-path", "there is no such address", "没有这个地址"},
	{"policy", "the content is refused", "内容被拒"},
}

// shapes has the words for the forms of an answer by which it is judged.
var shapes = []reason{
	{"page", "a web page", "一个网页"},
	{"empty", "nothing at all", "什么也没有"},
	{"no content", "no content", "没有内容"},
	{"no-answer", "no answer in it", "里面没有回答"},
	{"message", "a message instead of an answer", "只有一句话，没有回答"},
	{"cut", "it ends before its end", "没有到头就结束了"},
	{"finish-error", "it ends with an error", "以出错结束"},
}

// find is the words of a table for name, "" if it has none.
func (w *lexicon) find(table []reason, name string) string {
	for _, r := range table {
		if r.word == name {
			return w.pick(r.en, r.zh)
		}
	}
	return ""
}
