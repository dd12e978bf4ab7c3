package headless

import (
	"bytes"

	"pawl/agent"
)

// EndedAt reports whether a stream says that the agent finished.
func EndedAt(d agent.Dialect, raw []byte) bool {
	s := &stream{progress: func(string) {}, tell: func(string) {}, bind: func(string) {}}
	_ = s.read(bytes.NewReader(raw), 1<<30, func() {}, dialects[d], func() {})
	return s.ended && s.failure == ""
}
