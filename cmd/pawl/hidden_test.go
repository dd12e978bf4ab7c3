package main

import (
	"io"
	"path/filepath"
	"testing"

	"pawl"
	"pawl/agent"
	"pawl/agent/mcptools"
	"pawl/effect"
	"pawl/sandbox"
	"pawl/sandbox/deps"
)

// TestAgentsAndServersDoNotSeeWhatIsHidden starts an agent and a server in a worktree and in the folder itself. The files are there
// for everybody else, and a machine that cannot hide them starts nothing.
func TestAgentsAndServersDoNotSeeWhatIsHidden(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write(".pawlignore", "/secret/\n*.key\n")
	tree := filepath.Join(u.dir, ".pawl", "worktrees", "1")
	for _, at := range []string{"", ".pawl/worktrees/1/"} {
		u.write(at+"secret/a.txt", "needle\n")
		u.write(at+"sub/b.key", "needle\n")
		u.write(at+"free.txt", "free\n")
	}
	place := effect.Place{Workspace: u.dir, Tree: u.dir}
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	say := []string{"sh", "-c", "cat secret/a.txt sub/b.key ../../../secret/a.txt free.txt 2>/dev/null; echo mine 2>/dev/null > sub/b.key; rm -r secret sub/b.key 2>/dev/null; true"}
	start := map[string]func(dir string) (agent.Process, error){
		"agent": func(dir string) (agent.Process, error) {
			return starter(box, &deps.Finder{}, place)(t.Context(), agent.Spec{Argv: say, Dir: dir, Env: plainEnv(), Writable: []string{dir}, Hidden: []string{filepath.Join(u.dir, ".pawl")}})
		},
		"server": func(dir string) (agent.Process, error) {
			return walled(box, place, &deps.Finder{})(t.Context(), mcptools.Spec{Argv: say, Dir: dir, Env: plainEnv(), Readable: []string{dir}})
		},
	}
	for name, begin := range start {
		for _, dir := range []string{tree, u.dir} {
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
	for _, file := range []string{"secret/a.txt", "sub/b.key", ".pawl/worktrees/1/secret/a.txt", ".pawl/worktrees/1/sub/b.key"} {
		if got := u.read(file); got != "needle\n" {
			t.Errorf("%s is %q now", file, got)
		}
	}
}
