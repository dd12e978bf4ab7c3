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
	taskCommand interface{ AboutTask() string }
	// effectCommand is about an effect, and with it about the task that it belongs to.
	effectCommand interface{ AboutEffect() string }
	// gatesCommand is about the effect of its task, too.
	gatesCommand interface{ AboutGates() }
	// singleCommand needs nothing but the task and the effect that it is about where these belong to no run.
	singleCommand interface{ Single() }
	// pastCommand is about a run that is over where none is in progress.
	pastCommand interface{ PastRun(s *Session) string }
	// readingCommand reads more than the rows around the session and what the command is about.
	readingCommand interface {
		Read(r *Reads, s *Snapshot) error
	}
)

// listed reads the documents of a selection.
func listed[T any, P document[T]](ctx context.Context, st Store, a Query) (out []P, err error) {
	r := &Reads{}
	err = r.gather(ctx, st, func() error {
		out = List[T, P](r, a)
		return nil
	})
	return out, err
}

// within asks for the calls that are at work in the middle of an agent's effect.
func within(id string) Query { return Query{Kind: KindEffect, Parent: id, States: EffectRunning} }

func (c *Transition) AboutTask() string  { return c.Task }
func (c *NoteRefusal) AboutTask() string { return c.Task }

func (*Transition) Single() {}

func notFound(id string) error { return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", id) }

// focus gathers what a command is decided on, as far as it has been read. It changes nothing but the reads, and is
// called until all that it asks for is there; until then its answer means nothing.
func focus(p *Protocols, r *Reads, config *Config, lane string, c Command) (*Snapshot, error) {
	s := &Snapshot{Config: config}
	more, reading := c.(readingCommand)
	if OfBoard(c) {
		if boards := List[Board](r, Newest(KindBoard, 1)); len(boards) > 0 {
			s.Board = boards[0]
		}
		s.Session = One[Session](r, ByLabel(KindSession, SessionLabel))
		s.Near = map[string]*Issue{}
		if reading {
			if err := more.Read(r, s); err != nil {
				return s, err
			}
		}
		spread(r, s)
		return s, nil
	}
	if reading {
		if err := more.Read(r, s); err != nil {
			return s, err
		}
	}
	if err := about(r, s, c); err != nil {
		return s, err
	}
	single := s.Task != nil && s.Task.Session == ""
	if _, ok := c.(singleCommand); !ok || !single {
		if s.Session = One[Session](r, sessionOf(s, lane)); s.Session == nil {
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
func about(r *Reads, s *Snapshot, c Command) error {
	effectID := ""
	if c, ok := c.(effectCommand); ok {
		effectID = c.AboutEffect()
	}
	if c, ok := c.(taskCommand); ok && c.AboutTask() != "" {
		if s.Task = One[Task](r, ByID(KindTask, c.AboutTask())); s.Task == nil {
			return notFound(c.AboutTask())
		}
	}
	if _, ok := c.(gatesCommand); ok && s.Task != nil {
		effectID = s.Task.Effect
	}
	if effectID == "" {
		return nil
	}
	if s.Effect = One[EffectDoc](r, ByID(KindEffect, effectID)); s.Effect == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", effectID)
	}
	if id := s.Effect.Effect.Task; id != "" && s.Task == nil {
		if s.Task = One[Task](r, ByID(KindTask, id)); s.Task == nil {
			return notFound(id)
		}
	}
	return nil
}

// sessionOf asks for the session of what a command is about: that of the effect or of the task, and otherwise the
// lane's own.
func sessionOf(s *Snapshot, lane string) Query {
	switch {
	case s.Effect != nil && s.Effect.Effect.Session != "":
		return ByID(KindSession, s.Effect.Effect.Session)
	case s.Task != nil && s.Task.Session != "":
		return ByID(KindSession, s.Task.Session)
	}
	return ByLabel(KindSession, lane)
}

// aroundRun gathers the run that the session is at, or the last one for an undo, and all that belongs to it.
func aroundRun(p *Protocols, r *Reads, s *Snapshot, c Command) error {
	id := s.Session.Run
	if c, ok := c.(pastCommand); ok && id == "" {
		id = c.PastRun(s.Session)
	}
	if e := s.Effect; id == "" && e != nil && e.What().Forge() {
		id = e.Parent // any run of the session can have its pull request
	} else if id == "" && (e != nil || s.Session.Effect != "") {
		id = s.Session.LastRun
	}
	s.Flow = One[Flow](r, ByLabel(KindFlow, s.Session.Label))
	if id == "" {
		if s.Effect == nil {
			s.Effect = One[EffectDoc](r, ByID(KindEffect, s.Session.Effect))
		}
		p.Books.Read(r, s, c)
		return nil
	}
	s.Run = One[Run](r, ByID(KindRun, id))
	switch {
	case s.Run == nil:
		return pawl.Fail(pawl.CodeStoreDamaged, "kernel.run_missing", id)
	case s.Run.Parent != s.Session.ID:
		return pawl.Fail(pawl.CodeNotFound, "kernel.run_elsewhere", s.Run.Label)
	}
	s.Issue, s.Item = One[Issue](r, ByID(KindIssue, s.Run.Issue)), One[Item](r, ByID(KindItem, s.Run.Item))
	s.Solution = One[Solution](r, ByID(KindSolution, s.Run.Solution))
	if id := s.Run.Task; s.Task == nil && id != "" {
		if s.Task = One[Task](r, ByID(KindTask, id)); s.Task == nil {
			return notFound(id)
		}
	}
	aroundWork(r, s)
	p.Books.Read(r, s, c)
	return nil
}

// aroundWork gathers what hangs on the task and the session: the turn, the open approval, the effect in flight, the
// agent's conversation with what belongs to it, and the open questions of a turn that waits for some.
func aroundWork(r *Reads, s *Snapshot) {
	turnID, approvalID, effectID, talkID := s.Run.Turn, s.Session.Approval, s.Session.Effect, ""
	if t := s.Task; t != nil {
		turnID, talkID = t.Turn, t.Talk
		approvalID = cmp.Or(approvalID, t.Approval)
		effectID = cmp.Or(t.Effect, effectID, t.OrphanEffect)
	}
	if b := s.Session.Blocked; b != nil {
		effectID = cmp.Or(effectID, b.Effect)
	}
	s.Turn, s.Approval = One[Turn](r, ByID(KindTurn, turnID)), One[Approval](r, ByID(KindApproval, approvalID))
	if s.Effect == nil {
		s.Effect = One[EffectDoc](r, ByID(KindEffect, effectID))
	}
	s.Talk = One[Conversation](r, ByID(KindTalk, talkID))
	if talkID != "" && s.Effect != nil && s.Effect.What() == effect.KindWork {
		switch s.Effect.State {
		case EffectPending:
			s.Incidents = List[Incident](r, Newest(KindIncident, maxIncidents))
		case EffectRunning:
			s.Within = List[EffectDoc](r, within(s.Effect.ID))
		}
	}
	if s.Turn != nil && len(s.Turn.Asked) > 0 && s.Questions == nil {
		s.Questions = List[Question](r, OpenQuestions)
	}
}

// maxIncidents is how many of the newest incidents are looked at.
const maxIncidents = 50

// spread puts into a snapshot what was read because a decision wanted it: issues of the board, and for any other
// command the name of the newest checkpoint, which names are taken, and the trail of the task.
func spread(r *Reads, s *Snapshot) {
	for _, f := range r.answers {
		switch {
		case !f.known:
		case s.Near != nil && f.Kind == KindIssue && !f.HotOnly:
			if len(f.Rows) == 0 && f.ID != "" {
				s.Near[f.ID] = nil
			}
			for i := range f.Rows {
				s.Near[f.Rows[i].ID] = DocAt[Issue](r, f, i)
			}
		case s.Near != nil:
		case f.trail:
			s.Trail, s.TrailCount = f.states, f.records
		case f.Query == newestPoint:
			for _, row := range f.Rows {
				s.Taken = append(s.Taken, row.Label)
			}
		case f.Kind == KindAlias && !f.HotOnly:
			if len(f.Rows) > 0 {
				s.Named = DocAt[Alias](r, f, 0)
			}
		case f.HotOnly && f.label != "":
			if s.Names == nil {
				s.Names = map[string]bool{}
			}
			s.Names[strings.TrimPrefix(f.label, PackageAlias)] = len(f.Rows) > 0
		}
	}
}

// IDLength is the length of an id, by which a name can be told from one.
const IDLength = 26

// OpenQuestions asks for the open questions, oldest first.
var OpenQuestions = Query{Kind: KindQuestion, States: QuestionOpen}
