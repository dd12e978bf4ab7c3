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

// TestIgnoredDependenciesAreThereInTheWorktree has a check that needs node_modules, which git ignores, pass in a
// worktree. What a command writes there is gone with it, and the user's own folder stays as it was.
func TestIgnoredDependenciesAreThereInTheWorktree(t *testing.T) {
	t.Parallel()
	u := nodeProject(t)
	before := below(t, filepath.Join(u.dir, "node_modules"))
	cheat := "node -e \"require('is-odd')\" && mkdir -p node_modules/.cache && echo x > node_modules/.cache/x && echo 'process.exit(3)' > node_modules/is-odd/index.js"
	a := u.must(0, "run", "--plan", u.checked([]string{"npm test"}, noted(), ran("cheat", cheat)), "--yes")
	u.says(a, "with your node_modules (package-lock.json ")
	if v := u.task("T-001").Verified; v == nil || len(v.Dependencies) != 1 ||
		v.Dependencies[0].From != filepath.Join(u.dir, "node_modules") || v.Dependencies[0].Digest == "" {
		t.Errorf("the evidence does not name the packages: %+v", v)
	}
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

// TestPackagesOfAWorkspaceAreTheWorktrees has a check of a worktree run the code of that worktree where a package of
// the project is linked into node_modules: npm's way, and pnpm's with its own folder of links.
func TestPackagesOfAWorkspaceAreTheWorktrees(t *testing.T) {
	t.Parallel()
	need.Program(t, "node")
	need.Program(t, "npm")
	u := newUser(t)
	u.write("package.json", `{"name":"root","private":true,"workspaces":["packages/*"],"scripts":{"test":"node packages/app/test.js"}}`)
	u.write("package-lock.json", `{"name":"root","lockfileVersion":3,"packages":{}}`)
	u.write("packages/lib/package.json", `{"name":"@me/lib","version":"1.0.0","main":"index.js"}`)
	u.write("packages/lib/index.js", "module.exports = 'old'\n")
	u.write("packages/app/package.json", `{"name":"app","version":"1.0.0","dependencies":{"@me/lib":"*","left":"1.0.0","deep":"1.0.0"}}`)
	u.write("packages/app/test.js", "if (require('@me/lib') !== 'new' || require('left') !== 'nested' || require('deep') !== 'deep') { console.log(require('@me/lib')); process.exit(1) }\n")
	u.write(".gitignore", "node_modules/\n")
	u.repository()
	u.write("packages/app/node_modules/left/index.js", "module.exports = 'nested'\n")
	u.write("node_modules/.pnpm/deep@1.0.0/node_modules/deep/index.js", "module.exports = 'deep'\n")
	u.write("node_modules/@me/keep.txt", "")
	for name, to := range map[string]string{"@me/lib": "../../packages/lib",
		"deep": ".pnpm/deep@1.0.0/node_modules/deep"} {
		if err := os.Symlink(to, filepath.Join(u.dir, "node_modules", filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	change := step("change", call("write_file",
		map[string]any{"path": "packages/lib/index.js", "content": "module.exports = 'new'\n"}))
	u.must(0, "run", "--plan", u.checked([]string{"npm test"}, change), "--yes")
	if got := u.read("packages/lib/index.js"); got != "module.exports = 'new'\n" {
		t.Errorf("%q", got)
	}
	u.quiet()
}

// TestPlantedDependenciesCountForNothing plants packages that make the test pass, by the file tools, which write below
// what commands are shown; by a link; and a virtual environment of fake programs.
func TestPlantedDependenciesCountForNothing(t *testing.T) {
	t.Parallel()
	liar := "module.exports = () => true\n"
	t.Run("a file below", func(t *testing.T) {
		t.Parallel()
		u := nodeProject(t)
		bug := step("bug", call("write_file",
			map[string]any{"path": "test.js", "content": "if (!require('is-odd')(4)) process.exit(1)\n"}),
			call("write_file", map[string]any{"path": "node_modules/is-odd/index.js", "content": liar}))
		a := u.pawl("run", "--plan", u.checked([]string{"npm test"}, bug), "--yes")
		if a.code == 0 || !strings.Contains(a.out, "npm test") {
			t.Errorf("a planted package made the test pass: %v", a)
		}
		if got := u.read("node_modules/is-odd/index.js"); got == liar {
			t.Error("the user's package was changed")
		}
	})
	t.Run("a link", func(t *testing.T) {
		t.Parallel()
		u := nodeProject(t)
		u.write("fake/is-odd/index.js", liar)
		u.git("add", "-A")
		u.git("commit", "-q", "-m", "fake")
		// A command is shown node_modules, so that it cannot put a link there; another name takes the folder's place.
		link := step("link", call("run_terminal_cmd",
			map[string]any{"command": "rmdir node_modules 2>/dev/null; ln -s fake node_modules; test -L node_modules && echo planted; true"}))
		bug := step("bug", call("write_file",
			map[string]any{"path": "test.js", "content": "if (!require('is-odd')(4)) process.exit(1)\n"}))
		if a := u.pawl("run", "--plan", u.checked([]string{"npm test"}, link, bug), "--yes"); a.code == 0 {
			t.Errorf("a planted link made the test pass: %v", a)
		}
	})
	t.Run("an environment", func(t *testing.T) {
		t.Parallel()
		u := newUser(t)
		u.write("want.txt", "right\n")
		u.write("have.txt", "wrong\n")
		u.repository()
		fake := step("fake", call("run_terminal_cmd",
			map[string]any{"command": "mkdir -p .venv/bin && echo 'home = /usr/bin' > .venv/pyvenv.cfg && echo '*' > .venv/.gitignore && " +
				"printf '#!/bin/sh\nexit 0\n' > .venv/bin/cmp; chmod +x .venv/bin/cmp; .venv/bin/cmp"}))
		if a := u.pawl("run", "--plan", u.checked([]string{"cmp want.txt have.txt"}, noted(), fake),
			"--yes"); a.code == 0 || !strings.Contains(a.out, "✗ check 1") {
			t.Errorf("a fake program made the check pass: %v", a)
		}
	})
}

// TestAVirtualEnvironmentIsThereInTheWorktree runs a program and a module of the user's own virtual environment on the
// code of the worktree. The environment is made as people make theirs, and has the project installed for editing.
func TestAVirtualEnvironmentIsThereInTheWorktree(t *testing.T) {
	t.Parallel()
	python := need.Program(t, "python3")
	u := newUser(t)
	u.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\ndependencies = ['checker']\n")
	u.write("lib/app.py", "def total(a, b):\n    return a - b\n")
	u.write("checks/test_app.py", "def test_total():\n    import app\n    assert app.total(1, 2) == 3, app.__file__\n")
	u.write(".gitignore", ".venv\n")
	u.repository()
	u.run(python, "-m", "venv", "--without-pip", ".venv")
	site := u.run("sh", "-c", "ls -d .venv/lib/python3*/site-packages")
	u.write(site+"/app.pth", filepath.Join(u.dir, "lib")+"\n")
	u.write(site+"/checker.py", "import runpy, sys\n\ndef main():\n    for name, f in runpy.run_path('checks/test_app.py').items():\n        if name.startswith('test_'):\n            f()\n            print('ok', name)\n\nif __name__ == '__main__':\n    main()\n")
	u.write(".venv/bin/checker", "#!"+filepath.Join(u.dir, ".venv", "bin", "python3")+
		"\nfrom checker import main\nmain()\n")
	if err := os.Chmod(filepath.Join(u.dir, ".venv", "bin", "checker"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := below(t, filepath.Join(u.dir, ".venv"))
	mend := step("mend", call("write_file",
		map[string]any{"path": "lib/app.py", "content": "def total(a, b):\n    return a + b\n"}),
		call("run_terminal_cmd", map[string]any{"command": ".venv/bin/python3 -c 'import checker' && checker && touch .venv/written"}))
	u.must(0, "run", "--plan", u.checked([]string{"python3 -m checker", "checker", ".venv/bin/python3 -m checker"},
		mend), "--yes")
	if after := below(t, filepath.Join(u.dir, ".venv")); after != before {
		t.Errorf("the user's environment changed:\n%s\nto\n%s", before, after)
	}
	u.quiet()
}
