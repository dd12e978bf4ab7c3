package parity

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/text/message"
)

// alike asks the command line and the API the same, and has both say the same, or both nothing. What they said is the
// answer, nil for nothing.
func (l *lab) alike(path string, words ...string) object {
	l.Helper()
	status, out, errs := l.line(append(words, "--json")...)
	answered, raw := l.path(path)
	if (status == 0) != (answered == http.StatusOK) {
		l.Errorf("pawl %s ends with %d: %s%s\nand %s is answered with %d: %s", strings.Join(words, " "), status, out, errs, path,
			answered, raw)
		return nil
	}
	if status != 0 {
		return nil
	}
	theirs, ours := l.object(out), l.object(raw)
	l.same("pawl "+strings.Join(words, " "), theirs, path, ours)
	return ours
}

// same holds two answers to one another.
func (l *lab) same(a string, one any, b string, other any) {
	l.Helper()
	if !reflect.DeepEqual(one, other) {
		x, _ := json.MarshalIndent(one, "", " ")
		y, _ := json.MarshalIndent(other, "", " ")
		l.Errorf("%s and %s differ:\n%s", a, b, difference(string(x), string(y)))
	}
}

// difference are the lines of two texts that the other one does not have.
func difference(a, b string) string {
	var out strings.Builder
	for _, side := range [][3]string{{"- ", a, b}, {"+ ", b, a}} {
		for l := range strings.Lines(side[1]) {
			if !strings.Contains(side[2], strings.TrimRight(l, ",\n")) {
				out.WriteString(side[0] + l)
			}
		}
	}
	return out.String()
}

// into reads an answer as the view that it is of.
func into[T any](l *lab, from any) (out T) {
	l.Helper()
	raw, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		l.Fatal(err)
	}
	return out
}

// says has a text say everything.
func (l *lab) says(what, text string, wants ...string) {
	l.Helper()
	for _, want := range wants {
		if want != "" && !strings.Contains(text, want) {
			l.Errorf("%s does not say %q:\n%s", what, want, text)
		}
	}
}

// printed is what a command prints for a person.
func (l *lab) printed(words ...string) string {
	l.Helper()
	status, out, errs := l.line(words...)
	if status != 0 {
		l.Errorf("pawl %s ends with %d: %s%s", strings.Join(words, " "), status, out, errs)
	}
	return out
}

// told is an answer of a tool of MCP under a name, nil for a refusal.
func (l *lab) told(tool, name string, args map[string]any) any {
	l.Helper()
	text, refused := l.tool(tool, args)
	if refused {
		if !strings.HasPrefix(text, "not_found") {
			l.Errorf("%s: %s", tool, text)
		}
		return nil
	}
	return l.object(text)[name]
}

// at is an instant as a page has it.
func at(o object, name string) string {
	s, _ := o[name].(string)
	return strings.SplitN(strings.TrimSuffix(s, "Z"), ".", 2)[0]
}

func word(key string, args ...any) string { return message.English.Text(key, args...) }

// status is where the session of the person stands.
func (l *lab) status() {
	l.Helper()
	st := l.alike("/status", "status")
	if st == nil {
		l.Fatal("no status")
	}
	l.same("get_status", l.told("get_status", "status", nil), "/status", st)
	l.standing(into[view.Status](l, st), st, l.page("/").texts(), "", "status")
}

// standing has a page and the command line say where a session stands.
func (l *lab) standing(st view.Status, o object, page, issue string, words ...string) {
	l.Helper()
	l.says("the page of a session", page, string(st.State), at(o, "updated_at"))
	text := l.printed(words...)
	switch {
	case st.Approval != nil, st.Blocked != nil && st.Blocked.Kind == "unproven", st.Last != nil:
	default:
		l.says("pawl status", text, string(st.State))
	}
	if st.Paused {
		l.says("the page of a session", page, word("web.paused"), string(st.PausedBy))
		l.says("pawl status", text, string(st.PausedBy))
	}
	if st.Goal != "" {
		l.says("the page of a session", page, st.Goal)
		l.says("pawl status", text, st.Goal)
	}
	if d := st.Doing; d != nil {
		l.says("the page of a session", page, string(d.Kind), d.Tool)
	}
	if s := st.Step; s != nil && s.Total > 0 {
		l.says("the page of a session", page, fmt.Sprintf("%d/%d", s.Done, s.Total))
		l.says("pawl status", text, fmt.Sprintf("%d / %d", s.Done, s.Total))
	}
	for _, n := range st.Next {
		switch n.Op {
		case "pause", "resume", "stop", "cancel", "skip", "rollback", "fix":
			l.says("the page of a session, of what can be done,", page, n.Command)
		}
		name := n.Command // words in capitals are told in another way
		for _, open := range []string{"FEEDBACK", "REQUIREMENT", "REASON", "-m "} {
			name, _, _ = strings.Cut(name, open)
		}
		l.says("pawl status, of what can be done,", text, strings.TrimSpace(strings.TrimRight(name, "\"")))
	}
}

// plan is what is to be done.
func (l *lab) plan() {
	l.Helper()
	p := l.alike("/plan", "plan", "show")
	told := l.told("get_plan", "plan", nil)
	if (p == nil) != (told == nil) {
		l.Errorf("/plan says %v, and get_plan %v", p, told)
		return
	}
	if p != nil {
		l.same("get_plan", told, "/plan", p)
	}
}

// runs are all of them, and each.
func (l *lab) runs() {
	l.Helper()
	_, out, _ := l.line("log", "--json", "--all")
	_, raw := l.path("/runs?newest=true&limit=500")
	list := l.object(raw)["items"]
	l.same("pawl log", any(l.objects(out)), "/runs", list)
	page, log := l.page("/runs"), l.printed("log", "--all")
	for _, one := range list.([]any) {
		o, r := one.(object), into[view.RunLine](l, one)
		row, ok := page.part("run-" + r.Label)
		if !ok {
			l.Errorf("the page of runs does not have %s", r.Label)
			continue
		}
		state, since := r.State, at(o, "started_at")
		switch {
		case r.Undone:
			state, since = word("web.undone"), at(o, "ended_at")
		case r.Over():
			state, since = r.Outcome, at(o, "ended_at")
		}
		if _, ok := message.English.Format("cli.outcome." + state); ok {
			state = word("cli.outcome." + state)
		}
		text := row.texts()
		l.says("the page of runs", text, r.Label, r.Goal, state, proofOf(r.Outcome, r.Proof), r.Commit, r.Branch, since, money(r.MicroUSD))
		mine := lineOf(log, r.Label)
		l.says("pawl log", mine, r.Goal, r.Branch)
		switch {
		case r.Undone:
			l.says("pawl log", mine, word("cli.status.undone"))
		case r.Over() && r.Outcome == "completed":
			l.says("pawl log", mine, proofOf(r.Outcome, r.Proof))
		case r.Over():
			l.says("pawl log", mine, r.Outcome)
		case r.Proof == effect.Unproven:
			l.says("pawl log", mine, proofOf("", r.Proof))
		default:
			l.says("pawl log", mine, r.State)
		}
		l.run1(r)
	}
}

// run1 is one run as a whole.
func (l *lab) run1(r view.RunLine) {
	l.Helper()
	o := l.alike("/runs/"+r.Label, "show", r.Label)
	if o == nil {
		l.Errorf("%s is listed, and not shown", r.Label)
		return
	}
	w := into[view.Report](l, o)
	verdict := effect.Verdict("")
	if w.Proof != nil {
		verdict = w.Proof.Verdict
	}
	if w.ID != r.ID || w.Outcome != r.Outcome || w.State != "" && w.State != r.State || verdict != r.Proof ||
		r.Commit != "" && w.Branch != r.Branch || (w.State == "") != r.Over() {
		l.Errorf("%s is listed as %+v, and shown as %s %q %q %s %s", r.Label, []any{r.ID, r.Outcome, r.State, r.Proof, r.Branch}, w.ID, w.Outcome, w.State, verdict, w.Branch)
	}
	if sum, _ := l.told("get_summary", "summary", nil).(object); sum["run"] == r.Label {
		for name, said := range sum {
			// What can be done next is told of a run that is over where it is asked what can be done.
			if name != "next" && name != "undo" && !reflect.DeepEqual(said, o[name]) {
				l.Errorf("get_summary says that %s is %v, and /runs/%s that it is %v", name, said, r.Label, o[name])
			}
		}
	}
	page, text := l.page("/run/"+r.Label).texts(), l.printed("show", r.Label)
	cost := ""
	if w.Cost != nil {
		cost = money(w.Cost.Spent.MicroUSD)
	}
	l.says("the page of "+r.Label, page, w.Run, w.Goal, w.State, proofOf(w.Outcome, verdict), w.By, w.Agent, at(o, "started_at"), cost)
	l.says("pawl show "+r.Label, text, w.Run, w.Goal, w.Agent, cost)
	if w.Outcome == "completed" && w.State == "" {
		l.says("pawl show "+r.Label, text, map[effect.Verdict]string{"": word("web.claimed"), effect.Proven: word("cli.proof.proven"),
			effect.AlreadySo: word("cli.proof.already_so"), effect.Accepted: word("cli.proof.accepted", "ada")}[verdict])
	}
	for _, a := range w.Approvals {
		l.says("the page of "+r.Label, page, a.By, a.Hash, word("web.answer."+a.State))
		_, by, _ := strings.Cut(a.By, ":")
		l.says("pawl show "+r.Label, text, by)
	}
}

// proofOf is a verdict in the words of a list.
func proofOf(outcome string, v effect.Verdict) string {
	switch {
	case v != "":
		return word("see.verdict." + string(v))
	case outcome == "completed":
		return word("web.claimed")
	}
	return ""
}

// money is an amount that is worth telling.
func money(micro int64) string {
	if micro == 0 {
		return ""
	}
	return fmt.Sprintf("$%.2f", float64(micro)/1e6)
}

// lineOf is the line of a text that tells of a label.
func lineOf(text, label string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, label+" ") {
			return line
		}
	}
	return ""
}

// tasks are all of them, and each.
func (l *lab) tasks() {
	l.Helper()
	_, out, _ := l.line("task", "list", "--json")
	_, raw := l.path("/tasks?limit=500")
	list := l.object(raw)["items"]
	l.same("pawl task list", any(l.objects(out)), "/tasks", list)
	told := l.told("list_tasks", "tasks", map[string]any{"limit": 100})
	if len(list.([]any)) > 0 {
		l.same("list_tasks", told, "/tasks", list)
	}
	page, text := l.page("/tasks"), l.printed("task", "list")
	for _, one := range list.([]any) {
		line, o := into[view.TaskLine](l, one), one.(object)
		row, ok := page.part("task-" + line.Label)
		if !ok {
			l.Errorf("the page of tasks does not have %s", line.Label)
			continue
		}
		l.says("the page of tasks", row.texts(), line.Label, line.Title, string(line.State), line.Exit, line.Mode, at(o, "updated_at"))
		l.says("pawl task list", lineOf(text, line.Label), string(line.State), line.Title, line.Exit)
		whole := l.alike("/tasks/"+line.Label, "task", "show", line.Label)
		l.same("get_task", l.told("get_task", "task", map[string]any{"task": line.Label}), "/tasks/"+line.Label, any(whole))
		t := into[view.Task](l, whole)
		if t.State != line.State || t.ID != line.ID {
			l.Errorf("%s is listed as %s, and shown as %s", line.Label, line.State, t.State)
		}
		one := l.page("/task/" + line.Label).texts()
		shown := l.printed("task", "show", line.Label, "--long")
		l.says("the page of "+line.Label, one, t.Label, t.Title, string(t.State), string(t.By), t.Mode, t.Exit, t.PlanHash, at(whole, "updated_at"))
		l.says("pawl task show", shown, t.Label, string(t.State), string(t.By), t.Mode, t.Exit, t.PlanHash)
		if t.Proof != nil {
			l.says("the page of "+line.Label, one, word("see.verdict."+string(t.Proof.Verdict)))
		}
		if t.Lease != nil {
			l.says("the page of "+line.Label, one, t.Lease.Owner)
			l.says("pawl task show", shown, t.Lease.Owner)
		}
	}
}

// issues are those of the board, and each with its session.
func (l *lab) issues() {
	l.Helper()
	_, out, _ := l.line("issue", "list", "--all", "--json")
	_, raw := l.path("/issues?limit=500")
	list := l.object(raw)["items"].([]any)
	l.same("pawl issue list", any(l.objects(out)), "/issues", any(list))
	told, _ := l.told("list_issues", "issues", map[string]any{"limit": 100}).([]any)
	if len(told) != len(list) {
		l.Errorf("list_issues has %d, and /issues %d", len(told), len(list))
		return
	}
	for n, one := range list {
		o, i := one.(object), into[view.IssueLine](l, one)
		l.alikeIn("list_issues", told[n].(object), "/issues", o)
		row, ok := l.page("/board?state=" + string(i.Status)).part("issue-" + i.Label)
		if !ok {
			l.Errorf("the board does not have %s", i.Label)
			continue
		}
		standing := ""
		if i.Standing != "" {
			standing = word("web.standing." + string(i.Standing))
		}
		l.says("the board", row.texts(), i.Label, i.Title, string(i.Status), standing, i.Owner, i.Landed, at(o, "updated_at"))
		whole := l.issue1(i.Label)
		l.alikeIn("/issues", o, "/issues/"+i.Label, whole)
		w := into[view.IssueDetail](l, whole)
		page, shown := l.page("/issue/"+i.Label).texts(), l.printed("issue", "show", i.Label)
		l.says("the page of "+i.Label, page, i.Label, i.Title, string(i.Status), standing, i.Owner, i.Landed, at(o, "updated_at"), money(w.MicroUSD))
		l.says("pawl issue show", shown, i.Label, i.Title, string(i.Status), i.Owner, i.Landed, money(w.MicroUSD))
		if i.Standing != "" {
			l.says("pawl issue show", shown, word("issue.standing."+string(i.Standing)))
		}
		for _, label := range append(w.Blocking, w.Needed...) {
			l.says("the page of "+i.Label, page, label)
			l.says("pawl issue show", shown, label)
		}
		if w.Session != "" {
			st := l.alike("/status?issue="+i.Label, "--issue", i.Label, "status")
			l.standing(into[view.Status](l, st), st, page, i.Label, "--issue", i.Label, "status")
		}
	}
}

// issue1 is one issue as a whole, in the programs' words.
func (l *lab) issue1(label string) object {
	l.Helper()
	_, out, _ := l.line("issue", "show", label, "--json")
	_, raw := l.path("/issues/" + label)
	theirs, ours := l.object(out), l.object(raw)
	delete(theirs, "error") // in words, for a person
	l.same("pawl issue show", theirs, "/issues/"+label, ours)
	told, _ := l.told("get_issue", "issue", map[string]any{"issue": label}).(object)
	l.alikeIn("get_issue", told, "/issues/"+label, ours)
	return ours
}

// alikeIn has one answer say what the other one says, wherever both have a name for it.
func (l *lab) alikeIn(a string, one object, b string, other object) {
	l.Helper()
	for _, name := range []string{"id", "label", "title", "status", "standing", "worker", "depends_on", "open_dependencies", "branch",
		"landed", "updated_at", "created_at", "solution_id", "item_id", "retries"} {
		if !reflect.DeepEqual(one[name], other[name]) {
			l.Errorf("%s says of %v that %s is %v, and %s that it is %v", a, other["label"], name, one[name], b, other[name])
		}
	}
}

// inbox is what waits for a person.
func (l *lab) inbox() {
	l.Helper()
	o := l.alike("/inbox", "inbox")
	in, page, text := into[view.Inbox](l, o), l.page("/"), l.printed("inbox")
	for n, need := range in.Needs {
		row, ok := page.part("need-" + need.Issue)
		if !ok {
			l.Errorf("the page Now does not have what waits in %q", need.Issue)
			continue
		}
		about := word("web.about." + need.About)
		if need.About == view.AboutBlocked {
			about = word("cli.blocked_kind." + need.Blocked.Kind)
		}
		risk := ""
		if need.Risk != "" {
			risk = word("web.risk." + string(need.Risk))
		}
		next := ""
		if len(need.Next) > 0 {
			next = need.Next[0].Command
		}
		asks := []string{about, risk, need.Goal, need.Issue, need.By.Name()}
		one := o["needs"].([]any)[n].(object)
		l.says("the page Now", row.texts(), append(asks, need.Digest, at(one, "since"), next)...)
		l.says("pawl inbox", text, asks...)
		l.says("pawl inbox", text, need.Digest[:min(12, len(need.Digest))])
		for _, q := range need.Questions {
			l.says("the page Now", row.texts(), q.Text, string(q.By))
			l.says("pawl inbox", text, q.Text, string(q.By), q.ID)
			if q.ID == "" {
				l.says("pawl inbox", text, "pawl answer")
				continue
			}
			asked, raw := l.path("/questions/" + q.ID)
			told, _ := l.tool("get_answer", map[string]any{"question": q.ID})
			a, b := l.object(raw), l.object(told)
			if asked != http.StatusOK || a["state"] != b["state"] || a["text"] != b["text"] || a["id"] != b["question"] {
				l.Errorf("/questions/%s says %s, and get_answer %s", q.ID, raw, told)
			}
		}
	}
	if n := len(in.Needs); n > 1 || n == 1 && in.Needs[0].Issue != "" {
		l.says("pawl status", l.printed("status"), word("cli.inbox.needs", n)+"  pawl inbox")
	}
}

func has(all []view.Need, issue string) bool {
	for _, n := range all {
		if n.Issue == issue {
			return true
		}
	}
	return false
}

// spent is what work has cost and may cost, and who works.
func (l *lab) spent() {
	l.Helper()
	_, out, _ := l.line("budget", "--json")
	_, raw := l.path("/budgets")
	budgets, _ := l.object(out)["budgets"].([]any)
	l.same("pawl budget", any(append([]any{}, budgets...)), "/budgets", l.object(raw)["items"])
	page, text := l.page("/costs").texts(), l.printed("budget")
	_, costs := l.path("/costs")
	c := into[view.Costs](l, l.object(costs))
	for _, line := range append(append([]view.CostLine{}, c.Runs...), c.Days...) {
		l.says("the page of costs", page, line.Label, money(line.Spent.MicroUSD), money(line.Held.MicroUSD), money(line.Limit))
		l.says("pawl budget", text, line.Label, money(line.Spent.MicroUSD))
	}
	_, raw = l.path("/workers")
	workers := l.page("/workers")
	for _, one := range l.object(raw)["items"].([]any) {
		w := into[view.Claim](l, one)
		row, ok := workers.part("claim-" + w.Issue + w.Task)
		if !ok {
			l.Errorf("the page of workers does not have %v", one)
			continue
		}
		state := "web.standing.working"
		if w.Lost {
			state = "web.standing.lost"
		}
		l.says("the page of workers", row.texts(), w.Owner, w.Issue, w.Task, w.Title, word(state), at(one.(object), "since"))
	}
}
