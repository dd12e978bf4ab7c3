package flow

import (
	"testing"

	"pawl/kernel"
	"pawl/triage"
)

// What was asked may be answered elsewhere between the moment in which a reply is understood and the one in which it is given.
func TestReplyToNothing(t *testing.T) {
	for _, choice := range []triage.Choice{triage.ChoiceYes, triage.ChoiceNo, triage.ChoiceMore, triage.ChoiceAsIs} {
		if c := replyTo(&kernel.Snapshot{Session: &kernel.Session{}}, triage.Route{Kind: triage.KindReply, Choice: choice}); c != nil {
			t.Errorf("%s: %T", choice, c)
		}
	}
}
