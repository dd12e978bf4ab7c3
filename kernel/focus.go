package kernel

import (
	"cmp"
	"context"
	"strings"

	"pawl"
	"pawl/kernel/effect"
)

// Commands say what they are about, and what their decisions need besides.
type (
	// taskCommand is about a task.
	taskCommand interface{ aboutTask() string }
	// effectCommand is about an effect, and with it about the task that it belongs to.
	effectCommand interface{ aboutEffect() string }
	// gatesCommand is about the effect of its task, too.
	gatesCommand interface{ aboutGates() }
	// singleCommand needs nothing but the task and the effect that it is about where these belong to no run.
	singleCommand interface{ single() }
	// pastCommand is about a run that is over where none is in progress.
	pastCommand interface{ pastRun(s *Session) string }
	// readingCommand reads more than the rows around the session and what the command is about.
	readingCommand interface {
		read(r *reads, s *Snapshot) error
	}
)

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

func (c *Transition) aboutTask() string     { return c.Task }
func (c *RequestGates) aboutTask() string   { return c.Task }
func (c *UpdateProgress) aboutTask() string { return c.Task }
func (c *CancelTask) aboutTask() string     { return c.Task }
func (c *RestartTask) aboutTask() string    { return c.Task }
func (c *Claim) aboutTask() string          { return c.Task }
func (c *Heartbeat) aboutTask() string      { return c.Task }

func (c *Begin) aboutEffect() string         { return c.Effect }
func (c *Report) aboutEffect() string        { return c.Effect }
func (c *Recover) aboutEffect() string       { return c.Effect }
func (c *StartToolCall) aboutEffect() string { return c.Effect }
func (c *AttachSession) aboutEffect() string { return c.Effect }
func (c *Reserve) aboutEffect() string       { return c.Effect }
func (c *Settle) aboutEffect() string        { return c.Effect }

func (*RequestGates) aboutGates() {}

func (*Transition) single() {}
func (*Heartbeat) single()  {}
func (*Report) single()     {}

func (c *Undo) pastRun(s *Session) string   { return cmp.Or(c.Run, s.LastRun) }
func (*Rollback) pastRun(s *Session) string { return s.LastRun }
func (c *Redo) pastRun(s *Session) string   { return cmp.Or(c.Run, s.RolledBackRun, s.LastRun) }

func notFound(id string) error { return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", id) }

// focus gathers what a command is decided on, as far as it has been read. It changes nothing but the reads, and is
// called until all that it asks for is there; until then its answer means nothing.
func focus(p *Protocols, r *reads, config *Config, lane string, c Command) (*Snapshot, error) {
	s := &Snapshot{Config: config}
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
		if s.Session = one[Session](r, sessionOf(s, lane)); s.Session == nil {
			return s, nil
		}
	}
	if !single {
		if err := aroundRun(p, r, s, c); err != nil {
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
	if _, ok := c.(gatesCommand); ok && s.Task != nil {
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

// sessionOf asks for the session of what a command is about: that of the effect or of the task, and otherwise the
// lane's own.
func sessionOf(s *Snapshot, lane string) query {
	switch {
	case s.Effect != nil && s.Effect.Effect.Session != "":
		return byID(KindSession, s.Effect.Effect.Session)
	case s.Task != nil && s.Task.Session != "":
		return byID(KindSession, s.Task.Session)
	}
	return byLabel(KindSession, lane)
}

// aroundRun gathers the run that the session is at, or the last one for an undo, and all that belongs to it.
func aroundRun(p *Protocols, r *reads, s *Snapshot, c Command) error {
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
		p.Books.Read(r, s, c)
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
	p.Books.Read(r, s, c)
	return nil
}

// aroundWork gathers what hangs on the task and the session: the turn, the open approval, the effect in flight, the
// agent's conversation with what belongs to it, and the open questions of a turn that waits for some.
func aroundWork(r *reads, s *Snapshot) {
	turnID, approvalID, effectID, talkID := s.Run.Turn, s.Session.Approval, s.Session.Effect, ""
	if t := s.Task; t != nil {
		turnID, talkID = t.Turn, t.Talk
		approvalID = cmp.Or(approvalID, t.Approval)
		effectID = cmp.Or(t.Effect, effectID, t.OrphanEffect)
	}
	if b := s.Session.Blocked; b != nil {
		effectID = cmp.Or(effectID, b.Effect)
	}
	s.Turn, s.Approval = one[Turn](r, byID(KindTurn, turnID)), one[Approval](r, byID(KindApproval, approvalID))
	if s.Effect == nil {
		s.Effect = one[EffectDoc](r, byID(KindEffect, effectID))
	}
	s.Talk = one[Conversation](r, byID(KindTalk, talkID))
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

// idLength is the length of an id, by which a name can be told from one.
const idLength = 26

// openQuestions asks for the open questions, oldest first.
var openQuestions = query{kind: KindQuestion, states: QuestionOpen}
