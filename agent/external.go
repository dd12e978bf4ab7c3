package agent

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"pawl"
	"pawl/kernel/effect"
	"pawl/machine/workflow"
	"pawl/store/logs"
	"pawl/text/plan"
)

// Defaults that stand in for zero fields of External.
const (
	// GatewayPort is where agents find the gateway on the loopback of their own network.
	GatewayPort = 4170

	defaultTimeout = 30 * time.Minute
	defaultIdle    = 10 * time.Minute
	defaultGrace   = 5 * time.Second
	defaultOutput  = int64(64 << 20)
	// maxText bounds what is kept of what an agent says.
	maxText = 64 << 10

	defaultWindow = 128_000
	// defaultOut is room for writing a file of some 50 kB in one call. Agents ask for twice as much and more, and all
	// of it is set aside of the budget before each call.
	defaultOut = 16_000
	// maxSaid bounds the line with which an agent asks or gives up.
	maxSaid = 1900
)

// External is what an external agent is made of: both kinds of adapter are configured with it.
type External struct {
	Program Program
	// Path is the program, absolute, and Version what it said of its version.
	Path, Version string
	// Model is the model to use, and Provider the gateway's name for who serves it, the wire form's own unless set.
	Model, Provider string
	// Planning is the model to judge and to plan with, Working the one to work with and Reviewing the one to review
	// with, where the user chose another than Model, or than the login's own, for these.
	Planning, Working, Reviewing string
	// Window is the size of the model's context in tokens, and MaxOut that of an answer, as far as the agent can be
	// told.
	Window, MaxOut int64
	// Start starts processes behind walls.
	Start Start
	// Login is the login of the person at the program's makers, nil where pawl has a key instead. Model and Provider
	// are the loan's then.
	Login Login
	// Gateway is the way to the models. Without one the agent has no network at all.
	Gateway Gateway
	// Environ is the harmless environment that the agent's own variables are added to.
	Environ []string
	// Readable are further paths that the agent needs to read.
	Readable []string
	// Trust are the digests of projects' settings that the program may obey.
	Trust []string
	// Snapshot records the tree of a place where the walls leave open who changes it, and is nil where they hold: an
	// agent that is only asked must have left it as it was.
	Snapshot func(ctx context.Context, place effect.Place) (string, error)
	// Limits bound the agent's plans.
	Limits plan.Limits
	Port   uint16
	// Timeout bounds one piece of work, Idle the time without a sign of life, Grace that between asking the agent to
	// stop and killing it, and Output what it may write, in bytes.
	Timeout, Idle, Grace time.Duration
	Output               int64
	// Chinese writes prompts in Chinese.
	Chinese bool
	// Text renders a key of the catalogue for the transcript.
	Text func(key string, args ...any) string
}

// Info describes the agent.
func (c External) Info() Info {
	return Info{Name: c.Program.Name, Kind: c.Program.Kind, Works: true, Intakes: true}
}

// Done says no: the agent's session is kept, and going on with it does not repeat what is in it.
func (c External) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

// Drive has the agent do a job, over its own protocol. The result's Said is filled in by the caller.
type Drive func(ctx context.Context, j *Job) (effect.WorkResult, error)

// Do answers an effect. The agent judges and plans where it can change nothing; a repair is one step, which it works
// out when it is to be done. What pawl itself takes for clear, harmless and a matter of one place needs no judgement of
// a model.
func (c External) Do(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress,
	drive Drive) effect.Receipt {
	start := time.Now()
	r := c.do(ctx, e, host, progress, drive)
	r.Start, r.End, r.Attempts = start, time.Now(), 1
	return r
}

func (c External) do(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress,
	drive Drive) effect.Receipt {
	if err := ctx.Err(); err != nil {
		return effect.Failed(c.ended(ctx, err))
	}
	said := effect.Said{Agent: c.Program.Name, Version: c.Version, Model: c.Model}
	at := task{e: e, host: host, progress: progress, drive: drive}
	switch e.Kind {
	case effect.KindIntake:
		return receipt(c.intake(ctx, at, said))
	case effect.KindPlan:
		return receipt(c.plan(ctx, at, said))
	case effect.KindReview:
		return receipt(c.review(ctx, at))
	case effect.KindRewrite:
		return receipt(c.rewrite(ctx, at))
	case effect.KindRepair:
		spec, err := effect.Decode[effect.RepairSpec](e.Spec)
		if err != nil {
			return effect.Failed(err)
		}
		if slices.ContainsFunc(spec.Failure.Checks, func(o effect.CheckOutcome) bool { return o.Environment }) {
			// What is wrong with the machine is not mended in the tree.
			return effect.Succeeded(effect.RepairResult{Said: said, Why: "agent.machine", Steps: []plan.Step{}})
		}
		return effect.Succeeded(Mend(spec, said))
	case effect.KindWork:
		spec, err := effect.Decode[effect.WorkSpec](e.Spec)
		if err != nil {
			return effect.Failed(err)
		}
		result, err := c.work(ctx, at, spec, nil)
		if err != nil {
			return effect.FailedWith(err, result)
		}
		return effect.Succeeded(result)
	}
	return effect.Failed(pawl.Fail(pawl.CodeInternal, "agent.foreign_effect", string(e.Kind)).In("agent.Do"))
}

func receipt[T any](result T, err error) effect.Receipt {
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(result)
}

// task is an effect with those whom it concerns.
type task struct {
	e        effect.Effect
	host     effect.Host
	progress effect.Progress
	drive    Drive
}

// intake has the agent judge a requirement.
func (c External) intake(ctx context.Context, t task, said effect.Said) (effect.IntakeResult, error) {
	spec, err := effect.Decode[effect.IntakeSpec](t.e.Spec)
	if err != nil {
		return effect.IntakeResult{}, err
	}
	own, err := Intake(spec, said)
	if err != nil {
		return effect.IntakeResult{}, err
	}
	if path, _ := own.Evaluation.Path(); path == workflow.PathTweak && own.Evaluation.Ready() {
		return own, nil
	}
	q, found, err := IntakeQuestion(spec, c.Chinese)
	if err != nil {
		return effect.IntakeResult{}, err
	}
	if said, err = c.ask(ctx, t, q); err != nil {
		return effect.IntakeResult{}, err
	}
	return found.Result(spec, said), nil
}

// plan has the agent plan, unless the user brought a plan.
func (c External) plan(ctx context.Context, t task, said effect.Said) (effect.PlanResult, error) {
	spec, err := effect.Decode[effect.PlanSpec](t.e.Spec)
	if err != nil {
		return effect.PlanResult{}, err
	}
	if given, ok, err := Given(spec, said); ok || err != nil {
		return given, err
	}
	q, found, err := PlanQuestion(spec, nil, c.Limits, c.Chinese)
	if err != nil {
		return effect.PlanResult{}, err
	}
	if said, err = c.ask(ctx, t, q); err != nil {
		return effect.PlanResult{}, err
	}
	return effect.PlanResult{Said: said, Plan: found}, nil
}

// review has the agent look at work that is done, in a session and with a home of its own: those of the task are the
// worker's.
func (c External) review(ctx context.Context, t task) (effect.ReviewResult, error) {
	spec, err := effect.Decode[effect.ReviewSpec](t.e.Spec)
	if err != nil {
		return effect.ReviewResult{}, err
	}
	t.e.Task, c.Planning = "", c.Reviewing
	q, found := ReviewQuestion(spec, c.Chinese)
	said, err := c.ask(ctx, t, q)
	return effect.ReviewResult{Said: said, Objections: *found}, err
}

// rewrite has the agent look once more at a test that it wrote for a plan, in a session and with a home of its own.
func (c External) rewrite(ctx context.Context, t task) (effect.RewriteResult, error) {
	spec, err := effect.Decode[effect.RewriteSpec](t.e.Spec)
	if err != nil {
		return effect.RewriteResult{}, err
	}
	t.e.Task = ""
	q, found := RewriteQuestion(spec, c.Chinese)
	found.Said, err = c.ask(ctx, t, q)
	return *found, err
}

// ask has the agent answer a question about a tree that it can read and not change. An answer that cannot be used is
// shown to it once, in the same session where it has sessions, with what is wrong with it.
func (c External) ask(ctx context.Context, t task, q Question) (effect.Said, error) {
	before, err := c.recorded(ctx, t.e.Place)
	if err != nil {
		return effect.Said{}, err
	}
	result, err := c.work(ctx, t, effect.WorkSpec{}, &q)
	if err = q.Failed(err); err != nil {
		return result.Said, err
	}
	after, err := c.recorded(ctx, t.e.Place)
	if err == nil && after != before {
		err = pawl.Fail(pawl.CodeDenied, "agent.asked_and_wrote", c.Program.Name).In("agent.Ask")
	}
	return result.Said, err
}

// recorded is the state of the tree, "" where it cannot change.
func (c External) recorded(ctx context.Context, at effect.Place) (string, error) {
	if c.Snapshot == nil {
		return "", nil
	}
	return c.Snapshot(ctx, at)
}

// Job is one effect of work as an adapter sees it.
type Job struct {
	External External
	Effect   effect.Effect
	Spec     effect.WorkSpec
	Host     effect.Host
	// Question is what the agent is asked, nil for work. An agent that is asked can change nothing.
	Question *Question
	// Transcript records what the agent says and runs.
	Transcript *Transcript

	ctx     context.Context
	stop    context.CancelCauseFunc
	lane    Route
	heeding sync.WaitGroup
	places  places
	loan    *Loan  // nil without a login
	chosen  string // the model that the user chose for this kind of job, "" for none

	// said is an earlier answer to the question, and flaw what is wrong with it.
	said string
	flaw error
}

// CheckModel refuses, with CodeEnvironment, what cannot be the name of a model: it is put into the settings of
// programs.
func CheckModel(program, model string) error {
	if !modelName().MatchString(model) {
		return pawl.Fail(pawl.CodeEnvironment, "agent.model_name", program, model).In("agent.Work")
	}
	return nil
}

var modelName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$`) })

// errLimit is the cause of a context that pawl ended because the work took too long.
var errLimit = errors.New("the work took too long")

// work has the agent carry out a step, or answer a question.
func (c External) work(ctx context.Context, t task, spec effect.WorkSpec, q *Question) (effect.WorkResult, error) {
	said := effect.WorkResult{Said: effect.Said{Agent: c.Program.Name, Version: c.Version}}
	chosen := c.Working
	if q != nil {
		chosen = c.Planning
	}
	if chosen != "" {
		c.Model = chosen
	}
	if err := c.ready(t.host); err != nil {
		return said, err
	}
	c.defaults(t.e)
	outer := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, errLimit)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	j := &Job{External: c, Effect: t.e, Spec: spec, Host: t.host, Question: q, ctx: ctx, stop: stop, chosen: chosen,
		Transcript: NewTranscript(ctx, logs.New(ctx, c.Program.Name), t.progress, c.Text)}
	j.Transcript.answers = q != nil
	var err error
	if j.places, err = c.makePlaces(t.e); err != nil {
		return said, err
	}
	defer j.giveBack()
	if err := j.reach(ctx); err != nil {
		return said, err
	}
	if j.lane != nil {
		j.heeding.Add(1)
		go j.heed()
	}
	result, err := j.answered(ctx, t.drive)
	result.Agent, result.Version = said.Agent, said.Version
	if err != nil && ctx.Err() != nil {
		err = c.ended(ctx, err)
	}
	stop(nil)
	j.heeding.Wait()
	if j.lane != nil {
		result.Usage = j.lane.Usage()
		// What the gateway refused decides, whatever the agent made of it, unless pawl itself ended the work.
		if refused := j.lane.Err(); refused != nil && outer.Err() == nil && (q == nil || err != nil) {
			err = refused
		}
	}
	return j.told(result, err), err
}

// answered has the agent do the job and, where that is a question, has it corrected once. The answer is what the agent
// itself ends with, in the stream that it alone writes to. Nothing on the network takes one: whatever runs beside the
// agent, code of the reviewed tree too, reaches the same addresses.
func (j *Job) answered(ctx context.Context, drive Drive) (effect.WorkResult, error) {
	result, err := drive(ctx, j)
	for again := false; j.Question != nil && err == nil; again = true {
		if j.flaw = j.Question.Read(result.Text); j.flaw == nil {
			break
		}
		j.Transcript.Say("✗ " + j.flaw.Error())
		if again {
			return result, pawl.Fail(pawl.CodeModel, "agent.malformed_twice", j.External.Program.Name,
				j.Question.Purpose).Because(j.flaw).In("agent.Ask")
		}
		j.said, j.Spec.Session = result.Text, result.Session
		result, err = drive(ctx, j)
	}
	return result, err
}

// ready refuses work that cannot begin, and leaves the choice of a model to a program that makes it itself.
func (c *External) ready(host effect.Host) error {
	switch {
	case host == nil:
		return pawl.Fail(pawl.CodeInternal, "agent.no_host").In("agent.Work")
	case c.Path == "":
		return pawl.Fail(pawl.CodeEnvironment, "agent.not_installed", c.Program.Title,
			c.Program.Install).In("agent.Work")
	case c.Login != nil:
	case c.Model == "" && c.Program.Chooses:
		c.Program = c.Program.Unnamed()
	default:
		return CheckModel(c.Program.Name, c.Model)
	}
	return nil
}

// reach finds the way to a model: by a login, which may bring its own, and else through the gateway.
func (j *Job) reach(ctx context.Context) (err error) {
	if j.External.Login != nil {
		if err := j.borrow(ctx); err != nil {
			return err
		}
	}
	if through := j.External.Gateway; through != nil && (j.loan == nil || len(j.loan.Sites) == 0) {
		j.lane, err = through.Route(ctx, j.Host, j.External.Program.Name)
	}
	return err
}

// giveBack returns what was lent, and leaves nothing of an agent that was only asked.
func (j *Job) giveBack() {
	if j.loan != nil {
		j.loan.Return()
	}
	if j.Question != nil {
		j.places.remove(j.Effect.Place.Own())
	}
}

// told is a result as it is told of: without what was lent, and with what the agent says at its end as the control that
// it is. Where the work failed, err says why, and the agent has no say.
func (j *Job) told(result effect.WorkResult, err error) effect.WorkResult {
	result.Model = j.External.Model
	if j.loan != nil {
		result.Login, result.Text = j.loan.Account, j.loan.Hide(result.Text)
	}
	result.Text = tail(clean(result.Text), maxText)
	if j.Question != nil {
		return result
	}
	for mark, control := range map[string]effect.Control{GiveUpMark: effect.GiveUp, AskMark: effect.Question,
		DisputeMark: effect.DisputeTest} {
		if said, ok := lastWord(result.Text, mark); ok && err == nil && result.Control == effect.StepDone {
			result.Control, result.Reason = control, head(said, maxSaid)
		}
	}
	if result.Control == effect.DisputeTest {
		path, reason, _ := strings.Cut(result.Reason, ": ")
		result.Dispute = &effect.Dispute{Path: strings.Trim(path, " `"), Reason: strings.TrimSpace(reason)}
	}
	return result
}

// borrow takes a loan of the login. What the agent says from then on is told without what was lent.
func (j *Job) borrow(ctx context.Context) error {
	loan, err := j.External.Login.Lend(ctx, Borrower{Program: j.External.Program, Home: j.places.home,
		Tree: j.Effect.Place.Tree, Model: j.chosen})
	if err != nil {
		return err
	}
	j.Transcript.safe = func(text string) string { return logs.Mask(ctx, j.loan.Hide(text)) } // loans are renewed
	return j.use(loan)
}

// use works with a loan. A model that is not named is the program's own choice.
func (j *Job) use(loan Loan) error {
	j.loan, j.External.Program, j.External.Model, j.External.Provider = &loan, loan.Program, loan.Model, loan.Provider
	if loan.Model == "" {
		return nil
	}
	return CheckModel(j.External.Program.Name, loan.Model)
}

// Renewed reports whether an agent that failed because its login was refused can go on with a renewed one, with which
// it has to be started anew.
func (j *Job) Renewed(ctx context.Context, err error) bool {
	if err == nil || j.loan == nil || ctx.Err() != nil {
		return false
	}
	// What an agent writes of an error can sound like a login, or like anything else when it was one; where the gateway
	// saw the answers, they decide.
	if j.lane != nil {
		if err = j.lane.Err(); j.lane.Refused() != nil {
			return false
		}
	}
	if pawl.CodeOf(err) != pawl.CodeLogin {
		return false
	}
	loan, ok := j.loan.Fresh(ctx)
	return ok && j.use(loan) == nil
}

func (c *External) defaults(e effect.Effect) {
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if e.Timeout > 0 {
		c.Timeout = min(c.Timeout, e.Timeout)
	}
	if c.Idle <= 0 {
		c.Idle = defaultIdle
	}
	if c.Grace <= 0 {
		c.Grace = defaultGrace
	}
	if c.Output <= 0 {
		c.Output = defaultOutput
	}
	if c.Port == 0 {
		c.Port = GatewayPort
	}
	if c.Window <= 0 {
		c.Window = defaultWindow
	}
	if c.MaxOut <= 0 {
		c.MaxOut = min(defaultOut, max(c.Window/4, 1))
	}
	if c.Provider == "" {
		c.Provider = string(c.Program.Wire.Provider())
	}
}

// ended says why work ended that pawl itself broke off.
func (c External) ended(ctx context.Context, err error) error {
	var own *pawl.Error
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &own):
		return own
	case errors.Is(cause, errLimit), errors.Is(cause, context.DeadlineExceeded):
		return pawl.Fail(pawl.CodeTimeout, "agent.out_of_time", c.Program.Name).Because(err).In("agent.Work")
	}
	return pawl.Fail(pawl.CodeCanceled, "agent.canceled", c.Program.Name).Because(err).In("agent.Work")
}

// Bind keeps the agent's session. A failure ends the work: another runner has it, or nobody could go on with it.
func (j *Job) Bind(ctx context.Context, session string) error {
	if session == "" || session == j.Spec.Session || j.Question != nil {
		return nil
	}
	return j.Host.Bind(ctx, session)
}

// Prompt writes the job's prompt.
func (j *Job) Prompt() Prompt {
	if j.Question != nil {
		return j.Question.prompt(j.said, j.flaw)
	}
	return NewPrompt(j.Spec, j.External.Chinese, j.Spec.Session != "")
}

// Requests returns how many requests the agent had answered by a model so far.
func (j *Job) Requests() int64 {
	if j.lane == nil {
		return 0
	}
	return j.lane.Usage().Requests
}

// heedEvery is how often pawl looks whether the gateway refused something for good.
const heedEvery = 250 * time.Millisecond

// heed ends the work when the gateway refused something for good: many agents would ask for it again and again for
// minutes.
func (j *Job) heed() {
	defer j.heeding.Done()
	tick := time.NewTicker(heedEvery)
	defer tick.Stop()
	for {
		select {
		case <-j.ctx.Done():
			return
		case <-tick.C:
			if err := j.lane.Refused(); err != nil {
				j.stop(err)
				return
			}
		}
	}
}

// Line makes one short line of a text that is safe to print: control characters and those that change the direction of
// writing are left out.
func Line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(head(s, 4096), "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:199]) + "…"
	}
	return s
}
