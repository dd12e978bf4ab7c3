package cli_test

import (
	"strings"
	"testing"
)

// The Chinese of the tables stands apart from them; a person sees it in her language, and JSON has both.
func TestTablesInBothLanguages(t *testing.T) {
	var json []string
	for _, l := range []struct{ env, state, title, reason string }{
		{"en_GB.UTF-8", "waiting for its turn", "pending", "all steps are done"},
		{"zh_CN.UTF-8", "等待执行", "待执行", "所有步骤完成"},
	} {
		c := newConsole(t, l.env)
		_, out, _ := c.run("machine", "show", "board.item")
		if !strings.Contains(out, l.state) || !strings.Contains(out, l.title) {
			t.Errorf("%s: the state pending is not explained:\n%s", l.env, out)
		}
		_, out, _ = c.run("machine", "show", "session", "--json")
		json = append(json, out)
		c.must(0, "run", "do the work", "--yes")
		if _, out, _ = c.run("audit", "log"); !strings.Contains(out, l.reason) {
			t.Errorf("%s: the log does not say %q:\n%s", l.env, l.reason, out)
		}
	}
	if json[0] != json[1] {
		t.Errorf("JSON depends on the language:\n%s\n%s", json[0], json[1])
	}
	for _, part := range []string{
		`"title_zh":"规划中"`, `"description_zh":"正在生成 PRD"`, `{"id":"pause","name_zh":"暂停"}`,
		`"event":"USER_CANCEL","description":"the user cancels","description_zh":"用户取消"`,
		`"name":"checkpoint","description":"there is a checkpoint to return to","description_zh":"存在可回滚的检查点"`,
		`"description_zh":"PRD 文档生成完成"`,
	} {
		if !strings.Contains(json[0], part) {
			t.Errorf("JSON lacks %s:\n%s", part, json[0])
		}
	}
	if strings.Contains(json[0], `_zh":""`) {
		t.Errorf("something is not translated:\n%s", json[0])
	}
}
