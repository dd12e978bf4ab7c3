// Package gateway is the way to their models for agents that bring their own program. Such an agent runs behind walls
// without network and without keys; what it takes for a provider's endpoint is a Gateway, served on a listener inside
// its walls. The gateway puts the real key in the place of the agent's, sets the worst cost of each call aside before
// it is sent, reads what the call did cost from the answer as it passes, and settles it exactly once, also when the
// agent hangs up or the stream is cut.
//
// Requests and answers pass as they are, byte by byte and without delay. What does not ask a model for an answer, for
// the price of one, or for the names of models is refused. So is a request with anything in it that is not known to be
// harmless: it could hide its cost (stored conversations, work in the background, another model or a faster tier, keys
// that two readers would read differently) or have the provider reach places of the caller's choice.
//
// What cannot be promised: a provider that is granted is told whatever the agent tells it.
package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/wire"
	"pawl/kernel/effect"
)

// Provider is an endpoint.
type Provider struct {
	Kind wire.Provider
	// URL is the endpoint's base: with the version for OpenAI (https://api.openai.com/v1), without it for the others.
	URL string
	// Key returns the key, "" for an endpoint that wants none. It is asked before each call, and what it returns is
	// kept no longer than the call. Nil sends no key.
	Key func() (string, error)
	// Pass, when not nil, lets the agent show a token of its own instead, which goes on as it is. Key is not asked
	// then.
	Pass Pass
	// Unpriced leaves the money of every call unknown, where nobody is charged for calls by their price.
	Unpriced bool
	// CAFile names a file with further certificate authorities, "" for those of the machine.
	CAFile string
	// Proxy chooses a proxy for a request; nil follows the environment of pawl.
	Proxy func(*http.Request) (*url.URL, error)
	// Hosted lets the agent use tools that the provider runs itself, and have it fetch what a request names: both reach
	// the internet, outside every policy of pawl, and cost more than tokens.
	Hosted bool
	// Transport makes the exchanges, the network unless set.
	Transport http.RoundTripper
}

// Pass knows the token that an agent was given. It is used by many goroutines.
type Pass interface {
	// Accepts reports whether a token is that one. No other token goes anywhere.
	Accepts(token string) bool
	// Refused is told that the provider did not accept the token. It returns nil when the agent has another one by now,
	// or can be started with one, and otherwise the error that ends the lane. The agent is told of the refusal
	// afterwards.
	Refused(ctx context.Context, token string) error
}

// Limits bound what one lane takes up. A zero field stands for the value beside it.
type Limits struct {
	Body  int64 // bytes of a request: 16 MB
	Reply int64 // bytes of an answer: 64 MB
	Calls int   // calls at one time, further ones wait: 16
	// First is how long the first byte of an answer may take, 5 min; Idle how long an answer may pause, and the agent
	// in reading it, 90 s; Whole how long an exchange may last, 30 min.
	First, Idle, Whole time.Duration
}

// Config is what a Gateway is made of.
type Config struct {
	// Providers are the endpoints by the names that are part of their paths.
	Providers map[string]Provider
	// Price adds the money to the tokens of a model, or marks them Unpriced. Nil prices nothing.
	Price func(model string, u effect.Usage) effect.Usage
	// MaxOut is how many tokens a model answers with at most when a request does not say; nil or 0 is 32,000.
	MaxOut func(model string) int64
	// Record, when not nil, is told of every exchange with an endpoint once it is over, without keys. It is called from
	// many goroutines.
	Record func(Exchange)
	Limits Limits
}

// Gateway implements agent.Gateway. It is safe for concurrent use; making one costs nothing.
type Gateway struct {
	config    Config
	providers map[string]*provider
}

// provider is an endpoint that is dialed when it is first needed.
type provider struct {
	Provider
	name string
	host string // for messages: never with what may stand before it in the URL
	base *url.URL

	once      sync.Once
	transport http.RoundTripper
	err       error
}

// New returns a gateway. A malformed provider is found when it is called, so that wiring one up costs and breaks
// nothing.
func New(c Config) *Gateway {
	l := &c.Limits
	l.Body, l.Reply = or(l.Body, 16<<20), or(l.Reply, 64<<20)
	l.First, l.Idle, l.Whole = or(l.First, 5*time.Minute), or(l.Idle, 90*time.Second), or(l.Whole, 30*time.Minute)
	if l.Calls <= 0 {
		l.Calls = 16
	}
	g := &Gateway{config: c, providers: map[string]*provider{}}
	for name, p := range c.Providers {
		g.providers[name] = &provider{Provider: p, name: name}
	}
	return g
}

func or[T int64 | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// Route implements agent.Gateway.
func (g *Gateway) Route(ctx context.Context, host effect.Host, name string) (agent.Route, error) {
	if host == nil {
		return nil, pawl.Fail(pawl.CodeInternal, "agent.no_host").In("gateway.Lane")
	}
	if len(g.providers) == 0 {
		return nil, pawl.Fail(pawl.CodeInvalid, "agent.no_model").In("gateway.Lane")
	}
	return &lane{g: g, ctx: ctx, host: host, agent: name, free: make(chan struct{}, g.config.Limits.Calls),
		load: newLoad(g.config.Limits.Body)}, nil
}

// ready makes the provider's connections possible, once.
func (p *provider) ready() error {
	p.once.Do(func() {
		base, err := url.Parse(strings.TrimRight(p.URL, "/"))
		if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
			p.err = pawl.Fail(pawl.CodeInvalid, "agent.gateway_url", p.name).In("gateway.Call")
			return
		}
		p.base, p.host = base, base.Host
		if p.transport = p.Transport; p.transport == nil {
			p.transport, p.err = p.dialer()
		}
	})
	return p.err
}

func (p *provider) dialer() (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	// An answer that is packed could not be read on its way.
	t.DisableCompression = true
	t.MaxIdleConnsPerHost = 32
	t.Proxy = http.ProxyFromEnvironment
	if p.Proxy != nil {
		t.Proxy = p.Proxy
	}
	if p.CAFile == "" {
		return t, nil
	}
	raw, err := os.ReadFile(p.CAFile)
	pool, poolErr := x509.SystemCertPool()
	if poolErr != nil {
		pool = x509.NewCertPool()
	}
	if err != nil || !pool.AppendCertsFromPEM(raw) {
		return nil, pawl.Fail(pawl.CodeInvalid, "agent.gateway_ca", p.CAFile).Because(err).In("gateway.Call")
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

// price adds the money to a cost.
func (g *Gateway) price(p *provider, model string, u effect.Usage) effect.Usage {
	if g.config.Price == nil || p.Unpriced {
		u.Unpriced = u.InTokens+u.OutTokens > 0
		return u
	}
	return g.config.Price(model, u)
}

// defaultOut is the longest answer that is reckoned with where nobody says.
const defaultOut = 32_000

// maxOut is how many tokens an answer may have.
func (g *Gateway) maxOut(f facts) int64 {
	n := f.out
	if n <= 0 && g.config.MaxOut != nil {
		n = g.config.MaxOut(f.model)
	}
	if n <= 0 {
		n = defaultOut
	}
	return n * f.answers
}
