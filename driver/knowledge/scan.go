package knowledge

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"pawl"
	"pawl/sandbox/safeopen"
	kb "pawl/text/knowledge"
)

// Walk calls visit for each file of a tree that is not ignored, with the open folder that it is in.
type Walk func(ctx context.Context, root *safeopen.Root,
	visit func(in *safeopen.Dir, rel string, d fs.DirEntry) error) error

// Limits of a scan.
const (
	maxSource  = 1 << 20 // bytes of a source file that are read
	maxModules = 300     // folders beyond which several are one module
	maxExports = 40
)

// languages are the endings of source files, with the name of the language and how what it exports is recognised.
var languages = map[string]language{
	".go": {name: "Go", read: readGo},
	".js": {"JavaScript", readScript}, ".mjs": {"JavaScript", readScript}, ".jsx": {"JavaScript",
		readScript}, ".cjs": {"JavaScript", readScript},
	".ts": {"TypeScript", readScript}, ".tsx": {"TypeScript", readScript}, ".vue": {"Vue",
		readScript}, ".svelte": {"Svelte", readScript},
	".py": {"Python", readPython}, ".rs": {"Rust", readRust}, ".java": {"Java", nil}, ".kt": {"Kotlin",
		nil}, ".scala": {"Scala", nil},
	".c": {"C", nil}, ".h": {"C", nil}, ".cc": {"C++", nil}, ".cpp": {"C++", nil}, ".hpp": {"C++", nil}, ".cs": {"C#",
		nil}, ".swift": {"Swift", nil},
	".rb": {"Ruby", nil}, ".php": {"PHP", nil}, ".dart": {"Dart", nil}, ".ex": {"Elixir", nil}, ".exs": {"Elixir",
		nil}, ".lua": {"Lua", nil},
	".sh": {"Shell", nil}, ".sql": {"SQL", nil}, ".zig": {"Zig", nil}, ".m": {"Objective-C", nil},
}

// manifests are files that name a tool, a framework or the project itself.
var manifests = []string{
	"go.mod", "package.json", "pyproject.toml", "requirements.txt", "Cargo.toml", "pom.xml", "build.gradle",
	"build.gradle.kts",
	"composer.json", "Gemfile", "pubspec.yaml", "CMakeLists.txt", "Makefile", "Dockerfile",
}

type language struct {
	name string
	read func(file source) facts
}

// source is one file of code.
type source struct {
	rel  string
	data []byte
}

// facts are what a file says of its module. Imports are names as the language writes them.
type facts struct {
	summary string
	exports []string
	imports []string
}

// folder gathers what the files of one folder say.
type folder struct {
	files   []string
	summary string
	exports []string
	imports []string
}

// Scan looks at the code of a workspace: its languages and tools, and its modules, which are the folders that source
// files lie in, with what they export and which others they use. It reads no more than the files that are not ignored.
// Progress, which may be nil, hears of each batch.
func Scan(ctx context.Context, workspace string, walk Walk, progress func(files int)) (kb.Project, error) {
	root, err := safeopen.OpenRoot(workspace)
	if err != nil {
		return kb.Project{}, err
	}
	defer root.Close()
	s := survey{folders: map[string]*folder{}, languages: map[string]int{}, manifests: map[string][]byte{},
		progress: progress}
	if err := walk(ctx, root, s.visit); err != nil {
		return kb.Project{}, err
	}
	if err := ctx.Err(); err != nil {
		return kb.Project{}, pawl.Fail(pawl.CodeCanceled, "orders.canceled").Because(err)
	}
	return s.project(path.Base(strings.ReplaceAll(workspace, "\\", "/"))), nil
}

// survey is one look at a tree.
type survey struct {
	folders   map[string]*folder
	languages map[string]int
	manifests map[string][]byte
	files     int
	lines     int
	progress  func(int)
}

// aside are folders that hold other people's code or what a tool made.
var aside = []string{"node_modules", "vendor", "third_party", "testdata", "dist", "build", "target", "helloagents",
	".pawl", ".git"}

func (s *survey) visit(in *safeopen.Dir, rel string, d fs.DirEntry) error {
	if slices.ContainsFunc(strings.Split(path.Dir(rel), "/"), func(p string) bool {
		return slices.Contains(aside, p) || strings.HasPrefix(p, "helloagents_backup_")
	}) {
		return nil
	}
	name := path.Base(rel)
	isManifest := slices.Contains(manifests, name) && strings.Count(rel, "/") < 3
	l, isSource := languages[strings.ToLower(path.Ext(name))]
	if !isManifest && !isSource {
		return nil
	}
	data, err := in.ReadFile(name, maxSource, nil)
	if err != nil {
		return nil // too large or gone: it says nothing
	}
	if isManifest {
		s.manifests[rel] = data
	}
	if !isSource || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return nil
	}
	s.files++
	s.lines += bytes.Count(data, []byte("\n"))
	s.languages[l.name]++
	f := s.folders[path.Dir(rel)]
	if f == nil {
		f = &folder{}
		s.folders[path.Dir(rel)] = f
	}
	f.files = append(f.files, rel)
	if l.read != nil {
		got := l.read(source{rel, data})
		if f.summary == "" {
			f.summary = got.summary
		}
		f.exports = append(f.exports, got.exports...)
		f.imports = append(f.imports, got.imports...)
	}
	if s.progress != nil && s.files%500 == 0 {
		s.progress(s.files)
	}
	return nil
}

// project puts together what was seen.
func (s *survey) project(name string) kb.Project {
	p := kb.Project{Name: name, SourceFiles: s.files, Lines: s.lines}
	goModule := ""
	p.Stack = s.stack(&p.Name, &goModule)
	grouped := s.grouped()
	at := map[string]string{} // folder of the code → module
	for dir, parts := range grouped {
		for _, part := range parts {
			at[part] = moduleName(dir, p.Name)
		}
	}
	for dir, parts := range grouped {
		m := kb.Module{Name: moduleName(dir, p.Name), Path: dir}
		if dir == "." {
			m.Path = ""
		}
		var uses []string
		slices.Sort(parts)
		for _, part := range parts {
			f := s.folders[part]
			if m.Summary == "" {
				m.Summary = f.summary
			}
			m.Files = append(m.Files, f.files...)
			m.Exports = append(m.Exports, f.exports...)
			for _, i := range f.imports {
				if to, ok := at[target(i, part, goModule)]; ok && to != m.Name {
					uses = append(uses, to)
				}
			}
		}
		slices.Sort(m.Files)
		m.Exports = limited(m.Exports, maxExports)
		m.Depends = limited(uses, maxExports)
		p.Modules = append(p.Modules, m)
	}
	slices.SortFunc(p.Modules, func(a, b kb.Module) int { return strings.Compare(a.Name, b.Name) })
	return p
}

func limited(list []string, most int) []string {
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), most)]
}

func moduleName(dir, project string) string {
	if dir == "." {
		return project
	}
	return dir
}

// grouped returns the folders by the module that they belong to. A tree of very many folders has modules of whole
// branches.
func (s *survey) grouped() map[string][]string {
	for depth := 8; ; depth-- {
		out := map[string][]string{}
		for dir := range s.folders {
			parts := strings.Split(dir, "/")
			top := strings.Join(parts[:min(len(parts), depth)], "/")
			out[top] = append(out[top], dir)
		}
		if len(out) <= maxModules || depth == 1 {
			return out
		}
	}
}

// target is the folder that an import is about, "" where it is none of the project's.
func target(imported, from, goModule string) string {
	switch {
	case strings.HasPrefix(imported, "./"), strings.HasPrefix(imported, "../"):
		return path.Join(from, imported)
	case goModule != "" && imported == goModule:
		return "."
	case goModule != "" && strings.HasPrefix(imported, goModule+"/"):
		return strings.TrimPrefix(imported, goModule+"/")
	}
	return strings.ReplaceAll(imported, ".", "/")
}
