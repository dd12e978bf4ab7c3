package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pawl"
	"pawl/face/cli/term/termtest"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/workflow"
	"pawl/text/policy"
	"pawl/text/triage"
)

// screenOf makes an app that writes to a terminal of a width.
func screenOf(lang string, width int) (*App, *bytes.Buffer) {
	var out bytes.Buffer
	return newApp(nil, host.Streams{Out: &out, Err: &out, TTY: true, Width: width, Env: func(name string) string {
		return map[string]string{"LANG": lang, "NO_COLOR": "1"}[name]
	}}, nil), &out
}

func TestProposalsFit(t *testing.T) {
	for _, lang := range []string{"en_GB.UTF-8", "zh_CN.UTF-8"} {
		for _, width := range []int{60, 80, 120, 200} {
			for _, text := range termtest.Hostile() {
				a, _ := screenOf(lang, width)
				p := view.Plan{Hash: strings.Repeat("a", 64), Goal: "g", Constraints: []string{text},
					Steps: []view.PlanStep{{
						StepLine: view.StepLine{ID: "a-step", Title: text}, DependsOn: []string{"s1"},
						Calls: []view.PlanCall{{Tool: "run_terminal_cmd", Args: json.RawMessage("{}"),
							Verdict: &policy.Verdict{Decision: policy.Ask,
								Reasons: []policy.Reason{{Code: "x", Key: "policy.secret", Args: []string{text}}}}}},
					}}}
				sheet := strings.Join(newProposal(a.Printer, p, false, nil).lines, "\n")
				if !strings.Contains(sheet, p.Hash) {
					t.Error("the hash is not shown whole")
				}
				termtest.Fits(t, "plan", max(width, 64), sheet)
			}
		}
	}
}

// A failure that was kept in the store is told in the reader's language down to the error behind it.
func TestKeptFailuresAreInWords(t *testing.T) {
	err := pawl.Fail(pawl.CodeIO, "archive.write_failed", "a.md").Because(pawl.Fail(pawl.CodeDenied, "sandbox.outside",
		"../x").Because(fmt.Errorf("no such device")))
	raw, _ := json.Marshal(effect.Failed(err))
	var r effect.Receipt
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"en_GB.UTF-8", "zh_CN.UTF-8"} {
		a, out := screenOf(lang, 200)
		ReportError(a.Printer, r.Err())
		kept := ReasonText(a.Printer, r.Key, r.Args, r.Cause)
		lines := strings.Join(FailureLines(a.Printer,
			view.Failure{What: "w", Error: effect.Fault{Key: r.Key, Args: r.Args, Cause: r.Cause}}), "\n")
		for _, text := range []string{out.String(), kept, lines} {
			for _, want := range []string{a.Text("archive.write_failed", "a.md"), a.Text("sandbox.outside", "../x"),
				"no such device"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %q does not say %q", lang, text, want)
				}
			}
			if strings.Contains(text, "sandbox.outside") || strings.Contains(text, "E_POLICY") {
				t.Errorf("%s: a key instead of words: %q", lang, text)
			}
		}
	}
}

// A risk is told in words, with the id that the machine form of the same finding has.
func TestStageSheetTellsRisks(t *testing.T) {
	for lang, words := range map[string][2]string{
		"en_GB.UTF-8": {"extremely high risk, destroys data (data_loss): DROP TABLE users",
			"mentioned only, changes what is live (production): deploy"},
		"zh_CN.UTF-8": {"极高风险，销毁数据（data_loss）：DROP TABLE users", "仅提及，改动生产环境（production）：deploy"},
	} {
		a, _ := screenOf(lang, 80)
		s := &kernel.Snapshot{Run: &kernel.Run{Stage: workflow.Evaluate, Evaluation: &triage.Evaluation{}}}
		for _, k := range triage.Kinds() {
			s.Run.Evaluation.HighRisk = append(s.Run.Evaluation.HighRisk,
				triage.Finding{Kind: k, Quote: "q\x1b[31m", Stance: triage.StanceAction})
		}
		s.Run.Evaluation.HighRisk = append(s.Run.Evaluation.HighRisk,
			triage.Finding{Kind: triage.RiskDataLoss, Quote: "DROP TABLE users", Stance: triage.StanceAction},
			triage.Finding{Kind: triage.RiskProduction, Quote: "deploy", Stance: triage.StanceMention})
		text := strings.Join(stageSheet(a.Printer, s), "\n")
		for _, want := range words {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		if strings.Contains(text, "triage.") || strings.Contains(text, "\x1b[31m") || strings.Contains(text, "\\\\") {
			t.Errorf("%s:\n%q", lang, text)
		}
	}
}

// TestDegradedTextsOfOldRuns: a run of an earlier version may name what no longer has a text.
func TestDegradedTextsOfOldRuns(t *testing.T) {
	a, _ := screenOf("en_GB.UTF-8", 80)
	got := DegradedTexts(a.Printer, []string{"context.no_tags", "context.too_many"})
	if len(got) != 1 || got[0] != a.Text("context.too_many") {
		t.Errorf("%q", got)
	}
}
