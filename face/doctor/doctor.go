// Package doctor asks the machine what pawl can do on it: walls, git, disk, tools. It only looks; nothing of a project
// is run, and nothing is changed.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"

	"pawl"
	"pawl/driver/leftover"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/cause"
	"pawl/sandbox/git"
	"pawl/sandbox/git/filter"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/prove"
	"pawl/text/display"
)

// State grades a finding.
type State string

// The grades. Fail means that runs cannot work; Warn, that something will be asked for or is weaker.
const (
	OK   State = "ok"
	Warn State = "warn"
	Fail State = "fail"
)

// Finding is one thing that was looked at. Key and Args name a message of the catalogue.
type Finding struct {
	Name  string
	State State
	Key   string
	Args  []string
	Value string
}

// Examine looks at the machine and at a workspace.
func Examine(ctx context.Context, box *sandbox.Box, place effect.Place) []Finding {
	out := []Finding{{Name: "system", State: OK, Key: "cli.doctor_system", Value: runtime.GOOS + "/" + runtime.GOARCH}}
	found := box.Walls(ctx)
	out = append(out, walls(found)...)
	if found.Any() || found.Outer {
		out = append(out, proved(ctx, box)...)
	}
	if hidden, command := box.Hidden(ctx, place.Workspace); len(hidden) > 0 {
		out = append(out, Finding{Name: "  hidden", State: Warn, Key: "cli.doctor_hidden",
			Args: []string{strings.Join(hidden, ", ")}, Value: command})
	}
	out = append(append(out, repository(ctx, place)), filtered(ctx, place)...)
	return append(append(out, disk(place.Workspace)), leftovers(place)...)
}

// leftovers tells what killed processes left.
func leftovers(place effect.Place) []Finding {
	var bytes int64
	found := leftover.Find(place)
	for _, f := range found {
		bytes += f.Bytes
	}
	if len(found) == 0 {
		return nil
	}
	return []Finding{{Name: "leftovers", State: Warn, Key: "cli.doctor_leftovers",
		Args: []string{strconv.Itoa(len(found)), display.Size(uint64(bytes)), found[0].Relative(place.Workspace)}}}
}

// walls tells which layers hold commands. At least one way to make namespaces and the system call filter must work.
func walls(w sandbox.Walls) []Finding {
	total := Finding{Name: "sandbox", State: OK, Key: "cli.doctor_walls"}
	namespaced := w.Bubblewrap.OK || w.Namespaces.OK
	switch {
	case w.Outer:
		total = Finding{Name: "sandbox", State: Warn, Key: "cli.doctor_outer"}
	case !w.Any():
		total = Finding{Name: "sandbox", State: Fail, Key: "cli.doctor_no_walls"}
	case !namespaced:
		total = Finding{Name: "sandbox", State: Warn, Key: "cli.doctor_floor"}
	}
	out := []Finding{total}
	for _, layer := range []struct {
		name string
		wall sandbox.Wall
	}{{"bubblewrap", w.Bubblewrap}, {"namespaces", w.Namespaces}, {"floor", w.Floor}, {"landlock", w.Landlock},
		{"seccomp", w.Seccomp}, {"cgroup", w.Cgroup}} {
		f := Finding{Name: "  " + layer.name, State: OK, Key: "cli.doctor_layer", Value: layer.wall.Detail}
		if !layer.wall.OK {
			f.State, f.Key = Warn, "cli.doctor_layer_missing"
		}
		out = append(out, f)
	}
	if !w.Namespaces.OK {
		out = append(out, reason(w.Cause)...)
	}
	if w.Outer || !namespaced && w.Any() {
		for _, weak := range sandbox.Weaker(bare(w)) {
			out = append(out, Finding{Name: "  weaker", State: Warn, Key: "sandbox.weak_" + weak})
		}
	}
	return out
}

// proved tells which walls hold when they are tried from inside.
func proved(ctx context.Context, box *sandbox.Box) []Finding {
	proofs, err := prove.All(ctx, box)
	var e *pawl.Error
	if errors.As(err, &e) {
		r := effect.Failed(e)
		return []Finding{{Name: "  tried", State: Fail, Key: r.Key, Args: r.Args}}
	}
	var out []Finding
	for _, p := range proofs {
		f := Finding{Name: "  tried", State: OK, Key: "sandbox.held_" + p.Name}
		if !p.Held {
			f.State, f.Key = Warn, "sandbox.open_"+p.Name
		}
		out = append(out, f)
	}
	return out
}

// reason tells why there are no namespaces, and the one thing that mends it.
func reason(c cause.Cause) []Finding {
	f := Finding{Name: "  cause", State: Warn, Args: []string{c.Name, c.Value, c.Enough()}}
	switch c.Kind {
	case cause.Sysctl:
		f.Key = "sandbox.cause_sysctl"
	case cause.Limit:
		f.Key = "sandbox.cause_limit"
	case cause.AppArmor:
		f.Key, f.Args = "sandbox.cause_apparmor", f.Args[:2]
	case cause.Seccomp:
		f.Key, f.Args = "sandbox.cause_seccomp", []string{cmp.Or(c.Name, "seccomp")}
	case cause.Unknown:
		f.Key, f.Args = "sandbox.cause_unknown", nil
	default: // another operating system
		return nil
	}
	return []Finding{f}
}

// bare are the layers that hold commands without namespaces.
func bare(w sandbox.Walls) []string {
	var out []string
	if w.Outer {
		out = append(out, string(sandbox.MechanismOuter))
	}
	if w.Floor.OK {
		out = append(out, "landlock", "seccomp")
	}
	if w.Cgroup.OK {
		out = append(out, "cgroup")
	}
	return out
}

func repository(ctx context.Context, place effect.Place) Finding {
	if !place.Git {
		return Finding{Name: "git", State: Warn, Key: "cli.doctor_no_git", Value: place.Workspace}
	}
	repo, err := git.Open(ctx, layout.Of(place).Top())
	if err == nil {
		err = repo.Ready(ctx)
	}
	var e *pawl.Error
	if errors.As(err, &e) {
		r := effect.Failed(e)
		return Finding{Name: "git", State: Fail, Key: r.Key, Args: r.Args}
	}
	status, err := repo.Status(ctx)
	if err != nil {
		return Finding{Name: "git", State: Fail, Key: "cli.doctor_git_broken", Value: err.Error()}
	}
	return Finding{Name: "git", State: OK, Key: "cli.doctor_git", Value: status.Branch}
}

// filtered names the tracked files that git sends through filters.
func filtered(ctx context.Context, place effect.Place) []Finding {
	repo, err := git.Open(ctx, layout.Of(place).Top())
	if err != nil {
		return nil // repository tells
	}
	files, err := filter.Files(ctx, repo)
	if err != nil || len(files) == 0 {
		return nil
	}
	return []Finding{{Name: "filters", State: Warn, Key: "cli.doctor_filtered",
		Args: []string{strconv.Itoa(len(files)), display.Line(display.Clip(strings.Join(files, ", "), 300))}}}
}

// lowDisk is the free space below which a run may fail for lack of it.
const lowDisk = 512 << 20

func disk(dir string) Finding {
	f := Finding{Name: "disk", State: OK, Key: "cli.doctor_disk"}
	free, ok := freeSpace(dir)
	switch {
	case !ok:
		f.State, f.Key, f.Value = Warn, "cli.doctor_disk_unknown", dir
	case free < lowDisk:
		f.State, f.Key, f.Value = Warn, "cli.doctor_disk_low", display.Size(free)
	default:
		f.Value = display.Size(free)
	}
	probe, err := os.CreateTemp(dir, ".pawl-probe-*")
	if err != nil {
		return Finding{Name: "disk", State: Fail, Key: "cli.doctor_disk_readonly", Value: dir}
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return f
}
