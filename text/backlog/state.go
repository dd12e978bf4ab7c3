package backlog

import (
	_ "embed"
	"errors"
	"io"
	"strings"

	"pawl"
	"pawl/machine/board"
	"pawl/text/strictjson"
)

// stateSchema describes the shape of a state.json; a test holds it against what the reader accepts.
//
//go:embed schema/state.schema.json
var stateSchema string

// StateSchema returns the JSON Schema (draft 2020-12) of a state.json that can be imported. What refers to what, and
// which phase fits which status, is board.ParseState's to check.
func StateSchema() []byte { return []byte(stateSchema) }

// field is what a field of state.json may hold: the kinds of values, each a strictjson.Kind, and where only some texts
// will do, which.
type field struct {
	name     string
	kinds    string
	required bool
	among    func(string) bool
}

// fields are those of one kind of object.
type fields []field

func (f fields) named(name string) (field, bool) {
	for _, one := range f {
		if one.name == name {
			return one, true
		}
	}
	return field{}, false
}

var (
	stateFields = fields{
		{"status", `"`, true, func(s string) bool { return board.Run.Known(board.RunStatus(s)) }},
		{"phase", `"`, true, func(s string) bool {
			_, ok := board.ParsePhase(s)
			return ok && strings.TrimSpace(s) == s
		}},
		{"work_dir", `"`, false, nil}, {"issues", "{", true, nil}, {"queue", "[", true, nil}, {"completed_actions", "[",
			true, nil},
		{"context", "{", true, nil}, {"errors", "[", true, nil}, {"created_at", `"`, false, nil}, {"updated_at", `"`,
			false, nil},
	}
	issueFields = fields{
		{"id", `"`, true, nil}, {"title", `"`, false, nil},
		{"status", `"`, true, func(s string) bool { return board.Issue.Known(board.IssueStatus(s)) }},
		{"solution_id", `"n`, false, nil}, {"planned_at", `"n`, false, nil}, {"executed_at", `"n`, false,
			nil}, {"error", `"n`, false, nil},
	}
	itemFields = fields{
		{"item_id", `"`, true, nil}, {"issue_id", `"`, true, nil}, {"solution_id", `"`, true, nil},
		{"status", `"`, true, func(s string) bool { return board.Item.Known(board.ItemStatus(s)) }},
	}
	countFields = fields{{"total_issues", "0", false, nil}, {"completed_count", "0", false, nil},
		{"failed_count", "0", false, nil}}
	errorFields = fields{
		{"timestamp", `"`, false, nil}, {"action", `"`, false, nil}, {"issue_id", `"`, false, nil},
		{"class", `"`, false, nil}, {"code", `"`, false, nil}, {"message", `"`, false, nil},
	}
)

// readState reads the file: its shape first, every fault with its place, and then what refers to what.
func readState(r *Reader, in io.Reader, name string) error {
	raw, err := whole(in, MaxState)
	if err != nil {
		return err
	}
	src := &source{file: name, raw: raw, line: 1}
	root, bad := src.parse()
	if bad != nil {
		return bad
	}
	if root.Kind() != '{' {
		r.wrong(root, "object")
		return nil
	}
	before := len(r.rep.problems.List)
	o := stateShape(r, root, stateFields)
	stateShapes(r, o)
	if len(r.rep.problems.List) > before {
		return nil
	}
	s, err := board.ParseState(raw)
	if err != nil {
		stateRefused(r, o, err)
		return nil
	}
	r.out.State = &s
	stateIssues(r, o, s)
	stateQueue(r, o, s)
	return nil
}

// stateShape checks the fields of one object.
func stateShape(r *Reader, n node, want fields) object {
	if n.Kind() != '{' {
		r.wrong(n, "object")
		return object{r: r, node: n, has: map[string]node{}}
	}
	o := r.object(n)
	n.members(func(name string, _ int, v node) {
		f, known := want.named(name)
		switch {
		case !known:
			r.ignored(name)
		case !strings.ContainsRune(f.kinds, rune(v.Kind())):
			r.wrong(v, strictjson.Kind(f.kinds[0]).String())
		case f.kinds == "0":
			if i, ok := integer(v); !ok {
				r.wrong(v, "integer")
			} else if i < 0 {
				r.rep.problem(n.src.file, v.line(), v.pointer, "backlog.negative", i)
			}
		case f.among != nil && !f.among(v.Text()):
			r.rep.problem(n.src.file, v.line(), v.pointer, "backlog.value", clip(v.Text()))
		}
	})
	for _, f := range want {
		if _, ok := o.has[f.name]; !ok && f.required {
			r.rep.problem(n.src.file, n.line(), n.pointer+"/"+f.name, "backlog.missing", f.name)
		}
	}
	return o
}

// stateShapes checks the shapes of what the state holds.
func stateShapes(r *Reader, o object) {
	if n, ok := o.has["issues"]; ok && n.Kind() == '{' {
		seen := map[string]bool{}
		n.members(func(name string, at int, v node) {
			if seen[name] {
				r.rep.problem(n.src.file, n.src.lineAt(at), v.pointer, "backlog.twice", clip(name))
			}
			seen[name] = true
			stateShape(r, v, issueFields)
		})
		if len(seen) > MaxIssues {
			r.rep.problem(n.src.file, n.line(), n.pointer, "backlog.too_many", MaxIssues)
		}
	}
	each := func(name string, see func(node)) {
		if n, ok := o.has[name]; ok && n.Kind() == '[' {
			n.elements(func(_ int, v node) { see(v) })
		}
	}
	each("queue", func(v node) { stateShape(r, v, itemFields) })
	each("errors", func(v node) { stateShape(r, v, errorFields) })
	each("completed_actions", func(v node) {
		if v.Kind() != '"' {
			r.wrong(v, "string")
		}
	})
	if n, ok := o.has["context"]; ok && n.Kind() == '{' {
		stateShape(r, n, countFields)
	}
}

// stateRefused turns a refusal of the board's validation into a problem with its place.
func stateRefused(r *Reader, o object, err error) {
	var e *pawl.Error
	if !errors.As(err, &e) {
		e = pawl.Fail(pawl.CodeInvalid, "machine.state_json")
	}
	at := o.node
	if n, ok := o.has["phase"]; ok && e.Key == "machine.state_phase" {
		at = n
	} else if len(e.Args) > 0 {
		if name, ok := e.Args[0].(string); ok {
			at = locate(o, e.Key, name)
		}
	}
	r.rep.problem(o.node.src.file, at.line(), at.pointer, e.Key, e.Args...)
}

// locate finds the value that the board's validation names, as "status", "issues.ISS-1.status", "queue.S-1.issue_id",
// or, of a queue item whose id is refused, by that id.
func locate(o object, key, name string) node {
	at := o.node
	if n, ok := o.has[name]; ok && key != "machine.state_item" {
		return n
	}
	if n, ok := o.has["issues"]; ok && key != "machine.state_item" {
		n.members(func(id string, _ int, issue node) {
			issue.members(func(field string, _ int, v node) {
				if "issues."+id+"."+field == name {
					at = v
				}
			})
		})
	}
	seen := false
	o.has["queue"].elements(func(_ int, item node) {
		id := item.member("item_id")
		if key == "machine.state_item" {
			if id.Text() == name && (seen || name == "") {
				at = id
			}
			seen = seen || id.Text() == name
			return
		}
		item.members(func(field string, _ int, v node) {
			if "queue."+id.Text()+"."+field == name {
				at = v
			}
		})
	})
	return at
}

// member returns the field of an object, or the object where there is none.
func (n node) member(name string) node {
	out := n
	n.members(func(field string, _ int, v node) {
		if field == name {
			out = v
		}
	})
	return out
}

// stateIssues takes over the issues, in the order of the file.
func stateIssues(r *Reader, o object, s board.State) {
	file := o.node.src.file
	items, failed := map[string]*board.QueueItem{}, map[string][]board.ErrorEntry{}
	for n := range s.Queue {
		items[s.Queue[n].IssueID] = &s.Queue[n]
	}
	for _, e := range s.Errors {
		if _, ok := s.Issues[e.IssueID]; !ok {
			e.IssueID = ""
		}
		failed[e.IssueID] = append(failed[e.IssueID], e)
	}
	o.has["issues"].members(func(id string, _ int, v node) {
		i := s.Issues[id]
		d := draft{file: file}
		d.Line, d.ID, d.Ref, d.Status, d.Priority, d.SolutionID = v.line(), id, id, i.Status, DefaultPriority,
			i.SolutionID
		// What was completed may have been completed where nobody knew of solutions.
		if i.SolutionID == "" && (i.Status == board.IssuePlanned || i.Status == board.IssueExecuting) {
			r.rep.problem(file, d.Line, v.pointer+"/solution_id", "backlog.no_solution", id, string(i.Status))
		}
		var long bool
		if d.Title, d.Body, long = heading(oneLine(i.Title), ""); long {
			r.rep.note(file, d.Line, "backlog.note_title", id)
		}
		if d.Title == "" {
			d.Title = id
			r.rep.note(file, d.Line, "backlog.note_untitled", id)
		}
		if i.Error != nil && prose(*i.Error) != "" {
			d.Feedback = []Feedback{{Type: Failure, Content: prose(*i.Error)}}
		}
		d.State = &IssueState{IssueState: i, Item: items[id], Errors: failed[id]}
		r.keep(d)
	})
	if lost := len(failed[""]); lost > 0 {
		r.rep.note(file, o.has["errors"].line(), "backlog.note_errors", lost)
	}
}

// stateQueue checks that what waits or is at work carries out the solution that its issue is bound to.
func stateQueue(r *Reader, o object, s board.State) {
	o.has["queue"].elements(func(n int, v node) {
		item := s.Queue[n]
		bound := s.Issues[item.IssueID].SolutionID
		if (item.Status == board.ItemPending || item.Status == board.ItemExecuting) && bound != item.SolutionID {
			at := v.member("solution_id")
			r.rep.problem(v.src.file, at.line(), at.pointer, "backlog.other_solution", item.SolutionID, item.IssueID,
				bound)
		}
	})
}
