package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"pawl"
	"pawl/driver/workspace"
)

func TestGround(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	g, err := workspace.NewGround(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("more"), 0o600); err != nil || g.Holds() != nil {
		t.Errorf("a workspace that changes is gone: %v, %v", err, g.Holds())
	}
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	if err := g.Holds(); pawl.CodeOf(err) != pawl.CodeIO {
		t.Errorf("it was moved: %v", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
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
