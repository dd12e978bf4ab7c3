package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stub is a program that says what it was asked for, and writes the manual pages that PAGES names.
const stub = "#!/bin/sh\n" + `case $1 in
man) mkdir -p "$2"; for p in ${PAGES:-pawl pawl-run}; do echo "$*" >"$2/$p.1"; done ;;
*) echo "profile for $0 $*" ;;
esac
`

// prefix is a folder into which a stub is installed.
type prefix struct {
	t            *testing.T
	dir, program string
	env          []string
}

func newPrefix(t *testing.T) *prefix {
	t.Helper()
	dir := t.TempDir()
	p := &prefix{t: t, dir: filepath.Join(dir, "a prefix"), program: filepath.Join(dir, "pawl")}
	p.env = []string{"PATH=/usr/bin:/bin", "PREFIX=" + p.dir, "HOME=" + dir, "TMPDIR=" + dir, "PAWL_APPARMOR_SETTING=" +
		filepath.Join(dir, "setting")}
	if err := os.WriteFile(p.program, []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// script runs the script, which has to succeed if and only if it is to.
func (p *prefix) script(ok bool, arg string, env ...string) string {
	p.t.Helper()
	cmd := exec.Command("./install.sh", arg)
	cmd.Env = append(p.env, env...)
	out, err := cmd.CombinedOutput()
	if (err == nil) != ok {
		p.t.Fatalf("%s: %v\n%s", arg, err, out)
	}
	return string(out)
}

// files are the files and folders below the prefix, folders with a slash behind.
func (p *prefix) files() []string {
	p.t.Helper()
	out := []string{}
	_ = filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(p.dir, path); err == nil && rel != "." {
			if d.IsDir() {
				rel += "/"
			}
			out = append(out, rel)
		}
		return nil
	})
	return out
}

func (p *prefix) write(name, text string) {
	p.t.Helper()
	name = filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func TestInstallAndUninstall(t *testing.T) {
	p := newPrefix(t)
	p.script(false, "--uninstall")
	p.script(true, p.program)
	p.script(true, p.program) // the second time over the first
	want := []string{"bin/", "bin/pawl", "share/", "share/bash-completion/", "share/bash-completion/completions/",
		"share/bash-completion/completions/pawl",
		"share/fish/", "share/fish/vendor_completions.d/", "share/fish/vendor_completions.d/pawl.fish",
		"share/man/", "share/man/man1/", "share/man/man1/pawl-run.1", "share/man/man1/pawl.1",
		"share/man/zh_CN/", "share/man/zh_CN/man1/", "share/man/zh_CN/man1/pawl-run.1", "share/man/zh_CN/man1/pawl.1",
		"share/pawl/", "share/pawl/installed", "share/zsh/", "share/zsh/site-functions/",
		"share/zsh/site-functions/_pawl"}
	if got := p.files(); !slices.Equal(got, want) {
		t.Errorf("installed:\n%s", strings.Join(got, "\n"))
	}
	for file, mode := range map[string]os.FileMode{"bin/pawl": 0o755, "share/man/man1/pawl.1": 0o644} {
		if info, err := os.Stat(filepath.Join(p.dir, file)); err != nil || info.Mode().Perm() != mode {
			t.Error(info, err)
		}
	}
	p.script(true, p.program, "PAGES=pawl pawl-show")
	if got := p.files(); slices.Contains(got, "share/man/man1/pawl-run.1") ||
		!slices.Contains(got, "share/man/man1/pawl-show.1") {
		t.Errorf("a page that there is no more:\n%s", strings.Join(got, "\n"))
	}
	p.script(true, "--uninstall")
	if got := p.files(); len(got) != 0 {
		t.Errorf("left behind:\n%s", strings.Join(got, "\n"))
	}
}

// What is not pawl's, or not any more, stays, and a list that somebody wrote leads nowhere else.
func TestUninstallTakesNothingElse(t *testing.T) {
	p := newPrefix(t)
	p.write("bin/other", "x")
	p.write("share/man/man1/other.1", "x")
	p.script(true, p.program)
	p.write("share/zsh/site-functions/_pawl", "mine now")
	p.write("share/fish/mine", "x")
	canary := filepath.Join(filepath.Dir(p.dir), "canary")
	if err := os.WriteFile(canary, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(p.dir, "share/pawl/installed")
	raw, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := exec.Command("sh", "-c", "printf x | cksum").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := strings.TrimSpace(string(sum))
	p.write("share/pawl/installed", string(raw)+s+" ../canary\n"+s+" "+canary+"\n"+s+" bin/../../canary\n"+s+
		" -rf\ndir ..\ndir bin\n")
	if out := p.script(true, "--uninstall"); !strings.Contains(out, "left: "+p.dir+"/share/zsh/site-functions/_pawl") {
		t.Error(out)
	}
	want := []string{"bin/", "bin/other", "share/", "share/fish/", "share/fish/mine", "share/man/", "share/man/man1/",
		"share/man/man1/other.1", "share/zsh/", "share/zsh/site-functions/", "share/zsh/site-functions/_pawl"}
	if got := p.files(); !slices.Equal(got, want) {
		t.Errorf("left:\n%s", strings.Join(got, "\n"))
	}
	if _, err := os.Stat(canary); err != nil {
		t.Error(err)
	}
}

// A program that does not run here leaves what there was as it was.
func TestInstallOfABrokenProgram(t *testing.T) {
	p := newPrefix(t)
	p.script(true, p.program)
	before := p.files()
	if err := os.WriteFile(p.program, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.script(false, p.program)
	if raw, err := os.ReadFile(filepath.Join(p.dir, "bin/pawl")); err != nil || string(raw) != stub ||
		!slices.Equal(p.files(), before) {
		t.Errorf("%v %s", err, raw)
	}
	if left, err := os.ReadDir(filepath.Dir(p.dir)); len(left) != 2 {
		t.Error(left, err)
	}
}

func TestInstallOffersTheProfileWhereItIsNeeded(t *testing.T) {
	p := newPrefix(t)
	setting := filepath.Join(filepath.Dir(p.dir), "setting")
	for value, needed := range map[string]bool{"1\n": true, "0\n": false} {
		if err := os.WriteFile(setting, []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
		out := p.script(true, p.program)
		for _, want := range []string{"installed: " + p.dir + "/bin/pawl\n", "not on your PATH yet"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		for _, want := range []string{"    profile for " + p.dir + "/bin/pawl doctor --apparmor\n",
			"apparmor_parser -r /etc/apparmor.d/pawl"} {
			if strings.Contains(out, want) != needed {
				t.Errorf("%q in\n%s: %t", want, out, !needed)
			}
		}
	}
}
