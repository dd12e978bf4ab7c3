package verify_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/planted"
)

// std is where the compiled standard library of Go is kept for all tests of the package.
var std string

func TestMain(m *testing.M) {
	sandbox.Child()
	var err error
	if std, err = os.MkdirTemp("", "std-*"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(std)
	os.Exit(code)
}

// snapshot is the content of a tree without ignored files, as the real one is; here nothing is ignored but .pawl.
func snapshot(_ context.Context, place effect.Place) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(place.Tree, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == ".pawl" {
			return fs.SkipDir
		}
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		h.Write([]byte(p + "\x00" + string(b) + "\x00"))
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// project makes a workspace and the driver that verifies it behind real walls.
func project(t *testing.T, files map[string]string) (*verify.Verify, effect.Place, effect.ContextResult) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	home, _ := os.UserHomeDir()
	host := verify.Host{Home: home, Env: os.Environ(), LookPath: lookPath, Std: std}
	place := effect.Place{Workspace: dir, Tree: dir, InPlace: true}
	c := verify.NewContext(host, verify.OpenDir, func(context.Context, effect.Place) (string, string, []string,
		error) {
		return "", "", nil, nil
	})
	r := c.Do(t.Context(), effect.Effect{Kind: effect.KindContext, Place: place,
		Spec: effect.Encode(effect.ContextSpec{})}, nil)
	found, err := effect.Decode[effect.ContextResult](r.Result)
	if err != nil {
		t.Fatalf("%v %+v", err, r)
	}
	return verify.New(verify.Config{Box: box, Host: host, Open: verify.OpenDir, Snapshot: snapshot}), place,
		found
}

// lookPath finds a program on the path of the test.
func lookPath(program string) (string, bool) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		p := filepath.Join(dir, program)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, true
		}
	}
	return "", false
}

func run(t *testing.T, v *verify.Verify, place effect.Place,
	checks []effect.Check) (effect.Receipt, effect.VerifyResult) {
	t.Helper()
	ctx, taken := planted.Taking(t.Context())
	r := v.Do(ctx, effect.Effect{Kind: effect.KindVerify, Place: place,
		Spec: effect.Encode(effect.VerifySpec{Checks: checks, Required: true})}, nil)
	for _, f := range taken() {
		if f.Path == ".git" {
			t.Errorf("taken for what the work left: %+v", f)
		}
	}
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil {
		t.Fatalf("%v %+v", err, r)
	}
	return r, result
}

// only keeps the checks of one kind.
func only(found effect.ContextResult, kind string) []effect.Check {
	var out []effect.Check
	for _, c := range found.Checks {
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	return out
}

// TestGofmtBehindWalls runs the check of gofmt for real: what it lists, what it leaves alone, and that it passes again.
func TestGofmtBehindWalls(t *testing.T) {
	bad := "package x\nfunc  F() {}\n"
	v, place, found := project(t, map[string]string{
		"go.mod": "module x\n\ngo 1.24\n", "a.go": bad, "sub dir/b.go": bad, "ok.go": "package x\n",
		"testdata/broken.go": "no go at all", "vendor/v/v.go": bad, ".hidden/h.go": bad, ".pawl/cache/c.go": bad,
		"_x/x.go": bad,
	})
	format := only(found, "format")
	r, result := run(t, v, place, format)
	if r.OK || r.Code != pawl.CodeChecksFailed || result.Outcomes[0].Output != "./a.go\n./sub dir/b.go" {
		t.Fatalf("%s %s %s\n%+v", r.Code, r.Key, r.Detail, result.Outcomes)
	}
	if len(result.Outcomes[0].Walls) == 0 || result.Fingerprint == "" {
		t.Errorf("%+v", result)
	}
	_, again := run(t, v, place, format)
	if again.Fingerprint != result.Fingerprint || again.EnvDigest != result.EnvDigest {
		t.Error("the same failure differs")
	}
	for _, name := range []string{"a.go", "sub dir/b.go"} {
		if err := os.WriteFile(filepath.Join(place.Tree, name), []byte("package x\n\nfunc F() {}\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r, result := run(t, v, place, format); !r.OK {
		t.Errorf("%+v", result.Outcomes)
	}
	if err := os.WriteFile(filepath.Join(place.Tree, "a.go"), []byte("package {"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, _ := run(t, v, place, format); r.OK {
		t.Error("a file that gofmt cannot parse passed")
	}
}

// TestMakeBehindWalls runs commands that try what a check must not, and one that is honest.
func TestMakeBehindWalls(t *testing.T) {
	v, place, found := project(t, map[string]string{"Makefile": "all:\n\t@echo built\ntest:\n\t@cat answer\n",
		"answer": "42\n", ".pawl/secret": "x"})
	if r, result := run(t, v, place, found.Checks); !r.OK || result.Outcomes[1].Output != "cat answer\n42" &&
		result.Outcomes[1].Output != "42" {
		t.Fatalf("%s %+v", r.Detail, result.Outcomes)
	}
	command := func(command string) (effect.Receipt, effect.CheckOutcome) {
		r, result := run(t, v, place, []effect.Check{{Name: command, Command: command, Kind: "custom"}})
		return r, result.Outcomes[0]
	}
	if r, o := command("pawl-no-such-program --now"); r.Code != pawl.CodeEnvironment || o.ExitCode != 127 {
		t.Errorf("a missing program: %s %+v", r.Code, o)
	}
	if r, o := command(`test "$(ls -A "$HOME")" = .cache && touch "$HOME/left"`); !r.OK {
		t.Errorf("the home has more than caches, or is not writable: %+v", o)
	}
	if r, o := command(`test ! -e "$HOME/left" && touch "$GOCACHE/mine" "$BUILD_DIR/mine" "$CARGO_TARGET_DIR/mine"`); !r.OK {
		t.Errorf("caches: %+v", o)
	}
	if r, _ := command("touch .pawl/forged"); r.OK {
		t.Error("a check wrote into .pawl")
	}
	if r, _ := command("echo 43 > answer"); r.OK || r.Key != "verify.tree_changed" {
		t.Errorf("a check that changes what it judges: %+v", r.Key)
	}
	if r, o := command(`test ! -e "$PWD/.pawl/secret"`); !r.OK {
		t.Errorf("a check sees what is in .pawl: %+v", o)
	}
	if r, o := command("env"); !r.OK || strings.Contains(o.Output, "TOKEN") {
		t.Errorf("%+v", o)
	}
}
