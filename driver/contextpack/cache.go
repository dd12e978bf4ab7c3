package contextpack

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"path"
	"path/filepath"
	"strings"

	"pawl/kernel/effect"
	"pawl/sandbox/safeopen"
)

// The cache is one file that is replaced as a whole: of two processes that write it, the later one wins. A file that is
// missing, damaged, of another form or somebody else's costs time and nothing else.
const (
	cacheDir  = "cache/context"
	cacheFile = cacheDir + "/index"
	// cacheForm begins the file. It changes with the form and with what facts mean.
	cacheForm = "pawlctx2"
	// segmentEnd is how the names of the files end that the first form kept.
	segmentEnd = ".seg"
	maxCache   = 512 << 20 // bytes of a cache that is read
)

// cache keeps the index of a workspace between processes, in the workspace's state.
type cache struct {
	root   *safeopen.Root
	of     string // the workspace, without symbolic links
	tagged bool   // ctags is asked for declarations
}

// openCache opens the cache of a workspace; nil where there is none to keep one in.
func openCache(place effect.Place, tagged bool) *cache {
	of, err := filepath.EvalSymlinks(place.Workspace)
	if err != nil {
		return nil
	}
	root, err := safeopen.OpenRoot(place.Own(), safeopen.WithInternal())
	if err != nil {
		return nil
	}
	return &cache{root: root, of: of, tagged: tagged}
}

func (c *cache) close() {
	if c != nil {
		_ = c.root.Close() // what was written is closed already
	}
}

// workspace is whose cache it is, "" for none.
func (c *cache) workspace() string {
	if c == nil {
		return ""
	}
	return c.of
}

// load adds what the cache knows to an index that knows nothing.
func (c *cache) load(ix *index) {
	if c == nil {
		return
	}
	data, err := c.root.ReadFile(cacheFile, maxCache)
	if err != nil {
		return
	}
	t, entries := decode(data, c.tagged)
	if t == nil {
		return
	}
	if len(ix.t.list) == 1 {
		*ix.t = *t
	} else {
		to := ix.t.adopt(t)
		for _, e := range entries {
			e.translate(to)
		}
	}
	for _, e := range entries {
		ix.files[e.path] = e
	}
}

// save replaces the cache by what an index knows.
func (c *cache) save(ix *index) error {
	if err := c.root.MkdirAll(cacheDir, 0o755); err != nil {
		return err
	}
	if err := c.root.WriteFile(cacheFile, encode(ix.t, ix.list, c.tagged), 0o600); err != nil {
		return err
	}
	list, err := c.root.ReadDir(cacheDir)
	for _, d := range list {
		if strings.HasSuffix(d.Name(), segmentEnd) {
			_ = c.root.Remove(path.Join(cacheDir, d.Name())) // it is in nobody's way, and the next time tries again
		}
	}
	return err
}

// encode returns the form in which entries and the words that they use are kept: form, words, entries and a checksum.
func encode(t *table, entries []*entry, tagged bool) []byte {
	files := form{writing: true, t: t, local: make([]uint32, len(t.list)), used: []uint32{0}}
	n := uint64(len(entries))
	number(&files, &n)
	for _, e := range entries {
		files.entry(e)
	}
	out := form{writing: true, data: []byte(head(tagged))}
	words := uint64(len(files.used))
	number(&out, &words)
	for _, id := range files.used {
		out.text(&t.list[id])
		number(&out, &t.marks[id])
	}
	data := append(out.data, files.data...)
	return binary.LittleEndian.AppendUint32(data, checksum(data))
}

// decode returns what encode was given. It returns no table for anything else, whatever it is.
func decode(data []byte, tagged bool) (*table, []*entry) {
	end := len(data) - 4
	start := []byte(head(tagged))
	if end < len(start) || !bytes.HasPrefix(data, start) {
		return nil, nil
	}
	if binary.LittleEndian.Uint32(data[end:]) != checksum(data[:end]) {
		return nil, nil
	}
	in := form{data: data[:end], whole: string(data[:end]), at: len(start), t: &table{}}
	words := in.count(0)
	in.t.list, in.t.marks = make([]string, words), make([]uint64, words)
	for i := range words {
		in.text(&in.t.list[i])
		number(&in, &in.t.marks[i])
	}
	files := in.count(0)
	out, known := make([]*entry, files), make([]struct {
		entry
		facts
	}, files)
	for i := range out {
		out[i] = &known[i].entry
		out[i].facts = &known[i].facts
		in.entry(out[i])
	}
	if in.bad || in.at != end || words == 0 || in.t.list[0] != "" {
		return nil, nil
	}
	return in.t, out
}

func head(tagged bool) string {
	if tagged {
		return cacheForm + "+"
	}
	return cacheForm + "-"
}

func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// form is what encode writes and decode reads. Each of its functions does both, so that they cannot differ: it adds
// what it is given while writing is set, and fills it in otherwise.
type form struct {
	writing bool
	data    []byte
	t       *table
	// local is by word its number in the form, 0 for none yet; used are the words by that number.
	local, used []uint32
	at          int
	whole       string   // data, to cut texts from
	room        []uint32 // to cut lists from
	bad         bool
}

func number[T ~uint8 | ~uint32 | ~uint64 | ~int64](f *form, n *T) {
	if f.writing {
		f.data = binary.AppendUvarint(f.data, uint64(*n))
		return
	}
	v, size := binary.Uvarint(f.data[f.at:])
	*n = T(v)
	f.at += max(size, 0)
	f.bad = f.bad || size <= 0 || uint64(*n) != v
}

// count handles the number of things of which each takes at least a byte.
func (f *form) count(n int) int {
	v := uint64(n)
	number(f, &v)
	if !f.writing && v > uint64(len(f.data)-f.at) {
		f.bad, v = true, 0
	}
	return int(v)
}

func (f *form) text(s *string) {
	n := f.count(len(*s))
	if f.writing {
		f.data = append(f.data, *s...)
		return
	}
	*s = f.whole[f.at : f.at+n]
	f.at += n
}

// localOf returns the number that a word of the table has in the form.
func (f *form) localOf(id uint32) uint32 {
	if id != 0 && f.local[id] == 0 {
		f.local[id] = uint32(len(f.used))
		f.used = append(f.used, id)
	}
	return f.local[id]
}

// known returns the number of a word that was read, 0 where there is no such word.
func (f *form) known(id uint32) uint32 {
	if int(id) >= len(f.t.list) {
		f.bad = true
		return 0
	}
	return id
}

func (f *form) word(id *uint32) {
	if f.writing {
		n := f.localOf(*id)
		number(f, &n)
		return
	}
	number(f, id)
	*id = f.known(*id)
}

// words handles a list of words. Each takes four bytes, because millions of them are read at a start.
func (f *form) words(ids *[]uint32) {
	n := f.count(len(*ids))
	if f.writing {
		for _, id := range *ids {
			f.data = binary.LittleEndian.AppendUint32(f.data, f.localOf(id))
		}
		return
	}
	if n > (len(f.data)-f.at)/4 {
		f.bad, n = true, 0
	}
	if len(f.room) < n {
		f.room = make([]uint32, max(n, 1<<16))
	}
	*ids, f.room = f.room[:n:n], f.room[n:]
	for i := range *ids {
		(*ids)[i] = f.known(binary.LittleEndian.Uint32(f.data[f.at:]))
		f.at += 4
	}
}

func (f *form) entry(e *entry) {
	f.text(&e.path)
	s := e.stamp
	if e.young {
		s.size = -1 // the file may have changed since without looking different
	}
	number(f, &s.size)
	number(f, &s.mtime)
	number(f, &s.ino)
	if !f.writing {
		e.stamp = s
	}
	for i := range e.sum {
		number(f, &e.sum[i])
	}
	number(f, &e.lang)
	number(f, &e.marks)
	number(f, &e.lines)
	f.text(&e.about)
	f.words(&e.imports)
	n := f.count(len(e.symbols))
	if !f.writing {
		e.symbols = make([]symbol, min(n, maxSymbols))
	}
	f.bad = f.bad || int(e.lang) >= len(styles) || e.lines > 1<<30 || n > maxSymbols
	for i := range e.symbols {
		f.symbol(&e.symbols[i])
	}
	f.words(&e.words)
}

func (f *form) symbol(s *symbol) {
	f.word(&s.name)
	f.word(&s.owner)
	number(f, &s.kind)
	number(f, &s.start)
	number(f, &s.end)
	f.words(&s.refs)
	f.bad = f.bad || s.start == 0 || s.end < s.start || s.end > math.MaxInt32
}
