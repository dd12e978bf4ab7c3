package verify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox"
)

func TestGates(t *testing.T) {
	named := func(names ...string) []effect.Check {
		var out []effect.Check
		for _, n := range names {
			name, command, _ := strings.Cut(n, "=")
			out = append(out, effect.Check{Name: name, Command: command})
		}
		return out
	}
	for name, test := range map[string]struct {
		gates    []effect.Check
		files    map[string]string
		dirty    []string
		look     LookPath
		commands map[string]string
		statuses string
		code     pawl.Code
		key      string
	}{
		"none": {gates: nil, code: pawl.CodeInvalid, key: "verify.no_gates"},
		"unknown": {gates: named("doctor", "magic"), code: pawl.CodeInvalid,
			key: "verify.unknown_gate"},
		"empty name":              {gates: named(""), code: pawl.CodeInvalid, key: "verify.unknown_gate"},
		"smoke without a command": {gates: named("smoke"), code: pawl.CodeInvalid, key: "verify.gate_without_command"},
		"tests without a suite":   {gates: named("tests"), code: pawl.CodeInvalid, key: "verify.gate_without_tests"},
		"doctor":                  {gates: named("doctor"), statuses: "passed"},
		"smoke":                   {gates: named("doctor", "smoke=./quick"), statuses: "passed passed"},
		"tests": {gates: named("doctor", "tests"), files: map[string]string{"Makefile": "test:\n"},
			statuses: "passed passed passed"},
		"smoke as configured": {gates: named("doctor", "smoke"), commands: map[string]string{"smoke": "./quick"},
			statuses: "passed passed"},
		"tests as configured": {gates: named("tests=./all"), statuses: "passed"},
		"fail-fast": {gates: named("bad=false", "smoke=./quick"), statuses: "failed skipped",
			code: pawl.CodeChecksFailed, key: "verify.failed"},
		"a program is missing": {gates: named("doctor", "tests"), files: map[string]string{"Makefile": "test:\n"},
			look:     without("make"),
			statuses: "failed! skipped skipped", code: pawl.CodeEnvironment, key: "verify.environment"},
		"a linter is missing": {gates: named("doctor", "tests"),
			files: map[string]string{"Makefile": "lint:\ntest:\n", "x/setup.cfg": "[flake8]"},
			look:  without("flake8"), statuses: "passed passed passed passed skipped"},
		"an unresolved merge": {gates: named("doctor"),
			files: map[string]string{"a.txt": "x\n<<<<<<< ours\n1\n=======\n2\n>>>>>>> theirs\n", "b.md": "=======\n"},
			dirty: []string{"a.txt", "b.md", "gone.txt"}, statuses: "failed", code: pawl.CodeChecksFailed,
			key: "verify.failed"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]func(sandbox.Spec) (sandbox.Result, error){"false": exits(1, "")})
			if test.look != nil {
				b.look = test.look
			}
			for n, text := range test.files {
				p := filepath.Join(b.place.Tree, n)
				if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755),
					os.WriteFile(p, []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			c := b.config()
			c.Commands = test.commands
			g := NewGates(New(c), func(context.Context, effect.Place) (string, string, []string, error) {
				return "c", "main", test.dirty, nil
			})
			r, v := checkReceipt(t, g.Do(t.Context(), b.effect(effect.VerifySpec{Checks: test.gates}), nil))
			if statuses(v) != test.statuses || r.Code != test.code || r.Key != test.key {
				t.Errorf("%q %s %s\n%+v", statuses(v), r.Code, r.Key, v.Outcomes)
			}
			if answer, _ := g.Done(t.Context(), effect.Effect{}); answer != effect.DoneNo {
				t.Errorf("done: %s", answer)
			}
		})
	}
}

// Why the walls could not be raised is part of the evidence, on one line of its own.
func TestWallsThatDoNotStandAreExplained(t *testing.T) {
	b := newBench(t, map[string]func(sandbox.Spec) (sandbox.Result,
		error){"exit 0": func(sandbox.Spec) (sandbox.Result, error) {
		return sandbox.Result{}, pawl.Fail(pawl.CodeSandbox,
			"sandbox.walls").Because(errors.New("mount x:\nno such file"))
	}})
	g := NewGates(New(b.config()), nil)
	_, v := checkReceipt(t, g.Do(t.Context(), b.effect(effect.VerifySpec{Checks: []effect.Check{{Name: GateDoctor}}}),
		nil))
	if statuses(v) != "failed!" || !strings.Contains(v.Outcomes[0].Output, "bad walls ") ||
		!strings.Contains(v.Outcomes[0].Output, "mount x: no such file") {
		t.Errorf("%s %+v", statuses(v), v.Outcomes)
	}
}

func TestContext(t *testing.T) {
	b := newBench(t, nil)
	if err := os.WriteFile(filepath.Join(b.place.Workspace, "go.mod"), []byte("module x"), 0o644); err != nil {
		t.Fatal(err)
	}
	many := make([]string, 150)
	c := NewContext(b.config().Host, OpenDir, func(context.Context, effect.Place) (string, string, []string,
		error) {
		return "abc", "main", many, nil
	})
	do := func(e effect.Effect) (effect.Receipt, effect.ContextResult) {
		r := c.Do(t.Context(), e, nil)
		if !r.OK {
			return r, effect.ContextResult{}
		}
		found, err := effect.Decode[effect.ContextResult](r.Result)
		if err != nil {
			t.Fatal(err)
		}
		return r, found
	}
	e := b.effect(effect.ContextSpec{Requirement: "x"})
	if _, found := do(e); found.Head != "abc" || found.Branch != "main" || len(found.Dirty) != 100 ||
		len(found.Ecosystems) != 0 {
		t.Errorf("the task's tree: %+v", found)
	}
	e.Place.Tree = filepath.Join(b.place.Workspace, ".pawl", "trees", "later")
	if _, found := do(e); len(found.Ecosystems) != 1 || found.Files != 1 || len(found.Definitions) != 0 {
		t.Errorf("the workspace: %+v", found)
	}
	e.Place.Workspace = filepath.Join(b.place.Workspace, "gone")
	if r, _ := do(e); r.Code != pawl.CodeIO || r.Key != "verify.tree_unreadable" {
		t.Errorf("%+v", r)
	}
	e.Spec = nil
	if r, _ := do(e); r.OK {
		t.Errorf("%+v", r)
	}
}
