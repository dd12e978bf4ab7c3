package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/firstrun"
	"pawl/internal/gittest"
)

// situation is where a person may be, and how they came there. What its last command said is a screen as well.
type situation struct {
	name string
	come func(u *user) []answer
	rare bool // only with -hints
}

var allHints = flag.Bool("hints", false, "whether the test of the hints goes through every situation")

// situations are those of a session and of the board: at rest, at work that was cut off, asking, blocked in each way,
// ended in each way.
var situations = []situation{
	{name: "no workspace", come: func(u *user) []answer { return nil }},
	{name: "made", rare: true, come: func(u *user) []answer { return []answer{u.must(0, "init")} }},
	{name: "landed", come: func(u *user) []answer { return []answer{u.made(0)} }},
	{name: "undone", rare: true, come: func(u *user) []answer { u.made(0); return []answer{u.must(0, "undo")} }},
	{name: "undone, and an earlier one", rare: true, come: func(u *user) []answer {
		u.made(0)
		u.must(0, "run", "--plan", u.steps(edit("more", "more.txt", "more\n")), "--yes")
		return []answer{u.must(0, "undo", "RUN-1")}
	}},
	{name: "a plan waits", come: func(u *user) []answer {
		return []answer{u.must(9, "run", "--plan",
			u.steps(making()))}
	}},
	{name: "declined", rare: true, come: func(u *user) []answer {
		u.must(9, "run", "--plan", u.steps(making()))
		return []answer{u.must(0, "deny", "-m", "no")}
	}},
	{name: "canceled", rare: true, come: func(u *user) []answer {
		u.must(9, "run", "--plan", u.steps(making()))
		return []answer{u.must(0, "cancel")}
	}},
	{name: "approved, and not begun", rare: true, come: func(u *user) []answer {
		u.must(9, "run", "--plan", u.steps(making()))
		return []answer{u.must(0, "approve", "--yes", "--no-wait")}
	}},
	{name: "cut off", come: func(u *user) []answer { u.half(); return nil }},
	{name: "cut off, and nobody knows", come: func(u *user) []answer {
		p := u.start("run", "--plan", u.steps(running(slowAtFirst, false), making()), "--yes")
		u.started()
		p.kill()
		gone(u.base())
		return []answer{u.must(8, "resume")}
	}},
	{name: "paused", rare: true, come: func(u *user) []answer { u.half(); return []answer{u.must(0, "pause")} }},
	{name: "stopped", rare: true, come: func(u *user) []answer {
		u.half()
		return []answer{u.must(0, "stop", "-m",
			"wait")}
	}},
	{name: "no repair", come: func(u *user) []answer {
		return []answer{u.must(8, "run", "--plan", u.steps(edit("s", "other.txt", "x\n")), "--yes")}
	}},
	{name: "no repair, in place", rare: true, come: func(u *user) []answer {
		return []answer{u.must(8, "run", "--plan", u.steps(edit("s", "other.txt", "x\n")), "--yes", "--in-place")}
	}},
	{name: "skipped", rare: true, come: func(u *user) []answer {
		u.must(8, "run", "--plan", u.steps(edit("s", "other.txt", "x\n")), "--yes")
		return []answer{u.must(0, "skip")}
	}},
	{name: "rolled back", rare: true, come: func(u *user) []answer {
		u.must(8, "run", "--plan", u.steps(edit("s", "other.txt", "x\n")), "--yes")
		return []answer{u.must(0, "rollback", "--yes")}
	}},
	{name: "kept on a branch", come: func(u *user) []answer {
		u.write("a.txt", "mine\n")
		return []answer{u.must(0, "run", "--plan", u.steps(edit("s", "a.txt", "yours\n"), making()), "--yes")}
	}},
	{name: "a call that reaches out waits", rare: true, come: func(u *user) []answer {
		return []answer{u.pawl("run", "--plan", u.steps(running("git push origin main", false), making()), "--yes")}
	}},
	{name: "the machine cannot", rare: true, come: func(u *user) []answer {
		return []answer{u.pawl("run", "--plan", u.steps(running("no-such-program", false), making()), "--yes")}
	}},
	{name: "nothing can plan", come: func(u *user) []answer { return []answer{u.pawl("run", "make it better")} }},
	{name: "an agent that is not there", rare: true,
		come: func(u *user) []answer { return []answer{u.pawl("run", "make it better", "--agent", "qwen")} }},
	{name: "the model of an agent cannot be reached", come: func(u *user) []answer {
		u.path = fakes(u.t)
		u.vars = []string{"OPENAI_API_KEY=key"}
		u.must(0, "config", "set", "agents.codex.base_url", "http://127.0.0.1:1/v1")
		return []answer{u.must(10, "run", "Sum(2, 3) must be 5", "--agent", "codex")}
	}},
	{name: "questions", come: func(u *user) []answer {
		u.must(0,
			"init")
		return []answer{u.pawl("~auto", "make it better")}
	}},
	{name: "an issue", rare: true, come: func(u *user) []answer { return []answer{u.must(0, "issue", "add", "one")} }},
	{name: "an issue's plan waits", come: func(u *user) []answer {
		u.must(0, "issue", "add", "one", "--plan", u.steps(making()))
		return []answer{u.must(0, "issue", "plan", "ISS-1"), u.pawl("worker")}
	}},
	{name: "an issue is planned", rare: true, come: func(u *user) []answer {
		u.must(0, "issue", "add", "one", "--plan", u.steps(making()))
		return []answer{u.must(0, "issue", "plan", "ISS-1", "--yes")}
	}},
	{name: "an issue is blocked", come: func(u *user) []answer {
		u.must(0, "issue", "add", "one", "--plan", u.steps(running(slowAtFirst, false), making()))
		p := u.start("worker", "--yes")
		u.started()
		p.kill()
		gone(u.base())
		return []answer{u.pawl("worker", "--yes")}
	}},
	{name: "an issue failed", come: func(u *user) []answer {
		u.must(0, "issue", "add", "one", "--plan", u.steps(edit("s", "other.txt", "x\n")))
		return []answer{u.pawl("worker", "--yes")}
	}},
	{name: "an issue waits for another", rare: true, come: func(u *user) []answer {
		u.must(0, "issue", "add", "one")
		return []answer{u.must(0, "issue", "add", "two", "--after", "ISS-1"), u.pawl("issue", "execute", "ISS-2")}
	}},
	{name: "an issue landed", come: func(u *user) []answer {
		u.must(0, "issue", "add", "one", "--plan", u.steps(making()))
		return []answer{u.must(0, "worker", "--yes")}
	}},
	{name: "an issue undone", rare: true, come: func(u *user) []answer {
		u.must(0, "issue", "add", "one", "--plan", u.steps(making()))
		u.must(0, "worker", "--yes")
		return []answer{u.must(0, "undo", "ISS-1")}
	}},
}

// made has a run make its file.
func (u *user) made(code int) answer {
	u.t.Helper()
	return u.must(code, "run", "--plan", u.steps(making()), "--yes")
}

// looks are the commands that show where the work stands, and attempts those that may be refused where it stands
// elsewhere.
func looks(u *user) [][]string {
	out := [][]string{{"status"}, {"show"}, {"log"}, {"logs"}, {"diff"}, {"plan", "show"}, {"task", "list"},
		{"issue", "list"}, {"board"}}
	for n := 1; u.pawl("issue", "show", fmt.Sprint("ISS-", n)).code == 0; n++ {
		label := fmt.Sprint("ISS-", n)
		out = append(out, []string{"status", "--issue", label}, []string{"issue", "show", label},
			[]string{"show", label})
	}
	return out
}

var attempts = [][]string{{"approve"}, {"resume"}, {"undo"}, {"redo"}, {"fix"}, {"answer"}, {"skip"}, {"pause"},
	{"stop"}, {"cancel"}, {"rollback"}, {"revise", "-m", "x"}}

// refusals are the ends of commands that were refused, and changed nothing: there is no such command or flag, nothing
// of that name, or the session is in another state.
var refusals = []int{pawl.CodeUsage.Info().Exit, pawl.CodeNotFound.Info().Exit, pawl.CodeInvalidTransition.Info().Exit}

// onlyLooks reports whether a command changes nothing.
func onlyLooks(argv []string) bool {
	return slices.Contains([]string{"status", "show", "log", "logs", "diff", "board", "doctor", "budget"}, argv[1]) ||
		slices.Contains(argv, "list")
}

// mayWait are commands that go on until they are ended.
var mayWait = []string{"--watch", "-f", "--follow", "attach"}

// TestHintsAreTrue: in each situation, whatever pawl says can be done next is done as it is printed, in a copy of that
// situation, and none of it is refused because there is no such command, nothing of that name, or the session is in
// another state.
func TestHintsAreTrue(t *testing.T) {
	for _, s := range situations {
		if s.rare && !*allHints {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			gittest.Write(t, u.dir, map[string]string{"a.txt": "one\n"})
			u.repository()
			said := s.come(u)
			kept := u.keep()
			hints := map[string]string{}
			hear := func(by string, a answer) {
				for _, h := range firstrun.Named(a.out+"\n"+a.err, verbs) {
					if _, known := hints[h]; !known {
						hints[h] = by
					}
				}
			}
			for _, a := range said {
				hear("the command that led here", a)
			}
			for _, l := range looks(u) {
				hear("pawl "+strings.Join(l, " "), u.pawl(l...))
			}
			for _, l := range attempts {
				if a := u.pawl(l...); slices.Contains(refusals, a.code) {
					hear("pawl "+strings.Join(l, " "), a)
				} else {
					u.back(kept)
				}
			}
			for h, by := range hints {
				argv, ok := u.filled(firstrun.Argv(h))
				if !ok || argv[0] != "pawl" {
					continue
				}
				a := u.pawl(argv[1:]...)
				if slices.Contains(refusals, a.code) {
					t.Errorf("%s says %q, which is refused: %v", by, h, a)
				} else if !onlyLooks(argv) {
					u.back(kept)
				}
			}
			if len(hints) == 0 {
				t.Error("nothing is said of what can be done")
			}
			t.Logf("%d hints: %v", len(hints), hints)
		})
	}
}

// verbs are the commands of the first level that a hint may name.
var verbs = strings.Fields("init run check status show diff log logs attach resume demo plan approve deny revise answer pause cancel stop fix skip rollback undo redo task machine audit replay context tools budget agent mcp doctor config export completion version issue worker board skill prepare test review commit exec choose help")

// blank fits a word that the person fills in.
var blank = regexp.MustCompile(`^[A-Z][A-Z ,_|.…-]*$|^…$`)

// filled puts what a person would say in the place of the words in capitals; ok is false for what would wait for ever
// or needs an account.
func (u *user) filled(argv []string) (out []string, ok bool) {
	for n, w := range argv {
		switch before := argv[max(0, n-1)]; {
		case slices.Contains(mayWait, w):
			return nil, false
		case w == "agent" && n == 1:
			return nil, false
		case !blank.MatchString(w):
		case before == "--plan":
			w = u.steps(making())
		case before == "--agent", before == "--issue", strings.HasPrefix(w, "ISS"):
			return nil, false
		default:
			w = "make the checks pass"
		}
		out = append(out, w)
	}
	return out, len(out) > 1
}

// keep copies the user's folder and its state, and back brings them to that again, in the same places.
func (u *user) keep() string {
	u.t.Helper()
	kept := filepath.Join(filepath.Dir(u.dir), "kept")
	u.mirror(u.dir, kept)
	u.mirror(u.own(), kept+"-state")
	return kept
}

func (u *user) back(kept string) {
	u.t.Helper()
	if left := gone(u.base()); len(left) > 0 {
		u.t.Fatalf("processes go on: %v", left)
	}
	u.mirror(kept, u.dir)
	u.mirror(kept+"-state", u.own())
}

func (u *user) mirror(from, to string) {
	u.t.Helper()
	if err := emptied(to); err != nil {
		u.t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		u.t.Fatal(err)
	}
}

// emptied removes what is in a folder, whatever its permissions.
func emptied(dir string) error {
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(p, 0o700)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return os.RemoveAll(dir)
}
