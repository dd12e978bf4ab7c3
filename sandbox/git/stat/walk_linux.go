package stat

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"pawl/sandbox/git/object"
)

// Bounds of what a table holds, and of what it hashes at once. Git, which sees the same files, is no slower beyond
// them.
const (
	mostFiles   = 100_000
	mostHashed  = 256
	bytesHashed = 16 << 20
)

// grain is how far a file's time may lag behind the clock of its file system: four ticks of the slowest usual one, of
// 100 in a second. A time without fractions is believed to be from a file system with coarse ones.
const (
	grain       = 40 * time.Millisecond
	coarse      = int64(10 * time.Millisecond)
	coarseGrain = 3 * time.Second
)

// reliable are the file systems whose times of change can be relied on.
var reliable = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC,
	unix.BTRFS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC}

// Reliable reports whether the file system of a path keeps a time of change that can be relied on.
func Reliable(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && slices.Contains(reliable, int64(st.Type)) //nolint:unconvert // or 32 bits
}

// Stamp identifies a version of a file. The zero stamp is that of a file that is not there.
type Stamp struct {
	dev, ino     uint64
	mode         uint32
	size         int64
	mtime, ctime int64
}

func stampFrom(st *unix.Stat_t) Stamp {
	//nolint:unconvert // 32 bits on some systems
	return Stamp{uint64(st.Dev), st.Ino, st.Mode, st.Size, st.Mtim.Nano(), st.Ctim.Nano()}
}

// Indexed is how the file system describes a file, in the words in which git keeps that in an index: the time of the
// last change and that of the last writing, each in seconds and nanoseconds, the device and number, and behind the mode
// the user, the group and the size.
func Indexed(path string) (before [6]uint32, after [3]uint32, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return before, after, err
	}
	before = [6]uint32{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec), uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec),
		uint32(st.Dev), uint32(st.Ino)}
	return before, [3]uint32{st.Uid, st.Gid, uint32(st.Size)}, nil
}

// StampFile is the stamp of a file, through links.
func StampFile(path string) Stamp {
	var st unix.Stat_t
	if path == "" || unix.Stat(path, &st) != nil {
		return Stamp{}
	}
	return stampFrom(&st)
}

// Settled reports whether a change from the moment now on must show in the stamp.
func (s Stamp) Settled(now time.Time) bool {
	lag := grain
	if s.ctime%coarse == 0 {
		lag = coarseGrain
	}
	return now.Sub(time.Unix(0, s.ctime)) > lag
}

func (s Stamp) is(format uint32) bool { return s.mode&unix.S_IFMT == format }

// look is one walk over a tree.
type look struct {
	now    time.Time
	dev    uint64
	format string

	// For the first walk: what was recorded, what was ignored, and the folders in which something was recorded.
	contents map[string]object.Node
	ignored  map[string]bool
	holding  map[string]bool

	// For those that follow. Doubt are the files of which git's own memory, which knows whole seconds and its own last
	// look, may be wrong, with what is recorded of them.
	lost    bool
	changed []Change
	doubt   []File
	hashed  int
	bytes   int64
}

// Change is a file whose content or mode is not what was recorded.
type Change struct {
	path    string
	entry   *entry
	node    object.Node
	content []byte
}

func (f *folder) at(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "/" + name
}

func openFolder(at int, name string) (int, error) {
	return unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

func stampAt(fd int, name string) (Stamp, bool) {
	var st unix.Stat_t
	if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return Stamp{}, false
	}
	return stampFrom(&st), true
}

func stampOpen(fd int) (Stamp, bool) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return Stamp{}, false
	}
	return stampFrom(&st), true
}

// names lists a folder, in order, without what is never looked at.
func (f *folder) names(fd int) ([]string, bool) {
	again, err := openFolder(fd, ".")
	if err != nil {
		return nil, false
	}
	d := os.NewFile(uintptr(again), f.path)
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if f.path == "" {
		names = slices.DeleteFunc(names, func(n string) bool { return n == ".git" || n == ".pawl" })
	}
	slices.Sort(names)
	return names, err == nil
}

// first fills the table of a tree.
func (l *look) first(tree string, root *folder) bool {
	fd, err := openFolder(unix.AT_FDCWD, tree)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	s, ok := stampOpen(fd)
	l.dev = s.dev
	return ok && l.fill(fd, root)
}

// fill makes the entries of a folder. It fails where the folder is not what git saw.
func (l *look) fill(fd int, f *folder) bool {
	s, ok := stampOpen(fd)
	if !ok || s.dev != l.dev {
		return false
	}
	f.stamp, f.racy = s, !s.Settled(l.now)
	names, ok := f.names(fd)
	if !ok {
		return false
	}
	for _, name := range names {
		s, ok := stampAt(fd, name)
		// A nested repository has a say in what git looks at, and its insides have one in whether it is a repository.
		if !ok || strings.EqualFold(name, ".git") {
			return false
		}
		e := &entry{name: name, stamp: s, racy: !s.Settled(l.now)}
		if !l.classify(fd, f.at(name), e) {
			return false
		}
		f.entries = append(f.entries, e)
	}
	return true
}

// classify finds out what say an entry has.
func (l *look) classify(fd int, path string, e *entry) bool {
	node, known := l.contents[path]
	delete(l.contents, path)
	switch {
	case e.stamp.is(unix.S_IFDIR):
		if known && node.Mode != object.ModeNested {
			return false
		}
		e.kind, e.node = other, node
		if l.ignored[path] && !l.holding[path] {
			return true
		}
		below, err := openFolder(fd, e.name)
		if err != nil {
			return false
		}
		defer unix.Close(below)
		e.kind, e.below = dir, &folder{path: path}
		return l.fill(below, e.below)
	case !e.stamp.is(unix.S_IFREG) && !e.stamp.is(unix.S_IFLNK):
		e.kind = other
		return !known
	case known:
		e.kind, e.node = recorded, node
		return node.Mode != object.ModeNested && (e.name != ".gitignore" || node.Mode != object.ModeLink)
	case e.name == ".gitignore":
		e.kind = rule
		return e.stamp.is(unix.S_IFREG)
	}
	e.kind = other
	return l.within(path)
}

// within reports whether a path or a folder above it is ignored.
func (l *look) within(path string) bool {
	for {
		if l.ignored[path] {
			return true
		}
		up := strings.LastIndexByte(path, '/')
		if up < 0 {
			return false
		}
		path = path[:up]
	}
}

// follow compares a folder with what is remembered of it and brings that up to date. Where the table cannot say what a
// change means, it is lost; the walk goes on all the same, to find what git has to read again.
func (l *look) follow(fd int, f *folder) {
	s, ok := stampOpen(fd)
	l.lost = l.lost || !ok || s.dev != l.dev
	if s != f.stamp || f.racy {
		names, ok := f.names(fd)
		l.lost = l.lost || !ok || !slices.EqualFunc(names, f.entries,
			func(n string, e *entry) bool { return n == e.name })
		f.stamp, f.racy = s, !s.Settled(l.now)
	}
	for _, e := range f.entries {
		if e.kind != dir {
			l.compare(fd, f, e)
			continue
		}
		below, err := openFolder(fd, e.name)
		if err != nil {
			l.lost = true
			continue
		}
		l.follow(below, e.below)
		unix.Close(below)
	}
}

// compare compares anything but a folder.
func (l *look) compare(fd int, f *folder, e *entry) {
	s, ok := stampAt(fd, e.name)
	switch {
	case !ok:
		l.lost = true
		return
	case e.kind == other:
		l.lost = l.lost || s.mode&unix.S_IFMT != e.stamp.mode&unix.S_IFMT
		return
	case s == e.stamp && !e.racy:
		if e.ahead {
			l.doubt = append(l.doubt, File{f.at(e.name), e.node})
		}
		return
	case e.kind == rule:
		l.lost = true
		return
	}
	if s.is(unix.S_IFREG) || s.is(unix.S_IFLNK) {
		l.doubt = append(l.doubt, File{f.at(e.name), e.node})
	}
	if l.lost {
		return
	}
	now, content, ok := l.read(fd, e.name, s)
	if !ok {
		l.lost = true
		return
	}
	e.stamp, e.racy = s, !s.Settled(l.now)
	if now == e.node {
		return
	}
	if e.name == ".gitignore" {
		l.lost = true // and with it what else is to be recorded
		return
	}
	l.changed = append(l.changed, Change{f.at(e.name), e, now, content})
}

// read reads a file or a link and finds what git would record.
func (l *look) read(fd int, name string, s Stamp) (n object.Node, content []byte, ok bool) {
	l.hashed++
	l.bytes += s.size
	if l.hashed > mostHashed || l.bytes > bytesHashed {
		return object.Node{}, nil, false
	}
	switch {
	case s.is(unix.S_IFLNK):
		buf := make([]byte, object.LongestLink)
		size, err := unix.Readlinkat(fd, name, buf)
		if err != nil || size == len(buf) {
			return object.Node{}, nil, false
		}
		n.Mode, content = object.ModeLink, buf[:size]
	case s.is(unix.S_IFREG):
		file, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return object.Node{}, nil, false
		}
		f := os.NewFile(uintptr(file), name)
		defer f.Close()
		there, ok := stampOpen(file)
		if !ok || there.ino != s.ino || !there.is(unix.S_IFREG) {
			return object.Node{}, nil, false
		}
		var b bytes.Buffer
		if _, err := io.Copy(&b, io.LimitReader(f, bytesHashed+1)); err != nil || b.Len() > bytesHashed {
			return object.Node{}, nil, false
		}
		n.Mode, content = object.ModeFile, b.Bytes()
		if s.mode&unix.S_IXUSR != 0 {
			n.Mode = object.ModeExec
		}
	default:
		return object.Node{}, nil, false
	}
	n.ID = object.ID(l.format, "blob", content)
	return n, content, true
}

// Fingerprint is a digest of how the file system describes every file, link and folder below a folder: whatever is done
// to one of them changes it. Moving the folder does not. It is "" where the file system's times cannot be relied on.
// Settled says that a change from now on must show in it, and also to git, which knows whole seconds.
func Fingerprint(tree string) (print string, settled bool) {
	if !Reliable(tree) {
		return "", true
	}
	fd, err := openFolder(unix.AT_FDCWD, tree)
	if err != nil {
		return "", true
	}
	defer unix.Close(fd)
	p := printer{digest: sha256.New(), now: time.Now(), settled: true}
	if !p.folder(fd) {
		return "", true
	}
	return hex.EncodeToString(p.digest.Sum(nil)), p.settled
}

// printer makes a fingerprint.
type printer struct {
	digest  hash.Hash
	line    []byte
	now     time.Time
	settled bool
}

func (p *printer) folder(fd int) bool {
	again, err := openFolder(fd, ".")
	if err != nil {
		return false
	}
	d := os.NewFile(uintptr(again), ".")
	names, err := d.Readdirnames(-1)
	d.Close()
	if err != nil {
		return false
	}
	slices.Sort(names)
	for _, name := range names {
		s, ok := stampAt(fd, name)
		if !ok {
			return false
		}
		p.settled = p.settled && s.Settled(p.now) && s.ctime/1e9 < p.now.Unix()
		p.line = append(append(p.line[:0], name...), 0)
		for _, n := range []uint64{s.ino, uint64(s.mode), uint64(s.size), uint64(s.mtime), uint64(s.ctime)} {
			p.line = binary.LittleEndian.AppendUint64(p.line, n)
		}
		p.digest.Write(p.line)
		if s.is(unix.S_IFDIR) {
			below, err := openFolder(fd, name)
			if err != nil {
				return false
			}
			ok := p.folder(below)
			unix.Close(below)
			if !ok {
				return false
			}
			p.digest.Write([]byte{0}) // no name is empty: the folder ends
		}
	}
	return true
}
