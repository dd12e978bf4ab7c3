package view_test

import (
	"strings"
	"testing"

	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/text/plan"
	"pawl/text/solution"
)

// TestPackageShowsTheProof: the package in the archive says of each criterion what became of it, in the language of its
// documents, and what it says is read back in both.
func TestPackageShowsTheProof(t *testing.T) {
	for lang, want := range map[solution.Language][]string{
		solution.Chinese: {"## 1. 需求", "- c1 (check): one — ✅ 已证明: TestOne", "- c2 (kept): two — ✅ 原已如此",
			"- c3 (review): three — ⚠️ 已接受: ada: seen by eye", "状态: 已完成"},
		solution.English: {"## 1. Requirement", "- c1 (check): one — ✅ proven: TestOne", "- c2 (kept): two — ✅ already so",
			"- c3 (review): three — ⚠️ accepted: ada: seen by eye", "Status: completed"},
	} {
		p := view.Package{Name: "202602081200_x", Task: "1", Label: "T-001", Title: "x", State: "done",
			Outcome: "completed", Lang: lang, Plan: plan.Plan{Goal: "x", Steps: []plan.Step{{StepID: "s1", Title: "s",
				Status: plan.Done}}}}
		p.Proof = &view.Proof{Verdict: effect.Accepted, By: "user:ada", Reason: "seen by eye"}
		for i, text := range []string{"one", "two", "three"} {
			c := effect.Met{Criterion: plan.Criterion{ID: "c" + string(rune('1'+i)), Text: text}}
			c.Proof = []plan.Proof{plan.ProofCheck, plan.ProofKept, plan.ProofReview}[i]
			c.Verdict = []effect.Verdict{effect.Proven, effect.AlreadySo, effect.Unproven}[i]
			if i == 0 {
				c.Shown = []string{"TestOne"}
			}
			p.Plan.Criteria = append(p.Plan.Criteria, c.Criterion)
			p.Proof.Criteria = append(p.Proof.Criteria, c)
		}
		files, _ := p.Archive()
		proposal := files[0].Content
		for _, w := range want {
			if !strings.Contains(proposal, w) {
				t.Errorf("%s: no %q in\n%s", lang, w, proposal)
			}
		}
		back, err := solution.ReadProposal([]byte(proposal))
		if err != nil || back.Language != lang || !strings.Contains(back.Acceptance, "TestOne") ||
			strings.Count(back.Acceptance, "\n")+1 != 3 {
			t.Errorf("%s: read back %+v, %v", lang, back, err)
		}
		tasks, err := solution.ReadTasks([]byte(files[1].Content))
		if err != nil || len(tasks.List) != 1 || tasks.List[0].Status != solution.Completed {
			t.Errorf("%s: tasks %+v, %v", lang, tasks, err)
		}
		p.Proof.Verdict = effect.Unproven
		files, _ = p.Archive()
		if !strings.Contains(files[0].Content, map[solution.Language]string{solution.Chinese: "three — ⛔ 未证明",
			solution.English: "three — ⛔ unproven"}[lang]) {
			t.Errorf("%s: %s", lang, files[0].Content)
		}
	}
}
