package launch_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"pawl"
	"pawl/agent"
	"pawl/agent/mcptools"
	"pawl/driver/launch"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/deps"
)

func TestMain(m *testing.M) {
	sandbox.Child()
	os.Exit(m.Run())
}

// folder is a workspace without git.
type folder string

func workspace(t *testing.T) folder {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return folder(dir)
}

func (f folder) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(string(f), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f folder) read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(string(f), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (f folder) launcher(t *testing.T) launch.Launcher {
	t.Helper()
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return launch.Launcher{Box: box, Place: effect.Place{Workspace: string(f), Tree: string(f)}, Deps: &deps.Finder{}}
}

// TestAgentsAndServersDoNotSeeWhatIsHidden starts an agent and a server in a worktree and in the folder itself. The
// files are there for everybody else, and a machine that cannot hide them starts nothing.
func TestAgentsAndServersDoNotSeeWhatIsHidden(t *testing.T) {
	t.Parallel()
	u := workspace(t)
	u.write(t, ".pawlignore", "/secret/\n*.key\n")
	tree := filepath.Join(string(u), ".pawl", "worktrees", "1")
	for _, at := range []string{"", ".pawl/worktrees/1/"} {
		u.write(t, at+"secret/a.txt", "needle\n")
		u.write(t, at+"sub/b.key", "needle\n")
		u.write(t, at+"free.txt", "free\n")
	}
	l := u.launcher(t)
	// A folder for temporary files, in which this one may lie, is private; that of a person's project can be read.
	readable := []string{string(u)}
	say := []string{"sh", "-c", "cat secret/a.txt sub/b.key ../../../secret/a.txt free.txt 2>/dev/null; echo mine 2>/dev/null > sub/b.key; rm -r secret sub/b.key 2>/dev/null; true"}
	start := map[string]func(dir string) (agent.Process, error){
		"agent": func(dir string) (agent.Process, error) {
			return l.Agent(t.Context(), agent.Spec{Argv: say, Dir: dir, Env: launch.Environ(), Writable: []string{dir},
				Readable: readable, Hidden: []string{filepath.Join(string(u), ".pawl")}})
		},
		"server": func(dir string) (agent.Process, error) {
			return l.Server(t.Context(), mcptools.Spec{Argv: say, Dir: dir, Env: launch.Environ(),
				Readable: append(readable, dir)})
		},
	}
	for name, begin := range start {
		for _, dir := range []string{tree, string(u)} {
			p, err := begin(dir)
			if pawl.CodeOf(err) == pawl.CodeEnvironment && name == "agent" {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := io.ReadAll(p.Stdout())
			if _, err := p.Wait(); err != nil {
				t.Fatal(err)
			}
			if string(raw) != "free\n" {
				t.Errorf("%s in %s reads %q", name, dir, raw)
			}
		}
	}
	for _, file := range []string{"secret/a.txt", "sub/b.key", ".pawl/worktrees/1/secret/a.txt",
		".pawl/worktrees/1/sub/b.key"} {
		if got := u.read(t, file); got != "needle\n" {
			t.Errorf("%s is %q now", file, got)
		}
	}
}

// TestAgentsAndServersHaveTheDependencies gives agents and MCP servers the dependencies where they start in a tree of
// the workspace, and nothing where they start elsewhere.
func TestAgentsAndServersHaveTheDependencies(t *testing.T) {
	t.Parallel()
	u := workspace(t)
	u.write(t, "package.json", `{"dependencies":{"x":"1"}}`)
	u.write(t, "node_modules/x/index.js", "module.exports = 'x'\n")
	tree := filepath.Join(string(u), ".pawl", "worktrees", "1")
	u.write(t, ".pawl/worktrees/1/package.json", `{"dependencies":{"x":"1"}}`)
	u.write(t, ".pawl/worktrees/1/sub/a.txt", "")
	l := u.launcher(t)
	say := []string{"sh", "-c", "cat node_modules/x/index.js ../node_modules/x/index.js 2>/dev/null; echo mine > node_modules/x/index.js 2>/dev/null; true"}
	read := func(p agent.Process, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(p.Stdout())
		if _, err := p.Wait(); err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for dir, want := range map[string]string{tree: "module.exports = 'x'\n",
		filepath.Join(tree, "sub"): "module.exports = 'x'\n", t.TempDir(): ""} {
		writable := []string{tree}
		if want == "" {
			writable = []string{dir}
		}
		if got := read(l.Agent(t.Context(), agent.Spec{Argv: say, Dir: dir, Env: launch.Environ(),
			Writable: writable})); got != want {
			t.Errorf("an agent in %s reads %q", dir, got)
		}
		if got := read(l.Server(t.Context(), mcptools.Spec{Argv: say, Dir: dir, Env: launch.Environ(),
			Writable: writable})); got != want {
			t.Errorf("a server in %s reads %q", dir, got)
		}
	}
	if got := u.read(t, "node_modules/x/index.js"); got != "module.exports = 'x'\n" {
		t.Errorf("the user's packages changed: %q", got)
	}
}
