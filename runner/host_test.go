package runner_test

import (
	"context"
	"encoding/json"
	"strconv"
	"sync/atomic"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/runner"
)

// agent is a driver that works with the host that it is given.
type agent struct {
	driver
	work func(ctx context.Context, host effect.Host) effect.Receipt
}

func (a agent) Work(ctx context.Context, _ effect.Effect, host effect.Host, _ effect.Progress) effect.Receipt {
	return a.work(ctx, host)
}

// looker is a tool that looks at what it will change first.
type looker struct {
	driver
	err error
}

func (l looker) Preflight(context.Context, effect.Effect) ([]effect.FileImage, error) {
	return []effect.FileImage{{Path: "f", NewHash: "n"}}, l.err
}

// within runs a scene whose step is an agent's.
func within(t *testing.T, tool runner.Driver, work func(ctx context.Context, s *scene, host effect.Host)) *scene {
	t.Helper()
	s := newScene(t, driver{}, false)
	s.do(&control.CancelRun{})
	planned, err := effect.Decode[effect.PlanResult](s.o.Drivers[effect.KindPlan].Do(t.Context(), effect.Effect{},
		nil).Result)
	if err != nil {
		t.Fatal(err)
	}
	planned.Plan.Steps[0].ToolCalls = nil
	s.o.Drivers[effect.KindPlan] = gives(planned)
	s.o.Tools["act"] = tool
	s.k.Config().Agents["m"] = kernel.Traits{Works: true}
	s.o.Drivers[effect.KindWork] = agent{work: func(ctx context.Context, host effect.Host) effect.Receipt {
		work(ctx, s, host)
		return effect.Succeeded(effect.WorkResult{Control: effect.StepDone})
	}}
	place := effect.Place{Workspace: "/w", Tree: "/w", Git: true}
	s.do(&planning.Start{Requirement: "act", Agent: "m", Place: place, RunMode: pawl.Assisted,
		AutoApprove: "policy:test"})
	return s
}

// TestCallsWithinAnAgentsWork: a call that an agent asks for is attempted as the kernel's own are: with its images and
// the tree before and, where it failed, behind it; and whatever keeps it from being made is reported as what came of it.
func TestCallsWithinAnAgentsWork(t *testing.T) {
	refuses := pawl.Fail(pawl.CodeConflict, "file.changed", "f")
	for name, c := range map[string]struct {
		tool  runner.Driver
		code  pawl.Code
		calls int32
		trees int32
	}{
		"succeeds":             {looker{driver: gives(effect.ToolResult{CallID: "c"})}, "", 1, 1},
		"fails":                {looker{driver: failing(refuses)}, pawl.CodeConflict, 1, 2},
		"panics":               {panicking, pawl.CodeInternal, 1, 2},
		"cannot work":          {looker{driver: gives(effect.ToolResult{}), err: refuses}, pawl.CodeConflict, 0, 0},
		"is of no such driver": {nil, pawl.CodeInvalid, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var calls, trees atomic.Int32
			var seen effect.Effect
			tool := c.tool
			if tool != nil {
				tool = counting{tool, &calls, &seen}
			}
			var r effect.Receipt
			var err error
			s := within(t, tool, func(ctx context.Context, _ *scene, host effect.Host) {
				r, err = host.Call(ctx, effect.Ask{ID: "a", Name: "act", Args: json.RawMessage(`{}`)})
			})
			if tool == nil {
				delete(s.o.Tools, "act")
			}
			s.o.Record = func(context.Context, effect.Place) (string, error) {
				return "seen" + strconv.Itoa(int(trees.Add(1))), nil
			}
			// The agent's own effect is recorded once before it begins.
			if rest, err := runner.New(s.k, s.o).Run(t.Context()); err != nil || rest != runner.StopIdle {
				t.Fatalf("rest %s, %v", rest, err)
			}
			if err != nil || r.OK != (c.code == "") || r.Code != c.code || r.Start.IsZero() || r.End.Before(r.Start) {
				t.Errorf("%v %+v", err, r)
			}
			if calls.Load() != c.calls || trees.Load() != c.trees+1 {
				t.Errorf("%d calls, %d trees, want %d and %d more", calls.Load(), trees.Load(), c.calls, c.trees)
			}
			if c.calls == 0 || seen.Token == 0 {
				return
			}
			call, err := effect.Decode[effect.ToolCall](seen.Spec)
			if _, looks := c.tool.(looker); err != nil || seen.Before != "seen2" || looks != (len(call.Images) == 1) {
				t.Errorf("it was made of %+v %+v, %v", seen, call, err)
			}
		})
	}
}

var panicking = driver{do: func(context.Context, effect.Effect) effect.Receipt { panic("boom") }}

func failing(err error) driver {
	return driver{do: func(context.Context, effect.Effect) effect.Receipt { return effect.Failed(err) }}
}

// counting counts the calls of a tool, and keeps the last.
type counting struct {
	runner.Driver
	calls *atomic.Int32
	seen  *effect.Effect
}

func (c counting) Do(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	c.calls.Add(1)
	*c.seen = e
	return c.Driver.Do(ctx, e, p)
}

func (c counting) Preflight(ctx context.Context, e effect.Effect) ([]effect.FileImage, error) {
	if p, ok := c.Driver.(runner.Preflighter); ok {
		return p.Preflight(ctx, e)
	}
	return nil, nil
}

// TestCallOfAnAgentThatIsStopped: what came of a call is reported although the agent is wanted no longer, so that no
// call is left at work.
func TestCallOfAnAgentThatIsStopped(t *testing.T) {
	var s *scene
	var ids []string
	var got effect.Receipt
	var late error
	s = within(t, driver{do: func(ctx context.Context, e effect.Effect) effect.Receipt {
		ids = append(ids, e.ID)
		s.do(&control.CancelRun{Reason: "enough"})
		<-ctx.Done()
		return effect.Failed(pawl.Fail(pawl.CodeCanceled, "shell.canceled"))
	}}, func(ctx context.Context, _ *scene, host effect.Host) {
		got, _ = host.Call(ctx, effect.Ask{ID: "a", Name: "act", Args: json.RawMessage(`{}`)})
		_, late = host.Call(ctx, effect.Ask{ID: "b", Name: "act", Args: json.RawMessage(`{}`)})
	})
	if rest, err := runner.New(s.k, s.o).Run(t.Context()); err != nil || rest != runner.StopIdle {
		t.Fatalf("rest %s, %v", rest, err)
	}
	if len(ids) != 1 || got.Code != pawl.CodeCanceled || pawl.CodeOf(late) != pawl.CodeCanceled {
		t.Fatalf("calls %v, %+v, then %v", ids, got, late)
	}
	e, err := s.k.Effect(t.Context(), ids[0])
	if err != nil || e.State == kernel.EffectRunning {
		t.Errorf("the call is left %+v, %v", e, err)
	}
}
