package mcptools

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/store/disk"
)

// Spec describes the process of a server. Paths are absolute.
type Spec struct {
	Argv []string
	Dir  string
	Env  []string
	// Writable is what the server may change; what is Readable is read-only, also inside of what is Hidden.
	Writable, Readable, Hidden []string
	// Network are the only places that it may connect to.
	Network []string
}

// Place is where a server works.
type Place struct {
	// State is pawl's own directory for a workspace, in which the server has a home of its own.
	State string
	// Tree is its working directory. It can be read and not changed: whatever is changed is changed by pawl's own
	// tools.
	Tree string
}

// Config is what a Hub needs of the program around it.
type Config struct {
	// Start starts a process behind walls. It ends with ctx.
	Start func(ctx context.Context, s Spec) (agent.Process, error)
	// Transport carries requests to servers at an address.
	Transport func() (http.RoundTripper, error)
	// Environ is the harmless environment that servers' own variables are added to, and Getenv reads pawl's own.
	Environ []string
	Getenv  func(string) string
	Version string
	// Limit bounds one call, Dial the time until a server is ready, which may include its installation, and Idle is how
	// long it is kept without a call; 2 minutes, 2 minutes and 1 minute unless set.
	Limit, Dial, Idle time.Duration
}

// Hub speaks to servers. It is safe for concurrent use. Close ends every program.
type Hub struct {
	config Config
	work   context.Context
	stop   context.CancelFunc

	mu    sync.Mutex
	lines map[string]*held
}

// held is the place of one connection: to one server, for one tree.
type held struct {
	mu    sync.Mutex // held during a call
	line  *line
	timer *time.Timer
}

// errSlow is the cause of a context that pawl ended because a server took too long.
var errSlow = errors.New("the server took too long")

// New returns a hub. Nothing is started before it is needed.
func New(c Config) *Hub {
	for _, d := range []struct {
		at    *time.Duration
		usual time.Duration
	}{{&c.Limit, 2 * time.Minute}, {&c.Dial, 2 * time.Minute}, {&c.Idle, time.Minute}} {
		if *d.at <= 0 {
			*d.at = d.usual
		}
	}
	h := &Hub{config: c, lines: map[string]*held{}}
	h.work, h.stop = context.WithCancel(context.Background())
	return h
}

// Close ends every connection and every program, and waits until nothing of them is left. The hub cannot be used
// afterwards.
func (h *Hub) Close() {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.lines))
	h.mu.Unlock()
	h.stop()
	for _, e := range all {
		e.mu.Lock()
		e.drop()
		e.mu.Unlock()
	}
}

// drop ends the connection. The caller holds the lock.
func (e *held) drop() {
	if e.timer != nil {
		e.timer.Stop()
		e.timer = nil
	}
	if e.line != nil {
		e.line.close()
		e.line = nil
	}
}

func (h *Hub) held(s Server, p Place) *held {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := s.Name + "\x00" + p.Tree
	if h.lines[key] == nil {
		h.lines[key] = &held{}
	}
	return h.lines[key]
}

// rest lets a connection end when it is not needed for a while.
func (h *Hub) rest(e *held) {
	if e.line == nil {
		return
	}
	if e.timer != nil {
		e.timer.Stop()
	}
	var own *time.Timer
	own = time.AfterFunc(h.config.Idle, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.timer == own {
			e.drop()
		}
	})
	e.timer = own
}

// ready has a connection whose tools are exactly those that are trusted. The caller holds the lock of e.
func (h *Hub) ready(ctx context.Context, s Server, trusted Document, p Place, e *held) error {
	if h.work.Err() != nil {
		return pawl.Fail(pawl.CodeCanceled, "mcptools.canceled", s.Name).In("mcptools.Connect")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, h.config.Dial, errSlow)
	defer cancel()
	if e.line != nil {
		// A program that ended meanwhile, or a session that its server forgot, is begun anew: a list may be asked for
		// again.
		err := e.agrees(ctx, s, trusted)
		if err == nil || pawl.CodeOf(err) == pawl.CodeCanceled || isChanged(err) {
			return err
		}
		e.drop()
	}
	line, err := h.dial(ctx, s, p)
	if err != nil {
		return err
	}
	e.line = line
	if err := e.agrees(ctx, s, trusted); err != nil {
		e.drop()
		return err
	}
	return nil
}

// agrees asks the server for its tools and refuses it where they are not those that are trusted.
func (e *held) agrees(ctx context.Context, s Server, trusted Document) error {
	tools, err := e.line.offered(ctx, s)
	if pawl.CodeOf(err) == pawl.CodeInvalid {
		return changed(s, "").Because(err)
	}
	if err != nil {
		return err
	}
	is, err := describe(s, e.line.reach, tools)
	if err != nil {
		return changed(s, "").Because(err)
	}
	raw, err := is.Canonical()
	if err != nil {
		return pawl.Fail(pawl.CodeInternal, "mcptools.schema", s.Name, "").Because(err).In("mcptools.Connect")
	}
	if DigestOf(raw) == s.Digest {
		return nil
	}
	return changed(s, list(changes(trusted, is)))
}

// changed is the refusal of a server that is not what was trusted. Where what it offers could not be offered at all,
// its cause says so.
func changed(s Server, what string) *pawl.Error {
	if what == "" {
		what = "…"
	}
	return pawl.Fail(pawl.CodeEnvironment, changedKey, s.Name, what).In("mcptools.Connect")
}

const changedKey = "mcptools.changed"

func isChanged(err error) bool {
	var e *pawl.Error
	return errors.As(err, &e) && e.Key == changedKey
}

// maxListed is how many differences an error names.
const maxListed = 12

// list writes differences on one line.
func list(all []string) string {
	more := ""
	if len(all) > maxListed {
		all, more = all[:maxListed], ", …"
	}
	return agent.Line(strings.Join(all, ", ")) + more
}

// start starts a server's program, with a home of its own in the state of the workspace. It cannot see the store, nor
// what other tasks do.
func (h *Hub) start(ctx context.Context, s Server, p Place) (*program, error) {
	fail := func(err error) (*program, error) {
		return nil, pawl.Fail(pawl.CodeEnvironment, "mcptools.not_started", s.Name).Because(err).In("mcptools.Start")
	}
	root, err := disk.Root(p.State)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	side := path.Join("mcp", s.Name)
	if err := root.MkdirAll(side, 0o700); err != nil {
		return fail(err)
	}
	home := filepath.Join(root.Name(), filepath.FromSlash(side))
	env, err := s.env(h.config.Environ, h.config.Getenv, home)
	if err != nil {
		return nil, err
	}
	spec := Spec{Argv: s.Command, Dir: p.Tree, Env: env, Writable: []string{home},
		Hidden: []string{root.Name()}, Readable: []string{p.Tree}, Network: s.Network}
	for _, word := range s.Command {
		// Another file of the user's home may be hidden; one that the settings name is meant to be read.
		if info, err := os.Stat(word); filepath.IsAbs(word) && err == nil && info.Mode().IsRegular() {
			spec.Readable = append(spec.Readable, word)
		}
	}
	// The program outlives the call for which it is started, and ends with the hub.
	started, err := h.config.Start(h.work, spec)
	if err != nil {
		return fail(err)
	}
	return watch(started), ctx.Err()
}

// Offer is what a server offers now.
type Offer struct {
	Document Document
	// Raw is the canonical form, and Digest the digest of exactly that.
	Raw    []byte
	Digest string
	// Changed says what differs from what is trusted, and Known that something is.
	Changed []string
	Known   bool
}

// Ask starts a server for a moment, in an empty folder, and returns what it offers.
func (h *Hub) Ask(ctx context.Context, s Server) (o Offer, err error) {
	if err := s.Valid(); err != nil {
		return o, err
	}
	dir, err := os.MkdirTemp("", "pawl-mcp-")
	if err != nil {
		return o, pawl.Fail(pawl.CodeEnvironment, "mcptools.not_started", s.Name).Because(err).In("mcptools.Ask")
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeoutCause(ctx, h.config.Dial, errSlow)
	defer cancel()
	l, err := h.dial(ctx, s, Place{State: dir, Tree: dir})
	if err != nil {
		return o, err
	}
	defer l.close()
	tools, err := l.offered(ctx, s)
	if err != nil {
		return o, err
	}
	if o.Document, err = describe(s, l.reach, tools); err != nil {
		return o, err
	}
	if o.Raw, err = o.Document.Canonical(); err != nil {
		return o, pawl.Fail(pawl.CodeInternal, "mcptools.schema", s.Name, "").Because(err).In("mcptools.Ask")
	}
	o.Digest = DigestOf(o.Raw)
	if s.Digest != "" && s.Digest != o.Digest {
		if trusted, err := s.kept(); err == nil {
			o.Known, o.Changed = true, changes(trusted, o.Document)
		}
	}
	return o, nil
}
