package clients

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"spillway/host/sim"
	"spillway/tests/internal/rig"
)

// notice checks that each SDK of a client program tells that a stream broke
// after its first content, and does not take what it got for the answer. SDKs
// do take a clean end for one.
func notice(t *testing.T, program ...string) {
	for sdk, all := range sdks {
		for _, dialects := range all {
			for _, script := range []string{"cut=6", "eof=6", "error-event=6"} {
				t.Run(fmt.Sprintf("%s SDK/%s answer/%s", sdk, dialects[0], script), func(t *testing.T) {
					t.Parallel()
					sims := rig.Vendors(t, sim.Vendor{Name: "anthropic", Script: script})
					rows, env := rig.Providers(sims, dialects...)
					server := rig.Serve(t, rows, env...)
					got, err := converse(t, slices.Concat(program, []string{server.URL, sdk}), []string{"stream"})
					if err == nil || got != nil {
						t.Errorf("the client understood %+v and met %v, want an error alone", got, err)
					}
					if err != nil && !strings.Contains(err.Error(), "spillway explain req_") {
						t.Errorf("the error does not name the request: %v", err)
					}
					if n := len(sims.Calls()); n != 1 {
						t.Errorf("%d calls, want 1", n)
					}
				})
			}
		}
	}
}
