package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl/driver/verify/testlist"
	"pawl/kernel/effect"
)

// definitionNames are the files, by pattern of path.Match, that say how a project is checked. go.mod is not among them:
// nothing in it can switch a check off, and work changes it every day.
var definitionNames = []string{
	"Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "justfile", "Justfile", "Taskfile.yml", "Taskfile.yaml",
	"run_tests.sh", "run-tests.sh",
	"package.json", ".eslintrc*", "eslint.config.*", ".eslintignore", ".prettierrc*", "prettier.config.*",
	".prettierignore",
	".stylelintrc*", "biome.json*", "tsconfig*.json", "jest.config.*", "vitest.config.*", "playwright.config.*",
	".mocharc*",
	"pyproject.toml", "setup.cfg", "tox.ini", "noxfile.py", "pytest.ini", "conftest.py", "mypy.ini", ".mypy.ini",
	"ruff.toml",
	".ruff.toml", ".flake8", ".pylintrc", ".coveragerc",
	".golangci.y*ml", ".golangci.toml", ".golangci.json",
	"Cargo.toml", "clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml",
	"pom.xml", "build.gradle*", "settings.gradle*", "analysis_options.yaml", "dart_test.yaml",
	"Directory.Build.props", "Directory.Build.targets", "*.runsettings", ".editorconfig",
	".npmrc", ".yarnrc*", ".pnpmfile.cjs", "gradle.properties", "global.json", "sitecustomize.py", "usercustomize.py",
	"Rakefile", ".rspec", ".rubocop.yml", "composer.json", "phpunit.xml*", "phpunit.dist.xml", "phpstan.neon*",
	"phpstan.dist.neon", ".php-cs-fixer*.php",
	".pre-commit-config.yaml", ".gitlab-ci.yml", "Jenkinsfile", ".travis.yml", "azure-pipelines.yml",
	"bitbucket-pipelines.yml", ".drone.yml", "appveyor.yml", ".cirrus.yml",
	// What chooses the programs that check, which may be ones of the tree.
	"rust-toolchain", "rust-toolchain.toml", ".tool-versions", "mise.toml", ".mise.toml", ".python-version",
	".ruby-version",
}

// definitionDirs are folders of the root whose files all say how checks run: continuous integration, and the settings
// that a build tool reads before anything else (a test runner can be replaced there).
var definitionDirs = []string{".cargo", ".mvn", ".bundle", ".github/workflows", ".github/actions", ".ci", "ci",
	".circleci", ".buildkite", ".gitlab", ".woodpecker"}

// scriptWord matches a word of a recipe that may name a script of the project.
var scriptWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\./)?[A-Za-z0-9_][A-Za-z0-9_./-]*\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl|php)\b`)
})

// testWord tells tests from scripts: a test is work, and changing one is judged elsewhere.
var testWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|/)(tests?|specs?|__tests__)/|(^|/)test[_.]|[_.](test|spec)\.[a-z]+$|(^|/)tests?\.[a-z]+$`)
})

const maxDefinitions = 2000

// define hashes the files that define the checks of a scan into out, path → sha256 hex. A file that cannot be read is
// recorded as "unreadable", so that making it unreadable is seen as a change.
func define(s *scan, out map[string]string) {
	add := func(name string) {
		if _, ok := out[name]; !ok && len(out) < maxDefinitions {
			out[name] = hashFile(s.tree, name)
		}
	}
	for _, d := range s.folders {
		for name, isDir := range d.names {
			if !isDir && definitionName(name) {
				add(path.Join(d.rel, name))
			}
		}
		for _, script := range d.scripts() {
			add(script)
		}
	}
	for _, dir := range definitionDirs {
		_ = fs.WalkDir(s.tree, dir, func(p string, e fs.DirEntry, err error) error {
			if err != nil {
				return fs.SkipDir
			}
			if e.Type().IsRegular() {
				add(p)
			}
			return nil
		})
	}
}

func definitionName(name string) bool {
	return slices.ContainsFunc(definitionNames, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// scripts returns the files of the tree that the recipes of the folder name: a check that runs scripts/test.sh is
// defined by that file as much as by the Makefile that calls it.
func (d *folder) scripts() []string {
	var recipes []string
	var m manifest
	if json.Unmarshal([]byte(d.text("package.json")), &m) == nil {
		for _, body := range m.Scripts {
			recipes = append(recipes, body)
		}
	}
	for _, name := range []string{"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "composer.json",
		"tox.ini"} {
		recipes = append(recipes, d.text(name))
	}
	var out []string
	for _, recipe := range recipes {
		for _, word := range scriptWord().FindAllString(recipe, 200) {
			p := path.Join(d.rel, word)
			if !fs.ValidPath(p) || testWord().MatchString(p) {
				continue
			}
			if info, err := fs.Stat(d.tree, p); err == nil && info.Mode().IsRegular() {
				out = append(out, p)
			}
		}
	}
	return out
}

// judgeWord matches the paths of tests and of what they compare with.
var judgeWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|/)(?i:tests?|specs?|__tests__|testdata|__snapshots__)/|(^|/)(?i:test_)[^/]*$|[_.](?i:test|spec)\.[A-Za-z]+$|` +
		`(^|/)(?i:tests?)\.[A-Za-z]+$|[A-Za-z0-9](Tests?|Spec)\.[A-Za-z]+$|[a-z0-9]IT\.[A-Za-z]+$|\.snap$`)
})

// wholeRun matches what takes the run of all tests of a package over, so that they need not run at all (Go).
var wholeRun = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^func\s+TestMain\s*\(`) })

// changedTests returns the tests among the files that differ. A test that was added is work, not a change of what
// judges it, unless it takes the others over.
func changedTests(tree fs.FS, files []effect.FileStat) []string {
	var out []string
	for _, f := range files {
		if !judgeWord().MatchString(f.Path) || f.Status == "A" && !takesOver(tree, f.Path) {
			continue
		}
		out = append(out, f.Path)
	}
	return out
}

// unlessAdded leaves out the files of tests to which tests were added, and that say besides what they said before.
func unlessAdded(tree fs.FS, files []string, before map[string]string) []string {
	return slices.DeleteFunc(files, func(name string) bool {
		was, known := before[name]
		text, err := readLimited(tree, name, maxJudge)
		return known && err == nil && len(text) < maxJudge && testlist.Adds(name, []byte(was), text)
	})
}

// maxJudge bounds what is read of a file of tests, in bytes: all of it, or it counts as changed.
const maxJudge = 1 << 20

func takesOver(tree fs.FS, name string) bool {
	if !strings.HasSuffix(name, "_test.go") {
		return false
	}
	f, err := openRegular(tree, name)
	if err != nil {
		return true
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 8<<20))
	return err != nil || wholeRun().Match(text)
}

// exists reports whether there is anything of the name.
func exists(tree fs.FS, name string) bool {
	_, err := fs.Stat(tree, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// tampered compares the definitions that were pinned when the plan was made with those of the tree now, and returns the
// paths that were changed, added or removed, sorted. Without pinned definitions there is nothing to compare.
func tampered(pinned, now map[string]string) []string {
	if len(pinned) == 0 {
		return nil
	}
	var out []string
	for p, h := range pinned {
		if now[p] != h {
			out = append(out, p)
		}
	}
	for p := range now {
		if _, ok := pinned[p]; !ok {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// hashFile returns the sha256 of a regular file, in hex.
func hashFile(tree fs.FS, name string) string {
	f, err := openRegular(tree, name)
	if err != nil {
		return unreadable
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return unreadable
	}
	return hex.EncodeToString(h.Sum(nil))
}

// unreadable stands for the digest of a file that cannot be read.
const unreadable = "unreadable"

// oneLine joins what is shown on one line and keeps it short.
func oneLine(items []string, most int) string {
	if len(items) > most {
		items = append(slices.Clone(items[:most]), "…")
	}
	return strings.Join(items, ", ")
}
