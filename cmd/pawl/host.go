package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pawl"
	"pawl/audit"
	"pawl/cli"
	"pawl/doctor"
	"pawl/driver/archive"
	"pawl/driver/file"
	"pawl/driver/verify"
	"pawl/effect"
	"pawl/kernel"
	"pawl/lockfile"
	"pawl/notary"
	"pawl/policy"
	"pawl/sandbox"
	"pawl/sandbox/git"
	"pawl/store/sqlite"
	"pawl/view"
	"pawl/workspace"
)

// host implements cli.Host.
type host struct {
	// state replaces the folder of the user's own state, where it is set.
	state string
	// cache replaces the folder of what is kept for all workspaces, where it is set.
	cache string
}

// Find returns the workspace that dir belongs to.
func (host) Find(dir string) (effect.Place, error) { return workspace.Find(dir) }

// Open opens the store of a workspace and wires a kernel over it.
func (h host) Open(ctx context.Context, place effect.Place, o cli.Open) (*cli.Workspace, error) {
	dir := filepath.Join(place.Workspace, workspace.Dir)
	if o.Tell == nil {
		o.Tell = func(error) {}
	}
	fresh, err := founded(place, o)
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(filepath.Join(dir, workspace.Store), sqlite.Options{Create: o.Create, ReadOnly: o.ReadOnly})
	if err != nil {
		return nil, err
	}
	// Only what carries work out needs the drivers and the tools. A command that reads starts in a fraction of the time
	// that it takes to make them.
	var made *parts
	kept := recordingsOf(dir, place, o)
	parts := sync.OnceValue(func() *parts { made = newParts(place, o.Config, kept, h.folders()); return made })
	base := groundwork(o.Config)
	if !o.ReadOnly {
		base.Tools = parts().kernelTools()
	}
	seal := notary.New(h.stateDir(), place.Workspace, identityIn, rand.Reader)
	config, err := o.Config.Kernel(base)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	said, ground, err := settle(ctx, place, store, config, o)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	k := kernel.New(kernel.At(store, place.Workspace), config, pawl.ClockFunc(time.Now), rand.Reader)
	me := newHand(dir)
	me.holds = ground.Holds
	w := &cli.Workspace{Place: place, Kernel: k, Backup: store.Backup, Name: me.name, Here: me.here, Said: said, Holds: ground.Holds}
	w.Diff = func(ctx context.Context, place effect.Place, from, to string) (string, error) {
		return parts().diff(ctx, place, from, to)
	}
	w.Preview = preview
	// What cannot be written now is written after a later commit, or by `pawl export`; the store is the truth.
	show := &exporter{k: k, dir: dir, late: o.Tell}
	notes := &follower{do: func() { _, _ = seal.Sign(context.WithoutCancel(ctx), store) }}
	w.Export = show.all
	shown := func() {}
	if !o.ReadOnly {
		shown = show.follow(context.WithoutCancel(ctx))
		k.OnCommit(func(o kernel.Outcome) {
			if o.Ended() {
				notes.within(0)
			}
		})
	}
	w.Close = func() error {
		shown()
		notes.close()
		me.close()
		if made != nil {
			made.close()
		}
		return errors.Join(kept.close(), store.Close())
	}
	w.Recording = recorded(dir, o.Config, base, parts)
	kept.hear(k)
	w.Runner, w.Crew = me.runner(w, parts, o.Tell), me.crew(k, parts)
	own(w, dir)
	sealed(w, seal, store)
	if fresh {
		tellEarlier(ctx, w, o.Tell)
	}
	faces(w, dir, place, o.Config)
	return w, nil
}

// preview tells what calls of the file tools would change.
func preview(place effect.Place, calls []effect.ToolCall) ([]cli.Draft, error) {
	found, err := file.Previews(place, calls)
	out := make([]cli.Draft, len(found))
	for i, p := range found {
		out[i] = cli.Draft(p)
	}
	return out, err
}

// groundwork is what the kernel knows of the program around it, whatever is wired in.
func groundwork(c cli.Config) kernel.Config {
	base := kernel.Defaults()
	base.Network, base.Agents = sites, traits()
	base.Walled = fenced(c)
	return base
}

// founded makes the folder of a workspace where it may be made, and reports whether a store has yet to be made in it.
func founded(place effect.Place, o cli.Open) (fresh bool, err error) {
	if !o.Create {
		return false, nil
	}
	if err := workspace.Prepare(place); err != nil {
		return false, err
	}
	_, err = os.Lstat(filepath.Join(place.Workspace, workspace.Dir, workspace.Store))
	return errors.Is(err, fs.ErrNotExist), nil
}

// sealed lets a workspace sign the head of its audit log and verify it.
func sealed(w *cli.Workspace, seal *notary.Notary, store *sqlite.Store) {
	w.Checkpoint = func(ctx context.Context) ([]byte, error) { return seal.Sign(ctx, store) }
	w.Verify = func(ctx context.Context, notes ...[]byte) (audit.Report, error) {
		return seal.Verify(ctx, store, notes...)
	}
	w.Anchor = func(text []byte) (audit.ProvenCheckpoint, audit.Tree, error) {
		return seal.Anchor(context.Background(), store, text)
	}
	w.Earlier = func(ctx context.Context, tell bool) (*cli.EarlierLog, bool, error) {
		e, told, err := seal.Earlier(ctx, store, tell)
		if err != nil || e == nil {
			return nil, told, err
		}
		return &cli.EarlierLog{Size: e.Size, Root: e.Root.String(), At: e.At, Kept: e.Kept}, told, nil
	}
}

// tellEarlier says of a workspace that was made this moment that there was another one in its place. What cannot be found out is
// told by nobody; the workspace is a new one all the same.
func tellEarlier(ctx context.Context, w *cli.Workspace, tell func(error)) {
	if e, told, err := w.Earlier(ctx, true); err == nil && e != nil && !told {
		tell(e.Fault())
	}
}

// identityIn is the identity of the store in a workspace, "" where there is none that can be read.
func identityIn(dir string) string {
	s, err := sqlite.Open(filepath.Join(dir, workspace.Dir, workspace.Store), sqlite.Options{ReadOnly: true})
	if err != nil {
		return ""
	}
	defer s.Close()
	id, err := kernel.Identity(context.Background(), s)
	if err != nil {
		return ""
	}
	return id
}

// faces adds what commands need beside the kernel: the server for agents, the project, the trackers of others, and files.
func faces(w *cli.Workspace, dir string, place effect.Place, c cli.Config) {
	w.Serve, w.Project, w.Tracker = serve(w), project(place, c), tracker(dir, c.GitHub)
	w.Branch = branchOf(place)
	w.Write = func(ctx context.Context, files []effect.ProjectedFile) error {
		_, err := archive.Write(ctx, dir, files)
		return err
	}
	w.Warnings = func(ctx context.Context) []cli.Finding { return edited(dir) }
}

// own lets a workspace say who runs work in it, and be owned.
func own(w *cli.Workspace, dir string) {
	w.Own = func(command string) (func(), error) {
		own, err := sqlite.Own(dir, sqlite.OwnerInfo{PID: os.Getpid(), Host: hostname(), Started: time.Now().UTC(), Command: command})
		if err != nil {
			return nil, err
		}
		return func() { _ = own.Release() }, nil
	}
	w.Owner = func() (cli.Owner, bool) {
		info, ok := sqlite.Owner(dir)
		o := cli.Owner{PID: info.PID, Host: info.Host, Started: info.Started, Command: info.Command}
		if h := (lockfile.Holder{State: lockfile.StateOf(info.PID)}); info.Host == hostname() && h.Halted() {
			o.State = string(h.State)
		}
		return o, ok
	}
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// ownerName names this process in leases and records; the random part tells two processes with the same number apart.
func ownerName() string {
	return fmt.Sprintf("%s/%d/%s", hostname(), os.Getpid(), rand.Text()[:6])
}

// Edit opens a file in the user's editor.
func (host) Edit(ctx context.Context, path string) error { return sandbox.Edit(ctx, path) }

// Tools are the tools that are wired in.
func (h host) Tools() []kernel.Tool {
	return newParts(effect.Place{}, cli.DefaultConfig(), nil, h.folders()).known()
}

// Footing says what stands in the way of making a place a workspace.
func (host) Footing(place effect.Place) cli.Footing {
	s := workspace.Look(place)
	return cli.Footing{Exists: s.Exists, Doubt: string(s.Doubt), Other: s.Other, Projects: s.Projects}
}

// Grounds says where plans would be carried out.
func (host) Grounds(place effect.Place, c cli.Config) (policy.Repo, bool) {
	return git.Inspect(place.Workspace), fenced(c)
}

// Doctor asks the machine.
func (host) Doctor(ctx context.Context, place effect.Place, c cli.Config) []cli.Finding {
	box, err := sandbox.New(walls(c))
	if err != nil {
		return nil
	}
	var out []cli.Finding
	findings := doctor.Examine(ctx, box, place)
	if found, err := checksOf(ctx, place); err == nil {
		findings = append(findings, doctor.Project(found, verify.Programs(found.Checks), sandbox.LookPath)...)
	}
	for _, f := range findings {
		out = append(out, cli.Finding{Name: f.Name, State: string(f.State), Key: f.Key, Args: f.Args, Value: f.Value})
	}
	return out
}

// fenced reports whether the shell and the checks start nothing without walls of pawl's own.
func fenced(c cli.Config) bool { return c.Isolation != cli.Outer }

// walls are what holds commands with these settings.
func walls(c cli.Config) sandbox.Options {
	if !fenced(c) {
		return sandbox.Options{Mechanism: sandbox.MechanismOuter}
	}
	return sandbox.Options{}
}

// folders are those of the user that parts keep things in.
type folders struct {
	state string // for logins
	std   string // for the compiled standard library of Go
}

func (h host) folders() folders {
	return folders{h.stateDir(), filepath.Join(h.cacheDir(), "go-build-std")}
}

// stateDir is where the user's own state belongs (XDG Base Directory Specification).
func (h host) stateDir() string {
	if h.state != "" {
		return h.state
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pawl")
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "pawl")
}

// cacheDir is where what can be made anew is kept for all workspaces of the user (XDG Base Directory Specification). A host with a
// state of its own keeps it there, unless it was given another place.
func (h host) cacheDir() string {
	switch {
	case h.cache != "":
		return h.cache
	case h.state != "":
		return filepath.Join(h.state, "cache")
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pawl")
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, ".cache", "pawl")
}

// edited warns of a projection that somebody changed by hand; it is never read as truth and is overwritten.
func edited(dir string) []cli.Finding {
	data, err := os.ReadFile(filepath.Join(dir, "active_context.md"))
	if err != nil || !view.Edited(data) {
		return nil
	}
	return []cli.Finding{{Name: "active_context.md", State: "warn", Key: "cli.projection_edited"}}
}
