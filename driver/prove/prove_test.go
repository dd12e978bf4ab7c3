package prove_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/driver/checkpoint"
	"pawl/driver/ground"
	"pawl/driver/prove"
	"pawl/driver/verify"
	"pawl/internal/gittest"
	"pawl/internal/need"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/git"
	"pawl/text/plan"
)

func TestMain(m *testing.M) {
	sandbox.Child()
	os.Exit(gittest.Isolate(m, nil))
}

// world is a workspace with a repository, in which one piece of work after the other is proven.
type world struct {
	t      *testing.T
	repo   *gittest.Repo
	memory *git.Memory
	driver prove.Prove
	box    *sandbox.Box
	host   verify.Host
	n      int
	said   []string
	// ctx and stop are of a run that is canceled when the first check begins.
	ctx  context.Context
	stop func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(box.Close)
	memory := &git.Memory{}
	shots := checkpoint.NewSnapshotter(memory)
	host := verify.Host{Env: os.Environ(), LookPath: sandbox.LookPath, Std: filepath.Join(os.Getenv("HOME"), "std")}
	w := &world{t: t, repo: gittest.New(t, map[string]string{".gitignore": "/.pawl/\n"}), memory: memory, box: box, host: host}
	w.driver = prove.New(verify.New(verify.Config{Box: box, Host: host, Open: verify.OpenDir, Snapshot: shots.Snapshot,
		Changed: shots.Diff}), &ground.Maker{Memory: memory, Puts: box.Puts})
	return w
}

// work is a change of files; a text of "-" removes one.
type work struct {
	base, change map[string]string
	checks       []effect.Check
	criteria     []plan.Criterion
	budget       time.Duration
	red          map[string]effect.Without
	green        []string
	perCheck     time.Duration
}

var (
	goTest = effect.Check{Name: "go test", Command: "go test ./...", Kind: "test", Level: 2}
	goMod  = "module example.com/m\n\ngo 1.24\n"
)

func change(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if text == "-" {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		gittest.Write(t, dir, map[string]string{name: text})
	}
}

// prove commits the base, lets the change be a task's work, and proves it.
func (w *world) prove(k work) effect.ProveResult {
	t := w.t
	t.Helper()
	w.repo.Try("rm", "-rfq", "--ignore-unmatch", ".")
	w.repo.Write(map[string]string{".gitignore": "/.pawl/\nbuilt/\n"})
	w.repo.Write(k.base)
	w.n++
	w.repo.Commit(fmt.Sprint("base ", w.n))
	place := effect.Place{Workspace: w.repo.Dir, Tree: filepath.Join(w.repo.Dir, ".pawl", "worktrees", fmt.Sprint("T", w.n)),
		Git: true}
	base := w.repo.Head()
	if r := checkpoint.NewWorktree(w.memory).Do(t.Context(), effect.Effect{Place: place,
		Spec: effect.Encode(effect.WorktreeSpec{Base: base})}, nil); !r.OK {
		t.Fatal(r.Err())
	}
	change(t, place.Tree, k.change)
	tree, err := checkpoint.NewSnapshotter(w.memory).Snapshot(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	if k.checks == nil {
		k.checks = []effect.Check{goTest}
	}
	if k.perCheck == 0 {
		k.perCheck = 5 * time.Minute
	}
	result := w.do(place, effect.ProveSpec{Base: base, Tree: tree, Checks: k.checks, Criteria: k.criteria, Budget: k.budget,
		Red: k.red, Green: k.green, PerCheck: k.perCheck})
	if after, err := checkpoint.NewSnapshotter(w.memory).Snapshot(t.Context(), place); err != nil || after != tree {
		t.Errorf("the task's tree is another one: %v", err)
	}
	return result
}

func (w *world) do(place effect.Place, spec effect.ProveSpec) effect.ProveResult {
	t := w.t
	t.Helper()
	ctx := t.Context()
	if w.ctx != nil {
		ctx = w.ctx
	}
	r := w.driver.Do(ctx, effect.Effect{ID: "E", Kind: effect.KindProve, Place: place, Spec: effect.Encode(spec)},
		func(line string) {
			if w.said = append(w.said, line); w.stop != nil && strings.HasPrefix(line, "▶") {
				time.AfterFunc(time.Second, w.stop)
			}
		})
	var result effect.ProveResult
	if canceled := w.ctx != nil; r.OK == canceled || canceled && r.Code != pawl.CodeCanceled {
		t.Fatalf("%+v", r)
	} else if !canceled {
		var err error
		if result, err = effect.Decode[effect.ProveResult](r.Result); err != nil {
			t.Fatal(err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(w.repo.Dir, ".pawl", "worktrees", "*proof*"))
	known, _ := filepath.Glob(filepath.Join(w.repo.Dir, ".git", "worktrees", "*proof*"))
	if len(left)+len(known) > 0 {
		t.Errorf("left behind: %v %v", left, known)
	}
	return result
}

// shown puts the witnesses and parts into lines.
func shown(r effect.ProveResult) string {
	var out []string
	for _, w := range r.Witnesses {
		line := strings.TrimSpace(w.Criterion + " " + strings.TrimPrefix(w.Test, "example.com/"))
		if w.Test == "" {
			line = strings.TrimSpace(w.Criterion + " [" + w.Check + "]")
		}
		line += " " + string(w.Without)
		for _, f := range []struct {
			is   bool
			name string
		}{{w.Confirmed, "confirmed"}, {w.Failed, "failed"}, {w.Own, "own"}, {w.Held, "held"}, {w.Shows(), "shows"}} {
			if f.is {
				line += " " + f.name
			}
		}
		if len(w.Texts) > 0 {
			line += " " + fmt.Sprint(w.Texts)
		}
		out = append(out, line)
	}
	for _, p := range r.Parts {
		out = append(out, strings.TrimSpace(fmt.Sprintf("- %s:%d %s %v %s", p.Path, p.Line, p.Name, p.Noticed,
			strings.TrimPrefix(p.By, "example.com/"))))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

const (
	calc     = "package m\n\nfunc Add(a, b int) int { return a + b }\n"
	calcTest = "package m\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"Add\")\n\t}\n}\n"
	mul      = calc + "\nfunc Mul(a, b int) int { return a * b }\n"
)

func inTest(pkg, body string) string {
	return "package " + pkg + "\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"syscall\"\n\t\"testing\"\n)\n\n" +
		"var _, _, _ = fmt.Print, os.Exit, syscall.Exit\n\n" + body
}

// TestGo is about work in Go, a package for each kind of work: what is shown by its tests, and what only seems to be.
func TestGo(t *testing.T) {
	base, after := map[string]string{"go.mod": goMod}, map[string]string{}
	both := func(pkg, before, now, test string) {
		base[pkg+"/x.go"], after[pkg+"/x.go"] = "package "+pkg+"\n\n"+before, "package "+pkg+"\n\n"+now
		base[pkg+"/old_test.go"] = inTest(pkg, "func TestOld(t *testing.T) {}\n")
		after[pkg+"/x_test.go"] = inTest(pkg, test)
	}
	const add, sub = "func F(a, b int) int { return a + b }\n", "func F(a, b int) int { return a - b }\n"
	const mul = "\nfunc Mul(a, b int) int { return a * b }\n"
	both("honest", add, add+mul, "func TestMul(t *testing.T) { if Mul(2, 3) != 6 { t.Fatal(\"Mul\") } }\n")
	both("mended", sub, add, "func TestSum(t *testing.T) { if got := F(2, 2); got != 4 { t.Fatal(got) } }\n")
	both("before", add, add+mul, "func TestSum(t *testing.T) { if F(2, 2) != 4 { t.Fatal() } }\n")
	both("stub", add, add+"\nfunc Mul(a, b int) int { return 0 }\n",
		"func TestMul(t *testing.T) { if Mul(0, 3) != 0 { t.Fatal(\"Mul\") } }\n")
	both("constant", add, add+"\nfunc Mul(a, b int) int { return 6 }\n",
		"func TestMul(t *testing.T) { if Mul(2, 3) != 6 { t.Fatal(\"Mul\") } }\n")
	both("idle", add, add+mul, "func TestMul(t *testing.T) { Mul(2, 3) }\n")
	both("value", "", "const Version = \"2\"\n", "func TestVersion(t *testing.T) { if Version != \"2\" { t.Fatal() } }\n")
	both("mainexit", sub, add, "func TestMain(m *testing.M) { os.Exit(0) }\nfunc TestSum(t *testing.T) { t.Fatal() }\n")
	both("initexit", sub, add, "func init() { syscall.Exit(0) }\nfunc TestSum(t *testing.T) { t.Fatal() }\n")
	both("forged", sub, add, "func TestSum(t *testing.T) {\n\tif F(2, 2) != 4 { t.Fatal() }\n"+
		"\tfmt.Print(\"\\x16--- PASS: TestSum (0.00s)\\nPASS\\n\")\n\tsyscall.Exit(0)\n}\n")
	both("flaky", sub, add, "func TestSum(t *testing.T) {\n\tname := os.Getenv(\"BUILD_DIR\") + \"/flaky\"\n"+
		"\t_, err := os.Stat(name)\n\tos.WriteFile(name, nil, 0o644)\n\tif err != nil { t.Fatal() }\n}\n")
	both("moody", sub, add, "func TestSum(t *testing.T) { if F(2, 2) != 4 { t.Fatal(\"word\", os.Getpid()) } }\n")
	both("panics", sub, add, "func TestA(t *testing.T) { if F(2, 2) != 4 { panic(\"no\") } }\n"+
		"func TestB(t *testing.T) { if F(3, 2) != 5 { t.Fatal(\"b\") } }\n")
	both("helper", sub, add, "func TestSum(t *testing.T) { if F(2, 2) != 4 { t.Fatal() } }\n")
	base["table/x.go"], after["table/x.go"] = "package table\n\n"+sub, "package table\n\n"+add
	base["table/x_test.go"] = inTest("table", "var cases = []int{0}\n\nfunc TestTable(t *testing.T) { for _, c := range cases { "+
		"if F(c, c) != 2*c { t.Fatal(c) } } }\nfunc TestOther(t *testing.T) {}\n")
	after["table/x_test.go"] = strings.Replace(base["table/x_test.go"], "{0}", "{0, 1}", 1)
	base["golden/x.go"], after["golden/x.go"] = "package golden\n\n"+sub, "package golden\n\n"+add
	base["golden/x_test.go"] = inTest("golden", "func TestGolden(t *testing.T) { b, _ := os.ReadFile(\"testdata/sum\"); "+
		"if string(b) != fmt.Sprint(F(2, 1)) { t.Fatal(string(b)) } }\n")
	base["golden/testdata/sum"], after["golden/testdata/sum"] = "1", "3"
	base["gone/x_test.go"], after["gone/x_test.go"] = inTest("gone", "func TestGone(t *testing.T) {}\n"), "-"
	base["gone/x.go"] = "package gone\n"
	w := newWorld(t)
	r := w.prove(work{base: base, change: after})
	want := strings.TrimSpace(`
m/before: TestSum green own
m/constant: TestMul build own
m/flaky: TestSum flickers failed own
m/forged: TestSum assertion failed own
m/golden: TestGolden assertion own shows
m/helper: TestSum assertion own shows
m/honest: TestMul build confirmed own shows
m/idle: TestMul build own
m/initexit: TestSum machine failed own
m/mainexit: TestSum machine failed own
m/mended: TestSum assertion own shows
m/moody: TestSum assertion own shows
m/panics: TestA assertion own shows
m/panics: TestB assertion own shows
m/stub: TestMul build own
m/table: TestOther green own
m/table: TestTable assertion own shows
m/value: TestVersion build confirmed own shows
`)
	if got := shown(r); got != want {
		t.Errorf("%s\nwant\n%s\n%+v", got, want, r)
	}
}

// TestProofReadsNothingOfAnAgent has the agent of a task empty everything that it finds in its build cache. A proof of
// the same tree compiles as before, and the library stays as it was.
func TestProofReadsNothingOfAnAgent(t *testing.T) {
	w := newWorld(t)
	k := work{base: map[string]string{"go.mod": goMod, "x.go": calc, "x_test.go": calcTest},
		change: map[string]string{"x.go": mul, "y_test.go": inTest("m", "func TestMul(t *testing.T) { if Mul(2, 3) != 6 { t.Fatal() } }\n")}}
	first := shown(w.prove(k))
	library := verify.Compiled(w.host.Std)
	size := func() (n int64) {
		_ = filepath.WalkDir(library, func(_ string, e fs.DirEntry, err error) error {
			if info, failed := e.Info(); err == nil && failed == nil && !e.IsDir() {
				n += info.Size()
			}
			return err
		})
		return n
	}
	before := size()
	place := effect.Place{Workspace: w.repo.Dir, Tree: filepath.Join(w.repo.Dir, ".pawl", "worktrees", "T2"), Git: true}
	cache, err := w.host.GoCache(w.box)(t.Context(), place, "T2", "agent")
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.box.Run(t.Context(), sandbox.Spec{Argv: []string{"sh", "-c",
		`find "$GOCACHE" -name '*-d' | while read -r f; do chmod u+w "$f"; : >"$f"; echo; done | wc -l`}, Dir: "/",
		Env: append(sandbox.Environ(nil, nil), cache.Env...), Writable: cache.Writable, Shown: cache.Shown})
	if err != nil || r.Exit != 0 || len(cache.Shown) > 0 && string(r.Output) == "0\n" {
		t.Fatalf("%v %+v", err, r)
	}
	if got := shown(w.prove(k)); got != first || !strings.Contains(got, "TestMul build confirmed own shows") {
		t.Errorf("%s\nbefore\n%s", got, first)
	}
	if before == 0 || size() != before || verify.Compiled(w.host.Std) != library {
		t.Errorf("the library has changed: %d bytes, then %d", before, size())
	}
}

// TestChanged is about functions that were there before: what changed of them is taken away piece by piece, so that
// tests of the rest of a function do not speak for it. Where no piece builds alone, the function goes.
func TestChanged(t *testing.T) {
	const before = `package m

func F(a, b int) int {
	if a < 0 {
		a = 0
	}

	return a - b
}

func G(name string) string {
	const greeting = "hello"

	return greeting
}
`
	now := strings.NewReplacer("a = 0", "a = -a", "a - b", "a + b", "const greeting =", "word :=",
		"return greeting", "return word + name").Replace(before)
	w := newWorld(t)
	r := w.prove(work{base: map[string]string{"go.mod": goMod, "x.go": before}, budget: time.Minute,
		change: map[string]string{"x.go": now, "x_test.go": "package m\n\nimport \"testing\"\n\n" +
			"func TestF(t *testing.T) { if F(1, 1) != 2 { t.Fatal() } }\n" +
			"func TestG(t *testing.T) { if G(\"x\") != \"hellox\" { t.Fatal() } }\n"}})
	want := strings.TrimSpace(`
- x.go:11 G true m: TestG
- x.go:5  false
- x.go:8  true m: TestF
m: TestF assertion own shows
m: TestG assertion own shows
`)
	if got := shown(r); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestTables: a test speaks of the cases that the work wrote into a table beside it, and of those alone.
func TestTables(t *testing.T) {
	test := func(cases string) string {
		return "package m\n\nimport \"testing\"\n\nvar cases = map[string]int{\n" + cases + "}\n\n" +
			"func TestLen(t *testing.T) {\n\tfor s, want := range cases {\n\t\tif Len(s) != want {\n\t\t\tt.Fail()\n\t\t}\n\t}\n}\n\n" +
			"func TestOther(t *testing.T) { t.Log(\"other\") }\n"
	}
	const before = "package m\n\nfunc Len(s string) int { return 1 }\n"
	w := newWorld(t)
	r := w.prove(work{base: map[string]string{"go.mod": goMod, "x.go": before, "x_test.go": test("\t\"old\": 1,\n")},
		change: map[string]string{"x.go": strings.Replace(before, "return 1", "return len(s) - 2", 1),
			"x_test.go": test("\t\"old\": 1,\n\t\"a word\": 4,\n")},
		criteria: []plan.Criterion{{ID: "c0", Proof: plan.ProofCheck, Texts: []string{"a word", "old", "other"}}}})
	want := "c0 m: TestLen assertion own shows [a word]\nm: TestLen assertion own shows [a word]\n" +
		"m: TestOther green own [a word other]"
	if got := shown(r); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestNode is about work in JavaScript.
func TestNode(t *testing.T) {
	need.Program(t, "node")
	const head = "const test = require('node:test');\nconst assert = require('node:assert');\n"
	base := map[string]string{"package.json": `{"name":"x","scripts":{"test":"node --test"}}`,
		"add.js": "exports.add = function (a, b) {\n  return a - b;\n};\n", "old.test.js": head + "test('old', () => {});\n"}
	after := map[string]string{
		"add.js":      "exports.add = function (a, b) {\n  return a + b;\n};\nexports.mul = (a, b) => {\n  return a * b;\n};\n",
		"new.js":      "module.exports = { twice(a) {\n  return 2 * a;\n} };\n",
		"add.test.js": head + "test('adds', () => { assert.equal(require('./add.js').add(2, 2), 4); });\n",
		"mul.test.js": head + "const { add, mul } = require('./add.js');\ntest('multiplies', () => { assert.equal(mul(2, 3), 6); });\n" +
			"test('is idle', () => { mul(2, 3); });\ntest('adds nothing', () => { assert.equal(add(2, 0), 2); });\n",
		"new.test.js":  head + "const n = require('./new.js');\ntest('twice', () => { assert.equal(n.twice(2), 4); });\n",
		"exit.test.js": head + "test('exits', () => { process.exit(0); });\n",
		"bad.test.js":  head + "const n = require('left-pad');\ntest('other', () => { assert.equal(n, 4); });\n",
	}
	w := newWorld(t)
	r := w.prove(work{base: base, change: after, budget: time.Minute,
		checks: []effect.Check{{Name: "npm test", Command: "npm test", Kind: "test", Level: 2}}})
	want := strings.TrimSpace(`
- add.js:2  true add.test.js: adds
- add.js:4 mul true mul.test.js: multiplies
- new.js:1 twice true new.test.js: twice
add.test.js: adds assertion own shows
bad.test.js: other machine failed own
exit.test.js: exits machine failed own
mul.test.js: adds nothing green own
mul.test.js: is idle build own
mul.test.js: multiplies build confirmed own shows
new.test.js: twice build confirmed own shows
`)
	if got := shown(r); got != want {
		t.Errorf("%s\nwant\n%s\n%+v", got, want, r)
	}
}

// TestPython is about work in Python.
func TestPython(t *testing.T) {
	need.Program(t, "python3")
	const head = "import os, unittest\nimport calc\n\nclass T(unittest.TestCase):\n"
	base := map[string]string{"setup.cfg": "", "calc.py": "def add(a, b):\n    return a - b\n",
		"test_old.py": head + "    def test_old(self): pass\n"}
	after := map[string]string{
		"calc.py":     "def add(a, b):\n    return a + b\n\ndef mul(a, b=1):\n    return a * b\n",
		"extra.py":    "class Box:\n    def __init__(self): self.n = 1\n    def size(self):\n        return self.n\n",
		"test_add.py": head + "    def test_add(self): self.assertEqual(calc.add(2, 2), 4)\n",
		"test_mul.py": head + "    def test_mul(self): self.assertEqual(calc.mul(2, 3), 6)\n    def test_idle(self): calc.mul(2, 3)\n" +
			"    def test_odd(self):\n        with self.assertRaises(TypeError): calc.add()\n",
		"test_extra.py": "import unittest\nfrom extra import Box\n\nclass T(unittest.TestCase):\n" +
			"    def test_size(self):\n        b = Box()\n        self.assertEqual(b.size(), 1)\n    def test_made(self):\n        Box().size()\n",
		"test_exit.py": head + "    def test_exit(self):\n        if calc.add(2, 2) == 4: self.skipTest('later')\n        self.fail()\n",
	}
	w := newWorld(t)
	r := w.prove(work{base: base, change: after, budget: time.Minute,
		criteria: []plan.Criterion{{ID: "c", Proof: plan.ProofCheck, Texts: []string{"MUL", "zork"}},
			{ID: "d", Proof: plan.ProofCheck, Tests: []string{"T::test_add", "test_old", "nope"}},
			{ID: "e", Proof: plan.ProofKept, Tests: []string{"T::test_old"}}},
		checks: []effect.Check{{Name: "unittest", Command: "python3 -m unittest", Kind: "test", Level: 2}}})
	want := strings.TrimSpace(`
- calc.py:2  true test_add.py: T::test_add
- calc.py:4 mul true test_mul.py: T::test_mul
- extra.py:2 __init__ true test_extra.py: T::test_size
- extra.py:3 size true test_extra.py: T::test_size
c test_mul.py: T::test_mul build confirmed own shows [MUL]
d nope absent
d test_add.py: T::test_add assertion own shows
d test_old.py: T::test_old green
e test_old.py: T::test_old green
test_add.py: T::test_add assertion own shows
test_exit.py: T::test_exit assertion failed own
test_extra.py: T::test_made build own
test_extra.py: T::test_size build confirmed own shows
test_mul.py: T::test_idle build own [MUL]
test_mul.py: T::test_mul build confirmed own shows [MUL]
test_mul.py: T::test_odd green own [MUL]
`)
	if got := shown(r); got != want {
		t.Errorf("%s\nwant\n%s\n%+v", got, want, r)
	}
}

// shell is a check of a project whose runner is not known.
var shell = effect.Check{Name: "sh test.sh", Command: "sh test.sh", Kind: "test", Level: 2}

// TestCriteria is about what plans ask for besides tests of the work's own.
func TestCriteria(t *testing.T) {
	base := map[string]string{"test.sh": "grep -q two data.txt\n", "data.txt": "one\n", "old.txt": "OldName\n",
		"docs/a.md": "see OldName\n", "keep.sh": "test -f data.txt\n"}
	after := map[string]string{"data.txt": "one\ntwo\n", "old.txt": "-", "docs/a.md": "see NewName\n", "docs/b.md": "new\n"}
	key := effect.CheckKey(shell)
	lint := effect.Check{Name: "lint", Command: "true", Kind: "lint"}
	is := func(id string, c plan.Criterion) plan.Criterion {
		c.ID = id
		return c
	}
	check := func(c plan.Criterion) plan.Criterion { c.Proof = plan.ProofCheck; return c }
	w := newWorld(t)
	for _, c := range []struct {
		name string
		work work
		want string
	}{
		{"a command", work{criteria: []plan.Criterion{check(plan.Criterion{Run: "grep two data.txt"}),
			check(plan.Criterion{Run: "grep one data.txt"}), check(plan.Criterion{Run: "grep three data.txt"}),
			check(plan.Criterion{Run: "pawl-no-such-program"})}},
			"c0 [grep two data.txt] unmet shows\nc1 [grep one data.txt] green\nc2 [grep three data.txt] unmet failed\n" +
				"c3 [pawl-no-such-program] machine"},
		{"any test, known by its exit status alone", work{criteria: []plan.Criterion{check(plan.Criterion{})}},
			"[sh test.sh] unmet shows\nc0 [sh test.sh] unmet shows"},
		{"checks by name and kind", work{checks: []effect.Check{shell, lint}, criteria: []plan.Criterion{
			check(plan.Criterion{Checks: []string{"test"}}), check(plan.Criterion{Checks: []string{"lint"}}),
			check(plan.Criterion{Checks: []string{"any"}}), check(plan.Criterion{Checks: []string{"none"}})}},
			"[sh test.sh] unmet shows\nc0 [sh test.sh] unmet shows\nc1 [lint] green\nc2 [sh test.sh] unmet shows\nc3 [] absent"},
		{"what is known is not tried", work{red: map[string]effect.Without{key: effect.WithoutUnmet}, criteria: []plan.Criterion{
			check(plan.Criterion{})}}, "[sh test.sh] unmet shows\nc0 [sh test.sh] unmet shows"},
		{"what held is not tried", work{green: []string{key}, criteria: []plan.Criterion{check(plan.Criterion{})}},
			"[sh test.sh] green\nc0 [sh test.sh] green"},
		{"kept", work{green: []string{key}, criteria: []plan.Criterion{{Proof: plan.ProofKept},
			{Proof: plan.ProofKept, Run: "sh keep.sh"}, {Proof: plan.ProofKept, Run: "grep two data.txt"}}},
			"c0 [sh test.sh] green\nc1 [sh keep.sh] green\nc2 [grep two data.txt] unmet shows"},
		{"a test that is nowhere", work{checks: []effect.Check{lint}, criteria: []plan.Criterion{
			check(plan.Criterion{Tests: []string{"TestX"}})}}, "c0 TestX absent"},
		{"gone", work{criteria: []plan.Criterion{{Proof: plan.ProofGone, Paths: []string{"old.txt", "data.txt", "never.txt"}},
			{Proof: plan.ProofGone, Texts: []string{"OldName", "one", "Never"}},
			{Proof: plan.ProofGone, Texts: []string{"OldName"}, Paths: []string{"docs/"}}}},
			"c0 [data.txt] unmet failed\nc0 [never.txt] green\nc0 [old.txt] unmet shows\nc1 [Never] green\n" +
				"c1 [OldName] unmet shows\nc1 [one] unmet failed\nc2 [OldName] unmet shows"},
		{"diff", work{criteria: []plan.Criterion{{Proof: plan.ProofDiff, Paths: []string{"docs/", "docs/b.md", "old.txt", "x"}},
			{Proof: plan.ProofDiff, Paths: []string{"docs"}, Texts: []string{"NewName", "see", "Never"}},
			{Proof: plan.ProofDiff, Texts: []string{"two"}}}},
			"c0 [docs/] unmet shows\nc0 [docs/b.md] unmet shows\nc0 [old.txt] unmet failed\nc0 [x] unmet failed\n" +
				"c1 [Never] unmet failed\nc1 [NewName] unmet shows\nc1 [docs] unmet shows\nc1 [see] green\nc2 [two] unmet shows"},
		{"documents alone", work{change: map[string]string{"docs/a.md": "more\n"}, criteria: []plan.Criterion{
			check(plan.Criterion{})}}, "c0 [] absent"},
		{"nothing", work{change: map[string]string{}, criteria: []plan.Criterion{check(plan.Criterion{Run: "sh keep.sh"})}},
			"c0 [sh keep.sh] green"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			c.work.base = base
			if c.work.change == nil {
				c.work.change = maps.Clone(after)
				c.work.change["run.sh"] = "true\n"
			}
			if c.work.checks == nil {
				c.work.checks = []effect.Check{shell}
			}
			for i := range c.work.criteria {
				c.work.criteria[i] = is(fmt.Sprint("c", i), c.work.criteria[i])
			}
			r := w.prove(c.work)
			if got := strings.ReplaceAll(shown(r), "  ", " "); got != c.want {
				t.Errorf("%s\nwant\n%s\n%+v", got, c.want, r)
			}
		})
	}
}

// TestHostile is about files and tests that are not what they should be.
func TestHostile(t *testing.T) {
	need.Program(t, "python3")
	py := effect.Check{Name: "unittest", Command: "python3 -m unittest", Kind: "test", Level: 2}
	const head = "import os, time, unittest\nimport calc\n\nclass T(unittest.TestCase):\n"
	base := map[string]string{"setup.cfg": "", "calc.py": "def add(a, b):\r\n    return a - b\r\n", "test_old.py": head +
		"    def test_old(self): pass\n", "test_gone.py": head + "    def test_gone(self): pass\n"}
	w := newWorld(t)
	t.Run("files", func(t *testing.T) {
		w.t = t
		r := w.prove(work{base: base, checks: []effect.Check{py}, budget: time.Minute, change: map[string]string{
			"calc.py": "def add(a, b):\r\n    return a + b\r\n", "test_gone.py": "-", "test_bin.py": "\x00\x01",
			"test_big.py": "# " + strings.Repeat("x", 2<<20) + "\n", "nested/go.mod": "module n\n", "nested/n_test.go": "package n\n",
			"test_link.py": "-> nowhere/at/all", "test_add.py": head + "    def test_add(self): self.assertEqual(calc.add(2, 2), 4)\n",
			"test_twice.py": head + "    def test_a(self): self.assertEqual(calc.add(2, 2), 4)\n    def test_a(self): pass\n"}})
		want := "- calc.py:2  true test_add.py: T::test_add\ntest_add.py: T::test_add assertion own shows\n" +
			"test_twice.py: T::test_a green own"
		if got := shown(r); !strings.HasPrefix(got, want) {
			t.Errorf("%s\nwant\n%s\n%+v", got, want, r)
		}
	})
	t.Run("a test of before that the work mends", func(t *testing.T) {
		w.t = t
		red := maps.Clone(base)
		red["test_add.py"] = head + "    def test_add(self): self.assertEqual(calc.add(2, 2), 4)\n    def test_no(self): pass\n"
		k := work{base: red, checks: []effect.Check{py}, change: map[string]string{"calc.py": "def add(a, b):\n    return a + b\n"},
			criteria: []plan.Criterion{{ID: "c", Proof: plan.ProofCheck}}}
		want := "c test_add.py: T::test_add assertion shows\ntest_add.py: T::test_add assertion shows"
		if got := shown(w.prove(k)); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
		k.change["test_more.py"] = head + "    def test_more(self): pass\n"
		k.red = map[string]effect.Without{effect.CheckKey(py): effect.WithoutUnmet}
		if got := shown(w.prove(k)); got != "[unittest] unmet shows\nc test_more.py: T::test_more green own\ntest_more.py: T::test_more green own" {
			t.Error(got)
		}
	})
	t.Run("a test that never ends without the work", func(t *testing.T) {
		w.t = t
		r := w.prove(work{base: base, checks: []effect.Check{py}, perCheck: 4 * time.Second, change: map[string]string{
			"calc.py":     "def add(a, b):\n    return a + b\n",
			"test_add.py": head + "    def test_add(self):\n        while calc.add(2, 2) != 4: time.sleep(1)\n"}})
		if got := shown(r); got != "test_add.py: T::test_add machine own" {
			t.Errorf("%s\n%+v", got, r)
		}
	})
	t.Run("canceled", func(t *testing.T) {
		w.t = t
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w.ctx, w.stop = ctx, cancel
		defer func() { w.ctx, w.stop = nil, nil }()
		w.prove(work{base: base, checks: []effect.Check{py}, change: map[string]string{
			"test_add.py": head + "    def test_add(self): time.sleep(600)\n"}})
	})
}

// TestPlaces is about work where there is no git, and in the user's own tree.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		name    string
		git, in bool
	}{{"without git", false, false}, {"without git in place", false, true}, {"in place", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			place := effect.Place{Workspace: w.repo.Dir, Tree: filepath.Join(w.repo.Dir, ".pawl", "worktrees", "T"), Git: c.git,
				InPlace: c.in}
			if c.in {
				place.Tree = place.Workspace
			}
			if !c.git {
				if err := os.RemoveAll(w.repo.Path(".git")); err != nil {
					t.Fatal(err)
				}
			}
			w.repo.Write(map[string]string{"data.txt": "one\n", "test.sh": "grep -q two data.txt\n", "run.sh": "true\n"})
			if r := checkpoint.NewWorktree(w.memory).Do(t.Context(), effect.Effect{Place: place,
				Spec: effect.Encode(effect.WorktreeSpec{})}, nil); !r.OK {
				t.Fatal(r.Err())
			}
			shots := checkpoint.NewSnapshotter(w.memory)
			base, err := shots.Snapshot(t.Context(), place)
			if err != nil {
				t.Fatal(err)
			}
			change(t, place.Tree, map[string]string{"data.txt": "one\ntwo\n", "run.sh": "echo\n"})
			tree, err := shots.Snapshot(t.Context(), place)
			if err != nil {
				t.Fatal(err)
			}
			// What a crash left is in nobody's way.
			gittest.Write(t, ground.Beside(place).Tree, map[string]string{"left": "x", "data.txt": "two\n"})
			r := w.do(place, effect.ProveSpec{Base: base, Tree: tree, Checks: []effect.Check{shell}, PerCheck: time.Minute,
				Criteria: []plan.Criterion{{ID: "c", Proof: plan.ProofCheck}}})
			if got := shown(r); got != "[sh test.sh] unmet shows\nc [sh test.sh] unmet shows" {
				t.Errorf("%s\n%+v", got, r)
			}
			if after, err := shots.Snapshot(t.Context(), place); err != nil || after != tree {
				t.Errorf("the tree is another one: %v", err)
			}
		})
	}
}

// TestPlannedFiles is about tests that came with the plan: they are tried as the plan has them, whatever the work says,
// and those that are held out tell a constant for what was shown from what was wanted.
func TestPlannedFiles(t *testing.T) {
	w := newWorld(t)
	test := func(pkg, name, cond string) string {
		return "package " + pkg + "\n\nimport \"testing\"\n\nfunc " + name + "(t *testing.T) {\n\tif " + cond +
			" {\n\t\tt.Fatal()\n\t}\n}\n"
	}
	of := func(pkg, path string) plan.Criterion {
		return plan.Criterion{ID: pkg, Text: "Double doubles", Proof: plan.ProofCheck, Files: []plan.TestFile{
			{Path: pkg + "/shown_test.go", Content: test(pkg, "TestShown", "Double(3) != 6")},
			{Path: pkg + "/" + path, Content: test(pkg, "TestHeld", "Double(4) != 8"), Held: true}}}
	}
	was := "\n\nfunc Same(n int) int { return n }\n"
	honest, knows := of("honest", "held_test.go"), of("knows", "held_test.go")
	kept := of("kept", "held_test.go")
	kept.Proof = plan.ProofKept
	lost := plan.Criterion{ID: "lost", Text: "x", Proof: plan.ProofCheck,
		Files: []plan.TestFile{{Path: "tests/x.rs", Content: "fn x() {}"}}}
	got := shown(w.prove(work{
		base: map[string]string{"go.mod": goMod, "honest/x.go": "package honest" + was, "knows/x.go": "package knows" + was,
			"kept/x.go": "package kept\n\nfunc Double(n int) int { return n + n }\n"},
		change: map[string]string{
			"honest/x.go":          "package honest" + was + "\nfunc Double(n int) int { return 2 * n }\n",
			"honest/shown_test.go": honest.Files[0].Content,
			"knows/x.go":           "package knows" + was + "\nfunc Double(n int) int {\n\tif n == 3 {\n\t\treturn 6\n\t}\n\treturn 0\n}\n",
			"knows/shown_test.go":  test("knows", "TestShown", "false"),
			"kept/x.go":            "package kept\n\nfunc Double(n int) int { return 2 * n }\n",
		},
		criteria: []plan.Criterion{honest, knows, kept, lost},
	}))
	want := strings.TrimSpace(`
honest m/honest: TestHeld build confirmed held shows
honest m/honest: TestShown build confirmed shows
kept m/kept: TestHeld green held
kept m/kept: TestShown green
knows m/knows: TestHeld build failed held
knows m/knows: TestShown build confirmed shows
lost tests/x.rs absent
m/honest: TestHeld build confirmed held shows
m/honest: TestShown build confirmed shows
m/kept: TestHeld green held
m/kept: TestShown green
m/knows: TestHeld build failed held
m/knows: TestShown build confirmed shows
`)
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
