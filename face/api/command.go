package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"pawl"
	"pawl/face/give"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/kernel/steps"
	"pawl/kernel/verification"
	"pawl/kernel/view"
	"pawl/machine/workflow"
)

// actErrors are the errors that a command declares.
var actErrors = []int{400, 401, 403, 404, 406, 409, 412, 413, 415, 422, 423, 429, 500, 502, 503, 504, 507}

// order is a request to do something.
type order[T any] struct {
	Issue string `query:"issue" maxLength:"200" doc:"An issue of the board, whose session the command is about."`
	Match string `header:"If-Match" maxLength:"40" doc:"The ETag of the row that the command was given in view of. Another version by now is 412."`
	Key   string `header:"Idempotency-Key" maxLength:"200" doc:"Names the request. Given again with the same key, for at least a day, it is answered as at first and does nothing."`
	Body  T
}

// commanded is what became of a command.
type commanded struct {
	Changed  bool `json:"changed" doc:"Whether anything was committed. What is so already changes nothing."`
	Replayed bool `json:"replayed" doc:"Whether a request with this key had been carried out before."`
	// Result is what the command answers with.
	Result any         `json:"result,omitempty" doc:"What the command answers with: an id, labels, or nothing."`
	Cursor int64       `json:"cursor" doc:"Where the audit log goes on behind what was committed; 0 where nothing was."`
	Status view.Status `json:"status" doc:"Where the session stands then."`
}

// given is a command in the making.
type given struct {
	kernel  *kernel.Kernel
	caller  *Caller
	command kernel.Command
	// If and seen are what it was given in view of.
	match kernel.Kind
	id    string
	seen  string
	// decides says that it answers a question, which a caller that may approve does for the person.
	decides bool
	// rests says that work does not go on after it.
	rests bool
}

// commanding registers a command. Make fills in what is given.
func commanding[T any](s *Server, path, id, about string, make func(context.Context, *order[T], *given) error) {
	huma.Register(s.api, huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: id, Summary: s.Lang.Text(about), Tags: []string{"act"},
		Security: []map[string][]string{{"token": {string(Act)}}}, Errors: actErrors,
	}, func(ctx context.Context, in *order[T]) (*answer[commanded], error) {
		return s.command(ctx, in.Issue, in.Match, in.Key, func(g *given) error { return make(ctx, in, g) })
	})
}

// command gives a command that make fills in, about the session of an issue or the person's.
func (s *Server) command(ctx context.Context, issue, match, key string, make func(*given) error) (*answer[commanded],
	error) {
	caller, err := callerOf(ctx, Act)
	if err != nil {
		return nil, s.problem(err)
	}
	g := &given{caller: caller, match: kernel.KindSession}
	if g.kernel, err = s.at(ctx, issue); err == nil {
		err = make(g)
	}
	if err != nil {
		return nil, s.problem(err)
	}
	out, err := s.give(ctx, g, match, key)
	if err != nil {
		return nil, s.refused(ctx, g, err)
	}
	return out, nil
}

// give gives a command to the kernel.
func (s *Server) give(ctx context.Context, g *given, match, key string) (*answer[commanded], error) {
	env := kernel.Envelope{Actor: g.caller.By, Command: g.command, Seen: g.seen}
	if g.decides && g.caller.may(Approve) {
		env.Actor = g.caller.Person
	}
	if match != "" && match != "*" {
		version, err := strconv.ParseInt(strings.Trim(match, `"`), 10, 64)
		if err != nil || version < 1 || match != strconv.Quote(strconv.FormatInt(version, 10)) {
			return nil, pawl.Fail(pawl.CodeInvalid, "api.match", match)
		}
		env.If = kernel.Read{Kind: g.match, ID: g.id, Version: version}
	}
	if key != "" {
		s, err := g.kernel.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		at := ""
		if s.Session != nil {
			at = s.Session.ID
		}
		env.Key = strings.Join([]string{"api", g.caller.Name, at, key}, "/")
	}
	give := s.To(g.kernel).Now
	if g.rests {
		give = s.To(g.kernel).Do
	}
	out, err := give(ctx, env)
	if err != nil {
		return nil, err
	}
	if s.Work != nil && !g.rests && !out.Replayed {
		s.Work()
	}
	return s.told(ctx, g, out)
}

// told says what became of a command.
func (s *Server) told(ctx context.Context, g *given, out kernel.Outcome) (*answer[commanded], error) {
	st, version, err := s.statusOf(ctx, g.kernel)
	if err != nil {
		return nil, err
	}
	body := commanded{Changed: out.Changed, Replayed: out.Replayed, Cursor: out.Size, Status: st}
	_ = json.Unmarshal(out.Result, &body.Result) // the kernel wrote it
	return tagged(body, version), nil
}

// refused says why a command was not carried out, and for an answer to something else what waits for one now.
func (s *Server) refused(ctx context.Context, g *given, err error) *Problem {
	p := s.problem(err)
	if p.Code == pawl.CodeApprovalStale || p.Code == pawl.CodeChanged {
		if st, _, err := s.statusOf(ctx, g.kernel); err == nil {
			p.Now = st.Approval
		}
	}
	return p
}

// empty is the body of a command that needs nothing.
type empty struct{}

// Why is the body of a command that may be given a reason.
type Why struct {
	Reason string `json:"reason,omitempty" maxLength:"4000" doc:"Why, for the record."`
}

// Seen is what a decision carries of what was shown.
type Seen struct {
	Digest string `json:"digest" minLength:"8" maxLength:"64" pattern:"^[0-9a-f]+$" doc:"The hash of what was shown, or its beginning."`
}

// commands registers every command.
func (s *Server) commands() {
	s.answers()
	batches(s)
	s.control()
	registered(s)
}

// answers are the commands that answer a question.
func (s *Server) answers() {
	commanding(s, "/commands/approve", "approve", "api.approve", func(_ context.Context, in *order[Seen], g *given) error {
		g.command, g.decides = &approval.Approve{Hash: in.Body.Digest, Way: kernel.WayAPI}, true
		return nil
	})
	type whole struct {
		Digest string `json:"digest" minLength:"64" maxLength:"64" pattern:"^[0-9a-f]+$" doc:"The whole hash of what was shown."`
	}
	commanding(s, "/commands/show", "show", "api.show", func(_ context.Context, in *order[whole], g *given) error {
		g.command, g.decides, g.rests = &approval.Show{Hash: in.Body.Digest}, true, true
		return nil
	})
	type denial struct {
		Seen
		Why
	}
	commanding(s, "/commands/deny", "deny", "api.deny", func(_ context.Context, in *order[denial], g *given) error {
		g.command, g.seen, g.decides = &approval.Deny{Reason: in.Body.Reason}, in.Body.Digest, true
		return nil
	})
	type revision struct {
		Seen
		Feedback string `json:"feedback,omitempty" maxLength:"20000" doc:"What is to be another way."`
		Plan     string `json:"plan,omitempty" maxLength:"262144" doc:"Another plan, as YAML or JSON."`
	}
	commanding(s, "/commands/revise", "revise", "api.revise", func(_ context.Context, in *order[revision], g *given) error {
		r := &planning.Revise{Feedback: in.Body.Feedback}
		if in.Body.Plan == "" && in.Body.Feedback == "" {
			return pawl.Fail(pawl.CodeInvalid, "cli.revise_nothing")
		}
		if in.Body.Plan != "" {
			r.Given, r.Name = []byte(in.Body.Plan), "plan of "+g.caller.Name
			if _, err := give.Plan(s.Kernel.Config(), r.Given); err != nil {
				return err
			}
		}
		g.command, g.seen, g.decides = r, in.Body.Digest, true
		return nil
	})
	type choice struct {
		Seen
		Choice string `json:"choice" minLength:"1" maxLength:"100" doc:"One of the ways that were offered."`
		Path   string `json:"path,omitempty" maxLength:"100" doc:"Another way of working than the one that was found."`
	}
	commanding(s, "/commands/choose", "choose", "api.choose", func(_ context.Context, in *order[choice], g *given) error {
		g.command = &planning.Choose{Choice: in.Body.Choice, Path: workflow.Path(in.Body.Path), Hash: in.Body.Digest}
		g.decides = true
		return nil
	})
	type acceptance struct {
		Seen
		Reason string `json:"reason" minLength:"1" maxLength:"4000" doc:"Why work is taken that nothing shows to have done what was wanted."`
	}
	commanding(s, "/commands/accept", "accept", "api.accept", func(_ context.Context, in *order[acceptance], g *given) error {
		g.command = &verification.Accept{Tree: in.Body.Digest, Reason: in.Body.Reason, Way: kernel.WayAPI}
		g.decides = true
		return nil
	})
	type replies struct {
		Question string   `json:"question,omitempty" maxLength:"200" doc:"The question that is answered. Left out: all that the work waits for, in their order."`
		Answers  []string `json:"answers" maxItems:"100" doc:"The answers; none has the asker go on with what there is."`
	}
	commanding(s, "/commands/answer", "answer", "api.answer_questions", func(_ context.Context, in *order[replies], g *given) error {
		g.command, g.decides = &steps.AnswerQuestions{Answers: in.Body.Answers, Question: in.Body.Question}, true
		return nil
	})
}

// control are the commands that begin the work and take hold of it.
func (s *Server) control() {
	type requirement struct {
		Requirement string `json:"requirement,omitempty" maxLength:"100000" doc:"What is to be done. Left out where a plan says it."`
		Plan        string `json:"plan,omitempty" maxLength:"262144" doc:"A plan, as YAML or JSON, instead of one that an agent makes."`
		Agent       string `json:"agent,omitempty" maxLength:"100" doc:"The agent that works on it. Left out: that of the settings."`
		Mode        string `json:"mode,omitempty" enum:"interactive,assisted,autonomous" doc:"What is asked about. Left out: as the settings say."`
		InPlace     bool   `json:"in_place,omitempty" doc:"Works in the user's own tree instead of one beside it."`
	}
	commanding(s, "/commands/run", "run", "api.run_command", func(ctx context.Context, in *order[requirement], g *given) (err error) {
		if in.Issue != "" {
			return pawl.Fail(pawl.CodeInvalid, "cli.flags_conflict", "run", "issue")
		}
		b := in.Body
		g.command, err = s.Begin(ctx, host.Requirement{Text: b.Requirement, Plan: b.Plan, Agent: b.Agent, Mode: b.Mode,
			InPlace: b.InPlace})
		return err
	})
	commanding(s, "/commands/pause", "pause", "api.pause", func(_ context.Context, _ *order[empty], g *given) error {
		g.command, g.rests = &control.Pause{}, true
		return nil
	})
	commanding(s, "/commands/resume", "resume", "api.resume", func(_ context.Context, _ *order[empty], g *given) error {
		g.command = &control.Resume{}
		return nil
	})
	commanding(s, "/commands/stop", "stop", "api.stop", func(_ context.Context, in *order[Why], g *given) error {
		g.command = &recovery.Stop{Reason: in.Body.Reason}
		return nil
	})
	commanding(s, "/commands/cancel", "cancel", "api.cancel", func(_ context.Context, in *order[Why], g *given) error {
		g.command = &control.CancelRun{Reason: in.Body.Reason}
		return nil
	})
	commanding(s, "/commands/skip", "skip", "api.skip", func(_ context.Context, in *order[Why], g *given) error {
		g.command = &recovery.Skip{Reason: in.Body.Reason}
		return nil
	})
	commanding(s, "/commands/rollback", "rollback", "api.rollback", func(_ context.Context, in *order[Why], g *given) error {
		g.command = &recovery.Rollback{Reason: in.Body.Reason}
		return nil
	})
	type help struct {
		Note   string `json:"note,omitempty" maxLength:"20000" doc:"What was done about it, or what the agent that goes on is to know."`
		Answer string `json:"answer,omitempty" enum:"done,retry" doc:"Of an effect whose outcome is unknown: it happened, or it is to be tried again."`
		Tree   string `json:"tree,omitempty" maxLength:"200" doc:"The tree of the unproven work that the note is about. It is refused where the work is another by now, and where no agent would hear it."`
	}
	commanding(s, "/commands/fix", "fix", "api.fix", func(_ context.Context, in *order[help], g *given) error {
		g.command = &recovery.Fix{Note: in.Body.Note, Answer: kernel.Answer(in.Body.Answer), Tree: in.Body.Tree}
		return nil
	})
	type past struct {
		Run  string `json:"run,omitempty" maxLength:"200" doc:"The run, by any of its names. Left out: the last one."`
		Step string `json:"step,omitempty" maxLength:"200" doc:"Only this step of it."`
	}
	commanding(s, "/commands/undo", "undo", "api.undo", func(ctx context.Context, in *order[past], g *given) error {
		run, err := s.run(ctx, g, in.Issue, in.Body.Run)
		g.command = &recovery.Undo{Run: run, Step: in.Body.Step}
		return err
	})
	type again struct {
		Run string `json:"run,omitempty" maxLength:"200" doc:"The run, by any of its names. Left out: the last one that was undone."`
	}
	commanding(s, "/commands/redo", "redo", "api.redo", func(ctx context.Context, in *order[again], g *given) error {
		run, err := s.run(ctx, g, in.Issue, in.Body.Run)
		g.command = &recovery.Redo{Run: run}
		return err
	})
}

// run finds the run that a command names, "" without a name, and goes to the session that it belongs to.
func (s *Server) run(ctx context.Context, g *given, issue, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	label := kernel.SessionLabel
	if issue != "" {
		i, err := s.ask.Board().Issue(ctx, issue)
		if err != nil {
			return "", err
		}
		label = i.Label
	}
	r, err := s.ask.Run(ctx, label, name)
	if err != nil {
		return "", err
	}
	if r.Issue != "" && r.Issue != label {
		g.kernel = s.Kernel.Session(r.Issue)
	}
	return r.ID, nil
}
