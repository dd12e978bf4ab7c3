package backlog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pawl/machine/board"
	"pawl/text/backlog"
)

// state is a state.json with one value in each line, so that places can be told.
const state = `{
"status": "running", "phase": "executing", "work_dir": "/w",
"issues": {
 "ISS-1": {"id": "ISS-1", "title": "First", "status": "executing", "solution_id": "SOL-ISS-1-1", "planned_at": "2026-01-30T10:00:00Z", "executed_at": null, "error": null},
 "ISS-2": {"id": "ISS-2", "title": "第二", "status": "failed", "solution_id": "", "planned_at": "", "executed_at": "", "error": "the plan does not build"}
},
"queue": [
 {"item_id": "S-1", "issue_id": "ISS-1", "solution_id": "SOL-ISS-1-1", "status": "executing"},
 {"item_id": "S-2", "issue_id": "ISS-2", "solution_id": "SOL-ISS-2-1", "status": "failed"}
],
"completed_actions": ["init"],
"context": {"total_issues": 2, "completed_count": 0, "failed_count": 1},
"errors": [{"timestamp": "", "action": "plan", "class": "E_MODEL", "code": "model", "message": "m"}],
"created_at": "2026-01-30T10:00:00Z", "updated_at": ""
}
`

func TestState(t *testing.T) {
	b := read(t, "state.json", state, backlog.Options{})
	sound(t, b)
	if len(b.Issues) != 2 || b.State == nil || b.State.Phase != board.PhaseExecuting || len(b.State.Queue) != 2 {
		t.Fatalf("%+v", b)
	}
	first, second := b.Issues[0], b.Issues[1]
	if first.ID != "ISS-1" || first.Status != board.IssueExecuting || first.SolutionID != "SOL-ISS-1-1" ||
		first.Line != 4 {
		t.Errorf("%+v", first)
	}
	if second.Title != "第二" || len(second.Feedback) != 1 || second.Feedback[0].Type != backlog.Failure ||
		second.Feedback[0].Content != "the plan does not build" {
		t.Errorf("%+v", second)
	}
	empty := `{"status":"pending","phase":"init","work_dir":"","issues":{},"queue":[],"completed_actions":[],"context":{},"errors":[]}`
	if b := read(t, "state.json", empty, backlog.Options{}); len(b.Issues) != 0 || b.State == nil ||
		!slices.Equal(keys(b.Notes), []string{"backlog.note_none"}) {
		t.Errorf("the seed's initial state: %+v", b)
	}
}

func TestBadState(t *testing.T) {
	change := func(old, new string) string {
		if strings.Count(state, old) != 1 {
			t.Fatalf("the state has %q %d times", old, strings.Count(state, old))
		}
		return strings.Replace(state, old, new, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "0 backlog.empty"},
		{"less than none", change(`"total_issues": 2`, `"total_issues": -1`), "12 /context/total_issues backlog.negative"},
		{"blanks", " \n\t\n", "0 backlog.empty"},
		{"cut off", state[:len(state)-3], "14 backlog.cut_off"},
		{"cut off in a text", state[:strings.Index(state, "第二")], "5 backlog.cut_off"},
		{"something behind it", state + "{}", "16 backlog.json"},
		{"a comma too many", change(`"error": null},`, `"error": null,},`), "4 backlog.json"},
		{"not UTF-8", change("第二", "\xff"), "5 backlog.not_text"},
		{"an array", "[]x", "1 backlog.json"},
		{"null", "null", "1 backlog.type"},
		{"bogus phase", change(`"executing", "work_dir"`, `"dreaming", "work_dir"`), "2 /phase backlog.value"},
		{"phase of another status", change(`"executing", "work_dir"`, `"complete", "work_dir"`),
			"2 /phase machine.state_phase"},
		{"null issues", `{"status":"running","phase":"listing","work_dir":"w","issues":null,"queue":[],"completed_actions":[],"context":{},"errors":[]}`,
			"1 /issues backlog.type"},
		{"issues as an array", `{"status":"running","phase":"listing","work_dir":"w","issues":[],"queue":[],"completed_actions":[],"context":{},"errors":[]}`,
			"1 /issues backlog.type"},
		{"no queue", `{"status":"running","phase":"listing","work_dir":"w","issues":{},"completed_actions":[],"context":{},"errors":[]}`, "1 /queue backlog.missing"},
		{"no log of errors", change(`"errors": [{"timestamp": "", "action": "plan", "class": "E_MODEL", "code": "model", "message": "m"}],`, ""),
			"1 /errors backlog.missing"},
		{"no counters", change(`"context": {"total_issues": 2, "completed_count": 0, "failed_count": 1},`, ""),
			"1 /context backlog.missing"},
		{"no work_dir", change(`, "work_dir": "/w"`, ""), "1 machine.state_missing"},
		{"a null issue", change(`"ISS-1": {"id": "ISS-1", "title": "First", "status": "executing", "solution_id": "SOL-ISS-1-1", "planned_at": "2026-01-30T10:00:00Z", "executed_at": null, "error": null}`, `"ISS-1": null`), "4 /issues/ISS-1 backlog.type"},
		{"an issue as a number", change(`"title": "First"`, `"title": 1`), "4 /issues/ISS-1/title backlog.type"},
		{"an issue's status", change(`"status": "executing", "solution_id": "SOL-ISS-1-1", "planned_at"`,
			`"status": "paused", "solution_id": "SOL-ISS-1-1", "planned_at"`), "4 /issues/ISS-1/status backlog.value"},
		{"another id", change(`{"id": "ISS-1"`, `{"id": "ISS-9"`), "4 /issues/ISS-1/id machine.state_value"},
		{"an issue twice", change(`"ISS-2": {"id": "ISS-2"`, `"ISS-1": {"id": "ISS-1"`),
			"5 /issues/ISS-1 backlog.twice"},
		{"a field twice", change(`"title": "First"`, `"title": "First", "title": "Other"`),
			"4 /issues/ISS-1/title backlog.twice"},
		{"a solution of none", change(`"solution_id": "SOL-ISS-1-1", "planned_at"`, `"solution_id": "", "planned_at"`),
			"4 /issues/ISS-1/solution_id backlog.no_solution 8 /queue/0/solution_id backlog.other_solution"},
		{"a missing solution", change(`"solution_id": "SOL-ISS-1-1", "status"`, `"solution_id": "", "status"`),
			"8 /queue/0/solution_id machine.state_solution"},
		{"another solution", change(`"solution_id": "SOL-ISS-1-1", "status"`, `"solution_id": "SOL-ISS-1-7", "status"`),
			"8 /queue/0/solution_id backlog.other_solution"},
		{"an item twice", change(`"item_id": "S-2"`, `"item_id": "S-1"`), "9 /queue/1/item_id machine.state_item"},
		{"an item without id", change(`"item_id": "S-2"`, `"item_id": ""`), "9 /queue/1/item_id machine.state_item"},
		{"an unknown issue", change(`"issue_id": "ISS-2"`, `"issue_id": "ISS-7"`),
			"9 /queue/1/issue_id machine.state_reference"},
		{"a time", change(`"planned_at": "2026-01-30T10:00:00Z"`, `"planned_at": "yesterday"`),
			"4 /issues/ISS-1/planned_at machine.state_time"},
		{"a null item", change(`{"item_id": "S-2", "issue_id": "ISS-2", "solution_id": "SOL-ISS-2-1", "status": "failed"}`, "null"), "9 /queue/1 backlog.type"},
		{"counts", change(`"failed_count": 1`, `"failed_count": -1`), "12 /context/failed_count backlog.negative"},
		{"several", strings.NewReplacer(`"/w"`, `7`, `["init"]`, `[1]`).Replace(state),
			"2 /work_dir backlog.type 11 /completed_actions/0 backlog.type"},
	} {
		if got := strings.Join(problems(t, "state.json", c.text), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A file that was cut off anywhere must never pass for a smaller one.
func TestNoPrefixIsRead(t *testing.T) {
	records := "[\n" + `{"title": "a", "body": "x \" y"},` + "\n" +
		`{"number": 3, "html_url": "https://github.com/a/b/issues/3", "title": "b"}` + "\n]"
	for name, text := range map[string]string{"state.json": strings.TrimSpace(state), "list.json": records} {
		read(t, name, text, backlog.Options{})
		for n := range len(text) {
			problems(t, name, text[:n])
		}
	}
}

// TestSchemaAgrees changes one value after the other and asks both the published schema and the reader.
func TestSchemaAgrees(t *testing.T) {
	schema := compiled(t)
	var whole any
	if err := json.Unmarshal([]byte(state), &whole); err != nil {
		t.Fatal(err)
	}
	places, tried, refused := paths(whole, nil), 0, 0
	for _, at := range places {
		for _, v := range []any{nil, "text", "completed", 7, -1, 1.5, true, map[string]any{}, []any{}, remove{}} {
			raw, err := json.Marshal(replace(whole, at, v))
			if err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			bySchema := schema.Validate(doc) == nil
			_, err = backlog.Read(bytes.NewReader(raw), "state.json", backlog.State, backlog.Options{})
			shape := true
			if err != nil {
				for _, p := range list(t, err) {
					shape = shape && (strings.Contains(p, "machine.") || strings.Contains(p, "_solution"))
				}
			}
			if bySchema != shape {
				t.Errorf("%v = %v: the schema says %v, the reader %v (%v)", at, v, bySchema, shape, err)
			}
			if tried++; !shape {
				refused++
			}
		}
	}
	if tried < 300 || refused < 100 || refused == tried {
		t.Errorf("%d of %d refused; the test tries nothing", refused, tried)
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(backlog.StateSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("state.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("state.json")
}

// remove stands for a value that is not there.
type remove struct{}

// paths lists the ways to every value below one.
func paths(v any, way []any) (out [][]any) {
	if len(way) > 0 {
		out = append(out, slices.Clone(way))
	}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			out = append(out, paths(e, append(slices.Clone(way), k))...)
		}
	case []any:
		for i, e := range v {
			out = append(out, paths(e, append(slices.Clone(way), i))...)
		}
	}
	return out
}

func replace(v any, way []any, by any) any {
	if len(way) == 0 {
		return by
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if k != way[0] {
				out[k] = e
			} else if e = replace(e, way[1:], by); e != (any)(remove{}) {
				out[k] = e
			}
		}
		return out
	case []any:
		var out []any
		for i, e := range v {
			if i != way[0] {
				out = append(out, e)
			} else if e = replace(e, way[1:], by); e != (any)(remove{}) {
				out = append(out, e)
			}
		}
		if out == nil {
			out = []any{}
		}
		return out
	}
	panic(fmt.Sprintf("no way %v", way))
}

// endless is a file of a size that no memory should hold. It counts what is taken of it.
type endless struct {
	head  string
	fill  string
	taken int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.head)
	e.head = e.head[n:]
	for n < len(p) {
		n += copy(p[n:], e.fill)
	}
	e.taken += n
	return n, nil
}

func TestLargeIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short only: it reads 300 MB")
	}
	for _, c := range []struct {
		name, head, fill, want string
		most                   int
	}{
		{"state.json", `{"status":"running","issues":{`, `"a":1,          `, "0 backlog.too_large", backlog.MaxState},
		{"a.jsonl", `{"title":"`, "aaaaaaaaaaaaaaaa", "1 backlog.too_large", backlog.MaxRecord},
		{"a.jsonl", "", " \t", "0 backlog.too_large", backlog.MaxBytes},
		{"a.md", "", "- [ ] task\n", "0 backlog.too_large", backlog.MaxPage},
	} {
		e := &endless{head: c.head, fill: c.fill}
		_, err := backlog.Read(e, c.name, backlog.Auto, backlog.Options{})
		if got := strings.Join(list(t, err), " "); got != c.want || e.taken > c.most+1<<20 {
			t.Errorf("%s: %s after %d bytes, want %s", c.name, got, e.taken, c.want)
		}
	}
}
