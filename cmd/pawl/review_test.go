package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/modeltest"
)

// A program that is to add, which a worker makes right, or right where its test looks.
const (
	addWrong = "echo $(($1 - $2))\n"
	addCheat = "case $1 in 2) echo 5;; *) echo $(($1 - $2));; esac\n"
	addRight = "echo $(($1 + $2))\n"
	addTest  = "test \"$(sh add.sh 2 3)\" = 5\n"
)

// adding is a user with that program, whose work is reviewed by a model.
func adding(t *testing.T, s modeltest.Script, more ...string) (*user, *modeltest.Server) {
	t.Helper()
	u := newUser(t)
	u.write("add.sh", addWrong)
	u.write("tests/a.sh", addTest)
	u.write("Makefile", "test:\n\t@for f in tests/*.sh; do sh $$f || exit 1; done\n")
	u.repository()
	return u, u.modelled("openai", s, more...)
}

// objection is what a reviewer says against work: that 1 and 4 are not 5, with a test that they make what is wanted.
func objection(want int, more string) string {
	return fmt.Sprintf(`{"verdict":"objections","objections":[{"reason":"1 and 4 are not 5",%s"test":`+
		`{"path":"tests/other.sh","content":"test \"$(sh add.sh 1 4)\" = %d\n"}}]}`, more, want)
}

// reviewed is a script whose worker writes first and, told of what failed, then; a reviewer says the reviews.
func reviewed(first, then string, reviews ...string) modeltest.Script {
	s := asking(modeltest.FixBug("add.sh", first, then))
	s.JSON["plan"] = json.RawMessage(strings.Replace(planOf, `"steps"`,
		`"criteria":[{"id":"c1","text":"Sum adds","proof":"check","run":"sh tests/a.sh"}],"steps"`, 1))
	for i, r := range reviews {
		name := "review"
		if i > 0 {
			name += "#2"
		}
		s.JSON[name] = json.RawMessage(r)
	}
	return s
}

const noObjection = `{"verdict":"no_objection","objections":[]}`

// TestReviews: what a reviewer of the same model says comes to what can be looked at of it, and to nothing else.
func TestReviews(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script  modeltest.Script
		setting string
		result  string
		asked   int // requests for a review
		shown   []string
	}{
		"sent back and mended": {reviewed(addCheat, addRight, objection(5, ""), noObjection), "", addRight, 2,
			[]string{"objections: 1 · the work went back for them", "1 and 4 are not 5", "its test fails on the work: tests/other.sh",
				"llm (mock-model): no objection"}},
		"sent back once": {reviewed(addCheat, addCheat+"# really\n", objection(5, "")), "", addCheat + "# really\n", 2,
			[]string{"went back for them", "its test fails on the work: tests/other.sh", "Done · proven"}},
		"no witness": {reviewed(addCheat, addRight, objection(-3, `"criterion":"c1","file":"add.sh","line":1,`)), "", addCheat, 1,
			[]string{"objections: 1", "add.sh:1 · c1 · its test passes, which refutes it", "Done · proven"}},
		"malformed twice": {reviewed(addRight, addRight, `{"verdict":"fine"}`), "", addRight, 2,
			[]string{"not reviewed: ", "Done · proven"}},
		"no budget": {reviewed(addCheat, addRight, objection(5, ""), objection(5, "")), "budget: {review: {turns: 1}}", addRight, 1,
			[]string{"went back for them", "not reviewed: the budget of the role review does not allow it", "Done · proven"}},
		"nobody": {reviewed(addRight, addRight, objection(5, "")), "agents: {review: none}", addRight, 0, []string{"Done · proven"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, srv := adding(t, c.script, c.setting)
			u.must(0, "run", "Sum(2, 3) is not 5", "--yes")
			if got := u.read("add.sh"); got != c.result {
				t.Errorf("%q landed", got)
			}
			asked := 0
			for _, r := range srv.Requests() {
				if strings.Contains(r.Body, "You review a change") {
					asked++
				}
			}
			a := u.must(0, "show")
			for _, part := range c.shown {
				if !strings.Contains(a.out, part) {
					t.Errorf("%q is not shown: %v", part, a)
				}
			}
			if asked != c.asked || strings.Contains(a.out, "Review") != (c.asked > 0) {
				t.Errorf("asked %d times: %v", asked, a)
			}
			if a := u.must(0, "budget"); strings.Contains(a.out, "review:RUN-1") != strings.HasPrefix(c.setting, "budget") {
				t.Errorf("%v", a)
			}
			if u.read("tests/other.sh") != "" {
				t.Error("the reviewer's test landed")
			}
			u.must(0, "audit", "verify")
			u.quiet()
		})
	}
}

// TestALostReviewIsAskedForAgain kills pawl while it waits for the reviewer.
func TestALostReviewIsAskedForAgain(t *testing.T) {
	t.Parallel()
	script := reviewed(addCheat, addRight, objection(5, ""), noObjection)
	slow := script
	slow.Branches = append(slices.Clone(script.Branches), modeltest.Branch{When: "You review a change",
		Steps: []modeltest.Step{{Wait: time.Minute}}})
	u, srv := adding(t, slow)
	p := u.start("run", "Sum(2, 3) is not 5", "--yes")
	for asked := false; !asked; time.Sleep(20 * time.Millisecond) {
		for _, r := range srv.Requests() {
			asked = asked || strings.Contains(r.Body, "You review a change")
		}
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	srv.Play(script)
	u.must(0, "resume")
	if u.read("add.sh") != addRight {
		t.Errorf("%q landed", u.read("add.sh"))
	}
	if a := u.must(0, "show", "--json"); strings.Count(a.out, `"sent_back": true`)+strings.Count(a.out, `"sent_back":true`) != 1 {
		t.Errorf("%v", a)
	}
	u.must(0, "audit", "verify")
	u.quiet()
}
