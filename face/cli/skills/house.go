package skills

import (
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"pawl"
	"pawl/face/cli"
	"pawl/sandbox/safeopen"
	"pawl/text/skill"
)

// house is the folder in which the files are written: a project, or the home of a person.
type house struct{ root *safeopen.Root }

// decide says what is to be done about a file. A file of somebody else's is refused, and so is a link on the way to it.
func (h house) decide(pr *cli.Printer, t skill.Target, f flags) (step, error) {
	s := step{Path: t.Path}
	there, err := h.plain(t.Path)
	if err != nil {
		return s, err
	}
	if there {
		if s.old, err = h.root.ReadFile(t.Path, skill.MaxDoc); err != nil {
			return s, err
		}
	}
	if t.Doc {
		err = h.section(pr, &s, there, f)
	} else {
		err = h.file(pr, &s, there, f)
	}
	return s, err
}

// section decides about a document of which only a section is pawl's.
func (h house) section(pr *cli.Printer, s *step, there bool, f flags) error {
	if f.remove {
		rest, found, err := skill.Cut(s.old)
		if err != nil {
			return named(err, s.Path)
		}
		s.data, s.Action = rest, "absent"
		if found {
			s.Action = "remove"
		}
		return nil
	}
	data, err := skill.Put(s.old, pr.Lang)
	if err != nil {
		return named(err, s.Path)
	}
	s.data, s.Action = data, action(there, bytes.Equal(data, s.old))
	return nil
}

// file decides about the skill itself.
func (h house) file(pr *cli.Printer, s *step, there bool, f flags) error {
	if !f.remove {
		s.data = skill.File(pr.Lang)
	}
	s.Action = action(there, bytes.Equal(s.data, s.old))
	switch {
	case f.remove && !there:
		s.Action = "absent"
		return nil
	case f.remove:
		s.Action = "remove"
	}
	owner := skill.OwnerOf(s.old)
	if !there || owner == skill.OwnerPawl {
		return nil
	}
	if !f.force {
		return pawl.Fail(pawl.CodeConflict, "skill."+string(owner), s.Path, s.Path+".bak").In("skill.install")
	}
	var err error
	s.Backup, err = h.free(s.Path)
	return err
}

func action(there, same bool) string {
	switch {
	case !there:
		return "create"
	case same:
		return "same"
	}
	return "update"
}

// named puts the name of the file before what is wrong in it.
func named(err error, name string) error {
	return pawl.Fail(pawl.CodeOf(err), "skill.in_file", name).Because(err).In("skill.install")
}

// plain reports whether a file is there. What is no plain file, or lies behind a link, is refused.
func (h house) plain(rel string) (bool, error) {
	parts := strings.Split(rel, "/")
	for n := range parts {
		name := path.Join(parts[:n+1]...)
		info, err := h.root.Lstat(name)
		switch {
		case pawl.CodeOf(err) == pawl.CodeNotFound:
			return false, nil
		case err != nil:
			return false, err
		case info.Mode()&fs.ModeSymlink != 0, n+1 < len(parts) != info.IsDir(), n+1 == len(parts) &&
			!info.Mode().IsRegular():
			return false, pawl.Fail(pawl.CodeDenied, "skill.not_plain", name).In("skill.install")
		}
	}
	return true, nil
}

// free is a name for a backup that nothing has.
func (h house) free(rel string) (string, error) {
	name := rel + ".bak"
	for n := 2; ; n++ {
		switch _, err := h.root.Lstat(name); {
		case pawl.CodeOf(err) == pawl.CodeNotFound:
			return name, nil
		case err != nil:
			return "", err
		}
		name = rel + ".bak." + strconv.Itoa(n)
	}
}

// carry does what was decided. The backup is on disk before the file is changed, and each file is changed in one step.
func (h house) carry(s step) error {
	if s.Action == "same" || s.Action == "absent" {
		return nil
	}
	if s.Backup != "" {
		if err := h.root.WriteFile(s.Backup, s.old, 0); err != nil {
			return err
		}
	}
	if s.Action == "remove" && len(s.data) == 0 {
		return h.take(s.Path)
	}
	if dir := path.Dir(s.Path); dir != "." {
		if err := h.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return h.root.WriteFile(s.Path, s.data, 0)
}

// take removes a file, and the folders that hold nothing else.
func (h house) take(rel string) error {
	if err := h.root.Remove(rel); err != nil {
		return err
	}
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if err := h.root.Remove(dir); err != nil {
			break // somebody has something in it
		}
	}
	return nil
}
