package safeopen

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"pawl"
)

// Root is a directory in which a tool may work, held by descriptor. Names are relative, with slashes, and never lead
// outside, whatever symbolic links the tree holds and whoever changes them meanwhile. Links that stay inside are
// followed.
//
// Names with a component that a file system could take for .git or .pawl are refused for every change, also behind a
// link, unless the Root was opened WithInternal. Methods return *pawl.Error: CodeDenied for what the Root refuses,
// CodeNotFound, CodeConflict for a name that is taken or not empty, CodeInvalid for a name or size that cannot be,
// CodeDiskFull, CodeReadOnly, and CodeIO for the rest. A Root is safe for concurrent use.
type Root struct {
	root     *os.Root
	dir      string
	internal bool
}

// RootOption changes what OpenRoot returns.
type RootOption func(*Root)

// WithInternal lets a Root change .git and .pawl. It is for pawl's own work and never for a tool of an agent.
func WithInternal() RootOption { return func(r *Root) { r.internal = true } }

// maxLinks is the number of symbolic links that one name may pass through, as in the kernel.
const maxLinks = 40

// OpenRoot opens the directory dir, whose own symbolic links are followed. The caller closes the Root.
func OpenRoot(dir string, opts ...RootOption) (*Root, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, Fail("safeopen.OpenRoot", dir, err)
	}
	o, err := os.OpenRoot(real)
	if err != nil {
		return nil, Fail("safeopen.OpenRoot", dir, err)
	}
	r := &Root{root: o, dir: real}
	for _, opt := range opts {
		opt(r)
	}
	return r, nil
}

// Dir returns the absolute name that the directory had when it was opened, without symbolic links.
func (r *Root) Dir() string { return r.dir }

// Close releases the descriptor.
func (r *Root) Close() error { return r.root.Close() }

// Resolve returns the name of what rel denotes once every symbolic link is followed: what a policy has to judge. The
// last component need not exist.
func (r *Root) Resolve(rel string) (string, error) {
	p, err := r.find("safeopen.Resolve", rel, true)
	if err != nil {
		return "", err
	}
	defer p.close()
	return p.name(), nil
}

// place is where a name leads: an open directory, its real name, and a component in it that is no link (when links were
// followed) or need not exist.
type place struct {
	dir   *os.Root
	owned bool // dir is not the Root's own descriptor
	real  []string
	base  string // "." denotes the Root itself
	info  fs.FileInfo
}

func (p *place) close() {
	if p.owned {
		_ = p.dir.Close()
	}
}

// name is the real name relative to the Root.
func (p *place) name() string { return path.Join(append(append([]string{}, p.real...), p.base)...) }

// find walks to rel one component at a time. Each directory is opened by its single name from the one before it and
// compared with what was seen under that name, so a component that is swapped meanwhile is noticed and no link is
// followed by anything but this function. follow says whether a link at the end is followed; a slash behind the name
// always means what the link leads to, as it does to the kernel.
func (r *Root) find(op, rel string, follow bool) (*place, error) {
	follow = follow || strings.HasSuffix(rel, "/")
	todo, err := components(op, rel)
	if err != nil {
		return nil, err
	}
	p := &place{dir: r.root, base: "."}
	for links := 0; ; {
		if len(todo) == 0 {
			p.base = "."
			p.info, err = p.dir.Stat(".")
			return p.or(op, rel, err)
		}
		last := len(todo) == 1
		info, err := p.dir.Lstat(todo[0])
		if last && (errors.Is(err, fs.ErrNotExist) || err == nil && (info.Mode()&fs.ModeSymlink == 0 || !follow)) {
			p.base, p.info = todo[0], info
			return p, nil
		}
		if err != nil {
			return p.or(op, rel, err)
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return p.or(op, rel, syscall.ELOOP)
			}
			target, err := p.dir.Readlink(todo[0])
			if err != nil {
				return p.or(op, rel, err)
			}
			joined, err := r.linkTarget(op, rel, p.real, target)
			if err != nil {
				return p.or(op, rel, err)
			}
			todo = append(joined, todo[1:]...)
			p.close()
			*p = place{dir: r.root, base: "."}
		case !info.IsDir():
			return p.or(op, rel, syscall.ENOTDIR)
		default:
			if err := p.enter(todo[0], info); err != nil {
				return p.or(op, rel, err)
			}
			todo = todo[1:]
		}
	}
}

// or returns the place, or closes it and reports err.
func (p *place) or(op, rel string, err error) (*place, error) {
	if err == nil {
		return p, nil
	}
	p.close()
	return nil, Fail(op, rel, err)
}

// errSwapped reports a directory that was replaced while a name was being walked.
var errSwapped = errors.New("replaced while it was being opened")

// enter descends into the directory name, which was seen as info.
func (p *place) enter(name string, info fs.FileInfo) error {
	sub, err := p.dir.OpenRoot(name)
	if err != nil {
		return err
	}
	now, err := sub.Stat(".")
	if err == nil && !os.SameFile(info, now) {
		err = errSwapped
	}
	if err != nil {
		_ = sub.Close()
		return err
	}
	p.close()
	p.dir, p.owned, p.real = sub, true, append(p.real, name)
	return nil
}

// linkTarget returns the components, from the Root, of a link's target. The link stands in the directory real, which
// holds no links itself, so dots can be resolved in the text as long as they stand in front; behind a name they depend
// on what the name is, and such a target is refused rather than guessed. An absolute target is inside when it starts
// with the Root's own name.
func (r *Root) linkTarget(op, rel string, real []string, target string) ([]string, error) {
	out := append([]string{}, real...)
	if path.IsAbs(filepath.ToSlash(target)) || filepath.IsAbs(target) {
		inside, err := filepath.Rel(r.dir, target)
		if err != nil || !filepath.IsLocal(inside) {
			return nil, denied(op, "sandbox.outside", rel)
		}
		out, target = nil, inside
	}
	named := false
	for _, c := range strings.Split(filepath.ToSlash(target), "/") {
		switch c {
		case "", ".":
		case "..":
			if named || len(out) == 0 {
				return nil, denied(op, "sandbox.outside", rel)
			}
			out = out[:len(out)-1]
		default:
			named = true
			out = append(out, c)
		}
	}
	return out, nil
}

// components splits a name that a tool gave.
func components(op, rel string) ([]string, error) {
	if rel == "" || strings.IndexByte(rel, 0) >= 0 {
		return nil, pawl.Fail(pawl.CodeInvalid, "sandbox.name", rel).In(op)
	}
	slashed := filepath.ToSlash(rel)
	if !filepath.IsLocal(filepath.FromSlash(slashed)) {
		return nil, denied(op, "sandbox.outside", rel)
	}
	clean := path.Clean(slashed)
	if clean == "." {
		return nil, nil
	}
	return strings.Split(clean, "/"), nil
}

// change finds rel for a change of the entry itself or, with follow, of what it links to. It refuses protected names,
// both in rel, whether they exist or not, and in what rel turns out to be.
func (r *Root) change(op, rel string, follow bool) (*place, error) {
	parts, err := components(op, rel)
	if err != nil {
		return nil, err
	}
	if !r.internal && guarded(parts...) {
		return nil, denied(op, "sandbox.protected", rel)
	}
	p, err := r.find(op, rel, follow)
	if err != nil {
		return nil, err
	}
	if p.base == "." {
		p.close()
		return nil, denied(op, "sandbox.root_itself", rel)
	}
	if !r.internal && (guarded(p.base) || guarded(p.real...)) {
		p.close()
		return nil, denied(op, "sandbox.protected", rel)
	}
	return p, nil
}

// guarded reports whether a file system could take one of the names for .git or .pawl: without regard to case, to
// characters that some file systems ignore, to trailing dots and spaces, to a stream's name and to DOS short names.
func guarded(names ...string) bool {
	for _, n := range names {
		n = strings.Map(func(c rune) rune {
			if unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Variation_Selector, c) || c == '\u034f' {
				return -1
			}
			return unicode.ToLower(c)
		}, n)
		n, _, _ = strings.Cut(n, ":")
		n = strings.TrimRight(n, ". ")
		switch n {
		case ".git", ".pawl", "git~1", "pawl~1":
			return true
		}
	}
	return false
}

// ErrInWay is why PlainDirs refuses a folder.
var ErrInWay = errors.New("a link or a file stands in the way of a folder")

// PlainDirs makes a folder below a root, with slashes, and those above it that are missing, and refuses what is no
// plain directory, with ErrInWay: whoever can write below the root could have put a link there.
func PlainDirs(root *os.Root, dir string) error {
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		if err := root.Mkdir(at, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := root.Lstat(at); err != nil {
			return err
		} else if !info.IsDir() {
			return ErrInWay
		}
	}
	return nil
}

// Code is the code for a failure of the file system outside of a Root: CodeDiskFull, CodeReadOnly for what may not
// be written to, and else CodeIO.
func Code(err error) pawl.Code {
	var own *pawl.Error
	switch {
	case errors.As(err, &own):
		return own.Code
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return pawl.CodeDiskFull
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return pawl.CodeReadOnly
	}
	return pawl.CodeIO
}

func denied(op, key, rel string) *pawl.Error { return pawl.Fail(pawl.CodeDenied, key, rel).In(op) }

// Fail gives an error of the file system its code, as the methods of a Root do; one that is a *pawl.Error stays as it
// is. Op is the operation that failed, as "package.verb", and name what it was given. What is neither a plain errno nor
// one of the package's own errors is os.Root's refusal of a name that leads outside.
func Fail(op, name string, err error) error {
	var own *pawl.Error
	if errors.As(err, &own) {
		return err
	}
	code, key := pawl.CodeIO, "sandbox.io"
	var no syscall.Errno
	isErrno := errors.As(err, &no)
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code, key = pawl.CodeNotFound, "sandbox.missing"
	case errors.Is(err, fs.ErrExist), isErrno && no == syscall.ENOTEMPTY:
		code, key = pawl.CodeConflict, "sandbox.exists"
	case diskFull(err):
		code, key = pawl.CodeDiskFull, "sandbox.disk_full"
	case isErrno && no == syscall.EROFS:
		code, key = pawl.CodeReadOnly, "sandbox.read_only"
	case isErrno && (no == syscall.ENOTDIR || no == syscall.EISDIR):
		code, key = pawl.CodeInvalid, "sandbox.kind"
	case errors.Is(err, fs.ErrPermission), isErrno && (no == syscall.ELOOP || no == syscall.ENAMETOOLONG):
		code, key = pawl.CodeDenied, "sandbox.refused"
	case errors.Is(err, errSwapped):
		code, key = pawl.CodeDenied, "sandbox.swapped"
	case !isErrno && errors.As(err, &pe):
		code, key = pawl.CodeDenied, "sandbox.outside"
	}
	return pawl.Fail(code, key, name).In(op).Because(err)
}
