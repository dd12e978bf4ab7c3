package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/driver/drivertest"
	"pawl/driver/file"
	"pawl/driver/tool"
	"pawl/kernel/effect"
)

// What .pawlignore hides is neither read nor written by any of the tools, under no name that a call may give it.
func TestHidden(t *testing.T) {
	dir := t.TempDir()
	drivertest.Populate(t, dir, map[string]string{".pawlignore": "secret/\n*.key\n", "secret/a.txt": "needle\n",
		"b.key": "needle\n", "c.txt": "free\n"})
	before := drivertest.Snapshot(t, dir)
	for name, c := range map[string]struct {
		tool tool.Tool
		args map[string]any
	}{
		"read": {file.Read(), map[string]any{"path": "secret/a.txt"}}, "read by a detour": {file.Read(),
			map[string]any{"path": "./x/../secret//a.txt"}}, "read a key": {file.Read(),
			map[string]any{"path": "b.key"}},
		"write": {file.Write(nil), map[string]any{"path": "b.key", "content": "x"}}, "write a new one": {file.Write(nil),
			map[string]any{"path": "secret/new.txt", "content": "x"}},
		"delete":   {file.Delete(nil), map[string]any{"path": "b.key"}},
		"patch":    {file.Patch(nil), map[string]any{"patch": "*** Begin Patch\n*** Update File: b.key\n@@\n-guess\n+x\n*** End Patch\n"}},
		"move in":  {file.Patch(nil), map[string]any{"patch": "*** Begin Patch\n*** Update File: c.txt\n*** Move to: secret/c.txt\n@@\n-free\n+x\n*** End Patch\n"}},
		"move out": {file.Patch(nil), map[string]any{"patch": "*** Begin Patch\n*** Update File: secret/a.txt\n*** Move to: a.txt\n@@\n-needle\n+x\n*** End Patch\n"}},
	} {
		e := drivertest.Effect(dir, c.tool.Info().Name, object(t, c.args))
		r := c.tool.Do(t.Context(), e, nil)
		err := r.Err()
		if r.OK || pawl.CodeOf(err) != pawl.CodeDenied || strings.Contains(string(r.Result)+err.Error(), "needle") {
			t.Errorf("%s: %v %s", name, err, r.Result)
		}
	}
	found, err := file.Previews(effect.Place{Workspace: dir, Tree: dir},
		[]effect.ToolCall{{Name: "write_file",
			Args: []byte(object(t, map[string]any{"path": "b.key", "content": "x"}))}})
	if err != nil || pawl.CodeOf(found[0].Err) != pawl.CodeDenied || found[0].Patch != "" {
		t.Errorf("preview: %v %+v", err, found)
	}
	if after := drivertest.Snapshot(t, dir); len(after) != len(before) {
		t.Error(after)
	}
	if r := file.Read().Do(t.Context(), drivertest.Effect(dir, "read_file", `{"path":"c.txt"}`), nil); !r.OK {
		t.Error(r.Err())
	}
}

// What a call wrote before it was hidden can be undone afterwards.
func TestUndoOfWhatIsHiddenSince(t *testing.T) {
	dir := t.TempDir()
	drivertest.Populate(t, dir, map[string]string{"b.key": "before\n"})
	tool := file.Write(nil)
	e := drivertest.Effect(dir, "write_file", `{"path":"b.key","content":"after\\n"}`)
	r := tool.Do(t.Context(), e, nil)
	if !r.OK {
		t.Fatal(r.Err())
	}
	drivertest.Populate(t, dir, map[string]string{".pawlignore": "*.key\n"})
	if u := tool.Undo(t.Context(), e, r); !u.OK {
		t.Fatal(u.Err())
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "b.key")); err != nil || string(raw) != "before\n" {
		t.Error(string(raw), err)
	}
}
