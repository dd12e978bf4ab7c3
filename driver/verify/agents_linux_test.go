package verify_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/sandbox"
)

// agents is a workspace with an agent at work in it.
type agents struct {
	t     *testing.T
	box   *sandbox.Box
	host  verify.Host
	place effect.Place
}

// command runs a script as an agent's, and returns its exit status and output.
func (a agents) command(task, script string) (int, string) {
	a.t.Helper()
	cache, err := a.host.GoCache(a.box)(a.t.Context(), a.place, task, "commands")
	if err != nil {
		a.t.Fatal(err)
	}
	env := slices.Concat(sandbox.Environ(a.host.Env, map[string]string{"GOPROXY": "off", "GOTELEMETRY": "off",
		"BROKEN": brokenSum}), cache.Env)
	r, err := a.box.Run(a.t.Context(), sandbox.Spec{Argv: []string{"sh", "-c", script}, Dir: a.place.Tree,
		Workspace: a.place.Workspace, Writable: append([]string{a.place.Tree}, cache.Writable...), Env: env,
		Shown: cache.Shown, Hidden: []string{a.place.Own()}})
	if err != nil {
		a.t.Fatal(err)
	}
	return r.Exit, string(r.Output)
}

// digest is the content of all files below a directory, with their times where the go command uses these.
func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		info, failed := e.Info()
		if err = errors.Join(err, failed); err == nil {
			fmt.Fprintf(h, "%s %v %x\n", name, info.ModTime(), sha256.Sum256(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(h.Sum(nil))
}

// TestAnAgentsBuildCacheIsItsTasks has an agent forge an entry of its build cache, so that Go takes what it compiled of
// the right code for the broken code. Its own task builds on that. A check, another task and a process of no task do
// not, and the library stays as it was written.
func TestAnAgentsBuildCacheIsItsTasks(t *testing.T) {
	for _, m := range []sandbox.Mechanism{sandbox.MechanismNamespaces, sandbox.MechanismLandlock,
		sandbox.MechanismBubblewrap} {
		if m == sandbox.MechanismNamespaces || *allPoisons {
			t.Run(string(m), func(t *testing.T) { forged(t, m) })
		}
	}
}

func forged(t *testing.T, m sandbox.Mechanism) {
	ws := t.TempDir()
	lay(t, ws, map[string]string{"go.mod": "module example.org/calc\n\ngo 1.24\n", "sum.go": rightSum,
		"sum_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Error(\"Sum\")\n\t}\n}\n"})
	box, err := sandbox.New(sandbox.Options{Mechanism: m})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	a := agents{t, box, verify.Host{Home: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"),
		"HOME=" + os.Getenv("HOME")}, LookPath: lookPath, Std: std}, effect.Place{Workspace: ws, Tree: ws, InPlace: true}}
	v := verify.New(verify.Config{Box: box, Host: a.host, Open: verify.OpenDir, Snapshot: snapshot})
	list := []effect.Check{{Name: "go test", Command: "go test ./...", Kind: "test", Level: 2}}
	if _, r := run(t, v, a.place, list); !r.Passed {
		t.Fatalf("%+v", r.Outcomes)
	}
	library := verify.Compiled(std)
	before := digest(t, library)

	_, layered := box.Layers(t.Context(), library)
	exit, out := a.command("1", "(go build -v fmt testing; go vet -v .; go test -c -cover -x -o /dev/null .) 2>&1 | "+
		"grep -o -e '^[a-z/]*$' -e '-p [a-z]*/coverage[a-z/]*'")
	if layered && (exit != 1 || out != "") {
		t.Errorf("an agent compiles the standard library: %d %s", exit, out)
	}
	lay(t, ws, map[string]string{"poison_test.go": "package calc\n"})
	if _, out := a.command("1", forge+"\nrm poison_test.go; printf '%s' \"$BROKEN\" >sum.go"); !strings.Contains(out, "forged") {
		t.Fatalf("nothing forged: %s", out)
	}
	fails := func(who string, exit int, out string) {
		t.Helper()
		if exit != 1 || !strings.Contains(out, "FAIL: TestSum") {
			t.Errorf("%s sees what an agent wrote: %d %s", who, exit, out)
		}
	}
	if exit, out := a.command("1", "go test -count=1 ."); exit != 0 {
		t.Errorf("the cache of the task does not last: %d %s", exit, out)
	}
	exit, out = a.command("2", "go test -count=1 .")
	fails("a later task", exit, out)
	exit, out = a.command("", "go test -count=1 .")
	fails("a process of no task", exit, out)
	_, r := run(t, v, a.place, list)
	o := outcome(r, "go test")
	fails("a check", o.ExitCode, o.Output)
	if verify.Compiled(std) != library || digest(t, library) != before {
		t.Error("the library has changed")
	}
	a.command("1", "go clean -cache && mkdir -p \"$GOCACHE/00\" && chmod -R a-w \"$GOCACHE\"") // hides the library
	if digest(t, library) != before {
		t.Error("the library is gone")
	}
	if err := verify.Forget(a.place); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(ws, ".pawl/cache/agents/*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
