// Package acp drives coding agents that speak the Agent Client Protocol. The agent runs behind walls in the task's
// worktree; what it asks pawl to read, write and run goes through policy and the ledger like every call, and before it
// acts by itself it asks for permission. What it says is shown and never believed.
package acp

import (
	"context"
	"time"

	"pawl/agent"
	"pawl/kernel/effect"
)

// Agent is an external agent over the Agent Client Protocol. It is safe for concurrent use; each piece of work has a
// process of its own.
type Agent struct{ external agent.External }

// New returns an agent. The program of c must be one of agent.KindACP.
func New(c agent.External) *Agent { return &Agent{external: c} }

// Info describes the agent.
func (a *Agent) Info() agent.Info { return a.external.Info() }

// Done answers as agent.External does.
func (a *Agent) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	return a.external.Done(ctx, e)
}

// Do answers an effect of an agent.
func (a *Agent) Do(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress) effect.Receipt {
	return a.external.Do(ctx, e, host, progress, drive)
}

type outcome struct {
	result effect.WorkResult
	err    error
}

// drive starts the agent and has it do the job. When the work is over early, the agent is asked to stop, so that it can
// keep its session, and killed a little later whether it did or not.
func drive(ctx context.Context, j *agent.Job) (effect.WorkResult, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	// The process and the conversation outlive ctx by the time to stop in; both end with this function.
	talking, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	process, err := j.Launch(talking, "", "")
	if err != nil {
		return effect.WorkResult{}, err
	}
	defer process.End(0)
	watch := j.Watch(func() { stop(j.Silent()) })
	defer watch.Stop()
	s := newSession(ctx, stop, j, process, watch)
	s.connect(talking)
	done := make(chan outcome, 1)
	go func() {
		result, err := s.talk(talking)
		done <- outcome{result, err}
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		go s.cancel(talking) // an agent that does not read would block it
		select {
		case o = <-done:
		case <-time.After(j.External.Grace):
			process.End(0)
			hangUp()
			o = <-done
		}
		o.err = context.Cause(ctx)
	}
	stop(nil)
	hangUp()
	process.End(0)
	s.settle()
	j.Transcript.Cut()
	o.result.Session = s.name()
	return o.result, o.err
}
