package object

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/sandbox/git/program"
	"pawl/store/lockfile"
)

// Share gives the user's object store, if there is one, what it lacks of an object that is about to get a reference
// there, and of all that this names: whatever of that stands loose in pawl's own store. A garbage collection of the
// user's that began before the reference is made deletes any loose object that it finds, however young; it never
// touches a pack beside which there is a file .keep. So all goes into one pack, and nothing is loose in the user's
// store at any time. What is shared leaves pawl's own store. It fails where something of it is not what its name says;
// that is gone then, and written again by whoever records it again.
func Share(ctx context.Context, own, shared, format, id string) error {
	if _, err := os.Lstat(loose(own, id)); err != nil || shared == "" {
		return nil // nothing of pawl's own, which is complete wherever it is
	}
	program.Step(ctx, "write pack")
	p, err := newPack(filepath.Join(shared, "pack"), format)
	if err != nil {
		return program.IOError("git.object", err)
	}
	defer p.drop()
	var done []string
	var damaged error
	seen := map[string]bool{}
	for left := []string{id}; len(left) > 0; {
		next := left[len(left)-1]
		left = left[:len(left)-1]
		if seen[next] {
			continue
		}
		seen[next] = true
		below, err := p.take(loose(own, next), next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, ErrDamaged):
			damaged = err
		case err != nil:
			return program.IOError("git.object", err)
		}
		left, done = append(left, below...), append(done, next)
	}
	if damaged != nil {
		return program.Failed("pack", damaged)
	}
	if err := p.install(ctx, true); err != nil {
		return program.IOError("git.object", err)
	}
	for _, id := range done {
		os.Remove(loose(own, id)) //nolint:errcheck // what stays is only there twice
	}
	return join(ctx, filepath.Join(shared, "pack"), format)
}

func loose(dir, id string) string { return filepath.Join(dir, id[:2], id[2:]) }

// Where packs of pawl's are known by, and how they are brought together again: many packs make git slow. A reference to
// what a pack holds is made within moments, so that an old one needs no .keep any more. Half begins the names of packs
// that are being written, and New those of objects; the process that writes follows (lockfile.Left).
const (
	keeper  = "pawl\n"
	most    = 32
	settled = 10 * time.Minute
	Half    = "pawl-half-"
	New     = "tmp_obj_pawl_"
)

// pack is a pack that is being written: objects one after the other, none as a difference from another.
type pack struct {
	dir, format string
	file        *os.File
	out         *bufio.Writer
	at          int64
	index       []packed
	deflate     *zlib.Writer
}

type packed struct {
	id  string // raw
	crc uint32
	at  int64
}

func newPack(dir, format string) (*pack, error) {
	_ = os.Mkdir(dir, 0o777) // mostly it is there; the store is not made again where it has gone
	f, err := os.CreateTemp(dir, Half+lockfile.Maker()+"-*")
	if err != nil {
		return nil, err
	}
	p := &pack{dir: dir, format: format, file: f, out: bufio.NewWriterSize(f, 64<<10)}
	p.deflate, _ = zlib.NewWriterLevel(p, zlib.BestSpeed) // a level that exists
	_, err = p.Write([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x00"))
	return p, err
}

// Write implements io.Writer.
func (p *pack) Write(b []byte) (int, error) {
	if n := len(p.index) - 1; n >= 0 {
		p.index[n].crc = crc32.Update(p.index[n].crc, crc32.IEEETable, b)
	}
	p.at += int64(len(b))
	return p.out.Write(b)
}

func (p *pack) drop() {
	p.file.Close()
	os.Remove(p.file.Name()) //nolint:errcheck // gone when it was installed
}

// kinds are the numbers of the kinds of objects in a pack.
var kinds = map[string]int64{"commit": 1, "tree": 2, "blob": 3}

// take adds a loose object and returns what it names. One that is not what its name says is removed: it is written
// again when somebody looks for it.
func (p *pack) take(path, id string) (below []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := NewHash(p.format)
	kind, content, err := p.copy(f, h)
	if err == nil && hex.EncodeToString(h.Sum(nil)) == id {
		return names(kind, content, h.Size()), nil
	}
	os.Remove(path) //nolint:errcheck // the next look tells
	return nil, ErrDamaged
}

// ErrDamaged says that an object is not what its name says.
var ErrDamaged = errors.New("an object of pawl's own is damaged, and was removed")

// copy adds an object as it is read, and returns its content unless it is a file's.
func (p *pack) copy(f io.Reader, h hash.Hash) (kind string, content []byte, err error) {
	z, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return "", nil, err
	}
	in := bufio.NewReader(z)
	head, err := in.ReadString(0)
	if err != nil {
		return "", nil, err
	}
	kind, length, _ := strings.Cut(strings.TrimSuffix(head, "\x00"), " ")
	size, err := strconv.ParseInt(length, 10, 64)
	if err != nil || kinds[kind] == 0 {
		return "", nil, errors.Join(ErrDamaged, err)
	}
	h.Write([]byte(head))
	p.index = append(p.index, packed{at: p.at})
	if _, err := p.Write(entryHead(kinds[kind], size)); err != nil {
		return "", nil, err
	}
	p.deflate.Reset(p)
	to := io.MultiWriter(p.deflate, h)
	var kept bytes.Buffer
	if kind != "blob" {
		to = io.MultiWriter(to, &kept)
	}
	if _, err := io.CopyN(to, in, size); err != nil {
		return "", nil, err
	}
	p.index[len(p.index)-1].id = string(h.Sum(nil))
	return kind, kept.Bytes(), p.deflate.Close()
}

// entryHead begins an object in a pack: its kind and its size, the lowest bits first.
func entryHead(kind, size int64) []byte {
	out := []byte{byte(kind<<4 | size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		out[len(out)-1] |= 0x80
		out = append(out, byte(size&0x7f))
	}
	return out
}

// names are the objects that one names: the lines of a tree but for nested repositories, the tree and the parents of a
// commit.
func names(kind string, content []byte, size int) (ids []string) {
	switch kind {
	case "tree":
		for len(content) > 0 {
			mode, rest, _ := bytes.Cut(content, []byte(" "))
			_, rest, _ = bytes.Cut(rest, []byte("\x00"))
			if len(rest) < size {
				return ids
			}
			if string(mode) != ModeNested {
				ids = append(ids, hex.EncodeToString(rest[:size]))
			}
			content = rest[size:]
		}
	case "commit":
		head, _, _ := bytes.Cut(content, []byte("\n\n"))
		for line := range strings.Lines(string(head)) {
			key, id, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if (key == "tree" || key == "parent") && len(id) == 2*size {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// install gives the pack its name, beside a .keep where it is to be kept as it is, and makes it durable.
func (p *pack) install(ctx context.Context, kept bool) error {
	if err := p.out.Flush(); err != nil {
		return err
	}
	h := NewHash(p.format)
	_, err := p.file.WriteAt(binary.BigEndian.AppendUint32(nil, uint32(len(p.index))), 8)
	if err == nil {
		_, err = io.Copy(h, io.NewSectionReader(p.file, 0, p.at))
	}
	sum := h.Sum(nil)
	if err == nil {
		_, err = p.file.Write(sum)
	}
	if err = errors.Join(err, p.file.Chmod(0o444), p.file.Sync()); err != nil {
		return err
	}
	name := filepath.Join(p.dir, "pack-"+hex.EncodeToString(sum))
	index, err := p.writeIndex(sum)
	if err != nil {
		return err
	}
	defer os.Remove(index) //nolint:errcheck // gone once it has its name
	if kept {
		if err := os.WriteFile(name+".keep", []byte(keeper), 0o600); err != nil {
			return err
		}
	}
	program.Step(ctx, "name pack")
	if err := os.Rename(p.file.Name(), name+".pack"); err != nil {
		return err
	}
	program.Step(ctx, "name index")
	if err := os.Rename(index, name+".idx"); err != nil {
		return err
	}
	d, err := os.Open(p.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// writeIndex writes where each object stands, in the second version of git's format.
func (p *pack) writeIndex(sum []byte) (path string, err error) {
	slices.SortFunc(p.index, func(a, b packed) int { return strings.Compare(a.id, b.id) })
	out, count := []byte("\xfftOc\x00\x00\x00\x02"), 0
	for first := range 256 {
		for count < len(p.index) && int(p.index[count].id[0]) <= first {
			count++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(count))
	}
	var sums, places, far []byte
	for _, e := range p.index {
		out = append(out, e.id...)
		sums = binary.BigEndian.AppendUint32(sums, e.crc)
		at := uint32(e.at)
		if e.at >= 1<<31 {
			at = 1<<31 | uint32(len(far)/8)
			far = binary.BigEndian.AppendUint64(far, uint64(e.at))
		}
		places = binary.BigEndian.AppendUint32(places, at)
	}
	out = slices.Concat(out, sums, places, far, sum)
	h := NewHash(p.format)
	h.Write(out)
	f, err := os.CreateTemp(p.dir, Half+lockfile.Maker()+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(h.Sum(out))
	return f.Name(), errors.Join(err, f.Chmod(0o444), f.Sync(), f.Close())
}

// join makes one pack of those of pawl's that are old enough, once there are many. The one needs no .keep: everything
// in it has its reference, or never will.
func join(ctx context.Context, dir, format string) error {
	entries, _ := os.ReadDir(dir) // what cannot be listed is joined another time
	var old []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if filepath.Ext(path) != ".keep" || err != nil || time.Since(info.ModTime()) < settled {
			continue
		}
		if raw, err := os.ReadFile(path); err == nil && string(raw) == keeper {
			old = append(old, strings.TrimSuffix(path, ".keep"))
		}
	}
	if len(old) < most {
		return nil
	}
	p, err := newPack(dir, format)
	if err != nil {
		return program.IOError("git.object", err)
	}
	defer p.drop()
	have := map[string]bool{}
	for _, name := range old {
		if err := p.append(name, have); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return program.IOError("git.object", err)
		}
	}
	if err := p.install(ctx, false); err != nil {
		return program.IOError("git.object", err)
	}
	for _, name := range old {
		for _, part := range []string{".idx", ".pack", ".keep"} {
			os.Remove(name + part) //nolint:errcheck // what stays is only there twice
		}
	}
	return nil
}

// append adds what another pack of pawl's holds.
func (p *pack) append(name string, have map[string]bool) error {
	raw, err := os.ReadFile(name + ".idx")
	if err != nil {
		return err
	}
	size := NewHash(p.format).Size()
	if len(raw) < 8+1024 || !bytes.HasPrefix(raw, []byte("\xfftOc\x00\x00\x00\x02")) {
		return ErrDamaged
	}
	n := int(binary.BigEndian.Uint32(raw[8+1020:]))
	ids := raw[8+1024:]
	if len(ids) < n*(size+8)+2*size {
		return ErrDamaged
	}
	sums, places := ids[n*size:], ids[n*(size+4):]
	far := places[n*4:]
	from := make([]packed, n)
	for i := range from {
		at := int64(binary.BigEndian.Uint32(places[4*i:]))
		if at >= 1<<31 {
			if at = (at - 1<<31) * 8; at+8 > int64(len(far)) {
				return ErrDamaged
			}
			at = int64(binary.BigEndian.Uint64(far[at:]))
		}
		from[i] = packed{id: string(ids[i*size : (i+1)*size]), crc: binary.BigEndian.Uint32(sums[4*i:]), at: at}
	}
	slices.SortFunc(from, func(a, b packed) int { return int(a.at - b.at) })
	f, err := os.Open(name + ".pack")
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for i, e := range from {
		end := info.Size() - int64(size)
		if i+1 < n {
			end = from[i+1].at
		}
		if have[e.id] {
			continue
		}
		have[e.id] = true
		p.index = append(p.index, packed{id: e.id, at: p.at})
		if _, err := io.Copy(p, io.NewSectionReader(f, e.at, end-e.at)); err != nil {
			return err
		}
		if p.index[len(p.index)-1].crc != e.crc {
			return ErrDamaged
		}
	}
	return nil
}
