package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// shellOnly is a user whose machine has the tools of the system and git, and no Go.
func shellOnly(t *testing.T) *user {
	u := newUser(t)
	u.only = "/usr/local/sbin:/usr/bin:/bin"
	if dir := filepath.Join(u.home, "tmp"); os.Mkdir(dir, 0o755) == nil {
		u.temp = dir
	}
	return u
}

// stages runs a check and returns the stages that passed and the one that failed.
func (u *user) stages(code int, args ...string) (passed []string, failed string, a answer) {
	u.t.Helper()
	a = u.must(code, append([]string{"agent", "check", "--json", "--limit", patience.String()}, args...)...)
	for line := range strings.Lines(a.out) {
		var s struct {
			Type, Stage string
			OK          bool
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			u.t.Fatal(err, line)
		}
		switch {
		case s.Type == "stage" && s.OK:
			passed = append(passed, s.Stage)
		case s.Type == "stage":
			failed = s.Stage
		}
	}
	if left, err := os.ReadDir(u.temp); err != nil || len(left) > 0 {
		u.t.Errorf("something is left: %v, %v", left, err)
	}
	if left, _ := filepath.Glob(filepath.Join(u.home, ".*")); len(left) > 0 {
		u.t.Errorf("the user's home was written to: %v", left)
	}
	return passed, failed, a
}

func TestAgentCheck(t *testing.T) {
	t.Parallel()
	all := []string{"found", "planned", "edited", "refused", "mended", "proven", "landed", "undone", "liar", "quiet"}
	of := slices.Insert(slices.Insert(slices.Clone(all), 5, "reviewed"), 1, "judged")
	for name, want := range map[string][]string{"llm": of, "script": slices.Concat(all[:3], all[5:])} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := shellOnly(t)
			if passed, failed, a := u.stages(0, name); failed != "" || !slices.Equal(passed, want) {
				t.Errorf("passed %v, failed %s: %v", passed, failed, a)
			}
		})
	}
}

// TestAgentCheck_Useless is an agent that ends without a word, so that it judges no requirement, and one that is not
// there.
func TestAgentCheck_Useless(t *testing.T) {
	t.Parallel()
	u := shellOnly(t)
	if passed, failed, a := u.stages(10, "pi"); failed != "found" || len(passed) > 0 ||
		!strings.Contains(a.out, "npm install") {
		t.Errorf("passed %v, failed %s: %v", passed, failed, a)
	}
	bin := filepath.Join(filepath.Dir(u.home), "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ncase $1 in --version) echo 0.73.1;; *) echo '{\"type\":\"agent_end\",\"messages\":[]}';; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "pi"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	u.only += ":" + bin
	passed, failed, a := u.stages(10, "pi")
	if failed != "judged" || !slices.Equal(passed, []string{"found"}) || !strings.Contains(a.out, "no usable document") {
		t.Errorf("passed %v, failed %s: %v", passed, failed, a)
	}
	if a := u.must(13, "agent", "check", "nobody"); !strings.Contains(a.err, "codex") {
		t.Errorf("%v", a)
	}
}

// TestAgentCheck_NobodyReads: a reader that goes away after the first line, as head does, ends the check, and nothing
// of it is left behind.
func TestAgentCheck_NobodyReads(t *testing.T) {
	t.Parallel()
	u := shellOnly(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint bytes.Buffer
	cmd := exec.Command(os.Args[0], "agent", "check", "script")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = u.dir, u.env(asPawl+"=1"), write, &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	if _, err := bufio.NewReader(read).ReadString('\n'); err != nil {
		t.Error(err)
	}
	read.Close()
	_ = cmd.Wait() // the status says more
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGPIPE) || complaint.Len() > 0 {
		t.Errorf("exit status %d: %s", code, &complaint)
	}
	if left, err := os.ReadDir(u.temp); err != nil || len(left) > 0 {
		t.Errorf("something is left: %v, %v", left, err)
	}
}
