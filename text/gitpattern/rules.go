// Package gitpattern matches paths against the patterns that git knows: those of .gitignore, and of .gitattributes.
package gitpattern

import (
	"path"
	"strings"
	"unicode/utf8"
)

// Rules are the patterns of the files of one folder and of those above it, such as .gitignore. A folder without such a
// file shares the rules of its parent; nil rules exclude nothing.
type Rules struct {
	parent *Rules
	dir    string // the folder of the file, "" for the root, bytewise
	list   []rule // in the order of the file
}

// rule is one pattern.
type rule struct {
	negated bool
	dirOnly bool
	base    string   // a pattern for the last component alone, "" when parts is used
	parts   []string // a pattern for the path relative to the file, "**" stands for any number of components
}

// With returns the rules in a folder that has a file with the given content.
func (r *Rules) With(dir, text string) *Rules {
	out := &Rules{parent: r, dir: bytewise(dir)}
	text = strings.TrimPrefix(text, "\ufeff")
	for l := range strings.SplitSeq(text, "\n") {
		if rule, ok := parseRule(bytewise(strings.TrimSuffix(l, "\r"))); ok {
			out.list = append(out.list, rule)
		}
	}
	return out
}

// Len returns the number of patterns in the file of this directory.
func (r *Rules) Len() int { return len(r.list) }

// Match reports whether a line of the .gitattributes in dir applies to a file. A pattern of .gitattributes is one of
// .gitignore, but for "!", which git refuses there.
func Match(dir, pattern, rel string) bool {
	below, ok := strings.CutPrefix(rel, dir)
	if dir != "" {
		below, ok = strings.CutPrefix(below, "/")
	}
	r, valid := parseRule(bytewise(pattern))
	return ok && valid && !r.negated && r.match(bytewise(below), false)
}

// Ignored reports whether a path is excluded. The deepest file that has a matching pattern decides, and in it the last
// such pattern. The caller has not descended into excluded folders, so nothing below one can be included again.
func (r *Rules) Ignored(rel string, isDir bool) bool {
	rel = bytewise(rel)
	for ; r != nil; r = r.parent {
		below := rel
		if r.dir != "" {
			below = strings.TrimPrefix(rel, r.dir+"/")
		}
		for i := len(r.list) - 1; i >= 0; i-- {
			if r.list[i].match(below, isDir) {
				return !r.list[i].negated
			}
		}
	}
	return false
}

// bytewise returns s with every byte as a character of its own. Git matches bytes and path.Match characters, so that a
// question mark or a bracket would otherwise mean more than in git.
func bytewise(s string) string {
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			continue
		}
		var b strings.Builder
		for i := range len(s) {
			b.WriteRune(rune(s[i]))
		}
		return b.String()
	}
	return s
}

func parseRule(l string) (rule, bool) {
	l = trimSpaces(l)
	if l == "" || l[0] == '#' {
		return rule{}, false
	}
	var r rule
	if l[0] == '!' {
		r.negated = true
		l = l[1:]
	}
	if strings.HasSuffix(l, "/") {
		r.dirOnly = true
		l = strings.TrimRight(l, "/")
	}
	if l == "" {
		return rule{}, false
	}
	if !strings.Contains(l, "/") {
		r.base = component(l)
		return r, true
	}
	for p := range strings.SplitSeq(strings.TrimPrefix(l, "/"), "/") {
		switch {
		case p == "**" && len(r.parts) > 0 && r.parts[len(r.parts)-1] == "**":
		case p == "**":
			r.parts = append(r.parts, p)
		default:
			r.parts = append(r.parts, component(p))
		}
	}
	// "a/**" is everything in a, but not a itself.
	if last := len(r.parts) - 1; r.parts[last] == "**" {
		r.parts = append(r.parts[:last], "*", "**")
	}
	return r, true
}

// trimSpaces drops the spaces at the end of a line that no backslash protects.
func trimSpaces(l string) string {
	for strings.HasSuffix(l, " ") {
		slashes := len(l) - 1 - len(strings.TrimRight(l[:len(l)-1], `\`))
		if slashes%2 == 1 {
			break
		}
		l = l[:len(l)-1]
	}
	return l
}

// classes are the named character classes, as git's brackets know them and path.Match does not.
var classes = map[string]string{
	"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "xdigit": "0-9a-fA-F",
	"space": " \t\n\v\f\r", "blank": " \t", "punct": "!-/:-@\\[-`{-~", "cntrl": "\x01-\x1f\x7f", "print": " -~",
	"graph": "!-~",
}

// never is a component that path.Match finds malformed, so that it matches nothing.
const never = "["

// component translates one component of a pattern from git's notation to that of path.Match, which differs in brackets.
func component(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			if i+1 == len(p) {
				return never
			}
			b.WriteString(p[i : i+2])
			i++
		case '[':
			n := bracket(&b, p[i:])
			if n == 0 {
				return never
			}
			i += n - 1
		default:
			b.WriteByte(p[i])
		}
	}
	return b.String()
}

// bracket translates the bracket at the start of p and returns its length, 0 when it does not end.
func bracket(b *strings.Builder, p string) int {
	b.WriteByte('[')
	i := 1
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		b.WriteByte('^')
		i++
	}
	for first := true; i < len(p); first = false {
		if p[i] == ']' && !first {
			b.WriteByte(']')
			return i + 1
		}
		if name, _, ok := strings.Cut(strings.TrimPrefix(p[i:], "[:"), ":]"); ok && strings.HasPrefix(p[i:], "[:") {
			b.WriteString(classes[name])
			i += len(name) + len("[::]")
			continue
		}
		low, n := literal(p[i:])
		i += n
		b.WriteString(low)
		if i+1 < len(p) && p[i] == '-' && p[i+1] != ']' {
			high, n := literal(p[i+1:])
			i += 1 + n
			b.WriteString("-" + high)
		}
	}
	return 0
}

// literal returns the character at the start of p in a form that stands for itself in a bracket, and its length in p.
func literal(p string) (string, int) {
	skip := 0
	if p[0] == '\\' && len(p) > 1 {
		skip = 1
	}
	r, n := utf8.DecodeRuneInString(p[skip:])
	return `\` + string(r), skip + n
}

func (r rule) match(rel string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if r.parts == nil {
		return matchName(r.base, rel[strings.LastIndexByte(rel, '/')+1:])
	}
	return matchParts(r.parts, rel)
}

// matchName matches one component. The two commonest forms do without the general matcher.
func matchName(pattern, name string) bool {
	if i := strings.IndexAny(pattern, `*?[\`); i < 0 {
		return pattern == name
	} else if i == 0 && pattern[0] == '*' && !strings.ContainsAny(pattern[1:], `*?[\`) {
		return strings.HasSuffix(name, pattern[1:])
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// matchParts matches a path by components. Only the last "**" ever has to be tried again, so the time is at most the
// product of the two lengths.
func matchParts(parts []string, rel string) bool {
	names := strings.Split(rel, "/")
	p, n, star, mark := 0, 0, -1, 0
	for n < len(names) {
		switch {
		case p < len(parts) && parts[p] == "**":
			star, mark = p, n
			p++
		case p < len(parts) && matchName(parts[p], names[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(parts) && parts[p] == "**" {
		p++
	}
	return p == len(parts)
}
