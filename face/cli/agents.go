package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli/term"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/replay"
	"pawl/machine/turn"
)

// AgentCommands are the commands about agents that look at all of them alike.
func AgentCommands(a *App) []*cobra.Command {
	return []*cobra.Command{newAgentListCommand(a), newAgentCheckCommand(a)}
}

func newAgentListCommand(a *App) *cobra.Command {
	return a.Command("list", "cli.agent.list", "  pawl agent list\n  pawl agent list --json", Exactly(0), func(c *cobra.Command, _ []string) error {
		agents, err := AgentsOf(a)
		if err != nil {
			return err
		}
		infos := agents.List(c.Context(), "")
		if a.JSON {
			return a.PrintJSON(map[string]any{"agents": infos})
		}
		rows := [][]string{}
		for _, i := range infos {
			what := i.Path
			if i.Key != "" {
				what = a.Text(i.Key, words(i.Args)...)
				// What is missing is the one thing to know of an agent that cannot work.
				if hint := a.Lang.Hint(i.Key, words(i.Args)...); hint != "" && i.State != "untested" {
					what = hint
				}
			}
			rows = append(rows, []string{i.Name, agentWord(a.Printer, "kind", i.Kind), agentWord(a.Printer, "state", i.State), i.Version, Display(accountText(i)), Display(i.Model), what})
		}
		printTable(a.Printer, []string{a.Text("cli.col.agent"), a.Text("cli.col.kind"), a.Text("cli.col.state"), a.Text("cli.col.version"), a.Text("cli.col.account"), a.Text("cli.col.model"), ""}, rows)
		return nil
	})
}

// leftOut are the names of the settings of a project that an agent does not obey.
func (i AgentInfo) leftOut() []string {
	var out []string
	for _, s := range i.Settings {
		if !s.Trusted {
			out = append(out, s.Name)
		}
	}
	return out
}

// Said are the arguments of the message that says what to do.
func (i AgentInfo) Said() []any { return words(i.Args) }

// accountText says whose login, or which key, an agent would work with.
func accountText(i AgentInfo) string {
	if i.Plan != "" && i.Account != i.Plan {
		return i.Account + " (" + i.Plan + ")"
	}
	return i.Account
}

// ShowLogin says what is lent, to whom it is shown and who can read it.
func ShowLogin(pr *Printer, l AgentLogin) {
	var t term.Table
	row := func(key, text string) { t.Row("  "+pr.Text(key), text) }
	who := l.Account
	if l.Plan != "" && l.Plan != l.Account {
		who += " (" + l.Plan + ")"
	}
	pr.Say(pr.Style.Bold(l.Title) + "  " + Display(strings.TrimSpace(l.Version+"  "+l.Path)))
	row("cli.lend.as", Display(who)+", "+Display(l.Where))
	switch {
	case l.Renewer != "" && l.Expires != nil:
		row("cli.lend.until", pr.Text("cli.lend.renewed", l.Expires.Local().Format(time.DateTime), l.Renewer))
	case l.Expires != nil:
		row("cli.lend.until", l.Expires.Local().Format(time.DateTime))
	}
	model := l.Model
	if model == "" {
		model = pr.Text("cli.lend.own_model")
	}
	row("cli.lend.model", Display(model))
	row("cli.lend.what", pr.Text("cli.lend.what_"+l.Kind))
	way := "cli.lend.gateway"
	if l.Way == "tunnel" {
		way = "cli.lend.tunnel"
	}
	row("cli.lend.goes", pr.Text(way, strings.Join(l.Sites, ", ")))
	row("cli.lend.commands", pr.Text(map[bool]string{true: "cli.lend.readable", false: "cli.lend.unreadable"}[l.Readable]))
	row("cli.lend.limits", pr.Text(map[bool]string{true: "cli.lend.priced", false: "cli.lend.unpriced"}[l.Kind == "key"]))
	row("cli.lend.terms", pr.Text("cli.lend.yours", l.Maker))
	pr.SayTable(&t, pr.Std.Width)
}

// AgreeToLogin notes in the user's settings that an agent may work with the login of an account, or with "" that it may not any more. It
// returns the file.
func AgreeToLogin(a *App, name, account string) (string, error) {
	return keepForAgent(a, name, "login", func(AgentSettings) []string {
		if account == "" {
			return nil
		}
		return []string{account}
	})
}

// keepForAgent changes a setting of an installed agent in the user's own settings, and returns their file.
func keepForAgent(a *App, agent, what string, values func(now AgentSettings) []string) (string, error) {
	place, err := a.Found()
	if err != nil {
		return "", err
	}
	c, err := loadConfig(a, place)
	if err != nil {
		return "", err
	}
	s, ok := findSetting(installedPrefix + agent + "." + what)
	if !ok {
		return "", pawl.Fail(pawl.CodeInvalid, "login.unknown", agent)
	}
	return c.userConfigFile, c.change(s, values(c.Agents[agent]))
}

// TrustAgent notes in the user's settings that an agent may obey what projects set for it with these digests, besides those that it may
// already, or with none that it may not obey any project. It returns the file.
func TrustAgent(a *App, agent string, digests []string) (string, error) {
	return keepForAgent(a, agent, "trust", func(now AgentSettings) []string {
		if len(digests) == 0 {
			return nil
		}
		all := append(slices.Clone(now.Trust), digests...)
		slices.Sort(all)
		return slices.Compact(all)
	})
}

// offerLogin asks, once, for what is missing before an agent can work: the user's word for the login that there is. It is asked where a
// person is there, and changes nothing otherwise: then the run says what to do.
func offerLogin(ctx context.Context, a *App, named string) error {
	place, err := a.Found()
	if err != nil || !a.Present() {
		return err
	}
	c, err := loadConfig(a, place)
	if err != nil {
		return err
	}
	if named == "" {
		named = c.Agent
	}
	agents := a.Host.Agents(place, c)
	if named == "" || agents.Login == nil {
		return nil
	}
	for _, i := range agents.List(ctx, named) {
		if i.Name != named || !i.Offer {
			continue
		}
		l, err := agents.Login(ctx, named)
		if err != nil {
			return err
		}
		ShowLogin(a.Printer, l)
		yes, err := Confirm(ctx, a.Printer, a.Text("cli.lend.ask", l.Title))
		if err != nil || !yes {
			return err
		}
		_, err = AgreeToLogin(a, named, l.Account)
		return err
	}
	return nil
}

// agentWord names a kind or a state of an agent; one that has no words is shown as it is.
func agentWord(pr *Printer, what, name string) string {
	key := "cli.agent_" + what + "." + name
	if _, ok := pr.Lang.Format(key); !ok {
		return Display(name)
	}
	return pr.Text(key)
}

// AgentState says in a word whether an agent can work.
func AgentState(pr *Printer, i AgentInfo) string { return agentWord(pr, "state", i.State) }

// checkLimit bounds a check unless the user says otherwise.
const checkLimit = 2 * time.Minute

func newAgentCheckCommand(a *App) *cobra.Command {
	check := Check{Limit: checkLimit}
	c := a.Command("check AGENT", "cli.agent.check", "  pawl agent check codex\n  pawl agent check llm --json", Named(a.Printer), func(c *cobra.Command, args []string) error {
		agents, err := AgentsOf(a)
		if err != nil {
			return err
		}
		if check.Limit <= 0 {
			return Usage("cli.flag_invalid", check.Limit.String(), "--limit", takes(a.Printer, "duration"))
		}
		if check.Agent, err = PickAgent(c.Context(), a, args, nil); err != nil {
			return err
		}
		check.Lang = string(a.Lang)
		took, passed, failed := time.Duration(0), 0, ""
		check.Stage = func(s Stage) {
			took += s.Took
			if s.Err != nil {
				failed = s.Name
			} else {
				passed++
			}
			printStage(a.Printer, s)
		}
		kept, err := agents.Check(c.Context(), check)
		if kept != "" {
			a.Note(a.Text("cli.check_kept", kept))
		}
		if err != nil {
			return err
		}
		if a.JSON {
			if err := json.NewEncoder(a.Std.Out).Encode(map[string]any{"type": "result", "agent": check.Agent, "ok": failed == "", "passed": passed, "ms": took.Milliseconds()}); err != nil {
				return err
			}
		} else if failed == "" {
			a.Say(a.Text("cli.check_works", check.Agent, took.Round(100*time.Millisecond).String()))
		}
		if failed != "" {
			return pawl.Fail(pawl.CodeEnvironment, "cli.check_failed", check.Agent, a.Text("check."+failed))
		}
		return nil
	})
	c.Flags().DurationVar(&check.Limit, "limit", checkLimit, a.Text("cli.flag.check_limit"))
	c.Flags().BoolVar(&check.Keep, "keep", false, a.Text("cli.flag.check_keep"))
	return c
}

// printStage prints one stage of a check when it is over.
func printStage(pr *Printer, s Stage) {
	var saw []string
	for _, p := range s.Saw {
		saw = append(saw, pr.Text(p.Key, words(p.Args)...))
	}
	line := struct {
		Type  string   `json:"type"`
		Stage string   `json:"stage"`
		OK    bool     `json:"ok"`
		MS    int64    `json:"ms"`
		Saw   []string `json:"saw,omitempty"`
		Error *fault   `json:"error,omitempty"`
		Said  []string `json:"said,omitempty"`
	}{Type: "stage", Stage: s.Name, OK: s.Err == nil, MS: s.Took.Milliseconds(), Saw: saw, Said: s.Said}
	if s.Err != nil {
		f := describe(pr, s.Err)
		line.Error = &f
	}
	if pr.JSON {
		_ = json.NewEncoder(pr.Std.Out).Encode(line) // what cannot be written is seen at the result, which is written last
		return
	}
	symbol := pr.Style.OK()
	text := strings.Join(saw, " "+pr.Style.Middle()+" ")
	if s.Err != nil {
		symbol, text = pr.Style.Bad(), line.Error.Message
	}
	const titles, times = 26, 8
	head := term.Pad(pr.Text("check."+s.Name), titles) + term.Pad(fmt.Sprintf("%.1f s", s.Took.Seconds()), times)
	for i, l := range term.Hang(text, titles+times+2, pr.Std.Width, 0, "") {
		if i == 0 {
			l = symbol + " " + head + l
		}
		pr.Say(strings.TrimRight(l, " "))
	}
	if s.Err == nil {
		return
	}
	for _, l := range s.Said {
		pr.Say("    " + pr.Style.Dim(term.Clip("> "+Display(l), pr.Std.Width-4, pr.Style.Ellipsis())))
	}
	if line.Error.Hint != "" {
		pr.Say("  " + pr.Style.Cyan(pr.Text("cli.next")) + line.Error.Hint)
	}
}

// printTable prints rows in columns under a head.
func printTable(pr *Printer, head []string, rows [][]string) {
	var t term.Table
	t.Row(head...)
	for _, r := range rows {
		t.Row(r...)
	}
	for _, line := range t.Lines(pr.Std.Width) {
		pr.Say(strings.TrimRight(line, " "))
	}
}

func words(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// AgentsOf returns the agents of the machine, with the settings of the folder that the command is about.
func AgentsOf(a *App) (Agents, error) {
	dir, err := startFolder(a)
	if err != nil {
		return Agents{}, err
	}
	place, err := a.Host.Find(dir)
	if err != nil {
		return Agents{}, err
	}
	c, err := loadConfig(a, place)
	if err != nil {
		return Agents{}, err
	}
	return a.Host.Agents(place, c), nil
}

// Ready refuses a run whose agent cannot work, before anything is begun.
func Ready(ctx context.Context, sess *Session, name string) error {
	if name == "" {
		return nil
	}
	var names []string
	for _, i := range sess.App.Host.Agents(sess.Workspace.Place, sess.Config).List(ctx, name) {
		if i.Name != name {
			names = append(names, i.Name)
			continue
		}
		if i.State == "missing" || i.State == "unset" {
			return pawl.Fail(pawl.CodeEnvironment, "cli.agent_not_ready", name).Because(pawl.Fail(pawl.CodeEnvironment, i.Key, words(i.Args)...))
		}
		if i.Key != "" {
			sess.Note(sess.Style.Warn() + " " + sess.Text(i.Key, words(i.Args)...))
		}
		if off := i.leftOut(); len(off) > 0 {
			sess.Note(sess.Style.Warn() + " " + sess.Text("cli.trust.left_out", name, Display(strings.Join(off, ", "))))
		}
		return nil
	}
	return pawl.Fail(pawl.CodeInvalid, "agent.unknown", name, strings.Join(names, ", "))
}

func newAnswerCommand(a *App) *cobra.Command {
	var skip, noWait bool
	var one string
	c := a.Command("answer [ANSWER]...", "cli.answer", `  pawl answer
  pawl answer "only the parser" "keep the old flag"
  pawl answer --question q-3 "the new one"
  pawl answer --go-on`, Between(0, maxAnswers), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if skip && len(args) > 0 {
			return Usage("cli.flags_conflict", "--go-on", args[0])
		}
		return a.With(c.Context(), Writing(), func(sess *Session) error {
			s, err := sess.Workspace.Kernel.Look(c.Context())
			if err != nil {
				return err
			}
			give := func(sess *Session) error {
				if !skip && len(args) == 0 {
					if args, err = askQuestions(c.Context(), sess, s, one); err != nil {
						return err
					}
				}
				return doNow(c.Context(), sess, &kernel.Give{Answers: args, Question: one})
			}
			// What no work waits for is answered without working on anything.
			return GoOn(c.Context(), sess, noWait || !waiting(s), []string{"completed"}, give)
		})
	}
	c.Flags().BoolVar(&skip, "go-on", false, a.Text("cli.flag.go_on"))
	c.Flags().StringVar(&one, "question", "", a.Text("cli.flag.question"))
	c.Flags().BoolVar(&noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	return c
}

// maxAnswers is how many questions can be open at once.
const maxAnswers = 20

// waiting reports whether work waits for answers.
func waiting(s *kernel.Snapshot) bool {
	return s.Turn != nil && s.Turn.State == string(turn.Clarifying)
}

// openQuestions lists the texts of the questions that an answer is about: the one that is named, those that work waits for, or else all
// others.
func openQuestions(ctx context.Context, sess *Session, s *kernel.Snapshot, one string) ([]string, error) {
	if one == "" && waiting(s) {
		return asked(sess.Printer, s.Turn), nil
	}
	list, err := sess.Workspace.Kernel.Questions(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, q := range list {
		if one == "" || strings.EqualFold(one, q.Label) || one == q.ID {
			out = append(out, q.Text)
		}
	}
	switch {
	case len(out) == 0 && one != "":
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.question_unknown", one)
	case len(out) == 0:
		return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_asked", string(sessionState(s)))
	}
	return out, nil
}

// asked are the questions that the turn waits for, in words.
func asked(pr *Printer, t *kernel.Turn) []string {
	out := slices.Clone(t.Questions)
	for i, q := range t.Put {
		if q.Key != "" && i < len(out) {
			out[i] = pr.Text(q.Key, words(q.Args)...)
		}
	}
	return out
}

// askQuestions puts open questions to the person at the terminal, one after the other.
func askQuestions(ctx context.Context, sess *Session, s *kernel.Snapshot, one string) ([]string, error) {
	questions, err := openQuestions(ctx, sess, s, one)
	if err != nil {
		return nil, err
	}
	if !sess.Present() {
		if !sess.JSON {
			listQuestions(sess.Printer, questions)
		}
		return nil, pawl.Fail(pawl.CodeApprovalNeeded, "cli.answers_needed", len(questions))
	}
	var out []string
	for i, q := range questions {
		sess.SayText("cli.question", i+1, len(questions), Display(q))
		line, err := AskText(ctx, sess.Printer, ">")
		if errors.Is(err, tui.ErrLeft) {
			return nil, pawl.Fail(pawl.CodeApprovalNeeded, "cli.answers_needed", len(questions))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, line)
	}
	return out, nil
}

// listQuestions prints questions.
func listQuestions(pr *Printer, questions []string) {
	for i, q := range questions {
		pr.SayText("cli.question", i+1, len(questions), Display(q))
	}
}

func sessionState(s *kernel.Snapshot) string {
	if s.Session == nil {
		return "-"
	}
	return s.Session.State
}

// questions puts the open questions before a person, or says how they are answered.
func (v *Drive) questions(ctx context.Context, s *kernel.Snapshot) (again bool, err error) {
	if s.Turn == nil {
		return false, pawl.Fail(pawl.CodeInternal, "cli.no_approval")
	}
	if v.sess.JSON {
		if err := v.sess.PrintLine(map[string]any{"type": "questions", "questions": asked(v.sess.Printer, s.Turn), "round": s.Turn.Rounds}); err != nil {
			return false, err
		}
	}
	if !v.sess.Present() {
		if !v.sess.JSON {
			listQuestions(v.sess.Printer, asked(v.sess.Printer, s.Turn))
			v.sess.Say("  " + v.sess.Style.Cyan(v.sess.Text("cli.next")) + v.sess.Text("cli.answer_how"))
		}
		return false, shown{pawl.Fail(pawl.CodeApprovalNeeded, "cli.answers_needed", len(s.Turn.Questions))}
	}
	answers, err := askQuestions(ctx, v.sess, s, "")
	if err != nil {
		return false, err
	}
	_, err = v.sess.Do(ctx, &kernel.Give{Answers: answers})
	return err == nil, err
}

// budgetLine is what one scope spent of what it may.
type budgetLine struct {
	Scope string       `json:"scope"`
	Spent effect.Usage `json:"spent"`
	Held  effect.Usage `json:"held"`
	Limit kernel.Limit `json:"limit"`
}

func newBudgetCommand(a *App) *cobra.Command {
	return a.Command("budget", "cli.budget", "  pawl budget\n  pawl budget --json\n  pawl config set budget.run.usd 2", Exactly(0), func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), Reading(), func(sess *Session) error {
			lines, err := budgetsOf(c.Context(), sess)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"budgets": lines})
			}
			if len(lines) == 0 {
				a.SayText("cli.budget_none")
				// What may be spent is worth knowing before anything is.
				if lines = limitsOf(sess.Config); len(lines) == 0 {
					return nil
				}
			}
			rows := [][]string{}
			for _, l := range lines {
				rows = append(rows, l.rows(a.Printer)...)
			}
			printTable(a.Printer, []string{a.Text("cli.col.scope"), a.Text("cli.col.what"), a.Text("cli.col.spent"), a.Text("cli.col.of"), a.Text("cli.col.held")}, rows)
			return nil
		})
	})
}

// rows are the measures of a scope of which there is something to say, the scope's name before the first.
func (l *budgetLine) rows(pr *Printer) [][]string {
	dollars := func(u effect.Usage) string { return dollarsText(pr, u.MicroUSD, u.Unpriced) }
	counted := func(of func(effect.Usage) int64, show func(int64) string) func(effect.Usage) string {
		return func(u effect.Usage) string { return show(of(u)) }
	}
	var out [][]string
	scope := l.Scope
	for _, m := range []struct {
		what  string
		of    func(effect.Usage) int64
		limit int64
		show  func(int64) string
	}{
		{"usd", func(u effect.Usage) int64 { return u.MicroUSD }, l.Limit.MicroUSD, kernel.Dollars},
		{"tokens", func(u effect.Usage) int64 { return u.InTokens + u.OutTokens }, l.Limit.Tokens, count},
		{"requests", func(u effect.Usage) int64 { return u.Requests }, l.Limit.Requests, count},
		{"turns", func(u effect.Usage) int64 { return u.Turns }, l.Limit.Turns, count},
		{"calls", func(u effect.Usage) int64 { return u.Calls }, l.Limit.Calls, count},
		{"processes", func(u effect.Usage) int64 { return u.Processes }, l.Limit.Processes, count},
		{"minutes", func(u effect.Usage) int64 { return u.WallMS }, l.Limit.WallMS, kernel.Minutes},
	} {
		text := counted(m.of, m.show)
		if m.what == "usd" {
			text = dollars
		} else if m.of(l.Spent) == 0 && m.of(l.Held) == 0 && m.limit == 0 {
			continue
		}
		held := "–"
		if m.of(l.Held) != 0 {
			held = text(l.Held)
		}
		out = append(out, []string{scope, pr.Text("cli.budget_what." + m.what), text(l.Spent), limitOf(m.limit, m.show), held})
		scope = ""
	}
	return out
}

// limitsOf are the budgets that are set, each with nothing spent.
func limitsOf(c Config) []budgetLine {
	var out []budgetLine
	for _, scope := range []string{"run", "issue", "day"} {
		if l := c.Budgets[scope]; l != (kernel.Limit{}) {
			out = append(out, budgetLine{Scope: scope, Limit: l})
		}
	}
	return out
}

// budgetsOf reads what was spent, newest first.
func budgetsOf(ctx context.Context, sess *Session) ([]budgetLine, error) {
	found, err := sess.Ask().Budgets(ctx)
	if err != nil {
		return nil, err
	}
	var out []budgetLine
	for _, b := range found {
		scope, _, _ := strings.Cut(b.Scope, ":")
		out = append(out, budgetLine{Scope: b.Scope, Spent: b.Spent, Limit: sess.Config.Budgets[scope], Held: b.Held})
	}
	return out, nil
}

// dollarsText writes millionths of a dollar. A sum that lacks prices is a lower bound, and one that has none is not known.
func dollarsText(pr *Printer, micro int64, unpriced bool) string {
	switch {
	case unpriced && micro == 0:
		return pr.Text("cli.price_unknown")
	case unpriced:
		return pr.Text("cli.price_at_least", kernel.Dollars(micro))
	}
	return kernel.Dollars(micro)
}

func limitOf(n int64, show func(int64) string) string {
	if n == 0 {
		return "–"
	}
	return show(n)
}

// count writes a number with thin groups of three digits.
func count(n int64) string {
	text := strconv.Itoa(int(n))
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}

// replayed is what became of a recording whose decisions were made again.
type replayed struct {
	Run       string `json:"run"`
	Decisions int    `json:"decisions"`
	// Lost are those that the recording does not hold the whole of, because secrets were left out.
	Lost        int              `json:"lost"`
	Differences []replay.Finding `json:"differences"`
	Bad         []fault          `json:"errors,omitempty"`
}

func newReplayCommand(a *App) *cobra.Command {
	return a.Command("replay RUN", "cli.replay", "  pawl replay RUN-3\n  pawl replay 3 --json", Exactly(1), func(c *cobra.Command, args []string) error {
		return a.With(c.Context(), Reading(), func(sess *Session) error {
			run := strings.ToUpper(strings.TrimSpace(args[0]))
			if n, err := strconv.Atoi(run); err == nil {
				run = "RUN-" + strconv.Itoa(n)
			}
			return replayRun(c.Context(), sess, run)
		})
	})
}

// replayRun makes the decisions of a run again and says which would be different.
func replayRun(ctx context.Context, sess *Session, run string) error {
	in, config, err := sess.Workspace.Recording(run)
	if err != nil {
		return err
	}
	defer in.Close()
	out := replayed{Run: run, Differences: []replay.Finding{}}
	var first error
	for f, err := range replay.Replay(in, config) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			out.Bad = append(out.Bad, describe(sess.Printer, err))
			if first == nil {
				first = err
			}
			continue
		case f.Lost:
			out.Lost++
		case f.Differs():
			out.Differences = append(out.Differences, f)
			if !sess.JSON {
				printFinding(sess.Printer, &f)
			}
		}
		out.Decisions++
	}
	if sess.JSON {
		if err := sess.PrintJSON(out); err != nil {
			return err
		}
	} else {
		printReplayed(sess.Printer, &out)
	}
	switch {
	case first != nil:
		return first
	case len(out.Differences) > 0:
		return shown{pawl.Fail(pawl.CodeConflict, "cli.replay_differs", run, out.Decisions, len(out.Differences))}
	}
	return nil
}

// printReplayed prints how a replay came out.
func printReplayed(pr *Printer, out *replayed) {
	if len(out.Bad) > 1 {
		pr.Note(pr.Style.Warn() + " " + pr.Text("cli.replay_bad", len(out.Bad)))
	}
	if out.Lost > 0 {
		pr.Say(pr.Style.Warn() + " " + pr.Text("cli.replay_lost", out.Lost))
	}
	said := map[string]bool{}
	for _, f := range out.Differences {
		for _, c := range f.Settings {
			line := pr.Text("cli.replay_setting", c.What, strings.Join(c.Decided, " "), strings.Join(c.Now, " "))
			if !said[line] {
				pr.Say(line)
			}
			said[line] = true
		}
	}
	if len(out.Differences) > 0 {
		pr.Say(pr.Style.Bad() + " " + pr.Text("cli.replay_differs", out.Run, out.Decisions, len(out.Differences)))
	} else if len(out.Bad) == 0 {
		pr.Say(pr.Style.OK() + " " + pr.Text("cli.replay_same", out.Run, out.Decisions))
	}
}

// changeText names what a decision would do differently.
func changeText(pr *Printer, what string) string {
	switch what {
	case "moves", "effects", "records", "rows", "result", "refused":
		return pr.Text("cli.replay_what." + what)
	}
	return Display(what)
}

// printFinding prints one decision that would be different.
func printFinding(pr *Printer, f *replay.Finding) {
	pr.Say(pr.Style.Bold(pr.Text("cli.replay_line", f.Line, f.Command, string(f.Actor), f.At.Local().Format(time.DateTime))))
	line := func(m replay.Move) string { return strings.ReplaceAll(m.String(), "→", pr.Style.To()) }
	for _, m := range f.Decided {
		pr.Say("  " + pr.Text("cli.replay_decided", line(m)))
	}
	if f.Refused != nil {
		text := describe(pr, f.Refused)
		pr.Say("  " + pr.Text("cli.replay_refused", text.Message+" ("+faultLabel(pr, text)+")"))
	} else if len(f.Now) == 0 {
		pr.Say("  " + pr.Text("cli.replay_now", pr.Style.None()))
	}
	for _, m := range f.Now {
		pr.Say("  " + pr.Text("cli.replay_now", line(m)))
	}
	moved := f.Refused != nil || slices.ContainsFunc(f.Changes, func(c replay.Change) bool { return c.What == "moves" })
	for _, c := range f.Changes {
		// What is recorded and written follows from the moves; it is shown where there is nothing else to show.
		if c.What == "moves" || c.What == "refused" || moved && c.What != "effects" {
			continue
		}
		pr.Say("  " + changeText(pr, c.What))
		for _, l := range c.Decided {
			pr.Say("    - " + Display(l))
		}
		for _, l := range c.Now {
			pr.Say("    + " + Display(l))
		}
	}
	pr.Say("")
}
