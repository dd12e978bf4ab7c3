package ignore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/sandbox/ignore"
	"pawl/sandbox/safeopen"
)

// tree makes files in a new folder; one whose text begins with -> is a link, one whose name ends with a slash is a
// folder.
func tree(t *testing.T, files map[string]string) *safeopen.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		switch target, link := strings.CutPrefix(text, "->"); {
		case err != nil:
		case link:
			err = os.Symlink(target, at)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(at, 0o755)
		default:
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := safeopen.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// refused are those of some paths that are hidden.
func refused(t *testing.T, root, workspace *safeopen.Root, paths ...string) string {
	t.Helper()
	dir := ""
	if workspace != nil {
		dir = workspace.Dir()
	}
	h, err := ignore.Open(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var out []string
	for _, p := range paths {
		switch err := h.Refuse(p); {
		case err == nil:
		case pawl.CodeOf(err) != pawl.CodeDenied:
			t.Errorf("%s: %v", p, err)
		default:
			out = append(out, p)
		}
	}
	return strings.Join(out, " ")
}

func TestRefuse(t *testing.T) {
	root := tree(t, map[string]string{
		ignore.Name: "/secret\n*.key\ncustomers/\n!open.key\nfixtures/*\n!fixtures/small.json\n", "sub/" +
			ignore.Name: "!*.key\nonly-here.txt\n",
		"secret/deep/a.txt": "x", "customers/a.csv": "x", "sub/customers": "a file", "fixtures/small.json": "x",
		".gitignore": "!secret\n!*.key\n",
	})
	got := refused(t, root, nil, ".", "", "README.md", ".pawlignore", "secret", "secret/deep/a.txt", "secret/new/file",
		"sub/secret", "a.key", "x/y/a.key", "open.key", "sub/a.key",
		"sub/x/b.key", "customers", "customers/a.csv", "sub/customers", "fixtures/big.json", "fixtures/small.json",
		"fixtures", "only-here.txt", "sub/only-here.txt", "sub/x/only-here.txt")
	if want := "secret secret/deep/a.txt secret/new/file a.key x/y/a.key customers customers/a.csv fixtures/big.json sub/only-here.txt sub/x/only-here.txt"; got != want {
		t.Errorf("refused\n%s, want\n%s", got, want)
	}
}

// What a command takes out of the tree that it works in stays hidden, because the workspace still says so; and the
// other way round.
func TestTheWorkspaceCountsAsWell(t *testing.T) {
	workspace := tree(t, map[string]string{ignore.Name: "secret\n", "sub/" + ignore.Name: "deep\n"})
	work := tree(t, map[string]string{ignore.Name: "!secret\n!deep\nmine\n", "sub/x": "", "new/" +
		ignore.Name: "own\n"})
	got := refused(t, work, workspace, "secret", "sub/deep", "deep", "mine", "new/own", "new/secret", "free")
	if want := "secret sub/deep mine new/own new/secret"; got != want {
		t.Errorf("refused %s, want %s", got, want)
	}
	if got := refused(t, workspace, workspace, "secret", "mine"); got != "secret" {
		t.Error(got)
	}
}

// What cannot be read hides everything that it could have meant.
func TestUnreadable(t *testing.T) {
	for what, text := range map[string]string{
		"link": "->elsewhere", "link to a file": "->../plain", "large": strings.Repeat("a\n",
			40<<10), "many": strings.Repeat("a\n", 1001), "binary": "a\x00b",
	} {
		root := tree(t, map[string]string{"plain": "other\n", "sub/" + ignore.Name: text, "sub/a": "", "b": ""})
		if got := refused(t, root, nil, "b", "sub/a", "sub/x/y", "sub"); got != "sub/a sub/x/y" {
			t.Errorf("%s: refused %s", what, got)
		}
	}
	root := tree(t, map[string]string{"sub/" + ignore.Name + "/": "", "sub/a": ""})
	if got := refused(t, root, nil, "sub/a"); got != "sub/a" {
		t.Errorf("a folder: refused %s", got)
	}
	if got := refused(t, tree(t, map[string]string{ignore.Name: strings.Repeat("# comment\n", 6000), "a": ""}), nil,
		"a"); got != "" {
		t.Errorf("comments count as patterns: %s", got)
	}
	if got := refused(t, tree(t, map[string]string{ignore.Name: "[\n\\\n***\n!\n/\n!!a\n", "a": ""}), nil, "a",
		"b/c"); got != "a b/c" {
		t.Errorf("odd patterns: %s", got)
	}
}

func TestNothingIsHidden(t *testing.T) {
	var h *ignore.Hidden
	if err := h.Refuse("a"); err != nil {
		t.Error(err)
	}
	if l, err := h.Enter(ignore.Level{}, "a", true); err != nil || l.Hides("a", true) {
		t.Error(err)
	}
	h.Close()
	if _, err := ignore.Open(tree(t, nil), filepath.Join(t.TempDir(), "gone")); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Error(err)
	}
}
