package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"spillway/sdk/serve"
)

// isPlugin is for authors whose program does not behave as one.
const isPlugin = "(is it a plugin? its main calls serve.Main)"

// startFault says in our words why a process did not become a plugin. err is
// go-plugin's, and the process has ended.
func (in *instance) startFault(ctx context.Context, err error, b Binary, limit time.Duration, out *output) error {
	const not = "does not start as a plugin"
	p := in.process
	switch {
	case context.Cause(ctx) != nil:
		return fmt.Errorf("%s %s: %w", b.Source, not, context.Cause(ctx))
	case p == nil:
		return fmt.Errorf("%s %s: %w", b.Source, not, err)
	case p.cmd.Process == nil:
		return fmt.Errorf("%s %s: %w", b.Source, not, execFault(err, b))
	}
	line := p.shaken.Load()
	switch {
	case line != nil && refusal(*line) != "":
		return fmt.Errorf("%s %s", b.Source, refusal(*line))
	case line != nil:
		return fmt.Errorf("%s %s: %w%s", b.Source, not, err, out.lastWord())
	case p.ours():
		return fmt.Errorf("%s %s: said nothing of where it listens within %s %s%s", b.Source, not, limit, isPlugin, out.lastWord())
	}
	return fmt.Errorf("%s %s: ended with %s before it said where it listens %s%s", b.Source, not, p.exit(), isPlugin, out.lastWord())
}

// execFault is why the kernel did not run a copy.
func execFault(err error, b Binary) error {
	_, missing := os.Stat(b.Path)
	switch {
	case errors.Is(missing, fs.ErrNotExist):
		return fmt.Errorf("its copy %s is gone: start the host anew", b.Path)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("is no program for this machine (allowed: one for %s/%s, a script that begins with #!)", runtime.GOOS, runtime.GOARCH)
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("what its first line (#!) or its header names to run it with is not there")
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("its copy %s may not be run: is that filesystem mounted noexec? (%w)", b.Path, err)
	}
	return err
}

// describeFault is why a process did not say what it is. It has ended.
func (in *instance) describeFault(err error, b Binary, limit time.Duration, out *output) error {
	what := fmt.Sprintf("did not say what it is: %v", err)
	switch status.Code(err) {
	case codes.DeadlineExceeded:
		what = fmt.Sprintf("did not say within %s what it is", limit)
	case codes.Unimplemented:
		what = "is a plugin of another program: it does not know this one's protocol"
	case codes.ResourceExhausted:
		what = fmt.Sprintf("has too large a manifest (allowed: %d bytes)", serve.MaxFrame)
	case codes.Unavailable:
		what = fmt.Sprintf("ended with %s before it said what it is", in.process.exit())
		if in.process.ours() {
			what = fmt.Sprintf("cannot be reached where it listens: %v", err)
		}
	}
	return fmt.Errorf("%s %s%s", b.Source, what, out.lastWord())
}

// lastWord is what a process said last, as the end of a sentence.
func (o *output) lastWord() string {
	if w := o.word(); w != "" {
		return fmt.Sprintf("; its last line: %q", w)
	}
	return ""
}
