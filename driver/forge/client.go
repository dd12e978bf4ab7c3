package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/go-github/v89/github"

	"pawl"
)

// Limits of what is asked and read.
const (
	maxPage      = 32 << 20 // bytes of one answer
	maxSaid      = 64 << 10 // bytes that are read of an answer that is an error
	maxPages     = 5000     // of one list
	pageSize     = 100      // entries, the most that GitHub gives
	maxLookups   = 200      // issues that are asked for one by one
	maxRedirects = 5
	maxRefusals  = 8 // of one request, by limits
	perRequest   = 2 * time.Minute
	defaultWait  = 15 * time.Minute
)

// delays are the waits before a request that failed in passing is made again.
var delays = [...]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}

// Client reaches one API. It is safe for concurrent use once it is set up.
type Client struct {
	// Kind is the forge that answers, GitHub unless set.
	Kind Kind
	// Base is the address of the API, such as https://api.github.com or https://HOST/api/v3 (Repo.API). Required.
	Base string
	// HTTP carries requests; it knows proxies and certificates (Transport). Required.
	HTTP http.RoundTripper
	// Token returns the token, or "" for none; it is asked before each request. It may be nil.
	Token func() (string, error)
	// TokenName is what a person calls the place where the token is looked for, such as $GITHUB_TOKEN.
	TokenName string
	// Pages keeps what was read for the next import. Without it every import reads everything.
	Pages Pages
	// MaxWait bounds the waits of one call for the server's limits, 15 minutes unless set. A limit that lasts longer is
	// an error that says until when.
	MaxWait time.Duration
	// Progress is told what happens, in the caller's goroutine. It may be nil.
	Progress func(Progress)
	// Now and Sleep are the clock, which tests replace. Sleep returns early with the cause when the context ends.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// Progress is one thing that happened, as a message of the catalogue. Wait is set where it is waited for something.
type Progress struct {
	Key  string
	Args []any
	Wait time.Duration
}

// call is the work of one call of a method of Client: it remembers what was waited for, and counts.
type call struct {
	of            *Client
	api           *url.URL
	waited        time.Duration
	exhausted     time.Time // until when the server answers no request that counts, or zero
	requests      int
	unchanged     int
	unconditional int
	unsaved       error // the first page that could not be kept
}

func (c *Client) begin() (*call, error) {
	api, err := base(c.Base)
	if err != nil {
		return nil, err
	}
	return &call{of: c, api: api}, nil
}

func (c *call) say(p Progress) {
	if c.of.Progress != nil {
		c.of.Progress(p)
	}
}

func (c *call) now() time.Time {
	if c.of.Now != nil {
		return c.of.Now()
	}
	return time.Now()
}

func (c *call) sleep(ctx context.Context, d time.Duration) error {
	if c.of.Sleep != nil {
		return c.of.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// request is one that is made until it is answered.
type request struct {
	method, url string
	header      http.Header
	body        []byte
	// once says that it must not be made a second time when it is not known what became of the first.
	once bool
	// page is the state of the answer that is known already.
	page Page
}

// answer is what came of a request.
type answer struct {
	status int
	header http.Header
	body   []byte
	url    *url.URL // that answered, after redirections
}

// do makes a request until there is an answer that counts: one with success, or not modified. Everything else is waited
// for or an error.
func (c *call) do(ctx context.Context, r request) (answer, error) {
	for failures, refusals := 0, 0; ; {
		if err := c.rest(ctx, r); err != nil {
			return answer{}, err
		}
		token := ""
		if c.of.Token != nil {
			var err error
			if token, err = c.of.Token(); err != nil {
				return answer{}, err
			}
		}
		a, err := c.send(ctx, r, token)
		if err != nil {
			fault := c.broken(ctx, r, err)
			if failures == len(delays) || !fault.passing {
				return answer{}, fault.error
			}
			if err := c.again(ctx, delays[failures]); err != nil {
				return answer{}, err
			}
			failures++
			continue
		}
		c.remember(a)
		v := c.judge(r, a, token)
		switch {
		case v.error == nil:
			return a, nil
		case v.limited && refusals < maxRefusals:
			if err := c.wait(ctx, v.after<<min(refusals*v.doubling, 6), v.error); err != nil {
				return answer{}, err
			}
			refusals++
		case v.passing && !r.once && failures < len(delays):
			if err := c.again(ctx, max(v.after, delays[failures])); err != nil {
				return answer{}, err
			}
			failures++
		default:
			return answer{}, v.error
		}
	}
}

// send makes the request once and follows redirections within the API's server.
func (c *call) send(ctx context.Context, r request, token string) (answer, error) {
	work, stop := context.WithTimeout(ctx, perRequest)
	defer stop()
	at, err := url.Parse(r.url)
	if err != nil {
		return answer{}, err
	}
	for n := 0; ; n++ {
		resp, err := c.roundTrip(work, r, at, token)
		if err != nil {
			return answer{}, err
		}
		a := answer{status: resp.StatusCode, header: resp.Header, url: at}
		most := int64(maxPage)
		if a.status >= 300 {
			most = maxSaid
		}
		a.body, err = io.ReadAll(io.LimitReader(resp.Body, most+1))
		_ = resp.Body.Close() // everything that is wanted of it has been read
		if err != nil && a.status < 300 {
			return answer{}, err
		}
		if len(a.body) > maxPage {
			return answer{}, errLarge
		}
		next, err := at.Parse(resp.Header.Get("Location"))
		moved := a.status == http.StatusMovedPermanently || a.status == http.StatusFound ||
			a.status == http.StatusTemporaryRedirect || a.status == http.StatusPermanentRedirect
		if !moved {
			return a, nil
		}
		if err != nil || resp.Header.Get("Location") == "" || !same(next, c.api) || n == maxRedirects ||
			r.method != http.MethodGet {
			return answer{}, errAway
		}
		at = next
	}
}

func (c *call) roundTrip(ctx context.Context, r request, at *url.URL, token string) (*http.Response, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, at.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header = r.header.Clone()
	if token != "" {
		req.Header.Set("Authorization", c.of.Kind.scheme()+" "+token)
	}
	if r.page.ETag != "" {
		req.Header.Set("If-None-Match", r.page.ETag)
	} else {
		c.unconditional++
	}
	c.requests++
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}
	resp, err := c.of.HTTP.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, trace)))
	if err != nil && !sent.Load() {
		err = unsentError{err}
	}
	return resp, err
}

// manner says how a request is made, beside what it asks for. It goes with the context.
type manner struct {
	// want is the byte with which the JSON of a page has to begin, 0 where the answer is no page to be kept. What was
	// read is then in page, and from is the address that answered.
	want byte
	page Page
	from *url.URL
	// again says of a request that writes that it may be made twice.
	again bool
}

type mannerKey struct{}

// in returns the context of a request that is made in a manner.
func (m *manner) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, mannerKey{}, m)
}

// RoundTrip makes a request until there is an answer that counts, so that the library above it sees no other one. An
// answer that does not count is an error of pawl's, with the next step.
func (c *call) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	m, ok := ctx.Value(mannerKey{}).(*manner)
	if !ok {
		m = &manner{}
	}
	r := request{method: req.Method, url: req.URL.String(), header: req.Header,
		once: req.Method == http.MethodPost && !m.again}
	if req.Body != nil {
		var err error
		if r.body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		_ = req.Body.Close() // it is in memory
	}
	a, err := c.answered(ctx, r, m)
	if err != nil {
		return nil, err
	}
	return &http.Response{Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)),
		Request: req}, nil
}

func (c *call) answered(ctx context.Context, r request, m *manner) (answer, error) {
	if m.want == 0 {
		return c.do(ctx, r)
	}
	p, a, err := c.page(ctx, r, m.want)
	m.page, m.from = p, a.url
	a.status, a.body = http.StatusOK, p.Body
	return a, err
}

// github is go-github over this call.
func (c *call) github() (*github.Client, error) {
	base := strings.TrimRight(c.api.String(), "/") + "/"
	return github.NewClient(github.WithTransport(c), github.WithURLs(&base, nil), github.WithUserAgent("pawl"),
		github.WithDisableRateLimitCheck())
}

// get reads one page, from what is kept where the server says that it did not change.
func (c *call) get(ctx context.Context, address string, want byte) (Page, *url.URL, error) {
	m := &manner{want: want}
	gh, err := c.github()
	if err != nil {
		return Page{}, nil, err
	}
	req, err := gh.NewRequest(m.in(ctx), http.MethodGet, address, nil)
	if err == nil {
		_, err = gh.Do(req, io.Discard)
	}
	return m.page, m.from, c.plain(ctx, address, err)
}

// plain is an error of a library as one of pawl's.
func (c *call) plain(ctx context.Context, address string, err error) error {
	var known *pawl.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		return canceled(ctx)
	}
	return pawl.Fail(pawl.CodeIO, "forge.malformed", shown(address)).Because(err).In("forge.Read")
}

// page reads one page, from what is kept where the server says that it did not change. want is the byte with which its
// JSON has to begin.
func (c *call) page(ctx context.Context, r request, want byte) (Page, answer, error) {
	if c.of.Pages != nil {
		if p, ok := c.of.Pages.Load(r.url); ok && c.usable(p, want) {
			r.page = p
		}
	}
	a, err := c.do(ctx, r)
	if err != nil {
		return Page{}, a, err
	}
	if a.status == http.StatusNotModified {
		c.unchanged++
		return r.page, a, nil
	}
	p := Page{URL: r.url, ETag: strings.TrimSpace(a.header.Get("ETag")), Body: a.body}
	next, ok := c.next(a)
	if p.Next = next; !ok || !c.usable(p, want) {
		return Page{}, a, pawl.Fail(pawl.CodeIO, "forge.malformed", shown(r.url)).In("forge.Read")
	}
	if c.of.Pages != nil && p.ETag != "" {
		if err := c.of.Pages.Save(p); err != nil && c.unsaved == nil {
			c.unsaved = err
		}
	}
	return p, a, nil
}

// usable reports whether a page is JSON of the form that it should have, and leads nowhere else.
func (c *call) usable(p Page, want byte) bool {
	if p.Next != "" {
		if u, err := url.Parse(p.Next); err != nil || !same(u, c.api) {
			return false
		}
	}
	body := bytes.TrimSpace(p.Body)
	return len(body) > 0 && body[0] == want && json.Valid(body)
}

// next reads the address of the next page from the header Link, and reports whether that can be trusted: it must lie on
// the API's server.
func (c *call) next(a answer) (string, bool) {
	for _, h := range a.header.Values("Link") {
		for part := range strings.SplitSeq(h, ",") {
			address, rest, ok := strings.Cut(strings.TrimSpace(part), ">")
			if !ok || !strings.HasPrefix(address, "<") {
				continue
			}
			for p := range strings.SplitSeq(rest, ";") {
				name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
				if strings.EqualFold(name, "rel") && strings.Trim(value, `"`) == "next" {
					u, err := a.url.Parse(address[1:])
					if err != nil || !same(u, c.api) {
						return "", false
					}
					return u.String(), true
				}
			}
		}
	}
	return "", true
}

// shown is an address in a message: without what it asks for.
func shown(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return before
}
