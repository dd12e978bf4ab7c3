// Package skills is `pawl skill`: it puts what coding agents have to know of pawl where they look for it, and takes it
// back. All of it is decided before anything is written; nothing of anybody else's is written over, and nothing is
// written through a link.
package skills

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/sandbox/safeopen"
	"pawl/text/skill"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{{Name: "skill", Group: "setup", Build: newSkillCommand}}
}

func newSkillCommand(a *cli.App) *cobra.Command {
	return a.Group("skill", "skill.root", newInstallCommand(a), newShowCommand(a))
}

// flags are those of the installation.
type flags struct {
	home, remove, force, dry bool
	agents                   []string
}

func newInstallCommand(a *cli.App) *cobra.Command {
	var f flags
	c := a.Command("install", "skill.install", `  pawl skill install
  pawl skill install --agent codex --agent gemini
  pawl skill install --global --lang zh-CN
  pawl skill install --remove --dry-run`, cli.Exactly(0), nil)
	c.RunE = func(*cobra.Command, []string) error { return install(a, f) }
	c.Flags().BoolVar(&f.home, "global", false, a.Text("skill.flag.global"))
	c.Flags().StringSliceVar(&f.agents, "agent", nil, a.Text("skill.flag.agent", strings.Join(skill.Agents(), ", ")))
	c.Flags().BoolVar(&f.remove, "remove", false, a.Text("skill.flag.remove"))
	c.Flags().BoolVar(&f.force, "force", false, a.Text("skill.flag.force"))
	c.Flags().BoolVar(&f.dry, "dry-run", false, a.Text("skill.flag.dry_run"))
	return c
}

func newShowCommand(a *cli.App) *cobra.Command {
	return a.Command("show [skill|section]", "skill.show",
		"  pawl skill show\n  pawl skill show section --lang zh-CN\n  pawl skill show --json", cli.Between(0,
			1), func(_ *cobra.Command, args []string) error {
			text := skill.Text(a.Lang)
			switch {
			case len(args) == 0 && a.JSON:
				return a.PrintJSON(map[string]any{"name": skill.Name, "language": a.Lang, "skill": text,
					"section": skill.Section(a.Lang), "agents": skill.Agents()})
			case len(args) == 1 && args[0] == "section":
				text = skill.Section(a.Lang)
			case len(args) == 1 && args[0] != "skill":
				return cli.Usage("skill.show_what", args[0])
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"language": a.Lang, args[0]: text})
			}
			a.Say(strings.TrimSuffix(text, "\n"))
			return nil
		})
}

// step is what is done about one file.
type step struct {
	Path string `json:"path"`
	// Action is create, update, same, remove or absent.
	Action string `json:"action"`
	// Backup is where what somebody else wrote is kept.
	Backup string `json:"backup,omitempty"`
	data   []byte
	old    []byte
}

func install(a *cli.App, f flags) error {
	targets, err := skill.Targets(f.home, f.agents...)
	if err != nil {
		return err
	}
	dir, err := folder(a, f.home)
	if err != nil {
		return err
	}
	root, err := safeopen.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	h := house{root}
	steps := make([]step, 0, len(targets))
	for _, t := range targets {
		s, err := h.decide(a.Printer, t, f)
		if err != nil {
			return err
		}
		steps = append(steps, s)
	}
	for n := 0; n < len(steps) && !f.dry; n++ {
		if err := h.carry(steps[n]); err != nil {
			return err
		}
	}
	return tell(a.Printer, root.Dir(), steps, f)
}

// folder is what the targets are relative to.
func folder(a *cli.App, home bool) (string, error) {
	if !home {
		place, err := a.Found()
		return place.Workspace, err
	}
	dir := a.Std.Env("HOME")
	if dir == "" {
		dir = a.Std.Env("USERPROFILE")
	}
	if info, err := os.Stat(dir); err != nil || !filepath.IsAbs(dir) || !info.IsDir() {
		return "", pawl.Fail(pawl.CodeEnvironment, "skill.no_home", dir).In("skill.install")
	}
	return dir, nil
}

func tell(pr *cli.Printer, dir string, steps []step, f flags) error {
	if pr.JSON {
		return pr.PrintJSON(map[string]any{"folder": dir, "language": pr.Lang, "dry_run": f.dry, "removed": f.remove,
			"files": steps})
	}
	for _, s := range steps {
		sign, key := pr.Style.OK(), "skill.done."+s.Action
		if f.dry {
			sign, key = " ", "skill.would."+s.Action
		}
		pr.Say(sign + " " + pr.Text(key, filepath.Join(dir, filepath.FromSlash(s.Path))))
		if s.Backup != "" {
			pr.Say("  " + pr.Text("skill.kept", s.Backup))
		}
	}
	if !f.dry && !f.remove {
		pr.Say("  " + pr.Style.Cyan(pr.Text("cli.next")) + pr.Text("skill.next"))
	}
	return nil
}
