package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/internal/need"
)

// npmRegistry serves one package that wants to run a program when it is installed, and remembers what it was asked for.
type npmRegistry struct {
	*httptest.Server
	integrity string

	mu    sync.Mutex
	asked []string
	delay time.Duration
	code  int // answers everything, 0 for what is right
}

func newNPMRegistry(t *testing.T) *npmRegistry {
	t.Helper()
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	manifest := `{"name":"is-odd","version":"1.0.0","main":"index.js","scripts":{"postinstall":"echo ran > ran.txt"}}`
	for name, text := range map[string]string{"package/package.json": manifest,
		"package/index.js": "module.exports = n => n % 2 === 1\n"} {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(archive.Bytes())
	r := &npmRegistry{integrity: "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, q.URL.Path)
		delay, code := r.delay, r.code
		r.mu.Unlock()
		select {
		case <-time.After(delay):
		case <-q.Context().Done():
		}
		switch {
		case code != 0:
			w.WriteHeader(code)
		case strings.HasSuffix(q.URL.Path, ".tgz"):
			_, _ = w.Write(archive.Bytes())
		case q.URL.Path == "/is-odd":
			fmt.Fprintf(w, `{"name":"is-odd","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"is-odd","version":"1.0.0","main":"index.js","hasInstallScript":true,"dist":{"tarball":"%s/is-odd/-/is-odd-1.0.0.tgz","integrity":"%s"}}}}`, r.URL, r.integrity)
		default:
			http.NotFound(w, q)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *npmRegistry) answers(code int, delay time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.code, r.delay = code, delay
}

func (r *npmRegistry) requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.asked)
}

// unfilled makes a project of npm whose packages are not installed, with the registry in the user's own settings.
func unfilled(t *testing.T, r *npmRegistry) *user {
	t.Helper()
	need.Program(t, "node")
	need.Program(t, "npm")
	u := newUser(t)
	u.write("package.json", `{"name":"app","version":"1.0.0","scripts":{"test":"node test.js"},"dependencies":{"is-odd":"1.0.0"}}`)
	u.write("package-lock.json", `{"name":"app","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"app","version":"1.0.0","dependencies":{"is-odd":"1.0.0"}},`+
		`"node_modules/is-odd":{"version":"1.0.0","resolved":"https://registry.npmjs.org/is-odd/-/is-odd-1.0.0.tgz","integrity":"`+r.integrity+`","hasInstallScript":true}}}`)
	u.write("test.js", "if (!require('is-odd')(3)) process.exit(1)\n")
	u.write(".gitignore", "node_modules\n")
	u.repository()
	if err := os.WriteFile(filepath.Join(u.home, ".npmrc"), []byte("registry="+r.URL+"/\nfetch-retries=0\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestMissingDependenciesArePrepared goes the whole way: a run stops for want of packages and says what to do, the
// packages are fetched from the registry of the user's settings, the run goes on, and the next one finds them.
func TestMissingDependenciesArePrepared(t *testing.T) {
	t.Parallel()
	r := newNPMRegistry(t)
	u := unfilled(t, r)
	a := u.must(8, "run", "--plan", u.checked([]string{"npm test"}, noted()), "--yes")
	u.says(a, "pawl prepare", "node_modules")
	if a := u.must(9, "prepare"); r.requests() != 0 || !strings.Contains(a.out, "package-lock.json") ||
		!strings.Contains(a.err, "--yes") {
		t.Errorf("nobody said yes: %v", a)
	}
	a = u.must(0, "prepare", "--yes")
	u.says(a, "node_modules", "npm ci", "is-odd", "pawl prepare --scripts")
	if _, err := os.Lstat(filepath.Join(u.dir, "node_modules")); err == nil {
		t.Error("something was written into the user's tree")
	}
	set := globbed(t, u.own("cache", "deps", "npm-*"))
	if _, err := os.Stat(filepath.Join(set, "tree", "node_modules", "is-odd", "ran.txt")); err == nil {
		t.Error("a package ran a program")
	}
	u.must(0, "fix", "-m", "the packages are there")
	if u.read("NOTES.md") != "noted\n" {
		t.Error("the work did not land")
	}
	asked := r.requests()
	if a := u.must(0, "prepare", "--yes"); !strings.Contains(a.out, "nothing is missing") {
		t.Errorf("%v", a)
	}
	again := step("again", call("write_file", map[string]any{"path": "MORE.md", "content": "more\n"}))
	u.must(0, "run", "--plan", u.checked([]string{"npm test"}, again), "--yes")
	u.must(0, "test")
	if r.requests() != asked {
		t.Errorf("the registry was asked again: %v", r.asked[asked:])
	}
	if _, err := os.Lstat(filepath.Join(u.dir, "node_modules")); err == nil {
		t.Error("a folder is left in the user's tree")
	}
	// Packages that are to run programs are fetched anew, once.
	u.must(0, "prepare", "--yes", "--scripts")
	if _, err := os.Stat(filepath.Join(set, "tree", "node_modules", "is-odd", "ran.txt")); err != nil {
		t.Error("the package's program did not run")
	}
	u.must(0, "audit", "verify")
	u.quiet()
}

// TestARunFetchesWhatIsMissing tells of missing packages before anything is planned, and fetches them when it was asked
// for.
func TestARunFetchesWhatIsMissing(t *testing.T) {
	t.Parallel()
	r := newNPMRegistry(t)
	u := unfilled(t, r)
	a := u.must(9, "run", "--plan", u.checked([]string{"npm test"}, noted()))
	if !strings.Contains(a.err+a.out, "pawl prepare") || r.requests() != 0 {
		t.Errorf("the missing packages are not told of before the plan is approved: %v", a)
	}
	// While the plan waits for a word, they can be fetched.
	u.must(0, "prepare", "--yes")
	u.must(0, "approve", "--yes")
	if u.read("NOTES.md") != "noted\n" {
		t.Error("the work did not land")
	}
	u.quiet()
	v := unfilled(t, r)
	v.must(0, "run", "--plan", v.checked([]string{"npm test"}, noted()), "--yes", "--prepare")
	if v.read("NOTES.md") != "noted\n" {
		t.Error("the work did not land")
	}
	v.quiet()
}

// globbed is the one path that a pattern matches.
func globbed(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s matches %v (%v)", pattern, found, err)
	}
	return found[0]
}

// TestPrepareFailsWithAReason has everything that keeps packages from being fetched named, with nothing half done left.
func TestPrepareFailsWithAReason(t *testing.T) {
	t.Parallel()
	r := newNPMRegistry(t)
	fails := func(what, key string, code int, u *user, args ...string) {
		t.Helper()
		a := u.pawl(append([]string{"prepare", "--yes", "--json"}, args...)...)
		if a.code != code || !json.Valid([]byte(a.err)) || !strings.Contains(a.err, key) {
			t.Errorf("%s: want %s: %v", what, key, a)
		}
		if left, _ := filepath.Glob(u.own("cache", "deps", "*")); len(left) > 0 {
			t.Errorf("%s: left behind: %v", what, left)
		}
	}
	u := unfilled(t, r)
	r.answers(http.StatusUnauthorized, 0)
	fails("a login", "credentials", 10, u)
	r.answers(http.StatusBadGateway, 0)
	fails("no answer", "does not answer", 10, u)
	r.answers(0, 0)
	u.write("package.json", `{"name":"app","version":"1.0.0","dependencies":{"is-odd":"2.0.0"}}`)
	fails("out of step", "does not fit", 13, u)
	away := unfilled(t, r)
	if err := os.WriteFile(filepath.Join(away.home, ".npmrc"),
		[]byte("registry=http://127.0.0.1:1/\nfetch-retries=0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fails("nobody there", "does not answer", 10, away)
	denied := unfilled(t, r)
	denied.must(0, "config", "set", "policy.no_network", "true")
	fails("denied", "no_network", 5, denied)
	linked := unfilled(t, r)
	linked.must(0, "init", "--bare")
	if err := os.MkdirAll(linked.own("cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, linked.own("cache", "deps")); err != nil {
		t.Fatal(err)
	}
	if a := linked.pawl("prepare", "--yes"); a.code == 0 {
		t.Errorf("through a link: %v", a)
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("through a link: %v", left)
	}
}

// TestPrepareIsCutOff kills pawl while packages are fetched. What was begun is found and done by the next command.
func TestPrepareIsCutOff(t *testing.T) {
	t.Parallel()
	r := newNPMRegistry(t)
	u := unfilled(t, r)
	r.answers(0, time.Minute)
	p := u.start("prepare", "--yes")
	for end := time.Now().Add(patience); r.requests() == 0 &&
		time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
	}
	p.kill()
	r.answers(0, 0)
	a := u.must(0, "prepare", "--yes")
	set := globbed(t, u.own("cache", "deps", "npm-*"))
	if !strings.Contains(u.ownText(strings.TrimPrefix(set, u.own())+"/ready.json"), "is-odd") {
		t.Errorf("nothing is ready: %v", a)
	}
	u.must(0, "audit", "verify")
	u.quiet()
}
