package verify

import (
	"context"
	"path"
	"path/filepath"

	"pawl/driver/verify/gocache"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/safeopen"
	"pawl/store/disk"
)

// GoCache returns what gives agents a build cache of Go: the parts of a Spec for one kind of the processes (use) of a
// task, or with task "" for one process alone. On a machine without Go they are empty.
//
// Go trusts what it finds in a build cache. So no check, no proof and no other task reads what an agent writes: the
// compiled standard library is below a layer that lasts until Forget. Without a library, or if the box cannot lay a
// layer, the task has a cache of its own that starts empty.
func (h Host) GoCache(box Runner) func(context.Context, effect.Place, string, string) (sandbox.Spec, error) {
	known := &versions{}
	return func(ctx context.Context, place effect.Place, task, use string) (s sandbox.Spec, err error) {
		program, ok := h.LookPath("go")
		if !ok {
			return s, nil
		}
		shown, layered := sandbox.Shown{At: path.Join(sandbox.Home, buildPlace)}, false
		if all := gocache.Generations(h.Std, h.stdKey(program)+"-"); len(all) > 0 {
			shown.From = filepath.Join(all[len(all)-1].Dir, "cache")
			_, layered = known.layers(ctx, box, shown.From)
		}
		if task != "" {
			side := path.Join(agentCaches, shortDigest(place.Tree), shortDigest(task), use)
			shown.At, shown.Layer = place.Own(side, "own", "go-build"), place.Own(side, "layer")
			if err := makeAgentCache(place, side); err != nil {
				return s, ioError("verify.cache_unusable", place.Workspace, err)
			}
			s.Writable = []string{filepath.Dir(shown.At)}
		}
		if layered {
			s.Shown = []sandbox.Shown{shown}
		}
		if layered || task != "" { // else the process has the empty cache in its home
			s.Env = []string{"GOCACHE=" + shown.At}
		}
		return s, nil
	}
}

// makeAgentCache makes the directories of a task's build cache.
func makeAgentCache(place effect.Place, side string) error {
	root, err := disk.Root(place.Own())
	if err != nil {
		return err
	}
	defer root.Close()
	for _, dir := range []string{"own/go-build", "layer"} {
		if err := safeopen.PlainDirs(root, path.Join(side, dir)); err != nil {
			return err
		}
	}
	return nil
}
