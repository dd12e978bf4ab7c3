package backlog

import (
	"net/url"
	"strconv"
	"strings"

	"pawl/machine/board"
)

// githubScheme begins the external ids of issues on GitHub: github:OWNER/NAME#12, with the host in front where it is
// not github.com, all in small letters.
const githubScheme = "github:"

// GitHubID returns the external id of an issue on GitHub; repo is OWNER/NAME or HOST/OWNER/NAME.
func GitHubID(repo string, number int) string {
	repo = strings.ToLower(strings.Trim(repo, "/"))
	return githubScheme + strings.TrimPrefix(repo, "github.com/") + "#" + strconv.Itoa(number)
}

// readHub reads an issue as GitHub's API and its command line write them. Of an API's object, fields that are not used
// here are left out without a note: there are dozens.
func readHub(r *Reader, o object) {
	n := o.node
	number, ok := o.whole("number")
	if !ok || number < 1 {
		r.rep.problem(n.src.file, n.line(), n.pointer+"/number", "backlog.number", clip(string(o.has["number"].Raw())))
		return
	}
	d := draft{github: true, file: n.src.file}
	d.Line, d.Ref = n.line(), "GH-"+strconv.Itoa(number)
	address := link(o.first("html_url", "url"))
	own := repoOf(address)
	repo := r.opt.Repo
	if repo == "" {
		repo = own
	}
	if repo == "" {
		r.rep.problem(d.file, d.Line, n.pointer+"/html_url", "backlog.repository", d.Ref)
		return
	}
	d.ID, d.URL = GitHubID(repo, number), address
	if _, pull := o.get("pull_request"); pull || strings.Contains(address, "/pull/") {
		if r.gone[d.ID] == "" {
			r.pulls++
		}
		r.gone[d.ID] = "backlog.note_pull"
		return
	}
	if !hubState(r, o, &d) {
		r.gone[d.ID] = "backlog.note_unplanned"
		r.rep.note(d.file, d.Line, "backlog.note_not_planned", d.Ref)
		return
	}
	hubTexts(r, o, &d, repo, own)
	d.UpdatedAt = o.instant("updated_at")
	if d.UpdatedAt == "" {
		d.UpdatedAt = o.instant("updatedAt")
	}
	r.keep(d)
}

// hubState reads whether the issue is open, and reports whether it is one that is or was to be done.
func hubState(r *Reader, o object, d *draft) bool {
	reason := strings.ToLower(o.first("state_reason", "stateReason"))
	switch state := strings.ToLower(o.text("state")); state {
	case "", "open":
		d.Status = board.IssueRegistered
	case "closed":
		d.Status = board.IssueCompleted
		return reason != "not_planned" && reason != "duplicate"
	default:
		r.rep.problem(d.file, d.Line, o.node.pointer+"/state", "backlog.status", clip(state))
	}
	return true
}

func hubTexts(r *Reader, o object, d *draft, repo, own string) {
	title, text := oneLine(o.text("title")), prose(o.text("body"))
	if title == "" {
		title = d.Ref
		r.rep.note(d.file, d.Line, "backlog.note_untitled", d.Ref)
	}
	var long bool
	if d.Title, d.Body, long = heading(title, text); long {
		r.rep.note(d.file, d.Line, "backlog.note_title", d.Ref)
	}
	hubLabels(r, o, d)
	if d.Status == board.IssueCompleted {
		return // what a closed issue waited for says nothing any more, and may lead far into the past
	}
	for _, m := range mentions(text) {
		ref, foreign := githubRef(m.ref, repo, own)
		switch {
		case foreign:
			r.rep.note(d.file, d.Line, "backlog.note_foreign", d.Ref, clip(m.ref))
		case ref != "":
			d.edges = append(d.edges, edge{ref, d.Line, o.node.pointer + "/body"})
		}
	}
	if n, ok := o.get("issue_dependencies_summary"); ok && n.Kind() == '{' {
		if count, _ := r.object(n).whole("blocked_by"); count > 0 {
			r.linked++
		}
	}
}

// hubLabels become the priority and the tags. Of several priorities the most urgent counts.
func hubLabels(r *Reader, o object, d *draft) {
	d.Priority = 0
	n, ok := o.get("labels")
	if ok && n.Kind() != '[' {
		r.wrong(n, "array")
		ok = false
	}
	if ok {
		n.elements(func(_ int, e node) {
			name := ""
			switch e.Kind() {
			case '{':
				name = r.object(e).text("name")
			case '"':
				name = e.Text()
			default:
				r.wrong(e, "object")
				return
			}
			if p, ok := priorityIn(name); !ok {
				d.Tags = addTag(d.Tags, name)
			} else if d.Priority == 0 || p < d.Priority {
				d.Priority = p
			}
		})
	}
	if d.Priority == 0 {
		d.Priority = DefaultPriority
	}
}

// githubRef returns the external id that a reference in a text means, or "" where it is none of GitHub's, and whether
// it lies in another repository. A repository may have two names: the one that was asked for, and its present one.
func githubRef(ref, repo, own string) (id string, foreign bool) {
	where, number := "", ""
	switch {
	case strings.Contains(ref, "://"):
		where, number = repoOf(ref), ref[strings.LastIndexByte(ref, '/')+1:]
		if where == "" {
			return "", true
		}
	case len(ref) > 3 && strings.EqualFold(ref[:3], "GH-"):
		number = ref[3:]
	default:
		where, number, _ = strings.Cut(ref, "#")
		if where != "" {
			host, _, _ := strings.Cut(repo, "/")
			if strings.Count(repo, "/") == 2 {
				where = host + "/" + where
			}
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return "", false
	}
	if where != "" && GitHubID(where, n) != GitHubID(repo, n) && (own == "" || GitHubID(where, n) != GitHubID(own, n)) {
		return "", true
	}
	return GitHubID(repo, n), false
}

// repoOf returns the repository of the address of an issue: OWNER/NAME, with the host in front where it is not
// github.com; "" for other addresses.
func repoOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Host)
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	for len(parts) > 0 && (parts[0] == "api" || parts[0] == "v3" || parts[0] == "repos") {
		parts = parts[1:]
	}
	if len(parts) < 4 || parts[2] != "issues" && parts[2] != "pull" || parts[0] == "" || parts[1] == "" {
		return ""
	}
	if host = strings.TrimPrefix(strings.TrimPrefix(host, "www."), "api."); host == "github.com" {
		return parts[0] + "/" + parts[1]
	}
	return host + "/" + parts[0] + "/" + parts[1]
}
