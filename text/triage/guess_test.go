package triage

import (
	"testing"

	"pawl/text/plan"
)

// What a program has printed is pasted into a requirement and asks for nothing; small requests are no matter of danger.
func TestOrdinaryRequestsAreNotAskedAbout(t *testing.T) {
	for _, text := range []string{
		"mend it", "fix it", "修好它", "Sum(2, 3) is not 5", "Move Discount from price.go to discount.go",
		"go test fails:\n--- FAIL: TestPast (0.00s)\n    common_test.go:14: On 12 seconds ago, expected '12 seconds ago', but got '0 seconds ago'",
		"go test fails:\n--- FAIL: TestLineEdits (0.00s)\n    diff_test.go:106: in=<<groat\n            raw  edits=[{Start:1,End:2,New:\"\"}]",
		"Mend this:\nprice.go:12:3: undefined: drop\n\texpected: diff --git a/dir/file.txt b/dir/file.txt",
	} {
		if found := Weigh(text); Asks(found) {
			t.Errorf("%q: %+v", text, found)
		}
	}
	goal := plan.Plan{Goal: "Add a class Money(amount) in shop/money.py whose method plus(other) returns the Money of both amounts"}
	for _, f := range DetectPlan(goal) {
		if f.Stance != StanceMention {
			t.Errorf("%+v", f)
		}
	}
	goal.Goal = "Delete the customers table of the production database"
	if found := DetectPlan(goal); len(found) == 0 || found[0].Stance != StanceAction {
		t.Errorf("%+v", found)
	}
	// The rules hold for whatever stands there, however it looks.
	for _, text := range []string{"Do this:\n    Delete the production database", "Do this:\n    rm -rf /"} {
		if !Asks(Weigh(text)) {
			t.Errorf("%q is not asked about", text)
		}
	}
}
