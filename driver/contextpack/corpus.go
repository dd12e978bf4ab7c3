package contextpack

import (
	"math"
	"path"
	"slices"
	"strings"
)

// corpus is an index laid out for ranking: every declaration of every file is a node, and a node has an edge to each
// declaration whose name it uses. It belongs to one Builder, which ranks one requirement at a time.
type corpus struct {
	t     *table
	files []*entry
	*folders
	seen       map[int32][]int32 // by file: the folders that it imports, found when they are asked for
	from, defs []int32           // the nodes that declare a name are defs[from[id]:from[id+1]], in their order
	users      []int32           // by name: how many nodes use it
	nodes      int
}

// folders are those of the files of a corpus.
type folders struct {
	dirs  []string         // by file
	dir   []int32          // by file: the number of its folder
	named map[string]int32 // the numbers of the folders
	stems []string         // by file: its name without what says what kind of file it is
	marks []uint64         // by file: the mark of its stem
	aside []bool           // by file: it is in a folder of what is seldom meant
}

// A node is the number of its file and, in the lowest bits, that of the declaration in it, so that a change of one file
// leaves the nodes of all others as they are.
const (
	nodeBits = 12
	nodeMask = 1<<nodeBits - 1
)

// A file may not declare more than a node can hold: this does not compile otherwise.
const _ = uint(nodeMask - maxSymbols)

func stemOf(p string) string {
	base := path.Base(p)
	return strings.TrimSuffix(strings.TrimSuffix(base, path.Ext(base)), "_test")
}

func nodeOf(file, symbol int) int32 { return int32(file)<<nodeBits | int32(symbol) }

// fileOf returns the file of a node.
func fileOf(node int32) int32 { return node >> nodeBits }

// newCorpus lays out an index. Old is the corpus of what the index was before, nil for none: what no change touched is
// taken from it, and it stays as it is.
func newCorpus(t *table, files []*entry, old *corpus) *corpus {
	c := &corpus{t: t, files: files, seen: map[int32][]int32{}, users: make([]int32, len(t.list))}
	same := old != nil && old.t == t
	same = same && slices.EqualFunc(old.files, files, func(a, b *entry) bool { return a.path == b.path })
	if same {
		c.folders = old.folders
		copy(c.users, old.users)
	} else {
		c.folders = foldersOf(files)
	}
	for i, f := range c.files {
		if !same {
			c.count(f, 1)
		} else if was := old.files[i]; was.facts != f.facts {
			c.count(was, -1)
			c.count(f, 1)
		}
	}
	c.layOut()
	return c
}

// count adds so many uses for each name that a file uses.
func (c *corpus) count(f *entry, n int32) {
	for i := range f.symbols {
		for _, r := range f.symbols[i].refs {
			c.users[r] += n
		}
	}
}

// layOut sorts the nodes by the names that they declare.
func (c *corpus) layOut() {
	c.from = make([]int32, len(c.t.list)+2)
	for _, f := range c.files {
		c.nodes += len(f.symbols)
		for i := range f.symbols {
			c.from[f.symbols[i].name+2]++
		}
	}
	for i := 2; i < len(c.from); i++ {
		c.from[i] += c.from[i-1]
	}
	c.defs = make([]int32, c.nodes)
	for i, f := range c.files {
		for n := range f.symbols {
			name := f.symbols[n].name
			c.defs[c.from[name+1]] = nodeOf(i, n)
			c.from[name+1]++
		}
	}
	c.from = c.from[:len(c.from)-1]
}

func foldersOf(files []*entry) *folders {
	n := len(files)
	out := &folders{named: map[string]int32{}, dirs: make([]string, n), dir: make([]int32, n)}
	out.stems, out.marks, out.aside = make([]string, n), make([]uint64, n), make([]bool, n)
	for i, f := range files {
		out.dirs[i] = path.Dir(f.path)
		d, ok := out.named[out.dirs[i]]
		if !ok {
			d = int32(len(out.named))
			out.named[out.dirs[i]] = d
		}
		out.dir[i] = d
		out.stems[i] = stemOf(f.path)
		out.marks[i] = markOf([]byte(out.stems[i]))
		out.aside[i] = inFolder(f.path, "testdata", "third_party", "fixtures", "dist", "build", "examples", "example")
	}
	return out
}

func (c *corpus) symbol(node int32) *symbol { return &c.files[fileOf(node)].symbols[node&nodeMask] }

// declaring returns the nodes that declare a name, in their order.
func (c *corpus) declaring(name uint32) []int32 { return c.defs[c.from[name]:c.from[name+1]] }

// enclosing returns the innermost declaration around a line, -1 for none.
func (c *corpus) enclosing(file int32, line int) int32 {
	out := int32(-1)
	for i, s := range c.files[file].symbols {
		if int(s.start) > line {
			break
		}
		if int(s.end) >= line {
			out = nodeOf(int(file), i)
		}
	}
	return out
}

// find returns the files that a name in a text means: the whole path, or else the files whose path ends with as many of
// its components as any does.
func (c *corpus) find(name string) []int32 {
	var out []int32
	best := 0
	want := strings.Split(strings.Trim(name, "/"), "/")
	for i, f := range c.files {
		if !strings.HasSuffix(f.path, want[len(want)-1]) {
			continue
		}
		n := shared(strings.Split(f.path, "/"), want)
		if n > best {
			best, out = n, nil
		}
		if n > 0 && n == best {
			out = append(out, int32(i))
		}
	}
	// A name that stands for many files points at none of them.
	if len(out) > 8 {
		return nil
	}
	return out
}

// shared counts the components at the end that two paths have in common.
func shared(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// The parameters of the walk along references.
const (
	restart   = 0.25 // the share of a node's weight that stays with it
	smallest  = 5e-4 // of weight that is still passed on
	maxPushes = 5000 // nodes that pass weight on
	maxNamed  = 12   // declarations of one name elsewhere, above which it could mean anything
)

// flow is the state of a walk along references. Nodes have numbers here in the order in which they are reached.
type flow struct {
	*corpus
	number map[int32]int32
	nodes  []int32
	passed []float64 // weight that a node still has to pass on
	rest   []float64 // weight that stays with it
	edges  [][]use   // of nodes that passed weight on, with numbers
	queue  []int32
}

// of returns the number of a node.
func (f *flow) of(node int32) int32 {
	n, ok := f.number[node]
	if !ok {
		n = int32(len(f.nodes))
		f.number[node] = n
		f.nodes, f.passed, f.rest, f.edges = append(f.nodes, node), append(f.passed, 0), append(f.rest,
			0), append(f.edges, nil)
	}
	return n
}

func (f *flow) give(to int32, w float64) {
	before := f.passed[to]
	f.passed[to] = before + w
	if before < smallest && before+w >= smallest {
		f.queue = append(f.queue, to)
	}
}

// open returns what a node uses.
func (f *flow) open(at int32) []use {
	if f.edges[at] == nil {
		out := f.uses(f.nodes[at])
		for i := range out {
			out[i].node = f.of(out[i].node)
		}
		f.edges[at] = append(make([]use, 0, len(out)+1), out...)
	}
	return f.edges[at]
}

// pass lets a node pass on what it was given.
func (f *flow) pass(at int32) {
	w := f.passed[at]
	if w < smallest {
		return
	}
	f.passed[at] = 0
	f.rest[at] += restart * w
	for _, e := range f.open(at) {
		f.give(e.node, (1-restart)*w*e.share)
	}
}

// spread lets weight flow from the seeds along references and returns where it comes to rest: what the seeds use, what
// that uses, and so on. It only looks at what it reaches, and the order of its steps is fixed.
func (f *flow) spread(seeds []scored) map[int32]float64 {
	for _, s := range seeds {
		f.give(f.of(s.node), s.score)
	}
	for n := 0; n < len(f.queue) && n < maxPushes; n++ {
		f.pass(f.queue[n])
	}
	rest := map[int32]float64{}
	for i, w := range f.rest {
		if w > 0 {
			rest[f.nodes[i]] = w
		}
	}
	return rest
}

// scored is a node and its weight.
type scored struct {
	node  int32
	score float64
}

// use is a use of a node: how likely it is meant, and its share in all uses of the same declaration.
type use struct {
	node          int32
	likely, share float64
}

// uses returns what a node uses, with the share of each use. A name weighs more the fewer use it; of several
// declarations of a name, those nearby are the likely ones.
func (c *corpus) uses(node int32) []use {
	var out []use
	sum := 0.0
	s, own := c.symbol(node), fileOf(node)
	for _, name := range s.refs {
		defs := c.declaring(name)
		if len(defs) == 0 || name == s.name && len(defs) == 1 {
			continue
		}
		rare := math.Log(1 + float64(c.nodes)/float64(1+c.users[name]))
		start, all := len(out), 0.0
		for _, d := range defs {
			if d == node {
				continue
			}
			if w := c.near(own, fileOf(d), len(defs)) * weighKind(c.symbol(d).kind); w > 0 {
				out = append(out, use{node: d, likely: w})
				all += w
			}
		}
		for i := start; i < len(out); i++ {
			out[i].share = rare * math.Min(1, all) * out[i].likely / math.Max(all, 1e-9)
			out[i].likely /= math.Max(1, all)
			sum += out[i].share
		}
	}
	for i := range out {
		out[i].share /= sum
	}
	return out
}

// near is how likely a name in one file means the declaration in another.
func (c *corpus) near(from, to int32, declared int) float64 {
	f, t := c.files[from], c.files[to]
	switch {
	case t.marks&tests != 0 && f.marks&tests == 0:
		return 0
	case from == to:
		return 1
	case c.dir[from] == c.dir[to]:
		return 0.9
	case f.lang == golang && t.lang == golang && slices.Contains(c.imports(from), c.dir[to]):
		return 0.7
	case declared > maxNamed || styles[t.lang].code != styles[f.lang].code:
		return 0
	case f.lang == golang:
		return 0.1 // a method, reached through a value
	case f.lang == t.lang:
		return 0.4
	}
	return 0.05
}

// imports returns the folders that a file imports. The longest end of an import path that is a folder is the one.
func (c *corpus) imports(file int32) []int32 {
	if out, ok := c.seen[file]; ok {
		return out
	}
	out := []int32{}
	for _, id := range c.files[file].imports {
		for p, ok := c.t.list[id], true; ok; _, p, ok = strings.Cut(p, "/") {
			if d, is := c.named[p]; is {
				out = append(out, d)
				break
			}
		}
	}
	c.seen[file] = out
	return out
}

func weighKind(k kind) float64 {
	switch k {
	case kindFunc:
		return 1
	case kindType:
		return 0.5
	}
	return 0.3
}
