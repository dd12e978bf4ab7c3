package view

import (
	"path"
	"slices"
	"strings"
)

// FileKind says what a file of a project is for, as far as its path tells.
type FileKind string

// The kinds.
const (
	OtherFile FileKind = ""
	TestFile  FileKind = "test"
	CIFile    FileKind = "ci" // what decides which checks are run: of a CI service, and build files
)

// KindOf tells the kind of a file by its path in the tree, with slashes. It is for marking what a person should look at
// twice; what pins a check is found by package driver/verify.
func KindOf(name string) FileKind {
	base := path.Base(name)
	stem, _, _ := strings.Cut(base, ".")
	dirs := strings.Split(path.Dir(name), "/")
	switch {
	case strings.HasPrefix(name, ".github/workflows/"), strings.HasPrefix(name, ".circleci/"), strings.HasPrefix(name,
		".buildkite/"),
		slices.Contains([]string{".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "Jenkinsfile", "Makefile",
			"makefile", "GNUmakefile", "justfile", "tox.ini", "noxfile.py", ".pre-commit-config.yaml"}, base),
		strings.HasPrefix(base, ".golangci."), strings.HasPrefix(base, ".eslintrc"), strings.HasPrefix(base,
			"eslint.config."), strings.HasPrefix(base, "jest.config."), strings.HasPrefix(base, "vitest.config."),
		base == "pytest.ini", base == "conftest.py", base == "setup.cfg":
		return CIFile
	case strings.HasSuffix(stem, "_test"), strings.HasPrefix(stem, "test_"), strings.HasSuffix(stem,
		"_spec"), strings.HasSuffix(stem, "Test"), strings.HasSuffix(stem, "Tests"),
		strings.Contains(base, ".test."), strings.Contains(base, ".spec."), strings.Contains(base, ".snap"):
		return TestFile
	case slices.ContainsFunc(dirs, func(d string) bool {
		return slices.Contains([]string{"test", "tests", "__tests__", "spec", "testdata", "fixtures"}, d)
	}):
		return TestFile
	}
	return OtherFile
}
