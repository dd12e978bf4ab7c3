// Package review looks at source files for what a reviewer would stumble over: code that is hard to follow or stands there
// twice, secrets, and places where foreign text could become a command. It only reads, asks no model and runs nothing: rules
// for Go work on its syntax, the others on the text of lines, and say no more than they can know. The same files always get
// the same remarks.
package review

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/safeopen"
)

// Walk calls visit for each file of a tree that is not ignored, with the open folder that it is in.
type Walk func(ctx context.Context, root *safeopen.Root, visit func(in *safeopen.Dir, rel string, d fs.DirEntry) error) error

// Limits of a review.
const (
	maxFile    = 1 << 20
	maxFiles   = 20_000
	maxRemarks = 500
	maxPerRule = 20 // remarks of one rule in one file
)

// Files reviews files of a workspace by their paths; nil stands for all that are not ignored. Paths that end in a slash stand
// for everything below a folder. A path that names nothing is CodeNotFound.
func Files(ctx context.Context, workspace string, walk Walk, only []string) (effect.Review, error) {
	root, err := safeopen.OpenRoot(workspace)
	if err != nil {
		return effect.Review{}, err
	}
	defer root.Close()
	r := &reviewer{twice: newTwice(), result: effect.Review{Skipped: []string{}, Remarks: []effect.Remark{}}}
	folders := slices.DeleteFunc(slices.Clone(only), func(p string) bool { return !strings.HasSuffix(p, "/") })
	if only == nil || len(folders) > 0 {
		seen := 0
		err = walk(ctx, root, func(in *safeopen.Dir, rel string, d fs.DirEntry) error {
			if only != nil && !slices.ContainsFunc(folders, func(f string) bool { return f == "./" || strings.HasPrefix(rel, f) }) {
				return nil
			}
			seen++
			if !Reviewed(rel) {
				return nil
			}
			data, err := in.ReadFile(path.Base(rel), maxFile, nil)
			return r.file(rel, data, err)
		})
		if err == nil && seen == 0 && only != nil {
			err = pawl.Fail(pawl.CodeNotFound, "orders.review_nothing", strings.Join(folders, ", "))
		}
	}
	for _, rel := range only {
		if err != nil || strings.HasSuffix(rel, "/") {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		data, read := root.ReadFile(rel, maxFile)
		err = r.file(rel, data, read)
	}
	if ctx.Err() != nil {
		return effect.Review{}, pawl.Fail(pawl.CodeCanceled, "orders.canceled").Because(ctx.Err())
	}
	if err != nil {
		return effect.Review{}, err
	}
	r.result.Remarks = append(r.result.Remarks, r.twice.remarks()...)
	return r.sorted(), nil
}

// sources are the endings of files that are looked at where no file is named.
var sources = map[string]bool{
	".go": true, ".js": true, ".mjs": true, ".cjs": true, ".jsx": true, ".ts": true, ".tsx": true, ".vue": true, ".svelte": true, ".py": true, ".rb": true, ".php": true,
	".java": true, ".kt": true, ".scala": true, ".c": true, ".h": true, ".cc": true, ".cpp": true, ".hpp": true, ".cs": true, ".rs": true, ".swift": true, ".dart": true,
	".sh": true, ".bash": true, ".ps1": true, ".sql": true, ".ex": true, ".exs": true, ".lua": true, ".yaml": true, ".yml": true, ".json": true, ".toml": true, ".ini": true,
	".env": true, ".properties": true, ".tf": true, ".html": true, ".xml": true,
}

// Reviewed reports whether a file is looked at where nobody names it: source code and settings, but not what others wrote or what
// a program made.
func Reviewed(rel string) bool {
	for _, part := range strings.Split(path.Dir(rel), "/") {
		if part == "node_modules" || part == "vendor" || part == "third_party" || part == "testdata" || part == ".pawl" || part == "dist" {
			return false
		}
	}
	base := strings.ToLower(path.Base(rel))
	if strings.HasSuffix(base, ".min.js") || strings.HasSuffix(base, "-lock.json") || base == "go.sum" || strings.HasSuffix(base, "lock.yaml") {
		return false
	}
	return sources[path.Ext(base)] || base == "dockerfile" || base == "makefile" || strings.HasPrefix(base, ".env")
}

type reviewer struct {
	result effect.Review
	twice  *twice
}

// file reviews one file.
func (r *reviewer) file(rel string, data []byte, err error) error {
	if err != nil {
		switch pawl.CodeOf(err) {
		case pawl.CodeNotFound, pawl.CodeInvalid, pawl.CodeDenied:
			r.result.Skipped = append(r.result.Skipped, rel)
			return nil
		}
		return err
	}
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 || !utf8.Valid(data) {
		r.result.Skipped = append(r.result.Skipped, rel)
		return nil
	}
	if r.result.Files++; r.result.Files > maxFiles {
		return pawl.Fail(pawl.CodeInvalid, "orders.too_many", rel, maxFiles)
	}
	lines := strings.Split(string(data), "\n")
	r.result.Lines += len(lines)
	f := &file{rel: rel, lang: strings.ToLower(path.Ext(rel)), lines: lines, count: map[string]int{}}
	if generated(lines) {
		f.secrets()
		r.result.Remarks = append(r.result.Remarks, f.remarks...)
		return nil
	}
	f.text()
	if f.lang == ".go" {
		f.goSyntax(data)
	}
	if code[f.lang] {
		r.twice.add(rel, lines)
	}
	r.result.Remarks = append(r.result.Remarks, f.remarks...)
	return nil
}

// generated reports whether a file says that a program wrote it: nobody is to mend it by hand.
func generated(lines []string) bool {
	for _, l := range lines[:min(len(lines), 10)] {
		if strings.Contains(l, "Code generated") && strings.Contains(l, "DO NOT EDIT") || strings.Contains(l, "@generated") {
			return true
		}
	}
	return false
}

var ranks = map[effect.Severity]int{effect.Critical: 0, effect.Warning: 1, effect.Info: 2}

func (r *reviewer) sorted() effect.Review {
	slices.SortStableFunc(r.result.Remarks, func(a, b effect.Remark) int {
		return cmp.Or(ranks[a.Severity]-ranks[b.Severity], strings.Compare(a.File, b.File), a.Line-b.Line, strings.Compare(a.Rule, b.Rule))
	})
	if n := len(r.result.Remarks); n > maxRemarks {
		r.result.More, r.result.Remarks = n-maxRemarks, r.result.Remarks[:maxRemarks]
	}
	slices.Sort(r.result.Skipped)
	return r.result
}

// file is one file under review.
type file struct {
	rel     string
	lang    string
	lines   []string
	remarks []effect.Remark
	count   map[string]int
}

// add notes a remark. Of one rule only the first few in a file are kept: the rest says nothing new.
func (f *file) add(s effect.Severity, rule string, line int, args ...string) {
	if f.count[rule]++; f.count[rule] > maxPerRule {
		return
	}
	f.remarks = append(f.remarks, effect.Remark{Severity: s, Rule: rule, File: f.rel, Line: line, Key: "orders.review_" + strings.ReplaceAll(rule, "-", "_"), Args: args})
}
