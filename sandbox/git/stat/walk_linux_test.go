package stat

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl/sandbox/git/object"
)

func TestSettled(t *testing.T) {
	now := time.Unix(1_000_000, 500)
	for _, c := range []struct {
		ago  time.Duration
		odd  int64 // what the file system can tell below a hundredth of a second
		want bool
	}{
		{time.Hour, 1, true}, {time.Hour, 0, true}, {2 * time.Second, 1, true}, {2 * time.Second, 0, false},
		{20 * time.Millisecond, 1, false}, {0, 1, false}, {-time.Hour, 1, false},
	} {
		at := now.Add(-c.ago).UnixNano()
		s := Stamp{ctime: at - at%coarse + c.odd}
		if got := s.Settled(now); got != c.want {
			t.Errorf("%v ago, %d: %v", c.ago, c.odd, got)
		}
	}
}

// On a file system whose clock stands still, what was written in the moment of the last look is read again: contents,
// and the names in folders. What was written long before is not.
func TestAClockThatStandsStill(t *testing.T) {
	for _, c := range []struct {
		name          string
		now           time.Time
		changed, lost bool
	}{
		{"f", time.Unix(1, 0), true, false}, {"g", time.Unix(1, 0), false, true},
		{"f", time.Now().Add(time.Hour), false, false}, {"g", time.Now().Add(time.Hour), false, false},
	} {
		dir := t.TempDir()
		write := func(name, content string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, "d", name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
			t.Fatal(err)
		}
		write("f", "one")
		first := look{now: c.now, contents: map[string]object.Node{"d/f": {Mode: object.ModeFile,
			ID: object.ID("sha1", "blob", []byte("one"))}}}
		var root folder
		if !first.first(dir, &root) {
			t.Fatal("the folder is not what it is")
		}
		write(c.name, "two")
		below := root.entries[0].below
		below.stamp, below.entries[0].stamp = StampFile(filepath.Join(dir, "d")),
			StampFile(filepath.Join(dir, "d", "f"))
		fd, err := openFolder(unix.AT_FDCWD, dir)
		if err != nil {
			t.Fatal(err)
		}
		next := look{now: c.now, dev: first.dev, format: "sha1"}
		next.follow(fd, &root)
		unix.Close(fd)
		if (len(next.changed) > 0) != c.changed || next.lost != c.lost {
			t.Errorf("%s at %v: changed %v, lost %v", c.name, c.now, next.changed, next.lost)
		}
	}
}
