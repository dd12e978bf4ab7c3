package file

import (
	"slices"
	"strings"
)

// line is one line of a file with the bytes that end it: "\n", "\r\n", a lone "\r", or "" at the end of the file.
type line struct{ text, end string }

// splitLines cuts s into lines whose concatenation is s. A carriage return that no newline follows ends a line only
// with loneCR, because in most files it is content.
func splitLines(s string, loneCR bool) []line {
	out := make([]line, 0, strings.Count(s, "\n")+1)
	ends := "\n"
	if loneCR {
		ends = "\r\n"
	}
	for s != "" {
		i := strings.IndexAny(s, ends)
		if i < 0 {
			return append(out, line{text: s})
		}
		n := 1
		switch {
		case s[i] == '\r' && strings.HasPrefix(s[i:], "\r\n"):
			n = 2
		case s[i] == '\n' && i > 0 && s[i-1] == '\r':
			i, n = i-1, 2
		}
		out = append(out, line{s[:i], s[i : i+n]})
		s = s[i+n:]
	}
	return out
}

// joinLines is the inverse of splitLines. Only the last line may do without an ending; another one gets eol.
func joinLines(lines []line, eol string) string {
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(l.text)
		if l.end == "" && i < len(lines)-1 {
			b.WriteString(eol)
		} else {
			b.WriteString(l.end)
		}
	}
	return b.String()
}

// dominantEnd returns the ending that most lines have, the earliest of several equals, and "\n" where there is none. It
// is the ending of lines that a patch inserts.
func dominantEnd(lines []line) string {
	count := map[string]int{}
	best := "\n"
	for _, l := range lines {
		if l.end != "" {
			count[l.end]++
		}
	}
	for _, l := range slices.Backward(lines) {
		if l.end != "" && count[l.end] >= count[best] {
			best = l.end
		}
	}
	return best
}

// folds are the ways in which two lines count as equal, from the strictest on. A later one is tried only where an
// earlier one finds nothing, because models reproduce the white space at the edges of a line less reliably than the
// rest.
var folds = []func(string) string{
	func(s string) string { return s },
	func(s string) string { return strings.TrimRight(s, " \t\r") },
	strings.TrimSpace,
}

// seeker finds runs of lines in a file. It numbers equal lines once per fold, so that a search is linear in the length
// of the file however repetitive it is.
type seeker struct {
	lines []line
	ids   []map[string]int // per fold: folded text → number
	nums  [][]int          // per fold: the number of each line
}

func newSeeker(lines []line) *seeker {
	return &seeker{lines: lines, ids: make([]map[string]int, len(folds)), nums: make([][]int, len(folds))}
}

// seek returns the first position at or after from where the lines of want stand, or -1. With atEnd they must be the
// last lines of the file.
func (s *seeker) seek(want []string, from int, atEnd bool) int {
	last := len(s.lines) - len(want)
	if atEnd {
		from = max(from, last)
	}
	if from > last {
		return -1
	}
	for fold := range folds {
		pattern, ok := s.number(fold, want)
		if !ok {
			continue
		}
		if i := search(s.nums[fold][from:], pattern); i >= 0 {
			return from + i
		}
	}
	return -1
}

// number translates want; it fails when a line of want is nowhere in the file.
func (s *seeker) number(fold int, want []string) ([]int, bool) {
	if s.ids[fold] == nil {
		s.ids[fold] = make(map[string]int, len(s.lines))
		s.nums[fold] = make([]int, len(s.lines))
		for i, l := range s.lines {
			key := folds[fold](l.text)
			id, ok := s.ids[fold][key]
			if !ok {
				id = len(s.ids[fold])
				s.ids[fold][key] = id
			}
			s.nums[fold][i] = id
		}
	}
	out := make([]int, len(want))
	for i, w := range want {
		id, ok := s.ids[fold][folds[fold](w)]
		if !ok {
			return nil, false
		}
		out[i] = id
	}
	return out, true
}

// search returns the first index of pattern in text, or -1, by the method of Knuth, Morris and Pratt.
func search(text, pattern []int) int {
	if len(pattern) == 0 {
		return 0
	}
	border := make([]int, len(pattern)) // border[i]: length of the longest proper border of pattern[:i+1]
	for i, k := 1, 0; i < len(pattern); i++ {
		for k > 0 && pattern[i] != pattern[k] {
			k = border[k-1]
		}
		if pattern[i] == pattern[k] {
			k++
		}
		border[i] = k
	}
	for i, k := 0, 0; i < len(text); i++ {
		for k > 0 && text[i] != pattern[k] {
			k = border[k-1]
		}
		if text[i] == pattern[k] {
			k++
		}
		if k == len(pattern) {
			return i - k + 1
		}
	}
	return -1
}
