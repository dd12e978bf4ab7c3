package sandbox

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/sandbox/allow"
)

// protectedNames are read-only where they stand directly in a writable directory.
var protectedNames = []string{".git", ".pawl"}

// layout lists the steps that make the file system of a command out of a read-only view of everything. Shorter paths
// come first, so that the deepest statement about a file is the last and wins; about one and the same path the later of
// the sources below wins.
func (b *Box) layout(s Spec, m Mechanism) (*layout, error) {
	l := layout{at: map[string]mountKind{}, from: map[string]string{}, layer: map[string]string{}}
	l.apply(allow.System())
	l.scratch("/tmp", "/var/tmp")
	if m.bare() {
		l.unmounted()
	}
	for _, h := range b.homes {
		l.apply(allow.Home(h))
	}
	own := resolveExisting(allow.Own(b.homes))
	for _, p := range b.readable {
		if r, _, ok := real(p); ok && !slices.ContainsFunc(own, func(o string) bool { return within(r, o) }) {
			l.read(p)
		}
	}
	for _, p := range s.Put {
		if p.From == "" && !m.bare() {
			l.at[p.At] = mountScratch
		}
	}
	l.programs(s, b.homes)
	l.around(s)
	others := slices.Concat(s.Writable, []string{s.Workspace}, own)
	if p := allow.Astray(s.asked, others, b.homes, l.covered); p != "" {
		return nil, pawl.Fail(pawl.CodeDenied, "sandbox.link_out", p).In("sandbox.Run")
	}
	if err := l.protect(s.Writable); err != nil {
		return nil, err
	}
	for _, w := range s.Writable {
		l.at[w] = mountWrite
	}
	l.read(s.Readable...)
	l.hide(own...)
	l.hide(s.Hidden...)
	l.inside(s, m)
	if err := l.repositories(s, m); err != nil {
		l.close()
		return nil, err
	}
	for _, sh := range s.Shown {
		kind := mountShow
		if sh.Kept {
			kind = mountKeep
		}
		switch {
		case m.bare() && (sh.private() || sh.From == sh.At): // no link can show it, as Box.Layers says
			continue
		case m.bare():
			l.at[sh.From] = mountRead // where the links lead, whatever is hidden around it
			continue
		}
		l.at[sh.At], l.from[sh.At], l.layer[sh.At] = kind, sh.From, sh.Layer
	}
	if !m.bare() {
		l.put(s)
	}
	return &l, nil
}

// put has the command find elsewhere what the Spec says: statements about what lies there are about its new place then,
// and those about what it covers are dropped, but for what the Spec wants to be readable and what it says of that.
func (l *layout) put(s Spec) {
	said, from := l.at, l.from
	l.at, l.from = map[string]mountKind{}, map[string]string{}
	for _, p := range slices.SortedFunc(maps.Keys(said), func(a, b string) int { return len(a) - len(b) }) {
		to, covered := p, false
		for _, put := range s.Put {
			if from := cmp.Or(put.From, Home); within(p, from) {
				to = put.At + strings.TrimPrefix(p, from)
			}
			covered = covered || put.From != "" && within(p, put.At)
		}
		switch _, taken := l.at[to]; {
		case to != p && taken && said[p] == mountRead: // the place where that was put for a command before
		case to != p:
			l.at[to], l.from[to], l.layer[to] = said[p], cmp.Or(from[p], p), l.layer[p]
		case !covered || l.readable(p, s.Readable):
			l.at[p], l.from[p] = said[p], from[p]
		}
	}
	for _, put := range s.Put {
		if put.From != "" && l.from[put.At] == "" {
			l.at[put.At], l.from[put.At] = mountRead, put.From
		}
	}
}

// readable reports whether a path is one of those, or lies in one that is found at its own place.
func (l *layout) readable(p string, readable []string) bool {
	for d := p; d != "/"; d = filepath.Dir(d) {
		if slices.Contains(readable, d) && (d == p || l.at[d] == mountRead) {
			return true
		}
	}
	return false
}

// unmounted fits the statements so far to a command without mounts: what is private elsewhere is hidden, and a secret
// that cannot be read anyway needs no statement, which would cost a rule for each of its neighbours.
func (l *layout) unmounted() {
	for p, k := range l.at {
		switch {
		case k == mountScratch:
			l.at[p] = mountHideDir
		case k == mountHideFile && unix.Access(p, unix.R_OK) != nil, k == mountHideDir &&
			unix.Access(p, unix.R_OK|unix.X_OK) == unix.EACCES:
			delete(l.at, p)
		}
	}
}

// layout collects at most one statement per path.
type layout struct {
	at   map[string]mountKind
	from map[string]string // by path, what is shown there from another one
	// layer is, by path, what stores what is written over what is shown.
	layer map[string]string
	// private holds copies that are shown, "" for none, and claim keeps it from being swept.
	private string
	claim   *os.File
}

// blamed reports whether an error names something that was to be hidden.
func (l *layout) blamed(err error) bool {
	text := err.Error()
	for p, k := range l.at {
		if (mount{kind: k}).hides() && strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// real resolves p and reports whether it exists as something that can be mounted on. Most of what is hidden wherever it
// is does not exist, which one look tells without a walk along the path.
func real(p string) (string, os.FileInfo, bool) {
	if _, err := os.Lstat(p); err == nil {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			info, err := os.Lstat(r)
			return r, info, err == nil
		}
	}
	return "", nil, false
}

func (l *layout) scratch(paths ...string) {
	for _, p := range paths {
		if r, info, ok := real(p); ok && info.IsDir() {
			l.at[r] = mountScratch
		}
	}
}

func (l *layout) hide(paths ...string) {
	for _, p := range paths {
		r, info, ok := real(p)
		switch {
		case !ok || r == "/":
		case info.IsDir():
			l.at[r] = mountHideDir
		default:
			l.at[r] = mountHideFile
		}
	}
}

// read makes paths readable. One that is hidden behind a link is put at its own path, too: programs know it by that.
func (l *layout) read(paths ...string) {
	for _, p := range paths {
		r, _, ok := real(p)
		if !ok || r == "/" || within(r, "/proc") {
			continue
		}
		if p != r && l.covered(p) {
			l.at[p], l.from[p] = mountRead, r
		}
		l.at[r] = mountRead
		delete(l.from, r)
	}
}

// apply makes statements of parts.
func (l *layout) apply(parts []allow.Part) {
	for _, p := range parts {
		if p.Hidden {
			l.hide(p.Path)
		} else {
			l.read(p.Path)
		}
	}
}

// inside covers what was found in the folder that the command works in: secrets, and folders whose files have names
// outside, which are written to in a layer that ends with the command. Without mounts the secrets can be read
// (WeakInside), and the folders not be written to.
func (l *layout) inside(s Spec, m Mechanism) {
	if m.bare() {
		l.read(s.shared...)
		return
	}
	l.hide(s.masked...)
	for _, d := range s.shared {
		l.at[d], l.from[d] = mountShow, d
	}
}

// around hides the workspace but for its repository: around a worktree of pawl's, the user's own files are there. What
// the Spec names of it is shown again.
func (l *layout) around(s Spec) {
	if s.Workspace != "" {
		l.hide(s.Workspace)
		l.read(filepath.Join(s.Workspace, ".git"))
	}
}

// protect makes .git and .pawl in writable directories read-only. One that is a link cannot be held in place, because
// the command could replace the link itself, and is refused.
func (l *layout) protect(writable []string) error {
	for _, w := range writable {
		for _, n := range protectedNames {
			p := filepath.Join(w, n)
			info, err := os.Lstat(p)
			switch {
			case err != nil:
			case info.Mode()&os.ModeSymlink != 0:
				return pawl.Fail(pawl.CodeDenied, "sandbox.protected_link", p).In("sandbox.Run")
			default:
				l.at[p] = mountRead
			}
		}
	}
	return nil
}

// maxPrograms is how many entries of a folder of programs are looked at.
const maxPrograms = 2000

// programs shows what the environment names among what is hidden: the parts of toolchains, and the directories of
// programs in PATH with the packages that their links lead to. What the Spec gives the command itself opens nothing:
// others write there.
func (l *layout) programs(s Spec, homes []string) {
	given := func(p string) bool {
		return slices.ContainsFunc(slices.Concat(s.Writable, s.Readable, []string{s.Workspace}),
			func(w string) bool { return w != "" && within(p, w) })
	}
	for _, kv := range s.Env {
		name, value, _ := strings.Cut(kv, "=")
		for _, dir := range filepath.SplitList(value) {
			r, info, ok := real(dir)
			around := func(h string) bool { return within(h, r) }
			if !ok || given(dir) || given(r) || !l.covered(r) || slices.ContainsFunc(homes, around) {
				continue
			}
			l.apply(allow.Variable(name, filepath.Clean(dir)))
			up := filepath.Dir(r)
			if name == "PATH" && info.IsDir() && !slices.Contains(homes, up) && allow.ProgramDir(r) {
				l.read(filepath.Clean(dir))
				l.apply(allow.Installed(up))
				l.linked(r)
			}
		}
	}
}

// linked shows what the links in a directory of programs lead to.
func (l *layout) linked(dir string) {
	f, _ := os.Open(dir)                 // one that cannot be opened has no entries
	entries, _ := f.ReadDir(maxPrograms) // those that were read count
	_ = f.Close()
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			continue
		}
		if target, info, ok := real(filepath.Join(dir, e.Name())); ok && info.Mode().IsRegular() && l.covered(target) {
			l.apply(allow.Program(target))
		}
	}
}

// repositories hides what is not git's own in git directories, and puts a copy without logins over each configuration
// of git that holds one. Without mounts that file is hidden.
func (l *layout) repositories(s Spec, m Mechanism) error {
	repositories := slices.Concat(s.Readable, []string{s.Workspace + "/.git"}, s.repositories)
	configs, hidden := allow.GitFiles(s.Writable, repositories)
	for _, p := range hidden {
		if _, said := l.at[p]; !said && !l.covered(p) {
			l.hide(p)
		}
	}
	for i, name := range configs {
		p, info, ok := real(name)
		if !ok || !info.Mode().IsRegular() || l.covered(p) {
			continue
		}
		raw, err := os.ReadFile(p)
		public := allow.PublicConfig(string(raw))
		switch {
		case err == nil && public == string(raw):
			continue
		case err != nil || m.bare() || info.Size() > allow.MaxConfig:
			l.at[p] = mountHideFile
			continue
		case l.private == "":
			if l.private, l.claim, err = privateDir(); err != nil {
				return err
			}
		}
		at := filepath.Join(l.private, strconv.Itoa(i))
		if err := os.WriteFile(at, []byte(public), 0o644); err != nil {
			return pawl.Fail(pawl.CodeIO, "sandbox.walls").Because(err).In("sandbox.Run")
		}
		l.at[p], l.from[p] = mountRead, at
	}
	return nil
}

// close removes the copies, which the command has in its mounts.
func (l *layout) close() {
	discard(l.private)
	_ = l.claim.Close()
}

// covered reports whether the deepest statement about p replaces what was there.
func (l *layout) covered(p string) bool {
	for d := p; d != "/"; d = filepath.Dir(d) {
		switch l.at[d] {
		case mountRead, mountWrite, mountShow, mountKeep:
			return false
		case mountScratch, mountHideDir, mountHideFile:
			return true
		}
	}
	return false
}

// steps sorts the statements and drops those below a hidden or scratch directory that would hide what is covered.
func (l *layout) steps() []mount {
	var out []mount
	for p, k := range l.at {
		m := mount{k, p, l.from[p], l.layer[p]}
		if m.hides() && l.covered(filepath.Dir(p)) {
			continue
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b mount) int {
		return cmp.Or(strings.Count(a.path, "/")-strings.Count(b.path, "/"), strings.Compare(a.path, b.path))
	})
	return out
}

// with are the limits of one command, with the defaults filled in.
func (l Limits) with(s Spec) Limits {
	l.Memory, l.Processes = cmp.Or(max(s.MaxMemory, 0), l.Memory), cmp.Or(max(s.MaxProcs, 0), l.Processes)
	return Limits{Memory: cmp.Or(l.Memory, memory()/4*3), Processes: cmp.Or(l.Processes, DefaultMaxProcs),
		Disk: cmp.Or(l.Disk, DefaultDisk), Files: cmp.Or(l.Files, DefaultFiles)}
}

// scratch is what a private directory may hold.
func (l Limits) scratch() int64 {
	if l.Memory == memory()/4*3 {
		return min(l.Memory/3, 8<<30)
	}
	return l.Memory / 3
}
