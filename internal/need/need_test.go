package need_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pawl/internal/need"
)

// recorder is a test whose end is looked at.
type recorder struct {
	testing.TB
	skipped, failed string
}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	panic(r)
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	panic(r)
}

func ask(name string) (path string, r *recorder) {
	r = &recorder{}
	defer func() { _ = recover() }()
	return need.Program(r, name), r
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	tool := filepath.Join(dir, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, without         string
		path, skipped, failed string
	}{
		{name: "tool", path: tool},
		{name: "tool", without: "tools other", path: tool},
		{name: "absent", without: "tool", failed: "absent is not installed: run make setup"},
		{name: "absent", without: "tool absent ", skipped: "left out: PAWL_TEST_WITHOUT names absent"},
		{name: "tool", without: "tool", skipped: "left out: PAWL_TEST_WITHOUT names tool"},
	} {
		t.Setenv(need.Without, c.without)
		path, r := ask(c.name)
		if path != c.path || r.skipped != c.skipped || r.failed != c.failed {
			t.Errorf("%s without %q: %q, skipped %q, failed %q", c.name, c.without, path, r.skipped, r.failed)
		}
	}
}
