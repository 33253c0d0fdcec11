package ledger

import (
	"bytes"
	"encoding/json"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKey(t *testing.T) {
	base := Action{Session: "s", Message: "m", Tool: "t", Input: json.RawMessage(`{"a": 1, "b": ["x"]}`)}
	key := base.Key()
	for name, c := range map[string]struct {
		change func(*Action)
		same   bool
	}{
		"order and space":  {func(a *Action) { a.Input = json.RawMessage("{\n\"b\":[ \"x\" ],\"a\":1 }") }, true},
		"form of a number": {func(a *Action) { a.Input = json.RawMessage(`{"a": 10e-1, "b": ["x"]}`) }, true},
		"form of a string": {func(a *Action) { a.Input = json.RawMessage(`{"\u0061": 1, "b": ["\u0078"]}`) }, true},
		"effect":           {func(a *Action) { a.Effect++ }, true},
		"session":          {func(a *Action) { a.Session = "s2" }, false},
		"message":          {func(a *Action) { a.Message = "m2" }, false},
		"tool":             {func(a *Action) { a.Tool = "t2" }, false},
		"ordinal":          {func(a *Action) { a.Ordinal = 1 }, false},
		"input":            {func(a *Action) { a.Input = json.RawMessage(`{"a": 1, "b": ["y"]}`) }, false},
		"no JSON":          {func(a *Action) { a.Input = json.RawMessage(`{"a": 1, "b": ["x"]}}`) }, false},
		"shifted":          {func(a *Action) { a.Session, a.Message = "sm", "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := base
			c.change(&a)
			if got := a.Key() == key; got != c.same {
				t.Errorf("same key: %v, want %v", got, c.same)
			}
		})
	}
	none, empty := base, base
	none.Input, empty.Input = nil, json.RawMessage("{ }")
	if none.Key() != empty.Key() {
		t.Error("no arguments and an empty object differ")
	}
}

func TestNumber(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "0.000e99999999999999999999": "0", "1": "1e0", "1.0": "1e0", "1e0": "1e0", "100": "1e2", "1E+2": "1e2",
		"-0.0120": "-12e-3", "9007199254740993": "9007199254740993e0", "1.5e-7": "15e-8",
		"1e00000000000000000000000005": "1e5", "1e1000000000000000": "text:1e1000000000000000",
	} {
		if got := number(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// FuzzCanonical: two texts have one form if and only if they are one value.
func FuzzCanonical(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a":1,"b":2}`, `{"b":2.0,"a":1e0}`},
		{`{"path":"a.go","old":"x\n","new":""}`, `{"new":"","old":"x\u000a","path":"a.go"}`},
		{`[9007199254740993]`, `[9007199254740992]`},
		{`{"a":[{},[],null,true,"1"]}`, `{"a":[{},[],null,true,1]}`},
		{`"é"`, `"\u00e9"`}, {`{"a":"]"}`, `{"a":["]"]}`}, {`0`, `-0.0e5`}, {``, `{}`}, {`{`, `{`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		va, oka := value(a)
		vb, okb := value(b)
		ca, cb := canonicalOrNil(a), canonicalOrNil(b)
		if oka != (ca != nil) || okb != (cb != nil) {
			t.Fatalf("%q is JSON: %v, has a form: %v; %q: %v, %v", a, oka, ca != nil, b, okb, cb != nil)
		}
		if !oka || !okb {
			return
		}
		if same := cmp.Equal(va, vb, cmp.Comparer(equalNumbers)); same != bytes.Equal(ca, cb) {
			t.Errorf("%q and %q: same value %v, forms %s and %s", a, b, same, ca, cb)
		}
	})
}

func value(raw []byte) (v any, ok bool) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return v, dec.Decode(&v) == nil && json.Valid(raw)
}

// equalNumbers compares as fractions, which have one form only. Exponents that
// would fill the memory are compared as texts, as the ledger does.
func equalNumbers(a, b json.Number) bool {
	x, okx := new(big.Rat).SetString(string(a))
	y, oky := new(big.Rat).SetString(string(b))
	if !okx || !oky {
		return a == b
	}
	return x.Cmp(y) == 0
}
