package story

import (
	"fmt"
	"strings"
)

// ruleWords has words for what decided a code, by how the rule's name begins.
// %s stands for the rest of the name.
type ruleWords struct {
	header, status, pattern, finish, client, socket string
	wording, phrase                                 string // what a rule of wording recognises; its name, where that is not known
	page                                            string // its status
	form, shape                                     string // what the answer looks like; its name, where that is not known
	field                                           string // of a vendor's table: two %s, field and value
	firstContent, idle, total                       string
	silence                                         string // is added
	other                                           string
}

// rule is what decided a code, in words; "" if there is nothing to say.
func (w *lexicon) rule(name string) string {
	name, silent := strings.CutSuffix(name, "+silence")
	s := w.ruleName(name)
	if silent && s != "" {
		s += w.rules.silence
	}
	return s
}

func (w *lexicon) ruleName(name string) string {
	r := &w.rules
	switch name {
	case "", "caller":
		return ""
	case "limit.first_content":
		return r.firstContent
	case "limit.idle":
		return r.idle
	case "limit.total":
		return r.total
	}
	kind, rest, ok := strings.Cut(name, ":")
	if !ok {
		return fmt.Sprintf(r.other, name)
	}
	switch kind {
	case "header":
		return fmt.Sprintf(r.header, rest)
	case "status":
		return fmt.Sprintf(r.status, rest)
	case "phrase":
		if says := w.find(phrases, strings.TrimSuffix(rest, "-zh")); says != "" {
			return fmt.Sprintf(r.wording, says)
		}
		return fmt.Sprintf(r.phrase, rest)
	case "pattern":
		return fmt.Sprintf(r.pattern, rest)
	case "shape":
		if status, ok := strings.CutPrefix(rest, "page status:"); ok {
			return fmt.Sprintf(r.form, fmt.Sprintf(r.page, status))
		}
		if says := w.find(shapes, rest); says != "" {
			return fmt.Sprintf(r.form, says)
		}
		return fmt.Sprintf(r.shape, rest)
	case "finish":
		return fmt.Sprintf(r.finish, rest)
	case "client":
		return fmt.Sprintf(r.client, rest)
	case "socket":
		return fmt.Sprintf(r.socket, rest)
	}
	if _, field, ok := strings.Cut(kind, "."); ok {
		return fmt.Sprintf(r.field, field, rest)
	}
	return fmt.Sprintf(r.other, name)
}

// ours lists how rules begin whose message the host has written, not the vendor.
var ours = []string{
	"socket:", "limit.", "caller", "stream", "plugin.", "dialect.", "provider.", "gateway.", "llm.", "brain.", "failover.", "shape:no content",
}

// vendorSpoke reports whether a message that the rule came with is the vendor's.
func vendorSpoke(status int, rule string) bool {
	if status == 0 {
		return false
	}
	for _, p := range ours {
		if strings.HasPrefix(rule, p) {
			return false
		}
	}
	return true
}
