package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"pawl/face/host"
)

// audience tells whether somebody still reads the standard output. A reader that goes away, as head does after its
// lines, would otherwise end pawl by a signal in the middle of its work, and everything that the work has to clear away
// would stay.
type audience struct{ gone atomic.Bool }

// attend hands a command's output through, and returns a context that ends when a line of it finds no reader.
func (a *audience) attend(ctx context.Context, s *host.Streams) (context.Context, context.CancelFunc) {
	ctx, leave := context.WithCancel(ctx)
	// The signal of a broken pipe is taken, so that the write fails instead; which write it was, the signal does not
	// tell.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	s.Out, s.Err = answers{a, s.Out, leave}, remarks{a, s.Err}
	return ctx, leave
}

// status is the exit status of a command that ended with code: that of a process that the signal ended where nobody
// reads.
func (a *audience) status(code int) int {
	if a.gone.Load() {
		return 128 + int(syscall.SIGPIPE)
	}
	return code
}

// answers is the standard output.
type answers struct {
	*audience
	to    io.Writer
	leave context.CancelFunc
}

// Write implements io.Writer.
func (t answers) Write(p []byte) (int, error) {
	n, err := t.to.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		t.gone.Store(true)
		t.leave()
	}
	return n, err
}

// remarks is the standard error. A pipeline whose reader had enough has not failed, so nothing is remarked any more
// then.
type remarks struct {
	*audience
	to io.Writer
}

// Write implements io.Writer.
func (r remarks) Write(p []byte) (int, error) {
	if r.gone.Load() {
		return len(p), nil
	}
	return r.to.Write(p)
}
