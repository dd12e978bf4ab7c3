package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"pawl"
	"pawl/driver/drivertest"
	"pawl/driver/search"
	"pawl/driver/tool"
	"pawl/kernel/effect"
)

func newList(func(string) error) tool.Tool { return search.List() }
func newGlob(func(string) error) tool.Tool { return search.Glob() }
func newGrep(func(string) error) tool.Tool { return search.Grep() }

var project = map[string]string{
	".gitignore":            "*.log\n/dist/\nnode_modules/\n!keep.log\n",
	".git/config":           "needle",
	".pawl/state.json":      "needle",
	"README.md":             "# Title\nneedle here\n",
	"a.log":                 "needle",
	"keep.log":              "needle kept\n",
	"cmd/main.go":           "package main\n\nfunc main() {\n\tneedle()\n}\n",
	"cmd/main_test.go":      "package main\n// Needle\r\n",
	"dist/out.js":           "needle",
	"sub/dist/in.js":        "needle\n",
	"sub/.gitignore":        "*.tmp\n!a.log\n",
	"sub/dist/y.tmp":        "needle",
	"sub/a.log":             "needle\n",
	"sub/x.tmp":             "needle",
	"web/node_modules/x.js": "needle",
	"web/bin.dat":           "needle\x00",
	"web/latin.txt":         "caf\xe9 needle\n",
	".env":                  "TOKEN=needle\n",
	"empty/":                "",
}

func TestTools(t *testing.T) {
	for _, c := range []drivertest.Case{
		{Name: "list_dir", New: newList, Tree: project, Args: `{"path":"sub/","depth":2}`},
		{Name: "glob_file_search", New: newGlob, Tree: project, Args: `{"pattern":"**/*.go","path":"cmd"}`},
		{Name: "grep", New: newGrep, Tree: project,
			Args: `{"pattern":"needle","path":".","glob":"*.md","ignore_case":true,"context":1,"max_results":5}`},
	} {
		drivertest.Run(t, c)
	}
}

func run[T any](t testing.TB, tool tool.Tool, dir, args string) T {
	t.Helper()
	r := tool.Do(t.Context(), drivertest.Effect(dir, tool.Info().Name, args), nil)
	if !r.OK {
		t.Fatalf("%+v", r)
	}
	res, err := effect.Decode[effect.ToolResult](r.Result)
	if err != nil {
		t.Fatal(err)
	}
	out, err := effect.Decode[T](res.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type listing struct {
	Entries []struct {
		Path, Type string
		Size       int64
	}
	Truncated bool
}

func (l listing) String() string {
	var b strings.Builder
	for _, e := range l.Entries {
		fmt.Fprintf(&b, "%s:%s:%d ", e.Path, e.Type, e.Size)
	}
	return strings.TrimSpace(b.String())
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	drivertest.Populate(t, dir, project)
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "cmd", "link")); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{}`:                        ".env:file:13 .gitignore:file:37 README.md:file:20 cmd:dir:0 empty:dir:0 keep.log:file:12 sub:dir:0 web:dir:0",
		`{"path":"cmd"}`:            "cmd/link:link:0 cmd/main.go:file:40 cmd/main_test.go:file:24",
		`{"path":"sub","depth":9}`:  "sub/.gitignore:file:13 sub/a.log:file:7 sub/dist:dir:0 sub/dist/in.js:file:7",
		`{"path":"sub/dist"}`:       "sub/dist/in.js:file:7",
		`{"path":"dist"}`:           "dist/out.js:file:6",
		`{"path":"web/","depth":2}`: "web/bin.dat:file:7 web/latin.txt:file:12",
	} {
		if diff := cmp.Diff(want, run[listing](t, search.List(), dir, args).String()); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}

type files struct {
	Files     []string
	Truncated bool
}

func TestGlob(t *testing.T) {
	dir := t.TempDir()
	drivertest.Populate(t, dir, project)
	for args, want := range map[string]string{
		`{"pattern":"*.go"}`:                "cmd/main.go cmd/main_test.go",
		`{"pattern":"cmd/*_test.go"}`:       "cmd/main_test.go",
		`{"pattern":"**/*.{md,js}"}`:        "README.md sub/dist/in.js",
		`{"pattern":"*.log"}`:               "keep.log sub/a.log",
		`{"pattern":"dist/*","path":"sub"}`: "sub/dist/in.js",
		`{"pattern":"./README.md"}`:         "README.md",
		`{"pattern":"nothing*"}`:            "",
	} {
		if diff := cmp.Diff(want, strings.Join(run[files](t, search.Glob(), dir, args).Files, " ")); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}

type grepped struct {
	Matches []struct {
		Path          string
		Line          int
		Text          string
		Before, After []string
	}
	Files         int
	Truncated     bool
	SkippedBinary int `json:"skipped_binary"`
	SkippedLarge  int `json:"skipped_large"`
	SkippedSecret int `json:"skipped_secret"`
}

func (g grepped) String() string {
	var b strings.Builder
	for _, m := range g.Matches {
		fmt.Fprintf(&b, "%s:%d:%s\n", m.Path, m.Line, m.Text)
	}
	return b.String()
}

func TestGrep(t *testing.T) {
	dir := t.TempDir()
	drivertest.Populate(t, dir, project)
	all := run[grepped](t, search.Grep(), dir, `{"pattern":"needle"}`)
	want := "README.md:2:needle here\ncmd/main.go:4:\tneedle()\nkeep.log:1:needle kept\nsub/a.log:1:needle\nsub/dist/in.js:1:needle\nweb/latin.txt:1:caf\uFFFD needle\n"
	if diff := cmp.Diff(want, all.String()); diff != "" {
		t.Error(diff)
	}
	if all.Files != 6 || all.SkippedBinary != 1 || all.SkippedSecret != 1 || all.Truncated {
		t.Errorf("%+v", all)
	}
	for args, want := range map[string]string{
		`{"pattern":"NEEDLE","ignore_case":true,"glob":"*_test.go"}`: "cmd/main_test.go:2:// Needle\n",
		`{"pattern":"needle$","path":"sub"}`:                         "sub/a.log:1:needle\nsub/dist/in.js:1:needle\n",
		`{"pattern":"Needle$"}`:                                      "cmd/main_test.go:2:// Needle\n",
		`{"pattern":"^\\s*needle\\(\\)"}`:                            "cmd/main.go:4:\tneedle()\n",
		`{"pattern":"\\Apackage\\s+main\\z"}`:                        "cmd/main.go:1:package main\ncmd/main_test.go:1:package main\n",
		`{"pattern":"main\\s+func"}`:                                 "",
		`{"pattern":"needle","path":"dist/out.js"}`:                  "dist/out.js:1:needle\n",
		`{"pattern":"needle","path":"dist"}`:                         "dist/out.js:1:needle\n",
		`{"pattern":"^$","path":"cmd"}`:                              "cmd/main.go:2:\n",
		`{"pattern":"}|^package","path":"cmd/main.go"}`:              "cmd/main.go:1:package main\ncmd/main.go:5:}\n",
	} {
		if diff := cmp.Diff(want, run[grepped](t, search.Grep(), dir, args).String()); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
	got := run[grepped](t, search.Grep(), dir, `{"pattern":"func","context":1}`)
	if m := got.Matches[0]; len(got.Matches) != 1 || cmp.Diff([]string{""}, m.Before)+
		cmp.Diff([]string{"\tneedle()"}, m.After) != "" {
		t.Errorf("%+v", got)
	}
	if got := run[grepped](t, search.Grep(), dir, `{"pattern":"needle","max_results":2}`); len(got.Matches) != 2 ||
		!got.Truncated {
		t.Errorf("%+v", got)
	}
}

func TestHugeInput(t *testing.T) {
	dir := t.TempDir()
	drivertest.Populate(t, dir, map[string]string{
		"wide":  strings.Repeat("é", 5000) + "needle\nneedle\n",
		"large": strings.Repeat("needle\n", 3<<20),
		"many":  strings.Repeat("xy\n", 100_000),
	})
	got := run[grepped](t, search.Grep(), dir, `{"pattern":"needle"}`)
	if got.SkippedLarge != 1 || len(got.Matches) != 2 || len(got.Matches[0].Text) > 510 || got.Matches[1].Line != 2 {
		t.Errorf("%d large, %d matches", got.SkippedLarge, len(got.Matches))
	}
	if got := run[grepped](t, search.Grep(), dir, `{"pattern":"x","max_results":2000}`); len(got.Matches) != 2000 ||
		!got.Truncated {
		t.Errorf("%d matches", len(got.Matches))
	}
	for i := range 2001 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%04d.txt", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := run[files](t, search.Glob(), dir, `{"pattern":"*.txt"}`); len(got.Files) != 2000 || !got.Truncated {
		t.Errorf("%d files", len(got.Files))
	}
	if got := run[listing](t, search.List(), dir, `{}`); len(got.Entries) != 2000 || !got.Truncated {
		t.Errorf("%d entries", len(got.Entries))
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	drivertest.Populate(t, dir, project)
	if err := os.Symlink("cmd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool tool.Tool
		args string
		code pawl.Code
	}{
		{search.List(), `{"path":"README.md"}`, pawl.CodeInvalid},
		{search.List(), `{"path":"nope"}`, pawl.CodeNotFound},
		{search.List(), `{"path":"README.md/x"}`, pawl.CodeNotFound},
		{search.List(), `{"path":".."}`, pawl.CodeDenied},
		{search.List(), `{"path":"/"}`, pawl.CodeDenied},
		{search.List(), `{"path":"link"}`, pawl.CodeDenied},
		{search.Glob(), `{"pattern":"[a"}`, pawl.CodeInvalid},
		{search.Glob(), `{"pattern":"` + strings.Repeat("**/a/", 50) + `"}`, pawl.CodeInvalid},
		{search.Glob(), `{"pattern":"*","path":"link"}`, pawl.CodeDenied},
		{search.Grep(), `{"pattern":"(a"}`, pawl.CodeInvalid},
		{search.Grep(), `{"pattern":"a{1001}"}`, pawl.CodeInvalid},
		{search.Grep(), `{"pattern":"a","glob":"[a"}`, pawl.CodeInvalid},
		{search.Grep(), `{"pattern":"a","path":"link/main.go"}`, pawl.CodeDenied},
		{search.Grep(), `{"pattern":"a","max_results":0}`, pawl.CodeInvalid},
	} {
		r := c.tool.Do(context.Background(), drivertest.Effect(dir, "x", c.args), nil)
		if r.OK || r.Code != c.code {
			t.Errorf("%T %s: %+v", c.tool, c.args, r)
		}
	}
}

func FuzzGrep(f *testing.F) {
	f.Add("a.*b", "xaxb\r\nab\n\n", true)
	f.Add(`^$|\bx\b$`, "x\ny\n", false)
	f.Add(`\Aa|b\z`, "a\nb", false)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, pattern, data string, fold bool) {
		if !utf8.ValidString(pattern) {
			return // JSON cannot carry it
		}
		args, err := json.Marshal(map[string]any{"pattern": pattern, "ignore_case": fold, "max_results": 2000})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		r := search.Grep().Do(t.Context(), drivertest.Effect(dir, "grep", string(args)), nil)
		if !r.OK {
			if r.Code != pawl.CodeInvalid {
				t.Fatalf("%+v", r)
			}
			return
		}
		res, _ := effect.Decode[effect.ToolResult](r.Result)
		got, err := effect.Decode[grepped](res.Payload)
		if err != nil {
			t.Fatal(err)
		}
		want := slowly(pattern, data, fold)
		if got.SkippedBinary == 0 && !got.Truncated && len(want) != len(got.Matches) {
			t.Fatalf("%q in %q: %v, want lines %v", pattern, data, got.Matches, want)
		}
		for i, m := range got.Matches {
			if m.Line != want[i] {
				t.Fatalf("%q in %q: line %d, want %d", pattern, data, m.Line, want[i])
			}
		}
	})
}
