// Package joint looks at the five machines together: it walks every way through the table that composes them, and
// judges a store by the invariants (ARCHITECTURE.md, "Five machines, one flow", "Invariants").
package joint

import (
	"slices"

	"pawl/kernel"
	"pawl/kernel/composition"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/composed"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// Combination is one state of the five machines together.
type Combination composed.States

// Exploration is what walking every way through the joint machine has found.
type Exploration struct {
	// Combinations is the number of reachable combinations, Transitions that of the ways between them, Rows that of the
	// rows of the composition table.
	Combinations int `json:"combinations"`
	Transitions  int `json:"transitions"`
	Rows         int `json:"rows"`
	// DeadEnds are reachable combinations outside of IDLE that no row leads out of. Trapped are those from which IDLE
	// cannot be reached again; every dead end is among them.
	DeadEnds []Combination `json:"dead_ends"`
	Trapped  []Combination `json:"trapped"`
	// Unreachable are the rows that apply in no reachable combination.
	Unreachable []string `json:"unreachable"`

	reached map[Combination]int
}

// Reaches reports whether a combination is among those that were found.
func (e *Exploration) Reaches(c Combination) bool { _, ok := e.reached[c]; return ok }

// Explore walks the joint machine breadth first from the combination of a new workspace, and from that of an issue of
// the board which was just registered: in each combination it applies
// every row of the composition table whose moves the five tables allow. Gates that look at more than states are left
// out, so more combinations come out than can really happen.
func Explore() Exploration { return explore(composition.Rows()) }

func explore(rows []kernel.Composition) Exploration {
	start := Combination{Session: session.Table.Initial(), Stage: workflow.Stages.Initial()}
	start.Beside.Settle()
	issue := start
	issue.Issue = board.Issue.Initial()
	issue.Regions.Settle(false)
	at := map[Combination]int{start: 0, issue: 1}
	order := []Combination{start, issue}
	back := [][]int{nil, nil} // the combinations that lead to each one
	used := make([]bool, len(rows))
	out := Exploration{Rows: len(rows), DeadEnds: []Combination{}, Trapped: []Combination{}, Unreachable: []string{}}
	for i := 0; i < len(order); i++ {
		from, left := order[i], false
		for n, row := range rows {
			to, ok := from.after(row)
			if !ok {
				continue
			}
			used[n] = true
			out.Transitions++
			if to == from {
				continue
			}
			left = true
			j, known := at[to]
			if !known {
				j = len(order)
				at[to], order, back = j, append(order, to), append(back, nil)
			}
			back[j] = append(back[j], i)
		}
		if !left && from.Session != session.Idle {
			out.DeadEnds = append(out.DeadEnds, from)
		}
	}
	out.Combinations, out.reached = len(order), at
	for i, home := range homeward(order, back) {
		if !home {
			out.Trapped = append(out.Trapped, order[i])
		}
	}
	for n, ok := range used {
		if !ok {
			out.Unreachable = append(out.Unreachable, rows[n].ID)
		}
	}
	return out
}

// homeward marks the combinations from which IDLE can be reached, by going back from IDLE.
func homeward(order []Combination, back [][]int) []bool {
	home := make([]bool, len(order))
	var next []int
	for i, c := range order {
		if c.Session == session.Idle {
			home[i] = true
			next = append(next, i)
		}
	}
	for len(next) > 0 {
		i := next[0]
		next = next[1:]
		for _, j := range back[i] {
			if !home[j] {
				home[j] = true
				next = append(next, j)
			}
		}
	}
	return home
}

// after applies a row of the composition table as a transaction does: under its conditions, in order, all or nothing,
// leaving out the moves that may be left out. A row that would move nothing at all does not apply.
func (c Combination) after(row kernel.Composition) (Combination, bool) {
	if composed.States(c).Unmet(row.If) != "" {
		return c, false
	}
	c = Combination(row.Made(composed.States(c)))
	moved := false
	for _, r := range row.Moves {
		switch {
		case c.move(r):
			moved = true
		case !r.May:
			return c, false
		}
	}
	return c, moved
}

// move makes one move and reports whether its table has a row for it.
func (c *Combination) move(r kernel.Move) bool {
	switch r.Region {
	case "":
	case session.Dispatch.Name():
		return step(session.Dispatch, &c.Dispatch, r)
	case session.Restoring.Name():
		return step(session.Restoring, &c.Rollback, r)
	case board.Hold.Name():
		return step(board.Hold, &c.Hold, r)
	case board.Work.Name():
		return step(board.Work, &c.Work, r)
	case board.Claim.Name():
		return step(board.Claim, &c.Claim, r)
	default:
		return step(board.Dependents, &c.Dependents, r)
	}
	switch r.Kind {
	case kernel.KindSession:
		return step(session.Table, &c.Session, r)
	case kernel.KindTurn:
		return step(turn.Table, &c.Turn, r)
	case kernel.KindTask:
		return step(task.Table, &c.Task, r)
	case kernel.KindFlow:
		return step(workflow.Stages, &c.Stage, r)
	case kernel.KindIssue:
		return step(board.Issue, &c.Issue, r)
	case kernel.KindItem:
		return step(board.Item, &c.Item, r)
	case kernel.KindRun:
		return step(board.Run, &c.Run, r)
	case kernel.KindPhase:
		return step(board.Phase, &c.Phase, r)
	}
	return false
}

func step[S, E ~string](m *machine.Machine[S, E], at *S, r kernel.Move) bool {
	row, ok := m.Next(*at, E(r.Event), r.When)
	if ok {
		*at = row.To
	}
	return ok
}

// Rows returns the ids of the rows that apply in the combination, in the order of the table.
func (c Combination) Rows() []string {
	var out []string
	for _, row := range composition.Rows() {
		if _, ok := c.after(row); ok {
			out = append(out, row.ID)
		}
	}
	return slices.Clip(out)
}
