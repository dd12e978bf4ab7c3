package cli

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/issues"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/runner"
)

// Drive runs the work of the session in the foreground until it ends, needs a person who is not there, or ctx ends.
type Drive struct {
	sess *Session
	run  *runner.Runner
	// ask says that a person can be asked: there is a terminal, and nobody said otherwise.
	ask bool
	// once says that an answer about a plan ends Work, and again that it did: whether the work may begin is to be seen
	// then.
	once, again bool
	// wanted are the outcomes of a run that are what the command was given for.
	wanted []string
}

// NewDrive makes the runner and the reporter. It is to be called before the first command; the caller owns the
// workspace.
func NewDrive(sess *Session, wanted ...string) *Drive {
	if sess.rep == nil {
		sess.rep = newReporter(sess)
	}
	return &Drive{sess: sess, run: sess.Workspace.Runner(sess.rep.Said), ask: sess.Present(), wanted: wanted}
}

// Advancer returns a function that works on a run until it waits for a person. Where another process has the
// workspace's work, that process does it. It must not be called by several goroutines at once.
func Advancer(sess *Session) func(context.Context) error {
	r := sess.Workspace.Runner(nil)
	return func(ctx context.Context) error {
		release, other, err := sess.Own()
		if other != nil {
			return nil
		}
		if err != nil {
			return err
		}
		defer release()
		_, err = r.Run(ctx)
		return err
	}
}

// Work runs until the run with the id has ended or rests. Its error tells the exit status; what a person needs to know
// was printed by then.
func (v *Drive) Work(ctx context.Context, runID string) error {
	for {
		rest, err := v.Foreground(ctx)
		if err != nil {
			return err
		}
		s, err := lookRun(ctx, v.sess, runID)
		if err != nil {
			return err
		}
		switch rest {
		case runner.StopApproval:
			again, err := v.approval(ctx, s)
			if err != nil || !again {
				return err
			}
			if v.once {
				v.again = true
				return nil
			}
			// A revised plan is a run of its own.
			if s, err := v.sess.Workspace.Kernel.Snapshot(ctx); err == nil && s.Session.Run != "" {
				runID = s.Session.Run
			}
		case runner.StopQuestion:
			if again, err := v.questions(ctx, s); err != nil || !again {
				return err
			}
		case runner.StopBlocked:
			return v.blocked(ctx, s)
		case runner.StopPaused:
			v.result(ctx, resultPaused, s)
			return nil
		default:
			return v.finished(ctx, s)
		}
	}
}

// AskNobody leaves open whatever a person would be asked, whoever sits there.
func (v *Drive) AskNobody() { v.ask = false }

// Effect carries out one effect that was asked for, and nothing behind it.
func (v *Drive) Effect(ctx context.Context, id string) error { return v.run.Effect(ctx, id) }

// Ended prints the result of work that has ended.
func (v *Drive) Ended(ctx context.Context, s *kernel.Snapshot) { v.result(ctx, resultEnded, s) }

// Foreground runs the runner with its live line. At an interrupt it says at once how to go on.
func (v *Drive) Foreground(ctx context.Context) (runner.StopReason, error) {
	done, ticked := make(chan struct{}), make(chan struct{})
	go func() { defer close(ticked); v.sess.rep.Tick(done) }()
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		if !v.sess.JSON {
			v.sess.Say(v.sess.Style.Warn() + " " + v.sess.Text("cli.interrupted"))
		}
	})
	rest, err := v.run.Run(ctx)
	if !stop() {
		<-told
	}
	close(done)
	<-ticked
	return rest, err
}

// finished prints the summary of a run that ended, and returns an error unless it ended as the command wanted.
func (v *Drive) finished(ctx context.Context, s *kernel.Snapshot) error {
	r := s.Run
	if r == nil {
		v.result(ctx, resultIdle, s)
		return nil
	}
	if r.Outcome == "failed" {
		v.result(ctx, resultFailed, s)
		if s.Session.LastError != nil {
			return s.Session.LastError.Err()
		}
		return pawl.Fail(pawl.CodeInternal, "cli.run_failed")
	}
	v.result(ctx, resultEnded, s)
	if slices.Contains(v.wanted, r.Outcome) {
		return nil
	}
	switch r.Outcome {
	case "completed", "skipped":
		return nil
	case "declined", "revised":
		return Shown(pawl.Fail(pawl.CodeUserDenied, "cli.ended", r.Outcome))
	}
	return Shown(pawl.Fail(pawl.CodeCanceled, "cli.ended", r.Outcome))
}

// blocked explains why work stopped and the ways on.
func (v *Drive) blocked(ctx context.Context, s *kernel.Snapshot) error {
	v.sess.Screen.Call(StateText(v.sess.Printer, string(session.Blocked)))
	v.result(ctx, resultBlocked, s)
	b := s.Session.Blocked
	if b == nil {
		return Shown(pawl.Fail(pawl.CodeBlocked, "cli.blocked"))
	}
	return Shown(pawl.Fail(pawl.CodeBlocked, "cli.blocked_by", string(b.Kind)).Because(b.Error.Err()))
}

// OpenAndGoOn takes the right to run work and works; when another process has it, that one goes on by itself, and the
// person is told so. The command is given in either case, by give, behind the ownership.
func OpenAndGoOn(ctx context.Context, a *App, noWait bool, wanted []string, give func(*Session) error) error {
	return a.With(ctx, Writing(), func(sess *Session) error { return GoOn(ctx, sess, noWait, wanted, give) })
}

// GoOn gives a command in the session, by give, and works until the run has ended or rests; wanted are the outcomes for
// which the command is given. With noWait, or where another process has the work, it only gives the command and tells
// where the session stands.
func GoOn(ctx context.Context, sess *Session, noWait bool, wanted []string, give func(*Session) error) error {
	if sess.issue != nil && !noWait {
		return goOnIssue(ctx, sess, wanted, give)
	}
	if noWait {
		if err := give(sess); err != nil {
			return err
		}
		return PrintState(ctx, sess)
	}
	release, other, err := sess.Own()
	if other != nil {
		if err := give(sess); err != nil {
			return err
		}
		if err := Halted(sess, other); err != nil {
			Remark(sess.Printer, err)
		} else if !sess.JSON {
			sess.SayText("cli.other_goes_on", other.PID, other.Host, other.Command)
		}
		return PrintState(ctx, sess)
	}
	if err != nil {
		return err
	}
	defer release()
	Warn(ctx, sess)
	v := NewDrive(sess, wanted...)
	runID, err := lastRun(ctx, sess)
	if err != nil {
		return err
	}
	if err := give(sess); err != nil {
		return err
	}
	if s, err := sess.View(ctx); err == nil && s.Run != "" {
		runID = s.Run
	}
	return v.Work(ctx, runID)
}

// goOnIssue gives a command in an issue's session and works on the issue, if it may be worked on now: otherwise a
// worker goes on with it when its turn has come, and the person is told why it waits.
func goOnIssue(ctx context.Context, sess *Session, wanted []string, give func(*Session) error) error {
	runID, err := lastRun(ctx, sess)
	if err != nil {
		return err
	}
	Warn(ctx, sess)
	v := NewDrive(sess, wanted...)
	if err := give(sess); err != nil {
		return err
	}
	for {
		s, err := sess.Workspace.Kernel.Snapshot(ctx)
		if err != nil {
			return err
		}
		if s.Session != nil && s.Session.Run != "" {
			runID = s.Session.Run
		}
		// What is asked is answered before the issue is claimed, because the answer decides whether it may be.
		if a := s.Approval; a != nil && a.State == kernel.ApprovalPending && s.Session.Approval == a.ID {
			if again, err := v.approval(ctx, s); err != nil || !again {
				return err
			}
			continue
		}
		release, err := claimIssue(ctx, sess)
		if err != nil {
			if !sess.JSON {
				sess.Note(sess.Style.Dot() + " " + Explain(sess.Printer, err))
			}
			return PrintState(ctx, sess)
		}
		v.once = s.Session.State == string(session.Planning)
		err = v.Work(ctx, runID)
		release()
		if err != nil || !v.again {
			return err
		}
		v.again = false
	}
}

// claimBeat is how often a claim is prolonged.
const claimBeat = 30 * time.Second

// claimIssue claims the issue that the commands speak of for this process, and keeps the claim until it is released.
func claimIssue(ctx context.Context, sess *Session) (release func(), err error) {
	if err := sess.Workspace.Here(); err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "cli.file_unwritable", sess.Workspace.Place.Workspace).Because(err)
	}
	i, err := sess.Ask().Board().Issue(ctx, sess.issue.ID)
	if err != nil {
		return nil, err
	}
	by, k := pawl.By(pawl.KindRunner, sess.Workspace.Name()), sess.Workspace.Kernel
	planning := i.Status == board.IssueRegistered || i.Status == board.IssuePlanning
	out, err := sess.DoAs(ctx, by, &issues.ClaimIssue{Owner: sess.Workspace.Name(), Issue: i.ID, Planning: planning,
		Now: k.Now()})
	if err != nil {
		return nil, err
	}
	var t *issues.Taken
	if err := json.Unmarshal(out.Result, &t); err != nil || t == nil {
		return nil, pawl.Fail(pawl.CodeBusy, "kernel.issue_not_ready", i.Label, string(i.Status)).Because(err)
	}
	keep, stop := context.WithCancel(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		for {
			select {
			case <-keep.Done():
				return
			case <-time.After(claimBeat):
				// who lost it is fenced in all that he does
				_, _ = sess.DoAs(keep, by, &issues.RenewIssue{Issue: t.Issue, Token: t.Token})
			}
		}
	}()
	return func() {
		stop()
		<-kept
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		// the others see that the process is gone
		_, _ = sess.DoAs(late, by, &issues.ReleaseIssue{Issue: t.Issue, Token: t.Token})
	}, nil
}

// PrintState prints where the session stands after a command that this process does not follow.
func PrintState(ctx context.Context, sess *Session) error {
	st, err := StatusOf(ctx, sess)
	if err != nil {
		return err
	}
	if sess.JSON {
		return sess.PrintJSON(st)
	}
	sess.SayText("cli.state_now", string(st.State))
	if st.Owner == nil && st.Doing != nil {
		sess.Say("  " + sess.Style.Cyan(sess.Text("cli.next")) + sess.Text("cli.no_wait_next"))
	}
	return nil
}
