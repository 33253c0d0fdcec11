package failure

import (
	"strings"

	"spillway/sdk"
)

// family knows codes by a part of their folded spelling.
type family struct {
	verdict
	parts []string
}

// families are tried in order; the first hit counts. They serve codes that no
// table lists: relays invent their own, vendors add new ones.
var families = []family{
	{verdict{code: sdk.CodeContextWindow}, []string{
		"contextlength", "contextwindow", "contextsize", "outofcontext", "contextlimit", "maxprompttokens",
		"prompttoolong", "inputtoolong", "tokenstoolong", "characterstoolong", "requesttoolarge",
	}},
	{verdict{code: sdk.CodePolicy}, []string{
		"contentfilter", "contentpolicy", "contentmoderation", "contentsafety", "contentsecurity", "contentblocked",
		"sensitivecontent", "sensitiveword", "sensitivetext", "riskdetection", "datainspection", "policyviolation",
		"responsibleai", "safetycheck", "cyberpolicy", "promptblocked", "censorship", "illegaldetected", "guardrail",
		"moderationblocked", "moderationfailed", "prohibitedcontent", "ipinfringement",
	}},
	{verdict{code: sdk.CodeQuota, scope: sdk.ScopeKey}, []string{
		"keyquota", "keylimit", "keybudget", "keyspend",
	}},
	{verdict{code: sdk.CodeQuota, scope: sdk.ScopeRoute, weight: generic}, []string{
		"freeusagelimit", "freetier", "freequota", "freetrial", "trialquota", "trialexhausted",
	}},
	{verdict{code: sdk.CodeQuota, scope: sdk.ScopeVendor, money: true}, []string{
		"insufficientbalance", "balanceinsufficient", "balancenotenough", "insufficientaccountbalance", "insufficientcredit",
		"insufficientfund", "insufficientuser", "insufficientg1", "creditsexhausted", "creditbalance", "outofcredit", "nocredit", "creditlimit",
		"arrear", "overdue", "billing", "paymentrequired", "spendinglimit", "spendlimit", "budgetexceeded",
		"exceededbudget",
	}},
	{verdict{code: sdk.CodeQuota, scope: sdk.ScopeVendor}, []string{
		"subscriptionexpired", "subscriptioninactive", "planexpired", "resourcepackexhausted", "notpurchased",
		"usagelimit", "insufficientquota", "exceededcurrentquota", "accountquota", "userquota", "planlimit",
		"hourquota", "weekquota", "monthquota", "weeklylimit", "monthlylimit",
	}},
	{verdict{code: sdk.CodeRateLimit, weight: generic}, []string{
		"ratelimit", "toomanyrequest", "throttl", "rpmlimit", "tpmlimit", "qpslimit", "concurren", "requestlimit",
		"ratequota", "burst", "cooldown", "ratelimited", "slowdown",
	}},
	{verdict{code: sdk.CodeQuota, weight: generic}, []string{
		"quotaexceeded", "quotaexhausted", "quotalimit", "exceedquota", "dailylimit",
	}},
	{verdict{code: sdk.CodeModelUnavailable}, []string{
		"modeldeactivated", "modelisdeactivated", "modeldisabled", "modelisdisabled", "modelsuspended", "modelretired",
	}},
	{verdict{code: sdk.CodeAuth, scope: sdk.ScopeVendor}, []string{
		"accountdeactivated", "accountsuspended", "accountdisabled", "accountbanned", "accountlocked", "accountstatus",
		"accountinactive", "deactivated", "userdisabled", "userbanned", "userinactive", "suspended", "accessterminated",
		"organizationrestricted", "organizationdisabled", "unsupportedcountry", "unsupportedregion", "regionnot", "countrynot",
		"ipblocked", "geoblock",
	}},
	{verdict{code: sdk.CodeInvalidCredential}, []string{
		"invalidapikey", "apikeyinvalid", "incorrectapikey", "wrongapikey", "apikeyexpired", "apikeydisabled", "apikeyrevoked",
		"apikeynotfound", "apikeyrequired", "missingapikey", "invalidkey", "invalidtoken", "tokeninvalid", "tokenexpired", "expiredtoken", "invalidgrant",
		"unrecognizedclient", "invalidsignature", "signaturedoesnotmatch", "authfailure", "invalidcredential", "missingauth",
		"invalidauth", "invalidiam", "invalidaccesskey", "tokennotfound", "keynotfound", "usernotfound",
	}},
	{verdict{code: sdk.CodeModelUnavailable}, []string{
		"modelnotfound", "modelnotexist", "modelnotopen", "modelnotsupported", "modelnotallowed", "unsupportedmodel", "invalidmodel",
		"unknownmodel", "modelunavailable", "modelnotavailable", "modelaccess", "modelpermission", "modeldecommission", "modeldeprecat",
		"modelterms", "modeloffline", "deploymentnotfound", "endpointnotfound", "closedendpoint", "noavailablechannel", "modelprice", "modelnotenabled",
	}},
	{verdict{code: sdk.CodeOverloaded}, []string{
		"overload", "capacity", "serverbusy", "systembusy", "resourceinsufficient", "queueexceeded", "queuefull",
	}},
	{verdict{code: sdk.CodeTimeout, weight: generic}, []string{"timeout", "timedout", "deadlineexceeded"}},
	{verdict{code: sdk.CodeOverloaded, weight: generic}, []string{"unavailable", "notready"}},
	{verdict{code: sdk.CodeInvalidCredential, weight: generic}, []string{"authentication", "unauthenticated", "unauthorized"}},
	{verdict{code: sdk.CodeAuth, weight: generic}, []string{"permission", "forbidden", "accessdenied", "notallowed"}},
	{verdict{code: sdk.CodeModelUnavailable, weight: generic}, []string{"notfound"}},
	{verdict{code: sdk.CodeEmptyResponse, weight: generic}, []string{"emptyresponse"}},
	{verdict{code: sdk.CodeRateLimit, weight: vague}, []string{"limitreached"}},
	{verdict{code: sdk.CodeServer, weight: vague}, []string{"internal", "server", "upstream", "badresponse", "badgateway"}},
	{verdict{code: sdk.CodeInvalidRequest, weight: vague}, []string{
		"invalid", "badrequest", "missing", "malformed", "unsupported", "unprocessable", "validation",
	}},
}

func familyOf(key string) (verdict, bool) {
	for _, f := range families {
		for _, p := range f.parts {
			if strings.Contains(key, p) {
				return f.verdict, true
			}
		}
	}
	return verdict{}, false
}
