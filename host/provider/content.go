package provider

import (
	"time"

	"spillway/sdk"
)

// contentLimit is how long a vendor may take to the first visible content of r, or
// to the whole answer if it is not streamed, where no listener has said so. Nobody
// stands in for it then, so it gets all the time of the failover plugin's
// interactive budget: a model on this machine may have to be loaded first. An answer
// that comes in one piece has 20 tokens a second besides.
func contentLimit(r *sdk.Request) time.Duration {
	l, longest := sdk.ContentLimit{Base: 2 * time.Minute}, 10*time.Minute
	if !r.Stream {
		l.PerOutput, l.Assumed = time.Second/20, 4096
	}
	d, ok := l.For(r)
	if !ok {
		return longest
	}
	return min(d, longest)
}
