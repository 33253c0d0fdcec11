package sse_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"spillway/host/sse"
)

// frame is a copy of a Frame that outlives the next call.
type frame struct {
	Event, Data, Raw string
	Partial          bool
}

func readAll(src io.Reader, limit int) ([]frame, error) {
	var frames []frame
	r := sse.NewReader(src, limit)
	for {
		f, err := r.Next()
		if err != nil {
			if _, again := r.Next(); !errors.Is(again, err) {
				return frames, errors.Join(errors.New("the error is not final"), err, again)
			}
			return frames, err
		}
		frames = append(frames, frame{f.Event, string(f.Data), string(f.Raw), f.Partial})
	}
}

func TestReader(t *testing.T) {
	tests := []struct {
		name  string
		input string
		want  []frame
	}{
		{"nothing", "", nil},
		{"one", "event: ping\ndata: {}\n\n", []frame{{"ping", "{}", "event: ping\ndata: {}\n\n", false}}},
		{"no space", "event:ping\ndata:{}\n\n", []frame{{"ping", "{}", "event:ping\ndata:{}\n\n", false}}},
		{"only one space goes", "data:  a\n\n", []frame{{"", " a", "data:  a\n\n", false}}},
		{"two", "data: a\n\ndata: b\n\n", []frame{{"", "a", "data: a\n\n", false}, {"", "b", "data: b\n\n", false}}},
		{"CRLF", "event: x\r\ndata: a\r\n\r\n", []frame{{"x", "a", "event: x\r\ndata: a\r\n\r\n", false}}},
		{"CR", "data: a\r\rdata: b\r\r", []frame{{"", "a", "data: a\r\r", false}, {"", "b", "data: b\r\r", false}}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []frame{{"", "a", "\xef\xbb\xbfdata: a\n\n", false}}},
		{"mark elsewhere", "x\n\xef\xbb\xbfdata: a\n\n", []frame{{"", "", "x\n\xef\xbb\xbfdata: a\n\n", false}}},
		{"comment", ": hello\n\n", []frame{{"", "", ": hello\n\n", false}}},
		{"comment inside", "data: a\n: no\ndata: b\n\n", []frame{{"", "a\nb", "data: a\n: no\ndata: b\n\n", false}}},
		{"several lines", "data: a\ndata\ndata: b\n\n", []frame{{"", "a\n\nb", "data: a\ndata\ndata: b\n\n", false}}},
		{"other fields", "id: 7\nretry: 5\ndata: a\nevent: e\n\n", []frame{{"e", "a", "id: 7\nretry: 5\ndata: a\nevent: e\n\n", false}}},
		{"blank lines", "\n\ndata: a\n\n", []frame{{"", "", "\n", false}, {"", "", "\n", false}, {"", "a", "data: a\n\n", false}}},
		{"event does not carry over", "event: e\n\ndata: a\n\n", []frame{{"e", "", "event: e\n\n", false}, {"", "a", "data: a\n\n", false}}},
		{"cut after a line", "data: a\n\ndata: b\n", []frame{{"", "a", "data: a\n\n", false}, {"", "b", "data: b\n", true}}},
		{"cut in a line", "data: a\n\nda", []frame{{"", "a", "data: a\n\n", false}, {"", "", "da", true}}},
		{"cut in the only line", "\xef\xbb\xbfdata: a", []frame{{"", "a", "\xef\xbb\xbfdata: a", true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(strings.NewReader(tt.input), 0)
			if err != io.EOF {
				t.Errorf("error: got %v, want EOF", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("frames (-want +got):\n%s", diff)
			}
		})
	}
}

// A CRLF that arrives in two reads must not delay the frame that it ends.
func TestReaderDoesNotWaitAfterCR(t *testing.T) {
	in, out := io.Pipe()
	defer in.Close()
	r := sse.NewReader(in, 0)
	go out.Write([]byte("data: a\r\n\r"))
	f, err := r.Next()
	if err != nil || string(f.Data) != "a" || f.Partial {
		t.Fatalf("got %+v, %v", f, err)
	}
	go func() {
		out.Write([]byte("\ndata: b\n\n"))
		out.Close()
	}()
	if f, err = r.Next(); err != nil || string(f.Raw) != "\ndata: b\n\n" {
		t.Errorf("got %q, %v", f.Raw, err)
	}
}

func TestReaderLimit(t *testing.T) {
	const limit = 10 << 10
	at := "data: " + strings.Repeat("x", limit-len("data: \n\n")) + "\n\n"
	if frames, err := readAll(strings.NewReader(at+at), limit); len(frames) != 2 || err != io.EOF {
		t.Errorf("at the limit: %d frames, %v", len(frames), err)
	}
	for name, over := range map[string]string{
		"one line":      at[:6] + "x" + at[6:],
		"many lines":    strings.Repeat("data: abc\n", limit/10) + "\n",
		"no line end":   strings.Repeat("x", limit+1),
		"only comments": strings.Repeat(":\n", limit),
	} {
		frames, err := readAll(strings.NewReader("data: a\n\n"+over), limit)
		if len(frames) != 1 || !errors.Is(err, sse.ErrFrameTooLong) {
			t.Errorf("%s: %d frames, %v", name, len(frames), err)
		}
	}
}

func TestReaderReportsInputError(t *testing.T) {
	broken := errors.New("broken")
	src := io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken))
	frames, err := readAll(src, 0)
	want := []frame{{"", "a", "data: a\n\n", false}, {"", "b", "data: b", true}}
	if diff := cmp.Diff(want, frames); diff != "" || err != broken {
		t.Errorf("error %v, frames (-want +got):\n%s", err, diff)
	}
	if _, err := readAll(iotest.ErrReader(nil), 0); err != io.ErrNoProgress {
		t.Errorf("an input that never answers: got %v", err)
	}
}

func TestAppendFrame(t *testing.T) {
	tests := []struct{ event, data, want string }{
		{"", "", "data: \n\n"},
		{"ping", "{}", "event: ping\ndata: {}\n\n"},
		{"", "a\nb\r\nc\rd", "data: a\ndata: b\ndata: c\ndata: d\n\n"},
	}
	for _, tt := range tests {
		if got := string(sse.AppendFrame([]byte(">"), tt.event, []byte(tt.data))); got != ">"+tt.want {
			t.Errorf("%q, %q: got %q, want %q", tt.event, tt.data, got, tt.want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: message_start\ndata: {\"a\":1}\n\nevent: ping\ndata: {}\n\n"))
	f.Add([]byte("\xef\xbb\xbf: c\r\ndata:x\r\ndata: y\r\n\r\ndata: z"))
	f.Add([]byte("\r\r\n\n\rdata\r\n\r"))
	f.Fuzz(func(t *testing.T, input []byte) {
		const limit = 64
		for name, src := range map[string]io.Reader{
			"whole":    bytes.NewReader(input),
			"by bytes": iotest.OneByteReader(bytes.NewReader(input)),
		} {
			frames, err := readAll(src, limit)
			var joined strings.Builder
			for i, f := range frames {
				joined.WriteString(f.Raw)
				if len(f.Raw) > limit || f.Raw == "" || f.Partial && i < len(frames)-1 {
					t.Errorf("%s: bad frame %+v", name, f)
				}
			}
			switch {
			case err == io.EOF:
				if joined.String() != string(input) {
					t.Errorf("%s: raw bytes %q, want %q", name, joined.String(), input)
				}
			case !errors.Is(err, sse.ErrFrameTooLong):
				t.Errorf("%s: %v", name, err)
			case !strings.HasPrefix(string(input), joined.String()):
				t.Errorf("%s: raw bytes %q are no prefix of %q", name, joined.String(), input)
			}
		}
	})
}

func FuzzAppendFrame(f *testing.F) {
	f.Add("ping", []byte(`{"type":"ping"}`))
	f.Add("", []byte("a\r\n\r\nb"))
	f.Fuzz(func(t *testing.T, event string, data []byte) {
		event = strings.NewReplacer("\n", "", "\r", "").Replace(event)
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
		frames, err := readAll(bytes.NewReader(sse.AppendFrame(nil, event, data)), 0)
		if len(frames) != 1 || err != io.EOF || frames[0].Partial {
			t.Fatalf("got %+v, %v", frames, err)
		}
		if frames[0].Data != want || frames[0].Event != event {
			t.Errorf("got %+v, want event %q and data %q", frames[0], event, want)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	one := []byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words of an answer\"}}\n\n")
	input := bytes.Repeat(one, 1000)
	b.ReportAllocs()
	b.SetBytes(int64(len(one)))
	src := bytes.NewReader(nil)
	r := sse.NewReader(src, 0)
	for b.Loop() {
		if src.Len() == 0 {
			src.Reset(input)
			r = sse.NewReader(src, 0)
		}
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestReady: a frame that is said to be there is there, and one that is not whole is
// never said to be.
func TestReady(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pieces []string // one read each
		want   []bool   // after each frame
	}{
		{"alone", []string{"data: a\n\n", "data: b\n\n"}, []bool{false, false}},
		{"together", []string{"data: a\n\ndata: b\n\ndata: c\n\n"}, []bool{true, true, false}},
		{"CRLF", []string{"data: a\r\n\r\ndata: b\r\n\r\n"}, []bool{true, false}},
		{"half of the next", []string{"data: a\n\ndata: b\n", "\ndata: c\n\n"}, []bool{false, true, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var readers []io.Reader
			for _, p := range tt.pieces {
				readers = append(readers, strings.NewReader(p))
			}
			r := sse.NewReader(io.MultiReader(readers...), 0)
			if r.Ready() {
				t.Error("ready before anything was read")
			}
			var got []bool
			for range tt.want {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
				got = append(got, r.Ready())
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestReaderAllocates: frames cost no allocation, however many there are.
func TestReaderAllocates(t *testing.T) {
	in := bytes.Repeat([]byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\"}\n\n"), 1000)
	n := testing.AllocsPerRun(10, func() {
		r := sse.NewReader(bytes.NewReader(in), 0)
		for _, err := r.Next(); err == nil; _, err = r.Next() {
		}
	})
	if n > 4 { // the reader, its source, its buffer
		t.Errorf("got %v allocations for 1 000 frames", n)
	}
}
