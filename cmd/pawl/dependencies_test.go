package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/need"
)

// noted is a step that changes something, so that there is work to verify and to land.
func noted() map[string]any {
	return step("note", call("write_file", map[string]any{"path": "NOTES.md", "content": "noted\n"}))
}

// ran is a step of one command.
func ran(id, command string) map[string]any {
	return step(id, call("run_terminal_cmd", map[string]any{"command": command}))
}

// nodeProject makes a project of npm whose test needs a package that git ignores.
func nodeProject(t *testing.T) *user {
	t.Helper()
	need.Program(t, "node")
	need.Program(t, "npm")
	u := newUser(t)
	u.write("package.json", `{"name":"app","version":"1.0.0","scripts":{"test":"node test.js"},"dependencies":{"is-odd":"1.0.0"}}`)
	u.write("package-lock.json", `{"name":"app","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"app","version":"1.0.0","dependencies":{"is-odd":"1.0.0"}},"node_modules/is-odd":{"version":"1.0.0"}}}`)
	u.write("test.js", "if (!require('is-odd')(3)) process.exit(1)\n")
	u.write(".gitignore", "node_modules\n")
	u.repository()
	u.write("node_modules/is-odd/package.json", `{"name":"is-odd","version":"1.0.0","main":"index.js"}`)
	u.write("node_modules/is-odd/index.js", "module.exports = n => n % 2 === 1\n")
	return u
}

// checked is a plan of steps with checks.
func (u *user) checked(checks []string, steps ...map[string]any) string {
	u.t.Helper()
	text, err := document("Note it", steps, checks...)
	if err != nil {
		u.t.Fatal(err)
	}
	return u.plan(text)
}

// below lists what is in a folder, with the contents of its files.
func below(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(strings.TrimPrefix(p, dir) + " " + info.Mode().String() + "\n")
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			b.Write(raw)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestIgnoredDependenciesAreThereInTheWorktree has a check that needs node_modules, which git ignores, pass in a worktree. What
// a command writes there is gone with it, and the user's own folder stays as it was.
func TestIgnoredDependenciesAreThereInTheWorktree(t *testing.T) {
	t.Parallel()
	u := nodeProject(t)
	before := below(t, filepath.Join(u.dir, "node_modules"))
	cheat := "node -e \"require('is-odd')\" && mkdir -p node_modules/.cache && echo x > node_modules/.cache/x && echo 'process.exit(3)' > node_modules/is-odd/index.js"
	u.must(0, "run", "--plan", u.checked([]string{"npm test"}, noted(), ran("cheat", cheat)), "--yes")
	if got := u.read("NOTES.md"); got != "noted\n" {
		t.Errorf("the work did not land: %q", got)
	}
	if after := below(t, filepath.Join(u.dir, "node_modules")); after != before {
		t.Errorf("the user's packages changed:\n%s\nto\n%s", before, after)
	}
	if files := u.git("show", "--name-only", "--format=", "HEAD"); files != "NOTES.md" {
		t.Errorf("landed %q", files)
	}
	u.quiet()
}
