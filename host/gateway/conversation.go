package gateway

import (
	"net/http"

	"spillway/host/dialect"
)

// Where clients say which conversation a request belongs to. The body's own
// fields come first, read by the dialects, then the headers, and last who the
// user is, since that is all some clients tell.
//
//	Messages   metadata.user_id, its session_id   Claude Code 2.1
//	Chat       prompt_cache_key                   OpenAI's reference
//	Responses  prompt_cache_key                   Codex 0.171, pi 0.73
//	Responses  conversation                       OpenAI's reference
//	header     X-Claude-Code-Session-Id           Claude Code 2.1
//	header     Thread-Id, Session-Id              Codex 0.171; a session may have several threads
//	header     X-Session-Id, X-Session-Affinity   opencode 1.18
//	header     X-Deepseek-Harness-Session-Id      DSH 0.1
//	header     Session_id                         pi 0.73
//	any        user                               OpenAI's reference
//
// All but the reference's were seen in recorded requests.
var conversationHeaders = []string{
	"X-Claude-Code-Session-Id", "Thread-Id", "Session-Id", "X-Session-Id", "X-Session-Affinity",
	"X-Deepseek-Harness-Session-Id", "Session_id",
}

// maxConversation bounds an id that a header gives: it ends up in records.
const maxConversation = 256

// conversation names the conversation of a request, "" if nothing does.
func conversation(seen dialect.Inspection, h http.Header) string {
	if seen.Conversation != "" {
		return seen.Conversation
	}
	for _, name := range conversationHeaders {
		if id := h.Get(name); id != "" && len(id) <= maxConversation {
			return id
		}
	}
	return seen.User
}
