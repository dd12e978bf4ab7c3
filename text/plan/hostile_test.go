package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pawl/internal/spent"
)

// TestHostileInputIsRefusedQuickly feeds the largest inputs of the shapes that cost most. The bound, on the time
// of the processor, is generous: what it catches is work that grows with the square of the input.
func TestHostileInputIsRefusedQuickly(t *testing.T) {
	if testing.Short() {
		t.Skip("reads megabytes")
	}
	many := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	step := func(i int) string {
		return fmt.Sprintf("{step_id: s%d, title: t, intent: i, depends_on: [x%d, y%d]},\n", i, i, i)
	}
	criterion := func(i int) string { return fmt.Sprintf("{id: c%d, text: t, proof: gone, texts: [x]},\n", i) }
	named := func(i int) string { return fmt.Sprintf("../%d,", i) }
	start := spent.Processor()
	for name, in := range map[string]string{
		"nested flow":  strings.Repeat("[", MaxBytes),
		"nested block": strings.Repeat("- ", MaxBytes/2),
		"list":         `{"goal":[` + strings.Repeat("1,", MaxBytes/2-20) + "1]}",
		"same name":    "{" + strings.Repeat(`"a":1,`, 190_000) + `"a":1}`,
		"steps":        "goal: g\nsteps: [" + many(25_000, step) + "]",
		"criteria":     "goal: g\nsteps: [" + step(0) + "]\ncriteria: [" + many(5_000, criterion) + "]",
		"paths": "goal: g\nsteps: [" + step(0) + "]\ncriteria: [{id: c, text: t, proof: gone, paths: [" +
			many(50_000, named) + "]}]",
		"a path": "goal: g\nsteps: [" + step(0) + "]\ncriteria: [{id: c, text: t, proof: gone, paths: [" +
			strings.Repeat("..a/", MaxBytes/8) + "..]}]",
		"3001 steps": "goal: g\nsteps: [" + many(maxSteps+1, step) + "]",
	} {
		if _, _, err := Decode("p", []byte(in)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	p, _, err := Decode("p", []byte("goal: g\nsteps: ["+many(maxSteps, step)+"]"))
	if err != nil {
		t.Fatal(err)
	}
	if Check(p, nil, Limits{}) == nil {
		t.Error("3000 steps that depend on nothing known were accepted")
	}
	base := sample()
	text := RenderPRD(base, English())
	for name, in := range map[string]string{
		"tasks":    strings.Replace(text, "## 4.", strings.Repeat("- [ ] x\n", 200_000)+"## 4.", 1),
		"criteria": strings.Replace(text, "- `c2`", strings.Repeat("- [kept] x\n", 50_000)+"- `c2`", 1),
		"entries":  strings.Replace(text, "- `c2`", strings.Repeat("- Text: x\n", 50_000)+"- `c2`", 1),
		"fences":   text + strings.Repeat("```\n````\n", 200_000),
		"lines":    text + strings.Repeat("- \n", 500_000),
	} {
		if _, _, err := ParsePRD(in, base); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if took := spent.Processor() - start; took > 30*time.Second {
		t.Errorf("took %s", took)
	}
}
