package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	random "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/machine/board"
	"pawl/store/sqlite"
)

// shelf is a board that is measured, in a store of its own.
type shelf struct {
	dir    string
	store  *timedStore
	kernel *kernel.Kernel
	random *random.Rand
	ids    []string // of the issues of the graph, in the order of their registration
	after  [][]int  // what each waits for, by places in ids
	hubs   int
}

// timedStore adds up how long the caller waits for commits.
type timedStore struct {
	*sqlite.Store
	waited time.Duration
}

func (t *timedStore) Commit(ctx context.Context, b kernel.Batch) (kernel.Committed, error) {
	start := time.Now()
	defer func() { t.waited += time.Since(start) }()
	return t.Store.Commit(ctx, b)
}

func openShelf(ctx context.Context, dir string) (*shelf, error) {
	b, err := openBoard(dir, sqlite.Options{Create: true})
	if err != nil {
		return nil, err
	}
	if _, _, err := b.do(ctx, nil, &planning.Init{Place: effect.Place{Workspace: dir, Tree: dir,
		Git: true}}); err != nil {
		return nil, errors.Join(err, b.store.Close())
	}
	return b, nil
}

// openWorkspace makes a workspace of the command and opens the board in it.
func openWorkspace(ctx context.Context, p *program, dir string) (*shelf, error) {
	if err := p.repository(ctx, dir); err != nil {
		return nil, err
	}
	if err := quiet(p.command(ctx, dir, "init")); err != nil {
		return nil, err
	}
	return openBoard(p.state(dir), sqlite.Options{})
}

func openBoard(dir string, how sqlite.Options) (*shelf, error) {
	store, err := sqlite.Open(filepath.Join(dir, "pawl.db"), how)
	if err != nil {
		return nil, err
	}
	b := &shelf{dir: dir, store: &timedStore{Store: store}, random: random.New(random.NewPCG(1, 2))}
	b.kernel = kernel.New(joined.Table(), b.store, kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	return b, nil
}

// do gives a command, reads its answer, unless into is nil, and returns how long it took, without and with its commit.
func (b *shelf) do(ctx context.Context, into any, c kernel.Command) (read, whole time.Duration, err error) {
	start, waited := time.Now(), b.store.waited
	out, err := b.kernel.Do(ctx, kernel.Envelope{Actor: "user:bench", Command: c})
	whole = time.Since(start)
	read = whole - (b.store.waited - waited)
	if err == nil && into != nil {
		err = json.Unmarshal(out.Result, into)
	}
	return read, whole, err
}

// register registers n issues as an import does: behind those that they wait for, in pieces, with the lengths of the
// chains that wait for them. Each waits for three or four that lie anywhere before it, but for one in ten, which waits
// for none.
func (b *shelf) register(ctx context.Context, n int, emit func(Result)) error {
	b.after = make([][]int, n)
	links := 0
	for i := range b.after {
		if i%boardRoots == 0 {
			continue
		}
		for range 3 + i%3/2 {
			if on := b.random.IntN(i); !slices.Contains(b.after[i], on) {
				b.after[i] = append(b.after[i], on)
				links++
			}
		}
	}
	heights := make([]int64, n)
	for i := n - 1; i >= 0; i-- {
		for _, on := range b.after[i] {
			heights[on] = max(heights[on], heights[i]+1)
		}
	}
	graph := make([]issues.NewIssue, n)
	for i := range graph {
		graph[i] = issues.NewIssue{Title: fmt.Sprintf("Rename the handler of route %d and say so in its documentation",
			i), External: fmt.Sprintf("BENCH-%d", i),
			Context: "The name says what it did once. Callers and the documentation name it, and both are to be changed with it.", Digest: "1",
			Priority: 1 + i%5, Tags: []string{"routes"}, Height: heights[i]}
		for _, on := range b.after[i] {
			graph[i].After = append(graph[i].After, fmt.Sprintf("BENCH-%d", on))
		}
	}
	took, err := b.add(ctx, graph)
	if err != nil {
		return err
	}
	for row, err := range b.store.Scan(ctx, kernel.Select{Kind: kernel.KindIssue, HotOnly: true}) {
		if err != nil {
			return err
		}
		b.ids = append(b.ids, row.ID)
	}
	size, err := b.size()
	if err != nil {
		return err
	}
	emit(Result{Case: "registering " + grouped(float64(n)), Pawl: rate(float64(n) / took.Seconds()),
		Score: float64(n) / took.Seconds(), Unit: "/s", NoGoal: true,
		Note: fmt.Sprintf("%s dependencies, %s in all; the store takes %s MB", grouped(float64(links)),
			short(float64(took)), digits(float64(size)/1e6))})
	return nil
}

// add registers issues with as few commands as may be, and returns how long that took.
func (b *shelf) add(ctx context.Context, all []issues.NewIssue) (took time.Duration, err error) {
	for piece := range slices.Chunk(all, issues.MaxIssues) {
		_, whole, err := b.do(ctx, nil, &issues.AddIssues{Issues: piece})
		if err != nil {
			return 0, err
		}
		took += whole
	}
	return took, nil
}

// size is how many bytes the store takes on the disk.
func (b *shelf) size() (size int64, err error) {
	files, err := os.ReadDir(b.dir)
	for _, f := range files {
		if info, e := f.Info(); e == nil {
			size += info.Size() // the database, its log and little else
		}
	}
	return size, err
}

// nextIssue claims the next issue, and leaves it again, which is not measured.
func nextIssue(ctx context.Context, b *shelf, planning bool) (read, whole time.Duration, err error) {
	var t *issues.Taken
	read, whole, err = b.do(ctx, &t, &issues.ClaimIssue{Owner: "bench", Planning: planning, Now: b.kernel.Now()})
	if err != nil || t == nil {
		return 0, 0, errors.Join(err, missing(t == nil, "an issue to claim"))
	}
	_, _, err = b.do(ctx, nil, &issues.ReleaseIssue{Issue: t.Issue, Token: t.Token})
	return read, whole, err
}

func missing(is bool, what string) error {
	if is {
		return fmt.Errorf("%s is missing", what)
	}
	return nil
}

// planHalf gives half of the issues the rows that they have once their plans are approved, as the kernel would write
// them in many commands, and has some of them taken by other workers. Plans themselves are not made: no claim reads
// them.
func planHalf(ctx context.Context, b *shelf) error {
	var batch kernel.Batch
	for n, id := range b.ids[:len(b.ids)/2] {
		err := b.change(ctx, &batch, id, board.IssuePlanned, func(i *kernel.Issue) {
			i.Bound = true
			i.Files = []string{fmt.Sprintf("routes/r%d.go", n), fmt.Sprintf("docs/r%d.md", n),
				fmt.Sprintf("routes/r%d_test.go", n)}
			if len(i.Open) > 0 {
				i.Rank -= math.MaxInt64 // what waits stands behind everything else
				i.Due = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		})
		if err != nil {
			return err
		}
		if len(batch.Writes) == perBatch || n == len(b.ids)/2-1 {
			if err := b.commit(ctx, &batch); err != nil {
				return err
			}
		}
	}
	for w := range boardBusy {
		var t *issues.Taken
		_, _, err := b.do(ctx, &t, &issues.ClaimIssue{Owner: fmt.Sprintf("worker-%d", w), Now: b.kernel.Now()})
		if err != nil || t == nil {
			return errors.Join(err, missing(t == nil, "an issue to carry out"))
		}
	}
	return nil
}

// change puts an issue in another state into a batch, with a record of its own.
func (b *shelf) change(ctx context.Context, batch *kernel.Batch, id string, to board.IssueStatus,
	also func(*kernel.Issue)) error {
	rows, err := b.store.Load(ctx, kernel.Select{Kind: kernel.KindIssue, ID: id})
	if err != nil || len(rows[0]) != 1 {
		return errors.Join(err, missing(true, "issue "+id))
	}
	i := new(kernel.Issue)
	if err := kernel.Decode(rows[0][0], i); err != nil {
		return err
	}
	i.State = string(to)
	also(i)
	subject := audit.Subject{Kind: string(kernel.KindIssue), ID: id}
	sealed := audit.Seal(audit.Entry{Subject: subject, Level: audit.Info, Event: "ISSUE_SEEDED", Actor: "user:bench",
		At: b.kernel.Now(), Trace: id},
		i.AuditSeq+1, i.AuditHash)
	i.AuditSeq, i.AuditHash = sealed.Seq, sealed.Hash
	w := kernel.Write{Row: i.Row, From: i.Version}
	w.Version++
	if w.Doc, err = json.Marshal(i); err != nil {
		return err
	}
	batch.Records = append(batch.Records, sealed)
	batch.Writes = append(batch.Writes, w)
	return nil
}

func (b *shelf) commit(ctx context.Context, batch *kernel.Batch) error {
	batch.At = b.kernel.Now()
	_, err := b.store.Commit(ctx, *batch)
	*batch = kernel.Batch{}
	return err
}

// readPage reads the first page of a list.
func readPage(ctx context.Context, b *shelf, sel ...kernel.Select) (read, whole time.Duration, err error) {
	start := time.Now()
	found, err := b.store.Load(ctx, sel...)
	if err != nil {
		return 0, 0, err
	}
	n := 0
	for _, rows := range found {
		for _, r := range rows {
			if err := kernel.Decode(r, new(kernel.Issue)); err != nil {
				return 0, 0, err
			}
			n++
		}
	}
	took := time.Since(start)
	return took, took, missing(n < boardPage, "a page of issues")
}

// readColumns reads the first page of each status, in the order of the claims, and how many there are of each.
func readColumns(ctx context.Context, b *shelf) (read, whole time.Duration, err error) {
	start := time.Now()
	if _, err := b.store.Count(ctx, kernel.KindIssue, ""); err != nil {
		return 0, 0, err
	}
	var sel []kernel.Select
	for _, state := range board.Issue.States() {
		sel = append(sel, kernel.Select{Kind: kernel.KindIssue, States: []string{string(state)}, ByRank: true,
			Limit: boardPage})
	}
	_, _, err = readPage(ctx, b, sel...)
	took := time.Since(start)
	return took, took, err
}

// addEdge has an issue wait for another one that lies anywhere before it, so that no circle is closed.
func addEdge(ctx context.Context, b *shelf) (read, whole time.Duration, err error) {
	for {
		i := 1 + b.random.IntN(len(b.ids)-1)
		on := b.random.IntN(i)
		if slices.Contains(b.after[i], on) {
			continue
		}
		b.after[i] = append(b.after[i], on)
		return b.do(ctx, nil, &issues.AddDependency{Issue: b.ids[i], On: b.ids[on]})
	}
}

// closeCircle has an issue wait for one that waits for it, over up to five others, which is refused.
func closeCircle(ctx context.Context, b *shelf) (read, whole time.Duration, err error) {
	from := b.random.IntN(len(b.ids))
	for len(b.after[from]) == 0 {
		from = b.random.IntN(len(b.ids))
	}
	at := from
	for n := 0; n < 1+b.random.IntN(6) && len(b.after[at]) > 0; n++ {
		at = b.after[at][b.random.IntN(len(b.after[at]))]
	}
	read, whole, err = b.do(ctx, nil, &issues.AddDependency{Issue: b.ids[at], On: b.ids[from]})
	return read, whole, refused(err)
}

// refused returns nil for the refusal of a circle.
func refused(err error) error {
	if pawl.CodeOf(err) == pawl.CodeInvalid {
		return nil
	}
	return errors.Join(err, missing(err == nil, "the refusal of a circle"))
}

// releaseIssue tells so many issues that the one that they wait for is completed.
func releaseIssue(ctx context.Context, b *shelf, dependents int) (read, whole time.Duration, err error) {
	b.hubs++
	hub := fmt.Sprintf("HUB-%d", b.hubs)
	around := []issues.NewIssue{{Title: "Rename the package", External: hub}}
	for n := range dependents {
		around = append(around, issues.NewIssue{Title: fmt.Sprintf("Rename it in file %d", n), After: []string{hub}})
	}
	// The hub is registered first, so that the others may be as many as one command takes.
	if _, err := b.add(ctx, around[:1]); err != nil {
		return 0, 0, err
	}
	if _, err := b.add(ctx, around[1:]); err != nil {
		return 0, 0, err
	}
	rows, err := b.store.Load(ctx, kernel.Select{Kind: kernel.KindAlias, Label: hub, HotOnly: true})
	if err != nil || len(rows[0]) != 1 {
		return 0, 0, errors.Join(err, missing(true, hub))
	}
	var batch kernel.Batch
	id := rows[0][0].Parent
	if err := b.change(ctx, &batch, id, board.IssueCompleted, func(*kernel.Issue) {}); err != nil {
		return 0, 0, err
	}
	if err := b.commit(ctx, &batch); err != nil {
		return 0, 0, err
	}
	return b.do(ctx, nil, &issues.Release{Issue: id})
}

// verify verifies the audit log of the whole store.
func (b *shelf) verify(ctx context.Context) error {
	head, err := b.store.Head(ctx)
	if err == nil {
		_, err = audit.Log{Head: head, Records: b.store.Records(ctx, "", 0)}.Verify()
	}
	return err
}
