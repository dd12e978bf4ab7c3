package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path"
	"strings"
	"unicode/utf8"

	"pawl"
	"pawl/kernel/effect"
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

// Grep is the tool grep. It finds lines by a regular expression.
type Grep struct{}

type grepArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignore_case"`
	Context    int    `json:"context"`
	MaxResults int    `json:"max_results"`
	re         *query
}

var grepParams = effect.Object{
	{Name: "pattern", Type: effect.String, Required: true, Min: 1, Max: 4096,
		About: "Regular expression in RE2 syntax. It is matched within single lines."},
	{Name: "path", Type: effect.String, Max: 4096,
		About: "Folder or file to search, relative to the workspace; the workspace itself unless given."},
	{Name: "glob", Type: effect.String, Max: 1024,
		About: "Search only files whose path matches this pattern (as in glob_file_search)."},
	{Name: "ignore_case", Type: effect.Boolean, About: "Let upper and lower case match each other."},
	{Name: "context", Type: effect.Integer, Min: 0, Max: 20,
		About: "Number of lines to show before and after each match; 0 unless given."},
	{Name: "max_results", Type: effect.Integer, Min: 1, Max: 2000,
		About: "Number of matching lines to return; 200 unless given."},
}

var grepReturn = effect.Object{
	{Name: "matches", Type: effect.Objects, Required: true, Fields: effect.Object{
		{Name: "path", Type: effect.String, Required: true},
		{Name: "line", Type: effect.Integer, Required: true, About: "Counted from 1."},
		{Name: "text", Type: effect.String, Required: true, About: "The line, cut to 500 bytes."},
		{Name: "before", Type: effect.Strings, About: "Lines before it, when context is asked for."},
		{Name: "after", Type: effect.Strings, About: "Lines after it, when context is asked for."},
	}},
	{Name: "files", Type: effect.Integer, Required: true,
		About: "Number of files with matches, as far as the search got."},
	{Name: "truncated", Type: effect.Boolean, Required: true, About: "The search stopped because the answer was full."},
	{Name: "skipped_binary", Type: effect.Integer, Required: true},
	{Name: "skipped_large", Type: effect.Integer, Required: true, About: "Files of more than 16 MiB."},
	{Name: "skipped_secret", Type: effect.Integer, Required: true, About: "Files that are known to hold credentials."},
}

type match struct {
	Path   string   `json:"path"`
	Line   int      `json:"line"`
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

type matches struct {
	Matches       []match `json:"matches"`
	Files         int     `json:"files"`
	Truncated     bool    `json:"truncated"`
	SkippedBinary int     `json:"skipped_binary"`
	SkippedLarge  int     `json:"skipped_large"`
	SkippedSecret int     `json:"skipped_secret"`

	bytes int
	buf   []byte // of the last file, for the next
}

// Info describes the tool.
func (Grep) Info() effect.ToolInfo {
	return info("grep", "Find lines by a regular expression, in text files that .gitignore does not exclude. Binary files and files that hold credentials are skipped.", grepParams, grepReturn)
}

// Request reduces a call to what policy judges. Malformed arguments, a bad expression and a bad glob are refused with
// pawl.CodeInvalid.
func (Grep) Request(args json.RawMessage) (policy.Request, error) {
	a, err := decodeGrep(args)
	return request("grep", a.Path), err
}

func decodeGrep(raw json.RawMessage) (grepArgs, error) {
	a := grepArgs{MaxResults: defaultResults}
	err := decode(grepParams, raw, &a, &a.Path)
	if err != nil {
		return a, err
	}
	if a.Glob != "" {
		a.Glob = anyDepth(strings.TrimPrefix(a.Glob, "./"))
		if err := validPattern(a.Glob); err != nil {
			return a, err
		}
	}
	a.re, err = compile(a.Pattern, a.IgnoreCase)
	return a, err
}

// Do searches. A file that vanishes or cannot be read meanwhile is passed over.
func (Grep) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	return answer(e, func(call effect.ToolCall) (any, error) {
		a, err := decodeGrep(call.Args)
		if err != nil {
			return nil, err
		}
		tree, rel, at, err := open(e, a.Path)
		if err != nil {
			return nil, err
		}
		defer tree.root.Close()
		return scan(ctx, tree, rel, at, a)
	})
}

// Done says no: searching again is the same as searching once.
func (Grep) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

// Undo succeeds, because there is nothing to undo.
func (Grep) Undo(context.Context, effect.Effect, effect.Receipt) effect.Receipt {
	return effect.Succeeded(effect.ToolResult{})
}

// search adds the matches of one file.
func (m *matches) search(ctx context.Context, in *folder, rel string, a grepArgs) error {
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
	return policy.Judge(request("grep", rel), policy.Standard()).Decision == policy.Deny
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
