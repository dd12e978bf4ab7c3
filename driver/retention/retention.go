// Package retention retires what runs leave beside their results when its time is over: checkpoints, recorded trees,
// with the references in the user's repository that keep them, copies of files that git does not record, journals of
// landings, and logs. What may go follows from the store and the settings alone, and removing it twice does no harm, so
// that whoever was killed at it leaves nothing but the rest of the same work.
package retention

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/driver/leftover"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/keep"
	"pawl/store/logs"
)

// Limits say what is kept.
type Limits struct {
	// Before is the instant from which on everything is kept.
	Before time.Time
	// Needs are the ids and labels of what is kept, however old.
	Needs map[string]bool
	// Logs is how many bytes of logs are kept.
	Logs int64
}

// What says what a thing is that is retired.
type What string

// The kinds of things.
const (
	Left       What = "left"       // something that a killed process left
	Checkpoint What = "checkpoint" // a reference to a checkpoint or to what was kept for safety
	Tree       What = "tree"       // a reference to a recorded tree
	Kept       What = "kept"       // copies of files that git does not record
	Journal    What = "journal"    // that of a landing
	Log        What = "log"        // what an effect wrote
)

// Item is one thing to retire. Bytes do not count objects of git, which its own collection removes when nothing names
// them.
type Item struct {
	What  What
	Name  string
	At    time.Time
	Bytes int64
	// remove takes it away; nil for references, which go together.
	remove func(context.Context) error
}

// Plan is what is to be retired in a workspace.
type Plan struct {
	Items []Item
	repo  *git.Repo // nil where there is nothing of git's
}

// Find looks for what is to be retired. It changes nothing.
func Find(ctx context.Context, place effect.Place, l Limits) (p Plan, err error) {
	for _, f := range leftover.Find(place) {
		p.Items = append(p.Items, Item{What: Left, Name: f.Relative(place.Workspace), Bytes: f.Bytes, remove: f.Remove})
	}
	at := layout.Of(place).Top()
	r, err := layout.Find(at)
	if err != nil || !r.Prepared() {
		return p, err
	}
	if p.repo, err = (&git.Memory{}).Open(ctx, at); err != nil {
		return p, err
	}
	if err = p.references(ctx, r, l); err != nil {
		return p, err
	}
	p.folders(r, l)
	return p, nil
}

// references are those of pawl's that are past their time.
func (p *Plan) references(ctx context.Context, r *layout.Layout, l Limits) error {
	refs, err := p.repo.Refs.List(ctx, own)
	if err != nil {
		return err
	}
	stands := standing(r)
	for _, ref := range refs {
		item := Item{What: Checkpoint, Name: ref.Name, At: ref.At}
		if day, tree := strings.CutPrefix(ref.Name, own+"trees/"); tree {
			item.What, item.At = Tree, recorded(r, ref.Name, day)
		}
		needed := l.Needs[ref.ID] || l.Needs[strings.TrimPrefix(ref.Name, own)] || stands[ref.ID]
		if !needed && !item.At.IsZero() && item.At.Before(l.Before) {
			p.Items = append(p.Items, item)
		}
	}
	return nil
}

// own begins the names of pawl's references.
const own = "refs/pawl/"

// standing are the trees that are as they were last recorded.
func standing(r *layout.Layout) map[string]bool {
	out := map[string]bool{}
	notes, _ := filepath.Glob(filepath.Join(layout.EscapeGlob(r.State("index")), "*.tree")) // the pattern is well formed
	for _, note := range notes {
		if id, ok := layout.ReadLine(note, ""); ok {
			out[id] = true
		}
	}
	return out
}

// recorded is when a tree was recorded: when its reference was written, or, where git has packed that, the end of the
// day in its name.
func recorded(r *layout.Layout, ref, day string) time.Time {
	if info, err := os.Lstat(filepath.Join(r.Shadow, filepath.FromSlash(ref))); err == nil {
		return info.ModTime()
	}
	day, _, _ = strings.Cut(day, "/")
	start, err := time.Parse("20060102", day)
	if err != nil {
		return time.Time{}
	}
	return start.AddDate(0, 0, 1)
}

// folders are the copies, journals and logs that are past their time, or for which there is no room.
func (p *Plan) folders(r *layout.Layout, l Limits) {
	kept := keep.Folder{Dir: r.Workspace, State: r.Base}
	p.entries(r.State("kept"), l, Kept, func(name string) (string, bool) {
		return name, kept.Has(name) || strings.HasSuffix(name, ".half")
	}, kept.Drop)
	land := r.State("land")
	p.entries(land, l, Journal, func(name string) (string, bool) {
		id, ok := strings.CutSuffix(name, ".json")
		return id, ok && complete(filepath.Join(land, name))
	}, func(name string) error { return layout.Discard(r, filepath.Join(land, name)) })
	p.logs(logs.Of(r.Base), l)
}

// entries are those of a folder that are past their time. About says what one is about, and whether it may go.
func (p *Plan) entries(dir string, l Limits, what What, about func(name string) (string, bool),
	remove func(name string) error) {
	found, _ := os.ReadDir(dir) // where there is no folder, nothing is in it
	for _, e := range found {
		id, may := about(e.Name())
		info, err := e.Info()
		if err == nil && may && !l.Needs[id] && info.ModTime().Before(l.Before) {
			p.Items = append(p.Items, Item{What: what, Name: e.Name(), At: info.ModTime(),
				Bytes:  leftover.Size(filepath.Join(dir, e.Name())),
				remove: func(context.Context) error { return remove(e.Name()) }})
		}
	}
}

// complete reports whether a landing came to its end. The journal of one that did not says how to go on with it.
func complete(file string) bool {
	var entry struct {
		Done bool `json:"done"`
	}
	text, err := os.ReadFile(file)
	return err == nil && json.Unmarshal(text, &entry) == nil && entry.Done
}

// logs are the oldest, until what is left has room. The ids of effects, after which they are called, begin with the
// time.
func (p *Plan) logs(dir logs.Dir, l Limits) {
	var total int64
	for n, id := range dir.Effects() {
		size := leftover.Size(filepath.Join(string(dir), id))
		// The newest is the one that somebody is most likely to look for, however large it is.
		if total += size; total > l.Logs && n > 0 {
			p.Items = append(p.Items, Item{What: Log, Name: id, Bytes: size,
				remove: func(context.Context) error { return dir.Remove(id) }})
		}
	}
}

// Without is the plan without things of a kind.
func (p Plan) Without(w What) Plan {
	p.Items = slices.DeleteFunc(slices.Clone(p.Items), func(i Item) bool { return i.What == w })
	return p
}

// Carry retires what was planned, and tells of each thing that is gone. What cannot be removed stays for the next time,
// and what somebody needs meanwhile is left alone.
func (p Plan) Carry(ctx context.Context, tell func(Item)) error {
	var failed error
	refs := map[string]bool{}
	for _, item := range p.Items {
		switch {
		case ctx.Err() != nil:
			return errors.Join(failed, ctx.Err())
		case item.remove == nil:
			refs[item.Name] = true
			continue
		}
		if err := item.remove(ctx); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
			continue
		}
		tell(item)
	}
	if len(refs) == 0 {
		return failed
	}
	gone, err := p.repo.Refs.Prune(ctx, time.Now().AddDate(1, 0, 0), func(r git.Ref) bool { return !refs[r.Name] })
	for _, item := range p.Items {
		if slices.ContainsFunc(gone, func(r git.Ref) bool { return r.Name == item.Name }) {
			tell(item)
		}
	}
	return errors.Join(failed, err)
}
