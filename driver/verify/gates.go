package verify

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/store/disk"
)

// The gates that pawl knows by name (docs/spec/task.md#gates, docs/spec/task.md#d19).
const (
	// GateDoctor checks the setting of the work: the walls stand, the programs that the other gates need are installed,
	// and the tree is clean.
	GateDoctor = "doctor"
	// GateSmoke runs the quick command that the project configured for it.
	GateSmoke = "smoke"
	// GateTests runs the detected suite, or the command that the gate carries.
	GateTests = "tests"
)

// Status tells what git says of a place: the commit and branch that work starts from and the tracked files with
// uncommitted changes. Without git all are empty.
type Status func(ctx context.Context, place effect.Place) (head, branch string, dirty []string, err error)

// Gates is the driver for effect.KindGates. A check of its spec is a gate: either it carries a command, or one is
// configured for its name (Config.Commands), or its name is one of those that pawl knows. It is safe for concurrent use
// on different trees.
type Gates struct {
	verify *Verify
	status Status
}

// NewGates returns the driver. It shares what v works with.
func NewGates(v *Verify, status Status) *Gates { return &Gates{verify: v, status: status} }

// Do runs the gates one after the other and stops at the first that does not pass. GateTests without a command stands
// for the checks that are detected in the tree, which appear in the result one by one as "tests: NAME". An unknown name
// without a command, GateSmoke without a command and an empty list are errors, never a pass. The receipt is that of
// Verify.Do.
func (g *Gates) Do(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	start := time.Now()
	r := g.do(ctx, e, p)
	r.Start, r.End, r.Attempts = start, time.Now(), 1
	return r
}

func (g *Gates) do(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.VerifySpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	if len(spec.Checks) == 0 {
		return effect.Failed(pawl.Fail(pawl.CodeInvalid, "verify.no_gates").In("verify.Gates"))
	}
	return g.verify.decided(ctx, e.Place, spec, p, func(ctx context.Context, s *session) (effect.VerifyResult, error) {
		checks, err := s.gates(spec.Checks)
		if err != nil {
			return effect.VerifyResult{}, err
		}
		return s.judge(ctx, checks, true, func(ctx context.Context, c effect.Check) effect.CheckOutcome {
			if c.Name == GateDoctor && c.Command == "" {
				run, _ := s.runnable(checks)
				return g.doctor(ctx, s, c, run)
			}
			return s.command(ctx, c)
		})
	})
}

// Done says no, as Verify.Done does.
func (g *Gates) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

// gates replaces the named gates by what they stand for.
func (s *session) gates(asked []effect.Check) ([]effect.Check, error) {
	var out []effect.Check
	for _, c := range asked {
		if strings.TrimSpace(c.Command) == "" {
			c.Command = s.Commands[c.Name]
		}
		switch {
		case strings.TrimSpace(c.Command) != "":
			out = append(out, c)
		case c.Name == GateDoctor:
			c.Kind, c.Command = kindDoctor, ""
			out = append(out, c)
		case c.Name == GateTests:
			found, err := s.detected()
			if err != nil {
				return nil, err
			}
			if len(found) == 0 {
				return nil, pawl.Fail(pawl.CodeInvalid, "verify.gate_without_tests").In("verify.Gates").At("", c.Name)
			}
			for _, f := range found {
				f.Name = GateTests + ": " + f.Name
				out = append(out, f)
			}
		case c.Name == GateSmoke:
			return nil, pawl.Fail(pawl.CodeInvalid, "verify.gate_without_command", c.Name).In("verify.Gates").At("",
				c.Name)
		default:
			return nil, pawl.Fail(pawl.CodeInvalid, "verify.unknown_gate", c.Name).In("verify.Gates").At("", c.Name)
		}
	}
	return out, nil
}

// detected returns the whole suite of the tree as it is now.
func (s *session) detected() ([]effect.Check, error) {
	tree, closer, err := s.Open(s.place.Tree)
	if err != nil {
		return nil, ioError("verify.tree_unreadable", s.place.Tree, err)
	}
	defer closer.Close()
	found, err := Detect(tree, s.find)
	if err != nil {
		return nil, err
	}
	return found.Checks, nil
}

// minFree is the space that must be left on the workspace's file system for work to go on.
const minFree = 64 << 20

// doctor looks at the setting of the work. Its output has one line for each finding, "ok" or "bad" first.
func (g *Gates) doctor(ctx context.Context, s *session, c effect.Check, checks []effect.Check) effect.CheckOutcome {
	start := time.Now()
	o := effect.CheckOutcome{Check: c, Status: effect.CheckPassed}
	var report []string
	note := func(ok, machine bool, parts ...string) {
		sign := "ok"
		if !ok {
			sign, o.Status, o.ExitCode = "bad", effect.CheckFailed, 1
			o.Environment = o.Environment || machine
		}
		report = append(report, strings.Join(append([]string{sign}, parts...), " "))
	}
	var dirty []string
	var unready error
	var beside sync.WaitGroup
	looks := g.status != nil && s.of.Git
	if looks {
		beside.Go(func() { _, _, dirty, unready = g.status(ctx, s.of) })
	}
	r, err := s.Box.Run(ctx, s.ground.Show(s.spec(effect.Check{}, []string{"sh", "-c", "exit 0"})))
	o.Walls, o.Weaker = r.Walls, sandbox.Weaker(r.Walls)
	walls := strings.Join(r.Walls, ",")
	if err != nil {
		walls = strings.Join(strings.Fields(err.Error()), " ")
	}
	note(err == nil && r.Exit == 0, true, "walls", walls)
	for _, program := range needed(checks) {
		where, ok := s.find(program)
		note(ok, true, "program", program, where)
	}
	if free, ok := disk.Free(s.place.Own()); ok {
		note(free >= minFree, true, "disk", byteCount(free))
	}
	if beside.Wait(); looks {
		note(unready == nil, false, "repository")
		for _, name := range s.conflicted(dirty) {
			note(false, false, "conflict marker", name)
		}
	}
	o = s.record(o, []byte(strings.Join(report, "\n")))
	o.DurationMS = time.Since(start).Milliseconds()
	return o
}

// needed lists the programs of the other gates: those that were missing at plan time and those that commands name.
func needed(checks []effect.Check) []string {
	out := Programs(checks)
	for _, c := range checks {
		if c.Missing != "" && !strings.ContainsRune(c.Missing, '/') {
			out = append(out, c.Missing)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// conflicted returns those of the changed files that hold markers of an unresolved merge.
func (s *session) conflicted(names []string) []string {
	tree, closer, err := s.Open(s.place.Tree)
	if err != nil {
		return nil
	}
	defer closer.Close()
	var out []string
	for _, name := range names {
		b, err := readLimited(tree, name, maxMarker)
		if err == nil && hasConflict(string(b)) {
			out = append(out, name)
		}
	}
	return out
}

// hasConflict looks for the three markers of a merge conflict in their order, each at the beginning of a line.
func hasConflict(text string) bool {
	want := []string{"<<<<<<< ", "=======", ">>>>>>> "}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, want[0]) {
			if want = want[1:]; len(want) == 0 {
				return true
			}
		}
	}
	return false
}
