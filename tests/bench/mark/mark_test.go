package mark

import (
	"bytes"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	at := time.Unix(0, 1795998887123456789)
	for _, tt := range []struct {
		name, text string
		want       Mark
		rest       string
		ok         bool
	}{
		{"alone", "#a:3:1795998887123456789#", Mark{"a", 3, at}, "", true},
		{"in JSON", `{"content":"#b:0:1795998887123456789#word"}`, Mark{"b", 0, at}, `word"}`, true},
		{"after what looks like one", "#tag ##a:b:c##a:1:1795998887123456789#.", Mark{"a", 1, at}, ".", true},
		{"cut off", "#a:3:17959", Mark{}, "", false},
		{"no name", "#:3:1795998887123456789#", Mark{}, "", false},
		{"negative", "#a:-3:1795998887123456789#", Mark{}, "", false},
		{"too long a number", "#a:3:99999999999999999999#", Mark{}, "", false},
		{"beyond int64", "#a:3:9999999999999999999#", Mark{}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, rest, ok := Find([]byte(tt.text))
			if got.Name != tt.want.Name || got.Seq != tt.want.Seq || !got.At.Equal(tt.want.At) || string(rest) != tt.rest || ok != tt.ok {
				t.Errorf("got %v, rest %q, %v", got, rest, ok)
			}
		})
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("#a:3:1795998887123456789#"))
	f.Add([]byte(`data: {"choices":[{"delta":{"content":"##a:0:1#"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, rest, ok := Find(data)
		if !ok {
			return
		}
		if !bytes.HasSuffix(data, rest) || len(rest) == len(data) {
			t.Fatalf("rest %q of %q", rest, data)
		}
		again, _, ok := Find(m.Append(nil))
		if !ok || again.Name != m.Name || again.Seq != m.Seq || !again.At.Equal(m.At) {
			t.Errorf("%v became %v", m, again)
		}
	})
}

// Each chunk of a stream is looked at, while what is measured shares the machine.
func TestFindDoesNotAllocate(t *testing.T) {
	chunk := Mark{"a", 3, time.Now()}.Append([]byte("data: "))
	if n := testing.AllocsPerRun(10, func() { Find(chunk) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
