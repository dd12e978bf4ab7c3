package search

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"pawl"
	"pawl/driver/tool"
	"pawl/kernel/effect"
	"pawl/sandbox/safeopen"
	"pawl/text/policy"
)

// Bounds of grep.
const (
	maxGrepFile    = 16 << 20  // larger files are skipped and counted
	maxGrepLine    = 500       // bytes of one line before it is cut
	maxGrepBytes   = 1_000_000 // bytes of lines in one answer
	defaultResults = 200
	sniff          = 8_000 // bytes in which a NUL makes a file binary, as git judges
)

type grepArgs struct {
	Pattern    string `json:"pattern" min:"1" max:"4096" about:"Regular expression in RE2 syntax. It is matched within single lines."`
	Path       string `json:"path,omitempty" max:"4096" about:"Folder or file to search, relative to the workspace; the workspace itself unless given."`
	Glob       string `json:"glob,omitempty" max:"1024" about:"Search only files whose path matches this pattern (as in glob_file_search)."`
	IgnoreCase bool   `json:"ignore_case,omitempty" about:"Let upper and lower case match each other."`
	Context    int    `json:"context,omitempty" max:"20" about:"Number of lines to show before and after each match; 0 unless given."`
	MaxResults int    `json:"max_results,omitempty" min:"1" max:"2000" about:"Number of matching lines to return; 200 unless given."`

	re *query
}

type match struct {
	Path   string   `json:"path"`
	Line   int      `json:"line" about:"Counted from 1."`
	Text   string   `json:"text" about:"The line, cut to 500 bytes."`
	Before []string `json:"before,omitempty" about:"Lines before it, when context is asked for."`
	After  []string `json:"after,omitempty" about:"Lines after it, when context is asked for."`
}

type matches struct {
	Matches       []match `json:"matches"`
	Files         int     `json:"files" about:"Number of files with matches, as far as the search got."`
	Truncated     bool    `json:"truncated" about:"The search stopped because the answer was full."`
	SkippedBinary int     `json:"skipped_binary"`
	SkippedLarge  int     `json:"skipped_large" about:"Files of more than 16 MiB."`
	SkippedSecret int     `json:"skipped_secret" about:"Files that are known to hold credentials."`

	bytes int
	buf   []byte // of the last file, for the next
}

// Grep is the tool grep. It finds lines by a regular expression. A file that vanishes or cannot be read meanwhile is
// passed over.
func Grep() tool.Tool {
	return reader(tool.Declaration[grepArgs, matches]{
		Info:      effect.ToolInfo{Name: "grep", Description: "Find lines by a regular expression, in text files that .gitignore does not exclude. Binary files and files that hold credentials are skipped."},
		Defaults:  grepArgs{MaxResults: defaultResults},
		Normalize: (*grepArgs).compile,
	}, func(a *grepArgs) *string { return &a.Path }, scan)
}

func (a *grepArgs) compile() (err error) {
	if a.Glob != "" {
		if err := anyDepth(&a.Glob); err != nil {
			return err
		}
	}
	a.re, err = compile(a.Pattern, a.IgnoreCase)
	return err
}

// scan searches a folder, or a single file.
func scan(ctx context.Context, o *opened, a grepArgs) (*matches, error) {
	out := &matches{Matches: []match{}}
	w := walker{ctx: ctx, root: o.root, hidden: o.hidden}
	w.visit = func(in *safeopen.Dir, rel string, d fs.DirEntry) error {
		if !d.Type().IsRegular() || a.Glob != "" && !doublestar.MatchUnvalidated(a.Glob, below(o.rel, rel)) {
			return nil
		}
		return out.search(ctx, in, rel, a)
	}
	walk := func() error { return w.walk(o.rel) }
	if !o.info.IsDir() {
		walk = func() error { return w.file(o.rel, o.info) }
	}
	if err := walk(); err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return out, nil
}

// search adds the matches of one file.
func (m *matches) search(ctx context.Context, in *safeopen.Dir, rel string, a grepArgs) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	if secret(rel) {
		m.SkippedSecret++
		return nil
	}
	data, err := in.ReadFile(path.Base(rel), maxGrepFile, m.buf)
	var e *pawl.Error
	switch {
	case errors.As(err, &e) && e.Key == "sandbox.too_big":
		m.SkippedLarge++
		return nil
	case err != nil && unreadable(err):
		return nil
	case err != nil:
		return err
	}
	m.buf = data
	if bytes.IndexByte(data[:min(len(data), sniff)], 0) >= 0 {
		m.SkippedBinary++
		return nil
	}
	if !a.re.may(data) {
		return nil
	}
	number, counted := 1, 0 // the number of the line that begins at counted
	for start, end := range a.re.lines(data) {
		number += bytes.Count(data[counted:start], []byte{'\n'})
		counted = start
		found := match{
			Path: rel, Line: number, Text: show(data[start:end]),
			Before: before(data, start, a.Context), After: after(data, end, a.Context),
		}
		if err := m.add(found, a.MaxResults); err != nil {
			return err
		}
	}
	return nil
}

// add appends a match, or answers with errEnough where there is no room for another one.
func (m *matches) add(found match, most int) error {
	if len(m.Matches) == most || m.bytes > maxGrepBytes {
		m.Truncated = true
		return errEnough
	}
	if n := len(m.Matches); n == 0 || m.Matches[n-1].Path != found.Path {
		m.Files++
	}
	m.bytes += len(found.Text)
	for _, lines := range [][]string{found.Before, found.After} {
		for _, l := range lines {
			m.bytes += len(l)
		}
	}
	m.Matches = append(m.Matches, found)
	return nil
}

// secret reports whether policy refuses to read a file. The search names no file that policy could have judged before,
// so each is judged here.
func secret(rel string) bool {
	r := request(rel)
	r.Tool, r.Permissions = "grep", []policy.Permission{policy.FSRead}
	return policy.Judge(r, policy.Standard()).Decision == policy.Deny
}

// before returns up to n lines before the line that begins at start.
func before(data []byte, start, n int) []string {
	var out []string
	for range n {
		if start == 0 {
			break
		}
		end := start - 1
		start = bytes.LastIndexByte(data[:end], '\n') + 1
		out = append([]string{show(data[start:end])}, out...)
	}
	return out
}

// after returns up to n lines behind the line that ends at end.
func after(data []byte, end, n int) []string {
	var out []string
	for range n {
		start := end + 1
		if start >= len(data) {
			break
		}
		end = lineEnd(data, start)
		out = append(out, show(data[start:end]))
	}
	return out
}

// show makes a line presentable: without its carriage return, cut, valid UTF-8.
func show(l []byte) string {
	l = bytes.TrimSuffix(l, []byte{'\r'})
	if len(l) > maxGrepLine {
		n := maxGrepLine
		for n > maxGrepLine-utf8.UTFMax && !utf8.RuneStart(l[n]) {
			n--
		}
		return strings.ToValidUTF8(string(l[:n]), "\uFFFD") + "…"
	}
	return strings.ToValidUTF8(string(l), "\uFFFD")
}

func lineEnd(data []byte, from int) int {
	if i := bytes.IndexByte(data[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(data)
}
