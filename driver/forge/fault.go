package forge

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"pawl"
)

var (
	errLarge = errors.New("the answer is larger than 32 MiB")
	errAway  = errors.New("the server redirects to another server, or without an end")
)

// unsentError is why a request has not even left.
type unsentError struct{ error }

func (e unsentError) Unwrap() error { return e.error }

// verdict is what an answer or a failure means.
type verdict struct {
	error error
	// passing says that another try may help, after a while.
	passing bool
	// limited says that the server wants fewer requests; with doubling the wait grows from refusal to refusal.
	limited  bool
	doubling int
	after    time.Duration
}

// broken explains a request that has no answer.
func (c *call) broken(ctx context.Context, r request, err error) verdict {
	fail := func(code pawl.Code, key string, args ...any) error {
		return pawl.Fail(code, key, args...).Because(err).In("forge.Request")
	}
	var refused *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	switch {
	case ctx.Err() != nil:
		return verdict{error: canceled(ctx)}
	case errors.Is(err, errAway):
		return verdict{error: fail(pawl.CodeIO, "forge.redirected", shown(r.url))}
	case errors.As(err, &refused), errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return verdict{error: fail(pawl.CodeEnvironment, "forge.certificate", c.api.Host)}
	case r.once && !errors.As(err, new(unsentError)):
		return verdict{error: fail(pawl.CodeOutcomeUnknown, "forge.unknown_outcome", c.api.Host)}
	case errors.Is(err, errLarge):
		return verdict{error: fail(pawl.CodeIO, "forge.malformed", shown(r.url))}
	case errors.Is(err, context.DeadlineExceeded):
		return verdict{error: fail(pawl.CodeTimeout, "forge.slow", c.api.Host), passing: true}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return verdict{error: fail(pawl.CodeIO, "forge.cut_off", shown(r.url)), passing: true}
	}
	return verdict{error: fail(pawl.CodeIO, "forge.unreachable", c.api.Host), passing: true}
}

func canceled(ctx context.Context) error {
	why := context.Cause(ctx)
	if errors.Is(why, context.DeadlineExceeded) {
		return pawl.Fail(pawl.CodeTimeout, "forge.out_of_time").Because(why).In("forge.Request")
	}
	return pawl.Fail(pawl.CodeCanceled, "forge.canceled").Because(why).In("forge.Request")
}

// judge says what an answer means.
func (c *call) judge(r request, a answer, token string) verdict {
	if a.status >= 200 && a.status < 300 || a.status == http.StatusNotModified && r.page.ETag != "" {
		return verdict{}
	}
	said := saying(a.body, token)
	fail := func(code pawl.Code, key string, args ...any) error {
		return pawl.Fail(code, key, args...).Because(fmt.Errorf("HTTP %d: %s", a.status, said)).In("forge.Request")
	}
	if v, ok := c.limit(a, said); ok {
		v.error = fail(pawl.CodeBusy, "forge.rate_limited", c.now().Add(v.after).UTC().Format(time.RFC3339))
		return v
	}
	// Who shows no token is told so in other words.
	key := func(with, without string) string {
		if token == "" {
			return without
		}
		return with
	}
	switch s := a.status; {
	case s == http.StatusUnauthorized:
		return verdict{error: fail(pawl.CodeLogin, key("forge.token_refused", "forge.token_needed"), c.api.Host,
			c.of.TokenName)}
	case s == http.StatusForbidden:
		if sso := a.header.Get("X-GitHub-SSO"); strings.Contains(sso, "required") {
			return verdict{error: fail(pawl.CodeLogin, "forge.sso", where(sso))}
		}
		return verdict{error: fail(pawl.CodeDenied, "forge.forbidden", shown(r.url))}
	case s == http.StatusNotFound:
		return verdict{error: fail(pawl.CodeNotFound, key("forge.not_found", "forge.not_found_public"), shown(r.url),
			c.of.TokenName)}
	case s == http.StatusConflict:
		return verdict{error: fail(pawl.CodeConflict, "forge.conflict", shown(r.url))}
	case s == http.StatusGone:
		return verdict{error: fail(pawl.CodeNotFound, "forge.gone", shown(r.url))}
	case s >= 500 && r.once:
		return verdict{error: fail(pawl.CodeOutcomeUnknown, "forge.unknown_outcome", c.api.Host)}
	case s >= 500 || s == http.StatusRequestTimeout:
		after, _ := retryAfter(a.header.Get("Retry-After"), c.now())
		return verdict{error: fail(pawl.CodeIO, "forge.server", s, c.api.Host), passing: after <= time.Minute,
			after: after}
	}
	return verdict{error: fail(pawl.CodeInvalid, "forge.refused", a.status, said)}
}

// where finds the address in the header that asks for single sign-on.
func where(header string) string {
	_, address, _ := strings.Cut(header, "url=")
	return line(address, 300)
}

// limit reports whether an answer says that there were too many requests, and until when to wait. GitHub says so with
// 403 or 429: with Retry-After, or with the instant at which the hour's requests begin anew, or with neither, and then
// asks to wait for a minute at least, and longer each time.
func (c *call) limit(a answer, said string) (verdict, bool) {
	if a.status != http.StatusForbidden && a.status != http.StatusTooManyRequests {
		return verdict{}, false
	}
	v := verdict{limited: true}
	if after, ok := retryAfter(a.header.Get("Retry-After"), c.serverTime(a)); ok {
		v.after = max(after, time.Second)
		return v, true
	}
	if after, ok := c.reset(a); ok {
		v.after = after
		return v, true
	}
	if a.status == http.StatusTooManyRequests || strings.Contains(strings.ToLower(said), "rate limit") {
		v.after, v.doubling = time.Minute, 1
		return v, true
	}
	return verdict{}, false
}

// reset returns how long it is until requests are counted anew, where none are left. It goes by the server's clock, as
// this machine's may be wrong.
func (c *call) reset(a answer) (time.Duration, bool) {
	n, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if a.header.Get("X-RateLimit-Remaining") != "0" || err != nil || n < 0 || n > math.MaxUint32*2 {
		return 0, false
	}
	return max(time.Unix(n, 0).Sub(c.serverTime(a)), 0) + time.Second, true
}

func (c *call) serverTime(a answer) time.Time {
	if at, err := http.ParseTime(a.header.Get("Date")); err == nil {
		return at
	}
	return c.now()
}

// remember keeps in mind that the server has no request left.
func (c *call) remember(a answer) {
	c.exhausted = time.Time{}
	if after, ok := c.reset(a); ok && (a.status < 300 || a.status == http.StatusNotModified) {
		c.exhausted = c.now().Add(after)
	}
}

// rest waits, before a request that counts, for a limit that is known: a request that is refused may lengthen it. One
// with a condition costs nothing where it holds.
func (c *call) rest(ctx context.Context, r request) error {
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	left := c.exhausted.Sub(c.now())
	if c.exhausted.IsZero() || r.page.ETag != "" || left <= 0 {
		return nil
	}
	until := c.exhausted
	c.exhausted = time.Time{}
	return c.wait(ctx, left, pawl.Fail(pawl.CodeBusy, "forge.rate_limited",
		until.UTC().Format(time.RFC3339)).In("forge.Request"))
}

// wait waits for a limit, or returns the refusal where that would take too long.
func (c *call) wait(ctx context.Context, d time.Duration, refusal error) error {
	most := c.of.MaxWait
	if most <= 0 {
		most = defaultWait
	}
	if d > most-c.waited {
		return refusal
	}
	c.waited += d
	c.say(Progress{Key: "forge.waiting", Args: []any{int(d.Round(time.Second).Seconds()),
		c.now().Add(d).UTC().Format(time.RFC3339)}, Wait: d})
	if c.sleep(ctx, d) != nil {
		return canceled(ctx)
	}
	return nil
}

// again waits before another try.
func (c *call) again(ctx context.Context, d time.Duration) error {
	c.say(Progress{Key: "forge.retrying", Args: []any{c.api.Host, int(d.Round(time.Second).Seconds())}, Wait: d})
	if c.sleep(ctx, d) != nil {
		return canceled(ctx)
	}
	return nil
}

// retryAfter reads the header of that name, seconds or a date, and reports whether it says something.
func retryAfter(text string, now time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) {
		return time.Duration(min(max(n, 0), 1e7) * float64(time.Second)), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

// saying finds the sentences in the body of an error, without the token.
func saying(raw []byte, token string) string {
	text := string(raw)
	var e struct {
		Message any `json:"message"`
		Error   any `json:"error"`
		Errors  any `json:"errors"`
	}
	if json.Unmarshal(raw, &e) == nil {
		if said := slices.Concat(sentences(e.Message), sentences(e.Error), sentences(e.Errors)); len(said) > 0 {
			text = strings.Join(said, "; ")
		}
	}
	if token != "" {
		text = strings.ReplaceAll(text, token, "[token]")
	}
	return line(text, 300)
}

// sentences are the texts in what a forge says is wrong: a text, a list, or lists by the fields that they are about.
// Where one of them has a message, that says it all.
func sentences(v any) (out []string) {
	switch v := v.(type) {
	case string:
		if v != "" {
			out = append(out, v)
		}
	case []any:
		for _, one := range v {
			out = append(out, sentences(one)...)
		}
	case map[string]any:
		if said := sentences(v["message"]); len(said) > 0 {
			return said
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, sentences(v[name])...)
		}
	}
	return out
}

// line makes a text from outside one line of a bounded length.
func line(s string, most int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) ||
			!unicode.IsPrint(r)
	}), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
