package sim

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// pieceKind is the kind of block that a piece belongs to.
type pieceKind uint8

const (
	noPiece pieceKind = iota
	reasoningPiece
	textPiece
	argumentPiece
)

// piece is what one delta carries: a word, or some bytes of a tool's arguments.
type piece struct {
	kind pieceKind
	text string
}

// stopReason is how an answer ends.
type stopReason uint8

const (
	stopNone stopReason = iota // it does not say
	stopEnd
	stopTool
	stopLength
)

// answer is a sound answer in no dialect. Its parts follow each other in the
// order reasoning, text, tool call.
type answer struct {
	id        string // vendor and number of the call; all ids are made from it
	model     string
	created   time.Time
	pieces    []piece
	toolName  string // "" for no call
	stop      stopReason
	signature string // of the reasoning
	input     int    // tokens
	usage     bool   // the caller asked for the usage of a stream
	sealed    bool   // the caller asked for the reasoning as only the vendor reads it

	toolFreeform bool   // the tool takes plain text
	namedCall    string // the id of the call where the vendor makes them in a way of its own
}

const (
	defaultText      = "This answer comes from a simulated vendor named %s and every word of it was made up on this machine."
	defaultReasoning = "Let me think about this one step at a time."
	// argumentBytes is how much of a tool's arguments one delta carries: small
	// enough that every call has some.
	argumentBytes = 8
	// maxMention is how much of a tool's result an answer repeats.
	maxMention = 400
)

// compose makes the answer of vendor v to r in a dialect, as step s would have it.
func compose(f format, v Vendor, s *step, r *request, number int) *answer {
	prompt, result, hasResult := r.turn()
	a := &answer{
		id: fmt.Sprintf("%s-%06d", v.Name, number), model: r.Model, created: time.Now(), stop: stopEnd, input: r.inputTokens(),
		usage:  r.StreamOptions != nil && r.StreamOptions.IncludeUsage,
		sealed: slices.Contains(r.Include, "reasoning.encrypted_content"),
	}
	reasoning := v.Answer.Reasoning
	if s.reasoning != unset {
		reasoning = s.reasoning
	}
	var wordMark, reasonMark string
	if v.Answer.Numbered {
		wordMark, reasonMark = "w%d@"+v.Name, "r%d@"+v.Name
	}
	a.add(reasoningPiece, defaultReasoning, reasoning, reasonMark)
	if reasoning > 0 {
		a.signature = sign(v.Name, a.text(reasoningPiece))
	}

	text := cmp.Or(v.Answer.Text, fmt.Sprintf(defaultText, v.Name))
	words := unset // as many as the text has
	if v.Answer.Tokens > 0 {
		words = v.Answer.Tokens
	}
	var args string
	if hasResult && s.name != "call" {
		text, words, wordMark = fmt.Sprintf("The tool told %s: %s", v.Name, cutText(result, maxMention)), unset, ""
	} else if t := chooseTool(s, r, prompt); t != nil {
		a.toolName, a.toolFreeform = t.name(), t.freeform(f)
		args = cmp.Or(s.args, t.example(f))
		words = 0
	}
	if s.tokens != unset {
		words = s.tokens
	}
	if words == unset {
		words = len(strings.Fields(text))
	}
	a.add(textPiece, text, words, wordMark)

	if limit := r.maxOutput(); len(a.pieces) > limit {
		a.pieces, a.stop, a.toolName = a.pieces[:limit], stopLength, ""
	}
	if a.toolName != "" {
		a.stop = stopTool
		if v.NamedCalls {
			a.namedCall = fmt.Sprintf("%s:%d", a.toolName, number)
		}
		for args != "" {
			part := cutText(args, argumentBytes)
			a.pieces = append(a.pieces, piece{argumentPiece, part})
			args = args[len(part):]
		}
	}
	return a
}

// add appends n words of text, from its start again when it is used up.
func (a *answer) add(kind pieceKind, text string, n int, mark string) {
	words := strings.Fields(text)
	for i := range n {
		word := ""
		if len(words) > 0 {
			word = words[i%len(words)]
		}
		if mark != "" {
			word = fmt.Sprintf(mark, i)
		}
		if i > 0 {
			word = " " + word
		}
		a.pieces = append(a.pieces, piece{kind, word})
	}
}

// text joins the pieces of one kind.
func (a *answer) text(kind pieceKind) string {
	var b strings.Builder
	for _, p := range a.pieces {
		if p.kind == kind {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

func joinPieces(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// callID is the id of the answer's tool call.
func (a *answer) callID(prefix string) string { return cmp.Or(a.namedCall, prefix+a.id) }

func (a *answer) count(kind pieceKind) int {
	n := 0
	for _, p := range a.pieces {
		if p.kind == kind {
			n++
		}
	}
	return n
}

// sign makes what a vendor puts under its own reasoning: it holds the reasoning
// and the proof of whose it is. No other vendor makes the same.
func sign(vendor, reasoning string) string {
	sum := sha256.Sum256([]byte(vendor + "\n" + reasoning))
	return base64.StdEncoding.EncodeToString(append(sum[:], reasoning...))
}

// signed reports whether a vendor signed some reasoning, and which.
func signed(vendor, signature string) (reasoning string, ok bool) {
	data, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(data) < sha256.Size {
		return "", false
	}
	reasoning = string(data[sha256.Size:])
	return reasoning, sign(vendor, reasoning) == signature
}

// cutText shortens s to at most n bytes of whole characters.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
