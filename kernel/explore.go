package kernel

import (
	"context"
	"slices"
	"strconv"

	"pawl/audit"
	"pawl/effect"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// Combination is one state of the five machines together. An empty field is a row that is not there, except for Stage,
// where it means that no flow runs.
type Combination struct {
	Session session.State     `json:"session"`
	Turn    turn.State        `json:"turn,omitempty"`
	Task    task.State        `json:"task,omitempty"`
	Stage   workflow.Stage    `json:"flow"`
	Issue   board.IssueStatus `json:"issue,omitempty"`
	Item    board.ItemStatus  `json:"item,omitempty"`
	Run     board.RunStatus   `json:"run,omitempty"`
	Phase   board.PhaseStatus `json:"phase,omitempty"`
}

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

// Explore walks the joint machine breadth first from the combination of a new workspace: in each combination it applies
// every row of the composition table whose moves the five tables allow. Gates that look at more than states are left out,
// so more combinations come out than can really happen.
func Explore() Exploration {
	start := Combination{Session: session.Table.Initial(), Stage: workflow.Stages.Initial()}
	rows := Compositions()
	at := map[Combination]int{start: 0}
	order := []Combination{start}
	back := [][]int{nil} // the combinations that lead to each one
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

// after applies a row of the composition table as raise does: in order, all or nothing, leaving out the moves that may be
// left out. A row that would move nothing at all does not apply.
func (c Combination) after(row Composition) (Combination, bool) {
	if !c.raisable(row.What) {
		return c, false
	}
	switch row.What {
	case TakenUp, Received:
		c = Combination{
			Session: c.Session, Stage: c.Stage, Run: board.Run.Initial(), Phase: board.Phase.Initial(), Issue: board.Issue.Initial(), Turn: turn.Table.Initial(),
		}
	case PlanExists:
		c.Item, c.Task = board.Item.Initial(), task.Table.Initial()
	}
	moved := false
	for _, r := range row.Raises {
		switch {
		case c.move(r):
			moved = true
		case !r.May:
			return c, false
		}
	}
	return c, moved
}

// raisable reports whether Decide may raise a happening here, as far as states alone tell. A run that is over takes no part
// in anything any more; work happens only while the session is at work; and a few rows that share their moves with others
// are raised only where they are meant.
func (c Combination) raisable(what Happening) bool {
	if what == TakenUp || what == Received {
		return true
	}
	if c.Run == "" || c.Run == board.RunCompleted {
		return false
	}
	closed := c.Task.Final() || c.Task == task.Failed
	switch what {
	case PlanExists:
		return c.Task == ""
	case PlanningCancel:
		return c.Session == session.Planning
	case GatesFailed:
		return c.Task == task.Verifying
	case AllDone, ArchiveRetried:
		return closed
	case Skipped, RolledBack:
		return !c.Task.Final()
	case CanceledAtWork, RepairLeft:
		return c.atWork()
	case CallAsks, WorkAsks:
		return c.atWork() && c.Turn == turn.Executing
	case Unclear, Answered, Clear, StillUnclear:
		return c.Session == session.Planning
	}
	return c.atWork() || !slices.ContainsFunc(workingRows(), func(r Composition) bool { return r.What == what })
}

func (c Combination) atWork() bool {
	return c.Session == session.Executing || c.Session == session.AutoFix
}

// move makes one move and reports whether its table has a row for it.
func (c *Combination) move(r Raise) bool {
	switch r.Kind {
	case KindSession:
		return step(session.Table, &c.Session, r)
	case KindTurn:
		return step(turn.Table, &c.Turn, r)
	case KindTask:
		return step(task.Table, &c.Task, r)
	case KindFlow:
		return step(workflow.Stages, &c.Stage, r)
	case KindIssue:
		return step(board.Issue, &c.Issue, r)
	case KindItem:
		return step(board.Item, &c.Item, r)
	case KindRun:
		return step(board.Run, &c.Run, r)
	case KindPhase:
		return step(board.Phase, &c.Phase, r)
	}
	return false
}

func step[S, E ~string](m *machine.Machine[S, E], at *S, r Raise) bool {
	row, ok := m.Next(*at, E(r.Event), r.When)
	if ok {
		*at = row.To
	}
	return ok
}

// Rows returns the ids of the rows that apply in the combination, in the order of the table.
func (c Combination) Rows() []string {
	var out []string
	for _, row := range Compositions() {
		if _, ok := c.after(row); ok {
			out = append(out, row.ID)
		}
	}
	return slices.Clip(out)
}

// Combination returns the states of the snapshot's run together, in the form in which Explore speaks of them.
func (s *Snapshot) Combination() Combination {
	c := Combination{Session: session.Table.Initial(), Stage: s.stageOf()}
	if s.Session == nil {
		return c
	}
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
	}
	if s.Item != nil {
		c.Item = board.ItemStatus(s.Item.State)
	}
	return c
}

// Derived returns the state that the session must be in, derived from what lies below it (spec.md §6.6, last paragraph;
// the first that fits). It looks at no state of the session's own, so that the two can be compared.
func Derived(s *Snapshot) session.State {
	at, t := s.Session, s.Task
	if at == nil || at.Run == "" || s.Run == nil {
		return session.Idle
	}
	if a := s.Approval; a != nil && a.ID == at.Approval && a.State == ApprovalPending && a.About == "plan" {
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
	if s.repairing() {
		return session.AutoFix
	}
	return session.Executing
}

// repairing reports whether a failure of the task at work is being mended: its turn recovers or carries out a repair, or a
// gate has sent it back to the queue (T14) and its checks have not passed since.
func (s *Snapshot) repairing() bool {
	if u := s.Turn; u != nil && u.State != string(turn.Idle) && (u.Fix > 0 || u.State == string(turn.Recovering)) {
		return true
	}
	return s.Task.GateNote != ""
}

// Violation is a breach of one of the invariants by which everything is judged (ARCHITECTURE.md, "Invariants"): its name,
// the row that it was found at, and a message of the catalogue.
type Violation struct {
	Invariant string   `json:"invariant"`
	Kind      Kind     `json:"kind,omitempty"`
	ID        string   `json:"id,omitempty"`
	Key       string   `json:"key"`
	Args      []string `json:"args,omitempty"`
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

// CheckInvariants reads the whole store and returns what contradicts the invariants legal, durable, proof, fenced, bounded
// and derived, or nothing. It may run beside writers: each row is compared with the records up to its own. What keeps the
// store from being read is itself a violation of durable.
func CheckInvariants(ctx context.Context, k *Kernel) []Violation {
	c := &checker{k: k, rows: map[audit.Subject]*tail{}, points: map[string]bool{}}
	for _, kind := range kinds {
		if err := c.scan(ctx, kind); err != nil {
			return append(c.found, broken(err))
		}
	}
	for _, e := range c.flying {
		if !c.points[e.ID] {
			c.add(InvariantFenced, e, "kernel.invariant_orphan", string(e.What()))
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
var kinds = []Kind{
	KindSession, KindTurn, KindFlow, KindTask, KindRun, KindIssue, KindItem, KindSolution, KindApproval, KindCheckpoint, KindEffect,
	KindDecision, KindIncident, KindTalk, KindBudget, KindQuestion,
}

type checker struct {
	k     *Kernel
	rows  map[audit.Subject]*tail
	found []Violation
	// flying are the effects in flight; points holds the effects that a session or a task waits for.
	flying []*EffectDoc
	points map[string]bool
}

// tail is a row's end of its chain, and what its records say of it.
type tail struct {
	row   Row
	moved bool
	state string
	seen  bool
}

func (c *checker) add(name string, e entity, key string, args ...string) {
	h := e.hot()
	c.found = append(c.found, Violation{Invariant: name, Kind: h.Kind, ID: h.ID, Key: key, Args: args})
}

// broken makes a violation of an error.
func broken(err error) Violation {
	kept := info(err)
	return Violation{Invariant: InvariantDurable, Key: kept.Key, Args: kept.Args}
}

func (c *checker) scan(ctx context.Context, kind Kind) error {
	for row, err := range c.k.store.Scan(ctx, Select{Kind: kind}) {
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
func (c *checker) document(row Row) error {
	config := &c.k.config
	switch row.Kind {
	case KindSession:
		s := new(Session)
		if err := Decode(row, s); err != nil {
			return err
		}
		c.points[s.Effect] = true
		if s.AutoFix > config.MaxFixes {
			c.add(InvariantBounded, s, "kernel.invariant_fixes", itoa(s.AutoFix), itoa(config.MaxFixes))
		}
	case KindTurn:
		t := new(Turn)
		if err := Decode(row, t); err != nil {
			return err
		}
		if t.Calls > config.MaxCalls {
			c.add(InvariantBounded, t, "kernel.invariant_calls", itoa(t.Calls), itoa(config.MaxCalls))
		}
	case KindTask:
		t := new(Task)
		if err := Decode(row, t); err != nil {
			return err
		}
		c.points[t.Effect] = true
		c.task(t)
	case KindEffect:
		e := new(EffectDoc)
		if err := Decode(row, e); err != nil {
			return err
		}
		if e.Within == "" && (e.State == EffectPending || e.State == EffectRunning) {
			c.flying = append(c.flying, e)
		}
		if e.State == EffectRunning && e.Effect.Token != e.Epoch {
			c.add(InvariantFenced, e, "kernel.invariant_token", itoa(int(e.Effect.Token)), itoa(int(e.Epoch)))
		}
	}
	return nil
}

func (c *checker) task(t *Task) {
	config := &c.k.config
	if t.Fixes > config.MaxFixes {
		c.add(InvariantBounded, t, "kernel.invariant_fixes", itoa(t.Fixes), itoa(config.MaxFixes))
	}
	if t.Retry.Count > config.Retry.Max {
		c.add(InvariantBounded, t, "kernel.invariant_retries", itoa(t.Retry.Count), itoa(config.Retry.Max))
	}
	state := task.State(t.State)
	held := state == task.Running || state == task.Verifying || state == task.Verified
	if t.Lease.Owner != "" && (!held || t.Epoch < 1) {
		c.add(InvariantFenced, t, "kernel.invariant_lease", t.Label, t.State)
	}
	if state == task.Done {
		if why := unproven(t); why != "" {
			c.add(InvariantProof, t, "kernel.invariant_proof", t.Label, why)
		}
	}
}

// unproven says what a done task lacks for its proof, as the name of the missing part, or "".
func unproven(t *Task) string {
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
		if !slices.ContainsFunc(g.Outcomes, func(o effect.CheckOutcome) bool { return o.Name == name && o.Status == effect.CheckPassed }) {
			return name
		}
	}
	return ""
}

// records verifies the audit log and compares each row with its records.
func (c *checker) records(ctx context.Context) error {
	head, err := c.k.store.Head(ctx)
	if err != nil {
		return err
	}
	_, err = audit.Verify(func(yield func(audit.Stored, error) bool) {
		for rec, err := range c.k.store.Records(ctx, "", 0) {
			if err == nil && rec.Index >= head.Size { // committed since
				return
			}
			if err == nil {
				err = c.record(rec)
			}
			if !yield(rec, err) {
				return
			}
		}
	}, head)
	if err != nil {
		return err
	}
	for _, t := range c.rows {
		if t.row.AuditSeq > 0 && !t.seen {
			c.add(InvariantDurable, &t.row, "kernel.invariant_unrecorded", string(t.row.Kind), strconv.FormatInt(t.row.AuditSeq, 10))
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
	if !legal(Kind(rec.Subject.Kind), p.Move, t.moved) {
		c.add(InvariantLegal, &t.row, "kernel.invariant_move", rec.Subject.Kind, p.Move.From, p.Move.Event, p.Move.To, p.Move.Rule)
	}
	t.moved, t.state = true, p.Move.To
	return nil
}

// legal reports whether a recorded move is a row of its machine, and the first one starts where the machine does.
func legal(kind Kind, m *audit.Transition, moved bool) bool {
	switch kind {
	case KindSession:
		return isRow(session.Table, m, moved)
	case KindTurn:
		return isRow(turn.Table, m, moved)
	case KindTask:
		return isRow(task.Table, m, moved)
	case KindFlow:
		return isRow(workflow.Stages, m, moved)
	case KindRun:
		return isRow(board.Run, m, moved)
	case KindIssue:
		return isRow(board.Issue, m, moved)
	case KindItem:
		return isRow(board.Item, m, moved)
	}
	return false
}

func isRow[S, E ~string](table *machine.Machine[S, E], m *audit.Transition, moved bool) bool {
	r, ok := table.Rule(m.Rule)
	return ok && string(r.From) == m.From && string(r.To) == m.To && string(r.On) == m.Event && (moved || r.From == table.Initial())
}

// derived compares the session with what lies below it. A second look tells a contradiction from a commit between reads.
func (c *checker) derived(ctx context.Context) error {
	var before int64
	for range 4 {
		s, err := c.k.Look(ctx)
		if err != nil || s.Session == nil {
			return err
		}
		want := Derived(s)
		if string(want) == s.Session.State {
			return nil
		}
		if s.Session.Version == before {
			c.add(InvariantDerived, s.Session, "kernel.invariant_derived", s.Session.State, string(want))
			return nil
		}
		before = s.Session.Version
	}
	return nil
}
