package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/internal/modeltest"
	"pawl/store/recording"
)

var (
	recordWith = flag.String("recordwith", "", "absolute path of a pawl whose runs are recorded into testdata/recorded")
	recordOnly = flag.String("recordonly", "", "the name of the one scene to record")
)

// recordedAt is where the recordings are kept, and recordedFrom the folder in which the runs were: paths are part of
// decisions, and this one says nothing of the machine.
const (
	recordedAt   = "testdata/recorded"
	recordedFrom = "/tmp/pawl-recorded"
)

// storeScene is the name of the scene whose whole workspace is kept.
const storeScene = "store"

// recordedScene is something that a user does, which is recorded and whose decisions are made again ever after.
type recordedScene struct {
	name     string
	settings string // beside those of the model; decisions depend on them
	play     func(u *user)
}

// recordedScenes come to every end that a run may come to.
var recordedScenes = []recordedScene{
	{"landed", "", func(u *user) { u.must(0, "run", "--plan", u.steps(making()), "--yes") }},
	{"landed-in-place", "", func(u *user) { u.must(0, "run", "--plan", u.steps(making()), "--yes", "--in-place") }},
	{"approved-after-an-edit", "", func(u *user) {
		u.must(9, "run", "--plan", u.steps(making()))
		prd := filepath.Join(filepath.Dir(u.dir), "plan.md")
		text := strings.Replace(u.must(0, "plan", "show", "--prd").out, "Step make", "Step make it", 1)
		if err := os.WriteFile(prd, []byte(text), 0o644); err != nil {
			u.t.Fatal(err)
		}
		u.must(0, "plan", "edit", "--from", prd)
		u.must(0, "approve", u.status().Approval.Hash, "--yes")
	}},
	{"denied", "", func(u *user) {
		u.must(9, "run", "--plan", u.steps(making()))
		u.must(0, "deny", "-m", "no")
	}},
	{"blocked", "", func(u *user) { u.cannotBeDone() }},
	{"blocked-skipped", "", func(u *user) { u.cannotBeDone().must(0, "skip", "-m", "later") }},
	{"blocked-rolled-back", "", func(u *user) { u.cannotBeDone().must(0, "rollback", "--yes") }},
	{"blocked-rolled-back-in-place", "", func(u *user) { u.cannotBeDone("--in-place").must(0, "rollback", "--yes") }},
	{"canceled", "", func(u *user) {
		p := u.start("run", "--plan", u.steps(making(), running("sleep 60", false)), "--yes")
		u.doing("run_terminal_cmd")
		u.must(0, "cancel", "-m", "not needed")
		p.wait()
	}},
	{"paused-resumed", "", func(u *user) {
		p := u.start("run", "--plan", u.steps(running("sleep 1", false), making()), "--yes")
		u.doing("run_terminal_cmd")
		u.must(0, "pause")
		p.wait()
		u.must(0, "resume")
	}},
	{"stopped-answered", "", func(u *user) {
		p := u.start("run", "--plan", u.steps(running(slowAtFirst, false), making()), "--yes")
		u.started()
		u.must(0, "stop", "-m", "wait")
		p.wait()
		u.must(0, "fix", "--answer", "retry", "-m", "go on")
	}},
	{"interrupted-resumed", "", func(u *user) {
		p := u.start("run", "--plan", u.steps(running(slowAtFirst, true), making()), "--yes")
		u.started()
		if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
			u.t.Fatal(err)
		}
		p.wait()
		u.must(0, "resume")
	}},
	{"killed-resumed", "", func(u *user) {
		u.killedAtWork(true)
		u.must(0, "resume")
	}},
	{"killed-answered", "", func(u *user) {
		u.killedAtWork(false)
		u.must(8, "resume")
		u.must(0, "fix", "--answer", "retry", "-m", "once more")
	}},
	{"killed-rolled-back-in-place", "", func(u *user) {
		u.killedAtWork(true, "--in-place")
		u.must(0, "rollback", "--yes")
	}},
	{"undone-redone", "", func(u *user) {
		u.must(0, "run", "--plan", u.steps(making()), "--yes")
		u.must(0, "undo")
		u.must(0, "redo")
		u.must(0, "undo")
	}},
	{"step-undone-in-place", "", func(u *user) {
		u.write("a.txt", "edited, not committed\n") // so that the result is no commit
		u.must(0, "run", "--plan", u.steps(edit("s1", "a.txt", "1\n"), making()), "--yes", "--in-place")
		u.must(0, "undo", "--step", "s1")
		u.must(0, "redo")
	}},
	{"repaired", "", func(u *user) {
		u.write("go.mod", "module example.org/parts\n\ngo 1.24\n")
		u.git("add", "-A")
		u.git("commit", "-q", "-m", "module")
		plan := u.planFile("repaired", recordedPlan("part", "part.go", "package parts\n\nconst   A = 1\n", formatted))
		u.must(0, "run", "--plan", plan, "--yes")
	}},
	{"model-repaired", "", func(u *user) {
		u.sums(asking(modeltest.FixBug("sum.go", sumWorse, sumRight)))
		u.must(0, "run", sumPlea, "--yes")
	}},
	{"model-fuse-skipped", "", func(u *user) {
		u.sums(asking(modeltest.Liar()))
		u.must(8, "run", sumPlea, "--yes")
		u.must(0, "skip")
	}},
	{"model-killed-resumed", "", func(u *user) {
		s := asking(modeltest.FixBug("sum.go", sumRight, sumRight))
		s.Branches[0].Steps[1].Wait = 2 * time.Second
		srv := u.sums(s)
		p := u.start("run", sumPlea, "--yes")
		for len(srv.Requests()) < 4 { // of the intake, the plan, the first call and the one that takes long
			time.Sleep(20 * time.Millisecond)
		}
		p.kill()
		u.must(0, "resume")
	}},
	{"model-asks-before", "", func(u *user) {
		s := asking(modeltest.FixBug("sum.go", sumRight, sumRight))
		s.JSON["intake"] = []byte(unclear)
		srv := u.sums(s)
		u.must(9, "run", "mend it", "--yes")
		s.JSON["intake"] = []byte(clear)
		srv.Play(s)
		u.must(0, "answer", "Sum")
	}},
	{"model-asks-at-work", "", func(u *user) {
		u.sums(asking(modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{
			{Calls: []modeltest.Call{{Name: "ask_human", Args: `{"question":"Is Sum to add?"}`}}},
			{Calls: []modeltest.Call{{Write: "sum.go", Content: sumRight}}}, {Text: "done"},
		}}}}))
		u.must(9, "run", sumPlea, "--yes")
		u.must(0, "answer", "yes, it is")
	}},
	{"model-call-denied", "", func(u *user) {
		u.sums(asking(modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{
			{Calls: []modeltest.Call{{Name: "delete_file", Args: `{"path":"Makefile"}`}}},
			{Calls: []modeltest.Call{{Write: "sum.go", Content: sumRight}}}, {Text: "done"},
		}}}}))
		u.must(9, "run", sumPlea)
		u.must(9, "approve", u.status().Approval.Hash, "--yes")
		u.pawl("deny", "-m", "it is needed")
	}},
	{"model-plan-revised", "", func(u *user) {
		u.sums(asking(modeltest.FixBug("sum.go", sumRight, sumRight)))
		u.must(9, "run", sumPlea)
		u.must(9, "revise", "keep the comment")
		u.must(0, "approve", u.status().Approval.Hash, "--yes")
	}},
	{"budget-refused-before", "budget:\n  run:\n    requests: 2\n", func(u *user) {
		u.sums(asking(modeltest.FixBug("sum.go", sumRight, sumRight)), "budget:\n  run:\n    requests: 2")
		u.must(8, "run", sumPlea, "--yes")
	}},
	{"budget-refused-at-work", "budget:\n  run:\n    calls: 1\n    minutes: 30\n", func(u *user) {
		u.sums(asking(modeltest.FixBug("sum.go", sumRight, sumRight)), "budget:\n  run:\n    calls: 1\n    minutes: 30")
		u.must(8, "run", sumPlea, "--yes")
		u.must(0, "rollback", "--yes")
	}},
	{"flow", "", func(u *user) {
		u.sums(asking(modeltest.FixBug("sum.go", sumRight, sumRight)))
		u.must(0, "~plan "+sumPlea)
		u.must(0, "~exec")
	}},
	{"board-with-a-conflict", "", func(u *user) {
		// No plan says that it changes this file.
		u.write("add.sh", "sleep 1\necho part $1 >> a.txt\nsleep 1\n")
		u.git("add", "-A")
		u.git("commit", "-q", "-m", "add")
		for n := range 3 {
			u.recordedIssue(n, "true", []string{fmt.Sprint("sh add.sh ", n)})
		}
		u.must(0, "issue", "plan", "--all", "--yes")
		u.must(0, "issue", "execute", "--all", "--workers", "2")
		u.must(0, "issue", "complete")
	}},
	{"board-waits-for-its-branch", "", func(u *user) {
		u.recordedIssue(1, "true", []string{"echo part >> a.txt"})
		u.must(0, "issue", "plan", "1", "--yes")
		u.write("a.txt", "mine\n")
		u.must(1, "issue", "execute", "--all")
		u.git("checkout", "-q", "a.txt")
		u.must(0, "fix", "--issue", "1")
	}},
	{"board-decided", "", func(u *user) {
		u.recordedIssue(1, "true", nil)
		u.recordedIssue(2, "false", nil)
		u.recordedIssue(3, "true", nil, "--after", "2")
		u.must(0, "issue", "plan", "1")
		u.must(0, "deny", "--issue", "1", "-m", "not like this")
		u.must(0, "issue", "edit", "1", "--paused=false")
		u.must(0, "issue", "plan", "1", "--yes")
		u.must(0, "issue", "execute", "1")
		u.must(1, "issue", "execute", "2", "--yes")
		u.must(0, "issue", "retry", "2", "-m", "try once more")
		u.must(1, "worker", "--yes")
		u.must(0, "issue", "skip", "2", "--reason", "no longer wanted", "--release")
		u.must(0, "worker", "--yes")
		u.must(1, "issue", "complete")
	}},
	// The store holds runs that have ended, an issue whose worker was killed at work, and a plan that waits for a word.
	{storeScene, "", func(u *user) {
		u.must(0, "run", "--plan", u.steps(making()), "--yes")
		u.cannotBeDone().must(0, "rollback", "--yes")
		u.cannotBeDone().must(0, "skip")
		u.recordedIssue(1, "true", nil)
		u.must(0, "worker", "--yes")
		u.recordedIssue(2, "true", []string{slowAtFirst})
		p := u.start("worker", "--yes")
		u.started()
		p.kill()
		u.must(9, "run", "--plan", u.planFile("waits", recordedPlan("Wait", "waits.txt", "x\n", "test -f waits.txt")))
	}},
}

// sumPlea is the requirement that the model of these scenes works on.
const sumPlea = "Sum(2, 3) is not 5"

// recordedPlan is a plan that writes a file, and runs commands after it.
func recordedPlan(goal, path, content, check string, commands ...string) string {
	steps := []map[string]any{step("s1", call("write_file", map[string]any{"path": path, "content": content}))}
	for i, c := range commands {
		steps = append(steps, step(fmt.Sprint("s", i+2), call("run_terminal_cmd", map[string]any{"command": c})))
	}
	text, err := document(goal, steps, check)
	if err != nil {
		panic(err)
	}
	return text
}

// recordedIssue registers an issue with a plan that writes a file of its own.
func (u *user) recordedIssue(n int, check string, commands []string, more ...string) {
	u.t.Helper()
	goal, file := fmt.Sprint("part ", n), fmt.Sprintf("p%d.txt", n)
	plan := u.planFile(fmt.Sprint("p", n), recordedPlan(goal, file, "x\n", check, commands...))
	u.must(0, append([]string{"issue", "add", goal, "--plan", plan}, more...)...)
}

// sums makes the user's folder one whose check the model is to mend, and starts the model.
func (u *user) sums(s modeltest.Script, more ...string) *modeltest.Server {
	u.t.Helper()
	u.write("sum.go", sumWrong)
	u.write("Makefile", "test:\n\t@grep -q 'a + b' sum.go || { echo 'Sum(2, 3) = -1'; exit 1; }\n")
	u.git("add", "-A")
	u.git("commit", "-q", "-m", "sum")
	return u.modelled("openai", s, more...)
}

// cannotBeDone has a run fail whose check nothing mends.
func (u *user) cannotBeDone(flags ...string) *user {
	u.t.Helper()
	text, err := document("Cannot be done", []map[string]any{making()}, "false")
	if err != nil {
		u.t.Fatal(err)
	}
	u.must(8, append([]string{"run", "--plan", u.plan(text), "--yes"}, flags...)...)
	return u
}

// killedAtWork kills a run while its command is at work.
func (u *user) killedAtWork(idempotent bool, flags ...string) {
	u.t.Helper()
	plan := u.steps(edit("s1", "a.txt", "1\n"), running(slowAtFirst, idempotent), making())
	p := u.start(append([]string{"run", "--plan", plan, "--yes"}, flags...)...)
	if len(flags) == 0 {
		u.started()
	} else {
		u.doing("run_terminal_cmd")
	}
	p.kill()
}

// TestRecordRuns has another pawl make the recordings anew; see CONTRIBUTING.md.
func TestRecordRuns(t *testing.T) {
	if *recordWith == "" {
		t.Skip("the recordings are kept; -recordwith makes them anew")
	}
	for _, s := range recordedScenes {
		if *recordOnly != "" && *recordOnly != s.name {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			u := recordedUser(t, s.name)
			s.play(u)
			keep := keepRecordings
			if s.name == storeScene {
				keep = func(name, dir string) error { return packed(dir, filepath.Join(recordedAt, name+".tar.gz")) }
			}
			from := u.own()
			if s.name == storeScene {
				from = u.dir
			}
			if err := keep(s.name, from); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// recordedUser is a user of the pawl that is recorded, with a small repository at a place that every machine has.
func recordedUser(t *testing.T, name string) *user {
	t.Helper()
	base := filepath.Join(recordedFrom, name)
	if err := os.RemoveAll(base); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(recordedFrom) })
	u := &user{t: t, home: filepath.Join(base, "home"), dir: filepath.Join(base, "work"), program: *recordWith}
	if err := errors.Join(os.MkdirAll(u.home, 0o755), os.MkdirAll(u.dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	u.vars = []string{"PAWL_RECORD=true"}
	u.write("a.txt", "one\n")
	return u.repository()
}

// keepRecordings packs what was recorded in a workspace, a file a run.
func keepRecordings(name, dir string) error {
	runs, err := filepath.Glob(filepath.Join(dir, recording.Dir, "RUN-*"))
	if err != nil || len(runs) == 0 {
		return errors.Join(err, errors.New("nothing was recorded"))
	}
	for _, run := range runs {
		raw, err := os.ReadFile(filepath.Join(run, recording.DecisionsFile))
		if err != nil {
			return err
		}
		number := strings.TrimPrefix(filepath.Base(run), "RUN-")
		if err := zipped(filepath.Join(recordedAt, name+"."+number+".jsonl.gz"), raw); err != nil {
			return err
		}
	}
	return nil
}

// packed writes the folders and files below a folder into an archive, without what pawl and git make again by
// themselves.
func packed(dir, path string) error {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, at)
		if err != nil || name == "." {
			return err
		}
		if name == ".git/hooks" || name == ".pawl/cache" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		h := &tar.Header{Name: filepath.ToSlash(name), Mode: int64(info.Mode().Perm()), Typeflag: tar.TypeDir}
		if !d.IsDir() {
			h.Typeflag, h.Size = tar.TypeReg, info.Size()
		}
		if err := w.WriteHeader(h); err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(at)
		if err == nil {
			_, err = w.Write(raw)
		}
		return err
	})
	return errors.Join(err, w.Close(), zipped(path, out.Bytes()))
}

// zipped writes a compressed file.
func zipped(path string, raw []byte) error {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(raw)
		err = errors.Join(err, w.Close())
	}
	return errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, out.Bytes(), 0o644))
}
