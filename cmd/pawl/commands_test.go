package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pawl/text/solution"
)

// The three faults that are planted in the module: a file that is not formatted, an assignment to itself that vet
// refuses and its own fixer removes, and a go.sum that lacks what go.mod requires.
const threeFaults = `// Package size says how large a patch is.
package size

import "github.com/dustin/go-humanize"

// Of returns the size in words.
func Of(patch []byte) string {
	n := uint64(len(patch))
	n = n
	return   humanize.Bytes(n)
}
`

const sizeTest = `package size

import "testing"

func TestOf(t *testing.T) {
	if got := Of(make([]byte, 2000)); got != "2.0 kB" {
		t.Error(got)
	}
}
`

const plea = "make go vet and the tests pass, format the code"

// faultyModule is a public module with the three faults, committed.
func faultyModule(t *testing.T) *user {
	u := newUser(t)
	if err := copyModule(u.dir); err != nil {
		t.Fatal(err)
	}
	// The module's linter is no part of what is tried here, and not everybody has it.
	if err := os.Remove(filepath.Join(u.dir, ".golangci.yml")); err != nil {
		t.Fatal(err)
	}
	u.write("size/size.go", threeFaults)
	u.write("size/size_test.go", sizeTest)
	u.downloaded("github.com/dustin/go-humanize", "v1.0.1")
	// With this version vet knows how to mend what it finds.
	u.write("go.mod", strings.Replace(strings.TrimSpace(u.read("go.mod")), "go 1.21", "go 1.26", 1)+
		"\n\nrequire github.com/dustin/go-humanize v1.0.1\n")
	u.write("go.sum", "github.com/dustin/go-humanize v1.0.0 h1:VSnTsYCnlFHaM2/igO1h6X3HA71jcobQuxemgkq4zYo=\n")
	return u.module("work").repository() // its repairs are commands that compile
}

// downloaded gives the user a module in the module cache, as somebody has it who has built with it before.
func (u *user) downloaded(module, version string) {
	u.t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		u.t.Fatal(err)
	}
	from, to := strings.TrimSpace(string(out)), filepath.Join(u.home, "go", "pkg", "mod")
	for _, dir := range []string{filepath.Join("cache", "download", module), module + "@" + version} {
		if err := os.CopyFS(filepath.Join(to, dir), os.DirFS(filepath.Join(from, dir))); err != nil {
			u.t.Fatal(err)
		}
	}
}

// mended fails unless the faults are gone from the one commit that landed, and the package is in the archive with an
// entry in the CHANGELOG.
func (u *user) mended() {
	u.t.Helper()
	if n := u.git("rev-list", "--count", "HEAD"); n != "2" {
		u.t.Errorf("%s commits", n)
	}
	if got := u.git("diff", "--name-only", "HEAD^"); got != "go.sum\nsize/size.go" {
		u.t.Errorf("changed: %s", got)
	}
	if s := u.read("size/size.go"); strings.Contains(s, "n = n\n") || !strings.Contains(s, "\treturn humanize") {
		u.t.Errorf("size.go:\n%s", s)
	}
	if s := u.read("go.sum"); !strings.Contains(s, "go-humanize v1.0.1 h1:") || strings.Contains(s, "v1.0.0") {
		u.t.Errorf("go.sum:\n%s", s)
	}
	if u.git("status", "--porcelain") != "" {
		u.t.Errorf("left behind: %s", u.git("status", "--porcelain"))
	}
	dirs, _ := filepath.Glob(filepath.Join(u.dir, ".pawl", "archive", "*",
		"*_make-go-vet-and-the-tests-pass-format-the-code"))
	if len(dirs) != 1 {
		u.t.Fatalf("packages in the archive: %v", dirs)
	}
	for _, name := range []string{solution.ProposalName, solution.TasksName} {
		if _, err := os.Stat(filepath.Join(dirs[0], name)); err != nil {
			u.t.Error(err)
		}
	}
	log := u.read(".pawl/CHANGELOG.md")
	for _, want := range []string{plea, filepath.Base(dirs[0]), u.git("rev-parse", "HEAD"), "size/size.go"} {
		if strings.Count(log, want) == 0 {
			u.t.Errorf("the CHANGELOG lacks %q:\n%s", want, log)
		}
	}
	if live, _ := filepath.Glob(filepath.Join(u.dir, ".pawl", "plan", "*")); len(live) > 0 {
		u.t.Errorf("still in plan/: %v", live)
	}
	u.must(0, "audit", "verify")
	u.quiet()
}

func TestFlow_AutoMendsAModule(t *testing.T) {
	t.Parallel()
	u := faultyModule(t)
	u.must(0, "~auto "+plea)
	u.mended()
}

func TestFlow_PlanStopsAndExecFinishes(t *testing.T) {
	t.Parallel()
	u := faultyModule(t)
	before := u.git("rev-parse", "HEAD")
	u.must(0, "~plan "+plea)
	if st := u.status(); st.State != "IDLE" || st.Flow.Stage != "" || st.Flow.Mode != "INTERACTIVE" {
		t.Errorf("after ~plan: %+v %+v", st.State, st.Flow)
	}
	if u.git("rev-parse", "HEAD") != before || u.git("status", "--porcelain") != "" {
		t.Error("~plan changed something")
	}
	type packages struct {
		Packages map[string]struct{ Valid, Executable bool }
	}
	found := decode[packages](u, "validate")
	if len(found.Packages) != 1 {
		t.Fatalf("packages %+v", found)
	}
	for name, p := range found.Packages {
		if !p.Valid || !p.Executable {
			t.Errorf("%s: %+v", name, p)
		}
	}
	u.must(0, "~exec")
	u.mended()
	if a := u.pawl("~exec"); a.code != 3 {
		t.Errorf("a second ~exec: %v", a)
	}
}
