package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/board"
	"pawl/machine/task"
)

// Look reads the session with the run, the task, the turn and the effect that it is at, for runners and faces. Before the
// workspace is initialised the snapshot has no session.
func (k *Kernel) Look(ctx context.Context) (*Snapshot, error) {
	s, _, err := k.loader().load(ctx, (*Resume)(nil), false)
	return s, err
}

// LookAt reads one task with its effect, wherever it belongs. The id may be a ULID or a label such as T-001.
func (k *Kernel) LookAt(ctx context.Context, id string) (*Snapshot, error) {
	s := &Snapshot{Config: &k.config}
	sel := Select{Kind: KindTask, ID: id}
	if len(id) != idLength {
		sel = Select{Kind: KindTask, Label: id}
	}
	if err := load(ctx, k.store, &s.Task, sel); err != nil {
		return nil, err
	}
	if s.Task == nil {
		return nil, notFound(id)
	}
	if err := load(ctx, k.store, &s.Effect, optional(KindEffect, s.Task.Effect)); err != nil {
		return nil, err
	}
	return s, load(ctx, k.store, &s.Turn, optional(KindTurn, s.Task.Turn))
}

// LookEffect reads one effect.
func (k *Kernel) LookEffect(ctx context.Context, id string) (*EffectDoc, error) {
	var e *EffectDoc
	err := load(ctx, k.store, &e, Select{Kind: KindEffect, ID: id})
	return e, err
}

// LookWithin reads the calls that are at work in the middle of an agent's effect.
func (k *Kernel) LookWithin(ctx context.Context, id string) ([]*EffectDoc, error) {
	return within(ctx, k.store, id)
}

// loader reads snapshots.
type loader struct {
	store  Store
	config *Config
	memory *memory
	lane   string
}

func (k *Kernel) loader() loader {
	return loader{store: k.store, config: &k.config, memory: &k.memory, lane: k.lane}
}

// within reads the calls that are at work in the middle of an agent's effect.
func within(ctx context.Context, st Store, id string) ([]*EffectDoc, error) {
	rows, err := st.Load(ctx, Select{Kind: KindEffect, Parent: id, States: []string{EffectRunning}})
	if err != nil {
		return nil, err
	}
	var out []*EffectDoc
	for _, r := range rows[0] {
		e := new(EffectDoc)
		if err := Decode(r, e); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// decide decides a command on what is remembered. Where that says no, the command is decided anew on what the store holds.
func (k loader) decide(ctx context.Context, env *Envelope, now time.Time) (s *Snapshot, d Decision, err error) {
	for _, fresh := range []bool{false, true} {
		var recalled bool
		s, recalled, err = k.load(ctx, env.Command, fresh)
		if err == nil {
			err = loadOwn(ctx, k.store, s, env.Command, now)
		}
		if err == nil {
			d, err = Decide(s, env, now)
		}
		for most := 64; err != nil && wanting(err) != nil; most *= 2 {
			if err = k.loadMore(ctx, s, wanting(err), len(s.Near)+most); err == nil {
				d, err = Decide(s, env, now)
			}
		}
		if err == nil && d.Changed() || !recalled {
			break
		}
	}
	return s, d, err
}

// load reads what a command's decision needs. Rows that are remembered are not read again unless fresh is set; recalled
// says whether there were any.
func (k loader) load(ctx context.Context, c Command, fresh bool) (s *Snapshot, recalled bool, err error) {
	if c, ok := c.(*Transition); ok {
		// Nothing but the task counts where it is none of a run.
		s = &Snapshot{Config: k.config}
		if err := k.loadTask(ctx, s, c.Task); err != nil {
			return nil, false, err
		}
		if s.Task.Session == "" {
			return s, false, k.loadTrail(ctx, s)
		}
	}
	if ofBoard(c) {
		// Little of it is remembered, and a worker's question whether there is something to claim is mostly answered with no: it
		// is read once, not first remembered and then read.
		s, err = k.read(ctx, c)
		return s, false, err
	}
	head, err := k.store.Head(ctx)
	if err != nil {
		return nil, false, err
	}
	r := &reader{Store: k.store, memory: k.memory, fresh: fresh, writes: k.memory.open(head.Size)}
	k.store = r
	s, err = k.read(ctx, c)
	return s, r.recalled, err
}

// read reads in steps along the pointers between rows; a row that changes in between is caught by its version when the
// decision is committed.
func (k loader) read(ctx context.Context, c Command) (*Snapshot, error) {
	s := &Snapshot{Config: k.config}
	if ofBoard(c) {
		if err := k.loadBoard(ctx, s); err != nil {
			return nil, err
		}
		if c, ok := c.(readingCommand); ok {
			if err := c.read(ctx, k, s); err != nil {
				return nil, err
			}
		}
		return s, load(ctx, k.store, &s.Session, Select{Kind: KindSession, Label: SessionLabel})
	}
	if c, ok := c.(readingCommand); ok {
		if err := c.read(ctx, k, s); err != nil {
			return nil, err
		}
	}
	taskID, effectID := about(c)
	if taskID != "" {
		if err := k.loadTask(ctx, s, taskID); err != nil {
			return nil, err
		}
		if _, ok := c.(*RequestGates); ok {
			effectID = s.Task.Effect
		}
	}
	if effectID != "" {
		if err := load(ctx, k.store, &s.Effect, Select{Kind: KindEffect, ID: effectID}); err != nil {
			return nil, err
		}
		if s.Effect == nil {
			return nil, pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", effectID)
		}
		if s.Effect.Effect.Task != "" && s.Task == nil {
			if err := k.loadTask(ctx, s, s.Effect.Effect.Task); err != nil {
				return nil, err
			}
		}
	}
	if err := load(ctx, k.store, &s.Session, k.session(s)); err != nil || s.Session == nil {
		return s, err
	}
	if s.Task != nil && s.Task.Session == "" {
		return s, k.loadTrail(ctx, s)
	}
	if err := k.loadRun(ctx, s, c); err != nil {
		return s, err
	}
	return s, k.loadBudgets(ctx, s, c)
}

// session selects the session of what a command is about: that of the effect or of the task, and otherwise the lane's own.
func (k loader) session(s *Snapshot) Select {
	switch {
	case s.Effect != nil && s.Effect.Effect.Session != "":
		return Select{Kind: KindSession, ID: s.Effect.Effect.Session}
	case s.Task != nil && s.Task.Session != "":
		return Select{Kind: KindSession, ID: s.Task.Session}
	}
	return Select{Kind: KindSession, Label: k.lane}
}

// Commands say what they are about, and what their decisions need besides.
type (
	// taskCommand is about a task.
	taskCommand interface{ aboutTask() string }
	// effectCommand is about an effect, and with it about the task that it belongs to.
	effectCommand interface{ aboutEffect() string }
	// pastCommand is about a run that is over where none is in progress.
	pastCommand interface{ pastRun(s *Session) string }
	// readingCommand reads more than the rows around the session and what the command is about.
	readingCommand interface {
		read(ctx context.Context, k loader, s *Snapshot) error
	}
)

func (c *Transition) aboutTask() string     { return c.Task }
func (c *RequestGates) aboutTask() string   { return c.Task }
func (c *UpdateProgress) aboutTask() string { return c.Task }
func (c *CancelTask) aboutTask() string     { return c.Task }
func (c *RestartTask) aboutTask() string    { return c.Task }
func (c *Claim) aboutTask() string          { return c.Task }
func (c *Heartbeat) aboutTask() string      { return c.Task }

func (c *Begin) aboutEffect() string   { return c.Effect }
func (c *Report) aboutEffect() string  { return c.Effect }
func (c *Recover) aboutEffect() string { return c.Effect }
func (c *Make) aboutEffect() string    { return c.Effect }
func (c *Bind) aboutEffect() string    { return c.Effect }
func (c *Reserve) aboutEffect() string { return c.Effect }
func (c *Settle) aboutEffect() string  { return c.Effect }

func (c *Undo) pastRun(s *Session) string   { return cmp.Or(c.Run, s.LastRun) }
func (*Rollback) pastRun(s *Session) string { return s.LastRun }
func (c *Redo) pastRun(s *Session) string   { return cmp.Or(c.Run, s.Rolled, s.LastRun) }

// about names the task or the effect that a command is about.
func about(c Command) (taskID, effectID string) {
	if c, ok := c.(taskCommand); ok {
		taskID = c.aboutTask()
	}
	if c, ok := c.(effectCommand); ok {
		effectID = c.aboutEffect()
	}
	return taskID, effectID
}

func (k loader) loadTask(ctx context.Context, s *Snapshot, id string) error {
	if err := load(ctx, k.store, &s.Task, Select{Kind: KindTask, ID: id}); err != nil {
		return err
	}
	if s.Task == nil {
		return notFound(id)
	}
	return nil
}

func notFound(id string) error { return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", id) }

// loadRun reads the run that the session is at, or the last one for an undo, and all that belongs to it.
func (k loader) loadRun(ctx context.Context, s *Snapshot, c Command) error {
	id := s.Session.Run
	if c, ok := c.(pastCommand); ok && id == "" {
		id = c.pastRun(s.Session)
	}
	if id == "" && (s.Effect != nil || s.Session.Effect != "") {
		id = s.Session.LastRun
	}
	flow := Select{Kind: KindFlow, Label: s.Session.Label}
	if id == "" {
		if s.Effect != nil {
			return load(ctx, k.store, &s.Flow, flow)
		}
		return load2(ctx, k.store, &s.Flow, flow, &s.Effect, optional(KindEffect, s.Session.Effect))
	}
	if err := load2(ctx, k.store, &s.Run, Select{Kind: KindRun, ID: id}, &s.Flow, flow); err != nil {
		return err
	}
	r := s.Run
	switch {
	case r == nil:
		return pawl.Fail(pawl.CodeStoreDamaged, "kernel.run_missing", id)
	case r.Parent != s.Session.ID:
		return pawl.Fail(pawl.CodeNotFound, "kernel.run_elsewhere", r.Label)
	}
	if err := load2(ctx, k.store, &s.Issue, Select{Kind: KindIssue, ID: r.Issue}, &s.Item, optional(KindItem, r.Item)); err != nil {
		return err
	}
	if err := load(ctx, k.store, &s.Solution, optional(KindSolution, r.Solution)); err != nil {
		return err
	}
	if s.Task == nil && r.Task != "" {
		if err := k.loadTask(ctx, s, r.Task); err != nil {
			return err
		}
	}
	return k.loadWork(ctx, s)
}

// loadWork reads what hangs on the task and the session: the turn, the open approval, the effect in flight, names taken.
func (k loader) loadWork(ctx context.Context, s *Snapshot) error {
	turnID, approvalID, effectID := s.Run.Turn, s.Session.Approval, s.Session.Effect
	if t := s.Task; t != nil {
		turnID = t.Turn
		if approvalID == "" {
			approvalID = t.Approval
		}
		if t.Effect != "" {
			effectID = t.Effect
		}
	}
	if effectID == "" && s.Task != nil {
		effectID = s.Task.Half
	}
	if effectID == "" && s.Session.Blocked != nil {
		effectID = s.Session.Blocked.Effect
	}
	if err := load2(ctx, k.store, &s.Turn, optional(KindTurn, turnID), &s.Approval, optional(KindApproval, approvalID)); err != nil {
		return err
	}
	if s.Effect == nil {
		if err := load(ctx, k.store, &s.Effect, optional(KindEffect, effectID)); err != nil {
			return err
		}
	}
	if err := k.loadTalk(ctx, s); err != nil {
		return err
	}
	if s.Turn != nil && len(s.Turn.Asked) > 0 {
		if err := k.loadQuestions(ctx, s); err != nil {
			return err
		}
	}
	if err := k.loadNames(ctx, s); err != nil {
		return err
	}
	return k.loadTrail(ctx, s)
}

// loadTalk reads the conversation of the task's agent, and the calls that are at work inside the effect.
func (k loader) loadTalk(ctx context.Context, s *Snapshot) error {
	if s.Task == nil || s.Task.Talk == "" {
		return nil
	}
	if err := load(ctx, k.store, &s.Talk, optional(KindTalk, s.Task.Talk)); err != nil {
		return err
	}
	if s.Effect == nil || s.Effect.What() != effect.KindWork {
		return nil
	}
	if s.Effect.State == EffectPending {
		return k.loadIncidents(ctx, s)
	}
	if s.Effect.State != EffectRunning {
		return nil
	}
	var err error
	s.Within, err = within(ctx, k.store, s.Effect.ID)
	return err
}

// maxIncidents is how many of the newest incidents are looked at.
const maxIncidents = 50

// loadIncidents reads what was learnt from earlier failures.
func (k loader) loadIncidents(ctx context.Context, s *Snapshot) error {
	rows, err := k.store.Load(ctx, Select{Kind: KindIncident, Newest: true, Limit: maxIncidents})
	if err != nil {
		return err
	}
	for _, r := range rows[0] {
		i := new(Incident)
		if err := Decode(r, i); err != nil {
			return err
		}
		s.Incidents = append(s.Incidents, i)
	}
	return nil
}

// loadNames reads the name of the newest checkpoint, behind which a new one is numbered.
func (k loader) loadNames(ctx context.Context, s *Snapshot) error {
	r, ok := k.store.(*reader)
	if ok && r.names(&s.Taken) {
		return nil
	}
	rows, err := k.store.Load(ctx, Select{Kind: KindCheckpoint, Newest: true, Limit: 1, HotOnly: true})
	if err != nil {
		return err
	}
	for _, r := range rows[0] {
		s.Taken = append(s.Taken, r.Label)
	}
	if ok {
		r.keepNames(s.Taken)
	}
	return nil
}

// loadTrail reads the states that the task's records tell of, when the task may be closed by what is decided.
func (k loader) loadTrail(ctx context.Context, s *Snapshot) error {
	if s.Task == nil {
		return nil
	}
	// A run closes its task with the commit that verifies it, as the gates do that a runner asked for. Any other task is closed
	// by a commit after that.
	switch task.State(s.Task.State) {
	case task.Verified:
	case task.Verifying:
		if s.Task.Session == "" && (s.Effect == nil || s.Effect.lease() == 0) {
			return nil
		}
	default:
		return nil
	}
	for rec, err := range k.store.Records(ctx, subject(s.Task).String(), 0) {
		if err != nil {
			return err
		}
		s.TrailCount++
		parsed, err := audit.Parse(rec.Bytes)
		if err != nil {
			return err
		}
		if m := parsed.Move; m != nil {
			s.Trail = append(s.Trail, m.From, m.To)
		}
	}
	return nil
}

// optional selects a row by an id that may be empty; an empty one selects nothing.
func optional(kind Kind, id string) Select { return Select{Kind: kind, ID: id, Limit: 1} }

// document is a pointer to a document of type T.
type document[T any] interface {
	*T
	Document
}

// load reads the row of an id or a label into a document, or leaves it nil when there is none.
func load[T any, P document[T]](ctx context.Context, st Store, into *P, sel Select) error {
	if sel.ID == "" && sel.Label == "" || recall(st, into, sel) {
		return nil
	}
	rows, err := st.Load(ctx, sel)
	if err != nil {
		return err
	}
	return decode(st, rows[0], into)
}

// load2 reads two rows of different kinds in one snapshot.
func load2[A, B any, PA document[A], PB document[B]](ctx context.Context, st Store, a *PA, selA Select, b *PB, selB Select) error {
	if selA.ID == "" && selA.Label == "" || recall(st, a, selA) {
		return load(ctx, st, b, selB)
	}
	if selB.ID == "" && selB.Label == "" || recall(st, b, selB) {
		return load(ctx, st, a, selA)
	}
	rows, err := st.Load(ctx, selA, selB)
	if err != nil {
		return err
	}
	if err := decode(st, rows[0], a); err != nil {
		return err
	}
	return decode(st, rows[1], b)
}

func decode[T any, P document[T]](st Store, rows []Row, into *P) error {
	if len(rows) == 0 {
		return nil
	}
	doc := P(new(T))
	if err := Decode(rows[0], doc); err != nil {
		return err
	}
	*into = doc
	if r, ok := st.(*reader); ok {
		r.keep(doc)
	}
	return nil
}

// Decode fills a document from its row.
func Decode(r Row, doc Document) error {
	if len(r.Doc) > 0 {
		if err := json.Unmarshal(r.Doc, doc); err != nil {
			return pawl.Fail(pawl.CodeStoreDamaged, "kernel.row_unreadable", string(r.Kind), r.ID).Because(err)
		}
	}
	*doc.hot() = r
	if r.Root != "" {
		moveTo(doc, r.Root)
	}
	return nil
}

// loadBoard reads the newest batch of the board.
func (k loader) loadBoard(ctx context.Context, s *Snapshot) error {
	s.Near = map[string]*Issue{}
	rows, err := k.store.Load(ctx, Select{Kind: KindBoard, Newest: true, Limit: 1})
	if err != nil {
		return err
	}
	return decode(k.store, rows[0], &s.Board)
}

func (c *Release) read(ctx context.Context, k loader, s *Snapshot) error {
	return k.loadLinks(ctx, s, c.Issue, false)
}

func (c *MoveBoard) read(ctx context.Context, k loader, s *Snapshot) error {
	if s.Board == nil || c.Action != board.Complete {
		return nil
	}
	// The issues of the board lie below the session of the workspace, as the board does.
	counts, err := k.store.Count(ctx, KindIssue, s.Board.Parent)
	s.AtWork = counts[string(board.IssuePlanning)] + counts[string(board.IssueExecuting)]
	return err
}

func (c *Depend) read(ctx context.Context, k loader, s *Snapshot) error {
	if c.Remove {
		return k.loadLinks(ctx, s, c.On, true)
	}
	return k.loadEnds(ctx, s, c)
}

// loadMore reads what a decision asks for.
func (k loader) loadMore(ctx context.Context, s *Snapshot, m *missing, most int) error {
	switch {
	case m.need != nil:
		return k.loadRise(ctx, s, m, most)
	case len(m.names) == 0:
		return k.loadNear(ctx, s, m.ids)
	}
	sel := make([]Select, len(m.names))
	for n, name := range m.names {
		sel[n] = Select{Kind: KindAlias, Label: PackageAlias + name, HotOnly: true}
	}
	rows, err := k.store.Load(ctx, sel...)
	if err != nil {
		return err
	}
	if s.Names == nil {
		s.Names = map[string]bool{}
	}
	for n, name := range m.names {
		s.Names[name] = len(rows[n]) > 0
	}
	return nil
}

// beginningCommand is a command that takes a run up.
type beginningCommand interface{ takesUp() }

func (*Start) takesUp()  {}
func (*Revise) takesUp() {}

// loadOwn finds which labels are taken that the issue of a new run by itself would get.
func loadOwn(ctx context.Context, st Store, s *Snapshot, c Command, now time.Time) error {
	if at := s.Session; at == nil || at.Number > 0 {
		return nil
	}
	if _, ok := c.(beginningCommand); !ok {
		return nil
	}
	next := *s.Session
	for next.Runs++; ; {
		label := next.ownLabel(now, s.Names)
		rows, err := st.Load(ctx, Select{Kind: KindIssue, Label: label, HotOnly: true})
		if err != nil || len(rows[0]) == 0 {
			return err
		}
		if s.Names == nil {
			s.Names = map[string]bool{}
		}
		s.Names[label] = true
	}
}

// loadNear reads issues by their ids.
func (k loader) loadNear(ctx context.Context, s *Snapshot, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	sel := make([]Select, len(ids))
	for n, id := range ids {
		sel[n] = Select{Kind: KindIssue, ID: id}
	}
	rows, err := k.store.Load(ctx, sel...)
	if err != nil {
		return err
	}
	for n, id := range ids {
		s.Near[id] = nil
		if len(rows[n]) == 0 {
			continue
		}
		i := new(Issue)
		if err := Decode(rows[n][0], i); err != nil {
			return err
		}
		s.Near[id] = i
	}
	return nil
}

// loadRise reads, up to a number, the issues that are too low for a dependency, and what they depend on. Those come first over
// which a way may lead back to the issue that is to wait, which are no higher than it; where one does, the rest is not needed.
func (k loader) loadRise(ctx context.Context, s *Snapshot, m *missing, most int) error {
	need := m.need
	low, high := slices.Collect(maps.Keys(need)), []string(nil)
	for len(low)+len(high) > 0 && len(s.Near) < most {
		at, all := low, len(low) == 0
		if all {
			at, high = high, nil
		}
		low = nil
		slices.Sort(at)
		at = slices.Compact(at)
		if err := k.loadNear(ctx, s, slices.DeleteFunc(slices.Clone(at), func(id string) bool {
			_, ok := s.Near[id]
			return ok
		})); err != nil {
			return err
		}
		for _, id := range at {
			i := s.Near[id]
			if i == nil || i.Height >= need[id] {
				continue
			}
			if i.Height > m.waiting.Height && !all {
				high = append(high, id)
				continue
			}
			for _, on := range i.DependsOn {
				if on == m.waiting.ID {
					return nil
				}
				if n, ok := need[on]; !ok || n <= need[id] {
					need[on] = need[id] + 1
					low = append(low, on)
				}
			}
		}
	}
	return nil
}

// idLength is the length of an id, by which a name can be told from one.
const idLength = 26

// read finds the issues that the command names by label, external id or id.
func (c *AddIssues) read(ctx context.Context, k loader, s *Snapshot) error {
	seen := map[string]bool{}
	var sel []Select
	for n := range c.Issues {
		i := &c.Issues[n]
		for _, name := range append([]string{i.External, i.Label}, i.After...) {
			if name == "" || seen[name] {
				continue
			}
			seen[name] = true
			sel = append(sel, Select{Kind: KindIssue, Label: name, HotOnly: true}, Select{Kind: KindAlias, Label: name, HotOnly: true})
			if len(name) == idLength {
				sel = append(sel, Select{Kind: KindIssue, ID: name, HotOnly: true})
			}
		}
	}
	if len(sel) == 0 {
		return nil
	}
	rows, err := k.store.Load(ctx, sel...)
	if err != nil {
		return err
	}
	var ids []string
	for _, found := range rows {
		for _, r := range found {
			if id := r.ID; r.Kind == KindIssue {
				ids = append(ids, id)
			} else {
				ids = append(ids, r.Parent)
			}
		}
	}
	slices.Sort(ids)
	return k.loadNear(ctx, s, slices.Compact(ids))
}

// queuePage is how many claimable issues are looked at first.
const queuePage = 32

// read reads the issues that may be claimed, in their order, as far as needed to find one that collides with none.
func (c *Take) read(ctx context.Context, k loader, s *Snapshot) error {
	if c.Issue != "" {
		s.Taken = []string{c.Issue}
		return k.loadNear(ctx, s, s.Taken)
	}
	states := []board.IssueStatus{board.IssueExecuting, board.IssueCompleted, board.IssueFailed, board.IssuePlanned}
	if c.Planning {
		states = []board.IssueStatus{board.IssuePlanning, board.IssueRegistered}
	}
	for limit := queuePage; ; limit *= 8 {
		s.Taken = nil
		full := false
		for _, state := range states {
			// What must not be claimed for a reason other than its time stands behind all the rest, so that no more than a page is read.
			rows, err := k.store.Load(ctx, Select{Kind: KindIssue, States: []string{string(state)}, ByRank: true, Limit: limit})
			if err != nil {
				return err
			}
			full = full || len(rows[0]) == limit && rows[0][limit-1].Rank > 0
			for _, r := range rows[0] {
				if r.Rank <= 0 {
					break
				}
				if r.Due.After(c.Now) {
					continue
				}
				i := new(Issue)
				if err := Decode(r, i); err != nil {
					return err
				}
				s.Near[r.ID] = i
				s.Taken = append(s.Taken, r.ID)
			}
		}
		fits := func(id string) bool {
			return s.Board != nil && s.Near[id].ready() && !s.Board.collides(s.Near[id])
		}
		if !full || c.Planning && len(s.Taken) > 0 || slices.ContainsFunc(s.Taken, fits) {
			return nil
		}
	}
}

// loadEnds reads the two issues of a new dependency, and whether anything waits for the one that is to wait.
func (k loader) loadEnds(ctx context.Context, s *Snapshot, c *Depend) error {
	rows, err := k.store.Load(ctx, Select{Kind: KindLink, Parent: c.Issue, Limit: 1})
	if err != nil {
		return err
	}
	for _, r := range rows[0] {
		l := new(Link)
		if err := Decode(r, l); err != nil {
			return err
		}
		s.Links = append(s.Links, l)
	}
	return k.loadNear(ctx, s, []string{c.Issue, c.On})
}

// loadLinks reads the dependencies on an issue.
func (k loader) loadLinks(ctx context.Context, s *Snapshot, on string, gone bool) error {
	rows, err := k.store.Load(ctx, Select{Kind: KindLink, Parent: on})
	if err != nil {
		return err
	}
	ids := []string{on}
	for _, r := range rows[0] {
		l := new(Link)
		if err := Decode(r, l); err != nil {
			return err
		}
		if l.Gone {
			continue
		}
		s.Links = append(s.Links, l)
		ids = append(ids, l.Issue)
	}
	if gone {
		return nil
	}
	slices.Sort(ids)
	return k.loadNear(ctx, s, slices.Compact(ids))
}

// wanting returns what a decision asks for, or nil.
func wanting(err error) *missing {
	var m *missing
	if errors.As(err, &m) {
		return m
	}
	return nil
}
