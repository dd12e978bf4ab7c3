package term

import (
	"context"
	"io"
)

// Interruptible returns a reader of in that fails when ctx ends. A read of a terminal or a pipe would otherwise outlast
// Ctrl-C and SIGTERM.
func Interruptible(ctx context.Context, in io.Reader) io.Reader { return interruptible{ctx, in} }

type interruptible struct {
	ctx context.Context
	in  io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	own := make([]byte, len(p)) // p is the caller's again when ctx ends
	var n int
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		n, err = i.in.Read(own)
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case <-done:
		return copy(p, own[:n]), err
	}
}
