package judges

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// records match files that tools write, and that say nothing a test compares with.
var records = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)(?:go\.(?:mod|sum|work\.sum)|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb?|` +
		`[^/]*\.lock|requirements[^/]*\.txt|Pipfile|\.git(?:ignore|attributes|modules|keep)|LICEN[CS]E[^/]*|COPYING|NOTICE|AUTHORS|CHANGELOG|CHANGES|` +
		`CODEOWNERS|\.dockerignore)$|(?:^|/)vendor/modules\.txt$|^(?:docs?|man)/|^[^/]*\.(?:md|markdown|rst|adoc)$`)
})

// programDir matches the folders in which programs keep what they read by convention.
var programDir = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)(?:src|app|config|conf|public|static|assets|templates|views|locales?|i18n|resources|web|www|db|migrations)/`)
})

// ofProgram reports whether a file lies where a program keeps what it reads.
func ofProgram(k *known, name string) bool {
	return programDir().MatchString(name) || path.Dir(name) != "." && k.holdsCode(path.Dir(name))
}

// data is about files that are no code: where tests speak of them and the program did not, they are what it is compared
// with. The same is true of those that a check which tests has read, of which the program does not speak, and that do
// not lie among its own.
func (k *known) data(name string) bool {
	if k.status[name] == "A" || Test(name) || IsSource(name) || Defines(name) || recipe(name) && k.status[name] != "D" ||
		records().MatchString(name) {
		return false
	}
	program, tests := k.sources()
	speaks := func(s source) bool { return s.path != name && k.speaks(s.text, name) }
	if slices.ContainsFunc(program, speaks) {
		return false
	}
	for _, c := range k.Commands {
		tests = append(tests, source{text: c})
	}
	return k.Tested[name] && !ofProgram(k, name) || slices.ContainsFunc(tests, speaks)
}

// speaks reports whether a text names a file, or a folder that it lies in and that holds no code, or all files of its
// ending.
func (k *known) speaks(text, name string) bool {
	base := path.Base(name)
	if named(text, base, strings.Contains(strings.TrimPrefix(base, "."), ".") || base[0] == '.') {
		return true
	}
	if ext := path.Ext(name); ext != "" && strings.Contains(text, "*"+ext) {
		return true
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if !k.holdsCode(dir) && named(text, path.Base(dir), false) {
			return true
		}
	}
	return false
}

// holdsCode reports whether there is code directly in a folder.
func (k *known) holdsCode(dir string) bool {
	return slices.ContainsFunc(k.stood(), func(p string) bool { return path.Dir(p) == dir && IsSource(p) })
}

// named reports whether a name stands in a text as one of a path, and not as a part of a longer word: in quotes or with
// a slash beside it, or alone where it is plain that it is no other word.
func named(text, name string, plain bool) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		before, behind := byte(' '), byte(' ')
		if at > 0 {
			before = text[at-1]
		}
		if at += len(name); at < len(text) {
			behind = text[at]
		}
		if edge(before) && edge(behind) && (plain || quotes(before) || quotes(behind)) {
			return true
		}
	}
}

// edge reports whether a byte may stand beside a name in a path, and quotes whether it says that it is one.
func edge(c byte) bool   { return quotes(c) || strings.IndexByte(" \t\n\r=(),;:|<>{}[]$", c) >= 0 }
func quotes(c byte) bool { return strings.IndexByte("\"'`/\\", c) >= 0 }
