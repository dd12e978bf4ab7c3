package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/text/pattern"

	"pawl"
)

var (
	// taskTitle splits what stands after a task's box: number, priority, id and title; all but the title may be absent.
	taskTitle = pattern.New("^(?:T-[0-9]+[ \t]*[:：][ \t]*)?(?:\\[P[0-9]\\][ \t]*)?(?:`([^`]*)`(?:[ \t]+|$))?(.*)$")

	// criterionHead splits the first line of a criterion: id, proof and text; all but the proof may be absent.
	criterionHead = pattern.New("^(?:`([^`]*)`[ \t]+)?\\[([A-Za-z]+)\\](?:[ \t]+(.*))?$")

	// idSeparator stands between the ids of a dependency list.
	idSeparator = pattern.New("[`,，、 \t]+")
)

// ParsePRD reads a document that RenderPRD wrote and a person may have edited, and returns the plan that it says, with
// the changes against base. base must be the plan that the document was rendered from, with nothing changed since: a
// document of another plan or of an older version is refused with CodeConflict, so that no edit is applied to something
// that its author did not see. Rendering a plan and parsing the result gives back the plan exactly, with no changes.
//
// A person may change everything that the document shows below its header, but may not set a step to in progress, done
// or blocked, and may not touch a step that is done. A new step gets an id if it has none. Nothing in the document is
// passed over in silence: what is not understood is a problem of the resulting *pawl.Problems, with its line. Tools and
// limits are for Check.
func ParsePRD(text string, base Plan) (Plan, []Change, error) {
	const op = "plan.ParsePRD"
	r := &prdReader{base: base, lines: map[string]int{}, seen: map[string]bool{}}
	switch {
	case len(text) > MaxBytes:
		r.found.at("", "plan.too_large", len(text), MaxBytes)
	case firstInvalid([]byte(text)) >= 0:
		r.found.at("", "plan.not_text")
	default:
		r.read(tokens(text))
	}
	if err := r.found.err(op, "PRD"); err != nil {
		return Plan{}, nil, err
	}
	if r.hash != Hash(base) || r.seen["header plan_id"] && r.id != base.PlanID {
		return Plan{}, nil, pawl.Fail(pawl.CodeConflict, "plan.prd_stale", clip(r.hash)).In(op)
	}
	out := r.result()
	shapeOf(out, &r.found)
	graph(out, &r.found)
	r.guard(out)
	if err := r.found.err(op, "PRD"); err != nil {
		return Plan{}, nil, r.locate(err)
	}
	return out, Diff(base, out), nil
}

// prdReader walks over the tokens of a document.
type prdReader struct {
	base  Plan
	found problems
	lines map[string]int  // field → line, for problems that show only later
	seen  map[string]bool // entries of the header, the specs, the risks and the current step

	in   section
	want func(text string) // takes the fenced block that an entry without text announces
	id   string
	hash string
	plan Plan
	goal []string
}

func (r *prdReader) read(all []token) {
	r.plan.Constraints, r.plan.Verification.Commands = []string{}, []string{}
	for _, t := range all {
		if t.kind == tokenBlank {
			if r.in == inGoal {
				r.goal = append(r.goal, "")
			}
			continue
		}
		if r.want != nil && t.kind != tokenFence {
			r.want("")
			r.want = nil
		}
		r.token(t)
	}
	if r.want != nil {
		r.want("")
	}
	for _, must := range []string{"header hash", "specs mode", "specs required", "specs stop_on_fail",
		"risks risk_level"} {
		if !r.seen[must] {
			_, name, _ := strings.Cut(must, " ")
			r.found.at("", "plan.missing_field", name)
		}
	}
	if r.plan.Goal == "" {
		r.plan.Goal = strings.Trim(strings.Join(r.goal, "\n"), "\n")
	}
}

func (r *prdReader) token(t token) {
	switch {
	case t.kind == tokenOpenFence:
		r.fail(t.line, "plan.prd_fence")
	case t.kind == tokenHeading:
		next, ok := sectionNamed(t.text)
		if !ok || r.seen["section "+string(next)] {
			r.fail(t.line, "plan.prd_heading", clip(t.text))
			return
		}
		r.seen["section "+string(next)] = true
		r.in = next
	case t.kind == tokenFence && r.want != nil:
		r.want(t.text)
		r.want = nil
	case r.in == inGoal:
		r.goalToken(t)
	case t.kind == tokenQuote && r.in == inHeader:
	case t.kind == tokenTask && r.in == inTasks:
		r.task(t)
	case t.kind == tokenFence && r.in == inTasks:
		r.arguments(t)
	case t.kind == tokenBullet && r.in == inConstraints:
		r.value(t.text, func(text string) {
			r.lines[index("constraints", len(r.plan.Constraints))] = t.line
			r.plan.Constraints = append(r.plan.Constraints, text)
		})
	case t.kind == tokenBullet && r.in == inCriteria && criterionHead.Get().MatchString(t.text):
		r.criterion(t)
	case t.kind == tokenBullet:
		r.bullet(t)
	default:
		r.fail(t.line, "plan.prd_line", clip(t.text))
	}
}

// goalToken gathers the goal: one fenced block, or lines of text.
func (r *prdReader) goalToken(t token) {
	r.lines["goal"] = t.line
	switch {
	case t.kind != tokenFence:
		r.goal = append(r.goal, t.raw)
		if r.plan.Goal != "" {
			r.fail(t.line, "plan.prd_line", clip(t.text))
		}
	case r.plan.Goal != "" || strings.Join(r.goal, "") != "":
		r.fail(t.line, "plan.prd_line", clip(t.raw))
	default:
		r.plan.Goal = t.text
	}
}

// value hands the text of an entry to take, now or when its fenced block comes.
func (r *prdReader) value(text string, take func(string)) {
	if text == "" {
		r.want = take
		return
	}
	take(unspan(text))
}

// bullet reads "- Label: text".
func (r *prdReader) bullet(t token) {
	at := strings.IndexAny(t.text, ":：")
	if at < 0 {
		r.fail(t.line, "plan.prd_line", clip(t.text))
		return
	}
	label := strings.TrimSpace(t.text[:at])
	text := strings.Trim(strings.TrimPrefix(strings.TrimPrefix(t.text[at:], ":"), "："), " \t")
	what, ok := entryNamed(r.in, label)
	if !ok {
		r.fail(t.line, "plan.prd_label", clip(label))
		return
	}
	if r.in == inTasks {
		r.stepEntry(what, text, t.line)
		return
	}
	if r.in == inCriteria {
		r.criterionEntry(what, text, t.line)
		return
	}
	if what != isCommand && what != isNetwork && !r.once(string(r.in)+" "+string(what), t.line, label) {
		return
	}
	switch what {
	case isPlan:
		r.id = unspan(text)
	case isHash:
		r.hash = unspan(text)
	case isMode:
		r.lines["verification.mode"] = t.line
		r.plan.Verification.Mode = Mode(strings.ToLower(unspan(text)))
	case isRequired:
		r.boolean(&r.plan.Verification.Required, text, t.line)
	case isStopOnFail:
		r.boolean(&r.plan.Verification.StopOnFail, text, t.line)
	case isCommand:
		r.value(text, func(text string) {
			commands := &r.plan.Verification.Commands
			r.lines[index("verification.commands", len(*commands))] = t.line
			*commands = append(*commands, text)
		})
	case isRisk:
		r.lines["risk_level"] = t.line
		r.plan.RiskLevel = pawl.Risk(strings.ToLower(unspan(text)))
	case isNetwork:
		r.lines[index("network", len(r.plan.Network))] = t.line
		r.plan.Network = append(r.plan.Network, unspan(text))
	case isStatus, isCreated: // shown, never read
	}
}

func (r *prdReader) boolean(dst *bool, text string, line int) {
	switch strings.ToLower(unspan(text)) {
	case "true", "yes", "是":
		*dst = true
	case "false", "no", "否":
		*dst = false
	default:
		r.fail(line, "plan.bad_value", clip(text), "true, false")
	}
}

// task begins a step.
func (r *prdReader) task(t token) {
	if len(r.plan.Steps) == maxSteps {
		r.fail(t.line, "plan.too_many_steps", maxSteps)
		return
	}
	m := taskTitle.Get().FindStringSubmatch(t.text)
	s := Step{StepID: m[1], Title: unspan(m[2])}
	if s.StepID == "" {
		s.StepID = r.freeID()
	}
	path := index("steps", len(r.plan.Steps))
	r.lines[path] = t.line
	status, ok := statusOf(t.mark)
	at, known := r.base.Find(s.StepID)
	mayBe := status == Pending || status == Skipped
	if known {
		was := r.base.Steps[at].Status
		mayBe = status == was || mayBe && was != Done
	}
	if !ok || !mayBe {
		r.fail(t.line, "plan.prd_status", string(t.mark), s.StepID)
	}
	s.Status = status
	r.plan.Steps = append(r.plan.Steps, s)
	r.forget("tasks ")
}

// forget takes it that no entry of a section has come up yet.
func (r *prdReader) forget(section string) {
	maps.DeleteFunc(r.seen, func(key string, _ bool) bool { return strings.HasPrefix(key, section) })
}

// criterion begins a criterion.
func (r *prdReader) criterion(t token) {
	if len(r.plan.Criteria) == maxCriteria {
		r.fail(t.line, "plan.too_many", maxCriteria)
		return
	}
	m := criterionHead.Get().FindStringSubmatch(t.text)
	at := len(r.plan.Criteria)
	r.lines[index("criteria", at)] = t.line
	r.plan.Criteria = append(r.plan.Criteria, Criterion{ID: m[1], Proof: Proof(strings.ToLower(m[2]))})
	if m[1] == "" {
		r.plan.Criteria[at].ID = r.freeCriterion()
	}
	r.value(strings.Trim(m[3], " \t"), func(text string) { r.plan.Criteria[at].Text = text })
	r.forget("criteria ")
}

// freeCriterion returns an id for a new criterion that no criterion of either plan has.
func (r *prdReader) freeCriterion() string {
	for n := len(r.plan.Criteria); ; n++ {
		id := fmt.Sprintf("c%d", n)
		has := func(c Criterion) bool { return c.ID == id }
		if !slices.ContainsFunc(r.base.Criteria, has) && !slices.ContainsFunc(r.plan.Criteria, has) {
			return id
		}
	}
}

// criterionEntry reads an entry of the current criterion.
func (r *prdReader) criterionEntry(what entry, text string, line int) {
	n := len(r.plan.Criteria) - 1
	if n < 0 {
		r.fail(line, "plan.prd_line", clip(text))
		return
	}
	path, c := index("criteria", n), &r.plan.Criteria[n]
	field := path + "." + string(what)
	if single := map[entry]*string{isFrom: &c.From, isCommand: &c.Run}[what]; single != nil {
		if r.once("criteria "+string(what), line, string(what)) {
			r.lines[map[entry]string{isFrom: path + ".from", isCommand: path + ".run"}[what]] = line
			r.value(text, func(text string) { *single = text })
		}
		return
	}
	if what == isFile || what == isHeld {
		at := len(c.Files)
		r.lines[index(path+".files", at)] = line
		c.Files = append(c.Files, TestFile{Path: unspan(text), Held: what == isHeld})
		r.want = func(text string) { r.plan.Criteria[n].Files[at].Content = text }
		return
	}
	list := map[entry]*[]string{isTest: &c.Tests, isCheck: &c.Checks, isPath: &c.Paths, isText: &c.Texts}[what]
	if len(*list) == 0 {
		r.lines[field] = line
	}
	r.lines[index(field, len(*list))] = line
	*list = append(*list, unspan(text))
}

// freeID returns an id for a new step that no step of either plan has.
func (r *prdReader) freeID() string {
	for n := len(r.plan.Steps) + 1; ; n++ {
		id := fmt.Sprintf("step-%d", n)
		_, old := r.base.Find(id)
		_, taken := r.plan.Find(id)
		if !old && !taken {
			return id
		}
	}
}

// stepEntry reads an entry of the current step.
func (r *prdReader) stepEntry(what entry, text string, line int) {
	if len(r.plan.Steps) == 0 {
		r.fail(line, "plan.prd_line", clip(text))
		return
	}
	n := len(r.plan.Steps) - 1
	path, s := index("steps", n), &r.plan.Steps[n]
	switch what {
	case isCall:
		r.lines[index(path+".tool_calls", len(s.ToolCalls))] = line
		s.ToolCalls = append(s.ToolCalls, ToolCallTemplate{Name: unspan(text)})
		delete(r.seen, "tasks why")
		return
	case isVerify:
		kind, rest, _ := strings.Cut(text, " ")
		r.lines[index(path+".expected_artifacts", len(s.ExpectedArtifacts))] = line
		a := Artifact{Type: ArtifactType(strings.ToLower(kind))}
		r.value(strings.Trim(rest, " \t"), func(text string) {
			a.Value = text
			s.ExpectedArtifacts = append(s.ExpectedArtifacts, a)
		})
		return
	}
	if !r.once("tasks "+string(what), line, string(what)) {
		return
	}
	r.lines[path+"."+string(what)] = line
	switch what {
	case isIntent:
		r.value(text, func(text string) { s.Intent = text })
	case isUndo:
		r.value(text, func(text string) { s.RollbackHint = text })
	case isDependsOn:
		s.DependsOn = slices.DeleteFunc(idSeparator.Get().Split(text, -1), func(id string) bool { return id == "" })
	case isWhy:
		if len(s.ToolCalls) == 0 {
			r.fail(line, "plan.prd_line", clip(text))
			return
		}
		call := &s.ToolCalls[len(s.ToolCalls)-1]
		r.value(text, func(text string) { call.Why = text })
	}
}

// arguments reads the JSON block of the current call.
func (r *prdReader) arguments(t token) {
	if n := len(r.plan.Steps) - 1; n >= 0 {
		s := &r.plan.Steps[n]
		path := index("steps", n) + ".tool_calls"
		if c := len(s.ToolCalls) - 1; c >= 0 && s.ToolCalls[c].ArgsHint == nil {
			r.json(&s.ToolCalls[c].ArgsHint, t, index(path, c)+".args_hint")
			return
		}
	}
	r.fail(t.line, "plan.prd_line", clip(t.raw))
}

// json reads a block; problems in it are placed in the document.
func (r *prdReader) json(dst *json.RawMessage, t token, path string) {
	indent := len(t.raw) - len(strings.TrimLeft(t.raw, " \t"))
	var found problems
	v, err := parseJSON([]byte(t.text))
	var p *problem
	if errors.As(err, &p) {
		found.add(pawl.Problem{Line: p.at.line, Col: p.at.col, Field: path, Key: p.key, Args: p.args})
	} else if inner := (&reader{&found}); inner.is(v, path, kindObject) {
		inner.repeated(v, path)
		*dst = v.encode(nil)
	}
	for _, i := range found.List {
		i.Line, i.Col = i.Line+t.line, i.Col+indent
		r.found.add(i)
	}
}

// once reports whether an entry comes up for the first time.
func (r *prdReader) once(key string, line int, label string) bool {
	if r.seen[key] {
		r.fail(line, "plan.prd_repeated", clip(label))
		return false
	}
	r.seen[key] = true
	return true
}

func (r *prdReader) fail(line int, key string, args ...any) {
	r.found.add(pawl.Problem{Line: line, Col: 1, Key: key, Args: args})
}

// result completes what the document does not show. Where it says what base says, base's own values are kept, so that
// nothing differs that nobody changed.
func (r *prdReader) result() Plan {
	out, base := r.plan, r.base.Clone()
	out.PlanID, out.CreatedAt = base.PlanID, base.CreatedAt
	if slices.Equal(out.Constraints, base.Constraints) {
		out.Constraints = base.Constraints
	}
	if slices.Equal(out.Network, base.Network) {
		out.Network = base.Network
	}
	if slices.EqualFunc(out.Criteria, base.Criteria, Criterion.equal) {
		out.Criteria = base.Criteria
	}
	if slices.Equal(out.Verification.Commands, base.Verification.Commands) {
		out.Verification.Commands = base.Verification.Commands
	}
	for i := range out.Steps {
		s := &out.Steps[i]
		if at, ok := base.Find(s.StepID); ok && len(differing(base.Steps[at], *s)) == 0 {
			status := s.Status
			*s = base.Steps[at].clone()
			s.Status = status
		} else if s.Intent == "" && !ok {
			s.Intent = s.Title // a person who adds a step need not say everything twice
		}
	}
	if len(out.Steps) == 0 && len(base.Steps) == 0 {
		out.Steps = base.Steps
	}
	return out
}

// guard keeps an edit from touching what is done.
func (r *prdReader) guard(out Plan) {
	for _, s := range r.base.Steps {
		if s.Status != Done {
			continue
		}
		at, ok := out.Find(s.StepID)
		if !ok {
			r.found.at("steps", "plan.done_step", s.StepID)
		} else if len(differing(s, out.Steps[at])) > 0 {
			r.found.at(index("steps", at), "plan.done_step", s.StepID)
		}
	}
}

// locate fills in the lines of problems that were found after reading.
func (r *prdReader) locate(err error) error {
	var m *pawl.Problems
	if !errors.As(err, &m) {
		return err
	}
	for n := range m.List {
		i := &m.List[n]
		for path := i.Field; i.Line == 0 && path != ""; path = outer(path) {
			if line, ok := r.lines[path]; ok {
				i.Line, i.Col = line, 1
			}
		}
	}
	return err
}
