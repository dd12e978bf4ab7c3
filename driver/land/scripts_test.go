package land_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"

	"pawl/driver/land"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
)

// TestScriptsInWorktrees: what shell commands did at random in a worktree is landed, taken back, brought back, and taken
// back again. Each time the user's folder is as it was, with what git ignores in it and every permission.
func TestScriptsInWorktrees(t *testing.T) {
	t.Parallel()
	var tried, landed atomic.Int64
	t.Run("seed", func(t *testing.T) {
		for seed := range gittest.Scripts() {
			t.Run(strconv.Itoa(seed), func(t *testing.T) {
				t.Parallel()
				tried.Add(1)
				if landedAndBack(t, rand.New(rand.NewPCG(uint64(seed), 16)), seed) {
					landed.Add(1)
				}
			})
		}
	})
	if landed.Load() < tried.Load()/2 {
		t.Errorf("%d of %d landed", landed.Load(), tried.Load())
	}
}

// own matches what a manifest says of a file that has a second name.
var own = regexp.MustCompile(`(?m)( [^ "]+) = "(?:[^"\\]|\\.)*"`)

func landedAndBack(t *testing.T, r *rand.Rand, seed int) (landed bool) {
	repo := gittest.New(t, files)
	ignore := map[string]string{".gitignore": "*.log\nign\n/.pawl\n"}
	repo.Write(ignore)
	// Not brought back are that a file runs as somebody else, its sticky bit, that two names are one file, empty folders
	// that a file replaced, and folders that cannot be entered (docs/store.md). Git takes no named pipes.
	const plain = "find . -type f -not -path './.git/*' -exec chmod ug-s,-t {} +\nfind . -type p -exec rm {} +\n" +
		"find . -type d -exec chmod u+rwx {} +\n" +
		"find . -depth -mindepth 1 -type d -empty -not -path './.git/*' -exec rmdir {} \\;\n"
	gittest.Play(t, repo.Dir, gittest.Script(r)+gittest.Script(r)+gittest.Script(r))
	gittest.Play(t, repo.Dir, plain)
	repo.Write(ignore)
	repo.Git("add", "-A")
	repo.Git("commit", "-q", "--allow-empty", "-m", "theirs")
	p := place(repo)
	tree := opened(t, p)
	if _, err := tree.AddWorktree(context.Background(), repo.Head()); err != nil {
		t.Fatal(err)
	}
	text := gittest.Script(r) + gittest.Script(r)
	gittest.Play(t, p.Tree, text)
	gittest.Write(t, p.Tree, ignore)
	left, err := tree.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	before := own.ReplaceAllString(gittest.Manifest(t, repo.Dir), "$1")
	result := do(t, landing(p, spec(repo.Head(), left)))
	after := own.ReplaceAllString(gittest.Manifest(t, repo.Dir), "$1")
	if result.Outcome != effect.Landed {
		if after != before {
			t.Errorf("seed %d, %s: %s\nscript\n%s", seed, result.Outcome, gittest.Differing(after, before), text)
		}
		return false
	}
	for n, want := range []string{before, after, before} {
		s := effect.RevertSpec{Commit: repo.Head(), Branch: "main", Keep: "pawl/undo", Subject: "Undo", At: when}
		receipt := land.NewRevert(nil).Do(context.Background(),
			effect.Effect{ID: fmt.Sprint("0", n+2), Place: p, Spec: effect.Encode(s)}, nil)
		if err := receipt.Err(); err != nil {
			t.Fatalf("seed %d, %d: %v\nscript\n%s", seed, n, err, text)
		}
		if got := own.ReplaceAllString(gittest.Manifest(t, repo.Dir), "$1"); got != want {
			t.Fatalf("seed %d, %d: %s\nscript\n%s", seed, n, gittest.Differing(got, want), text)
		}
	}
	return true
}
