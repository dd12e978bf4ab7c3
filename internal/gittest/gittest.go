// Package gittest makes real git repositories for tests, as a user would, and reads folders back byte for byte.
package gittest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// Repo is a user's repository in a temporary folder.
type Repo struct {
	t   testing.TB
	Dir string
}

// Isolate runs the tests of a package with a home of their own, so that the configuration of whoever runs them plays no
// part, and returns the exit status for TestMain. In the child that KillAt starts it plays a scene instead.
func Isolate(m *testing.M, scenes map[string]Scene) int {
	if name := os.Getenv(sceneVariable); name != "" {
		return play(scenes[name])
	}
	home, err := os.MkdirTemp("", "home-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(home)
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM": "1",
	} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// New makes a repository with one commit of the files.
func New(t testing.TB, files map[string]string) *Repo {
	t.Helper()
	r := &Repo{t: t, Dir: t.TempDir()}
	if dir, err := filepath.EvalSymlinks(r.Dir); err == nil {
		r.Dir = dir
	}
	r.Git("init", "-q", "-b", "main")
	Configure(t, r.Dir)
	r.Write(files)
	r.Commit("first")
	return r
}

// Configure gives a repository a user, and has git keep no house behind a command: that would be another process, which
// changes the folder later.
func Configure(t testing.TB, dir string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("[user]\n\tname = Ada\n\temail = ada@example.org\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Own runs git on pawl's own git directory in .pawl, with the objects that it has itself.
func (r *Repo) Own(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.Dir, append(os.Environ(), "GIT_DIR="+r.Path(".pawl/git"), "GIT_INDEX_FILE="+r.Path(".pawl/no-index"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Git runs git in the repository as the user would and returns its output without the last line end.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	out, err := r.Try(args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Try is Git for commands that may fail.
func (r *Repo) Try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Dir
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// Commit commits everything and returns the id.
func (r *Repo) Commit(subject string) string {
	r.t.Helper()
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty", "-m", subject)
	return r.Head()
}

// Head is the id of the commit that is checked out.
func (r *Repo) Head() string { r.t.Helper(); return r.Git("rev-parse", "HEAD") }

// Path is a path in the repository.
func (r *Repo) Path(rel string) string { return filepath.Join(r.Dir, filepath.FromSlash(rel)) }

// Write writes files. See Write of the package.
func (r *Repo) Write(files map[string]string) { r.t.Helper(); Write(r.t, r.Dir, files) }

// Write writes files below a folder. Content that begins with "#!" makes the file executable, "-> x" makes a symbolic
// link to x, and a path that ends in a slash is an empty folder.
func Write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		target, link := strings.CutPrefix(content, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case link:
			os.Remove(path)
			err = os.Symlink(target, path)
		default:
			mode := fs.FileMode(0o644)
			if strings.HasPrefix(content, "#!") {
				mode = 0o755
			}
			if err = os.WriteFile(path, []byte(content), mode); err == nil {
				err = os.Chmod(path, mode)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Tree reads a folder: every file's permissions and bytes, every link's target, every folder that is empty. The top
// .git and .pawl are left out.
func Tree(t testing.TB, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git" || rel == ".pawl" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line, err := entry(path, info)
		if line != "" && rel != "." {
			lines = append(lines, fmt.Sprintf("%q %s", filepath.ToSlash(rel), line))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func entry(path string, info fs.FileInfo) (string, error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return fmt.Sprintf("link %q", target), err
	case info.IsDir():
		inside, err := os.ReadDir(path)
		if len(inside) > 0 {
			return "", err
		}
		return "empty", err
	case info.Mode().IsRegular():
		raw, err := os.ReadFile(path)
		return fmt.Sprintf("%04o %q", info.Mode().Perm(), raw), err
	}
	return info.Mode().Type().String(), nil
}
