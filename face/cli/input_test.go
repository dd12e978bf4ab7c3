package cli

import (
	"context"
	"errors"
	"io"
	"testing"

	"pawl/face/cli/term"
)

// TestInputEndsWithTheCommand: whoever waits for the standard input obeys Ctrl-C and SIGTERM.
func TestInputEndsWithTheCommand(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	ctx, stop := context.WithCancel(t.Context())
	a, over := &App{stdin: term.Interruptible(ctx, in)}, make(chan error)
	go func() {
		_, err := a.ReadInput("-", 100)
		over <- err
	}()
	if _, err := out.Write([]byte("a part")); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
