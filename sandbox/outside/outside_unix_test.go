//go:build unix

package outside_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl/sandbox/outside"
)

// role makes the test binary act as a pawl that renews a login in the folder that it names.
const role = "OUTSIDE_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(role); dir != "" {
		err := renew(context.Background(), dir, 30*time.Second)
		fmt.Println(err)
		return
	}
	os.Exit(m.Run())
}

// patience is far beyond what anything here takes.
const patience = time.Minute

// maker stands for a program that renews a login: it reads what it is told, and when a file called go is there writes
// the new login, by a rename, and answers. Input that ends before that ends it, as it ends real ones.
const maker = `#!/bin/sh
exec 5<&0
(while read -r line; do echo "$line" >>told; done; touch ended) <&5 &
while [ ! -e told ]; do sleep 0.02; done
while [ ! -e go ] && [ ! -e ended ]; do sleep 0.02; done
[ -e go ] || exit 1
echo new >login.new && mv login.new login
echo answer
while [ ! -e ended ]; do sleep 0.02; done
kill $! 2>/dev/null
exit 0
`

// renew runs the maker's program in a folder, as pawl does.
func renew(ctx context.Context, dir string, limit time.Duration) error {
	out, err := os.OpenFile(filepath.Join(dir, "output"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	return outside.Run(ctx, outside.Command{
		Path: filepath.Join(dir, "maker"), Dir: dir, Without: []string{role}, Input: "one\ntwo\n", Limit: limit,
		Output: out, Hold: lock,
		Answered: func(output []byte) bool { return bytes.Contains(output, []byte("answer")) },
	}, func(int) { _ = os.WriteFile(filepath.Join(dir, "started"), nil, 0o600) })
}

func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"maker": maker, "login": "old\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(dir, name string) string {
	raw, _ := os.ReadFile(filepath.Join(dir, name))
	return string(raw)
}

func touch(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// held reports whether somebody has the lock.
func held(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return false
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}

func TestItAnswersAndEnds(t *testing.T) {
	dir := folder(t)
	touch(t, dir, "go")
	if err := renew(t.Context(), dir, patience); err != nil {
		t.Fatal(err)
	}
	if read(dir, "login") != "new\n" || read(dir, "told") != "one\ntwo\n" {
		t.Errorf("%q, told %q", read(dir, "login"), read(dir, "told"))
	}
	eventually(t, "the lock is still held", func() bool { return !held(dir) })
}

// TestNobodyEndsIt: neither a pawl that is killed, nor one that is interrupted, nor one that waits no longer ends a
// program that has the only copy of a login; and nobody else gets the lock before it is at its end.
func TestNobodyEndsIt(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, dir string){
		"killed": func(t *testing.T, dir string) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), role+"="+dir)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it was not started", func() bool { return read(dir, "told") == "one\ntwo\n" })
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // the status is that of one that was killed
		},
		"interrupted": func(t *testing.T, dir string) {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- renew(ctx, dir, 30*time.Second) }()
			eventually(t, "it was not started", func() bool { return read(dir, "told") == "one\ntwo\n" })
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			leave(t, dir)
			if read(dir, "login") != "old\n" || !held(dir) {
				t.Fatalf("%q, held: %v", read(dir, "login"), held(dir))
			}
			if err := renew(t.Context(), dir, time.Second); !errors.Is(err, unix.EWOULDBLOCK) {
				t.Errorf("two at once: %v", err)
			}
			touch(t, dir, "go")
			eventually(t, "the login was not renewed", func() bool { return read(dir, "login") == "new\n" })
			touch(t, dir, "ended")
			eventually(t, "the lock is still held", func() bool { return !held(dir) })
		})
	}
}

func TestItFails(t *testing.T) {
	dir := folder(t)
	script := "#!/bin/sh\necho it does not work >&2\nexit 3\n"
	if err := os.WriteFile(filepath.Join(dir, "maker"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := renew(t.Context(), dir, patience); err == nil || !strings.Contains(err.Error(), "it does not work") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(dir, "maker")); err != nil {
		t.Fatal(err)
	}
	if err := renew(t.Context(), dir, patience); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
