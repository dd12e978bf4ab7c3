package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// Half begins the names of files that are about to take their place beside it.
const Half = ".pawl-tmp-"

// Move gives a file or a link below root another name there, in the place of what has that name, in one step also where
// that is on another file system: a copy of it is made beside its place then, durable and with its permissions. The
// copy's name is that of its place, so that whoever moves something there again after a crash removes what that left.
func Move(root *os.Root, from, to string) error {
	err := root.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	sum := sha256.Sum256([]byte(to))
	half := path.Join(path.Dir(to), Half+hex.EncodeToString(sum[:6]))
	if err := root.Remove(half); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err = copyFile(root, from, half); err == nil {
		err = root.Rename(half, to)
	}
	if err != nil {
		return errors.Join(err, root.Remove(half))
	}
	return root.Remove(from)
}

// copyFile makes a file or a link once more under another name.
func copyFile(root *os.Root, from, to string) error {
	info, err := root.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := root.Readlink(from)
		if err != nil {
			return err
		}
		return root.Symlink(target, to)
	}
	in, err := root.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(info.Mode().Perm()), out.Sync(), out.Close())
}
