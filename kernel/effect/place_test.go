package effect_test

import (
	"testing"

	"pawl/kernel/effect"
)

func TestPlaceAt(t *testing.T) {
	for _, c := range []struct{ workspace, tree, at, want string }{
		{"/a", "/a", "/b", "/b"},
		{"/a", "/a/.pawl/worktrees/T", "/b/c", "/b/c/.pawl/worktrees/T"},
		{"/a", "/ab/x", "/b", "/ab/x"}, // beside it, whatever its name begins with
		{"/a", "/a/x", "/a", "/a/x"},
		{"", "", "/b", ""},
	} {
		p := effect.Place{Workspace: c.workspace, Tree: c.tree, Git: true, InPlace: true}.At(c.at)
		workspace := c.at
		if c.workspace == "" {
			workspace = ""
		}
		if want := (effect.Place{Workspace: workspace, Tree: c.want, Git: true, InPlace: true}); p != want {
			t.Errorf("%s in %s at %s: %+v", c.tree, c.workspace, c.at, p)
		}
	}
}
