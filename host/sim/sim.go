package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options says which vendors there are.
type Options struct {
	Vendors []Vendor
	// KeepRequests keeps the body and the headers of each call in the log,
	// credentials left out. For tests.
	KeepRequests bool
}

// Vendor describes one simulated vendor.
type Vendor struct {
	Name string // a lower-case word with dashes, unique in a Server
	// Like names the vendor whose recorded refusals are played, "" for Name.
	// A vendor without records plays those of its dialect's author.
	Like string
	// Models are the ones it serves; another model is answered as that vendor
	// does. Without any it takes every model and lists none.
	Models []string
	Keys   []string // the keys it accepts; without any it takes every key
	Script string   // see Parse; "" is "ok"
	// TLS serves HTTPS, with HTTP/2 for who asks for it, under Server.Certificate.
	TLS    bool
	Answer Answer

	// Strict refuses what the real vendor would: unknown roles and blocks, tool
	// calls without their results, reasoning that it did not sign and so on. Rules
	// that not every vendor of a dialect has are the options below.
	Strict bool
	// NoPrefill refuses a conversation that ends with the assistant, strict or
	// not.
	NoPrefill bool
	// ReasoningHistory refuses an assistant turn with tool calls that lacks its
	// reasoning, in strict mode, unless the request turns thinking off: DeepSeek
	// and Kimi. In the Messages dialect unsigned reasoning is taken then.
	ReasoningHistory bool
	// FilledReasoning takes empty reasoning for none, in the chat dialect: Kimi,
	// but not DeepSeek.
	FilledReasoning bool
	// Exact refuses in the chat dialect, in strict mode, what OpenAI does and
	// most who copied it do not: fields it does not know, long ids of calls.
	Exact bool
	// NamedCalls makes ids of tool calls like "Bash:3", as Kimi's models do, which
	// not every other vendor takes back.
	NamedCalls bool
}

// Answer describes a sound answer. A step of the script may change it for one
// request.
type Answer struct {
	Text      string        // "" for a sentence of 20 words
	Tokens    int           // length of the text in words, repeated or cut; 0 for as long as it is
	Reasoning int           // words of reasoning before the text
	Gap       time.Duration // between two tokens
	// Numbered replaces the words by "w0@name", "w1@name" and so on, and those
	// of the reasoning by "r0@name": a reader sees what is missing, doubled or
	// from somebody else.
	Numbered bool
}

// maxTokens bounds one answer; it is far above what any test or model needs.
const maxTokens = 1_000_000

// Server is a set of simulated vendors.
type Server struct {
	endpoints []*Endpoint
	admin     *http.Server
	adminURL  string
	pem       []byte
	cancel    context.CancelFunc
	wg        sync.WaitGroup
}

// New returns a Server that is not started yet.
func New(o Options) (*Server, error) {
	s := &Server{cancel: func() {}}
	for _, v := range o.Vendors {
		e, err := newEndpoint(v, o.KeepRequests)
		if err != nil {
			return nil, err
		}
		if s.Vendor(v.Name) != nil {
			return nil, fmt.Errorf("vendor %q: named twice", v.Name)
		}
		s.endpoints = append(s.endpoints, e)
	}
	if len(s.endpoints) == 0 {
		return nil, errors.New("no vendors")
	}
	return s, nil
}

func (v Vendor) check() error {
	outside := func(r rune) bool { return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }
	if v.Name == "" || strings.ContainsFunc(v.Name, outside) {
		return fmt.Errorf("vendor name %q: want lower-case letters, digits and dashes", v.Name)
	}
	a := v.Answer
	if min(a.Tokens, a.Reasoning) < 0 || max(a.Tokens, a.Reasoning) > maxTokens {
		return fmt.Errorf("vendor %q: want 0 to %d tokens", v.Name, maxTokens)
	}
	if a.Gap < 0 {
		return fmt.Errorf("vendor %q: gap %v: want none or a positive one", v.Name, a.Gap)
	}
	return nil
}

func (v Vendor) like() string { return cmp.Or(v.Like, v.Name) }

// Start opens the ports: the admin port at addr and each vendor, in order, on
// the port after it; with port 0 each gets a free one. addr must be a loopback
// address. The end of ctx stops everything, as Close does. Start may be called
// once; after an error nothing is left open.
func (s *Server) Start(ctx context.Context, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address %q: %w", addr, err)
	}
	ip := net.ParseIP(host)
	if ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("address %q: not a loopback address", addr)
	}
	first, err := strconv.ParseUint(port, 10, 16)
	if err != nil || int(first)+len(s.endpoints) > 65535 {
		return fmt.Errorf("address %q: want a port that leaves room for %d vendors", addr, len(s.endpoints))
	}
	next := func() string {
		a := net.JoinHostPort(host, strconv.FormatUint(first, 10))
		if first != 0 {
			first++
		}
		return a
	}

	certificate, pem, err := newCertificate(ip)
	if err != nil {
		return err
	}
	s.pem = pem

	ctx, s.cancel = context.WithCancel(ctx)
	l, err := net.Listen("tcp", next())
	if err != nil {
		s.cancel()
		return err
	}
	s.adminURL = "http://" + l.Addr().String()
	s.admin = &http.Server{Handler: s.adminHandler(), ReadHeaderTimeout: headerTimeout}
	s.wg.Go(func() { s.admin.Serve(l) })
	s.wg.Go(func() {
		<-ctx.Done()
		l.Close()
		s.admin.Close()
		for _, e := range s.endpoints {
			e.stop()
		}
	})
	for _, e := range s.endpoints {
		if err := e.start(ctx, next(), certificate); err != nil {
			s.Close()
			return fmt.Errorf("vendor %q: %w", e.vendor.Name, err)
		}
	}
	return nil
}

// Close closes every port and connection, ends every answer and waits until all
// of it has ended. It may be called more than once.
func (s *Server) Close() {
	s.cancel()
	s.wg.Wait()
	for _, e := range s.endpoints {
		e.wg.Wait()
	}
}

// AdminURL is where the admin requests are served, without a slash at the end.
func (s *Server) AdminURL() string { return s.adminURL }

// Certificate is what a client of vendors with TLS has to trust, in PEM form. It
// is made by Start.
func (s *Server) Certificate() []byte { return slices.Clone(s.pem) }

// Vendors returns the vendors in the order of the Options.
func (s *Server) Vendors() []*Endpoint { return slices.Clone(s.endpoints) }

// Vendor returns the vendor of that name, nil if there is none.
func (s *Server) Vendor(name string) *Endpoint {
	for _, e := range s.endpoints {
		if e.vendor.Name == name {
			return e
		}
	}
	return nil
}

// Calls returns the calls of all vendors in the order they came in.
func (s *Server) Calls() []Call {
	var all []Call
	for _, e := range s.endpoints {
		all = append(all, e.Calls()...)
	}
	slices.SortStableFunc(all, func(a, b Call) int { return a.Time.Compare(b.Time) })
	return all
}
