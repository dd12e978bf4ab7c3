// Package headless drives coding agents in their headless modes: one program run per piece of work, which writes events
// to its standard output. The agent acts by itself behind walls in the task's worktree. Its exit status proves nothing,
// and what it says is shown and never believed: only its stream says how far it came.
package headless

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/kernel/effect"
)

// Agent is an external agent in its headless mode. It is safe for concurrent use; each piece of work has a process of
// its own.
type Agent struct{ external agent.External }

// New returns an agent. The program of c must be one of agent.KindHeadless.
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

// drive has the agent do the job. An agent that lost its session before it did anything is run once more without it.
func drive(ctx context.Context, j *agent.Job) (effect.WorkResult, error) {
	parse := dialects[j.External.Program.Dialect]
	if parse == nil {
		return effect.WorkResult{}, pawl.Fail(pawl.CodeInternal, "agent.foreign_effect",
			string(j.External.Program.Dialect)).In("headless.Work")
	}
	session := j.Spec.Session
	if len(j.External.Program.Resume) == 0 {
		session = ""
	}
	result, began, err := once(ctx, j, parse, session)
	if err != nil && session != "" && !began && ctx.Err() == nil && pawl.CodeOf(err) == pawl.CodeModel {
		result, _, err = once(ctx, j, parse, "")
	}
	if j.Renewed(ctx, err) {
		result, _, err = once(ctx, j, parse, resumable(j, result.Session, session))
	}
	return result, err
}

// resumable is the session that an agent can go on with, "" where it cannot.
func resumable(j *agent.Job, sessions ...string) string {
	for _, s := range sessions {
		if s != "" && len(j.External.Program.Resume) > 0 {
			return s
		}
	}
	return ""
}

// once runs the agent once. began says that it came as far as to work.
func once(ctx context.Context, j *agent.Job, parse parser,
	session string) (result effect.WorkResult, began bool, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	before := j.Requests()
	prompt := j.Prompt()
	result.Prompt = prompt.Digest
	running, err := j.Launch(context.WithoutCancel(ctx), session, prompt.Text)
	if err != nil {
		return result, false, err
	}
	defer running.End(0)
	_ = running.Stdin().Close() // some agents wait for the end of their input before they begin
	watch := j.Watch(func() { stop(j.Silent()) })
	defer watch.Stop()
	s := &stream{shown: j.Transcript, bound: session}
	s.bind = func(id string) {
		if err := j.Bind(ctx, id); err != nil {
			stop(err)
		}
	}
	finished := make(chan struct{})
	read := make(chan error, 1)
	go func() {
		read <- s.read(running.Stdout(), j.External.Output, watch.Seen, parse, func() { close(finished) })
	}()
	err = wait(ctx, j, running, finished, read)
	j.Transcript.Cut()
	exit := running.End(0)
	result.Session, result.Text = s.session, strings.TrimSpace(s.text)
	began = s.text != "" || s.acted || j.Requests() > before
	if err == nil {
		err = s.judge(j, running, exit)
	}
	if err == nil {
		result.Control = effect.StepDone
	}
	return result, began, err
}

// wait waits for the end of the stream. An agent that has said its last word and does not end is ended.
func wait(ctx context.Context, j *agent.Job, running *agent.Running, finished <-chan struct{},
	read <-chan error) error {
	var late <-chan time.Time
	for {
		select {
		case err := <-read:
			running.End(j.External.Grace)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.Is(err, errTooMuch):
				return j.TooMuch(j.External.Output)
			}
			return nil
		case <-finished:
			finished, late = nil, time.After(j.External.Grace)
		case <-late:
			running.End(0)
			late = nil
		case <-ctx.Done():
			running.End(0)
			<-read
			return context.Cause(ctx)
		}
	}
}

// errTooMuch says that an agent wrote more than it may.
var errTooMuch = errors.New("too much output")

// maxLine bounds one event: one with all that a command printed is long. A longer one is passed over.
const maxLine = 32 << 20

// read reads events until the output ends.
func (s *stream) read(from io.Reader, limit int64, seen func(), parse parser, finished func()) error {
	r := bufio.NewReaderSize(from, 64<<10)
	var total int64
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(part) > 0 {
			seen()
		}
		if total += int64(len(part)); total > limit {
			go func() { _, _ = io.Copy(io.Discard, r) }() // until it is killed
			return errTooMuch
		}
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) <= maxLine {
			parse(s, line)
		}
		if s.ended && finished != nil {
			finished()
			finished = nil
		}
		line = line[:0]
		if err != nil {
			return nil
		}
	}
}

// judge says how the work ended, from the stream alone.
func (s *stream) judge(j *agent.Job, running *agent.Running, exit int) error {
	complaint := running.Complaint()
	switch {
	case s.failure != "" && s.short:
		return pawl.Fail(pawl.CodeModel, "agent.stopped_short", j.External.Program.Name,
			agent.Line(s.failure)).In("headless.Work")
	case s.failure != "":
		return j.ModelError(s.failure)
	case s.ended:
		return nil
	case s.trouble != "":
		return j.ModelError(s.trouble)
	case exit != 0:
		if text := errorObject(complaint); text != "" {
			return j.ModelError(text)
		}
		return j.Died(running, exit)
	}
	e := pawl.Fail(pawl.CodeModel, "agent.cut_off", j.External.Program.Name).In("headless.Work")
	if complaint != "" {
		e = e.Because(errors.New(complaint))
	}
	return e
}
