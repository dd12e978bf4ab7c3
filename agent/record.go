package agent

import (
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// Recorder writes exchanges with models as lines of JSON. It is safe for concurrent use.
type Recorder[Exchange any] struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewRecorder returns a recorder that writes to w, a line at a time.
func NewRecorder[Exchange any](w io.Writer) *Recorder[Exchange] { return &Recorder[Exchange]{w: w} }

// Record writes an exchange. What cannot be written is told by Err: an exchange is not made to fail for its recording.
func (r *Recorder[Exchange]) Record(x Exchange) {
	raw, err := json.Marshal(x)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		_, err = r.w.Write(append(raw, '\n'))
	}
	r.err = errors.Join(r.err, err)
}

// Err is what kept exchanges from being written, or nil.
func (r *Recorder[Exchange]) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
