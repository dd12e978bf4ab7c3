package settings

import "testing"

// TestCast: who works, who judges and plans where that is another one, and who reviews. An agent that is named by a
// flag does all that no other one is named for.
func TestCast(t *testing.T) {
	for _, c := range []struct{ agent, plan, work, review, works, plans, reviews string }{
		{"", "", "", "", "", "", ""}, {"codex", "", "", "", "codex", "", "codex"},
		{"codex", "claude-code:opus", "", "", "codex", "claude-code", "codex"},
		{"codex", "", "pi", "", "pi", "codex", "pi"}, {"", "", "codex", "", "codex", "script", "codex"},
		{"", "llm", "", "", "", "llm", ""}, {"codex", ":gpt", "", "", "codex", "", "codex"},
		{"codex", "llm:a:b", "llm", "", "llm", "", "llm"}, {"codex", "", "pi", "claude-code:opus", "pi", "codex", "claude-code"},
		{"codex", "", "", "none", "codex", "", "none"}, {"codex", "", "pi", ":gpt", "pi", "codex", "codex"},
	} {
		x := Config{Agent: c.agent, Planner: c.plan, Worker: c.work, Reviewer: c.review}
		if works, plans, reviews := x.Cast(); works != c.works || plans != c.plans || reviews != c.reviews {
			t.Errorf("%+v: %q works, %q plans, %q reviews", c, works, plans, reviews)
		}
		if err := Override("agent", "cline")(&x); err != nil {
			t.Fatal(err)
		}
		want := "cline"
		if c.review != "" && c.review != ":gpt" {
			want = c.reviews
		}
		if works, plans, reviews := x.Cast(); works != "cline" || plans != "" || reviews != want {
			t.Errorf("%+v with a flag: %q works, %q plans, %q reviews", c, works, plans, reviews)
		}
	}
	x := Config{Agent: "codex"}
	for of, model := range map[string]string{"": "", "claude-code:opus": "opus", "llm:qwen:7b": "qwen:7b", ":gpt": "gpt"} {
		if _, got := x.Role(of); got != model {
			t.Errorf("%q: %q", of, got)
		}
	}
}
