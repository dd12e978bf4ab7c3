package file

import (
	"slices"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"pawl"
	"pawl/driver/tool"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

type patchArgs struct {
	Patch string `json:"patch" about:"Either a unified diff (git or plain, strict: line numbers and context must be right) or a patch between '*** Begin Patch' and '*** End Patch' with '*** Add File: PATH', '*** Delete File: PATH', '*** Update File: PATH' (optionally followed by '*** Move to: PATH'); hunks of an update begin with '@@' or '@@ LINE TO FIND FIRST', then lines that begin with ' ' (context), '-' (removed) or '+' (added). Paths are relative to the workspace."`

	sections []section
	paths    []policy.Path // that the patch names, with what happens to each
}

// Patch is the tool apply_patch. It changes files by a patch, either a unified diff or the *** Begin Patch format. Fail
// may be nil.
func Patch(fail Fail) Writer {
	return writer(tool.Declaration[patchArgs, written]{
		Info: effect.ToolInfo{
			Name:        "apply_patch",
			Description: "Change files by a patch. Either every change of the patch is made or none.",
			Permissions: []policy.Permission{policy.FSRead, policy.FSWrite, policy.FSDelete},
			SideEffects: []string{"changes, creates, moves and deletes files of the workspace"},
		},
		Normalize: (*patchArgs).parse,
		Request: func(a patchArgs) policy.Request {
			r := policy.Request{Paths: a.paths, Files: len(a.paths)}
			for _, p := range a.paths {
				need := policy.FSWrite
				if p.Op == policy.OpDelete {
					need = policy.FSDelete
				}
				if !slices.Contains(r.Permissions, need) {
					r.Permissions = append(r.Permissions, need)
				}
			}
			return r
		},
	}, fail, func(a patchArgs, d *draft) error { return applyPatch(d, a.sections) })
}

func (a *patchArgs) parse() (err error) {
	a.sections, err = parsePatch(a.Patch)
	for _, s := range a.sections {
		op := policy.OpWrite
		if s.action == actionDelete || s.moveTo != "" {
			op = policy.OpDelete
		}
		for _, p := range []policy.Path{{Rel: s.path, Op: op}, {Rel: s.moveTo, Op: policy.OpWrite}} {
			if p.Rel == "" {
				continue
			}
			if p.Rel, err = effect.CleanPath(p.Rel); err != nil {
				return err
			}
			a.paths = append(a.paths, p)
		}
	}
	return err
}

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
