package plan

import (
	"slices"
	"strings"

	"pawl"
)

// Order returns the indexes of the steps in the order in which they are carried out: a step comes after all that it
// depends on, and otherwise the steps keep their places. It fails when a dependency does not exist or the dependencies
// form a cycle.
func Order(p Plan) ([]int, error) {
	var found problems
	order := graph(p, &found)
	return order, found.err("plan.Order", "")
}

// graph orders the steps and reports repeated ids, dependencies that do not exist, and cycles.
func graph(p Plan, found *problems) []int {
	at, ids := make(map[string]int, len(p.Steps)), make([]string, len(p.Steps))
	for i, s := range p.Steps {
		if first, ok := at[s.StepID]; ok {
			found.at(index("steps", i)+".step_id", "plan.duplicate_step", clip(s.StepID), index("steps", first))
		} else {
			at[s.StepID] = i
		}
		ids[i] = s.StepID
	}
	needs := make([][]int, len(p.Steps)) // the steps that each step depends on
	for i, s := range p.Steps {
		for j, id := range s.DependsOn {
			path := index(index("steps", i)+".depends_on", j)
			k, ok := at[id]
			switch {
			case !ok:
				unknown(found, path, "plan.unknown_dependency", id, ids)
			case k == i:
				found.at(path, "plan.self_dependency", clip(id))
			default:
				needs[i] = append(needs[i], k)
			}
		}
	}
	order, left := sorted(needs)
	if left >= 0 {
		cycle := cycleFrom(needs, left, order)
		names := make([]string, len(cycle))
		for n, i := range cycle {
			names[n] = p.Steps[i].StepID
		}
		found.at(index("steps", cycle[0])+".depends_on", "plan.cycle", strings.Join(names, " → "))
	}
	return order
}

// unknown reports a name that does not exist, with the nearest that does.
func unknown(found *problems, path, key, name string, known []string) {
	if len(found.List) == pawl.MaxProblems { // it will not be shown
		found.at(path, key)
		return
	}
	if near := pawl.Suggest(name, known); near != "" {
		found.at(path, key+"_near", clip(name), near)
		return
	}
	found.at(path, key, clip(name))
}

// sorted picks, again and again, the first step whose needs are all met. left is the first step that never became
// ready, or -1 when there is none.
func sorted(needs [][]int) (order []int, left int) {
	open := make([]int, len(needs)) // how many needs of each step are unmet
	users := make([][]int, len(needs))
	var ready []int // ascending
	for i, ks := range needs {
		open[i] = len(ks)
		for _, k := range ks {
			users[k] = append(users[k], i)
		}
		if len(ks) == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[0]
		ready = ready[1:]
		order = append(order, i)
		for _, u := range users[i] {
			if open[u]--; open[u] == 0 {
				at, _ := slices.BinarySearch(ready, u)
				ready = slices.Insert(ready, at, u)
			}
		}
	}
	return order, slices.IndexFunc(open, func(n int) bool { return n > 0 })
}

// cycleFrom follows unmet needs from a step that never became ready until a step comes up again, and returns the cycle
// closed: first and last are the same.
func cycleFrom(needs [][]int, start int, met []int) []int {
	done := make(map[int]bool, len(met))
	for _, i := range met {
		done[i] = true
	}
	place := map[int]int{}
	var path []int
	for i := start; ; {
		if from, ok := place[i]; ok {
			return append(path[from:], i)
		}
		place[i] = len(path)
		path = append(path, i)
		for _, k := range needs[i] {
			if !done[k] {
				i = k
				break
			}
		}
	}
}

// Next returns the index of the step to carry out next: the one in progress, or else the first in order that is pending
// and whose dependencies are all done or skipped, where the steps of repairs go before all others. ok is false when
// there is none, because the plan is finished or stuck.
func Next(p Plan) (i int, ok bool) {
	if i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Status == InProgress }); i >= 0 {
		return i, true
	}
	order, err := Order(p)
	if err != nil {
		return 0, false
	}
	closed := make(map[string]bool, len(p.Steps))
	for _, s := range p.Steps {
		closed[s.StepID] = s.Status.Closed()
	}
	for _, at := range order {
		s := p.Steps[at]
		if s.Status != Pending || slices.ContainsFunc(s.DependsOn, func(id string) bool { return !closed[id] }) {
			continue
		}
		if s.Repair() > 0 {
			return at, true
		}
		if !ok {
			i, ok = at, true
		}
	}
	return i, ok
}

// Stuck returns the indexes of the open steps of a plan that has no next step, in the order of the plan: those that are
// blocked and those that wait for them. It is empty while something can be carried out and when all is finished.
func Stuck(p Plan) []int {
	if _, ok := Next(p); ok {
		return nil
	}
	var out []int
	for i, s := range p.Steps {
		if !s.Status.Closed() {
			out = append(out, i)
		}
	}
	return out
}

// Closed reports whether nothing is left to do for a step with this status.
func (s Status) Closed() bool { return s == Done || s == Skipped }

// Find returns the index of the step with that id.
func (p Plan) Find(id string) (int, bool) {
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.StepID == id })
	return i, i >= 0
}

// Clone returns a copy that shares nothing with p.
func (p Plan) Clone() Plan {
	p.Constraints = slices.Clone(p.Constraints)
	p.Network = slices.Clone(p.Network)
	p.Criteria = cloneCriteria(p.Criteria)
	p.Verification.Commands = slices.Clone(p.Verification.Commands)
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		p.Steps[i] = p.Steps[i].clone()
	}
	return p
}

func (s Step) clone() Step {
	s.DependsOn = slices.Clone(s.DependsOn)
	s.ExpectedArtifacts = slices.Clone(s.ExpectedArtifacts)
	s.ToolCalls = slices.Clone(s.ToolCalls)
	for i := range s.ToolCalls {
		s.ToolCalls[i].ArgsHint = slices.Clone(s.ToolCalls[i].ArgsHint)
	}
	return s
}
