package record

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"spillway/sdk"
)

// fill gives every field below v a value with the given chance. A field that is
// added and not written would be found here.
func fill(v reflect.Value, r *rand.Rand, chance float64) {
	if r.Float64() > chance {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.UnixMicro(r.Int64N(1 << 50)).UTC()))
			return
		}
		for _, field := range v.Fields() {
			fill(field, r, chance)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+r.IntN(2), 3))
		for i := range v.Len() {
			fill(v.Index(i), r, chance)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), r, chance)
	case reflect.String:
		v.SetString([]string{"plain/text-1", "a \"quoted\" one", "<&>", "ü\x00\n", "\xff"}[r.IntN(5)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64N(1<<40) - 1<<39)
	case reflect.Uint64:
		v.SetUint(r.Uint64())
	default:
		panic(fmt.Sprint("no value for ", v.Type()))
	}
}

// TestAppend: Append writes what package json does, whatever a record holds.
func TestAppend(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	records := []Request{{}, sample(), {Attempts: []Attempt{}}}
	for i := range 300 {
		var rec Request
		fill(reflect.ValueOf(&rec).Elem(), r, 1)
		for range i % 3 {
			plain := Attempt{}
			fill(reflect.ValueOf(&plain).Elem(), r, 0.8)
			plain.Failure, plain.Action, plain.Why, plain.DecidedBy = Failure{}, "", "", ""
			plain.JudgedCode, plain.JudgedClass, plain.JudgedScope, plain.Next = "", "", "", nil
			plain.Circuits, plain.Passed, plain.NextDelay, plain.Left = nil, nil, 0, 0
			rec.Attempts = append(rec.Attempts, plain)
		}
		records = append(records, rec)
		fill(reflect.ValueOf(&rec).Elem(), r, 0.7)
		records = append(records, rec)
	}
	for _, rec := range records {
		want, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Append(nil, &rec)
		if err != nil || string(got) != string(want) {
			t.Fatalf("got %s, %v\nwant %s", got, err, want)
		}
	}
	if _, err := Append(nil, &Request{Started: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("a time that JSON cannot carry is written")
	}
}

// TestAppendAllocates: the record of a call that went well is written without an
// allocation.
func TestAppendAllocates(t *testing.T) {
	rec := sample()
	rec.Attempts = rec.Attempts[1:]
	buf := make([]byte, 0, 1<<10)
	if n := testing.AllocsPerRun(100, func() { buf, _ = Append(buf[:0], &rec) }); n > 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	rec := sample()
	rec.Attempts = rec.Attempts[1:]
	rec.Shape = sdk.Shape{PromptTokens: 256, Messages: 1}
	var buf []byte
	for b.Loop() {
		buf, _ = Append(buf[:0], &rec)
	}
}
