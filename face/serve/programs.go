package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"pawl"
	"pawl/face/api"
	"pawl/face/host"
	"pawl/face/loopback"
	"pawl/store/follow"
	"pawl/store/logs"
)

// The files of a server in the state of the workspace: the lock that the one server holds, where it is, and the
// directory of the socket, which nobody but the user can enter.
const (
	lockName = "serve.lock"
	hereName = "serve.json"
	sockets  = "serve"
)

// maxSocket is the longest name of a socket that every system takes, in bytes.
const maxSocket = 100

// Programs returns the function that serves a workspace to programs and pages, with dir for its state.
func Programs(w *host.Workspace, tokens *Tokens, dir, version string) func(context.Context, host.Offering) error {
	return func(ctx context.Context, o host.Offering) error {
		s := &server{Workspace: w, tokens: tokens, dir: dir, version: version, Offering: o}
		return s.run(ctx)
	}
}

// server is one server at work.
type server struct {
	*host.Workspace
	host.Offering
	tokens  *Tokens
	dir     string
	version string
}

// run serves until ctx ends.
func (s *server) run(ctx context.Context) error {
	file, door, err := s.tokens.pagesOf(ctx)
	if err != nil {
		return err
	}
	p := place{lock: filepath.Join(s.dir, lockName), here: filepath.Join(s.dir, hereName), label: file}
	return p.serve(ctx, s.Addr, func(ctx context.Context, l net.Listener, at host.Offered) error {
		socket, err := s.socket(ctx)
		if err != nil {
			return err
		}
		if socket != nil {
			defer func() { _ = socket.Close(); _ = os.Remove(filepath.Join(s.dir, sockets)) }()
			at.Socket = socket.Addr().String()
		}
		// The work that a command asks for ends with the server, and is taken up again by whoever works next.
		work := follow.New(func() {
			if ctx.Err() == nil && s.Advance != nil {
				s.Failed(s.Advance(ctx))
			}
		})
		defer work.Close()
		if s.Notices.Start != nil {
			s.Notices.Start()
		}
		served := s.api(work)
		if err := p.announce(at); err != nil {
			return err
		}
		s.Ready(at)
		return both(ctx, func(ctx context.Context) error {
			return loopback.Serve(ctx, l, guard(at, s.pages(door, work), served, served.Refuse), nil)
		}, func(ctx context.Context) error {
			if socket == nil {
				return nil
			}
			return loopback.Serve(ctx, socket, &loopback.Guard{Next: served, Refuse: served.Refuse},
				func(s *http.Server) { s.ConnContext = peerOf })
		})
	})
}

// both does two things until both have ended; the first that fails ends the other.
func both(ctx context.Context, one, two func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wait sync.WaitGroup
	var failed [2]error
	for i, f := range []func(context.Context) error{one, two} {
		wait.Go(func() {
			if failed[i] = f(ctx); failed[i] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	return errors.Join(failed[:]...)
}

// socket listens at a socket of the file system that only the user can reach, nil where there can be none.
func (s *server) socket(ctx context.Context) (net.Listener, error) {
	folder := filepath.Join(s.dir, sockets)
	path := filepath.Join(folder, "api.sock")
	if runtime.GOOS == "windows" || len(path) > maxSocket {
		return nil, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "cli.file_unwritable", folder).Because(err)
	}
	info, err := os.Lstat(folder)
	if err == nil && (!info.IsDir() || info.Mode().Perm() != 0o700) {
		err = os.Chmod(folder, 0o700)
		if !info.IsDir() {
			err = errors.New(info.Mode().String())
		}
	}
	if err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "cli.file_unwritable", folder).Because(err)
	}
	// One that is there was left by a server which was killed: the lock is ours.
	_ = os.Remove(path)
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path) // which removes it again when it is closed
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, pawl.Fail(pawl.CodeEnvironment, "loopback.taken", path).Because(err)
	}
	return l, nil
}

// api is what answers.
func (s *server) api(work *follow.Follower) *api.Server {
	return api.New(api.Config{
		Kernel: s.Kernel, Feed: s.Feed, Logs: logs.Of(s.Place.Own()), Version: s.version, Lang: s.Lang,
		To: s.to, Working: s.working(),
		Begin: s.Begin, Work: func() { work.Within(0) }, Who: s.who,
	})
}

// who says who makes a request: the token that it shows, or the program at the socket, which speaks as one that is
// called at a terminal would that nobody sits at.
func (s *server) who(r *http.Request) *api.Caller {
	if shown := loopback.Bearer(r.Header); shown != "" || r.Context().Value(peer{}) == nil {
		k := s.tokens.known(r.Context(), shown)
		if k == nil {
			return nil
		}
		c := &api.Caller{Name: k.Name, By: pawl.By(pawl.KindAutomation, k.Name), Person: k.Person}
		for _, scope := range k.Scopes {
			c.Scopes = append(c.Scopes, api.Scope(scope))
		}
		return c
	}
	name, _ := r.Context().Value(peer{}).(string)
	return &api.Caller{Name: name, By: pawl.By(pawl.KindAutomation, name), Scopes: []api.Scope{api.Read, api.Act}}
}

// peer is where the name of the program at the other end of a socket is in the context of its requests.
type peer struct{}
