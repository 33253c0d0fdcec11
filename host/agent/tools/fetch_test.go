package tools

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/agent/tool"
)

// fetchOf returns the tool for listed hosts, with further settings.
func fetchOf(t *testing.T, settings string, allow ...string) tool.Tool {
	t.Helper()
	list, err := json.Marshal(allow)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Fetch(json.RawMessage(fmt.Sprintf(`{"allow": %s%s}`, list, settings)))
	return named(t, all, err, "fetch_url")
}

func TestFetch(t *testing.T) {
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	defer s.Close()
	serve := func(path, kind, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, body)
		})
	}
	serve("/plain", "text/plain; charset=utf-8", "hello\n")
	serve("/json", "application/vnd.x+json", `{"a": 1}`)
	serve("/latin1", "text/plain; charset=iso-8859-1", "caf\xe9")
	serve("/late", "text/plain", strings.Repeat("a", 1500)+"é")
	serve("/guessed", "text/plain", "caf\xe9")
	serve("/meta", "text/html", "<meta charset=gbk>\xc4\xe3\xba\xc3")
	serve("/page", "text/html", "<title>T</title><p>Hi &amp; <a href='/plain'>there</a>")
	serve("/binary", "application/zip", "PK\x03\x04")
	serve("/untyped", "", "\x00\x01\x02")
	serve("/empty", "text/plain", "")
	serve("/long", "text/plain", strings.Repeat("x", 3000))
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(bytes.Repeat([]byte("z"), 1<<20))
		z.Close()
	})
	mux.HandleFunc("/missing", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such page", http.StatusNotFound) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/plain", http.StatusFound) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://elsewhere.example/", http.StatusFound)
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "file:///etc/passwd")
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/asked", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %q %q", r.Method, r.UserAgent(), r.Header.Get("Authorization"), r.Header.Get("Cookie"))
	})
	address := s.Listener.Addr().String()
	base := s.URL
	for name, c := range map[string]struct {
		url, want string
		failed    bool
	}{
		"plain":      {base + "/plain", "hello\n", false},
		"json":       {base + "/json", `{"a": 1}`, false},
		"charset":    {base + "/latin1", "café", false},
		"late UTF-8": {base + "/late", strings.Repeat("a", 1500) + "é", false},
		"guessed":    {base + "/guessed", "café", false},
		"as it says": {base + "/meta", "你好\n", false},
		"page":       {base + "/page", "T\n\nHi & [there](" + base + "/plain)\n", false},
		"binary":     {base + "/binary", base + "/binary is no text but application/zip", true},
		"untyped":    {base + "/untyped", base + "/untyped is no text but application/octet-stream", true},
		"empty":      {base + "/empty", "[the page is empty]\n", false},
		"long":       {base + "/long", strings.Repeat("x", 2000) + "\n[only the first 2000 bytes of the page were read]\n", false},
		"packed":     {base + "/gzip", strings.Repeat("z", 2000) + "\n[only the first 2000 bytes of the page were read]\n", false},
		"missing":    {base + "/missing", base + "/missing: HTTP 404 Not Found\nno such page\n", true},
		"slow":       {base + "/slow", base + "/slow: it took longer than 50ms", true},
		"moved":      {base + "/moved", "[from " + base + "/plain]\nhello\n", false},
		"loop":       {base + "/loop", base + "/loop: more than 5 redirects", true},
		"moved away": {base + "/away", base + `/away: host "elsewhere.example" is not one that may be asked; the profile's row tools-fetch lists them`, true},
		"to a file":  {base + "/file", base + `/file: url "file:///etc/passwd": scheme "file" (allowed: http, https)`, true},
		"asked":      {base + "/asked", `GET spillway "" ""`, false},
		"scheme":     {"ftp://" + address + "/", `url "ftp://` + address + `/": scheme "ftp" (allowed: http, https)`, true},
		"user":       {"http://me:secret@" + address + "/", `url "http://me:xxxxx@` + address + `/" has a user`, true},
		"no host":    {"http:///x", `url "http:///x" has no host`, true},
		"no address": {"http://[::1/x", `url "http://[::1/x": not an address`, true},
		"other host": {"http://example.com/", `host "example.com" is not one that may be asked; the profile's row tools-fetch lists them`, true},
		"other port": {"http://127.0.0.1:1/", `host "127.0.0.1:1" is not one that may be asked; the profile's row tools-fetch lists them`, true},
	} {
		t.Run(name, func(t *testing.T) {
			settings := `, "maxBytes": 2000`
			if name == "slow" {
				settings += `, "timeoutMs": 50`
			}
			got, failed := call(t, fetchOf(t, settings, address), in{"url": c.url})
			if diff := cmp.Diff(c.want, got); diff != "" || failed != c.failed {
				t.Errorf("failed %v\n%s", failed, diff)
			}
		})
	}
	ctx, cancel := cancelled(t)
	defer cancel()
	if _, err := fetchOf(t, "", address).Run(ctx, tool.Call{Input: json.RawMessage(fmt.Sprintf(`{"url": %q}`, base+"/plain"))}); err == nil {
		t.Error("no error although it is cancelled")
	}
}

// TestFetchLocalhost: the machine itself is asked if the list names it.
func TestFetchLocalhost(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "here") }))
	defer s.Close()
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	if got, failed := call(t, fetchOf(t, "", "localhost"+port), in{"url": "http://LOCALHOST" + port + "/"}); failed || got != "here" {
		t.Errorf("got %q", got)
	}
}

// TestStandsFor: a listed name leads to this machine or network only if it is
// localhost, whatever a resolver makes of it.
func TestStandsFor(t *testing.T) {
	for _, c := range []struct {
		name, address string
		want          bool
	}{
		{"example.com", "1.1.1.1", true},
		{"example.com", "127.0.0.1", false},
		{"example.com", "::ffff:127.0.0.1", false},
		{"example.com", "192.168.0.1", false},
		{"x.localhost", "127.0.0.1", false},
		{"127.1", "127.0.0.1", false}, // an address in disguise
		{"2130706433", "127.0.0.1", false},
		{"localhost", "127.0.0.1", true},
		{"LocalHost.", "::1", true},
		{"localhost", "::ffff:127.0.0.1", true},
		{"localhost", "1.1.1.1", false},
		{"localhost", "192.168.0.1", false},
	} {
		if got := standsFor(c.name, netip.MustParseAddr(c.address)); got != c.want {
			t.Errorf("%s, %s: %v", c.name, c.address, got)
		}
	}
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		entry    string
		yes, not string
	}{
		{"example.com", "http://example.com https://example.com https://EXAMPLE.com.:443 http://example.com:80", "http://www.example.com http://example.com:8080 http://example.com.evil http://xexample.com http://example.com:443"},
		{"Example.com:8080", "http://example.com:8080 https://example.com:8080", "http://example.com"},
		{"example.com:443", "https://example.com", "http://example.com"},
		{"*.example.com", "http://a.example.com http://a.b.example.com", "http://example.com http://aexample.com"},
		{"*.example.com:81", "http://a.example.com:81", "http://a.example.com"},
		{"127.0.0.1", "http://127.0.0.1 http://[::ffff:127.0.0.1]", "http://127.0.0.2"},
		{"[::1]:81", "http://[::1]:81 http://[0:0::1]:81", "http://[::1]"},
		{"::1", "http://[::1]", "http://[::2]"},
	} {
		h := readHosts([]string{c.entry})[0]
		for _, list := range []struct {
			urls string
			want bool
		}{{c.yes, true}, {c.not, false}} {
			for text := range strings.FieldsSeq(list.urls) {
				u, err := url.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				if got := h.matches(u); got != list.want {
					t.Errorf("%s, %s: %v", c.entry, text, got)
				}
			}
		}
	}
}

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "2606:4700::1111": true, "172.32.0.1": true,
		"127.0.0.1": false, "10.0.0.1": false, "172.16.5.5": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "0.1.2.3": false,
		"224.0.0.1": false, "255.255.255.255": false, "240.0.0.1": false, "198.18.0.1": false, "::": false, "::1": false, "fe80::1": false, "fd00::1": false, "fec0::1": false,
		"ff02::1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "::127.0.0.1": false, "2001::1": false, "fe80::1%eth0": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestHTMLText(t *testing.T) {
	base, err := url.Parse("https://example.com/a/b")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ page, want string }{
		"paragraphs": {"<h1>Head</h1>\n<p>One\n  two <b>three</b>.</p><p>Next", "# Head\n\nOne two three.\n\nNext\n"},
		"list":       {"<ul><li>a</li><li>b <i>c</i></ul>after", "- a\n- b c\n\nafter\n"},
		"table":      {"<table><tr><th>a<th>b<tr><td>1<td>2</table>", "a b\n1 2\n"},
		"links":      {`see <a href="c?d#e">this</a>, <a href="#x">not</a>, <a href="javascript:x()">nor</a>`, "see [this](https://example.com/a/c?d#e), not, nor\n"},
		"code":       {"<pre>a\n  b</pre>c", "a\n  b\n\nc\n"},
		"hidden":     {"<style>x</style>a<script>if (a</b>c) {}</script><!-- no --> b<noscript>c</noscript>", "a b\n"},
		"image":      {`<img alt="A cat" src="x"><br>x`, "A cat\nx\n"},
		"nothing":    {"<script>x", "[the page has no text]\n"},
		"entities":   {"a&nbsp;b &lt;c&gt; &#x4e2d;", "a b <c> 中\n"},
		"unclosed":   {"<p>a<div>b</p></div></pre></a>c<a href='/d'>e", "a\nb\n\nc [e\n"},
	} {
		got, err := htmlText(strings.NewReader(c.page), base, 1<<20)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// TestHTMLGrows: each of a page's short links stands for a long address.
func TestHTMLGrows(t *testing.T) {
	base := &url.URL{Scheme: "https", Host: "e.x", Path: "/" + strings.Repeat("a", 4000) + "/"}
	const most = 100_000
	got, err := htmlText(strings.NewReader(strings.Repeat("<a href=b>c</a>", 10_000)), base, most)
	if err != nil || len(got) > most+2*maxURL || !strings.HasSuffix(got, "[the text of the page goes on]\n") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// FuzzHTML: no page does harm, or becomes much longer than it was.
func FuzzHTML(f *testing.F) {
	for _, seed := range []string{"<h1>a</h1><p>b", "<pre>\n<a href=/x>y", "<script>", "<li><li>", "<!--", "<td>\xff", "<svg/>a</svg>"} {
		f.Add(seed)
	}
	base := &url.URL{Scheme: "https", Host: "e.x"}
	f.Fuzz(func(t *testing.T, page string) {
		got, err := htmlText(strings.NewReader(page), base, 1<<20)
		if err != nil || len(got) > 40+8*len(page) || got == "" {
			t.Errorf("%q: %d bytes, %v", page, len(got), err)
		}
	})
}
