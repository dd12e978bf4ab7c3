package verify_test

import (
	"archive/zip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/sandbox"
)

// poisonRow is one way in which what one run did could reach the next.
type poisonRow struct {
	name string
	// plant is what a test of the first run tries, and seen a command that succeeds in the second where it worked.
	plant, seen string
	// left are files of the machine that must not be there after the first run.
	left string
}

// marked plants a file in a folder and looks for it there.
func marked(name, dir string) poisonRow {
	return poisonRow{name: name, plant: `mkdir -p ` + dir + `; echo evil >` + dir + `/evil`, seen: `test -e ` + dir + `/evil`}
}

// forge has the entry of the build cache for the broken code lead to what was compiled of the right one.
const forge = `
compiled() { go list -test -export -f '{{if eq .ImportPath "example.org/calc [example.org/calc.test]"}}{{.Export}}{{end}}' .; }
mv poison_test.go "$TMPDIR/poison" # the tests of the next run are without it
good=$(compiled)
cp sum.go "$TMPDIR/right"
printf '%s' "$BROKEN" >sum.go
bad=$(compiled)
cp "$TMPDIR/right" sum.go
mv "$TMPDIR/poison" poison_test.go
g=$(basename "$good" -d) b=$(basename "$bad" -d) size=$(stat -c %s "$good")
test "$g" != "$b" || echo nothing forged
for f in $(grep -rl --include='*-a' "$b" "$GOCACHE"); do
	read -r v id out old time <"$f"
	chmod u+w "$f"
	printf '%s %s %s %20s %20s\n' "$v" "$id" "$g" "$size" "$time" >"$f"
	echo forged "$id"
done`

const (
	calc       = "module example.org/calc\n\ngo 1.24\n\nrequire example.org/lib v1.0.0\n"
	rightSum   = "package calc\n\n// Sum adds.\nfunc Sum(a, b int) int { return a + b }\n"
	brokenSum  = "package calc\n\n// Sum adds.\nfunc Sum(a, b int) int { return a - b }\n"
	honestTest = "package calc\n\nimport (\n\t\"testing\"\n\n\t\"example.org/lib\"\n)\n\nfunc TestSum(t *testing.T) {\n" +
		"\tif lib.Answer() != 41 {\n\t\tt.Error(\"the library is another\")\n\t}\n\tif Sum(1, 2) != 3 {\n\t\tt.Error(\"Sum\")\n\t}\n}\n"
	poisonTest = "package calc\n\nimport (\n\t\"os/exec\"\n\t\"testing\"\n)\n\nfunc TestPoison(t *testing.T) {\n" +
		"\tout, err := exec.Command(\"sh\", \"poison.sh\").CombinedOutput()\n\tt.Logf(\"%v %s\", err, out)\n}\n"
	fake = `printf '#!/bin/sh\nexit 0\n'`
)

// poisonRows are the ways, for a workspace and the folder of what is compiled for all of them.
func poisonRows(ws, std, elsewhere string) []poisonRow {
	inTree := func(name string) string {
		return `mkdir -p "` + filepath.Dir(name) + `"; ` + fake + ` >"` + name + `"; chmod +x "` + name + `"`
	}
	rows := []poisonRow{
		{name: "build cache of Go", plant: forge},
		{name: "test cache of Go", plant: `go test -run TestSum . >/dev/null; go test -run TestSum . >/dev/null`},
		{name: "unpacked modules of Go", plant: `chmod -R u+w "$GOMODCACHE"; find "$GOMODCACHE" -name lib.go -exec sed -i s/41/42/ {} +`},
		{name: "sums of modules", plant: `find "$GOMODCACHE" -name '*.ziphash' -exec sh -c 'chmod u+w "$1"; echo h1:evil >"$1"' - {} \;`},
		marked("files in the build cache", `"$GOCACHE"`), marked("files in the module cache", `"$GOMODCACHE"`),
		marked("lock of the module cache", `"$GOMODCACHE/cache/lock.d"`),
		marked("cargo's products", `"$CARGO_TARGET_DIR"`),
		marked("cargo's registry", `"${CARGO_HOME:-$HOME/.cargo}/registry"`),
		marked("gradle", `"$GRADLE_USER_HOME"`), marked("maven", `"$HOME/.m2/repository"`),
		marked("npm", `"$npm_config_cache"`), marked("npm at home", `"$HOME/.npm"`), marked("pip", `"$HOME/.cache/pip"`),
		marked("uv", `"$HOME/.cache/uv"`), marked("golangci-lint", `"$GOLANGCI_LINT_CACHE"`),
		marked("mypy", `"$MYPY_CACHE_DIR"`), marked("ruff", `"$RUFF_CACHE_DIR"`), marked("products of a build", `"$BUILD_DIR"`),
		marked("home", `"$HOME"`), marked("configuration at home", `"$HOME/.config/git"`), marked("temporary files", `/tmp`),
		marked("more temporary files", `/var/tmp`), marked("temporary files by variable", `"$TMPDIR"`),
		{name: "search path", plant: `echo "$PATH" | tr : '\n' | while read -r d; do for p in go gofmt sh python3; do ` + fake +
			` >"$d/$p.evil" && mv "$d/$p.evil" "$d/$p"; done; done`},
		{name: "environment in the tree", plant: inTree(ws+"/.venv/bin/go") + `; cp .venv/bin/go .venv/bin/python3; cp .venv/bin/go .venv/bin/sh; ` +
			`echo 'home = /usr/bin' >.venv/pyvenv.cfg`},
		{name: "packages in the tree", plant: inTree(ws + "/node_modules/.bin/go")},
		{name: "programs in the tree", plant: inTree(ws+"/go") + `; ` + inTree(ws+"/python3") + `; ` + inTree(ws+"/bin/go")},
		{name: "go.env", plant: `echo GOFLAGS=-vet=off >go.env; go env -w GOFLAGS=-run=Nothing`},
		{name: "git hooks", plant: inTree(ws + "/.git/hooks/post-checkout"), left: ws + "/.git/hooks/post-checkout"},
		{name: "git objects", plant: `echo evil >"` + ws + `/.git/objects/evil"`, left: ws + "/.git/objects/evil"},
		{name: "git settings", plant: `echo '[core] fsmonitor = ./go' >>"` + ws + `/.git/config"`},
		{name: "git lock", plant: `echo >"` + ws + `/.git/index.lock"`, left: ws + "/.git/index.lock"},
		{name: "store", plant: `echo evil >"` + ws + `/.pawl/pawl.db"; echo evil >"` + ws + `/.pawl/evil"`, left: ws + "/.pawl/evil"},
		{name: "what proof reads", plant: `for f in $(find "` + ws + `/.pawl/cache/built" -type f | tail -n 20); do echo evil >>"$f"; done; ` +
			`echo evil >"` + ws + `/.pawl/cache/built/evil"`, left: ws + "/.pawl/cache/built/evil"},
		{name: "the standard library of all", plant: `echo evil >"` + std + `/evil"`, left: std + "/evil"},
		{name: "elsewhere", plant: `echo evil >"` + elsewhere + `/evil"`, left: elsewhere + "/evil"},
		{name: "closed folders", plant: `mkdir -p "$BUILD_DIR/closed/in" "$HOME/closed/in"; chmod 0 "$BUILD_DIR/closed" "$HOME/closed"`},
	}
	return rows
}

// allPoisons tries it behind every kind of walls, and as an ordinary user, instead of in namespaces alone.
var allPoisons = flag.Bool("poisons", false, "poison behind every kind of walls, by an ordinary user as well")

// TestNothingOfOneRunReachesTheNext has the tests of one run poison whatever they can reach, and the next run break the
// code: it must not pass, and must see nothing of what was planted. It is tried behind each kind of walls, by root and
// by an ordinary user.
func TestNothingOfOneRunReachesTheNext(t *testing.T) {
	for _, m := range []sandbox.Mechanism{sandbox.MechanismNamespaces, sandbox.MechanismBubblewrap,
		sandbox.MechanismLandlock} {
		if m == sandbox.MechanismNamespaces || *allPoisons {
			t.Run(string(m), func(t *testing.T) { poisoned(t, m) })
		}
	}
	if os.Geteuid() != 0 || !*allPoisons {
		return
	}
	t.Run("ordinary", func(t *testing.T) {
		dir, err := os.MkdirTemp("", "poison-*")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		exe, self := filepath.Join(dir, "test"), ""
		if self, err = os.Executable(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(self)
		if err := errors.Join(err, os.WriteFile(exe, text, 0o755), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-poisons", "-test.v", "-test.timeout=60m", "-test.run", "^"+strings.Split(t.Name(), "/")[0]+"$")
		goProgram, _ := lookPath("go")
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + filepath.Dir(goProgram) + ":/usr/bin:/bin"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "--- PASS") < 4 {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// lay writes files below a folder.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// layModule puts a module where commands keep those that they were granted to fetch, and returns its go.sum.
func layModule(t *testing.T, ws string) string {
	t.Helper()
	at := filepath.Join(ws, ".pawl/cache/work/gomod/cache/download/example.org/lib/@v")
	mod := "module example.org/lib\n"
	lay(t, at, map[string]string{"v1.0.0.mod": mod, "v1.0.0.info": `{"Version":"v1.0.0"}`, "list": "v1.0.0\n"})
	f, err := os.Create(filepath.Join(at, "v1.0.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range map[string]string{"go.mod": mod, "lib.go": "package lib\n\n// Answer is the answer.\nfunc Answer() int { return 41 }\n"} {
		w, err := z.Create("example.org/lib@v1.0.0/" + name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	of, err := dirhash.HashZip(f.Name(), dirhash.Hash1)
	ofMod, failed := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(mod)), nil
	})
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("example.org/lib v1.0.0 %s\nexample.org/lib v1.0.0/go.mod %s\n", of, ofMod)
}

// poisonScript tries one way after the other, and says what it forged.
func poisonScript(rows []poisonRow) string {
	script := "set +e\nexport BROKEN='" + brokenSum + "'\n"
	for _, row := range rows {
		to := "/dev/null"
		if row.plant == forge {
			to = "&1"
		}
		script += "(\n" + row.plant + "\n) >" + to + " 2>&1\n"
	}
	return script
}

func poisoned(t *testing.T, m sandbox.Mechanism) {
	ws, elsewhere := t.TempDir(), t.TempDir()
	rows := poisonRows(ws, std, elsewhere)
	git := exec.Command("git", "init", "-q", ws)
	git.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	lay(t, ws, map[string]string{"go.mod": calc, "go.sum": layModule(t, ws), "sum.go": rightSum, "sum_test.go": honestTest,
		"poison_test.go": poisonTest, "poison.sh": poisonScript(rows), ".pawl/pawl.db": "store"})
	box, err := sandbox.New(sandbox.Options{Mechanism: m})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	shows, layered := box.Layers(t.Context(), elsewhere)
	if shows != (m != sandbox.MechanismLandlock) || layered != (m == sandbox.MechanismNamespaces) {
		t.Fatalf("folders are shown: %v, under a layer: %v", shows, layered)
	}
	host := verify.Host{Home: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")},
		LookPath: lookPath, Std: std}
	place := effect.Place{Workspace: ws, Tree: ws, InPlace: true}
	v := verify.New(verify.Config{Box: box, Host: host, Open: verify.OpenDir, Snapshot: snapshot})
	settings, err := os.ReadFile(filepath.Join(ws, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	list := []effect.Check{{Name: "go vet", Command: "go vet ./...", Kind: "lint"},
		{Name: "go build", Command: "go build -o /dev/null ./...", Kind: "build", Level: 1},
		{Name: "go test", Command: "go test ./...", Kind: "test", Level: 2}}
	verbose := effect.Check{Name: "go test -v", Command: "go test -v ./...", Kind: "test", Level: 2}

	_, first := run(t, v, place, append(slices.Clone(list), verbose))
	if out := outcome(first, "go test -v").Output; !strings.Contains(out, "forged") ||
		outcome(first, "go test").Status != effect.CheckPassed {
		t.Fatalf("the first run did not try: %+v", first.Outcomes)
	}
	for _, name := range []string{"poison_test.go", "poison.sh"} {
		if err := os.Remove(filepath.Join(ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, again := run(t, v, place, list)
	if o := outcome(again, "go test"); o.Status != effect.CheckPassed || strings.Contains(o.Output, "(cached)") {
		t.Errorf("test cache, or the run after is disturbed: %s %s", o.Status, o.Output)
	}

	lay(t, ws, map[string]string{"sum.go": brokenSum})
	second := slices.Clone(list)
	for _, row := range rows {
		if row.seen != "" {
			second = append(second, effect.Check{Name: row.name, Command: row.seen, Kind: "custom"})
		}
	}
	goProgram, _ := lookPath("go")
	second = append(second, effect.Check{Name: "which go", Command: `test "$(command -v go)" = ` + goProgram, Kind: "custom"})
	_, result := run(t, v, place, second)
	switch o := outcome(result, "go test"); {
	case o.Status != effect.CheckFailed || o.Environment || !strings.Contains(o.Output, "Sum"):
		t.Errorf("broken code: %+v", o)
	case strings.Contains(o.Output, "another"):
		t.Errorf("unpacked modules of Go: %s", o.Output)
	}
	if o := outcome(result, "which go"); o.Status != effect.CheckPassed {
		t.Errorf("search path: %+v", o)
	}
	for _, row := range rows {
		if o := outcome(result, row.name); row.seen != "" && (o.Status != effect.CheckFailed || o.ExitCode != 1) {
			t.Errorf("%s: what one run planted, the next one sees: %+v", row.name, o)
		}
		if _, err := os.Lstat(row.left); row.left != "" && err == nil {
			t.Errorf("%s: %s was left", row.name, row.left)
		}
	}
	if now, err := os.ReadFile(filepath.Join(ws, ".git", "config")); err != nil || string(now) != string(settings) {
		t.Errorf("git settings: %q %v", now, err)
	}
	if text, err := os.ReadFile(filepath.Join(ws, ".pawl", "pawl.db")); err != nil || string(text) != "store" {
		t.Errorf("store: %q %v", text, err)
	}
	for _, gone := range []string{".pawl/cache/once/*"} {
		if left, _ := filepath.Glob(filepath.Join(ws, gone)); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
}

// outcome is that of a check by its name.
func outcome(r effect.VerifyResult, name string) effect.CheckOutcome {
	for _, o := range r.Outcomes {
		if o.Name == name {
			return o
		}
	}
	return effect.CheckOutcome{}
}
