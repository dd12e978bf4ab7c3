package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/sandbox/allow"
)

// found runs a command that reads each of these files, and returns those that it could read.
func found(t *testing.T, b *Box, s Spec, files []string) []string {
	t.Helper()
	s.Argv = []string{"sh", "-c", `while read -r f; do for way in "" /proc/self/root; do if grep -qs s3cret "$way$f"; then echo "$f"; break; fi; done; done`}
	s.Stdin = []byte(strings.Join(files, "\n") + "\n")
	return strings.Fields(output(t, b, s))
}

// in is where a command works that reads files elsewhere.
func in(t *testing.T, env ...string) Spec {
	t.Helper()
	s := spec(t, "")
	s.Env = append(s.Env, env...)
	return s
}

// TestToolchainsAreShownByParts makes every toolchain in a home, at its default place and where its variable names
// another one, and looks for files beside what is listed.
func TestToolchainsAreShownByParts(t *testing.T) {
	home := outside(t)
	var shown, hidden, env []string
	plant := func(dir, parts string) {
		whole, private := false, []string{"credentials", "credentials.toml", "settings.xml", "token/a", ".git/config"}
		for part := range strings.FieldsSeq(parts) {
			name := strings.ReplaceAll(strings.ReplaceAll(part, "[0-9]", "1"), "*", "x")
			switch {
			case name == ".":
				whole = true
			case name[0] == '!':
				hidden = append(hidden, filepath.Join(dir, name[1:], "canary"))
			case name[0] == '?':
				hidden = append(hidden, filepath.Join(dir, name[1:]))
			default:
				shown = append(shown, filepath.Join(dir, name, "canary"))
			}
		}
		for _, name := range private {
			if !whole {
				hidden = append(hidden, filepath.Join(dir, name))
			}
		}
	}
	for _, p := range allow.Toolchains {
		if p.Dir != "" {
			plant(filepath.Join(home, p.Dir), p.Parts)
		}
		if p.Variable != "" && !slices.Contains([]string{"npm_config_cache"}, p.Variable) {
			plant(filepath.Join(home, "moved", p.Variable), p.Parts)
			env = append(env, p.Variable+"="+filepath.Join(home, "moved", p.Variable))
		}
	}
	for _, name := range strings.Fields(".cache/ms-playwright/mcp-chrome-profile/Default/Cookies .gradle/develocity/keys.properties " +
		".gradle/init.d/a.gradle .gradle/daemon/8/a.log .gradle/gradle.properties .m2/.develocity/keys.properties .m2/work-settings.xml " +
		".sbt/1.0/credentials.sbt .sbt/sonatype_credentials .ivy2/.credentials-x .stack/upload/credentials.json .pub-cache/pub-tokens.json " +
		".dotnet/corefx/cryptography/x509stores/my/a.pfx .cache/bazel/_bazel_me/0f/execroot/a .local/share/opencode/auth.json " +
		".local/share/password-store/a .local/share/fish/fish_history .local/share/atuin/key .local/state/lesshst .bundle/config " +
		".config/pypoetry/auth.toml .nuget/NuGet/NuGet.Config .cache/huggingface/token .local/share/uv/credentials/a .npmrc .yarnrc.yml") {
		hidden = append(hidden, filepath.Join(home, name))
	}
	for _, name := range slices.Concat(shown, hidden) {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			write(t, name, "token = s3cret\n")
		}
	}
	shown = slices.DeleteFunc(shown, func(p string) bool { return slices.Contains(hidden, p) })
	mechanisms(t, func(t *testing.T, m Mechanism) {
		got := found(t, box(t, Options{Mechanism: m, Home: home}), in(t, env...), slices.Concat(hidden, shown))
		for _, p := range hidden {
			if slices.Contains(got, p) {
				t.Errorf("readable: %s", p)
			}
		}
		for _, p := range shown {
			if !slices.Contains(got, p) {
				t.Errorf("not readable: %s", p)
			}
		}
	})
	t.Logf("%d files hidden, %d shown", len(hidden), len(shown))
}

// TestAConfigurationWithoutSecretsIsShown is about files that are readable as long as no login is in them.
func TestAConfigurationWithoutSecretsIsShown(t *testing.T) {
	home := outside(t)
	file := write(t, filepath.Join(home, ".cargo/config.toml"), "[build] # s3cret is no login\n")
	proxied := write(t, filepath.Join(home, ".cargo/config"), "[http]\nproxy = \"me:s3cret@proxy:3128\"\n")
	mechanisms(t, func(t *testing.T, m Mechanism) {

		if got := found(t, box(t, Options{Mechanism: m, Home: home}), in(t), []string{file, proxied}); len(got) != 1 || got[0] != file {
			t.Errorf("%v", got)
		}
	})
}

// TestALinkInPathOpensItsPackageOnly is about links in directories of PATH: the file that one leads to is shown, and its
// package where a layout says where that begins.
func TestALinkInPathOpensItsPackageOnly(t *testing.T) {
	home := outside(t)
	links := map[string]string{"todo": "Documents/todo.sh", "tool": "work/bin/tool", "npm": "x/node_modules/npm/bin/npm.js",
		"brew": "brew/Cellar/jq/1.7/bin/jq", "agent": "agents/versions/2/agent", "py": "venv/bin/py", "folder": "Pictures"}
	shown := []string{"Documents/todo.sh", "work/bin/tool", "x/node_modules/npm/lib/a", "brew/Cellar/jq/1.7/lib/a", "agents/versions/2/data",
		"venv/lib/a", "tools/bin/own"}
	hidden := []string{"Documents/taxes", "work/acme/.env", "work/bin/other", "work/lib/a", "x/.env", "brew/Cellar/other/a", "agents/versions/1/a",
		"agents/key", "venv/.env", "Pictures/a", "tools/.env", "direct/bin/a", "bin/a", "project/a"}
	for _, name := range slices.Concat(shown, hidden, []string{"venv/pyvenv.cfg", "x/node_modules/npm/bin/npm.js", "brew/Cellar/jq/1.7/bin/jq",
		"agents/versions/2/agent", "venv/bin/py"}) {
		write(t, filepath.Join(home, name), "s3cret\n")
	}
	tree := in(t)
	write(t, filepath.Join(tree.Dir, "bin/x"), "")
	for name, to := range links {
		if err := os.Symlink(filepath.Join(home, to), filepath.Join(home, "tools/bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	// A link in a directory that the command itself may write to opens nothing.
	if err := os.Symlink(filepath.Join(home, "project/a"), filepath.Join(tree.Dir, "bin/link")); err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(shown, hidden)
	for i := range all {
		all[i] = filepath.Join(home, all[i])
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		s := in(t)
		s.Dir, s.Writable = tree.Dir, tree.Writable
		s.Env = append(s.Env, fmt.Sprintf("PATH=%[1]s/tools/bin:%[1]s/project:%[1]s/bin:%[1]s:%s/bin:/usr/bin:/bin", home, tree.Dir))
		got := found(t, box(t, Options{Mechanism: m, Home: home}), s, all)
		if !slices.Equal(got, all[:len(shown)]) {
			t.Errorf("%q\nwant\n%q", got, all[:len(shown)])
		}
	})
}

// furnished are directories of a machine that a test covers, in a mount namespace of its own, and files in them.
var furnished = map[string][]string{
	"/srv":   {"other-repo/.env", "tools/bin/x"},
	"/mnt":   {"t/Users/ada/.ssh/id_rsa"},
	"/media": {"disk/a"},
	"/home":  {"bob/proj/.env", "bob/.cargo/registry/a", "bob/.local/bin/a"},
	"/opt":   {"x/secret.txt", "x/conf/a", "x/.env", "vendor/x/secret.txt"},
	"/boot":  {"grub/a"},
	"/var":   {"mail/me", "spool/mail/me", "lib/app/a", "www/a", "backups/a", "log/a", "cache/app/a"},
}

// furnishedShown are those in which programs are.
var furnishedShown = []string{"/opt/x/bin/a", "/opt/x/lib/a", "/opt/vendor/x/share/a", "/var/lib/gems/3/a"}

// covered plays a pawl on a machine with furnished directories.
func coveredMachine() {
	fail := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	if own, err := os.Readlink("/proc/self/ns/mnt"); err != nil || own == os.Getenv("MACHINE_OUTSIDE") {
		fail(fmt.Errorf("these are the machine's mounts: %v", err))
	}
	fail(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	var files []string
	for dir, names := range furnished {
		fail(unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"))
		for _, name := range names {
			files = append(files, filepath.Join(dir, name))
		}
	}
	for _, p := range slices.Concat(files, furnishedShown, []string{os.Getenv("TMPDIR") + "/x"}) {
		fail(os.MkdirAll(filepath.Dir(p), 0o755))
		fail(os.WriteFile(p, []byte("s3cret"), 0o644))
	}
	dir, err := os.MkdirTemp("", "pawl-machine-")
	fail(err)
	b, err := New(Options{Mechanism: Mechanism(os.Getenv("MECHANISM"))})
	fail(err)
	s := Spec{Dir: dir, Writable: []string{dir}, Env: Environ(os.Environ(), nil),
		Argv:  []string{"sh", "-c", `while read -r f; do grep -qs s3cret "$f" && echo "$f"; done; for f; do test -f "$f" && test -s "$f" && head -c1 "$f" >/dev/null 2>&1 && echo "$f"; done; true`, "sh"},
		Stdin: []byte(strings.Join(append(files, furnishedShown...), "\n") + "\n")}
	etc, _ := filepath.Glob("/etc/*")
	s.Argv = append(s.Argv, etc...)
	res, err := b.Run(context.Background(), s)
	fmt.Printf("%s", res.Output)
	fail(err)
	os.Exit(0)
}

// TestNothingElseOfTheMachineIsRead is about what is in no home.
func TestNothingElseOfTheMachineIsRead(t *testing.T) {
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), role+"=covered", "MACHINE_OUTSIDE="+own, "MECHANISM="+string(m), "TMPDIR="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
		if uid := os.Geteuid(); uid != 0 {
			cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		got := strings.Fields(string(out))
		want := append(slices.Clone(furnishedShown), "/etc/passwd")
		for _, p := range want {
			if !slices.Contains(got, p) {
				t.Errorf("not readable: %s", p)
			}
		}
		for _, p := range got {
			listed := slices.ContainsFunc(strings.Fields(allow.SystemPlaces[1].Parts), func(part string) bool {
				ok, _ := filepath.Match(strings.TrimLeft(part, "?"), strings.TrimPrefix(p, "/etc/"))
				to, err := filepath.EvalSymlinks(p)
				return ok || err == nil && !within(to, "/etc")
			})
			if !slices.Contains(want, p) && !listed || slices.Contains([]string{"/etc/environment", "/etc/pip.conf", "/etc/npmrc", "/etc/shadow"}, p) {
				t.Errorf("readable: %s", p)
			}
		}
	})
}

// TestOwnDirectoriesAreHidden is about what pawl trusts and keeps to itself: no setting and no Spec shows it, but for
// what a Spec names below it.
func TestOwnDirectoriesAreHidden(t *testing.T) {
	home := outside(t)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "moved/state"))
	files := []string{"moved/state/pawl/audit.key", "moved/state/pawl/workspaces/w/pawl.db", ".local/state/pawl/a", ".config/pawl/token",
		"moved/state/pawl/workspaces/w/worktrees/t/file", "moved/state/pawl/workspaces/w/cache/file", "moved/other"}
	for i, name := range files {
		files[i] = write(t, filepath.Join(home, name), "s3cret\n")
	}
	state := filepath.Join(home, "moved/state/pawl")
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m, Home: home, Readable: []string{filepath.Join(home, "moved"), filepath.Join(home, ".config"),
			filepath.Join(state, "audit.key"), filepath.Join(state, "workspaces/w")}})
		s := in(t)
		s.Readable = []string{state, filepath.Join(home, ".local/state"), filepath.Join(state, "workspaces/w/cache")}
		s.Dir = filepath.Join(state, "workspaces/w/worktrees/t")
		s.Writable = []string{s.Dir}
		if got := found(t, b, s, files); !slices.Equal(got, files[4:]) {
			t.Errorf("%q", got)
		}
	})
}

// TestALinkOutIsDenied is about what a caller asks to be shown, which a link of the tree leads to what is hidden.
func TestALinkOutIsDenied(t *testing.T) {
	home := outside(t)
	ws := filepath.Join(home, "src/evil")
	key := write(t, filepath.Join(home, ".ssh/id"), "s3cret\n")
	own := write(t, filepath.Join(home, "src/evil/lib/a"), "s3cret\n")
	write(t, filepath.Join(home, ".cargo/registry/a"), "s3cret\n")
	set := filepath.Join(ws, ".pawl/cache/deps/npm-1")
	if err := os.MkdirAll(set, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"tree": home, "in": ws, "cargo": filepath.Join(home, ".cargo/registry")} {
		if err := os.Symlink(to, filepath.Join(set, name)); err != nil {
			t.Fatal(err)
		}
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m, Home: home})
		try := func(change func(s *Spec)) ([]byte, pawl.Code) {
			s := spec(t, `grep -rhs s3cret `+key+` `+own+` shown; true`)
			s.Dir, s.Writable, s.Workspace = ws, []string{ws}, ws
			change(&s)
			res, err := b.Run(t.Context(), s)
			return res.Output, pawl.CodeOf(err)
		}
		at := filepath.Join(ws, "shown")
		for _, dir := range []string{"tree", "tree/.ssh", "tree/.ssh/id"} {
			from := filepath.Join(set, dir)
			if out, code := try(func(s *Spec) { s.Readable = []string{from} }); code != pawl.CodeDenied {
				t.Errorf("readable %s: %s %s", dir, code, out)
			}
			if dir == "tree/.ssh/id" {
				continue
			}
			if out, code := try(func(s *Spec) { s.Shown = []Shown{{From: from, At: at}} }); code != pawl.CodeDenied {
				t.Errorf("shown %s: %s %s", dir, code, out)
			}
			if out, code := try(func(s *Spec) {
				tree := filepath.Join(home, "trees")
				write(t, filepath.Join(tree, "a"), "")
				s.Dir, s.Writable, s.Readable = tree, []string{tree}, []string{from}
			}); code != pawl.CodeDenied {
				t.Errorf("in a worktree, readable %s: %s %s", dir, code, out)
			}
		}
		// A link that stays within, or leads to what can be read anyway, is none of these.
		if out, code := try(func(s *Spec) {
			s.Readable = []string{filepath.Join(set, "in/lib"), filepath.Join(set, "cargo")}
		}); code != "" || string(out) != "s3cret\n" {
			t.Errorf("%s %q", code, out)
		}
	})
}

// TestAWorkspaceIsHiddenAroundAWorktree is about a worktree that is in no directory of the workspace.
func TestAWorkspaceIsHiddenAroundAWorktree(t *testing.T) {
	base := outside(t)
	ws, tree := filepath.Join(base, "ws"), filepath.Join(base, "state/worktrees/1")
	files := []string{"ws/.env", "ws/src/a", "ws/.git/HEAD", "state/worktrees/1/.env", "state/store"}
	for i, name := range files {
		files[i] = write(t, filepath.Join(base, name), "s3cret\n")
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m, Readable: []string{ws}})
		s := in(t)
		s.Dir, s.Tree, s.Workspace, s.Writable = tree, tree, ws, []string{tree}
		// A worktree of pawl's own has no files of the user, so nothing in it is masked.
		if got := found(t, b, s, files); !slices.Equal(got, files[2:4]) {
			t.Errorf("%q", got)
		}
		s.Dir, s.Tree, s.Writable, b = ws, ws, []string{ws}, box(t, Options{Mechanism: m})
		want := files[1:3]
		if m == MechanismLandlock { // WeakInside
			want = files[:3]
		}
		if got := found(t, b, s, files); !slices.Equal(got, want) {
			t.Errorf("in place: %q", got)
		}
	})
}

// TestOnlyGitsOwnFilesAreShown is about git directories, in which other programs keep files as well: of the workspace,
// of a submodule, of a worktree, and of another repository in the folder.
func TestOnlyGitsOwnFilesAreShown(t *testing.T) {
	base := outside(t)
	ws, tree := filepath.Join(base, "ws"), filepath.Join(base, "state/1")
	var shown, hidden []string
	for _, dir := range []string{".git", ".git/modules/a/b", ".git/worktrees/w", "vendor/x/.git"} {
		for _, name := range strings.Fields("HEAD index refs/heads/main objects/aa/b packed-refs logs/HEAD logs/refs/stash info/exclude MERGE_MSG " +
			"lfs/objects/a annex/objects/a hooks/pre-push.sample rebase-merge/done shallow commondir") {
			shown = append(shown, write(t, filepath.Join(ws, dir, name), "s3cret\n"))
		}
		for _, name := range strings.Fields("annex/creds/x credentials .netrc config~ config.bak config.lock sourcetreeconfig svn/auth " +
			"hooks/pre-push lfs/x info/token logs/x include.cfg git-crypt/keys/default branches/origin") {
			hidden = append(hidden, write(t, filepath.Join(ws, dir, name), "s3cret\n"))
		}
		write(t, filepath.Join(ws, dir, "config"), "[core]\n\tbare = false\n[include]\n\tpath = include.cfg\n[includeIf \"gitdir:/\"]\n\tpath = include.cfg\n")
	}
	hidden = append(hidden, write(t, filepath.Join(ws, ".git/modules/token"), "s3cret\n"))
	if err := os.Symlink("info", filepath.Join(ws, ".git/link")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tree, "a"), "")
	of := func(paths []string) []string { // those outside of the folder, which a worktree does not see
		return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return strings.Contains(p, "/vendor/") })
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m})
		s := spec(t, "")
		s.Dir, s.Workspace, s.Writable = ws, ws, []string{ws}
		want := shown
		if m == MechanismLandlock { // WeakInside
			want = slices.Concat(shown, hidden)
		}
		if got := found(t, b, s, slices.Concat(shown, hidden)); !slices.Equal(got, want) {
			t.Errorf("in place: %q", difference(got, want))
		}
		s.Dir, s.Tree, s.Writable = tree, tree, []string{tree}
		if got := found(t, b, s, slices.Concat(shown, hidden)); !slices.Equal(got, of(shown)) {
			t.Errorf("worktree: %q", difference(got, of(shown)))
		}
		s.Readable, s.Workspace = []string{filepath.Join(ws, ".git/modules/a/b")}, ""
		if got := found(t, b, s, slices.Concat(shown, hidden)); len(got) != len(of(shown))/3 {
			t.Errorf("a submodule: %q", got)
		}
		s = spec(t, "")
		s.Dir, s.Tree, s.Workspace, s.Writable = tree, tree, ws, []string{tree}
		s.Argv = []string{"cat", filepath.Join(ws, ".git/config")}
		if out := string(run(t, b, s).Output); strings.Contains(out, "include.cfg") {
			t.Errorf("%s", out)
		}
	})
}

// difference lists what is in one of two lists.
func difference(a, b []string) []string {
	return slices.Concat(slices.DeleteFunc(slices.Clone(a), func(p string) bool { return slices.Contains(b, p) }),
		slices.DeleteFunc(slices.Clone(b), func(p string) bool { return slices.Contains(a, p) }))
}

func TestGitConfigurationsAreShownWithoutLogins(t *testing.T) {
	const config = "[core]\n\tbare = false\n[http \"https://host/\"]\n\textraheader = \"AUTHORIZATION: basic s3cret\" \\\n s3cret\n[remote \"origin\"]\n" +
		"\turl = https://me:s3cret@host/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[credential]\n\thelper = store --file=s3cret\n" +
		"[url \"https://s3cret@host/\"] insteadOf = x\n[Http]\n\tproxy = s3cret\n[remote \"o]\"] apitoken = s3cret\n\tpushurl = ssh://git@host/x\n[branch \"main\"]\n\tremote = origin\n" +
		"[alias]\n\tapi = !curl -H 'Authorization: Bearer s3cret'\n[core]\n\tsshCommand = env SSH_PASSWORD=s3cret ssh\n" +
		"[filter \"f\"]\n\tclean = f --token s3cret\n[remote \"c\"]\n\turl = https://host/x?private_token=s3cret\n" +
		"[branch \"feature/auth\"]\n\tmerge = refs/heads/feature/auth\n"
	const want = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://host/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n" +
		"[remote \"o]\"]\n\tpushurl = ssh://host/x\n[branch \"main\"]\n\tremote = origin\n" +
		"[alias]\n\n[core]\n\n[filter \"f\"]\n\n[remote \"c\"]\n\n[branch \"feature/auth\"]\n\tmerge = refs/heads/feature/auth\n"
	if got := allow.PublicConfig(config); got != want {
		t.Errorf("%s", got)
	}
	if got := allow.PublicConfig(want); got != want {
		t.Errorf("changed without a reason:\n%s", got)
	}
	base := outside(t)
	ws, tree := filepath.Join(base, "ws"), filepath.Join(base, "state/1")
	files := []string{".git/config", ".git/config.worktree", ".git/modules/a/b/config", ".git/worktrees/w/config.worktree", "vendor/x/.git/config"}
	for _, name := range files {
		write(t, filepath.Join(ws, name), config)
	}
	write(t, filepath.Join(ws, ".git/HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(tree, "a"), "")
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m})
		s := spec(t, "")
		s.Dir, s.Workspace, s.Writable = ws, ws, []string{ws}
		for _, place := range []string{"in place", "worktree"} {
			for _, name := range files {
				s.Argv = []string{"cat", filepath.Join(ws, name)}
				res := run(t, b, s)
				inside := m == MechanismLandlock && place == "in place" // WeakInside
				if secret := strings.Contains(string(res.Output), "s3cret"); secret != inside {
					t.Errorf("%s, %s: %s", place, name, res.Output)
				}
				if m != MechanismLandlock && (place == "in place" || name != files[4]) && string(res.Output) != want {
					t.Errorf("%s, %s: %q", place, name, res.Output)
				}
			}
			s.Dir, s.Tree, s.Writable = tree, tree, []string{tree}
		}
	})
	t.Chdir(ws) // where pawl is started says nothing of what a command sees
	run(t, box(t, Options{}), spec(t, "true"))
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprint(privatePrefix, os.Getpid(), "-*"))); len(left) > 0 {
		t.Logf("left for Close: %q", left)
	}
}

// TestAFailedCommandNamesWhatItMissed is about what exists and is hidden, and the setting that shows it.
func TestAFailedCommandNamesWhatItMissed(t *testing.T) {
	home := outside(t)
	lib, key := write(t, filepath.Join(home, "lib/a.h"), "s3cret\n"), write(t, filepath.Join(home, ".ssh/id"), "s3cret\n")
	mechanisms(t, func(t *testing.T, m Mechanism) {
		s := spec(t, "cat "+lib+" "+key+" /nonexistent/x")
		first := box(t, Options{Mechanism: m, Home: home, Readable: []string{"/nonexistent/set"}})
		if got, want := run(t, first, s).Hint, "The sandbox hides "+lib+". To let commands read it: pawl config set readable /nonexistent/set "+lib; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		s.Argv = []string{"cat", lib}
		if res := run(t, box(t, Options{Mechanism: m, Home: home, Readable: []string{lib}}), s); res.Exit != 0 || res.Hint != "" {
			t.Errorf("%+v", res)
		}
	})
}

// TestAFailedCommandNamesWhatIsBesideItsProject is about programs that say of a module that it is missing, and not where
// they looked for it. A pipe in place of a manifest names nothing.
func TestAFailedCommandNamesWhatIsBesideItsProject(t *testing.T) {
	home := outside(t)
	for manifest, text := range map[string]string{
		"package.json":         `{"dependencies":{"lib":"file:../lib"}}`,
		"Cargo.toml":           "[dependencies]\nlib = { path = \"../lib\" }\n",
		"requirements-dev.txt": "-e ../lib\n",
		".venv/lib/python3.11/site-packages/_lib.pth": filepath.Join(home, "lib") + "\n",
	} {
		t.Run(filepath.Base(manifest), func(t *testing.T) {
			ws, lib := filepath.Join(home, filepath.Base(manifest)), filepath.Join(home, "lib")
			write(t, filepath.Join(ws, manifest), text)
			write(t, filepath.Join(lib, "a"), "")
			if err := unix.Mkfifo(filepath.Join(ws, "go.mod"), 0o600); err != nil {
				t.Fatal(err)
			}
			s := spec(t, "echo no module named lib; exit 1")
			s.Dir, s.Workspace, s.Writable = ws, ws, []string{ws}
			if got, want := run(t, box(t, Options{Home: home}), s).Hint, "The sandbox hides "+lib+". To let commands read it: pawl config set readable "+lib; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if got := run(t, box(t, Options{Home: home, Readable: []string{lib}}), s).Hint; got != "" {
				t.Error(got)
			}
		})
	}
}

// TestHiddenNeedsOfAProject is about what doctor names: what links and manifests of a project lead to.
func TestHiddenNeedsOfAProject(t *testing.T) {
	home := outside(t)
	ws := filepath.Join(home, "src/app")
	write(t, filepath.Join(ws, "go.mod"), "module app\n\nreplace lib => ../lib\n")
	lib, data := filepath.Join(home, "src/lib"), filepath.Join(home, "data")
	write(t, filepath.Join(lib, "go.mod"), "")
	write(t, filepath.Join(data, "a"), "")
	write(t, filepath.Join(home, ".ssh/id"), "")
	for name, to := range map[string]string{"data": data, "key": filepath.Join(home, ".ssh"), "self": ws} {
		if err := os.Symlink(to, filepath.Join(ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Join(home, "missing"))
	mechanisms(t, func(t *testing.T, m Mechanism) {
		if got, _ := box(t, Options{Mechanism: m, Home: home}).Hidden(t.Context(), ws); !slices.Equal(got, []string{data, lib}) {
			t.Errorf("%q", got)
		}
		if got, _ := box(t, Options{Mechanism: m, Home: home, Readable: []string{data, lib}}).Hidden(t.Context(), ws); len(got) > 0 {
			t.Errorf("%q", got)
		}
	})
}
