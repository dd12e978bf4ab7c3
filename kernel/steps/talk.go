package steps

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
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/turn"
	"pawl/text/plan"
	"pawl/text/policy"
)

// forAgent reports whether a step is an agent's: it names no calls, and the run's agent works.
func forAgent(tx *kernel.Tx, s *plan.Step) bool {
	return len(s.ToolCalls) == 0 && kernel.TraitsOf(tx).Works
}

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
				Payload: kernel.Encode(map[string]any{"tool": a.Name, "args": a.Args, "result": m.Text,
					"failed": m.Failed})})
		}
	}
	return out[max(0, len(out)-maxEarlier):]
}

// hearAgent adds an answer to the conversation.
func hearAgent(tx *kernel.Tx, result effect.WorkResult) {
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
	k.Said, k.Notes = kernel.FirstLine(result.Text), nil
	tx.Touch(k)
	if result.Pack != nil {
		tx.Record(k, kernel.AuditContextBuilt, audit.Info, result.Pack)
	}
	said := map[string]any{
		"agent": result.Agent, "version": result.Version, "model": result.Model, "prompt": result.Prompt,
		"control": result.Control,
		"calls":   len(k.Asks), "usage": result.Usage, "reason": result.Reason,
	}
	if result.Login != "" {
		said["login"] = result.Login
	}
	tx.Record(k, kernel.AuditAgentSaid, audit.Info, said)
}

// tellAgent answers a call in the conversation and goes on to the next.
func tellAgent(tx *kernel.Tx, a effect.Ask, answer any, failed bool) {
	k := tx.Talk
	k.Messages = append(slices.Clip(k.Messages),
		effect.Message{Role: effect.RoleTool, Call: a.ID, Text: string(kernel.Encode(answer)), Failed: failed})
	k.Next++
	k.Granted = ""
	tx.Touch(k)
}

// toldOf is what an agent is told of a call that was made.
func toldOf(r effect.Receipt) any {
	out := map[string]any{"ok": r.OK, "made": true}
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil {
		out["payload"], out["files_changed"] = res.Payload, res.Artifacts.FilesChanged
	}
	if len(r.Taken) > 0 {
		out["taken_out"] = r.Taken
	}
	if !r.OK {
		out["error"] = map[string]any{"class": r.Class, "code": r.Code, "message": r.Err().Error(),
			"detail": kernel.Clip(r.Detail)}
	}
	return out
}

// maxRefused is how many refused calls a task keeps. The audit log has all.
const maxRefused = 20

// recordRefusal records that a call was not made, and keeps it for the summary unless a question about it follows.
func recordRefusal(tx *kernel.Tx, a effect.Ask, v policy.Verdict, err error) effect.Fault {
	kept := kernel.Info(err)
	data := map[string]any{"tool": a.Name, "code": kept.Code, "key": kept.Key, "args": kept.Args}
	if v.Decision == policy.Deny || v.Decision == policy.Ask && tx.Session.RunMode == pawl.Autonomous {
		r := effect.RefusedCall{Call: kernel.Clip(effect.Gist(a.Args)), Reasons: v.Reasons, Person: v.Person}
		if request, err := tx.Config.Tools[a.Name].Request(a.Args); err == nil {
			r.Rule = policy.AllowingRule(tx.Situate(request), tx.Config.Profile)
		}
		same := func(o effect.RefusedCall) bool { return o.Call == r.Call }
		if t := tx.Task; len(t.Refused) < maxRefused && !slices.ContainsFunc(t.Refused, same) {
			t.Refused = append(slices.Clip(t.Refused), r)
			tx.Touch(t)
		}
		data["run"], data["call"], data["reasons"], data["person"] = tx.Run.Label, r.Call, r.Reasons, r.Person
	}
	tx.Record(tx.Talk, kernel.AuditCallRefused, audit.Warn, data)
	return kept
}

// refuseCall tells the agent that a call was not made, and why.
func refuseCall(tx *kernel.Tx, a effect.Ask, v policy.Verdict, err error) {
	kept := recordRefusal(tx, a, v, err)
	tellAgent(tx, a, map[string]any{"ok": false, "made": false,
		"error": map[string]any{"class": kept.Class, "code": kept.Code, "message": err.Error()}}, true)
}

// wasAsked reports whether the call at work is one that an agent asked for between two exchanges.
func wasAsked(tx *kernel.Tx, call effect.ToolCall) bool {
	k := tx.Talk
	return k != nil && k.Step == call.StepID && k.Next < len(k.Asks) && tx.Effect.Within == ""
}

// workAgain has the call that is next judged once more, under a person's word where there is one. That must not count
// as the agent asking twice.
func workAgain(tx *kernel.Tx, granted string) {
	tx.Talk.Granted = granted
	if n := len(tx.Talk.Recent); n > 0 {
		tx.Talk.Recent = tx.Talk.Recent[:n-1]
	}
	tx.Touch(tx.Talk)
}

// wantCall keeps the call that an agent with a loop of its own may not make without a person's word. Its work breaks
// off there.
func wantCall(tx *kernel.Tx, a effect.Ask) {
	if tx.Session.RunMode == pawl.Autonomous || tx.Talk.Wanted != nil {
		return
	}
	tx.Talk.Wanted = &effect.Ask{Name: a.Name, Args: a.Args}
	tx.Touch(tx.Talk)
}

// wantedCalls takes the call for which the agent's work broke off.
func wantedCalls(tx *kernel.Tx) *effect.Ask {
	if tx.Talk == nil || tx.Talk.Wanted == nil {
		return nil
	}
	a := tx.Talk.Wanted
	tx.Talk.Wanted = nil
	tx.Touch(tx.Talk)
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
func spendWord(tx *kernel.Tx, a effect.Ask) string {
	key := digest(a)
	id := tx.Talk.Allowed[key]
	if id != "" {
		left := maps.Clone(tx.Talk.Allowed)
		delete(left, key)
		tx.Talk.Allowed = left
		tx.Touch(tx.Talk)
	}
	return id
}

// Loops: the same call this often in a row, or a cycle of at most this length gone through that often, is no progress.
const (
	sameCalls  = 3
	cycleCalls = 6
)

// agentLooping notes a call and reports whether the newest ones only repeat themselves.
func agentLooping(tx *kernel.Tx, a effect.Ask) error {
	tx.Talk.Recent = append(slices.Clip(tx.Talk.Recent), digest(a)[:16])
	if n := len(tx.Talk.Recent) - sameCalls*cycleCalls; n > 0 {
		tx.Talk.Recent = tx.Talk.Recent[n:]
	}
	tx.Touch(tx.Talk)
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

// maxKnown bounds what an agent is told of earlier failures.
const maxKnown = 5

// knownIncidents says how earlier failures of the same kind were mended, the likest first.
func knownIncidents(tx *kernel.Tx, f *effect.Failure) []string {
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

// Bounds of questions: the length of one in bytes, how many may be open at once, and how many an agent may ask in one
// turn.
const (
	maxQuestion = 2000
	maxOpen     = 20
	maxAsks     = 10
)

func readQuestions(r *kernel.Reads, s *kernel.Snapshot) error {
	s.Questions = kernel.List[kernel.Question](r, kernel.OpenQuestions)
	return nil
}

func (*Ask) Read(r *kernel.Reads, s *kernel.Snapshot) error             { return readQuestions(r, s) }
func (*AnswerQuestions) Read(r *kernel.Reads, s *kernel.Snapshot) error { return readQuestions(r, s) }

// Decide keeps the question of an agent that speaks for itself.
func (c *Ask) Decide(tx *kernel.Tx) error {
	if tx.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	for _, q := range tx.Questions {
		if q.By == tx.Env.Actor && q.Text == strings.TrimSpace(c.Question) {
			tx.Result = q.Label
			return nil
		}
	}
	q, err := putQuestion(tx, c.Question, tx.Env.Actor)
	if err != nil {
		return err
	}
	tx.Result = q.Label
	if u := tx.Turn; u != nil && kernel.SessionWorks(tx) && turn.State(u.State).Active() &&
		len(u.Asked) < kernel.MaxQuestions {
		hangQuestion(tx, q)
	}
	noteQuestion(tx, q)
	return nil
}

// askQuestion puts a question of the agent at work, whose turn waits for the answer. Call is the model's call that
// asks.
func askQuestion(tx *kernel.Tx, step, call, text string) error {
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
func mayAsk(tx *kernel.Tx) bool {
	return tx.Session.RunMode != pawl.Autonomous && tx.Has(tx.Turn, string(turn.NeedInfo), "")
}

// putQuestion makes an open question.
func putQuestion(tx *kernel.Tx, text string, by pawl.Actor) (*kernel.Question, error) {
	text = strings.TrimSpace(text)
	switch n := len(text); {
	case n == 0 || n > maxQuestion:
		return nil, pawl.Fail(pawl.CodeInvalid, "kernel.note_size", "question", maxQuestion)
	case len(tx.Questions) >= maxOpen:
		return nil, pawl.Fail(pawl.CodeBusy, "kernel.questions_open", strconv.Itoa(len(tx.Questions)))
	}
	tx.Session.Questions++
	tx.Touch(tx.Session)
	q, name := &kernel.Question{Text: text, By: by}, "q-"
	if tx.Session.Label != kernel.SessionLabel { // each session counts its own
		name += tx.Session.Label + "-"
	}
	tx.Create(q, kernel.KindQuestion, name+strconv.Itoa(int(tx.Session.Questions)), tx.Session.ID, kernel.QuestionOpen)
	tx.Questions = append(tx.Questions, q)
	return q, nil
}

func noteQuestion(tx *kernel.Tx, q *kernel.Question) {
	tx.Record(q, kernel.AuditQuestionAsked, audit.Info, map[string]any{"question": q.Label, "text": q.Text, "by": q.By,
		"step": q.Step})
}

// hangQuestion has the turn wait for a question.
func hangQuestion(tx *kernel.Tx, q *kernel.Question) {
	u := tx.Turn
	u.Asked, u.Questions = append(slices.Clip(u.Asked), q.ID), append(slices.Clip(u.Questions), q.Text)
	tx.Touch(u)
}

// parkTurn stops the work until the open questions are answered.
func parkTurn(tx *kernel.Tx) error {
	tx.Turn.Return = string(turn.Executing)
	return tx.Apply(kernel.WorkAsks, kernel.FirstLine(strings.Join(tx.Turn.Questions, " / ")))
}

// giveAnswers takes the person's answers.
func giveAnswers(tx *kernel.Tx, c *AnswerQuestions) error {
	parked := tx.Turn != nil && tx.Turn.State == string(turn.Clarifying) && tx.Turn.Return == string(turn.Executing)
	var list []*kernel.Question
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
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_asked", kernel.StateName(&tx.Snapshot))
	case len(c.Answers) > 0 && len(c.Answers) != len(list):
		return pawl.Fail(pawl.CodeInvalid, "kernel.answers_count", strconv.Itoa(len(list)),
			strconv.Itoa(len(c.Answers)))
	}
	for i, q := range list {
		answer := ""
		if i < len(c.Answers) {
			answer = strings.TrimSpace(c.Answers[i])
		}
		if len(answer) > kernel.MaxNote {
			return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", "answer", kernel.MaxNote)
		}
		kernel.CloseQuestion(tx, q, answer)
		tellAsker(tx, q)
	}
	if !parked || len(tx.Turn.Asked) > 0 {
		return nil
	}
	if err := tx.Apply(kernel.WorkAnswered, "answered by "+string(tx.Env.Actor)); err != nil {
		return err
	}
	tx.Turn.Return = ""
	return nil
}

// tellAsker has the agent at work learn of the answer to its question: as the result of its call, or with its next
// prompt.
func tellAsker(tx *kernel.Tx, q *kernel.Question) {
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
	tx.Touch(k)
}

// Decide takes the person's answers to the open questions: those of the intake where that waits for some, and otherwise
// those of agents at work.
func (c *AnswerQuestions) Decide(tx *kernel.Tx) error {
	if c.Question != "" || tx.Turn == nil || tx.Run == nil || tx.Turn.State != string(turn.Clarifying) ||
		tx.Turn.Return == string(turn.Executing) {
		return giveAnswers(tx, c)
	}
	return intakeAnswered(tx, c)
}

// intakeAnswered takes the person's answers to the questions of an intake. None at all means: go on with what there is.
func intakeAnswered(tx *kernel.Tx, c *AnswerQuestions) error {
	if len(c.Answers) > 0 && len(c.Answers) != len(tx.Turn.Questions) {
		return pawl.Fail(pawl.CodeInvalid, "kernel.answers_count", strconv.Itoa(len(tx.Turn.Questions)),
			strconv.Itoa(len(c.Answers)))
	}
	tx.Run.Answers = slices.Clip(tx.Run.Answers)
	for i, q := range tx.Turn.Questions {
		a := effect.Answered{Question: q}
		if i < len(tx.Turn.Put) {
			a.About = string(tx.Turn.Put[i].About)
		}
		if i < len(c.Answers) {
			a.Answer = strings.TrimSpace(c.Answers[i])
		}
		tx.Run.Answers = append(tx.Run.Answers, a)
	}
	tx.Turn.Questions, tx.Turn.Put = nil, nil
	tx.Run.AsIs = tx.Run.AsIs || len(c.Answers) == 0
	tx.Touch(tx.Run)
	tx.Touch(tx.Turn)
	tx.Record(tx.Run, kernel.AuditQuestionsAnswered, audit.Info,
		map[string]any{"answers": len(c.Answers), "by": tx.Env.Actor})
	if err := tx.Apply(kernel.Answered, "answered by "+string(tx.Env.Actor)); err != nil {
		return err
	}
	if tx.Run.AsIs && tx.Run.Evaluation != nil {
		e := tx.Run.Evaluation.GoOn()
		tx.Run.Evaluation = &e
		tx.Then(kernel.ThenJudge)
		return nil
	}
	tx.Then(kernel.ThenIntake)
	return nil
}
