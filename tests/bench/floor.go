package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// maxRequest bounds what the floor keeps of a request.
const maxRequest = 1 << 20

// newFloor is the least that a gateway in Go can do. It has each request whole
// before it sends it on: else the server closes the caller's body once the answer
// begins, the transport may still be reading it, and up to 2 % of streams break.
func newFloor(vendor *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(vendor) },
		FlushInterval: -1,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1024},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		proxy.ServeHTTP(w, r)
	})
}

// serveFloor serves the floor until ctx ends, and says where as spillway does.
func serveFloor(ctx context.Context, vendor string, out io.Writer) error {
	to, err := url.Parse(vendor)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &http.Server{Handler: newFloor(to)}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	fmt.Fprintf(out, "listening on http://%s\n", l.Addr())
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
