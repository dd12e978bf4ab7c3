// Package ground lays out what is to be judged: a fresh checkout of exactly the files of a recorded tree, on which
// checks that decide run (driver/verify), and what work is tried without and with (driver/prove). What a run left in
// ignored files of its tree is not there.
//
// Behind namespaces commands find the ground at the path of the user's workspace, in a home of their own at the path of
// the user's: code that looks where it is, and whose, sees what it would see when the user runs the same command. Git
// finds the user's repository there, with an index that knows the ground; pawl's own references and worktrees are not
// in it. Without namespaces a ground is found where it lies, as a linked worktree (sandbox.WeakPlace).
//
// Nobody has read a file of a ground before the first command does: the time of the last access to a file is at first
// not later than that of its last change (atime <= mtime), and later as soon as it was read, where the file system
// keeps it.
package ground

import (
	"context"
	"path/filepath"
	"strings"

	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// Maker makes grounds. Its fields are fixed once it is in use; it is then safe for concurrent use on different trees.
type Maker struct {
	Memory *git.Memory
	// Home is the user's home folder, "" when there is none.
	Home string
	// Puts reports whether commands find a ground at another path than its own. Nil stands for no.
	Puts func(ctx context.Context) bool
}

// Ground is a fresh checkout beside the tree of a place. Of a nil one all is found where it is.
type Ground struct {
	// Place has the folder of the ground for its tree.
	Place effect.Place
	Repo  *git.Repo
	// Seen is where commands find it, and Home the home that they have: both are those of the user where Moved.
	Seen, Home string
	Moved      bool
}

// Beside is where the ground of a place stands.
func Beside(p effect.Place) effect.Place {
	if p.Tree += "-proof"; p.InPlace || p.Tree == p.Workspace+"-proof" {
		p.Tree = p.Own("worktrees", "in-place-proof")
	}
	p.InPlace = false
	return p
}

// Of is the ground of a place. There is nothing of it before Lay.
func (m *Maker) Of(ctx context.Context, place effect.Place) (*Ground, error) {
	g := &Ground{Place: Beside(place), Home: sandbox.Home}
	var err error
	g.Repo, err = m.Memory.Open(ctx, layout.Of(g.Place))
	if err != nil {
		return nil, err
	}
	rel, outside := filepath.Rel(place.Workspace, m.Home)
	g.Seen = g.Place.Tree
	if m.Puts != nil && m.Puts(ctx) && (outside != nil || !filepath.IsLocal(rel)) {
		g.Seen, g.Moved = place.Workspace, true
		if filepath.IsAbs(m.Home) && filepath.Clean(m.Home) != "/" {
			g.Home = m.Home
		}
	}
	return g, nil
}

// Elsewhere is another ground of the same work, which stands beside this one and has other names: its folder and, where
// it is moved, the home that commands have. What checks say of both alike does not depend on who looks.
func (g *Ground) Elsewhere(ctx context.Context, m *Maker) (*Ground, error) {
	other := *g
	other.Place.Tree += "-again"
	other.Seen, other.Home = other.Place.Tree, sandbox.Home
	if g.Moved {
		other.Seen = filepath.Join(elsewhere, filepath.Base(g.Seen))
	}
	var err error
	other.Repo, err = m.Memory.Open(ctx, layout.Of(other.Place))
	return &other, err
}

// elsewhere is where commands find a moved ground that has other names than the user's.
const elsewhere = "/tmp/checkout"

// objects is where commands find what the index of a moved ground names and the user's store lacks.
const objects = "/tmp/objects"

// Lay makes the ground anew, of a recorded tree or of that of a commit, whose id it returns. What was there is gone.
func (g *Ground) Lay(ctx context.Context, of string) (tree string, err error) {
	if tree, err = g.Repo.Objects.ResolveTree(ctx, of); err != nil {
		return "", err
	}
	commit := ""
	if !g.Moved {
		if commit, _, err = g.Repo.Workspace().Refs.Head(ctx); err != nil {
			return "", err
		}
	}
	return tree, git.NewLaid(g.Repo).Lay(ctx, tree, commit)
}

// Found is the tree that the ground holds now.
func (g *Ground) Found(ctx context.Context) (string, error) { return git.NewLaid(g.Repo).Found(ctx) }

// Clear removes the ground.
func (g *Ground) Clear(ctx context.Context) error { return g.Repo.RemoveWorktree(ctx) }

// Sees is where commands find what lies at a path of the machine, if that is in the ground.
func (g *Ground) Sees(path string) string {
	if g == nil || !g.Moved {
		return path
	}
	if rel, err := filepath.Rel(g.Place.Tree, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(g.Seen, rel)
	}
	return path
}

// Show changes a command that is described with the paths of the machine into one that finds the ground where it is
// seen, and its home at the path of the user's.
func (g *Ground) Show(s sandbox.Spec) sandbox.Spec {
	if g == nil || !g.Moved {
		return s
	}
	s.Put = append(s.Put, sandbox.Put{From: g.Place.Tree, At: g.Seen})
	if g.Home != sandbox.Home {
		s.Put = append(s.Put, sandbox.Put{At: g.Home})
	}
	laid := git.NewLaid(g.Repo)
	index, readable, hidden := laid.Lent()
	s.Readable, s.Hidden = append(s.Readable, readable...), append(s.Hidden, hidden...)
	words := strings.NewReplacer(g.Place.Tree, g.Seen, sandbox.Home, g.Home).Replace
	argv, env := make([]string, len(s.Argv)), make([]string, len(s.Env), len(s.Env)+1)
	for i, a := range s.Argv {
		argv[i] = words(a)
	}
	for i, kv := range s.Env {
		env[i] = words(kv)
	}
	s.Argv, s.Env, s.Dir = argv, env, words(s.Dir)
	if own := filepath.Join(g.Place.Workspace, ".git"); g.Place.Git && g.Seen != g.Place.Workspace {
		seen := filepath.Join(g.Seen, ".git")
		s.Put = append(s.Put, sandbox.Put{From: own, At: seen})
		if rest, ok := strings.CutPrefix(index, own+"/"); ok {
			index = filepath.Join(seen, rest)
		}
	}
	if index != "" {
		s.Put = append(s.Put, sandbox.Put{From: laid.Index(), At: index},
			sandbox.Put{From: laid.Objects(), At: objects})
		s.Env = append(s.Env, layout.Alternate(objects))
	}
	return s
}
