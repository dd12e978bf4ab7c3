package forge

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-github/v89/github"

	"pawl"
	"pawl/kernel/effect"
)

// hub is a repository on GitHub, and the one that branches are pushed to.
type hub struct {
	at         *Client
	repo, fork Repo
}

// maxLists bounds the pages that are read of a list about one pull request.
const maxLists = 50

// with makes one call of the library, which needs a token.
func with[T any](ctx context.Context, h *hub, do func(context.Context, *github.Client) (T, *github.Response, error)) (T,
	error) {
	var out T
	err := h.at.writing(ctx, func(ctx context.Context, gh *github.Client) (err error) {
		out, _, err = do(ctx, gh)
		return err
	})
	return out, err
}

// all reads every page of a list.
func all[T any](ctx context.Context, h *hub, page func(context.Context, *github.Client, github.ListOptions) ([]T,
	*github.Response, error)) (out []T, err error) {
	err = h.at.writing(ctx, func(ctx context.Context, gh *github.Client) error {
		for opt := (github.ListOptions{PerPage: pageSize, Page: 1}); opt.Page > 0; {
			if opt.Page > maxLists {
				return pawl.Fail(pawl.CodeIO, "forge.endless", h.repo.String(), maxLists).In("forge.List")
			}
			got, resp, err := page(ctx, gh, opt)
			if err != nil {
				return err
			}
			out, opt.Page = append(out, got...), resp.NextPage
		}
		return nil
	})
	return out, err
}

func requested(p *github.PullRequest) Request {
	state := effect.PullState(p.GetState())
	if p.GetMerged() || p.MergedAt != nil {
		state = effect.PullMerged
	}
	return Request{Number: p.GetNumber(), URL: p.GetHTMLURL(), State: state, Title: p.GetTitle(), Body: p.GetBody(),
		Head: p.GetHead().GetRef(), Base: p.GetBase().GetRef(), Merge: p.GetMergeCommitSHA()}
}

func (h *hub) Find(ctx context.Context, head string) ([]Request, error) {
	found, err := all(ctx, h, func(ctx context.Context, gh *github.Client, o github.ListOptions) ([]*github.PullRequest,
		*github.Response, error) {
		return gh.PullRequests.List(ctx, h.repo.Owner, h.repo.Name, &github.PullRequestListOptions{State: "all",
			Head: h.fork.Owner + ":" + head, Sort: "created", Direction: "desc", ListOptions: o})
	})
	var out []Request
	for _, p := range found {
		// Of a branch of that name there may be one in each fork.
		if from := p.GetHead(); from.GetRef() == head && strings.EqualFold(from.GetUser().GetLogin(), h.fork.Owner) {
			out = append(out, requested(p))
		}
	}
	return out, err
}

func (h *hub) Look(ctx context.Context, number int) (Request, error) {
	p, err := with(ctx, h, func(ctx context.Context, gh *github.Client) (*github.PullRequest, *github.Response, error) {
		return gh.PullRequests.Get(ctx, h.repo.Owner, h.repo.Name, number)
	})
	if err != nil {
		return Request{}, err
	}
	return requested(p), nil
}

func (h *hub) Open(ctx context.Context, r Request) (Request, error) {
	request := &github.NewPullRequest{Title: &r.Title, Head: &r.Head, Base: &r.Base, Body: &r.Body}
	if h.fork != h.repo {
		from := h.fork.Owner + ":" + r.Head
		request.Head, request.HeadRepo = &from, &h.fork.Name
	}
	p, err := with(ctx, h, func(ctx context.Context, gh *github.Client) (*github.PullRequest, *github.Response, error) {
		return gh.PullRequests.Create(ctx, h.repo.Owner, h.repo.Name, request)
	})
	if err != nil {
		return Request{}, err
	}
	return requested(p), nil
}

func (h *hub) Edit(ctx context.Context, number int, c Change) error {
	word := string(c.State)
	_, err := with(ctx, h, func(ctx context.Context, gh *github.Client) (*github.PullRequest, *github.Response, error) {
		return gh.PullRequests.Edit(ctx, h.repo.Owner, h.repo.Name, number, &github.PullRequest{
			Body: optional(c.Body), State: optional(word)})
	})
	return err
}

func (h *hub) Comments(ctx context.Context, number int) ([]effect.PullComment, error) {
	said, err := all(ctx, h, func(ctx context.Context, gh *github.Client, o github.ListOptions) ([]*github.IssueComment,
		*github.Response, error) {
		return gh.Issues.ListComments(ctx, h.repo.Owner, h.repo.Name, number, &github.IssueListCommentsOptions{
			ListOptions: o})
	})
	if err != nil {
		return nil, err
	}
	var out []effect.PullComment
	add := func(kind string, id int64, by, text, url string, at github.Timestamp) *effect.PullComment {
		out = append(out, effect.PullComment{ID: kind + strconv.FormatInt(id, 10), By: by, Text: text, URL: url,
			At: at.Time})
		return &out[len(out)-1]
	}
	for _, c := range said {
		add("c", c.GetID(), c.GetUser().GetLogin(), c.GetBody(), c.GetHTMLURL(), c.GetCreatedAt())
	}
	lines, err := all(ctx, h, func(ctx context.Context, gh *github.Client,
		o github.ListOptions) ([]*github.PullRequestComment, *github.Response, error) {
		return gh.PullRequests.ListComments(ctx, h.repo.Owner, h.repo.Name, number,
			&github.PullRequestListCommentsOptions{ListOptions: o})
	})
	if err != nil {
		return nil, err
	}
	for _, c := range lines {
		one := add("l", c.GetID(), c.GetUser().GetLogin(), c.GetBody(), c.GetHTMLURL(), c.GetCreatedAt())
		one.Path, one.Line = c.GetPath(), c.GetLine()
	}
	reviews, err := all(ctx, h, func(ctx context.Context, gh *github.Client,
		o github.ListOptions) ([]*github.PullRequestReview, *github.Response, error) {
		return gh.PullRequests.ListReviews(ctx, h.repo.Owner, h.repo.Name, number, &o)
	})
	for _, c := range reviews {
		if strings.TrimSpace(c.GetBody()) != "" {
			add("r", c.GetID(), c.GetUser().GetLogin(), c.GetBody(), c.GetHTMLURL(), c.GetSubmittedAt())
		}
	}
	return out, err
}

func (h *hub) Say(ctx context.Context, number int, id, body string) (string, error) {
	known, _ := strconv.ParseInt(strings.TrimPrefix(id, "c"), 10, 64)
	c, err := with(ctx, h, func(ctx context.Context, gh *github.Client) (*github.IssueComment, *github.Response,
		error) {
		text := &github.IssueComment{Body: &body}
		if known > 0 {
			return gh.Issues.EditComment(ctx, h.repo.Owner, h.repo.Name, known, text)
		}
		return gh.Issues.CreateComment(ctx, h.repo.Owner, h.repo.Name, number, text)
	})
	return "c" + strconv.FormatInt(c.GetID(), 10), err
}

// application reports whether the token is that of an application or of a workflow: only those may make checks.
func (h *hub) application() bool {
	if h.at.Token == nil {
		return false
	}
	token, err := h.at.Token()
	return err == nil && strings.HasPrefix(token, "ghs_")
}

// maxDescription is how long the line of a status may be, in characters.
const maxDescription = 140

func (h *hub) Reported(ctx context.Context, r Report) (string, error) {
	if h.application() {
		name, filter := Context, "all"
		runs, err := with(ctx, h, func(ctx context.Context, gh *github.Client) (*github.ListCheckRunsResults,
			*github.Response, error) {
			return gh.Checks.ListCheckRunsForRef(ctx, h.repo.Owner, h.repo.Name, r.Commit, &github.ListCheckRunsOptions{
				CheckName: &name, Filter: &filter, ListOptions: github.ListOptions{PerPage: pageSize}})
		})
		if err != nil {
			return "", err
		}
		at := slices.IndexFunc(runs.CheckRuns, func(c *github.CheckRun) bool { return c.GetExternalID() == r.Marker })
		if at < 0 {
			return "", nil
		}
		return strconv.FormatInt(runs.CheckRuns[at].GetID(), 10), nil
	}
	said, err := all(ctx, h, func(ctx context.Context, gh *github.Client, o github.ListOptions) ([]*github.RepoStatus,
		*github.Response, error) {
		return gh.Repositories.ListStatuses(ctx, h.repo.Owner, h.repo.Name, r.Commit, &o)
	})
	if err != nil {
		return "", err
	}
	for _, s := range said { // the newest of a context comes first, and is the one that counts
		if s.GetContext() == Context {
			if s.GetDescription() == line(r.Title, maxDescription-1) && s.GetState() == state(r.OK, "success", "failure") {
				return strconv.FormatInt(s.GetID(), 10), nil
			}
			return "", nil
		}
	}
	return "", nil
}

func state(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

func (h *hub) Report(ctx context.Context, r Report) (id, how string, err error) {
	title, name := line(r.Title, maxDescription-1), Context
	if !h.application() {
		word := state(r.OK, "success", "failure")
		s, err := with(ctx, h, func(ctx context.Context, gh *github.Client) (*github.RepoStatus, *github.Response,
			error) {
			return gh.Repositories.CreateStatus(ctx, h.repo.Owner, h.repo.Name, r.Commit, github.RepoStatus{
				State: &word, Context: &name, Description: &title, TargetURL: optional(r.URL)})
		})
		return strconv.FormatInt(s.GetID(), 10), "status", err
	}
	done, word := "completed", state(r.OK, "success", "failure")
	c, err := with(ctx, h, func(ctx context.Context, gh *github.Client) (*github.CheckRun, *github.Response, error) {
		return gh.Checks.CreateCheckRun(ctx, h.repo.Owner, h.repo.Name, github.CreateCheckRunOptions{Name: name,
			HeadSHA: r.Commit, DetailsURL: optional(r.URL), ExternalID: &r.Marker, Status: &done, Conclusion: &word,
			Output: &github.CheckRunOutput{Title: &title, Summary: &r.Text}})
	})
	return strconv.FormatInt(c.GetID(), 10), "check", err
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
