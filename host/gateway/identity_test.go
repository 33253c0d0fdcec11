package gateway_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"spillway/host/gateway"
)

// odd are whole answers with what real vendors do and no grammar asks for:
// fields, events and blocks that nobody knows, carriage returns, comments, odd
// spacing, escapes, a frame in two data lines, ids and retries.
var odd = map[string]struct{ stream, whole string }{
	"anthropic": {
		": hello\r\n\r\n" +
			"event: message_start\r\ndata:{\"type\":\"message_start\" , \"message\":{\"id\":\"msg_\\u0041\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m1\",\"content\":[],\"x_new\":{\"a\":[1.0e0]},\"usage\":{\"input_tokens\":3,\"output_tokens\":0}}}\r\n\r\n" +
			"event: ping\ndata: {\"type\": \"ping\"}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"srv\",\"name\":\"web_search\",\"input\":{}}}\n\n" +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
			"event: content_block_start\ndata: {\"index\":1,\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\",\"citations\":[]}}\n\n" +
			"id: 7\nretry: 10\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\ndata: \"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\u00e9\\ud83d\\ude00 \\/ é\"}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"citations_delta\",\"citation\":{}}}\n\n" +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n" +
			"event: x_unknown\ndata: {\"type\":\"x_unknown\"}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":5}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		"{ \"id\" : \"msg_\\u0041\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m1\",\r\n\"content\":[{\"type\":\"text\",\"text\":\"\\u00e9 \\/\",\"x\":null}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":3,\"output_tokens\":5},\"x_new\":1e2 }\n",
	},
	"openai": {
		": OPENROUTER PROCESSING\n\n" +
			"data:{\"id\":\"c\\u0041\",\"object\":\"chat.completion.chunk\",\"model\":\"m1\",\"system_fingerprint\":null,\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}],\"error\":null}\r\n\r\n" +
			"data:   {\"id\":\"cA\",\"object\":\"chat.completion.chunk\",\"model\":\"m1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\u00e9\\ud83d\\ude00 \\/\",\"x_new\":{}},\"finish_reason\":null}]}\n\n" +
			"event: x\ndata: {\"choices\":[],\ndata: \"id\":\"cA\",\"x_timings\":[ 1 ,2 ]}\n\n" +
			"data: {\"id\":\"cA\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":5,\"total_tokens\":8}}\n\n" +
			"data: [DONE]\n\n",
		"\n{\"id\":\"c\\u0041\",\"object\":\"chat.completion\",\"model\":\"m1\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"\\u00e9 \\/\",\"x\":[]},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":5,\"total_tokens\":8} ,\"x\":1.50}\n",
	},
	"responses": {
		"event: response.created\r\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_\\u0041\",\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"m1\",\"output\":[],\"x_new\":[1.0]}}\r\n\r\n" +
			"event: response.web_search_call.searching\ndata: {\"type\":\"response.web_search_call.searching\",\"sequence_number\":1,\"output_index\":0,\"item_id\":\"ws\"}\n\n" +
			": comment\n\n" +
			"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":5,\ndata: \"item_id\":\"m\",\"output_index\":1,\"content_index\":0,\"delta\":\"\\u00e9 \\/\",\"obfuscation\":\"xyz\"}\n\n" +
			"event: response.completed\ndata:{\"type\":\"response.completed\",\"sequence_number\":9,\"response\":{\"id\":\"resp_A\",\"object\":\"response\",\"status\":\"completed\",\"model\":\"m1\",\"output\":[{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"status\":\"completed\",\"content\":[{\"type\":\"output_text\",\"text\":\"\\u00e9 \\/\",\"annotations\":[]}]}],\"usage\":{\"input_tokens\":3,\"output_tokens\":5,\"total_tokens\":8}}}\n\n",
		"{\"id\":\"resp_\\u0041\",\"object\":\"response\",\"status\":\"completed\",\"model\":\"m1\",\"error\":null,\r\n \"output\":[{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"status\":\"completed\",\"content\":[{\"type\":\"output_text\",\"text\":\"\\u00e9 \\/\",\"annotations\":[]}]}],\"usage\":{\"input_tokens\":3,\"output_tokens\":5,\"total_tokens\":8},\"x\":1.50}",
	},
}

// verbatim is a vendor that answers with given bytes. It compresses them if it
// is asked to, or in any case.
func verbatim(t *testing.T, stream, whole string, always bool) string {
	t.Helper()
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		answer, kind := whole, "application/json; charset=utf-8"
		if bytes.Contains(asked, []byte(`"stream":true`)) {
			answer, kind = stream, "text/event-stream; charset=utf-8"
		}
		w.Header().Set("Content-Type", kind)
		var out io.Writer = w
		if always || strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			out = z
		}
		for piece := range strings.SplitAfterSeq(answer, "\n\n") { // as vendors send: a frame at a time
			_, _ = io.WriteString(out, piece)
			if z, ok := out.(*gzip.Writer); ok {
				_ = z.Flush()
			}
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(vendor.Close)
	return vendor.URL
}

// decoded reads an answer, unpacked if it says that it is packed.
func decoded(t *testing.T, url, body, accept string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", accept) // said by us, so the transport leaves the body alone
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var in io.Reader = resp.Body
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if in, err = gzip.NewReader(in); err != nil {
			t.Fatal(err)
		}
	}
	got, err := io.ReadAll(in)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v: %s", resp.StatusCode, err, got)
	}
	return got
}

// TestByteIdentity: a healthy call of the vendor's own dialect gives the bytes
// that a direct one gives, whatever they are and whoever compresses.
func TestByteIdentity(t *testing.T) {
	for _, a := range apis {
		for _, always := range []bool{false, true} {
			vendor := verbatim(t, odd[a.name].stream, odd[a.name].whole, always)
			r := openRig(t, fmt.Sprintf("- {id: p, name: provider, config: {endpoints: {%s: %q}, models: [m1], vendor: anthropic, key: k}}\n", a.name, vendor+"/v1"), gateway.Options{})
			for _, stream := range []bool{true, false} {
				for _, accept := range []string{"identity", "gzip", "zstd,gzip"} {
					t.Run(fmt.Sprintf("%s/stream=%t/%s/vendor compresses=%t", a.name, stream, accept, always), func(t *testing.T) {
						body := fmt.Sprintf(a.body, stream)
						got := decoded(t, r.url+a.path, body, accept)
						want := decoded(t, vendor+a.path, body, accept)
						if !bytes.Equal(got, want) {
							t.Errorf("got  %q\nwant %q", got, want)
						}
					})
				}
			}
		}
	}
}
