package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The package of a person, with all that one may hold.
const (
	theirs         = "202602081200_say-hello"
	theirsProposal = `# Say hello

## 元信息

` + "```yaml" + `
类型: feature
方案类型: implementation
优先级: P0
状态: 待确认
创建: 2026-02-08
` + "```" + `

## 1. 需求

### 背景

Nobody is greeted.

### 目标

A note that greets.

### 验收标准

- note.txt says hello

## 2. 方案

One file.

## 3. 技术设计

Plain text, no markup.

## 5. 技术决策

### say-hello#D001: no markup

- 状态: ✅采纳

Markup helps nobody here.
`
	theirsTasks = `# Say hello

## 任务列表

### 1. before

- [√] 1.1 think about it
- [x] 1.2 ask around
- [X] 1.3 write a poem
  > 备注: no rhyme was found
- [-] 1.4 paint a picture
- [?] 1.5 sing it

### 2. now

- [ ] 2.7 Say hello in note.txt
  - 验证: note.txt says hello

## 执行备注

| 任务 | 状态 | 备注 |
|---|---|---|
| 1.1 | √ | took a day |

Words of mine at the end.
`
)

// person has the package of a person in plan/.
func (u *user) person() {
	u.t.Helper()
	u.must(0, "init", "--bare")
	for name, text := range map[string]string{"proposal.md": theirsProposal, "tasks.md": theirsTasks,
		"notes.md": "my notes\n", "drawings/one.txt": "a drawing\n"} {
		u.write(".pawl/plan/"+theirs+"/"+name, text)
	}
}

// gone fails unless nothing is left of a file or a folder.
func (u *user) gone(name string) {
	u.t.Helper()
	if _, err := os.Lstat(filepath.Join(u.dir, name)); err == nil {
		u.t.Errorf("%s is still there", name)
	}
}

// TestExec_KeepsAPersonsPackage carries out a package that a person wrote: it is moved, with all that lies in it, and
// only the sign of what was carried out is another one (docs/spec/workflow.md#c15).
func TestExec_KeepsAPersonsPackage(t *testing.T) {
	t.Parallel()
	u, _ := sequence(t, notes(note, 0))
	u.person()
	u.must(0, "~exec say-hello")
	u.noted("2")

	old, now := ".pawl/plan/"+theirs, ".pawl/archive/2026-02/"+theirs
	u.gone(old)
	for name, want := range map[string]string{"proposal.md": theirsProposal, "notes.md": "my notes\n",
		"drawings/one.txt": "a drawing\n"} {
		if got := u.read(now + "/" + name); got != want {
			t.Errorf("%s was changed:\n%s", name, got)
		}
	}
	tasks := u.read(now + "/tasks.md")
	if !strings.Contains(tasks, "> **@status:** partial | ") {
		t.Errorf("no status:\n%s", tasks)
	}
	// What a person wrote stands in its order, but for the one sign.
	at := 0
	for line := range strings.Lines(strings.Replace(theirsTasks, "- [ ] 2.7", "- [√] 2.7", 1)) {
		i := strings.Index(tasks[at:], line)
		if i < 0 {
			t.Fatalf("%q is gone, or stands elsewhere:\n%s", line, tasks)
		}
		at += i + len(line)
	}
	if index := u.read(".pawl/archive/_index.md"); !strings.Contains(index, "⚠️部分完成") ||
		!strings.Contains(index, "(2026-02/"+theirs+"/)") || !strings.Contains(index, "say-hello#D001") {
		t.Errorf("the index:\n%s", index)
	}

	// What is undone comes back with its package, as it was written, and can be carried out once more.
	u.must(0, "undo")
	u.gone(now)
	if got := u.read(old + "/tasks.md"); got != theirsTasks {
		t.Errorf("tasks.md after the undo:\n%s", got)
	}
	u.must(0, "redo")
	u.gone(old)
	if got := u.read(now + "/tasks.md"); got != tasks {
		t.Errorf("tasks.md after the redo:\n%s", got)
	}
	u.must(0, "undo")
	u.must(0, "~exec")
	u.gone(old)
	if got := u.read(now + "/notes.md"); got != "my notes\n" || u.read("note.txt") != "hello\n" {
		t.Errorf("carried out once more: %q %q", got, u.read("note.txt"))
	}
	u.must(0, "audit", "verify")
	u.quiet()
}

// TestExec_RolledBack: a package that a person wrote stays where it is when its work is taken back, with an entry in
// the archive that says what was tried, and can be carried out again.
func TestExec_RolledBack(t *testing.T) {
	t.Parallel()
	u, _ := sequence(t, notes(note, 0))
	u.person()
	u.write("Makefile", "test:\n\t@false\n")
	u.git("commit", "-qam", "nothing passes")
	u.must(8, "~exec say-hello")
	u.must(0, "rollback", "--yes")
	old, tried := ".pawl/plan/"+theirs, ".pawl/archive/2026-02/"+theirs
	for name, want := range map[string]string{"proposal.md": theirsProposal, "tasks.md": theirsTasks, "notes.md": "my notes\n"} {
		if got := u.read(old + "/" + name); got != want {
			t.Errorf("%s was changed:\n%s", name, got)
		}
	}
	if got := u.read(tried + "/tasks.md"); !strings.Contains(got, "@status:** rolled_back | ") {
		t.Errorf("what was tried:\n%s", got)
	}
	if index := u.read(".pawl/archive/_index.md"); strings.Count(index, "🔄") != 1 {
		t.Errorf("the index:\n%s", index)
	}
	u.write("Makefile", "test:\n\t@true\n")
	u.git("commit", "-qam", "everything passes")
	u.must(0, "~exec")
	u.gone(old)
	if got := u.read(tried + "_v2/notes.md"); got != "my notes\n" {
		t.Errorf("carried out again: %q", got)
	}
	if index := u.read(".pawl/archive/_index.md"); strings.Count(index, "🔄") != 1 || !strings.Contains(index, "("+"2026-02/"+theirs+"_v2/)") {
		t.Errorf("the index:\n%s", index)
	}
	u.must(0, "audit", "verify")
	u.quiet()
}

var planHash = regexp.MustCompile(`"plan_hash":"([0-9a-f]+)"`)

// inPlan is the one package in plan/, and the path of it.
func (u *user) inPlan() string {
	u.t.Helper()
	live, _ := filepath.Glob(filepath.Join(u.dir, ".pawl", "plan", "*"))
	if len(live) != 1 {
		u.t.Fatalf("packages in plan/: %v", live)
	}
	return ".pawl/plan/" + filepath.Base(live[0])
}

// TestExec_ReadsWhatAPersonChanged carries out a package of ~plan as a person has changed it since: what pawl does
// meanwhile leaves the change alone, and the plan is another one with a hash of its own.
func TestExec_ReadsWhatAPersonChanged(t *testing.T) {
	t.Parallel()
	u, _ := sequence(t, notes(note, 0))
	u.must(0, "~plan write a note")
	dir := u.inPlan()
	tasks := strings.Replace(u.read(dir+"/tasks.md"), "\n\n## Execution notes", "\n- [ ] 1.2 look at it\n  > mine\n\n## Execution notes", 1)
	u.write(dir+"/tasks.md", tasks)
	u.write(dir+"/notes.md", "my notes\n")
	u.must(0, "export")
	u.must(0, "task", "create", "something else")
	if got := u.read(dir + "/tasks.md"); got != tasks {
		t.Fatalf("the change is gone:\n%s", got)
	}
	u.must(0, "~exec")
	u.noted("2")
	u.gone(dir)
	now := strings.Replace(dir, "/plan/", "/archive/"+dir[len(".pawl/plan/"):][:4]+"-"+dir[len(".pawl/plan/"):][4:6]+"/", 1)
	got := u.read(now + "/tasks.md")
	for _, want := range []string{"- [√] 1.1 Write note.txt", "- [√] 1.2 look at it\n  > mine\n", "@status:** completed"} {
		if !strings.Contains(got, want) {
			t.Errorf("tasks.md lacks %q:\n%s", want, got)
		}
	}
	if u.read(now+"/notes.md") != "my notes\n" {
		t.Error("notes.md is gone")
	}
	hashes := map[string]bool{}
	for _, m := range planHash.FindAllStringSubmatch(u.must(0, "audit", "log", "--json").out, -1) {
		hashes[m[1]] = true
	}
	if len(hashes) != 2 {
		t.Errorf("hashes of the plans: %v", hashes)
	}
}

// TestExec_ReadsTitlesAndCriteria: a title that was changed in tasks.md keeps what its step is for, and a criterion that
// was changed in proposal.md is what the work is held to, in a plan with a hash of its own that is asked about.
func TestExec_ReadsTitlesAndCriteria(t *testing.T) {
	t.Parallel()
	for lang, was := range map[string]string{"en": "c1 (diff): the note is there", "zh-CN": "c1 (diff): the note is there"} {
		u, _ := sequence(t, notes(note, 0))
		u.must(0, "--lang", lang, "~plan write a note")
		dir := u.inPlan()
		tasks, proposal := u.read(dir+"/tasks.md"), u.read(dir+"/proposal.md")
		u.write(dir+"/tasks.md", strings.Replace(tasks, "1.1 Write note.txt", "1.1 Write down a note", 1))
		u.write(dir+"/proposal.md", strings.Replace(proposal, "- "+was, "no criterion at all", 1))
		if a := u.must(13, "--lang", lang, "~exec"); !strings.Contains(a.err, "proposal.md") {
			t.Errorf("%s: what cannot be read: %v", lang, a)
		}
		u.state("IDLE")
		u.write(dir+"/proposal.md", strings.Replace(proposal, was, `c1 (diff): note.txt says "goodbye"`, 1))
		a := u.must(9, "--lang", lang, "~exec") // the worker, who is told what the step is for, says hello
		if !strings.Contains(a.out, "[1/1] Write down a note") || !strings.Contains(a.out, `✗ note.txt says "goodbye"`) {
			t.Errorf("%s: %v", lang, a)
		}
		hashes := map[string]bool{}
		for _, m := range planHash.FindAllStringSubmatch(u.must(0, "audit", "log", "--json").out, -1) {
			hashes[m[1]] = true
		}
		if len(hashes) != 2 {
			t.Errorf("%s: hashes of the plans: %v", lang, hashes)
		}
	}
}

// TestExec_ChangedAfterItWasShown refuses the yes to a plan whose package says something else by now, and asks about
// that anew. What was turned down lies in plan/ as it was written.
func TestExec_ChangedAfterItWasShown(t *testing.T) {
	t.Parallel()
	s := notes(note, 0)
	s.JSON["plan"] = []byte(strings.Replace(notePlan, `"intent":"Say hello in note.txt"`,
		`"intent":"Say hello","tool_calls":[{"name":"run_terminal_cmd","args_hint":{"command":"git push"}}]`, 1))
	u, _ := sequence(t, s)
	u.must(0, "~plan write a note")
	dir := u.inPlan()
	u.write(dir+"/notes.md", "my notes\n")
	u.must(9, "~exec")
	first := u.status().Approval.Hash
	tasks := strings.Replace(u.read(dir+"/tasks.md"), "1.1 Write note.txt", "1.1 Write another note", 1)
	u.write(dir+"/tasks.md", tasks)
	if a := u.pawl("approve", first, "--yes"); a.code != 6 && a.code != 7 || !strings.Contains(a.err, "--replace") {
		t.Errorf("the old plan was approved: %v", a)
	}
	u.state("CONFIRMING")
	u.must(0, "deny")
	if got := u.read(dir + "/tasks.md"); got != tasks || u.read(dir+"/notes.md") != "my notes\n" {
		t.Errorf("turned down, tasks.md is\n%s", got)
	}
	u.must(0, "export")
	if got := u.read(dir + "/tasks.md"); got != tasks {
		t.Errorf("written over:\n%s", got)
	}
}
