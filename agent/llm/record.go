package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
	"unicode/utf8"
)

// Exchange is a request and its answer as they went over the wire, without keys: one line of a recording. An answer
// that is no text is kept in Bytes.
type Exchange struct {
	Path       string          `json:"path"`
	Digest     string          `json:"digest"` // of path and request, without keys
	Request    json.RawMessage `json:"request"`
	Status     int             `json:"status"` // 0 where no answer came
	RetryAfter string          `json:"retry_after,omitempty"`
	Response   string          `json:"response,omitempty"`
	Bytes      []byte          `json:"bytes,omitempty"`
	// Error says why the answer is not whole, in technical words.
	Error    string        `json:"error,omitempty"`
	Duration time.Duration `json:"duration_ns"`
}

func digest(path string, request []byte) string {
	h := sha256.New()
	h.Write([]byte(path + "\n"))
	h.Write(request)
	return hex.EncodeToString(h.Sum(nil))
}

// record completes an exchange and hands it on.
func (c *Client) record(e Exchange, answer []byte, started time.Time, key string, failed error) {
	e.Duration = time.Since(started)
	e.Digest = digest(e.Path, e.Request)
	if failed != nil {
		e.Error = redact(failed.Error(), key)
	}
	body := redact(string(answer), key)
	if utf8.ValidString(body) {
		e.Response = body
	} else {
		e.Bytes = []byte(body)
	}
	c.Record(e)
}
