package verify

import (
	"context"
	"path/filepath"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

const maxDirty = 100 // files that a ContextResult names, as effect documents

// Context is the driver for effect.KindContext: it describes the workspace to whoever plans. It only reads.
type Context struct {
	host    Host
	open    OpenTree
	status  Status
	inspect func(dir string) policy.Repo
}

// NewContext returns the driver.
func NewContext(host Host, open OpenTree, status Status) *Context {
	return &Context{host: host, open: open, status: status}
}

// Inspecting returns the same driver with what tells what a git in a folder would obey. Without it that stays unknown.
func (c *Context) Inspecting(inspect func(dir string) policy.Repo) *Context {
	with := *c
	with.inspect = inspect
	return &with
}

// Do answers with a ContextResult: what git says of the place, and what Detect finds in its tree or, while the task's
// tree is not made yet, in the workspace.
func (c *Context) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	return effect.Outcome(c.describe(ctx, e))
}

// Done says no: reading again is harmless.
func (c *Context) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

func (c *Context) describe(ctx context.Context, e effect.Effect) (effect.ContextResult, error) {
	if err := ctx.Err(); err != nil {
		return effect.ContextResult{}, stopError(err)
	}
	if _, err := effect.Decode[effect.ContextSpec](e.Spec); err != nil {
		return effect.ContextResult{}, err
	}
	if !filepath.IsAbs(e.Place.Workspace) {
		return effect.ContextResult{}, pawl.Fail(pawl.CodeInvalid, "verify.no_place").In("verify.Context")
	}
	dir := e.Place.Workspace
	if isDir(e.Place.Tree) {
		dir = e.Place.Tree
	}
	tree, closer, err := c.open(dir)
	if err != nil {
		return effect.ContextResult{}, ioError("verify.tree_unreadable", dir, err)
	}
	defer closer.Close()
	out, err := detect(tree, c.host.find(e.Place), func(s *scan, ecosystem string, d *folder) []effect.Need {
		return (&pantry{scan: s, host: c.host, place: e.Place, base: dir}).needs(ecosystem, d)
	})
	if err != nil {
		return out, err
	}
	out.Head, out.Branch, out.Dirty, err = c.status(ctx, e.Place)
	if err != nil {
		return out, err
	}
	if len(out.Dirty) > maxDirty {
		out.Dirty = out.Dirty[:maxDirty]
	}
	if c.inspect != nil {
		out.Repo = c.inspect(e.Place.Workspace)
	}
	return out, nil
}

// Checks returns what a Context finds of a place without asking git: above all the commands that check it.
func Checks(ctx context.Context, host Host, place effect.Place) (effect.ContextResult, error) {
	nothing := func(context.Context, effect.Place) (string, string, []string, error) { return "", "", nil, nil }
	r := NewContext(host, OpenDir, nothing).Do(ctx,
		effect.Effect{Kind: effect.KindContext, Place: place, Spec: effect.Encode(effect.ContextSpec{})}, nil)
	if !r.OK {
		return effect.ContextResult{}, r.Err()
	}
	return effect.Decode[effect.ContextResult](r.Result)
}
