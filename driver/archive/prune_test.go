package archive

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"pawl"
)

func TestPruneRemovesOnlyWhatEnded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".pawl")
	files := []pawl.ProjectedFile{
		{Path: "plan/new/tasks.md", Content: "n"}, {Path: "plan/old/tasks.md",
			Content: "o"}, {Path: "plan/old/proposal.md", Content: "o"},
		{Path: "plan/own/proposal.md", Content: "of a person"}, {Path: "archive/old/tasks.md", Content: "a"},
	}
	if _, err := Write(context.Background(), dir, files); err != nil {
		t.Fatal(err)
	}
	if err := Prune(dir, "plan", []string{"old", "gone"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"plan/old": false, "plan/own/proposal.md": true, "plan/new/tasks.md": true,
		"archive/old/tasks.md": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Prune(dir, "nothing", []string{"old"}); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
}
