package git_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl/internal/gittest"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/stat"
)

// The benchmarks of this file set what pawl remembers beside git's own means for the same. Both are called in turns,
// and the least of all calls counts on each side, so that what else the machine does weighs on neither. They report
// how often pawl's share fits into git's: "git/own-cpu" in processor time, that of processes that were started
// included, and "git/own-wall" in time that passed. Run them with -benchtime=50x.

// inTurns calls both, and before each of them prepare.
func inTurns(b *testing.B, prepare, own, gits func()) {
	b.Helper()
	prepare()
	own()
	prepare()
	gits()
	var cpu, wall [2]time.Duration
	for n := 0; b.Loop(); n++ {
		for i, call := range []func(){own, gits} {
			prepare()
			begin, used := time.Now(), processor()
			call()
			took, spent := time.Since(begin), processor()-used
			if n == 0 || took < wall[i] {
				wall[i] = took
			}
			if n == 0 || spent < cpu[i] {
				cpu[i] = spent
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(wall[0].Microseconds()), "own-µs")
	b.ReportMetric(float64(wall[1])/float64(wall[0]), "git/own-wall")
	b.ReportMetric(float64(cpu[1])/float64(cpu[0]), "git/own-cpu")
}

// processor is the time that this process, and those of its children that ended, have computed.
func processor() (sum time.Duration) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

// wide makes a repository of so many files, whose times git need not doubt any more.
func wide(b *testing.B, size int) *gittest.Repo {
	b.Helper()
	files := map[string]string{".gitignore": "/.pawl\n"}
	for i := range size {
		files[fmt.Sprintf("d%d/s%d/f%d.txt", i%50, i%7, i)] = fmt.Sprintf("file %d\n", i)
	}
	r := gittest.New(b, files)
	r.Git("config", "core.untrackedCache", "true")
	r.Git("config", "status.showUntrackedFiles", "all")
	time.Sleep(1100 * time.Millisecond)
	r.Git("update-index", "--really-refresh", "--force-untracked-cache")
	r.Git("status", "--porcelain")
	return r
}

// status asks git whether anything changed, as cheaply as it can: with a warm index that it need not write, and with
// what it remembers of names without a record.
func status(b *testing.B, dir string) {
	b.Helper()
	cmd := exec.Command("git", "--no-optional-locks", "status", "--porcelain=v2", "-z", "--no-renames")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
}

// placed opens a repository's own folder, with what m remembers.
func placed(b *testing.B, r *gittest.Repo, m *git.Memory) *git.Repo {
	b.Helper()
	repo, err := m.Open(context.Background(), layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	if err != nil {
		b.Fatal(err)
	}
	return repo
}

// BenchmarkMemory is a snapshot, with a repository that is opened for it: from memory, beside pawl's own index, warm
// ("git"), and beside one status of git's alone, which knows neither what is ignored nor which tree that is ("status").
func BenchmarkMemory(b *testing.B) {
	for _, size := range []int{100, 2000, 20_000} {
		// What one side writes would be news to the other.
		mine, theirs := wide(b, size), wide(b, size)
		var m git.Memory
		own := func() { snapshot(b, placed(b, mine, &m)) }
		n := 0
		changes := map[string]func(){"unchanged": func() {}, "one changed": func() {
			n++
			for _, r := range []*gittest.Repo{mine, theirs} {
				if err := os.WriteFile(r.Path("d1/s1/f1.txt"), fmt.Append(nil, n), 0o644); err != nil {
					b.Fatal(err)
				}
			}
		}}
		for what, change := range changes {
			name := fmt.Sprintf("%d files/%s/", size, what)
			b.Run(name+"git", func(b *testing.B) {
				inTurns(b, change, own, func() { snapshot(b, placed(b, theirs, nil)) })
			})
			b.Run(name+"status", func(b *testing.B) { inTurns(b, change, own, func() { status(b, theirs.Dir) }) })
		}
	}
}

// BenchmarkConfiguration opens a folder with a configuration that is remembered, and with one that git is asked for.
func BenchmarkConfiguration(b *testing.B) {
	r := wide(b, 10)
	var m git.Memory
	inTurns(b, func() {}, func() { placed(b, r, &m) }, func() { placed(b, r, nil) })
}

// BenchmarkFingerprint finds out whether anybody touched a worktree that is ready, by the fingerprint of its files and
// by a status, which does not see permissions, empty folders and other names of a file.
func BenchmarkFingerprint(b *testing.B) {
	for _, size := range []int{2000, 20_000} {
		r := wide(b, size)
		tree := filepath.Join(b.TempDir(), "tree")
		r.Git("worktree", "add", "-q", tree)
		time.Sleep(1100 * time.Millisecond)
		status(b, tree)
		run := func(args ...string) {
			cmd := exec.Command("git", args...)
			cmd.Dir = tree
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
		run("update-index", "--really-refresh")
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			inTurns(b, func() {}, func() {
				if print, _ := stat.Fingerprint(tree); print == "" {
					b.Fatal("no fingerprint")
				}
			}, func() {
				run("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching")
			})
		})
	}
}

// BenchmarkLoose stores contents that are new, a tree of them and a reference to it: by itself and by git's plumbing,
// which takes a process for each of the three kinds.
func BenchmarkLoose(b *testing.B) {
	r := gittest.New(b, map[string]string{"a": "a"})
	dir := r.Path(".git")
	n := 0
	for _, count := range []int{1, 20} {
		contents := make([][]byte, count)
		prepare := func() {
			n++
			for i := range contents {
				contents[i] = fmt.Appendf(nil, "content %d of %d\n", i, n)
			}
		}
		own := func() {
			w := object.Writer{Dir: filepath.Join(dir, "objects"), Format: "sha1"}
			defer w.Drop()
			var lines []object.Line
			for i, content := range contents {
				id, err := w.Write(b.Context(), "blob", content)
				if err != nil {
					b.Fatal(err)
				}
				lines = append(lines, object.Line{Name: fmt.Sprintf("f%03d", i),
					Node: object.Node{Mode: object.ModeFile, ID: id}})
			}
			tree, err := w.Write(b.Context(), "tree", object.TreeContent(lines))
			if err == nil {
				err = w.Finish(b.Context())
			}
			if err == nil {
				err = object.PutRef(b.Context(), dir, "refs/pawl/own/"+tree, tree)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		gits := func() {
			var names, lines strings.Builder
			for i, content := range contents {
				name := filepath.Join(r.Dir, fmt.Sprintf("f%03d", i))
				if err := os.WriteFile(name, content, 0o644); err != nil {
					b.Fatal(err)
				}
				names.WriteString(name + "\n")
			}
			for i, id := range strings.Fields(plumbing(b, r, names.String(), "hash-object", "-w", "--no-filters",
				"--stdin-paths")) {
				fmt.Fprintf(&lines, "100644 blob %s\tf%03d\n", id, i)
			}
			tree := strings.TrimSpace(plumbing(b, r, lines.String(), "mktree"))
			plumbing(b, r, "", "update-ref", "refs/pawl/git/"+tree, tree)
		}
		b.Run(fmt.Sprint(count), func(b *testing.B) { inTurns(b, prepare, own, gits) })
	}
}

// plumbing runs git as pawl does, with objects and references that are durable when it ends.
func plumbing(b *testing.B, r *gittest.Repo, in string, args ...string) string {
	b.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.fsync=loose-object,reference",
		"-c", "core.fsyncMethod=batch", "-C", r.Dir}, args...)...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	return string(out)
}
