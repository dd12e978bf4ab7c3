// Package cut finds the parts of a change that can be taken away one at a time, so that the rest still builds: the
// bodies of functions and plain values that were added or changed, and elsewhere the hunks of the change. It looks at
// texts alone; what it is not sure of it leaves out.
package cut

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Part is a part of a file. Without it, the text between From and To is With.
type Part struct {
	Path string
	// Line is where it begins, and Name that of the function or value, "" for a hunk.
	Line     int
	Name     string
	From, To int
	With     string
	// Other is With for a function that gives back something, of which nobody asked, in the place of nothing; "" where
	// that is not known.
	Other string
	// Blind says that a function has parameters and looks at none of them, so that it does the same for every caller.
	Blind bool
	// begins and ends are the lines of a function, from its first to behind its last.
	begins, ends int
}

// Parts finds the functions and values of a file that are not in the text that it had before.
func Parts(file, before, now string) []Part {
	var found []Part
	switch path.Ext(file) {
	case ".go":
		found = goParts(before, now)
	case ".py":
		found = pythonParts(before, now)
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		found = scriptParts(before, now)
	default:
		if lang, ok := typedLanguages[path.Ext(file)]; ok {
			found = typedParts(lang, before, now)
		}
	}
	for i := range found {
		found[i].Path = file
	}
	return found
}

// blind reports whether a function with these parameters looks at none of them, nor at what it belongs to.
func blind(parameters, body string) bool {
	own := []string{"self", "cls", "this", "arguments"}
	names, spoken := Names(parameters), Names(body)
	maps.DeleteFunc(names, func(n string, _ bool) bool { return slices.Contains(own, n) })
	sees := func(n string) bool { return spoken[n] }
	return len(names) > 0 && !slices.ContainsFunc(slices.Concat(own, slices.Collect(maps.Keys(names))), sees)
}

// Without returns a text without some of its parts, which do not overlap.
func Without(text string, parts ...Part) string {
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b Part) int { return b.From - a.From })
	for _, p := range parts {
		text = text[:p.From] + p.With + text[p.To:]
	}
	return text
}

// sources are the endings of files in which a hunk is a part of a program.
var sources = strings.Fields(`.go .py .js .mjs .cjs .jsx .ts .mts .cts .tsx .vue .svelte .rs .java .kt .scala .groovy
	.c .cc .cpp .cxx .h .hh .hpp .m .mm .cs .fs .rb .php .swift .dart .ex .exs .erl .hs .ml .clj .lua .pl .pm .r .jl
	.zig .nim .sh .bash .sql .html .css .scss`)

// IsSource reports whether a file is part of a program, by its ending.
func IsSource(file string) bool { return slices.Contains(sources, strings.ToLower(path.Ext(file))) }

// quiet matches lines whose absence says nothing: blank ones, comments, imports, lone brackets.
var quiet = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*$|^\s*(//|#|/\*|\*|--|"""|''')|` +
		`^\s*(import|from|use|using|package|require|include)\b|` +
		`^\s*(const|let|var)\b.*\brequire\(|^[\s(){}\[\];,]*$`)
})

// Hunks are the parts of a patch of one file, reversed: what it added goes, and what it removed comes back. Those that
// lie in functions that are parts already are left out, and so are those that say nothing.
func Hunks(patch *gitdiff.File, now string, functions []Part) []Part {
	if !IsSource(patch.NewName) || patch.IsBinary || patch.IsNew || patch.IsDelete {
		return nil
	}
	starts := lineStarts(now)
	var out []Part
	for _, f := range patch.TextFragments {
		line := int(f.NewPosition) // of the text now, from 1
		for i := 0; i < len(f.Lines); {
			if f.Lines[i].Op == gitdiff.OpContext {
				i, line = i+1, line+1
				continue
			}
			p := Part{Path: patch.NewName, Line: line}
			from := line
			speaks, within := false, true
			for ; i < len(f.Lines) && f.Lines[i].Op != gitdiff.OpContext; i++ {
				says := !quiet().MatchString(f.Lines[i].Line)
				speaks, within = speaks || says, within && (!says || inside(line, functions))
				if f.Lines[i].Op == gitdiff.OpAdd {
					line++
				} else {
					p.With += f.Lines[i].Line
				}
			}
			if line > len(starts) || !speaks || within {
				continue
			}
			p.From, p.To = starts[from-1], starts[line-1]
			out = append(out, p)
		}
	}
	return out
}

// inside reports whether a line lies in one of the functions.
func inside(line int, functions []Part) bool {
	return slices.ContainsFunc(functions, func(f Part) bool { return line >= f.begins && line < f.ends })
}

// lineStarts are the offsets of the lines of a text, and of its end.
func lineStarts(text string) []int {
	out := []int{0}
	for i := range len(text) {
		if text[i] == '\n' && i+1 < len(text) {
			out = append(out, i+1)
		}
	}
	return append(out, len(text))
}

// lineOf is the line of an offset, from 1.
func lineOf(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

// Words are the names and words of a text, in lower case and with a blank between: those that a name is made of
// (dryRun, dry_run, --dry-run) stand one by one.
func Words(text string) string {
	return strings.ToLower(strings.Join(word().FindAllString(text, -1), " "))
}

var word = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\p{Lu}+(?:\p{Ll}+)?|\p{Ll}+|\p{Lo}+|\p{N}+`)
})

// Names are the identifiers of a text.
func Names(text string) map[string]bool {
	out := map[string]bool{}
	for _, n := range name().FindAllString(text, -1) {
		out[n] = true
	}
	return out
}

var name = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*`) })

// Functions are those of a file, changed or not, each with its lines: from the first to behind the last.
func Functions(file, text string) (list []Part) {
	for _, p := range Parts(file, "", text) {
		if p.ends > p.begins {
			list = append(list, p)
		}
	}
	return list
}

// Has reports whether a line lies in a function.
func (p Part) Has(line int) bool { return line >= p.begins && line < p.ends }

// Fresh are the lines of a text that it had not before and that say something.
func Fresh(before, now string) []int {
	had := map[string]bool{}
	for line := range strings.Lines(before) {
		had[strings.TrimSpace(line)] = true
	}
	var out []int
	number := 0
	for line := range strings.Lines(now) {
		if number++; !had[strings.TrimSpace(line)] && !quiet().MatchString(strings.TrimRight(line, "\r\n")) {
			out = append(out, number)
		}
	}
	return out
}

// Added are the identifiers on the lines of a text that it had not before.
func Added(before, now string) map[string]bool {
	had := map[string]bool{}
	for line := range strings.Lines(before) {
		had[strings.TrimSpace(line)] = true
	}
	var fresh strings.Builder
	for line := range strings.Lines(now) {
		if !had[strings.TrimSpace(line)] {
			fresh.WriteString(line)
		}
	}
	return Names(fresh.String())
}
