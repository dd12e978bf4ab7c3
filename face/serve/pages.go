package serve

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"pawl"
	"pawl/face/give"
	"pawl/face/web"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/query"
	"pawl/store/disk"
	"pawl/store/follow"
)

// label is the host name of pages, which is random and stays, in the file of that name: a browser sends a cookie to
// every port of a host, so that one of a name that others could have would be theirs as well.
func label(file string) (string, error) {
	raw, err := os.ReadFile(file)
	name := strings.TrimSpace(string(raw))
	if err == nil && strings.HasSuffix(name, ".localhost") {
		return name, nil
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		random := make([]byte, 10)
		_, _ = rand.Read(random) // it never fails
		name = "p-" + hex.EncodeToString(random) + ".localhost"
		if err = os.MkdirAll(filepath.Dir(file), 0o700); err == nil {
			err = disk.WriteFile(file, []byte(name+"\n"))
		}
	}
	if err != nil {
		return "", pawl.Fail(pawl.CodeIO, "cli.file_unwritable", file).Because(err)
	}
	return name, nil
}

// pagesOf is where the host name of the pages of a workspace is, and their door.
func (t *Tokens) pagesOf(ctx context.Context) (host string, door *web.Door, err error) {
	file, err := t.file(ctx)
	file = strings.TrimSuffix(file, ".json")
	return file + ".host", web.NewDoor(file+".codes", t.now), err
}

// Enter returns the function that makes the address by which a person enters the pages of a workspace, once and soon.
// Where nothing serves it, it fails with CodeNotFound.
func Enter(tokens *Tokens, dir string) func(context.Context, pawl.Actor) (address, code string, err error) {
	return func(ctx context.Context, person pawl.Actor) (string, string, error) {
		at, ok := Running(dir)
		if !ok {
			return "", "", pawl.Fail(pawl.CodeNotFound, "serve.not_running")
		}
		_, door, err := tokens.pagesOf(ctx)
		if err != nil {
			return "", "", err
		}
		code, err := door.Code(person)
		return at.Pages + "enter#" + code, code, err
	}
}

// pages are the pages of the workspace.
func (s *server) pages(door *web.Door, work *follow.Follower) http.Handler {
	return web.New(web.Config{
		Kernel: s.Kernel, Feed: s.Feed, Door: door, Lang: s.Lang,
		To: s.to, Look: s.Notices.Look,
		Working: s.working(), Begin: s.Begin, Work: func() { work.Within(0) }, Diff: s.Diff,
		Verify: func(ctx context.Context) (audit.Report, error) { return s.Verify(ctx) },
	})
}

// to is whom commands about a session are given to.
func (s *server) to(k *kernel.Kernel) give.To {
	return give.To{Kernel: k, Packages: s.Project.Packages}
}

// working says which processes work.
func (s *server) working() query.Working { return query.Working{Owner: s.Worker, Alive: s.Alive} }
