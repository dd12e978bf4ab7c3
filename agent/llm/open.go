package llm

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/agent/wire"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// Settings say which model answers, and where. None of them is a key, and none may come from a project.
type Settings struct {
	// Kind is whose interface it speaks; "" is found from the model's name, and OpenAI's otherwise. API chooses between
	// the forms of OpenAI: chat, which "" stands for, or responses.
	Kind wire.Provider
	API  string
	// BaseURL is where the model answers, the kind's own provider unless set.
	BaseURL string
	// KeyEnv names the variable that holds the key, KeyRing the entry of a keyring, which comes first, and KeyFile the
	// file, which comes before both. With none of them, the kind's usual variable is read, but for the kind's own
	// provider only: nobody else gets that key.
	KeyEnv, KeyRing, KeyFile string
	// Ring reads an entry of a keyring; required where KeyRing is set.
	Ring func(ctx context.Context, entry string) (string, error)
	// CAFile holds further certificates to trust, PEM. Prices is a file as ParsePrices reads it.
	CAFile, Prices string
	// Name is the model; Intent, Planning, Implementation and Review name others for single purposes, "" for Name.
	Name, Intent, Planning, Implementation, Review string
	Fallbacks                                      []string
	// Window is the size of the model's context in tokens, 0 for what is known of it.
	Window int64
	// Tools are what the model may ask for; Limits bound its plans.
	Tools []effect.ToolInfo
	// Flaw is why not all of the tools that the user wants can be offered, nil where they can. No work is begun then:
	// the model would do without them, and nobody would know.
	Flaw    error
	Limits  plan.Limits
	Chinese bool
	// Workspace is the project: no key is read from inside it.
	Workspace string
	// Env reads the environment; required. Home is the user's home, for paths that begin with ~/.
	Env  func(string) string
	Home string
	// Idle bounds the silence of a stream, Limit one exchange; 0 as Client and Config say.
	Idle, Limit time.Duration
	// Record is told of each exchange; it may be nil. HTTP replaces the network; no key is read then.
	Record func(Exchange)
	HTTP   http.RoundTripper
	// Pause is Config.Pause.
	Pause func(context.Context, time.Duration) error
}

// Open returns the agent of some settings. Nothing is read, resolved or dialled before the first exchange, so that
// every command can afford it; what is wrong with the settings the first exchange says, and Ready.
func Open(s Settings) *Agent {
	work := first(s.Implementation, s.Name)
	if s.Kind == "" {
		s.Kind = kindOf(first(s.Name, work), s.BaseURL)
	}
	a := New(Config{Intent: first(s.Intent, s.Name), Planning: first(s.Planning, s.Name), Work: work, Review: s.Review,
		Fallbacks: s.Fallbacks, Tools: s.Tools,
		Limits: s.Limits, Window: s.Window, Limit: s.Limit, Chinese: s.Chinese, Pause: s.Pause})
	a.settings = s
	a.config.Connect = s.connect
	if s.Prices != "" {
		book := priceBook{path: s.path(s.Prices)}
		a.config.Price = book.price
	}
	return a
}

// kindOf finds whose model it is that is asked for at its own provider.
func kindOf(model, base string) wire.Provider {
	switch {
	case base != "":
		return wire.OpenAI
	case strings.HasPrefix(model, "claude-"):
		return wire.Anthropic
	case strings.HasPrefix(model, "gemini-"):
		return wire.Google
	}
	return wire.OpenAI
}

// path makes a path of a setting absolute, as far as it can be.
func (s Settings) path(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok && s.Home != "" {
		return filepath.Join(s.Home, rest)
	}
	return p
}

// endpoint completes the base address: people leave out, or put in, what belongs to the wire form.
func (s Settings) endpoint() (string, error) {
	base := strings.TrimRight(first(s.BaseURL, s.Kind.URL()), "/")
	u, err := url.Parse(base)
	switch {
	case err != nil:
		// The error of the parser repeats the address, which may hold a password.
		return "", pawl.Fail(pawl.CodeInvalid, "llm.endpoint", "…").In("llm.Open")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "":
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		return "", pawl.Fail(pawl.CodeInvalid, "llm.endpoint", u.String()).In("llm.Open")
	}
	switch s.Kind {
	case wire.Anthropic:
		base = strings.TrimSuffix(base, "/v1")
	case wire.Google:
		base = strings.TrimSuffix(base, "/v1beta")
	default:
		if u.Path == "" {
			base += "/v1"
		}
	}
	return base, nil
}

// connect makes the provider.
func (s Settings) connect() (Provider, error) {
	form := s.Kind.Form(s.API)
	if form == "" {
		return nil, pawl.Fail(pawl.CodeInvalid, "llm.kind", string(s.Kind)).In("llm.Open")
	}
	base, err := s.endpoint()
	if err != nil {
		return nil, err
	}
	c := &Client{URL: base, HTTP: s.HTTP, Record: s.Record, Idle: s.Idle}
	if c.HTTP == nil {
		if c.HTTP, err = Transport(s.path(s.CAFile)); err != nil {
			return nil, err
		}
		c.Key = s.keys(base).Read
	}
	return Speak(form, c), nil
}

// keys says where the key of an endpoint is.
func (s Settings) keys(base string) Keys {
	k := Keys{Env: s.KeyEnv, Entry: s.KeyRing, Ring: s.Ring, File: s.path(s.KeyFile), Getenv: s.Env,
		Workspace: s.Workspace, Home: s.Home}
	if k.Env == "" && k.Entry == "" && k.File == "" && base == s.Kind.URL() {
		k.Env = s.Kind.KeyEnv()
	}
	return k
}

// Ready says what keeps the agent from working, as far as that can be seen without asking the endpoint: no model
// (CodeEnvironment), no key (CodeLogin), settings that make no sense (CodeInvalid).
func (a *Agent) Ready() error {
	if a.config.Work == "" {
		return pawl.Fail(pawl.CodeEnvironment, "llm.no_model").In("llm.Ready")
	}
	if _, err := a.provider(); err != nil {
		return err
	}
	if _, _, err := a.config.Price(a.config.Work); err != nil {
		return err
	}
	if err := a.flaw(); err != nil {
		return err
	}
	if a.settings.Env == nil || a.settings.HTTP != nil {
		return nil
	}
	base, err := a.settings.endpoint()
	if err == nil {
		_, err = a.settings.keys(base).Read()
	}
	return err
}

// flaw says that the model would have to do without tools that the user wants.
func (a *Agent) flaw() error {
	if a.settings.Flaw == nil {
		return nil
	}
	return pawl.Fail(pawl.CodeEnvironment, "llm.tools").Because(a.settings.Flaw).In("llm.Tools")
}

// Models asks the endpoint which models it has.
func (a *Agent) Models(ctx context.Context) ([]string, error) {
	p, err := a.provider()
	if err != nil {
		return nil, err
	}
	if l, ok := p.(lister); ok {
		return l.Models(ctx)
	}
	return nil, nil
}

// connecting keeps the provider once there is one.
type connecting struct {
	mu       sync.Mutex
	provider Provider
}

func (a *Agent) provider() (Provider, error) {
	a.once.mu.Lock()
	defer a.once.mu.Unlock()
	if a.once.provider != nil {
		return a.once.provider, nil
	}
	p, err := a.config.Connect()
	if err == nil {
		a.once.provider = p
	}
	return p, err
}

// priceBook is a file of prices over the built-in ones, read when it is first needed.
type priceBook struct {
	path string
	mu   sync.Mutex
	own  map[string]Price
}

func (b *priceBook) price(model string) (Price, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.own == nil {
		raw, err := readSmall(b.path, maxPrices)
		if err != nil {
			return Price{}, false, pawl.Fail(pawl.CodeEnvironment, "llm.prices", b.path).Because(err).In("llm.Price")
		}
		if b.own, err = ParsePrices(b.path, raw); err != nil {
			return Price{}, false, err
		}
	}
	if p, ok := longest(b.own, model); ok {
		return p, true, nil
	}
	p, ok := KnownPrice(model)
	return p, ok, nil
}

// readSmall reads a regular file of bounded size.
func readSmall(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	case info.Size() > most:
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("too large")}
	}
	return os.ReadFile(path)
}
