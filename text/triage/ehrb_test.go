package triage

import (
	"os"
	"strings"
	"testing"

	"pawl/text/policy"
)

// example is one row of testdata/ehrb.tsv.
type example struct {
	line              int
	want, kind        string
	form, input, text string
}

func examples(t testing.TB, name string) []example {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out []example
	for i, line := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 4 {
			t.Fatalf("%s:%d: %d cells", name, i+1, len(cells))
		}
		text := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(cells[3])
		out = append(out, example{line: i + 1, want: cells[0], kind: cells[1], form: cells[2], input: cells[3],
			text: text})
	}
	return out
}

func (e example) findings() []Finding {
	switch e.form {
	case "text":
		return Detect(e.text)
	case "command":
		return DetectCommand(e.text)
	}
	var out []Finding
	for _, p := range DetectChange(e.form, policy.OpWrite, e.text) {
		out = append(out, p.Finding)
	}
	return out
}

// got is what an example was taken for: its stance, and the first kind with that stance.
func (e example) got() (string, string) {
	stance, kind := "none", "-"
	for _, f := range e.findings() {
		if stance == "none" || stance == "mention" && f.Stance == StanceAction {
			stance, kind = string(f.Stance), string(f.Kind)
		}
	}
	return stance, kind
}

// TestLabelledExamples holds the detection against examples that people labelled. Misses and false alarms are both
// errors, and the counts keep anybody from losing examples.
func TestLabelledExamples(t *testing.T) {
	counts, chinese := map[string]int{}, 0
	missed, alarms := 0, 0
	for _, e := range examples(t, "ehrb.tsv") {
		counts[e.want]++
		if strings.ContainsFunc(e.input, han) {
			chinese++
		}
		stance, kind := e.got()
		kinds := map[string]bool{}
		for _, f := range e.findings() {
			if string(f.Stance) == e.want {
				kinds[string(f.Kind)] = true
			}
		}
		if stance == e.want && (e.kind == "-" || kinds[e.kind]) {
			continue
		}
		switch {
		case e.want == "action" && stance != "action":
			missed++
		case e.want != "action" && stance == "action":
			alarms++
		}
		t.Errorf("ehrb.tsv:%d: %s %s, want %s %s: %s", e.line, stance, kind, e.want, e.kind, e.input)
	}
	if counts["action"] != 170 || counts["mention"] != 70 || counts["none"] != 168 || chinese != 99 {
		t.Errorf("%v examples, %d Chinese", counts, chinese)
	}
	t.Logf("%v; %d missed, %d false alarms", counts, missed, alarms)
}
