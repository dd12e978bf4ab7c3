package sqlite

import (
	"context"
	"errors"
	"os"

	engine "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"pawl"
	"pawl/store/lockfile"
)

// faults turn what goes wrong with the store at a path into errors of ours.
type faults struct{ path string }

// fault turns an error of the engine into one of ours; errors that already are ours pass unchanged.
func (s faults) fault(op string, err error) error {
	if err == nil {
		return nil
	}
	var own *pawl.Error
	if errors.As(err, &own) {
		return own
	}
	code, key := classify(err)
	if code == pawl.CodeBusy {
		return busyFault(s, op, err)
	}
	return pawl.Fail(code, key, s.path).In("store." + op).Because(err)
}

// The locks of a database with a write-ahead log: those for writing, copying the log back and mending it stand beside
// each other in the file of its index, and that for the database as a whole in the database
// (https://sqlite.org/walformat.html, https://sqlite.org/fileformat2.html#the_lock_byte_page).
const (
	indexLocks, indexLocked       = 120, 122
	databaseLocks, databaseLocked = 1 << 30, 1<<30 + 511
)

// holder says which other process keeps this one from the database, where that can be known.
func holder(s faults) (lockfile.Holder, bool) {
	h, ok := lockfile.Range(s.path+"-shm", indexLocks, indexLocked)
	if !ok {
		h, ok = lockfile.Range(s.path, databaseLocks, databaseLocked)
	}
	return h, ok && h.PID != os.Getpid()
}

// busyFault is the error for a lock that another process did not give up in time: with its name, where that can be
// known.
func busyFault(s faults, op string, err error) error {
	if h, ok := holder(s); ok {
		err = h.Fault(s.path)
	}
	return pawl.Fail(pawl.CodeBusy, "store.busy", s.path).In("store." + op).Because(err)
}

// lateFault is the error for a request whose time was over before its turn came.
func lateFault(s faults, op string) error {
	if _, ok := holder(s); ok {
		return busyFault(s, op, nil)
	}
	return pawl.Fail(pawl.CodeTimeout, "store.timeout").In("store." + op)
}

// resultCode returns the engine's extended result code, or -1 where err does not come from the engine.
func resultCode(err error) int {
	var e *engine.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return -1
}

// classify maps the engine's result codes to ours.
func classify(err error) (pawl.Code, string) {
	full := resultCode(err)
	switch full {
	case -1:
		return pawl.CodeInternal, "store.engine"
	case lib.SQLITE_IOERR_SHORT_READ, lib.SQLITE_IOERR_CORRUPTFS, lib.SQLITE_CANTOPEN_ISDIR:
		return pawl.CodeStoreDamaged, "store.damaged"
	case lib.SQLITE_IOERR_SHMSIZE:
		// The index of the write-ahead log could not be made larger, which is how a full disk shows before anything is
		// written.
		return pawl.CodeDiskFull, "store.full"
	case lib.SQLITE_READONLY_DBMOVED:
		return pawl.CodeStoreDamaged, "store.moved"
	}
	switch full & 0xff {
	case lib.SQLITE_FULL:
		return pawl.CodeDiskFull, "store.full"
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_AUTH:
		return pawl.CodeReadOnly, "store.readonly"
	case lib.SQLITE_CORRUPT:
		return pawl.CodeStoreDamaged, "store.damaged"
	case lib.SQLITE_NOTADB:
		return pawl.CodeStoreForeign, "store.foreign"
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return pawl.CodeBusy, "store.busy"
	case lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN, lib.SQLITE_NOLFS:
		return pawl.CodeIO, "store.io"
	case lib.SQLITE_NOMEM:
		return pawl.CodeEnvironment, "store.memory"
	case lib.SQLITE_TOOBIG:
		return pawl.CodeInvalid, "store.large"
	}
	return pawl.CodeInternal, "store.engine"
}

// locked reports whether err says that another connection holds the lock that was asked for.
func locked(err error) bool {
	switch resultCode(err) & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return resultCode(err) != -1
	}
	return false
}

// canceled is the error for a context that ended before anything was written.
func canceled(ctx context.Context, op string) error {
	cause := context.Cause(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return pawl.Fail(pawl.CodeTimeout, "store.timeout").In("store." + op).Because(cause)
	}
	return pawl.Fail(pawl.CodeCanceled, "store.canceled").In("store." + op).Because(cause)
}
