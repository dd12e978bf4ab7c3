package flow

import (
	"fmt"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/view"
	"pawl/text/criteria"
	"pawl/text/pattern"
	"pawl/text/plan"
	"pawl/text/solution"
)

// madeStep is a step of a plan with the task that pawl had written for it.
type madeStep struct {
	step plan.Step
	task solution.Task
}

// madeTasks are the steps of a package that pawl had made, with their tasks.
func madeTasks(made view.Package, text string) []madeStep {
	was, err := solution.ReadTasks([]byte(text))
	if err != nil || len(was.List) != len(made.Plan.Steps) {
		return nil
	}
	out := make([]madeStep, len(was.List))
	for i, t := range was.List {
		out[i] = madeStep{made.Plan.Steps[i], t}
	}
	return out
}

// matched finds for each task, by its place, the step that it stands for: the one whose title it has, wherever it
// stands now, or else the one whose number it has.
func matched(steps []madeStep, tasks []solution.Task) map[int]madeStep {
	out, used := map[int]madeStep{}, map[int]bool{}
	for _, same := range []func(a, b solution.Task) bool{
		func(a, b solution.Task) bool { return a.Title == b.Title && a.Number == b.Number },
		func(a, b solution.Task) bool { return a.Title == b.Title },
		func(a, b solution.Task) bool { return a.Number == b.Number && a.Number != "" },
	} {
		for n, t := range tasks {
			for i, s := range steps {
				if _, has := out[n]; !has && !used[i] && same(s.task, t) {
					out[n], used[i] = s, true
				}
			}
		}
	}
	return out
}

// written is the step as the task says it now: what the task does not say of it stays as it was.
func (s madeStep) written(t solution.Task) plan.Step {
	out, files, told := s.step, []plan.Artifact{}, map[string]plan.Artifact{}
	out.ExpectedArtifacts = slices.Clone(out.ExpectedArtifacts)
	if t.Title != s.task.Title {
		out.Title = plainText(t.Title)
		was, is := fileForm.Get().FindStringSubmatch(s.task.Title), fileForm.Get().FindStringSubmatch(t.Title)
		file := slices.IndexFunc(out.ExpectedArtifacts, func(a plan.Artifact) bool {
			return was != nil && a.Type == plan.ArtifactFile && a.Value == was[2]
		})
		if file >= 0 && is != nil { // the name behind the title is that of what is to be there
			out.Title, out.ExpectedArtifacts[file].Value = plainText(is[1]), is[2]
		}
	}
	if slices.Equal(t.Verify, s.task.Verify) {
		return out
	}
	for _, a := range out.ExpectedArtifacts {
		if a.Type == plan.ArtifactFile {
			files = append(files, a)
		} else if n := len(told); n < len(s.task.Verify) {
			told[s.task.Verify[n]] = a
		}
	}
	out.ExpectedArtifacts = files
	for _, v := range t.Verify {
		a, ok := told[v]
		if !ok {
			a = plan.Artifact{Type: plan.ArtifactNote, Value: plainText(strings.Trim(v, "`"))}
		}
		out.ExpectedArtifacts = append(out.ExpectedArtifacts, a)
	}
	return out
}

var (
	fileForm      = pattern.New("^(.*\\S)\\s+`([^`]+)`$")
	escapeForm    = pattern.New(`\\([\\<(])`)
	criterionForm = pattern.New(`^[-*]\s+(?:([\w.-]+)\s*[(（]\s*([A-Za-z]+)\s*[)）]\s*[:：]\s*)?(\S.*)$`)
)

// plainText is a text without what keeps Markdown from taking it for something else.
func plainText(s string) string { return escapeForm.Get().ReplaceAllString(s, "$1") }

// criteriaIn reads the criteria in the acceptance of a proposal, which pawl wrote as was and a person may have changed:
// one to a line, with its id and its proof, or with its words alone. A line that is as it was is the criterion that it
// stands for, whole. The checks that stand behind them are those of the plan, and are changed there.
func criteriaIn(made view.Package, was, is string) ([]plan.Criterion, error) {
	old := acceptanceLines(was)
	known := map[string]int{}
	for i := range made.Plan.Criteria {
		if i < len(old) {
			known[old[i]] = i
		}
	}
	checks := old[min(len(old), len(made.Plan.Criteria)):]
	var out []plan.Criterion
	left := slices.Clone(checks)
	for _, line := range acceptanceLines(is) {
		if i := slices.Index(left, line); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		if i, ok := known[line]; ok {
			out = append(out, made.Plan.Criteria[i])
			continue
		}
		c, err := criterionIn(made.Plan.Criteria, line)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o plan.Criterion) bool { return o.ID == c.ID }) {
			return nil, pawl.Fail(pawl.CodeInvalid, "cli.flow.criterion_twice", c.ID)
		}
		out = append(out, c)
	}
	if len(left) > 0 {
		return nil, pawl.Fail(pawl.CodeInvalid, "cli.flow.checks_changed", left[0])
	}
	for i := range out {
		for n := 1; out[i].ID == ""; n++ {
			id := fmt.Sprintf("c%d", n)
			has := func(c plan.Criterion) bool { return c.ID == id }
			if !slices.ContainsFunc(out, has) && !slices.ContainsFunc(made.Plan.Criteria, has) {
				out[i].ID = id
			}
		}
	}
	return out, nil
}

// acceptanceLines are the entries of an acceptance, each on one line.
func acceptanceLines(text string) (out []string) {
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || slices.Contains([]string{"- none", "- 无", "none", "无"}, bare):
		case len(out) > 0 && strings.TrimLeft(line, " \t") != line && !criterionForm.Get().MatchString(bare):
			out[len(out)-1] += " " + bare
		default:
			out = append(out, bare)
		}
	}
	return out
}

// criterionIn reads a criterion that a person has changed or added. One that was there keeps how it is shown, but for
// files and texts that its words named and name no more; in their place comes what the words name now.
func criterionIn(old []plan.Criterion, line string) (plan.Criterion, error) {
	m := criterionForm.Get().FindStringSubmatch(line)
	if m == nil || strings.HasSuffix(line, "…") { // the rest of such words is in the plan alone
		return plan.Criterion{}, pawl.Fail(pawl.CodeInvalid, "cli.flow.criterion_unread", line)
	}
	id, proof, text := m[1], plan.Proof(strings.ToLower(m[2])), plainText(m[3])
	if proof != "" && !slices.Contains(plan.Proofs(), proof) {
		return plan.Criterion{}, pawl.Fail(pawl.CodeInvalid, "cli.flow.criterion_proof", line, joined(plan.Proofs()))
	}
	c, now := plan.Criterion{ID: id, Proof: proof}, criteria.Of(text)
	if i := slices.IndexFunc(old, func(c plan.Criterion) bool { return c.ID == id && id != "" }); i >= 0 &&
		old[i].Proof == proof {
		c = old[i]
		gone := func(name string) bool { return strings.Contains(c.Text, name) && !strings.Contains(text, name) }
		c.Paths = slices.DeleteFunc(slices.Clone(c.Paths), gone)
		c.Texts = slices.DeleteFunc(slices.Clone(c.Texts), gone)
	}
	if len(now) == 0 {
		now = []plan.Criterion{{Proof: plan.ProofPerson}}
	}
	if c.Proof == "" {
		c.Proof, c.Run, c.Tests, c.Checks = now[0].Proof, now[0].Run, now[0].Tests, now[0].Checks
	}
	for _, n := range now {
		if n.Proof == c.Proof {
			c.Paths, c.Texts = union(c.Paths, n.Paths), union(c.Texts, n.Texts)
		}
	}
	c.Text = text
	return c, nil
}

// union adds to a list what it lacks of another one.
func union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(slices.Clip(list), s)
		}
	}
	return list
}

func joined(list []plan.Proof) string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}
