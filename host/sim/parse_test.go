package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, text := range []string{
		"ok",
		"429 retry-after=2; ok",
		"500*3; ok",
		"503*60s; ok",
		"refuse",
		"refuse*30s; ok",
		"500; ok; repeat",
		`tool=Bash args='{"command":"echo hi; ls"}'`,
		`429 retry-after="Wed, 21 Oct 2026 07:28:00 GMT" header.retry-after-ms=1500`,
		"body=anthropic-010; error-event=end body=anthropic-027 reasoning=3 tokens=0",
		"slow=20s gap=5ms; stall=20 for=30s; wrong-content-type=text/html; longline=64KB",
		"model=kimi-k2 key=k_0123456789ab => 429; ok\nkey=k_0123456789ab => invalid-key\noffers=Bash => tool=Bash\nok",
	} {
		s, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(text, s.String()); diff != "" {
			t.Errorf("round trip of %q (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseEmpty(t *testing.T) {
	s, err := Parse(" \n ")
	if err != nil || s.String() != "ok" {
		t.Errorf("got %q, %v, want ok", s, err)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"ok; cutt=40", `step 2 "cutt=40": unknown step; want a status from 400 to 599 or one of ok, tool,`},
		{"cut=x", `step 1 "cut=x": "x": want 0 to 1000000 tokens or "end"`},
		{"cut", `step 1 "cut": cut= takes a number of tokens or "end"`},
		{"hang=3", "hang= takes nothing"},
		{"badjson=0", "want a number from 1"},
		{"drip=-1s", "want a duration like 500ms"},
		{"longline=9000MB", "want a size"},
		{"body=nobody-1", `no recorded body "nobody-1"`},
		{"ok*0", `"0" after *: want a number from 1 or a duration`},
		{"399", "unknown step"},
		{"600", "unknown step"},
		{"429 tokens=3", `option "tokens": 429 takes after, retry-after, header.NAME`},
		{"ok colour=red", `option "colour": ok takes tokens, reasoning, gap, tool, args, after`},
		{"ok fast", `"fast": want OPTION=VALUE`},
		{"ok tokens=1000001", "want a number from 0 to 1000000"},
		{"ok header.=x", `header ""`},
		{"refuse; ok", "want a time, like refuse*30s"},
		{"refuse*2; ok", "want a time, like refuse*30s"},
		{"refuse; repeat", "want a time, like refuse*30s"},
		{"refuse after=1s", "refuse takes none"},
		{"model=m => refuse", "a port refuses every request"},
		{"model=m ok", `want "=>"`},
		{"key=sk-secret => ok", "want model=NAME, key=FINGERPRINT or offers=TOOL"},
		{"model=m =>", "0 steps"},
		{`ok args='{`, "a quote is not closed"},
		{"tool args=5", `args "5": want a JSON object`},
		{"ok; \xff", "not UTF-8"},
		{strings.Repeat("ok;", maxSteps+1), "1001 steps"},
		{strings.Repeat(" ", maxScript+1), "at most 65536"},
	} {
		if _, err := Parse(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60q: got error %v, want one with %q", tt.text, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("429 retry-after=2; 500*3; ok; repeat")
	f.Add("model=m key=k_0123456789ab => tool args='{\"a\":\"b\"}'\nrefuse*2s; cut=40")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil {
			t.Fatalf("%q became %q: %v", text, s, err)
		}
		if s.String() != again.String() {
			t.Fatalf("%q became %q, then %q", text, s, again)
		}
	})
}

func TestPlayback(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	type asked struct {
		at               time.Duration
		model, key, tool string
		want             string
	}
	for _, tt := range []struct {
		name, script string
		requests     []asked
	}{
		{"the last step holds", "429; ok", []asked{{want: "429"}, {want: "ok"}, {want: "ok"}}},
		{"times", "500*2; ok", []asked{{want: "500*2"}, {want: "500*2"}, {want: "ok"}}},
		{"repeat", "429; ok; repeat", []asked{{want: "429"}, {want: "ok"}, {want: "429"}, {want: "ok"}}},
		{"time", "503*60s; ok", []asked{{want: "503*60s"}, {at: 59 * time.Second, want: "503*60s"}, {at: time.Minute, want: "ok"}}},
		{"time begins with the step", "429; 503*60s; ok", []asked{
			{at: time.Hour, want: "429"}, {at: time.Hour + 59*time.Second, want: "503*60s"}, {at: time.Hour + time.Minute, want: "ok"}}},
		{"several times over at once", "500*1s; 503*1s; ok", []asked{{at: 1500 * time.Millisecond, want: "503*1s"}, {at: 3 * time.Second, want: "ok"}}},
		{"a last step's time does not end", "ok; 503*1s", []asked{{want: "ok"}, {at: time.Hour, want: "503*1s"}}},
		{"rules have places of their own", "model=a => 429; ok\nkey=k_0123456789ab => auth\n500; overloaded", []asked{
			{model: "a", want: "429"}, {model: "b", want: "500"}, {model: "a", want: "ok"},
			{model: "b", key: "k_0123456789ab", want: "auth"}, {model: "b", want: "overloaded"}}},
		{"a tool on offer", "offers=Bash => 429; 500\nok", []asked{
			{tool: "Bash", want: "429"}, {tool: "Read", want: "ok"}, {want: "ok"}, {tool: "Bash", want: "500"}}},
		{"no rule", "model=a => 429", []asked{{model: "b", want: "ok"}}},
		{"nothing", "", []asked{{want: "ok"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.script)
			if err != nil {
				t.Fatal(err)
			}
			p := newPlayback(s, start)
			for i, r := range tt.requests {
				q := &request{Model: r.model, Tools: []tool{{Name: r.tool}}}
				if got := p.take(q, r.key, start.Add(r.at)).text; got != r.want {
					t.Errorf("request %d: got %q, want %q", i+1, got, r.want)
				}
			}
		})
	}
}

func TestRefusing(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		script string
		after  time.Duration
		want   bool
		until  time.Duration // 0 for no end
	}{
		{"ok", 0, false, 0},
		{"refuse", time.Hour, true, 0},
		{"refuse*30s; ok", time.Second, true, 30 * time.Second},
		{"refuse*30s; ok", 30 * time.Second, false, 0},
		{"refuse*30s", time.Hour, true, 0},
		{"ok*30s; refuse*30s; repeat", 31 * time.Second, true, time.Minute},
		{"model=a => ok\nrefuse", 0, true, 0},
	} {
		s, err := Parse(tt.script)
		if err != nil {
			t.Fatal(err)
		}
		got, until := newPlayback(s, start).refusing(start.Add(tt.after))
		var want time.Time
		if tt.until > 0 {
			want = start.Add(tt.until)
		}
		if got != tt.want || !until.Equal(want) {
			t.Errorf("%q after %v: got %v until %v, want %v until %v", tt.script, tt.after, got, until, tt.want, want)
		}
	}
}
