package main

import "pawl/internal/mutant"

// bug is an error that somebody could make, and where it has to be noticed.
type bug struct {
	mutant.Mutant
	pkg string // whose tests have to notice it
	run string // the tests that are run, as go test -run takes them
}

// bugs are errors in what pawl promises: that what was acknowledged is kept, that only who has the claim acts, that
// nothing runs twice, that nothing lands unproven or unasked, and that the log tells what was changed behind its back.
var bugs = []bug{
	// What was acknowledged is kept, and nobody overwrites what another wrote.
	{mutant.New("no flush of commits", "store/sqlite/write.go", `"&_synchronous=FULL&_foreign_keys=1"`,
		`"&_synchronous=OFF&_foreign_keys=1"`), "store/sqlite", "^TestFlushFails$"},
	{mutant.New("a flush that failed is forgotten", "store/sqlite/write.go", "\tw.broken = err\n", ""),
		"store/sqlite", "^TestFlushFails$"},
	{mutant.New("versions are not compared", "store/sqlite/apply.go",
		"case old.version != w.From || found && old.kind", "case found && old.kind"),
		"store/sqlite", "^TestStore$/^CompareAndSet$"},
	{mutant.New("what was read is not compared", "store/sqlite/apply.go",
		"if err == nil && (old.version != r.Version || found &&", "if err == nil && (found &&"),
		"store/sqlite", "^TestStore$/^(Reads|WriteSkew)$"},
	{mutant.New("a key answers another command", "store/sqlite/apply.go", "if s.text(0) != b.Digest {", "if false {"),
		"store/sqlite", "^TestStore$/^Keys$"},
	{mutant.New("a key does not find its answer", "store/sqlite/apply.go",
		"if err != nil || !ok || s.int(4) < t.now.UnixMicro() {", "if err != nil || ok || s.int(4) > 0 {"),
		"store/sqlite", "^TestStore$/^Keys$"},
	{mutant.New("records need not follow each other", "store/sqlite/apply.go", " || !continues(b, w, s, &old):", ":"),
		"store/sqlite", "^TestStore$/^RecordsMustFit$"},
	{mutant.New("rows without the token in their checksum", "store/sqlite/sum.go", "{r.Version, r.Epoch, r.Rank,",
		"{r.Version, 0, r.Rank,"), "store/sqlite", "^TestRowsAreWhole$"},
	{mutant.New("documents without a checksum", "store/sqlite/read.go",
		"(s.null(14) || sumOf(r.Doc) == s.int(14))", "true"), "store/sqlite", "^TestRowsAreWhole$"},
	{mutant.New("a store that others may read", "store/sqlite/open.go", "os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)",
		"os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)"), "store/sqlite", "^TestOpenNew$"},
	{mutant.New("projections without a flush", "driver/archive/write.go", "errors.Join(d.file.Sync(), d.file.Close())",
		"d.file.Close()"), "driver/archive", "^TestNoNameWithoutItsContent$"},
	{mutant.New("projections written in place", "driver/archive/write.go",
		"return w.write(f.Path, content, w.root.Rename)", `return w.write(f.Path, content, func(temp, name string) error {
		return errors.Join(w.root.WriteFile(name, content, 0o644), w.root.Remove(temp))
	})`), "driver/archive", "^TestReadersSeeOldOrNew$"},

	// Only who has the claim acts.
	{mutant.New("a claim that is another's by now", "kernel/issues/board.go", "\treturn i.Held(tx.Env.Claim)\n",
		"\treturn nil\n"), "kernel", "^TestALostClaimBinds$"},
	{mutant.New("begun under a lost claim", "kernel/effects/command.go",
		"func (*Begin) UnderClaim() bool   { return true }", "func (*Begin) UnderClaim() bool   { return false }"),
		"kernel", "^TestALostClaimBinds$"},
	{mutant.New("a claim that changes hands meanwhile", "kernel/issues/board.go",
		"\t\ttx.Touch(i) // so that a claim that changes hands before this is committed is seen by the issue's version\n", ""),
		"kernel", "^TestALostClaimBinds$"},
	{mutant.New("a lost claim is renewed", "kernel/issues/board.go",
		"i, err := held(tx, c.Issue, c.Token)\n\tif err != nil {\n\t\treturn err\n\t}\n\ti.Lease.Expires",
		"i, err := issueOf(tx, c.Issue)\n\tif err != nil {\n\t\treturn err\n\t}\n\ti.Lease.Expires"),
		"kernel", "^TestATakenIssueIsNotTakenByName$"},
	{mutant.New("an issue is taken while its lease runs", "kernel/issues/board.go",
		"i.Number == 0 || i.Due.After(tx.Now) || !ready(i)", "i.Number == 0 || !ready(i)"),
		"kernel", "^TestATakenIssueIsNotTakenByName$"},
	{mutant.New("any token is a lease", "machine/task/gate.go", "if e.Token < 1 || e.Token != e.LeaseEpoch {",
		"if e.Token < 1 {"), "machine/task", "."},
	{mutant.New("landings without a turn", "runner/runner.go", "case effect.KindRebase, effect.KindLand:",
		"case effect.KindRebase:"), "runner", "^TestEveryLandingHasItsTurn$"},

	// Nothing runs twice, and no more often than was allowed.
	{mutant.New("a receipt of an earlier attempt", "kernel/effects/effects.go",
		"if e.State != kernel.EffectRunning || e.Epoch != c.Token {", "if e.State != kernel.EffectRunning {"),
		"kernel", "^TestReceiptOfAnEarlierAttempt$"},
	{mutant.New("a receipt twice", "kernel/effects/effects.go",
		"if e.State != kernel.EffectRunning || e.Epoch != c.Token {", "if e.Epoch != c.Token {"),
		"kernel", "^TestReceiptOfAnEarlierAttempt$"},
	{mutant.New("run again without knowing", "kernel/effects/effects.go",
		"case c.Answer == effect.DoneNo || e.Effect.Idempotent:", "case c.Answer != effect.DoneYes:"),
		"kernel", "^TestUnknownOutcomeBecomesAQuestion$"},
	{mutant.New("nobody knows, so it did not happen", "driver/tool/tool.go", "\t\treturn effect.DoneNo\n\t}\n\treturn effect.DoneUnknown\n",
		"\t\treturn effect.DoneNo\n\t}\n\treturn effect.DoneNo\n"), "driver/shell", "."},
	{mutant.New("a receipt beats a cancel", "kernel/effects/effects.go",
		"case follow.Unwanted && tx.Task != nil && !tx.Task.CancelAt.IsZero() && tx.Run != nil:",
		"case follow.Unwanted && tx.Task == nil && tx.Run == nil && tx.Session == nil:"),
		"kernel", "^TestReceiptBehindACancel$"},
	{mutant.New("one repair more", "kernel/failure.go",
		"if t.Fixes >= tx.Config.MaxFixes {\n\t\treturn BlowFuse", "if t.Fixes > tx.Config.MaxFixes {\n\t\treturn BlowFuse"),
		"kernel", "^TestFuseAfterExactlyThreeFailedFixes$"},
	{mutant.New("one repair more that is not allowed", "kernel/recovery/repairing.go",
		"if tx.Task.Fixes >= tx.Config.MaxFixes {", "if tx.Task.Fixes > tx.Config.MaxFixes {"),
		"kernel", "^TestTheLastRepairIsTheLast$"},
	{mutant.New("what costs too much is told and done", "kernel/budget/budget.go",
		"if err := fitsAll(tx, c.Day, c.Most); err != nil {\n\t\treturn err\n\t}",
		"if err := fitsAll(tx, c.Day, c.Most); err != nil {\n\t\ttx.Record(e, kernel.AuditEffectStopped, audit.Warn, nil)\n\t}"),
		"kernel", "^TestBudgetRefuses$"},

	// Nothing lands that was not proven, and not over anything of the user's.
	{mutant.New("checks of another tree", "machine/task/gate.go", "if c.Tree != e.Tree {", "if false {"),
		"machine/task", "."},
	{mutant.New("nothing was checked", "machine/task/gate.go", "if required == 0 {", "if required < 0 {"),
		"machine/task", "."},
	{mutant.New("checks that changed what they checked", "kernel/verification/proving.go",
		"verified := result.TreeAfter", "verified := result.Tree"),
		"kernel", "^TestGatesThatChangeTheTree$"},
	{mutant.New("judges that the work changed", "machine/task/gate.go", "if len(e.Tampered) > 0 {", "if false {"),
		"machine/task", "."},
	{mutant.New("merged work is not checked again", "kernel/verification/proving.go",
		"if t.UpToDate = true; !result.Moved {", "if t.UpToDate = true; !result.Moved || result.Moved {"),
		"kernel", "^TestLandingOnABranchThatMoved$"},
	{mutant.New("over what the user changed", "driver/land/land.go", "if len(dirty) > 0 {", "if len(dirty) > 1<<20 {"),
		"driver/land", "^TestKept$"},
	{mutant.New("the branch moves before the journal", "driver/land/land.go", `	if err := entry.write(ctx, j.repo, j.id); err != nil {
		return effect.LandResult{}, err
	}
	if err := j.repo.Refs.Set(ctx, entry.Ref, j.commit, j.base, "pawl: land"); err != nil {`,
		`	if err := j.repo.Refs.Set(ctx, entry.Ref, j.commit, j.base, "pawl: land"); err != nil {`,
		"driver/land/land.go", "\t// From here on stopping halfway would leave the user's tree behind its branch.\n",
		"\tif err := entry.write(ctx, j.repo, j.id); err != nil {\n\t\treturn effect.LandResult{}, err\n\t}\n"),
		"driver/land", "^TestKilledWhileLanding$"},
	{mutant.New("every landing has happened", "driver/land/land.go",
		"\tcase !ok:\n\t\treturn effect.DoneNo, effect.Receipt{}", "\tcase !ok:\n\t\treturn effect.DoneYes, effect.Receipt{}"),
		"driver/land", "^TestDoneBeforeDo$"},

	// Nothing is done that nobody allowed.
	{mutant.New("approved without a hash", "kernel/run.go",
		"if len(hash) < minHash || !strings.HasPrefix(", "if !strings.HasPrefix("),
		"kernel", "^TestAProgramsWordIsNoPersons$"},
	{mutant.New("an approval of another plan", "machine/session/gate.go", "case e.ApprovalHash != e.PlanHash:",
		"case e.ApprovalHash == e.PlanHash+e.PlanHash:"), "machine/session", "."},
	{mutant.New("a plan that was edited after its approval", "machine/task/gate.go",
		"case e.ApprovalHash != e.PlanHash:", "case e.ApprovalHash == e.PlanHash+e.PlanHash:"), "machine/task", "."},
	{mutant.New("a program's word taken for a person's", "kernel/run.go", "if by.Kind() != pawl.KindAutomation ||",
		"if by.Kind() != pawl.KindAgent ||"), "kernel", "^TestAProgramsWordIsNoPersons$"},
	{mutant.New("a yes to whatever waits covers what is grave", "kernel/evidence.go",
		"a.AnsweredBy.Kind() == pawl.KindUser && a.Way != WayFlag", "a.AnsweredBy.Kind() == pawl.KindUser"),
		"kernel", "^TestAFlagCoversNothingGrave$"},

	// Commands and tools stay where they are put.
	{mutant.New("namespaces of a command's own", "sandbox/seccomp/filter_linux.go",
		"\tp = append(p, refuseClones()...)\n\tp = append(p, refuseArgument(unix.SYS_IOCTL",
		"\tp = append(p, refuseArgument(unix.SYS_IOCTL"), "sandbox/seccomp", "^TestTheFilterAnswers$"},
	{mutant.New("keys typed into a terminal", "sandbox/seccomp/filter_linux.go",
		"unix.SYS_IOCTL, offArg1, ioctlTIOCSTI, ioctlTIOCLINUX)...)\n\treturn append(p, answer(allow))",
		"unix.SYS_IOCTL, offArg1, ioctlTIOCLINUX)...)\n\treturn append(p, answer(allow))"),
		"sandbox/seccomp", "^TestTheFilterAnswers$"},
	{mutant.New("names that end with a dot", "sandbox/safeopen/root.go", `n = strings.TrimRight(n, ". ")`,
		`n = strings.TrimRight(n, " ")`), "sandbox/safeopen", "."},

	// The log tells what was changed behind its back.
	{mutant.New("records that follow another one", "kernel/audit/verify.go", "if p.Prev != t.Hash {", "if false {"),
		"kernel/audit", "^TestVerify"},
	{mutant.New("a log that was rewritten", "kernel/audit/verify.go", "if v.anchors[0].Hash != v.head.root() {", "if false {"),
		"kernel/audit", "^TestVerify"},
	{mutant.New("a log that was cut short", "kernel/audit/verify.go", "if len(v.anchors) > 0 {\n\t\treturn broken",
		"if len(v.anchors) > 1<<20 {\n\t\treturn broken"), "kernel/audit", "^TestVerify"},
	{mutant.New("a leap between states", "kernel/audit/verify.go", "if t.Moved && p.Move.From != t.State {", "if false {"),
		"kernel/audit", "^TestVerify"},
	{mutant.New("checkpoints of where the workspace was", "store/notary/notary.go",
		"\t\t\tnames = append(names, notesIn(dir)...)\n\t\t}\n\t}\n\treturn names", "\t\t}\n\t}\n\treturn names"),
		"store/notary", "^TestWhoseCheckpoints$"},
}
