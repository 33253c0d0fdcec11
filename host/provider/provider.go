package provider

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/sdk"
)

// Options describe a provider.
type Options struct {
	Name   string // the entry's id
	Vendor Vendor
	// VendorName chooses the failure tables; the entry's id if empty.
	VendorName string
	Keys       []profile.Secret
	// Foreign is what the credentials of other vendors begin with.
	Foreign []string
	Headers map[string]string // sent with every request
	Seals   *Seals            // shared by all providers; nil: who sealed what is not remembered
	Dialect string            // the one to use when the client's is not offered; default: the first of anthropic, openai, responses
}

// Provider is one named endpoint. It is immutable and safe for concurrent use.
type Provider struct {
	name    string
	vendor  string
	data    Vendor
	bases   map[string]string // by dialect
	targets map[string]target // by dialect
	prefer  string
	keys    []profile.Secret
	foreign []string
	prints  []string    // fingerprints of keys
	fixed   http.Header // sent with every request; the values are shared
	pass    []string    // client headers that the vendor understands, as they are spelt
	seals   *Seals
	client  *http.Client
	local   bool
}

// New checks the options and returns a provider.
func New(o Options) (*Provider, error) {
	if err := o.Vendor.check(); err != nil {
		return nil, fmt.Errorf("provider %q: %w", o.Name, err)
	}
	if o.Vendor.Auth == authPassthrough && len(o.Keys) > 0 {
		return nil, fmt.Errorf("provider %q: auth: passthrough sends the client's own credential: leave key and keys out", o.Name)
	}
	if len(o.Vendor.Endpoints) == 0 {
		return nil, fmt.Errorf("provider %q: no endpoint: give a vendor that vendors.yml knows, or base_url", o.Name)
	}
	p := &Provider{
		name: o.Name, vendor: o.VendorName, data: o.Vendor, prefer: o.Dialect, keys: o.Keys, foreign: o.Foreign, seals: o.Seals,
		bases: map[string]string{}, targets: map[string]target{}, fixed: fixedHeader(o.Headers), client: newClient(),
	}
	for _, name := range o.Vendor.Pass {
		p.pass = append(p.pass, http.CanonicalHeaderKey(name))
	}
	if p.vendor == "" {
		p.vendor = o.Name
	}
	for name, base := range o.Vendor.Endpoints {
		p.bases[name] = strings.TrimRight(base, "/")
		u, _ := url.Parse(p.bases[name] + paths[name]) // checked above
		p.targets[name] = targetOf(u)
		p.local = loopback(u.Hostname())
	}
	for _, name := range []string{"anthropic", "openai", "responses"} {
		if _, ok := p.bases[p.prefer]; !ok {
			p.prefer = name
		}
	}
	for _, k := range o.Keys {
		p.prints = append(p.prints, k.Fingerprint())
	}
	return p, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Name is the provider's name in routes.
func (p *Provider) Name() string { return p.name }

// Catalogue is the provider as plugins see it.
func (p *Provider) Catalogue() sdk.Provider {
	c := sdk.Provider{Name: p.name, Keys: slices.Clone(p.prints), Egress: p.data.Egress, Loopback: p.local, Passthrough: p.passes()}
	for _, m := range p.data.Models {
		c.Models = append(c.Models, m.catalogue())
	}
	return c
}

// target is where the requests of one dialect go.
type target struct {
	url  *url.URL // not changed by anybody
	host string
	port int
}

func targetOf(u *url.URL) target {
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		port = map[string]int{"http": 80, "https": 443}[u.Scheme]
	}
	return target{url: u, host: u.Hostname(), port: port}
}

// Peer is who answers the calls of clients that speak a dialect: what
// OpenTelemetry calls the vendor, and where it is.
func (p *Provider) Peer(dialect string) (name, host string, port int) {
	t, ok := p.targets[dialect]
	if !ok {
		t = p.targets[p.prefer]
	}
	return cmp.Or(p.data.GenAI, p.vendor), t.host, t.port
}

// Close drops idle connections.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// dialectFor is the dialect to use for a payload: the client's own if the
// vendor offers it, since then nothing has to be translated.
func (p *Provider) dialectFor(payload *llm.Payload) dialect.Dialect {
	if payload.Dialect != nil {
		if _, ok := p.bases[payload.Dialect.Name()]; ok {
			return payload.Dialect
		}
	}
	d, _ := dialect.ByName(p.prefer)
	return d
}

// key chooses the key for a fingerprint, or the first one.
func (p *Provider) key(print string) (profile.Secret, string) {
	if len(p.keys) == 0 {
		return "", ""
	}
	i := max(slices.Index(p.prints, print), 0)
	return p.keys[i], p.prints[i]
}

const defaultConnect = 5 * time.Second

// connectLimit is the context key of one attempt's limit on connecting.
type connectLimit struct{}

func connectTimeout(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(connectLimit{}).(time.Duration); ok && d > 0 {
		return d
	}
	return defaultConnect
}

// newClient returns a client that adds nothing of its own: no compression, no
// redirects (they would carry the key elsewhere), no proxy unless the
// environment names one.
func newClient() *http.Client {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		d := net.Dialer{Timeout: connectTimeout(ctx), KeepAlive: 30 * time.Second}
		return d.DialContext(ctx, network, addr)
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         dial,
			TLSHandshakeTimeout: defaultConnect,
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2:   true,
			DisableCompression:  true,
			MaxIdleConns:        0,
			MaxIdleConnsPerHost: 256,
			IdleConnTimeout:     90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Set is the providers of a profile, in its order: the waterfall's terminal.
type Set struct {
	byName map[string]*Provider
	order  []*Provider
}

var _ llm.Terminal = (*Set)(nil)

// NewSet returns a set of providers. A later one of the same name wins.
func NewSet(providers ...*Provider) *Set {
	s := &Set{byName: map[string]*Provider{}, order: providers}
	for _, p := range providers {
		s.byName[p.name] = p
	}
	return s
}

// Catalogue lists the providers.
func (s *Set) Catalogue() sdk.Catalogue {
	var c sdk.Catalogue
	for _, p := range s.order {
		c.Providers = append(c.Providers, p.Catalogue())
	}
	return c
}

// Provider finds a provider by its name, nil if there is none.
func (s *Set) Provider(name string) *Provider { return s.byName[name] }

// Close drops idle connections.
func (s *Set) Close() {
	for _, p := range s.order {
		p.Close()
	}
}

// Dispatch implements llm.Terminal.
func (s *Set) Dispatch(ctx context.Context, c *llm.Call, r sdk.Request, payload *llm.Payload) sdk.Stream {
	p := s.byName[r.Provider]
	if p == nil {
		f := sdk.NewFailure(sdk.CodeNoAdapter, "provider.name", fmt.Sprintf("no provider %q in this profile (there are: %s)", r.Provider, s.names()))
		return sdk.Fail(f)
	}
	if r.Model == "" {
		return sdk.Fail(sdk.NewFailure(sdk.CodeUnknownModel, "provider.model", fmt.Sprintf("provider %q: no model named", r.Provider)))
	}
	a := p.attempt(ctx, c, r, payload)
	if chosen := s.byName[c.Request.Provider]; c.Request.Provider != p.name {
		a.home = chosen != nil && chosen.vendor == p.vendor
	}
	return a
}

func (s *Set) names() string {
	names := make([]string, len(s.order))
	for i, p := range s.order {
		names[i] = p.name
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Speaker is the first provider that offers a dialect.
func (s *Set) Speaker(d dialect.Dialect) (string, bool) {
	for _, p := range s.order {
		if d == nil {
			return p.name, true
		}
		if _, ok := p.bases[d.Name()]; ok {
			return p.name, true
		}
	}
	return "", false
}
