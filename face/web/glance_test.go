package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/query"
	"pawl/kernel/tasks"
	"pawl/kernel/view"
	"pawl/text/message"
)

// TestBatch: plans of one rule and of low risk are approved together, each by its own digest; one that was answered or
// is of another kind is refused alone.
func TestBatch(t *testing.T) {
	l := newLab(t).enter()
	l.plans(issues.NewIssue{Title: "one", Given: []byte(lowText)}, issues.NewIssue{Title: "two", Given: []byte(lowText)},
		issues.NewIssue{Title: "three", Given: []byte(lowText)}, issues.NewIssue{Title: "grave", Given: []byte(dangerText)})
	chosen := func(d *document) (form url.Values) {
		form = d.form("/batch")
		form.Del("answer")
		for _, n := range d.all("input") {
			if attr(n, "name") == "answer" && attr(n, "type") == "checkbox" {
				form.Add("answer", attr(n, "value"))
			}
		}
		return form
	}
	d := l.get("/").says("3 plans of one rule and of low risk")
	form := chosen(d)
	if len(form["answer"]) != 3 {
		t.Fatal(form)
	}
	waits := func(issue string) bool {
		n, _, err := query.NeedOf(t.Context(), l.k.Session(issue), query.Working{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return n.About == "plan"
	}
	// Somebody else is quicker with the second.
	if _, err := l.k.Session("ISS-2").Do(t.Context(), kernel.Envelope{Actor: "user:bob",
		Command: &approval.Deny{Reason: "not that"}}); err != nil {
		t.Fatal(err)
	}
	d = l.send(http.MethodPost, "/batch", form).want(http.StatusConflict).says("2 approved", "ISS-2", "user:bob", "not that")
	inert(d)
	if waits("ISS-1") || waits("ISS-3") || !waits("ISS-4") {
		t.Error("not what was chosen was approved")
	}
	l.send(http.MethodPost, "/batch", form).want(http.StatusConflict).says("ISS-1", "ISS-3")
	// What is grave is not approved with others, whatever a form says.
	grave := l.get("/decide?issue=ISS-4").form("/decide")
	l.send(http.MethodPost, "/batch", url.Values{"rule": {"allowed"},
		"answer": {grave.Get("nonce") + "." + grave.Get("digest") + ".ISS-4"}}).want(http.StatusConflict)
	if !waits("ISS-4") {
		t.Error("it was approved")
	}
	shown := 0
	for rec, err := range query.Of(l.k).Log().Records(t.Context(), audit.Subject{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(rec.Bytes), string(kernel.AuditApprovalShown)) {
			shown++
		}
	}
	if shown != 4 {
		t.Errorf("%d questions were shown, by the log", shown)
	}
}

// TestWorkers: who works stands there with the claim, and one whose claim has ended is not shown as at work, anywhere.
func TestWorkers(t *testing.T) {
	l := newLab(t).enter()
	l.get("/workers").says("Nobody works")
	l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "one"}, {Title: "two"}}})
	for _, owner := range []string{"far/1/a", "near/2/b"} {
		l.do("runner:x", &issues.ClaimIssue{Owner: owner, Planning: true, Now: l.clock()})
		l.pass(200 * time.Second)
	}
	standings := func() (out []view.Standing) {
		for _, name := range []string{"ISS-1", "ISS-2"} {
			i, err := query.Of(l.k).Board().Issue(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, i.Standing)
		}
		return out
	}
	if got := standings(); !slices.Equal(got, []view.Standing{view.StandingLost, view.StandingWorking}) {
		t.Error(got)
	}
	d := l.get("/workers").says("far/1/a", "worker lost", "near/2/b", "at work", "ended", "unless it is renewed")
	if rows := d.all("tr"); !strings.Contains(textOf(rows[1]), "far/1/a") {
		t.Error("the lost one is not the first")
	}
	l.get("/").says("worker lost")
	l.get("/board").says("worker lost")
}

// TestCosts: each way to list the costs accounts for what the ledger has, also where no answer does.
func TestCosts(t *testing.T) {
	l := newLab(t).enter()
	l.get("/costs").says("Nothing has cost anything yet")
	l.cost = effect.Usage{Requests: 1, InTokens: 1000, OutTokens: 50, MicroUSD: 1_250_000}
	l.told = l.cost
	l.plans(issues.NewIssue{Title: "one", Given: []byte(lowText)})
	l.told = effect.Usage{} // what it says of itself is less than what the ledger has
	l.plans(issues.NewIssue{Title: "two", Given: []byte(lowText)})
	c, err := query.Of(l.k).Ledger().Costs(t.Context(), map[string]kernel.Limit{"day": {MicroUSD: 3_000_000}})
	if err != nil {
		t.Fatal(err)
	}
	sum := func(lines []view.CostLine) (n int64) {
		for _, line := range lines {
			n += line.Spent.MicroUSD
		}
		return n
	}
	agents := int64(0)
	for _, a := range c.Agents {
		agents += a.Spent.MicroUSD
	}
	if want := int64(2_500_000); sum(c.Runs) != want || sum(c.Days) != want || sum(c.Issues) != want || agents != want {
		t.Errorf("runs %d, days %d, issues %d, agents %d: %+v", sum(c.Runs), sum(c.Days), sum(c.Issues), agents, c)
	}
	if len(c.Agents) != 2 || c.Agents[0].Agent != "script" || c.Agents[1].Agent != "" || len(c.Calls) != 1 ||
		c.Days[0].Left != 500_000 {
		t.Errorf("%+v", c)
	}
	d := l.get("/costs").says("$1.25", "$2.50", "script", "not accounted for by an answer", "ISS-1")
	if len(d.all("svg")) == 0 || strings.Contains(d.raw, `class="limit"`) {
		t.Error("there is no plot, or one of a limit that nobody set")
	}
	var b strings.Builder
	if err := costTable(&page{lang: message.English}, "day", "", c.Days).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if want := `<rect class="limit" x="99.40"`; !strings.Contains(b.String(), want) ||
		!strings.Contains(b.String(), `width="83.33" height="8"`) {
		t.Errorf("what is burnt of the day's budget is not drawn: %s", b.String())
	}
}

// TestDependencies: the board as a picture has each linked issue once, behind what it waits for, and a way for each link.
func TestDependencies(t *testing.T) {
	l := newLab(t).enter().fill()
	l.get("/dependencies").says("No issue waits")
	l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "last " + hostile, After: []string{"ISS-1", "ISS-2"}}}})
	l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "end", After: []string{"ISS-4"}}}})
	g, err := query.Of(l.k).Board().Graph(t.Context(), 10)
	if err != nil || len(g.Nodes) != 5 || !slices.Equal(g.Critical, []string{"ISS-1", "ISS-4", "ISS-5"}) ||
		g.Nodes[4].Layer != 2 || g.More {
		t.Errorf("%+v %v", g, err)
	}
	d := l.get("/dependencies").says("Critical path, 3 issues", "1 issue waits for none")
	inert(d)
	ways, boxes := d.all("path"), d.all("rect")
	if len(ways) != 3 || len(boxes) != 4 {
		t.Errorf("%d ways, %d boxes", len(ways), len(boxes))
	}
	if g, err = query.Of(l.k).Board().Graph(t.Context(), 2); err != nil || len(g.Nodes) != 2 || !g.More {
		t.Errorf("%+v %v", g, err)
	}
	many := view.Graph{}
	for n := range maxBoxes + 20 {
		many.Nodes = append(many.Nodes, view.GraphNode{Label: stampOf(int64(n)), Layer: min(n, 1), After: []string{"0"}})
	}
	if got := draw(many); len(got.Boxes) != maxBoxes || got.Left != 20 {
		t.Errorf("%d drawn, %d left", len(got.Boxes), got.Left)
	}
}

// busy adds what the pages show of many at work: plans that wait, links, a claim that ended, costs.
func (l *lab) busy() *lab {
	l.Helper()
	l.cost = effect.Usage{Requests: 1, InTokens: 41_000, OutTokens: 1200, MicroUSD: 312_000}
	l.told = l.cost
	l.plans(issues.NewIssue{Title: "read the greeting first", Given: []byte(lowText)},
		issues.NewIssue{Title: "look at it once more", Given: []byte(lowText)},
		issues.NewIssue{Title: "greet everybody by name", Given: []byte(dangerText)})
	l.cost, l.told = effect.Usage{}, effect.Usage{}
	for _, after := range [][]string{{"ISS-1", "ISS-2"}, {"ISS-7"}, {"ISS-7", "ISS-4"}, {"ISS-9"}} {
		l.do("user:ada", &issues.AddIssues{Issues: []issues.NewIssue{{Title: "what comes behind " + after[0], After: after}}})
	}
	l.do("runner:x", &issues.ClaimIssue{Owner: "far/1/a", Planning: true, Now: l.clock()})
	l.pass(400 * time.Second)
	l.do("runner:x", &issues.ClaimIssue{Owner: "near/2/b", Planning: true, Now: l.clock()})
	return l
}

// TestBusy: the pages of a workspace where much goes on are whole in both languages, and nothing in them is more than text.
func TestBusy(t *testing.T) {
	l := newLab(t).enter().fill().busy()
	for _, lang := range []string{"en", "zh-CN"} {
		l.lang = lang
		for _, path := range []string{"/", "/workers", "/costs", "/dependencies", "/tasks", "/board"} {
			d := l.get(path).want(http.StatusOK)
			inert(d)
			if got := unknown.FindString(d.text()); got != "" {
				t.Errorf("%s in %s: %s", path, lang, got)
			}
			ids := map[string]bool{}
			for _, n := range d.all("*") {
				id := attr(n, "id")
				if id != "" && ids[id] {
					t.Errorf("%s: %s twice", path, id)
				}
				ids[id] = true
			}
		}
	}
}

// TestFindTasks: tasks are found by their words, state and age, and the address says by which.
func TestFindTasks(t *testing.T) {
	l := newLab(t).enter()
	for _, title := range []string{"mend the <parser>", "write a page"} {
		l.do("user:ada", &tasks.CreateTask{Title: title, Place: place})
		l.pass(48 * time.Hour)
	}
	l.enter() // the visit is over by now
	l.get("/tasks").says("mend the", "write a page")
	for query, want := range map[string]string{"q=PARSER+mend": "T-001", "q=%3Cparser%3E": "T-001", "q=t-002": "T-002",
		"age=week&q=page": "T-002", "state=draft&q=parser": "T-001"} {
		d := l.get("/tasks?" + query).want(http.StatusOK)
		if rows := d.all("tr"); len(rows) != 2 || !strings.Contains(textOf(rows[1]), want) {
			t.Errorf("%s: %s", query, d.text())
		}
	}
	for _, none := range []string{"q=nothing", "age=day", "agent=claude", "state=done&q=parser"} {
		l.get("/tasks?" + none).says("There is nothing.")
	}
	d := l.get("/tasks?q=page&age=week")
	for _, a := range d.all("a") {
		if href := attr(a, "href"); strings.HasPrefix(href, "/tasks?") && strings.Contains(href, "state=") &&
			!strings.Contains(href, "q=page") {
			t.Errorf("%s forgets what is sought", href)
		}
	}
}
