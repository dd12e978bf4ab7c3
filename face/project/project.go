// Package project is the project of a workspace as the commands see it that are no flow: its documents and packages,
// its checks, its dependencies, its repository, and the issues that are kept of it elsewhere.
package project

import (
	"context"
	"os"
	"slices"
	"time"

	"pawl/agent/script"
	"pawl/driver/commit"
	kb "pawl/driver/knowledge"
	"pawl/driver/packages"
	"pawl/driver/review"
	"pawl/driver/search"
	"pawl/driver/verify"
	"pawl/face/host"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/egress"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
	"pawl/text/knowledge"
)

// recentCommits are the commits whose changes count as recent.
const recentCommits = 10

// Of looks at the project of the workspace at a place. Dependencies are further folders of them that the settings name.
func Of(place effect.Place, dependencies []string) host.Project {
	memory := &git.Memory{}
	found := Dependencies(memory, dependencies)
	checks := func(ctx context.Context) (effect.ContextResult, error) {
		return verify.Checks(ctx, verify.ThisMachine(), place)
	}
	return host.Project{
		Documents: func(ctx context.Context) (map[string][]byte, error) { return kb.Documents(ctx, place.Workspace) },
		Packages:  func(ctx context.Context) (host.Packages, error) { return packagesOf(ctx, place) },
		Scan: func(ctx context.Context, progress func(int)) (knowledge.Project, error) {
			return kb.Scan(ctx, place.Workspace, search.Shown(place.Workspace), progress)
		},
		Old: func(ctx context.Context) (host.OldBase, error) {
			old, err := kb.FindOld(ctx, place.Workspace)
			return host.OldBase(old), err
		},
		Checks: checks,
		Unaided: func(ctx context.Context, agent, requirement string) (bool, error) {
			if agent != "" && agent != script.Name || !script.AsksForChecks(requirement) {
				return false, nil
			}
			found, err := checks(ctx)
			own := script.New(script.Config{LookPath: sandbox.LookPath, Open: verify.OpenDir})
			return err == nil && !own.Fixes(place, found, requirement), err
		},
		Lacks: func(ctx context.Context, at effect.Place, scripts bool) ([]host.Lack, error) {
			return lacks(ctx, found, at, scripts)
		},
		Sites: func(hosts []string) ([]effect.Site, error) {
			var out []effect.Site
			for _, h := range hosts {
				more, err := egress.OfUser().Sites(h)
				if err != nil {
					return nil, err
				}
				out = append(out, more...)
			}
			return out, nil
		},
		Stands: func(at effect.Place) bool { info, err := os.Lstat(at.Tree); return err == nil && info.IsDir() },
		Review: func(ctx context.Context, scope host.ReviewScope, paths []string) (effect.Review, error) {
			var err error
			switch scope {
			case host.ReviewRecent:
				paths, err = commit.Recent(ctx, memory, place, recentCommits)
			case host.ReviewStaged:
				paths, err = commit.StagedFiles(ctx, memory, place)
			case host.ReviewAll:
				paths = nil
			}
			if err != nil {
				return effect.Review{}, err
			}
			if scope == host.ReviewRecent || scope == host.ReviewStaged {
				paths = slices.DeleteFunc(append([]string{}, paths...),
					func(p string) bool { return !review.Reviewed(p) })
			}
			return review.Files(ctx, place.Workspace, search.Files, paths)
		},
		Standing: func(ctx context.Context, all bool) (host.Standing, error) {
			s, err := commit.Look(ctx, memory, place, all)
			return host.Standing{Head: s.Head, Branch: s.Branch, From: s.From, By: byOf(s.By), Staged: s.Staged,
				Tree: s.Tree, Files: s.Files, Beside: s.Beside}, err
		},
		Upstream: func(ctx context.Context, branch string) (host.Upstream, error) {
			u, err := commit.Upstream(ctx, memory, place, branch)
			return host.Upstream{Push: effect.Push{Remote: u.Remote, Ref: u.Ref}, URL: u.URL, New: u.New}, err
		},
		Past: func(ctx context.Context) (host.Past, error) { return pastOf(ctx, memory, place) },
	}
}

// byOf is who a commit of the user's own is by, empty where the user has not said it.
func byOf(i layout.Identity) effect.CommitBy {
	if i == layout.Pawl {
		return effect.CommitBy{}
	}
	return effect.CommitBy(i)
}

func packagesOf(ctx context.Context, place effect.Place) (host.Packages, error) {
	var p host.Packages
	var err error
	if p.Names, p.Files, err = packages.Look(ctx, place.Workspace); err != nil {
		return p, err
	}
	p.Index, p.Indexed, p.Exists, err = packages.Archive(place.Workspace)
	return p, err
}

func pastOf(ctx context.Context, memory *git.Memory, place effect.Place) (host.Past, error) {
	p, err := commit.LookBack(ctx, memory, place)
	if err != nil {
		return host.Past{}, err
	}
	one := func(c git.Commit, err error) (host.Commit, error) {
		return host.Commit{ID: c.ID, Tree: c.Tree, Message: c.Message, At: c.At}, err
	}
	return host.Past{
		Head: p.Head, Branch: p.Branch, From: p.From, By: byOf(p.By), Dirty: p.Dirty,
		Newest: func(ctx context.Context, n int) ([]host.Commit, error) {
			list, err := p.Newest(ctx, n)
			var out []host.Commit
			for _, c := range list {
				got, _ := one(c, nil)
				out = append(out, got)
			}
			return out, err
		},
		Find: func(ctx context.Context, name string) (host.Commit, error) { return one(p.Find(ctx, name)) },
		At:   func(ctx context.Context, at time.Time) (host.Commit, error) { return one(p.At(ctx, at)) },
		Free: p.Free, Stats: p.Stats,
	}, nil
}
