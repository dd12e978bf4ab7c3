package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
)

const (
	// maxLine bounds one message of an agent. The library behind takes a little more.
	maxLine = 8 << 20
	// maxUpdate bounds an update, which the library does not get: it can hold all that a command printed.
	maxUpdate = 32 << 20
	// maxOpen is how many requests of an agent may be unanswered at one time; the next one is read when one is
	// answered.
	maxOpen = 64
)

// errTooLong and errTooMuch say that an agent wrote too long a message, or too much altogether.
var (
	errTooLong = errors.New("a message is too long")
	errTooMuch = errors.New("too much output")
)

// tap stands between an agent and the protocol library. It bounds what the agent can make pawl hold, and it takes the
// updates of a session out of the stream: the library queues them and hangs up when the queue is full, while here the
// agent waits until each was seen.
type tap struct {
	limit  int64
	update func(params json.RawMessage)
	seen   func()
	open   chan struct{}
}

// header is what the tap needs to know of a message.
type header struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (h header) request() bool {
	return h.Method != "" && len(h.ID) > 0 && !bytes.Equal(h.ID, []byte("null"))
}

func (t *tap) copy(ctx context.Context, from io.Reader, to io.Writer) error {
	r := bufio.NewReaderSize(from, 64<<10)
	var total int64
	for {
		line, err := readLine(r)
		if total += int64(len(line)); total > t.limit {
			return errTooMuch
		}
		if err != nil {
			// What stands before the end without a newline is no message: it may be cut off anywhere.
			return err
		}
		t.seen()
		var h header
		if json.Unmarshal(line, &h) != nil {
			continue
		}
		switch {
		case h.Method == "session/update" && !h.request():
			t.update(h.Params)
			continue
		case h.request():
			select {
			case t.open <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
}

// readLine reads a line with its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxUpdate,
			len(line) > maxLine && !bytes.Contains(line[:1<<10], []byte(`"session/update"`)):
			return line, errTooLong
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		return line, err
	}
}

// answers is the way to the agent. It counts the answers to the agent's requests; the library writes one message at a
// time.
type answers struct {
	io.Writer
	open chan struct{}
}

func (a answers) Write(p []byte) (int, error) {
	var h header
	if json.Unmarshal(p, &h) == nil && h.Method == "" {
		select {
		case <-a.open:
		default:
		}
	}
	return a.Writer.Write(p)
}
