package project

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/driver/forge"
	"pawl/face/cli/settings"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/keyring"
)

// patience bounds the waits of one step of a pull request for the limits of a forge: work waits for it.
const patience = time.Minute

// tokens are the variables that hold the token of a forge, where the settings name none.
var tokens = map[forge.Kind]string{forge.GitHub: "GITHUB_TOKEN", forge.GitLab: "GITLAB_TOKEN",
	forge.Gitea: "GITEA_TOKEN"}

// Forge is the driver of pull requests. Prove makes the file that shows that a task's records are in the audit log.
func Forge(m *git.Memory, c settings.Config,
	prove func(ctx context.Context, task string) ([]byte, error)) *forge.Driver {
	return &forge.Driver{Memory: m, Prove: prove,
		Target: func(t effect.Target, pushed, upstream string) (effect.Target, error) {
			return target(c, t, pushed, upstream)
		},
		Connect: func(t effect.Target) (forge.Forge, error) {
			at, err := reach(c, t)
			if err != nil {
				return nil, err
			}
			return at.Of(t.Repository, t.Fork)
		}}
}

// target completes where a pull request goes: what the settings say comes first, and then the address of the remote
// that the work is for. Where the branch is pushed to another repository of the same host, that is a fork.
func target(c settings.Config, t effect.Target, pushed, upstream string) (effect.Target, error) {
	place := func(remote string) (host, path string) {
		address, _, _ := strings.Cut(remote, ", ")
		return forge.Place(address)
	}
	host, path := place(upstream)
	if t.Host = host; c.Forge.Repository != "" {
		path = c.Forge.Repository
	}
	switch from, fork := place(pushed); {
	case pushed != upstream && from != host:
		return t, pawl.Fail(pawl.CodeInvalid, "pull.two_hosts", t.Remote, from, host)
	case fork != "" && !strings.HasSuffix(strings.ToLower("/"+fork), strings.ToLower("/"+path)):
		t.Fork = fork
	}
	t.Forge, t.Repository = c.Forge.Kind, path
	if t.Forge == "" {
		t.Forge = string(forge.KindOf(host))
	}
	switch {
	case t.Forge == "":
		return t, pawl.Fail(pawl.CodeInvalid, "pull.unknown_forge", t.Remote, host)
	case !strings.Contains(path, "/"):
		return t, pawl.Fail(pawl.CodeInvalid, "pull.unknown_repository", t.Remote)
	case host == "" && c.Forge.BaseURL == "" && (t.Forge != string(forge.GitHub) || c.GitHub.BaseURL == ""):
		return t, pawl.Fail(pawl.CodeInvalid, "pull.no_host", t.Remote)
	}
	return t, nil
}

// reach is a client for the forge of a target.
func reach(c settings.Config, t effect.Target) (*forge.Client, error) {
	kind := forge.Kind(t.Forge)
	f := c.Forge
	if kind == forge.GitHub {
		f.BaseURL, f.CAFile = cmp.Or(f.BaseURL, c.GitHub.BaseURL), cmp.Or(f.CAFile, c.GitHub.CAFile)
		if f.TokenEnv == "" && f.KeyRing == "" {
			f.TokenEnv, f.KeyRing = c.GitHub.TokenEnv, c.GitHub.KeyRing
		}
	}
	return client(kind, cmp.Or(f.BaseURL, kind.API(t.Host)), f)
}

// client reaches an API with what the settings say of tokens and certificates.
func client(kind forge.Kind, base string, f settings.Forge) (*forge.Client, error) {
	carry, err := forge.Transport(f.CAFile)
	if err != nil {
		return nil, err
	}
	c := &forge.Client{Kind: kind, Base: base, HTTP: carry, MaxWait: patience}
	if f.KeyRing != "" {
		c.Token, c.TokenName = forge.Ring(keyring.Read, f.KeyRing), f.KeyRing
	} else {
		c.TokenName = cmp.Or(f.TokenEnv, tokens[kind])
		c.Token = forge.Env(os.Getenv, c.TokenName)
	}
	return c, nil
}

// pulled reads what became of a pull request, and what others said that has not come back yet, oldest first.
func pulled(ctx context.Context, c settings.Config, p effect.Pull) (effect.PullState, []effect.PullComment, error) {
	at, err := reach(c, p.Target)
	if err != nil {
		return "", nil, err
	}
	there, err := at.Of(p.Repository, p.Fork)
	if err != nil {
		return "", nil, err
	}
	now, err := there.Look(ctx, p.Number)
	if err != nil {
		return "", nil, err
	}
	all, err := there.Comments(ctx, p.Number)
	all = slices.DeleteFunc(all, func(c effect.PullComment) bool {
		return slices.Contains(p.Seen, c.ID) || forge.Marked(c.Text, "pawl:proof")
	})
	slices.SortStableFunc(all, func(a, b effect.PullComment) int { return a.At.Compare(b.At) })
	return now.State, all, err
}
