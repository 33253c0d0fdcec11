package supervisor

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestLines: both ways that output comes give the same lines, whatever pieces it
// comes in.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"none", "", nil},
		{"lines", "a\nb\n", []string{"a", "b"}},
		{"empty ones are left out", "\n\na\n\n", []string{"a"}},
		{"at the limit", long + "\nb\n", []string{long, "b"}},
		{"over it", long + "y\nb\n", []string{long, "b"}},
		{"far over it", strings.Repeat(long, 70) + "\nb\n", []string{long, "b"}},
		{"no text", "\xff\x00z\n", []string{"\ufffd\x00z"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			note := func(l string) { got = append(got, l) }
			readLines(strings.NewReader(tt.text), note)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("read (-want +got):\n%s", d)
			}
			for _, piece := range []int{1, 7, 1 << 20} {
				got = nil
				w := &lineWriter{f: note}
				for rest := tt.text; rest != ""; {
					n, err := w.Write([]byte(rest[:min(piece, len(rest))]))
					if err != nil || n == 0 {
						t.Fatalf("wrote %d bytes: %v", n, err)
					}
					rest = rest[n:]
				}
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("written in pieces of %d (-want +got):\n%s", piece, d)
				}
			}
		})
	}
}

// FuzzLines: whatever a plugin writes, in whatever pieces, both ways of reading
// it give the same lines, each bounded and text, and what status shows of them
// is bounded too.
func FuzzLines(f *testing.F) {
	f.Add("a\nb", 1)
	f.Add("\n\n\xff\x00\r\n"+strings.Repeat("x", 3*maxLine), 4096)
	f.Add(`{"@level":"error","@message":"m","n":{"a":[1]},"@timestamp":7}`+"\n{\"@level\":\"warn\",\n", 3)
	f.Add("panic: \x1b[2J\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:1\nmore\n", 7)
	f.Fuzz(func(t *testing.T, text string, piece int) {
		piece = 1 + (piece&0xffff)%(2*maxLine)
		var got, want []string
		readLines(strings.NewReader(text+"\n"), func(l string) { want = append(want, l) })
		w := &lineWriter{f: func(l string) { got = append(got, l) }}
		for rest := text + "\n"; rest != ""; rest = rest[min(piece, len(rest)):] {
			if _, err := w.Write([]byte(rest[:min(piece, len(rest))])); err != nil {
				t.Fatal(err)
			}
		}
		// A carriage return before the end belongs to the end for one of them.
		for i := range got {
			got[i] = strings.TrimSuffix(got[i], "\r")
		}
		got = slices.DeleteFunc(got, func(l string) bool { return l == "" })
		for i := range want {
			want[i] = strings.TrimSuffix(want[i], "\r")
		}
		want = slices.DeleteFunc(want, func(l string) bool { return l == "" })
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("pieces of %d (-read +written):\n%s", piece, d)
		}
		o := output{log: slog.New(slog.DiscardHandler)}
		for i, l := range got {
			if len(l) > 3*maxLine || !utf8.ValidString(l) {
				t.Errorf("a line of %d bytes", len(l))
			}
			o.line(i%4 != 3, l)
		}
		o.end()
		kept := o.tail()
		for _, l := range append(kept, o.word()) {
			if len(l) > keptBytes || !utf8.ValidString(l) {
				t.Errorf("kept %d bytes of a line, at most %d", len(l), keptBytes)
			}
		}
		if len(kept) > keptLines {
			t.Errorf("%d lines are kept, at most %d", len(kept), keptLines)
		}
	})
}
