package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/sdk"
)

// ErrNoTokenCount is returned by CountTokens for a vendor that is not known to
// count.
var ErrNoTokenCount = errors.New("the vendor does not count tokens")

// CountTokens asks a route's vendor how many tokens the prompt of a Messages
// request has. It is no attempt: nothing is repeated, recorded or charged to
// anybody. The reply is the vendor's own if it answered the question or called
// the request wrong; whatever else happened is an error.
func (s *Set) CountTokens(ctx context.Context, r sdk.Route, payload *llm.Payload) (*llm.Reply, error) {
	p, d := s.byName[r.Provider], dialect.Anthropic()
	if p == nil || !p.data.CountTokens || payload.Dialect != d {
		return nil, ErrNoTokenCount
	}
	base, ok := p.bases[d.Name()]
	if !ok {
		return nil, ErrNoTokenCount
	}
	body, _, err := p.fit(payload, p.outbound(r.Model, true))
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+paths[d.Name()]+"/count_tokens", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	credential, print := p.credential("", payload.Credentials)
	if p.passes() && print == "" {
		return nil, p.none()
	}
	p.header(req.Header, payload.Header, d, credential, false)
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if err != nil {
		return nil, err
	}
	_, counted := dialect.ParseTokenCount(said)
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		counted = true // the vendor's word on the request is an answer too
	default:
		counted = false
	}
	if !counted {
		return nil, fmt.Errorf("provider %q: token count: status %d", p.name, resp.StatusCode)
	}
	return &llm.Reply{Dialect: d.Name(), Status: resp.StatusCode, Type: resp.Header.Get("Content-Type"), Body: scrub(said, append(slices.Clip(p.keys), credential.Secret)...)}, nil
}
