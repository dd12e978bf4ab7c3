package solution_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/internal/golden"
	"pawl/solution"
)

func stopped() solution.ExecutionReport {
	return solution.ExecutionReport{
		Script: "migrate", Completed: []solution.CompletedStep{{Step: "copy", Result: "3 files", Verify: "ls archive"}}, Pending: []string{"index", "remove"},
		FailedAt: "index", ErrorMessage: "磁盘已满 <disk full>", Context: map[string]any{"package": "202602081200_a"},
	}
}

func TestExecutionReport(t *testing.T) {
	data, err := json.MarshalIndent(stopped(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/execution.json", string(data)+"\n")
	got, err := solution.ParseExecutionReport("r.json", data)
	if err != nil || !reflect.DeepEqual(got, stopped()) {
		t.Errorf("%+v, %v", got, err)
	}
	want := []solution.Action{{Verify: true, Step: "copy", How: "ls archive"}, {Step: "index"}, {Step: "remove"}}
	if todo := got.Todo(); !reflect.DeepEqual(todo, want) {
		t.Errorf("to do: %+v", todo)
	}
	done := solution.ExecutionReport{Script: "s", Success: true, Completed: stopped().Completed}
	data, _ = json.Marshal(done)
	if want := `{"script":"s","success":true,"completed":[{"step":"copy","result":"3 files","verify":"ls archive"}],"failed_at":null,"error_message":null,"pending":[],"context":{}}`; string(data) != want {
		t.Errorf("%s", data)
	}
	if done.Check() != nil || done.Todo() != nil {
		t.Errorf("a success: %v, %v", done.Check(), done.Todo())
	}
}

func TestBrokenReports(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "r.json: solution.empty"},
		{"\xff", "r.json:1: solution.not_text"},
		{strings.Repeat(" ", solution.MaxFile+1), "r.json: solution.too_large"},
		{"{\n\n\"script\": ]", "r.json:3: solution.not_json"},
		{"{\n\"script\": \"s\",\n\"success\": 1}", "r.json:3: solution.not_json"},
		{"{\"script\": \"s\",\n\"extra\": 1}", "r.json:2: solution.not_json"},
		{"{\"script\": \"s\", \"success\": true}\n{}", "r.json:2: solution.more_than_report"},
		{"{\"script\": \"s\", \"success\": true}\n}", "r.json:2: solution.more_than_report"},
		{"null", "r.json: solution.report_incomplete"},
		{`{"success": true}`, "r.json: solution.report_incomplete"},
		{`{"script": " ", "success": true}`, "r.json: solution.report_no_script"},
		{`{"script": "s", "success": true, "completed": [{"result": "x"}]}`, "r.json: solution.report_no_step"},
		{`{"script": "s", "success": false, "failed_at": "a", "pending": [""]}`, "r.json: solution.report_no_step"},
		{`{"script": "s", "success": true, "pending": ["a"]}`, "r.json: solution.report_success"},
		{`{"script": "s", "success": true, "failed_at": "a"}`, "r.json: solution.report_success"},
		{`{"script": "s", "success": false}`, "r.json: solution.report_failure"},
	} {
		_, err := solution.ParseExecutionReport("r.json", []byte(c.text))
		var b *solution.Broken
		if pawl.CodeOf(err) != pawl.CodeInvalid || !errors.As(err, &b) || !strings.HasPrefix(b.Error(), c.want) {
			t.Errorf("%.40q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestReportsAreReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := solution.ExecutionReport{
			Script: hostile().Draw(rt, "script"), Success: rapid.Bool().Draw(rt, "success"), FailedAt: hostile().Draw(rt, "failed"), ErrorMessage: hostile().Draw(rt, "error"),
			Completed: []solution.CompletedStep{{Step: hostile().Draw(rt, "step"), Verify: hostile().Draw(rt, "verify")}}, Pending: []string{hostile().Draw(rt, "pending")},
			Context: map[string]any{"k": "v"},
		}
		if r.Success {
			r.FailedAt, r.ErrorMessage, r.Pending = "", "", []string{}
		}
		for _, s := range []*string{&r.Script, &r.FailedAt, &r.ErrorMessage, &r.Completed[0].Step, &r.Completed[0].Verify} {
			*s = strings.ToValidUTF8(*s, "?")
		}
		for i := range r.Pending {
			r.Pending[i] = strings.ToValidUTF8(r.Pending[i], "?")
		}
		data, err := json.Marshal(r)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := solution.ParseExecutionReport("", data)
		if (err == nil) != (r.Check() == nil) || err == nil && !reflect.DeepEqual(got, r) {
			rt.Fatalf("%+v read back %+v: %v, %v", r, got, err, r.Check())
		}
	})
}
