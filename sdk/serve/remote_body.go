package serve

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// bodyTimeout is how long a prompt may take to cross: 64 MB take 0.15 s.
const bodyTimeout = 5 * time.Second

// crossing is the context of a stream to the process, which ends with ctx. The
// deadline of ctx stays here: a process that were told of it would end the stream
// by its own clock, perhaps before the host's own has run, and read as lost.
func crossing(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	return out, func() { stop(); cancel() }
}

// bodyStream opens a stream for a prompt, which ends by itself when the process
// takes no part.
func (s *Session) bodyStream(ctx context.Context) (grpc.BidiStreamingClient[wirepb.BodyPart, wirepb.BodyPart], context.CancelFunc, error) {
	ctx, left := crossing(ctx)
	ctx, late := context.WithTimeout(ctx, bodyTimeout)
	end := func() { late(); left() }
	stream, err := s.client.Body(ctx)
	if err != nil {
		end()
		return nil, nil, err
	}
	return stream, end, nil
}

// gone reports whether a transfer failed because the process is lost or does
// not take part, and ends the session then.
func (s *Session) gone(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded:
		s.Abandon(err)
		return true
	}
	return false
}

// sendBody sends the call's prompt, asked for by NeedBody.
func (a *ask) sendBody(ctx context.Context, s *Session, t *hostTurn) error {
	p, err := a.call.Prompt(ctx)
	if err != nil {
		return err
	}
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	body, end, err := s.bodyStream(ctx)
	if err != nil {
		return err
	}
	defer end()
	// A failed Send says only that there is an error; receiving tells which.
	err = body.Send(&wirepb.BodyPart{Call: t.id})
	if err == nil {
		err = sendBody(b, func(p []byte) error { return body.Send(&wirepb.BodyPart{Data: p}) })
	}
	if err == nil {
		err = body.CloseSend()
	}
	if _, rerr := receiveBody(nil, body.Recv); rerr != nil {
		return rerr
	}
	return err
}

// fetchBody gets the changed prompt of an attempt.
func (a *ask) fetchBody(ctx context.Context, s *Session, t *hostTurn, attempt uint32) (*sdk.Prompt, error) {
	body, end, err := s.bodyStream(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	_ = body.Send(&wirepb.BodyPart{Call: t.id, Attempt: attempt}) // receiving tells what is wrong
	b, err := receiveBody(nil, body.Recv)
	if err != nil {
		return nil, err
	}
	p := new(sdk.Prompt)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, errors.New("changed prompt: not the JSON of a prompt")
	}
	return p, nil
}
