package file

import (
	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"pawl"
)

// action says what a patch or a call does to a file.
type action string

const (
	actionAdd    action = "add"
	actionUpdate action = "update"
	actionDelete action = "delete"
)

// section is what a patch does to one file.
type section struct {
	action action
	path   string
	moveTo string // the new path of an update that also moves, or ""
	mode   uint32 // the permission bits that the patch asks for, 0 to keep them
	line   int    // of the section's header in the patch, counted from 1

	add   string // the content of an added file
	hunks []hunk
	diff  *gitdiff.File // instead of add and hunks when the patch is a unified diff
}

// parsePatch reads a patch in either format.
func parsePatch(text string) ([]section, error) {
	if isEnvelope(text) {
		return parseEnvelope(text)
	}
	return parseUnified(text)
}

// apply returns what the section makes of a file's content; an added file starts from nothing.
func (s section) apply(content string) (string, error) {
	switch {
	case s.diff != nil:
		return s.applyDiff(content)
	case s.action == actionAdd:
		return s.add, nil
	default:
		return s.applyHunks(content)
	}
}

// applyPatch carries out a patch on a draft. Sections see what the sections before them did.
func applyPatch(d *draft, sections []section) error {
	for _, s := range sections {
		if err := s.applyTo(d); err != nil {
			return err
		}
	}
	return nil
}

func (s section) applyTo(d *draft) error {
	now, err := d.get(s.path)
	if err != nil {
		return err
	}
	switch {
	case s.action == actionAdd && s.diff != nil && now.exists:
		return pawl.Fail(pawl.CodeConflict, "file.exists", s.path).In("file.patch")
	case s.action != actionAdd && !now.exists:
		return pawl.Fail(pawl.CodeNotFound, "file.not_found", s.path).In("file.patch")
	case s.action == actionDelete && s.diff == nil:
		return d.put(s.path, content{})
	}
	text, err := s.apply(string(now.data))
	if err != nil {
		return err
	}
	if s.action == actionDelete {
		if text != "" {
			return pawl.Fail(pawl.CodeConflict, "file.diff_conflict", s.path).In("file.patch")
		}
		return d.put(s.path, content{})
	}
	next := content{exists: true, data: []byte(text), mode: now.mode}
	if s.mode != 0 {
		next.mode = s.mode
	}
	if s.moveTo == "" || s.moveTo == s.path {
		return d.put(s.path, next)
	}
	target, err := d.get(s.moveTo)
	if err != nil {
		return err
	}
	if target.exists && s.diff != nil {
		return pawl.Fail(pawl.CodeConflict, "file.exists", s.moveTo).In("file.patch")
	}
	if err := d.put(s.path, content{}); err != nil {
		return err
	}
	return d.put(s.moveTo, next)
}
