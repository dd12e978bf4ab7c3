package file

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"pawl"
)

// Bits of the modes that git writes into a diff.
const (
	gitTypeBits = 0o170000
	gitRegular  = 0o100000
	devNull     = "/dev/null"
)

// parseUnified reads a unified diff, as git or diff write it. It is strict: line numbers, counts and content must be
// right, lines outside the hunks that look like changes are an error rather than ignored, and everything but changes to
// regular text files is refused.
func parseUnified(text string) ([]section, error) {
	if isCRLF(text) { // the carriage returns are the transport's, as in the other format
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	files, _, err := gitdiff.Parse(strings.NewReader(text))
	if err != nil {
		return nil, badDiff("file.diff_syntax").Because(err)
	}
	if len(files) == 0 {
		return nil, badDiff("file.diff_none")
	}
	for _, f := range files {
		if err := refuseKind(f); err != nil {
			return nil, err
		}
	}
	heads, err := scanHeads(text)
	if err != nil {
		return nil, err
	}
	git := strings.HasPrefix(text, "diff --git ") || strings.Contains(text, "\ndiff --git ")
	if !git && len(heads) != len(files) {
		return nil, badDiff("file.diff_syntax")
	}
	out := make([]section, len(files))
	for i, f := range files {
		if !git {
			if err := plainNames(f, heads[i]); err != nil {
				return nil, err
			}
		}
		out[i] = fromDiff(f)
	}
	return out, nil
}

func badDiff(key string, args ...any) *pawl.Error {
	return pawl.Fail(pawl.CodeInvalid, key, args...).In("file.patch")
}

func refuseKind(f *gitdiff.File) error {
	name := f.NewName
	if name == "" {
		name = f.OldName
	}
	switch {
	case f.IsBinary || f.BinaryFragment != nil:
		return badDiff("file.diff_binary", name)
	case f.IsCopy:
		return badDiff("file.diff_copy", name)
	}
	for _, mode := range []uint32{uint32(f.OldMode), uint32(f.NewMode)} {
		if kind := mode & gitTypeBits; kind != 0 && kind != gitRegular {
			return badDiff("file.diff_mode", name, fmt.Sprintf("%06o", mode))
		}
	}
	return nil
}

// head is a pair of header lines, --- and +++.
type head struct{ old, new string }

// scanHeads collects the headers of a diff, and refuses lines between the hunks that would be changes if the counts of
// the hunk before them were right: a parser that skips them applies half of what was meant.
func scanHeads(text string) ([]head, error) {
	var out []head
	var oldLeft, newLeft int
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if oldLeft > 0 || newLeft > 0 {
			switch {
			case strings.HasPrefix(l, "+"):
				newLeft--
			case strings.HasPrefix(l, "-"):
				oldLeft--
			case !strings.HasPrefix(l, `\`):
				oldLeft--
				newLeft--
			}
			continue
		}
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		oldCount, newCount, isHunk := hunkCounts(l)
		switch {
		case isHunk:
			oldLeft, newLeft = oldCount, newCount
		case strings.HasPrefix(l, "--- ") && strings.HasPrefix(next, "+++ "):
			out = append(out, head{l[4:], next[4:]})
		case strings.HasPrefix(l, "+++ ") && i > 0 && strings.HasPrefix(lines[i-1], "--- "):
		case l == "-- " || l == "--":
			return out, nil // the signature of a mailed patch ends it
		case strings.HasPrefix(l, "+"), strings.HasPrefix(l, "-"), strings.HasPrefix(l, "@@"):
			return nil, badDiff("file.diff_stray", i+1)
		}
	}
	return out, nil
}

func hunkCounts(l string) (oldCount, newCount int, ok bool) {
	rest, ok := strings.CutPrefix(l, "@@ -")
	if !ok {
		return 0, 0, false
	}
	ranges, _, ok := strings.Cut(rest, " @@")
	before, after, both := strings.Cut(ranges, " +")
	if !ok || !both {
		return 0, 0, false
	}
	oldCount, okOld := rangeCount(before)
	newCount, okNew := rangeCount(after)
	return oldCount, newCount, okOld && okNew
}

func rangeCount(s string) (int, bool) {
	at, count := 0, 1
	_, n, ok := strings.Cut(s, ",")
	if _, err := fmt.Sscanf(s, "%d", &at); err != nil {
		return 0, false
	}
	if ok {
		if _, err := fmt.Sscanf(n, "%d", &count); err != nil {
			return 0, false
		}
	}
	return count, count >= 0
}

// plainNames sets the names of a file whose header is not git's, without the a/ and b/ that most programs write.
func plainNames(f *gitdiff.File, h head) error {
	before, after := plainName(h.old), plainName(h.new)
	if (before == devNull || strings.HasPrefix(before, "a/")) && (after == devNull || strings.HasPrefix(after, "b/")) {
		before, after = strings.TrimPrefix(before, "a/"), strings.TrimPrefix(after, "b/")
	}
	switch {
	case f.IsNew:
		f.NewName = after
	case f.IsDelete:
		f.OldName = before
	case before != after:
		return badDiff("file.diff_names", before, after)
	default:
		f.OldName, f.NewName = before, after
	}
	return nil
}

func plainName(s string) string {
	name, _, _ := strings.Cut(s, "\t")
	return strings.TrimRight(name, " \r")
}

func fromDiff(f *gitdiff.File) section {
	s := section{diff: f, action: actionUpdate, path: f.OldName}
	switch {
	case f.IsNew:
		s.action, s.path = actionAdd, f.NewName
	case f.IsDelete:
		s.action = actionDelete
	case f.IsRename:
		s.moveTo = f.NewName
	}
	if f.NewMode != 0 {
		s.mode = uint32(f.NewMode) & 0o777
	}
	return s
}

// applyDiff applies the fragments of a unified diff at the exact lines that they name.
func (s section) applyDiff(content string) (string, error) {
	f := s.diff
	if isCRLF(content) {
		f = withCRLF(f)
	}
	var out bytes.Buffer
	if err := gitdiff.Apply(&out, strings.NewReader(content), f); err != nil {
		return "", pawl.Fail(pawl.CodeConflict, "file.diff_conflict", s.path).In("file.patch").Because(err)
	}
	return out.String(), nil
}

func isCRLF(s string) bool {
	n := strings.Count(s, "\n")
	return n > 0 && n == strings.Count(s, "\r\n")
}

// withCRLF returns f for a file whose lines all end in CRLF. Diffs pass through so many programs that drop the carriage
// return that one which has none at all cannot be taken to mean it.
func withCRLF(f *gitdiff.File) *gitdiff.File {
	out := *f
	out.TextFragments = nil
	for _, frag := range f.TextFragments {
		c := *frag
		c.Lines = make([]gitdiff.Line, len(frag.Lines))
		for i, l := range frag.Lines {
			if strings.HasSuffix(l.Line, "\r\n") {
				return f
			}
			if text, ok := strings.CutSuffix(l.Line, "\n"); ok {
				l.Line = text + "\r\n"
			}
			c.Lines[i] = l
		}
		out.TextFragments = append(out.TextFragments, &c)
	}
	return &out
}
