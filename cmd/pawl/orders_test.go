package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"pawl/face/app"
	"pawl/face/cli"
	"pawl/face/cli/orders"
	"pawl/face/host"
)

// TestKilledOrders kills commands that are no flow at many moments of their lives. Whatever is found then, giving the
// command again ends in the same state as if nothing had happened, and nothing of it is done twice.
func TestKilledOrders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(u *user)
		args    []string
		whole   func(u *user)
	}{
		"init": {func(*user) {}, []string{"init"}, func(u *user) {
			u.must(0, "validate")
			if log := u.read(".pawl/CHANGELOG.md"); strings.Count(log, "Knowledge base created") != 1 {
				u.t.Errorf("CHANGELOG:\n%s", log)
			}
		}},
		"commit": {func(u *user) { u.write("a.txt", "two\n"); u.write("new.txt", "n\n") },
			[]string{"commit", "feat: x", "--yes"}, func(u *user) {
				if n := u.git("rev-list", "--count", "HEAD"); n != "2" || u.git("status", "--porcelain") != "" {
					u.t.Errorf("%s commits; %s", n, u.git("status", "--porcelain"))
				}
			}},
		"rollback": {func(u *user) {
			u.git("tag", "base")
			u.write("a.txt", "two\n")
			u.git("commit", "-q", "-a", "-m", "second")
		}, []string{"rollback", "base", "--yes"}, func(u *user) {
			if u.read("a.txt") != "one\n" || u.git("status", "--porcelain") != "" ||
				u.git("rev-list", "--count", "HEAD") != "3" {
				u.t.Errorf("a.txt is %q, %s commits; %s", u.read("a.txt"), u.git("rev-list", "--count", "HEAD"),
					u.git("status", "--porcelain"))
			}
			if log := u.read(".pawl/CHANGELOG.md"); strings.Count(log, "### Rolled back") != 1 {
				u.t.Errorf("CHANGELOG:\n%s", log)
			}
		}},
		"clean": {func(u *user) {
			u.write(".pawl/plan/202602081200_a/tasks.md", "- [ ] 1.1 a\n")
			u.write(".pawl/plan/202602081201_b/tasks.md", "- [ ] 1.1 b\n")
		}, []string{"clean", "--all"}, func(u *user) {
			for _, p := range []string{"202602081200_a", "202602081201_b"} {
				if u.read(".pawl/archive/2026-02/"+p+"/tasks.md") == "" ||
					strings.Count(u.read(".pawl/archive/_index.md"), p[13:]+"]") != 1 {
					u.t.Errorf("%s is not in the archive once:\n%s", p, u.read(".pawl/archive/_index.md"))
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			took := time.Duration(0)
			for kill := range 9 {
				u := small(t)
				u.must(0, "init", "--bare")
				c.prepare(u)
				start := time.Now()
				p := u.start(c.args...)
				if kill > 0 { // the first one lives, and says how long that takes
					time.Sleep(took * time.Duration(kill+3) / 12)
					p.kill()
					p = u.start(c.args...)
				}
				// What was done already when the process died is nothing to do, or the state that is asked for.
				if a := p.wait(); a.code != 0 && a.code != 3 && a.code != 4 {
					t.Fatalf("kill %d: %v", kill, a)
				}
				if kill == 0 {
					took = time.Since(start)
				}
				c.whole(u)
				u.git("fsck", "--strict")
				if u.state("IDLE").Doing != nil {
					t.Error("something is still at work")
				}
				u.must(0, "audit", "verify")
				for _, lock := range []string{"index.lock"} {
					if _, err := os.Stat(filepath.Join(u.dir, ".git", lock)); err == nil {
						t.Errorf("kill %d: %s is left", kill, lock)
					}
				}
			}
		})
	}
}

// at answers the questions of a command as a person at a terminal would, and returns what was shown.
func (u *user) at(answers string, args ...string) (code int, shown string) {
	u.t.Helper()
	var out bytes.Buffer
	std := host.Streams{In: strings.NewReader(answers), Out: &out, Err: &out, TTY: true, Width: 100, Dir: u.dir,
		Env: func(name string) string {
			return map[string]string{"USER": "ada", "LANG": "C.UTF-8", "NO_COLOR": "1"}[name]
		}}
	code = cli.Main(context.Background(), app.Host{State: filepath.Join(u.home, ".local", "state", "pawl")}, std, args,
		orders.Entries()...)
	return code, out.String()
}

func TestOrdersAsk(t *testing.T) {
	t.Parallel()
	u := small(t)
	u.must(0, "init")
	for n := range 3 {
		u.write(fmt.Sprintf(".pawl/plan/20260208120%d_p%d/tasks.md", n, n), "- [ ] 1.1 a\n")
	}
	head := u.git("rev-parse", "HEAD")
	u.write("a.txt", "two\n")
	for _, c := range []struct {
		answers string
		args    []string
		code    int
		says    []string
		holds   func() bool
	}{
		{"3\n", []string{"init"}, 0, []string{"There is a knowledge base already", "Nothing was changed"}, nil},
		{"\n", []string{"init"}, 0, []string{"[1] bring it up to date", "says what the code says"}, nil},
		{"n\n", []string{"clean"}, 0, []string{"202602081200_p0", "Nothing was changed"},
			func() bool { return u.read(".pawl/archive/_index.md") == "" }},
		{"9\nx\n1, 3\n", []string{"clean"}, 0, []string{"archived: .pawl/archive/2026-02/202602081200_p0",
			"202602081202_p2"}, func() bool {
			return u.read(".pawl/plan/202602081201_p1/tasks.md") != "" &&
				u.read(".pawl/plan/202602081200_p0/tasks.md") == ""
		}},
		{"c\n", []string{"commit"}, 5, []string{"docs: update a.txt", "[p] commit and push main",
			"Nothing was changed"}, func() bool { return u.git("rev-parse", "HEAD") == head }},
		{"", []string{"commit"}, 5, []string{"Nothing was changed"},
			func() bool { return u.git("rev-parse", "HEAD") == head }},
		{"l\n", []string{"commit", "fix: mend"}, 0, []string{"🐞 fix: mend"},
			func() bool { return u.git("rev-parse", "HEAD~1") == head }},
		{"n\n", []string{"rollback", head}, 5, []string{"EHRB", "Go back?", "Nothing was changed"},
			func() bool { return u.read("a.txt") == "two\n" }},
		{"yes\n", []string{"rollback", head}, 0, []string{"is as it was at", "git finds nothing"},
			func() bool { return u.read("a.txt") == "one\n" }},
		{"a\n", []string{"review"}, 0, []string{"What is to be reviewed?", "nothing found"}, nil},
		{"", []string{"test"}, 2, []string{"Which command tests the project?"}, nil},
	} {
		code, shown := u.at(c.answers, c.args...)
		if code != c.code {
			t.Errorf("%v: exit status %d, want %d\n%s", c.args, code, c.code, shown)
		}
		for _, want := range c.says {
			if !strings.Contains(shown, want) {
				t.Errorf("%v does not say %q:\n%s", c.args, want, shown)
			}
		}
		if slip := slipIn(shown); slip != "" {
			t.Errorf("%v: %s", c.args, slip)
		}
		if c.holds != nil && !c.holds() {
			t.Errorf("%v left another state:\n%s", c.args, shown)
		}
	}
}

// TestOrdersByName gives the commands as the seed writes them, with free text behind their names.
func TestOrdersByName(t *testing.T) {
	t.Parallel()
	u := small(t)
	u.must(0, "init")
	u.write("a.txt", "two\n")
	said := func(lang string, command ...string) string {
		var out bytes.Buffer
		std := host.Streams{Out: &out, Err: &out, Dir: u.dir, Env: func(string) string { return "" }}
		say := cli.Entry{Name: cli.Say, Group: "work", Build: func(a *cli.App) *cobra.Command {
			return &cobra.Command{Use: cli.Say, Args: cobra.ArbitraryArgs,
				RunE: func(c *cobra.Command, args []string) error {
					return orders.Run(c.Context(), a, args[0], strings.Join(args[1:], " "))
				}}
		}}
		code := cli.Main(context.Background(), app.Host{State: filepath.Join(u.home, ".local", "state", "pawl")}, std,
			append([]string{"--lang", lang}, command...), append(orders.Entries(), say)...)
		return fmt.Sprintf("%s\nexit status %d", out.String(), code)
	}
	for _, c := range []struct {
		command []string
		lang    string
		want    []string
	}{
		{[]string{"~help"}, "en", []string{"~auto", "~rollback", "commit your changes", "exit status 0"}},
		{[]string{"~?"}, "zh-CN", []string{"~auto", "用规范的信息提交更改", "exit status 0"}},
		{[]string{"~validate", "kb"}, "en", []string{"the knowledge base is whole", "exit status 0"}},
		{[]string{"~review", "a.txt"}, "en", []string{"1 file, 2 lines looked at", "exit status 0"}},
		{[]string{"~commit", "fix: say more"}, "en", []string{"🐞 fix: say more", "exit status 9"}},
		{[]string{"~clean"}, "zh-CN", []string{"没有遗留的方案包", "exit status 0"}},
		{[]string{"~rollback", "nosuch"}, "en", []string{"there is no commit nosuch", "exit status 3"}},
		{[]string{"~nosuch"}, "en", []string{"exit status 2"}},
	} {
		got := said(c.lang, c.command...)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v does not say %q:\n%s", c.command, want, got)
			}
		}
	}
}

// What stands behind the name of a command is a command line of its own: its flags, the global ones included, mean what
// they mean in `pawl NAME`, and what it prints is the same.
func TestOrdersByNameTakeFlags(t *testing.T) {
	t.Parallel()
	u := small(t)
	u.must(0, "init", "--bare")
	u.write("a.txt", "two\n")
	for _, line := range []string{
		"commit --help", "commit --lang zh-CN --help", "commit --json", "commit --nosuch", "rollback --list --json",
		"rollback --lsit --lang zh-CN", "review --json a.txt",
		"clean one two --all --json", "rollback nosuch --json",
	} {
		got, want := u.pawl("~"+line), u.pawl(strings.Fields(line)...)
		if trace := regexp.MustCompile(`"trace":"[^"]*"`); trace.ReplaceAllString(got.String(),
			"") != trace.ReplaceAllString(want.String(), "") || want.out+want.err == "" {
			t.Errorf("pawl '~%s':\n%v\npawl %s:\n%v", line, got, line, want)
		}
	}
}

// What is written stands in the language of documents, whatever language the person at the keyboard reads.
func TestOrdersWriteInTheLanguageOfDocuments(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string][4]string{
		"zh-CN": {"创建知识库", "确认回滚", "revert: 回滚到 ", "# 代码检查发现的问题"},
		"en":    {"Knowledge base created", "rollback confirmed by", "revert: roll back to ", "# What a review found"},
	} {
		screen := map[string]string{"zh-CN": "en", "en": "zh-CN"}[lang]
		u := small(t)
		u.write(".pawl/config.yaml", "output_language: "+lang+"\n")
		u.must(0, "init", "--lang", screen)
		u.write("a.go", "package a\n\nconst password = \"hunter2hunter2\"\n")
		u.git("add", "-A")
		u.git("commit", "-q", "-m", "second")
		review := u.must(0, "review", "a.go", "--package", "--lang", screen).out
		u.git("clean", "-q", "-f", "-d")
		u.must(0, "rollback", "HEAD~1", "--yes", "--lang", screen)
		packages, err := filepath.Glob(filepath.Join(u.dir, ".pawl/plan/*/proposal.md"))
		if err != nil || len(packages) != 1 {
			t.Fatalf("%v %v\n%s", packages, err, review)
		}
		proposal, err := os.ReadFile(packages[0])
		if err != nil {
			t.Fatal(err)
		}
		log := u.read(".pawl/CHANGELOG.md")
		for what, pair := range map[string][2]string{"CHANGELOG": {log, want[0]}, "CHANGELOG of the rollback": {log,
			want[1]}, "commit": {u.git("log", "-1", "--format=%B"), want[2]}, "package": {string(proposal), want[3]}} {
			if !strings.Contains(pair[0], pair[1]) {
				t.Errorf("%s, %s: %q is not in\n%s", lang, what, pair[1], pair[0])
			}
		}
	}
}

// TestCommitAsksWithTheAddress shows where a branch would go before anybody agrees to it.
func TestCommitAsksWithTheAddress(t *testing.T) {
	t.Parallel()
	u := small(t)
	u.must(0, "init", "--bare")
	u.write("a.txt", "two\n")
	if _, shown := u.at("c\n", "commit"); strings.Contains(shown, "origin") ||
		!strings.Contains(shown, "[p] commit and push main\n") {
		t.Errorf("without a remote:\n%s", shown)
	}
	if code, shown := u.at("p\n", "commit"); code != 3 || u.git("rev-list", "--count", "HEAD") != "1" {
		t.Errorf("a push to nowhere: exit status %d\n%s", code, shown)
	}
	there := filepath.Join(filepath.Dir(u.dir), "there.git")
	u.git("init", "-q", "--bare", there)
	u.git("remote", "add", "origin", there)
	code, shown := u.at("c\n", "commit")
	if code != 5 || !strings.Contains(shown, "[p] commit and push main to origin ("+there+")") {
		t.Errorf("exit status %d\n%s", code, shown)
	}
	if a := u.must(9, "commit", "--push"); !strings.Contains(a.out, "main goes to origin ("+there+")") {
		t.Errorf("%v", a)
	}
	u.git("remote", "set-url", "origin", "https://ada:secret@localhost/x.git")
	if _, shown := u.at("c\n", "commit"); strings.Contains(shown, "secret") ||
		!strings.Contains(shown, "origin (https://localhost/x.git)") {
		t.Errorf("credentials:\n%s", shown)
	}
	if got := u.git("--git-dir", there, "for-each-ref"); got != "" {
		t.Errorf("pushed: %s", got)
	}
}

// TestEditedMessageIsKept has a commit fail behind the editor, in ways that differ in how far the commit came.
func TestEditedMessageIsKept(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("VISUAL", "")
	left := func() string {
		files, err := filepath.Glob(filepath.Join(temp, "pawl-commit-*.txt"))
		if err != nil || len(files) > 1 {
			t.Fatal(files, err)
		}
		if len(files) == 0 {
			return ""
		}
		raw, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(files[0]); err != nil {
			t.Fatal(err)
		}
		return files[0] + " " + string(raw)
	}
	for name, c := range map[string]struct {
		editor, answers string
		code            int
		kept            string // what the file holds that is left, "" where none is
	}{
		"committed":          {`printf 'fix: mine\n' > "$1"`, "e\nl\n", 0, ""},
		"twice":              {`printf 'fix: mine\n' >> "$1"`, "e\ne\nl\n", 0, ""},
		"given up":           {`printf 'fix: mine\n' > "$1"`, "e\nc\n", 5, ""},
		"nothing written":    {`exit 1`, "e\n", 12, ""},
		"the editor fails":   {`printf 'fix: mine\n' > "$1"; exit 1`, "e\n", 12, "fix: mine\n"},
		"nowhere to push to": {`printf 'fix: mine\n' > "$1"`, "e\np\n", 3, "fix: mine\n"},
		"changed meanwhile": {`printf 'fix: mine\n' > "$1"; echo three > a.txt; rm .git/HEAD`, "e\nl\n", -1,
			"fix: mine\n"},
		"too large": {`head -c 70000 /dev/zero | tr '\0' x > "$1"`, "e\n", 13, strings.Repeat("x", 70000)},
	} {
		u := small(t)
		u.must(0, "init", "--bare")
		u.write("a.txt", "two\n")
		script := filepath.Join(filepath.Dir(u.dir), "editor")
		if err := os.WriteFile(script, []byte("#!/bin/sh\ncd "+u.dir+"\n"+c.editor+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("EDITOR", script)
		code, shown := u.at(c.answers, "commit")
		if code != c.code && (c.code >= 0 || code == 0) {
			t.Errorf("%s: exit status %d, want %d\n%s", name, code, c.code, shown)
		}
		file, text, _ := strings.Cut(left(), " ")
		if text != c.kept || file != "" && !strings.Contains(shown, file) {
			t.Errorf("%s: %s holds %.40q\n%s", name, file, text, shown)
		}
	}
}
