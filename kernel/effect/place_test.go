package effect_test

import (
	"testing"

	"pawl/kernel/effect"
)

func TestPlaceAt(t *testing.T) {
	for name, c := range map[string]struct{ was, now, want effect.Place }{
		"in place": {effect.Place{Workspace: "/a", State: "/s/a", Tree: "/a"}, effect.Place{Workspace: "/b", State: "/s/b"},
			effect.Place{Workspace: "/b", State: "/s/b", Tree: "/b"}},
		"a worktree": {effect.Place{Workspace: "/a", State: "/s/a", Tree: "/s/a/worktrees/T"},
			effect.Place{Workspace: "/b/c", State: "/s/c"},
			effect.Place{Workspace: "/b/c", State: "/s/c", Tree: "/s/c/worktrees/T"}},
		"a worktree of an earlier version": {effect.Place{Workspace: "/a", Tree: "/a/.pawl/worktrees/T"},
			effect.Place{Workspace: "/a", State: "/s/a"},
			effect.Place{Workspace: "/a", State: "/s/a", Tree: "/s/a/worktrees/T"}},
		"a directory beside it": {effect.Place{Workspace: "/a", State: "/s/a", Tree: "/ab/x"},
			effect.Place{Workspace: "/b", State: "/s/b"}, effect.Place{Workspace: "/b", State: "/s/b", Tree: "/ab/x"}},
		"none": {effect.Place{}, effect.Place{Workspace: "/b", State: "/s/b"}, effect.Place{}},
	} {
		if got := c.was.At(c.now); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
