package dialect

import "spillway/sdk"

// decoding is what the decoders have in common: where the answer stands.
type decoding struct {
	blocks  blocks
	started bool
	finish  sdk.Finish // as announced
	ended   bool       // the finish event is out
}

// start takes the first that is known of the answer.
func (d *decoding) start(id, model string, emit emitFunc) {
	if d.started {
		return
	}
	d.started = true
	emit(sdk.Event{Kind: sdk.KindStart, ID: id, Model: model})
}

// announce takes how the answer ends. Usage and the terminal may follow.
func (d *decoding) announce(f sdk.Finish, emit emitFunc) {
	d.blocks.end(emit)
	d.finish = f
}

// terminal takes the vendor's last word. Where it had announced no finish, the
// answer has stopped.
func (d *decoding) terminal(emit emitFunc) {
	if d.finish == "" {
		d.finish = sdk.FinishStop
	}
	d.Close(emit)
}

func (d *decoding) Close(emit func(sdk.Event)) (complete bool) {
	if d.ended {
		return true
	}
	d.blocks.end(emit)
	if d.finish == "" || d.blocks.broken {
		return false
	}
	d.ended = true
	emit(sdk.Event{Kind: sdk.KindFinish, Finish: d.finish})
	return true
}
