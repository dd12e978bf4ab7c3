// Package setup is what looks at the machine and sets pawl up on it: pawl doctor, config, tools, export, version and
// demo.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"pawl/face/host"
	"pawl/text/display"
	"pawl/text/shell"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/face/cli/term"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{
		{Name: "demo", Group: "work", Build: newDemoCommand},
		{Name: "tools", Group: "look", Build: newToolsCommand},
		{Name: "doctor", Group: "setup", Build: newDoctorCommand},
		{Name: "config", Group: "setup", Build: newConfigCommand},
		{Name: "export", Group: "setup", Build: newExportCommand},
		{Name: "gc", Group: "setup", Build: newGCCommand},
		{Name: "version", Group: "setup", Build: newVersionCommand},
	}
}

func newDoctorCommand(a *cli.App) *cobra.Command {
	profile := false
	command := a.Command("doctor", "cli.doctor", "  pawl doctor\n  pawl doctor --json\n  pawl doctor --apparmor",
		cli.Exactly(0), func(c *cobra.Command, _ []string) error {
			if profile {
				program, err := os.Executable()
				if err == nil {
					_, err = io.WriteString(a.Std.Out, profileOf(program))
				}
				return err
			}
			place, err := a.Found()
			if err != nil {
				return err
			}
			config, err := settings.Load(a.Std.Env, place.Workspace)
			found := a.Host.Doctor(c.Context(), place, config)
			for _, ignored := range config.Ignored {
				found = append(found, asFinding(a.Printer, "config", ignored))
			}
			if err != nil {
				found = append(found, asFinding(a.Printer, "config", err))
			} else if f, ok := storeFinding(c.Context(), a); ok {
				found = append(found, f)
			}
			return printFindings(a.Printer, found)
		})
	command.Flags().BoolVar(&profile, "apparmor", false, a.Text("cli.flag.apparmor"))
	return command
}

// profileOf is the AppArmor profile that lets one program make namespaces, and takes nothing away from it.
func profileOf(program string) string {
	return "abi <abi/4.0>,\ninclude <tunables/global>\n\nprofile pawl " + strconv.Quote(program) +
		" flags=(unconfined) {\n  userns,\n\n  include if exists <local/pawl>\n}\n"
}

// asFinding makes a finding of an error.
func asFinding(pr *cli.Printer, name string, err error) host.Finding {
	d := cli.Describe(pr, err)
	return host.Finding{Name: name, State: "fail", Key: "cli.doctor.failed", Args: []string{d.Message}, Value: d.Hint}
}

// storeFinding says whether the whole store is as it was written: every page, row and record of it is read. Ok is false
// where there is none yet.
func storeFinding(ctx context.Context, a *cli.App) (f host.Finding, ok bool) {
	sess, err := a.Open(ctx, cli.Reading())
	var e *pawl.Error
	if pawl.CodeOf(err) == pawl.CodeNotFound && errors.As(err, &e) {
		f = asFinding(a.Printer, "store", err)
		f.State = "warn"
		return f, e.Key != "store.missing"
	}
	var report audit.Report
	if err == nil {
		report, err = sess.Workspace.Check(ctx, reading(a.Printer, "cli.doctor.reading"))
		err = errors.Join(err, sess.Workspace.Close())
	}
	if err != nil {
		return asFinding(a.Printer, "store", err), true
	}
	return host.Finding{Name: "store", State: "ok", Key: "cli.doctor_store", Args: []string{fmt.Sprint(report.Size),
		fmt.Sprint(len(report.Tails))}, Value: sess.Workspace.Place.Own()}, true
}

// reading tells a person every few seconds how much of much is done.
func reading(pr *cli.Printer, key string) func(done, all int64) {
	next := time.Now().Add(patience)
	return func(done, all int64) {
		if pr.Present() && time.Now().After(next) {
			next = time.Now().Add(patience)
			pr.Note(pr.Text(key, done, all))
		}
	}
}

// patience is how long nothing is said.
const patience = 2 * time.Second

func printFindings(pr *cli.Printer, found []host.Finding) error {
	bad := 0
	var t term.Table
	for _, f := range found {
		symbol := pr.Style.OK()
		switch f.State {
		case "warn":
			symbol = pr.Style.Warn()
		case "fail":
			symbol = pr.Style.Bad()
			bad++
		}
		text := cli.FindingText(pr, f)
		if f.Value != "" {
			text += "  " + cli.Display(f.Value)
		}
		t.Painted(func(s string) string { return symbol + s[1:] }, "  "+cli.Display(f.Name), text)
	}
	if pr.JSON {
		if err := pr.PrintJSON(map[string]any{"ok": bad == 0, "findings": found}); err != nil {
			return err
		}
	} else {
		pr.SayTable(&t, pr.Std.Width)
	}
	if bad > 0 {
		return pawl.Fail(pawl.CodeEnvironment, "cli.doctor.bad", bad)
	}
	return nil
}

func newToolsCommand(a *cli.App) *cobra.Command {
	return a.Command("tools [TOOL]", "cli.tools", "  pawl tools\n  pawl tools apply_patch\n  pawl tools --json",
		cli.Between(0, 1), func(_ *cobra.Command, args []string) error {
			var tools []effect.ToolInfo
			for _, t := range a.Host.Tools() {
				tools = append(tools, t.Info)
			}
			if len(args) > 0 {
				return showTool(a.Printer, tools, args[0])
			}
			if a.JSON {
				return a.PrintJSON(tools)
			}
			var t term.Table
			for _, x := range tools {
				t.Row(cli.Display(x.Name), cli.Joined(x.Permissions), cli.ToolText(a.Printer, x))
			}
			a.SayTable(&t, a.Std.Width)
			return nil
		})
}

func showTool(pr *cli.Printer, tools []effect.ToolInfo, name string) error {
	var names []string
	for _, t := range tools {
		if t.Name == name {
			return pr.PrintJSON(t)
		}
		names = append(names, t.Name)
	}
	return pawl.Fail(pawl.CodeNotFound, "cli.tool_unknown", name, strings.Join(names, ", "))
}

func newExportCommand(a *cli.App) *cobra.Command {
	var backup string
	c := a.Command("export", "cli.export", "  pawl export\n  pawl export --backup ~/pawl-backup.db", cli.Exactly(0),
		nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
			if _, err := sess.View(c.Context()); err != nil {
				return err
			}
			var files []string
			var err error
			if backup != "" {
				files = []string{a.Path(backup)}
				err = sess.Workspace.Backup(c.Context(), files[0])
			} else {
				files, err = sess.Workspace.Export(c.Context())
			}
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"files": files})
			}
			done := "cli.export.written"
			if backup != "" {
				done = "cli.export.backed_up"
			}
			for _, f := range files {
				a.Say(a.Style.OK() + " " + a.Text(done, f))
			}
			return nil
		})
	}
	c.Flags().StringVar(&backup, "backup", "", a.Text("cli.flag.backup"))
	return c
}

func newVersionCommand(a *cli.App) *cobra.Command {
	return a.Command("version", "cli.version", "  pawl version", cli.Exactly(0), func(*cobra.Command, []string) error {
		v := map[string]string{"version": "devel", "go": runtime.Version(), "platform": runtime.GOOS + "/" +
			runtime.GOARCH}
		if info, ok := debug.ReadBuildInfo(); ok {
			if m := info.Main.Version; m != "" && m != "(devel)" {
				v["version"] = m
			}
			for _, s := range info.Settings {
				if s.Key == "vcs.revision" {
					v["revision"] = s.Value
				}
			}
		}
		if a.JSON {
			return a.PrintJSON(v)
		}
		line := "pawl " + v["version"]
		if r := v["revision"]; r != "" {
			line += " (" + cli.Short(r) + ")"
		}
		a.Say(line + "  " + v["go"] + "  " + v["platform"])
		return nil
	})
}

// see shows one scene: to a program as a line of JSON, to a person in words.
func (s *demoScreen) see(c host.Scene) {
	if s.pr.JSON {
		_ = s.pr.PrintLine(c) // nobody may be reading
		return
	}
	if c.Type == host.SceneRest {
		s.rest++
		return
	}
	s.rested()
	switch c.Type {
	case host.SceneAct:
		s.pr.Say("\n" + s.pr.Style.Bold(display.Line(c.Text)))
	case host.SceneNote:
		s.tell("", c.Text)
	case host.SceneCommand:
		s.pr.Say("\n" + s.pr.Style.Bold("$ "+display.Line(c.Text)))
	case host.SceneOutput:
		s.pr.Say(c.Text) // pawl's own words, which it has escaped where they were of others
	case host.SceneStatus:
		if c.Status > 0 {
			s.pr.Say(s.pr.Style.Dim(s.pr.Text("cli.demo.status", c.Status)))
		}
	case host.SceneSaid:
		s.pr.Say("")
		s.tell(s.pr.Text("cli.demo.said"), c.Text)
	case host.SceneSaw:
		s.tell(s.pr.Text("cli.demo.saw"), c.Text)
	}
}

// rested says how many lines were left out.
func (s *demoScreen) rested() {
	if s.rest > 0 {
		s.pr.Say(s.pr.Style.Dim(s.pr.Text("cli.demo.rest", s.rest)))
	}
	s.rest = 0
}

// tell says something of the demo's own, behind a head that is the same width for what was said and what was seen.
func (s *demoScreen) tell(head, text string) {
	indent := 0
	if head != "" {
		indent = max(term.Width(s.pr.Text("cli.demo.said")), term.Width(s.pr.Text("cli.demo.saw"))) + 2
	}
	pad := strings.Repeat(" ", max(indent-term.Width(head), 0))
	s.pr.Say(s.pr.Style.Cyan(head) + pad + strings.Join(term.Hang(display.Line(text), indent, s.pr.Std.Width, 0, ""),
		"\n"))
}

// end says where everything is, and how it is removed.
func (s *demoScreen) end(made host.Sample) {
	if s.pr.JSON {
		_ = s.pr.PrintLine(map[string]string{"type": "result", "dir": made.Dir, "repository": made.Repo})
		return
	}
	s.pr.Say("")
	s.pr.SayText("cli.demo.end", made.Dir)
	for _, l := range [][2]string{
		{"cd " + shell.Quote(made.Repo) + " && " + made.Program + " log",
			s.pr.Text("cli.demo.end_look")}, {"rm -rf " + shell.Quote(made.Dir), s.pr.Text("cli.demo.end_remove")},
	} {
		s.pr.Say("  " + s.pr.Style.Bold(l[0]) + "  # " + l[1])
	}
}
