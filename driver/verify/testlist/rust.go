package testlist

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// rustSkips are folders that hold no tests of a crate.
func rustSkips(_ fs.FS, dir string) bool {
	base := path.Base(dir)
	return strings.HasPrefix(base, ".") || base == "target" || base == "examples" || base == "benches" || base == "vendor"
}

var (
	cargoPackage = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?ms)^\[package\][^\[]*?^\s*name\s*=\s*["']([^"']+)["']`)
	})
	cargoLib = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?ms)^\[lib\][^\[]*?^\s*name\s*=\s*["']([^"']+)["']`)
	})
	rustTestAttr = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#\[\s*(?:\w+::)?test\b`) })
	rustFn       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bfn\s+(\w+)`) })
)

// rustFile lists the tests of a file in Rust, by the crate that it is compiled into and the names of their functions.
func (l *list) rustFile(file string, text []byte) {
	crate := l.crate(file)
	if crate == "" || regexp.MustCompile(`(?m)^\s*#!\[\s*cfg\s*\((?:\s*(?:not|all|any|feature|target|unix|windows))`).Match(text) {
		return
	}
	l.rustItems(file, crate, string(text))
}

// onlyThen reports whether an attribute has something compiled under a condition other than that it is for tests.
func onlyThen(attribute string) bool {
	plain := strings.Join(strings.Fields(attribute), "")
	return strings.HasPrefix(plain, "#[cfg") && plain != "#[cfg(test)]"
}

func (l *list) rustItems(file, crate, text string) {
	items, _ := rustItems(text)
	for _, item := range items {
		if slices.ContainsFunc(item.attributes, onlyThen) {
			continue
		}
		head, open := rustHead().FindStringSubmatch(item.code), strings.IndexByte(item.code, '{')
		switch {
		case head == nil:
		case head[1] == "mod" && open >= 0:
			l.rustItems(file, crate, item.text[open+1:len(item.text)-1])
		case head[1] == "fn" && slices.ContainsFunc(item.attributes, rustTestAttr().MatchString):
			if m := rustFn().FindStringSubmatch(item.code); m != nil {
				l.add(file, crate, m[1], strings.Join(item.attributes, "\n")+"\n"+item.text)
			}
		}
	}
}

// crate is the name of the crate that a file belongs to, "" where it is none that has tests.
func (l *list) crate(file string) string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		manifest, err := read(l.tree, path.Join(dir, "Cargo.toml"))
		if m := cargoPackage().FindSubmatch(manifest); err == nil && m != nil {
			name := strings.ReplaceAll(string(m[1]), "-", "_")
			if lib := cargoLib().FindSubmatch(manifest); lib != nil {
				name = string(lib[1])
			}
			return crateOf(strings.TrimPrefix(strings.TrimPrefix(file, dir), "/"), name)
		}
		if dir == "." {
			return ""
		}
	}
}

// crateOf is the crate of a file of a package.
func crateOf(file, library string) string {
	first, rest, _ := strings.Cut(file, "/")
	switch {
	case first == "src" && strings.HasPrefix(rest, "bin/"):
		name, _, _ := strings.Cut(strings.TrimPrefix(rest, "bin/"), "/")
		return strings.TrimSuffix(name, ".rs")
	case first == "src":
		return library
	case first == "tests" && !strings.Contains(rest, "/"):
		return strings.TrimSuffix(rest, ".rs")
	case first == "tests" && strings.HasSuffix(rest, "/main.rs") && strings.Count(rest, "/") == 1:
		return path.Dir(rest)
	}
	return ""
}
