package archive

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"pawl/effect"
)

func TestPruneRemovesOnlyWhatEnded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".pawl")
	live := []effect.ProjectedFile{{Path: "plan/new/tasks.md", Content: "n"}}
	old := []effect.ProjectedFile{{Path: "plan/old/tasks.md", Content: "o"}, {Path: "plan/loose.md", Content: "l"}, {Path: "archive/old/tasks.md", Content: "a"}}
	if _, err := Write(context.Background(), dir, append(old, live...)); err != nil {
		t.Fatal(err)
	}
	if err := Prune(dir, "plan", live); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"plan/old": false, "plan/new/tasks.md": true, "plan/loose.md": true, "archive/old/tasks.md": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Prune(dir, "nothing", live); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
}
