package kernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/turn"
	"pawl/text/plan"
)

// forAgent reports whether a step is an agent's: it names no calls, and the run's agent works.
func forAgent(tx *Tx, s *plan.Step) bool { return len(s.ToolCalls) == 0 && traits(tx).Works }

// maxEarlier is how many results of calls are told to the next conversation.
const maxEarlier = 5

// lastResults are the answers to the last calls of a conversation, each with its call.
func lastResults(list []effect.Message) []effect.ToolResult {
	asked := map[string]effect.Ask{}
	var out []effect.ToolResult
	for _, m := range list {
		for _, a := range m.Calls {
			asked[a.ID] = a
		}
		if m.Role == effect.RoleTool {
			a := asked[m.Call]
			out = append(out, effect.ToolResult{CallID: m.Call,
				Payload: encode(map[string]any{"tool": a.Name, "args": a.Args, "result": m.Text, "failed": m.Failed})})
		}
	}
	return out[max(0, len(out)-maxEarlier):]
}

// hearAgent adds an answer to the conversation.
func hearAgent(tx *Tx, result effect.WorkResult) {
	k := tx.Talk
	if result.Compacted {
		k.Messages = nil
	}
	k.Messages = append(slices.Clip(k.Messages), result.Messages...)
	k.Asks, k.Next = nil, 0
	if result.Control == effect.Calls {
		k.Asks = result.Asks
	}
	k.Usage = k.Usage.Plus(result.Usage)
	if result.Session != "" {
		k.Session = result.Session
	}
	k.Said, k.Notes = firstLine(result.Text), nil
	tx.touch(k)
	if result.Pack != nil {
		tx.record(k, AuditContextBuilt, audit.Info, result.Pack)
	}
	said := map[string]any{
		"agent": result.Agent, "version": result.Version, "model": result.Model, "prompt": result.Prompt,
		"control": result.Control,
		"calls":   len(k.Asks), "usage": result.Usage, "reason": result.Reason,
	}
	if result.Login != "" {
		said["login"] = result.Login
	}
	tx.record(k, AuditAgentSaid, audit.Info, said)
}

// tellAgent answers a call in the conversation and goes on to the next.
func tellAgent(tx *Tx, a effect.Ask, answer any, failed bool) {
	k := tx.Talk
	k.Messages = append(slices.Clip(k.Messages),
		effect.Message{Role: effect.RoleTool, Call: a.ID, Text: string(encode(answer)), Failed: failed})
	k.Next++
	k.Granted = ""
	tx.touch(k)
}

// toldOf is what an agent is told of a call that was made.
func toldOf(r effect.Receipt) any {
	out := map[string]any{"ok": r.OK, "made": true}
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil {
		out["payload"], out["files_changed"] = res.Payload, res.Artifacts.FilesChanged
	}
	if !r.OK {
		out["error"] = map[string]any{"class": r.Class, "code": r.Code, "message": r.Err().Error(),
			"detail": clip(r.Detail)}
	}
	return out
}

// refuseCall tells the agent that a call was not made, and why.
func refuseCall(tx *Tx, a effect.Ask, err error) {
	kept := info(err)
	tellAgent(tx, a, map[string]any{"ok": false, "made": false,
		"error": map[string]any{"class": kept.Class, "code": kept.Code, "message": err.Error()}}, true)
	tx.record(tx.Talk, AuditCallRefused, audit.Warn, map[string]any{"tool": a.Name, "code": kept.Code, "key": kept.Key,
		"args": kept.Args})
}

// wasAsked reports whether the call at work is one that an agent asked for between two exchanges.
func wasAsked(tx *Tx, call effect.ToolCall) bool {
	k := tx.Talk
	return k != nil && k.Step == call.StepID && k.Next < len(k.Asks) && tx.Effect.Within == ""
}

// callTook notes the tree that a call left.
func callTook(tx *Tx, _ effect.ToolCall, r effect.Receipt) {
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil && res.After != "" {
		tx.Task.Tree = res.After
		tx.touch(tx.Task)
	}
}

// workAgain has the call that is next judged once more, under a person's word where there is one. That must not count
// as the agent asking twice.
func workAgain(tx *Tx, granted string) {
	tx.Talk.Granted = granted
	if n := len(tx.Talk.Recent); n > 0 {
		tx.Talk.Recent = tx.Talk.Recent[:n-1]
	}
	tx.touch(tx.Talk)
}

// wantCall keeps the call that an agent with a loop of its own may not make without a person's word. Its work breaks
// off there.
func wantCall(tx *Tx, a effect.Ask) {
	if tx.Session.RunMode == pawl.Autonomous || tx.Talk.Wanted != nil {
		return
	}
	tx.Talk.Wanted = &effect.Ask{Name: a.Name, Args: a.Args}
	tx.touch(tx.Talk)
}

// wantedCalls takes the call for which the agent's work broke off.
func wantedCalls(tx *Tx) *effect.Ask {
	if tx.Talk == nil || tx.Talk.Wanted == nil {
		return nil
	}
	a := tx.Talk.Wanted
	tx.Talk.Wanted = nil
	tx.touch(tx.Talk)
	return a
}

// digest is what a call is known by: its name and its arguments, however they are spaced.
func digest(a effect.Ask) string {
	var args bytes.Buffer
	if json.Compact(&args, a.Args) != nil {
		args.Reset()
		args.Write(a.Args)
	}
	sum := sha256.Sum256(append([]byte(a.Name+"\x00"), args.Bytes()...))
	return hex.EncodeToString(sum[:])
}

// spendWord returns the approval of exactly this call, which is used up by that, or "".
func spendWord(tx *Tx, a effect.Ask) string {
	key := digest(a)
	id := tx.Talk.Allowed[key]
	if id != "" {
		left := maps.Clone(tx.Talk.Allowed)
		delete(left, key)
		tx.Talk.Allowed = left
		tx.touch(tx.Talk)
	}
	return id
}

// Loops: the same call this often in a row, or a cycle of at most this length gone through that often, is no progress.
const (
	sameCalls  = 3
	cycleCalls = 6
)

// agentLooping notes a call and reports whether the newest ones only repeat themselves.
func agentLooping(tx *Tx, a effect.Ask) error {
	tx.Talk.Recent = append(slices.Clip(tx.Talk.Recent), digest(a)[:16])
	if n := len(tx.Talk.Recent) - sameCalls*cycleCalls; n > 0 {
		tx.Talk.Recent = tx.Talk.Recent[n:]
	}
	tx.touch(tx.Talk)
	for length := 1; length <= cycleCalls; length++ {
		if repeats(tx.Talk.Recent, length) {
			return pawl.Fail(pawl.CodeLoop, "kernel.agent_loops", tx.Talk.Agent, a.Name, strconv.Itoa(length))
		}
	}
	return nil
}

// repeats reports whether the end of a list is one sequence of the given length, three times.
func repeats(list []string, length int) bool {
	n := length * sameCalls
	if len(list) < n {
		return false
	}
	end := list[len(list)-n:]
	for i := length; i < n; i++ {
		if end[i] != end[i-length] {
			return false
		}
	}
	return true
}

// learn keeps what mended a failure, for the agents of later failures of its kind (docs/spec/session.md#known-issues).
func learn(tx *Tx) {
	f := tx.Turn.Failure
	if f == nil || tx.Talk == nil || !traits(tx).Works {
		return
	}
	said := ""
	for _, m := range tx.Talk.Messages {
		if m.Role == effect.RoleAssistant && m.Text != "" {
			said = m.Text
		}
	}
	if said == "" {
		said = tx.Talk.Said
	}
	if strings.TrimSpace(said) == "" {
		return
	}
	i := &Incident{Type: string(f.Class), RootCause: f.What + " " + f.Fingerprint, Fix: firstLine(said),
		Scope: tx.Task.Plan.Goal, By: pawl.By(pawl.KindAgent, tx.Talk.Agent)}
	tx.create(i, KindIncident, "", tx.Session.ID, "")
	tx.record(i, AuditErrorRecorded, audit.Info, i)
}

// maxKnown bounds what an agent is told of earlier failures.
const maxKnown = 5

// knownIncidents says how earlier failures of the same kind were mended, the likest first.
func knownIncidents(tx *Tx, f *effect.Failure) []string {
	var same, like []string
	for _, i := range tx.Incidents {
		line := i.RootCause + ": " + i.Fix
		switch {
		case f.Fingerprint != "" && strings.Contains(i.RootCause, f.Fingerprint):
			same = append(same, line)
		case i.Type == string(f.Class):
			like = append(like, line)
		}
	}
	all := append(same, like...)
	return all[:min(len(all), maxKnown)]
}

// maxQuestions is how many questions one round may ask (docs/spec/turn.md#b1).
const maxQuestions = 3

// Bounds of questions: the length of one in bytes, how many may be open at once, and how many an agent may ask in one
// turn.
const (
	maxQuestion = 2000
	maxOpen     = 20
	maxAsks     = 10
)

// openQuestions asks for the open questions, oldest first.
var openQuestions = query{kind: KindQuestion, states: QuestionOpen}

func readQuestions(r *reads, s *Snapshot) error {
	s.Questions = list[Question](r, openQuestions)
	return nil
}

func (*Ask) read(r *reads, s *Snapshot) error             { return readQuestions(r, s) }
func (*AnswerQuestions) read(r *reads, s *Snapshot) error { return readQuestions(r, s) }

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

// askQuestion puts a question of the agent at work, whose turn waits for the answer. Call is the model's call that
// asks.
func askQuestion(tx *Tx, step, call, text string) error {
	switch {
	case !mayAsk(tx):
		return pawl.Fail(pawl.CodeApprovalNeeded, "kernel.nobody_asked")
	case tx.Turn.Asks >= maxAsks:
		return pawl.Fail(pawl.CodeDenied, "kernel.asks_used", strconv.Itoa(maxAsks))
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
		return nil, pawl.Fail(pawl.CodeBusy, "kernel.questions_open", strconv.Itoa(len(tx.Questions)))
	}
	tx.Session.Questions++
	tx.touch(tx.Session)
	q := &Question{Text: text, By: by}
	tx.create(q, KindQuestion, "q-"+strconv.Itoa(int(tx.Session.Questions)), tx.Session.ID, QuestionOpen)
	tx.Questions = append(tx.Questions, q)
	return q, nil
}

func noteQuestion(tx *Tx, q *Question) {
	tx.record(q, AuditQuestionAsked, audit.Info, map[string]any{"question": q.Label, "text": q.Text, "by": q.By,
		"step": q.Step})
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
func giveAnswers(tx *Tx, c *AnswerQuestions) error {
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
		return pawl.Fail(pawl.CodeInvalid, "kernel.answers_count", strconv.Itoa(len(list)), strconv.Itoa(len(c.Answers)))
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

// tellAsker has the agent at work learn of the answer to its question: as the result of its call, or with its next
// prompt.
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

// maxNote bounds the text of a decision or an incident, in bytes.
const maxNote = 16 << 10

// notable refuses a text that says nothing or far too much.
func notable(field, text string) error {
	if n := len(strings.TrimSpace(text)); n == 0 || n > maxNote {
		return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", field, maxNote)
	}
	return nil
}

// read finds whether the decision to be replaced is there. Decisions are never removed, so that it still is when the
// command is committed.
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
	d := &Ruling{Type: view.DecisionTypes()[i], Content: strings.TrimSpace(c.Content), Replaces: c.Replaces,
		By: tx.env.Actor}
	tx.create(d, KindDecision, "", tx.Session.ID, "")
	tx.record(d, AuditDecisionSaved, audit.Info, map[string]any{"decision_type": d.Type, "content": d.Content,
		"replaces": d.Replaces})
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
		Type: strings.TrimSpace(c.Type), RootCause: strings.TrimSpace(c.RootCause), Fix: strings.TrimSpace(c.Fix),
		Scope: strings.TrimSpace(c.Scope), By: tx.env.Actor,
	}
	tx.create(i, KindIncident, "", tx.Session.ID, "")
	tx.record(i, AuditErrorRecorded, audit.Info, i)
	tx.result = i.ID
	return nil
}
