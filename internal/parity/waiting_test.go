package parity

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"pawl"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
	"pawl/kernel/view"
	"pawl/machine/board"
)

// TestWhatWaitsIsListedAndAnswered: an unclear requirement, an issue that failed while another one depends on it, and a
// run whose process was killed are in the inbox on the command line, in the API and on the page, and in the status. The
// command that is printed answers each, and so does the form of the page.
func TestWhatWaitsIsListedAndAnswered(t *testing.T) {
	for _, scene := range []struct {
		name, issue, about, command string
		form                        string // the operation on the page, "" for answers
		play                        func(*lab)
		over                        func(*lab) bool
	}{
		{"unclear requirement", "", view.AboutUnclear, "pawl answer", "", func(l *lab) {
			w := twoSteps()
			w.questions = []string{"which flag?"}
			l.do(&planning.Start{Requirement: "add a flag", Agent: "m", Place: place(), RunMode: pawl.Assisted})
			l.run(w)
		}, func(l *lab) bool { return slices.ContainsFunc(l.at().Run.Answers, answered) }},
		{"failed neighbor", "ISS-1", view.AboutFailed, "pawl issue retry ISS-1", "retry", func(l *lab) {
			l.do(&issues.AddIssues{Issues: []issues.NewIssue{{Ref: "a", Title: "in vain"}, {Title: "behind", After: []string{"a"}}}})
			vain := twoSteps()
			vain.failPlan = true
			for range board.MaxPlanFailures {
				l.now = l.now.Add(l.own.Config().LeaseTime)
				one := l.take("ISS-1", true)
				l.k = l.own.Session("ISS-1")
				l.do(&planning.Start{Issue: one.Issue, Token: one.Token, Place: place(), RunMode: pawl.Assisted})
				l.run(vain)
				l.leave(one)
			}
		}, func(l *lab) bool { return l.firstIssue() == "registered" }},
		{"killed process", "", view.AboutInterrupted, "pawl resume", "resume", func(l *lab) {
			l.start(twoSteps(), planning.Start{})
			l.run(twoSteps(), "task running")
		}, nil},
	} {
		for _, way := range []string{"command", "page"} {
			t.Run(scene.name+" by "+way, func(t *testing.T) {
				l := newLab(t, &atlas{states: map[string]map[string]bool{}, looked: map[string]bool{}})
				scene.play(l)
				_, raw := l.path("/inbox")
				in := into[view.Inbox](l, l.object(raw))
				n := slices.IndexFunc(in.Needs, func(n view.Need) bool { return n.Issue == scene.issue })
				if n < 0 || in.Needs[n].About != scene.about || !strings.HasPrefix(in.Needs[n].Next[0].Command, scene.command) {
					t.Fatalf("the inbox is %s", raw)
				}
				text, status := l.printed("inbox"), l.printed("status")
				l.says("pawl inbox", text, word("web.about."+scene.about), scene.command)
				if scene.issue == "" {
					l.says("pawl status", status, scene.command)
				} else {
					l.says("pawl status", status, "pawl inbox")
					l.says("pawl inbox", text, "ISS-2")
				}
				row, ok := l.page("/").part("need-" + scene.issue)
				if !ok {
					t.Fatal("the page Now does not have it")
				}
				l.says("the page Now", row.texts(), word("web.about."+scene.about), scene.command)
				switch way {
				case "command":
					l.typed(text, scene.command)
				case "page":
					l.submit(row, scene.form)
				}
				if scene.over != nil && !scene.over(l) {
					_, raw = l.path("/inbox")
					t.Errorf("it was not answered: %s", raw)
				}
			})
		}
	}
}

func answered(a effect.Answered) bool { return a.Answer == "your answer" }

// firstIssue is the status of the first issue.
func (l *lab) firstIssue() string {
	_, raw := l.path("/issues/ISS-1")
	s, _ := l.object(raw)["status"].(string)
	return s
}

// typed types the line of a text that begins with a command, as it was printed.
func (l *lab) typed(text, command string) {
	l.Helper()
	line := regexp.MustCompile(regexp.QuoteMeta(command) + `( "[^"]*")*`).FindString(text)
	var args []string
	for n, part := range strings.Split(line, `"`) {
		if n%2 == 1 {
			args = append(args, part)
			continue
		}
		args = append(args, strings.Fields(part)...)
	}
	if args[1] != "issue" {
		args = append(args, "--no-wait") // the test is who works
	}
	if status, out, errs := l.line(args[1:]...); status != 0 {
		l.Errorf("%s ends with %d: %s%s", line, status, out, errs)
	}
}

// submit sends the form in a part of a page that has an operation, or answers.
func (l *lab) submit(row said, op string) {
	l.Helper()
	for n := range row.Descendants() {
		if n.Data != "form" {
			continue
		}
		form, action := url.Values{}, ""
		action, _ = attribute(n, "action")
		for field := range n.Descendants() {
			if name, ok := attribute(field, "name"); ok && field.Type == html.ElementNode {
				value, _ := attribute(field, "value")
				switch field.Data {
				case "textarea":
					value = "your answer"
				case "button":
					continue
				}
				form.Add(name, value)
			}
		}
		if form.Get("op") != op {
			continue
		}
		r := httptest.NewRequestWithContext(l.Context(), http.MethodPost, action, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Cookie", l.cookie)
		got := httptest.NewRecorder()
		if l.pages.ServeHTTP(got, r); got.Code != http.StatusSeeOther {
			l.Errorf("%s %v: %d %s", action, form, got.Code, got.Body)
		}
		return
	}
	l.Errorf("there is no form for %q", op)
}

// TestAPlanOfALostWorkerWaits: an issue that asks is listed also if its worker was killed before it released its claim.
func TestAPlanOfALostWorkerWaits(t *testing.T) {
	l := newLab(t, &atlas{states: map[string]map[string]bool{}, looked: map[string]bool{}})
	l.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "one"}}})
	l.planned("ISS-1", twoSteps())
	l.now = l.now.Add(l.own.Config().LeaseTime)
	l.needs()
	_, raw := l.path("/inbox")
	if in := into[view.Inbox](l, l.object(raw)); len(in.Needs) != 1 || in.Needs[0].About != "plan" {
		t.Errorf("the inbox is %s", raw)
	}
}
