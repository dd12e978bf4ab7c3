package contextpack

import (
	"context"
	"slices"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/safeopen"
)

// Semantic finds places by meaning. The Source, Score and order of its hits are not trusted, and hits of files that are
// not in the workspace are dropped.
type Semantic interface {
	Search(ctx context.Context, tree, requirement string, most int) ([]effect.Hit, error)
}

// Options configure a Builder. Walk is required.
type Options struct {
	Walk Walk
	// Box runs ctags behind walls, LookPath says where it is, and Env is the environment to run it in. Without one of
	// the first two, declarations of languages other than Go are guessed from the layout.
	Box      Runner
	LookPath func(program string) (string, bool)
	Env      []string
	// Semantic is an index by meaning, nil for none. Wanted says that one is configured, so that its absence is
	// recorded.
	Semantic       Semantic
	SemanticWanted bool
}

// Builder builds packs. It keeps what it knows of the trees that it saw last, and builds one pack at a time; it is safe
// for concurrent use.
type Builder struct {
	o    Options
	tags *tagger
	turn chan struct{} // holds a value while a pack is built
	// held are the indexes of the trees that were seen last, newest last. They share one table.
	held  []held
	words *table
	// unsaved are entries of the workspace that are not in its cache.
	unsaved []*entry
}

type held struct {
	dir string
	*index
}

// maxTrees is the number of trees that are remembered.
const maxTrees = 4

// New returns a Builder.
func New(o Options) *Builder {
	b := &Builder{o: o, turn: make(chan struct{}, 1), words: newTable()}
	if o.Box != nil && o.LookPath != nil {
		if program, ok := o.LookPath("ctags"); ok {
			b.tags = &tagger{box: o.Box, program: program, env: o.Env}
		}
	}
	return b
}

// Build builds a pack for the tree of a place; a place whose tree is not made yet is described by its workspace. What
// could not be used is named in Degraded and is no error. The errors are CodeInvalid for a budget below 1,
// CodeCanceled, and those of opening and listing the tree.
func (b *Builder) Build(ctx context.Context, a Ask) (effect.ContextPack, error) {
	const op = "contextpack.Build"
	if a.Tokens < 1 {
		return effect.ContextPack{}, pawl.Fail(pawl.CodeInvalid, "context.no_budget", a.Tokens).In(op)
	}
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return effect.ContextPack{}, pawl.Fail(pawl.CodeCanceled, "context.canceled").In(op).Because(context.Cause(ctx))
	}
	dir := a.Place.Tree
	root, err := safeopen.OpenRoot(dir)
	if pawl.CodeOf(err) == pawl.CodeNotFound || dir == "" {
		dir = a.Place.Workspace
		root, err = safeopen.OpenRoot(dir)
	}
	if err != nil {
		return effect.ContextPack{}, err
	}
	defer root.Close()
	p := packer{ctx: ctx, root: root, ask: a, texts: map[int32][]byte{}, starts: map[int32][]int32{}}
	ix, err := b.index(ctx, root, a.Place, &p)
	if err != nil {
		return effect.ContextPack{}, err
	}
	p.corpus = ix.corpus
	b.bySense(&p)
	return p.pack()
}

// index brings the index of a tree up to date. Only that of the workspace is kept on disk, because the trees of tasks
// come and go; they begin with what is known of the workspace.
func (b *Builder) index(ctx context.Context, root *safeopen.Root, place effect.Place, p *packer) (*index, error) {
	disk := openCache(place, b.tags != nil)
	defer disk.close()
	old := b.known(root.Dir())
	if old == nil {
		old = b.known(disk.workspace())
	}
	if old == nil {
		old = &index{t: b.words, files: map[string]*entry{}}
		disk.load(old)
	}
	r := reader{ctx: ctx, root: root, old: old, now: time.Now(), tags: b.tags}
	ix, err := r.refresh(b.o.Walk)
	if err != nil {
		return nil, err
	}
	p.degrade(r.cut, "context.too_many")
	p.degrade(r.untold || b.tags == nil && hasTagged(ix), "context.no_tags")
	if disk.workspace() == root.Dir() {
		b.unsaved = append(b.unsaved, r.news...)
		p.degrade(b.save(disk, ix) != nil, "context.no_cache")
	}
	b.held = slices.DeleteFunc(b.held, func(h held) bool { return h.dir == root.Dir() })
	if len(b.held) == maxTrees {
		b.held = slices.Delete(b.held, 0, 1)
	}
	b.held = append(b.held, held{root.Dir(), ix})
	return ix, nil
}

// A cache that lacks a few files costs the next process less than writing it after each edit would cost this one.
const (
	fewFiles = 32
	fewShare = 50 // of the files, one in so many
)

// save writes the cache when enough is new since the last time.
func (b *Builder) save(disk *cache, ix *index) error {
	b.unsaved = slices.DeleteFunc(b.unsaved, func(e *entry) bool { return ix.files[e.path] != e })
	if len(b.unsaved) <= max(fewFiles, len(ix.files)/fewShare) {
		return nil
	}
	err := disk.save(ix)
	if err == nil {
		b.unsaved = nil
	}
	return err
}

func (b *Builder) known(dir string) *index {
	for _, h := range b.held {
		if h.dir == dir {
			return h.index
		}
	}
	return nil
}

// hasTagged reports whether there is a file that ctags would have been asked about.
func hasTagged(ix *index) bool {
	for _, e := range ix.files {
		if styles[e.lang].tags {
			return true
		}
	}
	return false
}

// maxSense is the number of places that an index by meaning is asked for.
const maxSense = 20

// bySense asks the index by meaning, if one is configured. Without it words alone decide, and the pack says so.
func (b *Builder) bySense(p *packer) {
	if b.o.Semantic == nil {
		p.degrade(b.o.SemanticWanted, "context.no_semantic")
		return
	}
	hits, err := b.o.Semantic.Search(p.ctx, p.root.Dir(), p.ask.text(), maxSense)
	p.degrade(err != nil, "context.no_semantic")
	if err == nil {
		p.sense = hits[:min(len(hits), maxSense)]
	}
}
