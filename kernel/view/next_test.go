package view_test

import (
	"testing"

	"pawl/kernel/view"
)

func TestForIssue(t *testing.T) {
	for text, want := range map[string]string{
		"pawl approve 1a2b":          "pawl approve --issue ISS-2 1a2b",
		"pawl accept 1a2b -m REASON": "pawl accept --issue ISS-2 1a2b -m REASON",
		"pawl revise FEEDBACK":       "pawl revise --issue ISS-2 FEEDBACK",
		"pawl fix --answer done":     "pawl fix --issue ISS-2 --answer done",
		"pawl plan show":             "pawl plan show --issue ISS-2",
		"pawl run REQUIREMENT":       "pawl run REQUIREMENT",
		"pawl issue show ISS-3":      "pawl issue show ISS-3",
		"pawl status --issue ISS-7":  "pawl status --issue ISS-7",
		"nothing is lost: go on with pawl resume; or pawl stop, or pawl stopped": "nothing is lost: go on with pawl resume --issue ISS-2; or pawl stop --issue ISS-2, or pawl stopped",
		"可继续执行：pawl resume":                                                      "可继续执行：pawl resume --issue ISS-2",
		"用 pawl status 查看":                                                       "用 pawl status --issue ISS-2 查看",
		"git revert 1a2b":                                                        "git revert 1a2b",
	} {
		if got := view.ForIssue(text, "ISS-2"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := view.ForIssue(text, ""); got != text {
			t.Errorf("without an issue: %q", got)
		}
	}
}
