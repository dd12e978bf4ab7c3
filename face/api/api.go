// Package api is the face for programs and pages: every question of package query, and every command of a person, over
// HTTP with a document that describes them (OpenAPI 3.1). It has no state, no rule and no right of its own: it asks
// package query, gives commands to the kernel in the way that all faces have, and tells of what is committed as it is
// committed, from whatever place in the audit log its client asks for.
package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"pawl"
	"pawl/face/give"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/query"
	"pawl/store/feed"
	"pawl/store/logs"
	"pawl/text/message"
	"pawl/text/strictjson"
)

// Version is that of the API, and Root where that is. What breaks its clients comes with the next version
// (internal/contract).
const (
	Version = "1"
	Root    = "/api/v" + Version
)

// Scope is what a caller may do.
type Scope string

// The scopes. To approve is a person's: a caller that has it speaks for the person who gave it.
const (
	Read    Scope = "read"
	Act     Scope = "act"
	Approve Scope = "approve"
)

// Caller is who speaks.
type Caller struct {
	// Name tells callers apart; two of the same name share the keys of their requests.
	Name string
	// By is in whose name it is recorded what the caller does, and Person in whose what it decides, "" where a caller
	// decides in its own name.
	By, Person pawl.Actor
	Scopes     []Scope
}

// may reports whether a caller has a scope.
func (c *Caller) may(s Scope) bool { return slices.Contains(c.Scopes, s) }

// Config is what a Server is made of.
type Config struct {
	Kernel *kernel.Kernel
	Feed   *feed.Feed
	// Logs are where commands and agents write while they work.
	Logs logs.Dir
	// To gives commands to a kernel.
	To func(k *kernel.Kernel) give.To
	// Working says which processes run the work. Its functions may be nil.
	query.Working
	// Begin makes the command that takes a requirement up (host.Offering).
	Begin func(ctx context.Context, r host.Requirement) (kernel.Command, error)
	// Work has the work go on after a command. It returns at once, and may be nil.
	Work    func()
	Version string
	// Lang is the language of what is described and of errors.
	Lang message.Lang
	// Who says who makes a request; nil is nobody who is known.
	Who func(r *http.Request) *Caller
}

// Server serves one workspace to any number of clients. It is safe for concurrent use.
type Server struct {
	Config
	mux  *http.ServeMux
	api  huma.API
	ask  query.Reader
	spec func() []byte
}

// own is where the language and the caller of a request are in its context.
type own struct{}

// asked is what is known of a request.
type asked struct {
	lang   message.Lang
	caller *Caller
}

// prepare has the library speak of errors as we do, and take a name for itself alone, which it can be told for a whole
// process only.
var prepare = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	huma.NewError = func(status int, text string, details ...error) huma.StatusError {
		return problemOf(message.English, status, text, details)
	}
	huma.NewErrorWithContext = func(c huma.Context, status int, text string, details ...error) huma.StatusError {
		lang := message.English
		if c != nil {
			if a, ok := c.Context().Value(own{}).(asked); ok {
				lang = a.lang
			}
		}
		return problemOf(lang, status, text, details)
	}
})

// New returns a server with every question and command.
func New(c Config) *Server {
	prepare()
	s := &Server{Config: c, mux: http.NewServeMux(), ask: query.Of(c.Kernel)}
	config := huma.DefaultConfig("pawl", Version)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath, config.CreateHooks = "", "", "", nil
	config.RejectUnknownQueryParameters = true
	plain := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}
	config.Formats = map[string]huma.Format{"application/json": plain, "json": plain}
	config.Info.Description = message.English.Text("api.about")
	config.Servers = []*huma.Server{{URL: Root}}
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", nameOf)
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	s.api = humago.NewWithPrefix(s.mux, Root, config)
	s.readings()
	s.commands()
	s.events()
	s.spec = sync.OnceValue(func() []byte {
		raw, err := json.MarshalIndent(s.api.OpenAPI(), "", " ")
		if err != nil {
			return nil // it is made of what was registered, and the golden file shows it
		}
		return append(raw, '\n')
	})
	s.mux.HandleFunc("GET "+Root+"/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(s.spec())
	})
	s.mux.HandleFunc(Root+"/", s.nothing)
	return s
}

// Document is the description of the API.
func (s *Server) Document() []byte { return s.spec() }

// unmarshal reads a body so that every reader takes the same from the same bytes.
func unmarshal(data []byte, into any) error {
	if _, err := strictjson.Parse(data, strictjson.Options{Depth: 100}); err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := asked{lang: s.Lang}
	if s.Who != nil {
		a.caller = s.Who(r)
	}
	s.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), own{}, a)))
}

// nothing answers what no operation is for.
func (s *Server) nothing(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != Root+"/" {
			allowed = append(allowed, method)
		}
	}
	p := s.problem(pawl.Fail(pawl.CodeNotFound, "api.nothing", r.URL.Path, Root+"/openapi.json"))
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		p = problemOf(s.Lang, http.StatusMethodNotAllowed, "", nil)
	}
	p.write(w)
}

// Refuse answers a request that is not let in.
func (s *Server) Refuse(w http.ResponseWriter, _ *http.Request, err error) { s.problem(err).write(w) }

// callerOf is who speaks, if it may do what a scope is for.
func callerOf(ctx context.Context, need Scope) (*Caller, error) {
	a, _ := ctx.Value(own{}).(asked)
	switch {
	case a.caller == nil:
		return nil, pawl.Fail(pawl.CodeLogin, "api.token")
	case !a.caller.may(need):
		return nil, pawl.Fail(pawl.CodeDenied, "api.scope", a.caller.Name, string(need))
	}
	return a.caller, nil
}

// at returns the kernel of the session that a request is about: that of an issue, or of the person who sits in the
// workspace.
func (s *Server) at(ctx context.Context, issue string) (*kernel.Kernel, error) {
	if issue == "" {
		return s.Kernel, nil
	}
	i, err := s.ask.Board().Issue(ctx, issue)
	if err != nil {
		return nil, err
	}
	return s.Kernel.Session(i.Label), nil
}
