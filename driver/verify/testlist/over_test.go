package testlist_test

import (
	"testing"

	"pawl/driver/verify/testlist"
)

func TestTakesOver(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       bool
	}{
		{"a_test.go", "package a\n\nfunc TestMain(m *testing.M) {}", true},
		{"a_test.go", "package a\n\nfunc /**/ TestMain(m *testing.M) {}", true},
		{"a_test.go", "package a\n\n// func TestMain(\nfunc TestMainly(t *testing.T) {}", false},
		{"a_test.go", "package a {", true},
		{"a.go", "package a {", false},
		{"a_test.go", "package a\n\nfunc init() { Sum = nil }", true},
		{"a_test.go", "package a\n\nimport \"b\"\n\nfunc init() { b.Sum = nil }", true},
		{"a_test.go", "package a\n\nvar _ = func() int { sum = nil; return 0 }()", true},
		{"a_test.go", "package a\n\nvar own int\n\nfunc init() { own = 2; x := 1; x = 2; _ = x }", false},
		{"a_test.go", "package a\n\nfunc TestA(t *testing.T) { Sum = nil }", false},
		{"test_a.py", "import shop.price\n\nshop.price.total = sum\n", true},
		{"test_a.py", "import shop\n\nsetattr(shop, 'total', sum)\n", true},
		{"test_a.py", "import shop\n\nif True:\n    shop.total = sum\n", true},
		{"test_a.py", "import shop\n\n_ = mock.patch('shop.total').start()\n", true},
		{"test_a.py", "pytest_plugins = ['evil']\n", true},
		{"test_a.py", "def pytest_runtest_makereport(item): pass\n", true},
		{"test_a.py", "import _pytest.python\n", true},
		{"test_a.py", "import os\nimport sys\n\nsys.path.insert(0, '.')\nos.environ['A'] = 'b'\nCASES = {'a': 1}\nx: int = 2\n", false},
		{"test_a.py", "\"\"\"\nshop.total = sum\n\"\"\"\n\n\ndef test_a(monkeypatch):\n    shop.total = sum\n    setattr(shop, 'a', 1)\n", false},
		{"test_a.py", "class A:\n    def test(self):\n        with mock.patch('x') as p:\n            p.start()\n", false},
		{"a.test.js", "process.exit(0)", false},
	} {
		if got := testlist.TakesOver(c.file, []byte(c.text)); got != c.want {
			t.Errorf("%s %q: %v", c.file, c.text, got)
		}
	}
}
