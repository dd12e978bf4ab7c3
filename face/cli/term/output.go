package term

import (
	"io"
	"sync"
)

// Output is a writer that remembers the first write that failed: most of what is printed is printed by functions that
// cannot do anything about that. It is safe for concurrent use.
type Output struct {
	to  io.Writer
	mu  sync.Mutex
	err error
}

// NewOutput returns an Output that writes to a writer.
func NewOutput(to io.Writer) *Output { return &Output{to: to} }

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// Err returns the error of the first write that failed, nil while none did.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
