package sqlite_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	engine "modernc.org/sqlite"

	"pawl/store/sqlite"
)

// said is everything that a database says, by a way that is not the store's; ok is false where it cannot be read.
func said(path string) (text string, ok bool) {
	c, err := new(engine.Driver).Open("file:" + path + "?mode=ro&immutable=1")
	if err != nil {
		return "", false
	}
	defer c.Close()
	var out bytes.Buffer
	for _, table := range []string{"entity", "long_doc", "audit", "summary", "meta"} {
		rows, err := c.(driver.QueryerContext).QueryContext(context.Background(), "SELECT * FROM "+table, nil)
		if err != nil {
			return "", false
		}
		dest := make([]driver.Value, len(rows.Columns()))
		for err = rows.Next(dest); err == nil; err = rows.Next(dest) {
			fmt.Fprintf(&out, "%v\n", dest)
		}
		rows.Close()
		if err != io.EOF {
			return "", false
		}
	}
	return out.String(), true
}

// TestCheckFindsEveryDamage: after a flipped bit or a zeroed page in a store that nobody has open, the whole check fails
// wherever anything that is said has become another.
func TestCheckFindsEveryDamage(t *testing.T) {
	whole, _ := filled(t)
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := said(whole)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	path := filepath.Join(t.TempDir(), "pawl.db")
	hit := 0
	for i := range 52 + 20 + *corruptions {
		damaged := bytes.Clone(content)
		what := ""
		if i%4 != 0 {
			at, bit := random.IntN(len(damaged)), random.IntN(8)
			damaged[at] ^= 1 << bit
			what = fmt.Sprintf("bit %d of byte %d", bit, at)
		} else {
			page := random.IntN(len(damaged) / 4096)
			clear(damaged[page*4096 : (page+1)*4096])
			what = fmt.Sprintf("page %d", page)
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		now, ok := said(path)
		s, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
		if err == nil {
			_, err = s.Check(t.Context(), nil)
			s.Close()
		}
		if ok && now == want {
			continue // bytes that are not used, or that all the same say what they said
		}
		if hit++; err == nil {
			t.Errorf("seed %d: %s was not found", seed, what)
		}
	}
	if hit < 20 {
		t.Errorf("seed %d: only %d hit anything", seed, hit)
	}
}
