package dialect_test

import (
	"os"
	"testing"

	"spillway/host/dialect"
)

func testdata(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func dialects() []dialect.Dialect {
	return []dialect.Dialect{dialect.Anthropic(), dialect.OpenAI(), dialect.Responses()}
}

// pairs are the ways from each dialect to each other.
func pairs() [][2]dialect.Dialect {
	var all [][2]dialect.Dialect
	for _, from := range dialects() {
		for _, to := range dialects() {
			if from != to {
				all = append(all, [2]dialect.Dialect{from, to})
			}
		}
	}
	return all
}

func TestByName(t *testing.T) {
	for _, want := range dialects() {
		if got, ok := dialect.ByName(want.Name()); !ok || got != want {
			t.Errorf("%s: got %v, %v", want.Name(), got, ok)
		}
	}
	if got, ok := dialect.ByName("telegraph"); ok {
		t.Errorf("got %v", got)
	}
}
