package supervisor

import (
	"strings"
	"testing"
)

func TestHandshake(t *testing.T) {
	const wants = "build it anew with this version's sdk"
	tests := []struct {
		line  string
		is    bool
		wants string // in refusal, "" for none
	}{
		{"1|1|unix|/tmp/x|grpc|", true, ""},
		{"1|1|tcp|127.0.0.1:10000|grpc|MIIB|false", true, ""},
		{"2|1|unix|/tmp/x|grpc|", true, "speaks version 2 of go-plugin's protocol (allowed: 1); " + wants},
		{"1|9|unix|/tmp/x|grpc|", true, "speaks version 9 of the plugin protocol (allowed: 1); " + wants},
		{"1|1|unix|/tmp/x", true, `does not speak gRPC but "" (allowed: grpc)`},
		{"1|1|unix|/tmp/x|netrpc|", true, `does not speak gRPC but "netrpc|" (allowed: grpc)`},
		{"", false, ""},
		{"hello", false, ""},
		{"a|line|with|many|bars", false, ""},
		{"2024|05|a|table|row", false, ""},
		{"-1|1|unix|/tmp/x|grpc", false, ""},
		{"1|99999999999999999999|unix|/tmp/x|grpc", false, ""},
	}
	for _, tt := range tests {
		if got := isHandshake(tt.line); got != tt.is {
			t.Errorf("isHandshake(%q) is %t", tt.line, got)
		}
		if !tt.is {
			continue
		}
		if got := refusal(tt.line); got != tt.wants {
			t.Errorf("refusal(%q):\ngot  %q\nwant %q", tt.line, got, tt.wants)
		}
	}
}

// FuzzHandshake: whatever a stranger prints is told from a handshake, and a
// handshake is judged.
func FuzzHandshake(f *testing.F) {
	for _, seed := range []string{"1|1|unix|/tmp/x|grpc|", "1|9|tcp|h:1|netrpc", "||||", "hello", "1|1|unix|", "1|2|unix|\x00|grpc|MIIB|true"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if isHandshake(line) && refusal(line) == "" && !strings.HasPrefix(line, "1|1|") {
			t.Errorf("taken: %q", line)
		}
	})
}
