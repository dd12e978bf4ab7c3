package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/triage"
	"pawl/tui"
)

// AskUser asks a person. A question that is left open is the error tui.ErrLeft, one that was answered elsewhere tui.ErrSettled.
func (a *terminal) AskUser(ctx context.Context, q tui.Question) (string, error) {
	return a.tty.Ask(ctx, q)
}

// Prompt asks for a text. An empty line is one.
func (a *terminal) Prompt(ctx context.Context, question string) (string, error) {
	return a.AskUser(ctx, tui.Question{Text: question, Free: true, Empty: true})
}

// Confirm asks a question that is answered with yes or no; an empty line is no. Without a terminal it fails with
// approval_needed, naming the flag that answers it.
func (a *terminal) Confirm(ctx context.Context, question string) (bool, error) {
	if !a.Present() {
		return false, pawl.Fail(pawl.CodeApprovalNeeded, "cli.confirm_needed")
	}
	answer, err := a.AskUser(ctx, tui.Question{Text: question, Empty: true, Ways: []tui.Way{
		a.way("cli.ask.does.confirm", "y", "yes", "是"), a.way("cli.ask.does.refuse", "n", "no", "否"),
	}})
	if errors.Is(err, tui.ErrLeft) {
		err = shown{pawl.Fail(pawl.CodeUserDenied, "cli.ended", "declined")}
	}
	return answer == "y", err
}

// way is an answer with what it does, by its key.
func (a *terminal) way(does string, words ...string) tui.Way {
	return tui.Way{Words: words, Does: a.Text(does)}
}

// Terminal is the one thing that reads what a person types, and that draws.
func (a *terminal) Terminal() *tui.Screen { return a.tty }

// Status sets the live line, where a person sees what goes on.
func (a *terminal) Status(text string, paint func(string) string) {
	if a.Present() {
		a.tty.Status(text, paint)
	}
}

// looking are the commands that only look, so that they can be given while something is asked; those of a group are named behind
// it.
var looking = map[string][]string{
	"status": nil, "show": nil, "diff": nil, "log": nil, "logs": nil, "budget": nil, "doctor": nil, "version": nil, "help": nil,
	"audit": {"log", "show", "verify"}, "task": {"list", "show", "log"}, "issue": {"list", "show"}, "plan": {"show"},
	"agent": {"list"}, "config": {"show", "get"}, "mcp": {"list"}, "skill": {"list", "show"}, "question": {"list"},
}

// hear carries out what was typed at a question and is no answer to it. It reports whether it meant anything.
func (a *App) hear(ctx context.Context, line string) bool {
	words := strings.Fields(line)
	if len(words) == 0 {
		return false
	}
	first, command := strings.CutPrefix(words[0], "/")
	if first == "pawl" && len(words) > 1 {
		words, command = words[1:], true
		first = words[0]
	}
	names := Names(a)
	switch {
	case slices.Contains(names, first) && (command || len(words) <= 3):
		args := append([]string{first}, words[1:]...)
		if group, ok := looking[first]; !ok || group != nil && (len(words) < 2 || !slices.Contains(group, words[1])) {
			a.Say(a.Style.Warn() + " " + a.Text("cli.ask.later", "pawl "+strings.Join(args, " ")))
			return true
		}
		a.within(ctx, args)
		return true
	case strings.HasPrefix(first, "~"):
		a.Say(a.Style.Warn() + " " + a.Text("cli.ask.later", first))
		return true
	}
	// Whether it is a question is judged as if nothing waited: what waits would make a reply of it.
	if r, err := triage.Decide(line, triage.Situation{}); err != nil || r.Kind != triage.KindQuestion || len([]rune(line)) < wordy {
		return false
	}
	a.SayText("cli.flow.question")
	a.within(ctx, []string{"status"})
	return true
}

// wordy is how many characters a question has at least: what is shorter is a mistyped answer.
const wordy = 5

// within runs a command line while a question is open; it tells by itself what went wrong.
func (a *App) within(ctx context.Context, args []string) {
	lang, style, hear := a.tty.Lang, a.tty.Style, a.tty.Hear
	Again(ctx, a, args)
	a.tty.Lang, a.tty.Style, a.tty.Hear = lang, style, hear
}

// Named accepts one name, or none where a person can choose it: on a terminal, and never in a pipe or with --json.
func Named(a *App) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 && a.picks() {
			return nil
		}
		return Exactly(1)(c, args)
	}
}

func (a *terminal) picks() bool { return a.Present() && a.tty.Drawn() }

// Pick returns the name that was given, or lets a person choose one of the items.
func (a *terminal) Pick(ctx context.Context, args []string, title string, items func() ([]tui.Item, error)) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	list, err := items()
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", pawl.Fail(pawl.CodeNotFound, "cli.pick.empty")
	}
	i, err := a.tty.Pick(ctx, a.Text(title), list)
	if errors.Is(err, tui.ErrLeft) {
		err = shown{pawl.Fail(pawl.CodeCanceled, "cli.ended", "canceled")}
	}
	return i.ID, err
}

// PickAgent returns the name of an agent that was given, or lets a person choose one of those that fit.
func (a *App) PickAgent(ctx context.Context, args []string, fits func(AgentInfo) bool) (string, error) {
	return a.Pick(ctx, args, "cli.pick.agent", func() ([]tui.Item, error) {
		agents, err := AgentsOf(a)
		if err != nil {
			return nil, err
		}
		var out []tui.Item
		for _, i := range agents.List(ctx, "") {
			if fits == nil || fits(i) {
				out = append(out, tui.Item{ID: i.Name, Title: agentWord(a.voice, "kind", i.Kind) + "  " + i.Version, Note: agentWord(a.voice, "state", i.State)})
			}
		}
		return out, nil
	})
}

// MaxPicked is how many things a person is offered to choose from.
const MaxPicked = 1000
