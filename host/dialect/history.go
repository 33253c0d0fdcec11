package dialect

// History is a set of what the past turns of a request hold that may be another
// vendor's, or that a vendor may mind.
type History uint8

const (
	// HistorySealed: reasoning that only its own vendor can prove or read.
	HistorySealed History = 1 << iota
	// HistoryUnsealed: reasoning of Messages that nobody has signed.
	HistoryUnsealed
	// HistoryMade: reasoning of Responses that our encoder has made.
	HistoryMade
	// HistoryOddIDs: ids of tool calls that Messages does not know.
	HistoryOddIDs
	// HistoryUnreasoned: turns that call tools and do not reason, although
	// others do or reasoning is asked for.
	HistoryUnreasoned
	// HistoryLoop: a tool loop under way that did not begin with reasoning,
	// although the request demands it of each turn.
	HistoryLoop
)

// Minds reports whether h holds what the vendor does not take, wherever it came
// from. Seals are left out: it depends on who made them.
func (q Quirks) Minds(h History) bool {
	return h&HistoryMade != 0 || q.ToolIDLength > 0 ||
		h&(HistoryUnsealed|HistoryLoop) != 0 && q.SealedReasoning ||
		h&HistoryOddIDs != 0 && !q.AnyToolID ||
		h&HistoryUnreasoned != 0 && q.ReasoningContent
}

// past is what a survey has seen of the past turns.
type past struct {
	seen           History
	reasoned, bare int    // turns that call tools, with and without reasoning
	begun          string // first block of the turn under way, "" before it; a tool loop is one turn
	manual         bool   // the request demands reasoning of each turn
}

// turn takes in a message.
func (p *past) turn(role string, c content) {
	switch {
	case role == "assistant":
		if p.begun == "" {
			p.begun = c.first
		}
		switch {
		case c.calls == 0:
		case c.reasons:
			p.reasoned++
		default:
			p.bare++
		}
	case role == "user" && !c.result:
		p.begun = ""
	}
}

// history sums up a request whose last message is a tool's result or not.
func (p *past) history(result, reasoning bool) History {
	if p.bare > 0 && (p.reasoned > 0 || reasoning) {
		p.seen |= HistoryUnreasoned
	}
	if p.manual && result && !thinks(p.begun) {
		p.seen |= HistoryLoop
	}
	return p.seen
}

// thinks reports whether a block of Messages is reasoning.
func thinks(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }
