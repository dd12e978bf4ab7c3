package backlog

import (
	"regexp"
	"strings"

	"pawl/machine/board"
	"pawl/text/markdown"
	"pawl/text/pattern"
)

// title is what the line of a heading or a task says.
type title struct {
	title, id string
	priority  int
	tags      []string
	refs      []string
}

var (
	// idBehind is {#id} anywhere; idAhead is #id, [#id] or a key such as ISS-1 or AUTH-7 with a colon in front.
	idBehind = pattern.New(`[ \t]*\{#([^{}\s]+)\}`)
	idAhead  = pattern.New(`^(?:\[#([\p{L}\p{N}_.-]+)\][:：]?[ \t]*|#([\p{L}\p{N}_.-]*[\p{L}\p{N}_])[:：]?[ \t]+|((?:ISS|[A-Z][A-Z0-9]{1,9})-[A-Za-z0-9-]*[0-9])[:：][ \t]*)`)
	// boxed is a priority in brackets, and ahead is one in front with a colon.
	boxed = pattern.New(`[ \t]*[\[(（【]([^\[\]()（）【】]{1,24})[\])）】]`)
	ahead = pattern.New(`^([Pp][0-5])(?:[:：][ \t]*|[ \t]+-[ \t]+)`)
	// hashtags are words with a hash at the end; they begin with a letter.
	hashtags = pattern.New(`(?:^|[ \t]+)((?:#\p{L}[\p{L}\p{N}_/-]*[ \t]*)+)$`)
	// aside is a remark in brackets.
	aside = pattern.New(`[ \t]*[(（]([^()（）]*)[)）]`)
	// named is a line that gives a field its value.
	named   = pattern.New(`(?i)^[ \t]*(?:[-*+][ \t]+)?[*_]*(priority|tags|labels|id|status|优先级|标签|编号|状态)[*_]*[ \t]*[:：][*_]*[ \t]*(\S.*)$`)
	tagJoin = pattern.New(`[,，、;；]+`)
)

// titleOf takes a line apart: id, priority, dependencies and tags leave the title.
func titleOf(text string) title {
	var t title
	s := oneLine(text)
	if m := idBehind.Get().FindStringSubmatch(s); m != nil {
		t.id, s = m[1], idBehind.Get().ReplaceAllString(s, "")
	}
	if m := idAhead.Get().FindStringSubmatch(s); m != nil && t.id == "" && len(m[0]) < len(s) {
		t.id, s = m[1]+m[2]+m[3], s[len(m[0]):]
	}
	if m := ahead.Get().FindStringSubmatch(s); m != nil && len(m[0]) < len(s) {
		t.priority, _ = priorityOf(m[1])
		s = s[len(m[0]):]
	}
	s = aside.Get().ReplaceAllStringFunc(s, func(part string) string {
		found := stated(nil, part, 0)
		if len(found) == 0 {
			return part
		}
		t.add(found)
		return ""
	})
	s = boxed.Get().ReplaceAllStringFunc(s, func(part string) string {
		p, ok := priorityIn(boxed.Get().FindStringSubmatch(part)[1])
		if !ok || t.priority > 0 {
			return part
		}
		t.priority = p
		return ""
	})
	if found := stated(nil, s, 0); len(found) > 0 {
		t.add(found)
	} else if m := hashtags.Get().FindStringSubmatchIndex(s); m != nil && m[0] > 0 && !depends.Get().MatchString(s) {
		for _, tag := range strings.Fields(strings.ReplaceAll(s[m[2]:m[3]], "#", " ")) {
			t.tags = addTag(t.tags, tag)
		}
		s = s[:m[0]]
	}
	if t.title = strings.Trim(s, " \t"); t.title == "" {
		t.title = oneLine(text)
	}
	return t
}

func (t *title) add(found []mention) {
	for _, m := range found {
		t.refs = append(t.refs, m.ref)
	}
}

// given is a field with its value, as a line gives them. The name is the English one.
type given struct{ name, value string }

func attribute(l string) given {
	m := named.Get().FindStringSubmatch(l)
	if m == nil {
		return given{}
	}
	value := strings.Trim(oneLine(m[2]), "*_ ")
	switch name := strings.ToLower(m[1]); name {
	case "优先级", "priority":
		return given{"priority", value}
	case "标签", "labels", "tags":
		return given{"tags", value}
	case "编号", "id":
		return given{"id", value}
	}
	return given{"status", value}
}

// wholeLine reports whether a line says nothing beside its dependencies.
func wholeLine(l string) bool {
	for _, find := range []*regexp.Regexp{depends.Get(), blockedBy.Get()} {
		l = find.ReplaceAllString(l, "")
	}
	return strings.Trim(l, " \t-*+_.。") == ""
}

// below reads the lines below a heading or a task: fields and dependencies, and what is left is the body. It returns
// the id.
func (d *document) below(out *draft, id string, lines []block, head block) string {
	strip := -1
	if head.kind == taskLine { // the body begins where its least indented line does
		for _, b := range lines {
			if n := markdown.Indent(b.raw); (b.kind == textLine ||
				b.kind == taskLine) && (strip < 0 || n < strip) {
				strip = n
			}
		}
	}
	var rest []string
	var from []int
	for _, b := range lines {
		if b.kind == textLine && d.attribute(out, &id, b) {
			continue
		}
		rest, from = append(rest, markdown.Outdent(b.raw, strip)), append(from, b.line)
	}
	for _, m := range mentions(strings.Join(rest, "\n")) {
		out.edges = append(out.edges, edge{ref: m.ref, line: from[m.line]})
	}
	kept := rest[:0]
	for _, l := range rest {
		if len(stated(nil, l, 0)) == 0 || !wholeLine(l) {
			kept = append(kept, l)
		}
	}
	out.Body = prose(strings.Join(kept, "\n"))
	return id
}

// attribute takes over a line that gives a field its value. A line that only looks like one stays in the body.
func (d *document) attribute(out *draft, id *string, b block) bool {
	g := attribute(b.raw)
	switch g.name {
	case "priority":
		p, ok := priorityOf(g.value)
		if !ok {
			d.r.rep.note(d.file, b.line, "backlog.note_value", g.name, clip(g.value))
			return false
		}
		out.Priority = p
	case "tags":
		for _, tag := range tagJoin.Get().Split(g.value, -1) {
			out.Tags = addTag(out.Tags, strings.Trim(tag, " #`"))
		}
	case "id":
		value := strings.Trim(g.value, "#`")
		if !goodID(value) || *id != "" {
			return false
		}
		*id = value
	case "status":
		s := board.IssueStatus(strings.ToLower(g.value))
		if !board.Issue.Known(s) {
			d.r.rep.note(d.file, b.line, "backlog.note_value", g.name, clip(g.value))
			return false
		}
		out.Status = s
	default:
		return false
	}
	return true
}
