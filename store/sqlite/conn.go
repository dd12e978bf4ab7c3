package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	engine "modernc.org/sqlite"
)

// conn is one connection, used by one goroutine at a time. It stands directly on the driver: database/sql would add its
// pool and a lock to each of the few microseconds that a statement takes here.
type conn struct {
	raw  driver.Conn
	st   map[string]*stmt
	sums summer
	// within says that the connection is in a snapshot.
	within bool
}

// Ways to open a database file. All but create need the file to exist.
const (
	readWrite = "rw"
	readOnly  = "ro"
	create    = "rwc"
)

// connect opens the file in a mode of SQLite's URI form; extra parameters, if any, follow it.
func connect(path, mode, extra string, busy time.Duration) (*conn, error) {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	name := u.String() + "?mode=" + mode + extra
	if busy > 0 {
		name += "&_busy_timeout=" + strconv.FormatInt(busy.Milliseconds(), 10)
	}
	raw, err := new(engine.Driver).Open(name)
	if err != nil {
		return nil, err
	}
	return &conn{raw: raw, st: map[string]*stmt{}}, nil
}

// close releases the connection and its statements.
func (c *conn) close() error {
	var errs []error
	for _, s := range c.st {
		errs = append(errs, s.raw.Close())
	}
	c.st = nil
	return errors.Join(append(errs, c.raw.Close())...)
}

// fullStmt is what the driver's statements are.
type fullStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// stmt is a prepared statement with room for its arguments and its result, so that running it again allocates little.
type stmt struct {
	raw  fullStmt
	args []driver.NamedValue
	rows driver.Rows
	dest []driver.Value
}

// maxStatements bounds the statements that a connection keeps; the shapes of selection in use are far fewer.
const maxStatements = 128

// prepare returns the statement for a text, made on first use and kept for the life of the connection.
func (c *conn) prepare(text string) (*stmt, error) {
	if s, ok := c.st[text]; ok {
		return s, nil
	}
	if len(c.st) >= maxStatements {
		for old, s := range c.st {
			if s.rows == nil {
				_ = s.raw.Close()
				delete(c.st, old)
			}
		}
	}
	raw, err := c.raw.Prepare(text)
	if err != nil {
		return nil, err
	}
	s := &stmt{raw: raw.(fullStmt)}
	c.st[text] = s
	return s, nil
}

// bind sets the arguments: int64, string, []byte or nil.
func (s *stmt) bind(args []driver.Value) {
	if len(s.args) != len(args) {
		s.args = make([]driver.NamedValue, len(args))
	}
	for i, a := range args {
		s.args[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
}

// exec runs the statement. The context that the driver is given never ends: what has begun is finished, and callers
// give up on it by themselves.
func (s *stmt) exec(args ...driver.Value) (driver.Result, error) {
	s.bind(args)
	return s.raw.ExecContext(context.Background(), s.args)
}

// query starts the statement; next steps through it, and done must follow.
func (s *stmt) query(args ...driver.Value) error {
	s.bind(args)
	rows, err := s.raw.QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	s.rows = rows
	if n := len(rows.Columns()); len(s.dest) != n {
		s.dest = make([]driver.Value, n)
	}
	return nil
}

// next moves to the next row and reports whether there is one.
func (s *stmt) next() (bool, error) {
	err := s.rows.Next(s.dest)
	if err == io.EOF {
		return false, nil
	}
	return err == nil, err
}

// done ends a query.
func (s *stmt) done() error {
	err := s.rows.Close()
	s.rows = nil
	return err
}

// one runs a query for at most one row and reports whether there is one. The columns stay readable until the next run.
func (s *stmt) one(args ...driver.Value) (bool, error) {
	if err := s.query(args...); err != nil {
		return false, err
	}
	ok, err := s.next()
	return ok, errors.Join(err, s.done())
}

// Columns of the current row, from 0. A column of another type reads as the zero value.

func (s *stmt) int(i int) int64    { v, _ := s.dest[i].(int64); return v }
func (s *stmt) text(i int) string  { v, _ := s.dest[i].(string); return v }
func (s *stmt) bytes(i int) []byte { v, _ := s.dest[i].([]byte); return v }
func (s *stmt) null(i int) bool    { return s.dest[i] == nil }
func (s *stmt) time(i int) time.Time {
	if v, ok := s.dest[i].(int64); ok {
		return time.UnixMicro(v).UTC()
	}
	return time.Time{}
}

// Arguments that may be none.

func orNull(text string) driver.Value {
	if text == "" {
		return nil
	}
	return text
}

func instant(t time.Time) driver.Value {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// run executes a text that needs no statement of its own.
func (c *conn) run(text string) error {
	s, err := c.raw.Prepare(text)
	if err != nil {
		return err
	}
	_, err = s.(fullStmt).ExecContext(context.Background(), nil)
	return errors.Join(err, s.Close())
}

// number runs a query for one integer.
func (c *conn) number(text string) (int64, error) {
	s, err := c.prepare(text)
	if err != nil {
		return 0, err
	}
	ok, err := s.one()
	if err != nil || !ok {
		return 0, err
	}
	return s.int(0), nil
}
