package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/format"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

//go:embed testdata/changes.txt
var list string

// Change is what one version of a module has that the one before has not, in one of its folders.
type Change struct {
	Module, From, To, Dir string
	// Requirement is the change as a person would ask for it.
	Requirement string
}

// String names a change. -only looks for words in it.
func (c Change) String() string { return c.Module + "/" + c.Dir + "@" + c.To }

// parse reads a list of changes: MODULE FROM TO DIR, and in the line below it, indented, the requirement.
func parse(text string) ([]Change, error) {
	var out []Change
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0][0] == '#':
		case line[0] == '\t' && len(out) > 0 && out[len(out)-1].Requirement == "":
			out[len(out)-1].Requirement = strings.TrimSpace(line)
		case line[0] != '\t' && len(words) == 4 && (len(out) == 0 || out[len(out)-1].Requirement != ""):
			out = append(out, Change{Module: words[0], From: words[1], To: words[2], Dir: words[3]})
		default:
			return nil, fmt.Errorf("neither MODULE FROM TO DIR nor the requirement below it: %q", line)
		}
	}
	if n := len(out); n > 0 && out[n-1].Requirement == "" {
		return nil, fmt.Errorf("%s has no requirement", out[n-1])
	}
	return out, nil
}

// download returns the folder of the module cache that holds a version of a module.
func download(ctx context.Context, module, version string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module+"@"+version)
	cmd.Dir = os.TempDir() // no go.mod of a folder is to have a say in it
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if json.Unmarshal(out, &got) == nil && got.Error != "" {
		return "", fmt.Errorf("%s@%s: %s", module, version, got.Error)
	}
	if err != nil {
		return "", fmt.Errorf("go mod download %s@%s: %w", module, version, err)
	}
	return got.Dir, nil
}

// tree reads the files of a folder. What is in Go is formatted as it would be today: what a version of years ago calls
// well formatted is not, and whoever works on that would be asked for it first.
func tree(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if path.Ext(name) == ".go" && !strings.Contains("/"+name, "/testdata/") {
			if formatted, err := format.Source(raw); err == nil {
				raw = formatted
			}
		}
		out[name] = string(raw)
		return err
	})
	return out, err
}

// isTest reports whether a file is a test, or what one compares with.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "testdata/") ||
		strings.Contains(name, "/testdata/")
}

// within reports whether a file belongs to the package in a folder: Go that lies in it, or what its tests compare with.
func within(name, dir string) bool {
	if dir != "." {
		var ok bool
		if name, ok = strings.CutPrefix(name, dir+"/"); !ok {
			return false
		}
	}
	return strings.HasPrefix(name, "testdata/") || !strings.Contains(name, "/") && strings.HasSuffix(name, ".go")
}

// hunk is a piece of the program that a change writes: an edit of a file that is not one of comments alone.
type hunk struct {
	file string
	line int // where it begins, in the text with the change
	n    int // the lines that it has there
	edit udiff.Edit
}

func (h hunk) String() string { return fmt.Sprintf("%s:%d", h.file, h.line) }

// work is a change at hand.
type work struct {
	Change
	// Base are the files before, and Tests those tests that the change writes. Kept are the edits of comments alone,
	// and Gone the files that are removed.
	base, tests map[string]string
	hunks       []hunk
	kept        map[string][]udiff.Edit
	gone        []string
}

// load reads the two versions of the module that a change is between.
func load(ctx context.Context, c Change) (before, after map[string]string, err error) {
	for _, is := range []struct {
		version string
		files   *map[string]string
	}{{c.From, &before}, {c.To, &after}} {
		dir, err := download(ctx, c.Module, is.version)
		if err != nil {
			return nil, nil, err
		}
		if *is.files, err = tree(dir); err != nil {
			return nil, nil, err
		}
	}
	return before, after, nil
}

// compare takes the two versions of a folder apart.
func compare(c Change, before, after map[string]string) *work {
	w := &work{Change: c, base: before, tests: map[string]string{}, kept: map[string][]udiff.Edit{}}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		text, had := before[name]
		switch {
		case !within(name, c.Dir) || had && text == after[name]:
			continue
		case isTest(name):
			w.tests[name] = after[name]
			continue
		}
		shift := 0
		for _, e := range udiff.Lines(text, after[name]) {
			h := hunk{name, 1 + shift + strings.Count(text[:e.Start], "\n"), strings.Count(e.New, "\n"), e}
			shift += h.n - strings.Count(text[e.Start:e.End], "\n")
			if code(text) == code(text[:e.Start]+e.New+text[e.End:]) {
				w.kept[name] = append(w.kept[name], e)
			} else {
				w.hunks = append(w.hunks, h)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, has := after[name]; !has && within(name, c.Dir) {
			w.gone = append(w.gone, name)
		}
	}
	return w
}

// code is a text in Go without its comments and blanks.
func code(text string) string {
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", set.Base(), len(text)), []byte(text), func(token.Position, string) {}, 0)
	var out strings.Builder
	for {
		_, kind, lit := s.Scan()
		if kind == token.EOF {
			return out.String()
		}
		if kind != token.SEMICOLON {
			out.WriteString(kind.String() + " " + lit + "\n")
		}
	}
}

// with returns the files that the change writes if only those of its hunks are kept which are wanted.
func (w *work) with(wanted func(i int) bool) map[string]string {
	out := maps.Clone(w.tests)
	edits := map[string][]udiff.Edit{}
	for name, list := range w.kept {
		edits[name] = slices.Clone(list)
	}
	for i, h := range w.hunks {
		if wanted(i) {
			edits[h.file] = append(edits[h.file], h.edit)
		}
	}
	for name, list := range edits {
		text, err := udiff.Apply(w.base[name], list)
		if err != nil {
			panic(err) // they are edits of this text, of which none meets another
		}
		out[name] = text
	}
	return out
}

func whole(int) bool           { return true }
func half(i int) bool          { return i%2 == 0 }
func nothing(int) bool         { return false }
func but(h int) func(int) bool { return func(i int) bool { return i != h } }

// try runs the tests of the change's folder, or everything, on its start with these files written. It returns what was
// printed, "" where all passed.
func (w *work) try(ctx context.Context, dir string, files map[string]string, all bool) (string, error) {
	defer os.RemoveAll(dir)
	list := maps.Clone(w.base)
	maps.Copy(list, files)
	for name, text := range list {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	commands := [][]string{{"go", "test", "-timeout=2m", "./" + w.Dir}}
	if all {
		commands = [][]string{{"go", "vet", "./..."}, {"go", "test", "-timeout=2m", "./..."}}
	}
	for _, argv := range commands {
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local")
		if err := cmd.Run(); ctx.Err() != nil {
			return "", ctx.Err()
		} else if err != nil {
			return fmt.Sprintf("%s: %v\n%s", strings.Join(argv, " "), err, out.String()), nil
		}
	}
	return "", nil
}
