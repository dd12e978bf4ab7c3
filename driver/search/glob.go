package search

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"pawl"
	"pawl/driver/tool"
	"pawl/kernel/effect"
)

type globArgs struct {
	Pattern string `json:"pattern" min:"1" max:"1024" about:"Pattern of the path relative to the searched folder: * and ? stay within one name, ** spans folders, {a,b} and [a-z] choose. A pattern without a slash is searched at every depth."`
	Path    string `json:"path,omitempty" max:"4096" about:"Folder to search, relative to the workspace; the workspace itself unless given."`
}

type found struct {
	Files     []string `json:"files" about:"Paths relative to the workspace, folder by folder in the order of names."`
	Truncated bool     `json:"truncated" about:"There are more than 2000 files."`
}

// Glob is the tool glob_file_search. It finds files by a pattern of their path.
func Glob() tool.Tool {
	return reader(tool.Declaration[globArgs, found]{
		Info: effect.ToolInfo{Name: "glob_file_search",
			Description: "Find files by a pattern of their path, without what .gitignore excludes."},
		Normalize: func(a *globArgs) error { return anyDepth(&a.Pattern) },
	}, func(a *globArgs) *string { return &a.Path }, globFiles)
}

func globFiles(ctx context.Context, o *opened, a globArgs) (*found, error) {
	out := &found{Files: []string{}}
	return out, o.each(ctx, 0, func(p string, d fs.DirEntry) error {
		if d.IsDir() || !doublestar.MatchUnvalidated(a.Pattern, below(o.rel, p)) {
			return nil
		}
		if len(out.Files) == maxEntries {
			out.Truncated = true
			return errEnough
		}
		out.Files = append(out.Files, p)
		return nil
	})
}

// maxStars bounds the ** of a pattern, because each multiplies the work of matching.
const maxStars = 6

// anyDepth makes a pattern that names no folder match in all of them, and refuses one that is malformed.
func anyDepth(pattern *string) error {
	p := strings.TrimPrefix(*pattern, "./")
	if !strings.Contains(p, "/") {
		p = "**/" + p
	}
	if !doublestar.ValidatePattern(p) || strings.Count(p, "**") > maxStars || strings.Count(p, "{") > maxStars {
		return pawl.Fail(pawl.CodeInvalid, "search.bad_glob", p).In("search.args")
	}
	*pattern = p
	return nil
}

// below returns p relative to a folder above it.
func below(dir, p string) string {
	if dir == "." {
		return p
	}
	if dir == p {
		return path.Base(p)
	}
	return strings.TrimPrefix(p, dir+"/")
}
