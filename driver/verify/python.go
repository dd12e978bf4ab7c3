package verify

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"

	"pawl/kernel/effect"
)

func detectPython(s *scan, d *folder) ([]effect.Check, bool) {
	marker := d.anyFile("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "requirements-dev.txt",
		"tox.ini", "Pipfile", "pytest.ini")
	if marker == "" || d.claimed("python") {
		return nil, false
	}
	d.claims["python"] = true
	python, missing := "python3", ""
	if !s.installed("python3") {
		if s.installed("python") {
			python = "python"
		} else {
			missing = "python3"
		}
	}
	pyproject, setup := d.text("pyproject.toml"), d.text("setup.cfg")
	var out []effect.Check
	add := func(configured bool, name, kind, program, command string) {
		if configured {
			out = append(out, static(name, kind, command, s.missing(program)))
		}
	}
	ruff := d.anyFile("ruff.toml", ".ruff.toml") != "" || section(pyproject, `tool\.ruff(\.|\])`)
	add(section(pyproject, `tool\.ruff\.format`), "ruff format", kindFormat, "ruff", "ruff format --check .")
	add(section(pyproject, `tool\.black`), "black", kindFormat, "black", "black --check .")
	add(ruff, "ruff", kindLint, "ruff", "ruff check .")
	add(d.file(".flake8") || section(setup, "flake8"), "flake8", kindLint, "flake8", "flake8 .")
	add(d.anyFile("mypy.ini", ".mypy.ini") != "" || section(pyproject, `tool\.mypy`) || section(setup, "mypy"),
		"mypy", kindLint, "mypy", "mypy .")
	switch {
	case usesPytest(d, pyproject, setup):
		out = append(out, tests("pytest", python+" -m pytest -q -p no:cacheprovider", missing))
	case d.match("test*.py"):
		out = append(out, tests("unittest", python+" -m unittest", missing))
	default:
		for _, dir := range []string{"tests", "test"} {
			if pythonTests(d, dir, "test*.py") {
				out = append(out, tests("unittest", python+" -m unittest discover -s "+dir, missing))
				break
			}
		}
	}
	return out, true
}

// section reports whether an INI or TOML text has a table whose name begins with the pattern.
func section(text, pattern string) bool {
	if text == "" {
		return false
	}
	return regexp.MustCompile(`(?m)^\s*\[+\s*` + pattern).MatchString(text)
}

var pytestRequired = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?mi)^\s*["']?pytest\b`) })

// usesPytest says whether the project is tested with pytest: it is configured, or required, and there is something to
// collect (pytest without a test fails).
func usesPytest(d *folder, pyproject, setup string) bool {
	if !hasPythonTests(d) {
		return false
	}
	if d.anyFile("pytest.ini", "conftest.py") != "" || d.exists("tests/conftest.py") || d.exists("test/conftest.py") {
		return true
	}
	if section(pyproject, `tool\.pytest`) || section(setup, "tool:pytest") || section(d.text("tox.ini"), "pytest") {
		return true
	}
	for name, isDir := range d.names {
		if ok, _ := path.Match("requirements*.txt", name); ok && !isDir && pytestRequired().MatchString(d.text(name)) {
			return true
		}
	}
	return strings.Contains(pyproject, `"pytest`) || strings.Contains(pyproject, "'pytest") ||
		pytestRequired().MatchString(pyproject) || pytestRequired().MatchString(d.text("Pipfile"))
}

// hasPythonTests looks for files that pytest collects by their names.
func hasPythonTests(d *folder) bool {
	if d.match("test_*.py", "*_test.py") {
		return true
	}
	for _, dir := range []string{"tests", "test", "src", d.base()} {
		if pythonTests(d, dir, "test_*.py", "*_test.py") {
			return true
		}
	}
	return false
}

// pythonTests looks for a file with one of the names anywhere below a directory of the folder.
func pythonTests(d *folder, dir string, patterns ...string) bool {
	if dir == "" || !d.dir(dir) {
		return false
	}
	found := false
	_ = fs.WalkDir(d.tree, path.Join(d.rel, dir), func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		for _, pattern := range patterns {
			if ok, _ := path.Match(pattern, path.Base(p)); ok && e.Type().IsRegular() {
				found = true
				return fs.SkipAll
			}
		}
		return nil
	})
	return found
}
