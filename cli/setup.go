package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/audit"
	"pawl/cli/term"
	"pawl/effect"
	"pawl/kernel"
	"pawl/message"
	"pawl/plan"
)

func newDoctorCommand(a *app) *cobra.Command {
	return a.command("doctor", "cli.doctor", "  pawl doctor\n  pawl doctor --json", exactly(0), func(c *cobra.Command, _ []string) error {
		dir, err := a.start()
		if err != nil {
			return err
		}
		place, err := a.host.Find(dir)
		if err != nil {
			return err
		}
		found := a.host.Doctor(c.Context(), place)
		if _, err := a.config(place); err != nil {
			found = append(found, examiner{a}.asFinding("config", err))
		} else if f, ok := (examiner{a}).storeFinding(c.Context()); ok {
			found = append(found, f)
		}
		return examiner{a}.printFindings(found)
	})
}

// examiner puts together what `pawl doctor` found.
type examiner struct{ *app }

// asFinding makes a finding of an error.
func (a examiner) asFinding(name string, err error) Finding {
	return Finding{Name: name, State: "fail", Key: "cli.doctor.failed", Args: []string{a.describe(err).Message}}
}

// storeFinding says whether the store can be read; ok is false where there is none yet.
func (a examiner) storeFinding(ctx context.Context) (f Finding, ok bool) {
	d, err := a.open(ctx, reading())
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		return f, false
	}
	var head audit.Head
	if err == nil {
		head, err = d.ws.Kernel.Store().Head(ctx)
		err = errors.Join(err, d.ws.Close())
	}
	if err != nil {
		return a.asFinding("store", err), true
	}
	return Finding{Name: "store", State: "ok", Key: "cli.doctor_store", Args: []string{fmt.Sprint(head.Size)}}, true
}

func (a examiner) printFindings(found []Finding) error {
	bad := 0
	var t term.Table
	for _, f := range found {
		symbol := a.style.OK()
		switch f.State {
		case "warn":
			symbol = a.style.Warn()
		case "fail":
			symbol = a.style.Bad()
			bad++
		}
		text := a.finding(f)
		if f.Value != "" {
			text += "  " + display(f.Value)
		}
		t.Painted(func(s string) string { return symbol + s[1:] }, "  "+display(f.Name), text)
	}
	if a.flags.json {
		if err := a.printJSON(map[string]any{"ok": bad == 0, "findings": found}); err != nil {
			return err
		}
	} else {
		for _, l := range t.Lines(a.std.Width) {
			a.say(l)
		}
	}
	if bad > 0 {
		return pawl.Fail(pawl.CodeEnvironment, "cli.doctor.bad", bad)
	}
	return nil
}

func newToolsCommand(a *app) *cobra.Command {
	return a.command("tools [NAME]", "cli.tools", "  pawl tools\n  pawl tools apply_patch\n  pawl tools --json", between(0, 1), func(_ *cobra.Command, args []string) error {
		var tools []effect.ToolInfo
		for _, t := range a.host.Tools() {
			tools = append(tools, t.Info)
		}
		if len(args) > 0 {
			return showTool(a, tools, args[0])
		}
		if a.flags.json {
			return a.printJSON(tools)
		}
		var t term.Table
		for _, x := range tools {
			t.Row(display(x.Name), joined(x.Permissions), toolText(a.voice, x))
		}
		for _, l := range t.Lines(a.std.Width) {
			a.say(l)
		}
		return nil
	})
}

// toolText says what a tool does. The tool's own description is for models; the catalogue's is for people.
func toolText(a *voice, t effect.ToolInfo) string {
	key := "cli.tool." + t.Name
	if _, ok := message.Lookup(key); !ok {
		return display(firstLine(t.Description))
	}
	return a.text(key)
}

func showTool(a *app, tools []effect.ToolInfo, name string) error {
	var names []string
	for _, t := range tools {
		if t.Name == name {
			return a.printJSON(t)
		}
		names = append(names, t.Name)
	}
	return pawl.Fail(pawl.CodeNotFound, "cli.tool_unknown", name, strings.Join(names, ", "))
}

func newExportCommand(a *app) *cobra.Command {
	var backup string
	c := a.command("export", "cli.export", "  pawl export\n  pawl export --backup ~/pawl-backup.db", exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.with(c.Context(), writing(), func(d *desk) error {
			if _, err := d.session(c.Context()); err != nil {
				return err
			}
			var files []string
			var err error
			if backup != "" {
				files = []string{a.path(backup)}
				err = d.ws.Backup(c.Context(), files[0])
			} else {
				files, err = d.ws.Export(c.Context())
			}
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.printJSON(map[string]any{"files": files})
			}
			done := "cli.export.written"
			if backup != "" {
				done = "cli.export.backed_up"
			}
			for _, f := range files {
				a.say(a.style.OK() + " " + a.text(done, f))
			}
			return nil
		})
	}
	c.Flags().StringVar(&backup, "backup", "", a.text("cli.flag.backup"))
	return c
}

func newCompletionCommand(a *app) *cobra.Command {
	c := a.command("completion SHELL", "cli.completion", "  pawl completion bash > /etc/bash_completion.d/pawl\n  pawl completion zsh > \"${fpath[1]}/_pawl\"", exactly(1), nil)
	c.ValidArgs = []string{"bash", "zsh", "fish", "powershell"}
	c.RunE = func(c *cobra.Command, args []string) error {
		root := c.Root()
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(a.std.Out, true)
		case "zsh":
			return root.GenZshCompletion(a.std.Out)
		case "fish":
			return root.GenFishCompletion(a.std.Out, true)
		case "powershell":
			return root.GenPowerShellCompletionWithDesc(a.std.Out)
		}
		return usage("cli.flag_invalid", args[0], "SHELL", strings.Join(c.ValidArgs, "|"))
	}
	return c
}

func newVersionCommand(a *app) *cobra.Command {
	return a.command("version", "cli.version", "  pawl version", exactly(0), func(*cobra.Command, []string) error {
		v := map[string]string{"version": "devel", "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
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
		if a.flags.json {
			return a.printJSON(v)
		}
		line := "pawl " + v["version"]
		if r := v["revision"]; r != "" {
			line += " (" + short(r) + ")"
		}
		a.say(line + "  " + v["go"] + "  " + v["platform"])
		return nil
	})
}

func newConfigCommand(a *app) *cobra.Command {
	return a.group("config", "cli.config", newConfigShowCommand(a), newConfigPathCommand(a), newConfigInitCommand(a), newConfigValidateCommand(a), newConfigSetCommand(a, false), newConfigSetCommand(a, true))
}

// newConfigSetCommand makes `config set` or `config unset`.
func newConfigSetCommand(a *app, unset bool) *cobra.Command {
	use, key, example, least, most := "set NAME VALUE...", "cli.config.set", "  pawl config set agent llm\n  pawl config set budget.run.usd 2\n  pawl config set model.fallbacks small-model other-model", 2, 64
	if unset {
		use, key, example, least, most = "unset NAME", "cli.config.unset", "  pawl config unset budget.run.usd", 1, 1
	}
	return a.command(use, key, example, between(least, most), func(_ *cobra.Command, args []string) error {
		s, ok := findSetting(args[0])
		if !ok {
			if near := pawl.Nearest(args[0], settingNames()); near != "" {
				return pawl.Fail(pawl.CodeInvalid, "cli.config_unknown_near", display(args[0]), near)
			}
			return pawl.Fail(pawl.CodeInvalid, "cli.config_unknown", display(args[0]))
		}
		if !s.list && len(args) > 2 {
			return usage("cli.args_many", args[2], "pawl config set")
		}
		c := Config{userConfigFile: a.userConfig()}
		if err := c.change(s, args[1:]); err != nil {
			return err
		}
		if a.flags.json {
			return a.printJSON(map[string]any{"name": s.name, "value": args[1:], "file": c.userConfigFile})
		}
		a.sayText("cli.config_changed", s.name, c.userConfigFile)
		return nil
	})
}

// found is the workspace's place, without opening it.
func (a *app) found() (effect.Place, error) {
	dir, err := a.start()
	if err != nil {
		return effect.Place{}, err
	}
	return a.host.Find(dir)
}

func newConfigShowCommand(a *app) *cobra.Command {
	return a.command("show", "cli.config.show", "  pawl config show", exactly(0), func(*cobra.Command, []string) error {
		place, err := a.found()
		if err != nil {
			return err
		}
		c, err := a.config(place)
		if err != nil {
			return err
		}
		type line struct {
			Name   string   `json:"name"`
			Value  []string `json:"value"`
			Source string   `json:"source"`
			Env    string   `json:"env"`
		}
		lines := []line{}
		var t term.Table
		for _, s := range settings() {
			source := c.sources[s.name]
			shownSource := source
			if source == "" {
				source, shownSource = "default", a.text("cli.config.default")
			}
			v := append([]string{}, s.get(&c)...)
			lines = append(lines, line{s.name, v, source, s.env()})
			value := display(strings.Join(v, ", "))
			if value == "" {
				value = a.style.None()
			}
			t.Row(s.name, value, a.style.Dim(display(shownSource)))
		}
		if a.flags.json {
			return a.printJSON(lines)
		}
		for _, l := range t.Lines(0) {
			a.say(l)
		}
		return nil
	})
}

func newConfigPathCommand(a *app) *cobra.Command {
	return a.command("path", "cli.config.path", "  pawl config path", exactly(0), func(*cobra.Command, []string) error {
		place, err := a.found()
		if err != nil {
			return err
		}
		paths := map[string]string{"user": a.userConfig(), "project": projectConfig(place)}
		if a.flags.json {
			return a.printJSON(paths)
		}
		var t term.Table
		for _, name := range []string{"user", "project"} {
			state := a.text("cli.config.absent")
			if _, err := os.Stat(paths[name]); err == nil {
				state = ""
			}
			t.Row(name, paths[name], a.style.Dim(state))
		}
		for _, l := range t.Lines(0) {
			a.say(l)
		}
		return nil
	})
}

func newConfigInitCommand(a *app) *cobra.Command {
	var project bool
	c := a.command("init", "cli.config.init", "  pawl config init\n  pawl config init --project", exactly(0), nil)
	c.RunE = func(*cobra.Command, []string) error {
		path := a.userConfig()
		if project {
			place, err := a.found()
			if err != nil {
				return err
			}
			path = projectConfig(place)
		}
		if path == "" {
			return pawl.Fail(pawl.CodeEnvironment, "cli.config_no_home")
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", path).Because(err)
		}
		return a.writeTo(path, func(w io.Writer) error {
			if _, err := io.WriteString(w, configTemplate(a, project)); err != nil {
				return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", path).Because(err)
			}
			if a.flags.json {
				return a.printJSON(map[string]string{"path": path})
			}
			a.say(a.style.OK() + " " + display(path))
			return nil
		})
	}
	c.Flags().BoolVar(&project, "project", false, a.text("cli.flag.project"))
	return c
}

// configTemplate is a configuration file in which every setting stands as a comment with its default.
func configTemplate(a *app, project bool) string {
	var b strings.Builder
	b.WriteString("# " + a.text("cli.config.template") + "\n")
	c := DefaultConfig()
	section := ""
	for _, s := range settings() {
		old := s.get(&c)
		if project && !s.project(old, old) {
			continue
		}
		head, rest, nested := strings.Cut(s.name, ".")
		indent, name := "", s.name
		if nested {
			if head != section {
				b.WriteString("#" + head + ":\n")
			}
			indent, name = "  ", rest
		}
		section = head
		value := strings.Join(old, ", ")
		if s.list {
			value = "[" + value + "]"
		} else if value == "" {
			value = `""`
		}
		fmt.Fprintf(&b, "#%s%s: %s\n", indent, name, value)
	}
	return b.String()
}

func newConfigValidateCommand(a *app) *cobra.Command {
	return a.command("validate [FILE]", "cli.config.validate", "  pawl config validate\n  pawl config validate draft.yaml", between(0, 1), func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			place, err := a.found()
			if err != nil {
				return err
			}
			c, err := a.config(place)
			if err == nil {
				_, err = c.Kernel(kernel.Defaults())
			}
			return configGood(a, err)
		}
		data, err := a.readInput(args[0], maxConfig)
		if err != nil {
			return err
		}
		c := DefaultConfig()
		c.sources = map[string]string{}
		err = c.decode(args[0], data, false)
		if err == nil {
			_, err = c.Kernel(kernel.Defaults())
		}
		return configGood(a, err)
	})
}

func configGood(a *app, err error) error {
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.printJSON(map[string]bool{"valid": true})
	}
	a.say(a.style.OK() + " " + a.text("cli.config.good"))
	return nil
}

func newDemoCommand(a *app) *cobra.Command {
	var keep string
	c := a.command("demo", "cli.demo", "  pawl demo\n  pawl demo --keep ./pawl-demo", exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error { return runDemo(c.Context(), a, keep) }
	c.Flags().StringVar(&keep, "keep", "", a.text("cli.flag.keep"))
	return c
}

// runDemo unpacks a sample repository and runs its plan, whose first attempt fails, to the landed commit.
func runDemo(ctx context.Context, a *app, keep string) error {
	dir := a.path(keep)
	if keep == "" {
		tmp, err := os.MkdirTemp("", "pawl-demo-")
		if err != nil {
			return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", os.TempDir()).Because(err)
		}
		defer os.RemoveAll(tmp)
		dir = filepath.Join(tmp, "sample")
	} else if _, err := os.Stat(dir); err == nil {
		return pawl.Fail(pawl.CodeConflict, "cli.file_exists", keep)
	}
	sample, err := a.host.Demo(ctx, dir)
	if err != nil {
		return err
	}
	a.flags.dir = sample.Dir
	start := &kernel.Start{Requirement: sample.Requirement, AutoApprove: pawl.By(pawl.KindPolicy, "demo")}
	if sample.PlanFile != "" {
		data, err := readFile(sample.PlanFile, plan.MaxBytes)
		if err != nil {
			return pawl.Fail(pawl.CodeIO, "cli.file_unreadable", sample.PlanFile).Because(err)
		}
		start.Given, start.Name = data, filepath.Base(sample.PlanFile)
	}
	if !a.flags.json {
		a.sayText("cli.demo.begin", sample.Dir)
	}
	if err := a.with(ctx, Open{Create: true}, func(d *desk) error { return startRun(ctx, d, start, runFlags{}) }); err != nil {
		return err
	}
	return demoLog(ctx, a, sample.Dir)
}

func demoLog(ctx context.Context, a *app, dir string) error {
	commits, err := a.host.Log(ctx, dir, 5)
	if err != nil || a.flags.json {
		return err
	}
	a.say("\n" + a.style.Bold("git log --oneline"))
	for _, l := range commits {
		a.say("  " + display(l))
	}
	return nil
}
