package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"spillway/host"
	"spillway/host/provider"
	"spillway/sdk"
)

// keys tells where keys are, and which are missing.
func (x *examination) keys() {
	sources, err := host.KeySources(x.Host)
	if err != nil {
		return // as the check of the profile has told
	}
	missing := 0
	for _, s := range sources {
		switch {
		case s.Missing != nil:
			missing++
			x.add("keys", Info, "set "+strings.Join(s.Missing, " or "), "%s has no key, so it does not run", s.Entry)
		case s.Written > 0:
			x.add("keys", Warning, "put it into the environment, and in its place write: !env NAME",
				"%s: %d of its keys in the profile's files, where whoever reads them has it", s.Entry, s.Written)
		default:
			x.add("keys", OK, "", "%s: %s is set", s.Entry, strings.Join(s.Variables, " and "))
		}
	}
	if len(sources) > 0 && missing == len(sources) {
		x.add("keys", Error, "set one of the variables above", "no provider has a key: nobody can answer")
	}
}

// askLimit bounds how long a vendor may take to list its models.
const askLimit = 15 * time.Second

// vendors asks each vendor for its model list with each key.
func (x *examination) vendors(ctx context.Context) {
	o := x.Host
	o.VendorsOnly = true
	rt, err := host.Open(ctx, o)
	if err != nil {
		x.add("vendors", Error, "see above", "no vendor can be asked: %v", err)
		return
	}
	defer rt.Close()
	for _, p := range rt.Graph().Catalogue().Providers {
		if p.Passthrough {
			x.add("vendors", Info, "", "%s is sent its clients' own credentials, so there is none to test", p.Name)
			continue
		}
		keys := p.Keys
		if len(keys) == 0 {
			keys = []string{""} // it needs none
		}
		for _, key := range keys {
			x.ask(ctx, rt, p, key)
		}
	}
}

func (x *examination) ask(ctx context.Context, rt *host.Runtime, p sdk.Provider, key string) {
	limited, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	models, err := rt.Models(limited, p.Name, key)
	with := p.Name
	if key != "" {
		with += " with key " + key
	}
	if refused, ok := errors.AsType[*provider.StatusError](err); ok {
		switch s := refused.Status; {
		case s == http.StatusUnauthorized, s == http.StatusForbidden:
			x.add("vendors", Error, "replace the key, or the account behind it", "%s: its vendor refuses it (status %d)", with, s)
		case s == http.StatusTooManyRequests, s >= 500:
			x.add("vendors", Warning, "try again later", "%s: its vendor cannot say now (status %d)", with, s)
		default:
			x.add("vendors", Info, "spillway drill --live asks it one question", "%s: it lists no models (status %d), so the key was not tested", with, s)
		}
		return
	}
	if err != nil {
		x.add("vendors", Error, "look at the network, a proxy, and base_url or endpoints of the entry", "%s cannot be asked: %v", with, err)
		return
	}
	var gone []string
	for _, m := range p.Models {
		if len(models) > 0 && !slices.Contains(models, m.ID) {
			gone = append(gone, m.ID)
		}
	}
	if gone != nil {
		x.add("vendors", Warning, "name the models that it has in models of the entry, or a date and a suffix that it wants",
			"%s takes the key, but does not list %s", with, strings.Join(gone, ", "))
		return
	}
	x.add("vendors", OK, "", "%s: its vendor takes it (%s)", with, count(len(models)))
}

func count(models int) string {
	if models == 1 {
		return "1 model"
	}
	return fmt.Sprintf("%d models", models)
}
