package agent

import (
	"strings"
	"testing"

	"pawl/kernel/effect"
)

// TestPackText writes every part of a pack, and the results of the last calls as they are.
func TestPackText(t *testing.T) {
	long := `{"output":"` + strings.Repeat("line\\n", 4000) + `"}`
	got := PackText(effect.ContextPack{
		WorkspaceSummary: "3 files", Constraints: []string{`AGENTS.md says: "Use tabs."`},
		Hits:     []effect.Hit{{Source: "grep", Path: "a.go", Lines: "1-2", Summary: "func a()"}},
		Snippets: []effect.CodeSnippet{{Path: "a.go", StartLine: 1, EndLine: 2, Content: "func a() {\n}\n"}},
		RecentActions: []effect.ToolResult{
			{CallID: "1", Payload: effect.Encode(map[string]string{"result": "old"}),
				Artifacts: effect.Artifacts{FilesChanged: []string{"b.go", "c.go"}}}, {CallID: "2",
				Payload: []byte(long)},
		},
	})
	at := 0
	for _, want := range []string{
		"## Summary of the workspace\n3 files\n", "## Rules of the project\nAGENTS.md says",
		"## Results of the last calls, newest last\n{\"result\":\"old\"}\nfiles changed: b.go, c.go\n", long,
		"## Places that may matter\na.go:1-2 (grep) func a()\n", "## a.go, lines 1-2\nfunc a() {\n}\n",
	} {
		i := strings.Index(got[at:], want)
		if i < 0 {
			t.Fatalf("%.60q does not come next in %.400q", want, got[at:])
		}
		at += i + len(want)
	}
	if PackText(effect.ContextPack{}) != "" {
		t.Error("an empty pack has a text")
	}
}
