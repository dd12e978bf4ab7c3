package land

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/store/disk"
)

// mostModes bounds what is remembered of permissions.
const mostModes = 10_000

// modes are the permissions of files and folders of the user's tree, as they were when a landing last changed these: a
// commit does not say them, and whoever made a file private means it to be so when it comes back.
type modes map[string]fs.FileMode

func modesFile(repo *git.Repo) string { return filepath.Join(repo.State("land"), "modes") }

// key is the name under which the permissions of a path are remembered: a folder and a file of one name are two things.
func key(p string, info fs.FileInfo) string {
	if info.IsDir() {
		return p + "/"
	}
	return p
}

// permissions are what is remembered of a file or a folder. In a folder the bits beside those of reading and writing
// say who may remove what is in it, and whose group that gets; a file that comes back runs as nobody else.
func permissions(info fs.FileInfo) fs.FileMode {
	if info.IsDir() {
		return info.Mode() & (fs.ModePerm | fs.ModeSticky | fs.ModeSetgid | fs.ModeSetuid)
	}
	return info.Mode().Perm()
}

func readModes(repo *git.Repo) modes {
	known := modes{}
	if raw, err := os.ReadFile(modesFile(repo)); err != nil || json.Unmarshal(raw, &known) != nil {
		return modes{} // what is not remembered gets the usual permissions
	}
	return known
}

// touched are the paths of a change and the folders above them, the deepest of these first.
func touched(files []effect.FileStat) (out []string) {
	for _, f := range files {
		for p := f.Path; p != "."; p = path.Dir(p) {
			out = append(out, p)
		}
	}
	return out
}

// rememberModes notes the permissions of what a landing is about to change, before it does.
func rememberModes(repo *git.Repo, files []effect.FileStat) error {
	known, changed := readModes(repo), false
	for _, p := range touched(files) {
		info, err := os.Lstat(filepath.Join(repo.Paths().Workspace, filepath.FromSlash(p)))
		if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		p = key(p, info)
		perm, noted := permissions(info), known[p] != 0
		usual := perm == 0o755 || perm == 0o644
		if known[p] == perm || !noted && (usual || len(known) >= mostModes) {
			continue
		}
		if known[p], changed = perm, true; usual {
			delete(known, p)
		}
	}
	if !changed {
		return nil
	}
	raw, err := json.Marshal(known)
	if err == nil {
		err = disk.Mkdir(repo.State("."), filepath.Dir(modesFile(repo)), 0o700)
	}
	if err == nil {
		err = disk.WriteFile(modesFile(repo), raw)
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "land.journal", modesFile(repo)).Because(err)
	}
	return nil
}

// recallModes gives files that a landing brought back, and the folders that this made, the permissions that they had.
func recallModes(repo *git.Repo, files []effect.FileStat) error {
	known := readModes(repo)
	if len(known) == 0 {
		return nil
	}
	root, err := os.OpenRoot(repo.Paths().Workspace)
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "land.journal", modesFile(repo)).Because(err)
	}
	defer root.Close()
	var back []effect.FileStat
	for _, f := range files {
		if f.Status == "A" || f.Status == "T" {
			back = append(back, f)
		}
	}
	for _, p := range touched(back) {
		info, statErr := root.Lstat(filepath.FromSlash(p))
		if statErr != nil {
			continue
		}
		perm, ok := known[key(p, info)]
		if !ok || !info.IsDir() && !(info.Mode().IsRegular() && info.Mode()&0o100 == perm&0o100) {
			continue
		}
		err = errors.Join(err, root.Chmod(filepath.FromSlash(p), perm))
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "land.journal", modesFile(repo)).Because(err)
	}
	return nil
}
