package search

import (
	"context"
	"errors"
	"io/fs"

	"pawl"
	"pawl/driver/tool"
	"pawl/kernel/effect"
	"pawl/sandbox/ignore"
	"pawl/sandbox/safeopen"
	"pawl/text/policy"
)

const (
	defaultTimeMS = 60_000
	maxEntries    = 2_000 // entries of list_dir and files of glob_file_search in one answer
)

// errEnough ends a walk whose answer is full.
var errEnough = errors.New("enough")

// reader makes a tool that looks around of what is its own: its declaration, where its arguments have the path of the
// folder or file to search, which is the whole workspace unless given, and what it does there.
func reader[A, P any](own tool.Declaration[A, P], at func(*A) *string,
	do func(context.Context, *opened, A) (*P, error)) tool.Tool {
	own.Info.Version, own.Info.DefaultTimeMS = "1.0.0", defaultTimeMS
	own.Info.Permissions, own.Info.SideEffects = []policy.Permission{policy.FSRead}, []string{}
	own.Info.Idempotent = true
	rest := own.Normalize
	own.Normalize = func(a *A) (err error) {
		p := at(a)
		if *p == "" {
			*p = "."
		}
		if *p, err = effect.CleanPath(*p); err == nil && rest != nil {
			err = rest(a)
		}
		return err
	}
	own.Request = func(a A) policy.Request { return request(*at(&a)) }
	own.Do = func(ctx context.Context, c *tool.Call, a A) (*P, error) {
		o, err := open(c.Effect.Place, *at(&a))
		if err != nil {
			return nil, err
		}
		defer o.close()
		p, err := do(ctx, o, a)
		if err != nil {
			return nil, err // half an answer is none
		}
		return p, nil
	}
	return tool.New(own)
}

func request(rel string) policy.Request {
	return policy.Request{Paths: []policy.Path{{Rel: rel, Op: policy.OpRead}}}
}

// opened is what is searched: a path of a tree, with what is not to be seen of that.
type opened struct {
	root   *safeopen.Root
	hidden *ignore.Hidden
	rel    string
	info   fs.FileInfo
}

// open opens a tree and checks that a path in it can be searched. The caller closes it.
func open(at effect.Place, p string) (*opened, error) {
	rel, err := effect.LocalPath(p)
	if err != nil {
		return nil, err
	}
	o := &opened{rel: rel}
	if o.root, err = safeopen.OpenRoot(at.Tree); err != nil {
		return nil, err
	}
	if o.hidden, err = ignore.Open(o.root, at.Workspace); err == nil {
		o.info, err = stat(o.root, rel)
	}
	if err == nil {
		err = o.hidden.Refuse(rel)
	}
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

func (o *opened) close() {
	o.hidden.Close()
	_ = o.root.Close() // nothing was written
}

// each visits what is in a folder, and below it down to a depth, until the answer is full.
func (o *opened) each(ctx context.Context, depth int, visit func(rel string, d fs.DirEntry) error) error {
	if !o.info.IsDir() {
		return pawl.Fail(pawl.CodeInvalid, "search.not_folder", o.rel).In("search.walk")
	}
	w := walker{ctx: ctx, root: o.root, hidden: o.hidden, depth: depth,
		visit: func(_ *safeopen.Dir, rel string, d fs.DirEntry) error { return visit(rel, d) }}
	if err := w.walk(o.rel); err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return nil
}
