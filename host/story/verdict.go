package story

import "spillway/sdk"

// wording is a failure in words: what it is, and what one says of the vendor it
// happened at.
type wording struct{ is, does string }

// verdict is one row of the table of failures. An empty scope or cause fits
// any.
type verdict struct {
	code   sdk.Code
	scope  sdk.Scope
	cause  sdk.Cause
	en, zh wording
}

// verdicts is the one table from codes to words. The first row that fits
// counts, so narrower rows stand first.
var verdicts = []verdict{
	{code: sdk.CodeQuota, scope: sdk.ScopeKey,
		en: wording{"the key's budget is used up", "has used up the key's budget"}, zh: wording{"密钥的额度用完", "这把密钥的额度用完了"}},
	{code: sdk.CodeQuota,
		en: wording{"out of quota", "is out of quota"}, zh: wording{"额度用完", "额度用完了"}},
	{code: sdk.CodeAuth, scope: sdk.ScopeVendor,
		en: wording{"account closed", "has closed the account"}, zh: wording{"账号被封", "封了账号"}},
	{code: sdk.CodeAuth,
		en: wording{"access refused", "refuses access"}, zh: wording{"拒绝访问", "拒绝访问"}},
	{code: sdk.CodeInvalidCredential,
		en: wording{"key not accepted", "does not accept the key"}, zh: wording{"密钥无效", "不认这把密钥"}},
	{code: sdk.CodeModelUnavailable,
		en: wording{"model not available", "does not offer the model"}, zh: wording{"模型不可用", "不提供这个模型"}},
	{code: sdk.CodeRateLimit,
		en: wording{"rate limited", "is rate limited"}, zh: wording{"被限流", "限流了"}},
	{code: sdk.CodeOverloaded,
		en: wording{"overloaded", "is overloaded"}, zh: wording{"过载", "过载了"}},
	{code: sdk.CodeServer,
		en: wording{"server error", "has a server error"}, zh: wording{"服务器出错", "服务器出错"}},
	{code: sdk.CodeTimeout,
		en: wording{"no answer in time", "gives no answer in time"}, zh: wording{"超时未答", "没有按时回答"}},
	{code: sdk.CodeTransport, cause: sdk.CauseReset,
		en: wording{"connection lost", "lost the connection"}, zh: wording{"连接中断", "连接中断"}},
	{code: sdk.CodeTransport, cause: sdk.CauseCut,
		en: wording{"answer cut off", "cut the answer off"}, zh: wording{"回答被截断", "回答被截断"}},
	{code: sdk.CodeTransport, cause: sdk.CauseRefused,
		en: wording{"connection refused", "refuses connections"}, zh: wording{"拒绝连接", "拒绝连接"}},
	{code: sdk.CodeTransport, cause: sdk.CauseDNS,
		en: wording{"address not found", "has no address that can be found"}, zh: wording{"找不到地址", "找不到地址"}},
	{code: sdk.CodeTransport, cause: sdk.CauseNoRoute,
		en: wording{"not reachable", "cannot be reached"}, zh: wording{"无法到达", "无法到达"}},
	{code: sdk.CodeTransport, cause: sdk.CauseTLS,
		en: wording{"no secure connection", "offers no secure connection"}, zh: wording{"无法建立安全连接", "无法建立安全连接"}},
	{code: sdk.CodeTransport,
		en: wording{"connection failed", "has connection trouble"}, zh: wording{"连接失败", "连接失败"}},
	{code: sdk.CodeEmptyResponse,
		en: wording{"empty answer", "gave an empty answer"}, zh: wording{"回答为空", "给了空的回答"}},
	{code: sdk.CodeContextWindow,
		en: wording{"prompt too long", "cannot hold so long a prompt"}, zh: wording{"提示太长", "容不下这么长的提示"}},
	{code: sdk.CodePolicy,
		en: wording{"content refused", "refuses the content"}, zh: wording{"内容被拒", "拒绝了内容"}},
	{code: sdk.CodeInvalidRequest,
		en: wording{"invalid request", "does not accept the request"}, zh: wording{"请求无效", "不接受这个请求"}},
	{code: sdk.CodeAborted,
		en: wording{"given up by the caller", "was given up by the caller"}, zh: wording{"调用方放弃", "被调用方放弃"}},
	{code: sdk.CodeUnknownModel,
		en: wording{"unknown model", "is not a known model"}, zh: wording{"未知模型", "不是已知的模型"}},
	{code: sdk.CodeNoAdapter,
		en: wording{"no such provider", "is not a provider of this profile"}, zh: wording{"没有这个供应商", "不在这个配置里"}},
	{code: sdk.CodeLocalNetwork,
		en: wording{"this machine's network is down", "is out of reach: this machine's network is down"}, zh: wording{"本机网络不通", "到不了：本机网络不通"}},
	{code: sdk.CodePlugin,
		en: wording{"a plugin failed", "was not asked: a plugin failed"}, zh: wording{"插件出错", "没有问到：插件出错"}},
}

// wording is the failure in words, its code if the table has none.
func (w *lexicon) wording(code sdk.Code, scope sdk.Scope, cause sdk.Cause) wording {
	for _, v := range verdicts {
		if v.code != code || v.scope != "" && v.scope != scope || v.cause != "" && v.cause != cause {
			continue
		}
		if w.language == Chinese {
			return v.zh
		}
		return v.en
	}
	return wording{string(code), string(code)}
}

// named is words with the code they stand for.
func (w *lexicon) named(words string, code sdk.Code) string {
	if words == string(code) {
		return words
	}
	return words + w.open + string(code) + w.close
}
