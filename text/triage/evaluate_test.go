package triage

import (
	"slices"
	"strings"
	"testing"

	"pawl/text/message"
)

func TestScores(t *testing.T) {
	for _, e := range examples(t, "score.tsv") {
		got, err := Evaluate(e.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Check(Merge(e.text, nil)); err != nil {
			t.Errorf("score.tsv:%d: %v", e.line, err)
		}
		path, _ := got.Path()
		points := []int{}
		for _, d := range got.Dimensions {
			points = append(points, d.Points)
		}
		if got.Ready() != (e.want == "clear") || e.kind != "-" && string(path) != e.kind || e.form != "-" &&
			string(got.Class) != e.form && e.want == "clear" {
			t.Errorf("score.tsv:%d: %v %s %s %+v, want %s %s %s: %s", e.line, points, path, got.Class, got.Factors,
				e.want, e.kind, e.form, e.text)
		}
	}
}

// A round of questions and answers ends: who answers what is asked gets a clear requirement.
func TestAnswersMakeItClear(t *testing.T) {
	reply := map[Aspect][2]string{
		Goal:     {"The page shall list all orders of the last 30 days with their state", "页面要列出最近 30 天的所有订单和状态"},
		Criteria: {"It shows the orders within 2 seconds and the tests pass", "两秒内显示订单，测试通过"},
		Scope:    {"only the orders page", "只改订单页面"},
		Limits:   {"none", "无"},
	}
	for _, e := range examples(t, "score.tsv") {
		for lang := range 2 {
			var answers []Answer
			rounds := 0
			for ; rounds < 3; rounds++ {
				got, err := Evaluate(e.text, answers)
				if err != nil {
					t.Fatal(err)
				}
				if got.Ready() {
					if len(got.Questions) != 0 {
						t.Fatalf("%s: questions although it is clear", e.text)
					}
					break
				}
				for _, q := range got.Questions {
					answers = append(answers, Answer{q.About, reply[q.About][lang]})
				}
			}
			if rounds > 1 {
				t.Errorf("%s: %d rounds", e.text, rounds)
			}
		}
	}
}

func TestAnswersThatLeaveItOpen(t *testing.T) {
	for _, say := range []string{"", "  ", "I don't know", "whatever", "随便", "不知道", "?", "…"} {
		got, _ := Evaluate("add dark mode", []Answer{{Criteria, say}})
		if got.Points(Criteria) != 0 || got.Ready() {
			t.Errorf("%q: %+v", say, got.Dimensions)
		}
	}
	got, _ := Evaluate("make it better", []Answer{{Limits, "没有"}})
	if got.Points(Limits) != 2 {
		t.Errorf("%+v", got.Dimensions)
	}
	// An answer never lowers a score, and words of the question are no evidence.
	before, _ := Evaluate("Fix the crash in parser.go when the input is empty", nil)
	after, _ := Evaluate("Fix the crash in parser.go when the input is empty",
		[]Answer{{Scope, "x"}, {Criteria, "no idea"}, {Goal, "abc"}})
	if after.Score < before.Score {
		t.Errorf("%d after %d", after.Score, before.Score)
	}
}

// The weakest dimensions are asked about first, and every question is a message of the catalogue in both languages.
func TestQuestions(t *testing.T) {
	for text, want := range map[string][]Aspect{
		"add dark mode":            {Criteria, Scope},
		"优化一下":                     {Criteria, Scope, Goal},
		"it does not work":         {Scope, Criteria, Goal},
		"Refactor the auth module": {Criteria},
	} {
		got, _ := Evaluate(text, nil)
		var about []Aspect
		for _, q := range got.Questions {
			about = append(about, q.About)
			args := make([]any, len(q.Args))
			for i, a := range q.Args {
				args[i] = a
			}
			for _, lang := range []message.Lang{message.English, message.Chinese} {
				if s := lang.Text(q.Key, args...); strings.Contains(s, "triage.") || strings.Contains(s, "%!") {
					t.Errorf("%s: %s", text, s)
				}
			}
		}
		if len(about) < len(want) || !slices.Equal(about[:len(want)], want) {
			t.Errorf("%s: %v, want %v: %+v", text, about, want, got.Dimensions)
		}
	}
	for _, key := range askKeys() {
		if _, ok := message.Lookup(key); !ok {
			t.Errorf("no message %s", key)
		}
	}
	for _, k := range Kinds() {
		if _, ok := message.Lookup("triage.kind_" + string(k)); !ok {
			t.Errorf("no message for %s", k)
		}
	}
}

// A long text is judged by its beginning, but nothing dangerous in it is missed.
func TestLongRequirement(t *testing.T) {
	long := "Fix the crash in parser.go when the input is empty.\n" +
		strings.Repeat("This is a line of a log.\n", 2000) + "Then drop the users table."
	got, err := Evaluate(long, nil)
	if err != nil || !got.Ready() || !got.Dangerous() || got.Check(Merge(long, nil)) != nil {
		t.Errorf("%v %d %v", err, got.Score, got.HighRisk)
	}
}
