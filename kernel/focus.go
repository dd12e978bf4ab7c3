package kernel

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/machine/board"
)

// Look reads the session with the run, the task, the turn and the effect that it is at, for runners and faces. Before
// the workspace is initialised the snapshot has no session.
func (k *Kernel) Look(ctx context.Context) (s *Snapshot, err error) {
	look := (*Resume)(nil) // a command that needs what everybody does
	_, err = k.settle(ctx, look, false, func(r *reads) (bool, error) {
		err := r.gather(ctx, k.store, func() (err error) {
			s, err = k.focus(r, look)
			return err
		})
		return false, err
	})
	return s, err
}

// LookAt reads one task with its effect, wherever it belongs. The id may be a ULID or a label such as T-001.
func (k *Kernel) LookAt(ctx context.Context, id string) (*Snapshot, error) {
	s, r := &Snapshot{Config: &k.config}, &reads{}
	named := byID(KindTask, id)
	if len(id) != idLength {
		named = byLabel(KindTask, id)
	}
	err := r.gather(ctx, k.store, func() error {
		if s.Task = one[Task](r, named); s.Task == nil {
			return notFound(id)
		}
		s.Effect, s.Turn = one[EffectDoc](r, byID(KindEffect, s.Task.Effect)), one[Turn](r, byID(KindTurn, s.Task.Turn))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// LookEffect reads one effect.
func (k *Kernel) LookEffect(ctx context.Context, id string) (e *EffectDoc, err error) {
	r := &reads{}
	err = r.gather(ctx, k.store, func() error {
		e = one[EffectDoc](r, byID(KindEffect, id))
		return nil
	})
	return e, err
}

// LookWithin reads the calls that are at work in the middle of an agent's effect.
func (k *Kernel) LookWithin(ctx context.Context, id string) ([]*EffectDoc, error) {
	return listed[EffectDoc](ctx, k.store, within(id))
}

// listed reads the documents of a selection.
func listed[T any, P document[T]](ctx context.Context, st Store, a query) (out []P, err error) {
	r := &reads{}
	err = r.gather(ctx, st, func() error {
		out = list[T, P](r, a)
		return nil
	})
	return out, err
}

// within asks for the calls that are at work in the middle of an agent's effect.
func within(id string) query { return query{kind: KindEffect, parent: id, states: EffectRunning} }

// Commands say what they are about, and what their decisions need besides.
type (
	// taskCommand is about a task.
	taskCommand interface{ aboutTask() string }
	// effectCommand is about an effect, and with it about the task that it belongs to.
	effectCommand interface{ aboutEffect() string }
	// singleCommand needs nothing but the task and the effect that it is about where these belong to no run.
	singleCommand interface{ single() }
	// pastCommand is about a run that is over where none is in progress.
	pastCommand interface{ pastRun(s *Session) string }
	// readingCommand reads more than the rows around the session and what the command is about.
	readingCommand interface {
		read(r *reads, s *Snapshot) error
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

func (*Transition) single() {}
func (*Heartbeat) single()  {}
func (*Report) single()     {}

func (c *Undo) pastRun(s *Session) string   { return cmp.Or(c.Run, s.LastRun) }
func (*Rollback) pastRun(s *Session) string { return s.LastRun }
func (c *Redo) pastRun(s *Session) string   { return cmp.Or(c.Run, s.Rolled, s.LastRun) }

func notFound(id string) error { return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", id) }

// focus gathers what a command is decided on, as far as it has been read. It changes nothing but the reads, and is
// called until all that it asks for is there; until then its answer means nothing.
func (k *Kernel) focus(r *reads, c Command) (*Snapshot, error) {
	s := &Snapshot{Config: &k.config}
	more, reading := c.(readingCommand)
	if ofBoard(c) {
		if boards := list[Board](r, newest(KindBoard, 1)); len(boards) > 0 {
			s.Board = boards[0]
		}
		s.Session = one[Session](r, byLabel(KindSession, SessionLabel))
		s.Near = map[string]*Issue{}
		if reading {
			if err := more.read(r, s); err != nil {
				return s, err
			}
		}
		spread(r, s)
		return s, nil
	}
	if reading {
		if err := more.read(r, s); err != nil {
			return s, err
		}
	}
	if err := about(r, s, c); err != nil {
		return s, err
	}
	single := s.Task != nil && s.Task.Session == ""
	if _, ok := c.(singleCommand); !ok || !single {
		if s.Session = one[Session](r, k.session(s)); s.Session == nil {
			return s, nil
		}
	}
	if !single {
		if err := aroundRun(r, s, c); err != nil {
			return s, err
		}
	}
	spread(r, s)
	return s, nil
}

// about gathers the task and the effect that a command is about.
func about(r *reads, s *Snapshot, c Command) error {
	effectID := ""
	if c, ok := c.(effectCommand); ok {
		effectID = c.aboutEffect()
	}
	if c, ok := c.(taskCommand); ok && c.aboutTask() != "" {
		if s.Task = one[Task](r, byID(KindTask, c.aboutTask())); s.Task == nil {
			return notFound(c.aboutTask())
		}
	}
	if _, ok := c.(*RequestGates); ok && s.Task != nil {
		effectID = s.Task.Effect
	}
	if effectID == "" {
		return nil
	}
	if s.Effect = one[EffectDoc](r, byID(KindEffect, effectID)); s.Effect == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", effectID)
	}
	if id := s.Effect.Effect.Task; id != "" && s.Task == nil {
		if s.Task = one[Task](r, byID(KindTask, id)); s.Task == nil {
			return notFound(id)
		}
	}
	return nil
}

// session asks for the session of what a command is about: that of the effect or of the task, and otherwise the
// lane's own.
func (k *Kernel) session(s *Snapshot) query {
	switch {
	case s.Effect != nil && s.Effect.Effect.Session != "":
		return byID(KindSession, s.Effect.Effect.Session)
	case s.Task != nil && s.Task.Session != "":
		return byID(KindSession, s.Task.Session)
	}
	return byLabel(KindSession, k.lane)
}

// aroundRun gathers the run that the session is at, or the last one for an undo, and all that belongs to it.
func aroundRun(r *reads, s *Snapshot, c Command) error {
	id := s.Session.Run
	if c, ok := c.(pastCommand); ok && id == "" {
		id = c.pastRun(s.Session)
	}
	if id == "" && (s.Effect != nil || s.Session.Effect != "") {
		id = s.Session.LastRun
	}
	s.Flow = one[Flow](r, byLabel(KindFlow, s.Session.Label))
	if id == "" {
		if s.Effect == nil {
			s.Effect = one[EffectDoc](r, byID(KindEffect, s.Session.Effect))
		}
		budgets(r, s, c)
		return nil
	}
	s.Run = one[Run](r, byID(KindRun, id))
	switch {
	case s.Run == nil:
		return pawl.Fail(pawl.CodeStoreDamaged, "kernel.run_missing", id)
	case s.Run.Parent != s.Session.ID:
		return pawl.Fail(pawl.CodeNotFound, "kernel.run_elsewhere", s.Run.Label)
	}
	s.Issue, s.Item = one[Issue](r, byID(KindIssue, s.Run.Issue)), one[Item](r, byID(KindItem, s.Run.Item))
	s.Solution = one[Solution](r, byID(KindSolution, s.Run.Solution))
	if id := s.Run.Task; s.Task == nil && id != "" {
		if s.Task = one[Task](r, byID(KindTask, id)); s.Task == nil {
			return notFound(id)
		}
	}
	aroundWork(r, s)
	budgets(r, s, c)
	return nil
}

// aroundWork gathers what hangs on the task and the session: the turn, the open approval, the effect in flight, the
// agent's conversation with what belongs to it, and the open questions of a turn that waits for some.
func aroundWork(r *reads, s *Snapshot) {
	turnID, approvalID, effectID, talkID := s.Run.Turn, s.Session.Approval, s.Session.Effect, ""
	if t := s.Task; t != nil {
		turnID, talkID = t.Turn, t.Talk
		approvalID = cmp.Or(approvalID, t.Approval)
		effectID = cmp.Or(t.Effect, effectID, t.Half)
	}
	if b := s.Session.Blocked; b != nil {
		effectID = cmp.Or(effectID, b.Effect)
	}
	s.Turn, s.Approval = one[Turn](r, byID(KindTurn, turnID)), one[Approval](r, byID(KindApproval, approvalID))
	if s.Effect == nil {
		s.Effect = one[EffectDoc](r, byID(KindEffect, effectID))
	}
	s.Talk = one[Talk](r, byID(KindTalk, talkID))
	if talkID != "" && s.Effect != nil && s.Effect.What() == effect.KindWork {
		switch s.Effect.State {
		case EffectPending:
			s.Incidents = list[Incident](r, newest(KindIncident, maxIncidents))
		case EffectRunning:
			s.Within = list[EffectDoc](r, within(s.Effect.ID))
		}
	}
	if s.Turn != nil && len(s.Turn.Asked) > 0 && s.Questions == nil {
		s.Questions = list[Question](r, openQuestions)
	}
}

// maxIncidents is how many of the newest incidents are looked at.
const maxIncidents = 50

// newestPoint asks for the name of the newest checkpoint, behind which a new one is numbered.
var newestPoint = newest(KindCheckpoint, 1).hot()

// spread puts into a snapshot what was read because a decision wanted it: issues of the board, and for any other
// command the name of the newest checkpoint, which names are taken, and the trail of the task.
func spread(r *reads, s *Snapshot) {
	for _, f := range r.answers {
		switch {
		case !f.known:
		case s.Near != nil && f.kind == KindIssue && !f.hotOnly:
			if len(f.rows) == 0 && f.id != "" {
				s.Near[f.id] = nil
			}
			for i := range f.rows {
				s.Near[f.rows[i].ID] = at[Issue](r, f, i)
			}
		case s.Near != nil:
		case f.trail:
			s.Trail, s.TrailCount = f.states, f.records
		case f.query == newestPoint:
			for _, row := range f.rows {
				s.Taken = append(s.Taken, row.Label)
			}
		case f.hotOnly && f.label != "":
			if s.Names == nil {
				s.Names = map[string]bool{}
			}
			s.Names[strings.TrimPrefix(f.label, PackageAlias)] = len(f.rows) > 0
		}
	}
}

// isTaken reports whether a name is taken that a row would have.
func isTaken(tx *Tx, kind Kind, prefix, name string) bool {
	tx.want(byLabel(kind, prefix+name).hot())
	return tx.Names[name]
}

// want has the decision made anew once a query is answered, unless it is already.
func (tx *Tx) want(a query) {
	if tx.reads != nil {
		tx.reads.get(a)
	}
}

// idLength is the length of an id, by which a name can be told from one.
const idLength = 26

// read finds the issues that the command names by label, external id or id.
func (c *AddIssues) read(r *reads, _ *Snapshot) error {
	for n := range c.Issues {
		i := &c.Issues[n]
		for _, name := range append([]string{i.External, i.Label}, i.After...) {
			if name == "" {
				continue
			}
			asks := []query{byLabel(KindAlias, name).hot()}
			if board.IsIssueID(name) { // no other label is an issue's of the board
				asks = append(asks, byLabel(KindIssue, name).hot())
			}
			if len(name) == idLength {
				asks = append(asks, byID(KindIssue, name).hot())
			}
			for _, a := range asks {
				f := r.get(a)
				if f == nil || len(f.rows) == 0 {
					continue
				}
				id := f.rows[0].ID
				if a.kind == KindAlias {
					id = f.rows[0].Parent
				}
				r.get(byID(KindIssue, id))
			}
		}
	}
	return nil
}

func (c *Release) read(r *reads, s *Snapshot) error {
	r.get(byID(KindIssue, c.Issue))
	for _, l := range waiting(r, s, c.Issue) {
		r.get(byID(KindIssue, l.Issue))
	}
	return nil
}

// read reads whether anything waits for the issue that is to wait, or the dependency that is taken back.
func (c *Depend) read(r *reads, s *Snapshot) error {
	r.get(byID(KindIssue, c.Issue))
	if c.Remove {
		waiting(r, s, c.On)
		return nil
	}
	r.get(byID(KindIssue, c.On))
	any := below(KindLink, c.Issue)
	any.limit = 1
	s.Links = list[Link](r, any)
	return nil
}

// waiting gathers the dependencies on an issue.
func waiting(r *reads, s *Snapshot, on string) []*Link {
	s.Links = slices.DeleteFunc(list[Link](r, below(KindLink, on)), func(l *Link) bool { return l.Gone })
	return s.Links
}

// read counts the issues at work, which lie below the session of the workspace, as the board does.
func (c *MoveBoard) read(r *reads, s *Snapshot) error {
	if s.Board == nil || c.Action != board.Complete {
		return nil
	}
	states := string(board.IssuePlanning) + " " + string(board.IssueExecuting)
	if f := r.get(query{kind: KindIssue, parent: s.Board.Parent, states: states, hotOnly: true}); f != nil {
		s.AtWork = len(f.rows)
	}
	return nil
}

// queuePage is how many claimable issues are looked at first.
const queuePage = 32

// read reads the issues that may be claimed, in their order, as far as needed to find one that collides with none.
func (c *Take) read(r *reads, s *Snapshot) error {
	if c.Issue != "" {
		s.Taken = []string{c.Issue}
		r.get(byID(KindIssue, c.Issue))
		return nil
	}
	states := []board.IssueStatus{board.IssueExecuting, board.IssueCompleted, board.IssueFailed, board.IssuePlanned}
	if c.Planning {
		states = []board.IssueStatus{board.IssuePlanning, board.IssueRegistered}
	}
	for limit := queuePage; ; limit *= 8 {
		full, fits := false, false
		s.Taken = nil
		for _, state := range states {
			// What must not be claimed for a reason other than its time stands behind all the rest, so that no more
			// than a page is read.
			f := r.get(query{kind: KindIssue, states: string(state), byRank: true, limit: limit})
			if f == nil {
				continue
			}
			full = full || len(f.rows) == limit && f.rows[limit-1].Rank > 0
			for n, row := range f.rows {
				if row.Rank <= 0 {
					break
				}
				if i := at[Issue](r, f, n); i != nil && !row.Due.After(c.Now) {
					s.Taken = append(s.Taken, row.ID)
					fits = fits || s.Board != nil && i.ready() && !s.Board.collides(i)
				}
			}
		}
		if len(r.open) > 0 || !full || c.Planning && len(s.Taken) > 0 || fits {
			return nil
		}
	}
}

// climb reads, up to a number that grows from one time to the next, the issues that are too low for a dependency, and
// what they depend on. Need says how high each must be at least where an issue is to wait for them. Those come first
// over which a way may lead back to that one, which are no higher than it; where one does, the rest is not needed.
func climb(r *reads, need map[string]int64, waits *Issue) func(load func(ids []string) error) error {
	return func(load func(ids []string) error) error {
		low, high := slices.Collect(maps.Keys(need)), []string(nil)
		for most := len(r.answers) + 32<<r.climbs; len(low)+len(high) > 0 && len(r.answers) < most; {
			at, all := low, len(low) == 0
			if all {
				at, high = high, nil
			}
			low = nil
			slices.Sort(at)
			at = slices.Compact(at)
			if err := load(at); err != nil {
				return err
			}
			for _, id := range at {
				i := one[Issue](r, byID(KindIssue, id))
				if i == nil || i.Height >= need[id] {
					continue
				}
				if i.Height > waits.Height && !all {
					high = append(high, id)
					continue
				}
				for _, on := range i.DependsOn {
					if on == waits.ID {
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
}
