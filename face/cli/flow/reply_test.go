package flow

import (
	"encoding/json"
	"reflect"
	"testing"

	"pawl/kernel"
	"pawl/kernel/view"
	"pawl/text/plan"
	"pawl/text/solution"
	"pawl/text/triage"
)

// What was asked may be answered elsewhere between the moment in which a reply is understood and the one in which it is
// given.
func TestReplyToNothing(t *testing.T) {
	for _, choice := range []triage.Choice{triage.ChoiceYes, triage.ChoiceNo, triage.ChoiceMore, triage.ChoiceAsIs} {
		if c := replyTo(&kernel.Snapshot{Session: &kernel.Session{}},
			triage.Route{Kind: triage.KindReply, Choice: choice}); c != nil {
			t.Errorf("%s: %T", choice, c)
		}
	}
}

// A step waits for every task that its task depends on, wherever in the list that stands, but for those that are done.
func TestPlanOfKeepsDependencies(t *testing.T) {
	start, err := planOf("202602081200_a",
		map[string][]byte{solution.ProposalName: []byte("# a\n\n## Requirement\n\n## Approach\n"), solution.TasksName: []byte("- [√] 1.1 done\n- [ ] 1.2 late\n  - Depends on: 1.1, 1.4\n- [ ] 1.3 free\n- [ ] 1.4 early\n  - Depends on: 1.3\n")}, view.Package{})
	if err != nil {
		t.Fatal(err)
	}
	var p plan.Plan
	if err := json.Unmarshal(start.Given, &p); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, s := range p.Steps {
		got[s.StepID+" "+s.Title] = s.DependsOn
	}
	want := map[string][]string{"s2 late": {"s4"}, "s3 free": nil, "s4 early": {"s3"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
