package forge

import (
	"context"
	"strings"

	"pawl"
	"pawl/kernel/effect"
)

// Context is the name of what pawl says of a commit.
const Context = "pawl/proof"

// Request is a pull request, which GitLab calls a merge request. Head and Base are branches of the same repository.
type Request struct {
	Number      int
	URL         string
	State       effect.PullState
	Title, Body string
	Head, Base  string
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
	// Edit gives a pull request another title and body.
	Edit(ctx context.Context, number int, title, body string) error
	// Comments are all comments and reviews under a pull request.
	Comments(ctx context.Context, number int) ([]effect.PullComment, error)
	// Say writes a comment or, with the id of one that is there, changes it. It returns the id.
	Say(ctx context.Context, number int, id, body string) (string, error)
	// Reported finds what was said of a commit, by title and marker.
	Reported(ctx context.Context, r Report) (id string, err error)
	// Report says something of a commit, and returns its id.
	Report(ctx context.Context, r Report) (id, how string, err error)
}

// Of returns the forge of a kind that the client reaches, for a repository.
func (c *Client) Of(repository string) (Forge, error) {
	switch c.Kind {
	case GitLab:
		return &lab{rest{c}, repository}, nil
	case Gitea:
		return &tea{rest{c}, repository}, nil
	}
	r, err := ParseRepo(repository)
	return &hub{c, r}, err
}

// ofBranch leaves out what is of another branch, which some forges give, too.
func ofBranch(all []Request, head string) (out []Request) {
	for _, r := range all {
		if r.Head == head {
			out = append(out, r)
		}
	}
	return out
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
