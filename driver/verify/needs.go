package verify

import (
	"encoding/json"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"pawl/kernel/effect"
)

// maxNamed is the number of missing packages that a need names; the others are counted.
const maxNamed = 5

// pantry says what the checks of a tree need that is not on this machine. It looks at files alone: nothing is run,
// nothing is fetched. What cannot be told from files is taken for there, so that nobody is sent to fetch what they
// have.
type pantry struct {
	*scan
	host  Host
	place effect.Place
	base  string // the folder that the scan is of
}

// needs asks the ecosystem of a folder for what is missing.
func (p *pantry) needs(ecosystem string, d *folder) []effect.Need {
	look := map[string]func(*folder) (missing []string, command string){
		"go": p.goModules, "node": p.nodePackages, "python": p.pythonPackages, "rust": p.crates, "php": p.phpPackages,
		"dart": p.dartPackages,
	}[ecosystem]
	if look == nil {
		return nil
	}
	missing, command := look(d)
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	return []effect.Need{{Ecosystem: ecosystem, Dir: d.rel, Missing: missing[:min(len(missing), maxNamed)],
		Count: len(missing), Command: command}}
}

// there reports whether something stands at a path below a folder of the tree; where a link leads is not asked.
func (p *pantry) there(d *folder, name string) bool {
	_, err := os.Lstat(filepath.Join(p.base, filepath.FromSlash(d.rel), filepath.FromSlash(name)))
	return err == nil
}

// goModules lists the modules that packages of a module import and that are in no module cache. Only what go.mod
// requires directly is looked for, because no more can be told without the modules themselves; and only what files that
// are built here import counts, because a module for another system or for tools alone is rarely there.
func (p *pantry) goModules(d *folder) ([]string, string) {
	if p.there(d, "vendor/modules.txt") {
		return nil, ""
	}
	mod, err := modfile.Parse("go.mod", []byte(d.text("go.mod")), nil)
	if err != nil {
		return nil, ""
	}
	caches := p.moduleCaches()
	absent := map[string]string{} // path → how it is named
	for _, r := range mod.Require {
		if at := replaced(mod, r.Mod); !r.Indirect && at.Version != "" && !cached(caches, at) {
			absent[r.Mod.Path] = at.String()
		}
	}
	if len(absent) == 0 {
		return nil, ""
	}
	var out []string
	for _, m := range p.imported(d, absent) {
		out = append(out, absent[m])
	}
	return out, "go mod download"
}

// replaced is the module that stands for another one; it has no version where it is a folder.
func replaced(f *modfile.File, m module.Version) module.Version {
	for _, r := range f.Replace {
		if r.Old.Path == m.Path && (r.Old.Version == "" || r.Old.Version == m.Version) {
			return r.New
		}
	}
	return m
}

// moduleCaches are the folders in which the checks find Go modules.
func (p *pantry) moduleCaches() []string {
	out := []string{p.place.Own(fetched)}
	for _, dir := range []string{p.host.getenv("GOMODCACHE"), p.host.goModCache()} {
		if dir != "" {
			return append(out, dir)
		}
	}
	return append(out, filepath.Join(p.host.Home, "go", "pkg", "mod"))
}

func cached(caches []string, m module.Version) bool {
	name, err := module.EscapePath(m.Path)
	version, flaw := module.EscapeVersion(m.Version)
	if err != nil || flaw != nil {
		return true
	}
	name = filepath.FromSlash(name)
	return slices.ContainsFunc(caches, func(dir string) bool {
		return isDir(filepath.Join(dir, name+"@"+version)) ||
			isFile(filepath.Join(dir, "cache", "download", name, "@v", version+".zip"))
	})
}

// imported returns those of the modules that a package of the folder's own module imports in a file that is built here.
func (p *pantry) imported(d *folder, modules map[string]string) []string {
	context := gobuild.Default
	context.JoinPath = path.Join
	context.OpenFile = func(name string) (io.ReadCloser, error) { return openRegular(p.tree, name) }
	var found []string
	top := path.Join(".", d.rel)
	_ = fs.WalkDir(p.tree, top, func(name string, e fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return fs.SkipDir
		case e.IsDir() && name != top:
			_, nested := fs.Stat(p.tree, path.Join(name, "go.mod"))
			if nested == nil || base == "vendor" || base == "testdata" || base == "node_modules" ||
				strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return fs.SkipDir
			}
			return nil
		case !e.Type().IsRegular() || !strings.HasSuffix(base, ".go"):
			return nil
		case len(found) == len(modules):
			return fs.SkipAll
		}
		if built, err := context.MatchFile(path.Dir(name), base); err != nil || !built {
			return nil
		}
		for _, imported := range importsOf(p.tree, name) {
			if m := owner(modules, imported); m != "" && !slices.Contains(found, m) {
				found = append(found, m)
			}
		}
		return nil
	})
	return found
}

// importsOf returns the import paths of a Go file; a file that cannot be read or parsed imports nothing.
func importsOf(tree fs.FS, name string) []string {
	src, err := readLimited(tree, name, maxMarker)
	if err != nil {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	var out []string
	for _, i := range f.Imports {
		out = append(out, strings.Trim(i.Path.Value, "\"`"))
	}
	return out
}

// owner is the module with the longest path that a package belongs to, or "".
func owner(modules map[string]string, pkg string) string {
	best := ""
	for m := range modules {
		if (pkg == m || strings.HasPrefix(pkg, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	return best
}

// nodePackages lists the packages of a package.json that are in no node_modules of the folder or of one above it.
func (p *pantry) nodePackages(d *folder) ([]string, string) {
	var m manifest
	if json.Unmarshal([]byte(d.text("package.json")), &m) != nil {
		return nil, ""
	}
	for up := d; up != nil; up = up.parent {
		if up.anyFile(".pnp.cjs", ".pnp.js", ".pnp.loader.mjs") != "" {
			return nil, "" // packages are kept elsewhere, and found by that file
		}
	}
	var out []string
	for _, list := range []map[string]json.RawMessage{m.Dependencies, m.DevDependencies} {
		for name := range list {
			if fs.ValidPath(name) && !p.nodeHas(d, name) {
				out = append(out, name)
			}
		}
	}
	return out, nodeInstall(d)
}

func (p *pantry) nodeHas(d *folder, name string) bool {
	for up := d; up != nil; up = up.parent {
		if p.there(up, "node_modules/"+name) {
			return true
		}
	}
	return false
}

// nodeInstall is the command that installs what the lock file says, and nothing else.
func nodeInstall(d *folder) string {
	locked := false
	for up := d; up != nil; up = up.parent {
		locked = locked || up.anyFile("package-lock.json", "npm-shrinkwrap.json") != ""
	}
	switch manager := nodeManager(d); {
	case manager == "pnpm", manager == "yarn":
		return manager + " install --frozen-lockfile"
	case manager == "bun":
		return "bun install --frozen-lockfile"
	case locked:
		return "npm ci"
	}
	return "npm install"
}

// pythonPackages lists what a project requires that is in no environment which its python could be of.
func (p *pantry) pythonPackages(d *folder) ([]string, string) {
	required := pythonRequired(d)
	if usesPytest(d, d.text("pyproject.toml"), d.text("setup.cfg")) {
		required = append(required, "pytest")
	}
	if len(required) == 0 {
		return nil, ""
	}
	installed, ok := p.pythonInstalled(d)
	if !ok {
		return nil, ""
	}
	var out []string
	for _, name := range required {
		if !installed[pythonName(name)] {
			out = append(out, name)
		}
	}
	return out, p.pythonInstall(d)
}

// pythonInstall is the command that makes the project's environment whole.
func (p *pantry) pythonInstall(d *folder) string {
	for _, row := range [][2]string{{"uv.lock", "uv sync"}, {"poetry.lock", "poetry install"}, {"pdm.lock", "pdm sync"},
		{"Pipfile", "pipenv install --dev"}} {
		if d.file(row[0]) {
			return row[1]
		}
	}
	what := ""
	for _, name := range []string{"requirements.txt", "requirements-dev.txt", "requirements-test.txt",
		"test-requirements.txt"} {
		if d.file(name) {
			what += " -r " + name
		}
	}
	if what == "" {
		what = " -e ."
	}
	if usesPytest(d, d.text("pyproject.toml"), d.text("setup.cfg")) && !slices.Contains(pythonRequired(d), "pytest") {
		what = " pytest" + what
	}
	install := ".venv/bin/pip install" + what
	if !p.there(d, ".venv/pyvenv.cfg") {
		install = "python3 -m venv .venv && " + install
	}
	return install
}

var (
	// pythonLine is a requirement without a marker, an option or an address.
	pythonLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*(?:[=<>!~][^;@]*)?$`)
	})
	pythonTable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?ms)^\[project\]\s*$(.*?)(?:^\[|\z)`)
	})
	pythonList   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?ms)^dependencies\s*=\s*\[(.*?)^?\s*\]\s*$`) })
	pythonQuoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"\n]*)"|'([^'\n]*)'`) })
	pythonSign   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-_.]+`) })
)

// pythonName is a name as all spellings of it are compared.
func pythonName(name string) string {
	return strings.ToLower(pythonSign().ReplaceAllString(name, "-"))
}

// pythonRequired lists the packages that a project requires whatever the machine is.
func pythonRequired(d *folder) []string {
	var out []string
	add := func(line string) {
		line, _, _ = strings.Cut(line, " #")
		if m := pythonLine().FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			out = append(out, m[1])
		}
	}
	for _, name := range []string{"requirements.txt", "requirements-dev.txt", "requirements-test.txt",
		"test-requirements.txt"} {
		for line := range strings.Lines(d.text(name)) {
			add(line)
		}
	}
	if table := pythonTable().FindStringSubmatch(d.text("pyproject.toml")); table != nil {
		if list := pythonList().FindStringSubmatch(table[1]); list != nil {
			for _, m := range pythonQuoted().FindAllStringSubmatch(list[1], -1) {
				add(m[1] + m[2])
			}
		}
	}
	return out
}

// pythonInstalled lists the packages of every environment that the project's python could be of. It is false where none
// is found, so that nothing can be told.
func (p *pantry) pythonInstalled(d *folder) (map[string]bool, bool) {
	var prefixes []string
	for _, base := range []string{filepath.Join(p.base, filepath.FromSlash(d.rel)), p.place.Tree, p.place.Workspace} {
		if base != "" {
			prefixes = append(prefixes, filepath.Join(base, ".venv"), filepath.Join(base, "venv"))
		}
	}
	for _, program := range []string{"python3", "python"} {
		where, ok := p.look(program)
		if !ok {
			continue
		}
		prefixes = append(prefixes, filepath.Dir(filepath.Dir(where)))
		if real, err := filepath.EvalSymlinks(where); err == nil {
			prefixes = append(prefixes, filepath.Dir(filepath.Dir(real)))
		}
	}
	if p.host.Home != "" {
		versions, _ := filepath.Glob(filepath.Join(p.host.Home, ".pyenv", "versions", "*"))
		prefixes = append(append(prefixes, filepath.Join(p.host.Home, ".local")), versions...)
	}
	if slices.Contains(prefixes, "/usr") {
		prefixes = append(prefixes, "/usr/local") // where the system's python finds what pip has installed
	}
	out, found := map[string]bool{}, false
	slices.Sort(prefixes)
	for _, prefix := range slices.Compact(prefixes) {
		for _, form := range []string{"lib/python3*/site-packages", "lib/python3*/dist-packages",
			"lib64/python3*/site-packages"} {
			folders, _ := filepath.Glob(filepath.Join(prefix, filepath.FromSlash(form)))
			for _, dir := range folders {
				found = true
				entries, _ := os.ReadDir(dir)
				for _, e := range entries {
					stem, _, _ := strings.Cut(e.Name(), "-")
					if ext := filepath.Ext(e.Name()); ext == ".dist-info" || ext == ".egg-info" || ext == ".egg-link" {
						out[pythonName(strings.TrimSuffix(stem, ext))] = true
					}
				}
			}
		}
	}
	return out, found
}

var (
	cratePackage = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\[\[package\]\]\nname = "([^"\n]+)"\nversion = "([^"\n]+)"\nsource = "registry\+`)
	})
	crateTable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\[(dependencies|dev-dependencies|build-dependencies|workspace\.dependencies)(?:\.([\w-]+))?\]\s*$`)
	})
	crateKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^([\w-]+)\s*(?:\.workspace\s*)?=(.*)$`) })
)

// crates lists the packages of a lock file that the manifests near it name and that cargo has not fetched. Those that
// only these bring along, or only another system, are not looked for.
func (p *pantry) crates(d *folder) ([]string, string) {
	if strings.Contains(p.read(d, ".cargo/config.toml")+p.read(d, ".cargo/config"), "replace-with") ||
		!d.file("Cargo.lock") {
		return nil, ""
	}
	home := p.host.getenv("CARGO_HOME")
	if home == "" && p.host.Home != "" {
		home = filepath.Join(p.host.Home, ".cargo")
	}
	registries, _ := filepath.Glob(filepath.Join(home, "registry", "*", "*"))
	named := p.crateNames(d)
	var out []string
	for _, m := range cratePackage().FindAllStringSubmatch(strings.ReplaceAll(d.text("Cargo.lock"), "\r", ""), -1) {
		stem := m[1] + "-" + m[2]
		if !named[m[1]] || !filepath.IsLocal(stem) {
			continue
		}
		if !slices.ContainsFunc(registries, func(dir string) bool {
			return isFile(filepath.Join(dir, stem+".crate")) || isDir(filepath.Join(dir, stem))
		}) {
			out = append(out, m[1]+" "+m[2])
		}
	}
	return out, "cargo fetch --locked"
}

// read returns a file of a folder that the survey does not list, as one below a folder with a dot in front.
func (p *pantry) read(d *folder, name string) string {
	b, err := readLimited(p.tree, path.Join(d.rel, name), maxMarker)
	if err != nil {
		return ""
	}
	return string(b)
}

// crateNames are the packages that the manifests of a folder and of those below it depend on whatever the machine is.
func (p *pantry) crateNames(d *folder) map[string]bool {
	out := map[string]bool{}
	for _, f := range p.folders {
		if f != d && !strings.HasPrefix(f.rel, d.rel) {
			continue
		}
		text := f.text("Cargo.toml")
		for _, at := range crateTable().FindAllStringSubmatchIndex(text, -1) {
			body, _, _ := strings.Cut(text[at[1]:], "\n[")
			if at[4] >= 0 {
				if !strings.Contains(body, "optional = true") {
					out[text[at[4]:at[5]]] = true
				}
				continue
			}
			for _, m := range crateKey().FindAllStringSubmatch(body, -1) {
				if !strings.Contains(m[2], "optional = true") && !strings.Contains(m[2], "package =") {
					out[m[1]] = true
				}
			}
		}
	}
	return out
}

// phpPackages asks for Composer's autoloader, without which nothing of a project with requirements runs.
func (p *pantry) phpPackages(d *folder) ([]string, string) {
	var m struct {
		Require    map[string]json.RawMessage `json:"require"`
		RequireDev map[string]json.RawMessage `json:"require-dev"`
	}
	if json.Unmarshal([]byte(d.text("composer.json")), &m) != nil || p.there(d, "vendor/autoload.php") {
		return nil, ""
	}
	var out []string
	for _, list := range []map[string]json.RawMessage{m.Require, m.RequireDev} {
		for name := range list {
			if strings.Contains(name, "/") { // php itself and its extensions are no packages
				out = append(out, name)
			}
		}
	}
	return out, "composer install"
}

// dartPackages asks for the file in which pub says where the packages are.
func (p *pantry) dartPackages(d *folder) ([]string, string) {
	if p.there(d, ".dart_tool/package_config.json") {
		return nil, ""
	}
	tool := "dart"
	if flutterSDK().MatchString(d.text("pubspec.yaml")) {
		tool = "flutter"
	}
	return []string{".dart_tool/package_config.json"}, tool + " pub get"
}
