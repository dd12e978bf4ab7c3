package git_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pawl"
	"pawl/internal/gittest"
	"pawl/sandbox/git"
)

// A repository may come with a folder that pawl takes for its own. What it says there about another configuration is
// not read.
func TestShadowThatCameWithTheRepository(t *testing.T) {
	r := gittest.New(t, map[string]string{"a": "a\n"})
	canary := filepath.Join(t.TempDir(), "canary")
	gittest.Write(t, r.Dir, map[string]string{
		".pawl/git/commondir":   "../../evil\n",
		"evil/config":           "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[filter \"z\"]\n\tclean = \"touch " + canary + "; cat\"\n",
		"evil/info/attributes":  "* filter=z\n",
		"evil/objects/info/x":   "",
		"evil/refs/heads/.keep": "",
		"a":                     "changed\n",
	})
	repo := open(t, r, "", true)
	snapshot(t, repo)
	if _, err := repo.Status(t.Context()); err != nil {
		t.Error(err)
	}
	gittest.Quiet(t, canary)
}

// listener is a server that counts who comes. It answers nothing of use.
func listener(t *testing.T, serve func(http.Handler) *httptest.Server) (url string, came *atomic.Int32) {
	t.Helper()
	came = new(atomic.Int32)
	s := serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came.Add(1)
		http.Error(w, "no", http.StatusNotFound)
	}))
	t.Cleanup(s.Close)
	return s.URL, came
}

// alone takes the proxies of whoever runs the tests out of the environment, and gives the user's git a configuration
// file.
func alone(t *testing.T, global string) {
	t.Helper()
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",
		"ALL_PROXY", "NO_PROXY"} {
		t.Setenv(name, "")
	}
	file := filepath.Join(t.TempDir(), "gitconfig")
	if err := os.WriteFile(file, []byte(global), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", file)
}

// nowhere is an address at which nobody answers.
const nowhere = "http://127.0.0.1:1/r.git"

// The user's credentials go to a remote, so what the repository's configuration says about the way there does not
// count.
func TestRepositoryDoesNotChangeTheWayToARemote(t *testing.T) {
	proxy, proxied := listener(t, httptest.NewServer)
	secure, trusted := listener(t, httptest.NewTLSServer)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho ran >> '"+ran+"'\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ url, config string }{
		"a proxy":              {nowhere, "[http]\n\tproxy = " + proxy + "\n"},
		"a proxy for one host": {nowhere, "[http \"http://127.0.0.1:1\"]\n\tproxy = " + proxy + "\n"},
		"the remote's proxy":   {nowhere, "[remote \"origin\"]\n\tproxy = " + proxy + "\n"},
		"another address":      {nowhere, "[url \"" + proxy + "\"]\n\tinsteadOf = http://127.0.0.1:1\n"},
		"a push elsewhere":     {nowhere, "[url \"" + proxy + "\"]\n\tpushInsteadOf = http://127.0.0.1:1\n"},
		"any certificate":      {secure + "/r.git", "[http]\n\tsslVerify = false\n"},
		"a command for ssh":    {"ssh://127.0.0.1:1/r.git", "[core]\n\tsshCommand = " + program + "\n"},
		"another transport":    {nowhere, "[remote \"origin\"]\n\tvcs = x\n[protocol]\n\tallow = always\n"},
		"a helper":             {asking(t) + "/r.git", "[credential]\n\thelper = " + program + "\n"},
	} {
		for where, put := range map[string]func(r *gittest.Repo){
			"local": func(r *gittest.Repo) { extend(t, r.Path(".git/config"), c.config) },
			"worktree": func(r *gittest.Repo) {
				r.Git("config", "extensions.worktreeConfig", "true")
				extend(t, r.Path(".git/config.worktree"), c.config)
			},
			"include": func(r *gittest.Repo) {
				extend(t, r.Path(".git/other"), c.config)
				extend(t, r.Path(".git/config"), "[include]\n\tpath = other\n")
			},
		} {
			t.Run(what+" "+where, func(t *testing.T) {
				alone(t, "")
				r := gittest.New(t, map[string]string{"a": "a\n"})
				r.Git("remote", "add", "origin", c.url)
				put(r)
				s := git.NewRemotes(open(t, r, "", true))
				u, err := s.Upstream(t.Context(), "main")
				if err != nil || u.URL != c.url {
					t.Fatalf("%+v %v", u, err)
				}
				if _, err := s.Fetch(t.Context(), u); pawl.CodeOf(err) != pawl.CodeIO {
					t.Errorf("fetch: %v", err)
				}
				if err := s.Push(t.Context(), u, r.Head()); pawl.CodeOf(err) != pawl.CodeIO {
					t.Errorf("push: %v", err)
				}
				if proxied.Swap(0)+trusted.Swap(0) > 0 {
					t.Error("the repository chose the way")
				}
				gittest.Quiet(t, ran)
			})
		}
	}
}

func extend(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestUserChoosesTheWayToARemote(t *testing.T) {
	proxy, proxied := listener(t, httptest.NewServer)
	secure, trusted := listener(t, httptest.NewTLSServer)
	for what, c := range map[string]struct{ url, seen, config string }{
		"a proxy":         {nowhere, nowhere, "[http]\n\tproxy = " + proxy + "\n"},
		"any certificate": {secure + "/r.git", secure + "/r.git", "[http]\n\tsslVerify = false\n"},
		"another address": {nowhere, proxy + "/r.git", "[url \"" + proxy + "\"]\n\tinsteadOf = http://127.0.0.1:1\n"},
	} {
		t.Run(what, func(t *testing.T) {
			alone(t, c.config)
			r := gittest.New(t, map[string]string{"a": "a\n"})
			r.Git("remote", "add", "origin", c.url)
			s := git.NewRemotes(open(t, r, "", true))
			u, err := s.Upstream(t.Context(), "main")
			if err != nil || u.URL != c.seen {
				t.Fatalf("%+v %v", u, err)
			}
			for verb, err := range map[string]error{"push": s.Push(t.Context(), u, r.Head()),
				"fetch": second(s.Fetch(t.Context(), u))} {
				if pawl.CodeOf(err) != pawl.CodeIO {
					t.Errorf("%s: %v", verb, err)
				}
			}
			if n := proxied.Swap(0) + trusted.Swap(0); n < 2 {
				t.Errorf("%d came", n)
			}
		})
	}
}

func TestUserChoosesTheProgramToARemote(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho ran >> '"+ran+"'\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ url, config string }{
		"a command for ssh": {"ssh://127.0.0.1:1/r.git", "[core]\n\tsshCommand = " + program + "\n"},
		"a helper":          {asking(t) + "/r.git", "[credential]\n\thelper = " + program + "\n"},
	} {
		t.Run(what, func(t *testing.T) {
			alone(t, c.config)
			r := gittest.New(t, map[string]string{"a": "a\n"})
			r.Git("remote", "add", "origin", c.url)
			s := git.NewRemotes(open(t, r, "", true))
			if err := s.Push(t.Context(), git.Upstream{Remote: "origin", Ref: "refs/heads/main"},
				r.Head()); pawl.CodeOf(err) != pawl.CodeIO {
				t.Errorf("push: %v", err)
			}
			if os.Remove(ran) != nil {
				t.Error("it was not run")
			}
		})
	}
}

// TestRemove: a branch of a remote is taken away where it is what it was left as, and stays where somebody went on with
// it. A remote that the user pushes to may be another one than is fetched from.
func TestRemove(t *testing.T) {
	alone(t, "")
	r := gittest.New(t, map[string]string{"a": "a\n"})
	bare := gittest.At(t, t.TempDir())
	bare.Git("init", "-q", "--bare")
	r.Git("remote", "add", "origin", bare.Dir)
	left := r.Head()
	s, to := git.NewRemotes(open(t, r, "", true)), git.Upstream{Remote: "origin", Ref: "refs/heads/pawl/T-1"}
	if err := s.Push(t.Context(), to, left); err != nil {
		t.Fatal(err)
	}
	r.Git("commit", "-q", "--allow-empty", "-m", "more")
	r.Git("push", "-q", "origin", "HEAD:refs/heads/pawl/T-1")
	if err := s.Remove(t.Context(), to, left); pawl.CodeOf(err) != pawl.CodeIO ||
		bare.Git("rev-parse", to.Ref) != r.Head() {
		t.Errorf("work of somebody else's was taken away: %v", err)
	}
	for _, bad := range []string{"", "--all", "main"} {
		if err := s.Remove(t.Context(), to, bad); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := s.Remove(t.Context(), to, r.Head()); err != nil || bare.Git("branch") != "" {
		t.Errorf("%v, %s", err, bare.Git("branch"))
	}
	for _, want := range []string{"", "own", "other"} {
		if want == "own" {
			r.Git("config", "remote.pushDefault", want)
		} else if want != "" {
			r.Git("config", "branch.main.pushRemote", want)
		}
		if got, err := s.Pushed(t.Context(), "main"); got != want || err != nil {
			t.Errorf("pushed to %q, not %q: %v", got, want, err)
		}
	}
}

// asking is a server that wants to know who comes.
func asking(t *testing.T) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
		http.Error(w, "who", http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func second(_ string, err error) error { return err }

// Where the configuration cannot be read, it is not known to say nothing.
func TestUpstreamThatCannotBeRead(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	r := gittest.New(t, map[string]string{"a": "a\n"})
	r.Git("remote", "add", "origin", "/nowhere")
	s := git.NewRemotes(open(t, r, "", true))
	if u, err := s.Upstream(t.Context(), "main"); err != nil || !u.New {
		t.Fatalf("%+v %v", u, err)
	}
	for _, key := range []string{"branch.main.remote", "branch.main.merge", "remote.origin.url"} {
		dir := t.TempDir()
		script := "#!/bin/sh\ncase \"$*\" in *" + key + "*) echo broken >&2; exit 3;; esac\nexec '" + real +
			"' \"$@\"\n"
		if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+filepath.Dir(real)+":/usr/bin:/bin")
		if u, err := s.Upstream(t.Context(), "main"); pawl.CodeOf(err) != pawl.CodeIO {
			t.Errorf("%s: %+v %v", key, u, err)
		}
	}
}

// Any kind of clone can talk to where it came from, and the user's git knows afterwards what the remote has.
func TestRemoteOfAClone(t *testing.T) {
	for what, how := range map[string][]string{"whole": nil, "shallow": {"--depth=1"},
		"partial": {"--filter=tree:0", "--no-checkout"}, "single": {"--single-branch"}} {
		t.Run(what, func(t *testing.T) {
			alone(t, "[user]\n\tname = Ada\n\temail = ada@example.org\n")
			there := gittest.New(t, map[string]string{"a": "a\n", "b/c": "c\n"})
			there.Write(map[string]string{"a": "second\n"})
			there.Commit("second")
			there.Git("config", "uploadpack.allowFilter", "true")
			there.Git("checkout", "-q", "--detach")
			here := gittest.At(t, t.TempDir())
			here.Git(append(append([]string{"clone", "-q"}, how...), "file://"+there.Dir, ".")...)
			// The branch is another one by now, on a commit that a clone without its history lacks.
			there.Git("checkout", "-q", "main")
			there.Git("reset", "-q", "--hard", "HEAD~1")
			there.Write(map[string]string{"a": "third\n"})
			third := there.Commit("third")
			there.Git("checkout", "-q", "--detach")

			s := git.NewRemotes(open(t, here, "", true))
			u, err := s.Upstream(t.Context(), "main")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Fetch(t.Context(), u); err != nil || got != third {
				t.Fatalf("fetched %q, %v", got, err)
			}
			if got := here.Git("rev-parse", "refs/remotes/origin/main"); got != third {
				t.Errorf("the remote's branch is remembered at %s", got)
			}
			tree := here.Git("rev-parse", third+"^{tree}")
			fourth := here.Git("commit-tree", "-m", "fourth", "-p", third, tree)
			if err := s.Push(t.Context(), u, fourth); err != nil {
				t.Fatal(err)
			}
			if there.Git("rev-parse", "main") != fourth || here.Git("rev-parse", "refs/remotes/origin/main") != fourth {
				t.Error("not pushed, or not remembered")
			}
			if left, _ := filepath.Glob(here.Path(".pawl/git/tmp/remote-*")); len(left) > 0 {
				t.Errorf("left behind: %s", strings.Join(left, " "))
			}
		})
	}
}
