package main

import (
	"encoding/json"
	"strings"
	"testing"

	"pawl/internal/modeltest"
)

// A test that comes with a plan and is wrong, and how it should be.
const (
	plannedWrong = `assert b"6" == run("sh add.sh 1 4")`
	plannedRight = `assert b"5" == run("sh add.sh 1 4")`

	plannedTest = "import subprocess\ndef run(line):\n    return subprocess.check_output(line.split()).strip()\n"
)

// disputed is a script whose worker disputes the planned test and does the work, and whose planner says the answer.
func disputed(answer string) modeltest.Script {
	s := asking(modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{
		{Calls: []modeltest.Call{{Name: "dispute_test", Args: `{"path":"tests/test_p.py","reason":"1 and 4 make 5"}`}}},
		{Calls: []modeltest.Call{{Write: "add.sh", Content: addRight}}}, {Text: "Done."}}}}})
	s.JSON["plan"] = json.RawMessage(strings.Replace(planOf, `"steps"`, `"criteria":[{"id":"c1","text":"Sum adds",`+
		`"proof":"check","run":"python3 tests/test_p.py","files":[{"path":"tests/test_p.py","content":`+quotedJSON(plannedTest+plannedWrong+"\n")+
		`}]}],"steps"`, 1))
	s.JSON["rewrite"] = json.RawMessage(answer)
	return s
}

// quotedJSON is a text as JSON has it.
func quotedJSON(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // texts always encode
	}
	return string(raw)
}

// TestDisputedTests: a person sees both texts of a disputed test and chooses; where nobody attends, the work waits for
// somebody to take it.
func TestDisputedTests(t *testing.T) {
	t.Parallel()
	writtenAnew := `{"verdict":"rewrite","reason":"It is 5.","content":` + quotedJSON(plannedTest+plannedRight+"\n") + `}`
	both := []string{"llm says that tests/test_p.py is wrong: 1 and 4 make 5", "wrote it anew: It is 5.", "-" + plannedWrong,
		"+" + plannedRight}
	shows := func(u *user, want []string, argv ...string) {
		t.Helper()
		out := u.must(0, argv...).out
		for _, part := range want {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), part) {
				t.Errorf("%v does not show %q:\n%s", argv, part, out)
			}
		}
	}
	ask := func(u *user) {
		t.Helper()
		if a := u.must(9, "run", "Sum(2, 3) is not 5", "--yes"); !strings.Contains(a.out, "-"+plannedWrong) ||
			!strings.Contains(a.out, "+"+plannedRight) || !strings.Contains(a.out, "pawl approve") {
			t.Errorf("both texts are not shown: %v", a)
		}
	}
	t.Run("taken", func(t *testing.T) {
		t.Parallel()
		u, srv := adding(t, disputed(writtenAnew))
		ask(u)
		before := u.task("T-001").PlanHash
		u.must(0, "approve", u.state("EXECUTING").Approval.Hash, "--yes")
		if after := u.task("T-001").PlanHash; after == before || u.read("tests/test_p.py") != plannedTest+plannedRight+"\n" ||
			u.read("add.sh") != addRight {
			t.Errorf("%s, then %s: %q landed", before, after, u.read("tests/test_p.py"))
		}
		shows(u, append(both, "Disputed tests", "Done · proven", "The new text counts, on the word of"), "show")
		told := false
		for _, r := range srv.Requests() {
			told = told || strings.Contains(r.Body, "wrote it anew, and that counts now")
		}
		if !told {
			t.Error("the worker was not told")
		}
		u.must(0, "audit", "verify")
		u.quiet()
	})
	t.Run("kept", func(t *testing.T) {
		t.Parallel()
		s := disputed(writtenAnew)
		s.Branches[0].Steps = append(s.Branches[0].Steps[:1], modeltest.Step{Calls: []modeltest.Call{{Write: "add.sh",
			Content: "case $1 in 1) echo 6;; *) echo $(($1 + $2));; esac\n"}}}, modeltest.Step{Text: "Done."})
		u, _ := adding(t, s)
		ask(u)
		u.must(0, "deny", "-m", "I want 6")
		u.must(0, "resume")
		if u.read("tests/test_p.py") != plannedTest+plannedWrong+"\n" {
			t.Errorf("%q landed", u.read("tests/test_p.py"))
		}
		shows(u, append(both, "It stays as it is, on the word of"), "show")
		u.must(0, "audit", "verify")
		u.quiet()
	})
	t.Run("unattended", func(t *testing.T) {
		t.Parallel()
		u, _ := adding(t, disputed(writtenAnew))
		u.must(8, "run", "Sum(2, 3) is not 5", "--yes", "--unattended")
		shows(u, append(both, "The new text counts, and no person has seen it.", "Not proven, waits for you"), "show")
		shows(u, []string{"有争议的测试", "新文本已生效，但尚无人看过", "尚无人批准"}, "show", "--lang", "zh-CN")
		u.must(0, "accept", u.task("T-001").Tree, "-m", "5 is right")
		if u.read("tests/test_p.py") != plannedTest+plannedRight+"\n" || u.read("add.sh") != addRight {
			t.Errorf("%q landed", u.read("tests/test_p.py"))
		}
		u.must(0, "audit", "verify")
		u.quiet()
	})
	t.Run("the planner keeps it", func(t *testing.T) {
		t.Parallel()
		u, _ := adding(t, disputed(`{"verdict":"keep","reason":"6 is asked for."}`))
		u.pawl("run", "Sum(2, 3) is not 5", "--yes", "--unattended")
		shows(u, []string{"who planned, keeps it: 6 is asked for.", "It stays as it is."}, "show")
		if strings.Contains(u.read("tests/test_p.py"), plannedRight) {
			t.Errorf("%q", u.read("tests/test_p.py"))
		}
		u.must(0, "audit", "verify")
	})
}
