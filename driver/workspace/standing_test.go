package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"pawl"
	"pawl/driver/workspace"
)

// placed makes a folder with a store.
func placed(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, workspace.Dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, workspace.Dir, workspace.Store), []byte("store"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestExamine(t *testing.T) {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	here, other := placed(t, at("here")), placed(t, at("other"))
	empty := at("empty")
	tied := at("tied")
	for _, err := range []error{
		os.Mkdir(empty, 0o755), os.Symlink(here, at("link")), os.MkdirAll(filepath.Join(tied, workspace.Dir),
			0o700), os.WriteFile(at("file"), nil, 0o644),
		os.Link(filepath.Join(here, workspace.Dir, workspace.Store),
			filepath.Join(tied, workspace.Dir, workspace.Store)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		home string
		same bool
		want workspace.Standing
	}{
		"before it is initialised":                   {"", true, workspace.Here},
		"where it was":                               {here, true, workspace.Here},
		"by another name":                            {at("link"), true, workspace.Here},
		"nothing is there any more":                  {at("nowhere"), true, workspace.Moved},
		"not even a folder above it":                 {filepath.Join(at("file"), "x"), true, workspace.Moved},
		"a folder without a store is there":          {empty, true, workspace.Moved},
		"another workspace is there":                 {other, false, workspace.Moved},
		"the original is there":                      {other, true, workspace.Copied},
		"a folder is there that has this very store": {tied, true, workspace.Tied},
	} {
		asked := ""
		got := workspace.Examine(here, c.home, func(store string) bool { asked = store; return c.same })
		if got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if asked != "" && asked != filepath.Join(other, workspace.Dir, workspace.Store) {
			t.Errorf("%s: the store %s was looked into", name, asked)
		}
	}
}

func TestGround(t *testing.T) {
	dir := placed(t, filepath.Join(t.TempDir(), "w"))
	g, err := workspace.NewGround(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, workspace.Dir, workspace.Store)
	if err := os.WriteFile(store, []byte("more"), 0o600); err != nil || g.Holds() != nil {
		t.Errorf("a store that grows is gone: %v, %v", err, g.Holds())
	}
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	if err := g.Holds(); pawl.CodeOf(err) != pawl.CodeIO {
		t.Errorf("it was moved: %v", err)
	}
	placed(t, dir)
	if err := g.Holds(); pawl.CodeOf(err) != pawl.CodeIO {
		t.Errorf("another one has taken its place: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+"2", dir); err != nil || g.Holds() != nil {
		t.Errorf("it is back: %v, %v", err, g.Holds())
	}
	if _, err := workspace.NewGround(dir + "2"); err == nil {
		t.Error("a workspace is there that is not")
	}
}
