package notary_test

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"flag"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	engine "modernc.org/sqlite"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/store/notary"
	"pawl/store/sqlite"
	"pawl/store/storetest"
)

var (
	mutations = flag.Int("mutations", 150, "how many random mutations of a store and its checkpoints to try")
	verifies  = flag.Int("verifies", 60, "how often to verify beside writers")
)

// commit makes a row, or moves one that is there, with its record.
func commit(s kernel.Store, ids *pawl.IDSource, id string) (string, error) {
	w := kernel.Write{Row: kernel.Row{Kind: kernel.KindTask, State: "queued", Doc: []byte(`{"title":"x"}`)}}
	if id == "" {
		made, err := ids.Next()
		if err != nil {
			return "", err
		}
		w.ID, w.CreatedAt = string(made), time.Unix(1, 0)
	} else {
		rows, err := s.Load(context.Background(), kernel.Select{ID: id})
		if err != nil {
			return "", err
		}
		w = kernel.Write{Row: rows[0][0], From: rows[0][0].Version, KeepDoc: true}
	}
	w.Version, w.UpdatedAt = w.From+1, time.Unix(2, 0)
	subject, prev := audit.Subject{Kind: string(w.Kind), ID: w.ID}, w.AuditHash
	if w.AuditSeq == 0 {
		prev = audit.Genesis(subject)
	}
	rec := audit.Seal(audit.Entry{Subject: subject, Level: audit.Info, Event: "NOTE", Actor: "system",
		Data: []byte(`{"n":1}`), At: time.Unix(2, 0)}, w.AuditSeq+1, prev)
	w.AuditSeq, w.AuditHash = rec.Seq, rec.Hash
	_, err := s.Commit(context.Background(), kernel.Batch{Writes: []kernel.Write{w}, Records: []audit.Sealed{rec}})
	return w.ID, err
}

// place is a workspace's store with the folder in which its checkpoints are kept.
type place struct{ dir string }

func (p place) store() string { return filepath.Join(p.dir, "pawl.db") }
func (p place) state() string { return filepath.Join(p.dir, "state") }

func (p place) notary() *notary.Notary {
	return notary.New(p.state(), "/work", func(string) string { return "" }, rand.Reader)
}

// look is what pawl audit verify and pawl doctor tell of a place, an error where they find one, and what is read from
// its store.
func (p place) look(ctx context.Context) (told, read string) {
	s, err := sqlite.Open(p.store(), sqlite.Options{})
	if err != nil {
		return err.Error(), ""
	}
	defer s.Close()
	n := p.notary()
	_, err = s.Check(ctx, nil)
	report, verified := n.Verify(ctx, s)
	covers, _, newest := n.Newest(ctx, s)
	earlier, _, before := n.Earlier(ctx, s, false)
	told = fmt.Sprintln(report.Size, report.Root, covers, earlier != nil, err, verified, newest, before)
	var b strings.Builder
	for r, err := range s.Scan(ctx, kernel.Select{}) {
		fmt.Fprintf(&b, "%+v, %v\n", r, err)
		for rec, err := range s.Records(ctx, string(r.Kind)+":"+r.ID, 0) {
			fmt.Fprintln(&b, rec.Index, err)
		}
	}
	return told, b.String()
}

// files reads a folder: each file by its name below it.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// lay makes a place of files.
func lay(t *testing.T, dir string, files map[string]string) place {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return place{dir}
}

// tampering is a place as it was at three moments, each of which was signed, and a place of another log.
type tampering struct {
	*mathrand.Rand
	was   []map[string]string
	other map[string]string
}

func grown(t *testing.T) tampering {
	t.Helper()
	g := tampering{Rand: mathrand.New(mathrand.NewPCG(7, uint64(*mutations)))}
	for _, other := range []bool{true, false} {
		p := place{t.TempDir()}
		ids := pawl.NewIDSource(time.Unix(1, 0), rand.Reader)
		var made []string
		for moment := range 3 {
			s, err := sqlite.Open(p.store(), sqlite.Options{Create: true})
			if err != nil {
				t.Fatal(err)
			}
			for n := range 12 {
				id := ""
				if n%3 > 0 {
					id = made[g.IntN(len(made))]
				}
				if id, err = commit(s, ids, id); err != nil {
					t.Fatal(err)
				}
				made = append(made, id)
			}
			if _, err := p.notary().Sign(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if moment > 0 { // the oldest records are retired, with a row
				retire(t, s, int64(4*moment))
				if _, err := p.notary().Sign(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if other {
				g.other = files(t, p.dir)
			} else {
				g.was = append(g.was, files(t, p.dir))
			}
		}
	}
	return g
}

// retire takes the records before n out of a store, and a row whose records are all among them, if there is one.
func retire(t *testing.T, s kernel.Store, n int64) {
	t.Helper()
	rows, err := s.Load(t.Context(), kernel.Select{Kind: kernel.KindTask})
	if err != nil {
		t.Fatal(err)
	}
	all := rows[0]
	var gone []kernel.Row
	for _, r := range all[:len(all)-1] {
		later := false
		for range s.Records(t.Context(), string(r.Kind)+":"+r.ID, n) {
			later = true
		}
		if !later {
			gone = append(gone, r)
			break
		}
	}
	batch, err := storetest.Retiring(t.Context(), s, all[len(all)-1], n, gone...)
	if err == nil {
		_, err = s.Commit(t.Context(), batch)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// pick draws the name of one of the files whose names end so.
func (g tampering) pick(files map[string]string, end string) string {
	var names []string
	for name := range files {
		if strings.HasSuffix(name, end) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[g.IntN(len(names))]
}

// damage changes a text: a bit, a piece, its end, or all of it.
func (g tampering) damage(text string) string {
	b := []byte(text)
	at := g.IntN(len(b))
	switch g.IntN(4) {
	case 0, 1:
		b[at] ^= 1 << g.IntN(8)
	case 2:
		clear(b[at : at+g.IntN(min(len(b)-at, 4096))+1])
	case 3:
		b = b[:at]
	}
	if string(b) == text {
		return g.damage(text)
	}
	return string(b)
}

// values are ways in which a value of a column is made another one, whatever its type.
var values = []string{"%[1]s+1", "%[1]s||'x'", "CAST(substr(%[1]s, 1, length(%[1]s)-1)||'!' AS BLOB)", "NULL", "0",
	"''", "x''", "(SELECT %[1]s FROM %[2]s ORDER BY random() LIMIT 1)", "-%[1]s"}

// edit changes the store as somebody does who can write it, by a way that is not the store's.
func (g tampering) edit(t *testing.T, path string) (how string) {
	t.Helper()
	c, err := new(engine.Driver).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, trigger := range []string{"audit_no_update", "audit_no_delete", "entity_no_delete"} {
		if _, err := c.(driver.ExecerContext).ExecContext(t.Context(), "DROP TRIGGER "+trigger, nil); err != nil {
			t.Fatal(err)
		}
	}
	for how == "" {
		how = g.statement(t, c)
	}
	return how
}

// statement changes one value of the store, and names its column, or changes nothing.
func (g tampering) statement(t *testing.T, c driver.Conn) string {
	t.Helper()
	columns := map[string][]string{
		"entity": {"kind", "id", "label", "parent", "state", "version", "epoch", "due", "rank", "audit_seq", "audit_hash",
			"audit_at", "created", "updated", "doc_sum", "sum", "body", "pos"},
		"audit": {"idx", "ref", "seq", "back", "hash", "bytes"}, "summary": {"data", "kind", "parent"},
		"meta": {"identity", "sum"}, "front": {"size", "data"}}
	table := []string{"entity", "entity", "audit", "audit", "summary", "meta", "front"}[g.IntN(7)]
	column := columns[table][g.IntN(len(columns[table]))]
	value := fmt.Sprintf(values[g.IntN(len(values))], column, table)
	row := fmt.Sprintf("rowid=(SELECT rowid FROM %s ORDER BY abs(rowid*%d%%101), rowid LIMIT 1)", table, 1+g.IntN(100))
	if table == "summary" {
		row = []string{"kind=''", "kind='task'"}[g.IntN(2)]
	}
	statement := "UPDATE OR IGNORE " + table + " SET " + column + "=" + value + " WHERE " + row + " AND " +
		column + " IS NOT " + value
	if g.IntN(8) == 0 {
		statement = "DELETE FROM " + table + " WHERE " + row
	}
	done, err := c.(driver.ExecerContext).ExecContext(t.Context(), statement, nil)
	if err != nil {
		return "" // the column's type does not take it
	}
	n, err := done.RowsAffected()
	if err != nil || n == 0 {
		return ""
	}
	return table + "." + column
}

// tamper changes a place in one of many ways, and says how.
func (g tampering) tamper(t *testing.T, dir string) (p place, how string) {
	t.Helper()
	now := map[string]string{}
	for name, text := range g.was[2] {
		now[name] = text
	}
	old := g.was[g.IntN(2)]
	drop := func(end string) {
		for name := range now {
			if strings.HasSuffix(name, end) {
				delete(now, name)
			}
		}
	}
	switch n := g.IntN(16); n {
	case 0, 1, 2, 3, 4:
		p = lay(t, dir, now)
		return p, g.edit(t, p.store())
	case 5, 6:
		now["pawl.db"], how = g.damage(now["pawl.db"]), "the file of the store"
	case 7:
		name := g.pick(now, ".note")
		now[name], how = g.damage(now[name]), "a checkpoint"
	case 8:
		name := g.pick(now, "audit.key")
		now[name], how = g.damage(now[name]), "the key"
	case 9:
		now["pawl.db"], how = old["pawl.db"], "an older copy of the store"
	case 10:
		now["pawl.db"], how = old["pawl.db"], "an older copy of the store, and no checkpoints"
		drop(".note")
	case 11:
		drop([]string{".note", "audit.key", "path"}[g.IntN(3)])
		how = "what is kept outside is gone"
	case 12:
		delete(now, g.pick(now, ".note"))
		how = "a checkpoint is gone"
	case 13:
		a, b := g.pick(now, ".note"), g.pick(now, ".note")
		now[a], now[b], how = now[b], now[a], "checkpoints under each other's names"
	case 14:
		now[g.pick(now, ".note")], how = g.other[g.pick(g.other, ".note")], "a checkpoint of another log"
	case 15:
		now["pawl.db"], how = g.other["pawl.db"], "the store of another workspace"
	}
	return lay(t, dir, now), how
}

// TestTampering changes a store, its checkpoints, the key and their folder at random, puts older copies and others' in
// their place and takes things away. Each change is told: by an error, by what is said of the checkpoints, or else
// there is nothing that is read in another way than before.
func TestTampering(t *testing.T) {
	g := grown(t)
	was, before := lay(t, filepath.Join(t.TempDir(), "p"), g.was[2]).look(t.Context())
	if !strings.HasSuffix(was, " 38 false <nil> <nil> <nil> <nil>\n") {
		t.Fatal(was)
	}
	dir := filepath.Join(t.TempDir(), "p")
	found, same := map[string]int{}, map[string]int{}
	for n := range *mutations {
		p, how := g.tamper(t, dir)
		told, read := p.look(t.Context())
		switch {
		case told != was:
			found[how]++
		case read != before:
			t.Errorf("mutation %d, %s, is not told, and changed what is read", n, how)
		default:
			same[how]++
		}
	}
	t.Logf("told %v, without effect %v", found, same)
	for _, how := range []string{"an older copy of the store", "an older copy of the store, and no checkpoints", "the key",
		"a checkpoint of another log", "the store of another workspace"} {
		// A bit of the coding that says nothing may be another one in a checkpoint or a key.
		if same[how] > found[how]/10 {
			t.Errorf("%s: told %d times, %d times not", how, found[how], same[how])
		}
	}
}

// TestVerifyBesideProcesses verifies a store while two others write it and a third one signs: it is always right, and
// always found to be.
func TestVerifyBesideProcesses(t *testing.T) {
	const each = 500 // so that the log that is verified stays short
	for left := *verifies; left > 0; left -= each {
		p := place{t.TempDir()}
		verifier, err := sqlite.Open(p.store(), sqlite.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		turns, over := make(chan bool), make(chan error, 3)
		for n := range 3 {
			go func() {
				s, err := sqlite.Open(p.store(), sqlite.Options{})
				id, ids := "", pawl.NewIDSource(time.Unix(int64(n), 0), rand.Reader)
				for range turns {
					switch {
					case err != nil:
					case n == 2:
						_, err = p.notary().Sign(context.Background(), s)
					default:
						id, err = commit(s, ids, id)
					}
				}
				if s != nil {
					_ = s.Close()
				}
				over <- err
			}()
		}
		n := p.notary()
		for i := range min(left, each) {
			for range 1 + i%3 {
				turns <- true // a writer begins, and goes on while the log is verified
			}
			if _, err := n.Verify(t.Context(), verifier); err != nil {
				t.Errorf("%d: %v", i, err)
			}
			if _, err := verifier.Check(t.Context(), nil); err != nil {
				t.Errorf("%d: the store: %v", i, err)
			}
		}
		close(turns)
		for range 3 {
			if err := <-over; err != nil {
				t.Error(err)
			}
		}
		if err := verifier.Close(); err != nil {
			t.Error(err)
		}
	}
}
