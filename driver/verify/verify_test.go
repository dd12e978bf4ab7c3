package verify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/text/message"
)

// box is a Runner that answers commands from a table and remembers what it was asked.
type box struct {
	mu     sync.Mutex
	answer map[string]func(sandbox.Spec) (sandbox.Result, error)
	ran    []string
	specs  []sandbox.Spec
	// other answers programs that are no shell commands.
	other func(sandbox.Spec) (sandbox.Result, error)
}

func (b *box) Layers(context.Context, string) (shows, layered bool) { return false, false }

func (b *box) Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	command := strings.TrimPrefix(strings.Join(s.Argv, " "), "sh -c ")
	b.ran, b.specs = append(b.ran, command), append(b.specs, s)
	if ctx.Err() != nil {
		return sandbox.Result{Canceled: true, Exit: 143}, nil
	}
	if f := b.answer[command]; f != nil {
		return f(s)
	}
	if b.other != nil && s.Argv[0] == "go" {
		return b.other(s)
	}
	return sandbox.Result{Output: []byte("fine"), Walls: []string{"namespaces"}, Duration: time.Second}, nil
}

func exits(status int, output string) func(sandbox.Spec) (sandbox.Result, error) {
	return func(sandbox.Spec) (sandbox.Result, error) {
		return sandbox.Result{Exit: status, Output: []byte(output), Bytes: int64(len(output)), Digest: "d"}, nil
	}
}

// bench is a workspace with a driver whose box answers from a table.
type bench struct {
	box   *box
	place effect.Place
	tree  string // what the next snapshots say
	said  []string
	look  LookPath
	std   string
	mods  string // the user's cache of Go modules
}

func newBench(t *testing.T, answers map[string]func(sandbox.Spec) (sandbox.Result, error)) *bench {
	t.Helper()
	ws := t.TempDir()
	tree := filepath.Join(ws, ".pawl", "trees", "1")
	if err := os.MkdirAll(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	return &bench{box: &box{answer: answers}, place: effect.Place{Workspace: ws, Tree: tree, Git: true}, tree: "t1",
		look: everything, mods: t.TempDir()}
}

func (b *bench) config() Config {
	return Config{
		Box: b.box,
		Host: Host{Env: []string{"PATH=/bin", "SECRET_TOKEN=x", "GOMODCACHE=" + b.mods},
			LookPath: func(p string) (string, bool) { return b.look(p) }, Std: b.std},
		Open:     OpenDir,
		Snapshot: func(context.Context, effect.Place) (string, error) { return b.tree, nil },
		Changed: func(context.Context, effect.Place, string, string) ([]effect.FileStat, error) {
			return []effect.FileStat{{Path: "out.o", Status: "A"}}, nil
		},
	}
}

func (b *bench) effect(spec any) effect.Effect {
	return effect.Effect{ID: "1", Kind: effect.KindVerify, Place: b.place, Spec: effect.Encode(spec)}
}

func (b *bench) verify(t *testing.T, spec effect.VerifySpec) (effect.Receipt, effect.VerifyResult) {
	t.Helper()
	r := New(b.config()).Do(t.Context(), b.effect(spec), func(line string) { b.said = append(b.said, line) })
	return checkReceipt(t, r)
}

// checkReceipt decodes the evidence of a receipt and checks what holds for every receipt.
func checkReceipt(t *testing.T, r effect.Receipt) (effect.Receipt, effect.VerifyResult) {
	t.Helper()
	if r.Start.IsZero() || r.End.Before(r.Start) {
		t.Errorf("receipt without times: %+v", r)
	}
	if !r.OK {
		if _, ok := message.Lookup(r.Key); !ok {
			t.Errorf("no message %q", r.Key)
		}
	}
	var v effect.VerifyResult
	if len(r.Result) > 0 {
		var err error
		if v, err = effect.Decode[effect.VerifyResult](r.Result); err != nil {
			t.Fatal(err)
		}
	}
	if r.OK != v.Passed {
		t.Errorf("ok = %v, passed = %v", r.OK, v.Passed)
	}
	return r, v
}

func checks(commands ...string) []effect.Check {
	var out []effect.Check
	for _, c := range commands {
		out = append(out, effect.Check{Name: "check " + c, Command: c, Kind: kindTest, Level: 2})
	}
	return out
}

func statuses(v effect.VerifyResult) string {
	var out []string
	for _, o := range v.Outcomes {
		s := string(o.Status)
		if o.Environment {
			s += "!"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestVerify(t *testing.T) {
	answers := map[string]func(sandbox.Spec) (sandbox.Result, error){
		"bad":    exits(1, "--- FAIL: TestX\n"),
		"absent": exits(127, "in some other language"),
		"full":   exits(2, "write x: no space left on device"),
		"proxy":  exits(1, "main.go:3: module lookup disabled by GOPROXY=off"),
		"killed": func(sandbox.Spec) (sandbox.Result, error) { return sandbox.Result{Signal: "SIGKILL"}, nil },
		"slow":   func(sandbox.Spec) (sandbox.Result, error) { return sandbox.Result{TimedOut: true}, nil },
		"no wall": func(sandbox.Spec) (sandbox.Result, error) {
			return sandbox.Result{}, pawl.Fail(pawl.CodeSandbox, "sandbox.walls")
		},
		"broken": func(sandbox.Spec) (sandbox.Result, error) { return sandbox.Result{}, errors.New("pipe") },
	}
	for name, test := range map[string]struct {
		commands []string
		stop     bool
		statuses string
		code     pawl.Code
		key      string
	}{
		"all pass": {[]string{"a", "b"}, true, "passed passed", "", ""},
		"stop at the first": {[]string{"a", "bad", "b"}, true, "passed failed skipped", pawl.CodeChecksFailed,
			"verify.failed"},
		"go on after a failure": {[]string{"bad", "b"}, false, "failed passed", pawl.CodeChecksFailed, "verify.failed"},
		"missing program":       {[]string{"absent"}, true, "failed!", pawl.CodeEnvironment, "verify.environment"},
		"full disk":             {[]string{"full"}, true, "failed!", pawl.CodeEnvironment, "verify.environment"},
		"package to be fetched": {[]string{"proxy"}, true, "failed!", pawl.CodeEnvironment, "verify.environment"},
		"signal with status 0":  {[]string{"killed"}, true, "failed", pawl.CodeChecksFailed, "verify.failed"},
		"timeout with status 0": {[]string{"slow"}, true, "failed", pawl.CodeChecksFailed, "verify.failed"},
		"no walls":              {[]string{"no wall", "a"}, false, "error! skipped", pawl.CodeSandbox, "sandbox.walls"},
		"pawl itself failed":    {[]string{"broken"}, true, "error!", pawl.CodeEnvironment, "verify.environment"},
		"empty command":         {[]string{"a", " \n"}, true, "passed error", pawl.CodeChecksFailed, "verify.failed"},
		"machine before work": {[]string{"bad", "absent"}, false, "failed failed!", pawl.CodeEnvironment,
			"verify.environment"},
		"nothing at all": {nil, true, "", pawl.CodeInvalid, "verify.nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, answers)
			r, v := b.verify(t, effect.VerifySpec{Checks: checks(test.commands...), StopOnFail: test.stop,
				Required: true})
			if got := statuses(v); got != test.statuses || r.Code != test.code || r.Key != test.key {
				t.Errorf("%q %s %s\n%+v", got, r.Code, r.Key, r)
			}
			if len(v.Outcomes) > 0 && (v.Tree != "t1" || v.TreeAfter != "t1" || len(v.EnvDigest) != 64) {
				t.Errorf("evidence: %+v", v)
			}
			if (v.Fingerprint == "") != (v.Passed || len(v.Outcomes) == 0) {
				t.Errorf("fingerprint %q", v.Fingerprint)
			}
		})
	}
}

func TestVerifyNotRequired(t *testing.T) {
	b := newBench(t, nil)
	r, v := b.verify(t, effect.VerifySpec{})
	if !r.OK || len(v.Outcomes) != 0 || v.Tree != "t1" {
		t.Errorf("%+v %+v", r, v)
	}
}

func TestVerifyEvidence(t *testing.T) {
	long := strings.Repeat("line of output\n", 10_000)
	b := newBench(t, map[string]func(sandbox.Spec) (sandbox.Result, error){
		"a": func(sandbox.Spec) (sandbox.Result, error) {
			return sandbox.Result{Output: []byte(long + "\x1b[31mend\x1b[0m"), Bytes: 1 << 30, Digest: "whole",
				Duration: 1234 * time.Millisecond, Walls: []string{"w"}}, nil
		},
	})
	c := checks("a")
	c[0].Dir = "sub"
	_, v := b.verify(t, effect.VerifySpec{Checks: c, PerCheck: time.Minute})
	o := v.Outcomes[0]
	if o.Digest != "whole" || o.OutputBytes != 1<<30 || o.DurationMS != 1234 || len(o.Output) > outcomeOutput ||
		!strings.HasSuffix(o.Output, "\nend") || o.Walls[0] != "w" {
		t.Errorf("%+v", o)
	}
	if d := cmp.Diff([]string{"▶ check a: a", "✓ check a (1.23s)"}, b.said); d != "" {
		t.Error(d)
	}
	s := b.box.specs[0]
	if s.Timeout != time.Minute || s.Network || s.Dir != filepath.Join(b.place.Tree, "sub") ||
		s.Writable[0] != b.place.Tree {
		t.Errorf("%+v", s)
	}
	for _, want := range []string{"GOPROXY=off", "GOTOOLCHAIN=local", "GOENV=off", "CARGO_NET_OFFLINE=true",
		"npm_config_offline=true", "PATH=/bin"} {
		if !slices.Contains(s.Env, want) {
			t.Errorf("no %s in %q", want, s.Env)
		}
	}
	cache := filepath.Join(b.place.Workspace, ".pawl", "cache", "once", shortDigest(b.place.Tree))
	if !slices.Contains(s.Writable, cache) || !slices.Contains(s.Env, "GOCACHE="+filepath.Join(cache, "go-build")) {
		t.Errorf("writable %q", s.Writable)
	}
	if strings.Contains(strings.Join(s.Env, " "), "SECRET") {
		t.Error("a secret reached a check")
	}
}

func TestVerifyRefusesToJudgeAMovingTree(t *testing.T) {
	b := newBench(t, nil)
	b.box.answer = map[string]func(sandbox.Spec) (sandbox.Result,
		error){"make": func(sandbox.Spec) (sandbox.Result, error) {
		b.tree = "t2"
		return sandbox.Result{}, nil
	}}
	r, v := b.verify(t, effect.VerifySpec{Checks: checks("make"), Required: true})
	if r.Code != pawl.CodeChecksFailed || r.Key != "verify.tree_changed" || r.Args[0] != "A out.o" ||
		statuses(v) != "passed error" {
		t.Errorf("%+v %s", r, statuses(v))
	}
	if v.Tree != "t1" || v.TreeAfter != "t2" {
		t.Errorf("%+v", v)
	}
}

func TestVerifyMissingProgram(t *testing.T) {
	b := newBench(t, nil)
	b.look = without("npm")
	c := []effect.Check{{Name: "npm test", Command: "npm test", Level: 2, Missing: "npm"},
		{Name: "unit", Level: 2, Command: "vendor/bin/phpunit", Missing: "vendor/bin/phpunit"}}
	r, v := b.verify(t, effect.VerifySpec{Checks: c, Required: true})
	if r.Code != pawl.CodeEnvironment || r.Key != "verify.missing_program" || r.Args[0] != "npm" ||
		statuses(v) != "error! error!" || slices.Contains(b.box.ran, "npm test") {
		t.Errorf("%+v %s %q", r, statuses(v), b.box.ran)
	}
	b.look = everything // installed since the plan was made
	if r, v := b.verify(t, effect.VerifySpec{Checks: c[:1]}); !r.OK || v.Outcomes[0].Missing != "" {
		t.Errorf("%+v", r)
	}
}

func TestVerifyLeavesOutAMissingLinter(t *testing.T) {
	b := newBench(t, nil)
	b.look = without("ruff")
	lint := effect.Check{Name: "ruff", Command: "ruff check .", Kind: kindLint, Missing: "ruff"}
	if r, v := b.verify(t, effect.VerifySpec{Checks: append(checks("make"), lint)}); !r.OK || !v.Passed ||
		statuses(v) != "passed skipped" || !v.Outcomes[1].LeftOut() {
		t.Errorf("%+v %s", r, statuses(v))
	}
	if r, v := b.verify(t, effect.VerifySpec{Checks: []effect.Check{lint}}); r.OK || statuses(v) != "error!" {
		t.Errorf("nothing else judges: %+v %s", r, statuses(v))
	}
	b.look = everything
	if _, v := b.verify(t, effect.VerifySpec{Checks: append(checks("make"), lint)}); statuses(v) != "passed passed" {
		t.Errorf("installed meanwhile: %s", statuses(v))
	}
	b.box.answer = map[string]func(sandbox.Spec) (sandbox.Result, error){"make": exits(1, "x")}
	if _, v := b.verify(t, effect.VerifySpec{Checks: append(checks("make"), lint),
		StopOnFail: true}); statuses(v) != "failed skipped" || v.Outcomes[1].LeftOut() {
		t.Errorf("skipped behind a failure: %s", statuses(v))
	}
}

func TestVerifyTampered(t *testing.T) {
	b := newBench(t, nil)
	if err := os.WriteFile(filepath.Join(b.place.Tree, "Makefile"), []byte("test:\n\ttrue\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, v := b.verify(t, effect.VerifySpec{Checks: checks("make"),
		Pinned: map[string]string{"Makefile": "old", "tox.ini": "gone"}})
	if !r.OK || cmp.Diff([]string{"Makefile", "tox.ini"}, v.Tampered) != "" {
		t.Errorf("%+v %v", r, v.Tampered)
	}
}

// TestVerifyFindsChangedTests: what judges the work is compared with what the work started from, by the trees.
func TestVerifyFindsChangedTests(t *testing.T) {
	b := newBench(t, nil)
	write := func(name, text string) {
		p := filepath.Join(b.place.Tree, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a_test.go", "package a")
	write("b_test.go", "package a\n")
	write("main_test.go", "package a\n\nfunc TestMain(m *testing.M) {}\n")
	write("Makefile", "all:\n")
	c := b.config()
	c.Changed = func(_ context.Context, _ effect.Place, from, to string) ([]effect.FileStat, error) {
		if from != "t0" || to != "t1" {
			t.Errorf("%s %s", from, to)
		}
		var out []effect.FileStat
		for _, f := range []string{"M a.go", "M a_test.go", "A b_test.go", "A main_test.go", "D c_test.go",
			"M docs/contest.md", "M tests/data.json",
			"D web/x.test.ts", "M src/test/java/A.java", "M src/ATest.kt", "M testdata/want.txt", "M latest.go",
			"M spec/x.rb", "M test_x.py", "M web/__snapshots__/a.snap"} {
			status, name, _ := strings.Cut(f, " ")
			out = append(out, effect.FileStat{Status: status, Path: name})
		}
		return out, nil
	}
	run := func(pinned map[string]string, base string) effect.VerifyResult {
		r := New(c).Do(context.Background(), effect.Effect{Place: b.place, Spec: effect.Encode(effect.VerifySpec{
			Checks: []effect.Check{{Name: "x", Command: "true"}}, Pinned: pinned, Base: base,
		})}, nil)
		got, err := effect.Decode[effect.VerifyResult](r.Result)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := run(nil, "t0")
	want := []string{"Makefile", "a_test.go", "c_test.go", "main_test.go", "spec/x.rb", "src/ATest.kt",
		"src/test/java/A.java", "test_x.py",
		"testdata/want.txt", "tests/data.json", "web/__snapshots__/a.snap", "web/x.test.ts"}
	if d := cmp.Diff(want, got.Tampered); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got.Contents["c_test.go"] != "" || len(got.Contents["a_test.go"]) != 64 || len(got.Contents) != len(want) ||
		!got.Passed {
		t.Errorf("%+v", got)
	}
	if got := run(map[string]string{"Makefile": got.Contents["Makefile"]}, ""); got.Tampered != nil ||
		got.Contents != nil {
		t.Errorf("%+v", got)
	}
	if got := run(map[string]string{"Makefile": "other"}, "t1"); len(got.Tampered) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestVerifyCanceled(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	b.box.answer = map[string]func(sandbox.Spec) (sandbox.Result,
		error){"a": func(sandbox.Spec) (sandbox.Result, error) {
		cancel()
		return sandbox.Result{Canceled: true, Exit: 143}, nil
	}}
	r, v := checkReceipt(t, New(b.config()).Do(ctx, b.effect(effect.VerifySpec{Checks: checks("a", "b")}), nil))
	if r.Code != pawl.CodeCanceled || statuses(v) != "error skipped" {
		t.Errorf("%+v %s", r, statuses(v))
	}
}

func TestVerifyBadInput(t *testing.T) {
	b := newBench(t, nil)
	e := b.effect(effect.VerifySpec{Checks: checks("a")})
	e.Spec = []byte(`{"checks":`)
	refused(t, New(b.config()).Do(t.Context(), e, nil), pawl.CodeInternal)
	e = b.effect(effect.VerifySpec{Checks: checks("a")})
	e.Place.Tree = "relative"
	refused(t, New(b.config()).Do(t.Context(), e, nil), pawl.CodeInvalid)
	c := checks("a")
	c[0].Dir = "../.."
	if _, v := b.verify(t, effect.VerifySpec{Checks: c}); statuses(v) != "error" || len(b.box.ran) != 0 {
		t.Errorf("left the tree: %+v", v)
	}
}

func refused(t *testing.T, r effect.Receipt, code pawl.Code) {
	t.Helper()
	if r.OK || r.Code != code {
		t.Errorf("%+v", r)
	}
}

// TestCachesRefuseLinks is a repository that brings .pawl/cache as a link, to have another folder made writable.
func TestCachesRefuseLinks(t *testing.T) {
	for _, link := range []string{".pawl/cache", ".pawl/cache/once", ".pawl/cache/built", ".pawl/cache/built/go"} {
		b := newBench(t, nil)
		ws, outside := t.TempDir(), t.TempDir()
		b.place.Workspace = ws
		at := filepath.Join(ws, filepath.FromSlash(link))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(outside, at)); err != nil {
			t.Fatal(err)
		}
		r := New(b.config()).Do(t.Context(), b.effect(effect.VerifySpec{Checks: checks("a")}), nil)
		if r.Code != pawl.CodeDenied || len(b.box.ran) != 0 {
			t.Errorf("%s: %+v", link, r)
		}
		if left, _ := os.ReadDir(outside); len(left) != 0 {
			t.Errorf("%s: wrote outside", link)
		}
	}
}

// TestCachesStayOutOfTheTree refuses a link to a folder of the workspace, whose folders have the names of caches, and
// leaves that alone.
func TestCachesStayOutOfTheTree(t *testing.T) {
	for _, link := range []string{".pawl/cache", ".pawl/cache/once", ".pawl/cache/built"} {
		b := newBench(t, nil)
		ws := t.TempDir()
		b.place.Workspace = ws
		at := filepath.Join(ws, filepath.FromSlash(link))
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(os.MkdirAll(filepath.Dir(at), 0o755))
		want := []string{"cache/once/mine", "cache/verify/mine", "verify/mine", "once/mine", "go/mine",
			shortDigest(b.place.Tree) + "/mine"}
		for _, name := range want {
			file := filepath.Join(ws, "lib", filepath.FromSlash(name))
			must(os.MkdirAll(filepath.Dir(file), 0o755))
			must(os.WriteFile(file, nil, 0o644))
		}
		must(os.Symlink(filepath.Join(strings.Repeat("../", strings.Count(link, "/")), "lib"), at))
		r := New(b.config()).Do(t.Context(), b.effect(effect.VerifySpec{Checks: checks("a")}), nil)
		if err := Forget(b.place); r.Code != pawl.CodeDenied || link != ".pawl/cache/built" && pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%s: %+v %v", link, r, err)
		}
		for _, name := range want {
			if _, err := os.Stat(filepath.Join(ws, "lib", filepath.FromSlash(name))); err != nil {
				t.Errorf("%s: %v", link, err)
			}
		}
	}
}

func TestEnvironmentDigest(t *testing.T) {
	version := "go version go1.26.8"
	b := newBench(t, map[string]func(sandbox.Spec) (sandbox.Result,
		error){"go version": func(sandbox.Spec) (sandbox.Result, error) {
		return sandbox.Result{Output: []byte(version)}, nil
	}})
	digest := func(v *Verify, command string) string {
		_, out := checkReceipt(t, v.Do(t.Context(), b.effect(effect.VerifySpec{Checks: checks(command)}), nil))
		return out.EnvDigest
	}
	v := New(b.config())
	first := digest(v, "go test ./...")
	if first != digest(v, "go test ./...") {
		t.Error("the same environment differs")
	}
	if n := strings.Count(strings.Join(b.box.ran, "\n"), "go version"); n != 1 {
		t.Errorf("asked %d times for the version", n)
	}
	if first == digest(v, "make test") {
		t.Error("other programs have the same digest")
	}
	version = "go version go1.27.0"
	if first == digest(New(b.config()), "go test ./...") {
		t.Error("another version has the same digest")
	}
}

func TestDependenciesOfTheUsersTree(t *testing.T) {
	b := newBench(t, nil)
	ws, tree := b.place.Workspace, b.place.Tree
	write := func(dir, name, text string) {
		t.Helper()
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	shown := func() string {
		t.Helper()
		_, v := b.verify(t, effect.VerifySpec{Checks: checks("npm test")})
		var out []string
		for _, s := range b.box.specs[len(b.box.specs)-1].Shown {
			out = append(out, strings.TrimPrefix(s.From, ws)+" at "+strings.TrimPrefix(s.At, tree))
		}
		for _, d := range v.Dependencies {
			out = append(out, d.Path+" "+d.State+" "+strings.Join(d.Locks, ","))
		}
		return strings.Join(out, "; ")
	}
	write(ws, "node_modules/x/index.js", "")
	for _, dir := range []string{ws, tree} {
		write(dir, "package.json", `{"dependencies":{"x":"1"}}`)
		write(dir, "package-lock.json", "{}")
	}
	if got := shown(); got != "/node_modules at /node_modules; node_modules used package-lock.json" {
		t.Error(got)
	}
	_, before := b.verify(t, effect.VerifySpec{Checks: checks("npm test")})
	write(tree, "package-lock.json", "{ }")
	if got := shown(); got != "" {
		t.Errorf("packages of another lock file: %s", got)
	}
	hidden := b.box.specs[len(b.box.specs)-1].Hidden
	if !slices.Contains(hidden, filepath.Join(ws, "node_modules")) {
		t.Errorf("Node would find the user's packages in the folder above: %v", hidden)
	}
	if _, after := b.verify(t, effect.VerifySpec{Checks: checks("npm test")}); after.EnvDigest == before.EnvDigest {
		t.Error("other dependencies have the same digest")
	}
	write(tree, "node_modules/own/index.js", "")
	if got := shown(); got != "node_modules own package-lock.json" {
		t.Error(got)
	}
}

// TestLackingDependenciesAreTheMachinesFault tells a test that fails for want of packages from one that fails.
func TestLackingDependenciesAreTheMachinesFault(t *testing.T) {
	b := newBench(t, map[string]func(sandbox.Spec) (sandbox.Result, error){"npm test": exits(1, "not ok 1 - test.js"),
		"make": exits(1, "red")})
	for _, dir := range []string{b.place.Workspace, b.place.Tree} {
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"dependencies":{"x":"1"}}`),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, v := b.verify(t, effect.VerifySpec{Checks: checks("npm test", "make")})
	if statuses(v) != "failed! failed" || r.Key != "verify.lacks" || v.Outcomes[0].Lacks != "node_modules" {
		t.Errorf("%s %+v", statuses(v), r)
	}
}

func TestForget(t *testing.T) {
	b := newBench(t, nil)
	b.verify(t, effect.VerifySpec{Checks: checks("a")})
	trees := filepath.Join(b.place.Workspace, ".pawl", "cache", "once")
	if left, _ := os.ReadDir(trees); len(left) != 0 {
		t.Errorf("a verification left %v", left)
	}
	if _, err := b.config().Host.Toolchain(b.place, UseVerify); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(trees); len(left) != 1 {
		t.Fatalf("%v", left)
	}
	if err := Forget(b.place); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(trees); len(left) != 0 {
		t.Errorf("%v", left)
	}
}
