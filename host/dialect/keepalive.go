package dialect

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// The frames that show a client that its answer is still under way. They are
// events that mean nothing and not comments: some agents count only events.

// EncodeKeepAlive appends such a frame to an answer that e encodes, after the
// answer's start if e has not written that yet. It comes before the finish.
func EncodeKeepAlive(e Encoder, dst []byte) []byte {
	if k, ok := e.(interface{ keepAlive(dst []byte) []byte }); ok {
		return k.keepAlive(dst)
	}
	return dst
}

// RelayKeepAlive is such a frame between those of a vendor, of which sample is
// one with content. It is nil if sample is not of the dialect.
func RelayKeepAlive(d Dialect, sample []byte) []byte {
	switch d.Name() {
	case "anthropic":
		return []byte(anthropicPing)
	case "openai":
		return openaiKeepAlive(sample)
	case "responses":
		// It has no number: the next one is the vendor's next frame's, and to
		// number those anew would cost each of them a copy.
		return []byte("event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n")
	}
	return nil
}

const anthropicPing = "event: ping\ndata: {\"type\":\"ping\"}\n\n"

func (e *anthropicEncoder) keepAlive(dst []byte) []byte {
	return append(e.opened(e, dst), anthropicPing...)
}

func (e *openaiEncoder) keepAlive(dst []byte) []byte {
	return e.close(e.choice(e.opened(e, dst)), "")
}

// openaiKeepAlive is an empty chunk of the answer that a frame belongs to:
// clients refuse a chunk with another id.
func openaiKeepAlive(sample []byte) []byte {
	_, data, ok := bytes.Cut(sample, []byte("data:"))
	if end := bytes.IndexAny(data, "\r\n"); end >= 0 {
		data = data[:end]
	}
	if !ok || !valid(data) {
		return nil
	}
	dst := []byte(`data: {`)
	for _, field := range []string{"id", "object", "created", "model"} {
		if v := gjson.GetBytes(data, field); v.Exists() {
			dst = append(append(append(append(dst, '"'), field...), `":`...), v.Raw...)
			dst = append(dst, ',')
		}
	}
	return append(dst, "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":null}]}\n\n"...)
}

func (e *responsesEncoder) keepAlive(dst []byte) []byte {
	return e.tail(e.head(e.opened(e, dst), "keepalive"))
}
