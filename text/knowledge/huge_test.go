package knowledge_test

import (
	"strings"
	"testing"

	"pawl/text/knowledge"
)

// Documents that are made to cost much are read and written like others.
func TestHugeDocuments(t *testing.T) {
	for name, unit := range map[string]string{
		"blank": "\n", "days": "## 2026-02-08\n### 新增\n- a\n", "items": "- a **b**: c <!-- pawl:x -->\n",
		"fences": "```\n```\n",
		"marks":  "<!-- pawl:begin x\n", "ticks": "`", "stars": "**", "backslashes": "\\", "cells": "|",
		"brackets": "[](<", "digits": "1",
	} {
		text := strings.Repeat(unit, 120_000/len(unit))
		for _, data := range []string{text, "## 2026-02-08\n- " + text, "<!-- pawl:begin module -->\n- a (1)\n  - " +
			text + "\n<!-- pawl:end module -->\n"} {
			_, _ = knowledge.ReadModule("m", []byte(data))
			_, _ = knowledge.ReadModules([]byte(data))
			if _, err := knowledge.ReadChangelog("c", []byte(data)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			_, _ = knowledge.Log([]byte(data), entry(knowledge.Added, noon, "x", "y"), knowledge.English)
			_, _ = knowledge.Grow([]byte(data),
				[]knowledge.Entry{entry(knowledge.Added, noon.AddDate(1, 0, 0), "x", "y")}, noShards, knowledge.English)
			_, _ = knowledge.UpdateModule("m", []byte(data), knowledge.Module{Name: text, Files: []string{text}},
				knowledge.English)
		}
		_, _ = knowledge.Compose(knowledge.Commit{Type: knowledge.CommitFix,
			English: knowledge.Wording{Summary: "x", Body: text[:60_000]}}, knowledge.English, false)
		_, _, _ = knowledge.ParseCommit("fix: a\n" + text[:60_000])
		_, _, _ = knowledge.ParseCommit(strings.Repeat("fix: a\n---\nx\n", 4000))
	}
}
