package message_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pawl/kernel/composition"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/message"
)

// said are the ids of all that the tables say in English.
func said() []string {
	var out []string
	ask := func(id string) string { out = append(out, id); return "" }
	for _, d := range slices.Concat(session.Describe(), turn.Describe(), workflow.Describe(), task.Describe(),
		board.Describe()) {
		d.Translate(ask)
	}
	for _, c := range workflow.Commands() {
		ask("workflow.class." + string(c.Class))
	}
	for _, c := range composition.Rows() {
		ask("compose." + c.ID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A row without its Chinese, and Chinese whose row is gone or has another id, would be seen only by who reads Chinese.
func TestRulesAreTranslated(t *testing.T) {
	raw, err := os.ReadFile("catalogue/zh-CN/rules.properties")
	if err != nil {
		t.Fatal(err)
	}
	ids := said()
	if len(ids) < 470 {
		t.Errorf("only %d ids found; the scan is broken", len(ids))
	}
	for _, id := range ids {
		text := message.Translation(id)
		chinese := strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
		if !chinese && !strings.HasPrefix(text, "~") { // the name of a command is the same in every language
			t.Errorf("rules.%s is not Chinese: %q", id, text)
		}
	}
	for line := range strings.Lines(string(raw)) {
		key, _, ok := strings.Cut(line, " = ")
		if id, _ := strings.CutPrefix(key, "rules."); ok && !slices.Contains(ids, id) {
			t.Errorf("%s is said by no table", key)
		}
	}
	for _, id := range []string{"", "task", "task.T0", "task.T1 = ", "task.t1"} {
		if got := message.Translation(id); got != "" {
			t.Errorf("%q is translated: %q", id, got)
		}
	}
}
