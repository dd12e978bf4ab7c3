package gitpattern

import (
	"testing"
)

func TestIgnore(t *testing.T) {
	for _, c := range []struct {
		rules string
		path  string // a slash at the end makes it a folder
		want  bool
	}{
		{"*.o", "a.o", true}, {"*.o", "d/a.o", true}, {"*.o", "a.oo", false},
		{"/a", "a", true}, {"/a", "d/a", false},
		{"d/a", "d/a", true}, {"d/a", "x/d/a", false},
		{"a/", "a/", true}, {"a/", "a", false}, {"a/", "x/a/", true},
		{"d/a/", "d/a/", true}, {"d/a/", "x/d/a/", false},
		{"**/a", "a", true}, {"**/a", "x/y/a", true},
		{"a/**", "a/", false}, {"a/**", "a/x", true}, {"a/**", "a/x/y", true}, {"a/**", "b/a/x", false},
		{"a/**/b", "a/b", true}, {"a/**/b", "a/x/b", true}, {"a/**/b", "a/x/y/b", true}, {"a/**/b", "ab", false},
		{"a/**/b/**/c", "a/b/b/x/c", true}, {"a/**/b/**/c", "a/b/x/b", false},
		{"a**b", "axxb", true}, {"a**b", "a/b", false},
		{"a*/b", "ax/b", true}, {"a*/b", "a/x/b", false},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"a?c", "a/c", false},
		{"[ab].c", "a.c", true}, {"[!ab].c", "a.c", false}, {"[^ab].c", "x.c", true}, {"[a-c]x", "bx", true},
		{"[[:digit:]]x", "7x", true}, {"[[:digit:]]x", "ax", false}, {"[[:space:]]", " ", true},
		{"[]a]", "]", true}, {"[]a]", "a", true}, {"[]a]", "x", false}, {"[!]a]", "]", false}, {"[a-]", "-",
			true}, {"[-a]", "-", true}, {`[\]]`, "]", true},
		{"[a", "[a", false}, {"[a", "a", false},
		{"#a", "#a", false}, {`\#a`, "#a", true}, {`\!a`, "!a", true},
		{"a ", "a", true}, {`a\ `, "a ", true}, {`a\ `, "a", false}, {"a b", "a b", true},
		{"a\r", "a", true}, {"\ufeffa", "a", true},
		{"*\n!a", "a", false}, {"*\n!a", "b", true}, {"!a\n*", "a", true},
		{"", "a", false}, {"/", "a", false}, {"!", "a", false}, {"\n\n", "a", false},
		{"{a,b}", "a", false}, {"{a,b}", "{a,b}", true},
		{".*", ".x", true}, {"*", ".x", true},
		{"x/*", "x/a", true}, {"x/*", "x/a/b", false},
		{"中*", "中文", true}, {"?", "中", false}, {"???", "中", true}, {"*文", "中文", true},
	} {
		isDir := c.path[len(c.path)-1] == '/'
		rel := c.path
		if isDir {
			rel = rel[:len(rel)-1]
		}
		var r *Rules
		if got := r.With("", c.rules).Ignored(rel, isDir); got != c.want {
			t.Errorf("%q on %q: %v", c.rules, c.path, got)
		}
	}
}

func TestIgnoreLevels(t *testing.T) {
	var r *Rules
	r = r.With("", "*.log\n/build\n").With("sub", "!a.log\n/x\n").With("sub/deep", "a.log\n")
	for rel, want := range map[string]bool{
		"sub/a.log": false, "sub/b.log": true, "sub/deep/a.log": true, "sub/x": true, "sub/build": false,
	} {
		level := r
		if rel != "sub/deep/a.log" {
			level = r.parent
		}
		if got := level.Ignored(rel, false); got != want {
			t.Errorf("%s: %v", rel, got)
		}
	}
}

func FuzzIgnore(f *testing.F) {
	f.Add("a/**/b\n!*[[:x\\", "a/b/c")
	f.Fuzz(func(t *testing.T, text, rel string) {
		if rel == "" {
			return
		}
		var r *Rules
		r.With("", text).Ignored(rel, true)
	})
}
