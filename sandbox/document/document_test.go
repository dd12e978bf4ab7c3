package document_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel/effect"
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
	docs := []effect.Document{effect.NewDocument("a.md", "one\n", nil, false),
		effect.NewDocument("modules/b.md", "two\n", nil, false)}
	for range 2 { // the second time changes nothing and is no conflict
		if _, err := f.Write(ctx, docs); err != nil {
			t.Fatal(err)
		}
	}
	next := []effect.Document{effect.NewDocument("a.md", "three\n", []byte("one\n"), true),
		effect.NewDocument("modules/b.md", "four\n", []byte("two\n"), true)}
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
	if _, err := f.Ready([]effect.Document{effect.NewDocument("a.md", "new\n", nil,
		false)}); pawl.CodeOf(err) != pawl.CodeConflict {
		t.Errorf("a file that came meanwhile: %v", err)
	}
}

func TestNoNameLeadsOut(t *testing.T) {
	dir, f := folder(t)
	outside := t.TempDir()
	for link, to := range map[string]string{".pawl/modules": outside, ".pawl/plan": "../src",
		".pawl/link.md": filepath.Join(outside, "x.md")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"../x.md", "/x.md", "a/../../x.md", "./a.md", "", ".", "a\\b.md", "pawl.db", "PAWL.DB-wal", "git/config",
		"Git/config", "worktrees/x", "config.yaml", ".gitignore",
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

// What a repository may bring that is named like nothing of pawl's keeps nobody from the rest.
func TestOddNamesAreLeftOut(t *testing.T) {
	dir, f := folder(t)
	for _, name := range []string{`2026\03`, `2026\03/a`, "2026-02"} {
		if err := os.MkdirAll(filepath.Join(dir, ".pawl/archive", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{`2026\03/a/tasks.md`, `2026-02/b\ad.md`, "2026-02/tasks.md"} {
		if err := os.WriteFile(filepath.Join(dir, ".pawl/archive", name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := f.List("archive"); err != nil || !slices.Equal(list, []string{"2026-02/"}) {
		t.Errorf("%q %v", list, err)
	}
	files, err := f.Files(t.Context(), "archive")
	if err != nil || len(files) != 1 || string(files["2026-02/tasks.md"]) != "2026-02/tasks.md" {
		t.Errorf("%q %v", files, err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, `.pawl/archive/2026\03/a/tasks.md`)); err != nil || len(raw) == 0 {
		t.Errorf("it did not stay: %v", err)
	}
}

func TestFilesAreBounded(t *testing.T) {
	dir, f := folder(t)
	large := func(name string, size int64) {
		t.Helper()
		at := filepath.Join(dir, ".pawl", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, nil, 0o600),
			os.Truncate(at, size)); err != nil {
			t.Fatal(err)
		}
	}
	const each = document.MaxTotal / document.MaxFile
	for n := range each {
		large(fmt.Sprintf("modules/%d.md", n), document.MaxFile)
	}
	large("modules/no.bin", document.MaxFile+1) // no document: it does not count
	if files, err := f.Files(t.Context(), "modules"); err != nil || len(files) != each {
		t.Fatalf("%d files, %v", len(files), err)
	}
	large("modules/z.md", 1)
	if files, err := f.Files(t.Context(), "modules"); pawl.CodeOf(err) != pawl.CodeInvalid ||
		!strings.Contains(err.Error(), "orders.too_much") || files != nil {
		t.Errorf("more bytes than are read: %d files, %v", len(files), err)
	}
	large("plan/tasks.md", 1)
	for n := range document.MaxFiles - 1 { // what is no document counts, too
		if err := os.Symlink("nowhere", filepath.Join(dir, ".pawl/plan", strconv.Itoa(n))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Files(t.Context(), "plan"); err != nil {
		t.Errorf("as many as are looked at: %v", err)
	}
	large("plan/z.md", 1)
	if files, err := f.Files(t.Context(), "plan"); pawl.CodeOf(err) != pawl.CodeInvalid ||
		!strings.Contains(err.Error(), "orders.too_many") || files != nil {
		t.Errorf("more than are looked at: %d files, %v", len(files), err)
	}
}

func TestDiscardFollowsNoLinks(t *testing.T) {
	dir, f := folder(t)
	outside := t.TempDir()
	mine := filepath.Join(outside, "mine")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, put := range map[string]func(name string) error{
		"nothing":       func(string) error { return nil },
		"a link":        func(name string) error { return os.Symlink(outside, name) },
		"a link inside": func(name string) error { return os.Symlink(".pawl", name) },
		"a file":        func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"a folder with a link": func(name string) error {
			return errors.Join(os.MkdirAll(filepath.Join(name, "a/b"), 0o755),
				os.Symlink(outside, filepath.Join(name, "a/l")))
		},
	} {
		name := filepath.Join(dir, "x.making")
		if err := put(name); err != nil {
			t.Fatal(err)
		}
		if err := document.Discard(t.Context(), f.Root(), "x.making"); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Lstat(name); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", what, err)
		}
	}
	for _, kept := range []string{mine, filepath.Join(dir, ".pawl")} {
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("%v", err)
		}
	}
}
