package project

import (
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
		Target: func(t effect.Target, remote string) (effect.Target, error) { return target(c, t, remote) },
		Connect: func(t effect.Target) (forge.Forge, error) {
			at, err := reach(c, t)
			if err != nil {
				return nil, err
			}
			return at.Of(t.Repository)
		}}
}

// target completes where a pull request goes: what the settings say comes first, and then the address of the remote.
func target(c settings.Config, t effect.Target, remote string) (effect.Target, error) {
	address, _, _ := strings.Cut(remote, ", ")
	host, path := forge.Place(address)
	if t.Host = host; c.Forge.Repository != "" {
		path = c.Forge.Repository
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
	base, token, ca := c.Forge.BaseURL, c.Forge.TokenEnv, c.Forge.CAFile
	if kind == forge.GitHub {
		base, token, ca = or(base, c.GitHub.BaseURL), or(token, c.GitHub.TokenEnv), or(ca, c.GitHub.CAFile)
	}
	carry, err := forge.Transport(ca)
	if err != nil {
		return nil, err
	}
	return &forge.Client{Kind: kind, Base: or(base, kind.API(t.Host)), HTTP: carry, MaxWait: patience,
		Token: forge.Env(os.Getenv, or(token, tokens[kind]))}, nil
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// pulled reads what became of a pull request, and what others said that has not come back yet, oldest first.
func pulled(ctx context.Context, c settings.Config, p effect.Pull) (effect.PullState, []effect.PullComment, error) {
	at, err := reach(c, p.Target)
	if err != nil {
		return "", nil, err
	}
	there, err := at.Of(p.Repository)
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
