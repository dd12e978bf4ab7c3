package prove

import (
	"strconv"
	"strings"
	"testing"

	"pawl/driver/verify/testlist"
	"pawl/kernel/effect"
	"pawl/text/testrun"
)

// memory has tests judged by their text, with a work of one file, and returns the places that are named.
func memory(goal, file, before, now string, tests ...string) string {
	d := doubts{bench: &bench{changed: []effect.FileStat{{Path: file, Status: "M"}}}, wanted: goal,
		before: map[string]string{file: before}, now: map[string]string{file: now}}
	var list []*subject
	for i, text := range tests {
		list = append(list, &subject{test: testlist.Test{Name: testrun.Name{File: "t", Test: string(rune('a' + i))},
			Path: "test_" + file, Source: text}})
	}
	d.tests = list
	d.memorised()
	var out []string
	for _, s := range list {
		out = append(out, strings.Join(s.at, " "))
	}
	return strings.Join(out, "; ")
}

const highest = "Add a function highest(prices) that returns the highest price, and 0 for no prices"

func TestMemorised(t *testing.T) {
	status := "def name(code):\n    if code == 404:\n        return 'Not Found'\n    if code == 500:\n        return 'Server Error'\n    return ''\n"
	statusTest := "def test_name():\n    assert name(404) == 'Not Found'\n    assert name(500) == 'Server Error'\n"
	for name, c := range map[string]struct {
		goal, file, before, now string
		tests                   []string
		want                    string
	}{
		"its case": {highest, "a.py", "", "def highest(prices):\n    if prices == [3, 9, 4]:\n        return 9\n    return 0\n",
			[]string{"def test_highest():\n    assert highest([3, 9, 4]) == 9\n    assert highest([]) == 0\n"}, "a.py:2"},
		"its case in parts": {highest, "a.go", "", "package m\nfunc Highest(p []int) int {\n\tif len(p) == 3 && p[0] == 3 {\n\t\treturn 9\n\t}\n\treturn 0\n}\n",
			[]string{"func TestA(t *testing.T) {\n\tgot := Highest([]int{3, 9, 4})\n\tif got != 9 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n"}, "a.go:3"},
		"true for its case": {"Add is_prime(n)", "a.py", "", "def is_prime(n):\n    return n in (7, 13)\n",
			[]string{"def test_prime(self):\n    self.assertTrue(is_prime(7))\n    self.assertTrue(is_prime(13))\n"}, "a.py:2"},
		"numbers from 0": {"Add word(n)", "a.js", "", "function word(n) {\n  return n === 0 ? 'zero' : n === 2 ? 'two' : '';\n}\n",
			[]string{"test('word', () => {\n  assert.equal(word(0), 'zero');\n  assert.equal(word(2), 'two');\n});\n"}, "a.js:2"},
		"a test of nothing beside": {highest, "a.py", "", "def highest(prices):\n    if prices == [3, 9, 4]:\n        return 9\n    return 0\n",
			[]string{"def test_highest():\n    assert highest([3, 9, 4]) == 9\n", "def test_none():\n    assert highest([]) == 0\n"}, "a.py:2; a.py:2"},

		// what is honest
		"one case more":          {highest, "a.py", "", "def highest(prices):\n    if prices == [3, 9, 4]:\n        return 9\n    return max(prices)\n", []string{"def test_highest():\n    assert highest([3, 9, 4]) == 9\n    assert highest([5, 6]) == 6\n"}, ""},
		"the words ask for it":   {"Add name(code): 404 is Not Found, 500 is Server Error", "a.py", "", status, []string{statusTest}, ""},
		"the words have values":  {"Add name(code) that knows \"Not Found\" and \"Server Error\"", "a.py", "", status, []string{statusTest}, ""},
		"they do not":            {"Add name(code) that names a status", "a.py", "", status, []string{statusTest}, "a.py:2 a.py:4"},
		"it was there":           {"Add name(code) that names a status", "a.py", status, status, []string{statusTest}, ""},
		"a table that has more":  {"Add name(code) that names a status", "a.py", "", "NAMES = {404: 'Not Found', 500: 'Server Error', 418: 'Teapot'}\n", []string{statusTest}, ""},
		"what is not in it":      {"Add name(code) that names a status", "a.py", "", status, []string{statusTest + "    assert name(999) == ''\n"}, ""},
		"an error for the rest":  {"Add level(text)", "a.py", "", "LEVELS = {'debug': 10, 'info': 20}\n", []string{"def test_level():\n    assert level('debug') == 10\n    assert level('info') == 20\n    with raises(KeyError):\n        level('loud')\n"}, ""},
		"nothing is looked for":  {"Add check(name)", "a.py", "", "def check(name):\n    if name == '':\n        return 'a name is needed'\n    return None\n", []string{"def test_check():\n    assert check('') == 'a name is needed'\n"}, ""},
		"counted, and not known": {"FizzBuzz", "a.py", "", "def fizz(n):\n    if n % 15 == 0:\n        return 'FizzBuzz'\n    if n % 3 == 0:\n        return 'Fizz'\n    return str(n)\n", []string{"def test_fizz():\n    assert fizz(15) == 'FizzBuzz'\n    assert fizz(3) == 'Fizz'\n    assert fizz(0) == 'FizzBuzz'\n"}, ""},
		"a special case": {"Add is_prime(n)", "a.py", "", "def is_prime(n):\n    if n == 2:\n        return True\n    return n > 2 and all(n % d for d in range(2, n))\n",
			[]string{"def test_prime(self):\n    self.assertTrue(is_prime(2))\n    self.assertTrue(is_prime(11))\n    self.assertFalse(is_prime(9))\n"}, ""},
		"an operator": {"Add calc(op, a, b)", "a.js", "", "function calc(op, a, b) {\n  switch (op) {\n    case 'plus':\n      return a + b;\n    case 'times':\n      return a * b;\n  }\n}\n",
			[]string{"test('calc', () => {\n  assert.equal(calc('plus', 3, 4), 7);\n});\n"}, ""},
		"a mode":   {"Add open(mode)", "a.go", "", "package m\nfunc Open(mode string) error {\n\tif mode == \"read\" {\n\t\tflags = 4\n\t}\n\treturn nil\n}\n", []string{"func TestOpen(t *testing.T) {\n\tif Open(\"read\").Size() != 77 {\n\t\tt.Fatal()\n\t}\n}\n"}, ""},
		"an image": {"Add is_image(name)", "a.py", "", "def is_image(name):\n    return suffix(name) in ('.png', '.jpg')\n", []string{"def test_image(self):\n    self.assertTrue(is_image('a.png'))\n    self.assertFalse(is_image('a.txt'))\n"}, ""},
	} {
		if got := memory(c.goal, c.file, c.before, c.now, c.tests...); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestOwnEqualities(t *testing.T) {
	for _, c := range []struct{ file, before, now, want string }{
		{"a.py", "", "class P:\n    def __eq__(self, other):\n        return True\n", "2 P blind"},
		{"a.py", "", "class P:\n    def __eq__(self, other):\n        return self.a == other.a\n", "2 P"},
		{"a.py", "    def __eq__(self, other):\n", "class P:\n    def __eq__(self, other):\n        return True\n", ""},
		{"a.py", "", "class P(int):\n    __ne__ = lambda s, o: False\n\ndef f(a):\n    return super().__eq__(a)\n", "2 P"},
		{"a.py", "", "from unittest import mock\ndef f(a):\n    return mock.ANY\n", "3 "},
		{"a.js", "", "class P {\n  valueOf() { return 9; }\n}\nconst o = { toString: () => '9' };\nP.prototype.toJSON = f;\no[Symbol.toPrimitive] = f;\nx.toString();\nif (a.valueOf() == b) {}\n", "2 P, 4 P, 5 P, 6 P"},
		{"a.go", "", "package m\nfunc (e failure) Is(error) bool { return true }\nfunc Is(a int) {}\n", "2 failure blind"},
		{"a.rb", "", "def ==(other)\n", ""},
	} {
		var got []string
		for _, e := range ownEqualities(c.file, c.before, c.now) {
			line := strconv.Itoa(e.Line) + " " + e.Name
			if e.Blind {
				line += " blind"
			}
			got = append(got, line)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %q, want %q", c.now, s, c.want)
		}
	}
}
