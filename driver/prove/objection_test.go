package prove_test

import (
	"path/filepath"
	"testing"
	"time"

	"pawl/driver/checkpoint"
	"pawl/internal/need"
	"pawl/kernel/effect"
)

// object has the tests of objections run on a tree with some files, and returns how each ended.
func (w *world) object(files map[string]string, checks []effect.Check, tests ...effect.ReviewTest) []effect.Without {
	w.t.Helper()
	w.repo.Write(files)
	w.repo.Commit("base")
	place := effect.Place{Workspace: w.repo.Dir, Tree: filepath.Join(w.repo.Dir, ".pawl", "worktrees", "T"), Git: true}
	if r := checkpoint.NewWorktree(w.memory).Do(w.t.Context(), effect.Effect{Place: place,
		Spec: effect.Encode(effect.WorktreeSpec{Base: w.repo.Head()})}, nil); !r.OK {
		w.t.Fatal(r.Err())
	}
	tree, err := checkpoint.NewSnapshotter(w.memory).Snapshot(w.t.Context(), place)
	if err != nil {
		w.t.Fatal(err)
	}
	spec := effect.ProveSpec{Base: tree, Tree: tree, Checks: checks, PerCheck: 5 * time.Minute}
	for i, test := range tests {
		spec.Objections = append(spec.Objections, effect.Objection{ID: string(rune('a' + i)), Test: &test})
	}
	var out []effect.Without
	for i, seen := range w.do(place, spec).Witnesses {
		if seen.Criterion != spec.Objections[i].ID {
			w.t.Errorf("%+v is about %s", seen, spec.Objections[i].ID)
		}
		out = append(out, seen.Without)
	}
	if after, err := checkpoint.NewSnapshotter(w.memory).Snapshot(w.t.Context(), place); err != nil || after != tree {
		w.t.Errorf("the task's tree is another one: %v", err)
	}
	return out
}

// expect holds how tests ended against how they were to end.
func (w *world) expect(got []effect.Without, want ...effect.Without) {
	w.t.Helper()
	if len(got) != len(want) {
		w.t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			w.t.Errorf("%d: %q, want %q", i, got[i], want[i])
		}
	}
}

func TestObjectionsInGo(t *testing.T) {
	w := newWorld(t)
	test := func(path, body string) effect.ReviewTest {
		return effect.ReviewTest{Path: path, Content: inTest("m", body)}
	}
	w.expect(w.object(map[string]string{"go.mod": goMod, "calc.go": calc, "calc_test.go": calcTest}, []effect.Check{goTest},
		test("neg_test.go", `func TestNeg(t *testing.T) { if Add(-1, 2) != 2 { t.Fatal("Add") } }`),
		test("fine_test.go", `func TestFine(t *testing.T) { if Add(-1, 2) != 1 { t.Fatal("Add") } }`),
		test("gone_test.go", `func TestGone(t *testing.T) { if Mul(2, 3) != 6 { t.Fatal("Mul") } }`),
		test("torn_test.go", `func TestTorn(t *testing.T) {`),
		test("calc_test.go", `func TestAdd(t *testing.T) { t.Fatal("mine now") }`),
		test("init.go", `func init() { panic("no test") }`),
		test("../out_test.go", `func TestOut(t *testing.T) { t.Fatal() }`),
		test("moody_test.go", "func TestMoody(t *testing.T) {\n\tname := os.Getenv(\"BUILD_DIR\") + \"/moody\"\n"+
			"\t_, err := os.Stat(name)\n\tos.WriteFile(name, nil, 0o644)\n\tif err != nil { t.Fatal() }\n}\n"),
		effect.ReviewTest{Path: "look.sh", Content: "grep -q Sub calc.go\n", Run: "sh look.sh"},
		effect.ReviewTest{Path: "see.sh", Content: "grep -q Add calc.go\n", Run: "sh see.sh"},
		effect.ReviewTest{Path: "none.sh", Content: "x\n", Run: "no-such-program none.sh"},
	), effect.WithoutAssertion, effect.WithoutGreen, effect.WithoutBuild, effect.WithoutMachine, effect.WithoutAbsent,
		effect.WithoutAbsent, effect.WithoutAbsent, effect.WithoutFlickers, effect.WithoutUnmet, effect.WithoutGreen,
		effect.WithoutMachine)
}

// What a check of an unknown runner says counts only where it passes without the test.
func TestObjectionsToChecksAsAWhole(t *testing.T) {
	w := newWorld(t)
	sh := effect.Check{Name: "tests", Command: "sh tests.sh", Kind: "test", Level: 2}
	red := effect.Check{Name: "red here", Command: "test -d built", Kind: "test", Level: 2}
	all := map[string]string{"tests.sh": "for f in tests/*_test.sh; do sh $f || exit 1; done\n", "tests/a_test.sh": "true\n"}
	w.expect(w.object(all, []effect.Check{red, sh}, effect.ReviewTest{Path: "tests/b_test.sh", Content: "false\n"},
		effect.ReviewTest{Path: "tests/c_test.sh", Content: "true\n"}), effect.WithoutUnmet, effect.WithoutGreen)
	w = newWorld(t)
	w.expect(w.object(all, []effect.Check{red}, effect.ReviewTest{Path: "tests/b_test.sh", Content: "false\n"}),
		effect.WithoutMachine)
}

// A name that is not there is the reviewer's mistake, whatever a language calls that.
func TestObjectionsWithoutNames(t *testing.T) {
	need.Program(t, "python3")
	w := newWorld(t)
	const head = "import unittest\nimport calc\n\nclass T(unittest.TestCase):\n    def test_it(self): "
	w.expect(w.object(map[string]string{"setup.cfg": "", "calc.py": "def add(a, b):\n    return a - b\n"},
		[]effect.Check{{Name: "unittest", Command: "python3 -m unittest", Kind: "test", Level: 2}},
		effect.ReviewTest{Path: "test_add.py", Content: head + "self.assertEqual(calc.add(2, 2), 4)\n"},
		effect.ReviewTest{Path: "test_mul.py", Content: head + "self.assertEqual(calc.mul(2, 2), 4)\n"},
		effect.ReviewTest{Path: "test_mod.py", Content: "import nothing_of_the_kind\n" + head + "self.fail()\n"},
	), effect.WithoutAssertion, effect.WithoutBuild, effect.WithoutMachine)
}
