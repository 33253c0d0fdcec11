package dialect

import "strings"

// maxHosted bounds the types of tools that are kept of a request.
const maxHosted = 64

// theirs are the types of tools, in either dialect that has typed ones, that the
// caller runs; each may be followed by a date. Whatever else has a type is run by
// the vendor: one that we do not know counts as such, since a request that must
// not be repeated is the worse one to take for a harmless one.
var theirs = [...]string{
	"function", "custom", "namespace", // both; Responses groups functions in namespaces
	"bash", "text_editor", "computer", "memory", // Messages
	"local_shell", "computer_use_preview", "apply_patch", // Responses
}

// IsType reports whether a tool's type is named, or begins with name and a date or
// variant: web_search_20250305 is a web_search.
func IsType(kind, name string) bool {
	rest, ok := strings.CutPrefix(kind, name)
	return ok && (rest == "" || rest[0] == '_')
}

// hosted keeps the type of a tool that the vendor runs.
func (s *survey) hosted(kind string) {
	if kind == "" || len(s.Hosted) == maxHosted || len(kind) > maxName {
		return
	}
	for _, name := range theirs {
		if IsType(kind, name) {
			return
		}
	}
	s.Hosted = append(s.Hosted, kind)
}
