package joined

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"pawl/kernel"
	"pawl/kernel/composition"
	"pawl/kernel/effect"
)

// declared are the values of the constants of a type, as the sources of a folder write them.
func declared(t *testing.T, folder, kind string) (out []string) {
	t.Helper()
	files, _ := filepath.Glob(folder + "/*.go")
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:\t|const )\w+ +`+kind+` += "(.+?)"`).FindAllSubmatch(src, -1) {
			out = append(out, string(m[1]))
		}
	}
	return out
}

// TestNothingIsMissing: a step or a kind of effect that the table does not know is found here, and not in the middle of
// somebody's work.
func TestNothingIsMissing(t *testing.T) {
	table := Table()
	steps := declared(t, "..", "Step")
	for _, s := range steps {
		if table.Steps[kernel.Step(s)] == nil {
			t.Errorf("nobody takes the step %s", s)
		}
	}
	// A message to a person is a row of its own, whose receipt package notices takes by its own command.
	kinds := slices.DeleteFunc(declared(t, "../effect", "Kind"), func(k string) bool { return k == string(effect.KindNotice) })
	for _, k := range kinds {
		if table.Effects[effect.Kind(k)].Done == nil {
			t.Errorf("nobody takes the receipt of %s", k)
		}
	}
	if len(steps) != len(table.Steps) || len(kinds) != len(table.Effects) || len(steps) < 10 || len(kinds) < 20 {
		t.Errorf("%d steps and %d kinds, and %d and %d in the table", len(steps), len(kinds), len(table.Steps),
			len(table.Effects))
	}
	for _, c := range composition.Rows() {
		if c.Then != kernel.ThenNothing && table.Steps[c.Then] == nil {
			t.Errorf("%s: nobody takes the step %s", c.ID, c.Then)
		}
	}
}
