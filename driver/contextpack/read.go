package contextpack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"strings"
	"time"

	"pawl"
	"pawl/sandbox/safeopen"
	"pawl/text/policy"
)

// youth is how long a file counts as young: the coarsest clock of the file systems in use ticks every two seconds.
const youth = 2 * time.Second

// index is what is known of one tree. The table is shared by all indexes of a Builder.
type index struct {
	t     *table
	files map[string]*entry
	// list is the same files in the order of the walk.
	list   []*entry
	corpus *corpus // what ranking needs, made from the list; nil before the tree was read
}

// Bounds of reading.
const (
	maxFiles   = 50_000   // files of a tree; what is behind them in the order of names is left out
	maxContent = 1 << 20  // bytes of a file that is read as a whole
	maxRead    = 2 << 30  // bytes that are read in one go; later files are known by name only
	maxHeld    = 96 << 20 // bytes of sources that wait for ctags
	window     = 32 << 10 // bytes of one sample of a large file
	samples    = 8
	sniff      = 8_000 // bytes in which a NUL makes a file binary
	maxWorkers = 4
)

// There may not be more files than a node can hold: this does not compile otherwise.
const _ = uint(1<<(31-nodeBits) - maxFiles)

// errEnough ends a walk that found all that it may.
var errEnough = errors.New("enough")

// job is a file to analyse.
type job struct {
	*entry
	data  []byte
	found []outlined
}

// reader brings an index up to date.
type reader struct {
	ctx  context.Context
	root *safeopen.Root
	old  *index
	now  time.Time
	tags *tagger // nil for none

	kept    map[string]*entry // the files that are there
	list    []*entry
	changed []*entry // of them: those that were read
	news    []*entry // of these: those of which the cache should know more than it did
	waiting []job    // for ctags
	held    int64
	read    int64
	work    chan job
	cut     bool // not everything was read
	untold  bool // declarations of some files were guessed
}

// refresh returns an index of what is in the root now, the entries that are new in it, and what was left out.
func (r *reader) refresh(walk Walk) (*index, error) {
	r.kept = make(map[string]*entry, len(r.old.files)+64)
	r.work = make(chan job, 64)
	pool := r.analysts()
	err := walk(r.ctx, r.root, r.visit)
	if errors.Is(err, errEnough) {
		r.cut, err = true, nil
	}
	if err == nil {
		err = r.askTags()
	}
	close(r.work)
	for _, a := range pool {
		<-a.done
	}
	for _, a := range pool {
		to := r.old.t.adopt(a.t)
		for _, e := range a.out {
			e.translate(to)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := r.ctx.Err(); err != nil {
		return nil, pawl.Fail(pawl.CodeCanceled, "context.canceled").In("contextpack.Build").Because(err)
	}
	ix := &index{t: r.old.t, files: r.kept, list: r.list}
	ix.corpus = newCorpus(ix.t, ix.list, r.old.corpus)
	return ix, nil
}

// worker analyses files with a table of its own.
type worker struct {
	analyst
	out  []*entry
	done chan struct{}
}

func (r *reader) analysts() []*worker {
	pool := make([]*worker, min(runtime.GOMAXPROCS(0), maxWorkers))
	for i := range pool {
		w := &worker{analyst: analyst{t: newTable()}, done: make(chan struct{})}
		pool[i] = w
		go func() {
			defer close(w.done)
			for j := range r.work {
				*j.facts = *w.analyse(j.path, j.data, j.found)
				if j.stamp.size > maxContent {
					j.marks |= sampled
				}
				w.out = append(w.out, j.entry)
			}
		}()
	}
	return pool
}

// visit is called for each file of the tree. Names that are no text, or that a model could be made to misread, are left
// out.
func (r *reader) visit(in *safeopen.Dir, rel string, d fs.DirEntry) error {
	was := r.old.files[rel]
	if was == nil && (foreign(rel) || len(rel) > 1024 || clean(rel) != rel || strings.ContainsAny(rel, "\n\t")) {
		return nil
	}
	if len(r.kept) == maxFiles {
		return errEnough
	}
	info, err := d.Info()
	if err != nil {
		return nil // gone meanwhile
	}
	at := stamp{info.Size(), info.ModTime().UnixNano(), inode(info)}
	if was != nil && was.stamp == at && !was.young {
		r.keep(was)
		return nil
	}
	e := &entry{path: rel, stamp: at, young: r.now.Sub(info.ModTime()) < youth}
	r.keep(e)
	r.changed = append(r.changed, e)
	if was == nil || was.stamp != at || !e.young {
		r.news = append(r.news, e)
	}
	return r.learn(in, e, was)
}

// learn gives a file its facts: those that it had, where only its look is new, and otherwise those that are found in
// its content, now or when ctags was asked.
func (r *reader) learn(in *safeopen.Dir, e, was *entry) error {
	data := r.content(in, e)
	if data == nil {
		e.facts = &facts{marks: unread}
		return nil
	}
	digest := sha256.Sum256(data)
	copy(e.sum[:], digest[:])
	if was != nil && was.sum == e.sum {
		e.facts = was.facts
		return nil
	}
	e.facts = &facts{}
	lang := languageOf(e.path, data)
	switch {
	case e.stamp.size > maxContent:
		// Line numbers mean nothing in samples, so nothing is declared in them.
		return r.hand(job{entry: e, data: data, found: []outlined{}})
	case !styles[lang].tags:
	case r.tags == nil || r.held+int64(len(data)) > maxHeld:
		r.untold = true
	default:
		r.held += int64(len(data))
		r.waiting = append(r.waiting, job{entry: e, data: data})
		return nil
	}
	return r.hand(job{entry: e, data: data})
}

func (r *reader) keep(e *entry) {
	r.kept[e.path] = e
	r.list = append(r.list, e)
}

func (r *reader) hand(j job) error {
	select {
	case r.work <- j:
		return nil
	case <-r.ctx.Done():
		return pawl.Fail(pawl.CodeCanceled, "context.canceled").In("contextpack.Build").Because(context.Cause(r.ctx))
	}
}

// foreign reports whether a path belongs to code that the project only carries along.
func foreign(rel string) bool { return inFolder(rel, "node_modules", "vendor", ".git", ".hg", ".svn") }

// content reads a file, or samples of a large one; nil is for what has no text that may be read.
func (r *reader) content(in *safeopen.Dir, e *entry) []byte {
	if e.stamp.size > maxContent {
		r.read += samples * window
	} else {
		r.read += e.stamp.size
	}
	if r.read > maxRead {
		r.cut = true
		return nil
	}
	if secret(e.path) {
		return nil
	}
	var data []byte
	var err error
	if e.stamp.size > maxContent {
		data, err = r.sample(e)
	} else {
		data, err = in.ReadFile(path.Base(e.path), maxContent, nil)
	}
	if err != nil || bytes.IndexByte(data[:min(len(data), sniff)], 0) >= 0 {
		return nil
	}
	if data == nil {
		return []byte{}
	}
	return data
}

// sample reads windows that are spread evenly over a large file, cut to whole lines.
func (r *reader) sample(e *entry) ([]byte, error) {
	var out []byte
	step := (e.stamp.size - window) / (samples - 1)
	for i := range int64(samples) {
		part, err := r.root.ReadRange(e.path, i*step, window)
		if err != nil {
			return nil, err
		}
		if cut := bytes.IndexByte(part, '\n'); i > 0 && cut >= 0 {
			part = part[cut+1:]
		}
		out = append(out, part...)
	}
	return out, nil
}

// secret reports whether policy refuses to have a file read.
func secret(rel string) bool {
	req := policy.Request{Tool: "grep", Permissions: []policy.Permission{policy.FSRead},
		Paths: []policy.Path{{Rel: rel, Op: policy.OpRead}}}
	return policy.Judge(req, policy.Standard()).Decision == policy.Deny
}

// askTags has ctags find the declarations of the files that wait for it. Where it fails they are guessed.
func (r *reader) askTags() error {
	if len(r.waiting) == 0 {
		return nil
	}
	paths := make([]string, len(r.waiting))
	for i, j := range r.waiting {
		paths[i] = j.path
	}
	found, err := r.tags.ask(r.ctx, r.root.Dir(), paths)
	if err != nil {
		r.untold = true
	}
	for _, j := range r.waiting {
		j.found = found[j.path]
		if err := r.hand(j); err != nil {
			return err
		}
	}
	return nil
}

// Walk visits the regular files of a tree with the open folder that each is in, without what .gitignore excludes.
// search.Files is one. It returns the error with which visit ended it.
type Walk func(ctx context.Context, root *safeopen.Root,
	visit func(in *safeopen.Dir, rel string, d fs.DirEntry) error) error
