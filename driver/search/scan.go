package search

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxBatch   = 16 // files that are searched in one go
	maxWorkers = 4  // goroutines that search
)

// batch is some files of one folder, and what was found in them.
type batch struct {
	in    *folder
	rels  []string
	found matches
	err   error
	done  chan struct{} // closed when found and err are final
}

// scanner searches files on several goroutines while one walks the tree; the answer is put together in the order of the
// walk, so it does not depend on who was faster.
type scanner struct {
	grepArgs
	ctx  context.Context
	work chan *batch // for the workers
	line chan *batch // the same batches in the order of the walk; its length bounds what is under way
	next *batch      // is being filled
}

// scan searches a folder, or a single file.
func scan(ctx context.Context, o *opened, a grepArgs) (*matches, error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	s := &scanner{grepArgs: a, ctx: inner, work: make(chan *batch), line: make(chan *batch, 2*workers)}
	var all sync.WaitGroup
	for range workers {
		all.Go(s.search)
	}
	var walked error
	all.Go(func() { walked = s.walk(o) })
	out, err := s.collect(stop)
	all.Wait()
	switch {
	case errors.Is(err, errEnough):
		return out, nil
	case err == nil:
		err = walked
	}
	if err == nil {
		err = canceled(ctx)
	}
	return out, err
}

// walk hands the files out, and then closes the channels.
func (s *scanner) walk(o *opened) error {
	defer close(s.line)
	defer close(s.work)
	w := walker{ctx: s.ctx, root: o.root, hidden: o.hidden,
		visit: func(in *folder, p string, d fs.DirEntry) error {
			if !d.Type().IsRegular() || s.Glob != "" && !doublestar.MatchUnvalidated(s.Glob, below(o.rel, p)) {
				return nil
			}
			if s.next != nil && (s.next.in != in || len(s.next.rels) == maxBatch) {
				if err := s.hand(); err != nil {
					return err
				}
			}
			if s.next == nil {
				s.next = &batch{in: in.hold(), done: make(chan struct{})}
			}
			s.next.rels = append(s.next.rels, p)
			return nil
		}}
	var err error
	if o.info.IsDir() {
		err = w.walk(o.rel)
	} else {
		err = w.file(o.rel, o.info)
	}
	if err == nil && s.next != nil {
		err = s.hand()
	}
	if s.next != nil {
		s.next.in.release()
	}
	return err
}

// hand gives the batch that was filled to the workers and to the collector.
func (s *scanner) hand() error {
	select {
	case s.line <- s.next:
	case <-s.ctx.Done():
		return canceled(s.ctx)
	}
	s.work <- s.next // the workers go on until there is nothing left
	s.next = nil
	return nil
}

// search is a worker.
func (s *scanner) search() {
	var buf []byte
	for b := range s.work {
		b.found.buf = buf
		for _, rel := range b.rels {
			if b.err = b.found.search(s.ctx, b.in, rel, s.grepArgs); b.err != nil {
				break
			}
		}
		buf, b.found.buf = b.found.buf, nil
		b.in.release()
		close(b.done)
	}
}

// collect puts the batches together. It stops the search as soon as the answer is full or an error ends it, and takes
// what is still under way.
func (s *scanner) collect(stop context.CancelFunc) (*matches, error) {
	out := &matches{Matches: []match{}}
	var failed error
	for b := range s.line {
		<-b.done
		if failed != nil {
			continue
		}
		if failed = out.join(b, s.MaxResults); failed != nil {
			stop()
		}
	}
	return out, failed
}

// join adds what was found in a batch.
func (m *matches) join(b *batch, most int) error {
	m.SkippedBinary += b.found.SkippedBinary
	m.SkippedLarge += b.found.SkippedLarge
	m.SkippedSecret += b.found.SkippedSecret
	for _, found := range b.found.Matches {
		if err := m.add(found, most); err != nil {
			return err
		}
	}
	if errors.Is(b.err, errEnough) {
		m.Truncated = true
	}
	return b.err
}
