package sim

import "time"

// stream sends a streamed answer, with the step's fault at its place.
func (x *exchange) stream(a *answer) error {
	s := x.step
	if err := x.start(eventStream); err != nil {
		return err
	}
	sent, events := 0, 0
	pending := true // the fault is still to come
	for f := range x.format.frames(a) {
		content := f.kind == frameDelta
		if pending && (content && sent == s.at || f.kind == frameFinish) {
			pending = false
			if ended, err := x.fault(a, events); ended {
				return err
			}
		}
		if err := wait(x.ctx, x.pauseBefore(f.kind, sent)); err != nil {
			return err
		}
		if content {
			sent++
		}
		if x.leftOut(f.kind) {
			continue
		}
		if events++; s.name == "badjson" && events == s.at {
			if err := x.write(x.format.brokenFrame()); err != nil {
				return err
			}
		}
		if err := x.write(f.data); err != nil {
			return err
		}
	}
	if s.name == "nodone" && s.hold != forever {
		return wait(x.ctx, s.hold)
	}
	return nil
}

// fault plays what the step does at its place in the answer, after so many
// events. It reports whether the answer ends there.
func (x *exchange) fault(a *answer, events int) (ended bool, err error) {
	s := x.step
	switch s.name {
	case "cut":
		return true, errBreak
	case "eof":
		return true, nil
	case "stall":
		if err := wait(x.ctx, s.hold); err != nil {
			return true, err
		}
		return true, errBreak
	case "pause":
		err := wait(x.ctx, s.hold)
		return err != nil, err
	case "error-event":
		return true, x.write(x.format.errorFrame(a, events, x.eventBody()))
	case "goaway", "tls-cut":
		if err := x.settle(); err != nil {
			return true, err
		}
		if s.name == "goaway" {
			return true, x.goAway()
		}
		return true, x.drop()
	case "longline":
		err := x.longLine(`data: "`, "\"\n\n", s.size)
		return err != nil, err
	}
	return false, nil
}

// eventBody is the error inside an answer of status 200.
func (x *exchange) eventBody() string {
	rec := x.step.record
	if rec == nil {
		rec = pick("error-event", x.vendor.like(), x.format.name())
	}
	return rec.payload()
}

// pauseBefore is how long to wait before an event of that kind, when so many
// tokens are out.
func (x *exchange) pauseBefore(kind frameKind, sent int) time.Duration {
	switch {
	case x.step.name == "slow" && sent == 0 && (kind == frameDelta || kind == frameFinish):
		return x.step.wait
	case kind == frameDelta && sent > 0:
		return x.gap()
	}
	return 0
}

func (x *exchange) gap() time.Duration {
	if x.step.gap != unset {
		return x.step.gap
	}
	return x.vendor.Answer.Gap
}

// leftOut reports whether the step leaves out events of that kind.
func (x *exchange) leftOut(kind frameKind) bool {
	switch x.step.name {
	case "nodone":
		return kind == frameLast
	case "nofinish":
		return kind == frameFinish
	}
	return false
}
