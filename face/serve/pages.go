package serve

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"

	"pawl"
	"pawl/face/api"
	"pawl/face/give"
	"pawl/face/web"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/view"
	"pawl/store/disk"
	"pawl/store/follow"
)

// label is the host name of the pages of a workspace, which is random and stays: a browser sends a cookie to every port
// of a host, so that one of a name that others could have would be theirs as well.
func (t *Tokens) label(ctx context.Context) (string, error) {
	file, err := t.file(ctx)
	if err != nil {
		return "", err
	}
	file = strings.TrimSuffix(file, ".json") + ".host"
	raw, err := os.ReadFile(file)
	name := strings.TrimSpace(string(raw))
	if err == nil && strings.HasSuffix(name, ".localhost") {
		return name, nil
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		random := make([]byte, 10)
		_, _ = rand.Read(random) // it never fails
		name = "p-" + hex.EncodeToString(random) + ".localhost"
		if err = os.MkdirAll(t.dir, 0o700); err == nil {
			err = disk.WriteFile(file, []byte(name+"\n"))
		}
	}
	if err != nil {
		return "", pawl.Fail(pawl.CodeIO, "cli.file_unwritable", file).Because(err)
	}
	return name, nil
}

// door is the door of the pages of a workspace.
func (t *Tokens) door(ctx context.Context) (*web.Door, error) {
	file, err := t.file(ctx)
	return web.NewDoor(strings.TrimSuffix(file, ".json")+".codes", t.now), err
}

// Enter returns the function that makes the address by which a person enters the pages of a workspace, once and soon.
// Where nothing serves it, it fails with CodeNotFound.
func Enter(tokens *Tokens, dir string) func(context.Context, pawl.Actor) (address, code string, err error) {
	return func(ctx context.Context, person pawl.Actor) (string, string, error) {
		at, ok := Running(dir)
		if !ok {
			return "", "", pawl.Fail(pawl.CodeNotFound, "serve.not_running")
		}
		door, err := tokens.door(ctx)
		if err != nil {
			return "", "", err
		}
		code, err := door.Code(person)
		return at.Pages + "enter#" + code, code, err
	}
}

// pages are the pages of the workspace.
func (s *server) pages(ctx context.Context, work *follow.Follower) (http.Handler, error) {
	door, err := s.tokens.door(ctx)
	return web.New(web.Config{
		Kernel: s.Kernel, Feed: s.Feed, Door: door, Lang: s.Lang,
		To:    s.to,
		Owner: s.owner, Work: func() { work.Within(0) }, Diff: s.Diff,
		Verify: func(ctx context.Context) (audit.Report, error) { return s.Verify(ctx) },
	}), err
}

// to is whom commands about a session are given to.
func (s *server) to(k *kernel.Kernel) give.To {
	return give.To{Kernel: k, Packages: s.Project.Packages}
}

// owner says which process works.
func (s *server) owner() *view.Owner {
	o, ok := s.Workspace.Owner()
	if !ok {
		return nil
	}
	return &view.Owner{PID: o.PID, Host: o.Host, Started: o.Started, Command: o.Command, State: o.State}
}

// hosts serves the pages under the name that is theirs alone, and the API beside them and under the machine's own.
type hosts struct {
	label, at string
	pages     http.Handler
	api       http.Handler
}

// ServeHTTP implements http.Handler.
func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, _ := net.SplitHostPort(r.Host) // the guard has looked at it
	switch {
	case r.URL.Path == api.Root || strings.HasPrefix(r.URL.Path, api.Root+"/"):
		h.api.ServeHTTP(w, r)
	case strings.EqualFold(name, h.label):
		h.pages.ServeHTTP(w, r)
	case r.URL.Path == "/" && r.Method == http.MethodGet:
		http.Redirect(w, r, h.at, http.StatusSeeOther)
	default:
		h.api.ServeHTTP(w, r)
	}
}
