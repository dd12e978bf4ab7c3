package cut_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pawl/driver/prove/cut"
	"pawl/internal/need"
)

// parts names the parts of a text, each with the line that it leaves.
func parts(file, before, now string) []string {
	out := []string{}
	for _, p := range cut.Parts(file, before, now) {
		text := cut.Without(now, p)
		line := strings.Split(text, "\n")[strings.Count(text[:p.From], "\n")]
		out = append(out, fmt.Sprintf("%d %s: %s", p.Line, p.Name, strings.TrimSpace(line)))
	}
	slices.Sort(out)
	return out
}

const goText = `package m

import "strings"

const Name, limit = "pawl", 7

var empty, zero = "", 0

// F has a body of one line.
func F(new int) (string, error) { return strings.Repeat("x", new), nil }

func Same() int { return 1 }

func (s *Store[T]) Get(key string) (value T, ok bool) {
	value, ok = s.m[key]
	return
}

func (Store[T]) Set() {
	println("{")
}

func Nothing() {}

func init() { println() }

type Store[T any] struct{ m map[string]T }
`

func TestGo(t *testing.T) {
	got := parts("a.go", "package m\nfunc Same() int { return 1 }\n", goText)
	want := []string{
		`10 F: func F(new int) (string, error) { if true { var pawl0 string; var pawl1 error; return pawl0, pawl1 };  return strings.Repeat("x", new), nil }`,
		"14 Store.Get: func (s *Store[T]) Get(key string) (value T, ok bool) { if true { return  };",
		"19 Store.Set: func (Store[T]) Set() { if true { return  };",
		`5 Name: const Name, limit = "", 7`,
		`5 limit: const Name, limit = "pawl", 0`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	all := cut.Without(goText, cut.Parts("a.go", "", goText)...)
	if _, err := parser.ParseFile(token.NewFileSet(), "", all, parser.AllErrors); err != nil {
		t.Errorf("%v\n%s", err, all)
	}
	if strings.Count(all, "\n") != strings.Count(goText, "\n") {
		t.Error("lines moved")
	}
	if got := parts("a.go", "", "package {"); len(got) > 0 {
		t.Error(got)
	}
}

const pythonText = `import os

def one(a): return a + 1

def two(
    a: "x)",  # a comment (
    b=(1, 2),
) -> int:
    """A text
def no(): pass
    """
    if a:
        return b
    return 1

class C:
    @property
    async def three(self):

        # why
        return """
x
"""
    def four(self): pass
    def five(self):
        raise NotImplementedError("later")
    def same(self):
        return 2

def gen():
	yield 1
`

func TestPython(t *testing.T) {
	got := parts("a.py", "    def same(self):\n        return 2\n\n", pythonText)
	want := []string{"18 three: return None", "3 one: def one(a): return None; return a + 1", "30 gen: return None", "5 two: return None"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	crlf := cut.Parts("a.py", "", "def f():\r\n    return 1\r\n")
	if len(crlf) != 1 || crlf[0].With != "    return None\r\n" {
		t.Errorf("%+v", crlf)
	}
	need.Program(t, "python3")
	all := cut.Without(pythonText, cut.Parts("a.py", "", pythonText)...)
	if out, err := exec.Command("python3", "-c", "import ast,sys; ast.parse(sys.argv[1])", all).CombinedOutput(); err != nil {
		t.Errorf("%s\n%s", out, all)
	}
}

const scriptSource = `import { x } from './x.js';

export function one(a, { b } = {}) { return a / b / 2; }
const two = async (a) => {
  return /[/{]/.test(a) ? '}' : "\"}";
};
const three = (a) => a + 1;
class C extends D {
  constructor() { super(); this.a = 1; }
  static async four(a, b) {
    if (a) { return b; }
    // }
    for (const c of a) { x(c); }
  }
  get five() {
    return 1; /* { */
  }
}
module.exports.six = function () {
  return call(function inner() { return ` + "`}${x}`" + `; });
};
function empty() {}
function same() { return 1; }
x(() => {
  return 2;
});
`

func TestScript(t *testing.T) {
	got := parts("a.mjs", "function same() { return 1; }", scriptSource)
	want := []string{
		"10 four: static async four(a, b) { return;",
		"15 five: get five() { return;",
		"19 six: module.exports.six = function () { return;",
		"20 inner: return call(function inner() { return; return `}${x}`; });",
		"3 one: export function one(a, { b } = {}) { return; return a / b / 2; }",
		"4 two: const two = async (a) => { return;",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTyped(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       []string
	}{
		{"a.rs", "pub fn first<'a>(x: &'a str, c: char) -> Option<&'a str> {\n    if c == '{' { Some(x) } else { None }\n}\n" +
			"fn done(n: u8) { println!(\"}{}\", n); }\nimpl A {\n    fn run(&self) -> Result<u8, E> where E: X {\n        Ok(1)\n    }\n}\n" +
			"fn declared();\n", []string{
			"1 first: pub fn first<'a>(x: &'a str, c: char) -> Option<&'a str> { if 1 < 2 { return Default::default(); }",
			"4 done: fn done(n: u8) { if 1 < 2 { return; }  println!(\"}{}\", n); }",
			"6 run: fn run(&self) -> Result<u8, E> where E: X { if 1 < 2 { return Ok(Default::default()); }",
		}},
		{"A.java", "class A {\n    public A(int a) { this.a = a; }\n    public static int add(int a) throws E {\n        return a;\n    }\n" +
			"    private List<Map<String, A>> all() { return x; }\n    void plain() { call(a); }\n    public boolean ok() { return true; }\n}\n",
			[]string{
				"3 add: public static int add(int a) throws E { if (1 < 2) { return 0; }",
				"6 all: private List<Map<String, A>> all() { if (1 < 2) { return null; }  return x; }",
				"8 ok: public boolean ok() { if (1 < 2) { return false; }  return true; }",
			}},
		{"a.cs", "public async Task Go() { await x; }\ninternal T Get<T>(int a) { return a; }\n", []string{
			"1 Go: public async Task Go() { if (1 < 2) { return; }  await x; }",
		}},
		{"a.c", "static int add(int a)\n{\n    if (a) { return 1; }\n    return a;\n}\nint declared(int);\nvoid *none(void) { return call(1); }\n" +
			"void run(void) { for (;;) { x(); } }\n", []string{
			"1 add: { if (1 < 2) { return 0; }",
			"7 none: void *none(void) { if (1 < 2) { return 0; }  return call(1); }",
			"8 run: void run(void) { if (1 < 2) { return; }  for (;;) { x(); } }",
		}},
	} {
		if diff := cmp.Diff(c.want, parts(c.file, "", c.text)); diff != "" {
			t.Errorf("%s: %s", c.file, diff)
		}
	}
}

const patch = `diff --git a/a.rs b/a.rs
--- a/a.rs
+++ b/a.rs
@@ -1,5 +1,5 @@
 fn a() {
-    one();
+    two();
 }
+// a comment
 // end
-old();
@@ -20,2 +20,4 @@ fn b() {
 x
+    three();
+    four();
 y
`

func TestHunks(t *testing.T) {
	files, _, err := gitdiff.Parse(strings.NewReader(patch))
	if err != nil {
		t.Fatal(err)
	}
	now := "fn a() {\n    two();\n}\n// a comment\n// end\n" + strings.Repeat("-\n", 14) + "x\n    three();\n    four();\ny\n"
	var got []string
	for _, p := range cut.Hunks(files[0], now, nil) {
		text := cut.Without(now, p)
		got = append(got, fmt.Sprint(p.Line, " ", len(now)-len(text), " ", strings.Contains(text, "one();"),
			strings.Contains(text, "three();"), strings.Contains(text, "old();")))
	}
	want := []string{"2 0 true true false", "6 -7 false true true", "21 25 false false false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if other := cut.Hunks(files[0], "short\n", nil); len(other) > 0 {
		t.Errorf("a text that the patch is not about: %+v", other)
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"TestDryRun":  "test dry run",
		"--dry-run":   "dry run",
		"HTTPServer2": "httpserver 2",
		"":            "",
		"退出 exit":     "退出 exit",
	} {
		if got := cut.Words(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestNothingIsTooStrange takes parts away from pieces of code in any order: what comes out is as long as it should be.
func TestNothingIsTooStrange(t *testing.T) {
	pieces := append(strings.SplitAfter(goText+pythonText+scriptSource, "\n"), "== 5 ", "case 7:", "[3, -9]", "{", "in ", ": 8", ")", "\"", "'''", "`", "/*", "(", "}", "\r\n", "/", "def f(:", "é")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		for _, file := range []string{"a.go", "a.py", "a.ts"} {
			for _, a := range cut.Answers(file, "", text) {
				if a.Line < 1 || a.Line > 1+strings.Count(text, "\n") {
					t.Fatalf("%+v", a)
				}
			}
			cut.Literals(file, text)
			for _, p := range cut.Parts(file, "", text) {
				if got := cut.Without(text, p); len(got) != len(text)-(p.To-p.From)+len(p.With) {
					t.Fatalf("%+v", p)
				}
			}
		}
	})
}

// TestBlind is about functions that do the same whatever they are given.
func TestBlind(t *testing.T) {
	for _, c := range []struct {
		file, text string
		blind      bool
	}{
		{"a.go", "package m\nfunc F(n int) int { return 9 }\n", true},
		{"a.go", "package m\nfunc F(_ ...string) int { return 9 }\n", true},
		{"a.go", "package m\nfunc F(n int) int { return n }\n", false},
		{"a.go", "package m\nfunc F() int { return 9 }\n", false},
		{"a.go", "package m\nfunc (s *S) F(n int) int { return 9 }\n", true},
		{"a.go", "package m\nfunc (s *S) F(n int) int { return s.m }\n", false},
		{"a.go", "package m\nfunc (s *S) F() int { return 9 }\n", false},
		{"a.py", "def f(n):\n    return 9\n", true},
		{"a.py", "def f(n): return 9\n", true},
		{"a.py", "def f(n):\n    return n\n", false},
		{"a.py", "def f():\n    return 9\n", false},
		{"a.py", "class C:\n    def __eq__(self, other):\n        return True\n", true},
		{"a.py", "class C:\n    def f(self):\n        return 9\n", false},
		{"a.py", "class C:\n    def f(self, n):\n        return self.m\n", false},
		{"a.js", "function f(n) {\n  return 9;\n}\n", true},
		{"a.js", "const f = (n) => {\n  return 9;\n};\n", true},
		{"a.js", "function f(n) {\n  return n;\n}\n", false},
		{"a.js", "function f() {\n  return 9;\n}\n", false},
		{"a.js", "function f(n) {\n  return arguments[0];\n}\n", false},
	} {
		if p := cut.Parts(c.file, "", c.text); len(p) != 1 || p[0].Blind != c.blind {
			t.Errorf("%s: %+v, want %v", c.text, p, c.blind)
		}
	}
}
