package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"pawl"
	"pawl/agent/wire"
)

// Limits of one exchange.
const (
	maxReply   = 16 << 20 // bytes of one answer
	maxProblem = 4 << 10  // bytes of an error's body that are kept
	idleLimit  = 90 * time.Second
	firstByte  = 5 * time.Minute
	drainTime  = 100 * time.Millisecond
	pieceSize  = 16 << 10 // bytes of an answer that are read at one time
)

// Client reaches a provider's endpoint. It is safe for concurrent use.
type Client struct {
	// URL is the base of the endpoint, without a slash at its end.
	URL string
	// Key returns the key; it is asked before each exchange and never kept. An empty key sends none.
	Key func() (string, error)
	// HTTP carries requests; it knows proxies and certificates. Required. Redirections are not followed, because they
	// would carry the key and the conversation elsewhere.
	HTTP http.RoundTripper
	// Record is told of each exchange, without keys; it may be nil.
	Record func(Exchange)
	// Idle is how long a stream may be silent, 90 s unless set, and First how long it may take to begin, 5 minutes
	// unless set.
	Idle, First time.Duration
}

// exchange sends a body once, in a form, and hands the data of the events of the answer to handle, which reports with
// true that the terminal event has come. What ends before it is an error. No error and no record holds the key.
func (c *Client) exchange(
	ctx context.Context, form wire.Form, model string, body any, got *gathered, handle func([]byte) (bool, error),
) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return pawl.Fail(pawl.CodeInternal, "llm.request").Because(err).In("llm.Stream")
	}
	key := ""
	if c.Key != nil {
		if key, err = c.Key(); err != nil {
			return err
		}
	}
	return scrub(c.try(ctx, form, form.StreamPath(model), raw, key, got, handle), key)
}

func (c *Client) try(
	ctx context.Context, form wire.Form, path string, body []byte, key string, got *gathered, handle func([]byte) (bool,
		error),
) (failed error) {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	req, err := http.NewRequestWithContext(work, http.MethodPost, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return pawl.Fail(pawl.CodeInvalid, "llm.endpoint", c.URL).Because(err).In("llm.Stream")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	authorize(req.Header, form.Provider(), key)
	seen, answer := Exchange{Path: path}, bytes.Buffer{}
	if c.Record != nil {
		started := time.Now()
		seen.Request = redactJSON(body, key)
		defer func() { c.record(seen, answer.Bytes(), started, key, failed) }()
	}
	watch := newWatch(stop, or(c.First, firstByte))
	defer watch.end()
	resp, err := c.send(req)
	if err != nil {
		return c.broken(ctx, work, err)
	}
	defer resp.Body.Close()
	seen.Status, seen.RetryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
	kept := &limited{r: resp.Body, watch: watch, idle: or(c.Idle, idleLimit), most: maxReply}
	if c.Record != nil {
		kept.seen = &answer
	}
	if resp.StatusCode != http.StatusOK {
		return c.refused(ctx, resp, kept, key)
	}
	got.begun = true
	if err := c.read(ctx, work, kept, handle); err != nil {
		return err
	}
	// The end of the body stands behind the terminal event; the connection can be used again once it was read.
	watch.reset(drainTime)
	_, _ = io.CopyN(io.Discard, kept, 4<<10)
	return nil
}

// authorize shows the key, where there is one.
func authorize(h http.Header, to wire.Provider, key string) {
	if key == "" {
		return
	}
	for name, value := range to.Headers(key) {
		h.Set(name, value)
	}
}

func (c *Client) send(req *http.Request) (*http.Response, error) {
	plain := &http.Client{Transport: c.HTTP,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return plain.Do(req)
}

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// read hands on the events until the terminal one. Whatever ends before it is cut off.
func (c *Client) read(ctx, work context.Context, body io.Reader, handle func([]byte) (bool, error)) error {
	done, failed := false, error(nil)
	events := wire.Events{Take: func(data []byte) bool {
		done, failed = handle(data)
		return done || failed != nil
	}}
	piece := make([]byte, pieceSize)
	for {
		n, err := body.Read(piece)
		events.Feed(piece[:n])
		switch {
		case done || failed != nil:
			return failed
		case errors.Is(err, errTooLong):
			return pawl.Fail(pawl.CodeModel, "llm.too_much", strconv.Itoa(maxReply>>20)).In("llm.Stream")
		case errors.Is(err, io.EOF):
			return c.broken(ctx, work, io.ErrUnexpectedEOF)
		case err != nil:
			return c.broken(ctx, work, err)
		}
	}
}

// Models asks the endpoint which models it has. It is for explanations: what it cannot find out it leaves out.
func (c *Client) Models(ctx context.Context, of wire.Provider) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+of.ModelsPath(), nil)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "llm.endpoint", c.URL).Because(err).In("llm.Models")
	}
	key := ""
	if c.Key != nil {
		if key, err = c.Key(); err != nil {
			return nil, err
		}
	}
	authorize(req.Header, of, key)
	resp, err := c.send(req)
	if err != nil {
		return nil, scrub(c.broken(ctx, ctx, err), key)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, scrub(c.refused(ctx, resp, resp.Body, key), key)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(&list); err != nil {
		return nil, scrub(malformed(err), key)
	}
	var out []string
	for _, m := range list.Data {
		out = append(out, m.ID)
	}
	for _, m := range list.Models {
		if len(list.Data) == 0 {
			out = append(out, wire.BareModel(m.Name))
		}
	}
	return out, nil
}

var errSilent = errors.New("nothing came in time")

// watch ends an exchange in which nothing comes for too long.
type watch struct{ timer *time.Timer }

func newWatch(stop context.CancelCauseFunc, d time.Duration) *watch {
	return &watch{timer: time.AfterFunc(d, func() { stop(errSilent) })}
}

func (w *watch) reset(d time.Duration) { w.timer.Reset(d) }
func (w *watch) end()                  { w.timer.Stop() }

var errTooLong = errors.New("the answer is too long")

// limited reads a body of bounded size, resetting the watch with each piece, and keeps what was read where it is
// recorded.
type limited struct {
	r     io.Reader
	watch *watch
	idle  time.Duration
	n     int64
	most  int64
	seen  *bytes.Buffer
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if n == 0 {
		return n, err
	}
	l.watch.reset(l.idle)
	if l.n += int64(n); l.n > l.most {
		return 0, errTooLong
	}
	if l.seen != nil {
		l.seen.Write(p[:n])
	}
	return n, err
}
