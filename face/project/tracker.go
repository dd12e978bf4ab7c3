package project

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pawl"
	"pawl/driver/github"
	"pawl/face/cli/settings"
	"pawl/face/host"
)

// Tracker reaches the issues of repositories. What was read is kept below dir, a .pawl folder, so that only what
// changed is asked for again.
func Tracker(dir string, c settings.GitHub) host.Tracker {
	client := func(repo github.Repo, progress func(github.Progress)) (*github.Client, error) {
		carry, err := github.Transport(c.CAFile)
		if err != nil {
			return nil, err
		}
		base := c.BaseURL
		if base == "" {
			base = repo.API()
		}
		return &github.Client{Base: base, HTTP: carry, Token: github.Env(os.Getenv, c.TokenEnv),
			Pages: github.Dir{Path: filepath.Join(dir, "cache", "github")}, Progress: progress}, nil
	}
	return host.Tracker{
		Read: func(ctx context.Context, q host.TrackerQuery, say func(string, ...any)) (host.TrackerRead, error) {
			repo, err := github.ParseRepo(q.Source)
			if err != nil {
				return host.TrackerRead{}, err
			}
			at, err := client(repo, func(p github.Progress) { say(p.Key, p.Args...) })
			if err != nil {
				return host.TrackerRead{}, err
			}
			r, err := at.Import(ctx, github.Query{Repo: repo, All: q.All, Labels: q.Labels}, q.Options)
			return host.TrackerRead{Backlog: r.Backlog, Pages: r.Pages, Unchanged: r.Unchanged, Requests: r.Requests,
				Unconditional: r.Unconditional}, err
		},
		Back: func(ctx context.Context, w host.TrackerWord) (bool, error) {
			repo, err := github.ParseRepo(w.Source)
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
	}
}
