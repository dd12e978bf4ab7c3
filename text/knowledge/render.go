package knowledge

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/text/markdown"
	"pawl/text/pattern"
	"pawl/text/solution"
)

// minute is the form of a time in documents, in UTC.
const minute = "2006-01-02 15:04"

// Index is what INDEX.md says of the project. Updated is a minute in UTC; the zero time is none.
type Index struct {
	Project string
	Modules int
	Updated time.Time
}

// Context is what pawl says of the project in context.md.
type Context struct {
	Project            string
	Stack              []string
	SourceFiles, Lines int
	Large              bool
}

// The fixed words of the documents.
var (
	wordProject   = word{"项目", "Project", []string{"名称", "Name"}}
	wordModules   = word{"模块", "Modules", []string{"模块数", "Module"}}
	wordUpdated   = word{"更新时间", "Updated", []string{"更新"}}
	wordStack     = word{"技术栈", "Stack", []string{"Tech stack"}}
	wordSources   = word{"源文件", "Source files", nil}
	wordLines     = word{"代码行", "Lines", nil}
	wordSize      = word{"规模", "Size", nil}
	wordLarge     = word{"大型", "large", nil}
	wordOrdinary  = word{"普通", "ordinary", nil}
	wordPath      = word{"路径", "Path", nil}
	wordFiles     = word{"文件", "Files", []string{"File"}}
	wordExports   = word{"导出", "Exports", []string{"接口"}}
	wordDepends   = word{"依赖", "Depends on", []string{"Dependencies"}}
	wordSummary   = word{"职责", "Purpose", []string{"说明", "Summary"}}
	wordModule    = word{"模块", "Module", []string{"Modules", "模块名"}}
	wordDocument  = word{"文档", "Document", nil}
	wordHolds     = word{"内容", "Contents", nil}
	titleIndex    = word{"知识库", "Knowledge base", nil}
	titleContext  = word{"项目上下文", "Project context", nil}
	titleModules  = word{"模块索引", "Module index", nil}
	titleOverview = word{"概览", "Overview", nil}
	titleFacts    = word{"代码事实", "Facts from the code", nil}
	titleRules    = word{"约定与约束", "Conventions and constraints", nil}
	titleBehavior = word{"行为与注意事项", "Behaviour and pitfalls", nil}
	wordOwn       = word{"（由团队填写，pawl 不会改动）", "(yours to write; pawl leaves it alone)", nil}
)

// guide lists the documents that INDEX.md leads to.
var guide = []struct {
	path  string
	holds word
}{
	{ContextName, word{"技术栈、规模、约定与约束", "stack, size, conventions and constraints", nil}},
	{ModulesName, word{"各模块的路径、职责与文档", "path, purpose and document of each module", nil}},
	{ChangelogName, word{"变更记录", "what changed", nil}},
	{"archive/_index.md", word{"已归档的方案包", "archived solution packages", nil}},
}

func item(w word, l Language, value string) string { return "- " + w.in(l) + ": " + value }

// listed writes a list of names, each on a line of its own.
func listed(w word, l Language, list []string) []string {
	out := []string{fmt.Sprintf("- %s (%d)", w.in(l), len(list))}
	for _, s := range list {
		out = append(out, "  - "+code(s))
	}
	return out
}

func (x Index) body(l Language) []string {
	at := "-"
	if !x.Updated.IsZero() {
		at = x.Updated.UTC().Format(minute)
	}
	out := []string{item(wordProject, l, prose(x.Project)), item(wordModules, l, strconv.Itoa(x.Modules)),
		item(wordUpdated, l, at), "",
		"| " + wordDocument.in(l) + " | " + wordHolds.in(l) + " |", "| --- | --- |"}
	for _, g := range guide {
		out = append(out, "| ["+g.path+"]("+g.path+") | "+g.holds.in(l)+" |")
	}
	return out
}

func (c Context) body(l Language) []string {
	size := wordOrdinary
	if c.Large {
		size = wordLarge
	}
	out := append([]string{item(wordProject, l, prose(c.Project))}, listed(wordStack, l, tidy(c.Stack))...)
	return append(out, item(wordSources, l, strconv.Itoa(c.SourceFiles)), item(wordLines, l, strconv.Itoa(c.Lines)),
		item(wordSize, l, size.in(l)))
}

// UpdateIndex returns INDEX.md with pawl's section brought up to date, and a new one for no data. Nothing else changes.
func UpdateIndex(data []byte, x Index, l Language) (string, error) {
	return update(IndexName, data, "index", titleIndex.in(l), titleOverview.in(l), x.body(l), nil)
}

// UpdateContext does for context.md what UpdateIndex does for INDEX.md. A new one has a section for what people add.
func UpdateContext(data []byte, c Context, l Language) (string, error) {
	return update(ContextName, data, "context", titleContext.in(l), titleOverview.in(l), c.body(l),
		[]string{"", "## " + titleRules.in(l), "", wordOwn.in(l)})
}

// UpdateModules does for modules/_index.md what UpdateIndex does for INDEX.md.
func UpdateModules(data []byte, list []Module, l Language) (string, error) {
	list = sorted(list)
	files := ModuleFiles(list)
	body := []string{
		"| " + strings.Join([]string{wordModule.in(l), wordPath.in(l), wordSummary.in(l), wordDocument.in(l)}, " | ") +
			" |",
		"| --- | --- | --- | --- |",
	}
	for i, m := range list {
		name := strings.TrimPrefix(files[i], modulesFolder)
		body = append(body, "| "+strings.Join([]string{prose(m.Name), prose(m.Path), prose(m.Summary), "[" + name +
			"](" + name + ")"}, " | ")+" |")
	}
	return update(ModulesName, data, "modules", titleModules.in(l), titleOverview.in(l), body, nil)
}

// UpdateModule does for the document of a module what UpdateIndex does for INDEX.md. A new one has a section for what
// people add.
func UpdateModule(file string, data []byte, m Module, l Language) (string, error) {
	m = m.normal()
	body := []string{item(wordModule, l, prose(m.Name)), item(wordPath, l, prose(m.Path)),
		item(wordSummary, l, prose(m.Summary))}
	body = append(body, listed(wordFiles, l, m.Files)...)
	body = append(body, listed(wordExports, l, m.Exports)...)
	body = append(body, listed(wordDepends, l, m.Depends)...)
	return update(file, data, "module", prose(m.Name), titleFacts.in(l), body,
		[]string{"", "## " + titleBehavior.in(l), "", wordOwn.in(l)})
}

// update puts a section into a document. An empty document is written anew, with its title and what follows the
// section.
func update(file string, data []byte, name, title, head string, body, rest []string) (string, error) {
	d, err := read(file, data)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(strings.Join(d.Lines, "")) != "" {
		return d.put(name, head, body)
	}
	lines := append([]string{"# " + title, ""}, framed(name, head, body)...)
	return strings.Join(append(lines, rest...), "\n") + "\n", nil
}

// fields reads the items of a section: a value for each key, and a list for each key with items below it.
func fields(lines []string) (values map[string]string, lists map[string][]string) {
	values, lists = map[string]string{}, map[string][]string{}
	key := ""
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "  - "); ok && key != "" {
			if s := uncode(rest); s != "" {
				lists[key] = append(lists[key], s)
			}
			continue
		}
		key = ""
		rest, ok := strings.CutPrefix(line, "- ")
		if !ok {
			continue
		}
		if k, v, ok := cutColon(rest); ok {
			values[strings.TrimSpace(k)] = unprose(v)
		} else if m := countForm.Get().FindStringSubmatch(rest); m != nil {
			key = m[1]
		}
	}
	return values, lists
}

var countForm = pattern.New(`^(.+?) [(（]\d+[)）]$`)

func cutColon(s string) (k, v string, ok bool) {
	i := strings.IndexAny(s, ":：")
	if i < 0 {
		return "", "", false
	}
	return s[:i], strings.TrimPrefix(strings.TrimPrefix(s[i:], ":"), "："), true
}

func pick[T any](w word, of map[string]T) (v T, ok bool) {
	for _, k := range slices.Sorted(maps.Keys(of)) {
		if w.is(k) {
			return of[k], true
		}
	}
	return v, false
}

// section reads a section that a document must have.
func sectionOf(file string, data []byte, name string) ([]string, int, error) {
	d, err := read(file, data)
	if err != nil {
		return nil, 0, err
	}
	lines, from, ok := d.get(name)
	if !ok {
		return nil, 0, pawl.Problem{File: file, Key: "knowledge.no_section",
			Args: []any{name}}.Error(solution.At).In("knowledge.Read")
	}
	return lines, from, nil
}

// number reads a count; what is none is an error, because a document that says nothing certain is not fine.
func number(file string, from int, values map[string]string, w word) (int, error) {
	s, ok := pick(w, values)
	n, err := strconv.Atoi(s)
	if !ok || err != nil || n < 0 {
		return 0, pawl.Problem{File: file, Line: from, Key: "knowledge.bad_number",
			Args: []any{w.en, solution.Clip(s, 40)}}.Error(solution.At).In("knowledge.Read")
	}
	return n, nil
}

// ReadIndex reads pawl's section of INDEX.md. Every error of a Read function is CodeInvalid and names file and line.
func ReadIndex(data []byte) (Index, error) {
	lines, from, err := sectionOf(IndexName, data, "index")
	if err != nil {
		return Index{}, err
	}
	values, _ := fields(lines)
	var x Index
	x.Project, _ = pick(wordProject, values)
	if x.Modules, err = number(IndexName, from, values, wordModules); err != nil {
		return Index{}, err
	}
	if s, _ := pick(wordUpdated, values); s != "" {
		if x.Updated, err = time.Parse(minute, s); err != nil {
			return Index{}, pawl.Problem{File: IndexName, Line: from, Key: "knowledge.bad_time",
				Args: []any{solution.Clip(s, 40)}}.Error(solution.At).In("knowledge.Read")
		}
	}
	return x, nil
}

// ReadContext reads pawl's section of context.md.
func ReadContext(data []byte) (Context, error) {
	lines, from, err := sectionOf(ContextName, data, "context")
	if err != nil {
		return Context{}, err
	}
	values, lists := fields(lines)
	var c Context
	c.Project, _ = pick(wordProject, values)
	c.Stack, _ = pick(wordStack, lists)
	if c.SourceFiles, err = number(ContextName, from, values, wordSources); err != nil {
		return Context{}, err
	}
	if c.Lines, err = number(ContextName, from, values, wordLines); err != nil {
		return Context{}, err
	}
	size, _ := pick(wordSize, values)
	c.Large = wordLarge.is(size)
	return c, nil
}

// ReadModules reads the modules of modules/_index.md: their names, paths and summaries.
func ReadModules(data []byte) ([]Module, error) {
	lines, _, err := sectionOf(ModulesName, data, "modules")
	if err != nil {
		return nil, err
	}
	var out []Module
	for i, line := range lines {
		c, _, _ := markdown.Cells(line)
		if i < 2 || len(c) < 3 {
			continue
		}
		out = append(out, Module{Name: unprose(c[0]), Path: unprose(c[1]), Summary: unprose(c[2])})
	}
	return out, nil
}

// ReadModule reads pawl's section of the document of a module.
func ReadModule(file string, data []byte) (Module, error) {
	lines, _, err := sectionOf(file, data, "module")
	if err != nil {
		return Module{}, err
	}
	values, lists := fields(lines)
	var m Module
	m.Name, _ = pick(wordModule, values)
	m.Path, _ = pick(wordPath, values)
	m.Summary, _ = pick(wordSummary, values)
	m.Files, _ = pick(wordFiles, lists)
	m.Exports, _ = pick(wordExports, lists)
	m.Depends, _ = pick(wordDepends, lists)
	return m, nil
}

var placeForm = pattern.New(`^(.*):(\d+)$`)

// findingOf returns the finding that an error of this package tells of.
func findingOf(err error) (pawl.Problem, bool) {
	var outer, inner *pawl.Error
	if !errors.As(err, &outer) || outer.Key != "solution.at" || !errors.As(outer.Err, &inner) {
		return pawl.Problem{}, false
	}
	place, _ := outer.Args[0].(string)
	f := pawl.Problem{File: place, Key: inner.Key, Args: inner.Args}
	if m := placeForm.Get().FindStringSubmatch(place); m != nil {
		f.File = m[1]
		f.Line, _ = strconv.Atoi(m[2])
	}
	return f, true
}
