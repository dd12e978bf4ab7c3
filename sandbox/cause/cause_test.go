package cause

import (
	"fmt"
	"syscall"
	"testing"
	"testing/fstest"
)

// machine is one with files of these contents.
func machine(files ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i+1 < len(files); i += 2 {
		out[files[i]] = &fstest.MapFile{Data: []byte(files[i+1] + "\n")}
	}
	return out
}

func TestEachCauseIsToldApart(t *testing.T) {
	const limit, clone, apparmor, status = "proc/sys/user/max_user_namespaces",
		"proc/sys/kernel/unprivileged_userns_clone", "proc/sys/kernel/apparmor_restrict_unprivileged_userns",
		"proc/self/status"
	for _, c := range []struct {
		name    string
		files   fstest.MapFS
		refusal error
		root    bool
		want    Cause
	}{
		{"no namespaces at all", machine(limit, "0"), syscall.ENOSPC, true,
			Cause{Sysctl, "user.max_user_namespaces", "0"}},
		{"Debian's setting", machine(limit, "9", clone, "0"), syscall.EPERM, false,
			Cause{Sysctl, "kernel.unprivileged_userns_clone", "0"}},
		{"which does not bind root", machine(limit, "9", clone, "0"), syscall.EPERM, true, Cause{Kind: Unknown}},
		{"a namespace around", machine(limit, "9"), fmt.Errorf("fork: %w", syscall.ENOSPC), true,
			Cause{Limit, "user.max_user_namespaces", "9"}},
		{"Ubuntu", machine(limit, "9", apparmor, "1", status, "Name:\tx\nSeccomp:\t0"), syscall.EPERM, false,
			Cause{AppArmor, "kernel.apparmor_restrict_unprivileged_userns", "1"}},
		{"Ubuntu, switched off", machine(limit, "9", apparmor, "0", status, "Seccomp:\t0"), syscall.EPERM, false,
			Cause{Kind: Unknown}},
		{"a container on Ubuntu", machine(limit, "9", apparmor, "1", status, "Seccomp:\t2", ".dockerenv", ""),
			syscall.EPERM, false, Cause{Seccomp, "docker", ""}},
		{"a pod", machine(limit, "9", status, "Seccomp:\t2", "proc/1/cgroup", "0::/kubepods/x"), syscall.EPERM, true,
			Cause{Seccomp, "kubernetes", ""}},
		{"a filter of nobody known", machine(limit, "9", status, "Seccomp:\t2"), syscall.EPERM, false,
			Cause{Seccomp, "", ""}},
		{"nothing is known", machine(), syscall.EPERM, false, Cause{Kind: Unknown}},
	} {
		if got := Of(c.files, c.refusal, c.root); got != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
