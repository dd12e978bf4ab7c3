// Package externaltest is what tests of external agents need: a host that makes calls without a kernel, a start without
// walls, and a gateway that passes everything on.
package externaltest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pawl"
	"pawl/agent"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// Host makes calls in Tree at once.
type Host struct {
	Tree string
	// Refuse refuses a call before it is made or judged.
	Refuse func(effect.Ask) error

	mu       sync.Mutex
	made     []effect.Ask
	judged   []effect.Ask
	sessions []string
}

var (
	_ effect.Host = (*Host)(nil)
	_ effect.Host = Judging{}
	_ agent.Judge = Judging{}
)

// Judging is a Host that can judge without making.
type Judging struct{ Host *Host }

// Call implements effect.Host.
func (h Judging) Call(ctx context.Context, a effect.Ask) (effect.Receipt, error) {
	return h.Host.Call(ctx, a)
}

// Reserve implements effect.Host.
func (h Judging) Reserve(ctx context.Context, most effect.Usage) (func(effect.Usage), error) {
	return h.Host.Reserve(ctx, most)
}

// Bind implements effect.Host.
func (h Judging) Bind(ctx context.Context, session string) error { return h.Host.Bind(ctx, session) }

// Judge implements agent.Judge.
func (h Judging) Judge(_ context.Context, a effect.Ask) error {
	h.Host.mu.Lock()
	h.Host.judged = append(h.Host.judged, a)
	h.Host.mu.Unlock()
	if h.Host.Refuse != nil {
		return h.Host.Refuse(a)
	}
	return nil
}

// Made, Judged and Sessions return what was asked so far.
func (h *Host) Made() []effect.Ask {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]effect.Ask(nil), h.made...)
}
func (h *Host) Judged() []effect.Ask {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]effect.Ask(nil), h.judged...)
}
func (h *Host) Sessions() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.sessions...)
}

// Reserve sets nothing aside.
func (h *Host) Reserve(context.Context, effect.Usage) (func(effect.Usage), error) {
	return func(effect.Usage) {}, nil
}

// Bind remembers the session.
func (h *Host) Bind(_ context.Context, session string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions = append(h.sessions, session)
	return nil
}

// Call makes a call of read_file, write_file, delete_file or run_terminal_cmd.
func (h *Host) Call(ctx context.Context, a effect.Ask) (effect.Receipt, error) {
	if ctx.Err() != nil {
		return effect.Receipt{}, pawl.Fail(pawl.CodeCanceled, "agent.canceled", "test")
	}
	if h.Refuse != nil {
		if err := h.Refuse(a); err != nil {
			return effect.Receipt{}, err
		}
	}
	h.mu.Lock()
	h.made = append(h.made, a)
	h.mu.Unlock()
	var args struct{ Path, Content, Command string }
	if err := json.Unmarshal(a.Args, &args); err != nil {
		return effect.Receipt{}, pawl.Fail(pawl.CodeInvalid, "agent.foreign_effect", a.Name)
	}
	payload, err := h.make(ctx, a.Name, args.Path, args.Content, args.Command)
	if errors.Is(err, fs.ErrNotExist) {
		return effect.Failed(pawl.Fail(pawl.CodeNotFound, "file.not_found", args.Path)), nil
	}
	if err != nil {
		return effect.Failed(pawl.Fail(pawl.CodeIO, "agent.foreign_effect", a.Name).Because(err)), nil
	}
	return effect.Succeeded(effect.ToolResult{CallID: a.ID, Payload: effect.Encode(payload)}), nil
}

func (h *Host) make(ctx context.Context, tool, path, content, command string) (any, error) {
	path = filepath.Join(h.Tree, path)
	switch tool {
	case "read_file":
		raw, err := os.ReadFile(path)
		sum := sha256.Sum256(raw)
		return map[string]any{"content": string(raw), "encoding": "utf-8", "start_line": 1,
			"end_line": strings.Count(string(raw), "\n"), "sha256": hex.EncodeToString(sum[:])}, err
	case "write_file":
		return nil, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600))
	case "delete_file":
		return nil, os.Remove(path)
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir = h.Tree
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return nil, err
	}
	return map[string]any{"exit_code": cmd.ProcessState.ExitCode(), "output": string(out)}, nil
}

// Gateway passes everything below the path of its provider on to a model server. Fail makes it refuse for good.
type Gateway struct {
	URL string

	mu     sync.Mutex
	failed error
}

// Fail lets the lane's Err be err from now on.
func (g *Gateway) Fail(err error) { g.mu.Lock(); g.failed = err; g.mu.Unlock() }

// Route implements agent.Gateway.
func (g *Gateway) Route(context.Context, effect.Host, string) (agent.Route, error) {
	return lane{g, new(atomic.Int64)}, nil
}

type lane struct {
	through *Gateway
	calls   *atomic.Int64
}

func (l lane) URL(provider string) string { return "/" + provider }

func (l lane) Usage() effect.Usage {
	return effect.Usage{Requests: l.calls.Load()}
}

func (l lane) Refused() error { return l.Err() }

func (l lane) Err() error {
	l.through.mu.Lock()
	defer l.through.mu.Unlock()
	return l.through.failed
}

func (l lane) Serve(ctx context.Context, at net.Listener) error {
	target, err := url.Parse(l.through.URL)
	if err != nil {
		return err
	}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		_, r.Out.URL.Path, _ = strings.Cut(strings.TrimPrefix(r.In.URL.Path, "/"), "/")
		r.Out.URL.Path, r.Out.URL.RawPath = "/"+r.Out.URL.Path, ""
		l.calls.Add(1)
	}}
	srv := &http.Server{Handler: proxy}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(at); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// Port returns a port that is free.
func Port(t testing.TB) uint16 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return uint16(l.Addr().(*net.TCPAddr).Port)
}

// Work returns an effect of work on one step in a new workspace, whose tree is the workspace itself, with files.
func Work(t testing.TB, files map[string]string, change func(*effect.WorkSpec)) effect.Effect {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := effect.WorkSpec{Goal: "mend Add", Step: "s1",
		Plan: plan.Plan{Goal: "mend Add", Steps: []plan.Step{{StepID: "s1", Title: "Mend", Intent: "make Add add",
			Status: plan.Pending}}}}
	if change != nil {
		change(&spec)
	}
	return effect.Effect{ID: "01J", Task: "task-1", Kind: effect.KindWork,
		Place: effect.Place{Workspace: dir, Tree: dir}, Spec: effect.Encode(spec)}
}

// Result decodes a receipt's result.
func Result(t testing.TB, r effect.Receipt) effect.WorkResult {
	t.Helper()
	w, err := effect.Decode[effect.WorkResult](r.Result)
	if err != nil {
		t.Fatalf("no result: %v (%s %s %s)", err, r.Code, r.Key, r.Detail)
	}
	return w
}
