package provider

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"strings"

	"spillway/host/dialect"
	"spillway/host/llm"
)

// post is a request to the vendor, without its headers. What is the same each time
// was made with the provider.
func (p *Provider) post(ctx context.Context, d dialect.Dialect, body []byte) *http.Request {
	u := p.targets[d.Name()].url
	reader := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	first, _ := reader()
	r := &http.Request{
		Method: http.MethodPost, URL: u, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header, 12), ContentLength: int64(len(body)),
		Body: first, GetBody: reader, // for a kept connection that turns out to be closed
	}
	return r.WithContext(ctx)
}

const (
	userAgent = "spillway"
	// anthropicVersion is the version that every Messages endpoint accepts.
	anthropicVersion = "2023-06-01"
)

// Values of headers, which all requests share.
var (
	takesJSON   = []string{"application/json"}
	takesStream = []string{"text/event-stream"}
	version     = []string{anthropicVersion}
)

// fixedHeader is what is sent with every request; a profile's own headers win.
func fixedHeader(own map[string]string) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Accept-Encoding", "identity") // frames are read on the way
	h.Set("User-Agent", userAgent)
	for k, v := range own {
		h.Set(k, v)
	}
	return h
}

// header writes the vendor's request headers: its credential, what its dialect
// demands, and those of the client that it understands.
func (p *Provider) header(h, client http.Header, d dialect.Dialect, c llm.Credential, stream bool) {
	if d.Name() == "anthropic" {
		h["Anthropic-Version"] = version
	}
	for _, name := range p.pass {
		if v := client[name]; len(v) > 0 {
			h[name] = v
		}
	}
	h["Accept"] = takesJSON
	if stream {
		h["Accept"] = takesStream
	}
	maps.Copy(h, p.fixed)
	switch {
	case c.Secret == "":
	case c.Bearer:
		h.Set("Authorization", "Bearer "+c.Secret.Reveal())
	default:
		h.Set("X-Api-Key", c.Secret.Reveal())
	}
}

func isEventStream(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/event-stream")
}

// trusted is how much room a vendor's word on the length of its answer gets: an
// answer that is as long as it says is read into one piece.
const trusted = 1 << 20

// readAll reads at most limit bytes of a body of the given length, -1 if nobody
// knows it.
func readAll(body io.Reader, length, limit int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(max(length, 0), trusted)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(body, limit))
	return b.Bytes(), err
}
