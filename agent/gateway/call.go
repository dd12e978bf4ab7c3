package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pawl"
	"pawl/agent/wire"
	"pawl/kernel/effect"
)

// maxProblem bounds what is read of an answer that is an error.
const maxProblem = 64 << 10

// The causes of an exchange that pawl ended.
var (
	errSilent  = errors.New("nothing came in time")
	errTooLong = errors.New("the answer is too long")
)

// call is one request of an agent on its way.
type call struct {
	target
	l       *lane
	w       http.ResponseWriter
	control *http.ResponseController
	r       *http.Request
	body    []byte
	facts   facts
	key     string
	meter   meter
	kept    *Exchange // nil where nothing is recorded
	began   time.Time

	reached atomic.Bool // the request went out, so that somebody may have answered it
	status  int
}

// answer serves one request. ctx is the lane's: what is set aside is set aside for the effect, whether or not the agent
// waits for it.
func (l *lane) answer(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	t, ok := l.g.route(r)
	if !ok {
		kind := wire.OpenAI
		if t.provider != nil {
			kind = t.Kind
		}
		refuse(w, kind, http.StatusForbidden, "the gateway does not let this request through: "+r.Method+" "+r.URL.Path)
		return
	}
	select {
	case l.free <- struct{}{}:
		defer func() { <-l.free }()
	case <-r.Context().Done():
		return
	}
	done, ok := l.load.take(r.Context(), r.ContentLength, l.g.config.Limits.Body)
	if !ok {
		return
	}
	defer done()
	c := &call{target: t, l: l, w: w, control: http.NewResponseController(w), r: r, began: time.Now()}
	if !c.admit() || !c.read() {
		return
	}
	if r.Method == http.MethodPost && !c.inspected() {
		return
	}
	if c.asksModel() {
		settle, ok := c.reserve(ctx)
		if !ok {
			return
		}
		defer func() { settle(c.cost()) }()
	}
	c.exchange()
}

// admit takes the token that an agent shows of its own. Another one than it was given goes nowhere: the agent was told
// of it by something that it read, or somebody else is at work there.
func (c *call) admit() bool {
	if c.Pass == nil {
		return true
	}
	shown := c.r.Header.Values("Authorization")
	token, ok := "", len(shown) == 1
	if ok {
		token, ok = strings.CutPrefix(shown[0], "Bearer ")
	}
	if !ok || !c.Pass.Accepts(token) {
		refuse(c.w, c.Kind, http.StatusForbidden, "this is not the token that the agent was given")
		c.note(pawl.Fail(pawl.CodeDenied, "agent.gateway_token", c.name).In("gateway.Call"))
		return false
	}
	c.key = token
	return true
}

// read takes the request's body.
func (c *call) read() bool {
	_ = c.control.SetReadDeadline(time.Now().Add(bodyTime))
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, c.l.g.config.Limits.Body))
	_ = c.control.SetReadDeadline(time.Time{})
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		refuse(c.w, c.Kind, http.StatusRequestEntityTooLarge, "the request is too long")
		c.note(pawl.Fail(pawl.CodeModel, "agent.gateway_body",
			strconv.FormatInt(tooLong.Limit>>20, 10)).In("gateway.Call"))
		return false
	case err != nil:
		refuse(c.w, c.Kind, http.StatusBadRequest, "the request did not come whole")
		return false
	}
	if c.r.Method == http.MethodPost { // nothing else has one that is read
		c.body = body
	}
	return true
}

// inspected reads what the request says of itself, and refuses what is not passed on.
func (c *call) inspected() bool {
	var err error
	if c.facts, err = inspect(c.target, c.body); err == nil {
		return true
	}
	status := http.StatusBadRequest
	if errors.Is(err, errHidden) {
		status = http.StatusForbidden
		c.note(pawl.Fail(pawl.CodeDenied, "agent.gateway_hidden", err.Error()).In("gateway.Call"))
	}
	refuse(c.w, c.Kind, status, err.Error())
	return false
}

// reserve sets aside what the call may cost.
func (c *call) reserve(ctx context.Context) (func(effect.Usage), bool) {
	most := effect.Usage{Requests: 1, InTokens: c.facts.in, OutTokens: c.l.g.maxOut(c.facts)}
	settle, err := c.l.reserve(ctx, c.l.g.price(c.provider, c.facts.model, most))
	if err != nil {
		refuse(c.w, c.Kind, overspent(c.Form), "the call is not made: "+err.Error())
		return nil, false
	}
	return settle, true
}

// cost is what is known of the call's cost, or estimated, when it is over.
func (c *call) cost() effect.Usage {
	if !c.reached.Load() || c.status != 0 && c.status != http.StatusOK {
		return effect.Usage{Requests: 1}
	}
	u := c.meter.cost(c.facts.in)
	priced := c.l.g.price(c.provider, c.facts.model, u)
	if priced.Unpriced && c.meter.model != "" {
		priced = c.l.g.price(c.provider, c.meter.model, u)
	}
	return priced
}

// exchange sends the request on and carries the answer back.
func (c *call) exchange() {
	limits := c.l.g.config.Limits
	ctx, stop := context.WithCancelCause(c.r.Context())
	defer stop(nil)
	whole := time.AfterFunc(limits.Whole, func() { stop(errSilent) })
	defer whole.Stop()
	watch := time.AfterFunc(limits.First, func() { stop(errSilent) })
	defer watch.Stop()
	c.record()
	req, err := c.request(ctx)
	if err != nil {
		c.broken(ctx, err)
		return
	}
	resp, err := c.transport.RoundTrip(req)
	if away(err) && pause(ctx) {
		// A network that comes up, or a name that is found at the second time, ends no work.
		if req, err = c.request(ctx); err == nil {
			resp, err = c.transport.RoundTrip(req)
		}
	}
	if err != nil {
		c.broken(ctx, err)
		return
	}
	defer resp.Body.Close()
	c.reached.Store(true)
	c.status = resp.StatusCode
	if c.kept != nil {
		c.kept.Type = resp.Header.Get("Content-Type")
	}
	if resp.StatusCode != http.StatusOK {
		c.problem(resp)
		return
	}
	c.stream(ctx, stop, watch, resp)
}

// secondTry is how long is waited before a provider that was not reached is asked once more.
const secondTry = 500 * time.Millisecond

// away reports whether an exchange failed before there was anybody to speak to: no name, no connection, no trust.
func away(err error) bool {
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") || errors.As(err, &certificate)
}

func pause(ctx context.Context) bool {
	select {
	case <-time.After(secondTry):
		return true
	case <-ctx.Done():
		return false
	}
}

// request makes the request to the provider.
func (c *call) request(ctx context.Context) (*http.Request, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	if c.Key != nil && c.Pass == nil {
		key, err := c.Key()
		if err != nil {
			return nil, err
		}
		c.key = key
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { c.reached.Store(true) }})
	at := *c.base
	at.Path = c.base.Path + c.Path
	at.RawQuery = query(c.r.URL.Query())
	req, err := http.NewRequestWithContext(ctx, c.r.Method, at.String(), bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	if len(c.body) == 0 {
		req.Body, req.ContentLength = nil, 0
	}
	passed(c.r.Header, req.Header, passedRequest, passedRequestPrefixes)
	c.passedBetas(req.Header, "Anthropic-Beta")
	c.passedBetas(req.Header, "Openai-Beta")
	if c.Pass != nil {
		passed(c.r.Header, req.Header, passedWithToken, passedWithTokenPrefixes)
		return req, nil
	}
	for name, value := range c.Kind.Headers(c.key) {
		if req.Header.Get(name) == "" {
			req.Header.Set(name, value)
		}
	}
	return req, nil
}

// buffers are used again, so that many streams cost little memory.
var buffers = sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }}

// stream carries an answer back as it comes. Each piece is with the agent before it is looked at.
func (c *call) stream(ctx context.Context, stop context.CancelCauseFunc, watch *time.Timer, resp *http.Response) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	packed := resp.Header.Get("Content-Encoding") != "" // against what was asked for
	c.meter = meter{form: c.Form, lost: packed}
	passed(resp.Header, c.w.Header(), passedReply, passedReplyPrefixes)
	if resp.ContentLength >= 0 {
		c.w.Header().Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
	}
	limits := c.l.g.config.Limits
	c.w.WriteHeader(http.StatusOK)
	if kind == "text/event-stream" {
		_ = c.control.Flush()
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	for {
		n, err := resp.Body.Read(*buffer)
		if n > 0 {
			watch.Reset(limits.Idle)
			piece := (*buffer)[:n]
			_ = c.control.SetWriteDeadline(time.Now().Add(limits.Idle))
			_, gone := c.w.Write(piece)
			if gone == nil {
				gone = c.control.Flush()
			}
			c.meter.feed(piece)
			c.keep(piece)
			if gone != nil {
				c.finish(true)
				panic(http.ErrAbortHandler) // which ends the exchange with the endpoint as well
			}
			if c.meter.passed > limits.Reply {
				stop(errTooLong)
				err = errTooLong
			}
		}
		switch {
		case err == io.EOF:
			c.meter.end()
			c.finish(false)
			c.judge()
			return
		case err != nil:
			c.meter.end()
			c.finish(true)
			if c.r.Context().Err() == nil {
				c.note(c.explain(ctx, err))
			}
			// The agent has to see that its answer was cut.
			panic(http.ErrAbortHandler)
		}
	}
}

func (c *call) note(err error) { c.l.note(c.facts.tools, err) }

// judge notes how an answer that came to its end has ended.
func (c *call) judge() {
	switch {
	case c.meter.failed:
		c.note(pawl.Fail(pawl.CodeEnvironment, "agent.gateway_status", strconv.Itoa(http.StatusOK),
			c.host).In("gateway.Call"))
	case c.meter.sse && !c.meter.ended:
		c.note(pawl.Fail(pawl.CodeEnvironment, "agent.gateway_cut", c.host).In("gateway.Call"))
	case c.asksModel():
		c.note(nil)
	}
}

// problem carries an error of the provider back, without what it may repeat of the key.
func (c *call) problem(resp *http.Response) {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	raw = []byte(redact(string(raw), c.key))
	c.keep(raw)
	c.finish(false)
	status := resp.StatusCode
	if status < 400 {
		// Whatever it is, nothing here follows it.
		status, raw = http.StatusBadGateway, nil
	}
	c.judgeProblem(resp, raw)
	if len(raw) == 0 {
		refuse(c.w, c.Kind, status, "the model's endpoint answered with status "+strconv.Itoa(resp.StatusCode))
		return
	}
	passed(resp.Header, c.w.Header(), passedReply, passedReplyPrefixes)
	c.w.WriteHeader(status)
	_, _ = c.w.Write(raw)
}

// judgeProblem notes what an error of the provider means for the work. What no repetition mends ends it at once: an
// agent would ask again and again, and none of it is a fault of the work.
func (c *call) judgeProblem(resp *http.Response, raw []byte) {
	status := resp.StatusCode
	code, key, args, last := pawl.CodeEnvironment, "agent.gateway_status", []any{strconv.Itoa(status), c.host}, false
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		code, key, args, last = pawl.CodeLogin, "agent.gateway_key", []any{c.host}, c.Pass == nil ||
			status == http.StatusForbidden
		if c.Pass != nil {
			key, args = "agent.gateway_login", []any{c.host, strconv.Itoa(status)}
		}
	case status == http.StatusPaymentRequired || spent().Match(raw) || status == http.StatusTooManyRequests &&
		long(resp.Header.Get("Retry-After")):
		key, args, last = "agent.gateway_spent", []any{c.host}, true
	case status == http.StatusTooManyRequests:
		key, args = "agent.gateway_rate", []any{c.host}
	case status >= 300 && status < 500 && status != http.StatusNotFound && status != http.StatusRequestTimeout:
		code = pawl.CodeModel // what was asked for is the agent's affair
	}
	err := pawl.Fail(code, key, args...).Because(errors.New(excerpt(raw))).In("gateway.Call")
	c.note(err)
	if status == http.StatusUnauthorized && c.Pass != nil {
		if failed := c.Pass.Refused(c.l.ctx, c.key); failed != nil {
			c.note(failed)
			c.l.end(failed)
		}
		return
	}
	if last {
		c.l.end(err)
	}
}

// spent fits what providers say where a plan or an account has nothing left for hours.
var spent = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)usage[_ ]limit|insufficient_quota|credit balance is too low|billing_hard_limit`)
})

// long reports whether a provider wants to be left alone for longer than an agent should wait.
func long(retryAfter string) bool {
	n, err := strconv.ParseFloat(strings.TrimSpace(retryAfter), 64)
	return err == nil && n > 120
}

// broken answers for an endpoint that did not.
func (c *call) broken(ctx context.Context, err error) {
	c.finish(true)
	var own *pawl.Error
	if errors.As(err, &own) {
		status := http.StatusBadGateway
		if own.Code == pawl.CodeLogin {
			status = http.StatusUnauthorized
		}
		c.l.end(own) // no key, or no such endpoint: nothing that passes
		refuse(c.w, c.Kind, status, own.Error())
		return
	}
	if c.r.Context().Err() != nil {
		return // the agent hung up, or the lane is at its end
	}
	why := c.explain(ctx, err)
	c.note(why)
	if away(err) || errors.Is(context.Cause(ctx), errSilent) {
		c.l.end(why) // it was waited for long enough
	}
	status, text := http.StatusBadGateway, "the model's endpoint cannot be reached"
	if errors.Is(context.Cause(ctx), errSilent) {
		status, text = http.StatusGatewayTimeout, "the model's endpoint does not answer"
	}
	refuse(c.w, c.Kind, status, text)
}

// explain says why an exchange broke off.
func (c *call) explain(ctx context.Context, err error) error {
	key, arg := "agent.gateway_cut", c.host
	switch {
	case errors.Is(context.Cause(ctx), errSilent):
		key = "agent.gateway_silent"
	case errors.Is(err, errTooLong):
		key, arg = "agent.gateway_reply", strconv.FormatInt(c.l.g.config.Limits.Reply>>20, 10)
	case c.status == 0:
		key = "agent.gateway_unreachable"
	}
	code := pawl.CodeEnvironment
	if key == "agent.gateway_reply" {
		code = pawl.CodeModel
	}
	return pawl.Fail(code, key, arg).Because(cause(err, c.key)).In("gateway.Call")
}

// redact takes the key out of a text.
func redact(text, key string) string {
	if len(key) < 4 {
		return text
	}
	return strings.ReplaceAll(text, key, "[key]")
}

// userinfo is a name and password in an address, such as that of a proxy.
var userinfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`//[^/@\s"]+@`) })

// cause is an error without secrets.
func cause(err error, key string) error {
	return errors.New(userinfo().ReplaceAllString(redact(err.Error(), key), "//[…]@"))
}

// excerpt is the beginning of an error's body.
func excerpt(raw []byte) string {
	const most = 400
	text := strings.ToValidUTF8(strings.Join(strings.Fields(string(raw)), " "), "�")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	if text == "" {
		text = "no body"
	}
	return fmt.Sprintf("%q", text)
}
