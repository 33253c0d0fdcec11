package dialect_test

import (
	"bytes"
	"strings"
	"testing"

	"spillway/host/dialect"
	"spillway/sdk"
)

// allocsAnEvent is how often translating one text delta may allocate: its text
// outlives the frame, and Responses repeats the whole of it at the end.
const allocsAnEvent = 3

// translation turns frames of one dialect into those of another.
type translation struct {
	from dialect.Decoder
	emit func(sdk.Event)
	out  []byte // frames of what came last
}

// begunTranslation has translated an answer up to its first words. event and data
// are the frame of the next ones; it may come again and again.
func begunTranslation(tb testing.TB, from, to dialect.Dialect) (t *translation, event string, data []byte) {
	tb.Helper()
	encoder := to.NewEncoder(dialect.AnswerOptions{ID: "1", Model: "m"})
	t = &translation{from: from.NewDecoder()}
	t.emit = func(e sdk.Event) { t.out = encoder.Encode(t.out, e) }
	begin := []sdk.Event{start("x_1", "m"), blockStart(0, sdk.BlockText), textDelta(0, "some "), textDelta(0, "words of an answer ")}
	frames(tb, encode(from, dialect.AnswerOptions{ID: "1", Model: "m"}, begin), func(e string, d []byte) {
		event, data = e, bytes.Clone(d)
		t.frame(event, data)
	})
	if !strings.Contains(string(t.out), "words of an answer ") {
		tb.Fatalf("%s to %s: got %s", from.Name(), to.Name(), t.out)
	}
	return t, event, data
}

func (t *translation) frame(event string, data []byte) {
	t.out = t.out[:0]
	t.from.Decode(event, data, t.emit)
}

// A stream has thousands of events: what each costs is bounded.
func TestTranslationAllocates(t *testing.T) {
	for _, p := range pairs() {
		tr, event, data := begunTranslation(t, p[0], p[1])
		if n := testing.AllocsPerRun(100, func() { tr.frame(event, data) }); n > allocsAnEvent {
			t.Errorf("%s to %s: %v allocations an event, at most %d", p[0].Name(), p[1].Name(), n, allocsAnEvent)
		}
	}
}

// BenchmarkTranslateEvent is a text delta of a stream whose client speaks another
// dialect than the vendor.
func BenchmarkTranslateEvent(b *testing.B) {
	for _, p := range pairs() {
		b.Run(p[0].Name()+" to "+p[1].Name(), func(b *testing.B) {
			tr, event, data := begunTranslation(b, p[0], p[1])
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				tr.frame(event, data)
			}
		})
	}
}

// BenchmarkTranslateRequest is an agent's request of 45 KB for a vendor of another
// dialect.
func BenchmarkTranslateRequest(b *testing.B) {
	filler := strings.Repeat(`Some words of a \"prompt\", with line ends.\n`, 1000)
	prompt, err := dialect.Anthropic().ParseRequest([]byte(strings.Replace(string(testdata(b, "anthropic/agent.json")), "Work with care.", filler, 1)))
	if err != nil {
		b.Fatal(err)
	}
	o := dialect.Outbound{Model: "m"}
	for _, p := range pairs() {
		b.Run(p[0].Name()+" to "+p[1].Name(), func(b *testing.B) {
			body, _, err := p[0].BuildRequest(prompt, o)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				asked, err := p[0].ParseRequest(body)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := p[1].BuildRequest(asked, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
