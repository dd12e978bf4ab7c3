package main

import (
	"context"
	"os"
	"strings"

	"pawl/cli"
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

// outfit completes a command that starts in the tree of a task of the workspace with the dependencies of the project.
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
	return nil
}
