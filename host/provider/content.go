package provider

import (
	"time"

	"spillway/sdk"
)

// contentLimit is how long a vendor may take to the first visible content of r, or
// to the whole answer if it is not streamed, where no listener has said so. A call
// without a plugin waits no longer than one that the failover plugin has sent with
// its interactive budget: for what a busy vendor needs to read the prompt, and for
// 20 tokens a second of an answer that comes in one piece.
func contentLimit(r *sdk.Request) time.Duration {
	l, longest := sdk.ContentLimit{Base: 10 * time.Second, PerPrompt: 2 * time.Second / 8000}, 2*time.Minute
	if r.Shape.Reasoning {
		l.Base, l.PerPrompt = 4*l.Base, 4*l.PerPrompt
	}
	if !r.Stream {
		l.PerOutput, l.Assumed, l.Least, longest = time.Second/20, 4096, time.Minute, 10*time.Minute
	}
	d, ok := l.For(r)
	if !ok {
		return longest
	}
	return min(d, longest)
}
