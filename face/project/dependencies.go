package project

import (
	"context"
	"os"

	"pawl/driver/prepare"
	"pawl/face/host"
	"pawl/kernel/effect"
	"pawl/sandbox/deps"
	"pawl/sandbox/egress"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// Dependencies finds the dependencies of projects, with further folders that the settings name. It shares what m
// remembers.
func Dependencies(m *git.Memory, more []string) *deps.Finder {
	return &deps.Finder{
		More: more, Activated: os.Getenv("VIRTUAL_ENV") != "" || os.Getenv("CONDA_PREFIX") != "",
		Tracked: func(ctx context.Context, place effect.Place, paths []string) (map[string]bool, error) {
			repo, err := m.Open(ctx, layout.Of(place).Top())
			if err != nil {
				return nil, err
			}
			return git.Tracked(ctx, repo, paths)
		},
	}
}

// lacks lists the dependencies that a place needs and that commands would not find there.
func lacks(ctx context.Context, f *deps.Finder, place effect.Place, scripts bool) ([]host.Lack, error) {
	found, err := f.Find(ctx, place)
	if err != nil {
		return nil, err
	}
	var out []host.Lack
	for _, d := range found.Folders {
		wanting := false
		if d.State == deps.Prepared && scripts {
			r, ok := deps.ReadReady(d.Set(place))
			wanting = ok && !r.Ran && len(r.Scripts) > 0 && len(r.Folders) > 0 && r.Folders[0] == d.Path
		}
		if d.Shows() && !wanting || d.State == deps.Link || d.Digest == "" || covered(out, d) {
			continue
		}
		l := host.Lack{State: string(d.State), Detail: d.Detail, Set: effect.PrepareSet{Ecosystem: string(d.Ecosystem),
			Path: d.Path, Root: d.Root, Locks: d.Locks, Digest: d.Digest}}
		if l.Tool, l.Err = prepare.Tool(d, scripts, place.Tree); l.Err == nil {
			l.Set.Sites, l.Err = egress.OfUser().Sites(string(d.Ecosystem))
		}
		out = append(out, l)
	}
	return out, nil
}

// covered reports whether the set of a folder is listed already: one lock file fills the folders of all packages of a
// workspace.
func covered(out []host.Lack, d deps.Folder) bool {
	for _, l := range out {
		if l.Set.Ecosystem == string(d.Ecosystem) && l.Set.Digest == d.Digest && l.Set.Root == d.Root {
			return true
		}
	}
	return false
}
