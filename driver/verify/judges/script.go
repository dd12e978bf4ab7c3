package judges

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// runnerModules are the modules of Python that tests are run by and made of, and those of its library: one of the same
// name in a folder that Python looks in first is taken for them.
var runnerModules = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(`pytest _pytest pluggy iniconfig packaging py nose nose2 hypothesis mock coverage xdist tox
		trial testtools sitecustomize usercustomize
		abc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 calendar cmath cmd code codecs
		codeop collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg csv ctypes
		curses dataclasses datetime dbm decimal difflib dis doctest email encodings enum errno faulthandler fcntl filecmp
		fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib
		heapq hmac html http imaplib importlib inspect io ipaddress itertools json keyword linecache locale logging lzma
		mailbox marshal math mimetypes mmap modulefinder multiprocessing netrc ntpath numbers opcode operator optparse os
		pathlib pdb pickle pickletools pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd
		py_compile pyclbr pydoc queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select
		selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 sre_compile sre_constants sre_parse
		ssl stat statistics string stringprep struct subprocess symtable sys sysconfig tarfile tempfile termios textwrap
		threading time timeit token tokenize tomllib trace traceback tracemalloc tty types typing unicodedata unittest
		urllib uuid venv warnings wave weakref webbrowser wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo`) {
		out[name] = true
	}
	return out
})

// roots are folders in which Python looks for modules when it runs tests.
var roots = []string{".", "src", "lib", "tests", "test"}

// shadows is about new modules that Python takes for others.
func (k *known) shadows(name string) bool {
	if k.status[name] != "A" || path.Ext(name) != ".py" && path.Ext(name) != ".so" && path.Ext(name) != ".pyc" {
		return false
	}
	for _, root := range roots {
		below, ok := strings.CutPrefix(name, root+"/")
		if root == "." {
			below, ok = name, true
		}
		module, _, _ := strings.Cut(below, "/")
		module, _, _ = strings.Cut(module, ".")
		if ok && runnerModules()[module] && !k.hadModule(root, module) {
			return true
		}
	}
	return false
}

// replaces is about new programs without an ending that a check ran by a name that stands in a recipe: it may be found
// in the place of one of the machine.
func (k *known) replaces(name string) bool {
	if k.status[name] != "A" || !k.Read[name] || path.Ext(name) != "" {
		return false
	}
	_, tests := k.sources()
	return slices.ContainsFunc(tests, func(s source) bool { return named(s.text, path.Base(name), true) })
}

// hadModule reports whether a folder had a module of the name before.
func (k *known) hadModule(root, module string) bool {
	at := path.Join(root, module)
	return slices.ContainsFunc(k.stood(), func(p string) bool { return p == at+".py" || within(p, at) && path.Ext(p) == ".py" })
}

var (
	pythonImport = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?([\w, \t]*)|import[ \t]+([\w., \t]+))`)
	})
	scriptImport = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["'` + "`" + `]([^"'` + "`" + `\n]+)["'` + "`" + `]`)
	})
	word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\w+`) })
	// asserts matches code that ends a test.
	asserts = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`AssertionError|(?m)^\s*(?:from|import) (?:unittest|pytest|hypothesis)\b|` +
			`["'](?:node:)?(?:assert|test|chai|expect|vitest|@jest/globals)["'/]`)
	})
)

// imports are the names of the modules that a file in Python or for Node imports, as far as they may be files of the
// project.
func imports(s source) []string {
	if path.Ext(s.path) == ".py" {
		var out []string
		for _, m := range pythonImport().FindAllStringSubmatch(s.text, -1) {
			out = append(out, word().FindAllString(m[1]+" "+m[2]+" "+m[3], -1)...)
		}
		return out
	}
	var out []string
	for _, m := range scriptImport().FindAllStringSubmatch(s.text, -1) {
		out = append(out, moduleName(m[1]))
	}
	return out
}

// moduleName is the name by which a file is imported: that of its folder where the file stands for that.
func moduleName(name string) string {
	base := path.Base(name)
	stem := strings.TrimSuffix(base, path.Ext(base))
	if (stem == "index" || stem == "__init__") && path.Dir(name) != "." {
		return path.Base(path.Dir(name))
	}
	return stem
}

// scriptSupport is about modules of Python and Node that only tests import, and those that a configuration has loaded
// before tests.
func (k *known) scriptSupport(name string) bool {
	module := moduleName(name)
	program, tests := k.sources()
	used := func(s source) bool { return s.path != name && slices.Contains(imports(s), module) }
	if slices.ContainsFunc(tests, func(s source) bool { return Defines(s.path) && loads(s, name) }) {
		return true
	}
	if !slices.ContainsFunc(tests, used) || slices.ContainsFunc(program, used) {
		return false
	}
	was, _ := k.was(name)
	return asserts().MatchString(was) || forTests().MatchString(strings.TrimSuffix(name, path.Ext(name)))
}

// loaded matches what a configuration names to be loaded: plugins of pytest, and files that test runners of Node load.
var loaded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:-p[ =]*|pytest_plugins\s*=\s*\[?\s*["'])([\w.]+)|(?:<rootDir>|\.)/([\w./-]+)`)
})

// runners are the configurations of Node's test runners, in which every file that is named is loaded for tests.
var runners = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|/)(?:jest\.config\.|vitest\.|\.mocharc|\.jestrc|karma\.conf|ava\.config|playwright\.config|cypress\.config|\.taprc)`)
})

// loads reports whether a configuration has a file loaded for tests.
func loads(s source, name string) bool {
	dir := path.Dir(s.path)
	for _, m := range loaded().FindAllStringSubmatch(s.text, -1) {
		if m[1] != "" && path.Join(dir, strings.ReplaceAll(m[1], ".", "/"))+".py" == name {
			return true
		}
		if m[2] == "" || !runners().MatchString(s.path) {
			continue
		}
		if p := path.Join(dir, m[2]); p == name || strings.TrimSuffix(name, path.Ext(name)) == p {
			return true
		}
	}
	return false
}
