package git

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
	"pawl/sandbox/git/stat"
	"pawl/store/disk"
)

// laidBefore is how long ago the files of Lay say that they were written. Git takes a file for unchanged without
// reading it only where it is older than the index, and many a git counts whole seconds.
const laidBefore = 5 * time.Second

// Lay makes the tree anew, with exactly the files of a recorded one. With a commit it is a linked worktree of the
// user's repository at that commit; without one it is none. Nobody has read any of the files afterwards: the time of
// the last access to each is that of its last change, so that whoever reads it first leaves a mark on file systems that
// keep these times. The index of pawl's (Index) knows each file as it stands there, so that no git has to read it.
func (r *Repo) Lay(ctx context.Context, tree, commit string) error {
	if err := r.RemoveWorktree(ctx); err != nil {
		return err
	}
	if commit != "" && r.paths.Git {
		if err := disk.Mkdir(r.paths.Workspace, filepath.Dir(r.paths.Tree), 0o755); err != nil {
			return program.IOError("git.worktree", err)
		}
		if err := link(ctx, r, commit); err != nil {
			return r.Objects.missing(ctx, err, commit)
		}
	} else if err := disk.Mkdir(r.paths.Workspace, r.paths.Tree, 0o755); err != nil {
		return program.IOError("git.worktree", err)
	}
	return r.index.locked(ctx, func(ctx context.Context) error {
		if err := r.lay(ctx, tree); err != nil || commit == "" || !r.paths.Git {
			return err
		}
		linked, err := NewLinked(r)
		if err != nil {
			return err
		}
		return linked.share(ctx)
	})
}

// Found is what Snapshot finds in a tree that was laid, in which few files have changed if any.
func (r *Repo) Found(ctx context.Context) (tree string, err error) {
	err = r.index.locked(ctx, func(ctx context.Context) error {
		tree, err = r.index.snapshot(ctx)
		return err
	})
	return tree, err
}

// Index is pawl's own index of the tree.
func (r *Repo) Index() string { return r.paths.IndexFile }

// Lent is what of the user's repository a command needs that finds the tree in the place of the workspace: what must be
// readable, and in that what is pawl's own and hidden. Index is where its git looks for the index, "" where there is
// none.
func (r *Repo) Lent() (index string, readable, hidden []string) {
	if !r.paths.Git {
		return "", nil, nil
	}
	if index = filepath.Join(r.paths.GitDir, "index"); !layout.Exists(index) {
		index = ""
	}
	for _, own := range []string{"worktrees", "refs/pawl", "logs/refs/pawl"} {
		hidden = append(hidden, filepath.Join(r.paths.CommonDir, filepath.FromSlash(own)))
	}
	return index, append(r.GitDirs(), filepath.Join(r.paths.Workspace, ".git")), hidden
}

// lay writes the files of a tree into its empty folder, and the index.
func (r *Repo) lay(ctx context.Context, tree string) error {
	program.Step(ctx, "lay")
	r.index.forget()
	out, _, err := r.paths.WithoutTree("", "ls-tree", "-r", "-z", "--end-of-options", tree).Run(ctx)
	if err != nil {
		return r.Objects.missing(ctx, err, tree)
	}
	root, err := os.OpenRoot(r.paths.Tree)
	if err != nil {
		return program.IOError("git.worktree", err)
	}
	defer root.Close()
	l := laying{root: root, at: time.Now().Add(-laidBefore).Truncate(time.Microsecond), made: map[string]bool{".": true}}
	var ids []string
	var which []int
	for _, line := range program.Fields(string(out)) {
		head, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if len(f) != 3 {
			return pawl.Fail(pawl.CodeIO, "git.failed", "ls-tree")
		}
		node := object.Node{Mode: f[0], ID: f[2]}
		switch {
		case reserved(name):
		case !safePath(name):
			return pawl.Fail(pawl.CodeDenied, "git.unsafe_path", strconv.Quote(name))
		case node.Mode == object.ModeNested:
			if err := l.folder(name); err != nil {
				return program.IOError("git.files", err)
			}
		default:
			ids, which = append(ids, node.ID), append(which, len(l.files))
		}
		l.files = append(l.files, laid{name, node})
	}
	err = r.Objects.blobs(ctx, ids, func(n int, size int64, content io.Reader) error {
		return l.write(l.files[which[n]], size, content)
	})
	if err != nil {
		return err
	}
	index, err := l.index(r.paths.Config.Format)
	if err == nil {
		err = errors.Join(os.WriteFile(r.paths.IndexFile, index, 0o600),
			os.WriteFile(r.paths.IndexFile+".tree", []byte(tree), 0o600))
	}
	if err != nil {
		return program.IOError("git.index", err)
	}
	return nil
}

// laying is a tree that is being laid.
type laying struct {
	root  *os.Root
	at    time.Time
	made  map[string]bool // folders that are there
	files []laid          // in the order of the index
}

// laid is one file of it.
type laid struct {
	path string
	node object.Node
}

// folder makes a folder and those around it.
func (l *laying) folder(name string) error {
	if l.made[name] {
		return nil
	}
	if err := l.folder(path.Dir(name)); err != nil {
		return err
	}
	l.made[name] = true
	return l.root.Mkdir(name, 0o777)
}

// write makes one file. Nothing may stand there: names that a file system takes for one are told by that.
func (l *laying) write(f laid, size int64, content io.Reader) error {
	if err := l.folder(path.Dir(f.path)); err != nil {
		return program.IOError("git.files", err)
	}
	if f.node.Mode == object.ModeLink {
		target, err := io.ReadAll(io.LimitReader(content, min(size, object.LongestLink)))
		if err == nil && int64(len(target)) != size {
			return pawl.Fail(pawl.CodeDenied, "git.unsafe_path", strconv.Quote(f.path))
		}
		if err == nil {
			err = l.root.Symlink(string(target), f.path)
		}
		if err != nil {
			return program.IOError("git.files", err)
		}
		return nil
	}
	create := fs.FileMode(0o666)
	if f.node.Mode == object.ModeExec {
		create = 0o777
	}
	file, err := l.root.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, create)
	if err != nil {
		return program.IOError("git.files", err)
	}
	_, err = io.CopyN(file, content, size)
	if err = errors.Join(err, file.Close(), l.root.Chtimes(f.path, l.at, l.at)); err != nil {
		return program.IOError("git.files", err)
	}
	return nil
}

// index is what is laid as git keeps it (gitformat-index(5), version 2).
func (l *laying) index(format string) ([]byte, error) {
	b := append([]byte("DIRC"), 0, 0, 0, 2)
	b = binary.BigEndian.AppendUint32(b, uint32(len(l.files)))
	words := func(list []uint32) {
		for _, v := range list {
			b = binary.BigEndian.AppendUint32(b, v)
		}
	}
	for _, f := range l.files {
		var before [6]uint32
		var after [3]uint32
		var err error
		if f.node.Mode != object.ModeNested && !reserved(f.path) {
			before, after, err = stat.Indexed(filepath.Join(l.root.Name(), filepath.FromSlash(f.path)))
		}
		mode, wrong := strconv.ParseUint(f.node.Mode, 8, 32)
		id, bad := hex.DecodeString(f.node.ID)
		if err = errors.Join(err, wrong, bad); err != nil {
			return nil, program.IOError("git.files", err)
		}
		words(before[:])
		words([]uint32{uint32(mode)})
		words(after[:])
		b = append(b, id...)
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(f.path), 0xfff)))
		b = append(b, f.path...)
		b = append(b, make([]byte, 8-(42+len(id)+len(f.path))%8)...) // as laid out, an entry begins with its times
	}
	h := object.NewHash(format)
	_, _ = h.Write(b)
	return h.Sum(b), nil
}
