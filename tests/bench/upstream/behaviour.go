// Package upstream is the vendors of the benchmark: processes on loopback that
// speak Chat Completions, pace their streams, fail as told, and cost so little
// that a gateway in front of them is what is measured. The simulated vendors of
// host/sim check what they are asked and keep it, which costs more.
//
// A process serves several vendors (Serve) and is told by its standard input
// what they do; Control is the other end of that. It ends when its input does.
package upstream

import (
	"fmt"
	"slices"
	"time"
)

// Mode is what a vendor makes of a request.
type Mode string

const (
	OK     Mode = "ok"     // answers
	Status Mode = "status" // answers Behaviour.Status
	Refuse Mode = "refuse" // its port is closed
	Reset  Mode = "reset"  // resets the connection once it has read the request
	Hang   Mode = "hang"   // reads the request and says nothing
	Die    Mode = "die"    // breaks the connection after Behaviour.DieAfter chunks
)

var modes = []Mode{OK, Status, Refuse, Reset, Hang, Die}

// Behaviour is how a vendor behaves until it is told otherwise.
type Behaviour struct {
	Mode       Mode          // "" is OK
	Status     int           // of Mode Status: 400 to 599
	RetryAfter string        // of Mode Status: the header, if any
	Chunks     int           // of a stream
	Gap        time.Duration // between the chunks of a stream
	Bytes      int           // text of an answer that is not streamed
	DieAfter   int           // of Mode Die
}

func (b *Behaviour) check() error {
	if b.Mode == "" {
		b.Mode = OK
	}
	if !slices.Contains(modes, b.Mode) {
		return fmt.Errorf("mode %q (allowed: %v)", b.Mode, modes)
	}
	if b.Mode == Status && (b.Status < 400 || b.Status > 599) {
		return fmt.Errorf("status %d (allowed: 400 to 599)", b.Status)
	}
	return nil
}

// Seen is what a vendor has counted since it was last told how to behave.
type Seen struct {
	Requests int
	Finished int           // whole answers of Mode OK
	Arrival  time.Duration // median from a request's mark to its arrival here
	// Switches is, for each request that another vendor of the process turned away
	// first, the time from there to its arrival here; the first maxSwitches.
	Switches []time.Duration
}
