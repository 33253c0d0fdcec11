package provider

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/sdk"
)

// A provider with auth: passthrough has no keys: it sends the client's own
// credential, in the form in which that came. A subscription's token must never
// reach another vendor, so what counts is what it begins with, and not who was
// asked first: a credential goes to a provider only if it begins with what the
// provider's vendor says its credentials begin with (Vendor.Credentials), and if
// no other vendor lays claim to a longer beginning. That holds in fallback too. A
// client without such a credential is served elsewhere or refused, with nothing
// sent. Redirects are never followed.
//
// Such a credential is in the client's headers and in the vendor's, nowhere
// else; circuits, records and logs know its fingerprint.

// shortestPrefix is the shortest beginning that tells vendors apart.
const shortestPrefix = 3

// Passthrough reports whether the vendor is sent its clients' own credentials.
func (v Vendor) Passthrough() bool { return v.Auth == authPassthrough }

func (p *Provider) passes() bool { return p.data.Passthrough() }

// own is the first of a client's credentials that is this vendor's.
func (p *Provider) own(credentials []llm.Credential) (llm.Credential, bool) {
	for _, c := range credentials {
		mine := longest(c.Secret, p.data.Credentials)
		if mine > 0 && mine > longest(c.Secret, p.foreign) {
			return c, true
		}
	}
	return llm.Credential{}, false
}

// longest is the length of the longest prefix with which a secret begins.
func longest(s profile.Secret, prefixes []string) (n int) {
	for _, p := range prefixes {
		if strings.HasPrefix(s.Reveal(), p) {
			n = max(n, len(p))
		}
	}
	return n
}

// credential is what is sent with an attempt, and its fingerprint: the key of the
// given fingerprint, or the client's own.
func (p *Provider) credential(print string, clients []llm.Credential) (llm.Credential, string) {
	if p.passes() {
		c, ok := p.own(clients)
		if !ok {
			return llm.Credential{}, ""
		}
		return c, c.Secret.Fingerprint()
	}
	secret, print := p.key(print)
	return llm.Credential{Bearer: p.data.Auth != authAPIKey, Secret: secret}, print
}

// none is the failure of a call that has no credential for p.
func (p *Provider) none() *sdk.Failure {
	f := sdk.NewFailure(sdk.CodeInvalidRequest, sdk.RuleOwnCredential,
		fmt.Sprintf("provider %q is sent the client's own credential, and none of that vendor came (they begin with %s)", p.name, strings.Join(p.data.Credentials, ", ")))
	f.Status = http.StatusUnauthorized
	return f
}

// refused is f as the caller's own fault, if it is: the vendor refused the
// credential that the caller had sent. The caller hears it in the vendor's words,
// as if nobody stood between: agents renew their tokens then.
func (a *attempt) refused(f *sdk.Failure) *sdk.Failure {
	if !a.provider.passes() || f.Status != http.StatusUnauthorized || f.Class() == sdk.ClassCaller {
		return f
	}
	g := *f
	g.Code, g.Scope, g.Rule = sdk.CodeInvalidRequest, sdk.ScopeNone, sdk.RuleOwnCredential
	return &g
}

// scrub takes the attempt's secrets out of what the vendor said.
func (a *attempt) scrub(said []byte) []byte {
	return scrub(said, append(slices.Clip(a.provider.keys), a.credential.Secret)...)
}

// Own is the fingerprints of a client's own credentials, by the providers that
// are to be sent them; nil if there are none.
func (s *Set) Own(credentials []llm.Credential) map[string]string {
	var own map[string]string
	for _, p := range s.order {
		if !p.passes() {
			continue
		}
		if c, ok := p.own(credentials); ok {
			if own == nil {
				own = map[string]string{}
			}
			own[p.name] = c.Secret.Fingerprint()
		}
	}
	return own
}
