package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"spillway/host/agent/tool"
	"spillway/sdk"
)

// Bounds of a result.
const (
	maxText   = 1 << 20
	maxImage  = 5 << 20 // base64 of one: what the strictest vendor takes
	maxImages = 6 << 20 // of all
	maxParts  = 256
)

// imageTypes are those that every vendor takes.
var imageTypes = [...]string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// result is what the model gets of a server's result.
func result(res *mcpsdk.CallToolResult) tool.Result {
	b := builder{text: maxText, images: maxImages}
	for i, c := range res.Content {
		if i == maxParts {
			b.note("%d more parts are left out", len(res.Content)-maxParts)
			break
		}
		b.content(c)
	}
	if !b.texts && res.StructuredContent != nil {
		if raw, err := json.Marshal(res.StructuredContent); err == nil {
			b.add(string(raw))
		}
	}
	if res.NeedsInput() {
		b.note("the server asks for more input, which nobody gives here; the call is not completed")
		res.IsError = true
	}
	if len(b.parts) == 0 {
		b.note("the tool answered without content")
	}
	return tool.Result{Parts: b.parts, Error: res.IsError}
}

// builder makes parts within bounds. What does not fit is named in a part of its
// own.
type builder struct {
	parts  []sdk.Part
	text   int // bytes that are left
	images int // bytes that are left
	texts  bool
}

func (b *builder) content(c mcpsdk.Content) {
	switch c := c.(type) {
	case *mcpsdk.TextContent:
		b.add(c.Text)
	case *mcpsdk.ImageContent:
		b.image(c.MIMEType, c.Data)
	case *mcpsdk.AudioContent:
		b.note("audio of type %q is left out", short(c.MIMEType, maxReason))
	case *mcpsdk.ResourceLink:
		b.add(strings.TrimSpace(c.URI + " " + c.Name + "\n" + c.Description))
	case *mcpsdk.EmbeddedResource:
		b.resource(c.Resource)
	default:
		b.note("a part of an unknown kind is left out")
	}
}

func (b *builder) resource(r *mcpsdk.ResourceContents) {
	switch {
	case r == nil:
		b.note("a resource without content is left out")
	case r.Text != "" || r.Blob == nil:
		b.add(r.Text)
	default:
		b.image(r.MIMEType, r.Blob)
	}
}

// add adds a text, cut at what is left.
func (b *builder) add(s string) {
	if s == "" {
		return
	}
	b.texts = true
	kept := s
	if len(s) > b.text {
		kept = prefix(s, b.text)
	}
	b.text -= len(kept)
	if kept != "" {
		b.parts = append(b.parts, sdk.TextPart(kept))
	}
	if kept != s {
		b.note("cut: %d of %d bytes are left out", len(s)-len(kept), len(s))
	}
}

func (b *builder) image(kind string, data []byte) {
	size := base64.StdEncoding.EncodedLen(len(data))
	for _, t := range imageTypes {
		if kind == t && size > 0 && size <= maxImage && size <= b.images {
			b.images -= size
			b.parts = append(b.parts, sdk.Part{Kind: sdk.PartImage, MediaType: kind, Data: base64.StdEncoding.EncodeToString(data)})
			return
		}
	}
	b.note("data of type %q with %d bytes is left out", short(kind, maxReason), len(data))
}

func (b *builder) note(format string, args ...any) {
	b.parts = append(b.parts, sdk.TextPart("["+fmt.Sprintf(format, args...)+"]"))
}
