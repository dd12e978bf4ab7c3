package search

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

const (
	defaultTimeMS = 60_000
	maxEntries    = 2_000 // entries of list_dir and files of glob_file_search in one answer
)

// errEnough ends a walk whose answer is full.
var errEnough = errors.New("enough")

// answer wraps a search as the receipt of a call.
func answer(e effect.Effect, run func(call effect.ToolCall) (any, error)) effect.Receipt {
	start := time.Now()
	call, err := effect.Decode[effect.ToolCall](e.Spec)
	var payload any
	if err == nil {
		payload, err = run(call)
	}
	r := effect.Failed(err)
	if err == nil {
		r = effect.Succeeded(effect.ToolResult{
			CallID: call.CallID, Payload: effect.Encode(payload), DurationMS: time.Since(start).Milliseconds(),
			Artifacts: effect.Artifacts{FilesChanged: []string{}, CommandsRun: []string{}},
		})
	}
	r.Start, r.End = start, time.Now()
	return r
}

func request(tool, rel string) policy.Request {
	return policy.Request{Tool: tool, Permissions: []policy.Permission{policy.FSRead},
		Paths: []policy.Path{{Rel: rel, Op: policy.OpRead}}}
}

func info(name, about string, args, result effect.Object) effect.ToolInfo {
	return effect.ToolInfo{
		Name: name, Version: "1.0.0", Description: about,
		ArgsSchema: args.Schema(), ReturnSchema: result.Schema(),
		Permissions: []policy.Permission{policy.FSRead}, SideEffects: []string{},
		Idempotent: true, DefaultTimeMS: defaultTimeMS,
	}
}

// decode reads arguments whose path is a folder or file to search, the whole workspace unless given.
func decode(params effect.Object, raw json.RawMessage, into any, at *string) error {
	if err := params.Decode(raw, into); err != nil {
		return err
	}
	if *at == "" {
		*at = "."
	}
	clean, err := effect.CleanPath(*at)
	*at = clean
	return err
}

// List is the tool list_dir. It lists a folder, and the folders in it down to a depth, in the order of names.
type List struct{}

type listArgs struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"`
}

var listParams = effect.Object{
	{Name: "path", Type: effect.String, Max: 4096,
		About: "Folder, relative to the workspace; the workspace itself unless given."},
	{Name: "depth", Type: effect.Integer, Min: 1, Max: 64, About: "Levels to list; 1 unless given."},
}

var listReturn = effect.Object{
	{Name: "path", Type: effect.String, Required: true},
	{Name: "entries", Type: effect.Objects, Required: true, Fields: effect.Object{
		{Name: "path", Type: effect.String, Required: true},
		{Name: "type", Type: effect.String, Required: true, Enum: []string{"file", "dir", "link", "other"}},
		{Name: "size", Type: effect.Integer, Required: true, About: "Bytes of a file, else 0."},
	}},
	{Name: "truncated", Type: effect.Boolean, Required: true, About: "There are more than 2000 entries."},
}

type entry struct {
	Path string `json:"path"`
	Type string `json:"type"`
	Size int64  `json:"size"`
}

type listing struct {
	Path      string  `json:"path"`
	Entries   []entry `json:"entries"`
	Truncated bool    `json:"truncated"`
}

// Info describes the tool.
func (List) Info() effect.ToolInfo {
	return info("list_dir", "List the files and folders of a folder in the order of their names, without what .gitignore excludes.", listParams, listReturn)
}

// Request reduces a call to what policy judges. Malformed arguments are refused with pawl.CodeInvalid.
func (List) Request(args json.RawMessage) (policy.Request, error) {
	a, err := decodeList(args)
	return request("list_dir", a.Path), err
}

func decodeList(raw json.RawMessage) (listArgs, error) {
	a := listArgs{Depth: 1}
	return a, decode(listParams, raw, &a, &a.Path)
}

// Do lists the folder.
func (List) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	return answer(e, func(call effect.ToolCall) (any, error) {
		a, err := decodeList(call.Args)
		if err != nil {
			return nil, err
		}
		tree, rel, at, err := open(e, a.Path)
		if err != nil {
			return nil, err
		}
		defer tree.close()
		if !at.IsDir() {
			return nil, pawl.Fail(pawl.CodeInvalid, "search.not_folder", rel).In("search.list")
		}
		out := listing{Path: rel, Entries: []entry{}}
		w := walker{ctx: ctx, root: tree.root, hidden: tree.hidden, depth: a.Depth,
			visit: func(_ *folder, rel string, d fs.DirEntry) error {
				if len(out.Entries) == maxEntries {
					out.Truncated = true
					return errEnough
				}
				out.Entries = append(out.Entries, describe(rel, d))
				return nil
			}}
		if err := w.walk(rel); err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
		return out, nil
	})
}

// Done says no: searching again is the same as searching once.
func (List) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

// Undo succeeds, because there is nothing to undo.
func (List) Undo(context.Context, effect.Effect, effect.Receipt) effect.Receipt {
	return effect.Succeeded(effect.ToolResult{})
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

// Glob is the tool glob_file_search. It finds files by a pattern of their path.
type Glob struct{}

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

var globParams = effect.Object{
	{Name: "pattern", Type: effect.String, Required: true, Min: 1, Max: 1024,
		About: "Pattern of the path relative to the searched folder: * and ? stay within one name, ** spans folders, {a,b} and [a-z] choose. A pattern without a slash is searched at every depth."},
	{Name: "path", Type: effect.String, Max: 4096,
		About: "Folder to search, relative to the workspace; the workspace itself unless given."},
}

var globReturn = effect.Object{
	{Name: "files", Type: effect.Strings, Required: true,
		About: "Paths relative to the workspace, folder by folder in the order of names."},
	{Name: "truncated", Type: effect.Boolean, Required: true, About: "There are more than 2000 files."},
}

type found struct {
	Files     []string `json:"files"`
	Truncated bool     `json:"truncated"`
}

// Info describes the tool.
func (Glob) Info() effect.ToolInfo {
	return info("glob_file_search", "Find files by a pattern of their path, without what .gitignore excludes.",
		globParams, globReturn)
}

// Request reduces a call to what policy judges. Malformed arguments are refused with pawl.CodeInvalid.
func (Glob) Request(args json.RawMessage) (policy.Request, error) {
	a, err := decodeGlob(args)
	return request("glob_file_search", a.Path), err
}

func decodeGlob(raw json.RawMessage) (globArgs, error) {
	var a globArgs
	if err := decode(globParams, raw, &a, &a.Path); err != nil {
		return a, err
	}
	a.Pattern = anyDepth(strings.TrimPrefix(a.Pattern, "./"))
	return a, validPattern(a.Pattern)
}

// anyDepth makes a pattern that names no folder match in all of them.
func anyDepth(pattern string) string {
	if strings.Contains(pattern, "/") {
		return pattern
	}
	return "**/" + pattern
}

// maxStars bounds the ** of a pattern, because each multiplies the work of matching.
const maxStars = 6

func validPattern(pattern string) error {
	if !doublestar.ValidatePattern(pattern) || strings.Count(pattern, "**") > maxStars ||
		strings.Count(pattern, "{") > maxStars {
		return pawl.Fail(pawl.CodeInvalid, "search.bad_glob", pattern).In("search.args")
	}
	return nil
}

// Do finds the files.
func (Glob) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	return answer(e, func(call effect.ToolCall) (any, error) {
		a, err := decodeGlob(call.Args)
		if err != nil {
			return nil, err
		}
		tree, rel, at, err := open(e, a.Path)
		if err != nil {
			return nil, err
		}
		defer tree.close()
		if !at.IsDir() {
			return nil, pawl.Fail(pawl.CodeInvalid, "search.not_folder", rel).In("search.glob")
		}
		out := found{Files: []string{}}
		w := walker{ctx: ctx, root: tree.root, hidden: tree.hidden,
			visit: func(_ *folder, p string, d fs.DirEntry) error {
				if d.IsDir() || !doublestar.MatchUnvalidated(a.Pattern, below(rel, p)) {
					return nil
				}
				if len(out.Files) == maxEntries {
					out.Truncated = true
					return errEnough
				}
				out.Files = append(out.Files, p)
				return nil
			}}
		if err := w.walk(rel); err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
		return out, nil
	})
}

// Done says no: searching again is the same as searching once.
func (Glob) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

// Undo succeeds, because there is nothing to undo.
func (Glob) Undo(context.Context, effect.Effect, effect.Receipt) effect.Receipt {
	return effect.Succeeded(effect.ToolResult{})
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
