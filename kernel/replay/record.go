package replay

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"sync"

	"pawl"
	"pawl/kernel"
	"pawl/text/secret"
)

// Recorder writes the decisions that it is told of, one line each and each with one call of Write. It is safe for
// concurrent use.
type Recorder struct {
	mu     sync.Mutex
	w      io.Writer
	redact func(string) string
	seen   map[string]bool // digests of documents that were written
	clear  map[string]bool // see writer
	err    error
}

// NewRecorder returns a recorder that writes to w. Redact takes the secrets out of a text and must leave what it
// returns as it is; nil stands for a secret.Redactor that knows none.
func NewRecorder(w io.Writer, redact func(string) string) *Recorder {
	if redact == nil {
		redact = (*secret.Redactor)(nil).Text
	}
	return &Recorder{w: w, redact: redact, seen: map[string]bool{}, clear: map[string]bool{}}
}

// Record writes one decision. It fits kernel.Kernel.OnDecide. Nothing is written any more after a failure, which Err
// tells of: a decision that is committed cannot be made to fail for its recording.
func (r *Recorder) Record(d kernel.Decided) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	raw, err := r.encode(&d)
	if err == nil {
		_, err = r.w.Write(raw)
	}
	if err != nil {
		r.err = pawl.Fail(pawl.CodeIO, "replay.unwritten").Because(err).In("replay.Record")
	}
}

// Err is what kept a decision from being written, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// encode makes the line of a decision.
func (r *Recorder) encode(d *kernel.Decided) ([]byte, error) {
	w := &writer{redact: r.redact, clear: r.clear}
	l := line{
		Format: format, Log: d.Size, At: d.Now, Actor: d.Envelope.Actor, Key: w.text(d.Envelope.Key),
		Trace: w.text(d.Envelope.Trace), Claim: d.Envelope.Claim,
		Nonce: hex.EncodeToString(d.Envelope.Nonce[:]), Command: nameOf(d.Envelope.Command),
		Config: fingerprint(d.Snapshot.Config),
	}
	var err error
	if l.Args, err = w.clean(d.Envelope.Command); err != nil {
		return nil, err
	}
	if d.Envelope.Word != nil {
		if l.Word, err = w.clean(d.Envelope.Word); err != nil {
			return nil, err
		}
	}
	if l.Snapshot, err = w.snapshot(d.Snapshot); err != nil {
		return nil, err
	}
	if l.Decision, err = w.outlined(&d.Decision); err != nil {
		return nil, err
	}
	again, ok := r.again(&l, d.Snapshot.Config)
	l.Lost = !ok || again.stable() != l.Decision.stable()
	if !l.Lost {
		l.Altered = w.changed || again.digest() != l.Decision.digest()
		l.Decision = again
	}
	l.Digest = l.Decision.digest()
	_ = l.rows(func(in *row) error {
		if r.seen[in.Digest] {
			in.Doc = nil
		}
		r.seen[in.Digest] = true
		return nil
	})
	raw, err := encode(l)
	return append(raw, '\n'), err
}

// again decides a line as a replay of it would. It is not ok when there is no decision, or when texts that were put
// together from harmless ones look like a secret.
func (r *Recorder) again(l *line, config *kernel.Config) (outline, bool) {
	s, env, err := (&reader{docs: map[string]json.RawMessage{}}).decode(l, config)
	if err != nil {
		return outline{}, false
	}
	d, err := decide(s, env, l.At)
	if err != nil {
		return outline{}, false
	}
	w := &writer{redact: r.redact, clear: r.clear}
	out, err := w.outlined(&d)
	return out, err == nil && !w.changed
}
