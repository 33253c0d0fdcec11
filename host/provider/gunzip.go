package provider

import (
	"compress/gzip"
	"io"
)

// gunzip decompresses a body as it is read.
type gunzip struct {
	body io.ReadCloser
	r    *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.r == nil {
		r, err := gzip.NewReader(g.body)
		if err != nil {
			return 0, err
		}
		g.r = r
	}
	return g.r.Read(p)
}

func (g *gunzip) Close() error { return g.body.Close() }
