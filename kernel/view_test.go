package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl"
	"pawl/internal/invariant"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/joined"
	"pawl/kernel/joint"
	"pawl/kernel/planning"
	"pawl/kernel/projection"
	"pawl/kernel/query"
	"pawl/kernel/recovery"
	"pawl/kernel/tasks"
	"pawl/kernel/view"
	"pawl/kernel/view/viewtest"
	"pawl/machine/board"
	"pawl/text/plan"
	"pawl/text/policy"
)

// joint is the exploration that many tests compare with.
var explored = sync.OnceValue(joint.Explore)

// watch checks after each commit that the session is where what lies below it says, that the states together are among
// those that the exploration knows, and that the projections show that very state.
func (b *bench) watch() {
	known := explored()
	b.k.OnCommit(func(kernel.Outcome) {
		s := b.look()
		if got := invariant.Derive(s); string(got) != s.Session.State {
			b.t.Errorf("session %s, derived %s: %+v", s.Session.State, got, invariant.Of(s))
		}
		if c := invariant.Of(s); !known.Reaches(c) {
			b.t.Errorf("the exploration does not know %+v", c)
		}
		files := b.projections()
		front, err := viewtest.Parse([]byte(files[view.ContextFile]))
		if err != nil || front.State != s.Session.State || front.Attempts != s.Session.AutoFix ||
			front.Checkpoint != s.Session.LastCheckpoint {
			b.t.Errorf("front matter %+v, %v; session %+v", front, err, s.Session)
		}
		if view.Edited([]byte(files[view.ContextFile])) {
			b.t.Error("a fresh active_context.md counts as edited")
		}
		if _, err := board.ParseState([]byte(files[view.StateFile])); err != nil {
			b.t.Errorf("state.json: %v\n%s", err, files[view.StateFile])
		}
	})
}

func (b *bench) projections() map[string]string {
	b.t.Helper()
	files, err := projection.Files(context.Background(), b.k)
	if err != nil {
		b.t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		out[f.Path] = f.Content
	}
	return out
}

func TestEveryMomentIsDerivedExploredAndShown(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t)
		b.watch()
		w := &world{
			plan: twoSteps(), failChecks: rapid.IntRange(0, 5).Draw(rt, "failing checks"), failGates: rapid.IntRange(0,
				4).Draw(rt, "failing gates"),
			failCall: rapid.IntRange(0, 2).Draw(rt, "failing calls"), noRepair: rapid.Bool().Draw(rt, "no repair"),
		}
		for range rapid.IntRange(5, 30).Draw(rt, "length") {
			s := b.look()
			switch {
			case rapid.IntRange(0, 6).Draw(rt, "move") == 0:
				b.say(rt, person(rt, s))
			case s.Session.State == "IDLE" && s.Session.Effect == "":
				b.say(rt, &planning.Start{Requirement: "work", Place: place, RunMode: pawl.Assisted})
			case s.Session.State == "CONFIRMING":
				b.say(rt, &approval.Approve{Hash: s.Approval.Hash})
			case s.Session.Paused():
				b.say(rt, &control.Resume{})
			default:
				b.act(w.answer)
			}
			if t.Failed() {
				rt.FailNow()
			}
		}
		for _, v := range invariant.Check(context.Background(), b.k) {
			rt.Errorf("%+v", v)
		}
	})
}

var place = effect.Place{Workspace: "/w", Tree: "/w", Git: true}

// until acts until an effect of a kind is pending.
func (b *bench) until(w *world, kind effect.Kind) {
	b.t.Helper()
	for range 60 {
		if s := b.look(); s.Effect != nil && s.Effect.What() == kind && s.Effect.State == kernel.EffectPending {
			return
		}
		b.act(w.answer)
	}
	b.t.Fatalf("never came to %s", kind)
}

func commands(next []view.Next) string {
	var out []string
	for _, n := range next {
		out = append(out, n.Command)
	}
	return strings.Join(out, "; ")
}

func (b *bench) status() view.Status {
	b.t.Helper()
	s, err := query.Status(context.Background(), b.k)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func TestStatusFromRequirementToResult(t *testing.T) {
	w := &world{plan: twoSteps(), failCall: 1}
	b := newBench(t)
	if s := b.status(); s.State != "IDLE" || s.Last != nil ||
		commands(s.Next) != "pawl run REQUIREMENT; pawl task list" {
		t.Errorf("at first: %+v", s)
	}
	b.do(&planning.Start{Requirement: "do the work\nwell", Place: place, RunMode: pawl.Assisted})
	if s := b.status(); s.State != "PLANNING" || s.Goal != "do the work\nwell" || s.Turn.State != "CONTEXT_BUILDING" ||
		s.Doing == nil || s.Doing.Kind != effect.KindContext || s.Flow.Stage != "ANALYZE" {
		t.Errorf("planning: %+v", s)
	}
	b.run(w.answer)
	hash := b.look().Solution.Hash
	s := b.status()
	if s.State != "CONFIRMING" || s.Approval == nil || s.Approval.About != "plan" || s.Approval.Hash != hash ||
		s.Board.IssueStatus != board.IssuePlanned || s.Task.State != "draft" {
		t.Errorf("confirming: %+v", s)
	}
	if !strings.HasPrefix(commands(s.Next), "pawl approve "+hash[:12]+"; ") {
		t.Errorf("next: %s", commands(s.Next))
	}
	b.do(&approval.Approve{Hash: hash})
	b.until(w, effect.KindTool)
	if s := b.status(); s.State != "EXECUTING" || s.Step == nil || s.Step.Number != 1 || s.Step.Total != 2 ||
		s.Step.Done != 0 || s.Doing.Tool != "write_file" || s.Doing.Step != "s1" || s.Approval != nil {
		t.Errorf("executing: %+v %+v", s, s.Step)
	}
	b.act(w.answer)
	b.until(w, effect.KindTool)
	if s := b.status(); s.State != "AUTO_FIX" || s.Step.ID != "fix1-1" || s.Step.Repair != 1 || s.Step.Number != 0 ||
		s.Turn.Repair != 1 {
		t.Errorf("repairing: %+v %+v", s, s.Step)
	}
	b.do(&control.Pause{})
	if s := b.status(); !s.Paused || s.PausedBy != "user:ada" || s.PausedAt.IsZero() ||
		s.Next[0].Command != "pawl resume" {
		t.Errorf("paused: %+v", s)
	}
	b.do(&control.Resume{})
	b.run(w.answer)
	s = b.status()
	if s.State != "IDLE" || s.Task != nil || s.Last == nil || s.Last.Outcome != "completed" || s.Last.Commit != "c1" ||
		s.Last.Task != "T-001" || !strings.HasSuffix(commands(s.Next), "; pawl undo") {
		t.Errorf("at the end: %+v %+v", s, s.Last)
	}
	raw, err := json.Marshal(s)
	if err != nil || strings.Contains(string(raw), `:null`) {
		t.Errorf("JSON %s, %v", raw, err)
	}
	b.do(&recovery.Undo{})
	b.run(w.answer)
	if s := b.status(); !s.Last.Undone || !strings.HasSuffix(commands(s.Next), "; pawl redo") {
		t.Errorf("undone: %+v", s)
	}
	if ctx := b.projections()[view.ContextFile]; !strings.Contains(ctx,
		"- 🔄 2026-02-08 12:00 T-001: do the work (c1) Details: ") {
		t.Errorf("undone:\n%s", ctx)
	}
	b.do(&planning.Start{Requirement: "more", Place: place, RunMode: pawl.Assisted})
	if s := b.status(); s.Last == nil || s.Last.Run != "RUN-1" || s.Run.Label != "RUN-2" {
		t.Errorf("in the next run the last one is %+v", s.Last)
	}
}

// asking makes a tool that policy asks about.
func (b *bench) asking(name string) {
	ask := tool(name, false, policy.ProcExec)
	ask.Request = func(json.RawMessage) (policy.Request, error) {
		return policy.Request{Tool: name, Permissions: []policy.Permission{policy.ProcExec}, Command: "./deploy.sh"},
			nil
	}
	b.k.Config().Tools[name] = ask
}

func TestStatusWhenARepairAsks(t *testing.T) {
	w := &world{plan: twoSteps(), failChecks: 2, repairTool: "deploy"}
	b := proposed(t, w)
	b.watch()
	b.asking("deploy")
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.run(w.answer)
	s := b.status()
	if s.State != "AUTO_FIX" || s.Turn.State != "AWAITING_CONFIRMATION" || s.Approval == nil ||
		s.Approval.About != "action" || commands(s.Next) != "pawl approve "+s.Approval.Hash[:12]+"; pawl deny" {
		t.Fatalf("asking: %+v", s)
	}
	b.do(&approval.Deny{Reason: "not that"})
	b.run(w.answer)
	if s := b.status(); s.Attempts != 1 || s.Approval == nil {
		t.Errorf("after a no: %+v", s)
	}
	b.do(&approval.Approve{Hash: b.status().Approval.Hash})
	b.run(w.answer)
	if got := strings.Join(w.calls, " "); got != "s1 s2 fix2-1" {
		t.Errorf("calls %s", got)
	}
}

func TestStopInARepairLeavesIt(t *testing.T) {
	w := &world{plan: twoSteps(), failChecks: 1}
	b := proposed(t, w)
	b.watch()
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	for b.look().Turn.Fix == 0 {
		b.act(w.answer)
	}
	b.do(&recovery.Stop{Reason: "enough"})
	b.do(&recovery.Fix{Note: "I mended it"})
	if s := b.status(); s.State != "EXECUTING" || s.Turn.Repair == 0 {
		t.Errorf("after stop and fix: %+v", s)
	}
	b.run(w.answer)
	ctx := b.projections()[view.ContextFile]
	if !strings.Contains(ctx, "task_status: IDLE\n") ||
		!strings.Contains(ctx, "## 1. Current Goal\n\n>\n\n## 2. Task Queue\n\n\n") {
		t.Errorf("at rest:\n%s", ctx)
	}
}

func TestStatusWhenBlocked(t *testing.T) {
	w := &world{plan: twoSteps(), failChecks: 99}
	b := approved(t, w)
	s := b.status()
	if s.State != "BLOCKED" || s.Blocked == nil || s.Blocked.Kind != "fuse" || s.Blocked.Error.Key != "kernel.fuse" ||
		s.Attempts != 3 || s.MaxAttempts != 3 || commands(s.Next) != "pawl fix; pawl rollback; pawl skip" {
		t.Errorf("blocked: %+v", s)
	}
	sum := query.SummaryOf(b.look())
	if sum.Repairs != 3 || len(sum.Failures) != 4 || sum.Error == nil || len(sum.Verification) != 1 ||
		sum.Verification[0].Passed || sum.Verification[0].Checks[0].Output != "FAIL" ||
		commands(sum.Undo) != "pawl rollback" {
		t.Errorf("summary %+v", sum)
	}
	w = &world{plan: twoSteps()}
	b = proposed(t, w)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.until(w, effect.KindTool)
	id := b.look().Effect.ID
	b.do(&effects.Begin{Effect: id, Owner: "r1"})
	b.do(&effects.Recover{Effect: id, Answer: effect.DoneUnknown})
	if s := b.status(); s.Blocked.Kind != "question" || s.Blocked.Effect != id ||
		!strings.HasPrefix(commands(s.Next), "pawl fix --answer done; pawl fix --answer retry; ") {
		t.Errorf("question: %+v %s", s.Blocked, commands(s.Next))
	}
}

// TestWhatTheArchiveLeftOutIsTold: a run whose CHANGELOG could not be added to is completed, and says so where people
// look.
func TestWhatTheArchiveLeftOutIsTold(t *testing.T) {
	w := &world{plan: twoSteps()}
	b := proposed(t, w)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.run(func(e effect.Effect) effect.Receipt {
		r := w.answer(e)
		if e.Kind == effect.KindArchive {
			r.Cause = &effect.Fault{Key: "knowledge.not_logged", Args: []string{"CHANGELOG.md"},
				Cause: &effect.Fault{Key: "knowledge.not_text"}}
		}
		return r
	})
	last, err := b.k.LastRun(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, n := range query.SummaryOf(last).Risks {
		keys = append(keys, n.Key)
	}
	if last.Run.Outcome != "completed" || !slices.Contains(keys, "knowledge.not_logged") ||
		!slices.Contains(keys, "knowledge.not_text") || b.count("ARCHIVE_INCOMPLETE") != 1 {
		t.Errorf("%s, risks %v", last.Run.Outcome, keys)
	}
}

func TestPlanAndSummaryOfARun(t *testing.T) {
	p := twoSteps()
	p.Steps[1].ToolCalls[0].Name = "run_terminal_cmd"
	p.Verification.Commands, p.RiskLevel = []string{"go test ./..."}, pawl.RiskMedium
	w := &world{plan: p, failGates: 1}
	b := proposed(t, w)
	s := b.look()
	v := query.PlanOf(s)
	if v.Hash != s.Solution.Hash || len(v.Steps) != 2 || v.Steps[0].Calls[0].Verdict == nil ||
		v.Steps[0].Calls[0].Verdict.Decision == "" || len(v.Commands) != 1 || len(v.Checks) != 2 || v.Approval == nil ||
		v.Approval.State != "pending" || !strings.HasPrefix(v.Package, "plan/2026") {
		t.Errorf("plan %+v", v)
	}
	files := b.projections()
	if !strings.Contains(files[v.Package+"/tasks.md"], "- [ ] 1.2 step s2") ||
		!strings.Contains(files[v.Package+"/proposal.md"], "> do the work") {
		t.Errorf("package %s: %v", v.Package, files)
	}
	b.do(&approval.Approve{Hash: v.Hash})
	b.run(w.answer)
	last, err := b.k.LastRun(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	sum := query.SummaryOf(last)
	if sum.Outcome != "completed" || sum.Task != "T-001" || len(sum.Steps) != 2 || sum.Steps[0].Why != "because" ||
		sum.Landing.Commit != "c1" || len(sum.Verification) != 2 || sum.Duration <= 0 ||
		commands(sum.Undo) != "pawl undo; git revert c1" {
		t.Errorf("summary %+v", sum)
	}
	if len(sum.Risks) != 1 || sum.Risks[0].Key != "kernel.risk_level" {
		t.Errorf("risks %+v", sum.Risks)
	}
	task, err := b.k.TaskSnapshot(context.Background(), "T-001")
	if err != nil {
		t.Fatal(err)
	}
	if tv := query.TaskOf(task.Task, b.k.Config()); tv.State != "done" || tv.Retries.Count != 1 ||
		tv.Retries.Max != 3 || tv.Turns != 2 || tv.Lease != nil || tv.Run == "" || tv.Steps[1].Status != plan.Done {
		t.Errorf("task %+v", tv)
	}
}

// archives collects the files of every archive effect.
func (w *world) archives(into *[][]pawl.ProjectedFile, fail int) func(effect.Effect) effect.Receipt {
	return func(e effect.Effect) effect.Receipt {
		if e.Kind != effect.KindArchive {
			return w.answer(e)
		}
		spec, _ := effect.Decode[effect.ArchiveSpec](e.Spec)
		*into = append(*into, spec.Files)
		if len(*into) <= fail {
			return effect.Failed(pawl.Fail(pawl.CodeDiskFull, "archive.write_failed", "x"))
		}
		return w.answer(e)
	}
}

func TestArchiveOfARun(t *testing.T) {
	for _, c := range []struct {
		name string
		w    *world
		skip bool
		want string
	}{
		{"done", &world{plan: twoSteps()}, false, "✅完成"},
		{"left behind", &world{plan: twoSteps(), failChecks: 99}, true, "❌失败/中止"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got [][]pawl.ProjectedFile
			answer := c.w.archives(&got, 1)
			b := proposed(t, c.w)
			b.watch()
			b.do(&approval.Approve{Hash: b.look().Solution.Hash})
			b.run(answer)
			if c.skip {
				b.do(&recovery.Skip{})
				b.run(answer)
			}
			if s := b.look(); s.Session.State != "BLOCKED" || s.Session.Blocked.Kind != kernel.BlockedArchive ||
				commands(query.StatusOf(s).Next) != "pawl fix" {
				t.Fatalf("after a full disk: %+v", s.Session)
			}
			b.now = b.now.Add(48 * time.Hour)
			b.do(&recovery.Fix{})
			b.run(answer)
			if len(got) != 2 || !slices.Equal(got[0], got[1]) {
				t.Fatalf("the second try writes other files:\n%+v\n%+v", got[0], got[1:])
			}
			paths := map[string]string{}
			for _, f := range got[0] {
				paths[f.Path] += f.Content
			}
			if !strings.Contains(paths["archive/_index.md"], c.want) ||
				!strings.Contains(paths["history/task_archive_202602.md"], "## Task-001: do the work") ||
				!strings.Contains(paths["archive/2026-02/202602081200_do-the-work/tasks.md"], "> **@status:** ") {
				t.Errorf("archive %v", paths)
			}
			if ctx := b.projections()[view.ContextFile]; !strings.Contains(ctx, "T-001: do the work") ||
				!strings.Contains(ctx, "Details: ./history/task_archive_202602.md#task-001") {
				t.Errorf("no history in\n%s", ctx)
			}
		})
	}
}

// TestArchiveOfARollback: what is taken back leaves its package, its row and its entry, in the language of who asked,
// and is over even where they cannot be written.
func TestArchiveOfARollback(t *testing.T) {
	for lang, want := range map[string][]string{
		"":      {"> **@status:** rolled_back | ", "状态: 已回滚"},
		"zh-CN": {"> **@status:** rolled_back | ", "状态: 已回滚"},
		"en":    {"> **@status:** rolled_back | ", "Status: rolled back"},
	} {
		for fail := range 2 {
			t.Run(fmt.Sprint(lang, " ", fail), func(t *testing.T) {
				w := &world{plan: twoSteps(), failChecks: 99}
				b := newBench(t)
				b.do(&planning.Start{Requirement: "do the work", Place: place, RunMode: pawl.Assisted, Lang: lang,
					AutoApprove: "policy:test"})
				var got [][]pawl.ProjectedFile
				answer := w.archives(&got, fail)
				b.run(answer)
				b.do(&recovery.Rollback{})
				for b.look().Effect == nil || b.look().Effect.What() != effect.KindArchive {
					if !b.act(answer) {
						t.Fatal("nothing is archived")
					}
				}
				if s := b.look().Session; s.State != "BLOCKED" || !s.RollingBack() {
					t.Fatalf("while it is archived: %+v", s)
				}
				b.run(answer)
				last, err := b.k.LastRun(context.Background())
				if s := b.look().Session; err != nil || len(got) != 1 || s.State != "IDLE" || s.RollingBack() ||
					last.Run.Outcome != "rolled_back" {
					t.Fatalf("%+v, %d times archived, %v", s, len(got), err)
				}
				text := ""
				for _, f := range got[0] {
					text += f.Path + "\n" + f.Content
				}
				for _, want := range append(want, "archive/2026-02/202602081200_do-the-work/proposal.md", "🔄已回滚",
					"- 结果: 🔄已回滚", "## Task-001: do the work") {
					if !strings.Contains(text, want) {
						t.Errorf("the archive lacks %q:\n%s", want, text)
					}
				}
				history := b.projections()[view.ContextFile]
				if linked := strings.Contains(history, "Details: ./history/"); linked != (fail == 0) {
					t.Errorf("linked %v:\n%s", linked, history)
				}
				told := slices.ContainsFunc(query.SummaryOf(last).Risks,
					func(n view.Note) bool { return n.Key == "archive.write_failed" })
				if told != (fail == 1) {
					t.Errorf("that it was not archived is told: %v", told)
				}
				b.verifyAudit()
			})
		}
	}
}

func TestProjectionsOfTheBoard(t *testing.T) {
	w := &world{plan: twoSteps()}
	b := newBench(t)
	if files := b.projections(); !strings.Contains(files[view.StateFile], `"status": "pending"`) ||
		strings.TrimSpace(files[view.HistoryFile]) != "[]" {
		t.Errorf("at first %v", files)
	}
	b.do(&tasks.CreateTask{Title: "by hand\n# not a heading"})
	if ctx := b.projections()[view.ContextFile]; !strings.Contains(ctx, "- [ ] T-001: [P0] by hand # not a heading\n") {
		t.Errorf("a task that was made by hand is missing in\n%s", ctx)
	}
	b.do(&planning.Start{Requirement: "do the work", Place: place, RunMode: pawl.Assisted})
	b.run(w.answer)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.run(w.answer)
	files := b.projections()
	s, err := board.ParseState([]byte(files[view.StateFile]))
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != "completed" || s.Phase != "complete" || s.WorkDir != "/w/.pawl" || s.Context.CompletedCount != 1 ||
		s.Queue[0].ItemID != "S-1" || strings.Join(s.CompletedActions, " ") != "init plan execute complete" {
		t.Errorf("state %+v", s)
	}
	var history []map[string]any
	if err := json.Unmarshal([]byte(files[view.HistoryFile]), &history); err != nil || len(history) != 4 ||
		history[3]["phase"] != "complete" {
		t.Errorf("history %v, %v", history, err)
	}
	w.plan = plan.Plan{}
	b.do(&planning.Start{Requirement: "do more", Place: place, RunMode: pawl.Assisted})
	b.run(w.answer)
	s, err = board.ParseState([]byte(b.projections()[view.StateFile]))
	if err != nil || len(s.Errors) != 1 || s.Errors[0].Action != "plan" || s.Errors[0].Code != "invalid" {
		t.Errorf("after a bad plan: %+v, %v", s, err)
	}
}

func TestTheQueueStaysShort(t *testing.T) {
	b := newBench(t)
	made := 0
	for _, c := range []struct {
		tasks       int
		first, more string
	}{{20, "T-001", ""}, {25, "T-001", "- … +5\n"}, {205, "T-205", "- … +185\n"}} {
		for ; made < c.tasks; made++ {
			b.do(&tasks.CreateTask{Title: "by hand"})
		}
		ctx := b.projections()[view.ContextFile]
		if n := strings.Count(ctx, "[P0] by hand"); n != 20 || !strings.Contains(ctx, "## 2. Task Queue\n\n- [ ] "+
			c.first) || !strings.Contains(ctx, c.more) || c.more == "" && strings.Contains(ctx, "- …") {
			t.Errorf("%d tasks: %d are shown in\n%s", c.tasks, n, ctx)
		}
	}
}

// forged is a store whose rows lie.
type forged struct {
	kernel.Store
	forge func(*kernel.Row)
}

func (f forged) Scan(ctx context.Context, sel kernel.Select) iter.Seq2[kernel.Row, error] {
	return func(yield func(kernel.Row, error) bool) {
		for r, err := range f.Store.Scan(ctx, sel) {
			f.forge(&r)
			if !yield(r, err) {
				return
			}
		}
	}
}

func (f forged) Load(ctx context.Context, sel ...kernel.Select) ([][]kernel.Row, error) {
	rows, err := f.Store.Load(ctx, sel...)
	for i := range rows {
		for j := range rows[i] {
			f.forge(&rows[i][j])
		}
	}
	return rows, err
}

// doc changes one field of a document.
func doc(r *kernel.Row, change func(map[string]any)) {
	var m map[string]any
	if json.Unmarshal(r.Doc, &m) == nil {
		change(m)
		r.Doc, _ = json.Marshal(m)
	}
}

func TestInvariantsNoticeForgery(t *testing.T) {
	w := &world{plan: twoSteps(), failChecks: 1}
	b := approved(t, w)
	b.do(&planning.Start{Requirement: "more work", Place: place, RunMode: pawl.Assisted})
	b.run(w.answer)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.until(w, effect.KindTool)
	b.do(&effects.Begin{Effect: b.look().Effect.ID, Owner: "r1"})
	if found := invariant.Check(context.Background(), b.k); len(found) > 0 {
		t.Fatalf("before any forgery: %+v", found)
	}
	is := func(kind kernel.Kind, state string, change func(*kernel.Row)) func(*kernel.Row) {
		return func(r *kernel.Row) {
			if r.Kind == kind && r.State == state {
				change(r)
			}
		}
	}
	set := func(field string, value any) func(*kernel.Row) {
		return func(r *kernel.Row) { doc(r, func(m map[string]any) { m[field] = value }) }
	}
	for _, c := range []struct {
		name, want string
		forge      func(*kernel.Row)
	}{
		{"done without gates", invariant.Proof, is(kernel.KindTask, "done", set("gate_results", nil))},
		{"another tree landed", invariant.Proof,
			is(kernel.KindTask, "done", set("land", map[string]any{"tree": "t9"}))},
		{"a failed verification", invariant.Proof,
			is(kernel.KindTask, "done", set("verified", map[string]any{"passed": false}))},
		{"a gate that did not run", invariant.Proof,
			is(kernel.KindTask, "done", set("gates", []string{"doctor", "tests"}))},
		{"a state nobody recorded", invariant.Legal,
			is(kernel.KindTask, "running", func(r *kernel.Row) { r.State = "verified" })},
		{"records cut off", invariant.Durable,
			is(kernel.KindIssue, "completed", func(r *kernel.Row) { r.AuditSeq += 5 })},
		{"too many fixes", invariant.Bounded, is(kernel.KindTask, "running", set("fixes", 4))},
		{"too many attempts", invariant.Bounded, is(kernel.KindSession, "EXECUTING", set("auto_fix_attempts", 4))},
		{"too many retries", invariant.Bounded,
			is(kernel.KindTask, "running", set("retry_state", map[string]any{"retry_count": 4}))},
		{"too many calls", invariant.Bounded, is(kernel.KindTurn, "EXECUTING", set("calls", 1001))},
		{"a lease at rest", invariant.Fenced,
			is(kernel.KindTask, "done", set("lease", map[string]any{"owner": "r9"}))},
		{"an old token", invariant.Fenced, is(kernel.KindEffect, "running", func(r *kernel.Row) { r.Epoch++ })},
		{"an orphan", invariant.Fenced, is(kernel.KindTask, "running", set("effect", ""))},
		{"a session elsewhere", invariant.Derived,
			is(kernel.KindSession, "EXECUTING", func(r *kernel.Row) { r.State = "AUTO_FIX" })},
		{"an unreadable row", invariant.Durable,
			is(kernel.KindTurn, "EXECUTING", func(r *kernel.Row) { r.Doc = []byte("{") })},
	} {
		k := kernel.New(joined.Table(), forged{b.store, c.forge}, *b.k.Config(),
			pawl.ClockFunc(func() time.Time { return b.now }), nil)
		found := invariant.Check(context.Background(), k)
		if !slices.ContainsFunc(found, func(v invariant.Violation) bool { return v.Invariant == c.want }) {
			t.Errorf("%s: found %+v, want %s", c.name, found, c.want)
		}
	}
}

// lost is a store whose log has one record less in its middle.
type lost struct{ kernel.Store }

func (l lost) Log(ctx context.Context, read func(audit.Log) error) error {
	return l.Store.Log(ctx, func(log audit.Log) error {
		records := log.Records
		log.Records = func(yield func(audit.Stored, error) bool) {
			for r, err := range records {
				if r.Index != 3 && !yield(r, err) {
					return
				}
			}
		}
		return read(log)
	})
}

func TestInvariantsNoticeALostRecord(t *testing.T) {
	b := approved(t, &world{plan: twoSteps()})
	k := kernel.New(joined.Table(), lost{b.store}, *b.k.Config(), pawl.ClockFunc(func() time.Time { return b.now }),
		nil)
	found := invariant.Check(context.Background(), k)
	if len(found) == 0 || found[0].Invariant != invariant.Durable || !strings.Contains(found[0].Text, "audit.missing") {
		t.Errorf("found %+v", found)
	}
}
