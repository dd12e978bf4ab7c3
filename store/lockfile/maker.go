package lockfile

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Maker names this process in the names of files that it makes and that have no use once it has ended: the part of the
// machine that it sees, its number, and when it began. What comes behind it in a name is set off by a dash.
var Maker = sync.OnceValue(func() string {
	return fmt.Sprintf("of-%s-%d-%s", realm(), os.Getpid(), began(os.Getpid()))
})

// made finds in a name what Maker says.
var made = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`of-([0-9a-f]{8})-([0-9]+)-([0-9]+)(?:-|$)`)
})

// forlorn is the age from which a file belongs to nobody whose maker cannot be asked about: a process of another
// machine or container, or one that left no name.
const forlorn = time.Hour

// Left reports whether a file whose name says who made it belongs to nobody any more: its maker has ended. One that
// does not say so, or says so of a process that cannot be seen from here, belongs to somebody for an hour.
func Left(file fs.FileInfo) bool {
	m := made().FindStringSubmatch(file.Name())
	if m == nil || m[1] != realm() {
		return time.Since(file.ModTime()) > forlorn
	}
	pid, err := strconv.Atoi(m[2])
	return err == nil && (NoProcess(pid) || began(pid) != m[3])
}

// realm stands for where the number of a process means the same process: a host, since it was started, and a
// namespace of processes in it.
var realm = sync.OnceValue(func() string {
	h := fnv.New32a()
	fmt.Fprintln(h, hostname())
	for _, name := range []string{"/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"} {
		link, _ := os.Readlink(name)
		text, _ := os.ReadFile(name) // where there is neither, the host's name has to do
		fmt.Fprintln(h, link, string(text))
	}
	return fmt.Sprintf("%08x", h.Sum32())
})
