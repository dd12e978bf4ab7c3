package settings

import "testing"

// TestCast: who works, and who judges and plans where that is another one. An agent that is named by a flag does both.
func TestCast(t *testing.T) {
	for _, c := range []struct{ agent, plan, work, works, plans string }{
		{"", "", "", "", ""}, {"codex", "", "", "codex", ""}, {"codex", "claude-code:opus", "", "codex", "claude-code"},
		{"codex", "", "pi", "pi", "codex"}, {"", "", "codex", "codex", "script"}, {"", "llm", "", "", "llm"},
		{"codex", ":gpt", "", "codex", ""}, {"codex", "llm:a:b", "llm", "llm", ""},
	} {
		x := Config{Agent: c.agent, Planner: c.plan, Worker: c.work}
		if works, plans := x.Cast(); works != c.works || plans != c.plans {
			t.Errorf("%+v: %q works, %q plans", c, works, plans)
		}
		if err := Override("agent", "cline")(&x); err != nil {
			t.Fatal(err)
		}
		if works, plans := x.Cast(); works != "cline" || plans != "" {
			t.Errorf("%+v with a flag: %q works, %q plans", c, works, plans)
		}
	}
	x := Config{Agent: "codex"}
	for of, model := range map[string]string{"": "", "claude-code:opus": "opus", "llm:qwen:7b": "qwen:7b", ":gpt": "gpt"} {
		if _, got := x.Role(of); got != model {
			t.Errorf("%q: %q", of, got)
		}
	}
}
