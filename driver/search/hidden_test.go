package search_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/driver/drivertest"
	"pawl/driver/search"
	"pawl/driver/tool"
	"pawl/sandbox/safeopen"
)

// veiled hides what says needle in the folder customers, in *.key and by a file in a folder of its own.
var veiled = map[string]string{
	".pawlignore": "customers/\n*.key\n", ".gitignore": "*.log\nbuild/\n!*.key\n", "a.txt": "needle\n",
	"b.key": "needle\n", "c.log": "needle\n",
	"customers/d.txt": "needle\n", "sub/.pawlignore": "e.txt\n", "sub/e.txt": "needle\n", "sub/f.txt": "needle\n",
	"build/g.key":        "needle\n",
	"broken/.pawlignore": "a\x00", "broken/h.txt": "needle\n",
}

func madeOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	drivertest.Populate(t, dir, files)
	return dir
}

func TestHiddenFromTheTools(t *testing.T) {
	dir := madeOf(t, veiled)
	for _, c := range []struct {
		tool      tool.Tool
		args, got string
	}{
		{search.List(), `{"depth":3}`, ".gitignore .pawlignore a.txt broken sub sub/.pawlignore sub/f.txt"},
		{search.Glob(), `{"pattern":"**"}`, ".gitignore .pawlignore a.txt sub/.pawlignore sub/f.txt"},
		{search.Grep(), `{"pattern":"needle"}`, "a.txt sub/f.txt"},
	} {
		r := c.tool.Do(t.Context(), drivertest.Effect(dir, c.tool.Info().Name, c.args), nil)
		var out []string
		for _, name := range []string{".gitignore", ".pawlignore", "a.txt", "b.key", "broken", "broken/h.txt",
			"customers", "customers/d.txt", "sub", "sub/.pawlignore", "sub/e.txt", "sub/f.txt"} {
			if strings.Contains(string(r.Result), `"`+name+`"`) {
				out = append(out, name)
			}
		}
		if got := strings.Join(out, " "); !r.OK || got != c.got {
			t.Errorf("%s: %s, want %s (%v)", c.tool.Info().Name, got, c.got, r.Err())
		}
	}
	for _, at := range []string{"customers", "customers/d.txt", "b.key", "sub/e.txt", "broken", "broken/h.txt"} {
		for _, tool := range []tool.Tool{search.List(), search.Glob(), search.Grep()} {
			args := fmt.Sprintf(`{"path":%q}`, at)
			if tool.Info().Name != "list_dir" {
				args = fmt.Sprintf(`{"path":%q,"pattern":"needle"}`, at)
			}
			if r := tool.Do(t.Context(), drivertest.Effect(dir, tool.Info().Name, args), nil); r.OK ||
				pawl.CodeOf(r.Err()) != pawl.CodeDenied {
				t.Errorf("%s of %s: %v %s", tool.Info().Name, at, r.Err(), r.Result)
			}
		}
	}
}

// names are the files that a walk shows.
func names(t *testing.T, dir string, walk func(context.Context, *safeopen.Root, func(*safeopen.Dir, string, fs.DirEntry) error) error) string {
	t.Helper()
	root, err := safeopen.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var out []string
	if err := walk(t.Context(), root, func(_ *safeopen.Dir, rel string,
		_ fs.DirEntry) error {
		out = append(out, rel)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func TestShown(t *testing.T) {
	dir := madeOf(t, veiled)
	if got, want := names(t, dir, search.Shown(dir)),
		".gitignore .pawlignore a.txt sub/.pawlignore sub/f.txt"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := names(t, dir, search.Files),
		".gitignore .pawlignore a.txt b.key broken/.pawlignore broken/h.txt customers/d.txt sub/.pawlignore sub/e.txt sub/f.txt"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	other := madeOf(t, map[string]string{"a.txt": "", "b.key": "", "customers/x": "", "free/x": ""})
	if got, want := names(t, other, search.Shown(dir)), "a.txt free/x"; got != want {
		t.Errorf("in a worktree %s, want %s", got, want)
	}
}

// What walls hide is all of it: what .gitignore leaves out, too, and the folder of a file that cannot be read.
func TestHiddenBehindWalls(t *testing.T) {
	dir := madeOf(t, veiled)
	got, err := search.Hidden(t.Context(), dir, dir)
	if want := "b.key broken build/g.key customers sub/e.txt"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%v %v, want %s", got, err, want)
	}
	if got, err := search.Hidden(t.Context(), dir, madeOf(t, map[string]string{"a.txt": ""})); err != nil ||
		len(got) != 0 {
		t.Error(got, err)
	}
	for n := range 1001 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(n, ".key")), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := search.Hidden(t.Context(), dir, dir); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error(len(got), err)
	}
	if _, err := search.Hidden(t.Context(), dir,
		madeOf(t, map[string]string{".pawlignore": "a\x00"})); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error(err)
	}
}
