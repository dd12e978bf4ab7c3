package pawl_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pawl"
)

var instant = time.Date(2026, 1, 30, 10, 0, 0, 123456789, time.UTC)

func take(t *testing.T, s *pawl.IDSource, n int) (out []pawl.ID) {
	t.Helper()
	for range n {
		id, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !id.Valid() || len(id) != 26 {
			t.Fatalf("%q is no id", id)
		}
		out = append(out, id)
	}
	return out
}

func TestIDsGrowAndCanBeMadeAgain(t *testing.T) {
	// The second source has to carry over a whole byte and more within its first ids.
	for _, random := range []string{"0123456789", "01234567\xff\xf0"} {
		ids := take(t, pawl.NewIDSource(instant, bytes.NewReader([]byte(random))), 300)
		if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
			t.Errorf("%q: ids do not grow: %v", random, ids)
		}
		if again := take(t, pawl.NewIDSource(instant, bytes.NewReader([]byte(random))), 300); !slices.Equal(ids,
			again) {
			t.Errorf("%q: other ids at the second time", random)
		}
		later := take(t, pawl.NewIDSource(instant.Add(time.Millisecond), bytes.NewReader(make([]byte, 10))), 1)
		if ids[299] >= later[0] {
			t.Errorf("%q: %s is not older than %s", random, ids[299], later[0])
		}
	}
}

func TestIDsComeToAnEnd(t *testing.T) {
	s := pawl.NewIDSource(instant, bytes.NewReader(bytes.Repeat([]byte{0xff}, 10)))
	last := take(t, s, 1)[0]
	for range 2 {
		if id, err := s.Next(); err == nil {
			t.Errorf("%s follows %s, the last of its millisecond", id, last)
		}
	}
	s = pawl.NewIDSource(instant, bytes.NewReader(nil))
	for range 2 {
		if id, err := s.Next(); err == nil {
			t.Errorf("%s was made of nothing", id)
		}
	}
	if id, err := pawl.NewIDSource(time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC),
		bytes.NewReader(make([]byte, 10))).Next(); err == nil {
		t.Errorf("%s is of a year that no id can hold", id)
	}
}
