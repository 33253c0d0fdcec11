package failure

import (
	"strconv"
	"strings"
)

// Codes and statuses that relays and client libraries write into a text. All
// are tied to a position or a punctuation, so that words of a sentence, or an
// echoed input, are not taken for codes.
var (
	// "HTTP 429: …", "status code: 403", "API error (503)", "429 Too Many …"
	spelledStatus = express(`(?i)(?:^|\b(?:http|status(?:[ _]?code)?|error(?: code)?|api error)[ :=(]{1,3}(?:status )?)([45]\d\d)\b`)
	// "error 1310: …", "error code: 1015", "…(2056)"
	spelledNumber = express(`(?i)(?:\berror(?:[ _]code)?[ :=]{1,2}|^\[?)(\d{4,6})\b|\((\d{4,6})\)\s*$`)
	// "(ThrottlingException)", "[rate_limit_exceeded]"
	spelledBracket = express(`[(\[]([A-Za-z]+Exception|[a-z]+(?:_[a-z]+)+)[)\]]`)
	// "<400> InternalError.Algo.DataInspectionFailed: …", "403 Forbidden: a-b:c-d: …"
	spelledPrefix = express(`(?:^|[:>)] ?|\d{3} )([A-Za-z]+(?:[._:-]?[A-Za-z]+)*): `)
)

// edgeOwner names the table of the codes that a content network writes itself.
const edgeOwner = "cloudflare"

// spelled takes the codes out of a text's fixed places.
func (r *reading) spelled(s string) {
	head := s[:min(len(s), 300)]
	if m := spelledStatus().FindStringSubmatch(head); m != nil && r.status == 0 {
		r.status, _ = strconv.Atoi(m[1])
	}
	for _, m := range spelledBracket().FindAllStringSubmatch(head, 4) {
		r.addName("text", m[1])
	}
	for _, m := range spelledPrefix().FindAllStringSubmatch(head, 4) {
		if isCodeLike(m[1]) {
			r.addName("text", m[1])
		}
	}
	if m := spelledNumber().FindStringSubmatch(s[:min(len(s), 2048)]); m != nil {
		n := name{field: "text", value: m[1] + m[2]}
		if strings.HasPrefix(n.value, "10") && strings.HasPrefix(strings.ToLower(s), "error code") {
			n.owner = edgeOwner
		}
		r.names = append(r.names, n)
	}
}

// isCodeLike tells a code from a word that happens to precede a colon.
func isCodeLike(s string) bool {
	if strings.ContainsAny(s, "._-:") {
		return true
	}
	return strings.IndexFunc(s[1:], func(c rune) bool { return c >= 'A' && c <= 'Z' }) >= 0 && strings.ToUpper(s) != s
}
