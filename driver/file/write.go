package file

import (
	"path"
	"strings"

	"pawl"
	"pawl/driver/tool"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

type writeArgs struct {
	Path       string `json:"path" min:"1" max:"4096" about:"File, relative to the workspace."`
	Content    string `json:"content" about:"The whole content. Line endings are written as given."`
	CreateDirs *bool  `json:"create_dirs,omitempty" about:"Create missing folders; true unless given."`
	Executable *bool  `json:"executable,omitempty" about:"Set or clear the permission to execute; the mode stays as it is unless given."`
}

// Write is the tool write_file. It gives one file its whole content. Fail may be nil.
func Write(fail Fail) Writer {
	return writer(tool.Declaration[writeArgs, written]{
		Info: effect.ToolInfo{
			Name:        "write_file",
			Description: "Create a file or replace its whole content, at most 10 MiB.",
			Permissions: []policy.Permission{policy.FSWrite},
			SideEffects: []string{"creates or replaces a file of the workspace, with its missing folders"},
		},
		Normalize: func(a *writeArgs) error { return cleanFile(&a.Path) },
		Request:   func(a writeArgs) policy.Request { return request(a.Path, policy.OpWrite) },
	}, fail, writeArgs.plan)
}

func (a writeArgs) plan(d *draft) error {
	now, err := d.get(a.Path)
	if err != nil {
		return err
	}
	if dir := path.Dir(a.Path); a.CreateDirs != nil && !*a.CreateDirs && dir != "." {
		if c, err := d.look(dir); err != nil || !c.dir {
			return pawl.Fail(pawl.CodeNotFound, "file.no_folder", dir).In("file.write").Because(err)
		}
	}
	next := content{exists: true, data: []byte(a.Content), mode: now.mode}
	if next.mode == 0 {
		next.mode = defaultMode
	}
	if a.Executable != nil {
		next.mode &^= 0o111
		if *a.Executable {
			next.mode |= next.mode >> 2 & 0o111 // whoever may read it may run it
		}
	}
	return d.put(a.Path, next)
}

// request is what a call asks of policy that is about one file.
func request(rel string, op policy.Op) policy.Request {
	return policy.Request{Paths: []policy.Path{{Rel: rel, Op: op}}, Files: 1}
}

// cleanFile is effect.CleanPath for what must be a file: a slash at the end says that a folder is meant.
func cleanFile(p *string) (err error) {
	if strings.HasSuffix(*p, "/") {
		return pawl.Fail(pawl.CodeInvalid, "file.is_folder", *p).In("file.args")
	}
	*p, err = effect.CleanPath(*p)
	return err
}
