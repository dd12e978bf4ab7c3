package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/effect"
)

// rest asks an API that is spoken to without a library.
type rest struct{ at *Client }

// call makes one request and reads its answer into out. It returns the address of the page behind it, if there is one.
func (r rest) call(ctx context.Context, method, address string, in, out any) (next string, err error) {
	work, err := r.at.begin()
	if err != nil {
		return "", err
	}
	if err := work.permitted(); err != nil {
		return "", err
	}
	if !strings.Contains(address, "://") {
		address = strings.TrimRight(work.api.String(), "/") + address
	}
	q := request{method: method, url: address, once: method == http.MethodPost,
		header: http.Header{"Accept": {"application/json"}, "User-Agent": {"pawl"}}}
	if in != nil {
		q.body, _ = json.Marshal(in) // maps of texts
		q.header.Set("Content-Type", "application/json")
	}
	a, err := work.do(ctx, q)
	if err != nil {
		return "", err
	}
	if len(a.body) == 0 && (method == http.MethodPut || method == http.MethodPatch) {
		return "", nil // the change was made, and nothing is said of it
	}
	next, ok := work.next(a)
	if err := json.Unmarshal(a.body, out); err != nil || !ok {
		if q.once { // it was made, whatever the answer is
			return "", pawl.Fail(pawl.CodeOutcomeUnknown, "forge.unknown_outcome", work.api.Host).Because(err)
		}
		return "", pawl.Fail(pawl.CodeIO, "forge.malformed", shown(address)).Because(err).In("forge.Read")
	}
	return next, nil
}

// every reads all pages of a list.
func every[T any](ctx context.Context, r rest, address string) (out []T, err error) {
	for n := 0; address != ""; n++ {
		if n == maxLists {
			return nil, pawl.Fail(pawl.CodeIO, "forge.endless", shown(address), n).In("forge.List")
		}
		var page []T
		if address, err = r.call(ctx, http.MethodGet, address, nil, &page); err != nil {
			return nil, err
		}
		out = append(out, page...)
	}
	return out, nil
}

// lab is a project on GitLab (API v4), and the one that branches are pushed to, "" where that is the same.
type lab struct {
	rest
	project, fork string
}

type labRequest struct {
	IID         int    `json:"iid"`
	URL         string `json:"web_url"`
	State       string `json:"state"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Source      string `json:"source_branch"`
	Target      string `json:"target_branch"`
	From        int64  `json:"source_project_id"`
	For         int64  `json:"target_project_id"`
	Merge       string `json:"merge_commit_sha"`
	Squash      string `json:"squash_commit_sha"`
}

func (p labRequest) request() Request {
	state := map[string]effect.PullState{"merged": effect.PullMerged, "closed": effect.PullClosed}[p.State]
	if state == "" {
		state = effect.PullOpen
	}
	return Request{Number: p.IID, URL: p.URL, State: state, Title: p.Title, Body: p.Description, Head: p.Source,
		Base: p.Target, Merge: cmp.Or(p.Merge, p.Squash)}
}

func (g *lab) below(format string, args ...any) string {
	return "/projects/" + url.PathEscape(g.project) + fmt.Sprintf(format, args...)
}

// number is what a project is called in merge requests.
func (g *lab) number(ctx context.Context, project string) (int64, error) {
	var p struct {
		ID int64 `json:"id"`
	}
	_, err := g.call(ctx, http.MethodGet, "/projects/"+url.PathEscape(project), nil, &p)
	return p.ID, err
}

func (g *lab) Find(ctx context.Context, head string) ([]Request, error) {
	fork := int64(0)
	if g.fork != "" {
		var err error
		if fork, err = g.number(ctx, g.fork); err != nil {
			return nil, err
		}
	}
	found, err := every[labRequest](ctx, g.rest, g.below("/merge_requests?state=all&order_by=created_at&sort=desc"+
		"&per_page=100&source_branch=%s", url.QueryEscape(head)))
	var out []Request
	for _, p := range found {
		// Of a branch of that name there may be one in each fork.
		if p.Source == head && p.From == cmp.Or(fork, p.For) {
			out = append(out, p.request())
		}
	}
	return out, err
}

func (g *lab) Look(ctx context.Context, number int) (Request, error) {
	var p labRequest
	_, err := g.call(ctx, http.MethodGet, g.below("/merge_requests/%d", number), nil, &p)
	return p.request(), err
}

func (g *lab) Open(ctx context.Context, r Request) (Request, error) {
	in := map[string]any{"source_branch": r.Head, "target_branch": r.Base, "title": r.Title, "description": r.Body}
	at := g.below("/merge_requests")
	if g.fork != "" { // it is made where its branch is
		id, err := g.number(ctx, g.project)
		if err != nil {
			return Request{}, err
		}
		at, in["target_project_id"] = "/projects/"+url.PathEscape(g.fork)+"/merge_requests", id
	}
	var p labRequest
	_, err := g.call(ctx, http.MethodPost, at, in, &p)
	return p.request(), err
}

func (g *lab) Edit(ctx context.Context, number int, c Change) error {
	in := map[string]any{}
	if c.Body != "" {
		in["description"] = c.Body
	}
	if c.State != "" {
		in["state_event"] = state(c.State == effect.PullOpen, "reopen", "close")
	}
	_, err := g.call(ctx, http.MethodPut, g.below("/merge_requests/%d", number), in, &labRequest{})
	return err
}

type labNote struct {
	ID     int64  `json:"id"`
	Body   string `json:"body"`
	System bool   `json:"system"`
	Author struct {
		Username string `json:"username"`
	} `json:"author"`
	Created  time.Time `json:"created_at"`
	Position *struct {
		Path string `json:"new_path"`
		Line int    `json:"new_line"`
	} `json:"position"`
}

func (g *lab) Comments(ctx context.Context, number int) ([]effect.PullComment, error) {
	notes, err := every[labNote](ctx, g.rest, g.below("/merge_requests/%d/notes?sort=asc&per_page=100", number))
	var out []effect.PullComment
	for _, n := range notes {
		if n.System {
			continue // what GitLab says itself
		}
		c := effect.PullComment{ID: strconv.FormatInt(n.ID, 10), By: n.Author.Username, Text: n.Body, At: n.Created}
		if n.Position != nil {
			c.Path, c.Line = n.Position.Path, n.Position.Line
		}
		out = append(out, c)
	}
	return out, err
}

func (g *lab) Say(ctx context.Context, number int, id, body string) (string, error) {
	method, address := http.MethodPost, g.below("/merge_requests/%d/notes", number)
	if id != "" {
		method, address = http.MethodPut, address+"/"+url.PathEscape(id)
	}
	var n labNote
	if _, err := g.call(ctx, method, address, map[string]any{"body": body}, &n); err != nil || n.ID == 0 {
		return id, err
	}
	return strconv.FormatInt(n.ID, 10), nil
}

type labStatus struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Status      string `json:"status"`
	Description string `json:"description"`
}

func (g *lab) Reported(ctx context.Context, r Report) (string, error) {
	said, err := every[labStatus](ctx, g.rest, g.below("/repository/commits/%s/statuses?name=%s&per_page=100", r.Commit,
		url.QueryEscape(Context)))
	at := slices.IndexFunc(said, func(s labStatus) bool {
		return s.Name == Context && s.Description == line(r.Title, maxDescription-1) &&
			s.Status == state(r.OK, "success", "failed")
	})
	if at < 0 {
		return "", err
	}
	return strconv.FormatInt(said[at].ID, 10), err
}

func (g *lab) Report(ctx context.Context, r Report) (id, how string, err error) {
	in := map[string]any{"state": state(r.OK, "success", "failed"), "name": Context,
		"description": line(r.Title, maxDescription-1)}
	if r.URL != "" {
		in["target_url"] = r.URL
	}
	var s labStatus
	_, err = g.call(ctx, http.MethodPost, g.below("/statuses/%s", r.Commit), in, &s)
	return strconv.FormatInt(s.ID, 10), "status", err
}

// tea is a repository on Gitea or Forgejo (API v1), and the one that branches are pushed to, "" where that is the same.
type tea struct {
	rest
	repository, fork string
}

type teaRequest struct {
	Number int    `json:"number"`
	URL    string `json:"html_url"`
	State  string `json:"state"`
	Merged bool   `json:"merged"`
	Merge  string `json:"merge_commit_sha"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	Head   struct {
		Ref        string `json:"ref"`
		Repository struct {
			Name string `json:"full_name"`
		} `json:"repo"`
	} `json:"head"`
	Base struct {
		Ref string `json:"ref"`
	} `json:"base"`
}

func (p teaRequest) request() Request {
	state := effect.PullState(p.State)
	if p.Merged {
		state = effect.PullMerged
	}
	return Request{Number: p.Number, URL: p.URL, State: state, Title: p.Title, Body: p.Body, Head: p.Head.Ref,
		Base: p.Base.Ref, Merge: p.Merge}
}

func (g *tea) below(format string, args ...any) string {
	owner, name, _ := strings.Cut(g.repository, "/")
	return "/repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name) + fmt.Sprintf(format, args...)
}

func (g *tea) Find(ctx context.Context, head string) ([]Request, error) {
	found, err := every[teaRequest](ctx, g.rest, g.below("/pulls?state=all&sort=newest&limit=50"))
	var out []Request
	for _, p := range found {
		// Of a branch of that name there may be one in each fork.
		if p.Head.Ref == head && strings.EqualFold(p.Head.Repository.Name, cmp.Or(g.fork, g.repository)) {
			out = append(out, p.request())
		}
	}
	return out, err
}

func (g *tea) Look(ctx context.Context, number int) (Request, error) {
	var p teaRequest
	_, err := g.call(ctx, http.MethodGet, g.below("/pulls/%d", number), nil, &p)
	return p.request(), err
}

func (g *tea) Open(ctx context.Context, r Request) (Request, error) {
	head := r.Head
	if g.fork != "" {
		head = ownerOf(g.fork) + ":" + head
	}
	var p teaRequest
	_, err := g.call(ctx, http.MethodPost, g.below("/pulls"), map[string]any{"head": head, "base": r.Base,
		"title": r.Title, "body": r.Body}, &p)
	return p.request(), err
}

func (g *tea) Edit(ctx context.Context, number int, c Change) error {
	in := map[string]any{}
	if c.Body != "" {
		in["body"] = c.Body
	}
	if c.State != "" {
		in["state"] = c.State
	}
	_, err := g.call(ctx, http.MethodPatch, g.below("/pulls/%d", number), in, &teaRequest{})
	return err
}

type teaComment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	URL  string `json:"html_url"`
	User struct {
		Login string `json:"login"`
	} `json:"user"`
	Created time.Time `json:"created_at"`
	Path    string    `json:"path"`
	Line    int       `json:"position"`
}

func (c teaComment) comment(kind string) effect.PullComment {
	return effect.PullComment{ID: kind + strconv.FormatInt(c.ID, 10), By: c.User.Login, Text: c.Body, Path: c.Path,
		Line: c.Line, URL: c.URL, At: c.Created}
}

func (g *tea) Comments(ctx context.Context, number int) ([]effect.PullComment, error) {
	said, err := every[teaComment](ctx, g.rest, g.below("/issues/%d/comments", number))
	if err != nil {
		return nil, err
	}
	var out []effect.PullComment
	for _, c := range said {
		out = append(out, c.comment("c"))
	}
	reviews, err := every[teaComment](ctx, g.rest, g.below("/pulls/%d/reviews?limit=50", number))
	for _, r := range reviews {
		if strings.TrimSpace(r.Body) != "" {
			out = append(out, r.comment("r"))
		}
		lines, err := every[teaComment](ctx, g.rest, g.below("/pulls/%d/reviews/%d/comments", number, r.ID))
		if err != nil {
			return nil, err
		}
		for _, c := range lines {
			out = append(out, c.comment("l"))
		}
	}
	return out, err
}

func (g *tea) Say(ctx context.Context, number int, id, body string) (string, error) {
	method, address := http.MethodPost, g.below("/issues/%d/comments", number)
	if id != "" {
		method, address = http.MethodPatch, g.below("/issues/comments/%s", url.PathEscape(strings.TrimPrefix(id, "c")))
	}
	var c teaComment
	if _, err := g.call(ctx, method, address, map[string]any{"body": body}, &c); err != nil || c.ID == 0 {
		return id, err
	}
	return "c" + strconv.FormatInt(c.ID, 10), nil
}

type teaStatus struct {
	ID          int64  `json:"id"`
	Context     string `json:"context"`
	State       string `json:"status"`
	Description string `json:"description"`
}

func (g *tea) Reported(ctx context.Context, r Report) (string, error) {
	said, err := every[teaStatus](ctx, g.rest, g.below("/commits/%s/statuses?limit=50", r.Commit))
	at := slices.IndexFunc(said, func(s teaStatus) bool {
		return s.Context == Context && s.Description == line(r.Title, maxDescription-1) &&
			s.State == state(r.OK, "success", "failure")
	})
	if at < 0 {
		return "", err
	}
	return strconv.FormatInt(said[at].ID, 10), err
}

func (g *tea) Report(ctx context.Context, r Report) (id, how string, err error) {
	var s teaStatus
	_, err = g.call(ctx, http.MethodPost, g.below("/statuses/%s", r.Commit), map[string]any{"context": Context,
		"state": state(r.OK, "success", "failure"), "description": line(r.Title, maxDescription-1), "target_url": r.URL}, &s)
	return strconv.FormatInt(s.ID, 10), "status", err
}
