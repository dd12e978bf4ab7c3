package knowledge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/driver/drivertest"
	"pawl/driver/knowledge"
	"pawl/driver/search"
	"pawl/kernel/effect"
	kb "pawl/text/knowledge"
	"pawl/text/solution"
)

func read(t *testing.T, dir, rel string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, rel))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(raw)
}

func TestScan(t *testing.T) {
	dir := t.TempDir()
	drivertest.Populate(t, dir, map[string]string{
		"go.mod":     "module example.org/shop\n\ngo 1.24\n\nrequire github.com/spf13/cobra v1.9.1\n",
		"main.go":    "package main\n\nimport _ \"example.org/shop/api\"\n",
		"api/api.go": "// Package api serves. It is fast.\npackage api\n\ntype Shop struct{}\n\nfunc Serve() {}\n\nfunc hidden() {}\n", "api/api_test.go": "package api\n\nfunc Helper() {}\n",
		"web/app.ts": "import { x } from './lib/x'\nexport function App() {}\n", "web/lib/x.ts": "export const x = 1\n",
		"web/package.json": `{"dependencies":{"react":"1"}}`,
		"py/__init__.py":   "\"\"\"Counts things.\"\"\"\n", "py/use.py": "import py.deep\n\ndef count():\n  pass\n",
		"py/deep/__init__.py": "",
		"node_modules/a/a.js": "export function no() {}\n", "ignored/x.go": "package x\n", ".gitignore": "ignored/\n",
		"helloagents/x.py": "def no(): pass\n",
		"broken.go":        "pakage main\n", "bin.go": "\x00\x01", "vendor/v/v.go": "package v\n",
	})
	p, err := knowledge.Scan(context.Background(), dir, search.Files, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	by := map[string]kb.Module{}
	for _, m := range p.Modules {
		names = append(names, m.Name)
		by[m.Name] = m
	}
	if want := []string{"api", "py", "py/deep", "shop", "web", "web/lib"}; !slices.Equal(names, want) {
		t.Fatalf("modules %v, want %v", names, want)
	}
	if m := by["api"]; m.Summary != "Package api serves." || !slices.Equal(m.Exports, []string{"Serve", "Shop"}) ||
		!slices.Equal(m.Files, []string{"api/api.go", "api/api_test.go"}) {
		t.Errorf("api: %+v", m)
	}
	for from, to := range map[string]string{"shop": "api", "web": "web/lib", "py": "py/deep"} {
		if !slices.Contains(by[from].Depends, to) {
			t.Errorf("%s depends on %v, not on %s", from, by[from].Depends, to)
		}
	}
	if by["py"].Summary != "Counts things." {
		t.Errorf("py: %+v", by["py"])
	}
	for _, want := range []string{"Go 1.24", "TypeScript", "Python", "Cobra", "React"} {
		if !slices.Contains(p.Stack, want) {
			t.Errorf("the stack %v lacks %s", p.Stack, want)
		}
	}
	if p.Name != "shop" {
		t.Errorf("name %q", p.Name)
	}
}

func writing(dir string, spec effect.KnowledgeSpec) effect.Effect {
	return effect.Effect{ID: "01E", Kind: effect.KindKnowledge, Place: effect.Place{Workspace: dir, Tree: dir},
		Spec: effect.Encode(spec)}
}

// old is a workspace with a knowledge base to take over, and the effect that does it.
func old(t *testing.T) (string, effect.Effect) {
	t.Helper()
	dir := t.TempDir()
	drivertest.Populate(t, dir, map[string]string{".pawl/": "", "helloagents/INDEX.md": "index",
		"helloagents/wiki/modules/a.md": "module", "helloagents/big.bin": "\x00"})
	return dir, writing(dir, effect.KnowledgeSpec{
		Takeover: &effect.Takeover{Folder: "helloagents", Backup: "helloagents_backup_1",
			All: []string{"INDEX.md", "big.bin", "wiki/modules/a.md"}, Copies: []effect.Copied{
				{From: "INDEX.md", To: "INDEX.md", Digest: effect.Digest([]byte("index"))}, {From: "wiki/modules/a.md",
					To: "modules/a.md", Digest: effect.Digest([]byte("module"))},
			}},
		Files: []effect.Document{effect.NewDocument("CHANGELOG.md", "log", nil, false)},
	})
}

// Whatever a crash left of it, doing it again ends in the same state, and the old folder stays.
func TestTakeOverFromEveryHalf(t *testing.T) {
	for what, half := range map[string]map[string]string{
		"nothing":       nil,
		"half a backup": {"helloagents_backup_1.making/INDEX.md": "ind"},
		"a whole backup": {"helloagents_backup_1/INDEX.md": "index", "helloagents_backup_1/big.bin": "\x00",
			"helloagents_backup_1/wiki/modules/a.md": "module"},
		"one of the docs": {"helloagents_backup_1/INDEX.md": "index", "helloagents_backup_1/big.bin": "\x00",
			"helloagents_backup_1/wiki/modules/a.md": "module", ".pawl/INDEX.md": "index"},
	} {
		t.Run(what, func(t *testing.T) {
			dir, e := old(t)
			drivertest.Populate(t, dir, half)
			d := knowledge.New()
			if a, _ := d.Done(t.Context(), e); a != effect.DoneNo {
				t.Fatalf("%s counts as done", a)
			}
			for range 2 {
				if r := d.Do(t.Context(), e, nil); !r.OK {
					t.Fatal(r.Err())
				}
			}
			if a, r := d.Done(t.Context(), e); a != effect.DoneYes || !r.OK {
				t.Errorf("Done says %s", a)
			}
			for rel, want := range map[string]string{
				"helloagents_backup_1/INDEX.md": "index", "helloagents_backup_1/big.bin": "\x00",
				"helloagents_backup_1/wiki/modules/a.md": "module", "helloagents/INDEX.md": "index",
				".pawl/INDEX.md": "index", ".pawl/modules/a.md": "module", ".pawl/CHANGELOG.md": "log",
			} {
				if got := read(t, dir, rel); got != want {
					t.Errorf("%s: %q, want %q", rel, got, want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "helloagents_backup_1.making")); err == nil {
				t.Error("half a backup is left")
			}
		})
	}
}

// What a killed run left of a backup is no part of the next one, and no link in it leads anywhere.
func TestHalfABackupIsDiscarded(t *testing.T) {
	const name, earlier, whole = "helloagents_backup_202602081200", "helloagents_backup_202602081159_v2.making",
		"helloagents_backup_202602081158"
	for what, put := range map[string]func(half, outside string) error{
		"other files": func(half, _ string) error {
			return errors.Join(os.MkdirAll(filepath.Join(half, "gone/deep"), 0o755),
				os.WriteFile(filepath.Join(half, "gone/x"), []byte("x"), 0o600))
		},
		"a link in it": func(half, outside string) error {
			return errors.Join(os.Mkdir(half, 0o755), os.Symlink(outside, filepath.Join(half, "wiki")))
		},
		"a link":            func(half, outside string) error { return os.Symlink(outside, half) },
		"a link inside":     func(half, _ string) error { return os.Symlink("helloagents", half) },
		"a folder for file": func(half, _ string) error { return os.MkdirAll(filepath.Join(half, "INDEX.md"), 0o755) },
	} {
		t.Run(what, func(t *testing.T) {
			dir, e := old(t)
			outside := t.TempDir()
			drivertest.Populate(t, outside, map[string]string{"mine": "mine"})
			drivertest.Populate(t, dir, map[string]string{earlier + "/INDEX.md": "half", whole + "/INDEX.md": "whole",
				"helloagents_backup_mine.making/x": "a person's", "other_backup_202602081159.making/x": "another's"})
			if err := put(filepath.Join(dir, name+".making"), outside); err != nil {
				t.Fatal(err)
			}
			spec, err := effect.Decode[effect.KnowledgeSpec](e.Spec)
			if err != nil {
				t.Fatal(err)
			}
			spec.Takeover.Backup = name
			if r := knowledge.New().Do(t.Context(), writing(dir, spec), nil); !r.OK {
				t.Fatal(r.Err())
			}
			var left []string
			for _, e := range must(os.ReadDir(dir)) {
				left = append(left, e.Name())
			}
			if want := []string{".pawl", "helloagents", whole, name, "helloagents_backup_mine.making",
				"other_backup_202602081159.making"}; !slices.Equal(left, want) {
				t.Errorf("%v, want %v", left, want)
			}
			var files []string
			err = filepath.WalkDir(filepath.Join(dir, name), func(at string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					files = append(files, filepath.Base(at))
				}
				return err
			})
			if err != nil || !slices.Equal(files, []string{"INDEX.md", "big.bin", "a.md"}) {
				t.Errorf("the backup holds %v, %v", files, err)
			}
			if read(t, outside, "mine") != "mine" || len(must(os.ReadDir(outside))) != 1 ||
				read(t, dir, "helloagents/INDEX.md") != "index" {
				t.Error("a link was followed")
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A CHANGELOG that has outgrown its limit is told of, and the other documents are read.
func TestDocumentsBesideAHugeLog(t *testing.T) {
	dir := t.TempDir()
	drivertest.Populate(t, dir, map[string]string{".pawl/INDEX.md": "index",
		".pawl/CHANGELOG.md": strings.Repeat("a line\n", solution.MaxFile/7+100), ".pawl/CHANGELOG_2025.md": "# Log\n",
		".pawl/modules/a.md": "a"})
	docs, err := knowledge.Documents(t.Context(), dir)
	if err != nil || string(docs["INDEX.md"]) != "index" || string(docs["modules/a.md"]) != "a" ||
		string(docs["CHANGELOG_2025.md"]) != "# Log\n" {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	_, found := kb.Judge(docs)
	if !slices.ContainsFunc(found, func(f pawl.Problem) bool {
		return f.File == "CHANGELOG.md" &&
			f.Key == "solution.too_large"
	}) {
		t.Errorf("%v", found)
	}
	// Nobody can take the part for the whole and write it back.
	if _, err := kb.Log(docs["CHANGELOG.md"], kb.Entry{}, kb.English); pawl.CodeOf(err) != pawl.CodeInvalid ||
		!strings.Contains(err.Error(), "too_large") {
		t.Errorf("%v", err)
	}
}

func TestTakeOverWritesNothingOver(t *testing.T) {
	for what, change := range map[string]map[string]string{
		"an old file that changed": {"helloagents/INDEX.md": "changed"},
		"a document that came":     {".pawl/modules/a.md": "mine"},
		"a changelog that came":    {".pawl/CHANGELOG.md": "mine"},
	} {
		t.Run(what, func(t *testing.T) {
			dir, e := old(t)
			drivertest.Populate(t, dir, change)
			if r := knowledge.New().Do(t.Context(), e, nil); r.Code != pawl.CodeConflict {
				t.Fatalf("%v", r.Err())
			}
			for rel, want := range change {
				if got := read(t, dir, rel); got != want {
					t.Errorf("%s: %q", rel, got)
				}
			}
		})
	}
}

func TestTakeOverStaysInside(t *testing.T) {
	for _, c := range []effect.Takeover{{Folder: "../x", Backup: "b"}, {Folder: "helloagents", Backup: "/tmp/b"},
		{Folder: "helloagents", Backup: "b", All: []string{"../../outside"}}} {
		dir, _ := old(t)
		if r := knowledge.New().Do(t.Context(), writing(dir, effect.KnowledgeSpec{Takeover: &c}),
			nil); r.Code != pawl.CodeDenied {
			t.Errorf("%+v: %v", c, r.Err())
		}
	}
}

func TestFindOld(t *testing.T) {
	dir := t.TempDir()
	if _, err := knowledge.FindOld(t.Context(), dir); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("nothing there: %v", err)
	}
	drivertest.Populate(t, dir, map[string]string{".pawl/wiki/modules/a.md": "m", ".pawl/project.md": "p",
		".pawl/modules/b.md": "b", ".pawl/history/task_archive_202602.md": "pawl's own"})
	o, err := knowledge.FindOld(t.Context(), dir)
	if err != nil || o.Folder != ".pawl" || o.Name != ".pawl/kb" || len(o.Files) != 2 ||
		!slices.Contains(o.Existing, "modules/b.md") {
		t.Errorf("%+v %v", o, err)
	}
	drivertest.Populate(t, dir, map[string]string{"helloagents/INDEX.md": "i"})
	if o, err = knowledge.FindOld(t.Context(), dir); err != nil || o.Folder != "helloagents" || len(o.Files) != 1 {
		t.Errorf("%+v %v", o, err)
	}
}
