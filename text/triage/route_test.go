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

// TestRepliesAndTalk says everything that people may say while something waits: what confirms, what revises, and what
// does neither.
func TestRepliesAndTalk(t *testing.T) {
	vars := workflow.Initial()
	vars.Stage, vars.Command = workflow.Design, "~auto"
	waits := []Wait{WaitChoice, WaitChange, WaitWords}
	for _, w := range waits {
		now := Situation{Vars: vars, Waiting: w}
		for kind, inputs := range map[Kind][]string{
			KindReply: {"Go", "GO", "go!", "yes, go", "Go ahead", "go for it", "let's go", "Yes", "OK", "ok, go", "好",
				"好的", "好的，开始", "开始", "开始吧", "开始执行", "确认执行", "确定", "可以", "没问题", "继续", "执行吧"},
			KindQuestion: {"what will this change?", "这个计划会改哪些文件？", "谢谢", "thanks!", "thank you", "你好", "hello",
				"Hi there", "why?", "为什么？", "go?", "可以吗？", "这样行吗?", "is it safe to run this?", "辛苦了"},
			KindCommand: {"~help", "~validate", "~auto add a page"},
			KindControl: {"回滚", "roll back", "undo it", "撤销"},
		} {
			for _, input := range inputs {
				got, err := Decide(input, now)
				if err != nil || got.Kind != kind || kind == KindReply && got.Choice != ChoiceYes {
					t.Errorf("%s: %q is %s %s, want %s (%v)", w, input, got.Kind, got.Choice, kind, err)
				}
			}
		}
		for _, input := range []string{"cancel", "取消", "算了", "stop", "停止"} {
			if got, err := Decide(input, now); err != nil || got.Choice != ChoiceCancel {
				t.Errorf("%s: %q is %s %s (%v)", w, input, got.Kind, got.Choice, err)
			}
		}
		for input, want := range map[string]Choice{"blurb": "", "蓝莓": "", "main.go": ""} {
			if w != WaitChange {
				want = ChoiceMore
			}
			if got, err := Decide(input, now); err != nil || got.Kind != KindReply || got.Choice != want {
				t.Errorf("%s: %q is %s %q (%v)", w, input, got.Kind, got.Choice, err)
			}
		}
		for _, input := range []string{"修改 README 的标题", "use a table instead", "不要动 main.go", "fewer steps",
			"也要改文档", "could you also add a test?", "rename it to parse", "取消按钮要放在右边"} {
			if got, err := Decide(input, now); err != nil || got.Kind != KindReply || got.Choice != ChoiceMore {
				t.Errorf("%s: %q is %s %q (%v)", w, input, got.Kind, got.Choice, err)
			}
		}
	}
	for input, want := range map[string]Control{"取消": ControlCancel, "cancel it": ControlCancel, "停止": ControlStop,
		"stop": ControlStop, "回滚": ControlRollback, "undo": ControlRollback, "跳过": ControlSkip, "skip this task": ControlSkip,
		"add a page": "", "取消按钮要放在右边": "", "undo the last commit of main.go": ""} {
		if got, err := Decide(input, Situation{Vars: vars}); err != nil || got.Control != want {
			t.Errorf("%q: %s %q, want %q (%v)", input, got.Kind, got.Control, want, err)
		}
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
		{"yes", Situation{Vars: running, Waiting: WaitWords}, KindReply, LayerContext, ChoiceYes},
		{"确认执行", Situation{Vars: running, Waiting: WaitWords}, KindReply, LayerContext, ChoiceYes},
		{"以现有需求继续", Situation{Vars: running, Waiting: WaitWords}, KindReply, LayerContext, ChoiceAsIs},
		{"go on with what there is", Situation{Vars: running, Waiting: WaitWords}, KindReply, LayerContext, ChoiceAsIs},
		{"continue anyway.", Situation{Vars: running, Waiting: WaitWords}, KindReply, LayerContext, ChoiceAsIs},
		{"取消", Situation{Vars: running, Waiting: WaitWords}, KindReply, LayerContext, ChoiceCancel},
		{"Cancel it!", Situation{Vars: running, Waiting: WaitWords}, KindReply, LayerContext, ChoiceCancel},
		{"no", Situation{Vars: running, Waiting: WaitWords}, KindReply, LayerContext, ChoiceNo},
		{"only the login page, and at most 5 tries", Situation{Vars: running, Waiting: WaitWords}, KindReply, LayerContext,
			ChoiceMore},
		{"取消按钮要放在右边", Situation{Vars: running, Waiting: WaitWords}, KindReply, LayerContext, ChoiceMore},
		{"~help", Situation{Vars: running, Waiting: WaitWords}, KindCommand, LayerTool, ""},
		{"continue", Situation{Vars: running}, KindContinue, LayerContext, ""},
		{"继续", Situation{Vars: running}, KindContinue, LayerContext, ""},
		{"继续", Situation{Vars: workflow.Initial()}, KindQuestion, LayerContext, ""},
		{"Go", Situation{Vars: workflow.Initial()}, KindQuestion, LayerContext, ""},
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
