package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/text/display"

	"pawl/face/cli/term"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/session"
)

// Reporter tells of the work while it goes on: for people one line for each thing that happened and, on a terminal, one
// live line about what is being done; with --json each audit record and each line of progress as a line of JSON. It is
// called from the goroutines of the runner.
type Reporter struct {
	sess *Session

	mu     sync.Mutex
	at     effect.Effect // the effect at work
	since  time.Time
	line   string // what it said last
	state  string
	step   string // the step that was announced last
	number int
	steps  int
}

// newReporter returns a reporter. It is registered before the first command, so that it misses nothing.
func newReporter(sess *Session) *Reporter {
	r := NewReporter(sess)
	sess.Workspace.Kernel.OnCommit(r.committed)
	return r
}

// NewReporter returns a reporter of what another process does, which is told to it by Tell and Said.
func NewReporter(sess *Session) *Reporter { return &Reporter{sess: sess} }

// happened is the JSON form of a record while it is committed.
type happened struct {
	Type    string            `json:"type"`
	At      time.Time         `json:"at"`
	Subject audit.Subject     `json:"subject"`
	Event   string            `json:"event"`
	Level   audit.Level       `json:"level"`
	Move    *audit.Transition `json:"move,omitempty"`
	Data    json.RawMessage   `json:"data,omitempty"`
	Trace   string            `json:"trace,omitempty"`
}

// committed is called after each commit of this process.
func (r *Reporter) committed(o kernel.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range o.Entries {
		var begun effect.Effect
		if e.Event == string(kernel.AuditEffectStarted) {
			_ = json.Unmarshal(o.Result, &begun) // what cannot be read has no name
		}
		r.tell(e, begun)
	}
}

// Tell tells of a record that another process has committed.
func (r *Reporter) Tell(ctx context.Context, e audit.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var begun effect.Effect
	if e.Event == string(kernel.AuditEffectStarted) {
		// An effect that cannot be read is told of without its name.
		if doc, err := r.sess.Workspace.Kernel.Effect(ctx, e.Subject.ID); err == nil && doc != nil {
			begun = doc.Effect
		}
	}
	r.tell(e, begun)
}

// Said tells of a line that was written for an effect at work: what agents and pawl itself say stays, of other output
// the last line is seen.
func (r *Reporter) Said(e effect.Effect, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := line
	line = r.sess.Wordy(key)
	if r.sess.JSON {
		_ = r.sess.PrintLine(map[string]string{"type": "progress", "effect": e.ID, "kind": string(e.Kind),
			"line": line})
		return
	}
	line = display.Line(strings.ReplaceAll(line, "\t", "    "))
	if line != "" && (e.Kind.Agent() || line != key) {
		r.sess.Say("    " + r.sess.Style.Dim(fold(r.sess.Printer, line, 4, 2)))
	}
	r.line = line
	r.draw()
}

// tell says one record: to a program as it is, to a person in words. Begun is the effect where the record is of its
// begin.
func (r *Reporter) tell(e audit.Entry, begun effect.Effect) {
	if r.sess.JSON {
		_ = r.sess.PrintLine(happened{"event", e.At, e.Subject, e.Event, e.Level, e.Move, e.Data, e.Trace})
		return
	}
	if e.Move != nil {
		if e.Subject.Kind == string(kernel.KindSession) {
			first := r.state == ""
			r.state = e.Move.To
			if first && e.Move.From == string(session.Idle) {
				r.sess.Say(r.sess.Style.Dot() + " " + r.sess.Style.Bold(e.Move.From) + "  " +
					r.sess.Style.Dim(StateText(r.sess.Printer, e.Move.From)))
			}
			r.sess.Say(r.sess.Style.Arrow() + " " + r.sess.Style.Bold(e.Move.To) + "  " +
				r.sess.Style.Dim(StateText(r.sess.Printer, e.Move.To)))
		}
		return
	}
	switch kernel.AuditEvent(e.Event) {
	case kernel.AuditEffectStarted:
		r.started(begun)
	case kernel.AuditEffectDone, kernel.AuditEffectFailed:
		r.ended(e)
	case kernel.AuditEffectRecovered:
		d := fields[struct {
			Effect string `json:"effect"`
			Answer string `json:"answer"`
		}](e)
		what := KindText(r.sess.Printer, effect.Kind(d.Effect))
		if doc, err := r.sess.Workspace.Kernel.Effect(context.Background(), e.Subject.ID); err == nil && doc != nil {
			what = effectText(r.sess.Printer, doc.Effect)
		}
		r.sess.Say("  " + r.sess.Style.Warn() + " " +
			r.sess.Text("cli.live.recovered", what, r.sess.Text("cli.answer."+d.Answer)))
	case kernel.AuditVerificationResult, kernel.AuditGateVerificationResult:
		r.verified(e)
	case kernel.AuditProofResult, kernel.AuditReviewResult, kernel.AuditTestDisputed:
		r.judged(e)
	case kernel.AuditFixPlanned:
		d := fields[struct {
			Attempt int    `json:"attempt"`
			Why     string `json:"why"`
		}](e)
		r.sess.Say("  " + r.sess.Style.Warn() + " " +
			r.sess.Text("cli.live.fix_planned", d.Attempt, r.sess.Config.MaxFixes, r.sess.Wordy(d.Why)))
	case kernel.AuditContextBuilt:
		for _, text := range DegradedTexts(r.sess.Printer, fields[effect.PackNote](e).Degraded) {
			r.sess.Say("  " + r.sess.Style.Warn() + " " + r.sess.Text("cli.live.context", text))
		}
	case kernel.AuditFixFailed:
		d := fields[struct {
			Attempt int  `json:"attempt"`
			Again   bool `json:"again"`
		}](e)
		key := "cli.live.fix_failed"
		if d.Again {
			key = "cli.live.fix_again"
		}
		r.sess.Say("  " + r.sess.Style.Bad() + " " + r.sess.Text(key, d.Attempt, r.sess.Config.MaxFixes))
	case kernel.AuditFixUnknown:
		d := fields[struct {
			Why string `json:"why"`
		}](e)
		r.sess.Say("  " + r.sess.Style.Bad() + " " + r.sess.Text("cli.live.fix_unknown", r.sess.Wordy(d.Why)))
	case kernel.AuditTaskRetryAttempt:
		d := fields[struct {
			Count int       `json:"retry_count"`
			Next  time.Time `json:"next_retry_after"`
		}](e)
		r.sess.Say("  " + r.sess.Style.Dot() + " " + r.sess.Text("cli.live.retry", d.Count, r.sess.Clock(d.Next)))
	}
}

// fields reads what a reporter needs of a record's data; a field that is not there stays empty.
func fields[T any](e audit.Entry) T {
	var v T
	_ = json.Unmarshal(e.Data, &v)
	return v
}

// started notes the effect that is being done, and announces the step that it belongs to.
func (r *Reporter) started(e effect.Effect) {
	r.at, r.since, r.line = e, time.Now(), ""
	if e.Kind == effect.KindWork {
		var work effect.WorkSpec
		if json.Unmarshal(e.Spec, &work) == nil && work.Step != r.step {
			r.announce(e.Task, work.Step)
		}
	}
	if e.Kind == effect.KindTool {
		var call effect.ToolCall
		if json.Unmarshal(e.Spec, &call) == nil && call.StepID != r.step {
			r.announce(e.Task, call.StepID)
		}
	}
	r.draw()
}

// announce prints the title of the step that begins.
func (r *Reporter) announce(taskID, step string) {
	r.step = step
	at, err := r.sess.Ask().Step(context.Background(), taskID, step)
	if err != nil || at == nil {
		return
	}
	r.number, r.steps = at.Number, at.Total
	place := fmt.Sprintf("%d/%d", at.Number, at.Total)
	if at.Repair > 0 {
		place = r.sess.Text("cli.sum.repair_step", at.Repair)
	}
	if at.ID != "" {
		title := term.Hang(display.Line(at.Title), term.Width(place)+5, r.sess.Std.Width, MaxTitle,
			r.sess.Style.Ellipsis())
		r.sess.Say("  " + r.sess.Style.Dim("["+place+"]") + " " + strings.Join(title, "\n"))
	}
}

// ended says how an effect ended. Verifications are told of by their own records.
func (r *Reporter) ended(e audit.Entry) {
	d := fields[struct {
		Effect effect.Kind `json:"effect"`
		MS     int64       `json:"ms"`
		Key    string      `json:"key"`
	}](e)
	at := r.at
	r.at, r.line = effect.Effect{}, ""
	r.draw()
	if d.Effect == effect.KindVerify || d.Effect == effect.KindGates || d.Effect == effect.KindProve {
		return
	}
	what := KindText(r.sess.Printer, d.Effect)
	if at.ID == e.Subject.ID {
		what = effectText(r.sess.Printer, at)
	}
	took := r.sess.Style.Dim(Duration(time.Duration(d.MS) * time.Millisecond))
	done := e.Event == string(kernel.AuditEffectDone)
	if !done && d.Effect == effect.KindReview {
		return // its record says why
	}
	if done && !d.Effect.Agent() {
		r.sess.Say("  " + r.sess.Style.OK() + " " + what + "  " + took)
		return
	}
	var receipt effect.Receipt
	if doc, err := r.sess.Workspace.Kernel.Effect(context.Background(), e.Subject.ID); err == nil && doc != nil &&
		doc.Receipt != nil {
		receipt = *doc.Receipt
	}
	if cost := spentText(r.sess.Printer, d.Effect, receipt); cost != "" {
		took += "  " + r.sess.Style.Dim(cost)
	}
	if done {
		r.sess.Say("  " + r.sess.Style.OK() + " " + what + "  " + took)
		return
	}
	r.sess.Say("  " + r.sess.Style.Bad() + " " + what + "  " + took)
	if err := receipt.Err(); err != nil {
		r.sess.Say("    " + fold(r.sess.Printer, Describe(r.sess.Printer, err).Message, 4, 0))
	}
}

// spentText says what an agent's work has cost, "" where nothing was asked of a model.
func spentText(pr *Printer, k effect.Kind, r effect.Receipt) string {
	if !k.Agent() {
		return ""
	}
	var said effect.Said
	_ = json.Unmarshal(r.Result, &said) // without a result nothing is known
	return CostText(pr, said.Usage)
}

// verified prints each command that pawl ran and how it ended.
func (r *Reporter) verified(e audit.Entry) {
	d := fields[struct {
		Gates []effect.CheckOutcome `json:"gates_executed"`
		Names []struct {
			Name string `json:"gate_name"`
		} `json:"-"`
	}](e)
	names := fields[struct {
		Gates []struct {
			Name string `json:"gate_name"`
		} `json:"gates_executed"`
	}](e)
	for i, o := range d.Gates {
		o.Name = names.Gates[i].Name
		r.sess.Say("  " + outcomeLine(r.sess.Printer, o))
	}
}

// judged prints what became of what was wanted, what a reviewer said of it, or what is said against a test.
func (r *Reporter) judged(e audit.Entry) {
	switch kernel.AuditEvent(e.Event) {
	case kernel.AuditProofResult:
		r.proven(e)
		return
	case kernel.AuditTestDisputed:
		r.sess.Say(disputes(r.sess.Printer, fields[effect.Disputed](e)))
		return
	}
	for _, l := range ReviewLines(r.sess.Printer, []effect.WorkReview{fields[effect.WorkReview](e)}) {
		r.sess.Say(l)
	}
}

// proven prints what became of what was wanted.
func (r *Reporter) proven(e audit.Entry) {
	d := fields[struct {
		Verdict  effect.Verdict `json:"verdict"`
		Criteria []effect.Met   `json:"criteria"`
		MS       int64          `json:"duration_ms"`
	}](e)
	symbol := r.sess.Style.OK()
	if d.Verdict == effect.Unproven {
		symbol = r.sess.Style.Warn()
	}
	r.sess.Say("  " + symbol + " " + r.sess.Text("cli.live.proof", r.sess.Text("cli.proof."+string(d.Verdict))) + "  " +
		r.sess.Style.Dim(Duration(time.Duration(d.MS)*time.Millisecond)))
	for _, c := range d.Criteria {
		if c.Verdict == effect.Unproven {
			r.sess.Say("    " + fold(r.sess.Printer, Display(c.Text)+": "+r.sess.Text("proof."+string(c.Why)), 4, 0))
		}
	}
}

// Times says of a check for which two runs were asked how often it ran.
func Times(pr *Printer, o effect.CheckOutcome) string {
	switch {
	case o.Twice:
		return "  " + pr.Style.Dim(pr.Text("cli.check.twice"))
	case slices.Contains(o.Weaker, effect.WeakOnce):
		return "  " + pr.Style.Yellow(pr.Text("cli.check.once"))
	}
	return ""
}

// outcomeLine renders the outcome of one check.
func outcomeLine(pr *Printer, o effect.CheckOutcome) string {
	what := display.Line(o.Name)
	if o.Command != "" && o.Command != o.Name {
		what += "  " + pr.Style.Dim(term.Clip(display.Line(o.Command), max(30, pr.Std.Width-40), pr.Style.Ellipsis()))
	}
	took := pr.Style.Dim(Duration(time.Duration(o.DurationMS) * time.Millisecond))
	switch o.Status {
	case effect.CheckPassed:
		line := pr.Style.OK() + " " + what + "  " + took
		line += Times(pr, o)
		if o.Before == effect.CheckFailed {
			line += "  " + pr.Style.Green(pr.Text("cli.check.mended"))
		}
		return line
	case effect.CheckSkipped:
		if o.LeftOut() {
			return pr.Style.Dot() + " " + display.Line(o.Name) + "  " +
				pr.Style.Yellow(pr.Text("cli.check.left_out", display.Line(o.Missing)))
		}
		return pr.Style.Dot() + " " + what + "  " + pr.Style.Dim(pr.Text("cli.check.skipped"))
	}
	line := pr.Style.Bad() + " " + what + "  " + pr.Text("cli.check.failed", o.ExitCode) + "  " + took
	switch o.Before {
	case effect.CheckPassed:
		line += "  " + pr.Style.Yellow(pr.Text("cli.check.broken"))
	case effect.CheckFailed:
		line += "  " + pr.Style.Dim(pr.Text("cli.check.red"))
	}
	return line
}

// draw sets the live line: state, step, and what runs for how long.
func (r *Reporter) draw() {
	if r.at.ID == "" {
		r.sess.Status("", nil)
		return
	}
	text := "  " + r.state
	if r.number > 0 && r.at.Kind == effect.KindTool {
		text += fmt.Sprintf("  %d/%d", r.number, r.steps)
	}
	text += "  " + effectText(r.sess.Printer, r.at)
	if r.line != "" {
		text += "  " + r.line
	}
	if n := time.Since(r.since); n >= time.Second {
		text += fmt.Sprintf("  %ds", int(n.Seconds()))
	}
	r.sess.Status(text, r.sess.Style.Dim)
}

// Tick redraws the live line until done is closed, so that its time goes on.
func (r *Reporter) Tick(done <-chan struct{}) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-done:
			r.mu.Lock()
			r.sess.Status("", nil)
			r.mu.Unlock()
			return
		case <-t.C:
			r.mu.Lock()
			r.draw()
			r.mu.Unlock()
		}
	}
}

// StateText says what a state of the session means to the person at the terminal. BLOCKED has several reasons, which
// are told beside it.
func StateText(pr *Printer, state string) string {
	switch session.State(state) {
	case session.Idle, session.Planning, session.Confirming, session.Executing, session.AutoFix, session.Blocked,
		session.Archiving:
		return pr.Text("cli.state." + strings.ToLower(state))
	}
	return ""
}

// KindText names an effect by its kind.
func KindText(pr *Printer, k effect.Kind) string { return pr.Text("cli.effect." + string(k)) }

// effectText names an effect with what it is about.
func effectText(pr *Printer, e effect.Effect) string {
	switch e.Kind {
	case effect.KindTool:
		var call effect.ToolCall
		if json.Unmarshal(e.Spec, &call) == nil {
			return callText(call.Name, call.Args)
		}
	case effect.KindProve:
		var spec effect.ProveSpec
		if json.Unmarshal(e.Spec, &spec) == nil && len(spec.Objections) > 0 {
			return pr.Text("cli.effect.objections")
		}
	case effect.KindCheckpoint:
		var spec effect.CheckpointSpec
		if json.Unmarshal(e.Spec, &spec) == nil {
			return KindText(pr, e.Kind) + " " + display.Line(spec.Name)
		}
	}
	return KindText(pr, e.Kind)
}

// Subject is the argument of a call that says most: its command, its file, or what it looks for; "" where there is
// none.
func Subject(args json.RawMessage) string {
	var known struct {
		Command string `json:"command"`
		Path    string `json:"path"`
		Pattern string `json:"pattern"`
	}
	_ = json.Unmarshal(args, &known) // another tool's arguments name nothing of it
	return cmp.Or(known.Command, known.Path, known.Pattern)
}

// callText is a call on one line: the tool and what it is about.
func callText(tool string, args json.RawMessage) string {
	if s := Subject(args); s != "" {
		return display.Line(tool) + "  " + term.Clip(display.Line(s), 60, "…")
	}
	return display.Line(tool)
}

// Duration writes a span for people.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Clock writes an instant for people, in their time zone: the time alone when it is within the last or next 12 hours.
func (sess *Session) Clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return ClockAt(sess.Workspace.Kernel.Now(), t)
}

// ClockAt is Clock where the time is now.
func ClockAt(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	if gap := now.Sub(t).Abs(); gap < 12*time.Hour {
		return t.Local().Format("15:04:05")
	}
	return t.Local().Format("2006-01-02 15:04")
}
