// Package manual writes the manual pages: one for pawl and one for each of its commands, from the tree of commands and
// from the tables of settings and of exit statuses, in the language of the person.
package manual

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/settings"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry { return []cli.Entry{{Name: "man", Group: "setup", Build: newManCommand}} }

func newManCommand(a *cli.App) *cobra.Command {
	return a.Command("man [DIR]", "manual.man", "  pawl man | man -l -\n  pawl man ~/.local/share/man/man1",
		cli.Between(0, 1), func(_ *cobra.Command, args []string) error {
			all := pages(a)
			if len(args) == 0 {
				_, err := a.Std.Out.Write(all[0].text)
				return err
			}
			files, err := write(a.Path(args[0]), all)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(files)
			}
			a.SayText("manual.written", len(files), args[0])
			return nil
		})
}

// page is a manual page under the name of its file.
type page struct {
	name string
	text []byte
}

// pages are all of them, that of pawl itself first.
func pages(a *cli.App) []page {
	var out []page
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		out = append(out, page{name(c) + ".1", (&writer{app: a}).page(c)})
		for _, s := range sorted(c) {
			walk(s)
		}
	}
	walk(cli.Whole(a))
	return out
}

// sorted are the commands below one that a person may type, in the order of the help.
func sorted(c *cobra.Command) []*cobra.Command {
	subs := slices.DeleteFunc(slices.Clone(c.Commands()),
		func(s *cobra.Command) bool { return !s.IsAvailableCommand() })
	slices.SortFunc(subs, func(x, y *cobra.Command) int {
		return strings.Compare(x.Annotations["order"],
			y.Annotations["order"])
	})
	return subs
}

// name is what a command's page is called: pawl-issue-add.
func name(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// write writes pages into a folder, which is made, and returns their paths. A page of the name is replaced.
func write(dir string, all []page) ([]string, error) {
	err := os.MkdirAll(dir, 0o755)
	out := make([]string, 0, len(all))
	for _, p := range all {
		file := filepath.Join(dir, p.name)
		err = errors.Join(err, os.WriteFile(file, p.text, 0o644))
		out = append(out, file)
	}
	if err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "cli.file_unwritable", dir).Because(err)
	}
	return out, nil
}

// writer writes one page in the language of roff, with the macros of man(7).
type writer struct {
	app *cli.App
	out bytes.Buffer
}

// plain has roff show text as it is: a backslash is none of its own, hyphens can be copied, and no line is taken for a
// request.
func plain(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\n.", "\n\\&."), "\n'", "\n\\&'")
}

func (w *writer) line(s string) { w.out.WriteString(s + "\n") }

func (w *writer) section(key string) { w.line(".SH " + plain(w.app.Text("manual.section."+key))) }

// item is a term and what is said of it.
func (w *writer) item(term, text string) { w.line(".TP\n\\fB" + plain(term) + "\\fR\n" + plain(text)) }

func (w *writer) page(c *cobra.Command) []byte {
	w.line(`.TH "` + strings.ToUpper(plain(name(c))) + `" 1 "" "pawl" "` + plain(w.app.Text("manual.title")) + `"` +
		"\n.nh\n.ad l")
	w.section("name")
	w.line(plain(name(c)) + ` \- ` + plain(strings.TrimSuffix(c.Short, ".")))
	w.section("synopsis")
	if c.HasAvailableSubCommands() {
		w.line("\\fB" + plain(c.CommandPath()) + "\\fR " + plain(w.app.Text("manual.subcommand")))
	} else {
		w.line("\\fB" + plain(c.CommandPath()) + "\\fR" + plain(strings.TrimPrefix(c.UseLine(), c.CommandPath())) +
			plain(" ["+w.app.Text("manual.flags")+"]"))
	}
	w.section("description")
	w.line(plain(c.Long))
	if c.HasAvailableSubCommands() {
		w.section("commands")
		for _, s := range sorted(c) {
			w.item(s.Name(), s.Short)
		}
	}
	w.flags("options", c.LocalNonPersistentFlags())
	w.flags("globals", c.Root().PersistentFlags())
	if c.Example != "" {
		w.section("examples")
		w.line(".nf")
		for l := range strings.SplitSeq(c.Example, "\n") {
			w.line(`\&` + plain(l))
		}
		w.line(".fi")
	}
	if !c.HasParent() {
		w.whole()
	}
	w.section("see_also")
	var also []string
	if p := c.Parent(); p != nil {
		also = append(also, `\fB`+plain(name(p))+`\fR(1)`)
	}
	for _, s := range sorted(c) {
		also = append(also, `\fB`+plain(name(s))+`\fR(1)`)
	}
	w.line(strings.Join(also, ",\n"))
	return w.out.Bytes()
}

func (w *writer) flags(key string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	w.section(key)
	flags.VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		term := strings.TrimSpace("--" + f.Name + " " + value)
		if f.Shorthand != "" {
			term = "-" + f.Shorthand + ", " + term
		}
		if !f.Hidden {
			w.item(term, usage)
		}
	})
}

// files and variables are what pawl itself reads and writes, with the keys of their texts.
var (
	files = [][2]string{
		{"~/.config/pawl/config.yaml", "user"}, {".pawl/config.yaml", "project"}, {".pawl/plan", "plan"},
		{".pawlignore", "ignore"}, {"~/.local/state/pawl/workspaces", "store"}, {"~/.local/state/pawl", "state"},
		{"~/.cache/pawl", "cache"},
	}
	variables = [][2]string{
		{"XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME", "xdg"}, {"VISUAL, EDITOR", "editor"}, {"NO_COLOR",
			"no_color"}, {"LC_ALL, LC_MESSAGES, LANG", "lang"},
	}
)

// whole is what stands on the page of pawl itself alone: it holds for every command.
func (w *writer) whole() {
	w.section("exit_status")
	w.item("0", w.app.Text("manual.exit.0"))
	for _, n := range statuses() {
		w.item(strconv.Itoa(n), w.app.Text("manual.exit."+strconv.Itoa(n)))
	}
	w.section("files")
	for _, f := range files {
		w.item(f[0], w.app.Text("manual.file."+f[1]))
	}
	w.section("environment")
	for _, v := range variables {
		w.item(v[0], w.app.Text("manual.env."+v[1]))
	}
	for _, s := range settings.Default().Lines(w.app.Text) {
		w.item(s.Env, s.Meaning)
	}
}

// statuses are the exit statuses of the one table of codes, and those after a signal.
func statuses() []int {
	out := []int{130, 141}
	for _, c := range pawl.Codes() {
		out = append(out, c.Info().Exit)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
