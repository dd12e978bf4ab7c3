package contextpack

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
)

// magic begins every file of the cache. It changes with the format and with what facts mean.
const magic = "pawlctx1"

var errDamaged = errors.New("damaged")

// encode writes entries with the words that they use. Tagged says that ctags was asked about them.
func encode(t *table, entries []*entry, tagged bool) []byte {
	e := encoder{local: make([]uint32, len(t.list)), words: []string{""}, marks: []uint64{0}, from: t}
	var total [4]int // of all files, so that a reader makes room once
	for _, x := range entries {
		e.entry(x)
		total[0] += len(x.symbols)
		total[1] += len(x.words) + len(x.imports)
		for _, s := range x.symbols {
			total[2] += len(s.refs)
		}
	}
	out := []byte(magic)
	out = append(out, boolByte(tagged))
	out = binary.AppendUvarint(out, uint64(len(e.words)))
	for i, w := range e.words {
		out = binary.AppendUvarint(out, uint64(len(w)))
		out = append(out, w...)
		out = binary.LittleEndian.AppendUint64(out, e.marks[i])
	}
	out = binary.AppendUvarint(out, uint64(len(entries)))
	for _, n := range total[:3] {
		out = binary.AppendUvarint(out, uint64(n))
	}
	out = append(out, e.out...)
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, crc32.MakeTable(crc32.Castagnoli)))
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

type encoder struct {
	from  *table
	local []uint32 // by number: the number in the file, 0 for none yet
	words []string
	marks []uint64
	out   []byte
}

func (e *encoder) num(n uint64) { e.out = binary.AppendUvarint(e.out, n) }

func (e *encoder) text(s string) {
	e.num(uint64(len(s)))
	e.out = append(e.out, s...)
}

func (e *encoder) id(id uint32) {
	if id != 0 && e.local[id] == 0 {
		e.local[id] = uint32(len(e.words))
		e.words = append(e.words, e.from.list[id])
		e.marks = append(e.marks, e.from.marks[id])
	}
	e.num(uint64(e.local[id]))
}

func (e *encoder) list(ids []uint32) {
	e.num(uint64(len(ids)))
	for _, id := range ids {
		e.id(id)
	}
}

func (e *encoder) entry(x *entry) {
	e.text(x.path)
	s := x.stamp
	if x.young {
		s.size = -1 // may have changed since without looking different
	}
	e.out = binary.AppendVarint(e.out, s.size)
	e.out = binary.AppendVarint(e.out, s.mtime)
	e.num(s.ino)
	e.out = append(e.out, x.sum[:]...)
	e.out = append(e.out, byte(x.lang), byte(x.marks))
	e.num(uint64(x.lines))
	e.text(x.about)
	e.list(x.imports)
	e.num(uint64(len(x.symbols)))
	last := uint32(0)
	for _, s := range x.symbols {
		e.id(s.name)
		e.id(s.owner)
		e.out = append(e.out, byte(s.kind))
		e.num(uint64(s.start - last))
		e.num(uint64(s.end - s.start))
		e.list(s.refs)
		last = s.start
	}
	e.list(x.words)
}

// decode reads what encode wrote. Anything else is errDamaged, whatever it is.
func decode(data []byte, tagged bool) (*table, []*entry, error) {
	if len(data) < len(magic)+5 || string(data[:len(magic)]) != magic || data[len(magic)] != boolByte(tagged) {
		return nil, nil, errDamaged
	}
	body := data[:len(data)-4]
	if binary.LittleEndian.Uint32(data[len(body):]) != crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) {
		return nil, nil, errDamaged
	}
	d := decoder{in: body, at: len(magic) + 1, text: string(body)}
	n := d.count()
	t := &table{list: make([]string, n), marks: make([]uint64, n)}
	for i := range t.list {
		t.list[i] = d.word()
		t.marks[i] = binary.LittleEndian.Uint64(d.bytes(8))
	}
	files := d.count()
	symbols, words, refs := d.count(), d.count(), d.count()
	if d.bad || len(t.list) == 0 || t.list[0] != "" {
		return nil, nil, errDamaged
	}
	d.known = uint32(len(t.list))
	d.symbols = make([]symbol, 0, symbols)
	d.ids = make([]uint32, 0, words+refs)
	all := make([]entry, files)
	allFacts := make([]facts, files)
	out := make([]*entry, files)
	for i := range all {
		all[i].facts = &allFacts[i]
		d.entry(&all[i])
		out[i] = &all[i]
		if d.bad {
			return nil, nil, errDamaged
		}
	}
	if d.at != len(body) {
		return nil, nil, errDamaged
	}
	return t, out, nil
}

type decoder struct {
	in   []byte
	text string // the same, to cut words from
	at   int
	bad  bool
	// known is the number of words. symbols and ids are rooms from which the files' lists are cut.
	known   uint32
	symbols []symbol
	ids     []uint32
}

func (d *decoder) num() uint64 {
	if d.at < len(d.in) && d.in[d.at] < 0x80 {
		d.at++
		return uint64(d.in[d.at-1])
	}
	n, size := binary.Uvarint(d.in[min(d.at, len(d.in)):])
	if size <= 0 {
		d.bad = true
		return 0
	}
	d.at += size
	return n
}

func (d *decoder) signed() int64 {
	n, size := binary.Varint(d.in[min(d.at, len(d.in)):])
	if size <= 0 {
		d.bad = true
		return 0
	}
	d.at += size
	return n
}

// count reads a number of things of which each takes at least a byte.
func (d *decoder) count() int {
	n := d.num()
	if n > uint64(len(d.in)-min(d.at, len(d.in))) {
		d.bad = true
		return 0
	}
	return int(n)
}

func (d *decoder) word() string {
	n := d.count()
	if d.bad {
		return ""
	}
	d.at += n
	return d.text[d.at-n : d.at]
}

func (d *decoder) bytes(n int) []byte {
	if d.bad || len(d.in)-d.at < n {
		d.bad = true
		return make([]byte, n)
	}
	d.at += n
	return d.in[d.at-n : d.at]
}

func (d *decoder) id() uint32 {
	n := d.num()
	if n >= uint64(d.known) {
		d.bad = true
		return 0
	}
	return uint32(n)
}

func (d *decoder) list() []uint32 {
	n := d.count()
	if d.bad || cap(d.ids)-len(d.ids) < n {
		d.bad = true
		return nil
	}
	start := len(d.ids)
	for range n {
		d.ids = append(d.ids, d.id())
	}
	return d.ids[start:len(d.ids):len(d.ids)]
}

func (d *decoder) entry(x *entry) {
	x.path = d.word()
	x.stamp = stamp{size: d.signed(), mtime: d.signed(), ino: d.num()}
	copy(x.sum[:], d.bytes(len(x.sum)))
	head := d.bytes(2)
	x.lang, x.marks = language(head[0]), marks(head[1])
	if int(x.lang) >= len(styles) {
		d.bad = true
		return
	}
	x.lines = d.small()
	x.about = d.word()
	x.imports = d.list()
	n := d.count()
	if d.bad || cap(d.symbols)-len(d.symbols) < n || n > maxSymbols {
		d.bad = true
		return
	}
	first := len(d.symbols)
	last := uint32(0)
	for range n {
		s := symbol{name: d.id(), owner: d.id()}
		s.kind = kind(d.bytes(1)[0])
		s.start = last + d.small()
		s.end = s.start + d.small()
		s.refs = d.list()
		last = s.start
		d.symbols = append(d.symbols, s)
		if d.bad || s.start == 0 || s.end > math.MaxInt32 {
			d.bad = true
			return
		}
	}
	x.symbols = d.symbols[first:len(d.symbols):len(d.symbols)]
	x.words = d.list()
}

// small reads a number of lines.
func (d *decoder) small() uint32 {
	n := d.num()
	if n > 1<<30 {
		d.bad = true
		return 0
	}
	return uint32(n)
}
