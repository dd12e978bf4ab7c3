package backlog

import (
	"io"
	"slices"
	"strings"

	"pawl"
	"pawl/machine/board"
	"pawl/text/markdown"
	"pawl/text/pattern"
)

// block is a line of a document with what it is.
type block struct {
	kind  blockKind
	line  int
	raw   string
	text  string // of a heading or a task, behind its mark
	level int    // of a heading; of a task, the column in which it begins
	inner int    // of a task: the column in which its text begins
	mark  string // of a task: what stands in its box
}

type blockKind uint8

const (
	textLine blockKind = iota
	blankLine
	codeLine
	headLine
	taskLine
)

var (
	headMark  = pattern.New(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	taskMark  = pattern.New(`^([ \t]*)((?:[-*+]|[0-9]{1,9}[.)])[ \t]+)\[([^\]\n]?)\][ \t]+(.+)$`)
	underline = pattern.New(`^ {0,3}(=+|-+)[ \t]*$`)
)

// markdown reads a document. A task with a box is an issue, and what is indented below it is its body; nested tasks are
// part of that. A heading is an issue when it says so, with an id, a priority or a line of fields below it, or when
// there is neither a task nor another heading below it; everything below it is its body. Other headings are sections:
// those that name a priority give it to what is below, and from the second level on the others are tags.
func (r *Reader) markdown(in io.Reader, name string) error {
	raw, err := whole(in, MaxPage)
	if err != nil {
		return err
	}
	if n := markdown.NotText(raw); n > 0 {
		return &torn{n, "backlog.not_text", nil}
	}
	lines, open := blocks(string(raw))
	if open > 0 {
		return &torn{open, "backlog.open_block", nil}
	}
	d := &document{r: r, file: name, blocks: lines}
	d.read()
	if len(d.r.rep.problems.List) == 0 && d.found == 0 {
		return &torn{1, "backlog.no_issue", nil}
	}
	if d.lost > 0 {
		r.rep.note(name, d.lostAt, "backlog.note_text", d.lost)
	}
	return nil
}

// blocks tells what each line of a document is, and the line in which code or a comment begins that does not end, or 0.
func blocks(text string) ([]block, int) {
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
	out := make([]block, 0, len(lines))
	scan := &markdown.Scanner{Rules: listRules}
	front := frontMatter(lines)
	for n, raw := range lines {
		b := block{line: n + 1, raw: strings.TrimRight(raw, " \t")}
		l, plain := scanLine(scan, raw)
		last := len(out) - 1
		switch m := taskMark.Get().FindStringSubmatch(l); {
		case n < front:
			b.kind, b.raw = blankLine, ""
		case !plain:
			b.kind = codeLine
		case strings.TrimSpace(l) == "":
			b.kind, b.raw = blankLine, ""
		case m != nil:
			b.kind, b.mark, b.text = taskLine, m[3], m[4]
			b.level = markdown.Indent(m[1])
			b.inner = b.level + 2
		case headMark.Get().MatchString(l):
			h := headMark.Get().FindStringSubmatch(l)
			b.kind, b.level, b.text = headLine, len(h[1]), h[2]
		case last >= 0 && out[last].kind == textLine && underline.Get().MatchString(l) &&
			!strings.HasPrefix(strings.TrimSpace(out[last].raw), "-") &&
			(last == 0 || out[last-1].kind != textLine):
			out[last].kind, out[last].text, out[last].level = headLine, strings.TrimSpace(out[last].raw), 1
			if strings.Contains(l, "-") {
				out[last].level = 2
			}
			continue
		default:
			b.kind, b.raw = textLine, strings.TrimRight(l, " \t")
		}
		out = append(out, b)
	}
	return out, scan.Open()
}

// frontMatter returns the number of lines of the settings that some tools put in front of a document.
func frontMatter(lines []string) int {
	if strings.TrimPrefix(strings.TrimRight(lines[0], " "), "\ufeff") != "---" {
		return 0
	}
	for n, l := range lines[1:] {
		if l = strings.TrimRight(l, " "); l == "---" || l == "..." {
			return n + 2
		}
		if strings.HasPrefix(l, "#") || strings.TrimSpace(l) == "" {
			return 0
		}
	}
	return 0
}

// document is read from top to bottom.
type document struct {
	r        *Reader
	file     string
	blocks   []block
	sections []section // that the present place lies in
	found    int
	lost     int // lines that belong to no issue
	lostAt   int
}

type section struct {
	level, priority int
	tag             string
}

func (d *document) read() {
	for i := 0; i < len(d.blocks) && len(d.r.rep.problems.List) < pawl.MaxProblems; {
		b := d.blocks[i]
		switch {
		case b.kind == headLine && d.isIssue(i):
			end := d.headEnd(i)
			d.leave(b.level)
			d.issue(b, d.blocks[i+1:end])
			i = end
		case b.kind == headLine:
			d.enter(b)
			i++
		case b.kind == taskLine:
			end := d.taskEnd(i)
			d.issue(b, d.blocks[i+1:end])
			i = end
		default:
			if b.kind != blankLine {
				if d.lost == 0 {
					d.lostAt = b.line
				}
				d.lost++
			}
			i++
		}
	}
}

// leave ends the sections that a heading of the level ends.
func (d *document) leave(level int) {
	d.sections = slices.DeleteFunc(d.sections, func(s section) bool { return s.level >= level })
}

func (d *document) enter(b block) {
	d.leave(b.level)
	s := section{level: b.level}
	if p, ok := priorityIn(b.text); ok {
		s.priority = p
	} else if b.level > 1 {
		s.tag = oneLine(b.text)
	}
	d.sections = append(d.sections, s)
}

// isIssue reports whether the heading at i is an issue and no section.
func (d *document) isIssue(i int) bool {
	b := d.blocks[i]
	if oneLine(b.text) == "" {
		return false
	}
	if d.marked(i) {
		return true
	}
	for _, n := range d.blocks[i+1:] {
		switch {
		case n.kind == headLine:
			return n.level <= b.level
		case n.kind == taskLine:
			return false
		}
	}
	return true
}

// marked reports whether a heading says that it is an issue.
func (d *document) marked(i int) bool {
	if t := titleOf(d.blocks[i].text); t.id != "" || t.priority > 0 || len(t.refs) > 0 {
		return true
	}
	for _, n := range d.blocks[i+1:] {
		switch n.kind {
		case blankLine:
			continue
		case textLine:
			return attribute(n.raw).name != "" || len(stated(nil, n.raw, 0)) > 0 && wholeLine(n.raw)
		}
		return false
	}
	return false
}

// headEnd returns the place behind an issue that is a heading: the next heading that is not below it, or is an issue
// itself.
func (d *document) headEnd(i int) int {
	for n := i + 1; n < len(d.blocks); n++ {
		if b := d.blocks[n]; b.kind == headLine && (b.level <= d.blocks[i].level || d.marked(n)) {
			return n
		}
	}
	return len(d.blocks)
}

// taskEnd returns the place behind a task and what is indented below it.
func (d *document) taskEnd(i int) int {
	end := i + 1
	for n := i + 1; n < len(d.blocks); n++ {
		b := d.blocks[n]
		indent := markdown.Indent(b.raw)
		switch {
		case b.kind == blankLine:
			continue
		case b.kind == headLine || indent <= d.blocks[i].level && b.kind != codeLine:
			return end
		case b.kind == codeLine && indent <= d.blocks[i].level && d.blocks[n-1].kind != codeLine:
			return end
		}
		end = n + 1
	}
	return end
}

// issue makes an issue of a heading or a task and the lines below it.
func (d *document) issue(b block, below []block) {
	if d.r.full(d.file, b.line) {
		return
	}
	d.found++
	out := draft{file: d.file}
	out.Line = b.line
	t := titleOf(b.text)
	if t.title == "" {
		d.r.rep.problem(d.file, b.line, "", "backlog.no_title")
		return
	}
	out.Priority, out.Tags = t.priority, t.tags
	out.Status = d.status(b, t)
	for _, ref := range t.refs {
		out.edges = append(out.edges, edge{ref: ref, line: b.line})
	}
	if out.Status == "" {
		d.r.gone["#"+t.id] = "backlog.note_unplanned"
		d.r.rep.note(d.file, b.line, "backlog.note_dropped", clip(t.title))
		return
	}
	id := d.below(&out, t.id, below, b)
	for _, s := range slices.Backward(d.sections) {
		if out.Priority == 0 {
			out.Priority = s.priority
		}
		out.Tags = addTag(out.Tags, s.tag)
	}
	if out.Priority == 0 {
		out.Priority = DefaultPriority
	}
	var long bool
	if out.Title, out.Body, long = heading(t.title, out.Body); long {
		d.r.rep.note(d.file, b.line, "backlog.note_title", clip(out.Title))
	}
	if id == "" && !d.r.unnamed(&out) {
		return
	}
	if id != "" {
		if !goodID(id) {
			d.r.rep.problem(d.file, b.line, "", "backlog.id", clip(id))
			return
		}
		out.ID, out.Ref = d.r.scoped(id), id
		d.r.also(id, out.ID)
	}
	d.r.also(slug(t.title), out.ID)
	d.r.keep(out)
}

// status reads the box of a task; a heading and an empty box are open. A task that was given up has none.
func (d *document) status(b block, t title) board.IssueStatus {
	switch b.mark {
	case "", " ":
		return board.IssueRegistered
	case "x", "X", "√", "✓", "✔":
		return board.IssueCompleted
	case "-", "~":
		return ""
	}
	d.r.rep.note(d.file, b.line, "backlog.note_mark", clip(b.mark), clip(t.title))
	return board.IssueRegistered
}
