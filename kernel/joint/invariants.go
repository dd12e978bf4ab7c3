package joint

import (
	"context"
	"slices"
	"strconv"

	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// Violation is a breach of one of the invariants by which everything is judged (ARCHITECTURE.md, "Invariants"): its
// name, the row that it was found at, and a message of the catalogue.
type Violation struct {
	Invariant string      `json:"invariant"`
	Kind      kernel.Kind `json:"kind,omitempty"`
	ID        string      `json:"id,omitempty"`
	Key       string      `json:"key"`
	Args      []string    `json:"args,omitempty"`
}

// The invariants that the store alone can tell of.
const (
	InvariantLegal   = "legal"
	InvariantDurable = "durable"
	InvariantProof   = "proof"
	InvariantFenced  = "fenced"
	InvariantBounded = "bounded"
	InvariantDerived = "derived"
)

// CheckInvariants reads the whole store and returns what contradicts the invariants legal, durable, proof, fenced,
// bounded and derived, or nothing. It may run beside writers: each row is compared with the records up to its own. What
// keeps the store from being read is itself a violation of durable.
func CheckInvariants(ctx context.Context, k *kernel.Kernel) []Violation {
	c := &checker{k: k, rows: map[audit.Subject]*tail{}, points: map[string]bool{}}
	for _, kind := range kinds {
		if err := c.scan(ctx, kind); err != nil {
			return append(c.found, broken(err))
		}
	}
	for _, e := range c.flying {
		if !c.points[e.ID] {
			c.add(InvariantFenced, &e.Row, "kernel.invariant_orphan", string(e.What()))
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

func (c *checker) add(name string, h *kernel.Row, key string, args ...string) {
	c.found = append(c.found, Violation{Invariant: name, Kind: h.Kind, ID: h.ID, Key: key, Args: args})
}

// broken makes a violation of an error.
func broken(err error) Violation {
	kept := effect.Failed(err)
	return Violation{Invariant: InvariantDurable, Key: kept.Key, Args: kept.Args}
}

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
			c.add(InvariantBounded, &s.Row, "kernel.invariant_fixes", strconv.Itoa(s.AutoFix),
				strconv.Itoa(config.MaxFixes))
		}
	case kernel.KindTurn:
		t := new(kernel.Turn)
		if err := kernel.Decode(row, t); err != nil {
			return err
		}
		if t.Calls > config.MaxCalls {
			c.add(InvariantBounded, &t.Row, "kernel.invariant_calls", strconv.Itoa(t.Calls),
				strconv.Itoa(config.MaxCalls))
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
			c.add(InvariantFenced, &e.Row, "kernel.invariant_token", strconv.Itoa(int(e.Effect.Token)),
				strconv.Itoa(int(e.Epoch)))
		}
	}
	return nil
}

func (c *checker) task(t *kernel.Task) {
	config := c.k.Config()
	if t.Fixes > config.MaxFixes {
		c.add(InvariantBounded, &t.Row, "kernel.invariant_fixes", strconv.Itoa(t.Fixes), strconv.Itoa(config.MaxFixes))
	}
	if t.Retry.Count > config.Retry.Max {
		c.add(InvariantBounded, &t.Row, "kernel.invariant_retries", strconv.Itoa(t.Retry.Count),
			strconv.Itoa(config.Retry.Max))
	}
	state := task.State(t.State)
	held := state == task.Running || state == task.Verifying || state == task.Verified
	if t.Lease.Owner != "" && (!held || t.Epoch < 1) {
		c.add(InvariantFenced, &t.Row, "kernel.invariant_lease", t.Label, t.State)
	}
	if state == task.Done {
		if why := unproven(t); why != "" {
			c.add(InvariantProof, &t.Row, "kernel.invariant_proof", t.Label, why)
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
			c.add(InvariantDurable, &t.row, "kernel.invariant_unrecorded", string(t.row.Kind),
				strconv.FormatInt(t.row.AuditSeq, 10))
		}
		if t.moved && t.state != t.row.State {
			c.add(InvariantLegal, &t.row, "kernel.invariant_state", string(t.row.Kind), t.row.State, t.state)
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
		c.add(InvariantLegal, &t.row, "kernel.invariant_move", rec.Subject.Kind, p.Move.From, p.Move.Event, p.Move.To,
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
		want := Derived(s)
		if string(want) == s.Session.State {
			return nil
		}
		if s.Session.Version == before {
			c.add(InvariantDerived, &s.Session.Row, "kernel.invariant_derived", s.Session.State, string(want))
			return nil
		}
		before = s.Session.Version
	}
	return nil
}
