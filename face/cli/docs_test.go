package cli_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/commands"
	"pawl/face/cli/complete"
	"pawl/face/cli/manual"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/internal/golden"
	"pawl/kernel/effect"
	"pawl/text/message"
)

// tree builds every command in a language.
func tree(lang string) *cobra.Command {
	return cli.TreeOf(host.Streams{Env: func(name string) string {
		if name == "LANG" {
			return lang
		}
		return ""
	}}, nil, others()...)
}

// others are the commands of the packages beside this one, as the program has them.
func others() []cli.Entry {
	return slices.Concat(commands.Entries(), complete.Entries(), manual.Entries())
}

// walk calls f for a command and all below it, in the order of the help.
func walk(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	subs := slices.SortedFunc(slices.Values(c.Commands()), func(x, y *cobra.Command) int {
		return cmp.Compare(x.Annotations["order"], y.Annotations["order"])
	})
	for _, s := range subs {
		walk(s, f)
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	for _, lang := range []string{"en_GB.UTF-8", "zh_CN.UTF-8"} {
		root := tree(lang)
		walk(root, func(c *cobra.Command) {
			path := c.CommandPath()
			for what, text := range map[string]string{"short": c.Short, "long": c.Long} {
				if text == "" || strings.HasPrefix(text, "cli.") {
					t.Errorf("%s: %s has no %s text: %q", lang, path, what, text)
				}
			}
			if !c.HasSubCommands() && !strings.Contains(c.Example, path) && !strings.HasPrefix(c.Example, "  pawl ") {
				t.Errorf("%s has no example", path)
			}
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if f.Usage == "" || strings.HasPrefix(f.Usage, "cli.") {
					t.Errorf("%s: %s --%s has no text", lang, path, f.Name)
				}
			})
			if c.Args == nil {
				t.Errorf("%s does not check its arguments", path)
			}
		})
	}
}

// The examples of the help are command lines that parse.
func TestExamplesParse(t *testing.T) {
	root := tree("en_GB.UTF-8")
	var lines []string
	walk(root, func(c *cobra.Command) {
		for l := range strings.SplitSeq(c.Example, "\n") {
			l, _, _ = strings.Cut(strings.TrimSpace(l), " > ")
			l, _, _ = strings.Cut(l, " | ")
			// What is said to pawl itself goes to the command that understands it.
			if rest, ok := strings.CutPrefix(l, "pawl '~"); ok {
				l = `pawl say "~` + strings.TrimSuffix(rest, "'") + `"`
			}
			for part := range strings.SplitSeq(l, " && ") {
				lines = append(lines, strings.TrimSpace(part))
			}
		}
	})
	for _, l := range lines {
		if l == "" || l == "pawl" {
			continue
		}
		args := quotedFields(strings.TrimPrefix(l, "pawl "))
		found, rest, err := cli.TreeOf(host.Streams{}, args, others()...).Find(args)
		if err == nil {
			err = found.ParseFlags(rest)
		}
		if err == nil {
			err = found.ValidateArgs(found.Flags().Args())
		}
		if err != nil || !found.HasParent() {
			t.Errorf("%s: %v", l, err)
		}
	}
}

// quotedFields splits a line at blanks outside of double quotes.
func quotedFields(line string) []string {
	in := false
	fields := strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			in = !in
		}
		return r == ' ' && !in
	})
	for i := range fields {
		fields[i] = strings.Trim(fields[i], `"`)
	}
	return fields
}

// Groups and answers are told by name.
func TestEveryGroupAndAnswerHasAName(t *testing.T) {
	for _, g := range cli.Groups() {
		if _, ok := message.Lookup("cli.group." + g); !ok {
			t.Errorf("group %s has no name", g)
		}
	}
	for _, a := range []effect.Answer{effect.DoneYes, effect.DoneNo, effect.DoneUnknown} {
		if _, ok := message.Lookup("cli.answer." + string(a)); !ok {
			t.Errorf("answer %s has no text", a)
		}
	}
}

// Every setting says what it does, in both languages. settingLines are the rows of the table of settings in a language.
// Those of single servers and agents have no variable.
func settingLines(l message.Lang) []settings.Line {
	text := (&cli.Printer{Lang: l}).Text
	rows := settings.Default().Lines(text)
	for _, name := range []string{
		"agents.x.login", "agents.x.key", "agents.x.way", "agents.x.base_url", "agents.x.model", "agents.x.trust",
		"mcp.servers.x.command", "mcp.servers.x.env.Y",
		"mcp.servers.x.network", "mcp.servers.x.url", "mcp.servers.x.key_env", "mcp.servers.x.key_file",
		"mcp.servers.x.digest",
		"notices.x.kind", "notices.x.url", "notices.x.secret", "notices.x.user", "notices.x.from", "notices.x.to",
		"notices.x.rules",
	} {
		row, ok := settings.DefaultOf(name, text)
		if !ok {
			panic(name)
		}
		row.Name, row.Env = strings.NewReplacer(".x.", ".NAME.", ".Y", ".VARIABLE").Replace(name), ""
		rows = append(rows, row)
	}
	return rows
}

func TestEverySettingHasAMeaning(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range []message.Lang{message.English, message.Chinese} {
		for _, s := range settingLines(l) {
			meaning := s.Meaning
			if strings.HasPrefix(meaning, "setting.") || strings.Contains(meaning, "%!") || len(meaning) < 6 {
				t.Errorf("%s: %s means %q", l, s.Name, meaning)
			}
			if seen[meaning] {
				t.Errorf("%s: %s says what another setting says: %q", l, s.Name, meaning)
			}
			seen[meaning] = true
		}
	}
	for _, key := range message.Keys() {
		e, _ := message.Lookup(key)
		if strings.HasPrefix(key, "setting.budget_") || !strings.HasPrefix(key, "setting.") || seen[e.En] {
			continue
		}
		if unit, ok := strings.CutPrefix(key, "setting.budget."); ok {
			if run, _ := message.Lookup("setting.budget_run"); seen[strings.ReplaceAll(run.En, "%[1]s", e.En)] {
				continue
			}
			key = unit
		}
		t.Errorf("%s is the meaning of no setting", key)
	}
}

func TestDocumentation(t *testing.T) {
	golden.Check(t, "../../docs/cli.md", commandPage())
	golden.Check(t, "../../docs/exit-codes.md", exitPage())
}

const generated = "This page is generated by `go test ./face/cli -update`.\n"

func commandPage() string {
	root := tree("en_GB.UTF-8")
	var b strings.Builder
	b.WriteString("# Command line\n\n" + generated + "\n" +
		"Every command takes `--json` and then writes JSON for programs: one document, or one line of JSON for each event and each task.\n" +
		"Errors are text with the next step, or with `--json` one object `{\"error\":{\"code\",\"class\",\"message\",\"hint\",\"rule\",\"gate\",\"trace\"}}`\n" +
		"on the standard error. The exit statuses are in [exit-codes.md](exit-codes.md). `--lang zh-CN` shows everything in 简体中文. Text is coloured on a terminal; `NO_COLOR` or `--no-color` turns that\noff, and `CLICOLOR_FORCE=1` turns it on elsewhere.\n\n")
	walk(root, func(c *cobra.Command) {
		if !c.HasParent() || c.Name() == "help" {
			return
		}
		level := "##" + strings.Repeat("#", strings.Count(c.CommandPath(), " ")-1)
		fmt.Fprintf(&b, "%s %s\n\n%s\n\n", level, c.CommandPath(), c.Long)
		if c.HasSubCommands() && c.Example == "" {
			return
		}
		fmt.Fprintf(&b, "```text\n%s\n```\n\n", c.UseLine())
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			value, text := pflag.UnquoteUsage(f)
			name := strings.TrimSpace("--" + f.Name + " " + value)
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			fmt.Fprintf(&b, "- `%s`: %s\n", name, text)
		})
		fmt.Fprintf(&b, "\n```sh\n%s\n```\n\n", strings.ReplaceAll(strings.TrimSpace(c.Example), "\n  ", "\n"))
	})
	b.WriteString("## Settings\n\nSettings come from `$XDG_CONFIG_HOME/pawl/config.yaml` (yours), `.pawl/config.yaml` (the project's, which can only tighten\n" +
		"what you chose), environment variables and flags, each over the one before.\n\n| setting | meaning | default | environment |\n|---|---|---|---|\n")
	for _, s := range settingLines(message.English) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Name, s.Meaning, code(strings.Join(s.Value, ", ")), code(s.Env))
	}
	return b.String()
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func exitPage() string {
	codes := pawl.Codes()
	slices.SortFunc(codes, func(x, y pawl.Code) int {
		return cmp.Or(cmp.Compare(x.Info().Exit, y.Info().Exit), cmp.Compare(x, y))
	})
	var b strings.Builder
	b.WriteString("# Exit statuses\n\n" + generated + "\n" +
		"| status | code | class | HTTP |\n|---|---|---|---|\n| 0 | | the command did what it was given for | |\n")
	for _, c := range codes {
		i := c.Info()
		fmt.Fprintf(&b, "| %d | `%s` | `%s` | %d |\n", i.Exit, c, i.Class, i.HTTP)
	}
	b.WriteString("| 130 | | interrupted; `pawl resume` goes on | |\n| 141 | | nobody reads the output any more; as after an interrupt | |\n\n" +
		"A command that works in the foreground (`run`, `resume`, `approve`, `fix`, …) ends with 0 when the run ended as the command wanted, with 8\n" +
		"when the session is BLOCKED, with 9 when something waits for approval and nobody is there to ask, with 5 when a person said no, with 12\n" +
		"when the run was canceled or rolled back by another command, and with the status of the failure when no plan could be made. 15 says that checks are red and\n" +
		"nothing was begun: what an agent needs to mend them is in `.pawl/work_order.md` (`pawl check`, and a `pawl run` for the checks to pass where no\n" +
		"program is installed that could mend anything).\n")
	return b.String()
}
