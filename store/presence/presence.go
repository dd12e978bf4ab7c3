// Package presence says which processes work in a workspace: who owns it, which workers of its board are there, and
// whose turn it is to land. The operating system holds the locks that say so, so a process that dies is gone at once.
package presence

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/store/lockfile"
)

// LandingLock, below .pawl, is locked by whoever has the turn to land.
const LandingLock = "landing.lock"

// workersDir, below .pawl, is where processes that work on issues say that they are there.
const workersDir = "workers"

// Process is this process among those that work on the issues of a workspace. It holds the lock of a file that is named
// after it from the first call of Here until Close, so that the others see at once when it is gone. It is safe for
// concurrent use.
type Process struct {
	dir  string // .pawl
	name func() string

	once sync.Once
	lock *lockfile.Lock
	err  error
	// full while a worker of this process has the turn to land, so that they do not ask the disk for each other
	land chan struct{}
}

// New returns this process as one of those of dir, a .pawl folder. Nobody sees it before Here.
func New(dir string) *Process {
	// The random part tells two processes with the same number apart.
	name := sync.OnceValue(func() string { return fmt.Sprintf("%s/%d/%s", hostname(), os.Getpid(), rand.Text()[:6]) })
	return &Process{dir: dir, name: name, land: make(chan struct{}, 1)}
}

// Name is what the process is called in leases and records.
func (p *Process) Name() string { return p.name() }

// File is the file whose lock says that the process is there.
func (p *Process) File() string { return p.file(p.name()) }

// Here says that the process is there, from the first call on. Its error, which stays, is that of the file system.
func (p *Process) Here() error {
	p.once.Do(func() {
		if p.err = os.MkdirAll(filepath.Join(p.dir, workersDir), 0o700); p.err == nil {
			for _, file := range Left(p.dir) {
				_ = lockfile.Clear(file) // what cannot be removed does no harm
			}
			// Whoever looks whether the process is there holds the lock for a moment.
			p.lock, p.err = lockfile.Wait(context.Background(), p.File(), lockfile.Patience{All: time.Second})
		}
	})
	return p.err
}

// file is where a process says that it is there.
func (p *Process) file(name string) string {
	return filepath.Join(p.dir, workersDir, strings.ReplaceAll(name, "/", "~")+".lock")
}

// named is the form of the names that file gives.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([^~]+)~([0-9]+)~[0-9A-Za-z]{6}\.lock$`)
})

// Left names the files of processes that have ended. Those of another host are looked into when they are older than a
// minute: a younger one may be about to be locked.
func Left(dir string) (out []string) {
	entries, _ := os.ReadDir(filepath.Join(dir, workersDir)) // where there is no folder, nothing is left in it
	for _, e := range entries {
		info, err := e.Info()
		m := named().FindStringSubmatch(e.Name())
		if err != nil || m == nil {
			continue // pawl did not make it
		}
		pid, err := strconv.Atoi(m[2])
		ended := err == nil && m[1] == hostname() && lockfile.NoProcess(pid)
		file := filepath.Join(dir, workersDir, e.Name())
		if (ended || time.Since(info.ModTime()) > time.Minute) && !lockfile.Held(file) {
			out = append(out, file)
		}
	}
	return out
}

// Alive reports whether the process of a worker is known to be there, or may be: nobody here can say that of another
// machine.
func (p *Process) Alive(owner string) bool {
	name := owner
	if strings.Count(owner, "/") == 3 { // a worker of a crew
		name = owner[:strings.LastIndexByte(owner, '/')]
	}
	host, _, ok := strings.Cut(name, "/")
	if !ok || host != hostname() || name == p.name() {
		return true
	}
	return lockfile.Held(p.file(name))
}

// landing is how long the turn to land is waited for: a turn takes as long as the checks of the merged work, so one
// that goes on is waited for long and audibly, and one that is stopped is not.
var landing = lockfile.Patience{Halted: 10 * time.Second, One: 45 * time.Minute, After: 2 * time.Second}

// Turn waits for the turn to land, tells behind whom, and returns what ends the turn. It is CodeBusy where whoever has
// it does not go on, and the error of ctx where that ends first.
func (p *Process) Turn(ctx context.Context, tell func(error)) (func(), error) {
	select {
	case p.land <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	patience := landing
	patience.Tell = func(why *pawl.Error) { tell(pawl.Fail(pawl.CodeBusy, "lock.landing").Because(why)) }
	l, err := lockfile.Wait(ctx, filepath.Join(p.dir, LandingLock), patience)
	if err != nil {
		<-p.land
		if pawl.CodeOf(err) == pawl.CodeBusy {
			err = pawl.Fail(pawl.CodeBusy, "lock.landing_given_up").Because(err)
		}
		return nil, err
	}
	return func() { _ = l.Release(); <-p.land }, nil
}

// Close says that the process is gone. It does not come back with a later Here.
func (p *Process) Close() {
	p.once.Do(func() {}) // nobody comes any more
	if p.lock != nil {
		_ = p.lock.Remove()
	}
}

// Alone reports whether no other process works in the workspace of dir, a .pawl folder.
func Alone(dir string) bool {
	if owner, owned := OwnerOf(dir); owned && owner.PID != os.Getpid() {
		return false
	}
	locks, _ := filepath.Glob(filepath.Join(dir, workersDir, "*.lock")) // a bad pattern finds nothing
	for _, l := range locks {
		if h, held := lockfile.Who(l); held && h.PID != os.Getpid() {
			return false
		}
	}
	return true
}

// Occupied reports whether a process that is there works on the issues of dir, a .pawl folder.
func Occupied(dir string) bool {
	locks, _ := filepath.Glob(filepath.Join(dir, workersDir, "*.lock")) // a bad pattern finds nothing
	for _, l := range locks {
		if lockfile.Held(l) {
			return true
		}
	}
	return false
}
