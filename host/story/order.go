package story

import (
	"fmt"

	"spillway/sdk"
)

// orderWords say what holds once an order is taken; each takes the target.
type orderWords struct {
	clear, enable, disable, pin, drain string
	until                              string // moment; stands behind one of them
}

// Ordered is one line, without its end, about what holds now that a person's order
// is taken.
func Ordered(order sdk.Order, o Options) string {
	w := &o.words().ordered
	form := map[sdk.Verb]string{
		sdk.VerbClear: w.clear, sdk.VerbEnable: w.enable, sdk.VerbDisable: w.disable, sdk.VerbPin: w.pin, sdk.VerbDrain: w.drain,
	}[order.Verb]
	if form == "" {
		form = string(order.Verb) + ": %s"
	}
	says := fmt.Sprintf(form, safe(order.Target))
	if !order.Until.IsZero() {
		says += fmt.Sprintf(w.until, o.clock().moment(order.Until))
	}
	return says
}
