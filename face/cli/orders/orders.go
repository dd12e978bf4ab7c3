// Package orders is the face of those ~commands (docs/spec/workflow.md#command-behaviour) that are no flow: ~init
// ~upgrade ~clean ~test ~commit ~review ~validate ~rollback ~help, and of pawl prepare, which is none of them. Each
// looks at the project, lets the pure packages decide what is to be written, asks where a person has to choose, and
// gives it to the kernel as one effect of the session, so that what was begun is known after a crash. It writes nothing
// by itself.
package orders

import (
	"context"
	"errors"
	"slices"
	"strings"

	"pawl"
	"pawl/face/cli"
	"pawl/face/tui"
	"pawl/kernel/effect"
	"pawl/kernel/orders"
	"pawl/machine/session"
	"pawl/text/message"
	"pawl/text/solution"
	"pawl/text/triage"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{
		{Name: "init", Group: "work", Build: newInitCommand},
		{Name: "test", Group: "work", Build: newTestCommand},
		{Name: "prepare", Group: "work", Build: newPrepareCommand},
		{Name: "commit", Group: "work", Build: newCommitCommand},
		{Name: "review", Group: "look", Build: newReviewCommand},
		{Name: "validate", Group: "look", Build: newValidateCommand},
		{Name: "clean", Group: "setup", Build: newCleanCommand},
		{Name: "upgrade", Group: "setup", Build: newUpgradeCommand},
		{Name: "rollback", Group: "stuck", Build: newRollbackCommand},
	}
}

// Run carries out a command by its name in the seed ("~commit"), with the text that stands behind it. A name that is
// none of theirs is CodeUsage. What it prints and asks is what the command of the first level does, and so is what its
// flags mean.
func Run(ctx context.Context, a *cli.App, name, argument string) error {
	word := strings.TrimPrefix(strings.TrimSpace(name), "~")
	if word == "help" || word == "?" {
		return help(a.Printer)
	}
	if slices.ContainsFunc(Entries(), func(e cli.Entry) bool { return e.Name == word }) {
		return cli.Within(ctx, a, append([]string{word}, Words(argument)...))
	}
	return cli.Usage("machine.command_unknown", name)
}

// Words splits a text at blanks outside of quotes.
func Words(text string) []string {
	out := []string{}
	var word strings.Builder
	quote, open := rune(0), false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\'' && !open):
			quote, open = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n' || r == '\r'):
			if open {
				out = append(out, word.String())
				word.Reset()
			}
			open = false
		default:
			open = true
			word.WriteRune(r)
		}
	}
	if open {
		out = append(out, word.String())
	}
	return out
}

// carry gives an effect to the kernel and has it done, in the name of a command. Something that an earlier command
// began and a crash cut off is settled first. The receipt comes back with its error, because what failed may still have
// a result.
func carry(ctx context.Context, sess *cli.Session, command string, kind effect.Kind, spec any) (effect.Receipt, error) {
	release, err := sess.MustOwn()
	if err != nil {
		return effect.Receipt{}, err
	}
	defer release()
	if err := settle(ctx, sess); err != nil {
		return effect.Receipt{}, err
	}
	// Everything here may be done again: the drivers find what was done already.
	out, err := sess.Do(ctx, &orders.Order{Command: command, Kind: kind, Spec: effect.Encode(spec), Idempotent: true})
	if err != nil {
		return effect.Receipt{}, err
	}
	id := cli.ID(out)
	run := sess.Workspace.Runner(func(_ effect.Effect, line string) {
		if line != "" {
			sess.Note("  " + sess.Style.Dim(cli.Display(sess.Wordy(line))))
		}
	})
	if err := run.Effect(ctx, id); err != nil {
		return effect.Receipt{}, err
	}
	return receipt(ctx, sess, id)
}

func receipt(ctx context.Context, sess *cli.Session, id string) (effect.Receipt, error) {
	e, err := sess.Workspace.Kernel.Effect(ctx, id)
	if err != nil {
		return effect.Receipt{}, err
	}
	if e == nil || e.Receipt == nil {
		return effect.Receipt{}, pawl.Fail(pawl.CodeInternal, "orders.no_receipt", id)
	}
	return *e.Receipt, e.Receipt.Err()
}

// settle finishes what a command that is no flow left at work when its process died. The caller owns the workspace.
func settle(ctx context.Context, sess *cli.Session) error {
	s, err := sess.View(ctx)
	if err != nil || s.Effect == "" || s.State != session.Idle && !left(ctx, sess, s.Effect) {
		return err
	}
	return sess.Workspace.Runner(nil).Effect(ctx, s.Effect)
}

// free fails where a run is at work, before a person is asked anything in vain. What a crash cut off is settled, so
// that what is looked at next is not the half of something.
func free(ctx context.Context, sess *cli.Session) error {
	s, err := sess.View(ctx)
	switch {
	case err != nil:
		return err
	case s.State != session.Idle:
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", string(s.State), s.Goal)
	case s.Effect == "":
		return nil
	}
	release, err := sess.MustOwn()
	if err != nil {
		return err
	}
	defer release()
	sess.Note(sess.Style.Warn() + " " + sess.Text("orders.settled"))
	return settle(ctx, sess)
}

// language is that of documents and of commit messages.
func language(sess *cli.Session) solution.Language {
	if sess.Config.Output != "" {
		return solution.ParseLanguage(sess.Config.Output)
	}
	return solution.ParseLanguage(string(sess.Lang))
}

// writing is the language of documents, in the catalogue.
func writing(sess *cli.Session) message.Lang {
	if language(sess) == solution.Chinese {
		return message.Chinese
	}
	return message.English
}

// written renders a message for a document.
func written(sess *cli.Session, key string, args ...any) string {
	return sess.TextIn(writing(sess), key, args...)
}

// option is one answer to a question: what is typed, and what it means.
type option struct{ key, text string }

// choose asks which of some answers is meant; the first one is that of an empty line. An end of the input is the last
// one, which gives up.
func choose(ctx context.Context, pr *cli.Printer, question string, options []option) (string, error) {
	q := tui.Question{Text: question, Empty: true}
	for _, o := range options {
		q.Text += "\n  [" + o.key + "] " + o.text
		q.Ways = append(q.Ways, tui.Way{Words: []string{strings.ToLower(o.key)}, Does: o.text})
	}
	q.Text += "\n>"
	q.Means = func(line string) (string, bool) {
		last := strings.ToLower(options[len(options)-1].key)
		if word, _ := cli.Answering(triage.WaitChoice)(line); word == "cancel" || word == "n" {
			return last, false
		}
		return "", true
	}
	answer, err := pr.Screen.Ask(ctx, q)
	switch {
	case errors.Is(err, tui.ErrLeft):
		return options[len(options)-1].key, nil
	case err == nil && answer == "":
		return options[0].key, nil
	}
	return answer, err
}

// sure asks whether something is to be done. yes answers beforehand; where nobody is there to ask, the error names the
// flag.
func sure(ctx context.Context, pr *cli.Printer, question string, yes bool) error {
	if yes {
		return nil
	}
	ok, err := cli.Confirm(ctx, pr, question)
	if err == nil && !ok {
		pr.SayText("orders.left")
		err = cli.Shown(pawl.Fail(pawl.CodeUserDenied, "orders.declined"))
	}
	return err
}
