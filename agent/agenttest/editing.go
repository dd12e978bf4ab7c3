package agenttest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/kernel/effect"
)

// Editing describes an agent whose program changes the tree itself. The suite writes that program: a script of the
// shell that does in the tree what a scene is about, and speaks a few words of the dialect in between.
type Editing struct {
	// Begin is what the program writes when it has a session, named Session, and End what it writes when it is
	// finished, "All done." being the last thing said. Both are whole lines.
	Begin, Session, End string
	// New returns the agent of a program, an absolute path, which may write less than 100 MB.
	New func(t *testing.T, w Workspace, program string) Agent
	// Gone waits a little for the end of a process, and reports whether it came.
	Gone func(pid int) bool
}

// deed is what a program does, and what has to become of it.
type deed struct {
	name string
	// script runs in the tree. Functions begin and end speak the dialect, and started notes the process $1.
	script string
	// code and key are the failure; "" for work that is done.
	code pawl.Code
	key  string
	// left is what main.go must hold afterwards; "" is what it held.
	left string
	// unsaid says that the program never told of its session.
	unsaid bool
	// cancel ends the work when this file is in the tree.
	cancel string
}

const (
	editedFile = "package main\n\nfunc main() { println(2) }\n"
	halfFile   = "package main\n\nfunc ma"
)

// deeds are the scenes of agents that change the tree themselves. Whatever such a program says or does, the adapter
// tells of it truly, leaves no process, and does not touch the tree itself.
func deeds() []deed {
	write := func(content string) string { return "printf '%s' '" + content + "' > main.go\n" }
	many := "head -c 100000000 /dev/zero | tr '\\0' y"
	return []deed{
		{name: "an edit", script: "begin\n" + write(editedFile) + "end\n", left: editedFile},
		{name: "an edit, and a failing exit", script: "begin\n" + write(editedFile) + "end\nexit 7\n",
			left: editedFile},
		{name: "a lie", script: "begin\nend\n"},
		{name: "a half-finished edit and a crash", script: "begin\n" + write(halfFile) + "kill -9 $$\n",
			code: pawl.CodeModel, key: "agent.died", left: halfFile},
		{name: "a half-finished edit and a quiet end", script: "begin\n" + write(halfFile) + "exit 0\n",
			code: pawl.CodeModel, key: "agent.cut_off", left: halfFile},
		{name: "an edit before the session is told", script: write(editedFile) + "exit 1\n", code: pawl.CodeModel,
			key: "agent.died", left: editedFile, unsaid: true},
		{name: "a grandchild left", script: "begin\nsleep 600 &\nstarted $!\n" + write(editedFile) + "end\n",
			left: editedFile},
		{name: "a grandchild that edits when all is over", script: "begin\n(trap '' TERM INT HUP; sleep 1; " +
			strings.TrimSpace(write(halfFile)) + ") &\nstarted $!\nend\n"},
		{name: "100 MB of output", script: "begin\n" + many + " | fold -w 1000\nend\n", code: pawl.CodeModel,
			key: "agent.too_much_output"},
		{name: "100 MB in one line", script: "begin\n" + many + "\nend\n", code: pawl.CodeModel,
			key: "agent.too_much_output"},
		{name: "100 MB of complaints", script: "begin\n" + many + " >&2\n" + write(editedFile) + "end\n",
			left: editedFile},
		{name: "signals ignored", script: "trap '' TERM INT HUP QUIT PIPE\nbegin\n" + write(halfFile) +
			": > ready\nwhile :; do sleep 1; done\n", code: pawl.CodeCanceled, key: "agent.canceled", left: halfFile,
			cancel: "ready"},
		{name: "canceled with a grandchild",
			script: "begin\nsh -c 'trap \"\" TERM INT HUP; while :; do sleep 1; done' &\nstarted $!\n: > ready\nwait\n",
			code:   pawl.CodeCanceled, key: "agent.canceled", cancel: "ready"},
	}
}

// edits runs the scenes.
func edits(t *testing.T, traits Traits) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell to write the program for")
	}
	for _, d := range deeds() {
		t.Run(d.name, func(t *testing.T) {
			w := newWorkspace(t)
			program := filepath.Join(t.TempDir(), "program")
			words := "begin() { cat <<'WORDS'\n" + traits.Edits.Begin + "WORDS\n}\nend() { cat <<'WORDS'\n" +
				traits.Edits.End + "WORDS\n}\n"
			script := "#!/bin/sh\n" + words + "started() { echo $1 >> \"$HOME/started\"; }\nstarted $$\n" + d.script
			if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			before := content(t, w)
			s := &suite{T: t, agent: traits.Edits.New(t, w, program), w: w, traits: traits, host: &Host{}}
			s.did(d, s.perform(d))
			if d.left == "" {
				d.left = before
			}
			if got := content(t, w); got != d.left {
				t.Errorf("main.go holds %q, want %q", got, d.left)
			}
		})
	}
}

// perform has the agent work with the program.
func (s *suite) perform(d deed) effect.Receipt {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	if d.cancel != "" {
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(filepath.Join(s.w.Place.Tree, d.cancel)); err == nil {
					cancel()
				}
				time.Sleep(5 * time.Millisecond)
			}
		}()
	}
	return s.ask(ctx, effect.KindWork, s.step())
}

// did holds a receipt against a deed, and looks for processes that were left.
func (s *suite) did(d deed, r effect.Receipt) {
	s.Helper()
	if r.Code != d.code || r.Key != d.key || r.OK != (d.code == "") {
		s.Errorf("told as %q %q %v, want %q %q: %s", r.Code, r.Key, r.Args, d.code, d.key, r.Detail)
	}
	result, err := effect.Decode[effect.WorkResult](r.Result)
	if err != nil {
		s.Fatalf("no result: %v", err)
	}
	want := effect.WorkResult{Session: s.traits.Edits.Session, Control: effect.StepDone, Text: "All done."}
	if d.unsaid {
		want.Session = ""
	}
	if !r.OK {
		want.Control, want.Text = "", ""
	}
	if result.Control != want.Control || result.Session != want.Session || r.OK && result.Text != want.Text {
		s.Errorf("control %q, session %q, text %q", result.Control, result.Session, result.Text)
	}
	if s.host.bound != want.Session {
		s.Errorf("the session that is kept is %q", s.host.bound)
	}
	if result.Before != "" || result.After != "" || len(s.host.Calls()) != 0 {
		s.Errorf("the adapter vouches for what it has not seen: %+v, calls %v", result, s.host.Calls())
	}
	// the pattern is well-formed
	notes, _ := filepath.Glob(filepath.Join(s.w.Place.Workspace, ".pawl", "agents", "*", "home", "started"))
	if len(notes) != 1 {
		s.Fatalf("the program did not run in a home of its own: %v", notes)
	}
	raw, err := os.ReadFile(notes[0])
	if err != nil {
		s.Fatal(err)
	}
	for _, line := range strings.Fields(string(raw)) {
		if pid, err := strconv.Atoi(line); err != nil || !s.traits.Edits.Gone(pid) {
			s.Errorf("process %s lives (%v)", line, err)
		}
	}
}

// content is what main.go of the tree holds.
func content(t *testing.T, w Workspace) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.Place.Tree, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
