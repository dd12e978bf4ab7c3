package document_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/effect"
	"pawl/sandbox/document"
)

func folder(t *testing.T) (string, *document.Folder) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".pawl"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := document.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return dir, f
}

func TestWritesWhatWasDecidedAndNothingElse(t *testing.T) {
	dir, f := folder(t)
	ctx := context.Background()
	docs := []effect.Document{effect.NewDocument("a.md", "one\n", nil, false), effect.NewDocument("modules/b.md", "two\n", nil, false)}
	for range 2 { // the second time changes nothing and is no conflict
		if _, err := f.Write(ctx, docs); err != nil {
			t.Fatal(err)
		}
	}
	next := []effect.Document{effect.NewDocument("a.md", "three\n", []byte("one\n"), true), effect.NewDocument("modules/b.md", "four\n", []byte("two\n"), true)}
	if err := os.WriteFile(filepath.Join(dir, ".pawl/modules/b.md"), []byte("somebody's\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(ctx, next); pawl.CodeOf(err) != pawl.CodeConflict {
		t.Fatalf("a file that somebody changed: %v", err)
	}
	raw, _ := os.ReadFile(filepath.Join(dir, ".pawl/a.md"))
	if string(raw) != "one\n" {
		t.Errorf("a document was written before all were looked at: %q", raw)
	}
	// What was there must be there still: a new document does not take the place of one that came meanwhile.
	if _, err := f.Ready([]effect.Document{effect.NewDocument("a.md", "new\n", nil, false)}); pawl.CodeOf(err) != pawl.CodeConflict {
		t.Errorf("a file that came meanwhile: %v", err)
	}
}

func TestNoNameLeadsOut(t *testing.T) {
	dir, f := folder(t)
	outside := t.TempDir()
	for link, to := range map[string]string{".pawl/modules": outside, ".pawl/plan": "../src", ".pawl/link.md": filepath.Join(outside, "x.md")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"../x.md", "/x.md", "a/../../x.md", "./a.md", "", ".", "a\\b.md", "pawl.db", "PAWL.DB-wal", "git/config", "Git/config", "worktrees/x", "config.yaml", ".gitignore",
		"modules/x.md", "plan/x.md", "link.md",
	} {
		if err := f.Put(path, []byte("x")); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, d := range []string{outside, filepath.Join(dir, "src")} {
		if left, _ := os.ReadDir(d); len(left) > 0 {
			t.Errorf("something was written to %s: %v", d, left)
		}
	}
}

func TestFolderThatIsALink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, ".pawl")); err != nil {
		t.Fatal(err)
	}
	if _, err := document.Open(dir); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Errorf("%v", err)
	}
}

func TestMoveTakesNoPlaceOfOthers(t *testing.T) {
	dir, f := folder(t)
	for _, p := range []string{"plan/a/tasks.md", "archive/2026-02/a/tasks.md"} {
		if err := f.Put(p, []byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Move("plan/a", "archive/2026-02/a"); pawl.CodeOf(err) != pawl.CodeConflict {
		t.Fatalf("%v", err)
	}
	if err := f.Move("plan/a", "archive/2026-03/a"); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, ".pawl/archive/2026-03/a/tasks.md"))
	if err != nil || !strings.HasPrefix(string(raw), "plan/") {
		t.Errorf("%q %v", raw, err)
	}
}
