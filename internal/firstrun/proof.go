package firstrun

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pawl/kernel/effect"
	"pawl/kernel/view"
)

// done looks whether the work is done, and settles the verdict if it is, or if pawl says so wrongly.
func (t *tour) done(v Verdict) bool {
	head := t.head()
	status := look[view.Status](t, "status")
	claims := t.from != head || !t.folder.git && status.Last != nil && status.Last.Outcome == "completed"
	if !claims {
		return false
	}
	t.row.Landed = head
	if err := t.prove(); err != nil {
		t.row.Verdict, t.row.Why = Unproven, err.Error()
		return true
	}
	t.row.Verdict = v
	return true
}

// prove tries the result apart from pawl: in a clean clone of what landed, or a copy of a folder without git, with the
// dependencies that git ignores beside it, the folder's own test and the checks that pawl says it ran must pass.
func (t *tour) prove() error {
	var last *view.Evidence
	if task := look[view.Task](t, "task", "show"); task.Verified != nil {
		last = task.Verified
	}
	if last == nil || len(last.Checks) == 0 {
		return errors.New("pawl recorded no checks")
	}
	clone := filepath.Join(t.maker.base, "clone")
	Remove(clone)
	var err error
	if t.folder.git {
		_, err = t.run(nil, "git", "clone", "-q", "--no-local", t.work, clone)
	} else {
		err = copyTree(clone, t.work, ".pawl")
	}
	for _, path := range t.folder.ignored {
		err = errors.Join(err, copyTree(filepath.Join(clone, path), filepath.Join(t.work, path), ""))
	}
	if err != nil {
		return err
	}
	// Checks are recorded as they are typed where the environment is active.
	path := append([]string{filepath.Join(clone, ".venv", "bin")}, t.maker.path...)
	env := []string{"PATH=" + strings.Join(path, ":"), "BUILD_DIR=" + filepath.Join(t.maker.base, "build")}
	if cache := os.Getenv("GOCACHE"); cache != "" {
		env = append(env, "GOCACHE="+cache)
	} else {
		env = append(env, "GOCACHE="+filepath.Join(t.Dir, "go-build"))
	}
	commands := []string{t.folder.test}
	for _, c := range last.Checks {
		switch {
		case c.Status == effect.CheckPassed:
			t.row.Checks = append(t.row.Checks, c.Name)
			commands = append(commands, c.Command)
		case c.Status != effect.CheckSkipped:
			return fmt.Errorf("%s is recorded as %s", c.Name, c.Status)
		}
	}
	if len(t.row.Checks) == 0 {
		return errors.New("pawl passed no checks")
	}
	slices.Sort(commands[1:])
	for _, c := range slices.Compact(commands) {
		if out, err := t.runIn(clone, env, "sh", "-c", c); err != nil {
			return fmt.Errorf("%s fails in a clean clone: %.300s", c, strings.TrimSpace(out))
		}
	}
	return nil
}

// copyTree copies a folder with its links as they are, without what one name at its top holds.
func copyTree(to, from, without string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if rel == without && without != "" {
			return fs.SkipDir
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case d.Type().IsRegular():
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			return os.WriteFile(target, raw, info.Mode().Perm())
		}
		return nil
	})
}

// warmCaches is the folder below Dir in which the compiled standard library is kept from one folder of Go to the next.
const warmCaches = "warm"

// lend puts what an earlier folder of Go compiled where pawl keeps its caches, so that not each one waits for the same
// minute. The row says so.
func (t *tour) lend() error {
	warm := filepath.Join(t.Dir, warmCaches)
	if _, err := os.Stat(warm); err != nil || t.Cold || !t.folder.compiles {
		return nil
	}
	t.row.Note = strings.TrimPrefix(t.row.Note+"; standard library compiled before", "; ")
	return linkTree(filepath.Join(t.state(), "cache"), warm)
}

// keepCache keeps what the first folder of Go compiled.
func (t *tour) keepCache() error {
	warm, cache := filepath.Join(t.Dir, warmCaches), filepath.Join(t.state(), "cache")
	if _, err := os.Stat(warm); err == nil || t.Cold || !t.folder.compiles {
		return nil
	}
	compiled, err := filepath.Glob(filepath.Join(cache, "*", "go-build"))
	proven, failed := filepath.Glob(filepath.Join(cache, "*", "*", "go-build"))
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	compiled = append(compiled, proven...)
	for _, dir := range compiled {
		rel, err := filepath.Rel(cache, dir)
		if err == nil {
			err = linkTree(filepath.Join(warm, rel), dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// linkTree makes a copy of a folder with hard links.
func linkTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if err := os.Link(path, target); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}
