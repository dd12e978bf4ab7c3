// Package complete answers what a shell asks when a person presses Tab: what could stand here. It goes by what the
// usage lines and the flags of the commands say they take, so that a command needs to say nothing more.
//
// To answer is to look: no workspace is made or brought up to date, nothing is written, and what cannot be found out is
// not offered.
package complete

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/face/host"
)

const (
	// most is how many values are offered at most, and looked how many rows of the store are gone through for them,
	// newest first.
	most   = 100
	looked = 1000
	// patience is how long an answer may take. A shell waits for it, and the person with it.
	patience = 2 * time.Second
	// about is how wide the text beside a value may be.
	about = 100
)

// Entries are the command that prints a shell's script, and what gives every command its completion.
func Entries() []cli.Entry {
	return []cli.Entry{{Name: "completion", Group: "setup", Build: newCompletionCommand}, {Tree: attach}}
}

// requested reports whether a command line is a shell's question.
func requested(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// attach has the commands of a tree answer a shell's question, if it is one.
func attach(a *cli.App, root *cobra.Command) {
	if !requested(a.Args) {
		return
	}
	a.Std.Err = io.Discard // a shell shows neither remarks nor errors, and some would put them into the command line
	root.InitDefaultHelpCmd()
	every(root, func(c *cobra.Command) {
		if len(c.ValidArgs) == 0 {
			c.ValidArgsFunction = func(c *cobra.Command, args []string, prefix string) ([]string,
				cobra.ShellCompDirective) {
				return (&question{app: a, cmd: c, args: args}).answer(prefix, wordsAt(c, len(args)))
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !valued(f) {
				return
			}
			// A flag that has its completion already keeps it.
			_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, args []string, prefix string) ([]string,
				cobra.ShellCompDirective) {
				return (&question{app: a, cmd: c, list: f.Value.Type() == "stringSlice"}).answer(prefix,
					[]string{"--" + f.Name})
			})
		})
	})
}

// every calls f for a command and for all below it.
func every(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, s := range c.Commands() {
		every(s, f)
	}
}

// valued reports whether a flag takes words that could be known.
func valued(f *pflag.Flag) bool {
	return slices.Contains([]string{"string", "stringSlice", "stringArray"}, f.Value.Type())
}

// wordsAt are the words with which a usage line names what stands at a place among the arguments: [RUN|TASK] is RUN and
// TASK.
func wordsAt(c *cobra.Command, n int) []string {
	for i, field := range strings.Fields(c.Use)[1:] {
		if strings.HasPrefix(strings.TrimPrefix(field, "["), "--") {
			return nil
		}
		if i == n || strings.Contains(field, "...") {
			return strings.Split(strings.NewReplacer("[", "", "]", "", "...", "").Replace(field), "|")
		}
	}
	return nil
}

// word is a value that is offered, and what is said of it.
type word struct{ value, about string }

// question is what a shell asks: what may stand behind args, or as the value of a flag.
type question struct {
	app  *cli.App
	cmd  *cobra.Command
	args []string
	// list says that the value is a list with commas.
	list bool
	sess *cli.Session
}

// answer offers what the words of a usage line stand for and what begins with the prefix.
func (q *question) answer(prefix string, words []string) ([]string, cobra.ShellCompDirective) {
	ctx, stop := context.WithTimeout(q.cmd.Context(), patience)
	defer stop()
	defer q.close()
	given, begins := "", prefix
	if at := strings.LastIndexByte(prefix, ','); q.list && at >= 0 {
		given, begins = prefix[:at+1], prefix[at+1:]
	}
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	out, seen := []string{}, map[string]bool{}
	for _, w := range words {
		k := kindOf(q.cmd, w)
		switch {
		case len(k.endings) > 0:
			return k.endings, cobra.ShellCompDirectiveFilterFileExt
		case k.folders:
			return nil, cobra.ShellCompDirectiveFilterDirs
		case k.files:
			directive &^= cobra.ShellCompDirectiveNoFileComp
		}
		if k.ask == nil {
			continue
		}
		for v := range k.ask(ctx, q, begins) {
			if len(out) == most {
				break
			}
			if !seen[v.value] && fits(v.value, begins) && !slices.Contains(q.args, v.value) &&
				!slices.Contains(strings.Split(given, ","), v.value) {
				seen[v.value] = true
				out = append(out, shown(word{given + v.value, v.about}))
			}
		}
	}
	return out, directive
}

// fits reports whether a value begins as what was typed, in any case, and is one that every shell takes as it is: names
// come from files and from agents, and a shell might act on what it puts into its command line.
func fits(value, begins string) bool {
	if value == "" || len(value) < len(begins) || !strings.EqualFold(value[:len(begins)], begins) || value[0] == '-' ||
		!utf8.ValidString(value) {
		return false
	}
	return !strings.ContainsFunc(value, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@+,=% ", r)
	})
}

// shown is a value as a shell is told of it.
func shown(w word) string {
	line, _, _ := strings.Cut(strings.TrimSpace(w.about), "\n")
	if line = strings.TrimSpace(term.Clip(cli.Display(line), about, "…")); line == "" {
		return w.value
	}
	return cobra.CompletionWithDesc(w.value, line)
}

// open is the workspace that the command line is about, opened for looking, or nil where there is none that can be
// read.
func (q *question) open(ctx context.Context) *cli.Session {
	if q.sess == nil {
		sess, err := q.app.Open(ctx, host.Open{ReadOnly: true, Still: true})
		if err != nil {
			return nil
		}
		q.sess = sess
	}
	return q.sess
}

func (q *question) close() {
	if q.sess != nil {
		_ = q.sess.Workspace.Close() // nothing was written
	}
}
