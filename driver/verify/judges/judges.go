// Package judges finds the files that decide how work is judged: tests and what they compare with, what tests are made
// of, and what says how checks run. A change of one of them is a question to a person, because a check that passes with
// it shows less than it did.
//
// What a file is follows from its name, from what stands in the files around it before the work, and from what the
// checks read. Nothing that the work itself wrote makes a file harmless.
package judges

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl/driver/verify/testlist"
	"pawl/kernel/effect"
)

// Work is a tree with work in it, and what is known of that work.
type Work struct {
	// Tree is the tree with the work.
	Tree fs.FS
	// Files are those that differ from the tree before.
	Files []effect.FileStat
	// Was reads files of the tree before, those that it can. Nil reads none: then what would have to be compared
	// counts as changed.
	Was func(paths []string) map[string]string
	// Read are the changed files that checks read, and Tested those of them that checks which test read. Both are nil
	// where that is not known.
	Read, Tested map[string]bool
	// Commands are those of the checks.
	Commands []string
}

// Changed returns the files that the work changed and that decide how it is judged, sorted as Files are.
func (w Work) Changed() []string {
	k := &known{Work: w, status: map[string]string{}}
	for _, f := range w.Files {
		k.status[f.Path] = f.Status
	}
	var out []string
	for _, f := range w.Files {
		if slices.ContainsFunc(rules, func(is func(*known, string) bool) bool { return is(k, f.Path) }) {
			out = append(out, f.Path)
		}
	}
	return out
}

// rules say each of one kind of file whether one that was changed decides how the work is judged.
var rules = []func(k *known, name string) bool{
	(*known).test, (*known).inlineTest, (*known).configures, (*known).module, (*known).foreign, (*known).shadows,
	(*known).replaces, (*known).supports, (*known).script, (*known).data,
}

// known is what the rules know of the work.
type known struct {
	Work
	status map[string]string // of the changed files

	before  map[string]string // texts of the changed files before
	listing []string          // the files that are there with the work
	program []source          // the program as it was
	tests   []source          // its tests, and what runs them, as they were
}

// source is a file with what stood in it before the work.
type source struct{ path, text string }

// maxText bounds what is read of one file, in bytes; a file that is longer counts as one that cannot be read.
const maxText = 1 << 20

// text is what a file says with the work.
func (k *known) text(name string) (string, bool) {
	info, err := fs.Stat(k.Tree, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() >= maxText {
		return "", false
	}
	text, err := fs.ReadFile(k.Tree, name)
	return string(text), err == nil
}

// was is what a file said before the work.
func (k *known) was(name string) (string, bool) {
	switch k.status[name] {
	case "":
		return k.text(name)
	case "A":
		return "", false
	}
	if k.before == nil && k.Was != nil {
		var changed []string
		for _, f := range k.Files {
			if f.Status != "A" {
				changed = append(changed, f.Path)
			}
		}
		k.before = k.Was(changed)
	}
	text, ok := k.before[name]
	return text, ok && len(text) < maxText
}

// maxFiles bounds the files that are looked at, and maxRead what is read of all of them, in bytes.
const (
	maxFiles = 100_000
	maxRead  = 64 << 20
)

// files lists the files of the tree with the work, without those of git and without packages of others.
func (k *known) files() []string {
	if k.listing != nil {
		return k.listing
	}
	k.listing = []string{}
	_ = fs.WalkDir(k.Tree, ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && e != nil && e.IsDir():
			return fs.SkipDir
		case err != nil:
			return nil
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules" || e.Name() == ".pawl"):
			return fs.SkipDir
		case len(k.listing) >= maxFiles:
			return fs.SkipAll
		case e.Type().IsRegular():
			k.listing = append(k.listing, p)
		}
		return nil
	})
	return k.listing
}

// stood are the files that were there before the work.
func (k *known) stood() []string {
	out := slices.DeleteFunc(slices.Clone(k.files()), func(p string) bool { return k.status[p] == "A" })
	for _, f := range k.Files {
		if f.Status == "D" {
			out = append(out, f.Path)
		}
	}
	return out
}

// sources reads what stood in the program and in its tests before the work.
func (k *known) sources() (program, tests []source) {
	if k.program != nil || k.tests != nil {
		return k.program, k.tests
	}
	k.program, k.tests = []source{}, []source{}
	left := maxRead
	for _, p := range k.stood() {
		judge := Test(p) || Defines(p) || recipe(p)
		if !judge && !IsSource(p) || left <= 0 {
			continue
		}
		text, ok := k.was(p)
		if !ok {
			continue
		}
		left -= len(text)
		if judge || scriptDir().MatchString(p) {
			k.tests = append(k.tests, source{p, text})
		} else {
			k.program = append(k.program, source{p, text})
		}
	}
	return k.program, k.tests
}

// testPath matches the paths of tests and of what they compare with.
var testPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|/)(?i:tests?|specs?|__tests__|testdata|__(?:snapshots|fixtures|mocks)__)/|` +
		`(^|/)(?i:test_)[^/]*$|[_.](?i:test|spec)\.[A-Za-z]+$|(^|/)(?i:tests?)\.[A-Za-z]+$|` +
		`[A-Za-z0-9](Tests?|Spec)\.[A-Za-z]+$|[a-z0-9]IT\.[A-Za-z]+$|\.(?:snap|golden)$`)
})

// goldenPath matches the paths of what tests compare with in folders that may as well be packages of the program.
var goldenPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|/)(?i:goldens?)/`) })

// Test reports whether a path is that of a test, or of what tests compare with.
func Test(name string) bool {
	return testPath().MatchString(name) ||
		goldenPath().MatchString(name) && !IsSource(name)
}

// test is about files of tests. One that was added is work, not a change of what judges it, unless it takes the others
// over; and so is one to which nothing but tests were added.
func (k *known) test(name string) bool {
	if !Test(name) {
		return false
	}
	if k.status[name] == "A" {
		return takesOver(k, name)
	}
	was, ok := k.was(name)
	text, is := k.text(name)
	return !ok || !is || !testlist.Adds(name, []byte(was), []byte(text))
}

// takesOver reports whether a new file of tests changes what others show: it runs them in the place of Go, or puts
// something in the place of what they try.
func takesOver(k *known, name string) bool {
	text, ok := k.text(name)
	return !ok && IsSource(name) || ok && testlist.TakesOver(name, []byte(text))
}

// inlineTest is about tests that stand in a file of the program.
func (k *known) inlineTest(name string) bool {
	if Test(name) || path.Ext(name) != ".rs" {
		return false
	}
	was, ok := k.was(name)
	switch text, is := k.text(name); {
	case k.status[name] == "A":
		return testlist.Shadows([]byte(text)) || !is
	case !ok:
		return true
	default:
		return !testlist.AddsInline([]byte(was), []byte(text))
	}
}

// endings of files that are parts of programs.
var endings = strings.Fields(`.go .py .js .mjs .cjs .jsx .ts .mts .cts .tsx .vue .svelte .rs .java .kt .scala .groovy
	.c .cc .cpp .cxx .h .hh .hpp .m .mm .cs .fs .rb .php .swift .dart .ex .exs .erl .hs .ml .clj .lua .pl .pm .r .jl
	.zig .nim .awk .asm .s .proto .graphql .tmpl .gotmpl .j2 .jinja .jinja2 .erb .ejs .hbs .mustache`)

// IsSource reports whether a file is part of a program, by its ending.
func IsSource(name string) bool { return slices.Contains(endings, strings.ToLower(path.Ext(name))) }
