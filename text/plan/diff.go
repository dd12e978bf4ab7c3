package plan

import (
	"bytes"
	"slices"
)

// Change is one difference between two plans. Field is its path in the newer plan, Key and Args name the message of the
// catalogue.
type Change struct {
	Field string
	Key   string
	Args  []any
}

// Diff returns what was changed from one plan to another in all that Hash covers: it is empty exactly when the hashes
// are equal. Steps are matched by their ids.
func Diff(from, to Plan) []Change {
	var out []Change
	add := func(field, key string, args ...any) { out = append(out, Change{field, key, args}) }
	changed := func(field string, differs bool) {
		if differs {
			add(field, "plan.change_field", field)
		}
	}
	changed("goal", from.Goal != to.Goal)
	changed("constraints", !slices.Equal(from.Constraints, to.Constraints))
	changed("network", !slices.Equal(from.Network, to.Network))
	diffCriteria(from.Criteria, to.Criteria, add)
	for _, s := range from.Steps {
		if _, ok := to.Find(s.StepID); !ok {
			add("steps", "plan.change_removed", s.StepID)
		}
	}
	for i, s := range to.Steps {
		path := index("steps", i)
		at, ok := from.Find(s.StepID)
		if !ok {
			add(path, "plan.change_added", s.StepID, s.Title)
			continue
		}
		old := from.Steps[at]
		switch skipped := s.Status == Skipped; {
		case skipped && old.Status != Skipped:
			add(path+".status", "plan.change_skipped", s.StepID)
		case !skipped && old.Status == Skipped:
			add(path+".status", "plan.change_restored", s.StepID)
		}
		for _, name := range differing(old, s) {
			add(path+"."+name, "plan.change_step", s.StepID, name)
		}
	}
	if !slices.Equal(common(from, to), common(to, from)) {
		add("steps", "plan.change_order")
	}
	a, b := from.Verification, to.Verification
	changed("verification.mode", a.Mode != b.Mode)
	changed("verification.commands", !slices.Equal(a.Commands, b.Commands))
	changed("verification.required", a.Required != b.Required)
	changed("verification.stop_on_fail", a.StopOnFail != b.StopOnFail)
	changed("risk_level", from.RiskLevel != to.RiskLevel)
	return out
}

// common returns the ids of the steps of p that other has too, in the order of p.
func common(p, other Plan) []string {
	var ids []string
	for _, s := range p.Steps {
		if _, ok := other.Find(s.StepID); ok {
			ids = append(ids, s.StepID)
		}
	}
	return ids
}

// differing returns the names of the fields, status not among them, in which two steps say something else.
func differing(a, b Step) []string {
	var out []string
	changed := func(name string, differs bool) {
		if differs {
			out = append(out, name)
		}
	}
	changed("title", a.Title != b.Title)
	changed("intent", a.Intent != b.Intent)
	changed("depends_on", !slices.Equal(a.DependsOn, b.DependsOn))
	changed("tool_calls", !slices.EqualFunc(a.ToolCalls, b.ToolCalls, func(x, y ToolCallTemplate) bool {
		return x.Name == y.Name && x.Why == y.Why && sameArguments(x.ArgsHint, y.ArgsHint)
	}))
	changed("expected_artifacts", !slices.Equal(a.ExpectedArtifacts, b.ExpectedArtifacts))
	changed("rollback_hint", a.RollbackHint != b.RollbackHint)
	return out
}

// sameArguments compares as Hash does: the order of members makes no difference.
func sameArguments(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := parseJSON(a)
	y, errY := parseJSON(b)
	return errX == nil && errY == nil && x.equal(y)
}

// equal reports whether two values are the same but for the order of members.
func (v *value) equal(w *value) bool {
	if v.kind != w.kind || v.text != w.text || len(v.members) != len(w.members) || len(v.items) != len(w.items) {
		return false
	}
	for i := range v.items {
		if !v.items[i].equal(w.items[i]) {
			return false
		}
	}
	names := make(map[string]*value, len(w.members))
	for _, m := range w.members {
		names[m.name] = m.value
	}
	for _, m := range v.members {
		other, ok := names[m.name]
		if !ok || !m.value.equal(other) {
			return false
		}
	}
	return true
}
