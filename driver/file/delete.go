package file

import (
	"pawl/driver/tool"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

type deleteArgs struct {
	Path string `json:"path" min:"1" max:"4096" about:"File, relative to the workspace. Folders are refused."`
}

// Delete is the tool delete_file. It removes one regular file; folders stay. Fail may be nil.
func Delete(fail Fail) Writer {
	return writer(tool.Declaration[deleteArgs, written]{
		Info: effect.ToolInfo{
			Name:        "delete_file",
			Description: "Delete one file. It can be undone.",
			Permissions: []policy.Permission{policy.FSDelete},
			SideEffects: []string{"deletes a file of the workspace"},
		},
		Normalize: func(a *deleteArgs) error { return cleanFile(&a.Path) },
		Request:   func(a deleteArgs) policy.Request { return request(a.Path, policy.OpDelete) },
	}, fail, func(a deleteArgs, d *draft) error { return section{action: actionDelete, path: a.Path}.applyTo(d) })
}
