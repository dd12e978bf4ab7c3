package llm

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"pawl"
)

// Exchange is a request and its answer as they went over the wire, without keys: one line of a recording. An answer that is
// no text is kept in Bytes.
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

// Recorder writes exchanges as lines of JSON. It is safe for concurrent use.
type Recorder struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewRecorder returns a recorder that writes to w.
func NewRecorder(w io.Writer) *Recorder { return &Recorder{w: w} }

// Record writes one exchange. It fits Client.Record.
func (r *Recorder) Record(e Exchange) {
	raw, err := json.Marshal(e)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.err == nil {
		_, err = r.w.Write(append(raw, '\n'))
	}
	r.err = errors.Join(r.err, err)
}

// Err is what kept an exchange from being written, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Replay is a transport that answers from a recording, without network. Each recorded exchange answers one request: the first
// one that was recorded for exactly this request and is not used up. A request that was not recorded is an error that says
// where it differs. It is safe for concurrent use.
type Replay struct {
	mu   sync.Mutex
	left []Exchange
	used int
}

// NewReplay reads a recording. A malformed line is CodeInvalid.
func NewReplay(r io.Reader) (*Replay, error) {
	out := &Replay{}
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		raw, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, pawl.Fail(pawl.CodeIO, "llm.recording", strconv.Itoa(n)).Because(err).In("llm.NewReplay")
		}
		if len(bytes.TrimSpace(raw)) > 0 {
			var e Exchange
			if bad := json.Unmarshal(raw, &e); bad != nil {
				return nil, pawl.Fail(pawl.CodeInvalid, "llm.recording", strconv.Itoa(n)).Because(bad).In("llm.NewReplay")
			}
			out.left = append(out.left, e)
		}
		if err != nil {
			return out, nil
		}
	}
}

// Left is how many recorded exchanges were not asked for.
func (r *Replay) Left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.left)
}

// RoundTrip answers a request.
func (r *Replay) RoundTrip(req *http.Request) (*http.Response, error) {
	body := []byte(nil)
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	for _, h := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		body = []byte(redact(string(body), strings.TrimPrefix(req.Header.Get(h), "Bearer ")))
	}
	e, err := r.find(req.URL.RequestURI(), body)
	if err != nil {
		return nil, err
	}
	if e.Status == 0 {
		return nil, errors.New("recorded: " + e.Error)
	}
	answer := e.Bytes
	if answer == nil {
		answer = []byte(e.Response)
	}
	resp := &http.Response{StatusCode: e.Status, Status: strconv.Itoa(e.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: -1}
	if e.RetryAfter != "" {
		resp.Header.Set("Retry-After", e.RetryAfter)
	}
	return resp, nil
}

// find takes the exchange that answers a request. The path of a base address may stand before the recorded one.
func (r *Replay) find(uri string, body []byte) (Exchange, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.left, func(e Exchange) bool { return strings.HasSuffix(uri, e.Path) && e.Digest == digest(e.Path, body) })
	if i >= 0 {
		e := r.left[i]
		r.left = slices.Delete(r.left, i, i+1)
		r.used++
		return e, nil
	}
	if len(r.left) == 0 {
		return Exchange{}, pawl.Fail(pawl.CodeInvalid, "llm.replay_end", strconv.Itoa(r.used)).In("llm.Replay")
	}
	next := r.left[0]
	where := "path " + next.Path + " ≠ " + uri
	if strings.HasSuffix(uri, next.Path) {
		where = difference(next.Request, body)
	}
	return Exchange{}, pawl.Fail(pawl.CodeInvalid, "llm.replay_differs", strconv.Itoa(r.used+1), where).In("llm.Replay")
}

// difference says where two JSON documents begin to differ.
func difference(recorded, asked []byte) string {
	var a, b any
	if json.Unmarshal(recorded, &a) != nil || json.Unmarshal(asked, &b) != nil {
		return "$"
	}
	if where := differ("$", a, b); where != "" {
		return where
	}
	return "$ (spelling)"
}

func differ(path string, a, b any) string {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			keys := []string{}
			for k := range x {
				keys = append(keys, k)
			}
			for k := range y {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for _, k := range slices.Compact(keys) {
				if where := differ(path+"."+k, x[k], y[k]); where != "" {
					return where
				}
			}
			return ""
		}
	case []any:
		if y, ok := b.([]any); ok {
			for i := range min(len(x), len(y)) {
				if where := differ(path+"["+strconv.Itoa(i)+"]", x[i], y[i]); where != "" {
					return where
				}
			}
			if len(x) != len(y) {
				return fmt.Sprintf("%s: %d ≠ %d", path, len(x), len(y))
			}
			return ""
		}
	}
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return fmt.Sprintf("%s: %.60q ≠ %.60q", path, fmt.Sprint(a), fmt.Sprint(b))
}
