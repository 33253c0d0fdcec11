package dialect

import (
	"strings"

	"spillway/sdk"
)

const (
	maxHeld  = 8 << 20 // bytes of blocks that wait for their turn
	maxQueue = 256     // such blocks
)

// blocks puts a vendor's pieces of blocks, which may overlap, into events of
// blocks that do not.
//
// One block is open at a time and its pieces go out as they come. When another
// begins, the open one ends, unless it is a tool call whose arguments are not
// complete: then the newcomer and all that follow are held until it is. Pieces
// of a block that has ended are dropped.
type blocks struct {
	next   int // index of the next block shown
	open   *block
	queue  []*block // begun while open was not over
	held   int      // bytes in queue
	broken bool     // more was held than the limits allow
}

// block is one block of an answer.
type block struct {
	key       int // the vendor's number of it
	kind      sdk.BlockKind
	id, name  string
	whole     string // a tool call's arguments given at its start, used if none follow
	signature string

	index int // of the events, once shown
	args  jsonEnd
	any   bool // a piece has come
	done  bool // the vendor said that it ends
	text  strings.Builder
}

// over reports whether b may end when another block begins.
func (b *block) over() bool { return b.done || b.kind != sdk.BlockToolCall || b.args.over }

type emitFunc = func(sdk.Event)

// begin takes the start of a block. A block of the same key ends by it.
func (s *blocks) begin(b *block, emit emitFunc) {
	s.stop(b.key, emit)
	if s.open != nil && s.open.over() && len(s.queue) == 0 {
		s.close(emit)
	}
	switch {
	case s.open == nil:
		s.show(b, emit)
	case len(s.queue) == maxQueue:
		s.broken = true
	default:
		s.queue = append(s.queue, b)
	}
}

// piece takes a piece of the block key, which begins by it if it is no tool
// call and has not begun.
func (s *blocks) piece(key int, kind sdk.BlockKind, text string, emit emitFunc) {
	if text == "" {
		return
	}
	b := s.find(key)
	if b == nil {
		if kind == sdk.BlockToolCall {
			return
		}
		b = &block{key: key, kind: kind}
		s.begin(b, emit)
	}
	if b.kind != kind {
		return
	}
	b.any = true
	if kind == sdk.BlockToolCall {
		b.args.feed(text)
	}
	if b == s.open {
		emit(b.delta(text))
		s.advance(emit)
		return
	}
	if s.held += len(text); s.held > maxHeld {
		s.broken = true
	}
	if !s.broken {
		b.text.WriteString(text)
	}
}

// sign sets the signature of the block key.
func (s *blocks) sign(key int, signature string) {
	if b := s.find(key); b != nil {
		b.signature = signature
	}
}

// stop takes the end of the block key.
func (s *blocks) stop(key int, emit emitFunc) {
	b := s.find(key)
	if b == nil {
		return
	}
	b.done = true
	if b == s.open {
		s.close(emit)
		if len(s.queue) > 0 {
			s.shift(emit)
			s.advance(emit)
		}
	}
}

// end ends every block.
func (s *blocks) end(emit emitFunc) {
	for s.open != nil {
		s.close(emit)
		if len(s.queue) > 0 {
			s.shift(emit)
		}
	}
}

// advance lets waiting blocks out as far as the open one is over.
func (s *blocks) advance(emit emitFunc) {
	for s.open.over() && len(s.queue) > 0 {
		s.close(emit)
		s.shift(emit)
	}
}

func (s *blocks) shift(emit emitFunc) {
	b := s.queue[0]
	s.queue = s.queue[1:]
	s.held -= b.text.Len()
	s.show(b, emit)
}

func (s *blocks) find(key int) *block {
	if s.open != nil && s.open.key == key && !s.open.done {
		return s.open
	}
	for _, b := range s.queue {
		if b.key == key && !b.done {
			return b
		}
	}
	return nil
}

func (s *blocks) show(b *block, emit emitFunc) {
	b.index = s.next
	s.next++
	s.open = b
	emit(sdk.Event{Kind: sdk.KindBlockStart, Index: b.index, Block: b.kind, ID: b.id, Name: b.name})
	if b.text.Len() > 0 {
		emit(b.delta(b.text.String()))
		b.text.Reset()
	}
}

func (s *blocks) close(emit emitFunc) {
	b := s.open
	s.open = nil
	if !b.any && b.whole != "" {
		emit(b.delta(b.whole))
	}
	emit(sdk.Event{Kind: sdk.KindBlockEnd, Index: b.index, Signature: b.signature})
}

func (b *block) delta(text string) sdk.Event {
	return sdk.Event{Kind: deltaOf(b.kind), Index: b.index, Text: text}
}

// jsonEnd finds the end of a JSON object that comes in pieces.
type jsonEnd struct {
	depth    int
	inString bool
	escaped  bool
	over     bool
}

func (j *jsonEnd) feed(s string) {
	for i := range len(s) {
		switch c := s[i]; {
		case j.over:
			return
		case j.escaped:
			j.escaped = false
		case j.inString:
			j.escaped = c == '\\'
			j.inString = c != '"'
		case c == '"':
			j.inString = true
		case c == '{' || c == '[':
			j.depth++
		case c == '}' || c == ']':
			j.depth--
			j.over = j.depth <= 0
		}
	}
}
