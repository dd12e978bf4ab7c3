package llm

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pawl/text/display"

	"pawl"
	"pawl/agent/wire"
)

// delays are the waits before an exchange that failed in passing is had again (docs/spec/turn.md#s4-1).
var delays = []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second}

// maxWait is the longest Retry-After that is waited for.
const maxWait = time.Minute

// errSlow ends an exchange that goes on for too long, however busy it is.
var errSlow = errors.New("the exchange took too long")

// problem is a failed exchange for which another try may help, after a while that the provider named or 0.
type problem struct {
	error
	after time.Duration
}

func (p *problem) Unwrap() error { return p.error }

// passing returns an error for which another try may help.
func passing(e *pawl.Error, cause error) error {
	return &problem{error: e.Because(cause).In("llm.Stream")}
}

// ended explains an exchange whose context ended.
func ended(ctx context.Context) error {
	why := context.Cause(ctx)
	switch {
	case errors.Is(why, errSlow):
		return pawl.Fail(pawl.CodeModel, "llm.too_slow").Because(why).In("llm.Stream")
	case errors.Is(why, context.DeadlineExceeded):
		return pawl.Fail(pawl.CodeTimeout, "llm.out_of_time").Because(why).In("llm.Stream")
	}
	return pawl.Fail(pawl.CodeCanceled, "llm.canceled").Because(why).In("llm.Stream")
}

// broken explains a connection that failed.
func (c *Client) broken(ctx, work context.Context, err error) error {
	var refused *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var lost *net.DNSError
	switch {
	case ctx.Err() != nil:
		return ended(ctx)
	case errors.Is(context.Cause(work), errSilent):
		return passing(pawl.Fail(pawl.CodeModel, "llm.silent", c.URL), err)
	case errors.As(err, &refused), errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return pawl.Fail(pawl.CodeEnvironment, "llm.certificate", c.URL).Because(err).In("llm.Stream")
	case errors.As(err, &lost) && lost.IsNotFound:
		// A name that nobody knows is not known a second later either, and to ask for it can take half a minute.
		return pawl.Fail(pawl.CodeEnvironment, "llm.unreachable", c.URL).Because(err).In("llm.Stream")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return passing(pawl.Fail(pawl.CodeModel, "llm.cut", c.URL), err)
	}
	return passing(pawl.Fail(pawl.CodeModel, "llm.unreachable", c.URL), err)
}

// refused explains an answer that is an error of HTTP.
func (c *Client) refused(ctx context.Context, resp *http.Response, body io.Reader, key string) error {
	// The key is taken out before the text is cut, or else half a key could stay in it.
	raw, _ := io.ReadAll(io.LimitReader(body, maxProblem+int64(len(key))))
	if ctx.Err() != nil {
		return ended(ctx)
	}
	said := display.Head(redact(line(wire.ErrorText(raw)), key), maxProblem/4)
	cause := fmt.Errorf("HTTP %d: %s", resp.StatusCode, said)
	fail := func(code pawl.Code, key string, args ...any) error {
		return pawl.Fail(code, key, args...).Because(cause).In("llm.Stream")
	}
	wait := retryAfter(resp.Header.Get("Retry-After"), time.Now())
	again := func(err error) error {
		if wait > maxWait {
			return noFault(err)
		}
		return &problem{error: err, after: wait}
	}
	switch s := resp.StatusCode; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return fail(pawl.CodeLogin, "llm.key_refused", c.URL)
	case s == http.StatusPaymentRequired || s == http.StatusTooManyRequests &&
		bytes.Contains(raw, []byte("insufficient_quota")):
		return fail(pawl.CodeLogin, "llm.no_credit", c.URL)
	case s == http.StatusNotFound:
		return fail(pawl.CodeEnvironment, "llm.not_found", c.URL, said)
	case s == http.StatusRequestEntityTooLarge || s == http.StatusBadRequest && tooLong(said):
		return fail(pawl.CodeModel, "llm.prompt_too_long", said)
	case s == http.StatusTooManyRequests:
		return again(fail(pawl.CodeModel, "llm.rate_limited", c.URL, said))
	case s >= 500 || s == http.StatusRequestTimeout || s == http.StatusConflict || s == http.StatusTooEarly:
		return again(fail(pawl.CodeModel, "llm.server_error", strconv.Itoa(s), c.URL))
	default:
		return fail(pawl.CodeModel, "llm.refused", strconv.Itoa(s), said)
	}
}

// midway is an error that a provider reports in the middle of a stream.
func (g *gathered) midway(data []byte) error {
	return passing(pawl.Fail(pawl.CodeModel, "llm.server_error", "200", g.url), errors.New(line(wire.ErrorText(data))))
}

// retryAfter reads the header of that name: seconds or a date. What makes no sense is 0.
func retryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) {
		return time.Duration(min(max(n, 0), 1e6) * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

func tooLong(said string) bool {
	said = strings.ToLower(said)
	for _, words := range []string{"context length", "context_length", "context window", "context size", "too long",
		"maximum context", "exceeds the maximum number of tokens", "input token count"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// scrub takes the key out of an error, whatever put it there.
func scrub(err error, key string) error {
	var e *pawl.Error
	if len(key) < minKey || !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Args = append([]any(nil), e.Args...)
	for i, a := range c.Args {
		if s, ok := a.(string); ok {
			c.Args[i] = redact(s, key)
		}
	}
	if e.Err != nil {
		if text := e.Err.Error(); redact(text, key) != text {
			c.Err = errors.New(redact(text, key))
		}
	}
	var p *problem
	if errors.As(err, &p) {
		return &problem{error: &c, after: p.after}
	}
	return &c
}

// minKey is the length from which a key is worth hiding. A shorter one is a placeholder, and taking it out would mangle
// texts.
const minKey = 4

// redact takes the key out of a text, also as it stands in JSON and in addresses.
func redact(text, key string) string {
	if len(key) < minKey {
		return text
	}
	text = strings.ReplaceAll(text, key, "[key]")
	if quoted, err := json.Marshal(key); err == nil {
		text = strings.ReplaceAll(text, string(quoted[1:len(quoted)-1]), "[key]")
	}
	return strings.ReplaceAll(text, url.QueryEscape(key), "[key]")
}

// redactJSON is redact for a body. A key that is part of JSON's own grammar cannot be taken out, so the body goes as a
// whole.
func redactJSON(body []byte, key string) json.RawMessage {
	out := []byte(redact(string(body), key))
	if !json.Valid(out) {
		return json.RawMessage(`"[withheld]"`)
	}
	return out
}
