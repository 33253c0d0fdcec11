package supervisor

import (
	"strings"
	"testing"

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
