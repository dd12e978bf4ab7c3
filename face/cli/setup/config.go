package setup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/approver"
	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/face/cli/term"
	"pawl/kernel"
)

func newConfigCommand(a *cli.App) *cobra.Command {
	return a.Group("config", "cli.config", newConfigShowCommand(a), newConfigPathCommand(a), newConfigInitCommand(a),
		newConfigEditCommand(a), newConfigValidateCommand(a), newConfigSetCommand(a, false),
		newConfigSetCommand(a, true))
}

// newConfigSetCommand makes `config set` or `config unset`.
func newConfigSetCommand(a *cli.App, unset bool) *cobra.Command {
	use, key, example, least, most := "set SETTING VALUE...", "cli.config.set",
		"  pawl config set agent llm\n  pawl config set budget.run.usd 2\n  pawl config set model.fallbacks small-model other-model", 2, 64
	if unset {
		use, key, example, least, most = "unset SETTING", "cli.config.unset", "  pawl config unset budget.run.usd", 1, 1
	}
	yes := false
	command := a.Command(use, key, example, cli.Between(least, most), func(cmd *cobra.Command, args []string) error {
		s, err := settings.Find(args[0])
		if err != nil {
			return err
		}
		if !s.List && len(args) > 2 {
			return cli.Usage("cli.args_many", args[2], "pawl config set")
		}
		if s.Name == settings.Isolation && !unset && args[1] == settings.Outer && !yes {
			if !a.Present() {
				return pawl.Fail(pawl.CodeApprovalNeeded, "cli.isolation_unasked")
			}
			if said, err := cli.Confirm(cmd.Context(), a.Printer, a.Text("cli.isolation_question")); err != nil ||
				!said {
				return cmp.Or(err, error(pawl.Fail(pawl.CodeCanceled, "cli.isolation_kept")))
			}
		}
		if err := settle(cmd.Context(), a, s, args[1:]); err != nil {
			return err
		}
		c := settings.Config{File: settings.UserFile(a.Std.Env)}
		if err := c.Change(s, args[1:]); err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(map[string]any{"name": s.Name, "value": args[1:], "file": c.File})
		}
		a.SayText("cli.config_changed", s.Name, c.File)
		if s.Name == settings.Isolation {
			a.Say("  " + a.Style.Cyan(a.Text("cli.next")) + a.Text("cli.isolation_next"))
		}
		return nil
	})
	if !unset {
		command.Flags().BoolVar(&yes, "yes", false, a.Text("cli.flag.yes"))
	}
	return command
}

// settle sees to it that only a person changes a setting of Setting.Personal, that an agent that is named exists, and
// that what is set as a key is one: of approve.key the key itself and not the path of its file, so that a change of the
// file does not change who approves.
func settle(ctx context.Context, a *cli.App, s settings.Setting, values []string) error {
	if by := a.Actor(); s.Personal() && by.Kind() == pawl.KindAutomation {
		return pawl.Fail(pawl.CodeDenied, "cli.config_no_person", s.Name, by.Label())
	}
	if len(values) == 0 || strings.TrimSpace(values[0]) == "" {
		return nil
	}
	if name := s.Agent(values[0]); name != "" {
		agents, err := cli.AgentsOf(a)
		if err == nil {
			err = agents.Known(ctx, name)
		}
		return err
	}
	switch s.Name {
	case settings.AuditKey:
		hash, named := strings.CutPrefix(strings.TrimSpace(values[0]), "SHA256:")
		if raw, err := base64.RawStdEncoding.DecodeString(hash); !named || err != nil || len(raw) != sha256.Size {
			return pawl.Fail(pawl.CodeInvalid, "cli.config_value", cli.Display(values[0]), "SHA256:… (ssh-add -l)")
		}
	case settings.ApproveKey:
		key, err := approver.Read(values[0])
		if err != nil {
			return err
		}
		values[0] = key.String()
	}
	return nil
}

func newConfigShowCommand(a *cli.App) *cobra.Command {
	return a.Command("show", "cli.config.show", "  pawl config show", cli.Exactly(0),
		func(*cobra.Command, []string) error {
			_, c, err := a.Configured()
			if err != nil {
				return err
			}
			lines := c.Lines(a.Text)
			if a.JSON {
				return a.PrintJSON(lines)
			}
			var t term.Table
			for _, l := range lines {
				if l.Source == "default" {
					l.Source = a.Text("cli.config.default")
				}
				value := cli.Display(strings.Join(l.Value, ", "))
				if value == "" {
					value = a.Style.None()
				}
				t.Row(l.Name, value, a.Style.Dim(cli.Display(l.Source)))
			}
			for i, shown := range t.Lines(0) {
				a.Say(shown)
				for _, l := range wrapped(lines[i].Meaning, cli.ListWidth(a.Printer)-4) {
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

func newConfigPathCommand(a *cli.App) *cobra.Command {
	return a.Command("path", "cli.config.path", "  pawl config path", cli.Exactly(0),
		func(*cobra.Command, []string) error {
			place, err := a.Found()
			if err != nil {
				return err
			}
			paths := map[string]string{"user": settings.UserFile(a.Std.Env),
				"project": settings.ProjectFile(place.Workspace)}
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
func configPath(a *cli.App, project bool) (string, error) {
	path := settings.UserFile(a.Std.Env)
	if project {
		place, err := a.Found()
		if err != nil {
			return "", err
		}
		path = settings.ProjectFile(place.Workspace)
	}
	if path == "" {
		return "", pawl.Fail(pawl.CodeEnvironment, "cli.config_no_home")
	}
	return path, nil
}

func newConfigEditCommand(a *cli.App) *cobra.Command {
	var project bool
	c := a.Command("edit", "cli.config.edit", "  pawl config edit\n  pawl config edit --project", cli.Exactly(0), nil)
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

// editConfig has a person edit a configuration file, or the commented one where there is none, and puts it in place
// when it can be read. What cannot is kept beside it.
func editConfig(ctx context.Context, a *cli.App, path string, project bool) error {
	given := settings.Template(project, a.Text)
	switch old, err := settings.ReadFile(path, settings.MaxFile); {
	case err == nil:
		given = string(old)
	case !errors.Is(err, fs.ErrNotExist):
		return pawl.Fail(pawl.CodeIO, "cli.config_unreadable", path).In("cli.config").Because(err)
	}
	text, name, err := cli.Edit(ctx, a, "pawl-config-*.yaml", given, settings.MaxFile)
	if err != nil {
		return err
	}
	if _, err := settings.Decode(path, []byte(text), project); err != nil {
		return cli.Kept(err, name)
	}
	if err := settings.ReplaceFile(path, []byte(text)); err != nil {
		return cli.Kept(err, name)
	}
	_ = os.Remove(name) // a file that stays in the temporary folder harms nothing
	if a.JSON {
		return a.PrintJSON(map[string]any{"path": path, "changed": text != given})
	}
	a.Say(a.Style.OK() + " " + cli.Display(path))
	return nil
}

func newConfigInitCommand(a *cli.App) *cobra.Command {
	var project bool
	c := a.Command("init", "cli.config.init", "  pawl config init\n  pawl config init --project", cli.Exactly(0), nil)
	c.RunE = func(*cobra.Command, []string) error {
		path, err := configPath(a, project)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", path).Because(err)
		}
		template := settings.Template(project, a.Text)
		if old, err := settings.ReadFile(path, settings.MaxFile); err == nil && settings.Vacant(old) {
			err = settings.ReplaceFile(path, []byte(template))
			return configWritten(a.Printer, path, err)
		}
		return configWritten(a.Printer, path, a.WriteNew(path, func(w io.Writer) error {
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
func configWritten(pr *cli.Printer, path string, err error) error {
	if err != nil {
		return err
	}
	if pr.JSON {
		return pr.PrintJSON(map[string]string{"path": path})
	}
	pr.Say(pr.Style.OK() + " " + cli.Display(path))
	return nil
}

func newConfigValidateCommand(a *cli.App) *cobra.Command {
	return a.Command("validate [FILE]", "cli.config.validate",
		"  pawl config validate\n  pawl config validate draft.yaml", cli.Between(0, 1), func(_ *cobra.Command,
			args []string) error {
			if len(args) == 0 {
				place, err := a.Found()
				if err != nil {
					return err
				}
				c, err := settings.Load(a.Std.Env, place.Workspace)
				if err == nil {
					_, err = c.Kernel(kernel.Defaults())
				}
				return configGood(a.Printer, errors.Join(append(c.Ignored, err)...))
			}
			data, err := a.ReadInput(args[0], settings.MaxFile)
			if err != nil {
				return err
			}
			c, err := settings.Decode(args[0], data, false)
			if err == nil {
				_, err = c.Kernel(kernel.Defaults())
			}
			return configGood(a.Printer, err)
		})
}

func configGood(pr *cli.Printer, err error) error {
	if err != nil {
		return err
	}
	if pr.JSON {
		return pr.PrintJSON(map[string]bool{"valid": true})
	}
	pr.Say(pr.Style.OK() + " " + pr.Text("cli.config.good"))
	return nil
}
