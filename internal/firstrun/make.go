package firstrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"pawl/store/known"
)

// maker makes one folder with a user of its own: a home, which is empty but for what a person of that kind has in it,
// and work, the folder itself.
type maker struct {
	ctx  context.Context
	base string
	home string
	work string
	path []string // folders to search for programs
	// note is what the table has to say of a stand-in.
	note string
}

// state is where pawl has what belongs to the folder.
func (m *maker) state() string {
	return known.In(filepath.Join(m.home, ".local", "state", "pawl")).State(m.work)
}

// newMaker makes a home and a folder below base, which must not exist.
func newMaker(ctx context.Context, base string, path []string) (*maker, error) {
	m := &maker{ctx: ctx, base: base, home: filepath.Join(base, "home"), work: filepath.Join(base, "work"), path: path}
	settings := filepath.Join(m.home, ".config", "pawl", "config.yaml")
	return m, errors.Join(os.MkdirAll(filepath.Dir(settings), 0o755), os.MkdirAll(m.work, 0o755),
		os.WriteFile(settings, []byte("policy:\n  approvers: [ways]\n"), 0o644)) // the instrument speaks for the person
}

// env is the environment of the user's commands: the search path, and nothing else of whoever runs the instrument.
func (m *maker) env(more ...string) []string {
	out := []string{"HOME=" + m.home, "USER=ada", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "PATH=" +
		strings.Join(m.path, ":")}
	if v := os.Getenv("TMPDIR"); v != "" {
		out = append(out, "TMPDIR="+v)
	}
	return append(out, more...)
}

// find returns the path of a program as the user's shell finds it, "" where it does not.
func (m *maker) find(program string) string { return find(m.path, program) }

func find(path []string, program string) string {
	for _, dir := range path {
		p := filepath.Join(dir, program)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// run runs a program in the folder, as the user.
func (m *maker) run(env []string, name string, args ...string) (string, error) {
	return m.runIn(m.work, env, name, args...)
}

func (m *maker) runIn(dir string, env []string, name string, args ...string) (string, error) {
	program := name
	if !strings.ContainsRune(name, '/') {
		if program = m.find(name); program == "" {
			return "", fmt.Errorf("%s is not installed", name)
		}
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(m.ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, m.env(env...), &out, &out
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %.2000s", name, strings.Join(args, " "), err,
			strings.TrimSpace(out.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// write writes files of the folder.
func (m *maker) write(files map[string]string) error {
	for name, text := range files {
		if err := writeFile(filepath.Join(m.work, filepath.FromSlash(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path, text string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), mode)
}

// link makes a relative link in the folder.
func (m *maker) link(to, name string) error {
	path := filepath.Join(m.work, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.Symlink(to, path)
}

// litter makes n small files in folders of 250.
func (m *maker) litter(dir string, n int) error {
	const each = 250
	for i := 0; i < n; i++ {
		d := filepath.Join(m.work, dir, fmt.Sprintf("d%03d", i/each))
		if i%each == 0 {
			if err := os.MkdirAll(d, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(d, fmt.Sprintf("f%03d.js", i%each)),
			fmt.Appendf(nil, "exports.n = %d;\n", i), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// make makes the folder.
func (f *Folder) make(m *maker, registry string) error {
	if err := m.write(f.files); err != nil {
		return err
	}
	// The module proxy is the one setting of Go's that a person of this kind has.
	settings := "GOPROXY=" + registry + "\nGOSUMDB=off\nGOTOOLCHAIN=local\n"
	if err := writeFile(filepath.Join(m.home, ".config", "go", "env"), settings, 0o644); err != nil {
		return err
	}
	if f.Name == "pnpm" && m.find("pnpm") == "" {
		if err := m.standInForPnpm(); err != nil {
			return err
		}
	}
	if f.more != nil {
		if err := f.more(m); err != nil {
			return err
		}
	}
	if !f.git {
		return nil
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "Ada"}, {"config", "user.email",
			"ada@example.org"}, {"add", "-A"}, {"commit", "-q", "-m", "base"},
	} {
		if _, err := m.run(nil, "git", args...); err != nil {
			return err
		}
	}
	return nil
}

// standInForPnpm puts a program on the search path that runs scripts as pnpm does: by npm.
func (m *maker) standInForPnpm() error {
	bin := filepath.Join(m.home, ".npm-global", "bin") // where npm's own documentation has people install programs
	m.path = append([]string{bin}, m.path...)
	m.note = "pnpm is a stand-in that runs npm"
	return writeFile(filepath.Join(bin, "pnpm"),
		"#!/bin/sh\ncase \"$1\" in test | run) exec npm \"$@\" ;; esac\necho \"this stand-in for pnpm runs scripts alone\" >&2\nexit 1\n", 0o755)
}

// virtualEnv makes .venv with the dependency in it, and a stand-in for pytest where the folder asks for that.
func virtualEnv(m *maker) error {
	if _, err := m.run(nil, "python3", "-m", "venv", "--without-pip", ".venv"); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(m.work, ".venv", "lib", "python3*", "site-packages"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("the site-packages of .venv: %v %w", found, err)
	}
	rel, err := filepath.Rel(m.work, found[0])
	if err != nil {
		return err
	}
	files := map[string]string{rel + "/sign.py": "def neg(n):\n    return -n\n", rel +
		"/sign-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: sign\nVersion: 1.0.0\n"}
	needs, err := os.ReadFile(filepath.Join(m.work, "requirements.txt"))
	if err == nil && bytes.Contains(needs, []byte("pytest")) {
		m.note = "pytest is a stand-in of 20 lines"
		files[rel+"/pytest/__init__.py"], files[rel+"/pytest/__main__.py"] = "", standInForPytest
	}
	if err != nil {
		return err
	}
	return m.write(files)
}

// standInForPytest runs the test functions of test_*.py and takes the options that pawl gives.
const standInForPytest = `import glob
import importlib
import sys
import traceback

sys.path.insert(0, ".")
failed = ran = 0
for name in sorted(glob.glob("test_*.py")):
    module = importlib.import_module(name[:-3])
    for test in [v for k, v in vars(module).items() if k.startswith("test_")]:
        ran += 1
        try:
            test()
        except Exception:
            failed += 1
            traceback.print_exc()
print(f"{failed} failed, {ran - failed} passed")
sys.exit(1 if failed else 0 if ran else 5)
`
