package cut_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/driver/prove/cut"
)

// answers puts each answer of a text into a line.
func answers(file, before, now string) []string {
	out := []string{}
	for _, a := range cut.Answers(file, before, now) {
		line := fmt.Sprintf("%d %s → %s", a.Line, strings.Join(a.Key, " "), strings.Join(a.Value, " "))
		if a.Name != "" {
			line += " in " + a.Name
		}
		if !a.Fresh {
			line += " of before"
		}
		out = append(out, line)
	}
	return out
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       []string
	}{
		{"a.go", "package m\nfunc F(p []int, n int) int {\n\tif len(p) == 3 && p[0] == 3 {\n\t\treturn 9\n\t}\n\tif slices.Equal(p, []int{3, 9, 4}) {\n\t\treturn 9\n\t}\n" +
			"\tswitch n {\n\tcase 5, 7:\n\t\treturn -8\n\tcase 6:\n\t\treturn n\n\t}\n\tif fmt.Sprint(p) == \"[3 9 4]\" {\n\t\tn = 4\n\t}\n\treturn 0\n}\n", []string{
			"3 3 → 9 in F", "6 3 9 4 → 9 in F", "10 5 → -8 in F", "10 7 → -8 in F", "15 3 9 4 → 4 in F"}},
		{"a.go", "package m\nvar names = map[int]string{404: \"Not Found\", 500: \"Error\"}\nvar by = map[[3]int]int{[3]int{3, 9, 4}: 9}\nfunc Is(n int) bool { return n == 7 || n == 13 }\n" +
			"func Fizz(n int) string {\n\tif n%15 == 0 {\n\t\treturn \"FizzBuzz\"\n\t}\n\treturn \"\"\n}\nfunc E(s string) (int, error) {\n\tif \"x\" == s {\n\t\treturn 0, nil\n\t}\n\tif s == \"y\" {\n\t\treturn 0, errors.New(s)\n\t}\n\treturn strconv.Atoi(s)\n}\n", []string{
			"2 404 → Not Found", "2 500 → Error", "3 3 9 4 → 9", "4 7 → true in Is", "4 13 → true in Is", "12 x → nil in E", "15 y → 0 in E"}},
		{"a.py", "def f(prices):\n    # == 5 return 7\n    if prices == [3, 9, 4]:\n        return 9\n    elif prices == (1, 2): return 2\n    return 5 if prices == [5] else 0\n\n" +
			"CASES = {(3, 9): 9, 'a': \"b\"}\n\ndef g(n):\n    if n in (7, 13):\n        return True\n    match n:\n        case 5 | 6:\n            return 'x'\n    return n == 4\n\ndef h(n):\n    if n % 2 == 0:\n        return 'even'\n    return n + 1 if n == 3 else n\n", []string{
			"3 3 9 4 → 9 in f", "5 1 2 → 2 in f", "6 5 → 5 in f", "8 3 9 → 9", "8 a → b", "11 7 → true in g", "11 13 → true in g", "14 5 → x in g", "14 6 → x in g", "16 4 → true in g"}},
		{"a.js", "function f(p, n) {\n  if (JSON.stringify(p) === '[3,9,4]') return 9;\n  if (n === 5) { return 'five'; }\n  switch (n) {\n    case 1: case 12:\n      return 'b';\n  }\n  return n === 7 ? 8 : n === 9 ? 10 : 0;\n}\n" +
			"const names = { EUR: '€', 'US D': '$', 3: 4 };\nconst m = new Map([['3,9,4', 9], [7, 8]]);\nconst has = (n) => [7, 13].includes(n);\nconst x = /[=]== 3/;\n", []string{
			"2 3 9 4 → 9 in f", "3 5 → five in f", "5 1 → b in f", "5 12 → b in f", "8 7 → 8 in f", "8 9 → 10 in f", "10 EUR → €", "10 US D → $", "10 3 → 4", "11 3 9 4 → 9", "11 7 → 8", "12 7 → true", "12 13 → true"}},
		{"a.rb", "x == 3 ? 4 : 5\n", []string{}},
	} {
		if diff := cmp.Diff(c.want, answers(c.file, "", c.text)); diff != "" {
			t.Errorf("%s: %s", c.file, diff)
		}
	}
	if got := answers("a.py", "if n == 5:\n", "def f(n):\n    if n == 5:\n        return 6\n"); got[0] != "2 5 → 6 in f of before" {
		t.Error(got)
	}
}

func TestLiterals(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"a_test.go", "func TestMax(t *testing.T) {\n\tif got := Max([]int{3, -9, 4}); got != 9 {\n\t\tt.Errorf(\"Max = %d\", got)\n\t}\n\tfor _, c := range []c{{name: \"none\", want: 2}} {\n\t\tt.Run(\"sub\", nil)\n\t}\n}\n",
			"3 -9 4 9 2 nil"},
		{"test_a.py", "    def test_a(self):\n        \"\"\"Says a thing.\"\"\"\n        self.assertEqual(f([3, 9]), '9 x')\n        self.assertTrue(f(\"a\"), \"it is not\")\n\nif __name__ == '__main__':\n    unittest.main()\n",
			"3 9 9 x a"},
		{"a.test.js", "test('max of 3', () => {\n  assert.strictEqual(max([3, 9]), 9, 'the highest');\n  assert.ok(!is(null), `${x}`);\n});\n", "3 9 9 null"},
	} {
		var got []string
		for _, l := range cut.Literals(c.file, c.text) {
			got = append(got, l.Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %s", c.file, got, c.want)
		}
	}
}
