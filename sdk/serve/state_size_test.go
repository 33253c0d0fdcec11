package serve_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"spillway/sdk"
	"spillway/sdk/plugintest"
	"spillway/sdk/serve"
)

// TestListOfMoreThanAFrame: a list that no frame holds is refused at once, and
// the store serves on.
func TestListOfMoreThanAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var host sdk.Host
		plugintest.Start(t, &statePlugin{host: &host}, plugintest.Options{})
		st := host.State()
		value := make([]byte, sdk.MaxStateValue)
		for i := range serve.MaxFrame/len(value) + 1 {
			if _, err := st.Put(t.Context(), fmt.Sprintf("many/%03d", i), value, 0); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if items, err := st.List(t.Context(), "many/"); !errors.Is(err, sdk.ErrTooLarge) {
			t.Errorf("all: got %d items, %v, want ErrTooLarge", len(items), err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("took %s", took)
		}
		if items, err := st.List(t.Context(), "many/01"); len(items) != 10 || err != nil {
			t.Errorf("ten of them: got %d items, %v", len(items), err)
		}
	})
}
