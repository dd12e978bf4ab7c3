package view

import "testing"

func TestKindOf(t *testing.T) {
	for name, want := range map[string]FileKind{
		"main.go": OtherFile, "a/b/main_test.go": TestFile, "tests/unit/x.py": TestFile, "test_calc.py": TestFile,
		"src/a.test.tsx": TestFile, "spec/a_spec.rb": TestFile,
		"pkg/testdata/golden.txt": TestFile, "CalcTest.java": TestFile, ".github/workflows/ci.yml": CIFile,
		"Makefile": CIFile, "sub/Makefile": CIFile, "conftest.py": CIFile,
		".golangci.yml": CIFile, "contest.py": OtherFile, "latest/a.go": OtherFile, "attest.go": OtherFile,
		"": OtherFile, ".github/CODEOWNERS": OtherFile,
	} {
		if got := KindOf(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
