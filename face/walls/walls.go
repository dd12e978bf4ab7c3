// Package walls is what holds commands as the settings choose it.
package walls

import (
	"path/filepath"

	"pawl/face/cli/settings"
	"pawl/sandbox"
)

// Fenced reports whether the shell and the checks start nothing without walls of pawl's own.
func Fenced(c settings.Config) bool { return c.Isolation != settings.Outer }

// Of are the options of a Box with these settings, in a workspace where there is one. What the settings name without
// saying from where is meant from there, and left out where there is none.
func Of(c settings.Config, workspace string) sandbox.Options {
	o := sandbox.Options{Limits: sandbox.Limits{Memory: int64(c.Memory) << 20, Processes: c.Processes,
		Disk: int64(c.Disk) << 20, Files: int64(c.Files)}}
	switch c.Isolation {
	case settings.Bubblewrap:
		o.Mechanism = sandbox.MechanismBubblewrap
	case settings.Outer:
		o.Mechanism = sandbox.MechanismOuter
	}
	for _, p := range c.Readable {
		if !filepath.IsAbs(p) {
			if workspace == "" {
				continue
			}
			p = filepath.Join(workspace, p)
		}
		o.Readable = append(o.Readable, filepath.Clean(p))
	}
	return o
}
