package serve

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"pawl"
	"pawl/face/api"
	"pawl/face/host"
	"pawl/face/loopback"
	"pawl/store/disk"
	"pawl/store/lockfile"
)

// place is where a server is found: the lock that it alone holds, the file that says where it is, and the one with the
// host name of its pages.
type place struct{ lock, here, label string }

// serve listens at a loopback address, unless somebody serves here already, and hands the listener to f.
func (p place) serve(ctx context.Context, addr string,
	f func(context.Context, net.Listener, host.Offered) error) error {
	lock, err := p.alone()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Remove() }()
	l, err := loopback.Listen(ctx, addr)
	if err != nil {
		return err
	}
	defer l.Close()
	name, err := label(p.label)
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String()) // the address of a listener always has a port
	defer func() { _ = os.Remove(p.here) }()
	return f(ctx, l, host.Offered{URL: "http://" + l.Addr().String(), PID: os.Getpid(),
		Pages: "http://" + net.JoinHostPort(name, port) + "/"})
}

// alone takes the lock of the one server, or says where the other one is.
func (p place) alone() (*lockfile.Lock, error) {
	if err := os.MkdirAll(filepath.Dir(p.lock), 0o700); err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "cli.file_unwritable", p.lock).Because(err)
	}
	lock, err := lockfile.Try(p.lock)
	if lock != nil || err != nil {
		return lock, err
	}
	holder, _ := lockfile.Who(p.lock)
	if other, ok := p.running(); ok {
		return nil, pawl.Fail(pawl.CodeBusy, "serve.running", other.URL, other.PID)
	}
	return nil, holder.Fault(p.lock)
}

// announce says where the server is to whoever looks for it.
func (p place) announce(at host.Offered) error {
	here, err := json.Marshal(at)
	if err == nil {
		err = disk.WriteFile(p.here, append(here, '\n'))
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", p.here).Because(err)
	}
	return nil
}

// running says where the server is, if there is one.
func (p place) running() (at host.Offered, ok bool) {
	raw, err := os.ReadFile(p.here)
	if err != nil || !lockfile.Held(p.lock) {
		return host.Offered{}, false
	}
	return at, json.Unmarshal(raw, &at) == nil
}

// Running says where the server of a workspace is, by its .pawl folder.
func Running(dir string) (host.Offered, bool) {
	return place{lock: filepath.Join(dir, lockName), here: filepath.Join(dir, hereName)}.running()
}

// guard lets in what may reach pages and programs.
func guard(at host.Offered, pages, programs http.Handler,
	refuse func(http.ResponseWriter, *http.Request, error)) *loopback.Guard {
	name, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(at.Pages, "http://"), "/"))
	return &loopback.Guard{Next: &hosts{label: name, at: at.Pages, pages: pages, api: programs}, Port: port, Name: name,
		Refuse: refuse}
}

// hosts serves pages under the name that is theirs alone, and programs beside them and under the machine's own.
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
