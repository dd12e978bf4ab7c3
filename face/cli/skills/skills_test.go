package skills_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl/face/cli"
	"pawl/face/cli/commands"
	"pawl/face/host"
	"pawl/kernel/effect"
	"pawl/text/message"
	"pawl/text/skill"
)

// here is a host that knows one project.
type here struct {
	host.Host
	dir string
}

func (h here) Find(string) (effect.Place, error) {
	return effect.Place{Workspace: h.dir, Tree: h.dir}, nil
}

// person is somebody with a project and a home.
type person struct {
	t         *testing.T
	dir, home string
}

func newPerson(t *testing.T) *person {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t, filepath.Join(base, "work"), filepath.Join(base, "home")}
	for _, d := range []string{p.dir, p.home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// pawl runs a command, which has to end with a status, and returns all that it printed.
func (p *person) pawl(code int, args ...string) string {
	p.t.Helper()
	var out bytes.Buffer
	std := host.Streams{Out: &out, Err: &out, Width: 120, Dir: p.dir, Env: func(name string) string {
		if name == "HOME" {
			return p.home
		}
		return ""
	}}
	if got := cli.Main(context.Background(), here{dir: p.dir}, std, args, commands.Entries()...); got != code {
		p.t.Fatalf("pawl %s: exit status %d, want %d\n%s", strings.Join(args, " "), got, code, out.String())
	}
	return out.String()
}

func (p *person) write(name, text string) {
	p.t.Helper()
	name = filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
		p.t.Fatal(err)
	}
}

// files are the files and links below a folder, with what they hold.
func (p *person) files(dir string) map[string]string {
	p.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		switch {
		case d.IsDir():
			out[rel+"/"] = ""
		case d.Type()&fs.ModeSymlink != 0:
			out[rel], err = os.Readlink(name)
		default:
			var raw []byte
			raw, err = os.ReadFile(name)
			out[rel] = string(raw)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n%.2000s\nwant\n%.2000s", what, g, w)
	}
}

const agentsFile = ".agents/skills/context-manager/SKILL.md"

func TestInstallAndRemove(t *testing.T) {
	p := newPerson(t)
	p.write("AGENTS.md", "# Mine")
	p.write(".claude/settings.json", "{}")
	before := p.files(p.dir)

	if out := p.pawl(0, "skill", "install", "--dry-run"); !strings.Contains(out, "would be written: "+
		filepath.Join(p.dir, agentsFile)) {
		t.Errorf("dry run:\n%s", out)
	}
	same(t, "after a dry run", p.files(p.dir), before)

	out := p.pawl(0, "skill", "install")
	for _, want := range []string{"written: " + filepath.Join(p.dir, agentsFile), "brought up to date: " +
		filepath.Join(p.dir, "AGENTS.md"), "next: "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	installed := p.files(p.dir)
	for _, name := range []string{agentsFile, ".claude/skills/context-manager/SKILL.md"} {
		if installed[name] != string(skill.File(message.English)) {
			t.Errorf("%s: %.100q", name, installed[name])
		}
	}
	if doc := installed["AGENTS.md"]; !strings.HasPrefix(doc, "# Mine\n\n<!-- pawl:begin") ||
		!strings.Contains(doc, skill.Section(message.English)) {
		t.Errorf("AGENTS.md:\n%s", doc)
	}
	if info, err := os.Stat(filepath.Join(p.dir, "AGENTS.md")); err != nil {
		t.Fatal(err)
	} else if info.Mode().Perm() != 0o640 {
		t.Errorf("AGENTS.md has the mode %v", info.Mode())
	}
	if out := p.pawl(0, "skill", "install"); strings.Count(out, "up to date already") != 3 {
		t.Errorf("a second time:\n%s", out)
	}
	same(t, "after a second time", p.files(p.dir), installed)

	p.pawl(0, "skill", "install", "--lang", "zh-CN")
	if now := p.files(p.dir); now[agentsFile] != string(skill.File(message.Chinese)) ||
		!strings.Contains(now["AGENTS.md"], "与 pawl 协作") || strings.Contains(now["AGENTS.md"], "Working with pawl") {
		t.Errorf("in Chinese:\n%s", now["AGENTS.md"])
	}
	var told struct {
		Removed bool `json:"removed"`
		Files   []struct{ Path, Action string }
	}
	if err := json.Unmarshal([]byte(p.pawl(0, "skill", "install", "--remove", "--json")), &told); err != nil ||
		!told.Removed || len(told.Files) != 3 || told.Files[0].Action != "remove" {
		t.Errorf("%+v %v", told, err)
	}
	same(t, "after the removal", p.files(p.dir), before)
	if out := p.pawl(0, "skill", "install", "--remove"); strings.Count(out, "nothing of pawl's") != 3 {
		t.Errorf("removed again:\n%s", out)
	}
	same(t, "after another removal", p.files(p.dir), before)
	if n := len(p.files(p.home)); n != 0 {
		t.Errorf("%d files in the home", n)
	}
}

func TestSomebodyElses(t *testing.T) {
	p := newPerson(t)
	p.write(agentsFile, "---\nname: context-manager\n---\nmine\n")
	before := p.files(p.dir)
	for _, args := range [][]string{{}, {"--remove"}, {"--dry-run"}, {"--lang", "zh-CN"}} {
		out := p.pawl(6, append([]string{"skill", "install"}, args...)...)
		if !strings.Contains(out, agentsFile) || !strings.Contains(out, "--force") {
			t.Errorf("%v:\n%s", args, out)
		}
		same(t, fmt.Sprint(args), p.files(p.dir), before)
	}
	p.pawl(0, "skill", "install", "--force")
	if now := p.files(p.dir); now[agentsFile+".bak"] != before[agentsFile] ||
		now[agentsFile] != string(skill.File(message.English)) {
		t.Errorf("forced: %v", now)
	}
	// What pawl wrote and a person has changed is the person's, too.
	p.write(agentsFile, string(skill.File(message.English))+"and this\n")
	if out := p.pawl(6, "skill", "install"); !strings.Contains(out, "was changed since") {
		t.Error(out)
	}
	p.pawl(0, "skill", "install", "--force", "--remove")
	now := p.files(p.dir)
	if _, there := now[agentsFile]; there || !strings.HasSuffix(now[agentsFile+".bak.2"], "and this\n") ||
		now[agentsFile+".bak"] != before[agentsFile] {
		t.Errorf("removed by force: %v", now)
	}
}

func TestNothingIsWrittenThroughLinks(t *testing.T) {
	for name, link := range map[string]string{".agents": "dir", ".claude/skills": "dir", agentsFile: "file",
		"AGENTS.md": "file", ".claude/skills/context-manager": "dir"} {
		p := newPerson(t)
		target := filepath.Join(p.home, "elsewhere")
		if link == "dir" {
			if err := os.Mkdir(target, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		at := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
		before := p.files(filepath.Dir(p.dir))
		for _, args := range [][]string{{}, {"--force"}, {"--remove"}} {
			if out := p.pawl(5, append([]string{"skill", "install"}, args...)...); !strings.Contains(out, name) {
				t.Errorf("%s %v:\n%s", name, args, out)
			}
			same(t, name, p.files(filepath.Dir(p.dir)), before)
		}
	}
	p := newPerson(t)
	p.write(".agents", "a file where a folder should be")
	p.pawl(5, "skill", "install")
	p.write("AGENTS.md", "a\n<!-- pawl:begin -->\n")
	if out := p.pawl(13, "skill", "install", "--agent", "pi"); !strings.Contains(out, "AGENTS.md") ||
		!strings.Contains(out, "line 2") {
		t.Error(out)
	}
	if now := p.files(p.dir); len(now) != 2 {
		t.Errorf("something was written before all was decided: %v", now)
	}
}

func TestElsewhere(t *testing.T) {
	p := newPerson(t)
	p.pawl(0, "skill", "install", "--global")
	p.pawl(0, "skill", "install", "--global", "--agent", "codex,opencode")
	p.pawl(0, "skill", "install", "--agent", "gemini", "--agent", "qwen")
	home, work := p.files(p.home), p.files(p.dir)
	for _, name := range []string{agentsFile, ".claude/skills/context-manager/SKILL.md", ".codex/AGENTS.md",
		".config/opencode/AGENTS.md", ".config/opencode/skills/context-manager/SKILL.md"} {
		if home[name] == "" {
			t.Errorf("no %s in the home: %v", name, home)
		}
	}
	if work[".gemini/skills/context-manager/SKILL.md"] == "" || work[".qwen/skills/context-manager/SKILL.md"] == "" ||
		work["AGENTS.md"] == "" || work[agentsFile] != "" {
		t.Errorf("%v", work)
	}
	if out := p.pawl(2, "skill", "install", "--agent", "nosuch"); !strings.Contains(out, "claude, cline, codex") {
		t.Error(out)
	}
	p.home = filepath.Join(p.dir, "gone")
	p.pawl(10, "skill", "install", "--global")
}

func TestShow(t *testing.T) {
	p := newPerson(t)
	if out := p.pawl(0, "skill", "show"); out != skill.Text(message.English) {
		t.Errorf("%.200s", out)
	}
	if out := p.pawl(0, "skill", "show", "section", "--lang", "zh-CN"); out != skill.Section(message.Chinese) {
		t.Errorf("%.200s", out)
	}
	var told map[string]any
	if err := json.Unmarshal([]byte(p.pawl(0, "skill", "show", "--json")), &told); err != nil ||
		told["name"] != "context-manager" || told["section"] != skill.Section(message.English) {
		t.Errorf("%v %v", told, err)
	}
	p.pawl(2, "skill", "show", "everything")
	if n := len(p.files(p.dir)); n != 0 {
		t.Errorf("%d files", n)
	}
}

// command matches a command line in the texts, and tool what could be a tool of the MCP server.
var (
	command = regexp.MustCompile("`(pawl [^`]*)`")
	tool    = regexp.MustCompile("`([a-z]+(?:_[a-z]+)+)`")
	word    = regexp.MustCompile(`^[a-z]+$`)
	flag    = regexp.MustCompile(` (--?[a-z][a-z-]*)`)
	literal = regexp.MustCompile(`"[^"]*"`)
)

// TestWhatTheTextsNameExists asks every command that the texts name for its help, and looks there for every flag that
// it is shown with; the tools must be those of the server.
func TestWhatTheTextsNameExists(t *testing.T) {
	p := newPerson(t)
	commands, tools := 0, 0
	for _, lang := range []message.Lang{message.English, message.Chinese} {
		text := skill.Text(lang) + skill.Section(lang)
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			line := literal.ReplaceAllString(m[1], "TEXT")
			path := []string{}
			for _, w := range strings.Fields(line)[1:] {
				if !word.MatchString(w) {
					break
				}
				path = append(path, w)
			}
			help := p.pawl(0, append(slices.Clone(path), "--help")...)
			if !strings.Contains(help, "  pawl "+strings.Join(path, " ")) {
				t.Errorf("%s: there is no such command:\n%s", m[1], help)
			}
			for _, f := range flag.FindAllStringSubmatch(line, -1) {
				if !regexp.MustCompile(`(^|[\s,])` + regexp.QuoteMeta(f[1]) + `\b`).MatchString(help) {
					t.Errorf("%s: there is no flag %s:\n%s", m[1], f[1], help)
				}
			}
			commands++
		}
		for _, m := range tool.FindAllStringSubmatch(text, -1) {
			if _, ok := message.Lookup("mcp.tool." + m[1]); !ok {
				t.Errorf("%s: there is no tool %s", lang, m[1])
			}
			tools++
		}
	}
	if commands < 40 || tools != 2*15 {
		t.Errorf("%d commands, %d tools", commands, tools)
	}
}
