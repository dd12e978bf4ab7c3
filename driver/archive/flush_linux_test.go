package archive

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/need"
)

// unflushedEnv has this package's test write projections into the folder that it names.
const unflushedEnv = "PAWL_ARCHIVE_UNFLUSHED"

// TestNoNameWithoutItsContent has every flush fail: no projection may get its name then, because a power cut would leave
// the name with nothing behind it.
func TestNoNameWithoutItsContent(t *testing.T) {
	files := []pawl.ProjectedFile{{Path: "state.json", Content: "new"}, {Path: "more/context.md", Content: "new"},
		{Path: "history/log.md", Content: "new", Append: true}, {Path: "archive/2026/proposal.md", Content: "new",
			Unique: true}}
	if dir := os.Getenv(unflushedEnv); dir != "" {
		if names, err := Write(t.Context(), dir, files); pawl.CodeOf(err) != pawl.CodeIO {
			t.Errorf("%v, %v", names, err)
		}
		return
	}
	strace := need.Program(t, "strace") // it makes the flushes fail
	dir := filepath.Join(t.TempDir(), ".pawl")
	old := []pawl.ProjectedFile{files[0], files[2]}
	for i := range old {
		old[i].Content = "old"
	}
	if _, err := Write(t.Context(), dir, old); err != nil {
		t.Fatal(err)
	}
	before := content(t, dir)
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e",
		"inject=fsync,fdatasync:error=EIO", os.Args[0], "-test.run=^TestNoNameWithoutItsContent$")
	cmd.Env = append(os.Environ(), unflushedEnv+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for name, text := range content(t, dir) {
		if was, ok := before[name]; (!ok || was != text) && !strings.HasPrefix(filepath.Base(name), tempMark) {
			t.Errorf("%s holds %q, was %q", name, text, was)
		}
	}
}
