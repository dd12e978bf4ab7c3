package complete

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/kernel"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/text/message"
	"pawl/text/policy"
	"pawl/text/skill"
)

// kind is what a word of a usage line, or a flag, stands for: values that are asked for, files of some endings or of
// any, folders. The zero kind is what only a person can say.
type kind struct {
	ask     func(ctx context.Context, q *question, begins string) iter.Seq[word]
	endings []string
	files   bool
	folders bool
}

// kindOf is what a word stands for at a command. What is said of one command alone comes first, and a word in small
// letters stands for itself.
func kindOf(c *cobra.Command, name string) kind {
	path := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
	if k, ok := kinds()[path+" "+name]; ok {
		return k
	}
	if k, ok := kinds()[name]; ok {
		return k
	}
	if name == strings.ToLower(name) && !strings.HasPrefix(name, "--") && !strings.Contains(name, ":") {
		return kind{ask: one(name)}
	}
	return kind{}
}

// kinds is the table of what can be offered.
var kinds = sync.OnceValue(func() map[string]kind {
	return map[string]kind{
		"AGENT": {ask: agents}, "CHANNEL": {ask: channels}, "COMMAND": {ask: commandsBelow}, "COMMIT": {ask: commits}, "DIR": {folders: true},
		"TARGET": {ask: commits}, "FILE": {files: true}, "HASH": {ask: hashes},
		"ISSUE": {ask: issues}, "MACHINE": {ask: one("session", "turn", "workflow", "task", "board")},
		"policy explain COMMAND": {}, "PACKAGE": {ask: packages}, "TREE": {ask: trees}, "PATH": {files: true}, "RUN": {ask: runs}, "SERVER": {ask: servers},
		"SETTING": {ask: everySetting}, "SOLUTION": {ask: solutions}, "TASK": {ask: tasks}, "TOOL": {ask: tools},
		"VALUE": {ask: values},

		"plan new FILE": {endings: plans}, "plan validate FILE": {endings: plans},
		"config validate FILE": {endings: plans[:2]},
		"config unset SETTING": {ask: ownSettings}, "exec PACKAGE": {ask: drafts}, "logs NAME": {ask: outputs},
		"choose CHOICE":           {ask: said("choice.", "silent", "interactive", "start")},
		"context state STATE":     {ask: states(session.Describe()[:1])},
		"context progress STATUS": {ask: one("PENDING", "DONE", "BLOCKED")},

		"--adopt": {folders: true}, "--after": {ask: issues}, "--agent": {ask: agents}, "--backup": {files: true}, "--against": {files: true},
		"--checkpoint": {files: true}, "--dir": {folders: true},
		"--file": {files: true}, "--from": {files: true}, "--gate": {ask: one("doctor", "smoke", "tests")},
		"--issue": {ask: issues},
		"--lang":  {ask: one(string(message.English), string(message.Chinese))}, "--mode": {ask: runModes},
		"--not-after": {ask: issues}, "--out": {files: true}, "--plan": {endings: plans}, "--profile": {ask: profiles},
		"--proof": {files: true}, "--state": {ask: states(task.Describe())},
		"--status": {ask: states(board.Describe())}, "--step": {ask: steps}, "--tag": {ask: tags},
		"--task": {ask: tasks}, "--to": {ask: states(task.Describe())}, "--token-file": {files: true},

		"choose --path": {ask: one("tweak", "light", "standard")}, "fix --answer": {ask: said("answer.", "done",
			"retry")}, "machine show --format": {ask: one("table", "mermaid", "json", "matrix")},
		"issue import --format":     {ask: one("state", "records", "markdown")},
		"issue import --state-back": {ask: one("comment", "label")},
		"serve token new --scope":   {ask: one("read", "act", "approve")},
		"skill install --agent":     {ask: one(skill.Agents()...)},
		"task create --mode":        {ask: capabilities},
		"task move --exit-reason":   {ask: one(texts(task.ExitReasons())...)},
		"task move --metadata":      {},
		"test --only":               {ask: checks},
		"task move --as":            {ask: one("user", "system", "runner", "verifier", "gate_runner", "policy")},
	}
})

var (
	plans    = []string{"yaml", "yml", "json"}
	runModes = said("mode.", string(pawl.Interactive), string(pawl.Assisted), string(pawl.Autonomous))
	profiles = said("profile.", policy.ProfileStrict, policy.ProfileStandard, policy.ProfileReadOnly)
)

func texts[T ~string](in []T) []string {
	out := make([]string, len(in))
	for i, v := range in {
		out[i] = string(v)
	}
	return out
}

// one offers one of some values that need no explanation.
func one(values ...string) func(context.Context, *question, string) iter.Seq[word] {
	return func(context.Context, *question, string) iter.Seq[word] {
		return func(yield func(word) bool) {
			for _, v := range values {
				if !yield(word{v, ""}) {
					return
				}
			}
		}
	}
}

// said offers one of some values, each with a text of the catalogue.
func said(area string, values ...string) func(context.Context, *question, string) iter.Seq[word] {
	return func(_ context.Context, q *question, _ string) iter.Seq[word] {
		return func(yield func(word) bool) {
			for _, v := range values {
				if !yield(word{v, q.app.Text("complete." + area + v)}) {
					return
				}
			}
		}
	}
}

// states offers the states of the machines that stand behind a word, of which the issue's are those of the board that a
// list takes.
func states(tables []machine.Description) func(context.Context, *question, string) iter.Seq[word] {
	return func(_ context.Context, q *question, _ string) iter.Seq[word] {
		return func(yield func(word) bool) {
			for _, d := range tables {
				if len(tables) > 1 && d.Name != board.Issue.Name() {
					continue
				}
				for _, s := range d.Translate(message.Translation).States {
					if !yield(word{s.State, q.app.Choose(s.Description, s.DescriptionZh)}) {
						return
					}
				}
			}
		}
	}
}

// listed offers what a question to the store answers with, as far as it goes; name is nil for what is not offered.
func listed[T any](items iter.Seq2[query.Item[T], error], name func(T) (word, bool)) iter.Seq[word] {
	return func(yield func(word) bool) {
		for i, err := range items {
			if err != nil {
				return
			}
			if w, ok := name(i.Value); ok && !yield(w) {
				return
			}
		}
	}
}

func none(func(word) bool) {}

func newest() query.Page { return query.Page{Newest: true, Limit: looked} }

// issues are those whose label is what was typed, or that and one digit more, which on a large board may be old, and
// the newest ones.
func issues(ctx context.Context, q *question, begins string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil {
		return none
	}
	show := func(i *view.Issue) (word, bool) { return word{i.Label, string(i.Status) + " · " + i.Title}, true }
	return func(yield func(word) bool) {
		labels := []string{strings.ToUpper(begins)}
		if len(labels[0]) <= len("ISS-") || !strings.HasPrefix(labels[0], "ISS-") {
			labels = nil
		}
		for digit := '0'; digit <= '9' && labels != nil; digit++ {
			labels = append(labels, labels[0]+string(digit))
		}
		for _, l := range labels {
			if i, ok, err := sess.Ask().Board().Row(ctx, l); err == nil && ok {
				if w, _ := show(i); !yield(w) {
					return
				}
			}
		}
		listed(sess.Ask().Board().Newest(ctx, looked), show)(yield)
	}
}

func tasks(ctx context.Context, q *question, _ string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil {
		return none
	}
	return listed(sess.Ask().Tasks(ctx, newest()),
		func(t view.TaskLine) (word, bool) { return word{t.Label, string(t.State) + " · " + t.Title}, true })
}

func runs(ctx context.Context, q *question, _ string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil {
		return none
	}
	return listed(sess.Ask().Runs(ctx, newest()), func(r view.RunLine) (word, bool) {
		return word{r.Label, strings.TrimPrefix(r.Outcome+" · "+r.Goal, " · ")}, true
	})
}

// commits are those that runs made. Beside runs, tasks and issues they are in the way until something of one was typed.
func commits(ctx context.Context, q *question, begins string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil || begins == "" && !strings.Contains(q.cmd.Use, "TARGET") {
		return none
	}
	return listed(sess.Ask().Runs(ctx, newest()), func(r view.RunLine) (word, bool) {
		return word{r.Commit[:min(len(r.Commit), max(12, len(begins)))], r.Label + " · " + r.Goal}, r.Commit != ""
	})
}

func tags(ctx context.Context, q *question, _ string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil {
		return none
	}
	seen := map[string]bool{}
	for i, err := range sess.Ask().Board().Newest(ctx, looked) {
		if err != nil {
			break
		}
		for _, t := range i.Value.Tags {
			seen[t] = true
		}
	}
	return one(slices.Sorted(maps.Keys(seen))...)(ctx, q, "")
}

// report is the run that a command line is about: the one that is named first, or the one that the session is at.
func (q *question) report(ctx context.Context) *view.Report {
	sess := q.open(ctx)
	if sess == nil {
		return nil
	}
	name := ""
	if len(q.args) > 0 {
		name = q.args[0]
	}
	r, err := sess.Ask().Run(ctx, sess.Label(), name)
	if err != nil {
		return nil
	}
	return r
}

func steps(ctx context.Context, q *question, _ string) iter.Seq[word] {
	return func(yield func(word) bool) {
		if r := q.report(ctx); r != nil {
			for _, s := range r.Steps {
				if s.ID != "" && !yield(word{s.ID, s.Title}) {
					return
				}
			}
		}
	}
}

// outputs are the names by which what a run's calls, checks and agents said is read.
func outputs(ctx context.Context, q *question, _ string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil || len(q.args) == 0 {
		return none
	}
	of, err := sess.Ask().Outputs(ctx, sess.Label(), q.args[0])
	if err != nil {
		return none
	}
	seen := map[string]bool{}
	return func(yield func(word) bool) {
		for _, o := range of.Outputs {
			names := []word{{o.Step, o.Name}, {o.Name, o.Step}}
			for _, k := range o.Kept {
				names = append(names, word{k.Name, ""})
			}
			for _, w := range names {
				if w.value == "" || seen[w.value] {
					continue
				}
				if seen[w.value] = true; !yield(w) {
					return
				}
			}
		}
	}
}

func solutions(ctx context.Context, q *question, begins string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil || len(q.args) == 0 {
		return none
	}
	i, err := sess.Ask().Board().Issue(ctx, q.args[0])
	if err != nil {
		return none
	}
	all, err := sess.Ask().Board().Detail(ctx, i)
	if err != nil {
		return none
	}
	return func(yield func(word) bool) {
		for _, s := range all.Solutions {
			if !yield(word{s.Hash[:min(len(s.Hash), max(12, len(begins)))], s.Goal}) {
				return
			}
		}
	}
}

// hashes is the hash of what waits for a word.
func hashes(ctx context.Context, q *question, begins string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil {
		return none
	}
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil || s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
		return none
	}
	hash := s.Approval.Hash
	return func(yield func(word) bool) { yield(word{hash[:min(len(hash), max(12, len(begins)))], s.Session.Goal}) }
}

// trees is the tree of the work that waits to be taken without proof.
func trees(ctx context.Context, q *question, begins string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil {
		return none
	}
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil || !slices.ContainsFunc(query.StatusOf(s).Next, func(n view.Next) bool { return n.Op == "accept" }) {
		return none
	}
	tree := s.Task.Proof.Tree
	return func(yield func(word) bool) { yield(word{tree[:min(len(tree), max(12, len(begins)))], s.Session.Goal}) }
}

// packages are those in .pawl/plan, with the goals of those that wait to be carried out, and drafts these alone.
func packages(ctx context.Context, q *question, _ string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil || sess.Workspace.Project.Packages == nil {
		return none
	}
	found, err := sess.Workspace.Project.Packages(ctx)
	if err != nil {
		return none
	}
	goals, _ := sess.Ask().Packages(ctx) // without them the names are worth offering all the same
	return func(yield func(word) bool) {
		for _, name := range slices.Backward(found.Names) {
			if !yield(word{name, goals[name].Plan.Goal}) {
				return
			}
		}
	}
}

func drafts(ctx context.Context, q *question, _ string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil {
		return none
	}
	goals, err := sess.Ask().Packages(ctx)
	if err != nil {
		return none
	}
	return func(yield func(word) bool) {
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(goals))) {
			if !yield(word{name, goals[name].Plan.Goal}) {
				return
			}
		}
	}
}

func checks(ctx context.Context, q *question, _ string) iter.Seq[word] {
	sess := q.open(ctx)
	if sess == nil || sess.Workspace.Project.Checks == nil {
		return none
	}
	found, err := sess.Workspace.Project.Checks(ctx)
	if err != nil {
		return none
	}
	return func(yield func(word) bool) {
		for _, c := range found.Checks {
			if !yield(word{c.Name, c.Command}) {
				return
			}
		}
	}
}

// capabilities are the capability modes (docs/spec/task.md#modes).
func capabilities(ctx context.Context, q *question, begins string) iter.Seq[word] {
	return one(slices.Sorted(maps.Keys(kernel.BuiltinModes()))...)(ctx, q, begins)
}

// agents are those that runs may name, of which none is started for that.
func agents(ctx context.Context, q *question, _ string) iter.Seq[word] {
	all, err := cli.AgentsOf(q.app)
	if err != nil || all.List == nil {
		return none
	}
	return func(yield func(word) bool) {
		for _, i := range all.List(ctx, "-") { // with the name of none, none is looked into
			if !yield(word{i.Name, cli.AgentWord(q.app.Printer, "state", i.State)}) {
				return
			}
		}
	}
}

func servers(_ context.Context, q *question, _ string) iter.Seq[word] {
	all, err := cli.AgentsOf(q.app)
	if err != nil || all.Servers == nil {
		return none
	}
	return func(yield func(word) bool) {
		for _, s := range all.Servers() {
			if !yield(word{s.Name, s.State + " · " + s.Where}) {
				return
			}
		}
	}
}

// channels are those by which people are told.
func channels(_ context.Context, q *question, _ string) iter.Seq[word] {
	_, config, err := q.app.Configured()
	if err != nil {
		return none
	}
	return func(yield func(word) bool) {
		for _, name := range slices.Sorted(maps.Keys(config.Notices)) {
			if !yield(word{name, config.Notices[name].Kind}) {
				return
			}
		}
	}
}

func everySetting(_ context.Context, q *question, _ string) iter.Seq[word] { return inForce(q, false) }
func ownSettings(_ context.Context, q *question, _ string) iter.Seq[word]  { return inForce(q, true) }

// inForce are the everySetting, or with own those that the user's own file sets.
func inForce(q *question, own bool) iter.Seq[word] {
	_, config, err := q.app.Configured()
	if err != nil {
		return none
	}
	return func(yield func(word) bool) {
		for _, s := range config.Lines(q.app.Text) {
			if (s.Own || !own) && !yield(word{s.Name, s.Meaning}) {
				return
			}
		}
	}
}

// values are those of the setting that is named first.
func values(ctx context.Context, q *question, begins string) iter.Seq[word] {
	if len(q.args) == 0 {
		return none
	}
	switch named := q.args[0]; named {
	case "agent":
		return agents(ctx, q, begins)
	case "run_mode":
		return runModes(ctx, q, begins)
	case "profile":
		return profiles(ctx, q, begins)
	default:
		takes, _ := settings.DefaultOf(named, q.app.Text)
		return one(takes.Values...)(ctx, q, begins)
	}
}

func tools(_ context.Context, q *question, _ string) iter.Seq[word] {
	return func(yield func(word) bool) {
		for _, t := range q.app.Host.Tools() {
			if !yield(word{t.Info.Name, cli.ToolText(q.app.Printer, t.Info)}) {
				return
			}
		}
	}
}

// commandsBelow are those below the ones that were named.
func commandsBelow(_ context.Context, q *question, _ string) iter.Seq[word] {
	at, rest, err := q.cmd.Root().Find(q.args)
	if err != nil || len(rest) > 0 {
		return none
	}
	return func(yield func(word) bool) {
		for _, c := range at.Commands() {
			if c.IsAvailableCommand() && !yield(word{c.Name(), c.Short}) {
				return
			}
		}
	}
}
