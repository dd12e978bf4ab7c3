package lockfile

import (
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"strconv"
	"sync"
)

// Maker names this process in the names of files that it makes and that have no use once it has ended: the part of the
// machine that it sees, its number, and when it began. What comes behind it in a name is set off by a dash.
var Maker = sync.OnceValue(func() string {
	return fmt.Sprintf("of-%s%s%s-%d-%s", realm()[0], realm()[1], realm()[2], os.Getpid(), began(os.Getpid()))
})

// made finds in a name what Maker says.
var made = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`of-([0-9a-f]{8})([0-9a-f]{8})([0-9a-f]{8})-([0-9]+)-([0-9]+)(?:-|$)`)
})

// Left reports whether a file or directory is a leftover: its name says who made it, and that process has certainly
// ended. It never decides by age. A name that says nothing is not pawl's. A process of another host or container cannot
// be seen from here, so what it made stays, unless that was before this host was started.
func Left(name string) bool {
	m, here := made().FindStringSubmatch(name), realm()
	if m == nil || m[1] != here[0] {
		return false
	}
	if m[2] != here[1] {
		return true
	}
	pid, err := strconv.Atoi(m[4])
	return err == nil && m[3] == here[2] && (NoProcess(pid) || began(pid) != m[5])
}

// realm stands for where the number of a process means the same process: a host, its start, and a namespace of
// processes in it.
var realm = sync.OnceValue(func() (out [3]string) {
	id, _ := os.ReadFile("/etc/machine-id") // where there is none, the host's name has to do
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	processes, _ := os.Readlink("/proc/self/ns/pid")
	for n, text := range []string{hostname() + string(id), string(boot), processes} {
		h := fnv.New32a()
		fmt.Fprint(h, text)
		out[n] = fmt.Sprintf("%08x", h.Sum32())
	}
	return out
})
