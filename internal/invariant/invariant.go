// Package invariant tells tests whether a store contradicts the invariants of docs/spec/composition.md.
package invariant

import (
	"context"
	"fmt"
	"slices"

	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/joint"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// Violation is a breach of one of the invariants by which everything is judged (ARCHITECTURE.md, "Invariants"): its
// name, the row that it was found at, and a text.
type Violation struct {
	Invariant string
	Kind      kernel.Kind
	ID, Text  string
}

// The invariants that the store alone can tell of.
const (
	Legal   = "legal"
	Durable = "durable"
	Proof   = "proof"
	Fenced  = "fenced"
	Bounded = "bounded"
	Derived = "derived"
)

// Check reads the whole store and returns what contradicts the invariants legal, durable, proof, fenced,
// bounded and derived, or nothing. It may run beside writers: each row is compared with the records up to its own. What
// keeps the store from being read is itself a violation of durable.
func Check(ctx context.Context, k *kernel.Kernel) []Violation {
	c := &checker{k: k, rows: map[audit.Subject]*tail{}, points: map[string]bool{}}
	for _, kind := range kinds {
		if err := c.scan(ctx, kind); err != nil {
			return append(c.found, broken(err))
		}
	}
	for _, e := range c.flying {
		if !c.points[e.ID] {
			c.add(Fenced, &e.Row, "an effect of kind %s is in flight and nobody waits for it", e.What())
		}
	}
	if err := c.records(ctx); err != nil {
		c.found = append(c.found, broken(err))
	}
	if err := c.derived(ctx); err != nil {
		c.found = append(c.found, broken(err))
	}
	return c.found
}

// kinds are the kinds of row that are checked.
var kinds = []kernel.Kind{
	kernel.KindSession, kernel.KindTurn, kernel.KindFlow, kernel.KindTask, kernel.KindRun, kernel.KindIssue,
	kernel.KindItem, kernel.KindSolution, kernel.KindApproval, kernel.KindCheckpoint, kernel.KindEffect,
	kernel.KindDecision, kernel.KindIncident, kernel.KindTalk, kernel.KindBudget, kernel.KindQuestion,
	kernel.KindBoard,
}

type checker struct {
	k     *kernel.Kernel
	rows  map[audit.Subject]*tail
	found []Violation
	// flying are the effects in flight; points holds the effects that a session or a task waits for.
	flying []*kernel.EffectDoc
	points map[string]bool
	// lanes are the labels of the sessions.
	lanes []string
}

// tail is a row's end of its chain, and what its records say of it.
type tail struct {
	row   kernel.Row
	moved bool
	state string
	seen  bool
}

func (c *checker) add(name string, h *kernel.Row, format string, args ...any) {
	c.found = append(c.found, Violation{Invariant: name, Kind: h.Kind, ID: h.ID, Text: fmt.Sprintf(format, args...)})
}

// broken makes a violation of an error.
func broken(err error) Violation { return Violation{Invariant: Durable, Text: err.Error()} }

func (c *checker) scan(ctx context.Context, kind kernel.Kind) error {
	for row, err := range c.k.Store().Scan(ctx, kernel.Select{Kind: kind}) {
		if err != nil {
			return err
		}
		hot := row
		hot.Doc = nil
		c.rows[audit.Subject{Kind: string(kind), ID: row.ID}] = &tail{row: hot}
		if err := c.document(row); err != nil {
			return err
		}
	}
	return nil
}

// document checks what one row says by itself.
func (c *checker) document(row kernel.Row) error {
	config := c.k.Config()
	switch row.Kind {
	case kernel.KindSession:
		s := new(kernel.Session)
		if err := kernel.Decode(row, s); err != nil {
			return err
		}
		c.points[s.Effect] = true
		c.lanes = append(c.lanes, row.Label)
		if s.AutoFix > config.MaxFixes {
			c.add(Bounded, &s.Row, "%v failed repairs are more than the %v that are allowed", s.AutoFix,
				config.MaxFixes)
		}
	case kernel.KindTurn:
		t := new(kernel.Turn)
		if err := kernel.Decode(row, t); err != nil {
			return err
		}
		if t.Calls > config.MaxCalls {
			c.add(Bounded, &t.Row, "%v tool calls in one turn are more than the %v that are allowed", t.Calls,
				config.MaxCalls)
		}
	case kernel.KindTask:
		t := new(kernel.Task)
		if err := kernel.Decode(row, t); err != nil {
			return err
		}
		c.points[t.Effect] = true
		c.task(t)
	case kernel.KindEffect:
		e := new(kernel.EffectDoc)
		if err := kernel.Decode(row, e); err != nil {
			return err
		}
		if e.Within == "" && (e.State == kernel.EffectPending || e.State == kernel.EffectRunning) {
			c.flying = append(c.flying, e)
		}
		if e.State == kernel.EffectRunning && e.Effect.Token != e.Epoch {
			c.add(Fenced, &e.Row, "the effect at work has token %v, its row has %v", e.Effect.Token,
				e.Epoch)
		}
	}
	return nil
}

func (c *checker) task(t *kernel.Task) {
	config := c.k.Config()
	if t.Fixes > config.MaxFixes {
		c.add(Bounded, &t.Row, "%v failed repairs are more than the %v that are allowed", t.Fixes, config.MaxFixes)
	}
	if t.Retry.Count > config.Retry.Max {
		c.add(Bounded, &t.Row, "%v retries are more than the %v that are allowed", t.Retry.Count,
			config.Retry.Max)
	}
	state := task.State(t.State)
	held := state == task.Running || state == task.Verifying || state == task.Verified
	if t.Lease.Owner != "" && (!held || t.Epoch < 1) {
		c.add(Fenced, &t.Row, "task %v holds a lease although it is %v", t.Label, t.State)
	}
	if state == task.Done {
		if why := unproven(t); why != "" {
			c.add(Proof, &t.Row, "task %v is done without its proof: %v", t.Label, why)
		}
	}
}

// unproven says what a done task lacks for its proof, as the name of the missing part, or "".
func unproven(t *kernel.Task) string {
	g := t.Gate
	switch {
	case g == nil || !g.Passed || len(g.Outcomes) == 0:
		return "gates"
	case g.Tree == "" || g.Tree != g.TreeAfter:
		return "tree"
	case t.Session == "":
		return ""
	case t.Land == nil:
		return "landing"
	case t.Land.Tree != "" && t.Land.Tree != g.Tree:
		return "landed tree"
	case t.Plan == nil || !t.Plan.Verification.Demanding():
		return ""
	case t.Verified == nil || !t.Verified.Passed || t.Verified.TreeAfter != g.Tree:
		return "verification"
	}
	for _, name := range t.Gates {
		if !slices.ContainsFunc(g.Outcomes, func(o effect.CheckOutcome) bool {
			return o.Name == name &&
				o.Status == effect.CheckPassed
		}) {
			return name
		}
	}
	return ""
}

// records verifies the audit log and compares each row with its records.
func (c *checker) records(ctx context.Context) error {
	err := c.k.Store().Log(ctx, func(l audit.Log) error {
		front, err := l.Beginning()
		if err != nil {
			return err
		}
		for subject, tail := range front.Tails {
			if t := c.rows[subject]; t != nil {
				t.seen, t.moved, t.state = tail.Hash == t.row.AuditHash, tail.Moved, tail.State
			}
		}
		records := l.Records
		l.Records = func(yield func(audit.Stored, error) bool) {
			for rec, err := range records {
				if err == nil {
					err = c.record(rec)
				}
				if !yield(rec, err) {
					return
				}
			}
		}
		_, err = l.Verify()
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range c.rows {
		if t.row.AuditSeq > 0 && !t.seen {
			c.add(Durable, &t.row, "a %v stands at audit record %v, which is not in the log", t.row.Kind,
				t.row.AuditSeq)
		}
		if t.moved && t.state != t.row.State {
			c.add(Legal, &t.row, "a %v is stored as %v, but its records end in %v", t.row.Kind, t.row.State, t.state)
		}
	}
	return nil
}

// record checks one record against the machine that it speaks of and against its row. Records behind the row's own were
// committed after the row was read and are left for the next time.
func (c *checker) record(rec audit.Stored) error {
	t := c.rows[rec.Subject]
	if t == nil || rec.Seq > t.row.AuditSeq {
		return nil
	}
	if rec.Seq == t.row.AuditSeq {
		t.seen = rec.Hash == t.row.AuditHash
	}
	p, err := audit.Parse(rec.Bytes)
	if err != nil || p.Move == nil {
		return err
	}
	if !legal(kernel.Kind(rec.Subject.Kind), p.Move, t.moved) {
		c.add(Legal, &t.row, "a %v went from %v on %v to %v by row %v, which its table does not say", rec.Subject.Kind, p.Move.From, p.Move.Event, p.Move.To,
			p.Move.Rule)
	}
	t.moved, t.state = true, p.Move.To
	return nil
}

// legal reports whether a recorded move is a row of its machine, and the first one starts where the machine does.
func legal(kind kernel.Kind, m *audit.Transition, moved bool) bool {
	switch kind {
	case kernel.KindSession:
		return isRow(session.Table, m, moved)
	case kernel.KindTurn:
		return isRow(turn.Table, m, moved)
	case kernel.KindTask:
		return isRow(task.Table, m, moved)
	case kernel.KindFlow:
		return isRow(workflow.Stages, m, moved)
	case kernel.KindRun, kernel.KindBoard:
		return isRow(board.Run, m, moved)
	case kernel.KindIssue:
		return isRow(board.Issue, m, moved)
	case kernel.KindItem:
		return isRow(board.Item, m, moved)
	}
	return false
}

func isRow[S, E ~string](table *machine.Machine[S, E], m *audit.Transition, moved bool) bool {
	r, ok := table.Rule(m.Rule)
	return ok && string(r.From) == m.From && string(r.To) == m.To && string(r.On) == m.Event &&
		(moved || r.From == table.Initial())
}

// derived compares each session with what lies below it. A second look tells a contradiction from a commit between
// reads.
func (c *checker) derived(ctx context.Context) error {
	for _, lane := range c.lanes {
		if err := c.lane(ctx, c.k.Session(lane)); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) lane(ctx context.Context, k *kernel.Kernel) error {
	var before int64
	for range 4 {
		s, err := k.Snapshot(ctx)
		if err != nil || s.Session == nil {
			return err
		}
		want := Derive(s)
		if string(want) == s.Session.State {
			return nil
		}
		if s.Session.Version == before {
			c.add(Derived, &s.Session.Row, "the session is stored as %v, but its tasks, turns and approvals say %v", s.Session.State, want)
			return nil
		}
		before = s.Session.Version
	}
	return nil
}

// Of returns the states of the snapshot's run together, in the form in which joint.Explore speaks of them.
func Of(s *kernel.Snapshot) joint.Combination {
	c := joint.Combination{Session: session.Table.Initial(), Stage: s.Stage()}
	if c.Beside.Settle(); s.Session == nil {
		return c
	}
	c.Beside = s.Session.Beside
	c.Session = session.State(s.Session.State)
	if s.Session.Run == "" || s.Run == nil {
		return c
	}
	c.Run, c.Phase = board.RunStatus(s.Run.State), board.PhaseStatus(s.Run.Phase)
	if s.Turn != nil {
		c.Turn = turn.State(s.Turn.State)
	}
	if s.Task != nil {
		c.Task = task.State(s.Task.State)
	}
	if s.Issue != nil {
		c.Issue = board.IssueStatus(s.Issue.State)
		if s.Issue.Number > 0 {
			c.Regions = s.Issue.Regions
		}
	}
	if s.Item != nil {
		c.Item = board.ItemStatus(s.Item.State)
	}
	return c
}

// Derive returns the state that the session must be in, derived from what lies below it
// (docs/spec/composition.md#derivation, the first that fits). It looks at no state of the session's own, so that the
// two can be compared.
func Derive(s *kernel.Snapshot) session.State {
	at, t := s.Session, s.Task
	if at == nil || at.Run == "" || s.Run == nil {
		return session.Idle
	}
	if a := s.Approval; a != nil && a.ID == at.Approval && a.State == kernel.ApprovalPending && a.About == "plan" {
		return session.Confirming
	}
	if t == nil {
		return session.Planning
	}
	switch state := task.State(t.State); {
	case state.Final() || state == task.Failed && s.Run.Outcome == "skipped":
		// The task is closed: what it leaves behind is tidied up, and then archived, which can fail.
		switch {
		case t.Effect != "":
			return session.Executing
		case at.Effect != "":
			return session.Archiving
		}
		return session.Blocked
	case state.Terminal():
		return session.Blocked
	case state == task.Verifying || state == task.Verified:
		return session.Executing
	}
	if repairing(s) {
		return session.AutoFix
	}
	return session.Executing
}

// repairing reports whether a failure of the task at work is being mended: its turn recovers or carries out a repair,
// or a gate has sent it back to the queue (T14) and its checks have not passed since.
func repairing(s *kernel.Snapshot) bool {
	if u := s.Turn; u != nil && u.State != string(turn.Idle) && (u.Fix > 0 || u.State == string(turn.Recovering)) {
		return true
	}
	return s.Task.GateNote != ""
}
