// Package cause finds out why a machine gives a command no namespaces of its own, and what mends it. It only reads what
// the kernel tells about itself; the refusal was met before, by who asks.
package cause

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// Kind says what refuses namespaces.
type Kind string

// The kinds. They are append-only.
const (
	// Sysctl is a setting of the kernel; Name and Value are its own.
	Sysctl Kind = "sysctl"
	// Limit is the number of namespaces that a namespace around this one, or this user, may have: it is used up.
	Limit Kind = "limit"
	// AppArmor lets namespaces be made and takes their capabilities away; Name and Value are those of the setting.
	AppArmor Kind = "apparmor"
	// Seccomp is a filter of system calls, most often a container's; Name is the container's kind, or "".
	Seccomp Kind = "seccomp"
	// Unknown is none of these.
	Unknown Kind = "unknown"
)

// Cause is why namespaces are refused.
type Cause struct {
	Kind        Kind
	Name, Value string
}

// Enough is a value of the setting that lets commands have namespaces.
func (c Cause) Enough() string {
	if c.Name == settings[0].name {
		return "10000"
	}
	return "1"
}

// settings that forbid namespaces with a value of 0, and what they are named.
var settings = []struct{ file, name string }{
	{"proc/sys/user/max_user_namespaces", "user.max_user_namespaces"},
	{"proc/sys/kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone"},
}

// apparmor is the setting of Ubuntu 23.10 and later.
var apparmor = struct{ file, name string }{"proc/sys/kernel/apparmor_restrict_unprivileged_userns",
	"kernel.apparmor_restrict_unprivileged_userns"}

// Of finds the cause of a refusal in the files of a machine, whose root is given. root says whether the process is
// root, whom some settings do not bind.
func Of(machine fs.FS, refusal error, root bool) Cause {
	for _, s := range settings {
		if v := read(machine, s.file); v == "0" && (!root || s.name != "kernel.unprivileged_userns_clone") {
			return Cause{Sysctl, s.name, v}
		}
	}
	if errors.Is(refusal, syscall.ENOSPC) || errors.Is(refusal, syscall.EUSERS) {
		return Cause{Limit, settings[0].name, read(machine, settings[0].file)}
	}
	filtered := field(read(machine, "proc/self/status"), "Seccomp") == "2"
	if v := read(machine, apparmor.file); v != "" && v != "0" && !filtered && !root {
		return Cause{AppArmor, apparmor.name, v}
	}
	if filtered {
		return Cause{Seccomp, Container(machine), ""}
	}
	return Cause{Kind: Unknown}
}

// Container names the kind of container that this process is in, "" for none that is known.
func Container(machine fs.FS) string {
	for _, mark := range []struct{ file, kind string }{{".dockerenv", "docker"}, {"run/.containerenv", "podman"},
		{"var/run/secrets/kubernetes.io", "kubernetes"}} {
		if _, err := fs.Stat(machine, mark.file); err == nil {
			return mark.kind
		}
	}
	groups := read(machine, "proc/1/cgroup")
	for _, mark := range []struct{ text, kind string }{{"kubepods", "kubernetes"}, {"docker", "docker"},
		{"libpod", "podman"}, {"lxc", "lxc"}} {
		if strings.Contains(groups, mark.text) {
			return mark.kind
		}
	}
	return ""
}

// read returns a small file without the space around it, "" where it cannot be read.
func read(machine fs.FS, name string) string {
	b, err := fs.ReadFile(machine, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// field returns a line of a list of names and values.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
