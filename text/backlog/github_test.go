package backlog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pawl/machine/board"
	"pawl/text/backlog"
)

// hub writes an issue as GitHub's API does.
func hub(number int, state, body string, labels ...string) string {
	var l []string
	for _, name := range labels {
		l = append(l, fmt.Sprintf(`{"id":1,"name":%q,"color":"fff"}`, name))
	}
	return fmt.Sprintf(`{"id":9%d,"node_id":"I_","number":%d,"title":"Issue %d","state":%q,"state_reason":null,"body":%q,"labels":[%s],`+
		`"html_url":"https://github.com/Acme/App/issues/%d","url":"https://api.github.com/repos/Acme/App/issues/%d","user":{"login":"ada"},"updated_at":"2026-01-30T10:00:00Z"}`,
		number, number, number, state, body, strings.Join(l, ","), number, number)
}

func TestGitHub(t *testing.T) {
	list := "[" + strings.Join([]string{
		hub(1, "open", "Depends on #2, #3 and GH-4.", "P1", "bug", "priority: low"),
		hub(2, "closed", ""),
		strings.Replace(hub(3, "open", ""), `"user"`, `"pull_request":{"url":"x"},"user"`, 1),
		strings.Replace(hub(4, "closed", ""), `"state_reason":null`, `"state_reason":"not_planned"`, 1),
		hub(5, "open", "被 #1 和 #2 阻塞\nblocked by acme/app#6\nblocked by other/repo#6", "优先级：高", "紧急情况"),
		strings.Replace(hub(6, "open", ""), `"body":""`, `"body":null,"issue_dependencies_summary":{"blocked_by":2}`,
			1),
	}, ",\n") + "]"
	b := read(t, "list.json", list, backlog.Options{})
	sound(t, b)
	if len(b.Issues) != 4 {
		t.Fatalf("%d issues", len(b.Issues))
	}
	one, five := b.Issues[0], b.Issues[2]
	if one.ID != "github:acme/app#1" || one.Ref != "GH-1" || one.Priority != 1 ||
		!slices.Equal(one.Tags, []string{"bug"}) || !slices.Equal(one.DependsOn, []string{"github:acme/app#2"}) {
		t.Errorf("%+v", one)
	}
	if b.Issues[1].Status != board.IssueCompleted || b.Issues[1].URL != "https://github.com/Acme/App/issues/2" {
		t.Errorf("%+v", b.Issues[1])
	}
	if five.Priority != 2 || !slices.Equal(five.Tags, []string{"紧急情况"}) ||
		!slices.Equal(five.DependsOn, []string{"github:acme/app#6", "github:acme/app#1", "github:acme/app#2"}) &&
			!slices.Equal(five.DependsOn, []string{"github:acme/app#1", "github:acme/app#2", "github:acme/app#6"}) {
		t.Errorf("%+v", five)
	}
	want := []string{"backlog.note_foreign", "backlog.note_linked", "backlog.note_not_planned", "backlog.note_pull",
		"backlog.note_pulls", "backlog.note_unplanned"}
	if !slices.Equal(keys(b.Notes), want) {
		t.Errorf("%v", keys(b.Notes))
	}
	named := read(t, "list.json", list, backlog.Options{Repo: "ghe.example.com/new/name"})
	if named.Issues[0].ID != "github:ghe.example.com/new/name#1" ||
		!slices.Equal(named.Issues[0].DependsOn, []string{"github:ghe.example.com/new/name#2"}) {
		t.Errorf("%+v", named.Issues[0])
	}
}

// The command line of GitHub writes other names, and its --paginate writes arrays behind each other.
func TestGitHubCommandLine(t *testing.T) {
	b := read(t, "gh.json", `[{"number":7,"title":"a","body":"depends on #8","state":"OPEN","stateReason":"","labels":[{"name":"P0"}],"url":"https://github.com/acme/app/issues/7","updatedAt":"2026-01-30T10:00:00Z"}][{"number":8,"title":"b","state":"CLOSED","url":"https://github.com/acme/app/issues/8"}]`, backlog.Options{})
	sound(t, b)
	if len(b.Issues) != 2 || b.Issues[0].Priority != 1 || b.Issues[0].UpdatedAt == "" ||
		!slices.Equal(b.Issues[0].DependsOn, []string{"github:acme/app#8"}) ||
		b.Issues[1].Status != board.IssueCompleted {
		t.Errorf("%+v", b.Issues)
	}
}

// Between two pages the list may move, and an issue comes twice: the later state counts, in the first one's place.
func TestPagesMove(t *testing.T) {
	r := backlog.New(backlog.Options{})
	for _, page := range []string{
		"[" + hub(1, "open", "depends on #5") + "," + hub(2, "open", "") + "]",
		"[" + strings.Replace(hub(2, "closed", ""), "T10:", "T11:", 1) + "," +
			strings.Replace(hub(1, "closed", ""), "T10:", "T09:", 1) + "]",
		"[]",
	} {
		if err := r.Add(strings.NewReader(page), "page", backlog.Records); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.Missing(); !slices.Equal(got, []int{5}) {
		t.Fatalf("missing %v", got)
	}
	if err := r.Add(strings.NewReader(hub(5, "closed", "")), "issue", backlog.Records); err != nil ||
		len(r.Missing()) > 0 {
		t.Fatalf("%v, missing %v", err, r.Missing())
	}
	b, err := r.Done()
	if err != nil {
		t.Fatal(err)
	}
	sound(t, b)
	if len(b.Issues) != 3 || b.Issues[0].Status != board.IssueRegistered || b.Issues[1].Status != board.IssueCompleted {
		t.Errorf("%+v", b.Issues)
	}
}

func TestMentions(t *testing.T) {
	for text, want := range map[string]string{
		"Blocked by #2":                                       "2",
		"blocked by: #2 & #3, and #4; not #5":                 "2 3 4",
		"This depends on issue #2 and PR #3.":                 "2 3",
		"**Depends on:** [#2](https://x.test/issues/9)":       "2",
		"Depends on [#2](https://x.test), **#3**":             "2 3",
		"depends on https://github.com/acme/app/issues/2":     "2",
		"依赖 #2、#3 和 #4":                                       "2 3 4",
		"依赖于：#2，#3":                                           "2 3",
		"被 #2 阻塞，也取决于 #3":                                     "3 2",
		"前置任务：#2":                                             "2",
		"Depends on:\n- #2\n- [ ] #3 the rest\n\n- #4\nNo #5": "2 3 4",
		"## 依赖\n\n1. #2\n2. GH-3\n\nText\n- #4":               "2 3",
		"does not depend on #2":                               "",
		"is no longer blocked by #2":                          "",
		"不再依赖 #2，不依赖 #3":                                      "",
		"unblocked by #2, see #3, fixes #4":                   "",
		"`depends on #2`":                                     "",
		"> depends on #2":                                     "",
		"~~depends on #2~~":                                   "",
		"<!-- depends on #2\n-->depends on #3":                "3",
		"```\ndepends on #2\n```\ndepends on #3":              "3",
		"<!--\ndepends on #2\n\n--> depends on #3":            "3",
		"depends on #two":                                     "",
		"depends on nothing":                                  "",
		"depends on #0 and #99999999999999999999":             "",
		"depends on #2\r\nblocked by #2":                      "2",
	} {
		list := "[" + hub(1, "open", text)
		for n := 2; n < 10; n++ {
			list += "," + hub(n, "open", "")
		}
		var got []string
		for _, id := range read(t, "x.json", list+"]", backlog.Options{}).Issues[0].DependsOn {
			got = append(got, id[strings.LastIndexByte(id, '#')+1:])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
}

func TestPriorities(t *testing.T) {
	for label, want := range map[string]int{
		"P0": 1, "p1": 1, "P5": 5, "P6": 0, "p-2": 2, "priority: critical": 1, "priority/high": 2, "Priority-3": 3,
		"prio=low": 4, "severity: trivial": 5,
		"high priority": 2, "low-prio": 4, "urgent": 1, "blocker": 1, "紧急": 1, "优先级：高": 2, "优先级/低": 4, "高优先级": 2,
		"中": 3, "最低优先级": 5,
		"3": 0, "highlight": 0, "priority": 0, "priority: soon": 0, "blocked": 0, "high medium": 0, "": 0, " ": 0,
	} {
		b := read(t, "x.json", hub(1, "open", "", label), backlog.Options{})
		i := b.Issues[0]
		switch {
		case want == 0 && (i.Priority != backlog.DefaultPriority || strings.TrimSpace(label) != "" && len(i.Tags) != 1):
			t.Errorf("%q: %d, %q; it is a tag", label, i.Priority, i.Tags)
		case want > 0 && (i.Priority != want || len(i.Tags) > 0):
			t.Errorf("%q: %d, %q; want %d", label, i.Priority, i.Tags, want)
		}
	}
}
