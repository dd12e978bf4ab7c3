package task_test

import (
	"testing"

	"pawl"
	"pawl/machine/task"
)

func TestGates(t *testing.T) {
	ok := func(name string, tree string) task.Check {
		return task.Check{Name: name, Required: true, Passed: true, Tree: tree}
	}
	for _, c := range []struct {
		name string
		rule string
		ev   task.Evidence
		code pawl.Code // "" where the row is admitted
		gate string
	}{
		{"no plan, no approval", "T1", task.Evidence{}, "", ""},
		{"approved plan", "T1", task.Evidence{PlanHash: "a", ApprovalHash: "a"}, "", ""},
		{"plan not approved", "T1", task.Evidence{PlanHash: "a"}, pawl.CodeApprovalNeeded, task.GateApproval},
		{"plan edited after approval", "T1", task.Evidence{PlanHash: "b", ApprovalHash: "a"}, pawl.CodeApprovalStale,
			task.GateApproval},
		{"approval of another plan", "T1", task.Evidence{ApprovalHash: "a"}, pawl.CodeApprovalStale, task.GateApproval},

		{"queue needs nothing", "T3", task.Evidence{}, "", ""},

		{"holds the lease", "T5", task.Evidence{LeaseEpoch: 3, Token: 3}, "", ""},
		{"older token", "T5", task.Evidence{LeaseEpoch: 3, Token: 2}, pawl.CodeFenced, task.GateLease},
		{"no token", "T7", task.Evidence{}, pawl.CodeFenced, task.GateLease},
		{"a token of the future", "T7", task.Evidence{LeaseEpoch: 3, Token: 4}, pawl.CodeFenced, task.GateLease},
		{"negative token", "T7", task.Evidence{LeaseEpoch: -1, Token: -1}, pawl.CodeFenced, task.GateLease},
		{"nobody holds a lease", "T10", task.Evidence{LeaseEpoch: 3, NoLease: true}, "", ""},
		{"an old token after the lease", "T10", task.Evidence{LeaseEpoch: 3, Token: 3 - 1, NoLease: true},
			pawl.CodeFenced, task.GateLease},

		{"failed with a reason", "T8", task.Evidence{NoLease: true, ExitReason: task.ExitTimeout}, "", ""},
		{"failed without a reason", "T8", task.Evidence{NoLease: true}, pawl.CodeGate, task.GateExitReason},
		{"failed with free text", "T12", task.Evidence{ExitReason: "it broke"}, pawl.CodeGate, task.GateExitReason},
		{"lease before reason", "T8", task.Evidence{}, pawl.CodeFenced, task.GateLease},

		{"canceled with cleanup", "T9", task.Evidence{CleanupSummary: true}, "", ""},
		{"canceled without", "T18", task.Evidence{}, pawl.CodeGate, task.GateCleanup},

		{"verified", "T11", task.Evidence{Tree: "t", Checks: []task.Check{ok("a", "t"), ok("b", "t")}}, "", ""},
		{"an optional check failed", "T11",
			task.Evidence{Tree: "t", Checks: []task.Check{ok("a", "t"), {Name: "b", Tree: "t"}}}, "", ""},
		{"nothing ran", "T11", task.Evidence{Tree: "t"}, pawl.CodeGate, task.GateVerifiedTree},
		{"only optional checks ran", "T11",
			task.Evidence{Tree: "t", Checks: []task.Check{{Name: "b", Passed: true, Tree: "t"}}}, pawl.CodeGate,
			task.GateVerifiedTree},
		{"tree not known", "T11", task.Evidence{Checks: []task.Check{ok("a", "")}}, pawl.CodeGate,
			task.GateVerifiedTree},
		{"another tree", "T11", task.Evidence{Tree: "t", Checks: []task.Check{ok("a", "t"), ok("b", "u")}},
			pawl.CodeGate, task.GateVerifiedTree},
		{"a check failed", "T11", task.Evidence{Tree: "t",
			Checks: []task.Check{ok("a", "t"), {Name: "b", Required: true, Tree: "t"}}}, pawl.CodeChecksFailed,
			task.GateVerifiedTree},
		{"the checks were changed", "T11", task.Evidence{Tree: "t", Checks: []task.Check{ok("a", "t")},
			Tampered: []string{"Makefile"}}, pawl.CodeApprovalNeeded, task.GateChecksKept},

		{"a retry is left", "T16", task.Evidence{RetryCount: 2, MaxRetries: 3, LastReasons: []string{"a", "b", "b"}},
			"", ""},
		{"none is left", "T14", task.Evidence{RetryCount: 3, MaxRetries: 3}, pawl.CodeRetryNotAllowed,
			task.GateRetryBudget},
		{"no budget at all", "T14", task.Evidence{}, pawl.CodeRetryNotAllowed, task.GateRetryBudget},
		{"a loop", "T16", task.Evidence{RetryCount: 1, MaxRetries: 9, LastReasons: []string{"x", "b", "b", "b"}},
			pawl.CodeRetryNotAllowed, task.GateRetryBudget},
		{"two alike are no loop", "T16", task.Evidence{RetryCount: 1, MaxRetries: 9, LastReasons: []string{"b", "b"}},
			"", ""},
		{"alike, but long ago", "T16", task.Evidence{RetryCount: 1, MaxRetries: 9,
			LastReasons: []string{"b", "b", "b", "c"}}, "", ""},
		{"unstated reasons are no loop", "T16",
			task.Evidence{RetryCount: 1, MaxRetries: 9, LastReasons: []string{"", "", ""}}, "", ""},

		{"answer recorded", "T17", task.Evidence{Unblocked: true}, "", ""},
		{"answer missing", "T17", task.Evidence{}, pawl.CodeApprovalNeeded, task.GateUnblock},

		{"audit complete", "T15", task.Evidence{AuditEvents: 2, AuditChainOK: true}, "", ""},
		{"one record", "T15", task.Evidence{AuditEvents: 1, AuditChainOK: true}, pawl.CodeAuditBroken,
			task.GateAuditChain},
		{"chain broken", "T15", task.Evidence{AuditEvents: 9}, pawl.CodeAuditBroken, task.GateAuditChain},
		{"chain broken, warn only", "T15", task.Evidence{AuditWarnOnly: true}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, found := task.Table.Rule(c.rule)
			if !found {
				t.Fatalf("no row %s", c.rule)
			}
			err := task.Admit(r, &c.ev)
			switch {
			case c.code == "" && err != nil:
				t.Errorf("%s refused: %v", c.rule, err)
			case c.code != "" && (err == nil || err.Code != c.code || err.Gate != c.gate || err.Rule != c.rule):
				t.Errorf("%s: %v, want %s at %s", c.rule, err, c.code, c.gate)
			}
		})
	}
}

// TestEntryGates: docs/spec/task.md#s4-2 puts a gate before done, failed and canceled, whatever way leads there.
func TestEntryGates(t *testing.T) {
	want := map[task.State]string{task.Done: task.GateAuditChain, task.Failed: task.GateExitReason,
		task.Canceled: task.GateCleanup}
	for _, r := range task.Table.Rules() {
		if gate := want[r.To]; gate != "" && task.Admit(&r, &task.Evidence{NoLease: true}) == nil {
			t.Errorf("%s leads to %s without %s", r.ID, r.To, gate)
		}
	}
}
