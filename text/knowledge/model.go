package knowledge

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"unicode"
)

// The documents of a knowledge base, relative to its root.
const (
	IndexName     = "INDEX.md"
	ContextName   = "context.md"
	ChangelogName = "CHANGELOG.md"
	ModulesName   = "modules/_index.md"
	modulesFolder = "modules/"
)

// Limits of a large project, of a batch of modules and of a CHANGELOG in one file
// (docs/spec/workflow.md#large-projects).
const (
	LargeFiles   = 500
	LargeLines   = 50_000
	LargeModules = 30
	BatchSize    = 20
	MaxEntries   = 200
)

// Project is what a scan found. Its texts are plain text; names and paths are as in the code, paths with slashes.
type Project struct {
	Name string
	// Stack names languages, frameworks and tools, with versions where they are known.
	Stack   []string
	Modules []Module
	// SourceFiles and Lines count the whole project.
	SourceFiles, Lines int
}

// Module is a unit of the project's code.
type Module struct {
	Name    string
	Path    string
	Summary string
	Files   []string
	Exports []string
	// Depends holds names of modules.
	Depends []string
}

// Large reports whether the project is handled in batches: more than 500 source files, 50,000 lines or 30 modules.
func (p Project) Large() bool {
	return p.SourceFiles > LargeFiles || p.Lines > LargeLines || len(p.Modules) > LargeModules
}

// Batches returns the modules by name, at most 20 in a batch.
func (p Project) Batches() [][]Module {
	return slices.Collect(slices.Chunk(sorted(p.Modules), BatchSize))
}

// sorted returns the modules by name and path, each in the form in which a document gives it back.
func sorted(list []Module) []Module {
	out := make([]Module, 0, len(list))
	for _, m := range list {
		out = append(out, m.normal())
	}
	slices.SortStableFunc(out, func(a, b Module) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Path, b.Path))
	})
	return slices.CompactFunc(out, func(a, b Module) bool { return a.Name == b.Name && a.Path == b.Path })
}

// normal returns the module with every text on one line and every list in order without repetition.
func (m Module) normal() Module {
	m.Name, m.Path, m.Summary = oneLine(m.Name), oneLine(m.Path), oneLine(m.Summary)
	m.Files, m.Exports, m.Depends = tidy(m.Files), tidy(m.Exports), tidy(m.Depends)
	return m
}

func tidy(list []string) []string {
	var out []string
	for _, s := range list {
		if s = oneLine(s); s != "" {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ModuleFiles returns the documents of modules, in the same order. The name of a document is that of its module, made
// fit for every file system; modules that would share one have a digest of name and path in it, so that a document is
// never that of two.
func ModuleFiles(list []Module) []string {
	names := make([]string, len(list))
	count := map[string]int{"_index": 1, "": 1}
	for i, m := range list {
		names[i] = slug(m.Name)
		count[strings.ToLower(names[i])]++
	}
	taken := map[string]bool{}
	for i, m := range list {
		if count[strings.ToLower(names[i])] > 1 || reserved(names[i]) || changedByClip(m.Name) {
			names[i] = strings.Trim(fmt.Sprintf("%s-%08x", names[i],
				crc32.ChecksumIEEE([]byte(oneLine(m.Name)+"\x00"+oneLine(m.Path)))), "-")
		}
		for stem, n := names[i], 2; taken[strings.ToLower(names[i])]; n++ {
			names[i] = fmt.Sprintf("%s-%d", stem, n)
		}
		taken[strings.ToLower(names[i])] = true
		names[i] = modulesFolder + names[i] + ".md"
	}
	return names
}

const maxSlug = 60

// slug makes a name that is safe in a path and in a link.
func slug(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range oneLine(s) {
		if n++; n > maxSlug {
			break
		}
		switch {
		case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)), r == '_', r == '.', unicode.Is(unicode.Han, r):
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-.")
}

func changedByClip(s string) bool { return len([]rune(oneLine(s))) > maxSlug }

// reserved reports whether some file systems give the name a meaning of its own.
func reserved(s string) bool {
	s, _, _ = strings.Cut(strings.ToLower(s), ".")
	switch s {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(s) == 4 && (strings.HasPrefix(s, "com") || strings.HasPrefix(s, "lpt")) && s[3] >= '0' && s[3] <= '9'
}

func isModule(name string) bool {
	rest, ok := strings.CutPrefix(name, modulesFolder)
	return ok && strings.HasSuffix(rest, ".md") && !strings.Contains(rest, "/") && name != ModulesName
}
