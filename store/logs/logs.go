// Package logs keeps what commands, checks and agents write, whole and while they write it, so that a person can read
// along and read it again. A log is no evidence and is not durable: what pawl goes by, the end and the digest of an
// output, is in the store. A log that cannot be written, or that was removed, changes nothing about the work.
//
// The logs of an effect are files in a folder that bears the effect's id, one for each part of it, such as a check,
// numbered in the order in which they were begun. They hold the bytes as they came, so that whoever shows them makes
// them safe first (Plain).
package logs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"pawl"
	"pawl/store/disk"
	"pawl/store/owndir"
)

// Bounds of what is kept. A command that writes without end must not fill the disk that the store is on.
const (
	maxLog   = 2 << 30   // bytes of one log
	leftFree = 512 << 20 // bytes that a log leaves free on its disk
	lookAt   = 32 << 20  // how much is written between two looks at what is free
	maxName  = 60        // bytes of a part's name
	maxLogs  = 1000      // logs of one effect
)

// Dir is the folder that holds the logs of a workspace.
type Dir string

// Of returns the directory of the logs in the state of a workspace, which commands and agents do not see.
func Of(state string) Dir { return Dir(filepath.Join(state, "logs")) }

// recorder is where the logs of one effect are made. The folder is made with the first byte.
type recorder struct {
	dir    Dir
	id     string
	filter Filter
	mu     sync.Mutex
	next   int
	open   []*Log
	over   bool
}

type key struct{}

// Filter stands between what is written and what is kept: what is written to it comes out by emit, at the latest when
// it is closed.
type Filter func(emit func([]byte)) io.WriteCloser

// Record has the logs kept that New begins with the context that it returns, as those of an effect, behind a filter
// that may be nil. End closes them; it is to be called when the effect is over.
func (d Dir) Record(ctx context.Context, effect string, f Filter) (_ context.Context, end func()) {
	r := &recorder{dir: d, id: effect, filter: f}
	return context.WithValue(ctx, key{}, r), r.end
}

// Mask returns a text as a log of the effect at work keeps it: without the secrets that its filter knows.
func Mask(ctx context.Context, text string) string {
	r, _ := ctx.Value(key{}).(*recorder)
	if r == nil || r.filter == nil {
		return text
	}
	var kept strings.Builder
	w := r.filter(func(p []byte) { kept.Write(p) })
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return kept.String()
}

// end closes the logs. What a filter held back is kept by then, in a file that may be made for it.
func (r *recorder) end() {
	for {
		r.mu.Lock()
		open := r.open
		r.open, r.over = nil, len(open) == 0
		r.mu.Unlock()
		if len(open) == 0 {
			return
		}
		for _, l := range open {
			l.close()
		}
	}
}

// begin notes a log that is to be closed in the end. It is false when that is over.
func (r *recorder) begin(l *Log) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.open = append(r.open, l)
	}
	return !r.over
}

// New begins the log of a part of the effect at work, such as a check. Where nothing is kept, it takes what is written
// and forgets it. It may be called from several goroutines.
func New(ctx context.Context, name string) *Log {
	r, _ := ctx.Value(key{}).(*recorder)
	return &Log{in: r, name: name}
}

// Log is what one part writes. It is safe for concurrent use. The nil Log keeps nothing.
type Log struct {
	in   *recorder
	name string

	mu     sync.Mutex
	begun  bool
	filter io.WriteCloser // nil until something is written, and where there is none
	file   *os.File
	size   int64
	looked int64 // the size at which it is to be looked again at what is free
	full   bool  // no more is kept
}

// Write keeps bytes. It never fails: whoever writes could do nothing about it.
func (l *Log) Write(p []byte) (int, error) {
	if l == nil || l.in == nil || len(p) == 0 {
		return len(p), nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		l.begun, l.full = true, !l.in.begin(l)
		if l.in.filter != nil {
			l.filter = l.in.filter(l.keep)
		}
	}
	if l.full {
		return len(p), nil
	}
	if l.filter != nil {
		return l.filter.Write(p)
	}
	l.keep(p)
	return len(p), nil
}

// keep writes what is kept to the file.
func (l *Log) keep(p []byte) {
	if l.file == nil && !l.full {
		l.file = l.in.create(l)
		l.full = l.file == nil
	}
	if l.full {
		return
	}
	if l.size >= l.looked {
		free, known := disk.Free(string(l.in.dir))
		l.full = known && free < leftFree
		l.looked = l.size + lookAt
	}
	part := p[:min(int64(len(p)), maxLog-l.size)]
	if !l.full {
		n, err := l.file.Write(part)
		l.size += int64(n)
		l.full = err != nil || l.size >= maxLog
	}
}

func (l *Log) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.filter != nil {
		_ = l.filter.Close()
	}
	if l.file != nil {
		_ = l.file.Close()
	}
	l.full = true
}

// create makes the file of a log, nil where that cannot be. An attempt that is made after another goes on counting
// behind it.
func (r *recorder) create(l *Log) *os.File {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || !filepath.IsLocal(r.id) || strings.ContainsAny(r.id, `/\`) {
		return nil
	}
	// Where the workspace is gone it is not made again.
	if err := os.Mkdir(string(r.dir), 0o700); err != nil && !os.IsExist(err) {
		return nil
	}
	root, err := os.OpenRoot(string(r.dir))
	if err != nil {
		return nil
	}
	defer root.Close()
	if err := root.Mkdir(r.id, 0o700); err != nil && !os.IsExist(err) {
		return nil
	}
	if r.next == 0 {
		for _, p := range r.dir.Parts(r.id) {
			r.next = max(r.next, p.Number)
		}
	}
	if r.next >= maxLogs {
		return nil
	}
	r.next++
	f, err := root.OpenFile(filepath.Join(r.id, fileName(r.next, l.name)),
		os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil
	}
	return f
}

// fileName makes the name of a log's file of its number and the name of the part, which may hold anything.
func fileName(n int, name string) string {
	for len(name) > maxName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return fmt.Sprintf("%03d-%s.log", n, url.PathEscape(name))
}

// Part is the log of one part of an effect.
type Part struct {
	Number int // from 1, in the order in which they were begun
	Name   string
	File   string
	Size   int64
}

// Parts lists the logs of an effect in the order in which they were begun. What cannot be read counts as not there.
func (d Dir) Parts(effect string) []Part {
	if !filepath.IsLocal(effect) {
		return nil
	}
	dir := filepath.Join(string(d), effect)
	entries, _ := os.ReadDir(dir)
	var out []Part
	for _, e := range entries {
		number, rest, ok := strings.Cut(e.Name(), "-")
		escaped, isLog := strings.CutSuffix(rest, ".log")
		n, err := strconv.Atoi(number)
		name, bad := url.PathUnescape(escaped)
		if !ok || !isLog || err != nil || bad != nil || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil {
			out = append(out, Part{Number: n, Name: name, File: filepath.Join(dir, e.Name()), Size: info.Size()})
		}
	}
	slices.SortFunc(out, func(a, b Part) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// chunk is how much of a log is read at once, and with that the longest line that is handed on in one piece.
const chunk = 64 << 10

// Read hands on what the log holds from a place on and returns how much that was. Pieces end where a line does, so that
// each can be made plain by itself; of the last line, which is still being written unless ended, only what needs no
// more to be understood is handed on.
func (p Part) Read(from int64, ended bool, use func([]byte) error) (n int64, err error) {
	f, err := os.Open(p.File)
	if err != nil {
		return 0, pawl.Fail(pawl.CodeIO, "cli.file_unreadable", p.File).Because(err)
	}
	defer f.Close()
	in := io.NewSectionReader(f, from, math.MaxInt64-from)
	buf, held := make([]byte, chunk), 0
	for {
		got, err := io.ReadFull(in, buf[held:])
		b, last := buf[:held+got], err != nil
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return n, pawl.Fail(pawl.CodeIO, "cli.file_unreadable", p.File).Because(err)
		}
		end := bytes.LastIndexByte(b, '\n') + 1
		switch {
		case last && ended:
			end = len(b)
		case last && !bytes.ContainsAny(b[end:], "\x1b\r\b"), end == 0 && !last:
			end = wholeRunes(b)
		}
		if end > 0 {
			if err := use(b[:end]); err != nil {
				return n, err
			}
			n += int64(end)
		}
		if last {
			return n, nil
		}
		held = copy(buf, b[end:])
	}
}

// wholeRunes is the length of a text without a character at its end that is not all there.
func wholeRunes(b []byte) int {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return len(b) - i
			}
			break
		}
	}
	return len(b)
}

// Prune removes the logs of the oldest effects until those that are left take at most most bytes. Effects are as old as
// their ids say, which begin with the time. It is safe beside programs that write: a file that is removed while it is
// written is gone when that ends.
func (d Dir) Prune(most int64) {
	var total int64
	for n, id := range d.Effects() {
		for _, p := range d.Parts(id) {
			total += p.Size
		}
		// The newest is the one that somebody is most likely to look for, however large it is.
		if total > most && n > 0 {
			_ = d.Remove(id)
		}
	}
}

// Effects are those that have logs, the newest first. Their folders are named after them; others are not pawl's.
func (d Dir) Effects() (ids []string) {
	entries, _ := os.ReadDir(string(d)) // where there is no folder, nothing is in it
	for _, e := range slices.Backward(entries) {
		if e.IsDir() && pawl.ID(e.Name()).Valid() {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// Remove removes the logs of an effect. It follows no link in .pawl.
func (d Dir) Remove(id string) error {
	own := filepath.Dir(string(d))
	return owndir.RemoveAll(filepath.Dir(own), filepath.Join(filepath.Base(own), filepath.Base(string(d)), id))
}
