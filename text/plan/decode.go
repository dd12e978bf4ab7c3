package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pawl"
)

// Decode reads a plan from JSON or YAML; the contents decide which. It is strict: unknown and repeated fields, values
// of another type, a second document, text that is not UTF-8 and more than 4 MiB are refused, and so is whatever the
// published schema refuses. What a plan written by hand may leave out gets its default: status pending, no constraints,
// risk low, verification by the project's tests; plan_id and created_at stay empty for the caller to fill in.
//
// The error is a *pawl.Error of CodeInvalid whose cause is a *pawl.Problems with every problem, each with its line,
// column and field. name is used in messages only. The positions locate what Check reports about the same plan.
func Decode(name string, data []byte) (Plan, Positions, error) {
	r, root, err := open(name, data)
	if err != nil {
		return Plan{}, Positions{file: name}, err
	}
	p := Plan{RiskLevel: pawl.RiskLow, Constraints: []string{}, Verification: defaultVerification()}
	r.plan(&p)(root, "")
	shapeOf(p, r.found)
	pos := Positions{file: name, root: root}
	if err := r.found.err("plan.Decode", name); err != nil {
		return Plan{}, pos, pos.Locate(err)
	}
	return p, pos, nil
}

// DecodePatch reads a plan patch with the same strictness as Decode.
func DecodePatch(name string, data []byte) (Patch, Positions, error) {
	r, root, err := open(name, data)
	if err != nil {
		return Patch{}, Positions{file: name}, err
	}
	var patch Patch
	r.patch(&patch)(root, "")
	shapeOfPatch(patch, r.found)
	pos := Positions{file: name, root: root}
	if err := r.found.err("plan.DecodePatch", name); err != nil {
		return Patch{}, pos, pos.Locate(err)
	}
	return patch, pos, nil
}

// open parses the text and returns a reader for its root, or the error for people when there is no document to read.
func open(name string, data []byte) (*reader, *value, error) {
	root, err := parse(data)
	if err == nil {
		return &reader{&problems{}}, root, nil
	}
	var found problems
	var p *problem
	if errors.As(err, &p) {
		found.add(pawl.Problem{Line: p.at.line, Col: p.at.col, Field: p.field, Key: p.key, Args: p.args})
	} else {
		found.at("", "plan.syntax", err.Error())
	}
	return nil, nil, found.err("plan.Decode", name)
}

func defaultVerification() VerificationPolicy {
	return VerificationPolicy{Mode: VerifyTest, Commands: []string{}, Required: true, StopOnFail: true}
}

// reader copies a value into the types of this package and collects what does not fit.
type reader struct{ found *problems }

// into reads a value that stands at a path.
type into func(v *value, path string)

// field is one field of an object. Fields that are not required keep the value that the target already has.
type field struct {
	name     string
	required bool
	read     into
}

func must(name string, read into) field { return field{name, true, read} }
func may(name string, read into) field  { return field{name, false, read} }

func (r *reader) plan(p *Plan) into {
	return r.object(
		may("plan_id", r.text(&p.PlanID)),
		must("goal", r.text(&p.Goal)),
		may("constraints", list(r, &p.Constraints, func(s *string) into { return r.text(s) })),
		may("network", list(r, &p.Network, func(s *string) into { return r.text(s) })),
		may("criteria", list(r, &p.Criteria, r.criterion)),
		must("steps", list(r, &p.Steps, r.step)),
		may("verification", r.verification(&p.Verification)),
		may("risk_level", text(r, &p.RiskLevel)),
		may("created_at", r.instant(&p.CreatedAt)),
	)
}

func (r *reader) criterion(c *Criterion) into {
	texts := func(dst *[]string) into { return list(r, dst, func(s *string) into { return r.text(s) }) }
	return r.object(
		must("id", r.text(&c.ID)),
		must("text", r.text(&c.Text)),
		may("from", r.text(&c.From)),
		must("proof", text(r, &c.Proof)),
		may("run", r.text(&c.Run)),
		may("tests", texts(&c.Tests)),
		may("checks", texts(&c.Checks)),
		may("paths", texts(&c.Paths)),
		may("texts", texts(&c.Texts)),
		may("files", list(r, &c.Files, r.testFile)),
	)
}

func (r *reader) testFile(f *TestFile) into {
	return r.object(must("path", r.text(&f.Path)), must("content", r.text(&f.Content)), may("held", r.boolean(&f.Held)))
}

func (r *reader) step(s *Step) into {
	s.Status = Pending
	return r.object(
		must("step_id", r.text(&s.StepID)),
		must("title", r.text(&s.Title)),
		must("intent", r.text(&s.Intent)),
		may("status", text(r, &s.Status)),
		may("depends_on", list(r, &s.DependsOn, func(s *string) into { return r.text(s) })),
		may("tool_calls", list(r, &s.ToolCalls, r.call)),
		may("expected_artifacts", list(r, &s.ExpectedArtifacts, r.artifact)),
		may("rollback_hint", r.text(&s.RollbackHint)),
	)
}

func (r *reader) call(c *ToolCallTemplate) into {
	return r.object(must("name", r.text(&c.Name)), must("args_hint", r.args(&c.ArgsHint)), may("why", r.text(&c.Why)))
}

func (r *reader) artifact(a *Artifact) into {
	return r.object(must("type", text(r, &a.Type)), must("value", r.text(&a.Value)))
}

func (r *reader) verification(v *VerificationPolicy) into {
	return r.object(
		must("mode", text(r, &v.Mode)),
		may("commands", list(r, &v.Commands, func(s *string) into { return r.text(s) })),
		may("required", r.boolean(&v.Required)),
		may("stop_on_fail", r.boolean(&v.StopOnFail)),
	)
}

func (r *reader) patch(p *Patch) into {
	return r.object(
		may("title", optional(&p.Title, r.text)),
		may("remove_steps", list(r, &p.RemoveSteps, func(s *string) into { return r.text(s) })),
		may("update_steps", list(r, &p.UpdateSteps, r.update)),
		may("add_steps", list(r, &p.AddSteps, r.step)),
		may("criteria", optional(&p.Criteria, func(c *[]Criterion) into { return list(r, c, r.criterion) })),
		may("reason", r.text(&p.Reason)),
	)
}

func (r *reader) update(u *StepUpdate) into {
	return r.object(
		must("id", r.text(&u.ID)),
		may("title", optional(&u.Title, r.text)),
		may("description", optional(&u.Description, r.text)),
		may("dependencies", optional(&u.Dependencies, func(d *[]string) into {
			return list(r, d, func(s *string) into { return r.text(s) })
		})),
		may("tools_expected", optional(&u.ToolsExpected,
			func(d *[]ToolCallTemplate) into { return list(r, d, r.call) })),
		may("expected_artifacts", optional(&u.ExpectedArtifacts,
			func(d *[]Artifact) into { return list(r, d, r.artifact) })),
		may("rollback_hint", optional(&u.RollbackHint, r.text)),
	)
}

// object reads the members of an object into its fields.
func (r *reader) object(fields ...field) into {
	return func(v *value, path string) {
		if !r.is(v, path, kindObject) {
			return
		}
		seen := make(map[string]bool, len(fields))
		for _, m := range v.members {
			f := find(fields, m.name)
			inner := join(path, m.name)
			switch {
			case seen[m.name]:
				r.add(m.at, inner, "plan.duplicate_field", clip(m.name))
			case f != nil:
				f.read(m.value, inner)
			default:
				r.unknown(m, inner, fields)
			}
			seen[m.name] = true
		}
		for _, f := range fields {
			if f.required && !seen[f.name] {
				r.add(v.at, join(path, f.name), "plan.missing_field", f.name)
			}
		}
	}
}

func find(fields []field, name string) *field {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

func (r *reader) unknown(m member, path string, fields []field) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	if near := pawl.Suggest(m.name, names); near != "" {
		r.add(m.at, path, "plan.unknown_field_near", clip(m.name), near)
		return
	}
	r.add(m.at, path, "plan.unknown_field", clip(m.name), strings.Join(names, ", "))
}

// list reads a list, each element by the reader that each returns for it.
func list[T any](r *reader, dst *[]T, each func(*T) into) into {
	return func(v *value, path string) {
		if !r.is(v, path, kindList) {
			return
		}
		*dst = make([]T, len(v.items))
		for i, item := range v.items {
			each(&(*dst)[i])(item, path+"["+strconv.Itoa(i)+"]")
		}
	}
}

// optional reads into a new value, so that a field that is absent can be told from one that is empty.
func optional[T any](dst **T, read func(*T) into) into {
	return func(v *value, path string) {
		*dst = new(T)
		read(*dst)(v, path)
	}
}

func (r *reader) text(dst *string) into { return text(r, dst) }

func text[T ~string](r *reader, dst *T) into {
	return func(v *value, path string) {
		if r.is(v, path, kindText) {
			*dst = T(v.text)
		}
	}
}

func (r *reader) boolean(dst *bool) into {
	return func(v *value, path string) {
		if r.is(v, path, kindBool) {
			*dst = v.text == "true"
		}
	}
}

func (r *reader) instant(dst *Instant) into {
	return func(v *value, path string) {
		got, err := v.instant()
		if err != nil {
			r.add(v.at, path, "plan.bad_time")
			return
		}
		*dst = got
	}
}

// args reads free-form arguments and keeps them as JSON.
func (r *reader) args(dst *json.RawMessage) into {
	return func(v *value, path string) {
		if !r.is(v, path, kindObject) {
			return
		}
		r.repeated(v, path)
		*dst = v.encode(nil)
	}
}

// repeated reports repeated names at any depth.
func (r *reader) repeated(v *value, path string) {
	seen := make(map[string]bool, len(v.members))
	for _, m := range v.members {
		if seen[m.name] {
			r.add(m.at, join(path, m.name), "plan.duplicate_field", clip(m.name))
		}
		seen[m.name] = true
		if len(m.value.members)+len(m.value.items) > 0 {
			r.repeated(m.value, join(path, m.name))
		}
	}
	for i, item := range v.items {
		if len(item.members)+len(item.items) > 0 {
			r.repeated(item, path+"["+strconv.Itoa(i)+"]")
		}
	}
}

func (r *reader) is(v *value, path string, want kind) bool {
	if v.kind != want {
		r.add(v.at, path, "plan.wrong_type", string(want), string(v.kind))
	}
	return v.kind == want
}

func (r *reader) add(at position, path, key string, args ...any) {
	r.found.add(pawl.Problem{Line: at.line, Col: at.col, Field: path, Key: key, Args: args})
}

// join returns the path of a member.
func join(path, name string) string {
	if !plainName(name) {
		return fmt.Sprintf("%s[%q]", path, clip(name))
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func plainName(name string) bool {
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != "" && len(name) <= 60
}

// Positions remembers where the fields of a decoded plan stand in its file. The zero Positions knows of no file.
type Positions struct {
	file string
	root *value
}

// At returns the line and the column of a field, both from 1. Where the field itself is absent, the position is that of
// the nearest field around it; both are 0 when there is no file.
func (p Positions) At(path string) (line, col int) {
	if p.root == nil {
		return 0, 0
	}
	v := p.root
	for path != "" {
		inner, rest := v.enter(path)
		if inner == nil {
			break
		}
		v, path = inner, rest
	}
	return v.at.line, v.at.col
}

// enter follows the first segment of a path and returns the rest.
func (v *value) enter(path string) (*value, string) {
	for _, m := range v.members {
		segment := join("", m.name)
		if rest, ok := strings.CutPrefix(path, segment); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return m.value, strings.TrimPrefix(rest, ".")
		}
	}
	if index, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]"); ok && path[0] == '[' {
		if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(v.items) {
			return v.items[i], strings.TrimPrefix(rest, ".")
		}
	}
	return nil, path
}

// Locate fills in the file, the lines and the columns of the problems in an error of this package, and returns the
// error. Any other error, and nil, is returned as it is.
func (p Positions) Locate(err error) error {
	var m *pawl.Problems
	if p.root == nil || !errors.As(err, &m) {
		return err
	}
	located := problems{Problems: pawl.Problems{List: slices.Clone(m.List), More: m.More}}
	for n := range located.List {
		if i := &located.List[n]; i.Line == 0 {
			i.Line, i.Col = p.At(i.Field)
		}
	}
	sortProblems(located.List)
	var e *pawl.Error
	errors.As(err, &e)
	return located.err(e.Op, p.file)
}
