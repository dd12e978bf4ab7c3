package sqlite_test

import (
	"path/filepath"
	"testing"

	"pawl/kernel"
	"pawl/store/sqlite"
	"pawl/store/storetest"
)

var backend = storetest.Backend{
	Place: func(tb testing.TB) string { return filepath.Join(tb.TempDir(), ".pawl", "pawl.db") },
	Open: func(place string) (kernel.Store, error) {
		return sqlite.Open(place, sqlite.Options{Create: true})
	},
}

func TestMain(m *testing.M) {
	playRole()
	storetest.Main(m, backend)
}

func TestStore(t *testing.T) { storetest.Run(t, backend) }
