// Package launch starts agents and MCP servers behind walls, with the dependencies of the project and without what
// .pawlignore hides from agents.
package launch

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/agent"
	"pawl/agent/mcptools"
	"pawl/driver/search"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/deps"
	"pawl/sandbox/egress"
	"pawl/sandbox/planted"
)

// longest is how long a program may last. Its task, or its idleness, ends it long before.
const longest = 24 * time.Hour

// Launcher starts programs. It is safe for concurrent use.
type Launcher struct {
	Box *sandbox.Box
	// Place is the workspace, empty for programs that have nothing to do with one.
	Place effect.Place
	// Deps finds what the project needs.
	Deps *deps.Finder
	// Go gives the processes of an agent their build cache of Go (verify.Host.GoCache). It may be nil.
	Go func(ctx context.Context, place effect.Place, task, use string) (sandbox.Spec, error)
}

// Environ is the part of pawl's environment that agents and servers may see.
func Environ() []string { return sandbox.Environ(os.Environ(), nil) }

// Agent is an agent.Start: models and the sites that are named are the only way out.
func (l Launcher) Agent(ctx context.Context, s agent.Spec) (agent.Process, error) {
	spec := sandbox.Spec{Argv: s.Argv, Dir: s.Dir, Env: s.Env, Writable: s.Writable, Readable: s.Readable,
		Hidden: s.Hidden, MustHide: s.MustHide, Timeout: longest}
	spec.Secret, spec.SecretFD = s.Secret, s.SecretFD
	sites, err := egress.Rules(s.Sites)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Inside != nil:
		spec.Egress, spec.Unproxied = wayOut{Proxy: egress.New(sites, egress.Options{Trusted: true}), port: s.Port,
			serve: s.Inside}, s.Unproxied
	case len(sites) > 0:
		spec.Egress = egress.New(sites, egress.Options{Trusted: true})
	}
	for _, w := range s.Writable {
		if s.Dir == w || strings.HasPrefix(s.Dir, w+"/") {
			spec.Tree = w
		}
	}
	if l.Go != nil && l.Place.Workspace != "" {
		at := l.Place
		at.Tree = s.Dir
		own, err := l.Go(ctx, at, s.Task, "agent")
		if err != nil {
			return nil, err
		}
		spec.Env, spec.Shown = append(spec.Env, own.Env...), own.Shown
		spec.Writable = append(spec.Writable, own.Writable...)
	}
	return l.start(ctx, spec)
}

// Server starts an MCP server, with the places that the user named for its only network.
func (l Launcher) Server(ctx context.Context, s mcptools.Spec) (agent.Process, error) {
	spec := sandbox.Spec{Argv: s.Argv, Dir: s.Dir, Env: s.Env, Writable: s.Writable, Readable: s.Readable,
		Hidden: s.Hidden, Timeout: longest}
	if len(s.Network) > 0 {
		rules, err := egress.Rules(s.Network)
		if err != nil {
			return nil, err
		}
		for i := range rules {
			rules[i].Private = !rules[i].Local() // the user's own settings name the host
		}
		spec.Egress = egress.New(rules, egress.Options{})
	}
	return l.start(ctx, spec)
}

func (l Launcher) start(ctx context.Context, s sandbox.Spec) (agent.Process, error) {
	s.Workspace = l.Place.Workspace
	if err := l.outfit(ctx, &s); err != nil {
		return nil, err
	}
	var before *planted.Seen
	if s.Tree != "" {
		before = planted.Look(s.Tree, s.Workspace)
	}
	p, err := l.Box.Start(ctx, s)
	if err != nil {
		return nil, err
	}
	return started{p: p, clear: func() {
		if before != nil {
			before.Clear(ctx)
		}
	}}, nil
}

// outfit completes a program that starts in the tree of a task of the workspace: with the dependencies of the project,
// and without what .pawlignore hides from agents, where the machine can hide it.
func (l Launcher) outfit(ctx context.Context, s *sandbox.Spec) error {
	tree, own := l.Place.Workspace, strings.HasPrefix(s.Dir, l.Place.Own()+"/")
	if tree == "" || !own && !strings.HasPrefix(s.Dir+"/", tree+"/") {
		return nil
	}
	s.Workspace = tree
	for _, w := range s.Writable { // the tree is the folder that the command works in, whatever folder of it it starts in
		if (s.Dir == w || strings.HasPrefix(s.Dir, w+"/")) && (own || len(w) > len(tree)) {
			tree = w
		}
	}
	at := l.Place
	at.Tree = tree
	found, err := l.Deps.Find(ctx, at)
	if err != nil {
		return err
	}
	s.Readable, s.Shown = append(s.Readable, found.Readable()...), append(s.Shown, found.Shown()...)
	if tree == l.Place.Workspace && own {
		tree = s.Dir // a server may change nothing of the tree that it starts in
	}
	for _, top := range slices.Compact([]string{tree, l.Place.Workspace}) { // around a worktree lies what it is a copy of
		hidden, err := search.Hidden(ctx, l.Place.Workspace, top)
		if err != nil {
			return err
		}
		for _, rel := range hidden {
			s.Hidden, s.MustHide = append(s.Hidden, filepath.Join(top, filepath.FromSlash(rel))), true
		}
	}
	return nil
}

// wayOut is an agent's way out: one port of its loopback, which pawl itself answers. Everything else is refused.
type wayOut struct {
	*egress.Proxy
	port  uint16
	serve func(net.Listener)
}

func (i wayOut) Local() []uint16 { return []uint16{i.port} }

func (i wayOut) ServeLocal(ctx context.Context, l net.Listener, _ uint16) error {
	i.serve(l)
	<-ctx.Done()
	return nil
}

// started is a program at work.
type started struct {
	p     *sandbox.Process
	clear func() // takes out what it planted
}

func (s started) Stdin() io.WriteCloser { return s.p.Stdin }
func (s started) Stdout() io.Reader     { return s.p.Stdout }
func (s started) Stderr() io.Reader     { return s.p.Stderr }
func (s started) Kill()                 { s.p.Kill() }

func (s started) Wait() (int, error) {
	r, err := s.p.Wait()
	s.clear()
	return r.Exit, err
}
