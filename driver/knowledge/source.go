package knowledge

import (
	"encoding/json"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pawl/text/pattern"
)

// readGo reads a file of Go: what the package comment says, what is exported, and what is imported.
func readGo(s source) facts {
	var f facts
	if strings.HasSuffix(s.rel, "_test.go") {
		return f
	}
	file, err := parser.ParseFile(token.NewFileSet(), s.rel, s.data, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil || err != nil && file.Name == nil {
		return f
	}
	if file.Doc != nil {
		f.summary = new(doc.Package).Synopsis(file.Doc.Text())
	}
	for _, i := range file.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			f.imports = append(f.imports, p)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				f.exports = append(f.exports, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && t.Name.IsExported() {
					f.exports = append(f.exports, t.Name.Name)
				}
			}
		}
	}
	return f
}

var (
	scriptExport = pattern.New(`(?m)^export\s+(?:default\s+)?(?:async\s+)?(?:function\*?|class|const|let|var|interface|type|enum)\s+([A-Za-z_$][\w$]*)`)
	scriptImport = pattern.New(`(?m)(?:^import\b[^'"\n]*|\bfrom\s+|\brequire\()\s*['"](\.{1,2}/[^'"\n]+)['"]`)
	pythonDef    = pattern.New(`(?m)^(?:async\s+)?(?:def|class)\s+([A-Za-z][\w]*)`)
	pythonImport = pattern.New(`(?m)^(?:from\s+([\w.]+)\s+import|import\s+([\w.]+))`)
	pythonDoc    = pattern.New(`^(?:#[^\n]*\n|\s)*(?:"""|''')\s*([^\n"']+)`)
	rustExport   = pattern.New(`(?m)^pub\s+(?:async\s+)?(?:unsafe\s+)?(?:fn|struct|enum|trait|type|const)\s+([A-Za-z_]\w*)`)
	rustDoc      = pattern.New(`(?m)\A(?:\s*)//!\s*(.+)$`)
)

func firsts(form *regexp.Regexp, data []byte) []string {
	var out []string
	for _, m := range form.FindAllSubmatch(data, 400) {
		for _, g := range m[1:] {
			if len(g) > 0 {
				out = append(out, string(g))
				break
			}
		}
	}
	return out
}

func readScript(s source) facts {
	f := facts{exports: firsts(scriptExport.Get(), s.data)}
	for _, i := range firsts(scriptImport.Get(), s.data) {
		// A file is imported by its name or by that of its folder; both lead to the folder or the one above.
		f.imports = append(f.imports, i, "./"+path.Dir(i))
	}
	return f
}

func readPython(s source) facts {
	f := facts{exports: firsts(pythonDef.Get(), s.data)}
	for _, i := range firsts(pythonImport.Get(), s.data) {
		f.imports = append(f.imports, i)
		if up := strings.LastIndexByte(i, '.'); up > 0 {
			f.imports = append(f.imports, i[:up])
		}
	}
	if path.Base(s.rel) == "__init__.py" {
		if m := pythonDoc.Get().FindSubmatch(s.data); m != nil {
			f.summary = strings.TrimSpace(string(m[1]))
		}
	}
	return f
}

func readRust(s source) facts {
	f := facts{exports: firsts(rustExport.Get(), s.data)}
	if m := rustDoc.Get().FindSubmatch(s.data); m != nil {
		f.summary = strings.TrimSpace(string(m[1]))
	}
	return f
}

// frameworks are packages that say what a project is built with, where one of its manifests names them.
var frameworks = map[string]string{
	"react": "React", "vue": "Vue", "svelte": "Svelte", "@angular/core": "Angular", "next": "Next.js", "nuxt": "Nuxt",
	"express": "Express",
	"fastify": "Fastify", "@nestjs/core": "NestJS", "vite": "Vite", "webpack": "webpack", "typescript": "TypeScript",
	"jest": "Jest", "vitest": "Vitest",
	"django": "Django", "flask": "Flask", "fastapi": "FastAPI", "pytest": "pytest", "sqlalchemy": "SQLAlchemy",
	"numpy": "NumPy", "pandas": "pandas", "torch": "PyTorch",
	"tokio": "Tokio", "axum": "Axum", "actix-web": "Actix Web", "serde": "Serde",
	"github.com/gin-gonic/gin": "Gin", "github.com/spf13/cobra": "Cobra", "github.com/labstack/echo/v4": "Echo",
	"google.golang.org/grpc": "gRPC", "gorm.io/gorm": "GORM",
}

// tools are those that a manifest belongs to whose content says no more.
var tools = map[string]string{
	"Makefile": "Make", "Dockerfile": "Docker", "CMakeLists.txt": "CMake", "pom.xml": "Maven", "build.gradle": "Gradle",
	"build.gradle.kts": "Gradle",
	"composer.json":    "Composer", "Gemfile": "Bundler",
}

// stack names the languages, the one with most files first, then tools and frameworks. It finds the project's own name,
// too.
func (s *survey) stack(name, goModule *string) []string {
	var out []string
	langs := slices.SortedFunc(maps.Keys(s.languages), func(a, b string) int {
		if n := s.languages[b] - s.languages[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	out = append(out, langs...)
	var more []string
	for _, rel := range slices.Sorted(maps.Keys(s.manifests)) {
		data := s.manifests[rel]
		switch path.Base(rel) {
		case "go.mod":
			if m := goMod.Get().FindSubmatch(data); m != nil && rel == "go.mod" {
				*goModule = string(m[1])
				*name = path.Base(*goModule)
			}
			if m := goVersion.Get().FindSubmatch(data); m != nil && len(out) > 0 {
				for i := range out {
					if out[i] == "Go" {
						out[i] = "Go " + string(m[1])
					}
				}
			}
			more = append(more, named(firsts(goRequire.Get(), data))...)
		case "package.json":
			var p struct {
				Name                          string
				Dependencies, DevDependencies map[string]string
			}
			if json.Unmarshal(data, &p) == nil {
				if rel == "package.json" && p.Name != "" {
					*name = p.Name
				}
				more = append(more, "npm")
				more = append(more, named(slices.Concat(slices.Sorted(maps.Keys(p.Dependencies)),
					slices.Sorted(maps.Keys(p.DevDependencies))))...)
			}
		case "pyproject.toml", "requirements.txt", "Cargo.toml":
			more = append(more, named(firsts(requirement.Get(), data))...)
		default:
			if tool := tools[path.Base(rel)]; tool != "" {
				more = append(more, tool)
			}
		}
	}
	return append(out, limited(more, maxExports)...)
}

var (
	goMod       = pattern.New(`(?m)^module\s+(\S+)`)
	goVersion   = pattern.New(`(?m)^go\s+(\d[\w.]*)`)
	goRequire   = pattern.New(`(?m)^(?:require)?\s+([\w.-]+\.[\w.-]+/\S+)\s+v`)
	requirement = pattern.New(`(?m)^\s*["']?([A-Za-z][\w-]*)`)
)

func named(packages []string) []string {
	var out []string
	for _, p := range packages {
		if n, ok := frameworks[strings.ToLower(p)]; ok {
			out = append(out, n)
		}
	}
	return out
}
