package web

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"pawl"
)

// Bounds of what one page shows of a diff, in lines.
const (
	maxFileLines = 2000
	maxDiffLines = 10_000
)

// fileDiff is one file of a diff. Path is what it is called afterwards, or was before it was removed.
type fileDiff struct {
	Path           string
	Kind           string // "tests", "ci" or "protected" for what judges the work, else ""
	Added, Removed int
	Binary         bool
	Rows           []diffRow
	// Left counts the lines that are not shown.
	Left int
}

// diffRow is a line of a diff: Sign is '+', '-', ' ', '@' for the head of a part or '\\' where no line end
// follows.
type diffRow struct {
	Sign     byte
	Old, New int
	Text     string
}

// parseDiff takes a unified diff of git apart. Behind what is not understood there is nothing.
func parseDiff(raw string) ([]fileDiff, error) {
	parsed, _, err := gitdiff.Parse(strings.NewReader(raw))
	if err != nil {
		err = pawl.Fail(pawl.CodeInternal, "web.diff.unread").Because(err)
	}
	var out []fileDiff
	shown := 0
	for _, f := range parsed {
		d := fileDiff{Path: cmp.Or(f.NewName, f.OldName), Binary: f.IsBinary}
		d.Kind = kindOf(d.Path)
		for _, part := range f.TextFragments {
			d.add(diffRow{Sign: '@', Text: part.Header()}, &shown)
			from, to := int(part.OldPosition), int(part.NewPosition)
			for _, l := range part.Lines {
				row := diffRow{Sign: ' ', Text: strings.TrimSuffix(l.Line, "\n")}
				if l.Op != gitdiff.OpAdd {
					row.Old = from
					from++
				}
				if l.Op != gitdiff.OpDelete {
					row.New = to
					to++
				}
				switch l.Op {
				case gitdiff.OpAdd:
					row.Sign, d.Added = '+', d.Added+1
				case gitdiff.OpDelete:
					row.Sign, d.Removed = '-', d.Removed+1
				}
				d.add(row, &shown)
				if l.NoEOL() {
					d.add(diffRow{Sign: '\\'}, &shown)
				}
			}
		}
		out = append(out, d)
	}
	return out, err
}

// add adds a row where there is room for it.
func (f *fileDiff) add(r diffRow, shown *int) {
	if len(f.Rows) >= maxFileLines || *shown >= maxDiffLines {
		f.Left++
		return
	}
	*shown++
	f.Rows = append(f.Rows, r)
}

// kindOf says of a path whether it is one of those by which work is judged: a test, what runs on a server for each
// change, or what git and pawl themselves go by.
func kindOf(p string) string {
	base, parts := path.Base(p), strings.Split(p, "/")
	has := func(names ...string) bool {
		return slices.ContainsFunc(parts, func(s string) bool { return slices.Contains(names, s) })
	}
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	switch {
	case has(".github", ".gitlab", ".circleci", ".ci", ".buildkite") || base == "Jenkinsfile" ||
		strings.HasSuffix(base, "-ci.yml") || base == ".travis.yml":
		return "ci"
	case has(".git", ".pawl") || strings.HasPrefix(base, ".git"):
		return "protected"
	case has("test", "tests", "__tests__", "spec", "testdata") || strings.HasSuffix(stem, "_test") ||
		strings.HasPrefix(base, "test_") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec"):
		return "tests"
	}
	return ""
}
