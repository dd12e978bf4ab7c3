package storetest

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// childEnv tells a process of the test binary to be a writer on the place that it names.
const childEnv = "PAWL_STORETEST_WRITER"

// Main runs the tests of a package that calls Run, or, in a process that the suite started, the writer that it kills.
// The flag -kills sets how often the kill test kills; the normal suite has 50 kills.
func Main(m *testing.M, b Backend) {
	if place := os.Getenv(childEnv); place != "" {
		if err := write(b, place, os.Stdout); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Int("kills", 50, "how many processes the store's kill test kills")
	flag.Parse()
	os.Exit(m.Run())
}

func kills() int {
	if f := flag.Lookup("kills"); f != nil {
		return f.Value.(flag.Getter).Get().(int)
	}
	return 50
}

// killRows is the number of rows that a writer works on; the first that every writer finds there are its predecessors'.
const killRows = 6

// write commits without end and prints each acknowledgement: the row, its version, the place of its record and its
// hash.
func write(b Backend, place string, acks io.Writer) error {
	s, err := b.Open(place)
	if err != nil {
		return err
	}
	ctx := context.Background()
	rows, err := s.Load(ctx, kernel.Select{Kind: kernel.KindTask, Limit: killRows})
	if err != nil {
		return err
	}
	failed := make(chan error, killRows)
	var mu sync.Mutex
	for _, r := range rows[0] {
		go func() {
			for n := 0; ; n++ {
				batch := move(r, fmt.Sprint("s", r.Version%7))
				// Every other batch writes a second row beside, so that half a batch would show.
				if n%2 == 0 {
					id, err := pawl.NewID(time.Now(), chaos{})
					if err != nil {
						failed <- err
						return
					}
					turn := kernel.Write{Row: kernel.Row{Kind: kernel.KindTurn, ID: string(id), Parent: r.ID,
						State: "IDLE", Version: 1, Doc: []byte(r.ID)}}
					batch.Records = append(batch.Records, seal(&turn, audit.Entry{Event: "NOTE", Data: []byte(`{}`)}))
					batch.Writes = append(batch.Writes, turn)
				}
				c, err := s.Commit(ctx, batch)
				if errors.Is(err, pawl.ErrConflict) {
					again, err := s.Load(ctx, kernel.Select{ID: r.ID})
					if err != nil {
						failed <- err
						return
					}
					r = again[0][0]
					continue
				}
				if err != nil {
					failed <- err
					return
				}
				r = batch.Writes[0].Row
				mu.Lock()
				_, err = fmt.Fprintf(acks, "ack %s %d %d %x\n", r.ID, r.Version, c.First, r.AuditHash)
				mu.Unlock()
				if err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

// testKill kills writers at random moments, two at a time on one store every third round, and looks whether everything
// that they acknowledged is there and the log verifies.
func testKill(t *testing.T, backend Backend) {
	place := backend.Place(t)
	setup := open(t, backend, place)
	for range killRows {
		setup.commit(insert(setup.row(kernel.KindTask, "s0")))
	}
	acked, total := map[string]ack{}, 0
	for n := 0; n < kills(); {
		writers := 1
		if n%6 == 5 {
			writers = 2
		}
		for _, a := range killSome(t, place, writers) {
			if old := acked[a.id]; a.version > old.version {
				acked[a.id] = a
			}
			total++
		}
		n += writers
		s := open(t, backend, place)
		for id, a := range acked {
			if got := s.get(id); got.Version < a.version {
				t.Fatalf("after %d kills: version %d of %s was acknowledged, version %d is stored", n, a.version, id,
					got.Version)
			}
			for rec, err := range s.Records(s.Context(), "task:"+id, a.first) {
				if err != nil || rec.Index != a.first || fmt.Sprintf("%x", rec.Hash) != a.hash {
					t.Fatalf("after %d kills: the acknowledged record %d is %+v, %v", n, a.first, rec, err)
				}
				break
			}
		}
		if n%10 == 0 || n >= kills() {
			s.verify()
			for r, err := range s.Scan(s.Context(), kernel.Select{Kind: kernel.KindTurn}) {
				if err != nil || r.AuditSeq != 1 || string(r.Doc) != r.Parent {
					t.Fatalf("after %d kills: half a batch is stored: %+v, %v", n, r, err)
				}
			}
		}
	}
	if total == 0 {
		t.Error("no writer lived long enough to acknowledge anything")
	}
	t.Logf("%d kills, %d acknowledgements, %d records", kills(), total, setup.head().Size)
}

// ack is a line that a writer printed.
type ack struct {
	id      string
	version int64
	first   int64
	hash    string
}

// killSome starts writers, kills them all a random time after the first acknowledgement, and returns what they printed.
func killSome(t *testing.T, place string, writers int) []ack {
	t.Helper()
	var mu sync.Mutex
	var acks []ack
	var processes []*os.Process
	started := make(chan struct{}, writers)
	var wait sync.WaitGroup
	for range writers {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p, err := os.StartProcess(os.Args[0], []string{os.Args[0]}, &os.ProcAttr{
			Env: append(os.Environ(), childEnv+"="+place), Files: []*os.File{nil, w, os.Stderr}})
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		processes = append(processes, p)
		wait.Go(func() {
			defer r.Close()
			in := bufio.NewReader(r)
			for first := true; ; first = false {
				line, err := in.ReadString('\n')
				if first {
					started <- struct{}{}
				}
				if err != nil {
					return // what was cut off was not acknowledged
				}
				var a ack
				if _, err := fmt.Sscanf(line, "ack %s %d %d %s", &a.id, &a.version, &a.first, &a.hash); err != nil {
					t.Errorf("a writer said %q", strings.TrimSpace(line))
					return
				}
				mu.Lock()
				acks = append(acks, a)
				mu.Unlock()
			}
		})
	}
	for range writers {
		select {
		case <-started:
		case <-time.After(20 * time.Second):
			t.Error("a writer did not start")
		}
	}
	time.Sleep(rand.N(15 * time.Millisecond))
	for _, p := range processes {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
		if _, err := p.Wait(); err != nil {
			t.Error(err)
		}
	}
	wait.Wait()
	return acks
}
