package contextpack

import (
	"math"
	"path"
	"slices"
	"strings"
)

// corpus is an index laid out for ranking: every declaration of every file is a node, and a node has an edge to each
// declaration whose name it uses. It belongs to one Builder, which ranks one
// requirement at a time.
type corpus struct {
	t     *table
	files []*entry
	dirs  []string
	dir   []int32           // by file: the number of its folder
	named map[string]int32  // the numbers of the folders
	seen  map[int32][]int32 // by file: the folders that it imports, found when they are asked for
	first []int32           // by file: its first node
	file  []int32           // by node: its file
	// from and defs are the nodes that declare a name: defs[from[id]:from[id+1]].
	from, defs []int32
	users      []int32 // by name: how many nodes use it
}

func newCorpus(ix *index) *corpus {
	c := &corpus{t: ix.t, files: ix.list, named: map[string]int32{}, seen: map[int32][]int32{}}
	n := 0
	for _, f := range c.files {
		n += len(f.symbols)
	}
	c.file = make([]int32, 0, n)
	c.first = make([]int32, len(c.files)+1)
	c.dirs = make([]string, len(c.files))
	c.from = make([]int32, len(c.t.list)+2)
	c.users = make([]int32, len(c.t.list))
	for i, f := range c.files {
		c.dirs[i] = path.Dir(f.path)
		d, ok := c.named[c.dirs[i]]
		if !ok {
			d = int32(len(c.named))
			c.named[c.dirs[i]] = d
		}
		c.dir = append(c.dir, d)
		c.first[i] = int32(len(c.file))
		for _, s := range f.symbols {
			c.file = append(c.file, int32(i))
			c.from[s.name+2]++
			for _, r := range s.refs {
				c.users[r]++
			}
		}
	}
	c.first[len(c.files)] = int32(len(c.file))
	for i := 2; i < len(c.from); i++ {
		c.from[i] += c.from[i-1]
	}
	c.defs = make([]int32, n)
	for node := range c.file {
		name := c.symbol(int32(node)).name
		c.defs[c.from[name+1]] = int32(node)
		c.from[name+1]++
	}
	c.from = c.from[:len(c.from)-1]
	return c
}

func (c *corpus) symbol(node int32) *symbol {
	f := c.file[node]
	return &c.files[f].symbols[node-c.first[f]]
}

func (c *corpus) entry(node int32) *entry { return c.files[c.file[node]] }

// declaring returns the nodes that declare a name.
func (c *corpus) declaring(name uint32) []int32 { return c.defs[c.from[name]:c.from[name+1]] }

// enclosing returns the innermost declaration around a line, -1 for none.
func (c *corpus) enclosing(file int32, line int) int32 {
	out := int32(-1)
	for i, s := range c.files[file].symbols {
		if int(s.start) > line {
			break
		}
		if int(s.end) >= line {
			out = c.first[file] + int32(i)
		}
	}
	return out
}

// find returns the files that a name in a text means: the whole path, or else the files whose path ends with as many of its
// components as any does.
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

// spread lets weight flow from the seeds along references and returns where it comes to rest: what the seeds use, what that
// uses, and so on. It only looks at what it reaches, and the order of its steps is fixed.
func (c *corpus) spread(seeds []scored) map[int32]float64 {
	rest := map[int32]float64{}
	flow := map[int32]float64{}
	known := map[int32][]scored{}
	var queue []int32
	give := func(to int32, w float64) {
		before := flow[to]
		flow[to] = before + w
		if before < smallest && before+w >= smallest {
			queue = append(queue, to)
		}
	}
	for _, s := range seeds {
		give(s.node, s.score)
	}
	for n := 0; n < len(queue) && n < maxPushes; n++ {
		at := queue[n]
		w := flow[at]
		if w < smallest {
			continue
		}
		flow[at] = 0
		rest[at] += restart * w
		out, ok := known[at]
		if !ok {
			out = c.edges(at)
			known[at] = out
		}
		for _, e := range out {
			give(e.node, (1-restart)*w*e.score)
		}
	}
	return rest
}

// scored is a node and its weight.
type scored struct {
	node  int32
	score float64
}

// edges returns what a node uses, with the share of each use. A name weighs more the fewer use it; of several
// declarations of a name, those nearby are the likely ones.
func (c *corpus) edges(node int32) []scored {
	var out []scored
	sum := 0.0
	s, own := c.symbol(node), c.file[node]
	for _, name := range s.refs {
		defs := c.declaring(name)
		if len(defs) == 0 || name == s.name && len(defs) == 1 {
			continue
		}
		rare := math.Log(1 + float64(len(c.file))/float64(1+c.users[name]))
		start, all := len(out), 0.0
		for _, d := range defs {
			if d == node {
				continue
			}
			if w := c.near(own, c.file[d], len(defs)) * weighKind(c.symbol(d).kind); w > 0 {
				out = append(out, scored{d, w})
				all += w
			}
		}
		scale := rare * math.Min(1, all) / math.Max(all, 1e-9)
		for i := start; i < len(out); i++ {
			out[i].score *= scale
			sum += out[i].score
		}
	}
	for i := range out {
		out[i].score /= sum
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
