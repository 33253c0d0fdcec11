package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// anthropicMessageFields are those of a message. output_config is what Claude's
// own agent sends with its system turns.
var anthropicMessageFields = strings.Fields("role content output_config")

// anthropicBlockFields are those of the kinds of block that callers make; any
// other kind may have what it likes.
var anthropicBlockFields = map[string][]string{
	"text":              strings.Fields("type text cache_control citations"),
	"image":             strings.Fields("type source cache_control"),
	"document":          strings.Fields("type source cache_control citations context title"),
	"tool_use":          strings.Fields("type id name input cache_control caller"),
	"tool_result":       strings.Fields("type tool_use_id content is_error cache_control"),
	"thinking":          strings.Fields("type thinking signature"),
	"redacted_thinking": strings.Fields("type data"),
}

// checkAnthropicShape looks for fields that the Messages API does not know in
// messages and blocks, for empty messages and for calls whose input is no
// object.
func checkAnthropicShape(messages json.RawMessage) string {
	list := objects(messages)
	for i, m := range list {
		if name := unknownField(m, anthropicMessageFields); name != "" {
			return fmt.Sprintf("messages.%d.%s: Extra inputs are not permitted", i, name)
		}
		content := string(bytes.TrimSpace(m["content"]))
		last := i == len(list)-1 && string(m["role"]) == `"assistant"`
		if (content == `""` || content == "[]" || content == "null" || content == "") && !last {
			return fmt.Sprintf("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		for j, b := range objects(m["content"]) {
			var kind string
			_ = json.Unmarshal(b["type"], &kind) // one that is no string is no known kind
			known, ok := anthropicBlockFields[kind]
			if !ok {
				continue
			}
			path := fmt.Sprintf("messages.%d.content.%d.%s.", i, j, kind)
			if name := unknownField(b, known); name != "" {
				return path + name + ": Extra inputs are not permitted"
			}
			if kind == "tool_use" && !strings.HasPrefix(string(b["input"]), "{") {
				return path + "input: Input should be a valid dictionary"
			}
		}
	}
	return ""
}
