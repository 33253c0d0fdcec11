package dialect

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// The walker reads what encoding/json reads, and ends on everything else.
func FuzzWalker(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[true,null,"x\\\""],"c":{"d":"}"},"e\u0066":-1.5e3}`))
	f.Add([]byte(` [ 1 , "]" , [ ] , { } ] `))
	f.Add([]byte(`{"a" "b":`))
	f.Add([]byte(`{"\`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var keys []string
		vals := map[string]json.RawMessage{}
		for w := walk(b); w.member(); {
			keys = append(keys, string(w.key))
			vals[string(w.key)] = w.val
		}
		var elems []json.RawMessage
		for w := walk(b); w.element(); {
			elems = append(elems, w.val)
		}
		if !valid(b) || !utf8.Valid(b) {
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(b, &object); err == nil && object != nil {
			for key, val := range object {
				if got := vals[key]; !bytes.Equal(got, val) {
					t.Errorf("%q: got %s, want %s", key, got, val)
				}
			}
			if len(vals) != len(object) {
				t.Errorf("got keys %q", keys)
			}
		}
		var list []json.RawMessage
		if err := json.Unmarshal(b, &list); err == nil && list != nil {
			if len(list) != len(elems) {
				t.Fatalf("got %d elements, want %d", len(elems), len(list))
			}
			for i := range list {
				if !bytes.Equal(list[i], elems[i]) {
					t.Errorf("element %d: got %s, want %s", i, elems[i], list[i])
				}
			}
		}
	})
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"b\\c\n\x00\x1f é😀\xff\u2028</script>")
	f.Fuzz(func(t *testing.T, s string) {
		raw := appendString(nil, s)
		var got string
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		var want strings.Builder // byte by byte, as ToValidUTF8 would join the bad ones
		for _, r := range s {
			want.WriteRune(r)
		}
		if got != want.String() || unquote(raw) != got {
			t.Errorf("got %q and %q, want %q", got, unquote(raw), want.String())
		}
	})
}

func TestCount(t *testing.T) {
	for raw, want := range map[string]int{
		"0": 0, "7": 7, "123456": 123456, "1e3": 1000, "7.9": 7, "-3": 0, "-0.5": 0, "null": 0, `"5"`: 0, "": 0,
		"99999999999999999999999": maxCount, "1e400": 0, "1000000001": maxCount,
	} {
		if got := count([]byte(raw)); got != want {
			t.Errorf("%s: got %d, want %d", raw, got, want)
		}
	}
}
