package archtest

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// What the machines have to be is said in docs/spec, and whoever reads a comment, a document or a table that cites it
// has to be able to follow: every page and every anchor is there.

const specFolder = "docs/spec"

var (
	// anchorMark is an anchor as a page sets it.
	anchorMark = regexp.MustCompile(`<a id="([^"]*)"></a>`)
	// citation is a page of the specification as comments and documents name it, with its anchor where there is one.
	citation = regexp.MustCompile(`\bdocs/spec/([A-Za-z-]+)\.md(?:#([a-z0-9-]+))?`)
	// mdLink is where a link of Markdown leads.
	mdLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// backquoted is code in a line of Markdown.
	backquoted = regexp.MustCompile("`([^`]+)`")
	// unfollowable are ways to cite documents that no reader of the repository has.
	unfollowable = regexp.MustCompile(`\b[Ss]eeds? 00[0-4]\b|\b00[0-4] §|\bspec\.md\b|\bspec (?:§|[A-EX]\d)|\bdesign(?:\.md)? §|\bdesign\.md\b|\bsecurity\.md(?: §|, case)`)
	// numbered is a section of a seed as sources name it, and resolved is a resolution.
	numbered = regexp.MustCompile(`^(00[0-4]) §(\d+)(?:\.(\d+))?(?: \([^)]*\))?$`)
	resolved = regexp.MustCompile(`^spec ([A-EX])(\d+)$`)
)

// seedPages and letterPages are the pages of the seeds and of the resolutions, as docs/spec/README.md lists them.
var (
	seedPages   = map[string]string{"000": "session", "001": "turn", "002": "workflow", "003": "task", "004": "board"}
	letterPages = map[string]string{"A": "session", "B": "turn", "C": "workflow", "D": "task", "E": "board",
		"X": "composition"}
)

// spec is the specification: the anchors of its pages, and where the sources lead that no rule but its own tables
// explains.
type spec struct {
	anchors map[string][]string // by the page's name without its ending
	sources map[string]string   // "002 阶段流转" → "workflow#transitions"
}

func readSpec(t *testing.T) spec {
	t.Helper()
	s := spec{anchors: map[string][]string{}}
	files, err := filepath.Glob("../../" + specFolder + "/*.md")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d pages in %s: %v", len(files), specFolder, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page := strings.TrimSuffix(filepath.Base(file), ".md")
		s.anchors[page] = []string{}
		for _, m := range anchorMark.FindAllStringSubmatch(string(raw), -1) {
			if slices.Contains(s.anchors[page], m[1]) {
				t.Errorf("%s/%s.md: the anchor %s is there twice", specFolder, page, m[1])
			}
			s.anchors[page] = append(s.anchors[page], m[1])
		}
		if page == "README" {
			s.sources = sourceTables(string(raw))
		}
	}
	return s
}

// sourceTables reads the tables below the anchor "sources": what stands in backquotes in the first cell, or the Chinese
// heading that stands there, and the link of the same place in the row.
func sourceTables(text string) map[string]string {
	out := map[string]string{}
	_, text, _ = strings.Cut(text, `<a id="sources"></a>`)
	text, _, _ = strings.Cut(text, "\n<a id=")
	for line := range strings.Lines(text) {
		first, rest, ok := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		if !ok {
			continue
		}
		names := backquoted.FindAllStringSubmatch(first, -1)
		if len(names) == 0 && chinese.MatchString(first) {
			names = [][]string{{"", "002 " + strings.TrimSpace(first)}}
		}
		for i, link := range mdLink.FindAllStringSubmatch(rest, len(names)) {
			if to := strings.Replace(link[1], ".md#", "#", 1); to != link[1] {
				out[names[i][1]] = to
			}
		}
	}
	return out
}

// where says where a source leads, as "page#anchor", by the rules of docs/spec/README.md; "" where no rule fits.
func (s spec) where(source string) string {
	if to, ok := s.sources[source]; ok {
		return to
	}
	if m := numbered.FindStringSubmatch(source); m != nil {
		return strings.TrimSuffix(seedPages[m[1]]+"#s"+m[2]+"-"+m[3], "-")
	}
	if m := resolved.FindStringSubmatch(source); m != nil {
		return letterPages[m[1]] + "#" + strings.ToLower(m[1]) + m[2]
	}
	return ""
}

// missing says what is not there of a page and an anchor, which may be empty.
func (s spec) missing(page, anchor string) string {
	anchors, ok := s.anchors[page]
	switch {
	case !ok:
		return "there is no page " + page + ".md in " + specFolder
	case anchor != "" && !slices.Contains(anchors, anchor):
		return page + ".md has no anchor " + anchor
	}
	return ""
}

// wrong says what is wrong with a line of a file: citations and links that lead nowhere and, in what people read,
// citations of documents that are not there. rel is the file, reading tells a document or a comment from code.
func (s spec) wrong(rel, line string, reading bool) (out []string) {
	say := func(what string) {
		if what != "" {
			out = append(out, what)
		}
	}
	for _, m := range citation.FindAllStringSubmatch(line, -1) {
		say(s.missing(m[1], m[2]))
	}
	if strings.HasSuffix(rel, ".md") {
		for _, m := range mdLink.FindAllStringSubmatch(line, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if to = path.Join(path.Dir(rel), to); m[1][0] == '#' {
				to = rel
			}
			if page, ok := strings.CutSuffix(to, ".md"); ok && path.Dir(to) == specFolder {
				say(s.missing(path.Base(page), anchor))
			}
		}
	}
	// The pages of the machines show the sources of the tables as they are, and the specification explains them.
	if path.Dir(rel) != specFolder && path.Dir(rel) != "docs/machines" && reading {
		for _, cited := range unfollowable.FindAllString(line, -1) {
			say("nobody can follow " + cited + "; cite a page of " + specFolder)
		}
	}
	return slices.Compact(out)
}

// comments returns the lines of a Go file's comments by their numbers. It reads files that do not compile as well.
func comments(raw []byte) map[int]string {
	out := map[int]string{}
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(raw))
	var s scanner.Scanner
	s.Init(file, raw, nil, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return out
		}
		if tok == token.COMMENT {
			for i, line := range strings.Split(text, "\n") {
				out[file.Line(pos)+i] += line
			}
		}
	}
}

// TestCitationsLeadSomewhere follows what comments and documents cite of the specification.
func TestCitationsLeadSomewhere(t *testing.T) {
	s, root, seen := readSpec(t), os.DirFS("../.."), 0
	err := fs.WalkDir(root, ".", func(rel string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		code := strings.HasSuffix(rel, ".go")
		switch {
		case d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin"):
			return fs.SkipDir
		case !d.Type().IsRegular() || !code && !strings.HasSuffix(rel, ".md"):
			return nil
		}
		raw, err := fs.ReadFile(root, rel)
		if err != nil {
			return err
		}
		var said map[int]string
		if code {
			said = comments(raw)
		}
		for n, line := range strings.Split(string(raw), "\n") {
			seen += len(citation.FindAllString(line, -1))
			for _, what := range s.wrong(rel, line, !code) {
				t.Errorf("%s:%d: %s", rel, n+1, what)
			}
			if code && unfollowable.MatchString(said[n+1]) {
				t.Errorf("%s:%d: nobody can follow %s; cite a page of %s", rel, n+1, unfollowable.FindString(said[n+1]),
					specFolder)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 200 {
		t.Errorf("%d citations found; the scan is broken", seen)
	}
}

// TestSourcesLeadSomewhere follows the sources of all rows of the machines' tables.
func TestSourcesLeadSomewhere(t *testing.T) {
	s, seen := readSpec(t), 0
	for _, tables := range [][]machine.Description{session.Describe(), turn.Describe(), workflow.Describe(),
		task.Describe(), board.Describe()} {
		for _, table := range tables {
			if page := seedPages[table.Seed]; len(s.anchors[page]) == 0 {
				t.Errorf("%s: there is no page about seed %q", table.Name, table.Seed)
			}
			for _, r := range table.Rules {
				seen++
				page, anchor, ok := strings.Cut(s.where(r.Source), "#")
				if !ok {
					t.Errorf("%s %s: no rule of %s/README.md says where %q leads", table.Name, r.ID, specFolder,
						r.Source)
				} else if what := s.missing(page, anchor); what != "" {
					t.Errorf("%s %s: %q leads nowhere: %s", table.Name, r.ID, r.Source, what)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d rows were looked at", seen)
	}
}

// TestCitationsAreSeen guards the guard.
func TestCitationsAreSeen(t *testing.T) {
	s := readSpec(t)
	at := "// see docs/" + "spec/" // not a citation, as long as it stands in this file
	for line, want := range map[string]string{
		at + "task.md#d10).": "", at + "task.md.": "", at + "README.md#sources": "",
		at + "task.md#d99":             "task.md has no anchor d99",
		at + "nothing.md#d1":           "there is no page nothing.md in docs/spec",
		"as [said](spec/board.md#e15)": "", "as [said](spec/board.md#e99)": "board.md has no anchor e99",
		"[other](store.md#nothing)": "",
		"by seed 003 §4.2":          "nobody can follow seed 003; cite a page of docs/spec",
		"by spec.md §3.10":          "nobody can follow spec.md; cite a page of docs/spec",
		"(spec D11)":                "nobody can follow spec D1; cite a page of docs/spec",
		"(design §4)":               "nobody can follow design §; cite a page of docs/spec",
		"what [security](security.md) says, and a seed of 003 random numbers": "",
	} {
		if got := strings.Join(s.wrong("docs/page.md", line, true), "; "); got != want {
			t.Errorf("%s\n got: %s\nwant: %s", line, got, want)
		}
	}
	for source, want := range map[string]string{
		"003 §3": "task#s3", "001 §2.3": "turn#s2-3", "001 §6 (drawing)": "turn#s6", "004": "board#transitions",
		"002 阶段流转": "workflow#transitions",
		"002 场景2":  "workflow#scenario-2", "spec B3": "turn#b3", "spec X7": "composition#x7",
		"spec §3.4": "workflow#paths", "design §5": "composition#s5",
		"somewhere": "", "spec §9.9": "",
	} {
		if got := s.where(source); got != want {
			t.Errorf("%s leads to %q, want %q", source, got, want)
		}
	}
	for n, want := range map[int]string{1: "", 2: "// a", 3: "/* b", 4: "c */", 5: "// d"} {
		if got := comments([]byte("package x\n// a\n/* b\nc */\nvar y = \"// z\" // d\n"))[n]; strings.TrimSpace(got) != want {
			t.Errorf("line %d: comment %q, want %q", n, got, want)
		}
	}
}

// TestNamedTestsAreThere: docs/spec/seeds.md names the tests that show what the seeds ask for, and each of its points
// has one, or a resolution that says why it is so.
func TestNamedTestsAreThere(t *testing.T) {
	declared := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(at, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(at)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(raw), -1) {
			declared[m[1]] = true
		}
		return err
	})
	scripts := map[string]bool{}
	files, _ := filepath.Glob(filepath.Join("..", "..", "cmd", "pawl", "testdata", "script", "*.txtar"))
	for _, f := range files {
		scripts[strings.TrimSuffix(filepath.Base(f), ".txtar")] = true
	}
	page, flaw := os.ReadFile(filepath.Join("..", "..", specFolder, "seeds.md"))
	if err != nil || flaw != nil {
		t.Fatal(err, flaw)
	}
	points := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| 00") {
			continue
		}
		points++
		shown := 0
		for _, m := range backquoted.FindAllStringSubmatch(line, -1) {
			if strings.HasPrefix(m[1], "Test") {
				name, script, _ := strings.Cut(m[1], "/")
				if shown++; !declared[name] || script != "" && !scripts[script] {
					t.Errorf("no test %s: %s", m[1], line)
				}
			}
		}
		if shown == 0 && len(mdLink.FindAllString(line, -1)) == 0 {
			t.Errorf("nothing shows it: %s", line)
		}
	}
	if points < 40 {
		t.Errorf("%d points", points)
	}
}
