package knowledge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/text/solution"
)

// Scan is what documents are made of and how.
type Scan struct {
	Project  Project
	At       time.Time
	Language Language
	// Rebuild writes a document that cannot be read anew. What it was is in the result, too, under a name that is free:
	// the document's with .old behind it, or .old2 and so on.
	Rebuild bool
}

// Update returns the documents that a batch of modules changes, by path relative to the root of the knowledge base; old
// holds those that there are. Batches count from 0, as Project.Batches has them, and each is whole by itself, so that
// after a crash the same batch is made again. The last one holds modules/_index.md, context.md and INDEX.md, too,
// because they speak of all modules; a project without modules has one batch. Documents of modules that are gone stay,
// and Audit tells of them.
//
// Documents that say already what the code says are not in the result, so that a repeated scan changes nothing. A
// document that cannot be read is an error without Rebuild, CodeInvalid, and nothing is made; a batch that is not there
// is CodeInternal.
func Update(s Scan, old map[string][]byte, batch int) (map[string]string, error) {
	all := sorted(s.Project.Modules)
	last := max(1, (len(all)+BatchSize-1)/BatchSize) - 1
	if batch < 0 || batch > last {
		return nil, pawl.Fail(pawl.CodeInternal, "knowledge.no_batch", batch, last).In("knowledge.Update")
	}
	out := map[string]string{}
	files := ModuleFiles(all)
	for i := batch * BatchSize; i < min(len(all), (batch+1)*BatchSize); i++ {
		if err := s.changed(out, old, files[i],
			func(data []byte) (string, error) { return UpdateModule(files[i], data, all[i], s.Language) }); err != nil {
			return nil, err
		}
	}
	if batch < last {
		return out, nil
	}
	p := s.Project
	err := s.changed(out, old, ModulesName,
		func(data []byte) (string, error) { return UpdateModules(data, all, s.Language) })
	if err != nil {
		return nil, err
	}
	c := contextOf(p)
	if err := s.changed(out, old, ContextName,
		func(data []byte) (string, error) { return UpdateContext(data, c, s.Language) }); err != nil {
		return nil, err
	}
	x := Index{Project: oneLine(p.Name), Modules: len(all), Updated: s.At}
	if was, err := ReadIndex(old[IndexName]); err == nil && len(out) == 0 && was.Project == x.Project &&
		was.Modules == x.Modules {
		return out, nil
	}
	if err := s.changed(out, old, IndexName,
		func(data []byte) (string, error) { return UpdateIndex(data, x, s.Language) }); err != nil {
		return nil, err
	}
	return out, nil
}

func contextOf(p Project) Context {
	return Context{Project: oneLine(p.Name), Stack: tidy(p.Stack), SourceFiles: max(0, p.SourceFiles),
		Lines: max(0, p.Lines), Large: p.Large()}
}

// changed puts a document into out where it differs from the old one.
func (s Scan) changed(out map[string]string, old map[string][]byte, name string,
	render func([]byte) (string, error)) error {
	doc, err := render(old[name])
	if err != nil && s.Rebuild {
		aside := name + ".old"
		for n := 2; old[aside] != nil && string(old[aside]) != string(old[name]); n++ {
			aside = fmt.Sprintf("%s.old%d", name, n)
		}
		out[aside] = string(old[name])
		doc, err = render(nil)
	}
	if err != nil {
		return err
	}
	if was, ok := old[name]; !ok || doc != string(was) {
		out[name] = doc
	}
	return nil
}

// Audit compares the documents with the code, and takes the code for the truth. It tells, too, of what keeps a
// CHANGELOG from growing. The findings are in the order of the documents' names.
func Audit(s Scan, files map[string][]byte) []pawl.Problem {
	_, out := Judge(files)
	all := sorted(s.Project.Modules)
	names := ModuleFiles(all)
	out = append(out, auditIndex(s, all, files)...)
	out = append(out, auditLog(files)...)
	for i, m := range all {
		data, ok := files[names[i]]
		doc, err := ReadModule(names[i], data)
		switch {
		case ok && err != nil: // Judge tells of it where the index names the module
			if f, is := findingOf(err); is {
				out = append(out, f)
			}
		case !ok:
			out = append(out, pawl.Problem{File: names[i], Key: "knowledge.no_module", Args: []any{m.Name}})
		default:
			if what := difference(doc, m); what != "" {
				out = append(out, pawl.Problem{File: names[i], Key: "knowledge.stale", Args: []any{m.Name, what}})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if isModule(name) && !slices.Contains(names, name) {
			module := strings.TrimSuffix(strings.TrimPrefix(name, modulesFolder), ".md")
			if doc, err := ReadModule(name, files[name]); err == nil && doc.Name != "" {
				module = doc.Name
			}
			out = append(out, pawl.Problem{File: name, Key: "knowledge.gone", Args: []any{module}})
		}
	}
	slices.SortStableFunc(out, func(a, b pawl.Problem) int { return strings.Compare(a.Place(), b.Place()) })
	return slices.CompactFunc(out, func(a, b pawl.Problem) bool { return a.String() == b.String() })
}

// auditIndex compares the documents that speak of the whole project.
func auditIndex(s Scan, all []Module, files map[string][]byte) []pawl.Problem {
	var out []pawl.Problem
	differs := func(file, what string, doc, code any) {
		if d, c := fmt.Sprint(doc), fmt.Sprint(code); d != c {
			out = append(out, pawl.Problem{File: file, Key: "knowledge.stale_fact",
				Args: []any{what, solution.Clip(d, 80), solution.Clip(c, 80)}})
		}
	}
	if x, err := ReadIndex(files[IndexName]); err == nil {
		differs(IndexName, wordModules.in(s.Language), x.Modules, len(all))
	}
	if c, err := ReadContext(files[ContextName]); err == nil {
		is := contextOf(s.Project)
		differs(ContextName, wordStack.in(s.Language), strings.Join(c.Stack, ", "), strings.Join(is.Stack, ", "))
		differs(ContextName, wordSources.in(s.Language), c.SourceFiles, is.SourceFiles)
		differs(ContextName, wordLines.in(s.Language), c.Lines, is.Lines)
	}
	list, err := ReadModules(files[ModulesName])
	if err != nil {
		return out
	}
	listed := func(list []Module, m Module) bool {
		return slices.ContainsFunc(list, func(o Module) bool { return o.Name == m.Name && o.Path == m.Path })
	}
	for _, m := range list {
		if !listed(all, m) {
			out = append(out, pawl.Problem{File: ModulesName, Key: "knowledge.gone", Args: []any{m.Name}})
		}
	}
	for _, m := range all {
		if !listed(list, m) {
			out = append(out, pawl.Problem{File: ModulesName, Key: "knowledge.unlisted", Args: []any{m.Name}})
		}
	}
	return out
}

// difference says in words of paths and counts how a document differs from its module, or "".
func difference(doc, m Module) string {
	var out []string
	if doc.Name != m.Name {
		out = append(out, "name")
	}
	if doc.Path != m.Path {
		out = append(out, "path")
	}
	for _, l := range []struct {
		what      string
		doc, code []string
	}{{"files", doc.Files, m.Files}, {"exports", doc.Exports, m.Exports}, {"depends", doc.Depends, m.Depends}} {
		more, less := missing(l.code, l.doc), missing(l.doc, l.code)
		if more+less > 0 {
			out = append(out, fmt.Sprintf("%s +%d -%d", l.what, more, less))
		}
	}
	return strings.Join(out, ", ")
}

// missing counts what is in a and not in b.
func missing(a, b []string) int {
	have := make(map[string]bool, len(b))
	for _, s := range b {
		have[s] = true
	}
	n := 0
	for _, s := range a {
		if !have[s] {
			n++
		}
	}
	return n
}
