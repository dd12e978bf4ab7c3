package gittest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hooks are the names of every hook that git runs by itself.
var hooks = []string{
	"applypatch-msg", "commit-msg", "post-applypatch", "post-checkout", "post-commit", "post-index-change",
	"post-merge",
	"post-rewrite", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase",
	"prepare-commit-msg", "push-to-checkout", "reference-transaction", "sendemail-validate", "fsmonitor-watchman",
}

// HostileFiles are files to commit before Trap: they name the drivers that it configures, and have names that a
// careless caller takes for options or commands.
func HostileFiles() map[string]string {
	return map[string]string{
		".gitattributes": "* filter=z diff=z merge=z ident\n", "a": "a\n", "d/b": "b\n", "-x": "x\n",
		"--output=C": "o\n",
		"$(touch C)": "s\n", "`touch C`": "s\n", "a\nb": "n\n", "'; touch C; '": "q\n", "link": "-> a",
	}
}

// Trap configures everything that makes git run a program, so that each use leaves a line in the returned canary file.
// From then on the repository's own Git method springs it.
func (r *Repo) Trap() (canary string) {
	r.t.Helper()
	outside := r.t.TempDir()
	canary = filepath.Join(outside, "canary")
	fire := filepath.Join(outside, "fire")
	cat := filepath.Join(outside, "cat")
	Write(r.t, outside, map[string]string{
		"fire": "#!/bin/sh\necho \"$0 $*\" >> '" + canary + "'\nexit 1\n",
		"cat":  "#!/bin/sh\necho \"$0 $*\" >> '" + canary + "'\ncat\n",
	})
	r.nest(fire)
	for _, name := range hooks {
		Write(r.t, r.Path(".git/hooks"), map[string]string{name: "#!/bin/sh\necho hook-" + name + " >> '" + canary +
			"'\n"})
	}
	config := "[core]\n\trepositoryformatversion = 1\n\tfsmonitor = " + fire + "\n\tpager = " + fire + "\n\teditor = " +
		fire +
		"\n\tsshCommand = " + fire + "\n\taskPass = " + fire + "\n\talternateRefsCommand = " + fire +
		"\n\tgitProxy = " + fire +
		"\n\tattributesFile = " + r.Path(".gitattributes") +
		"\n[extensions]\n\tpartialClone = origin\n" +
		"[filter \"z\"]\n\tclean = " + cat + "\n\tsmudge = " + cat + "\n\tprocess = " + fire + "\n\trequired = true\n" +
		"[diff]\n\texternal = " + fire + "\n[diff \"z\"]\n\tcommand = " + fire + "\n\ttextconv = " + fire + "\n" +
		"[merge \"z\"]\n\tdriver = " + fire + " %O %A %B\n" +
		"[gpg]\n\tprogram = " + fire + "\n[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n" +
		"[credential]\n\thelper = !" + fire + "\n[sequence]\n\teditor = " + fire + "\n[interactive]\n\tdiffFilter = " +
		fire + "\n" +
		"[remote \"origin\"]\n\turl = ext::" + fire +
		"\n\tpromisor = true\n\tpartialclonefilter = blob:none\n\tuploadpack = " + fire + "\n" +
		"[protocol]\n\tallow = always\n[uploadpack]\n\tpackObjectsHook = " + fire + "\n[pack]\n\tpackSizeLimit = 1\n" +
		"[alias]\n\tstatus = !" + fire + "\n\tupdate-ref = !" + fire + "\n" +
		"[user]\n\tname = $(" + fire + ")\n\temail = a@b\"; " + fire + "; \"\n"
	f, err := os.OpenFile(r.Path(".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(config)
		f.Close()
	}
	if err == nil {
		err = os.WriteFile(r.Path(".git/info/attributes"), []byte("* filter=z diff=z merge=z\n"), 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return canary
}

// nest puts repositories with traps of their own into the tree: a bare one, and one that git would take for a
// submodule.
func (r *Repo) nest(fire string) {
	r.t.Helper()
	trap := "\n[core]\n\tfsmonitor = " + fire + "\n\thooksPath = hooks\n"
	bare := &Repo{t: r.t, Dir: r.Path("bare.git")}
	inner := &Repo{t: r.t, Dir: r.Path("inner")}
	for dir, args := range map[*Repo][]string{bare: {"init", "-q", "--bare"}, inner: {"init", "-q"}} {
		if err := os.MkdirAll(dir.Dir, 0o755); err != nil {
			r.t.Fatal(err)
		}
		dir.Git(args...)
	}
	inner.Write(map[string]string{"x": "x"})
	inner.Git("add", "x")
	inner.Git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x")
	r.Git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
	r.Git("commit", "-q", "-m", "with a nested repository")
	for _, path := range []string{"bare.git/config", "inner/.git/config"} {
		raw, err := os.ReadFile(r.Path(path))
		if err == nil {
			err = os.WriteFile(r.Path(path), append(raw, trap...), 0o600)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// Springs reports whether the trap works: ordinary commands of git's set it off. It removes the canary again.
func (r *Repo) Springs(canary string) bool {
	for _, args := range [][]string{{"diff"}, {"add", "-A"}, {"commit", "-m", "x"}} {
		_, _ = r.Try(args...)
	}
	_, err := os.Stat(canary)
	os.Remove(canary)
	return err == nil
}

// Quiet fails the test when the canary exists.
func Quiet(t testing.TB, canary string) {
	t.Helper()
	if raw, err := os.ReadFile(canary); err == nil {
		t.Fatalf("the repository's own programs ran:\n%s", strings.TrimSpace(string(raw)))
	}
}
