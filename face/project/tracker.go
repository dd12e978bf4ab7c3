package project

import (
	"cmp"
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"pawl"
	"pawl/driver/forge"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/kernel/effect"
)

// Tracker reaches the issues of repositories. What was read is kept below dir, a .pawl folder, so that only what
// changed is asked for again.
func Tracker(dir string, all settings.Config) host.Tracker {
	c := all.GitHub
	client := func(repo forge.Repo, progress func(forge.Progress)) (*forge.Client, error) {
		at, err := client(forge.GitHub, cmp.Or(c.BaseURL, repo.API()), settings.Forge{TokenEnv: c.TokenEnv,
			KeyRing: c.KeyRing, CAFile: c.CAFile})
		if err != nil {
			return nil, err
		}
		at.MaxWait, at.Pages, at.Progress = 0, forge.Dir{Path: filepath.Join(dir, "cache", "github")}, progress
		return at, nil
	}
	return host.Tracker{
		Read: func(ctx context.Context, q host.TrackerQuery, say func(string, ...any)) (host.TrackerRead, error) {
			repo, err := forge.ParseRepo(q.Source)
			if err != nil {
				return host.TrackerRead{}, err
			}
			at, err := client(repo, func(p forge.Progress) { say(p.Key, p.Args...) })
			if err != nil {
				return host.TrackerRead{}, err
			}
			r, err := at.Import(ctx, forge.Query{Repo: repo, All: q.All, Labels: q.Labels}, q.Options)
			return host.TrackerRead{Backlog: r.Backlog, Pages: r.Pages, Unchanged: r.Unchanged, Requests: r.Requests,
				Unconditional: r.Unconditional}, err
		},
		Back: func(ctx context.Context, w host.TrackerWord) (bool, error) {
			repo, err := forge.ParseRepo(w.Source)
			if err != nil {
				return false, err
			}
			number, err := strconv.Atoi(w.External[strings.LastIndexByte(w.External, '#')+1:])
			if err != nil {
				return false, pawl.Fail(pawl.CodeInvalid, "issue.not_tracked", w.External)
			}
			at, err := client(repo, nil)
			if err != nil {
				return false, err
			}
			if w.How == "label" {
				return true, at.Label(ctx, repo, number, "pawl:"+w.State)
			}
			if there, err := at.Commented(ctx, repo, number, w.Mark); err != nil || there {
				return false, err
			}
			return true, at.Comment(ctx, repo, number, w.Mark, w.Text)
		},
		Pull: func(ctx context.Context, p effect.Pull) (effect.PullState, []effect.PullComment, error) {
			return pulled(ctx, all, p)
		},
	}
}
