package sqlite

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	lib "modernc.org/sqlite/lib"

	"pawl"
	"pawl/kernel"
	"pawl/store/lockfile"
)

// applicationID marks a file as ours in SQLite's header: "pawl".
const applicationID = 0x7061776c

// SQLite before 3.51.3 can lose an acknowledged commit when two connections write and checkpoint at once. Building with
// an older one fails here.
const _ = uint(lib.SQLITE_VERSION_NUMBER - 3051003)

// migrations hold the schema. Each file brings the database from the number before its own to its own.
//
//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the number of the schema that this version of pawl writes and reads.
const Schema = 5

// Identity is that of the store at path (kernel.Identity), "" where there is none that can be read. Nothing is changed.
func Identity(path string) string {
	s, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return ""
	}
	defer s.Close()
	id, err := kernel.Identity(context.Background(), s)
	if err != nil {
		return ""
	}
	return id
}

// Open opens the store at path (usually .pawl/pawl.db). The file is never taken for what it is not: one that is no
// SQLite database or belongs to another application is store_foreign, an empty, cut or otherwise damaged one
// store_damaged, one of a newer pawl store_newer, and a missing one not_found unless Options.Create is set. A store of
// an older schema is brought up to date in one transaction. The caller closes the store.
func Open(path string, opts Options) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "store.io", path).In("store.open").Because(err)
	}
	s := &Store{faults: faults{abs}, opts: opts, slots: make(chan struct{}, readers)}
	if !opts.ReadOnly {
		for _, draft := range Left(s.path) {
			_ = os.Remove(draft) // what cannot be removed does no harm
		}
	}
	if err := s.inspect(); err != nil {
		if pawl.CodeOf(err) != pawl.CodeNotFound || !opts.Create || opts.ReadOnly {
			return nil, err
		}
		if err := s.create(); err != nil {
			return nil, s.fault("open", err)
		}
	}
	c, err := s.first()
	if err != nil {
		return nil, s.fault("open", err)
	}
	s.idle = append(s.idle, c)
	return s, nil
}

// first opens the first reading connection and makes sure that it sees our schema.
func (s *Store) first() (*conn, error) {
	c, have, err := s.look()
	if code := resultCode(err) & 0xff; err != nil && (code == lib.SQLITE_CANTOPEN || code == lib.SQLITE_READONLY) &&
		idle(s.path) {
		// The folder cannot be written, so SQLite cannot put its shared index beside the file. Without a log there
		// would be nothing in it anyway, and nobody can change the file.
		s.extra = "&immutable=1"
		c, have, err = s.look()
	} else if code == lib.SQLITE_IOERR && s.opts.ReadOnly && resultCode(err) == lib.SQLITE_IOERR_SHMSIZE &&
		idle(s.path) {
		if s.image, _ = imageOf(s.path); s.image != nil { // else the first error counts
			c, have, err = s.look()
		}
	}
	switch {
	case err != nil:
		return nil, err
	case have == Schema:
		return c, nil
	}
	_ = c.close()
	if have > Schema {
		return nil, pawl.Fail(pawl.CodeStoreNewer, "store.newer", s.path, have, Schema).In("store.open")
	}
	if err := s.migrate(); err != nil {
		return nil, err
	}
	if c, have, err = s.look(); err == nil && have != Schema {
		err = pawl.Fail(pawl.CodeStoreDamaged, "store.damaged", s.path).In("store.open")
	}
	return c, err
}

// look opens a connection and reads the schema's number from a database that is ours.
func (s *Store) look() (c *conn, schema int64, err error) {
	if c, err = s.connectReader(); err != nil {
		return nil, 0, err
	}
	id, err := c.number("PRAGMA application_id")
	if err == nil && id != applicationID {
		err = pawl.Fail(pawl.CodeStoreForeign, "store.foreign", s.path).In("store.open")
	}
	if err == nil {
		schema, err = c.number("PRAGMA user_version")
	}
	if err != nil {
		_ = c.close()
		return nil, 0, err
	}
	return c, schema, nil
}

// idle reports whether the database at path has no write-ahead log that a reader would have to take into account.
func idle(path string) bool {
	info, err := os.Stat(path + "-wal")
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// witnessed reports whether a store was written at path.
func witnessed(path string) bool {
	line, err := os.ReadFile(witnessOf(path))
	_, ok := heard(line)
	return err == nil && ok
}

// minSize is the size of the smallest database that SQLite can make.
const minSize = 512

// magic is what every database begins with.
const magic = "SQLite format 3\x00"

// inspect judges the file before SQLite sees it, which would take an empty file for a new database. It does not open
// the file: closing it again would drop the locks that other connections of this process hold on it (POSIX locks belong
// to the process, not to the descriptor).
func (s *Store) inspect() error {
	damaged := func(key string) error { return pawl.Fail(pawl.CodeStoreDamaged, key, s.path).In("store.open") }
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && idle(s.path) && !witnessed(s.path):
		return pawl.Fail(pawl.CodeNotFound, "store.missing", s.path).In("store.open")
	case errors.Is(err, fs.ErrNotExist):
		return damaged("store.lost")
	case err != nil:
		return fileFault(err, s.path)
	case !info.Mode().IsRegular():
		return pawl.Fail(pawl.CodeStoreForeign, "store.foreign", s.path).In("store.open")
	case info.Size() == 0:
		return damaged("store.empty")
	case info.Size() < minSize:
		// No connection can have locks on a file that is too small for a database, so this one may be opened and
		// closed.
		if head, err := os.ReadFile(s.path); err == nil &&
			!strings.HasPrefix(string(head), magic[:min(len(head), len(magic))]) {
			return pawl.Fail(pawl.CodeStoreForeign, "store.foreign", s.path).In("store.open")
		}
		return damaged("store.cut")
	}
	return nil
}

// create makes the database under another name and links it into place when it is complete and on disk. So no process
// ever sees half a store, and an empty pawl.db is always damage. If another process was faster, its store is the store.
func (s *Store) create() error {
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fileFault(err, dir)
	}
	draft := s.path + draftMark + lockfile.Maker() + "-" + rand.Text()[:12]
	f, err := os.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fileFault(err, draft)
	}
	if err := f.Close(); err != nil {
		return fileFault(err, draft)
	}
	defer os.Remove(draft)
	c, err := connect(draft, readWrite, "&_synchronous=FULL", 0)
	if err != nil {
		return err
	}
	err = c.migrate()
	if err == nil {
		err = c.run("PRAGMA journal_mode=WAL")
	}
	if err := errors.Join(err, c.close()); err != nil {
		return err
	}
	if err := os.Link(draft, s.path); err != nil && !errors.Is(err, fs.ErrExist) {
		// Some file systems have no links. Renaming is as atomic, only not exclusive.
		if err := os.Rename(draft, s.path); err != nil {
			return fileFault(err, s.path)
		}
	}
	return syncDir(dir)
}

// draftMark is what stands between the name of a store and that of who makes it, in the name of a draft.
const draftMark = ".new-"

// Left names what processes left of stores that they were making at path when they ended, journals included.
func Left(path string) (out []string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // where there is no folder, nothing is left in it
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), filepath.Base(path)+draftMark) {
			continue
		}
		if e.Type().IsRegular() && lockfile.Left(e.Name()) {
			out = append(out, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return out
}

// migrate brings an existing store up to date.
func (s *Store) migrate() error {
	if s.opts.ReadOnly && !s.opts.Upgrade {
		return old(s.path, nil)
	}
	c, err := connect(s.path, readWrite, "&_synchronous=FULL", limit)
	if err == nil {
		err = errors.Join(c.migrate(), c.close())
	}
	if code := resultCode(err) & 0xff; s.opts.ReadOnly && (code == lib.SQLITE_READONLY || code == lib.SQLITE_CANTOPEN) {
		return old(s.path, err)
	}
	return err
}

// old is the error for a store of an older schema that is not brought up to date.
func old(path string, because error) error {
	return pawl.Fail(pawl.CodeReadOnly, "store.old", path).In("store.open").Because(because)
}

// migrate applies the migrations that the database does not have, all in one transaction.
func (c *conn) migrate() error {
	if err := c.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := c.steps()
	if err == nil {
		err = c.run("COMMIT")
	}
	if err != nil {
		return errors.Join(err, c.run("ROLLBACK"))
	}
	return nil
}

func (c *conn) steps() error {
	have, err := c.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	for n := have + 1; n <= Schema; n++ {
		text, err := migrations.ReadFile("migrations/" + migrationName(n))
		if err != nil {
			return err
		}
		if err := c.run(string(text)); err != nil {
			return err
		}
	}
	if err := c.baptize(); err != nil {
		return err
	}
	return errors.Join(
		c.run("PRAGMA application_id="+strconv.Itoa(applicationID)),
		c.run("PRAGMA user_version="+strconv.Itoa(Schema)))
}

// baptize gives the store its identity, if it has none.
func (c *conn) baptize() error {
	id := rand.Text()
	s, err := c.prepare("INSERT INTO meta SELECT ?, EXISTS (SELECT 1 FROM audit), ? WHERE NOT EXISTS (SELECT 1 FROM meta)")
	if err != nil {
		return err
	}
	_, err = s.exec(id, sumOf([]byte(id)))
	return err
}

func migrationName(n int64) string {
	digits := "000" + strconv.FormatInt(n, 10)
	return digits[len(digits)-4:] + ".sql"
}

// fileFault is the error for a file or folder that could not be made.
func fileFault(err error, path string) error {
	code, key := pawl.CodeIO, "store.io"
	switch {
	case errors.Is(err, fs.ErrPermission), isReadOnlyFS(err):
		code, key = pawl.CodeReadOnly, "store.readonly"
	case isDiskFull(err):
		code, key = pawl.CodeDiskFull, "store.full"
	}
	return pawl.Fail(code, key, path).In("store.open").Because(err)
}
