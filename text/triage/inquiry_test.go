package triage

import "testing"

func TestInquire(t *testing.T) {
	for input, want := range map[string]Topic{
		"who approved it?": TopicApproval, "Who approved this": TopicApproval, "on whose word": TopicApproval,
		"谁批准的？": TopicApproval, "这是谁批准的": TopicApproval,
		"what was proven?": TopicProof, "did the tests pass?": TopicProof, "how was it verified?": TopicProof,
		"验证了什么？": TopicProof, "测试通过了吗": TopicProof,
		"why did it fail?": TopicFailure, "what went wrong?": TopicFailure, "why is it blocked?": TopicFailure,
		"为什么失败了？": TopicFailure, "哪里出错了": TopicFailure,
		"what did it cost?": TopicCost, "How much did it cost so far?": TopicCost, "花了多少钱？": TopicCost,
		"how do I undo it?": TopicUndo, "how can i revert this": TopicUndo, "怎么撤销？": TopicUndo,
		"show me the diff": TopicChange, "what changed?": TopicChange, "改了什么？": TopicChange, "显示差异": TopicChange,
		"show the log": TopicLog, "看看日志": TopicLog, "show the output": TopicOutput, "显示输出": TopicOutput,
		"what happened?": TopicReport, "发生了什么？": TopicReport, "what's going on?": TopicStatus,
		"what is going on?": TopicStatus, "进展如何？": TopicStatus,
		"help": TopicHelp, "Help!": TopicHelp, "帮助": TopicHelp, "pause": TopicPause, "暂停": TopicPause,
		"  PAUSE  ": TopicPause,
	} {
		if got, ok := Inquire(input); !ok || got != want {
			t.Errorf("%q: %q %v, want %q", input, got, ok, want)
		}
	}
	for _, input := range []string{
		"", "show the log in the sidebar", "add a help command", "pause the video when it ends",
		"fix what changed in main.go", "why did the login fail for users? fix it",
		"help me add a Sub function", "undo the last migration", "who approved it should be stored in the table",
		"显示日志页面", "添加帮助命令", "撤销按钮怎么做", "make the checks pass", "y",
	} {
		if got, ok := Inquire(input); ok {
			t.Errorf("%q is taken for %q", input, got)
		}
	}
}
