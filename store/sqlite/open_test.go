package sqlite_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	engine "modernc.org/sqlite"

	"pawl"
	"pawl/kernel"
	"pawl/store/sqlite"
	"pawl/store/storetest"
)

var (
	fixture     = flag.Bool("fixture", false, "write the fixture of the present schema")
	corruptions = flag.Int("corruptions", 60, "how many random corruptions of a store to try")
)

// exec runs statements on a database file by a way that is not the store's.
func exec(t *testing.T, path string, statements ...string) {
	t.Helper()
	c, err := new(engine.Driver).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, s := range statements {
		if _, err := c.(driver.ExecerContext).ExecContext(context.Background(), s, nil); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// filled makes a store with some rows and records in it, and closes it.
func filled(t *testing.T) (path string, ids []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pawl.db")
	s, err := sqlite.Open(path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	src := pawl.NewIDSource(time.Now(), constant{})
	for range 20 {
		id := next(t, src)
		ids = append(ids, id)
		if _, err := s.Commit(t.Context(), kernel.Batch{Writes: []kernel.Write{{Row: kernel.Row{
			Kind: kernel.KindTask, ID: id, State: "queued", Version: 1, Doc: []byte(`{"title":"x"}`)}}}}); err != nil {
			t.Fatal(err)
		}
		if err := transition(s, id); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, ids
}

// cut retires half of the records of a filled store, with the rows that they are about.
func cut(t *testing.T, path string, ids []string) {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.Load(t.Context(), kernel.Select{Kind: kernel.KindTask})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := storetest.Retiring(t.Context(), s, rows[0][len(ids)-1], int64(len(ids)/2), rows[0][3:len(ids)/2]...)
	if err == nil {
		_, err = s.Commit(t.Context(), batch)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// refused opens a file that must be refused with a code, and checks that it was left as it is.
func refused(t *testing.T, path string, want pawl.Code) {
	t.Helper()
	before, _ := os.ReadFile(path)
	for _, opts := range []sqlite.Options{{}, {Create: true}, {ReadOnly: true}} {
		s, err := sqlite.Open(path, opts)
		if err == nil {
			s.Close()
		}
		if pawl.CodeOf(err) != want {
			t.Errorf("open %+v: %v, want %s", opts, err, want)
		}
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the file was changed")
	}
}

func TestOpenNew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "work space #1?", ".pawl")
	path := filepath.Join(dir, "pawl.db")
	for _, opts := range []sqlite.Options{{}, {ReadOnly: true}, {ReadOnly: true, Create: true}} {
		if _, err := sqlite.Open(path, opts); pawl.CodeOf(err) != pawl.CodeNotFound {
			t.Errorf("opening nothing with %+v: %v", opts, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("a folder was made without being asked for")
	}
	s, err := sqlite.Open(path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Commit(t.Context(), kernel.Batch{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		info, err := n.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", n.Name(), info.Mode(), err)
		}
		if !strings.HasPrefix(n.Name(), "pawl.db") || strings.Contains(n.Name(), ".new-") {
			t.Errorf("%s was left behind", n.Name())
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	write := func(content string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		want pawl.Code
		make func(t *testing.T, path string)
	}{
		{"empty", pawl.CodeStoreDamaged, write("")},
		{"a few bytes", pawl.CodeStoreDamaged, write("SQLite format 3\x00")},
		{"text", pawl.CodeStoreForeign, write(strings.Repeat("not a database\n", 1000))},
		{"zeros", pawl.CodeStoreForeign, write(strings.Repeat("\x00", 8192))},
		{"folder", pawl.CodeStoreForeign, func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"another application's", pawl.CodeStoreForeign, func(t *testing.T, path string) {
			exec(t, path, "CREATE TABLE t (x)", "PRAGMA application_id=7")
		}},
		{"newer", pawl.CodeStoreNewer, func(t *testing.T, path string) {
			good, _ := filled(t)
			exec(t, good, "PRAGMA user_version=99")
			if err := os.Rename(good, path); err != nil {
				t.Fatal(err)
			}
		}},
		{"cut", pawl.CodeStoreDamaged, func(t *testing.T, path string) {
			good, _ := filled(t)
			info, err := os.Stat(good)
			if err == nil {
				err = os.Truncate(good, info.Size()/2/4096*4096)
			}
			if err := errors.Join(err, os.Rename(good, path)); err != nil {
				t.Fatal(err)
			}
		}},
		{"log without store", pawl.CodeStoreDamaged, func(t *testing.T, path string) { write("x")(t, path+"-wal") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pawl.db")
			c.make(t, path)
			refused(t, path, c.want)
		})
	}
}

// A store that a newer pawl takes over while it is open here is written no more, whatever was remembered of it.
func TestTakenOver(t *testing.T) {
	path, _ := filled(t)
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	src := pawl.NewIDSource(time.Now().Add(time.Hour), constant{})
	add := func() (string, error) {
		id := next(t, src)
		_, err := s.Commit(t.Context(), kernel.Batch{Writes: []kernel.Write{{Row: kernel.Row{
			Kind: kernel.KindTask, ID: id, State: "queued", Version: 1, Doc: []byte(`{"title":"x"}`)}}}})
		return id, err
	}
	if _, err := add(); err != nil {
		t.Fatal(err)
	}
	exec(t, path, "PRAGMA user_version=99")
	for range 2 {
		id, err := add()
		if pawl.CodeOf(err) != pawl.CodeStoreNewer {
			t.Errorf("it was written: %v", err)
		}
		if got, err := s.Load(t.Context(), kernel.Select{Kind: kernel.KindTask, ID: id}); err != nil || len(got[0]) != 0 {
			t.Errorf("%+v %v", got, err)
		}
	}
}

// A store that was truncated to nothing is never taken for a new one, with or without its log.
func TestOpenEmptied(t *testing.T) {
	path, _ := filled(t)
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), kernel.Batch{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(path + "-wal")
	if err != nil || len(wal) == 0 {
		t.Fatalf("no log beside an open store: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	refused(t, path, pawl.CodeStoreDamaged)
	if err := os.WriteFile(path+"-wal", wal, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, path, pawl.CodeStoreDamaged)
}

// Random damage is either found, at opening, reading or checking, or did not touch anything that counts: what then can
// be read is what was written. Nothing panics.
func TestCorruption(t *testing.T) {
	path, ids := filled(t)
	cut(t, path, ids)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := dump(t, path, ids)
	random := rand.New(rand.NewPCG(3, uint64(*corruptions)))
	found, harmless := 0, 0
	for n := range *corruptions {
		bad := append([]byte(nil), good...)
		at := random.IntN(len(bad))
		switch n % 4 {
		case 0, 1:
			bad[at] ^= 1 << random.IntN(8)
		case 2:
			clear(bad[at/4096*4096 : at/4096*4096+4096])
		case 3:
			bad = bad[:at]
		}
		place := filepath.Join(t.TempDir(), "pawl.db")
		if err := os.WriteFile(place, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(place, sqlite.Options{})
		if err == nil {
			_, err = s.Check(t.Context(), nil)
			if closing := s.Close(); err == nil {
				err = closing
			}
		}
		switch pawl.CodeOf(err) {
		case pawl.CodeStoreDamaged, pawl.CodeStoreForeign, pawl.CodeStoreNewer, pawl.CodeAuditBroken, pawl.CodeInternal,
			pawl.CodeIO:
			found++
		case "":
			if got := dump(t, place, ids); got != want {
				t.Errorf("corruption %d (kind %d at %d) went unnoticed and changed what is read", n, n%4, at)
			}
			harmless++
		default:
			t.Errorf("corruption %d: %v", n, err)
		}
	}
	t.Logf("%d found, %d without effect", found, harmless)
	if found < *corruptions/3 {
		t.Errorf("only %d of %d corruptions were found", found, *corruptions)
	}
}

// dump is everything that the store at path says about some rows.
func dump(t *testing.T, path string, ids []string) string {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b strings.Builder
	for _, id := range ids {
		rows, err := s.Load(t.Context(), kernel.Select{ID: id})
		if err != nil || len(rows[0]) != 1 {
			return id + " cannot be read"
		}
		r := rows[0][0]
		b.WriteString(r.ID + r.State + string(r.Doc) + string(r.AuditHash[:]) + "\n")
	}
	for rec, err := range s.Records(t.Context(), "", 0) {
		if err != nil {
			return err.Error()
		}
		b.Write(rec.Bytes)
	}
	return b.String()
}

func TestAppendOnly(t *testing.T) {
	path, _ := filled(t)
	c, err := new(engine.Driver).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, s := range []string{"UPDATE audit SET seq=9", "DELETE FROM audit", "DELETE FROM entity"} {
		if _, err := c.(driver.ExecerContext).ExecContext(t.Context(), s, nil); err == nil {
			t.Errorf("%s went through", s)
		}
	}
}

// readOnly opens a store, of whatever schema, for reading: it is brought up to date where that is wanted, and can be.
func readOnly(t *testing.T, content []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pawl.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if now, _ := os.ReadFile(path); err != nil && (pawl.CodeOf(err) != pawl.CodeReadOnly || !bytes.Equal(now, content)) {
		t.Errorf("for reading only: %v", err)
	}
	if err == nil {
		_ = s.Close()
	}
	if s, err = sqlite.Open(path, sqlite.Options{ReadOnly: true, Upgrade: true}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Check(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if _, err := s.Commit(t.Context(), kernel.Batch{}); pawl.CodeOf(err) != pawl.CodeReadOnly {
		t.Errorf("it can be written: %v", err)
	}
}

// Databases of every schema that was ever released open, and what they hold is what they held.
func TestUpgrade(t *testing.T) {
	newest := filepath.Join("testdata", "upgrade", "v"+strconv.Itoa(sqlite.Schema)+".db")
	if *fixture {
		path, _ := filled(t)
		s, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_ = os.Remove(newest)
		if err := errors.Join(os.MkdirAll(filepath.Dir(newest), 0o755), s.Backup(t.Context(), newest)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("testdata/upgrade/*.db")
	if err != nil || len(files) != sqlite.Schema {
		t.Fatalf("%d fixtures for %d schemas, %v", len(files), sqlite.Schema, err)
	}
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "pawl.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		report, err := s.Check(t.Context(), nil)
		if err != nil || report.Size != 20 || report.Moves != 20 {
			t.Errorf("%s: %+v, %v", f, report, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		readOnly(t, content)
		if s, err = sqlite.Open(path, sqlite.Options{}); err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range s.Scan(t.Context(), kernel.Select{Kind: kernel.KindTask, States: []string{"running"}}) {
			if err != nil || string(r.Doc) != `{"title":"x"}` || r.Version != 2 {
				t.Errorf("%s: %+v, %v", f, r, err)
			}
			if err := transition(s, r.ID); err != nil {
				t.Error(err)
			}
			n++
		}
		if n != 20 {
			t.Errorf("%s: %d tasks", f, n)
		}
		if _, err := s.Check(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBackup(t *testing.T) {
	path, ids := filled(t)
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stop := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := transition(s, ids[n%len(ids)]); err != nil {
				done <- err
				return
			}
		}
	}()
	for n := range 3 {
		to := filepath.Join(t.TempDir(), "copy.db")
		if err := s.Backup(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		if err := s.Backup(t.Context(), to); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("overwriting a backup: %v", err)
		}
		b, err := sqlite.Open(to, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Check(t.Context(), nil); err != nil {
			t.Errorf("backup %d: %v", n, err)
		}
		// A backup is a store: it can be written, too.
		if err := transition(b, ids[0]); err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if names, _ := filepath.Glob(to + ".*"); len(names) > 0 {
			t.Errorf("left behind: %v", names)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestReadOnlyStore(t *testing.T) {
	path, ids := filled(t)
	s, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if rows, err := s.Load(t.Context(), kernel.Select{ID: ids[0]}); err != nil || len(rows[0]) != 1 {
		t.Errorf("%v, %v", rows, err)
	}
	if _, err := s.Commit(t.Context(), kernel.Batch{Key: "k"}); pawl.CodeOf(err) != pawl.CodeReadOnly {
		t.Errorf("a commit: %v", err)
	}
}

// TestRowsAreWhole: whatever value of a row is another than was written, the row is refused when it is read. The
// columns are those that the table has, so that a new one is tried, too.
func TestRowsAreWhole(t *testing.T) {
	path, ids := filled(t)
	var columns []string
	for _, c := range texts(t, path, "SELECT name FROM pragma_table_info('entity') ORDER BY cid") {
		// The position is where the row stands, and audit_at is a shortcut to what the log says.
		if c != "pos" && c != "audit_at" {
			columns = append(columns, c)
		}
	}
	if len(columns) < 16 {
		t.Fatalf("columns %v", columns)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range columns {
		place := filepath.Join(t.TempDir(), "pawl.db")
		if err := os.WriteFile(place, good, 0o600); err != nil {
			t.Fatal(err)
		}
		exec(t, place, "UPDATE entity SET "+c+"=CASE typeof("+c+") WHEN 'text' THEN "+c+"||'x' WHEN 'blob' THEN "+
			"CAST(substr("+c+", 1, length("+c+")-1)||'!' AS BLOB) WHEN 'integer' THEN "+c+"+1 ELSE "+
			"(CASE WHEN '"+c+"' IN ('label', 'parent') THEN 'x' ELSE 7 END) END WHERE pos=5")
		s, err := sqlite.Open(place, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(t.Context(), kernel.Select{Kind: kernel.KindTask}); pawl.CodeOf(err) !=
			pawl.CodeStoreDamaged && (c != "kind" || err != nil) {
			t.Errorf("%s: %v", c, err)
		}
		if _, err := s.Check(t.Context(), nil); err == nil {
			t.Errorf("%s: nothing found by Check", c)
		}
		if _, err := s.Load(t.Context(), kernel.Select{ID: ids[0]}); err != nil {
			t.Errorf("%s: another row: %v", c, err)
		}
		s.Close()
	}
}

// texts reads one text of each row that a query finds in a database file, by a way that is not the store's.
func texts(t *testing.T, path, query string) (out []string) {
	t.Helper()
	c, err := new(engine.Driver).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rows, err := c.(driver.QueryerContext).QueryContext(context.Background(), query, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for dest := make([]driver.Value, 1); rows.Next(dest) == nil; {
		text, _ := dest[0].(string)
		out = append(out, text)
	}
	return out
}

func TestCheckFindsWhatTheLogDoesNotSay(t *testing.T) {
	for _, c := range []struct {
		statement string
		want      pawl.Code
	}{
		{"UPDATE entity SET state='done' WHERE pos=3", pawl.CodeStoreDamaged},
		{"UPDATE entity SET body=x'7b7d' WHERE pos=3", pawl.CodeStoreDamaged},
		{"UPDATE entity SET body=NULL WHERE pos=3", pawl.CodeStoreDamaged},
		{`UPDATE summary SET data=CAST('{"queued":3}' AS BLOB) WHERE kind='task'`, pawl.CodeStoreDamaged},
		{"UPDATE summary SET data=x'00' WHERE kind=''", pawl.CodeStoreDamaged},
		{"DROP TRIGGER audit_no_delete; DELETE FROM audit WHERE idx=19", pawl.CodeAuditBroken},
		{"DROP TRIGGER audit_no_update; UPDATE audit SET ref=1 WHERE idx=3", pawl.CodeAuditBroken},
	} {
		path, _ := filled(t)
		exec(t, path, strings.Split(c.statement, "; ")...)
		s, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Check(t.Context(), nil); pawl.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", c.statement, err, c.want)
		}
		s.Close()
	}
	path, ids := filled(t)
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, err := s.Load(t.Context(), kernel.Select{ID: ids[4]})
	if err != nil {
		t.Fatal(err)
	}
	// A state that no record tells of. The kernel never writes one.
	w := kernel.Write{Row: rows[0][0], From: rows[0][0].Version, KeepDoc: true}
	w.Version, w.State = w.From+1, "done"
	if _, err := s.Commit(t.Context(), kernel.Batch{Writes: []kernel.Write{w}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Check(t.Context(), nil); pawl.CodeOf(err) != pawl.CodeAuditBroken ||
		!strings.Contains(err.Error(), "audit.state") {
		t.Errorf("a state without a record: %v", err)
	}
}

// number reads one number from a database file by a way that is not the store's.
func number(t *testing.T, path, query string) int64 {
	t.Helper()
	c, err := new(engine.Driver).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rows, err := c.(driver.QueryerContext).QueryContext(context.Background(), query, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	dest := make([]driver.Value, 1)
	if err := rows.Next(dest); err != nil {
		t.Fatal(err)
	}
	n, _ := dest[0].(int64)
	return n
}
