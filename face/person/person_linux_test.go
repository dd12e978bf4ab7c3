package person

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl/internal/need"
)

// tells is the variable that names the file to which the test binary writes who gives it its commands.
const tells = "PAWL_TEST_TELLS"

func TestMain(m *testing.M) {
	if file := os.Getenv(tells); file != "" {
		said := fmt.Sprintf("%q\n", Program(os.Stdin, func(string) string { return "" }))
		if os.WriteFile(file+".new", []byte(said), 0o600) != nil || os.Rename(file+".new", file) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestLineage: this process and who started it are found with where they belong.
func TestLineage(t *testing.T) {
	got := lineage(os.Getpid(), farthest)
	session, _ := unix.Getsid(0)
	if len(got) < 2 || got[1].called() == Unknown || got[0].pid != os.Getpid() || got[0].parent != got[1].pid ||
		got[0].group != unix.Getpgrp() || got[0].session != session {
		t.Errorf("%+v", got)
	}
	if got := Program(nil, func(string) string { return "" }); got == "" {
		t.Error("without any input this passed for a person's word")
	}
}

// TestTerminals: a window of tmux, a command that script gives a terminal, and a shell that script gives one count as no
// person. A shell in a terminal window does: here that is script by another name.
func TestTerminals(t *testing.T) {
	tmux, script, dir := need.Program(t, "tmux"), need.Program(t, "script"), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	window := filepath.Join(dir, "xterm")
	if err := os.WriteFile(window, raw, 0o700); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "tmux")
	call := func(name string) (tell, file string) {
		file = filepath.Join(dir, name)
		return tells + "=" + file + " " + self, file
	}
	run := func(typed string, argv ...string) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "SHELL=/bin/bash", "TMUX=")
		cmd.Stdin = strings.NewReader(typed)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
	}
	said := func(file string) string {
		for range 600 {
			if got, err := os.ReadFile(file); err == nil {
				return string(bytes.TrimSpace(got))
			}
			time.Sleep(50 * time.Millisecond)
		}
		return "nothing"
	}

	run("", tmux, "-S", socket, "-f", os.DevNull, "new-session", "-d", "-s", "x", "bash --norc")
	defer func() { _ = exec.Command(tmux, "-S", socket, "kill-server").Run() }()
	for name, start := range map[string]func(tell string){
		"a command in a new window": func(tell string) { run("", tmux, "-S", socket, "new-window", "-d", tell) },
		"what is typed in a window": func(tell string) { run("", tmux, "-S", socket, "send-keys", "-t", "x", tell, "Enter") },
	} {
		tell, file := call(strings.ReplaceAll(name, " ", "-"))
		start(tell)
		if got := said(file); got != `"tmux"` {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, c := range map[string]struct {
		typed, program string
		args           []string
		person         bool
	}{
		"a command of script":   {program: script, args: []string{"-qec", "TELL", os.DevNull}},
		"a shell of script":     {"TELL\nexit\n", script, []string{"-q", os.DevNull}, false},
		"a shell of a window":   {"TELL\nexit\n", window, []string{"-q", os.DevNull}, true},
		"a command of a window": {program: window, args: []string{"-qec", "TELL", os.DevNull}},
	} {
		tell, file := call(strings.ReplaceAll(name, " ", "-"))
		argv := []string{c.program}
		for _, a := range c.args {
			argv = append(argv, strings.ReplaceAll(a, "TELL", tell))
		}
		run(strings.ReplaceAll(c.typed, "TELL", tell), argv...)
		if got := said(file); got == `""` != c.person || got == "nothing" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
