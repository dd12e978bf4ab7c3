package git_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl"
	"pawl/internal/gittest"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// readSince lists the files of a tree that somebody has read since they were laid.
func readSince(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || e.Name() == ".git" {
			return err
		}
		info, err := e.Info()
		if err == nil {
			st := info.Sys().(*syscall.Stat_t)
			if st.Atim.Nano() > st.Mtim.Nano() {
				rel, _ := filepath.Rel(dir, p)
				out = append(out, rel)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// porcelain is what a person's git says of a tree by an index.
func porcelain(t *testing.T, dir string, env ...string) string {
	t.Helper()
	c := exec.Command("git", "-c", "core.excludesFile=", "status", "--porcelain", "--untracked-files=all")
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return string(out)
}

func TestLay(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(strings.Repeat("d", 200)+"/", 12) + "n"
	files := map[string]string{"a.txt": "a\n", "bin": "\x00\xff", "run.sh": "#!/bin/sh\n", "link": "-> a.txt", "out": "-> ../../..",
		"d/e/f": "f\n", "empty": "", "文": "名\n", ".gitignore": "*.log\n/.pawl\n", ".gitattributes": "* text eol=crlf filter=x\n",
		"kept.log": "tracked all the same\n", "seven77": "7", "eight888": "8", long: "far\n"}
	r := gittest.New(t, map[string]string{"a.txt": "before\n", "gone": "g\n"})
	r.Git("config", "filter.x.smudge", "false")
	base := r.Head()
	os.Remove(r.Path("gone"))
	r.Write(files)
	r.Git("add", "-f", "kept.log")
	want := snapshot(t, open(t, r, "", true))
	r.Write(map[string]string{"mine.log": "ignored\n"})
	for name, commit := range map[string]string{"plain": "", "linked": base} {
		t.Run(name, func(t *testing.T) {
			w := open(t, r, r.Path(".pawl/worktrees/"+name), true)
			dir := r.Path(".pawl/worktrees/" + name)
			gittest.Write(t, dir, map[string]string{"left/over": "of a run that was cut off"})
			if err := git.NewLaid(w).Lay(t.Context(), want, commit); err != nil {
				t.Fatal(err)
			}
			if read := readSince(t, dir); len(read) > 0 {
				t.Errorf("read already: %v", read)
			}
			found, err := git.NewLaid(w).Found(t.Context())
			if err != nil || found != want {
				t.Fatalf("%s %v, want %s", found, err, want)
			}
			if read := readSince(t, dir); !slices.Equal(read, []string{".gitignore"}) {
				t.Errorf("read by a look that found nothing: %v", read)
			}
			if commit != "" {
				got := porcelain(t, dir, layout.Alternate(git.NewLaid(w).Objects()))
				if !strings.Contains(got, "M  a.txt\n") || !strings.Contains(got, "D  gone\n") ||
					strings.Contains(got, "??") || strings.Contains(got, " M") {
					t.Errorf("%s", got)
				}
				if read := readSince(t, dir); !slices.Equal(read, []string{".gitattributes", ".gitignore"}) {
					t.Errorf("git read: %v", read)
				}
			}
			// Of one second, of one length, and with times that were set back: it shows all the same where the time was not.
			gittest.Write(t, dir, map[string]string{"seven77": "9", "new/file": "n", "x.log": "ignored"})
			os.Remove(filepath.Join(dir, "a.txt"))
			os.Chmod(filepath.Join(dir, "run.sh"), 0o644)
			later, err := git.NewLaid(w).Found(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			stats, err := git.Stats(t.Context(), w, want, later)
			var got []string
			for _, s := range stats {
				got = append(got, s.Status+" "+s.Path)
			}
			if err != nil || !slices.Equal(got, []string{"D a.txt", "A new/file", "M run.sh", "M seven77"}) {
				t.Errorf("%v %v", got, err)
			}
			if os.ReadFile(filepath.Join(dir, "bin")); !slices.Contains(readSince(t, dir), "bin") {
				t.Skip("this file system does not keep times of access")
			}
			if err := w.RemoveWorktree(t.Context()); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(r.Git("worktree", "list"), name) {
				t.Error("it is still registered")
			}
		})
	}
	if _, err := os.Lstat(r.Path("mine.log")); err != nil {
		t.Error("the workspace changed")
	}
}

// TestLayRefuses is about trees that no git would make, and about those that are not there.
func TestLayRefuses(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a\n"})
	w := open(t, r, r.Path(".pawl/worktrees/x"), true)
	wantCode(t, git.NewLaid(w).Lay(t.Context(), strings.Repeat("1", 40), ""), pawl.CodeRepository)
	wantCode(t, git.NewLaid(open(t, r, "", true)).Lay(t.Context(), r.Git("rev-parse", "HEAD^{tree}"), ""), pawl.CodeInvalid)
	blob := r.Git("rev-parse", "HEAD:a")
	for _, entry := range []string{"100644 blob %s\t.git", "100644 blob %s\tgit~1", "100644 blob %s\t.."} {
		c := exec.Command("git", "mktree")
		c.Dir, c.Stdin = r.Dir, strings.NewReader(fmt.Sprintf(entry, blob)+"\n")
		out, err := c.Output()
		if err != nil {
			continue
		}
		if err := git.NewLaid(w).Lay(t.Context(), strings.TrimSpace(string(out)), ""); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%s: %v", entry, err)
		}
	}
}

// BenchmarkLay measures what a fresh checkout costs in a repository of 2,000 files.
func BenchmarkLay(b *testing.B) {
	files := map[string]string{".gitignore": "/.pawl\n"}
	for i := range 2000 {
		files[fmt.Sprintf("d%d/s%d/f%d.txt", i%20, i%7, i)] = strings.Repeat(fmt.Sprintf("file %d\n", i), 200)
	}
	r := gittest.New(b, files)
	w := open(b, r, r.Path(".pawl/worktrees/x"), true)
	tree := r.Git("rev-parse", "HEAD^{tree}")
	for b.Loop() {
		begin := time.Now()
		if err := git.NewLaid(w).Lay(context.Background(), tree, ""); err != nil {
			b.Fatal(err)
		}
		laid := time.Now()
		if found, err := git.NewLaid(w).Found(context.Background()); err != nil || found != tree {
			b.Fatal(found, err)
		}
		looked := time.Now()
		if err := w.RemoveWorktree(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.Log(laid.Sub(begin), looked.Sub(laid), time.Since(looked))
	}
}

// TestBlobsForASlowDisk: git has ended long before everything it said is written, and a reader that gives up is an error.
func TestBlobsForASlowDisk(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a\n", "b": "b\n"})
	w := open(t, r, "", true)
	ids := []string{r.Git("rev-parse", "HEAD:a"), r.Git("rev-parse", "HEAD:b")}
	got := ""
	err := w.Objects.Blobs(t.Context(), ids, func(n int, size int64, content io.Reader) error {
		if n == 0 {
			time.Sleep(time.Second)
		}
		raw, err := io.ReadAll(io.LimitReader(content, size))
		got += string(raw)
		return err
	})
	if err != nil || got != "a\nb\n" {
		t.Errorf("%q %v", got, err)
	}
	full := errors.New("no room")
	if err := w.Objects.Blobs(t.Context(), ids, func(int, int64, io.Reader) error { return full }); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	missing := strings.Repeat("ab", len(ids[0])/2)
	if err := w.Objects.Blobs(t.Context(), []string{missing}, nil); pawl.CodeOf(err) != pawl.CodeRepository {
		t.Errorf("%v", err)
	}
}
