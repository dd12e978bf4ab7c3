package verify

import (
	"context"
	"path"
	"path/filepath"
	"time"

	"pawl/driver/verify/gocache"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/safeopen"
	"pawl/store/disk"
)

// GoCache returns what gives agents a build cache of Go: the parts of a Spec for one kind of the processes (use) of a
// task, or with task "" for one process alone. There are none without a Go.
//
// The compiled standard library is below a layer that lasts until Forget. If the box cannot lay one, the task has a
// copy. Go trusts what it finds in a build cache, so nothing that an agent writes there is read by checks, by proof, or
// for another task. Without a library agents compile what they need; they do not wait for one.
func (h Host) GoCache(box Runner) func(context.Context, effect.Place, string, string) (sandbox.Spec, error) {
	known := &versions{}
	return func(ctx context.Context, place effect.Place, task, use string) (sandbox.Spec, error) {
		program, ok := h.LookPath("go")
		if !ok {
			return sandbox.Spec{}, nil
		}
		library, layered := "", false
		if all := gocache.Generations(h.Std, h.stdKey(program)+"-"); len(all) > 0 {
			library = filepath.Join(all[len(all)-1].Dir, "cache")
			_, layered = known.layers(ctx, box, library)
		}
		s, cache, layer := sandbox.Spec{}, path.Join(sandbox.Home, buildPlace), ""
		if task != "" {
			side := path.Join(agentCaches, shortDigest(place.Tree), shortDigest(task), use)
			if err := makeAgentCache(ctx, place, side, library, layered); err != nil {
				return s, ioError("verify.cache_unusable", place.Workspace, err)
			}
			cache, layer = place.Own(side, "own", "go-build"), place.Own(side, "layer")
			s.Writable = []string{filepath.Dir(cache)}
		}
		if layered {
			s.Shown = []sandbox.Shown{{From: library, At: cache, Layer: layer}}
		}
		s.Env = []string{"GOCACHE=" + cache}
		return s, nil
	}
}

// makeAgentCache makes the directories of a task's build cache, and copies the library where there will be no layer.
func makeAgentCache(ctx context.Context, place effect.Place, side, library string, layered bool) error {
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
	if layered || library == "" {
		return nil
	}
	own, err := root.OpenRoot(path.Join(side, "own"))
	if err != nil {
		return err
	}
	defer own.Close()
	_ = gocache.Copy(ctx, own, library, time.Time{}) // without it the agent compiles what it needs
	return nil
}
