package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/text/backlog"
)

// Query says which issues are read.
type Query struct {
	Repo Repo
	// All reads closed issues as well, as completed ones. Without it they are read only where an open one depends on
	// them.
	All bool
	// Labels, if any, are all on the issue.
	Labels []string
	// Since, if set, leaves out what was not changed from then on.
	Since time.Time
}

// Result is what an import read. After an error it says how far it came; the backlog is empty then.
type Result struct {
	Backlog backlog.Backlog
	// Pages were read, and Entries stood in them, pull requests included. Unchanged pages came from an earlier import.
	Pages, Entries, Unchanged int
	// Requests is how many were made, and Unconditional how many of them without a condition.
	Requests, Unconditional int
	// Waited is the time that the server's limits took.
	Waited time.Duration
	// Unsaved is why a page could not be kept for the next import, or nil. The backlog is whole nevertheless.
	Unsaved error
}

// Import reads the issues of a repository. What was read before an error is kept in Pages, and the next Import goes on
// from there. While the list of open issues is read, an issue that is closed moves the others, and one may be missed;
// the next import has it. With All the list does not move.
func (c *Client) Import(ctx context.Context, q Query, opt backlog.Options) (Result, error) {
	work, err := c.begin()
	if err != nil {
		return Result{}, err
	}
	opt.Repo = q.Repo.String()
	l := &lister{call: work, q: q, into: backlog.New(opt)}
	b, err := l.run(ctx)
	l.out.Backlog = b
	l.out.Unchanged, l.out.Requests, l.out.Unconditional = work.unchanged, work.requests, work.unconditional
	l.out.Waited, l.out.Unsaved = work.waited, work.unsaved
	return l.out, err
}

type lister struct {
	call *call
	q    Query
	into *backlog.Reader
	out  Result
	last []byte // the page before
	full int    // entries of the fullest page
}

func (l *lister) run(ctx context.Context) (backlog.Backlog, error) {
	seen := map[string]bool{}
	for address := l.first(); address != ""; {
		if seen[address] || len(seen) == maxPages {
			return backlog.Backlog{}, pawl.Fail(pawl.CodeIO, "forge.endless", l.q.Repo.String(),
				len(seen)).In("forge.Import")
		}
		seen[address] = true
		p, _, err := l.call.get(ctx, address, '[')
		if err != nil {
			return backlog.Backlog{}, l.explained(err)
		}
		l.out.Pages++
		var entries []json.RawMessage
		if err := json.Unmarshal(p.Body, &entries); err != nil {
			return backlog.Backlog{}, pawl.Fail(pawl.CodeIO, "forge.malformed",
				shown(address)).Because(err).In("forge.Import")
		}
		l.out.Entries += len(entries)
		if err := l.into.Add(bytes.NewReader(p.Body), fmt.Sprintf("github:%s page %d", l.q.Repo, l.out.Pages),
			backlog.Records); err != nil {
			return backlog.Backlog{}, err
		}
		l.call.say(Progress{Key: "forge.read", Args: []any{l.out.Entries, l.out.Pages, l.call.unchanged}})
		address = l.behind(p, len(entries))
	}
	if err := l.lookups(ctx); err != nil {
		return backlog.Backlog{}, l.explained(err)
	}
	return l.into.Done()
}

// behind returns the address of the page behind one. Where a last page is full, the one behind it is asked for
// nevertheless: an issue that is added there leaves the full page as it is, and then the server says that nothing
// changed.
func (l *lister) behind(p Page, entries int) string {
	had := l.last
	l.last, l.full = p.Body, max(l.full, entries)
	if p.Next != "" || entries == 0 || entries < pageSize && (l.out.Pages == 1 || entries < l.full) ||
		bytes.Equal(had, p.Body) {
		return p.Next
	}
	return l.first() + "&page=" + strconv.Itoa(l.out.Pages+1)
}

// explained adds to an error that what was read is not lost.
func (l *lister) explained(err error) error {
	var e *pawl.Error
	if l.out.Pages == 0 || l.call.of.Pages == nil || l.call.unsaved != nil || !errors.As(err, &e) {
		return err
	}
	return pawl.Fail(e.Code, "forge.broke_off", l.q.Repo.String(), l.out.Pages).Because(err).In("forge.Import")
}

func (l *lister) first() string {
	v := url.Values{"per_page": {strconv.Itoa(pageSize)}, "sort": {"created"}, "direction": {"asc"}, "state": {"open"}}
	if l.q.All {
		v.Set("state", "all")
	}
	if len(l.q.Labels) > 0 {
		v.Set("labels", strings.Join(l.q.Labels, ","))
	}
	if !l.q.Since.IsZero() {
		v.Set("since", l.q.Since.UTC().Format(time.RFC3339))
	}
	return l.issues() + "?" + v.Encode()
}

func (l *lister) issues() string { return repoURL(l.call.api, l.q.Repo) + "/issues" }

func repoURL(api *url.URL, r Repo) string {
	return strings.TrimRight(api.String(), "/") + "/repos/" + url.PathEscape(r.Owner) + "/" + url.PathEscape(r.Name)
}

// lookups reads the issues that others depend on and that the list left out. One that is not there stays unknown.
func (l *lister) lookups(ctx context.Context) error {
	missing := l.into.Missing()
	if len(missing) > maxLookups {
		return pawl.Fail(pawl.CodeBusy, "forge.many_missing", l.q.Repo.String(), len(missing),
			maxLookups).In("forge.Import")
	}
	for _, n := range missing {
		address := l.issues() + "/" + strconv.Itoa(n)
		p, from, err := l.call.get(ctx, address, '{')
		if pawl.CodeOf(err) == pawl.CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		if !l.belongs(p.Body, n, from) {
			continue
		}
		if err := l.into.Add(bytes.NewReader(p.Body), fmt.Sprintf("github:%s #%d", l.q.Repo, n),
			backlog.Records); err != nil {
			return err
		}
	}
	return nil
}

// belongs reports whether an answer is the issue that was asked for. One that moved to another repository is not.
func (l *lister) belongs(body []byte, n int, from *url.URL) bool {
	var is struct {
		Number int    `json:"number"`
		URL    string `json:"html_url"`
	}
	if json.Unmarshal(body, &is) != nil || is.Number != n {
		return false
	}
	straight := from != nil && shown(from.String()) == l.issues()+"/"+strconv.Itoa(n)
	u, err := url.Parse(is.URL)
	return straight || err == nil && strings.HasPrefix(strings.ToLower(strings.TrimPrefix(u.Path, "/")),
		strings.ToLower(l.q.Repo.Owner+"/"+l.q.Repo.Name+"/"))
}
