package agent

import (
	"encoding/json"
	"io"
	"sync"
)

// Recorder writes exchanges with models as lines of JSON. It is safe for concurrent use.
type Recorder[Exchange any] struct {
	mu sync.Mutex
	w  io.Writer
}

// NewRecorder returns a recorder that writes to w, a line at a time.
func NewRecorder[Exchange any](w io.Writer) *Recorder[Exchange] { return &Recorder[Exchange]{w: w} }

// Record writes an exchange. An exchange is not made to fail for its recording: what could not be written is the
// writer's to tell.
func (r *Recorder[Exchange]) Record(x Exchange) {
	raw, err := json.Marshal(x)
	if err != nil {
		return // it holds nothing that has no form in JSON
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.w.Write(append(raw, '\n')) // the writer tells of it
}
