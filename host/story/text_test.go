package story

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMessage(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "Overloaded", "Overloaded"},
		{"lines", " one\r\n\ttwo\u2028three ", "one two three"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"clear screen", "a\x1b[2J\x1b[Hb", "ab"},
		{"eight-bit control sequence", "a\u009b31mb", "ab"},
		{"unfinished sequence hides nothing", "a\x1b[31", "a[31"},
		{"title", "\x1b]0;owned\x07text", "]0;ownedtext"},
		{"link", "\x1b]8;;http://evil\x1b\\text", `]8;;http://evil\text`},
		{"sequence made by dropping", "\x1b\x00[31mx", "[31mx"},
		{"carriage return and backspace", "good\rbad\b\b", "good bad"},
		{"reordering", "\u202egnp.exe\u2066\u200b", "gnp.exe"},
		{"not UTF-8", "a\x9b\xffb", "a��b"},
		{"ideographs stay", "账号已被封禁", "账号已被封禁"},
		{"key", "Incorrect API key provided: sk-proj-abc_DEF-0123456789. See", "Incorrect API key provided: [redacted]. See"},
		{"bearer", "Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345", "Authorization: [redacted]"},
		{"words that only begin like a key", "bearer authentication, sk-short, risk-management-first", "bearer authentication, sk-short, risk-management-first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := message(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"额度用完", 8, "额度用完"},
		{"额度用完", 7, "额度用…"},
		{"额度用完", 6, "额度…"},
		{"e\u0301e\u0301", 2, "e\u0301e\u0301"},
	} {
		if got := clip(tt.in, tt.n); got != tt.want || columns(got) > tt.n {
			t.Errorf("clip(%q, %d): got %q of %d columns, want %q", tt.in, tt.n, got, columns(got), tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		n        int
		want     []string
	}{
		{"empty", "", 5, []string{""}},
		{"fits", "ab cd", 5, []string{"ab cd"}},
		{"at a space", "ab cd ef", 5, []string{"ab cd", "ef"}},
		{"a space at the edge", "abcde fg", 5, []string{"abcde", "fg"}},
		{"a word too long", "abcdefg h", 5, []string{"abcde", "fg h"}},
		{"ideographs", "额度用完", 5, []string{"额度", "用完"}},
		{"no full stop in front", "额度用。完", 6, []string{"额度", "用。完"}},
		{"no bracket at the end", "额（度", 4, []string{"额", "（度"}},
		{"a word within ideographs", "问 anthropic 吧", 10, []string{"问", "anthropic", "吧"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, l := range wrap(line{text(plain, tt.in)}, tt.n) {
				var b strings.Builder
				l.paint(&b, false)
				got = append(got, b.String())
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
