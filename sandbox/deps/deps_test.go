package deps

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pawl/kernel/effect"
)

// scene is a workspace with a task's worktree in it.
type scene struct {
	t     *testing.T
	place effect.Place
	find  *Finder
}

func newScene(t *testing.T) *scene {
	t.Helper()
	ws, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(ws, ".pawl", "worktrees", "1")
	if err := os.MkdirAll(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	return &scene{t: t, place: effect.Place{Workspace: ws, Tree: tree}, find: &Finder{}}
}

// file writes a file; a text that begins with "-> " makes a link.
func (s *scene) file(dir, name, text string) {
	s.t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(p), 0o755)
	if to, ok := strings.CutPrefix(text, "-> "); ok {
		err = errors.Join(err, os.Symlink(to, p))
	} else {
		err = errors.Join(err, os.WriteFile(p, []byte(text), 0o644))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// mine writes files of the user's tree that git ignores, both those of both trees.
func (s *scene) mine(names ...string) {
	s.t.Helper()
	for _, n := range names {
		s.file(s.place.Workspace, n, "")
	}
}

func (s *scene) both(name, text string) {
	s.t.Helper()
	s.file(s.place.Workspace, name, text)
	s.file(s.place.Tree, name, text)
}

func (s *scene) found() Found {
	s.t.Helper()
	f, err := s.find.Find(context.Background(), s.place)
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

// want compares what is found, as "path state".
func (s *scene) want(what string, want ...string) Found {
	s.t.Helper()
	f := s.found()
	var got []string
	for _, d := range f.Folders {
		got = append(got, d.Path+" "+string(d.State))
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		s.t.Errorf("%s: found %s, want %s", what, strings.Join(got, ", "), strings.Join(want, ", "))
	}
	return f
}

const needsX = `{"dependencies":{"x":"1"}}`

func TestNodePackagesGoByTheLockFile(t *testing.T) {
	for _, lock := range nodeLocks {
		s := newScene(t)
		s.both("package.json", needsX)
		s.both(lock, "lock")
		s.mine("node_modules/x/index.js")
		f := s.want(lock, "node_modules used")
		if d := f.Folders[0]; d.Locks[0] != lock || d.Digest == "" ||
			d.From != filepath.Join(s.place.Workspace, "node_modules") {
			t.Errorf("%+v", d)
		}
		s.file(s.place.Tree, "package.json", `{"dependencies":{"y":"1"}}`)
		s.want(lock+": the lock file decides alone", "node_modules used")
		s.file(s.place.Tree, lock, "lock ")
		if f := s.want(lock+" differs", "node_modules changed"); len(f.Shown()) != 0 || len(f.Hidden()) != 1 {
			t.Errorf("%v %v", f.Shown(), f.Hidden())
		}
	}
}

func TestWithoutALockFileTheManifestDecides(t *testing.T) {
	s := newScene(t)
	s.both("package.json", needsX)
	s.mine("node_modules/x/index.js")
	s.want("the same", "node_modules used")
	s.file(s.place.Tree, "package.json", `{ "name":"n", "scripts":{"test":"x"}, "dependencies" : {"x":"1"} }`)
	s.want("other scripts", "node_modules used")
	s.file(s.place.Tree, "package.json", `{"dependencies":{"x":"2"}}`)
	s.want("another version", "node_modules changed")
	s.file(s.place.Tree, "package-lock.json", "{}")
	s.file(s.place.Tree, "package.json", needsX)
	s.want("a lock file of the worktree alone", "node_modules changed")
}

func TestPackagesOfAWorkspace(t *testing.T) {
	s := newScene(t)
	s.both("package.json", `{"workspaces":["libs/*/pkg","packages/**"]}`)
	s.both("package-lock.json", "{}")
	for _, p := range []string{"libs/a/pkg", "packages/b", "packages/deep/er/c", "other/x/y/z"} {
		s.both(p+"/package.json", needsX)
		s.mine(p + "/node_modules/x/index.js")
	}
	s.mine("node_modules/x/index.js")
	f := s.want("workspace", "libs/a/pkg/node_modules used", "node_modules used", "packages/b/node_modules used",
		"packages/deep/er/c/node_modules used")
	for _, d := range f.Folders {
		if d.Root != "" || strings.Join(d.Locks, " ") != "package-lock.json" {
			t.Errorf("%+v", d)
		}
	}
	// A package that the worktree does not have has no place for packages.
	if err := os.RemoveAll(filepath.Join(s.place.Tree, "packages", "b")); err != nil {
		t.Fatal(err)
	}
	for _, sh := range s.found().Shown() {
		if strings.Contains(sh.At, "packages/b") {
			t.Errorf("shown at %s", sh.At)
		}
	}
	// A nearer lock file decides for what is below it.
	s.file(s.place.Tree, "libs/a/pkg/yarn.lock", "")
	s.want("a nearer lock file", "libs/a/pkg/node_modules changed", "node_modules used", "packages/b/node_modules used",
		"packages/deep/er/c/node_modules used")
	pnpm := newScene(t)
	pnpm.both("pnpm-workspace.yaml", "packages:\n  - 'a/b/*/*'\n  - '!a/b/c/no'\n")
	pnpm.both("pnpm-lock.yaml", "")
	pnpm.mine("a/b/c/d/node_modules/x")
	pnpm.want("pnpm", "a/b/c/d/node_modules used")
}

// environment makes a virtual environment of the user's.
func (s *scene) environment(name string) {
	s.t.Helper()
	s.file(s.place.Workspace, name+"/pyvenv.cfg", "home = /usr/bin\n")
	s.file(s.place.Workspace, name+"/bin/python", "a program")
}

func TestVirtualEnvironments(t *testing.T) {
	for _, c := range []struct{ what, file, text, other, state string }{
		{"uv", "uv.lock", "a", "b", "changed"},
		{"poetry", "poetry.lock", "a", "b", "changed"},
		{"requirements", "requirements-dev.txt", "a", "b", "changed"},
		{"a folder of requirements", "requirements/test.txt", "a", "b", "changed"},
		{"dependencies", "pyproject.toml", "[project]\nname='n'\ndependencies = [\n  'a[b]>1',\n]\n",
			"[project]\nname='n'\ndependencies = [\n  'a[b]>2',\n]\n", "changed"},
		{"a group", "pyproject.toml", "[dependency-groups]\ndev=['a']\n", "[dependency-groups]\ndev=['b']\n",
			"changed"},
		{"poetry's dependencies", "pyproject.toml", "[tool.poetry.group.dev.dependencies]\na='1'\n",
			"[tool.poetry.group.dev.dependencies]\na='2'\n", "changed"},
		{"the name", "pyproject.toml", "[project]\nname='n'\nversion='1'\ndependencies=['a']\n",
			"[project]\nname='m'\nversion='2'\ndependencies=['a']\n", "used"},
		{"the settings of a tool", "pyproject.toml",
			"[project]\ndependencies=['a']\n[tool.pytest.ini_options]\naddopts='-q'\n",
			"[project]\ndependencies=['a']\n[tool.pytest.ini_options]\naddopts='-v'\n", "used"},
		{"setup.cfg", "setup.cfg", "[options]\ninstall_requires = a\n", "[options]\ninstall_requires = b\n", "changed"},
		{"nothing that decides", "README", "a", "b", "used"},
	} {
		s := newScene(t)
		s.environment(".venv")
		s.both(c.file, c.text)
		f := s.want(c.what, ".venv used")
		if venv := filepath.Join(s.place.Workspace, ".venv"); f.Environment() != venv ||
			strings.Join(f.Readable(), " ") != venv || len(f.Hidden()) != 0 {
			t.Errorf("%s: %q %v %v", c.what, f.Environment(), f.Readable(), f.Hidden())
		}
		s.file(s.place.Tree, c.file, c.other)
		s.want(c.what+" differs", ".venv "+c.state)
	}
	s := newScene(t)
	s.environment("env")
	s.environment("sub/venv")
	f := s.want("by any name", "env used", "sub/venv used")
	if f.Environment() != filepath.Join(s.place.Workspace, "env") {
		t.Error(f.Environment())
	}
	s.environment(".venv")
	if f := s.found(); f.Environment() != filepath.Join(s.place.Workspace, ".venv") {
		t.Error(f.Environment())
	}
}

// One that something in the worktree made is never searched for programs.
func TestAPlantedEnvironmentIsNone(t *testing.T) {
	s := newScene(t)
	s.file(s.place.Tree, ".venv/pyvenv.cfg", "home = /usr/bin\n")
	s.file(s.place.Tree, ".venv/bin/python3", "#!/bin/sh\n")
	f := s.want("planted")
	if _, ok := f.Program("python3"); ok || f.Environment() != "" {
		t.Errorf("%+v", f)
	}
	s.both("requirements.txt", "x\n")
	f = s.want("planted where one is missing", ".venv own")
	if _, ok := f.Program("python3"); ok || f.Environment() != "" || len(f.Shown())+len(f.Readable()) != 0 {
		t.Errorf("%+v", f)
	}
}

func TestAnInterpreterThatIsGone(t *testing.T) {
	s := newScene(t)
	s.file(s.place.Workspace, ".venv/pyvenv.cfg", "")
	s.file(s.place.Workspace, ".venv/bin/python", "-> /nowhere/python3.9")
	f := s.want("gone", ".venv foreign")
	if d := f.Folders[0]; !strings.Contains(d.Detail, "/nowhere/python3.9") {
		t.Errorf("%+v", d)
	}
}

func TestPackagesOfAnotherPlatform(t *testing.T) {
	cpu := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if cpu == "" {
		cpu = runtime.GOARCH
	}
	own := runtime.GOOS + "-" + cpu
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"react", "linux", "x64-tools"}, ""},
		{[]string{"@esbuild/" + own, "@esbuild/darwin-arm64"}, ""},
		{[]string{"@esbuild/aix-ppc64", "@esbuild/freebsd-arm64"}, "@esbuild/freebsd-arm64"},
		{[]string{"@rollup/rollup-" + own + "-gnu", "lightningcss-freebsd-arm64"}, "lightningcss-freebsd-arm64"},
		{[]string{"@img/sharp-" + own}, ""},
	} {
		if got := otherPlatform(c.names); got != c.want {
			t.Errorf("%v: %q, want %q", c.names, got, c.want)
		}
	}
	s := newScene(t)
	s.both("pnpm-lock.yaml", "")
	s.mine("node_modules/.pnpm/@esbuild+freebsd-arm64@0.19.0/node_modules/x", "node_modules/esbuild/x")
	f := s.want("pnpm", "node_modules foreign")
	if f.Folders[0].Detail != "@esbuild/freebsd-arm64" {
		t.Errorf("%+v", f.Folders)
	}
	// What is installed anew meanwhile is looked at anew.
	s.mine("node_modules/@esbuild/" + own + "/x")
	s.want("installed", "node_modules used")
}

func TestOtherEcosystems(t *testing.T) {
	for _, c := range []struct{ folder, beside, lock string }{
		{"vendor", "go.mod", "go.sum"}, {"vendor", "go.mod", "go.mod"}, {"vendor", "composer.json",
			"composer.lock"}, {"vendor/bundle", "Gemfile", "Gemfile.lock"},
		{"deps", "mix.exs", "mix.lock"}, {".dart_tool", "pubspec.yaml", "pubspec.lock"}, {"Pods", "Podfile",
			"Podfile.lock"},
	} {
		s := newScene(t)
		s.mine(c.folder + "/x/y")
		s.want(c.folder + " that may be anything")
		s.both(c.beside, "a")
		s.both(c.lock, "a")
		s.want(c.folder, c.folder+" used")
		s.file(s.place.Tree, c.lock, "b")
		s.want(c.folder+" of another "+c.lock, c.folder+" changed")
	}
}

func TestSettingsNameFurtherFolders(t *testing.T) {
	s := newScene(t)
	s.mine("tools/bin/x", "elsewhere/x")
	s.find.More = []string{"tools/bin", "gone", "../out", "/etc", ".", ".git", ".pawl/cache", "link"}
	s.file(s.place.Workspace, "link", "-> elsewhere")
	s.want("named", "link link", "tools/bin used")
}

func TestLinksAreNotFollowed(t *testing.T) {
	s := newScene(t)
	outside := t.TempDir()
	s.file(outside, "node_modules/x/index.js", "")
	s.file(outside, "pyvenv.cfg", "")
	s.both("package-lock.json", "{}")
	s.file(s.place.Workspace, "node_modules", "-> "+filepath.Join(outside, "node_modules"))
	s.file(s.place.Workspace, ".venv", "-> "+outside)
	s.file(s.place.Workspace, "sub", "-> "+outside)
	if f := s.want("links", ".venv link", "node_modules link"); len(f.Shown()) != 0 || f.Environment() != "" {
		t.Errorf("%+v", f)
	}
	// A lock file that is a link decides nothing, and a link above the place in the worktree keeps everything away from
	// it.
	s = newScene(t)
	s.both("package.json", needsX)
	s.file(outside, "package-lock.json", "{}")
	s.file(s.place.Workspace, "package-lock.json", "{}")
	s.file(s.place.Tree, "package-lock.json", "-> "+filepath.Join(outside, "package-lock.json"))
	s.mine("node_modules/x/index.js")
	s.want("a lock file that is a link", "node_modules changed")
	s = newScene(t)
	s.file(s.place.Workspace, "a/node_modules/x/index.js", "")
	s.file(s.place.Tree, "a", "-> "+outside)
	if f := s.found(); len(f.Shown()) != 0 {
		t.Errorf("%+v", f.Shown())
	}
}

func TestWhatIsTrackedIsThereAlready(t *testing.T) {
	s := newScene(t)
	s.mine("node_modules/x/index.js", "a/node_modules/x/index.js")
	s.find.Tracked = func(_ context.Context, _ effect.Place, paths []string) (map[string]bool, error) {
		return map[string]bool{"node_modules": true}, nil
	}
	s.want("tracked", "a/node_modules used")
	s.find.Tracked = func(context.Context, effect.Place, []string) (map[string]bool, error) {
		return nil, errors.New("no answer")
	}
	if _, err := s.find.Find(context.Background(), s.place); err == nil {
		t.Error("nobody knows what is tracked, and nobody said so")
	}
}

func TestMissingDependencies(t *testing.T) {
	s := newScene(t)
	s.both("package.json", needsX)
	s.both("sub/package.json", needsX)
	s.both("empty/package.json", "{}")
	s.both("py/requirements.txt", "# nothing\n")
	s.want("without a lock file", "node_modules missing", "sub/node_modules missing")
	s.both("package-lock.json", "{}")
	s.both("py/requirements.txt", "x==1\n")
	s.want("with one", "node_modules missing", "py/.venv missing")
	s.find.Activated = true
	s.want("in an environment elsewhere", "node_modules missing")
	s.file(s.place.Tree, "node_modules/own/index.js", "")
	if f := s.want("with packages of its own", "node_modules own"); len(f.Shown()) != 0 {
		t.Errorf("%+v", f)
	}
}

// TestPreparedThroughALink: a set that leads elsewhere, as an archive may bring one, shows nothing of that.
func TestPreparedThroughALink(t *testing.T) {
	s := newScene(t)
	s.both("package.json", needsX)
	s.both("package-lock.json", "one")
	missing := s.want("nothing yet", "node_modules missing").Folders[0]
	set, outside := missing.Set(s.place), t.TempDir()
	s.file(outside, "node_modules/key", "secret")
	s.file(set, "ready.json", `{"ecosystem":"npm","digest":"`+missing.Digest+`","folders":["node_modules"]}`)
	if err := os.Symlink(outside, filepath.Join(set, "tree")); err != nil {
		t.Fatal(err)
	}
	if f := s.want("a link", "node_modules missing"); len(f.Shown()) != 0 {
		t.Errorf("%+v", f.Shown())
	}
}

func TestPreparedDependencies(t *testing.T) {
	s := newScene(t)
	s.both("package.json", needsX)
	s.both("package-lock.json", "one")
	missing := s.want("nothing yet", "node_modules missing").Folders[0]
	set := missing.Set(s.place)
	s.file(set, "tree/node_modules/x/index.js", "")
	s.file(set, "tree/packages/a/node_modules/x/index.js", "")
	s.want("half done", "node_modules missing")
	s.file(set, "ready.json", `{"ecosystem":"npm","digest":"`+missing.Digest+
		`","folders":["node_modules","packages/a/node_modules","../out","gone"]}`)
	f := s.want("prepared", "node_modules prepared", "packages/a/node_modules prepared")
	if sh := f.Shown(); len(sh) != 1 || sh[0].From != filepath.Join(set, "tree", "node_modules") { // the tree has no packages/a
		t.Errorf("%+v", sh)
	}
	here := s.place
	here.Tree = here.Workspace
	if f, err := s.find.Find(context.Background(), here); err != nil || len(f.Shown()) != 1 ||
		f.Shown()[0].At != filepath.Join(here.Workspace, "node_modules") || len(f.Hidden()) != 0 {
		t.Errorf("in place: %+v %v", f, err)
	}
	s.file(s.place.Tree, "package-lock.json", "two")
	s.want("another lock file", "node_modules missing")
	// What was prepared for the worktree's lock file takes the place of what the user has for another.
	s.file(s.place.Tree, "package-lock.json", "one")
	s.file(s.place.Workspace, "package-lock.json", "two")
	s.mine("node_modules/x/index.js")
	s.want("for the worktree", "node_modules prepared", "packages/a/node_modules prepared")
}

func TestEditableInstallations(t *testing.T) {
	s := newScene(t)
	s.environment(".venv")
	site := ".venv/lib/python3.12/site-packages/"
	s.file(s.place.Workspace, site+"__editable__.app.pth", s.place.Workspace+"/src\n/elsewhere\nimport x\n")
	s.file(s.place.Workspace, site+"__editable___lib_finder.py", "MAPPING = {'lib': '"+s.place.Workspace+
		"/libs/lib', 'o': '/opt/o'}\n")
	got := strings.Join(s.found().Editable(), " ")
	if want := s.place.Tree + "/src " + s.place.Tree + "/libs"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestProgramsOfPackages(t *testing.T) {
	s := newScene(t)
	s.mine("node_modules/.bin/eslint")
	f := s.found()
	if p, ok := f.Program("eslint"); !ok || p != filepath.Join(s.place.Workspace, "node_modules", ".bin", "eslint") {
		t.Error(p, ok)
	}
	if _, ok := f.Program("../.bin/eslint"); ok {
		t.Error("a path is taken for a program")
	}
	if p, ok := f.Locate("node_modules/.bin/eslint"); !ok || !strings.HasPrefix(p, s.place.Workspace) {
		t.Error(p, ok)
	}
	if _, ok := f.Locate("node_modules2/x"); ok {
		t.Error("located elsewhere")
	}
}

// A workspace that is huge, or whose folders cannot be read, is looked at for a bounded time.
func TestALargeWorkspace(t *testing.T) {
	s := newScene(t)
	s.mine("node_modules/x/index.js")
	for i := range 60 {
		d := filepath.Join(s.place.Workspace, "d"+string(rune('a'+i%26)), "e"+strings.Repeat("x", i))
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	v := surveyor{root: s.place.Workspace, left: 30, seen: map[string]bool{}}
	v.walk("", surveyDepth)
	if v.left >= 0 || len(v.dirs) > 40 {
		t.Errorf("%d folders, %d left", len(v.dirs), v.left)
	}
	s.want("large", "node_modules used")
}
