package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pawl/cli"
	"pawl/driver/prepare"
	"pawl/driver/search"
	"pawl/driver/shell"
	"pawl/driver/verify"
	"pawl/effect"
	"pawl/sandbox"
	"pawl/sandbox/deps"
	"pawl/sandbox/git"
)

// finder finds the dependencies of projects.
func finder(m *git.Memory, c cli.Config) *deps.Finder {
	return &deps.Finder{
		More: c.Dependencies, Activated: os.Getenv("VIRTUAL_ENV") != "" || os.Getenv("CONDA_PREFIX") != "",
		Tracked: func(ctx context.Context, place effect.Place, paths []string) (map[string]bool, error) {
			repo, err := m.Open(ctx, git.Place{Workspace: place.Workspace, Tree: place.Workspace, Git: place.Git})
			if err != nil {
				return nil, err
			}
			return git.Tracked(ctx, repo, paths)
		},
	}
}

// setting is a toolchain as the shell tool takes it.
func setting(t verify.Toolchain) shell.Setting {
	return shell.Setting{Env: t.Env, Writable: t.Writable, Readable: t.Readable, Hidden: t.Dependencies.Hidden(), Shown: t.Dependencies.Shown()}
}

// outfit completes an agent or a server that starts in the tree of a task of the workspace: with the dependencies of the project, and
// without what .pawlignore hides from agents, where the machine can hide it.
func outfit(ctx context.Context, f *deps.Finder, workspace effect.Place, s *sandbox.Spec) error {
	if workspace.Workspace == "" || !strings.HasPrefix(s.Dir+"/", workspace.Workspace+"/") {
		return nil
	}
	tree := workspace.Workspace
	for _, w := range s.Writable { // the tree is the folder that the command works in, whatever folder of it it starts in
		if (s.Dir == w || strings.HasPrefix(s.Dir, w+"/")) && len(w) > len(tree) {
			tree = w
		}
	}
	found, err := f.Find(ctx, effect.Place{Workspace: workspace.Workspace, Tree: tree, Git: workspace.Git})
	if err != nil {
		return err
	}
	s.Readable, s.Shown = append(s.Readable, found.Readable()...), append(s.Shown, found.Shown()...)
	if tree == workspace.Workspace && strings.HasPrefix(s.Dir, filepath.Join(tree, ".pawl")+"/") {
		tree = s.Dir // a server may change nothing of the tree that it starts in
	}
	for _, top := range slices.Compact([]string{tree, workspace.Workspace}) { // around a worktree lies what it is a copy of
		hidden, err := search.Hidden(ctx, workspace.Workspace, top)
		if err != nil {
			return err
		}
		for _, rel := range hidden {
			s.Hidden, s.MustHide = append(s.Hidden, filepath.Join(top, filepath.FromSlash(rel))), true
		}
	}
	return nil
}

// lacks lists the dependencies that a place needs and that commands would not find there.
func lacks(ctx context.Context, f *deps.Finder, place effect.Place, scripts bool) ([]cli.Lack, error) {
	found, err := f.Find(ctx, place)
	if err != nil {
		return nil, err
	}
	var out []cli.Lack
	for _, d := range found.Folders {
		wanting := false
		if d.State == deps.Prepared && scripts {
			r, ok := deps.ReadReady(d.Set(place.Workspace))
			wanting = ok && !r.Ran && len(r.Scripts) > 0 && len(r.Folders) > 0 && r.Folders[0] == d.Path
		}
		if d.Shows() && !wanting || d.State == deps.Link || d.Digest == "" || covered(out, d) {
			continue
		}
		l := cli.Lack{State: string(d.State), Detail: d.Detail, Set: effect.PrepareSet{Ecosystem: string(d.Ecosystem), Path: d.Path, Root: d.Root, Locks: d.Locks, Digest: d.Digest}}
		if l.Tool, l.Err = prepare.Tool(d, scripts, place.Tree); l.Err == nil {
			l.Set.Sites, l.Err = sites(string(d.Ecosystem))
		}
		out = append(out, l)
	}
	return out, nil
}

// covered reports whether the set of a folder is listed already: one lock file fills the folders of all packages of a workspace.
func covered(out []cli.Lack, d deps.Folder) bool {
	for _, l := range out {
		if l.Set.Ecosystem == string(d.Ecosystem) && l.Set.Digest == d.Digest && l.Set.Root == d.Root {
			return true
		}
	}
	return false
}

// fetcher is the driver that fetches dependencies.
func fetcher(box *sandbox.Box, machine verify.Host) *prepare.Driver {
	return prepare.New(prepare.Config{Box: box, LookPath: machine.LookPath, Setting: func(place effect.Place, ecosystem string) ([]string, []string, error) {
		t, err := machine.Fetching(place, registries().Variables([]string{ecosystem}))
		return t.Env, t.Readable, err
	}})
}
