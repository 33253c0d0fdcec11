package dialect

import "spillway/sdk"

// answerScanner is implemented by a dialect that can tell what a whole answer
// means without building its events.
type answerScanner interface {
	scanAnswer(body []byte) (m Mark, ok bool)
}

// ScanAnswer says what an answer that was not streamed means, as Scan does for a
// frame: a MarkTerminal with its finish, its usage and what it shows. ok is that of
// ParseAnswer.
func ScanAnswer(d Dialect, body []byte) (m Mark, ok bool) {
	if s, is := d.(answerScanner); is {
		return s.scanAnswer(body)
	}
	events, ok := d.ParseAnswer(body)
	if !ok {
		return Mark{}, false
	}
	return markOf(events), true
}

// markOf is what the events of a whole answer mean.
func markOf(events []sdk.Event) Mark {
	m := Mark{Kind: MarkTerminal}
	for _, e := range events {
		switch e.Kind {
		case sdk.KindUsage:
			m.Usage = m.Usage.Merge(*e.Usage)
		case sdk.KindFinish:
			m.Finish = e.Finish
		case sdk.KindTextDelta, sdk.KindReasoningDelta, sdk.KindToolCallDelta:
			if e.Text != "" {
				m.Visible |= visibleOf(blockOf(e.Kind))
			}
		case sdk.KindStart, sdk.KindBlockStart, sdk.KindBlockEnd:
		}
	}
	return m
}
