package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"pawl"
	"pawl/face/cli/term"
	"pawl/face/host"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/kernel/budget"
	"pawl/kernel/control"
	"pawl/kernel/steps"
	"pawl/machine/turn"
	"pawl/text/triage"
)

// AgentWord names a kind or a state of an agent; one that has no words is shown as it is.
func AgentWord(pr *Printer, what, name string) string {
	key := "cli.agent_" + what + "." + name
	if _, ok := pr.Lang.Format(key); !ok {
		return Display(name)
	}
	return pr.Text(key)
}

// PrintTable prints rows in columns under a head.
func PrintTable(pr *Printer, head []string, rows [][]string) {
	var t term.Table
	t.Row(head...)
	for _, r := range rows {
		t.Row(r...)
	}
	for _, line := range t.Lines(pr.Std.Width) {
		pr.Say(strings.TrimRight(line, " "))
	}
}

// Args are texts as the arguments of a message.
func Args(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// AgentsOf returns the agents of the machine, with the settings of the folder that the command is about.
func AgentsOf(a *App) (host.Agents, error) {
	place, c, err := a.Configured()
	if err != nil {
		return host.Agents{}, err
	}
	return a.Host.Agents(place, c), nil
}

// MaxAnswers is how many questions can be open at once.
const MaxAnswers = 20

// AwaitsAnswers reports whether work waits for answers.
func AwaitsAnswers(s *kernel.Snapshot) bool {
	return s.Turn != nil && s.Turn.State == string(turn.Clarifying)
}

// openQuestions lists the texts of the questions that an answer is about: the one that is named, those that work waits
// for, or else all others.
func openQuestions(ctx context.Context, sess *Session, s *kernel.Snapshot, one string) ([]string, error) {
	if one == "" && AwaitsAnswers(s) {
		return asked(sess.Printer, s.Turn), nil
	}
	list, err := sess.Workspace.Kernel.Questions(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, q := range list {
		if one == "" || strings.EqualFold(one, q.Label) || one == q.ID {
			out = append(out, q.Text)
		}
	}
	switch {
	case len(out) == 0 && one != "":
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.question_unknown", one)
	case len(out) == 0:
		return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_asked", string(SessionState(s)))
	}
	return out, nil
}

// asked are the questions that the turn waits for, in words.
func asked(pr *Printer, t *kernel.Turn) []string {
	out := slices.Clone(t.Questions)
	for i, q := range t.Put {
		if q.Key != "" && i < len(out) {
			out[i] = pr.Text(q.Key, Args(q.Args)...)
		}
	}
	return out
}

// AskQuestions puts open questions to the person at the terminal, one after the other, and returns the command that
// gives the answers, goes on with what there is, or cancels.
func AskQuestions(ctx context.Context, sess *Session, s *kernel.Snapshot, one string) (kernel.Command, error) {
	questions, err := openQuestions(ctx, sess, s, one)
	if err != nil {
		return nil, err
	}
	if !sess.Present() {
		if !sess.JSON {
			listQuestions(sess.Printer, questions)
		}
		return nil, pawl.Fail(pawl.CodeApprovalNeeded, "cli.answers_needed", len(questions))
	}
	var out []string
	for i, q := range questions {
		sess.SayText("cli.question", i+1, len(questions), Display(q))
		line, err := sess.Screen.Ask(ctx, tui.Question{Text: ">", Free: true, Empty: true, Ways: []tui.Way{
			way(sess.Printer, "cli.ask.does.cancel", canceling), way(sess.Printer, "cli.ask.does.go_on", goingOn),
		}, Means: Answering(triage.WaitWords)})
		switch {
		case errors.Is(err, tui.ErrLeft):
			return nil, pawl.Fail(pawl.CodeApprovalNeeded, "cli.answers_needed", len(questions))
		case err != nil:
			return nil, err
		case line == canceling:
			return &control.CancelRun{Reason: sess.Text("cli.ask.canceled")}, nil
		case line == goingOn:
			return &steps.AnswerQuestions{Question: one}, nil
		}
		out = append(out, line)
	}
	return &steps.AnswerQuestions{Answers: out, Question: one}, nil
}

// listQuestions prints questions.
func listQuestions(pr *Printer, questions []string) {
	for i, q := range questions {
		pr.SayText("cli.question", i+1, len(questions), Display(q))
	}
}

// SessionState is the state of the session, "-" where there is none.
func SessionState(s *kernel.Snapshot) string {
	if s.Session == nil {
		return "-"
	}
	return s.Session.State
}

// questions puts the open questions before a person, or says how they are answered.
func (v *Drive) questions(ctx context.Context, s *kernel.Snapshot) (again bool, err error) {
	if s.Turn == nil {
		return false, pawl.Fail(pawl.CodeInternal, "cli.no_approval")
	}
	if v.sess.JSON {
		if err := v.sess.PrintLine(map[string]any{"type": "questions", "questions": asked(v.sess.Printer, s.Turn),
			"round": s.Turn.Rounds}); err != nil {
			return false, err
		}
	}
	if !v.sess.Present() {
		if !v.sess.JSON {
			listQuestions(v.sess.Printer, asked(v.sess.Printer, s.Turn))
			v.sess.Say("  " + v.sess.Style.Cyan(v.sess.Text("cli.next")) + v.sess.Text("cli.answer_how"))
		}
		return false, Shown(pawl.Fail(pawl.CodeApprovalNeeded, "cli.answers_needed", len(s.Turn.Questions)))
	}
	answer, err := AskQuestions(ctx, v.sess, s, "")
	if err != nil {
		return false, err
	}
	_, err = v.sess.Do(ctx, answer)
	return err == nil, err
}

// DollarsText writes millionths of a dollar. A sum that lacks prices is a lower bound, and one that has none is not
// known.
func DollarsText(pr *Printer, micro int64, unpriced bool) string {
	switch {
	case unpriced && micro == 0:
		return pr.Text("cli.price_unknown")
	case unpriced:
		return pr.Text("cli.price_at_least", budget.Dollars(micro))
	}
	return budget.Dollars(micro)
}

// Count writes a number with thin groups of three digits.
func Count(n int64) string {
	text := strconv.Itoa(int(n))
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}
