package triage

import (
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/machine/workflow"
)

func TestRoutes(t *testing.T) {
	tools := []string{"deploy-helper", "lint", "github/create_issue"}
	n := 0
	for _, e := range examples(t, "route.tsv") {
		if e.text == "-" {
			continue
		}
		n++
		got, err := Decide(e.text, Situation{Tools: tools})
		if err != nil {
			t.Fatal(err)
		}
		name := got.Command + got.Tool
		want := e.form
		switch want {
		case "=":
			want = e.text
		case "-":
			want = ""
		}
		if string(got.Kind) != e.want || e.kind != "-" && name != e.kind || got.Argument != want {
			t.Errorf("route.tsv:%d: %s %q %q (%s), want %s %q %q: %s", e.line, got.Kind, name, got.Argument,
				got.Why.Key, e.want, e.kind, want, e.text)
		}
		if got.At.In(e.text) == "" && got.At != (Span{}) {
			t.Errorf("route.tsv:%d: range %v", e.line, got.At)
		}
	}
	if n < 80 {
		t.Errorf("%d examples", n)
	}
}

func TestRouteByContext(t *testing.T) {
	running := workflow.Initial()
	running.Stage, running.Command = workflow.Design, "~auto"
	tool := running
	tool.ActiveTool, tool.ToolNesting = "linter", 1
	for _, c := range []struct {
		input  string
		now    Situation
		kind   Kind
		layer  Layer
		choice Choice
	}{
		{"yes", Situation{Vars: running, Waiting: true}, KindReply, LayerContext, ChoiceYes},
		{"确认执行", Situation{Vars: running, Waiting: true}, KindReply, LayerContext, ChoiceYes},
		{"以现有需求继续", Situation{Vars: running, Waiting: true}, KindReply, LayerContext, ChoiceAsIs},
		{"go on with what there is", Situation{Vars: running, Waiting: true}, KindReply, LayerContext, ChoiceAsIs},
		{"continue anyway.", Situation{Vars: running, Waiting: true}, KindReply, LayerContext, ChoiceAsIs},
		{"取消", Situation{Vars: running, Waiting: true}, KindReply, LayerContext, ChoiceCancel},
		{"Cancel it!", Situation{Vars: running, Waiting: true}, KindReply, LayerContext, ChoiceCancel},
		{"no", Situation{Vars: running, Waiting: true}, KindReply, LayerContext, ChoiceNo},
		{"only the login page, and at most 5 tries", Situation{Vars: running, Waiting: true}, KindReply, LayerContext,
			ChoiceMore},
		{"取消按钮要放在右边", Situation{Vars: running, Waiting: true}, KindReply, LayerContext, ChoiceMore},
		{"~help", Situation{Vars: running, Waiting: true}, KindCommand, LayerTool, ""},
		{"continue", Situation{Vars: running}, KindContinue, LayerContext, ""},
		{"继续", Situation{Vars: running}, KindContinue, LayerContext, ""},
		{"继续", Situation{Vars: workflow.Initial()}, KindChange, LayerIntent, ""},
		{"why is it slow?", Situation{Vars: running}, KindQuestion, LayerIntent, ""},
		{"add a page", Situation{Vars: running}, KindChange, LayerIntent, ""},
		{"check that file too", Situation{Vars: tool}, KindToolInput, LayerContext, ""},
		{"~auto add a page", Situation{Vars: tool}, KindCommand, LayerTool, ""},
	} {
		got, err := Decide(c.input, c.now)
		if err != nil || got.Kind != c.kind || got.Layer != c.layer || got.Choice != c.choice {
			t.Errorf("%q: %+v %v, want %s %s %s", c.input, got, err, c.layer, c.kind, c.choice)
		}
	}
}

func TestFurtherCommandsAndNearNames(t *testing.T) {
	got, _ := Decide("~plan the export, then ~exec and ~commit it, ~exec", Situation{})
	if got.Command != "~plan" || !slices.Equal(got.Others, []string{"~exec", "~commit"}) {
		t.Errorf("%+v", got)
	}
	for name, want := range map[string]string{"~rolback": "~rollback", "~val": "~validate", "~commmit": "~commit",
		"~xyzzy": ""} {
		got, _ := Decide(name, Situation{})
		if first := strings.Join(got.Near[:min(1, len(got.Near))], ""); got.Kind != KindUnknownCommand ||
			first != want {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
	if got, _ := Decide("/help", Situation{}); !slices.Equal(got.Near[:1], []string{"~help"}) {
		t.Errorf("%+v", got)
	}
}

// Every command of the table is recognised at the beginning, in the middle and at the end, in either script, and
// nowhere in quotes, code, paths and struck text.
func TestEveryCommandEverywhere(t *testing.T) {
	for _, c := range workflow.Commands() {
		for _, form := range []string{"%", "% x", "x % y", "x %", "请%吧", "先 %，再说", "(%)", "do:\n%\nnow", "％"} {
			in := strings.NewReplacer("%", c.Name, "％", "～"+c.Name[1:]).Replace(form)
			if got, _ := Decide(in, Situation{}); got.Kind != KindCommand || got.Command != c.Name {
				t.Errorf("%q: %s %s", in, got.Kind, got.Command)
			}
		}
		for _, form := range []string{"add `%` to it", `fix "%" there`, "fix “%” there", "fix 「%」", "fix x%", "fix %/x",
			"fix ~%~", "fix ~%~~ it", "fix:\n```\n%\n```", "fix 1%", "fix =%", `fix \%`, "fix %=1", "fix '%' now"} {
			in := strings.ReplaceAll(form, "%", c.Name)
			if got, _ := Decide(in, Situation{}); got.Kind == KindCommand {
				t.Errorf("%q gives %s", in, got.Command)
			}
		}
	}
}

func TestUnreadableInput(t *testing.T) {
	for _, in := range []string{"", " \n\t", strings.Repeat("x", MaxText+1), "\xff~auto"} {
		_, err := Decide(in, Situation{})
		_, err2 := Evaluate(in, nil)
		for _, e := range []error{err, err2} {
			if code(e) != pawl.CodeInvalid {
				t.Errorf("%.20q: %v", in, e)
			}
		}
	}
	// A text at the limit that is nothing but marks is answered.
	for _, in := range []string{"~", "`", "'", "~auto ", "“", "rm - ", "never,", "\"", "不要，", "a?", "/x "} {
		in = strings.Repeat(in, MaxText/len(in))
		if _, err := Decide(in, Situation{}); err != nil {
			t.Errorf("%.10q: %v", in, err)
		}
	}
}
