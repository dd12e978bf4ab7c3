package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pawl"
	"pawl/driver/archive"
	"pawl/driver/checkpoint"
	"pawl/driver/export"
	"pawl/driver/file"
	"pawl/driver/launch"
	"pawl/driver/workspace"
	"pawl/driver/workspace/relocate"
	"pawl/face/approver"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/face/project"
	"pawl/face/registry"
	"pawl/face/serve"
	"pawl/face/tell"
	"pawl/face/upkeep"
	"pawl/face/walls"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/kernel/projection"
	"pawl/sandbox/egress"
	"pawl/sandbox/sshagent"
	"pawl/store/feed"
	"pawl/store/follow"
	"pawl/store/known"
	"pawl/store/moved"
	"pawl/store/notary"
	"pawl/store/presence"
	"pawl/store/recording"
	"pawl/store/sqlite"
)

// Open opens the store of a workspace and wires a kernel over it.
func (h Host) Open(ctx context.Context, place effect.Place, o host.Open) (*host.Workspace, error) {
	dir, list := place.Own(), h.known()
	if o.Tell == nil {
		o.Tell = func(error) {}
	}
	fresh, err := workspace.Begin(list, place, o.Create)
	if err != nil {
		return nil, err
	}
	seal := notary.New(h.stateDir(), place.Workspace, func(other string) string {
		return sqlite.Identity(filepath.Join(list.State(other), known.Store))
	}, rand.Reader)
	if o.Config.AuditKey != "" {
		seal.Hold(sshagent.Key{Socket: os.Getenv("SSH_AUTH_SOCK"), Fingerprint: o.Config.AuditKey, Setting: settings.AuditKey})
	}
	store, err := sqlite.Open(filepath.Join(dir, known.Store),
		sqlite.Options{Create: o.Create, ReadOnly: o.ReadOnly, Upgrade: !o.Still})
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		err = cmp.Or(workspace.Missing(list, place), seal.Missing(filepath.Join(dir, known.Store)), err)
	}
	if err != nil {
		return nil, err
	}
	// Only what carries work out needs the drivers and the tools. A command that reads starts in a fraction of the time
	// that it takes to make them.
	end := func() {}
	kept := h.recordings(dir, place, o)
	parts := sync.OnceValue(func() *parts { p := newParts(h, place, o.Config, kept, store); end = p.close; return p })
	base, sign := groundwork(ctx, place, store, o)
	if !o.ReadOnly {
		base.Tools = parts().kernelTools()
	}
	config, err := o.Config.Kernel(base)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	kernelOver := func(s kernel.Store) *kernel.Kernel {
		return kernel.New(joined.Table(), moved.At(s, place), config, pawl.ClockFunc(time.Now), rand.Reader)
	}
	here := relocate.Workspace{Place: place, Store: store, Kernel: kernelOver, ReadOnly: o.ReadOnly}
	said, ground, err := settle(ctx, here, store, o)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	me := presence.New(dir)
	w := &host.Workspace{Place: place, Kernel: kernelOver(store), Backup: store.Backup, Diff: diff, Name: me.Name,
		Here: me.Here, Said: said, Holds: ground.Holds, Sign: sign, Feed: feed.New(store, sqlite.Watching(store))}
	work := &work{me: me, of: w, kernel: w.Kernel, parts: parts, tell: o.Tell,
		lease: config.LeaseTime, keep: upkeep.Of(place, w.Kernel, seal, o.Config.Retain)}
	w.Collect = work.keep.Collect
	w.Runner, w.Crew, w.Alive = work.runner, work.crew, me.Alive
	sealed(w, seal, store)
	shown := following(ctx, w, seal, store, o)
	w.Close = func() error {
		shown()
		work.close()
		me.Close()
		end()
		return errors.Join(kept.Close(), store.Close())
	}
	w.Recording = func(run string) (io.ReadCloser, *kernel.Config, error) {
		in, err := recording.Decisions(dir, run)
		if err != nil {
			return nil, nil, err
		}
		base.Tools = parts().kernelTools()
		config, err := o.Config.Kernel(base)
		return in, &config, err
	}
	kept.Hear(w.Kernel)
	if fresh {
		tellEarlier(ctx, w, o.Tell)
	}
	w.Unkept = checkpoint.NewIgnored(nil, int64(o.Config.IgnoredMB)<<20).Foresee
	faces(w, h, o)
	return w, nil
}

// diff is the change from one recorded tree to another, whole or not at all.
func diff(ctx context.Context, place effect.Place, from, to string) (string, error) {
	patch, cut, err := checkpoint.Patch(ctx, place, from, to)
	if err == nil && cut {
		err = pawl.Fail(pawl.CodeInvalid, "see.diff_long", from, to)
	}
	return patch, err
}

// groundwork is what the kernel knows of the program around it, whatever is wired in, and who has a person sign.
func groundwork(ctx context.Context, place effect.Place, s kernel.Store, o host.Open) (kernel.Config, approver.Sign) {
	base := kernel.Defaults()
	vouch, sign := approver.New(ctx, o.Config.ApproveKey, place.Workspace, s, o.Tell)
	base.Agents, base.Walled, base.Proofs, base.Vouch = registry.Traits(), walls.Fenced(o.Config), true, vouch
	base.Network = func(grant string) ([]effect.Site, error) { return egress.OfUser().Sites(grant) }
	return base, sign
}

// recordings are those of a workspace, nil where nothing is recorded.
func (h Host) recordings(dir string, place effect.Place, o host.Open) *recording.Recordings {
	if o.ReadOnly {
		return nil
	}
	return recording.Open(dir, o.Config.Record, func() []string {
		key, err := h.registry(o.Config, launch.Launcher{Place: place}).Model().Key()
		if err != nil {
			return nil
		}
		return []string{key}
	})
}

// settle looks where a workspace is and, unless that is left to a later command, takes note of a move; and whether its
// store is whole.
func settle(ctx context.Context, w relocate.Workspace, store *sqlite.Store, o host.Open) (said []host.Finding,
	g workspace.Ground, err error) {
	var notes [2]*relocate.Note
	if g, err = workspace.NewGround(w.Place.Workspace); err == nil && !o.Still {
		notes[0], err = relocate.Settle(ctx, w)
	}
	if err == nil {
		notes[1], err = relocate.Whole(ctx, w, store, o.Accept)
	}
	for _, n := range notes {
		if n != nil {
			said = append(said, host.Finding{Name: "workspace", State: "warn", Key: n.Key, Args: n.Args})
		}
	}
	return said, g, err
}

// following has the projections and the checkpoints of the audit log follow what is committed, until stop. What cannot
// be written now is written after a later commit, or by `pawl export`; the store is the truth.
func following(ctx context.Context, w *host.Workspace, seal *notary.Notary, store *sqlite.Store,
	o host.Open) (stop func()) {
	ctx = context.WithoutCancel(ctx)
	show := export.New(w.Kernel, filepath.Join(w.Place.Workspace, workspace.Dir), w.Place.Own(), o.Tell)
	w.Export = show.All
	if o.ReadOnly {
		return func() {}
	}
	notes := follow.New(func() {
		if _, err := seal.Sign(ctx, store); err != nil && o.Config.AuditKey != "" {
			o.Tell(err) // whoever chose the key counts on it
		}
	})
	if len(w.Said) > 0 { // what was under way may have been stopped on opening
		notes.Within(0)
	}
	shown := show.Follow(ctx)
	w.Kernel.OnCommit(func(o kernel.Outcome) {
		w.Feed.Tell()
		if projection.Ended(o) {
			notes.Within(0)
		}
	})
	return func() { shown(); notes.Close() }
}

// sealed lets a workspace sign the head of its audit log and verify it.
func sealed(w *host.Workspace, seal *notary.Notary, store *sqlite.Store) {
	w.Checkpoint = func(ctx context.Context) ([]byte, error) { return seal.Sign(ctx, store) }
	w.Verify = func(ctx context.Context, notes ...[]byte) (audit.Report, error) {
		return seal.Verify(ctx, store, notes...)
	}
	w.Check = func(ctx context.Context, progress func(done, all int64)) (audit.Report, error) {
		anchors, err := seal.Anchors(ctx, store)
		if err != nil {
			return audit.Report{}, err
		}
		report, err := store.Check(ctx, progress, anchors...)
		return report, errors.Join(sqlite.Behind(ctx, store), err)
	}
	w.Anchor = func(text []byte) (audit.ProvenCheckpoint, audit.Tree, error) {
		return seal.Anchor(context.Background(), store, text)
	}
	w.Witness = func(ctx context.Context) (host.Witness, error) {
		covers, at, err := seal.Newest(ctx, store)
		return host.Witness{Covers: covers, At: at}, err
	}
	w.Earlier = func(ctx context.Context, tell bool) (*host.EarlierLog, bool, error) {
		e, told, err := seal.Earlier(ctx, store, tell)
		if err != nil || e == nil {
			return nil, told, err
		}
		return &host.EarlierLog{Size: e.Size, Root: e.Root.String(), At: e.At, Kept: e.Kept}, told, nil
	}
}

// tellEarlier says of a workspace that was made this moment that there was another one in its place. What cannot be
// found out is told by nobody; the workspace is a new one all the same.
func tellEarlier(ctx context.Context, w *host.Workspace, tell func(error)) {
	if e, told, err := w.Earlier(ctx, true); err == nil && e != nil && !told {
		tell(e.Fault())
	}
}

// faces adds what commands need beside the kernel: who owns the workspace, the server for agents, the project, the
// trackers of others, who tells people, and files.
func faces(w *host.Workspace, h Host, o host.Open) {
	c, state, dir := o.Config, h.stateDir(), w.Place.Own()
	shown := filepath.Join(w.Place.Workspace, workspace.Dir)
	tell.People(w, dir, o)
	tokens := serve.NewTokens(state, w.Kernel)
	w.Offer, w.Tokens, w.Enter = serve.Programs(w, tokens, dir, version()), tokens, serve.Enter(tokens, dir)
	w.Serve, w.Project = serve.Agents(w, version()), project.Of(w.Place, c.Dependencies)
	w.Tracker = project.Tracker(dir, c)
	w.Branch = project.Branch(w.Place)
	w.Own = func(command string) (func(), error) { return presence.Own(dir, command) }
	w.Owner = func() (host.Owner, bool) {
		o, ok := presence.OwnerOf(dir)
		return host.Owner(o), ok
	}
	w.Preview = preview
	w.Write = func(ctx context.Context, files []pawl.ProjectedFile) error {
		_, err := archive.Write(ctx, shown, files)
		return err
	}
	w.Warnings = func(ctx context.Context) []host.Finding {
		out := tell.Undelivered(ctx, w)
		names, gone := export.Edited(shown, dir)
		for _, name := range names {
			out = append(out, host.Finding{Name: name, State: "warn", Key: "cli.projection_edited", Args: []string{name}})
		}
		if gone {
			out = append(out, host.Finding{Name: "active_context.md", State: "warn", Key: "cli.projection_gone"})
		}
		return out
	}
}

// preview tells what calls of the file tools would change.
func preview(place effect.Place, calls []effect.ToolCall) ([]host.Draft, error) {
	found, err := file.Previews(place, calls)
	out := make([]host.Draft, len(found))
	for i, p := range found {
		out[i] = host.Draft(p)
	}
	return out, err
}
