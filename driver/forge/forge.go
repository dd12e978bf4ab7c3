package forge

import (
	"context"
	"strings"

	"pawl"
	"pawl/kernel/effect"
)

// Context is the name of what pawl says of a commit.
const Context = "pawl/proof"

// Request is a pull request, which GitLab calls a merge request. Base is a branch of the repository, and Head one of
// the same repository or of the fork that work comes from.
type Request struct {
	Number      int
	URL         string
	State       effect.PullState
	Title, Body string
	Head, Base  string
	// Merge is the commit by which it was merged, "" where that is not said.
	Merge string
}

func (r Request) result() effect.PullResult {
	return effect.PullResult{Number: r.Number, URL: r.URL, State: r.State, Base: r.Base}
}

// Change is what becomes of a pull request: what is empty stays as it is.
type Change struct {
	Body  string
	State effect.PullState
}

// Report is what is said of a commit. Title fits into a line, and Text is Markdown. Marker tells it from others.
type Report struct {
	Commit      string
	OK          bool
	Title, Text string
	URL, Marker string
}

// Forge is what pawl asks of one repository on a forge. Nothing of it is done twice by itself: where it is not known
// what became of something that was to be made, the error has CodeOutcomeUnknown, and Find, Comments and Reported tell.
type Forge interface {
	// Find returns the pull requests of a branch, those that are closed included, newest first.
	Find(ctx context.Context, head string) ([]Request, error)
	// Look returns a pull request as it is now.
	Look(ctx context.Context, number int) (Request, error)
	// Open makes a pull request. Where there is one of the branch already, the error has CodeConflict or CodeInvalid.
	Open(ctx context.Context, r Request) (Request, error)
	// Edit changes a pull request, which may be done twice.
	Edit(ctx context.Context, number int, c Change) error
	// Comments are all comments and reviews under a pull request.
	Comments(ctx context.Context, number int) ([]effect.PullComment, error)
	// Say writes a comment or, with the id of one that is there, changes it. It returns the id.
	Say(ctx context.Context, number int, id, body string) (string, error)
	// Reported finds what was said of a commit, by title and marker.
	Reported(ctx context.Context, r Report) (id string, err error)
	// Report says something of a commit, and returns its id.
	Report(ctx context.Context, r Report) (id, how string, err error)
}

// Of returns the forge of a kind that the client reaches, for a repository and the one that branches are pushed to, ""
// where that is the same.
func (c *Client) Of(repository, fork string) (Forge, error) {
	switch c.Kind {
	case GitLab:
		return &lab{rest: rest{c}, project: repository, fork: fork}, nil
	case Gitea:
		return &tea{rest{c}, repository, fork}, nil
	}
	r, err := ParseRepo(repository)
	if err != nil || fork == "" {
		return &hub{c, r, r}, err
	}
	f, err := ParseRepo(fork)
	return &hub{c, r, f}, err
}

// ownerOf is the first part of OWNER/NAME.
func ownerOf(repository string) string {
	owner, _, _ := strings.Cut(repository, "/")
	return owner
}

// Place reads the address of a git remote: which host it is on, and the path of the repository there. An address of a
// folder has neither.
func Place(remote string) (host, path string) {
	s := strings.TrimSpace(remote)
	scheme, rest, found := strings.Cut(s, "://")
	switch {
	case found && scheme != "file":
		s = rest
	case found:
		return "", ""
	default: // the short form of SSH
		head, tail, ok := strings.Cut(s, ":")
		if !ok || strings.Contains(head, "/") {
			return "", ""
		}
		s = head + "/" + tail
	}
	host, path, _ = strings.Cut(s, "/")
	if _, after, ok := strings.Cut(host, "@"); ok {
		host = after
	}
	if scheme == "ssh" {
		host, _, _ = strings.Cut(host, ":") // the port is that of SSH
	}
	return strings.ToLower(host), strings.Trim(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
}

// KindOf tells the kind of forge from the name of its host, "" where it does not say.
func KindOf(host string) Kind {
	for word, kind := range map[string]Kind{"github": GitHub, "gitlab": GitLab, "gitea": Gitea, "forgejo": Gitea,
		"codeberg": Gitea} {
		if strings.Contains(host, word) {
			return kind
		}
	}
	return ""
}

// API is the usual address of a forge's API.
func (k Kind) API(host string) string {
	switch k {
	case GitLab:
		return "https://" + host + "/api/v4"
	case Gitea:
		return "https://" + host + "/api/v1"
	}
	if host == "github.com" {
		host = ""
	}
	return Repo{Host: host}.API()
}

// taken reports whether an error says that what was to be made is there already, or may be.
func taken(err error) bool {
	code := pawl.CodeOf(err)
	return code == pawl.CodeConflict || code == pawl.CodeInvalid || code == pawl.CodeOutcomeUnknown
}
