package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl/internal/modeltest"
)

// canariesAll looks for every canary with every command; without it, for one of so many in one setting.
var canariesAll = flag.Bool("canaries", false, "look for more canaries, under every mechanism, also as an ordinary user and with variables moved")

const canaryShare = 120

// onMachine names the mount namespace that a test was started from, in the process that has a machine of its own.
const onMachine = "CANARIES_OUTSIDE"

// The words below make the names of secrets: each tool has each kind of file in each base directory. What the tools are
// plays no part, so the names of some that do not exist are added.
var (
	canaryTools = strings.Fields("aws azure gcloud doctl heroku fly vercel netlify wrangler hcloud linode-cli oci scw ibmcloud s3cfg boto " +
		"gh glab hub git-credentials docker containers kube helm terraform.d pulumi vault-token consul ansible age sops rclone restic " +
		"net pgpass my.cnf mongo sqlite psql redis npm yarn pnpm bun deno pip pypi poetry uv hatch conda cargo rustup gem bundle composer m2 " +
		"gradle sbt ivy2 cabal stack opam nuget pub-cache mix hex go julia swiftpm conan Code cursor zed JetBrains nvim vim emacs.d " +
		"sublime-text claude codex gemini opencode qwen continue cline aider goose copilot mozilla google-chrome chromium BraveSoftware " +
		"vivaldi opera password-store gnupg ssh keyrings 1Password Bitwarden keepassxc pass bash zsh fish nu atuin ksh tmux act circleci " +
		"buildkite-agent gitlab-runner actions-runner jenkins travis sentryclirc Slack discord thunderbird mutt irssi weechat signal " +
		"wireguard openvpn tailscale ngrok cloudflared huggingface wandb kaggle jupyter ipython matplotlib sdkman nvm pyenv asdf")
	canaryFiles = strings.Fields("credentials credentials.json credentials.toml auth.json token config config.toml config.yaml " +
		"config.json settings.xml hosts.yml .env id_ed25519 key.pem cert.p12 Cookies Default/Cookies history logs/last.log " +
		"profiles/work/key accounts/me.json cache.db .git/config")
	canaryForms = strings.Fields(".TOOL/FILE .TOOLrc .TOOL .TOOL_history .TOOL-FILE .TOOL.FILE TOOL/FILE " +
		"CONFIG/TOOL/FILE CONFIG/TOOLrc CONFIG/TOOL.toml DATA/TOOL/FILE STATE/TOOL/FILE CACHE/TOOL/FILE RUNTIME/TOOL/FILE " +
		"/home/bob/.TOOL/FILE /home/bob/src/TOOL/FILE /root/.TOOL/FILE /srv/TOOL/FILE /mnt/c/Users/ada/.TOOL/FILE /mnt/c/Users/ada/AppData/TOOL/FILE " +
		"/media/ada/disk/TOOL/FILE /data/TOOL/FILE /etc/TOOL/FILE /etc/TOOL.conf /opt/TOOL/etc/FILE /opt/TOOL/FILE /var/lib/TOOL/FILE " +
		"/var/mail/TOOL /var/log/TOOL/FILE /var/backups/TOOL/FILE /var/www/TOOL/FILE /run/secrets/TOOL /run/TOOL/FILE /usr/local/etc/TOOL/FILE " +
		"/usr/local/TOOL/FILE /tmp/TOOL/FILE /var/tmp/TOOL/FILE /boot/TOOL /lost+found/TOOL /backup.TOOL")
)

// canaryBases are the base directories below a home, and where they were moved to.
var canaryBases = map[string][2]string{"CONFIG": {".config", "xdg/config"}, "DATA": {".local/share", "xdg/data"},
	"STATE": {".local/state", "/data/xdg/state"}, "CACHE": {".cache", "xdg/cache"}, "RUNTIME": {".run", "/run/user/1000"}}

// canaryStores are directories of packages, and what of them has to be readable. Variable names the directory that is
// moved, "" if none does. Commands are not told of those in brackets, and agents not of those with a star.
var canaryStores = []struct{ variable, home, part string }{
	{"CARGO_HOME", ".cargo", "registry/src/x/lib.rs"}, {"RUSTUP_HOME", ".rustup", "toolchains/stable/bin/x"},
	{"GOPATH", "go", "pkg/mod/x@v1/x.go"}, {"PYENV_ROOT", ".pyenv", "versions/3/bin/x"}, {"NVM_DIR", ".nvm", "versions/node/v1/bin/x"},
	{"VOLTA_HOME", ".volta", "tools/x"}, {"RBENV_ROOT", ".rbenv", "versions/3/bin/x"}, {"ASDF_DATA_DIR*", ".asdf", "installs/x/1/bin/x"},
	{"SDKMAN_DIR*", ".sdkman", "candidates/x/1/bin/x"}, {"NUGET_PACKAGES*", ".nuget/packages", "x/1/x.dll"},
	{"PUB_CACHE", ".pub-cache", "hosted/x/x.dart"}, {"MAVEN_USER_HOME*", ".m2", "repository/x/x.jar"},
	{"PIPX_HOME*", ".local/pipx", "venvs/x/bin/x"}, {"(GRADLE_USER_HOME)", ".gradle", "caches/x/x.jar"},
	{"(npm_config_cache)", ".npm", "_cacache/x"}, {"(PIP_CACHE_DIR)", ".cache/pip", "http/x"}, {"(DOTNET_CLI_HOME)", ".dotnet", "sdk/x"},
	{"(COMPOSER_HOME)", ".cache/composer", "files/x"}, {"(UV_CACHE_DIR)", ".cache/uv", "wheels-v1/x"}, {"", ".cache", "yarn/x"},
	{"", ".local", "bin/tool"}, {"", ".bun", "bin/x"}, {"", ".opam", "default/bin/x"}, {"", ".stack", "snapshots/x"},
	{"", ".cache", "pre-commit/repo/x"}, {"", ".julia", "packages/x"}, {"", ".local/share", "uv/tools/x"}, {"", ".gem", "ruby/3/x"},
}

// canaryTrees are repositories that package managers keep among packages, with the address that they were cloned from.
var canaryTrees = strings.Fields(".cache/pre-commit/repo1/.git .pyenv/plugins/p/.git .rbenv/plugins/p/.git .asdf/plugins/p/.git " +
	".julia/registries/General/.git .pub-cache/git/cache/x-1 .gem/ruby/3/cache/bundler/git/x-1 .bundle/cache/git/x-1 .opam/repo/x/.git " +
	".opam/default/.opam-switch/sources/x/.git go/pkg/mod/cache/vcs/x .cache/composer/vcs/x")

// canaryCaches hold nothing but packages, and are readable whole.
var canaryCaches = strings.Fields(".cache/yarn .cache/pnpm .cache/hex .local/share/pnpm /usr/local/go")

// canaryTexts are forms of a secret.
var canaryTexts = []string{"token = %s\n", "[default]\npassword: %s\n", "url = https://me:%s@host.example/x\n", "//host/:_authToken=%s\n",
	"proxy = \"me:%s@proxy.example:3128\"\n"}

// canaryGit are lines of git's configuration, of which none may be seen.
var canaryGit = []string{
	"[http \"https://host.example/\"]\n\textraheader = AUTHORIZATION: basic %s", "[http]\n\tproxy = http://me:%s@proxy.example",
	"[http]\n\tcookieFile = /home/ada/%s", "[credential]\n\thelper = \"!f() { echo password=%s; }; f\"",
	"[credential \"https://%s@host.example\"]\n\tusername = me", "[url \"https://%s@host.example/\"]\n\tinsteadOf = git@host.example:",
	"[url \"https://host.example/?private_token=%s\"]\n\tpushInsteadOf = x", "[remote \"a\"]\n\turl = https://me:%s@host.example/x",
	"[remote \"b\"]\n\tpushurl = \\\n https://%s@host.example/x", "[remote \"https://me:%s@host.example\"]\n\tskipFetchAll = true",
	"[remote \"c\"]\n\turl = https://host.example/x?private_token=%s", "[remote \"d\"]\n\tproxy = http://me:%s@proxy.example",
	"[submodule \"s\"]\n\turl = https://oauth2:%s@host.example/s", "[lfs]\n\turl = https://me:%s@host.example/lfs",
	"[sendemail]\n\tsmtpPass = %s", "[hub]\n\toauthtoken = %s", "[random-tool \"x\"]\n\tx = %s", "[user]\n\ttoken = %s",
	"[alias]\n\tapi = \"!curl -H 'Authorization: Bearer %s' https://host.example\"", "[core]\n\tsshCommand = \"env SSH_PASSWORD=%s ssh\"",
	"[filter \"f\"]\n\tsmudge = \"f --token=%s\"", "[branch \"x\"]\n\tremote = https://me:%s@host.example/x"}

// canaryVariables are variables of pawl's own process.
var canaryVariables = strings.Fields("AWS_SECRET_ACCESS_KEY GITHUB_TOKEN NPM_TOKEN DATABASE_URL HTTPS_PROXY GOPROXY PIP_INDEX_URL X_RANDOM CI_JOB_JWT")

// lookScript prints every canary that a command can read: at the places that it is told, by three paths to each, in
// all that it can list, in what git knows, and in its variables. What it prints in another form is masked by nobody.
const lookScript = `all() {
	for way in "" /proc/self/root /proc/$PPID/root ../../../../../../../..; do sed "s,^,$way," places | xargs -d '\n' grep -haosE "$form"; done
	grep -rhaosE "$form" /home /root /srv /mnt /media /data /run /tmp .git ..
	git config --list --show-origin; git config --global --list; git config --system --list; git remote -v; env
}
form='cnry[a-z0-9]{20}'
seen=$(all 2>/dev/null </dev/null | grep -aoE "$form" | sort -u)
{ readlink /proc/self/ns/mnt | sed "s/^/$1 in /"; echo "$seen" | sed "s/^/$1 /"; echo "$seen" | tr a-z0-9 n-za-m5-90-4; } | tee "${2-/dev/null}"
`

// lookAgent is an agent that looks, and says that it has done its work.
const lookAgent = `#!/bin/sh
test "$1" != --version || { echo codex-cli 0.169.0; exit; }
sh look.sh agent agent.seen >/dev/null
echo made >made.txt
echo '{"type":"thread.started","thread_id":"t"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"'"$(tr -d '\n' <agent.seen)"'"}}'
echo '{"type":"turn.completed"}'
`

// The paths of the copy of the machine that layMachine makes. A file at copyMark says that it is one.
const (
	copyMark     = "/canaries"
	copyHome     = "/home/ada"
	copyOld      = "/mnt/old"
	copyTested   = "/srv/pawl/tested"
	copyPawl     = "/srv/pawl/as"
	copyNone     = "/srv/pawl/none"
	copyBwrap    = "/usr/bin/bwrap"
	copyGit      = "/etc/gitconfig"
	copyPath     = "/home/ada/.local/bin:/usr/local/bin:/usr/bin:/bin:/home/ada/tools/bin"
	copyShared   = "/data"
	copyRuntimes = "/run/user"
)

var (
	// copyBound are directories that the copy shares with the machine, and copyLaid those that it has with changes of its
	// own. Of the others it has none of the machine's files.
	copyBound = []string{"dev", "proc", "sys"}
	copyLaid  = strings.Fields("bin sbin lib lib32 lib64 libx32 usr etc var nix gnu")
	// copyMoved are where the directories of toolchains are moved to, and copyWritten where pawl and its commands write.
	copyMoved   = []string{"moved", "/data/tools", "/opt/tools.d"}
	copyWritten = []string{"/home", "/tmp", "/data", "/run", "/var/tmp"}
	// copyLinked are programs that links in PATH lead to, and what is beside them.
	copyLinked = [][2]string{{"Documents/todo.sh", "Documents/taxes"}, {"work/bin/tool", "work/acme/.env"},
		{"/srv/team/bin/deploy", "/srv/team/secrets"}}

	canaryForm = regexp.MustCompile(`cnry[a-z0-9]{20}`)
	canaryCode = strings.NewReplacer("a", "n", "b", "o", "c", "p", "d", "q", "e", "r", "f", "s", "g", "t", "h", "u", "i", "v", "j", "w", "k", "x", "l", "y", "m", "z",
		"n", "a", "o", "b", "p", "c", "q", "d", "r", "e", "s", "f", "t", "g", "u", "h", "v", "i", "w", "j", "x", "k", "y", "l", "z", "m",
		"0", "5", "1", "6", "2", "7", "3", "8", "4", "9", "5", "0", "6", "1", "7", "2", "8", "3", "9", "4")
)

// newCanary is a text that is nowhere else.
func newCanary() string {
	b := []byte("cnry")
	for range 20 {
		b = append(b, "abcdefghijklmnopqrstuvwxyz0123456789"[rand.IntN(36)])
	}
	return string(b)
}

// machine is a developer's machine with canaries: a copy of this one that only one process tree sees.
type machine struct {
	*user
	// By token, where it is: what no command may read, what all have to, and what all but agents have to.
	hidden, shown, untold map[string]string
	// settings are those of git that are readable where a copy without logins can be shown.
	settings map[string]string
	moved    bool
	where    map[string][]string // by token, the files that pawl or a command wrote it to
}

// TestCanaries has every command that pawl runs for others look for secrets in the places of a developer's machine: a
// check, the command of a plan, an installed agent and the checks of its work. What they read is in no output of
// pawl's, in no worktree and in no log, while the packages that they need are.
func TestCanaries(t *testing.T) {
	if os.Getenv(onMachine) == "" {
		t.Parallel()
		mechanisms, places, commands, began := []string{"namespaces"}, 0, 0, time.Now()
		who := []string{"self"}
		if *canariesAll {
			mechanisms = append(mechanisms, "bwrap", "floor")
			if os.Geteuid() == 0 {
				who = append(who, "ordinary")
			}
		}
		for _, m := range mechanisms {
			for _, w := range who {
				for _, place := range []string{"moved", "default"} {
					if !*canariesAll && place == "default" {
						continue
					}
					t.Run(m+" "+w+" "+place, func(t *testing.T) {
						if _, err := exec.LookPath("bwrap"); m == "bwrap" && err != nil {
							t.Skip("bubblewrap is not installed")
						}
						p, c := ownMachine(t, m+" "+w+" "+place)
						places, commands = max(places, p), commands+c
					})
				}
			}
		}
		t.Logf("%d places, %d commands, %d mechanisms, %s", places, commands, len(mechanisms), time.Since(began).Round(time.Second))
		return
	}
	layMachine(t)
	words := strings.Fields(os.Getenv("CANARIES_SETTING"))
	newMachine(t, words[2] == "moved").look(words[0], words[1] == "ordinary")
}

// ownMachine starts this test in mounts of its own and returns how many places and commands it tried.
func ownMachine(t *testing.T, setting string) (places, commands int) {
	t.Helper()
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestCanaries$", "-test.v", "-canaries="+fmt.Sprint(*canariesAll))
	cmd.Env = append(os.Environ(), onMachine+"="+own, "CANARIES_SETTING="+setting, "CANARIES_DIR="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if uid := os.Geteuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	figures := regexp.MustCompile(`(\d+) hidden, (\d+) shown, (\d+) commands`).FindSubmatch(out)
	if err != nil || figures == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var shown int
	_, err = fmt.Sscan(string(bytes.Join(figures[1:], []byte(" "))), &places, &shown, &commands)
	t.Logf("%s: %s", setting, figures[0])
	if err != nil || places < 120 || shown < 18 {
		t.Errorf("only %d places, %d that are readable, %v", places, shown, err)
	}
	return places, commands
}

// layMachine replaces all that this process sees by a copy, in which nothing that is written reaches the machine.
func layMachine(t *testing.T) {
	t.Helper()
	if own, err := os.Readlink("/proc/self/ns/mnt"); err != nil || own == os.Getenv(onMachine) {
		t.Fatal("these are the machine's mounts", err)
	}
	dir := os.Getenv("CANARIES_DIR")
	at := func(name string) string { return filepath.Join(dir, name) }
	options := "lowerdir=/%s,upperdir=%s,workdir=%s"
	if raw, err := os.ReadFile("/proc/self/uid_map"); err == nil && !strings.Contains(string(raw), "4294967295") {
		options += ",userxattr"
	}
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	program, err := os.ReadFile("/proc/self/exe")
	must("program", err)
	must("private", unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	must("room", unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"))
	entries, err := os.ReadDir("/")
	must("list", err)
	for _, e := range entries {
		name := e.Name()
		to := at("root/" + name)
		switch {
		case e.Type()&os.ModeSymlink != 0:
			link, err := os.Readlink("/" + name)
			must(name, errors.Join(err, os.MkdirAll(at("root"), 0o755), os.Symlink(link, to)))
		case slices.Contains(copyBound, name):
			must(name, os.MkdirAll(to, 0o755))
			must(name, unix.Mount("/"+name, to, "", unix.MS_BIND|unix.MS_REC, ""))
		case slices.Contains(copyLaid, name):
			must(name, errors.Join(os.MkdirAll(to, 0o755), os.MkdirAll(at("upper/"+name), 0o755), os.MkdirAll(at("work/"+name), 0o755)))
			must(name, unix.Mount("overlay", to, "overlay", 0, fmt.Sprintf(options, name, at("upper/"+name), at("work/"+name))))
		}
	}
	for _, name := range []string{"tmp", "home", "root", "run", "srv", "mnt", "media", "opt", "boot"} {
		must(name, os.MkdirAll(at("root/"+name), 0o755))
	}
	must("tmp", os.Chmod(at("root/tmp"), 0o1777))
	must("self", unix.Mount(at("root"), at("root"), "", unix.MS_BIND|unix.MS_REC, ""))
	must("old", os.Mkdir(at("root"+copyOld), 0o755))
	must("root", unix.PivotRoot(at("root"), at("root"+copyOld)))
	must("chdir", os.Chdir("/"))
	must("unmount", unix.Unmount(copyOld, unix.MNT_DETACH))
	must("mark", os.WriteFile(copyMark, nil, 0o644))
	must("pawl", errors.Join(os.MkdirAll(filepath.Dir(copyTested), 0o755), os.WriteFile(copyTested, program, 0o755)))
	t.Setenv("TMPDIR", "/tmp")
}

// newMachine plants the canaries for a user with a small repository. If moved, what a variable names is elsewhere.
func newMachine(t *testing.T, moved bool) *machine {
	t.Helper()
	if _, err := os.Stat(copyMark); err != nil {
		t.Fatal("this is no copy of the machine: ", err)
	}
	u := &user{t: t, home: copyHome, dir: path.Join(copyHome, "src/app"), temp: "/tmp/ada", only: copyPath}
	m := &machine{u, map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}, moved, map[string][]string{}}
	u.vars = []string{asPawl + "=1"}
	for name, dirs := range canaryBases {
		if moved {
			u.vars = append(u.vars, "XDG_"+strings.Replace(name, "RUNTIME", "RUNTIME_DIR", 1)+map[bool]string{true: "_HOME"}[name != "RUNTIME"]+"="+m.base(dirs))
		}
	}
	tools, files := slices.Clone(canaryTools), slices.Clone(canaryFiles)
	for range 8 {
		tools, files = append(tools, newCanary()[4:9+rand.IntN(8)]), append(files, newCanary()[4:9+rand.IntN(8)])
	}
	for i, s := range canaryStores {
		variable, dir := strings.Trim(s.variable, "()*"), s.home
		if moved && variable != "" {
			dir = path.Join(copyMoved[i%len(copyMoved)], variable)
			u.vars = append(u.vars, variable+"="+m.base([2]string{dir, dir}))
		}
		switch {
		case moved && strings.HasSuffix(s.variable, "*"):
			m.plant(m.untold, path.Join(dir, s.part), "%s")
		case !moved || !strings.HasSuffix(s.variable, ")"):
			m.plant(m.shown, path.Join(dir, s.part), "%s")
		}
		for k, file := range files {
			if variable != "" && variable != "NUGET_PACKAGES" { // which holds nothing but packages
				m.plant(m.hidden, path.Join(dir, file), canaryTexts[k%len(canaryTexts)])
			}
		}
	}
	n, share := 0, uint32(canaryShare)
	if *canariesAll {
		share = 20
	}
	for _, form := range canaryForms {
		for _, tool := range tools {
			for _, file := range files {
				if !strings.Contains(form, "FILE") && file != files[0] || chosen(form, tool, file)%share != 0 {
					continue
				}
				n++
				name := strings.NewReplacer("TOOL", tool, "FILE", file).Replace(form)
				for base, dirs := range canaryBases {
					if rest, ok := strings.CutPrefix(name, base+"/"); ok {
						name = filepath.Join(m.base(dirs), rest)
						m.plant(m.hidden, filepath.Join(dirs[0], rest), canaryTexts[n%len(canaryTexts)]) // also left where it was
					}
				}
				m.plant(m.hidden, name, canaryTexts[n%len(canaryTexts)])
			}
		}
	}
	for _, dir := range canaryTrees {
		m.plant(m.hidden, path.Join(dir, "config"), "[remote \"origin\"]\n\turl = https://me:%s@host.example/x\n")
	}
	// A link in a folder of programs opens what it leads to, and nothing beside it.
	for _, of := range copyLinked {
		m.plant(m.shown, of[0], "%s")
		m.plant(m.hidden, of[1], "%s")
		m.link(of[0])
	}
	for _, name := range strings.Fields("src/other/.env src/app.key src/.env src/app/.env src/app/ignored/key src/app/.pawl/plan/mine") {
		m.plant(m.hidden, name, "KEY=%s\n")
	}
	state := m.base(canaryBases["STATE"])
	for _, name := range []string{"audit.key", "x", "workspaces/other-0123456789abcdef/pawl.db", "workspaces/other-0123456789abcdef/worktrees/1/.env"} {
		m.plant(m.hidden, filepath.Join(state, "pawl", name), "%s")
	}
	for _, name := range canaryVariables {
		token := newCanary()
		m.hidden[token] = "$" + name
		u.vars = append(u.vars, name+"="+map[bool]string{true: "https://me:" + token + "@host.example", false: token}[strings.HasSuffix(name, "URL") ||
			strings.HasSuffix(name, "PROXY")])
	}
	m.repository()
	return m
}

// base is where a base directory is, of its default and its moved place below the home.
func (m *machine) base(dirs [2]string) string {
	dir := dirs[0]
	if m.moved {
		dir = dirs[1]
	}
	return m.at(dir)
}

// at is where a name is, from the home.
func (m *machine) at(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(m.home, name)
}

// plant writes a canary, unless something is there already or it is among what has to be readable.
func (m *machine) plant(to map[string]string, name, form string) {
	m.t.Helper()
	name = m.at(name)
	_, err := os.Lstat(name)
	cached := slices.ContainsFunc(canaryCaches, func(c string) bool { return inside(name, m.at(c)) })
	if cached && form != "%s" || err == nil || !errors.Is(err, fs.ErrNotExist) || os.MkdirAll(path.Dir(name), 0o755) != nil { // a file is in its way
		return
	}
	token := newCanary()
	if err := os.WriteFile(name, []byte(fmt.Sprintf(form, token)), 0o644); err == nil { // an ordinary user cannot write in all
		to[token] = name
	}
}

// link makes a link to a program in a folder of PATH.
func (m *machine) link(to string) {
	m.t.Helper()
	to = m.at(to)
	at := path.Join(m.home, "tools/bin", path.Base(to))
	if err := errors.Join(os.MkdirAll(path.Dir(at), 0o755), os.Symlink(to, at)); err != nil {
		m.t.Fatal(err)
	}
}

// repository makes the project, with canaries in what git is configured with.
func (m *machine) repository() {
	m.t.Helper()
	m.write("look.sh", lookScript)
	m.write("Makefile", "all:\n\ntest:\n\tsh look.sh check\n")
	m.write(".gitignore", ".env\nignored/\n.pawl/\n")
	m.write("places", strings.Join(slices.Sorted(maps.Values(m.hidden)), "\n")+"\n"+strings.Join(slices.Sorted(maps.Values(m.shown)), "\n")+"\n"+
		strings.Join(slices.Sorted(maps.Values(m.untold)), "\n")+"\n")
	if err := os.MkdirAll(m.temp, 0o777); err != nil {
		m.t.Fatal(err)
	}
	m.user.repository()
	for _, file := range []string{m.dir + "/.git/config", m.home + "/.gitconfig", copyGit} {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil && file == copyGit { // an ordinary user has to leave it
			continue
		}
		if err != nil {
			m.t.Fatal(err)
		}
		for _, form := range canaryGit {
			token := newCanary()
			m.hidden[token] = file + ": " + form
			_, err = fmt.Fprintf(f, form+"\n", token)
		}
		if token := newCanary(); file != m.home+"/.gitconfig" {
			m.settings[token] = file
			_, err = fmt.Fprintf(f, "[format]\n\tsignature = %s\n", token)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			m.t.Fatal(err)
		}
	}
}

// look runs the commands, and looks for canaries in all that they and pawl have written.
func (m *machine) look(mechanism string, ordinary bool) {
	t, script := m.t, "#!/bin/sh\nexec "
	t.Helper()
	if ordinary {
		script += "setpriv --reuid=1000 --regid=1000 --clear-groups "
	}
	if mechanism == "floor" {
		script += copyTested + " firstrun-floor docker "
	}
	m.modelled("openai", modeltest.Script{}, "agent: codex", "  api: responses", "isolation: "+map[bool]string{true: "bwrap", false: `""`}[mechanism == "bwrap"])
	config := filepath.Join(m.home, ".config/pawl/config.yaml")
	m.appended(config, "# "+m.token(config)+"\n")
	if m.moved {
		m.run("cp", "-a", filepath.Dir(config), m.base(canaryBases["CONFIG"]))
	}
	if mechanism != "bwrap" {
		if _, err := os.Stat(copyBwrap); err == nil {
			err = errors.Join(os.WriteFile(copyNone, nil, 0o644), unix.Mount(copyNone, copyBwrap, "", unix.MS_BIND, ""))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	agent := filepath.Join(m.home, ".local/bin/codex")
	if err := errors.Join(os.WriteFile(agent, []byte(lookAgent), 0o755), os.WriteFile(copyPawl, []byte(script+copyTested+" \"$@\"\n"), 0o755),
		os.Chmod(m.temp, 0o777)); err != nil {
		t.Fatal(err)
	}
	state := m.base(canaryBases["STATE"])
	if ordinary {
		if err := errors.Join(os.MkdirAll(copyShared, 0o755), os.MkdirAll(copyRuntimes, 0o755)); err != nil {
			t.Fatal(err)
		}
		m.user.run("chown", "-R", "1000:1000", m.home, m.temp, state, copyShared, copyRuntimes)
	}
	m.program = copyPawl
	planned := m.steps(running("sh look.sh plan plan.seen", true), making())
	worked := filepath.Join(filepath.Dir(m.dir), "worked.yaml")
	if err := os.WriteFile(worked, []byte("goal: Make a file\nsteps:\n  - {step_id: s1, title: Make, intent: Make made.txt}\n"+
		"criteria:\n  - {id: c1, text: made, proof: diff, paths: [made.txt]}\n"+
		"verification: {mode: custom, commands: [sh look.sh tests], required: true, stop_on_fail: true}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for _, args := range [][]string{{"check"}, {"run", "--plan", planned, "--yes"}, {"undo"}, {"run", "--plan", worked, "--yes", "--agent", "codex"},
		{"show"}, {"logs"}, {"audit", "log", "--json"}, {"export"}} {
		a := m.pawl(args...)
		fmt.Fprintln(&said, args, a)
		if a.code != 0 && args[0] != "export" && args[0] != "logs" && args[0] != "show" {
			t.Errorf("pawl %s: %v", strings.Join(args, " "), a)
		}
	}
	all := said.String() + m.written()
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	commands := []string{"check", "plan", "agent", "tests"}
	for _, c := range commands {
		floor := strings.Contains(all, c+" in "+own)
		if floor != (mechanism == "floor") || !strings.Contains(all, c+" in mnt:") {
			t.Errorf("%s: under another mechanism than %s", c, mechanism)
		}
		wanted := maps.Clone(m.shown)
		if c != "agent" {
			maps.Copy(wanted, m.untold)
		}
		if mechanism != "floor" {
			maps.Copy(wanted, m.settings)
		}
		for token, name := range wanted {
			if !strings.Contains(all, c+" "+token) {
				t.Errorf("%s: not readable: %s", c, name)
			}
		}
	}
	found := map[string][]string{}
	for token, name := range m.hidden {
		if strings.Contains(all, token) || strings.Contains(all, canaryCode.Replace(token)) {
			by := slices.DeleteFunc(slices.Clone(commands), func(c string) bool { return !strings.Contains(all, c+" "+token) })
			found[name] = append(by, m.where[token]...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("readable: %s by %q", name, found[name])
	}
	t.Logf("%d hidden, %d shown, %d commands", len(m.hidden), len(m.shown), len(commands))
}

// token is a canary that is about to be written to a file.
func (m *machine) token(name string) string {
	token := newCanary()
	m.hidden[token] = name
	return token
}

// appended adds to a file.
func (m *machine) appended(name, text string) {
	m.t.Helper()
	raw, err := os.ReadFile(name)
	if err := errors.Join(err, os.WriteFile(name, append(raw, text...), 0o644)); err != nil {
		m.t.Fatal(err)
	}
}

// written is all that is in files which are not planted: what commands and pawl wrote, objects of git unpacked.
func (m *machine) written() string {
	m.t.Helper()
	planted := map[string]bool{m.dir + "/.git/config": true, m.home + "/.gitconfig": true}
	for _, of := range []map[string]string{m.hidden, m.shown, m.untold} {
		for _, name := range of {
			planted[name] = true
		}
	}
	var b strings.Builder
	for _, dir := range copyWritten {
		_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || planted[p] || d.Name() == "places" ||
				filepath.Base(p) == "config.yaml" && strings.Contains(p, "/pawl/") {
				return nil //nolint:nilerr // what is gone holds nothing
			}
			raw, _ := os.ReadFile(p)
			for _, token := range canaryForm.FindAllString(string(raw), -1) {
				if m.where[token] = append(m.where[token], p); len(m.where[token]) > 3 {
					m.where[token] = m.where[token][:3]
				}
			}
			b.Write(raw)
			return nil
		})
	}
	cmd := exec.Command("git", "-c", "safe.directory=*", "log", "--all", "-p", "--text", "--", "*.seen")
	cmd.Dir, cmd.Env = m.dir, []string{"HOME=/nonexistent", "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Errorf("git log: %v\n%s", err, out)
	}
	b.Write(out)
	return b.String()
}
