// Package planted takes out of a tree what a command left in it for others: repositories among the files, whose
// settings the git of whoever goes there obeys, and programs that run as somebody else. What was there before stays.
package planted

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/store/owndir"
)

// Runner runs a command behind walls; *sandbox.Box is one.
type Runner interface {
	Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error)
	// Layers says how folders are shown in the home of a command (sandbox.Box.Layers).
	Layers(ctx context.Context, folder string) (shows, layered bool)
}

// Box is a Runner that looks through the tree of each command, and takes out what the command planted there before
// anybody sees what it left.
type Box struct {
	Runner
	mu    sync.Mutex
	known map[string]map[string]bool // what stood in trees of pawl's, where nobody else makes anything
}

// Run runs a command.
func (b *Box) Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error) {
	if s.Tree == "" {
		return b.Runner.Run(ctx, s)
	}
	before := b.look(s.Tree, s.Workspace)
	defer before.Clear(ctx)
	return b.Runner.Run(ctx, s)
}

// Layers is that of the Runner, where it can show folders in the home of a command.
func (b *Box) Layers(ctx context.Context, folder string) (shows, layered bool) {
	if l, ok := b.Runner.(interface {
		Layers(ctx context.Context, folder string) (shows, layered bool)
	}); ok {
		return l.Layers(ctx, folder)
	}
	return false, false
}

// look is Look, which a tree of pawl's needs once.
func (b *Box) look(tree, workspace string) *Seen {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[tree]; ok {
		return &Seen{tree, ours(tree, workspace), time.Now().Add(-slack), known}
	}
	s := Look(tree, workspace)
	if s.ours {
		if b.known == nil {
			b.known = map[string]map[string]bool{}
		}
		b.known[tree] = s.known
	}
	return s
}

// ours reports whether a tree is one that pawl made for work in a workspace.
func ours(tree, workspace string) bool { return workspace != "" && tree != workspace }

// Taking returns a context under which what is taken out is noted, and what tells of it.
func Taking(ctx context.Context) (context.Context, func() []effect.Taken) {
	t := &taken{}
	return context.WithValue(ctx, noting{}, t), func() []effect.Taken {
		t.Lock()
		defer t.Unlock()
		return t.all
	}
}

// noting is the key of what is noted in a context.
type noting struct{}

type taken struct {
	sync.Mutex
	all []effect.Taken
}

const (
	maxTaken = 200
	// slack is by how much a file's times may lag behind the clock.
	slack = 50 * time.Millisecond
	// keptFor is how long what was taken out of a user's own tree is kept.
	keptFor = 7 * 24 * time.Hour
)

// Seen is what stood in a tree before something ran there.
type Seen struct {
	tree  string
	ours  bool // pawl made the tree
	at    time.Time
	known map[string]bool
}

// Look lists what is in a tree now, which is the user's own if it is the workspace.
func Look(tree, workspace string) *Seen {
	s := &Seen{tree: tree, ours: ours(tree, workspace), at: time.Now().Add(-slack), known: map[string]bool{}}
	_ = walk(tree, time.Time{}, func(f effect.Taken) { s.known[f.Path] = true })
	return s
}

// Clear takes out what came to the tree since, and notes it. Nothing may run in the tree any more.
func (s *Seen) Clear(ctx context.Context) {
	var found []effect.Taken
	whole := walk(s.tree, s.at, func(f effect.Taken) {
		if !s.known[f.Path] && len(found) < maxTaken {
			found = append(found, f)
		}
	})
	if len(found) == 0 && whole {
		return
	}
	root, err := os.OpenRoot(s.tree)
	if err != nil {
		return
	}
	defer root.Close()
	for i := range found {
		s.take(root, &found[i])
	}
	if !whole {
		found = append(found, effect.Taken{Path: ".", What: effect.TakenUnseen})
	}
	if t, ok := ctx.Value(noting{}).(*taken); ok {
		t.Lock()
		t.all = append(t.all, found...)
		t.Unlock()
	}
}

// take takes one thing out. From a tree of pawl's it is removed; whatever stood in the user's own is kept for a while,
// because the user may have made it at that very moment.
func (s *Seen) take(root *os.Root, f *effect.Taken) {
	name := filepath.FromSlash(f.Path)
	var err error
	switch f.What {
	case effect.TakenRights:
		var info fs.FileInfo
		if info, err = root.Lstat(name); err == nil && info.Mode().IsRegular() {
			err = root.Chmod(name, info.Mode().Perm())
		}
	case effect.TakenBare:
		err = s.remove(root, f, path.Join(f.Path, "HEAD"))
	default:
		err = s.remove(root, f, f.Path)
	}
	f.Failed = err != nil
}

func (s *Seen) remove(root *os.Root, f *effect.Taken, rel string) error {
	name := filepath.FromSlash(rel)
	if s.ours {
		return root.RemoveAll(name)
	}
	kept, err := owndir.Make(s.tree, filepath.Join(own, "taken"))
	if err != nil {
		return err
	}
	defer kept.Close()
	forget(kept)
	to := filepath.Join(own, "taken", strconv.FormatInt(time.Now().UnixNano(), 10))
	err = root.Rename(name, to)
	if err == nil {
		f.To = filepath.ToSlash(to)
	}
	return err
}

// forget removes what has been kept for long enough.
func forget(kept *owndir.Dir) {
	all, _ := kept.ReadDir(".")
	for _, e := range all {
		if at, err := strconv.ParseInt(e.Name(), 10, 64); err == nil && time.Since(time.Unix(0, at)) > keptFor {
			_ = kept.RemoveAll(e.Name())
		}
	}
}

// own is the folder that is pawl's.
const own = ".pawl"

// isHead matches what the file HEAD of a repository says.
var isHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:ref:\s*refs/|[0-9a-f]{40})`) })

func head(content []byte) bool { return isHead().Match(bytes.TrimSpace(content)) }
