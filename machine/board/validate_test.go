package board_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pawl"
	"pawl/machine/board"
)

// initial is the seed's initial state with a time in place of the words "ISO-8601".
const initial = `{"status":"pending","phase":"init","work_dir":"","issues":{},"queue":[],"completed_actions":[],
"context":{"total_issues":0,"completed_count":0,"failed_count":0},"errors":[],
"created_at":"2026-01-30T10:00:00Z","updated_at":"2026-01-30T10:00:00.123Z"}`

// running is a state with one issue and its item, spelt as the seed's examples are.
const running = `{"status":"running","phase":"executing","work_dir":"/w",
"issues":{"ISS-xxx":{"id":"ISS-xxx","title":"t","status":"executing","solution_id":"SOL-xxx-1","planned_at":"2026-01-30T10:00:00Z","executed_at":"","error":null}},
"queue":[{"item_id":"S-1","issue_id":"ISS-xxx","solution_id":"SOL-xxx-1","status":"executing"}],
"completed_actions":["init"],"context":{},"errors":[{"timestamp":"","action":"plan","class":"E_IO","code":"io","message":"m"}],"created_at":"","updated_at":""}`

func TestValidateStateAccepts(t *testing.T) {
	for name, raw := range map[string]string{
		"initial": initial, "running": running,
		"minimum":       `{"status":"running","phase":"listing","work_dir":"w","issues":{},"queue":[]}`,
		"unknown field": `{"status":"running","phase":"listing","work_dir":"w","issues":{},"queue":[],"extra":1}`,
		"long ids": strings.NewReplacer("ISS-xxx", "ISS-20250129-001", "SOL-xxx-1",
			"SOL-ISS-20250129-001-1").Replace(running),
		"github":    strings.NewReplacer("ISS-xxx", "GH-123", "SOL-xxx-1", "SOL-GH-123-12").Replace(running),
		"completed": `{"status":"completed","phase":"complete","work_dir":"w","issues":{},"queue":[]}`,
	} {
		if _, err := board.ParseState([]byte(raw)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPhaseAliases(t *testing.T) {
	s, err := board.ParseState([]byte(`{"status":"completed","phase":"completed","work_dir":"w","issues":{},"queue":[]}`))
	if err != nil || s.Phase != board.PhaseComplete {
		t.Errorf("completed: %q, %v", s.Phase, err)
	}
	s, err = board.ParseState([]byte(`{"status":"running","phase":"initialized","work_dir":"w","issues":{},"queue":[]}`))
	if err != nil || s.Phase != board.PhaseInit {
		t.Errorf("initialized: %q, %v", s.Phase, err)
	}
}

func TestValidateStateRefuses(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(running, old) {
			t.Fatalf("the state has no %s", old)
		}
		return strings.Replace(running, old, new, 1)
	}
	for _, c := range []struct{ name, raw, key string }{
		{"nothing", "", "machine.state_json"},
		{"blank", " \n", "machine.state_json"},
		{"truncated", running[:len(running)-1], "machine.state_json"},
		{"null", "null", "machine.state_json"},
		{"an array", "[]", "machine.state_json"},
		{"a wrong type", change(`"work_dir":"/w"`, `"work_dir":7`), "machine.state_json"},
		{"trailing", running + "{}", "machine.state_json"},
		{"deep", strings.Repeat("[", 1<<16), "machine.state_json"},
		{"another spelling", change(`"errors":[`, `"ISSUES":null,"Status":"gone","errors":[7`), "machine.state_json"},
		{"no status", change(`"status":"running",`, ""), "machine.state_missing"},
		{"empty status", change(`"status":"running"`, `"status":""`), "machine.state_missing"},
		{"no phase", change(`"phase":"executing",`, ""), "machine.state_missing"},
		{"null phase", change(`"phase":"executing"`, `"phase":null`), "machine.state_missing"},
		{"no work_dir", change(`"work_dir":"/w",`, ""), "machine.state_missing"},
		{"bogus status", change(`"status":"running"`, `"status":"paused"`), "machine.state_value"},
		{"bogus phase", change(`"phase":"executing"`, `"phase":"dreaming"`), "machine.state_value"},
		{"null issues", change(`"issues":{"ISS-xxx":{`, `"issues":null,"x":{"ISS-xxx":{`), "machine.state_object"},
		{"issues as an array", `{"status":"running","phase":"listing","work_dir":"w","issues":[],"queue":[]}`,
			"machine.state_object"},
		{"no issues", `{"status":"running","phase":"listing","work_dir":"w","queue":[]}`, "machine.state_object"},
		{"queue as an object", `{"status":"running","phase":"listing","work_dir":"w","issues":{},"queue":{}}`,
			"machine.state_array"},
		{"no queue", `{"status":"running","phase":"listing","work_dir":"w","issues":{}}`, "machine.state_array"},
		{"null errors", `{"status":"running","phase":"listing","work_dir":"w","issues":{},"queue":[],"errors":null}`,
			"machine.state_array"},
		{"null context", `{"status":"running","phase":"listing","work_dir":"w","issues":{},"queue":[],"context":null}`,
			"machine.state_object"},
		{"negative count", change(`"context":{}`, `"context":{"failed_count":-1}`), "machine.state_value"},
		{"pending in a later phase", `{"status":"pending","phase":"executing","issues":{},"queue":[]}`,
			"machine.state_phase"},
		{"completed too early", change(`"status":"running"`, `"status":"completed"`), "machine.state_phase"},
		{"running and complete", change(`"phase":"executing"`, `"phase":"complete"`), "machine.state_phase"},
		{"issue under another id", change(`"id":"ISS-xxx"`, `"id":"ISS-yyy"`), "machine.state_value"},
		{"null issue", change(`"issues":{`, `"issues":{"ISS-0":null,`), "machine.state_value"},
		{"bogus id", strings.ReplaceAll(running, "ISS-xxx", "../../etc"), "machine.state_value"},
		{"bogus issue status", change(`"status":"executing","solution_id"`, `"status":"queued","solution_id"`),
			"machine.state_value"},
		{"foreign solution", change(`"solution_id":"SOL-xxx-1","planned_at"`, `"solution_id":"SOL-yyy-1","planned_at"`),
			"machine.state_solution"},
		{"item without id", change(`"item_id":"S-1"`, `"item_id":""`), "machine.state_item"},
		{"item twice", change(`"queue":[`,
			`"queue":[{"item_id":"S-1","issue_id":"ISS-xxx","solution_id":"SOL-xxx-1","status":"pending"},`),
			"machine.state_item"},
		{"bogus item status", change(`"SOL-xxx-1","status":"executing"}]`, `"SOL-xxx-1","status":"ready"}]`),
			"machine.state_value"},
		{"item of no issue", change(`"issue_id":"ISS-xxx"`, `"issue_id":"ISS-yyy"`), "machine.state_reference"},
		{"item without solution", change(`"issue_id":"ISS-xxx","solution_id":"SOL-xxx-1"`,
			`"issue_id":"ISS-xxx","solution_id":""`), "machine.state_solution"},
		{"solution without number", change(`"issue_id":"ISS-xxx","solution_id":"SOL-xxx-1"`,
			`"issue_id":"ISS-xxx","solution_id":"SOL-xxx-"`), "machine.state_solution"},
		{"no time", change(`"created_at":""`, `"created_at":"ISO-8601"`), "machine.state_time"},
		{"no planning time", change(`"planned_at":"2026-01-30T10:00:00Z"`, `"planned_at":"yesterday"`),
			"machine.state_time"},
	} {
		s, err := board.ParseState([]byte(c.raw))
		e, ok := err.(*pawl.Error)
		if !ok || e.Key != c.key || e.Code != pawl.CodeInvalid {
			t.Errorf("%s: %v, want %s", c.name, err, c.key)
		}
		if s.Status != "" || s.Issues != nil {
			t.Errorf("%s: a refused state was returned: %+v", c.name, s)
		}
	}
}

// TestOtherSpellings: a field in another spelling is an unknown field, and the last of two of one name counts.
func TestOtherSpellings(t *testing.T) {
	s, err := board.ParseState([]byte(`{"status":"pending","phase":"init","work_dir":"a","issues":{"ISS-1":{}},"queue":[],
		"issues":{},"ISSUES":null,"Queue":null,"\u017ftatus":"gone","WORK_DIR":"b"}`))
	if err != nil || s.Issues == nil || s.Queue == nil || s.Status != board.RunPending || s.WorkDir != "a" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestStateRoundTrip: what is exported is accepted.
func TestStateRoundTrip(t *testing.T) {
	s, err := board.ParseState([]byte(running))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := board.ParseState(raw); err != nil {
		t.Errorf("%v\n%s", err, raw)
	}
}

func FuzzValidateState(f *testing.F) {
	for _, seed := range []string{initial, running, "", "null", "{}", `{"issues":[]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := board.ParseState(raw)
		if err != nil {
			return
		}
		if !board.Run.Known(s.Status) || !board.Phase.Known(s.Phase) || s.Issues == nil || s.Queue == nil {
			t.Errorf("accepted: %+v", s)
		}
	})
}
