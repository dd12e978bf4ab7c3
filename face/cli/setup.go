package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli/term"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

func newDoctorCommand(a *App) *cobra.Command {
	profile := false
	command := a.Command("doctor", "cli.doctor", "  pawl doctor\n  pawl doctor --json\n  pawl doctor --apparmor", Exactly(0), func(c *cobra.Command, _ []string) error {
		if profile {
			program, err := os.Executable()
			if err == nil {
				_, err = io.WriteString(a.Std.Out, profileOf(program))
			}
			return err
		}
		dir, err := startFolder(a)
		if err != nil {
			return err
		}
		place, err := a.Host.Find(dir)
		if err != nil {
			return err
		}
		config, err := loadConfig(a, place)
		found := a.Host.Doctor(c.Context(), place, config)
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
	return "abi <abi/4.0>,\ninclude <tunables/global>\n\nprofile pawl " + strconv.Quote(program) + " flags=(unconfined) {\n  userns,\n\n  include if exists <local/pawl>\n}\n"
}

// asFinding makes a finding of an error.
func asFinding(pr *Printer, name string, err error) Finding {
	return Finding{Name: name, State: "fail", Key: "cli.doctor.failed", Args: []string{describe(pr, err).Message}}
}

// storeFinding says whether the store can be read; ok is false where there is none yet.
func storeFinding(ctx context.Context, a *App) (f Finding, ok bool) {
	sess, err := a.Open(ctx, Reading())
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		return f, false
	}
	var head audit.Head
	if err == nil {
		head, err = sess.Ask().Log().Head(ctx)
		err = errors.Join(err, sess.Workspace.Close())
	}
	if err != nil {
		return asFinding(a.Printer, "store", err), true
	}
	return Finding{Name: "store", State: "ok", Key: "cli.doctor_store", Args: []string{fmt.Sprint(head.Size)}}, true
}

func printFindings(pr *Printer, found []Finding) error {
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
		text := findingText(pr, f)
		if f.Value != "" {
			text += "  " + Display(f.Value)
		}
		t.Painted(func(s string) string { return symbol + s[1:] }, "  "+Display(f.Name), text)
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

func newToolsCommand(a *App) *cobra.Command {
	return a.Command("tools [TOOL]", "cli.tools", "  pawl tools\n  pawl tools apply_patch\n  pawl tools --json", Between(0, 1), func(_ *cobra.Command, args []string) error {
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
			t.Row(Display(x.Name), joined(x.Permissions), toolText(a.Printer, x))
		}
		a.SayTable(&t, a.Std.Width)
		return nil
	})
}

// toolText says what a tool does. The tool's own description is for models; the catalogue's is for people.
func toolText(pr *Printer, t effect.ToolInfo) string {
	key := "cli.tool." + t.Name
	if _, ok := pr.Lang.Format(key); !ok {
		return Display(firstLine(t.Description))
	}
	return pr.Text(key)
}

func showTool(pr *Printer, tools []effect.ToolInfo, name string) error {
	var names []string
	for _, t := range tools {
		if t.Name == name {
			return pr.PrintJSON(t)
		}
		names = append(names, t.Name)
	}
	return pawl.Fail(pawl.CodeNotFound, "cli.tool_unknown", name, strings.Join(names, ", "))
}

func newExportCommand(a *App) *cobra.Command {
	var backup string
	c := a.Command("export", "cli.export", "  pawl export\n  pawl export --backup ~/pawl-backup.db", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), Writing(), func(sess *Session) error {
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

func newCompletionCommand(a *App) *cobra.Command {
	c := a.Command("completion SHELL", "cli.completion", "  pawl completion bash > /etc/bash_completion.d/pawl\n  pawl completion zsh > \"${fpath[1]}/_pawl\"", Exactly(1), nil)
	c.ValidArgs = []string{"bash", "zsh", "fish", "powershell"}
	c.RunE = func(c *cobra.Command, args []string) error {
		root := c.Root()
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(a.Std.Out, true)
		case "zsh":
			return root.GenZshCompletion(a.Std.Out)
		case "fish":
			return root.GenFishCompletion(a.Std.Out, true)
		case "powershell":
			return root.GenPowerShellCompletionWithDesc(a.Std.Out)
		}
		return Usage("cli.flag_invalid", args[0], "SHELL", strings.Join(c.ValidArgs, "|"))
	}
	return c
}

func newVersionCommand(a *App) *cobra.Command {
	return a.Command("version", "cli.version", "  pawl version", Exactly(0), func(*cobra.Command, []string) error {
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
		if a.JSON {
			return a.PrintJSON(v)
		}
		line := "pawl " + v["version"]
		if r := v["revision"]; r != "" {
			line += " (" + Short(r) + ")"
		}
		a.Say(line + "  " + v["go"] + "  " + v["platform"])
		return nil
	})
}

func newConfigCommand(a *App) *cobra.Command {
	return a.Group("config", "cli.config", newConfigShowCommand(a), newConfigPathCommand(a), newConfigInitCommand(a), newConfigEditCommand(a), newConfigValidateCommand(a), newConfigSetCommand(a, false), newConfigSetCommand(a, true))
}

// newConfigSetCommand makes `config set` or `config unset`.
func newConfigSetCommand(a *App, unset bool) *cobra.Command {
	use, key, example, least, most := "set SETTING VALUE...", "cli.config.set", "  pawl config set agent llm\n  pawl config set budget.run.usd 2\n  pawl config set model.fallbacks small-model other-model", 2, 64
	if unset {
		use, key, example, least, most = "unset SETTING", "cli.config.unset", "  pawl config unset budget.run.usd", 1, 1
	}
	yes := false
	command := a.Command(use, key, example, Between(least, most), func(cmd *cobra.Command, args []string) error {
		s, ok := findSetting(args[0])
		if !ok {
			if near := pawl.Nearest(args[0], settingNames()); near != "" {
				return pawl.Fail(pawl.CodeInvalid, "cli.config_unknown_near", Display(args[0]), near)
			}
			return pawl.Fail(pawl.CodeInvalid, "cli.config_unknown", Display(args[0]))
		}
		if !s.list && len(args) > 2 {
			return Usage("cli.args_many", args[2], "pawl config set")
		}
		if s.name == isolation && !unset && args[1] == Outer && !yes {
			if !a.Present() {
				return pawl.Fail(pawl.CodeApprovalNeeded, "cli.isolation_unasked")
			}
			if said, err := Confirm(cmd.Context(), a.Printer, a.Text("cli.isolation_question")); err != nil || !said {
				return cmp.Or(err, error(pawl.Fail(pawl.CodeCanceled, "cli.isolation_kept")))
			}
		}
		c := Config{userConfigFile: userConfigPath(a)}
		if err := c.change(s, args[1:]); err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(map[string]any{"name": s.name, "value": args[1:], "file": c.userConfigFile})
		}
		a.SayText("cli.config_changed", s.name, c.userConfigFile)
		if s.name == isolation {
			a.Say("  " + a.Style.Cyan(a.Text("cli.next")) + a.Text("cli.isolation_next"))
		}
		return nil
	})
	if !unset {
		command.Flags().BoolVar(&yes, "yes", false, a.Text("cli.flag.yes"))
	}
	return command
}

// ToolText says in a line what a tool does.
func ToolText(pr *Printer, t effect.ToolInfo) string { return toolText(pr, t) }

// Found is the workspace's place, without opening it.
func (a *App) Found() (effect.Place, error) {
	dir, err := startFolder(a)
	if err != nil {
		return effect.Place{}, err
	}
	return a.Host.Find(dir)
}

// SettingLine is a setting as it is in force.
type SettingLine struct {
	Name  string   `json:"name"`
	Value []string `json:"value"`
	// Source is the place that it comes from, or "default".
	Source string `json:"source"`
	Env    string `json:"env"`
	// Meaning says what it does, in the language of the person. Values are all that it takes, where they can be counted.
	Meaning string   `json:"meaning"`
	Values  []string `json:"values,omitempty"`
	// Own says that the user's own file sets it.
	Own bool `json:"-"`
}

// SettingsOf are the settings in force in the folder that the command works in: those that there always are, and those of single
// agents and servers that a file sets.
func SettingsOf(a *App) ([]SettingLine, error) {
	place, err := a.Found()
	if err != nil {
		return nil, err
	}
	c, err := loadConfig(a, place)
	if err != nil {
		return nil, err
	}
	var named []setting
	for _, name := range slices.Sorted(maps.Keys(c.sources)) {
		if s, ok := findSetting(name); ok && !slices.Contains(settingNames(), name) {
			named = append(named, s)
		}
	}
	var out []SettingLine
	for _, s := range slices.Concat(settings(), named) {
		source := cmp.Or(c.sources[s.name], "default")
		own := c.userConfigFile != "" && strings.HasPrefix(source, c.userConfigFile+":")
		out = append(out, SettingLine{s.name, append([]string{}, s.get(&c)...), source, s.env(), s.meaning(a.Printer), s.values, own})
	}
	return out, nil
}

// DefaultsOf are the settings that there always are, as they are where nothing is set.
func DefaultsOf(pr *Printer) []SettingLine {
	c := DefaultConfig()
	var out []SettingLine
	for _, s := range settings() {
		out = append(out, SettingLine{s.name, append([]string{}, s.get(&c)...), "default", s.env(), s.meaning(pr), s.values, false})
	}
	return out
}

// ValuesOf are the values that a setting takes, with what it does; ok is false where there is no such setting.
func ValuesOf(pr *Printer, name string) (values []string, meaning string, ok bool) {
	s, ok := findSetting(name)
	if !ok {
		return nil, "", false
	}
	return s.values, s.meaning(pr), true
}

func newConfigShowCommand(a *App) *cobra.Command {
	return a.Command("show", "cli.config.show", "  pawl config show", Exactly(0), func(*cobra.Command, []string) error {
		lines, err := SettingsOf(a)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(lines)
		}
		var t term.Table
		for _, l := range lines {
			if l.Source == "default" {
				l.Source = a.Text("cli.config.default")
			}
			value := Display(strings.Join(l.Value, ", "))
			if value == "" {
				value = a.Style.None()
			}
			t.Row(l.Name, value, a.Style.Dim(Display(l.Source)))
		}
		for i, shown := range t.Lines(0) {
			a.Say(shown)
			for _, l := range wrapped(lines[i].Meaning, ListWidth(a.Printer)-4) {
				a.Say("    " + a.Style.Dim(l))
			}
		}
		return nil
	})
}

// wrapped breaks a text into lines of a width, or leaves it as it is where there is none.
func wrapped(text string, width int) []string {
	if width <= 0 {
		return []string{text}
	}
	return term.Wrap(text, width)
}

func newConfigPathCommand(a *App) *cobra.Command {
	return a.Command("path", "cli.config.path", "  pawl config path", Exactly(0), func(*cobra.Command, []string) error {
		place, err := a.Found()
		if err != nil {
			return err
		}
		paths := map[string]string{"user": userConfigPath(a), "project": projectConfig(place)}
		if a.JSON {
			return a.PrintJSON(paths)
		}
		var t term.Table
		for _, name := range []string{"user", "project"} {
			state := a.Text("cli.config.absent")
			if _, err := os.Stat(paths[name]); err == nil {
				state = ""
			}
			t.Row(name, paths[name], a.Style.Dim(state))
		}
		a.SayTable(&t, 0)
		return nil
	})
}

// configPath is the user's configuration file, or the project's.
func configPath(a *App, project bool) (string, error) {
	path := userConfigPath(a)
	if project {
		place, err := a.Found()
		if err != nil {
			return "", err
		}
		path = projectConfig(place)
	}
	if path == "" {
		return "", pawl.Fail(pawl.CodeEnvironment, "cli.config_no_home")
	}
	return path, nil
}

func newConfigEditCommand(a *App) *cobra.Command {
	var project bool
	c := a.Command("edit", "cli.config.edit", "  pawl config edit\n  pawl config edit --project", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		path, err := configPath(a, project)
		if err != nil {
			return err
		}
		return editConfig(c.Context(), a, path, project)
	}
	c.Flags().BoolVar(&project, "project", false, a.Text("cli.flag.project"))
	return c
}

// editConfig has a person edit a configuration file, or the commented one where there is none, and puts it in place when it can be
// read. What cannot is kept beside it.
func editConfig(ctx context.Context, a *App, path string, project bool) error {
	given := configTemplate(a.Printer, project)
	switch old, err := readFile(path, maxConfig); {
	case err == nil:
		given = string(old)
	case !errors.Is(err, fs.ErrNotExist):
		return pawl.Fail(pawl.CodeIO, "cli.config_unreadable", path).In("cli.config").Because(err)
	}
	text, name, err := Edit(ctx, a, "pawl-config-*.yaml", given, maxConfig)
	if err != nil {
		return err
	}
	next := DefaultConfig()
	next.sources = map[string]string{}
	if err := next.decode(path, []byte(text), project); err != nil {
		return Kept(err, name)
	}
	if err := replaceFile(path, []byte(text)); err != nil {
		return Kept(err, name)
	}
	_ = os.Remove(name) // a file that stays in the temporary folder harms nothing
	if a.JSON {
		return a.PrintJSON(map[string]any{"path": path, "changed": text != given})
	}
	a.Say(a.Style.OK() + " " + Display(path))
	return nil
}

func newConfigInitCommand(a *App) *cobra.Command {
	var project bool
	c := a.Command("init", "cli.config.init", "  pawl config init\n  pawl config init --project", Exactly(0), nil)
	c.RunE = func(*cobra.Command, []string) error {
		path, err := configPath(a, project)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", path).Because(err)
		}
		template := configTemplate(a.Printer, project)
		if old, err := readFile(path, maxConfig); err == nil && vacant(old) {
			err = replaceFile(path, []byte(template))
			return configWritten(a.Printer, path, err)
		}
		return configWritten(a.Printer, path, writeTo(a, path, func(w io.Writer) error {
			if _, err := io.WriteString(w, template); err != nil {
				return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", path).Because(err)
			}
			return nil
		}))
	}
	c.Flags().BoolVar(&project, "project", false, a.Text("cli.flag.project"))
	return c
}

// configWritten tells which file was written.
func configWritten(pr *Printer, path string, err error) error {
	if err != nil {
		return err
	}
	if pr.JSON {
		return pr.PrintJSON(map[string]string{"path": path})
	}
	pr.Say(pr.Style.OK() + " " + Display(path))
	return nil
}

// configTemplate is a configuration file in which every setting stands as a comment with its default.
func configTemplate(pr *Printer, project bool) string {
	var b strings.Builder
	b.WriteString("# " + pr.Text("cli.config.template") + "\n")
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
		for _, l := range term.Wrap(s.meaning(pr), 96) {
			b.WriteString("#" + indent + "# " + l + "\n")
		}
		fmt.Fprintf(&b, "#%s%s: %s\n", indent, name, value)
	}
	return b.String()
}

func newConfigValidateCommand(a *App) *cobra.Command {
	return a.Command("validate [FILE]", "cli.config.validate", "  pawl config validate\n  pawl config validate draft.yaml", Between(0, 1), func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			place, err := a.Found()
			if err != nil {
				return err
			}
			c, err := loadConfig(a, place)
			if err == nil {
				_, err = c.Kernel(kernel.Defaults())
			}
			return configGood(a.Printer, err)
		}
		data, err := a.ReadInput(args[0], maxConfig)
		if err != nil {
			return err
		}
		c := DefaultConfig()
		c.sources = map[string]string{}
		err = c.decode(args[0], data, false)
		if err == nil {
			_, err = c.Kernel(kernel.Defaults())
		}
		return configGood(a.Printer, err)
	})
}

func configGood(pr *Printer, err error) error {
	if err != nil {
		return err
	}
	if pr.JSON {
		return pr.PrintJSON(map[string]bool{"valid": true})
	}
	pr.Say(pr.Style.OK() + " " + pr.Text("cli.config.good"))
	return nil
}

func newDemoCommand(a *App) *cobra.Command {
	return a.Command("demo [DIR]", "cli.demo", "  pawl demo\n  pawl demo ./pawl-demo", Between(0, 1), func(c *cobra.Command, args []string) error {
		return runDemo(c.Context(), a, args)
	})
}

// runDemo shows what pawl does, in a folder that stays. Where it is interrupted, what was made is removed.
func runDemo(ctx context.Context, a *App, args []string) error {
	dir := ""
	if len(args) > 0 {
		dir = a.Path(args[0])
	}
	config, err := loadConfig(a, effect.Place{}) // no project has a word in it
	if err != nil {
		return err
	}
	s := &demoScreen{pr: a.Printer}
	made, err := a.Host.Demo(ctx, Demo{Dir: dir, Lang: string(a.Lang), Color: a.Style.Color, Config: config, Text: a.Text, Scene: s.see})
	s.rested()
	if ctx.Err() != nil {
		a.Note(a.Style.Warn() + " " + a.Text("cli.demo.interrupted"))
		return ctx.Err()
	}
	if made.Dir != "" {
		s.end(made)
	}
	return err
}

// demoScreen shows the scenes of the demo.
type demoScreen struct {
	pr   *Printer
	rest int // lines of output that were left out
}

// see shows one scene: to a program as a line of JSON, to a person in words.
func (s *demoScreen) see(c Scene) {
	if s.pr.JSON {
		_ = s.pr.PrintLine(c) // nobody may be reading
		return
	}
	if c.Type == SceneRest {
		s.rest++
		return
	}
	s.rested()
	switch c.Type {
	case SceneAct:
		s.pr.Say("\n" + s.pr.Style.Bold(policy.Display(c.Text)))
	case SceneNote:
		s.tell("", c.Text)
	case SceneCommand:
		s.pr.Say("\n" + s.pr.Style.Bold("$ "+policy.Display(c.Text)))
	case SceneOutput:
		s.pr.Say(c.Text) // pawl's own words, which it has escaped where they were of others
	case SceneStatus:
		if c.Status > 0 {
			s.pr.Say(s.pr.Style.Dim(s.pr.Text("cli.demo.status", c.Status)))
		}
	case SceneSaid:
		s.pr.Say("")
		s.tell(s.pr.Text("cli.demo.said"), c.Text)
	case SceneSaw:
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
	s.pr.Say(s.pr.Style.Cyan(head) + pad + strings.Join(term.Hang(policy.Display(text), indent, s.pr.Std.Width, 0, ""), "\n"))
}

// end says where everything is, and how it is removed.
func (s *demoScreen) end(made Sample) {
	if s.pr.JSON {
		_ = s.pr.PrintLine(map[string]string{"type": "result", "dir": made.Dir, "repository": made.Repo})
		return
	}
	s.pr.Say("")
	s.pr.SayText("cli.demo.end", made.Dir)
	for _, l := range [][2]string{
		{"cd " + policy.Quote(made.Repo) + " && " + policy.Quote(made.Program) + " log", s.pr.Text("cli.demo.end_look")}, {"rm -rf " + policy.Quote(made.Dir), s.pr.Text("cli.demo.end_remove")},
	} {
		s.pr.Say("  " + s.pr.Style.Bold(l[0]) + "  # " + l[1])
	}
}
