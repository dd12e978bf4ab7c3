package search

import (
	"context"
	"io/fs"

	"pawl/driver/tool"
	"pawl/kernel/effect"
)

type listArgs struct {
	Path  string `json:"path,omitempty" max:"4096" about:"Folder, relative to the workspace; the workspace itself unless given."`
	Depth int    `json:"depth,omitempty" min:"1" max:"64" about:"Levels to list; 1 unless given."`
}

type listing struct {
	Path      string  `json:"path"`
	Entries   []entry `json:"entries"`
	Truncated bool    `json:"truncated" about:"There are more than 2000 entries."`
}

type entry struct {
	Path string `json:"path"`
	Type string `json:"type" enum:"file,dir,link,other"`
	Size int64  `json:"size" about:"Bytes of a file, else 0."`
}

// List is the tool list_dir. It lists a folder, and the folders in it down to a depth, in the order of names.
func List() tool.Tool {
	return reader(tool.Declaration[listArgs, listing]{
		Info:     effect.ToolInfo{Name: "list_dir", Description: "List the files and folders of a folder in the order of their names, without what .gitignore excludes."},
		Defaults: listArgs{Depth: 1},
	}, func(a *listArgs) *string { return &a.Path }, listFolder)
}

func listFolder(ctx context.Context, o *opened, a listArgs) (*listing, error) {
	out := &listing{Path: o.rel, Entries: []entry{}}
	return out, o.each(ctx, a.Depth, func(rel string, d fs.DirEntry) error {
		if len(out.Entries) == maxEntries {
			out.Truncated = true
			return errEnough
		}
		out.Entries = append(out.Entries, describe(rel, d))
		return nil
	})
}

func describe(rel string, d fs.DirEntry) entry {
	out := entry{Path: rel, Type: "other"}
	switch {
	case d.IsDir():
		out.Type = "dir"
	case d.Type() == fs.ModeSymlink:
		out.Type = "link"
	case d.Type().IsRegular():
		out.Type = "file"
		if info, err := d.Info(); err == nil {
			out.Size = info.Size()
		}
	}
	return out
}
