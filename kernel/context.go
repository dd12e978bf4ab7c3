package kernel

import (
	"context"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
)

// Commands of the context manager (docs/spec/session.md#context-manager) that no other command covers. read_context is
// Kernel.Status, archive_task is part of every run's end, and update_state is RouteState.
type (
	// SaveDecision keeps a decision of the project. Type is Architecture, Lib or Rule; Replaces is the id of the decision
	// that this one contradicts, which is marked as deprecated, or "".
	SaveDecision struct{ Type, Content, Replaces string }
	// RecordError keeps what was learnt from an error: its root cause, how it was fixed and what it affects.
	RecordError struct{ Type, RootCause, Fix, Scope string }
	// UpdateProgress notes the progress of a task. Status is PENDING, DONE, BLOCKED, or a state of a task; a change of state
	// goes through the task's machine like any other (docs/spec/session.md#a11). An empty Status notes the summary alone.
	UpdateProgress struct{ Task, Status, Summary string }
	// CreateCheckpoint makes a checkpoint of the tree on request, while nothing is at work.
	CreateCheckpoint struct{}
	// Ask puts a question to the person. It is answered with the question's label; asked again by the same actor while it is
	// open, it is the same question. Work that goes on meanwhile waits for the answer before its next call.
	Ask struct{ Question string }
)

// Kinds of row that this part keeps.
const (
	KindDecision Kind = "decision"
	KindIncident Kind = "incident"
)

// Ruling is a decision of the project. Rows are only ever added: one is deprecated when a later one replaces it.
type Ruling struct {
	Row      `json:"-"`
	Type     string     `json:"decision_type"`
	Content  string     `json:"content"`
	Replaces string     `json:"replaces,omitempty"`
	By       pawl.Actor `json:"by"`
}

// Incident is an error with its cause and its fix.
type Incident struct {
	Row       `json:"-"`
	Type      string     `json:"error_type"`
	RootCause string     `json:"root_cause"`
	Fix       string     `json:"fix_solution"`
	Scope     string     `json:"scope"`
	By        pawl.Actor `json:"by"`
}

// Progress is the newest word about a task: what somebody said of it, which proves nothing.
type Progress struct {
	Text string     `json:"text"`
	By   pawl.Actor `json:"by"`
	At   time.Time  `json:"at"`
}

// Pad returns the word as a line of the scratchpad.
func (p *Progress) Pad(label string) view.PadLine {
	return view.PadLine{Name: "progress", Value: label + " " + string(p.By) + ": " + p.Text}
}

// maxNote bounds the text of a decision or an incident, in bytes.
const maxNote = 16 << 10

func (*Ask) read(r *reads, s *Snapshot) error  { return readQuestions(r, s) }
func (*Give) read(r *reads, s *Snapshot) error { return readQuestions(r, s) }

func readQuestions(r *reads, s *Snapshot) error {
	s.Questions = list[Question](r, openQuestions)
	return nil
}

// read finds whether the decision to be replaced is there. Decisions are never removed, so that it still is when the command is
// committed.
func (c *SaveDecision) read(r *reads, _ *Snapshot) error {
	if c.Replaces == "" {
		return nil
	}
	if f := r.get(byID(KindDecision, c.Replaces).hot()); f != nil && len(f.rows) == 0 {
		return pawl.Fail(pawl.CodeNotFound, "kernel.decision_not_found", c.Replaces)
	}
	return nil
}

func (c *SaveDecision) Decide(tx *Tx) error {
	i := slices.IndexFunc(view.DecisionTypes(), func(t string) bool { return strings.EqualFold(t, c.Type) })
	switch {
	case tx.Session == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case i < 0:
		return pawl.Fail(pawl.CodeInvalid, "kernel.decision_type", c.Type, strings.Join(view.DecisionTypes(), ", "))
	}
	if err := notable("content", c.Content); err != nil {
		return err
	}
	d := &Ruling{Type: view.DecisionTypes()[i], Content: strings.TrimSpace(c.Content), Replaces: c.Replaces, By: tx.env.Actor}
	tx.create(d, KindDecision, "", tx.Session.ID, "")
	tx.record(d, AuditDecisionSaved, audit.Info, map[string]any{"decision_type": d.Type, "content": d.Content, "replaces": d.Replaces})
	tx.result = d.ID
	return nil
}

func (c *RecordError) Decide(tx *Tx) error {
	if tx.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	for _, f := range [][2]string{{"error_type", c.Type}, {"root_cause", c.RootCause}, {"fix_solution", c.Fix}} {
		if err := notable(f[0], f[1]); err != nil {
			return err
		}
	}
	if len(c.Scope) > maxNote {
		return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", "scope", maxNote)
	}
	i := &Incident{
		Type: strings.TrimSpace(c.Type), RootCause: strings.TrimSpace(c.RootCause), Fix: strings.TrimSpace(c.Fix), Scope: strings.TrimSpace(c.Scope), By: tx.env.Actor,
	}
	tx.create(i, KindIncident, "", tx.Session.ID, "")
	tx.record(i, AuditErrorRecorded, audit.Info, i)
	tx.result = i.ID
	return nil
}

// notable refuses a text that says nothing or far too much.
func notable(field, text string) error {
	if n := len(strings.TrimSpace(text)); n == 0 || n > maxNote {
		return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", field, maxNote)
	}
	return nil
}

// progressStates are the states that the words of update_progress ask for.
var progressStates = map[string]task.State{"PENDING": task.Queued, "DONE": task.Done, "BLOCKED": task.Blocked}

func (c *UpdateProgress) Decide(tx *Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if len(c.Summary) > maxNote {
		return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", "summary", maxNote)
	}
	if c.Status != "" {
		to, ok := progressStates[strings.ToUpper(c.Status)]
		if !ok {
			parsed, err := task.Parse(c.Status)
			if err != nil {
				return err
			}
			to = parsed
		}
		if !task.Same(task.State(t.State), to) {
			if err := (&Transition{Task: t.ID, To: to, Reason: note(c.Summary)}).Decide(tx); err != nil {
				return err
			}
		}
	}
	if strings.TrimSpace(c.Summary) != "" {
		t.Progress = &Progress{Text: strings.TrimSpace(c.Summary), By: tx.env.Actor, At: tx.now}
		tx.record(t, AuditTaskProgress, audit.Info, map[string]any{"summary": c.Summary, "status": t.State})
	}
	tx.result = t.ID
	return nil
}

// Decide asks for a checkpoint on request. While work is at hand the work makes its own, and its tree is not still.
func (*CreateCheckpoint) Decide(tx *Tx) error {
	s := tx.Session
	switch {
	case s == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case s.State != string(session.Idle) || s.Effect != "":
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", s.State, s.Goal)
	}
	tx.Task, tx.Run, tx.Turn = nil, nil, nil
	e := tx.emit(effect.KindCheckpoint, effect.CheckpointSpec{Name: checkpointName(tx)}, true)
	tx.result = e.ID
	return nil
}

// checkpointMade takes a checkpoint that was made on request. It becomes the newest one and changes nothing else.
func checkpointMade(tx *Tx, r effect.Receipt) error {
	s := tx.Session
	made, err := effect.Decode[effect.CheckpointResult](r.Result)
	if !r.OK || err != nil {
		kept := info(firstError(r.Err(), err))
		s.LastError = &kept
		tx.record(s, AuditCheckpointFailed, audit.Warn, kept)
		return nil
	}
	c := &CheckpointDoc{CheckpointResult: made, Place: tx.Effect.Effect.Place}
	tx.create(c, KindCheckpoint, made.Name, s.ID, "")
	tx.record(c, AuditCheckpointCreated, audit.Info, map[string]any{"name": made.Name, "tree": made.Tree, "ref": made.Ref, "requested": true})
	s.LastCheckpoint, s.LastError = made.Name, nil
	tx.touch(s)
	return nil
}

// Question is a question of an agent to the person. Its label is "q-1", "q-2" and so on.
type Question struct {
	Row  `json:"-"`
	Text string     `json:"text"`
	By   pawl.Actor `json:"by"`
	// Step is the step whose work waits for the answer, and Call the model's call that asks; both are "" for an agent that does
	// no work of the run.
	Step string `json:"step,omitempty"`
	Call string `json:"call,omitempty"`
	// Answer is what the person said, "" where the question was dismissed.
	Answer     string     `json:"answer,omitempty"`
	AnsweredBy pawl.Actor `json:"answered_by,omitempty"`
	AnsweredAt time.Time  `json:"answered_at,omitzero"`
}

// The states of a question.
const (
	QuestionOpen      = "open"
	QuestionAnswered  = "answered"
	QuestionDismissed = "dismissed"
)

// Bounds of questions: the length of one in bytes, how many may be open at once, and how many an agent may ask in one turn.
const (
	maxQuestion = 2000
	maxOpen     = 20
	maxAsks     = 10
)

// openQuestions asks for the open questions, oldest first.
var openQuestions = query{kind: KindQuestion, states: QuestionOpen}

// Questions reads the open questions, oldest first.
func (k *Kernel) Questions(ctx context.Context) ([]*Question, error) {
	return listed[Question](ctx, k.store, openQuestions)
}

// Decide keeps the question of an agent that speaks for itself.
func (c *Ask) Decide(tx *Tx) error {
	if tx.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	for _, q := range tx.Questions {
		if q.By == tx.env.Actor && q.Text == strings.TrimSpace(c.Question) {
			tx.result = q.Label
			return nil
		}
	}
	q, err := putQuestion(tx, c.Question, tx.env.Actor)
	if err != nil {
		return err
	}
	tx.result = q.Label
	if u := tx.Turn; u != nil && sessionWorks(tx) && turn.State(u.State).Active() && len(u.Asked) < maxQuestions {
		hangQuestion(tx, q)
	}
	noteQuestion(tx, q)
	return nil
}

// askQuestion puts a question of the agent at work, whose turn waits for the answer. Call is the model's call that asks.
func askQuestion(tx *Tx, step, call, text string) error {
	switch {
	case !mayAsk(tx):
		return pawl.Fail(pawl.CodeApprovalNeeded, "kernel.nobody_asked")
	case tx.Turn.Asks >= maxAsks:
		return pawl.Fail(pawl.CodeDenied, "kernel.asks_used", itoa(maxAsks))
	}
	q, err := putQuestion(tx, text, pawl.By(pawl.KindAgent, tx.Talk.Agent))
	if err != nil {
		return err
	}
	q.Step, q.Call = step, call
	tx.Turn.Asks++
	hangQuestion(tx, q)
	noteQuestion(tx, q)
	return nil
}

// mayAsk reports whether work may wait for a person: an unattended run asks nobody.
func mayAsk(tx *Tx) bool {
	return tx.Session.RunMode != pawl.Autonomous && tx.has(tx.Turn, string(turn.NeedInfo), "")
}

// putQuestion makes an open question.
func putQuestion(tx *Tx, text string, by pawl.Actor) (*Question, error) {
	text = strings.TrimSpace(text)
	switch n := len(text); {
	case n == 0 || n > maxQuestion:
		return nil, pawl.Fail(pawl.CodeInvalid, "kernel.note_size", "question", maxQuestion)
	case len(tx.Questions) >= maxOpen:
		return nil, pawl.Fail(pawl.CodeBusy, "kernel.questions_open", itoa(len(tx.Questions)))
	}
	tx.Session.Questions++
	tx.touch(tx.Session)
	q := &Question{Text: text, By: by}
	tx.create(q, KindQuestion, "q-"+itoa(int(tx.Session.Questions)), tx.Session.ID, QuestionOpen)
	tx.Questions = append(tx.Questions, q)
	return q, nil
}

func noteQuestion(tx *Tx, q *Question) {
	tx.record(q, AuditQuestionAsked, audit.Info, map[string]any{"question": q.Label, "text": q.Text, "by": q.By, "step": q.Step})
}

// hangQuestion has the turn wait for a question.
func hangQuestion(tx *Tx, q *Question) {
	u := tx.Turn
	u.Asked, u.Questions = append(slices.Clip(u.Asked), q.ID), append(slices.Clip(u.Questions), q.Text)
	tx.touch(u)
}

// parkTurn stops the work until the open questions are answered.
func parkTurn(tx *Tx) error {
	tx.Turn.Return = string(turn.Executing)
	return tx.apply(WorkAsks, firstLine(strings.Join(tx.Turn.Questions, " / ")))
}

// giveAnswers takes the person's answers.
func giveAnswers(tx *Tx, c *Give) error {
	parked := tx.Turn != nil && tx.Turn.State == string(turn.Clarifying) && tx.Turn.Return == string(turn.Executing)
	var list []*Question
	for _, q := range tx.Questions {
		named := q.ID == c.Question || strings.EqualFold(q.Label, c.Question)
		if c.Question == "" && (!parked || slices.Contains(tx.Turn.Asked, q.ID)) || named {
			list = append(list, q)
		}
	}
	switch {
	case len(list) == 0 && c.Question != "":
		return pawl.Fail(pawl.CodeNotFound, "kernel.question_unknown", c.Question)
	case len(list) == 0:
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_asked", stateName(tx))
	case len(c.Answers) > 0 && len(c.Answers) != len(list):
		return pawl.Fail(pawl.CodeInvalid, "kernel.answers_count", itoa(len(list)), itoa(len(c.Answers)))
	}
	for i, q := range list {
		answer := ""
		if i < len(c.Answers) {
			answer = strings.TrimSpace(c.Answers[i])
		}
		if len(answer) > maxNote {
			return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", "answer", maxNote)
		}
		closeQuestion(tx, q, answer)
		tellAsker(tx, q)
	}
	if !parked || len(tx.Turn.Asked) > 0 {
		return nil
	}
	if err := tx.apply(WorkAnswered, "answered by "+string(tx.env.Actor)); err != nil {
		return err
	}
	tx.Turn.Return = ""
	return nil
}

// closeQuestion settles a question; without an answer it is dismissed.
func closeQuestion(tx *Tx, q *Question, answer string) {
	q.State, q.Answer, q.AnsweredBy, q.AnsweredAt = QuestionAnswered, answer, tx.env.Actor, tx.now
	if answer == "" {
		q.State = QuestionDismissed
	}
	tx.record(q, auditQuestionAs.in(q.State), audit.Info, map[string]any{"question": q.Label, "answer": answer, "by": tx.env.Actor})
	if u := tx.Turn; u != nil {
		if i := slices.Index(u.Asked, q.ID); i >= 0 {
			u.Asked, u.Questions = slices.Delete(slices.Clone(u.Asked), i, i+1), slices.Delete(slices.Clone(u.Questions), i, i+1)
			tx.touch(u)
		}
	}
}

// tellAsker has the agent at work learn of the answer to its question: as the result of its call, or with its next prompt.
func tellAsker(tx *Tx, q *Question) {
	k := tx.Talk
	if k == nil || q.Step == "" || k.Step != q.Step {
		return
	}
	if q.Call != "" {
		if k.Next < len(k.Asks) && k.Asks[k.Next].ID == q.Call {
			told := map[string]any{"ok": true, "made": true, "answer": q.Answer}
			if q.Answer == "" {
				told["note"] = "The person does not answer. Go on with what there is."
			}
			tellAgent(tx, k.Asks[k.Next], told, false)
		}
		return
	}
	said := "The person answered: " + q.Answer
	if q.Answer == "" {
		said = "The person does not answer. Go on with what there is."
	}
	k.Notes = append(slices.Clip(k.Notes), "You asked: "+q.Text+"\n"+said)
	tx.touch(k)
}

// turnParked reports whether the turn waits for a person.
func turnParked(tx *Tx) bool { return tx.Turn != nil && turn.State(tx.Turn.State).Parked() }

// turnMoved is called behind every event. Time in which a turn waits for a person is noted, and a turn that is over waits for
// no answer any more: what only its own agent wanted to know is dismissed.
func turnMoved(tx *Tx, u *Turn, was bool) {
	if u == nil || u != tx.Turn {
		return
	}
	switch is := turnParked(tx); {
	case is && !was:
		u.ParkedAt = tx.now
	case was && !is && !u.ParkedAt.IsZero():
		if tx.Task != nil && !tx.Task.StartedAt.IsZero() {
			tx.Task.Waited += tx.now.Sub(u.ParkedAt)
			tx.touch(tx.Task)
		}
		u.ParkedAt = time.Time{}
	}
	if len(u.Asked) == 0 || turn.State(u.State).Active() {
		return
	}
	for _, q := range slices.Clone(tx.Questions) {
		if q.Step != "" && q.State == QuestionOpen && slices.Contains(u.Asked, q.ID) {
			closeQuestion(tx, q, "")
		}
	}
	u.Asked, u.Questions = nil, nil
}

// RouteState returns the command that takes the session to a state, for update_state of the context manager. Text is what
// the command needs: a requirement, the hash of the plan, a reason or a note. Moves that only work itself can cause are
// refused, and so are those that the session's machine does not have.
func (s *Snapshot) RouteState(to session.State, text string) (Command, error) {
	from := session.Table.Initial()
	if s.Session != nil {
		from = session.State(s.Session.State)
	}
	switch [2]session.State{from, to} {
	case [2]session.State{session.Idle, session.Planning}:
		start := &Start{Requirement: text, RunMode: pawl.Assisted}
		if s.Session != nil {
			start.Place, start.RunMode = s.Session.Place, s.Session.RunMode
		}
		return start, nil
	case [2]session.State{session.Planning, session.Idle}:
		return &CancelRun{Reason: text}, nil
	case [2]session.State{session.Confirming, session.Idle}:
		return &Deny{Reason: text}, nil
	case [2]session.State{session.Confirming, session.Executing}:
		return &Approve{Hash: text}, nil
	case [2]session.State{session.Executing, session.Blocked}, [2]session.State{session.AutoFix, session.Blocked}:
		return &Stop{Reason: text}, nil
	case [2]session.State{session.Blocked, session.Executing}:
		return &Fix{Note: text}, nil
	case [2]session.State{session.Blocked, session.Idle}:
		return &Rollback{Reason: text}, nil
	}
	if _, ok := session.Table.Between(from, to); ok {
		return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.state_of_work", string(from), string(to))
	}
	return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.state_unreachable", string(from), string(to))
}
