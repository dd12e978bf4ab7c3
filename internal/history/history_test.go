package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/internal/worker"
	"pawl/kernel/effect"
	"pawl/kernel/view"
)

const sample = `package m

// Add adds.
func Add(a, b int) int {
	return a - b
}

func Sub(a, b int) int {
	return a + b
}
`

// made is a change between two versions of a module that is made up.
func made() *work {
	now := strings.NewReplacer("adds.", "adds two numbers.", "a - b", "a + b", "a + b", "a - b").Replace(sample)
	test := "package m\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n"
	before := map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m.go": sample, "same.go": "package m\n",
		"other/o.go": "package other\n", "README.md": "# m\n"}
	after := map[string]string{"go.mod": before["go.mod"], "m.go": now, "same.go": "package m\n", "new.go": "package m\n\nvar N = 1\n",
		"m_test.go": test, "testdata/x": "x", "other/o.go": "package other\n\nvar O = 1\n", "README.md": "# M\n"}
	return compare(Change{Module: "example.com/m", From: "v1.0.0", To: "v1.0.1", Dir: "."}, before, after)
}

// TestCompare is about what belongs to a change, and what is left of it without some of its pieces.
func TestCompare(t *testing.T) {
	w := made()
	var hunks []string
	for _, h := range w.hunks {
		hunks = append(hunks, h.String())
	}
	if diff := cmp.Diff([]string{"m.go:5", "m.go:9", "new.go:1"}, hunks); diff != "" || !w.fits() {
		t.Errorf("%s fits: %v", diff, w.fits())
	}
	all, some, none := w.with(whole), w.with(half), w.with(nothing)
	for _, c := range []struct {
		files map[string]string
		names string
		m     []string
	}{
		{all, "m.go m_test.go new.go testdata/x", []string{"adds two numbers.", "int {\n\treturn a + b\n}\n\nfunc Sub", "return a - b\n}\n"}},
		{some, "m.go m_test.go new.go testdata/x", []string{"adds two numbers.", "return a + b\n}\n\nfunc Sub(a, b int) int {\n\treturn a + b"}},
		{none, "m.go m_test.go testdata/x", []string{"adds two numbers.", "return a - b\n}\n\nfunc Sub(a, b int) int {\n\treturn a + b"}},
	} {
		var names []string
		for name := range c.files {
			names = append(names, name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != c.names {
			t.Errorf("%s, want %s", got, c.names)
		}
		for _, text := range c.m {
			if !strings.Contains(c.files["m.go"], text) {
				t.Errorf("%q is not in\n%s", text, c.files["m.go"])
			}
		}
	}
	if j := w.job(half); j.Artifacts != "m.go m_test.go new.go testdata/x" || j.Base["m.go"] != sample {
		t.Errorf("%+v", j)
	}
	for name, spoil := range map[string]func(w *work){
		"too small":   func(w *work) { w.hunks = w.hunks[:1] },
		"too large":   func(w *work) { w.hunks[0].n = mostLines },
		"removes":     func(w *work) { w.gone = []string{"x.go"} },
		"is no text":  func(w *work) { w.tests["testdata/x"] = "\x00" },
		"many pieces": func(w *work) { w.hunks = slices.Repeat(w.hunks, mostHunks) },
	} {
		if w := made(); w.fits() {
			if spoil(w); w.fits() {
				t.Errorf("a change that %s fits", name)
			}
		}
	}
}

// TestTry is about the tests that tell, apart from pawl, what a change does.
func TestTry(t *testing.T) {
	w := made()
	for _, c := range []struct {
		name  string
		files func(int) bool
		red   bool
	}{{"nothing", nothing, true}, {"whole", whole, false}, {"half", half, false}, {"no Add", but(0), true}, {"no Sub", but(1), false}} {
		dir := filepath.Join(t.TempDir(), "m")
		out, err := w.try(t.Context(), dir, w.with(c.files), c.name == "whole")
		if err != nil || (out != "") != c.red {
			t.Errorf("%s: red %v: %v %s", c.name, !c.red, err, out)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: the folder is left behind", c.name)
		}
	}
}

// TestTree reads a folder, in which what is in Go is formatted and the data of tests is not.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package  a\n", "testdata/b.go": "package  b\n", "bad.go": "package {\n", "x": " x"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := tree(dir)
	want := map[string]string{"a.go": "package a\n", "testdata/b.go": "package  b\n", "bad.go": "package {\n", "x": " x"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// TestList is about the list: each row says what it has to, and there are enough.
func TestList(t *testing.T) {
	all, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	modules, seen := map[string]bool{}, map[string]bool{}
	for _, c := range all {
		if modules[c.Module] = true; seen[c.String()] || strings.Contains(c.Requirement, "TODO") {
			t.Errorf("%s stands there twice, or without a requirement", c)
		}
		seen[c.String()] = true
	}
	if len(all) < 30 || len(modules) < 6 {
		t.Errorf("%d changes of %d modules", len(all), len(modules))
	}
	for text, want := range map[string]string{
		"a v1 v2\n\tx\n":              "neither",
		"a v1 v2 .\nb v1 v2 .\n\tx\n": "neither",
		"\tx\n":                       "neither",
		"a v1 v2 .\n\tx\n\ty\n":       "neither",
		"a v1 v2 .\n":                 "no requirement",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestTotal is about what counts as right.
func TestTotal(t *testing.T) {
	row := func(whole, half string, red bool, silent ...string) Row {
		return Row{Whole: worker.Result{End: whole}, Half: worker.Result{End: half}, Red: red, Silent: silent}
	}
	for _, c := range []struct {
		name string
		row  Row
		good bool
	}{
		{"as it should be", row(worker.Done, "blocked: no_repair", true), true},
		{"done in part, unnoticed and named", row(worker.Done, worker.Done, false), true},
		{"held without a red test", row(worker.Done, "asked: proof", false), true},
		{"not named", row(worker.Done, worker.Done, false, "m.go:5"), false},
		{"a red half is done", row(worker.Done, worker.Done, true), false},
		{"a red half is already so", row(worker.Done, worker.AlreadySo, true), false},
		{"a red half did not run", row(worker.Done, "failed", true), false},
		{"the whole is held", row("asked: proof", "blocked: no_repair", true), false},
		{"not played", Row{}, false},
	} {
		if words, good := total([]Row{c.row}); good != c.good {
			t.Errorf("%s: %v, want %v: %s", c.name, good, c.good, words)
		}
	}
	if _, good := total(nil); good {
		t.Error("nothing is good")
	}
}

// TestNames is about what pawl has to say of a piece that nothing notices.
func TestNames(t *testing.T) {
	h := hunk{file: "m.go", line: 5, n: 2}
	part := func(path string, line int) *view.Proof {
		return &view.Proof{Unnoticed: []effect.Part{{Path: path, Line: line}}}
	}
	for _, c := range []struct {
		proof *view.Proof
		want  bool
	}{{nil, false}, {&view.Proof{}, false}, {part("m.go", 5), true}, {part("m.go", 6), true}, {part("m.go", 7), false},
		{part("m.go", 4), false}, {part("n.go", 5), false}, {&view.Proof{Unreached: 1}, true}} {
		if got := names(c.proof, h); got != c.want {
			t.Errorf("%+v: %v, want %v", c.proof, got, c.want)
		}
	}
}
