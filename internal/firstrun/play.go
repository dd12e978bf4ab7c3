package firstrun

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/kernel/view"
)

// play is a command that a screen named, made ready to be given.
type play struct {
	run func() (Try, error)
	// needs says what only the person has, where the instrument cannot give the command.
	needs string
	// played says what the instrument does as the person.
	played string
	// hand says that the person does the work itself before it.
	hand bool
	// blind says that the person has to know what is wrong with the code.
	blind bool
	// looks says that the command only shows something.
	looks bool
}

// givingUp end the work without doing it, looking only show something.
var (
	givingUp = []string{"rollback", "skip", "stop", "deny", "cancel", "undo"}
	looking  = []string{"status", "doctor", "help", "board", "version", "budget", "audit", "task", "machine",
		"agent list", "agent check", "config show", "plan show", "issue list", "issue show"}
)

// choose takes the first command that goes on with the work: one that can be given before one that only shows
// something.
func (t *tour) choose(named []string) (string, play, bool) {
	var shows []string
	for _, c := range named {
		w := words(c)
		switch {
		case len(w) > 1 && w[0] == "pawl" && slices.Contains(givingUp, w[1]):
		case looksOnly(w):
			shows = append(shows, c)
		default:
			return c, t.prepare(c, w), true
		}
	}
	for _, c := range shows {
		if !slices.ContainsFunc(t.row.Tries, func(e Try) bool { return e.Command == c }) {
			p := t.prepare(c, words(c))
			p.looks = true
			return c, p, true
		}
	}
	return "", play{}, false
}

func looksOnly(w []string) bool {
	return len(w) > 1 && w[0] == "pawl" &&
		(slices.Contains(looking, w[1]) || len(w) > 2 && slices.Contains(looking, w[1]+" "+w[2]))
}

// placeholder fits a word that the person has to fill in.
var placeholder = regexp.MustCompile(`^["']?[A-Z][A-Z _|-]+["']?$|^["']?…["']?$`)

// prepare makes a command ready, and plays the person where it asks for one whom the instrument can play.
func (t *tour) prepare(command string, w []string) play {
	switch {
	case strings.HasPrefix(command, "go mod download"), strings.HasPrefix(command, "git merge"):
		program := t.find(w[0])
		return play{run: func() (Try, error) {
			return t.command(append([]string{program}, unquoted(w[1:])...), command, "", false)
		}}
	case w[0] != "pawl":
		return play{needs: "the network or the machine's administrator"}
	}
	args := unquoted(w[1:])
	p := play{}
	var before func() error
	switch {
	case args[0] == "agent" && !looksOnly(w):
		return play{needs: "an account of the person's"}
	case args[0] == "fix" && len(args) == 1:
		if b := look[view.Status](t, "status").Blocked; b != nil && b.Kind != "environment" {
			p.played, before, p.hand, p.blind = "mends the fault in the worktree", t.mend, true, true
		}
	case args[0] == "answer" && len(args) == 1:
		args = append(args, t.folder.asks)
		p.played = "answers"
	}
	if err := t.fill(args, &p); err != nil {
		return play{run: func() (Try, error) { return Try{}, err }}
	}
	if p.needs != "" {
		return play{needs: p.needs}
	}
	if args[0] == "run" && !slices.Contains(args, "--yes") {
		args = append(args, "--yes")
	}
	p.run = func() (Try, error) {
		if before != nil {
			if err := before(); err != nil {
				return Try{}, err
			}
		}
		return t.pawl(p.played, args...)
	}
	return p
}

// fill fills in the words that a person has to, and says in p what the person does for that, or that only a person can.
func (t *tour) fill(args []string, p *play) error {
	for i := 1; i < len(args); i++ {
		switch blank := placeholder.MatchString(args[i]); {
		case args[i-1] == "--plan" && blank:
			args[i] = filepath.Join(t.maker.base, "plan.json")
			// Where pawl finds nothing to check it is the person who knows what is wrong.
			p.played, p.hand, p.blind = "writes the plan", true, !t.folder.custom
			if err := writeFile(args[i], string(encode(t.folder.handPlan())), 0o644); err != nil {
				return err
			}
		case args[i-1] == "--agent" && args[i] != "llm" && !blank:
			p.needs = "an installed agent, " + args[i]
			return nil
		case args[i-1] == "--agent":
			args[i], p.played = "llm", "sets up a model"
			if err := t.modelled(t.model, false); err != nil {
				return err
			}
		case args[0] == "run" && blank:
			args[i] = t.folder.asks
		case blank:
			p.needs = "a word of the person's, " + args[i]
			return nil
		}
	}
	return nil
}

// mend mends the fault where the work is: in the task's worktree, or in the folder itself.
func (t *tour) mend() error {
	trees, err := filepath.Glob(filepath.Join(t.state(), "worktrees", "*"))
	if err != nil {
		return err
	}
	trees = slices.DeleteFunc(trees, func(dir string) bool {
		st, err := os.Stat(dir)
		return err != nil || !st.IsDir() || strings.Contains(filepath.Base(dir), "-before")
	})
	at := t.work
	switch len(trees) {
	case 0:
	case 1:
		at = trees[0]
	default:
		return fmt.Errorf("%d worktrees: %v", len(trees), trees)
	}
	return writeFile(filepath.Join(at, filepath.FromSlash(t.folder.file)), t.folder.right, 0o644)
}
