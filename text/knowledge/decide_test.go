package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/golden"
	"pawl/machine/workflow"
	"pawl/text/knowledge"
	"pawl/text/message"
)

var (
	modes      = []knowledge.Mode{knowledge.Off, knowledge.OnDemand, knowledge.OnDemandAutoCoding, knowledge.Always}
	conditions = []knowledge.Condition{knowledge.Missing, knowledge.Bad, knowledge.Fine}
	points     = []knowledge.Point{knowledge.AtTweak, knowledge.AtAnalyze, knowledge.AtExec}
)

// every walks all combinations.
func every(do func(knowledge.Question)) {
	for _, at := range points {
		for _, m := range modes {
			for _, c := range conditions {
				for _, coding := range []bool{true, false} {
					do(knowledge.Question{Mode: m, Condition: c, Coding: coding, At: at})
				}
			}
		}
	}
}

// The sentences of docs/spec/workflow.md#knowledge-base, each said of all combinations.
func TestDecisionsSaySeed(t *testing.T) {
	n := 0
	every(func(q knowledge.Question) {
		n++
		d, err := knowledge.Decide(q)
		if err != nil {
			t.Fatal(err)
		}
		tweak := q.At == knowledge.AtTweak
		say := func(ok bool, what string) {
			if !ok {
				t.Errorf("%+v: %+v: %s", q, d, what)
			}
		}
		say(d.Skipped != workflow.Undecided, "each point decides KB_SKIPPED")
		say((d.Skipped == workflow.True) == (tweak || q.Mode == knowledge.Off),
			"KB_SKIPPED: 0 is true, 1 to 3 are false, a tweak is always true")
		say(!(tweak || q.Mode == knowledge.Off) || d.Do == knowledge.Nothing && !d.Write,
			"mode 0 and tweaks write nothing")
		say((d.Note == "knowledge.skipped") == (q.Mode == knowledge.Off && q.Condition == knowledge.Missing),
			"mode 0 without documents says that it is skipped")
		if !tweak {
			say((d.Do == knowledge.Create) == (q.Condition == knowledge.Missing &&
				(q.Mode == knowledge.Always || q.Mode == knowledge.OnDemandAutoCoding && q.Coding)),
				"2 creates for code, 3 always")
			say((d.Do == knowledge.Rebuild) == (q.Condition == knowledge.Bad && q.Mode >= knowledge.OnDemandAutoCoding),
				"2 and 3 rebuild")
			say((d.Do == knowledge.Flag) == (q.Condition == knowledge.Bad && q.Mode == knowledge.OnDemand), "1 flags")
			say((d.Do == knowledge.Advise) == (q.Condition == knowledge.Missing && (q.Mode == knowledge.OnDemand ||
				q.Mode == knowledge.OnDemandAutoCoding && !q.Coding)),
				"1 suggests ~init, 2 as 1 where no code is written")
			say(d.Write == (q.Mode != knowledge.Off && (q.Condition != knowledge.Missing || d.Do == knowledge.Create)),
				"writes are normal where there is something")
		}
		say(d.Read == (q.Condition != knowledge.Missing || d.Do == knowledge.Create), "what there is is read")
		if d.Note != "" {
			if _, ok := message.Lookup(d.Note); !ok {
				t.Errorf("no message %s", d.Note)
			}
		}
	})
	if n != 72 {
		t.Errorf("%d combinations", n)
	}
}

func TestDecisionTable(t *testing.T) {
	var b strings.Builder
	every(func(q knowledge.Question) {
		if n := knowledge.RowsFor(q); n != 1 {
			t.Errorf("%+v: %d rows fit", q, n)
		}
		d, _ := knowledge.Decide(q)
		fmt.Fprintf(&b, "%-8s %-26s %-8s coding=%-5t -> KB_SKIPPED=%-5s %-8s read=%-5t write=%-5t %s\n", q.At, q.Mode,
			q.Condition, q.Coding, d.Skipped, d.Do, d.Read, d.Write, d.Note)
	})
	golden.Check(t, "testdata/decisions.txt", strings.ReplaceAll(b.String(), " \n", "\n"))
	if _, err := knowledge.Decide(knowledge.Question{Mode: 7, Condition: knowledge.Fine,
		At: knowledge.AtExec}); pawl.CodeOf(err) != pawl.CodeInternal {
		t.Error(err)
	}
}

func TestCarry(t *testing.T) {
	d := knowledge.Decision{Skipped: workflow.False}
	for was, want := range map[workflow.Flag]workflow.Flag{workflow.Undecided: workflow.False,
		workflow.True: workflow.True, workflow.False: workflow.False} {
		if got := knowledge.Carry(was, d); got != want {
			t.Errorf("%q became %q", was, got)
		}
	}
}

func TestLogs(t *testing.T) {
	for _, m := range modes {
		for _, folder := range []bool{true, false} {
			for _, k := range []knowledge.Kind{knowledge.Added, knowledge.Changed, knowledge.Fixed, knowledge.Removed,
				knowledge.Tweaked, knowledge.OutOfScope, knowledge.RolledBack, knowledge.RiskConfirmed} {
				tweak := k == knowledge.Tweaked || k == knowledge.OutOfScope
				write := !(tweak && m == knowledge.Off && !folder)
				if got := knowledge.Logs(m, folder, k); got != (knowledge.Logging{Write: write, MakeFolder: write &&
					!folder}) {
					t.Errorf("%v %v %v: %+v", m, folder, k, got)
				}
			}
		}
	}
}

func TestInit(t *testing.T) {
	for _, m := range modes {
		for _, c := range conditions {
			asked, err := knowledge.Init(m, c, true, false)
			if err != nil || (len(asked) > 1) != (m == knowledge.Off || c != knowledge.Missing) || len(asked) > 1 &&
				!slices.Contains(asked, knowledge.InitCancel) {
				t.Errorf("%v %v: a person is asked %v, %v", m, c, asked, err)
			}
			yes, err := knowledge.Init(m, c, true, true)
			if err != nil || len(yes) != 1 || yes[0] != asked[0] {
				t.Errorf("%v %v: --yes is %v, %v", m, c, yes, err)
			}
			alone, err := knowledge.Init(m, c, false, false)
			if m == knowledge.Off && pawl.CodeOf(err) != pawl.CodeApprovalNeeded || m != knowledge.Off &&
				(err != nil || !slices.Equal(alone, yes)) {
				t.Errorf("%v %v: unattended %v, %v", m, c, alone, err)
			}
		}
	}
}

func TestParseMode(t *testing.T) {
	for s, want := range map[string]knowledge.Mode{"0": knowledge.Off, "2": knowledge.OnDemandAutoCoding,
		"ALWAYS": knowledge.Always} {
		if m, err := knowledge.ParseMode(s); err != nil || m != want {
			t.Errorf("%s: %v, %v", s, m, err)
		}
	}
	for _, s := range []string{"", "4", "-1", "off", "１", "2 "} {
		if _, err := knowledge.ParseMode(s); pawl.CodeOf(err) != pawl.CodeUsage {
			t.Errorf("%q: %v", s, err)
		}
	}
}
