package sqlite

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pawl"
	"pawl/store/lockfile"
)

// ownerFile is the name of the lock in the store's folder.
const ownerFile = "owner.lock"

// OwnerInfo says who carries the work out.
type OwnerInfo struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
	Command string    `json:"command"`
}

// Ownership is the right of one process to carry out the work of a workspace. Other processes may still read and write
// the store; they may not run tasks.
type Ownership struct{ file *os.File }

// Own takes the ownership of the folder dir (.pawl) or fails with code busy, naming the owner's process: at once while
// that is alive, and after some seconds where it is just leaving, or is dead and something of it still holds the lock.
// The right ends with Release, and with the process however it dies: the operating system holds the lock, not the
// file's content. Processes that the owner starts do not inherit it. Keep the Ownership reachable while it is needed: a
// forgotten one is collected, and with it the lock.
func Own(dir string, info OwnerInfo) (*Ownership, error) {
	path := filepath.Join(dir, ownerFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, own(fileFault(err, path))
	}
	got, err := lockfile.TryFile(f)
	for begin := time.Now(); !got && err == nil &&
		time.Since(begin) < grace(path, info.Host); got, err = lockfile.TryFile(f) {
		time.Sleep(2 * time.Millisecond)
	}
	if !got && err == nil {
		got, err = lockfile.TryFile(f) // an owner that goes empties the file first, which shortened the wait
	}
	if err == nil && got {
		err = announce(f, info)
	}
	if err != nil {
		_ = f.Close()
		return nil, own(fileFault(err, path))
	}
	if !got {
		_ = f.Close()
		other, _ := read(path)
		return nil, pawl.Fail(pawl.CodeBusy, "store.owned", other.PID, other.Host, other.Command).In("store.own")
	}
	return &Ownership{file: f}, nil
}

// grace is how long Own waits for a lock that is taken. It may only be held by somebody who asks for the owner (Owner).
// Where nobody is named, the owner is just coming or going. And where the owner has died, a child that it was just
// starting holds the lock that it was born with until it becomes another program.
func grace(path, host string) time.Duration {
	const passing = 5 * time.Second
	other, err := read(path)
	if err != nil || other.Host == host && lockfile.NoProcess(other.PID) {
		return passing
	}
	return 20 * time.Millisecond
}

func own(err error) error {
	var e *pawl.Error
	if errors.As(err, &e) {
		return e.In("store.own")
	}
	return err
}

// announce writes who owns the lock, for people and for Owner; it decides nothing.
func announce(f *os.File, info OwnerInfo) error {
	text, err := json.Marshal(info)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(append(text, '\n'), 0)
	return err
}

// Release gives the ownership up. It may be called more than once.
func (o *Ownership) Release() error {
	if o == nil || o.file == nil {
		return nil
	}
	// The content goes first: an empty file tells readers that nobody is here any more. The file itself stays, because
	// removing it would let two processes lock two files of the same name.
	err := errors.Join(o.file.Truncate(0), o.file.Close())
	o.file = nil
	return err
}

// Owner reports who owns the folder now. It is false when nobody does, whatever the file says. Those who ask share the
// lock for an instant: they do not take each other for the owner, and Own does not take the first no for an answer.
func Owner(dir string) (OwnerInfo, bool) {
	path := filepath.Join(dir, ownerFile)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return OwnerInfo{}, false
	}
	defer f.Close()
	if got, err := lockfile.ShareFile(f); got || err != nil {
		return OwnerInfo{}, false
	}
	info, err := read(path)
	return info, err == nil
}

// read reads the announcement. The owner may be writing it just now, so a few attempts are made.
func read(path string) (OwnerInfo, error) {
	var info OwnerInfo
	var err error
	for range 20 {
		var text []byte
		if text, err = readSome(path); err == nil {
			if err = json.Unmarshal(text, &info); err == nil {
				return info, nil
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return info, err
}

func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 64<<10))
}
