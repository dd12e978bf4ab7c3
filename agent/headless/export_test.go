package headless

import (
	"bytes"
	"context"

	"pawl/agent"
	"pawl/text/message"
)

// EndedAt reports whether a stream says that the agent finished.
func EndedAt(d agent.Dialect, raw []byte) bool {
	s := &stream{shown: agent.NewTranscript(context.Background(), nil, nil, message.English.Text), bind: func(string) {}}
	_ = s.read(bytes.NewReader(raw), 1<<30, func() {}, dialects[d], func() {})
	return s.ended && s.failure == ""
}
