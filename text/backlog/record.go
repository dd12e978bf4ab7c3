package backlog

import (
	"slices"
	"strings"

	"pawl/machine/board"
)

// record reads one object of a file of records: with a number it is GitHub's, or else it is one of ccw or a plain one.
func (r *Reader) record(n node) {
	o := r.object(n)
	if n, ok := o.has["number"]; ok && n.Kind() == '0' {
		readHub(r, o)
		return
	}
	r.plain(o)
}

// passive are fields of ccw that follow from others or say only when something happened (docs/spec/board.md#lists).
var passive = []string{"created_at", "planned_at", "queued_at", "completed_at", "executed_at", "solution_count",
	"source"}

func (r *Reader) plain(o object) {
	n := o.node
	d := draft{file: n.src.file}
	d.Line = n.line()
	title := oneLine(o.text("title"))
	if title == "" {
		r.rep.problem(d.file, d.Line, n.pointer+"/title", "backlog.no_title")
		return
	}
	d.Status, d.Paused = r.status(o)
	d.Priority = r.priority(o)
	tags, _ := o.texts("tags")
	labels, _ := o.texts("labels")
	for _, t := range slices.Concat(tags, labels) {
		d.Tags = addTag(d.Tags, t)
	}
	d.Feedback = r.feedback(o)
	d.SolutionID = oneLine(o.first("bound_solution_id", "solution_id"))
	if e := prose(o.text("error")); e != "" {
		d.Feedback = append(d.Feedback, Feedback{Type: Failure, Content: e})
	}
	d.URL = link(o.first("source_url", "url"))
	d.UpdatedAt = o.instant("updated_at")
	var long bool
	if d.Title, d.Body, long = heading(title, body(o)); long {
		r.rep.note(d.file, d.Line, "backlog.note_title", clip(d.Title))
	}
	for _, name := range []string{"depends_on", "blocked_by", "dependencies"} {
		refs, at := o.texts(name)
		for i, ref := range refs {
			d.edges = append(d.edges, edge{strings.TrimSpace(ref), at[i].line(), at[i].pointer})
		}
	}
	if !r.plainID(o, &d) {
		return
	}
	o.rest(passive)
	r.keep(d)
}

// plainID gives the draft its external id and reports whether it is to be kept.
func (r *Reader) plainID(o object, d *draft) bool {
	id, ok := o.label("id")
	if id = strings.TrimSpace(id); !ok || id == "" {
		return r.unnamed(d)
	}
	if !goodID(id) {
		r.rep.problem(d.file, d.Line, o.node.pointer+"/id", "backlog.id", clip(id))
		return false
	}
	d.Ref, d.ID = id, r.scoped(id)
	return true
}

// body joins what ccw keeps in several fields into one text; the headings are the names of the fields.
func body(o object) string {
	parts := []string{prose(o.first("body", "context", "description"))}
	for _, f := range []struct{ name, title string }{{"expected_behavior", "Expected behavior"},
		{"actual_behavior", "Actual behavior"}} {
		if s := prose(o.text(f.name)); s != "" {
			parts = append(parts, f.title+": "+s)
		}
	}
	if names, _ := o.texts("affected_components"); len(names) > 0 {
		parts = append(parts, "Affected components: "+oneLine(strings.Join(names, ", ")))
	}
	return prose(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n"))
}

// status reads a status. Those of ccw that the seed has not are written as docs/spec/board.md#e9 says.
func (r *Reader) status(o object) (board.IssueStatus, bool) {
	s := strings.ToLower(strings.TrimSpace(o.text("status")))
	switch s {
	case "", "open", "pending":
		return board.IssueRegistered, false
	case "queued":
		return board.IssuePlanned, false
	case "paused":
		return board.IssueRegistered, true
	case "closed", "done":
		return board.IssueCompleted, false
	}
	if !board.Issue.Known(board.IssueStatus(s)) {
		n := o.has["status"]
		r.rep.problem(n.src.file, n.line(), n.pointer, "backlog.status", clip(s))
		return board.IssueRegistered, false
	}
	return board.IssueStatus(s), false
}

// priority reads a priority as a number or a word.
func (r *Reader) priority(o object) int {
	n, ok := o.get("priority")
	if !ok {
		return DefaultPriority
	}
	if v, isInt := integer(n); isInt && v >= MinPriority && v <= MaxPriority {
		return v
	}
	if n.Kind() == '"' {
		if p, ok := priorityOf(n.Text()); ok {
			return p
		}
	}
	r.rep.problem(n.src.file, n.line(), n.pointer, "backlog.priority", clip(string(n.Raw())))
	return DefaultPriority
}

func (r *Reader) feedback(o object) (out []Feedback) {
	n, ok := o.get("feedback")
	switch {
	case !ok:
		return nil
	case n.Kind() != '[':
		r.wrong(n, "array")
		return nil
	}
	n.elements(func(_ int, e node) {
		if e.Kind() != '{' {
			r.wrong(e, "object")
			return
		}
		f := r.object(e)
		one := Feedback{Type: FeedbackType(strings.TrimSpace(f.text("type"))), Stage: oneLine(f.text("stage")),
			Content: prose(f.text("content")), At: f.instant("created_at")}
		if one.Type != Failure && one.Type != Clarification && one.Type != Rejection {
			r.rep.problem(e.src.file, e.line(), e.pointer+"/type", "backlog.feedback", clip(string(one.Type)))
			return
		}
		out = append(out, one)
	})
	return out
}

// link returns an address that people may follow, or "".
func link(s string) string {
	s = oneLine(s)
	if (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")) && len(s) <= 2000 &&
		!strings.Contains(s, " ") {
		return s
	}
	return ""
}
