package retention_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/driver/retention"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// workspace is one in which two runs left something: an old one, and one that is needed.
func workspace(t *testing.T) (r *gittest.Repo, place effect.Place, limits retention.Limits) {
	t.Helper()
	r = gittest.New(t, map[string]string{"a.txt": "a\n"})
	place = effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true}
	repo, err := (&git.Memory{}).Open(context.Background(), layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Snapshot(context.Background()); err != nil { // makes what pawl keeps, and stands
		t.Fatal(err)
	}
	old := time.Now().Add(-100 * time.Hour)
	file := func(name, text string) {
		path := filepath.Join(r.Dir, ".pawl", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{path, filepath.Dir(path)} {
			if err := os.Chtimes(p, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	set := func(name, id string) {
		if err := repo.Refs.Set(context.Background(), name, id, "", "test"); err != nil {
			t.Fatal(err)
		}
	}
	logs := map[string]string{"old": "01M8HS0ATMBQ0JD2D76B4MT7P3", "needed": "01M8HS0ATMBQ0JD2D76B4MT7P2"}
	file("git/kept/Projects/notes", "mine") // has no list
	file("logs/Photos/out", strings.Repeat("x", 1000))
	for _, name := range []string{"old", "needed"} {
		file("git/land/"+name+".json", `{"done":true}`)
		file("git/kept/chk-"+name+"/list", "[]")
		file("logs/"+logs[name]+"/out", strings.Repeat("x", 100))
		t.Setenv("GIT_COMMITTER_DATE", old.Format(time.RFC3339))
		set(git.PrivateRef("chk-"+name), r.Git("commit-tree", "-m", name, "HEAD^{tree}"))
		r.Write(map[string]string{"tree.txt": name})
		r.Git("add", "tree.txt")
		tree := r.Git("write-tree")
		set(git.PrivateRef("trees/20200101/"+tree), tree)
		at := filepath.Join(r.Dir, ".pawl", "git", "refs", "pawl", "trees", "20200101", tree)
		if err := os.Chtimes(at, old, old); err != nil {
			t.Fatal(err)
		}
		limits.Needs = map[string]bool{"needed": true, "chk-needed": true, tree: true}
	}
	file("git/land/half.json", `{"done":false}`)
	limits.Before, limits.Logs = time.Now().Add(-time.Hour), 150
	return r, place, limits
}

// rest is what is there that could be retired.
func rest(t *testing.T, r *gittest.Repo) string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"git/land/*", "git/kept/*", "logs/*"} {
		found, err := filepath.Glob(filepath.Join(r.Dir, ".pawl", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			out = append(out, filepath.Base(path))
		}
	}
	return strings.Join(out, " ") + "\n" + r.Own("for-each-ref", "--format=%(refname)", "refs/pawl")
}

// What is old goes, what is needed or new stays, and so does a landing that is half done.
func TestRetire(t *testing.T) {
	r, place, limits := workspace(t)
	before := rest(t, r)
	ctx := context.Background()
	plan, err := retention.Find(ctx, place, limits)
	if err != nil || len(plan.Items) != 5 {
		t.Fatalf("planned %v, %v", plan.Items, err)
	}
	if now := rest(t, r); now != before {
		t.Fatalf("planning changed something:\n%s\nwas\n%s", now, before)
	}
	told := map[retention.What]int{}
	if err := plan.Carry(ctx, func(i retention.Item) { told[i.What]++ }); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(told) != "map[checkpoint:1 journal:1 kept:1 log:1 tree:1]" {
		t.Errorf("told of %v", told)
	}
	names, refs, _ := strings.Cut(rest(t, r), "\n")
	if names != "half.json needed.json Projects chk-needed 01M8HS0ATMBQ0JD2D76B4MT7P3 Photos" || strings.Contains(refs, "chk-old") ||
		!strings.Contains(refs, "chk-needed") {
		t.Errorf("left are %s\n%s", names, refs)
	}
	for tree := range limits.Needs {
		if len(tree) == 40 && !strings.Contains(refs, tree) {
			t.Errorf("the tree that is needed is gone:\n%s", refs)
		}
	}
	if plan, err = retention.Find(ctx, place, limits); err != nil || len(plan.Items) != 0 {
		t.Errorf("after it: %v, %v", plan.Items, err)
	}
}

// Whoever is stopped after any step leaves what the next one takes away, and nothing else is harmed.
func TestRetireGoesOn(t *testing.T) {
	want := ""
	for stop := range 6 {
		r, place, limits := workspace(t)
		ctx, cancel := context.WithCancel(context.Background())
		plan, err := retention.Find(ctx, place, limits)
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		if stop == 0 {
			cancel()
		}
		err = plan.Carry(ctx, func(retention.Item) {
			if steps++; steps == stop {
				cancel()
			}
		})
		if stop < 4 && err == nil {
			t.Errorf("stopped after %d steps: no error", stop)
		}
		again, err := retention.Find(context.Background(), place, limits)
		if err != nil || len(again.Items) != len(plan.Items)-steps {
			t.Errorf("stopped after %d: %d of %d are left, %v", steps, len(again.Items), len(plan.Items), err)
		}
		if err := again.Carry(context.Background(), func(retention.Item) {}); err != nil {
			t.Error(err)
		}
		// The trees differ in nothing from one workspace to the other.
		if got := rest(t, r); want == "" {
			want = got
		} else if got != want {
			t.Errorf("stopped after %d: left are\n%s\nwant\n%s", steps, got, want)
		}
		cancel()
	}
}
