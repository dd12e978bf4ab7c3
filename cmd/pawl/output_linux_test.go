package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// into runs a command whose standard output goes to a file of the machine that is opened for writing only.
func (u *user) into(out *os.File, args ...string) answer {
	u.t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	var said strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = u.dir, u.env(asPawl+"=1"), out, &said
	_ = cmd.Run() // its status says how it ended
	return answer{code: cmd.ProcessState.ExitCode(), err: said.String()}
}

// TestOutputThatFails: output that is lost is noticed, and what was done is told all the same.
func TestOutputThatFails(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "issue", "add", "first")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	const unchanged, stands = "nothing was changed", "what was done until then stands"
	plan := u.planFile("p", partPlan(1, "", "", false))
	for _, c := range []struct {
		say  string
		args []string
	}{
		{unchanged, []string{"status"}}, {unchanged, []string{"status", "--json"}}, {unchanged, []string{"version"}},
		{unchanged, []string{"help"}},
		{unchanged, []string{"audit", "export"}}, {unchanged, []string{"issue", "list"}},
		{"ISS-2 is added", []string{"issue", "add", "second"}}, {"ISS-3 is added",
			[]string{"issue", "add", "third", "--json"}},
		{stands, []string{"issue", "edit", "ISS-3", "--title", "else"}}, {stands,
			[]string{"run", "--plan", plan, "--yes", "--json"}},
	} {
		if a := u.into(full, c.args...); a.code != 10 || !strings.Contains(a.err, c.say) ||
			strings.Contains(a.err, "internal") || strings.Contains(a.err, "Usage") {
			t.Errorf("pawl %s: %v", strings.Join(c.args, " "), a)
		}
	}
	if n := len(u.issues()); n != 3 {
		t.Errorf("%d issues", n)
	}
	if got := u.git("log", "-1", "--format=%s"); got != "Add part001" {
		t.Errorf("the run landed %q", got)
	}
	// What else went wrong is said first.
	if a := u.into(full, "task", "show", "T-999"); a.code != 3 {
		t.Errorf("an error of its own: %v", a)
	}

	// A reader that had enough is no failure.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	for _, args := range [][]string{{"issue", "list"}, {"issue", "add", "fourth"}} {
		if a := u.into(w, args...); a.code != 141 || a.err != "" {
			t.Errorf("pawl %s without a reader: %v", strings.Join(args, " "), a)
		}
	}
	w.Close()
}
