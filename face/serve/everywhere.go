package serve

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"pawl"
	"pawl/face/host"
	"pawl/face/loopback"
	"pawl/face/web"
	"pawl/store/known"
)

// Workspaces are those of a user.
type Workspaces struct {
	known known.List
	here  place
	door  *web.Door
}

// All are the workspaces of a user, by the directory of their state.
func All(state string) *Workspaces {
	base := filepath.Join(state, "serve", "everywhere")
	return &Workspaces{known: known.In(state),
		here: place{lock: base + ".lock", here: base + ".at", label: base + ".host"}, door: web.NewDoor(base+".codes", time.Now)}
}

// List are those whose stores are there.
func (w *Workspaces) List() []string { return w.known.Workspaces() }

// Enter makes the address by which a person enters the page of all workspaces, once and soon. Where nothing serves it,
// it fails with CodeNotFound.
func (w *Workspaces) Enter(person pawl.Actor) (address, code string, err error) {
	at, ok := w.here.running()
	if !ok {
		return "", "", pawl.Fail(pawl.CodeNotFound, "serve.not_running_all")
	}
	code, err = w.door.Code(person)
	return at.Pages + "enter#" + code, code, err
}

// Serve serves all workspaces on one page until ctx ends, and each of them that somebody asks for with pages of its
// own. Until then none is written to.
func (w *Workspaces) Serve(ctx context.Context, o host.Everywhere) error {
	return w.here.serve(ctx, o.Addr, func(ctx context.Context, l net.Listener, at host.Offered) error {
		doors := &doors{Everywhere: o, ctx: ctx, open: map[string]*opened{}}
		defer doors.serving.Wait()
		pages := web.NewAll(web.All{Door: w.door, Lang: o.Lang, Now: time.Now, Look: o.Look, Changed: w.known.Changed,
			Open: doors.enter})
		if err := w.here.announce(at); err != nil {
			return err
		}
		o.Ready(at)
		return loopback.Serve(ctx, l, guard(at, pages, pages, pages.Refuse), nil)
	})
}

// doors are the workspaces that are served because somebody asked for them.
type doors struct {
	host.Everywhere
	ctx     context.Context
	serving sync.WaitGroup

	mu   sync.Mutex
	open map[string]*opened
}

// opened is a workspace that is served, or about to be. Done is closed once it is known which; err is then why not.
type opened struct {
	done chan struct{}
	once sync.Once
	err  error
}

func (o *opened) settle(err error) { o.once.Do(func() { o.err = err; close(o.done) }) }

// enter has a workspace served, unless it is, and makes the address by which a person enters it.
func (d *doors) enter(ctx context.Context, dir string, person pawl.Actor) (string, error) {
	if !slices.ContainsFunc(d.Look(ctx), func(s host.Sight) bool { return s.Dir == dir }) {
		return "", pawl.Fail(pawl.CodeNotFound, "serve.unknown_workspace", dir)
	}
	// Who else serves it is asked first: there is one server for each workspace.
	if address, err := d.Enter(ctx, dir, person); pawl.CodeOf(err) != pawl.CodeNotFound {
		return address, err
	}
	o := d.serve(dir)
	select {
	case <-o.done:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if o.err != nil {
		return "", o.err
	}
	return d.Enter(ctx, dir, person)
}

// serve begins to serve a workspace, if it is not served by this process already.
func (d *doors) serve(dir string) *opened {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.open[dir]; o != nil {
		return o
	}
	o := &opened{done: make(chan struct{})}
	d.open[dir] = o
	d.serving.Go(func() {
		err := d.Serve(d.ctx, dir, func() { o.settle(nil) })
		d.mu.Lock()
		delete(d.open, dir) // so that the next who asks begins anew
		d.mu.Unlock()
		o.settle(err)
	})
	return o
}
