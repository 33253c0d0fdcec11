package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"spillway/host/agent/tool"
	"spillway/host/profile"
	"spillway/sdk"
)

var vendorName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func TestToolName(t *testing.T) {
	long := strings.Repeat("x", 60)
	seen := map[string]string{}
	for _, tt := range []struct{ id, tool, want string }{
		{"files", "read_file", "files__read_file"},
		{"files", "_read", "files___read"},
		{"files_", "read", "files___read_0d92de3a"},
		{"a__b", "c", "a__b__c_a92700ce"},
		{"a", "b__c", "a__b__c"},
		{"files", "read.file", "files__read_file_97875296"},
		{"files", "read/file", "files__read_file_3e69995b"},
		{"文件", "读", "_____"},
		{"files", long + "1", ""},
		{"files", long + "2", ""},
		{long + long, "a", ""},
		{long + long, "b", ""},
		{"", "", ""},
	} {
		got := toolName(tt.id, tt.tool)
		if !vendorName.MatchString(got) || !strings.HasPrefix(got, tt.want) && tt.want != "" {
			t.Errorf("toolName(%q, %q) = %q, want %q", tt.id, tt.tool, got, tt.want)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q of %q and of %q", got, other, tt.id+" "+tt.tool)
		}
		seen[got] = tt.id + " " + tt.tool
	}
}

func testServer(c config) *Server {
	return &Server{id: "box", config: c, secrets: c.redactor(), log: slog.New(slog.DiscardHandler)}
}

func TestOffer(t *testing.T) {
	yes, no := true, false
	idempotent := tool.Idempotent
	s := testServer(config{Confirm: confirmWrites, Tools: map[string]known{
		"better": {Effect: &idempotent, Confirm: &no},
		"off":    {Disabled: true},
		"unseen": {Disabled: true},
	}})
	object := map[string]any{"type": "object"}
	type offered struct {
		Name   string
		Effect string
		Ask    bool
	}
	var got []offered
	o := s.newOffer()
	o.add([]*mcpsdk.Tool{
		{Name: "plain", InputSchema: object},
		{Name: "reads", InputSchema: object, Annotations: &mcpsdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}},
		{Name: "puts", InputSchema: object, Annotations: &mcpsdk.ToolAnnotations{IdempotentHint: true, DestructiveHint: &yes}},
		{Name: "lies", InputSchema: object, Annotations: &mcpsdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &yes, IdempotentHint: true}},
		{Name: "better", InputSchema: object},
		{Name: "off", InputSchema: object},
		{Name: "plain", InputSchema: object},
		{Name: "", InputSchema: object},
		{Name: strings.Repeat("x", 300), InputSchema: object},
		{Name: "bad", InputSchema: "object"},
	})
	for _, one := range o.done() {
		_, ask := one.(tool.Confirmer).Confirm(json.RawMessage(`{}`))
		got = append(got, offered{one.Spec().Name, one.Spec().Effect.String(), ask})
	}
	want := []offered{
		{"box__plain", "write", true},
		{"box__reads", "read-only", false},
		{"box__puts", "idempotent", true},
		{"box__lies", "write", true},
		{"box__better", "idempotent", false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConfirm(t *testing.T) {
	for policy, want := range map[string][3]bool{confirmAlways: {true, true, true}, confirmWrites: {true, true, false}, confirmNever: {}} {
		c := config{Confirm: policy}
		if got := [3]bool{c.asks(known{}, tool.Write), c.asks(known{}, tool.Idempotent), c.asks(known{}, tool.ReadOnly)}; got != want {
			t.Errorf("%s: got %v, want %v", policy, got, want)
		}
	}
	r := &remote{server: testServer(config{}), name: "write\x1b[2J"}
	what, _ := r.Confirm(json.RawMessage("{\"a\":\n\"\u202e" + strings.Repeat("é", 4096) + `"}`))
	if want := `box: write[2J {"a": "` + strings.Repeat("é", 2044) + " […4106 more bytes]"; what != want {
		t.Errorf("got %q, want %q", what, want)
	}
}

// Each request to a model has all tools, so a server may not offer any amount of them.
func TestOfferTooMuch(t *testing.T) {
	o := testServer(config{}).newOffer()
	for i := range 100 {
		o.add([]*mcpsdk.Tool{{
			Name:        fmt.Sprintf("t%d", i),
			InputSchema: map[string]any{"type": "object", "description": strings.Repeat("x", 60<<10)},
		}})
	}
	if got := len(o.done()); got != maxOffered/(60<<10) {
		t.Errorf("%d tools are offered", got)
	}
}

func TestLineHidesSecrets(t *testing.T) {
	short, long, bearer := profile.Secret("abcdefgh"), profile.Secret("abcdefgh-and-more"), profile.Secret("Bearer 0123456789abcdef")
	s := testServer(config{
		Env:     map[string]*profile.Secret{"A": &short, "B": &long, "C": nil},
		Headers: map[string]*profile.Secret{"Authorization": &bearer},
	})
	for _, tt := range []struct{ name, in string }{
		{"beginning of another", "no abcdefgh-and-more"},
		{"with what is not seen", "no abcd\x00efgh"},
		{"turned around", "no abcd\u202eefgh"},
		{"of a header", "no 0123456789\u200babcdef"},
	} {
		if got, want := s.line(tt.in, 100), "no [redacted]"; got != want {
			t.Errorf("%s: got %q, want %q", tt.name, got, want)
		}
	}
	var logged bytes.Buffer
	w := &stderr{log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})), clean: s.line, left: maxStderr}
	fmt.Fprintln(w, strings.Repeat("x", maxLine-10)+" abcdefgh-and-more")
	if strings.Contains(logged.String(), "abc") {
		t.Errorf("logged %q", logged.String())
	}
}

func TestSchema(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 16) + `{}` + strings.Repeat(`}}`, 16)
	for _, tt := range []struct{ name, in, key, want string }{
		{"as it is", `{"type":"object","$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"string","pattern":"(?=x)"}}}`, "", "same"},
		{"own definitions", `{"$defs":{"a":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/a"}},"type":"object"}`, "", "same"},
		{"key goes", `{"type":"object","properties":{"k":{},"a":{}},"required":["a","k"]}`, "k", `{"properties":{"a":{}},"required":["a"],"type":"object"}`},
		{"only key", `{"type":"object","properties":{"k":{}},"required":["k"]}`, "k", `{"properties":{},"type":"object"}`},
		{"odd required", `{"type":"object","required":[{"k":1},"k"]}`, "k", "error: its schema"},
		{"array", `[]`, "", "error: its schema is not an object"},
		{"null", `null`, "", "error: its schema is not an object"},
		{"no type", `{"properties":{}}`, "", "error: its schema is not of type object"},
		{"wrong type", `{"type":"object","properties":{"a":{"type":"text"}}}`, "", "error: its schema"},
		{"choice at the top", `{"type":"object","properties":{"a":{"anyOf":[{}]}},"anyOf":[{"required":["a"]}]}`, "", "error: its schema has anyOf at the top"},
		{"choice below", `{"type":"object","properties":{"a":{"anyOf":[{}]}}}`, "", "same"},
		{"elsewhere", `{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "", "error: its schema"},
		{"at the bound", `{"type":"object","description":"` + strings.Repeat("x", maxSchema-len(`{"description":"","type":"object"}`)) + `"}`, "", "same"},
		{"over the bound", `{"type":"object","description":"` + strings.Repeat("x", maxSchema) + `"}`, "", "error: its schema has"},
		{"too deep", deep, "", "error: its schema is 33 deep"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var in any
			if err := json.Unmarshal([]byte(tt.in), &in); err != nil {
				t.Fatal(err)
			}
			raw, err := schema(in, tt.key)
			got := string(raw)
			if err != nil {
				got = "error: " + err.Error()
			}
			want := tt.want
			if want == "same" {
				b, err := json.Marshal(in)
				if err != nil {
					t.Fatal(err)
				}
				want = string(b)
			}
			if got != want && !(strings.HasPrefix(want, "error") && strings.HasPrefix(got, want)) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func text(s string) mcpsdk.Content { return &mcpsdk.TextContent{Text: s} }

func TestResult(t *testing.T) {
	pixel := []byte("not really a picture")
	image := sdk.Part{Kind: sdk.PartImage, MediaType: "image/png", Data: base64.StdEncoding.EncodeToString(pixel)}
	huge := make([]byte, maxImage)
	for _, tt := range []struct {
		name string
		in   mcpsdk.CallToolResult
		want []sdk.Part
	}{
		{"text", mcpsdk.CallToolResult{Content: []mcpsdk.Content{text("a"), text("b")}}, []sdk.Part{sdk.TextPart("a"), sdk.TextPart("b")}},
		{"image", mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.ImageContent{MIMEType: "image/png", Data: pixel}}}, []sdk.Part{image}},
		{"image that is too large", mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.ImageContent{MIMEType: "image/png", Data: huge}}},
			[]sdk.Part{sdk.TextPart(`[data of type "image/png" with 5242880 bytes is left out]`)}},
		{"image that nobody takes", mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.ImageContent{MIMEType: "image/tiff", Data: pixel}}},
			[]sdk.Part{sdk.TextPart(`[data of type "image/tiff" with 20 bytes is left out]`)}},
		{"audio", mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.AudioContent{MIMEType: "audio/wav", Data: pixel}}},
			[]sdk.Part{sdk.TextPart(`[audio of type "audio/wav" is left out]`)}},
		{"resources", mcpsdk.CallToolResult{Content: []mcpsdk.Content{
			&mcpsdk.EmbeddedResource{Resource: &mcpsdk.ResourceContents{URI: "x", Text: "inside"}},
			&mcpsdk.EmbeddedResource{Resource: &mcpsdk.ResourceContents{URI: "x", MIMEType: "image/png", Blob: pixel}},
			&mcpsdk.EmbeddedResource{},
			&mcpsdk.ResourceLink{URI: "file:///x", Name: "x"},
		}}, []sdk.Part{sdk.TextPart("inside"), image, sdk.TextPart("[a resource without content is left out]"), sdk.TextPart("file:///x x")}},
		{"structure", mcpsdk.CallToolResult{StructuredContent: map[string]any{"a": 1}}, []sdk.Part{sdk.TextPart(`{"a":1}`)}},
		{"structure beside text", mcpsdk.CallToolResult{Content: []mcpsdk.Content{text("a")}, StructuredContent: 1}, []sdk.Part{sdk.TextPart("a")}},
		{"nothing", mcpsdk.CallToolResult{}, []sdk.Part{sdk.TextPart("[the tool answered without content]")}},
		{"text at the bound", mcpsdk.CallToolResult{Content: []mcpsdk.Content{text(strings.Repeat("x", maxText))}}, []sdk.Part{sdk.TextPart(strings.Repeat("x", maxText))}},
		{"text over the bound", mcpsdk.CallToolResult{Content: []mcpsdk.Content{text(strings.Repeat("x", maxText-1) + "éa"), text("more")}},
			[]sdk.Part{sdk.TextPart(strings.Repeat("x", maxText-1)), sdk.TextPart("[cut: 3 of 1048578 bytes are left out]"), sdk.TextPart("m"), sdk.TextPart("[cut: 3 of 4 bytes are left out]")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := result(&tt.in)
			if diff := cmp.Diff(tt.want, got.Parts); diff != "" || got.Error {
				t.Errorf("error %t (-want +got):\n%.2000s", got.Error, diff)
			}
		})
	}
}

func FuzzListed(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"read_file","description":"Reads.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},"annotations":{"readOnlyHint":true}}]}`))
	f.Add([]byte(`{"tools":[null,{"name":"a.b","inputSchema":{"type":"object","$ref":"#/$defs/x","$defs":{"x":{"$ref":"#"}}}},{"name":"a/b","title":"\u202e","inputSchema":[]}]}`))
	s := testServer(config{Confirm: confirmWrites, Tools: map[string]known{"a.b": {Key: "x"}}})
	f.Fuzz(func(t *testing.T, data []byte) {
		var listed mcpsdk.ListToolsResult
		if json.Unmarshal(data, &listed) != nil {
			return
		}
		seen := map[string]bool{}
		o := s.newOffer()
		o.add(listed.Tools)
		for _, one := range o.done() {
			spec := one.Spec()
			if !vendorName.MatchString(spec.Name) || seen[spec.Name] {
				t.Errorf("name %q", spec.Name)
			}
			seen[spec.Name] = true
			if len(spec.Description) > maxDescription || !utf8.ValidString(spec.Description) || strings.ContainsAny(spec.Description, "\x00\x1b\u202e") {
				t.Errorf("description %q", spec.Description)
			}
			var object map[string]any
			if err := json.Unmarshal(spec.Schema, &object); err != nil || object["type"] != "object" || len(spec.Schema) > maxSchema {
				t.Errorf("schema %s: %v", spec.Schema, err)
			}
		}
	})
}

func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"hello"},{"type":"image","mimeType":"image/png","data":"AAAA"}]}`))
	f.Add([]byte(`{"content":[{"type":"resource","resource":{"uri":"x","blob":""}},{"type":"resource_link","uri":"x"}],"isError":true}`))
	f.Add([]byte(`{"structuredContent":{"a":[1]},"resultType":"input_required"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var res mcpsdk.CallToolResult
		if json.Unmarshal(data, &res) != nil {
			return
		}
		got := result(&res)
		if len(got.Parts) == 0 {
			t.Error("no part")
		}
		for _, p := range got.Parts {
			if p.Kind == sdk.PartText && p.Text == "" || p.Kind == sdk.PartImage && p.Data == "" {
				t.Errorf("empty part %+v", p)
			}
		}
	})
}
