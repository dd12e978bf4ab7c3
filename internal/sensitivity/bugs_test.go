package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestErrorsCanBePutIn: each error can still be made, its package is there and has the tests that are to notice it.
func TestErrorsCanBePutIn(t *testing.T) {
	t.Chdir("../..")
	if len(bugs) < 36 {
		t.Errorf("%d errors", len(bugs))
	}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for n, b := range bugs {
		if err := b.Check(); err != nil {
			t.Error(err)
		}
		if slices.Contains(names()[:n], b.Name) {
			t.Errorf("%s stands there twice", b.Name)
		}
		files, _ := filepath.Glob(filepath.Join(b.pkg, "*_test.go")) // the pattern is well formed
		var tests []string
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				tests = append(tests, m[1])
			}
		}
		first, _, _ := strings.Cut(b.run, "/")
		if !slices.ContainsFunc(tests, regexp.MustCompile(first).MatchString) {
			t.Errorf("%s: %s has no test %s", b.Name, b.pkg, first)
		}
	}
}
