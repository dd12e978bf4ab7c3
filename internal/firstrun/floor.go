package firstrun

import (
	"fmt"
	"slices"
	"strings"
)

// Floor is a machine that forbids something, as far as a process can make one for its children.
type Floor struct {
	// Name is the names of its parts, joined by "+", or "none".
	Name  string
	parts []string
}

// floors are the parts, and what they stand for.
var floors = []struct{ name, says string }{
	{noUserns, "user.max_user_namespaces is 0 in an outer user namespace, as on hardened hosts and CI runners: no user namespace can be made (ENOSPC)"},
	{docker, "Docker's default seccomp filter, and its capabilities for root: unshare, setns, mount, pivot_root and clone with CLONE_NEW* fail with EPERM, clone3 with ENOSYS"},
	{apparmor, "as under AppArmor's restriction of Ubuntu 24.04: user namespaces can be made, but hold no capabilities that mount, change the host's name or raise an interface (EACCES, EPERM)"},
	{noLandlock, "a kernel that was started without Landlock (EOPNOTSUPP)"},
}

// The names of the parts.
const (
	noUserns   = "no-userns"
	docker     = "docker"
	apparmor   = "apparmor"
	noLandlock = "no-landlock"
)

// Floors lists the names of the parts with what they stand for, one a line.
func Floors() string {
	var b strings.Builder
	for _, f := range floors {
		fmt.Fprintf(&b, "%-12s %s\n", f.name, f.says)
	}
	return b.String()
}

// ParseFloor reads the name of a floor: none, or parts joined by "+".
func ParseFloor(name string) (Floor, error) {
	f := Floor{Name: name}
	if name == "none" {
		return f, nil
	}
	for part := range strings.SplitSeq(name, "+") {
		if !slices.ContainsFunc(floors, func(k struct{ name, says string }) bool { return k.name == part }) {
			return f, fmt.Errorf("there is no floor %q; there are none and, joined by +:\n%s", part, Floors())
		}
		f.parts = append(f.parts, part)
	}
	return f, nil
}

func (f Floor) has(part string) bool { return slices.Contains(f.parts, part) }
