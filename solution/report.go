package solution

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"pawl"
	"pawl/text/strictjson"
)

// ExecutionReport is what a script that was carried out in part hands to whoever goes on
// (docs/spec/workflow.md#execution-report). Its JSON has every field; failed_at and error_message are null where
// nothing failed.
type ExecutionReport struct {
	Script  string
	Success bool
	// Completed are the steps that were carried out, in order; Pending those that were not, that which failed among them.
	Completed []CompletedStep
	Pending   []string
	// FailedAt names the step that failed, and ErrorMessage says why; both are "" after a success.
	FailedAt, ErrorMessage string
	// Context is what whoever goes on has to know.
	Context map[string]any
}

// CompletedStep is a step that was carried out: what it did, what came of it, and how to tell that it is so.
type CompletedStep struct {
	Step   string `json:"step"`
	Result string `json:"result"`
	Verify string `json:"verify"`
}

// Action is something that whoever takes over has to do.
type Action struct {
	// Verify says that a step is to be verified, as How says, and not to be carried out.
	Verify bool
	Step   string
	How    string
}

// Todo lists what is to be done after a failure, in order: every completed step is verified, because the script that reports
// it has failed, and then the pending ones are carried out. After a success there is nothing to do.
func (r ExecutionReport) Todo() []Action {
	if r.Success {
		return nil
	}
	var out []Action
	for _, c := range r.Completed {
		out = append(out, Action{Verify: true, Step: c.Step, How: c.Verify})
	}
	for _, p := range r.Pending {
		out = append(out, Action{Step: p})
	}
	return out
}

// wireReport is the JSON of a report.
type wireReport struct {
	Script       *string         `json:"script"`
	Success      *bool           `json:"success"`
	Completed    []CompletedStep `json:"completed"`
	FailedAt     *string         `json:"failed_at"`
	ErrorMessage *string         `json:"error_message"`
	Pending      []string        `json:"pending"`
	Context      map[string]any  `json:"context"`
}

// MarshalJSON implements json.Marshaler.
func (r ExecutionReport) MarshalJSON() ([]byte, error) {
	orNull := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	w := wireReport{
		Script: &r.Script, Success: &r.Success, Completed: r.Completed, FailedAt: orNull(r.FailedAt), ErrorMessage: orNull(r.ErrorMessage),
		Pending: r.Pending, Context: r.Context,
	}
	if w.Completed == nil {
		w.Completed = []CompletedStep{}
	}
	if w.Pending == nil {
		w.Pending = []string{}
	}
	if w.Context == nil {
		w.Context = map[string]any{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(w)
	return b.Bytes(), err
}

// UnmarshalJSON implements json.Unmarshaler. It is strict: see ParseExecutionReport.
func (r *ExecutionReport) UnmarshalJSON(data []byte) error {
	got, err := ParseExecutionReport("", data)
	if err == nil {
		*r = got
	}
	return err
}

// ParseExecutionReport reads a report. Unknown fields, text behind the report, more than 4 MiB, and reports that contradict
// themselves are CodeInvalid, with the line: a script or a success that is missing, a success that names a failure or has
// pending steps, a failure that names none, a step without a name. name is used in messages only.
func ParseExecutionReport(name string, data []byte) (ExecutionReport, error) {
	const op = "solution.ParseExecutionReport"
	fail := func(line int, key string, args ...any) error {
		return broken(op, name, []Finding{{File: name, Line: line, Key: key, Args: args}})
	}
	if name == "" {
		name = "report"
	}
	if bad, ok := unusable(name, data); ok {
		return ExecutionReport{}, broken(op, name, []Finding{bad})
	}
	var w wireReport
	data = bytes.TrimPrefix(data, []byte(ByteOrderMark))
	var e *strictjson.Error
	if errors.As(strictjson.Decode(data, &w, strictjson.Options{}), &e) {
		lines := strictjson.Lines{Text: data}
		line, _ := lines.At(e.Offset)
		if e.Reason == strictjson.Trailing {
			return ExecutionReport{}, fail(line, "solution.more_than_report")
		}
		return ExecutionReport{}, fail(line, "solution.not_json", oneLine(Clip(e.Error(), 200)))
	}
	if w.Script == nil || w.Success == nil {
		return ExecutionReport{}, fail(0, "solution.report_incomplete", "script, success")
	}
	r := ExecutionReport{Script: *w.Script, Success: *w.Success, Completed: w.Completed, Pending: w.Pending, Context: w.Context}
	if w.FailedAt != nil {
		r.FailedAt = *w.FailedAt
	}
	if w.ErrorMessage != nil {
		r.ErrorMessage = *w.ErrorMessage
	}
	if key := r.contradiction(); key != "" {
		return ExecutionReport{}, fail(0, key)
	}
	return r, nil
}

// contradiction returns the key of what a report cannot say, or "".
func (r ExecutionReport) contradiction() string {
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	if blank(r.Script) {
		return "solution.report_no_script"
	}
	for _, c := range r.Completed {
		if blank(c.Step) {
			return "solution.report_no_step"
		}
	}
	for _, p := range r.Pending {
		if blank(p) {
			return "solution.report_no_step"
		}
	}
	switch {
	case r.Success && (r.FailedAt != "" || r.ErrorMessage != "" || len(r.Pending) > 0):
		return "solution.report_success"
	case !r.Success && blank(r.FailedAt) && blank(r.ErrorMessage):
		return "solution.report_failure"
	}
	return ""
}

// Check returns what contradicts itself in a report that is about to be written, as ParseExecutionReport would refuse it.
func (r ExecutionReport) Check() error {
	if key := r.contradiction(); key != "" {
		return pawl.Fail(pawl.CodeInvalid, key).In("solution.Check")
	}
	return nil
}
