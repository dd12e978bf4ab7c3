package flow

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/face/cli/orders"
	"pawl/face/tui"
	"pawl/machine/session"
	"pawl/machine/workflow"
)

func newPromptCommand(a *cli.App) *cobra.Command {
	return a.Command(cli.Ask, "cli.flow.prompt", "  pawl prompt\n  pawl", cli.Exactly(0),
		func(c *cobra.Command, _ []string) error {
			if !a.Std.TTY || a.Std.TermIn == nil {
				return cli.Usage("cli.flow.no_terminal")
			}
			// The prompt has a meaning of its own for Ctrl-C, which must not end the program as it does elsewhere.
			signal.Reset(os.Interrupt)
			p := prompt{app: a}
			defer p.close()
			return tui.Prompt{
				Screen: a.Screen, History: p.history(), Status: p.status, Complete: p.complete, Submit: p.submit,
			}.Run(c.Context())
		})
}

// prompt answers what the terminal asks while lines are read.
type prompt struct {
	app  *cli.App
	sess *cli.Session // open for looking, while there is a workspace
}

func (p *prompt) close() {
	if p.sess != nil {
		_ = p.sess.Workspace.Close() // nothing was written
		p.sess = nil
	}
}

// look opens the workspace for looking where that is possible.
func (p *prompt) look() *cli.Session {
	if p.sess == nil {
		p.sess, _ = p.app.Open(context.Background(), cli.Reading()) // without a workspace there is nothing to look at
	}
	return p.sess
}

// history is the file of what was entered before.
func (p *prompt) history() string {
	dir := p.app.Std.Env("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home := p.app.Std.Env("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "pawl", "history")
}

func (p *prompt) status() tui.Status {
	sess := p.look()
	if sess == nil {
		return tui.Status{}
	}
	s, err := sess.Workspace.Kernel.Snapshot(context.Background())
	if err != nil || s.Session == nil {
		p.close()
		return tui.Status{}
	}
	st := tui.Status{State: s.Session.State, Busy: s.Session.State == string(session.Executing) ||
		s.Session.State == string(session.AutoFix)}
	if s.Flow != nil && s.Flow.Stage != workflow.None {
		st.Mode, st.Stage = string(s.Flow.Mode), string(s.Flow.Stage)
	}
	return st
}

// submit carries a line out. One that begins with "pawl" or with "/" is a command of the first level, and every other
// one is said to pawl.
func (p *prompt) submit(ctx context.Context, line string) error {
	p.close() // what is carried out opens the workspace by itself
	words := orders.Words(line)
	args := []string{cli.Say, "--", line}
	switch first := words[0]; {
	case first == "exit" || first == "quit" || first == "/exit" || first == "/quit":
		return tui.ErrLeave
	case first == "pawl":
		args = words[1:]
	case strings.HasPrefix(first, "/") && slices.Contains(cli.Names(p.app), first[1:]):
		args = append([]string{first[1:]}, words[1:]...)
	}
	if len(args) == 0 || args[0] == cli.Ask {
		return nil // one prompt is enough
	}
	cli.Again(ctx, p.app, args) // it has told what went wrong
	return nil
}

// complete offers the commands, and behind ~exec the packages.
func (p *prompt) complete(line string, cursor int) []tui.Candidate {
	head := line[:cursor]
	last := strings.LastIndexAny(head, " \t") + 1
	word := head[last:]
	var out []tui.Candidate
	add := func(insert, note string) {
		if strings.HasPrefix(insert, word) {
			out = append(out, tui.Candidate{Insert: insert + " ", Label: insert, Note: note})
		}
	}
	before := strings.Fields(head[:last])
	switch {
	case slices.Contains(before, "~exec") || slices.Contains(before, "/exec"):
		for _, name := range p.packages() {
			add(name, "")
		}
	case strings.HasPrefix(word, "/") && len(before) == 0:
		for _, name := range cli.Names(p.app) {
			add("/"+name, "")
		}
	case strings.HasPrefix(word, "~") || word == "" && len(before) == 0:
		for _, c := range workflow.Commands() {
			add(c.Name, p.app.Text("cli.flow.does."+strings.TrimPrefix(c.Name, "~")))
		}
	}
	return out
}

func (p *prompt) packages() []string {
	sess := p.look()
	if sess == nil {
		return nil
	}
	known, err := sess.Ask().Packages(context.Background())
	if err != nil {
		return nil // completion is a convenience
	}
	var out []string
	for name := range known {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
