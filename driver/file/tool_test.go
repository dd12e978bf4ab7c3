package file_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl"
	"pawl/driver/drivertest"
	"pawl/driver/file"
	"pawl/driver/tool"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

func object(t testing.TB, members map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func newPatch(fail func(string) error) tool.Tool  { return file.Patch(fail) }
func newWrite(fail func(string) error) tool.Tool  { return file.Write(fail) }
func newDelete(fail func(string) error) tool.Tool { return file.Delete(fail) }
func newRead(func(string) error) tool.Tool        { return file.Read() }

func TestTools(t *testing.T) {
	big := strings.Repeat("line of a large file\n", 20_000)
	for _, c := range []drivertest.Case{
		{Name: "patch", New: newPatch,
			Tree: map[string]string{"a.txt": "one\ntwo\n", "bin/run": "#!/bin/sh\necho 1\n", "old/x": "x\n",
				"gone": "g", "keep/": ""},
			Args: object(t, map[string]any{"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** Update File: bin/run\n@@\n-echo 1\n+echo 2\n*** Update File: old/x\n*** Move to: n1/n2/x\n*** Delete File: gone\n*** Add File: n1/new\n+n\n*** End Patch\n"}),
			Want: map[string]string{"a.txt": "one\n2\n", "bin/run": "#!/bin/sh\necho 2\n", "n1/n2/x": "x\n",
				"n1/new": "n\n"}},
		{Name: "patch move onto", New: newPatch,
			Tree: map[string]string{"a": "1\n", "b": "2\n"},
			Args: object(t, map[string]any{"patch": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-1\n+one\n*** End Patch\n"}),
			Want: map[string]string{"b": "one\n"}},
		{Name: "patch swap", New: newPatch,
			Tree: map[string]string{"a": "1\n", "b": "\xff\x00"},
			Args: object(t, map[string]any{"patch": "*** Begin Patch\n*** Update File: a\n*** Move to: t\n*** Update File: b\n*** Move to: a\n*** Update File: t\n*** Move to: b\n*** End Patch\n"}),
			Want: map[string]string{"a": "\xff\x00", "b": "1\n"}},
		{Name: "patch diff", New: newPatch,
			Tree: map[string]string{"a": "1\n2\n", "s": "echo\n"},
			Args: object(t, map[string]any{"patch": "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n"}),
			Want: map[string]string{"a": "one\n2\n", "s": "echo\n"}},
		{Name: "patch mode", New: newPatch,
			Tree: map[string]string{"s": "echo\n"},
			Args: object(t, map[string]any{"patch": "diff --git a/s b/s\nold mode 100644\nnew mode 100755\n"})},
		{Name: "write new", New: newWrite,
			Args: object(t, map[string]any{"path": "x/y/z.txt", "content": "a\r\nb"}),
			Want: map[string]string{"x/y/z.txt": "a\r\nb"}},
		{Name: "write over", New: newWrite,
			Tree: map[string]string{"bin/run": "#!/bin/sh\n" + big},
			Args: object(t, map[string]any{"path": "./bin//run", "content": "#!/bin/sh\n", "create_dirs": false}),
			Want: map[string]string{"bin/run": "#!/bin/sh\n"}},
		{Name: "write executable", New: newWrite,
			Tree: map[string]string{"s": "same"},
			Args: object(t, map[string]any{"path": "s", "content": "same", "executable": true})},
		{Name: "write empty", New: newWrite,
			Tree: map[string]string{"s": "\x00\xff"},
			Args: object(t, map[string]any{"path": "s", "content": ""}),
			Want: map[string]string{"s": ""}},
		{Name: "delete", New: newDelete,
			Tree: map[string]string{"d/f": "#!x\x00\xfe", "d/g": ""},
			Args: object(t, map[string]any{"path": "d/f"}),
			Want: map[string]string{"d/g": ""}},
		{Name: "read", New: newRead,
			Tree: map[string]string{"f": big},
			Args: object(t, map[string]any{"path": "f", "offset": 3, "limit": 5})},
	} {
		drivertest.Run(t, c)
	}
}

func do(t *testing.T, tool tool.Tool, dir, args string) effect.Receipt {
	t.Helper()
	return tool.Do(t.Context(), drivertest.Effect(dir, tool.Info().Name, args), nil)
}

func TestRefusals(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		tool tool.Tool
		args map[string]any
		code pawl.Code
	}{
		{"read parent", file.Read(), map[string]any{"path": "../secret"}, pawl.CodeDenied},
		{"read absolute", file.Read(), map[string]any{"path": secret}, pawl.CodeDenied},
		{"read link", file.Read(), map[string]any{"path": "link"}, pawl.CodeDenied},
		{"read through link", file.Read(), map[string]any{"path": "dirlink/secret"}, pawl.CodeDenied},
		{"read inner link", file.Read(), map[string]any{"path": "inner"}, pawl.CodeDenied},
		{"read folder", file.Read(), map[string]any{"path": "d"}, pawl.CodeInvalid},
		{"read below file", file.Read(), map[string]any{"path": "f/x"}, pawl.CodeNotFound},
		{"read nothing", file.Read(), map[string]any{"path": "nope"}, pawl.CodeNotFound},
		{"read NUL", file.Read(), map[string]any{"path": "f\x00"}, pawl.CodeInvalid},
		{"read half surrogate", file.Read(), nil, pawl.CodeInvalid},
		{"read offset 0", file.Read(), map[string]any{"path": "f", "offset": 0}, pawl.CodeInvalid},
		{"write link", file.Write(nil), map[string]any{"path": "link", "content": "x"}, pawl.CodeDenied},
		{"write dangling link", file.Write(nil), map[string]any{"path": "dangling", "content": "x"}, pawl.CodeDenied},
		{"write through link", file.Write(nil), map[string]any{"path": "dirlink/new", "content": "x"}, pawl.CodeDenied},
		{"write folder", file.Write(nil), map[string]any{"path": "d", "content": "x"}, pawl.CodeInvalid},
		{"write folder path", file.Write(nil), map[string]any{"path": "new/", "content": "x"}, pawl.CodeInvalid},
		{"write below file", file.Write(nil), map[string]any{"path": "f/x", "content": "x"}, pawl.CodeConflict},
		{"write without folder", file.Write(nil), map[string]any{"path": "n/x", "content": "x", "create_dirs": false},
			pawl.CodeNotFound},
		{"write root", file.Write(nil), map[string]any{"path": ".", "content": "x"}, pawl.CodeInvalid},
		{"delete folder", file.Delete(nil), map[string]any{"path": "d"}, pawl.CodeInvalid},
		{"delete link", file.Delete(nil), map[string]any{"path": "link"}, pawl.CodeDenied},
		{"delete nothing", file.Delete(nil), map[string]any{"path": "nope"}, pawl.CodeNotFound},
		{"delete root", file.Delete(nil), map[string]any{"path": "."}, pawl.CodeInvalid},
		{"write state", file.Write(nil), map[string]any{"path": ".pawl/state.json", "content": "{}"}, pawl.CodeDenied},
		{"write hook", file.Write(nil), map[string]any{"path": ".git/hooks/pre-commit", "content": "x"}, pawl.CodeDenied},
		{"patch git config behind others", file.Patch(nil),
			map[string]any{"patch": "*** Begin Patch\n*** Update File: f\n@@\n-x\n+y\n*** Add File: n/m/ok\n+x\n*** Add File: .git/config\n+x\n*** Delete File: d/g\n*** End Patch\n"}, pawl.CodeDenied},
		{"patch through link", file.Patch(nil),
			map[string]any{"patch": "*** Begin Patch\n*** Add File: ok\n+x\n*** Update File: dirlink/secret\n@@\n-secret\n+x\n*** End Patch\n"}, pawl.CodeDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			drivertest.Populate(t, dir, map[string]string{"f": "x\n", "d/g": "g\n"})
			for name, to := range map[string]string{"link": secret, "dirlink": outside, "inner": "f",
				"dangling": filepath.Join(outside, "none")} {
				if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			before, out := drivertest.Snapshot(t, dir), drivertest.Snapshot(t, outside)
			args := `{"path":"f\ud800"}`
			if c.args != nil {
				args = object(t, c.args)
			}
			r := do(t, c.tool, dir, args)
			if r.OK || r.Code != c.code {
				t.Errorf("%+v, want %s", r, c.code)
			}
			if diff := cmp.Diff(before, drivertest.Snapshot(t, dir)) +
				cmp.Diff(out, drivertest.Snapshot(t, outside)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	r, err := file.Patch(nil).Request(json.RawMessage(object(t,
		map[string]any{"patch": "*** Begin Patch\n*** Update File: a/../b\n*** Move to: ../c\n*** Delete File: d\n*** Add File: e\n*** End Patch\n"})))
	if err != nil {
		t.Fatal(err)
	}
	want := []policy.Path{{Rel: "b", Op: policy.OpDelete}, {Rel: "../c", Op: policy.OpWrite},
		{Rel: "d", Op: policy.OpDelete}, {Rel: "e", Op: policy.OpWrite}}
	if len(r.Paths) != len(want) || r.Files != 4 {
		t.Fatalf("%+v", r)
	}
	for i := range want {
		if r.Paths[i] != want[i] {
			t.Errorf("%+v, want %+v", r.Paths[i], want[i])
		}
	}
}

type window struct {
	Content    string `json:"content"`
	Encoding   string `json:"encoding"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	TotalLines int    `json:"total_lines"`
	Truncated  bool   `json:"truncated"`
	CutLines   int    `json:"cut_lines"`
	Size       int64  `json:"size"`
}

func TestReadWindows(t *testing.T) {
	lines := strings.Repeat("x\n", 5000)
	wide := "x" + strings.Repeat("é", 100_000)
	for _, c := range []struct {
		name, data    string
		offset, limit int
		want          window
		content       func(string) bool
	}{
		{"empty", "", 1, 10, window{Encoding: "utf-8", StartLine: 1}, func(s string) bool { return s == "" }},
		{"whole", "a\r\nb", 1, 10, window{Encoding: "utf-8", StartLine: 1, EndLine: 2, TotalLines: 2},
			func(s string) bool { return s == "a\r\nb" }},
		{"middle", lines, 10, 3, window{Encoding: "utf-8", StartLine: 10, EndLine: 12, TotalLines: 5000,
			Truncated: true}, func(s string) bool { return s == "x\nx\nx\n" }},
		{"exactly to the end", lines, 4999, 2, window{Encoding: "utf-8", StartLine: 4999, EndLine: 5000,
			TotalLines: 5000}, func(s string) bool { return s == "x\nx\n" }},
		{"behind the end", "a\n", 7, 2, window{Encoding: "utf-8", StartLine: 7, EndLine: 6, TotalLines: 1},
			func(s string) bool { return s == "" }},
		{"binary", "\x7fELF\x00" + lines, 1, 10, window{Encoding: "binary"}, func(s string) bool { return s == "" }},
		{"latin-1", "caf\xe9\n", 1, 10, window{Encoding: "invalid-utf8", StartLine: 1, EndLine: 1, TotalLines: 1},
			func(s string) bool { return s == "caf\uFFFD\n" }},
		{"one wide line", "a\n" + wide + "\r\nb\n", 1, 10,
			window{Encoding: "utf-8", StartLine: 1, EndLine: 3, TotalLines: 3, CutLines: 1},
			func(s string) bool {
				return strings.HasPrefix(s, "a\nxé") && strings.HasSuffix(s, "é… [+198002 bytes]\r\nb\n") &&
					len(s) < 2100
			}},
		{"more than the limit in bytes", strings.Repeat(strings.Repeat("y", 999)+"\n", 3000), 1, 3000,
			window{Encoding: "utf-8", StartLine: 1, EndLine: 1000, TotalLines: 3000, Truncated: true},
			func(s string) bool { return len(s) == 1_000_000 }},
		{"nothing behind the first that is left out", strings.Repeat(strings.Repeat("y", 999)+"\n", 999) +
			strings.Repeat("y", 1500) + "\nz\n", 1, 3000,
			window{Encoding: "utf-8", StartLine: 1, EndLine: 999, TotalLines: 1001, Truncated: true},
			func(s string) bool { return len(s) == 999_000 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			drivertest.Populate(t, dir, map[string]string{"f": c.data})
			r := do(t, file.Read(), dir, object(t, map[string]any{"path": "f", "offset": c.offset, "limit": c.limit}))
			if !r.OK {
				t.Fatalf("%+v", r)
			}
			res, _ := effect.Decode[effect.ToolResult](r.Result)
			got, err := effect.Decode[window](res.Payload)
			if err != nil {
				t.Fatal(err)
			}
			if !c.content(got.Content) {
				t.Errorf("content %.80q … of %d bytes", got.Content, len(got.Content))
			}
			got.Content, c.want.Size = "", int64(len(c.data))
			if got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// FuzzReadFile: no arguments make read_file panic or leave the workspace.
func FuzzReadFile(f *testing.F) {
	f.Add(`{"path":"f","offset":2,"limit":1}`)
	f.Add(`{"path":"../secret"}`)
	f.Add(`{"path":"d/../../secret"}`)
	f.Add(`{"path":"link/secret","limit":9223372036854775807}`)
	f.Add(`{"path":"f\udc00","PATH":"f"}`)
	top := f.TempDir()
	dir := filepath.Join(top, "ws")
	for name, data := range map[string]string{"secret": "SECRET\n", "ws/f": "a\nb\n", "ws/d/g": "g\xff\n"} {
		p := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(data), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.Symlink("..", filepath.Join(dir, "link")); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, args string) {
		if !json.Valid([]byte(args)) {
			if _, err := file.Read().Request(json.RawMessage(args)); err == nil && strings.TrimSpace(args) != "" {
				t.Fatalf("%q was taken", args)
			}
			return
		}
		r := do(t, file.Read(), dir, args)
		if strings.Contains(string(r.Result), "SECRET") {
			t.Fatalf("%q left the workspace", args)
		}
		if !r.OK && r.Class == pawl.ClassInternal {
			t.Fatalf("%+v", r)
		}
	})
}
