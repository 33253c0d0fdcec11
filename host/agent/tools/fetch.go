package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"spillway/host/agent/tool"
)

const (
	maxURL       = 8 << 10
	maxRedirects = 5
	maxComplaint = 2 << 10 // bytes of the body of an error
)

// Fetch is the tool of a tools-fetch row. It uses no proxy: it would ask for
// addresses that cannot be looked at here.
func Fetch(config json.RawMessage) ([]tool.Tool, error) {
	c := struct {
		Allow     []string `json:"allow"`
		TimeoutMs int64    `json:"timeoutMs"`
		MaxBytes  int64    `json:"maxBytes"`
	}{TimeoutMs: 30_000, MaxBytes: 1 << 20}
	if err := configure(config, &c); err != nil {
		return nil, err
	}
	f := &fetch{hosts: readHosts(c.Allow), timeout: time.Duration(c.TimeoutMs) * time.Millisecond, maxBytes: c.MaxBytes}
	f.client = &http.Client{
		Transport: &http.Transport{
			DialContext:            dialPublic,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: 64 << 10,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			return f.check(r.URL)
		},
	}
	return []tool.Tool{f}, nil
}

type fetch struct {
	hosts    []host
	timeout  time.Duration
	maxBytes int64
	client   *http.Client
}

func (f *fetch) Spec() tool.Spec {
	names := make([]string, len(f.hosts))
	for i, h := range f.hosts {
		names[i] = h.String()
	}
	return tool.Spec{
		Name: "fetch_url", Effect: tool.ReadOnly,
		Description: "Fetches a page with GET and returns it as text; of HTML what can be read. Hosts: " + shorten(strings.Join(names, ", "), maxLine) + ".",
		Schema: json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["url"], "properties": {
			"url": {"type": "string", "description": "http or https address"}}}`),
	}
}

func (f *fetch) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct {
		URL string `json:"url"`
	}
	if err := read(c.Input, &in); err != nil {
		return failure(err)
	}
	if len(in.URL) > maxURL {
		return tool.Failed("url has %d bytes (allowed: %d)", len(in.URL), maxURL), nil
	}
	u, err := url.Parse(in.URL)
	if err != nil {
		return tool.Failed("url %q: not an address", in.URL), nil
	}
	if err := f.check(u); err != nil {
		return failure(err)
	}
	limited, end := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("it took longer than %v", f.timeout))
	defer end()
	r, err := f.get(limited, u)
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	case err != nil && limited.Err() != nil:
		return tool.Failed("%s: %v", u, context.Cause(limited)), nil
	case err != nil:
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // its text repeats the address
		}
		return tool.Failed("%s: %v", u, err), nil
	}
	return r, nil
}

// check refuses addresses that are not listed.
func (f *fetch) check(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("url %q: scheme %q (allowed: http, https)", u.Redacted(), u.Scheme)
	case u.Host == "":
		return fmt.Errorf("url %q has no host", u.Redacted())
	case u.User != nil:
		return fmt.Errorf("url %q has a user", u.Redacted())
	}
	for _, h := range f.hosts {
		if h.matches(u) {
			return nil
		}
	}
	return fmt.Errorf("host %q is not one that may be asked; the profile's row tools-fetch lists them", u.Host)
}

func (f *fetch) get(ctx context.Context, u *url.URL) (tool.Result, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return tool.Result{}, err
	}
	r.Header.Set("User-Agent", "spillway")
	r.Header.Set("Accept", "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.5")
	answer, err := f.client.Do(r)
	if err != nil {
		return tool.Result{}, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, f.maxBytes+1))
	if err != nil {
		return tool.Result{}, err
	}
	cut := int64(len(data)) > f.maxBytes
	data = data[:min(int64(len(data)), f.maxBytes)]
	kind, text := readable(answer, data)
	if !text {
		return tool.Failed("%s is no text but %s", answer.Request.URL, kind), nil
	}
	page, err := pageText(answer, kind, data, int(f.maxBytes))
	if err != nil {
		return tool.Result{}, err
	}
	if answer.StatusCode/100 != 2 {
		return tool.Failed("%s: HTTP %s\n%s", answer.Request.URL, answer.Status, shorten(page, maxComplaint)), nil
	}
	if cut {
		page += fmt.Sprintf("\n[only the first %d bytes of the page were read]\n", f.maxBytes)
	}
	if to := answer.Request.URL.String(); to != u.String() {
		page = "[from " + to + "]\n" + page
	}
	return tool.Text(page), nil
}

// readable is the media type of an answer, and whether it is text.
func readable(answer *http.Response, data []byte) (kind string, text bool) {
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(data)) // it always is one
	}
	switch {
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml"):
		return kind, true
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/ecmascript", "application/yaml",
		"application/x-yaml", "application/toml", "application/x-ndjson", "application/sql", "application/x-sh":
		return kind, true
	}
	return kind, false
}

// pageText is the text of an answer in UTF-8; of HTML what can be read, about most bytes.
func pageText(answer *http.Response, kind string, data []byte, most int) (string, error) {
	if len(data) == 0 {
		return "[the page is empty]\n", nil
	}
	// What is not said is guessed from the beginning alone: where that is ASCII,
	// the rest may be UTF-8 all the same.
	encoding, _, sure := charset.DetermineEncoding(data, answer.Header.Get("Content-Type"))
	if sure || !isText(data) {
		decoded, err := encoding.NewDecoder().Bytes(data)
		if err != nil {
			return "", err
		}
		data = decoded
	}
	if kind == "text/html" || kind == "application/xhtml+xml" {
		return htmlText(bytes.NewReader(data), answer.Request.URL, most)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}
