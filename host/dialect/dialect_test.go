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

func dialects() []dialect.Dialect { return []dialect.Dialect{dialect.Anthropic(), dialect.OpenAI()} }

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
