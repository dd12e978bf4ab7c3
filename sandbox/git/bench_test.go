package git_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"pawl/internal/gittest"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// large makes a repository of 4000 files with 5000 more that are ignored.
func large(b *testing.B) *gittest.Repo {
	b.Helper()
	files := map[string]string{".gitignore": "node_modules/\n/.pawl\n"}
	for i := range 4000 {
		files[fmt.Sprintf("d%d/s%d/f%d.txt", i%40, i%7, i)] = fmt.Sprintf("file %d\n", i)
	}
	r := gittest.New(b, files)
	for i := range 5000 {
		files[fmt.Sprintf("node_modules/m%d/f%d.js", i%100, i)] = "x"
	}
	r.Write(files)
	return r
}

func BenchmarkLargeTree(b *testing.B) {
	r := large(b)
	ctx := context.Background()
	place := layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true}
	repo, err := git.Open(ctx, place)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	base := snapshot(b, repo)
	b.Logf("first snapshot %v", time.Since(start))
	start = time.Now()
	snapshot(b, repo)
	b.Logf("second snapshot %v", time.Since(start))
	n := 0
	change := func() {
		for i := range 20 {
			n++
			if err := os.WriteFile(r.Path(fmt.Sprintf("d%d/s%d/f%d.txt", i%40, i%7, i)), fmt.Append(nil, n),
				0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("open", func(b *testing.B) {
		for range b.N {
			if _, err := git.Open(ctx, place); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("snapshot unchanged", func(b *testing.B) {
		for range b.N {
			snapshot(b, repo)
		}
	})
	b.Run("snapshot 20 changed", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			change()
			b.StartTimer()
			snapshot(b, repo)
		}
	})
	b.Run("restore 20 changed", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			change()
			b.StartTimer()
			restore(b, repo, git.Restoration{Target: base})
		}
	})
	b.Run("worktree", func(b *testing.B) {
		for i := range b.N {
			w := open(b, r, r.Path(fmt.Sprintf(".pawl/worktrees/w%d", i)), true)
			if _, err := w.AddWorktree(ctx, r.Head()); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := w.RemoveWorktree(ctx); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
}

// BenchmarkPair measures what a command's two snapshots cost, as a run takes them: before and after, each with a
// repository that is opened for it.
func BenchmarkPair(b *testing.B) {
	for _, size := range []int{10, 100, 1000, 5000} {
		files := map[string]string{".gitignore": "/.pawl\n"}
		for i := range size {
			files[fmt.Sprintf("d%d/s%d/f%d.txt", i%20, i%7, i)] = fmt.Sprintf("file %d\n", i)
		}
		r := gittest.New(b, files)
		place := layout.Place{Workspace: r.Dir, Tree: r.Path(".pawl/worktrees/t"), Git: true}
		w, err := git.Open(context.Background(), place)
		if err == nil {
			_, err = w.AddWorktree(context.Background(), r.Head())
		}
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for name, m := range map[string]*git.Memory{"git": nil, "memory": {}} {
			one := func(b *testing.B) {
				repo, err := m.Open(context.Background(), place)
				if err != nil {
					b.Fatal(err)
				}
				snapshot(b, repo)
			}
			for what, change := range map[string]func() error{
				"unchanged": func() error { return nil },
				"3 changed": func() error {
					for i := range 3 {
						n++
						name := fmt.Sprintf("%s/d%d/s%d/f%d.txt", place.Tree, i%20, i%7, i)
						if err := os.WriteFile(name, fmt.Append(nil, n), 0o644); err != nil {
							return err
						}
					}
					return nil
				},
			} {
				b.Run(fmt.Sprintf("%d files/%s/%s", size, what, name), func(b *testing.B) {
					one(b)
					for b.Loop() {
						one(b)
						if err := change(); err != nil {
							b.Fatal(err)
						}
						one(b)
					}
				})
			}
		}
	}
}
