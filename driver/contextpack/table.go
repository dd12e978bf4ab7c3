package contextpack

// table gives words numbers. The number 0 is the empty word. Numbers are only ever added.
type table struct {
	list []string
	// marks let a query pass over most words without looking at them; see markOf.
	marks []uint64
	ids   map[string]uint32 // nil until it is asked for
}

func newTable() *table {
	return &table{list: []string{""}, marks: []uint64{0}, ids: map[string]uint32{"": 0}}
}

// id returns the number of a word.
func (t *table) id(word []byte) uint32 {
	t.index()
	if id, ok := t.ids[string(word)]; ok {
		return id
	}
	return t.add(string(word), markOf(word))
}

func (t *table) idOf(word string) uint32 { return t.id([]byte(word)) }

func (t *table) add(word string, mark uint64) uint32 {
	id := uint32(len(t.list))
	t.list = append(t.list, word)
	t.marks = append(t.marks, mark)
	t.ids[word] = id
	return id
}

func (t *table) index() {
	if t.ids != nil {
		return
	}
	t.ids = make(map[string]uint32, len(t.list)*5/4)
	for id, w := range t.list {
		t.ids[w] = uint32(id)
	}
}

// A mark is five short hashes of twelve bits: of the word without regard to case, and of the stems of its first four
// parts that say something. Marks are kept in the cache.
const (
	markBits  = 12
	markParts = 5
)

func markOf(word []byte) uint64 {
	var space [2 * maxWord]byte
	low := foldTo(space[:0], word)
	mark, n := shortHash(low), 1
	parts(word, low, func(p []byte) {
		if len(p) > 2 && n < markParts {
			mark |= shortHash(stem(p)) << (n * markBits)
			n++
		}
	})
	return mark
}

// shortHash is never 0, which stands for no part.
func shortHash(b []byte) uint64 {
	h := hashOf(b)
	return max(1, (h^h>>20^h>>44)&(1<<markBits-1))
}

// hashOf is FNV-1a.
func hashOf(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// foldedHash is hashOf for a word in lower case, as far as it is ASCII.
func foldedHash(word []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range word {
		if upper(c) {
			c += 'a' - 'A'
		}
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// foldTo appends a word in lower case, as far as it is ASCII.
func foldTo(to, word []byte) []byte {
	for _, c := range word {
		if upper(c) {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// adopt adds the words of another table and returns their numbers here.
func (t *table) adopt(from *table) []uint32 {
	out := make([]uint32, len(from.list))
	t.index()
	for i, w := range from.list {
		id, ok := t.ids[w]
		if !ok {
			id = t.add(w, from.marks[i])
		}
		out[i] = id
	}
	return out
}

// translate rewrites the numbers in facts.
func (f *facts) translate(to []uint32) {
	each := func(ids []uint32) {
		for i, id := range ids {
			ids[i] = to[id]
		}
	}
	each(f.words)
	each(f.imports)
	for i := range f.symbols {
		s := &f.symbols[i]
		s.name, s.owner = to[s.name], to[s.owner]
		each(s.refs)
	}
}
