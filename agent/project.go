package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// What a project sets for an agent can have it call other addresses and run commands that nobody was asked about, and
// whoever can change the project can set it. The agent is shown none of it until its user has said so for exactly these
// bytes. What the project tells the agent in plain texts is no setting.

// Bounds of what can be trusted as one setting.
const (
	maxSettingFiles = 500
	maxSettingBytes = 8 << 20
)

// Setting is a file or a folder in which a project sets something for a program.
type Setting struct {
	// Name is its path below the project's root.
	Name string `json:"name"`
	// Digest is that of its name and of all that is in it, as sha256:…, and "" for what cannot be trusted: links, and
	// more than 500 files or 8 MiB.
	Digest string `json:"digest"`
}

// Settings are those that a project has for the program, in the order of the catalog. A tree that cannot be read has
// none.
func (p Program) Settings(tree string) []Setting {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return nil
	}
	defer root.Close()
	var out []Setting
	for _, name := range p.Obeys {
		info, err := root.Lstat(name)
		if err != nil {
			continue
		}
		sum := sha256.New()
		s := Setting{Name: name}
		if info.Mode()&fs.ModeSymlink == 0 && digest(root, name, sum) == nil {
			s.Digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
		}
		out = append(out, s)
	}
	return out
}

// errSetting is why a setting cannot be trusted.
var errSetting = errors.New("it holds links, special files, or too much")

// digest hashes a file, or all files of a folder, each with its name and its length before it.
func digest(root *os.Root, name string, into hash.Hash) error {
	files, bytes := 0, int64(0)
	return fs.WalkDir(root.FS(), name, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		files++
		if bytes += info.Size(); !e.Type().IsRegular() || files > maxSettingFiles || bytes > maxSettingBytes {
			return errSetting
		}
		f, err := root.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		fmt.Fprintf(into, "%q %d\n", path.Clean(p), info.Size())
		n, err := io.Copy(into, io.LimitReader(f, info.Size()+1))
		if err == nil && n != info.Size() {
			err = errSetting // it is being written
		}
		return err
	})
}

// distrust is the argument that Program.Distrust stands for, and access the one for Program.Acts and Program.Reads.
const (
	distrust = "{distrust}"
	access   = "{access}"
)

// Line is a command line with the arguments that others stand for. Distrust is said in the words of the catalog alone,
// so that filling in values changes nothing of it.
func (p Program) Line(args []string, asked, obeys bool) []string {
	var out []string
	for _, a := range args {
		switch {
		case a == distrust && !obeys:
			out = append(out, p.Distrust...)
		case a == distrust:
		case a == access && asked:
			out = append(out, p.Reads...)
		case a == access:
			out = append(out, p.Acts...)
		default:
			out = append(out, a)
		}
	}
	return out
}

// distrusted returns what of a project's settings the program must not see, as absolute paths, and whether it may obey
// the project: where there are settings, and each is one that the user trusts.
func (c External) distrusted(tree string) (hidden []string, obeys bool) {
	all := c.Program.Settings(tree)
	for _, s := range all {
		if s.Digest == "" || !slices.Contains(c.Trust, s.Digest) {
			hidden = append(hidden, filepath.Join(tree, filepath.FromSlash(s.Name)))
		}
	}
	return hidden, len(all) > 0 && len(hidden) == 0
}
