package verify

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"pawl/driver/verify/reporters"
	"pawl/kernel/effect"
	"pawl/text/shell"
	"pawl/text/testrun"
)

// Ran says of lines of a tree's files whether they ran. Lines of which nobody can tell are not in it.
type Ran map[string]map[int]bool

const (
	maxMeasured = 64 << 20 // bytes of one report of lines
	maxReports  = 500      // reports of one check: each process of Node leaves one
)

// Measure runs a check and adds to ran which lines of files, whose texts are given by path, it ran. It is false where
// the check's toolchain cannot tell, or did not end in time: only go test and the runners of Node and Python do so.
func (v *Verify) Measure(ctx context.Context, place effect.Place, c effect.Check, texts map[string]string,
	limit time.Duration, ran Ran) (bool, error) {
	r, ok := reporters.Of(c.Command)
	if !ok || strings.Contains(c.Command, "-cover") {
		return false, nil
	}
	var packages []string
	of := map[string]string{} // the files that it may tell of, from the folder of the check
	for file := range texts {
		rel, err := filepath.Rel(filepath.FromSlash(path.Join("/", c.Dir)), filepath.FromSlash("/"+file))
		if rel = filepath.ToSlash(rel); err != nil || strings.HasPrefix(rel, "../") || !measures(r.Runner, file) {
			continue
		}
		of[rel], packages = file, append(packages, "./"+path.Dir(rel))
	}
	if len(of) == 0 {
		return false, nil
	}
	s, err := v.open(ctx, place, limit, nil)
	if err != nil {
		return false, err
	}
	s.shelf.warm(ctx, []effect.Check{c})
	also := map[string][]byte{}
	if r.Runner != testrun.Go && r.Runner != testrun.Node {
		also = watchPython(place, of)
	}
	dir, err := s.shelf.folder("lines", also)
	if err != nil {
		return false, err
	}
	seen := s.shelf.seen(dir)
	switch r.Runner {
	case testrun.Go:
		slices.Sort(packages)
		with := shell.QuoteAll([]string{"-coverprofile=" + filepath.Join(seen, "profile"),
			"-coverpkg=" + strings.Join(slices.Compact(packages), ",")})
		c.Command = strings.Replace(c.Command, "go test", "go test "+with, 1)
	case testrun.Node:
		s.also = map[string]string{"NODE_V8_COVERAGE": seen}
	default:
		also := valueOf(s.tools.Env, "PYTHONPATH")
		s.also = map[string]string{"PYTHONPATH": strings.TrimSuffix(seen+string(filepath.ListSeparator)+also,
			string(filepath.ListSeparator))}
	}
	if o := s.command(ctx, c); o.Status != effect.CheckPassed {
		return false, ctx.Err()
	}
	reports, closer, err := OpenDir(dir)
	if err != nil {
		return false, nil //nolint:nilerr // a check may have removed it, and tells nothing then
	}
	defer closer.Close()
	switch r.Runner {
	case testrun.Go:
		return goLines(reports, of, ran), nil
	case testrun.Node:
		return nodeLines(reports, filepath.Join(place.Tree, filepath.FromSlash(c.Dir)), of, texts, ran), nil
	}
	return pythonLines(reports, place.Tree, texts, ran), nil
}

// measures reports whether a runner tells of the lines of a file.
func measures(r testrun.Runner, file string) bool {
	switch r {
	case testrun.Go:
		return path.Ext(file) == ".go"
	case testrun.Node:
		return slices.Contains([]string{".js", ".mjs", ".cjs"}, path.Ext(file))
	case testrun.Unittest, testrun.Pytest:
		return path.Ext(file) == ".py"
	}
	return false
}

// watchPython are the files of the folder for reports by which every Python program tells of the lines of files.
func watchPython(place effect.Place, of map[string]string) map[string][]byte {
	var files []string
	for _, file := range of {
		files = append(files, filepath.Join(place.Tree, filepath.FromSlash(file)))
	}
	return map[string][]byte{"sitecustomize.py": reporters.PythonLines(), "files.json": effect.Encode(files)}
}

// note adds that lines ran, or did not: one run is enough.
func (r Ran) note(file string, from, to int, ran bool) {
	if r[file] == nil {
		r[file] = map[int]bool{}
	}
	for line := from; line <= to; line++ {
		r[file][line] = r[file][line] || ran
	}
}

// goLines reads the profile of go test: IMPORTPATH/FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT.
func goLines(reports fs.FS, of map[string]string, ran Ran) bool {
	text, err := readLimited(reports, "profile", maxMeasured)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		at := strings.LastIndexByte(line, ':')
		fields := strings.FieldsFunc(line[at+1:], func(r rune) bool { return strings.ContainsRune(" .,\n", r) })
		if at < 0 || len(fields) != 6 {
			continue
		}
		for rel, file := range of {
			if strings.HasSuffix(line[:at], "/"+rel) {
				from, err := strconv.Atoi(fields[0])
				to, wrong := strconv.Atoi(fields[2])
				if err == nil && wrong == nil && to-from < 1<<20 {
					ran.note(file, from, to, fields[5] != "0")
				}
			}
		}
	}
	return true
}

// v8Report is what a process of Node leaves of the scripts that it loaded, by offsets in UTF-16.
type v8Report struct {
	Result []struct {
		URL       string `json:"url"`
		Functions []struct {
			Ranges []struct {
				StartOffset, EndOffset, Count int
			} `json:"ranges"`
		} `json:"functions"`
	} `json:"result"`
}

// nodeLines reads the reports of Node's processes. A file that none of them has loaded has not run.
func nodeLines(reports fs.FS, folder string, of map[string]string, texts map[string]string, ran Ran) bool {
	names, _ := fs.Glob(reports, "*.json") // the pattern is well-formed
	told := false
	for _, name := range names[:min(len(names), maxReports)] {
		var report v8Report
		text, err := readLimited(reports, name, maxMeasured)
		if err != nil || json.Unmarshal(text, &report) != nil {
			continue
		}
		for _, script := range report.Result {
			u, err := url.Parse(script.URL)
			if err != nil || u.Scheme != "file" {
				continue
			}
			told = true
			rel, err := filepath.Rel(folder, u.Path)
			file, ok := of[filepath.ToSlash(rel)]
			if err != nil || !ok {
				continue
			}
			for number, at := range lineOffsets(texts[file]) {
				count, width := 0, -1
				for _, f := range script.Functions {
					for _, r := range f.Ranges {
						within := at >= r.StartOffset && at < r.EndOffset
						if w := r.EndOffset - r.StartOffset; within && (width < 0 || w <= width) {
							count, width = r.Count, w
						}
					}
				}
				ran.note(file, number+1, number+1, count > 0)
			}
		}
	}
	for _, file := range of {
		if told && ran[file] == nil {
			ran.note(file, 1, 1+strings.Count(texts[file], "\n"), false)
		}
	}
	return told
}

// pythonLines reads the reports of Python's processes: the statements of each file, and the lines that ran.
func pythonLines(reports fs.FS, tree string, texts map[string]string, ran Ran) bool {
	names, _ := fs.Glob(reports, "ran-*.jsonl") // the pattern is well-formed
	told := false
	for _, name := range names[:min(len(names), maxReports)] {
		text, err := readLimited(reports, name, maxMeasured)
		if err != nil {
			continue
		}
		code := map[string][][2]int{}
		for line := range strings.Lines(string(text)) {
			var said struct {
				File string
				Line int
				Code [][2]int
			}
			if json.Unmarshal([]byte(line), &said) != nil {
				continue
			}
			rel, err := filepath.Rel(tree, said.File)
			file := filepath.ToSlash(rel)
			last := 1 + strings.Count(texts[file], "\n")
			if _, ok := texts[file]; err != nil || !ok {
				continue
			}
			for _, s := range said.Code {
				if told = true; s[0] > 0 && s[1] <= last {
					code[file] = append(code[file], s)
					ran.note(file, s[0], s[1], false)
				}
			}
			for _, s := range code[file] {
				if said.Line >= s[0] && said.Line <= s[1] {
					ran.note(file, s[0], s[1], true)
				}
			}
		}
	}
	return told
}

// lineOffsets are where the code of each line begins, in UTF-16.
func lineOffsets(text string) []int {
	var out []int
	at := 0
	for line := range strings.Lines(text) {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		out = append(out, at+indent)
		at += len(utf16.Encode([]rune(line)))
	}
	return out
}
