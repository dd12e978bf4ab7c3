package shell

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The parser and bash take some texts apart differently. Where that could matter the text is refused rather than
// repaired, since what is judged has to be what will run:
//
//   - A comment ends at its line's end, whatever stands before that; to the parser it goes on behind a backslash. And
//     the parser sees a comment where bash sees a word that goes on, as in x=(a)#b.
//   - Joined lines can make a token that the parser does not see, such as "$(" out of "$" and "(".
//   - A here-document ends at the first line that is its delimiter once lines are joined. The parser compares lines as
//     they stand, lets commands inside the document hide such a line, and takes some delimiters for others.
//   - Inside a substitution bash also ends a document in the middle of a line that begins with the delimiter, and at
//     the end of the substitution. To the parser the document can stand behind that. And it puts the text of a
//     substitution together anew before it runs it, and behind a document leaves out semicolons: "a <<E | b; c" runs c
//     as a word of b.
//   - Backquotes remove some backslashes before any of this begins.
//   - In "${x:-…}" a single quote stands for itself, and in ${x:-…} commands run in <(…); to the parser the one quotes
//     and the other is text.
//   - In >&-x bash closes a file and x begins the next word.
//   - A word such as ./x=[ is a command, and an assignment to the parser.

// join is a backslash at the end of a line.
const join = "\\\n"

// alike reports whether bash reads src as the parser has read it; where it may not, the visitor was told.
func (r *Reader) alike(src string, file *syntax.File) bool {
	both := &reading{src: src, literal: make([]bool, len(src))}
	syntax.Walk(file, both.visit)
	both.documents()
	both.joins()
	for _, part := range both.doubtful {
		r.Visitor.Doubt(Ambiguous, part)
	}
	return len(both.doubtful) == 0
}

// reading gathers what two readers of a text could disagree on.
type reading struct {
	src      string
	literal  []bool // says of each byte whether a backslash there stands for itself
	docs     []document
	within   []int // for each node on the way to the one that is visited, the end of the substitution that it is in
	doubtful []string
}

// document is a here-document of the text.
type document struct {
	*syntax.Redirect
	limit int // where its last line has to end before, which is the end of the substitution that it is in
}

// span returns where a node begins and ends in the text. A deep node takes long to answer, so only others are asked.
func (r *reading) span(n syntax.Node) (from, to int) {
	from = min(int(n.Pos().Offset()), len(r.src))
	return from, min(max(int(n.End().Offset()), from), len(r.src))
}

// text returns the text of a node.
func (r *reading) text(n syntax.Node) string {
	from, to := r.span(n)
	return r.src[from:to]
}

// doubt records that a part of the text can be read in more than one way.
func (r *reading) doubt(part string) { r.doubtful = append(r.doubtful, part) }

// comment doubts a comment that the parser may take for longer than it is, or where bash sees none.
func (r *reading) comment(c *syntax.Comment) {
	from, to := r.span(c)
	joins := strings.Contains(c.Text, "\n") || backslashes(c.Text) > 0 && to < len(r.src)
	if joins || from > 0 && strings.IndexByte(" \t\n;&|(", r.src[from-1]) < 0 {
		r.doubt(r.text(c))
	}
}

// visit looks at what a node tells by itself, and keeps what documents and joins need.
func (r *reading) visit(n syntax.Node) bool {
	if n == nil {
		r.within = r.within[:len(r.within)-1]
		return true
	}
	limit := len(r.src) + 1
	if len(r.within) > 0 {
		limit = r.within[len(r.within)-1]
	}
	switch n := n.(type) {
	case *syntax.Comment:
		r.comment(n)
	case *syntax.Stmt:
		for i := range n.Comments {
			r.comment(&n.Comments[i]) // Walk leaves some of these out
		}
	case *syntax.Assign:
		if n.Name != nil && !syntax.ValidName(n.Name.Value) {
			r.doubt(r.text(n))
		}
	case *syntax.ParamExp:
		if holds(r.text(n), "'", "<(", ">(") {
			r.doubt(r.text(n))
		}
	case *syntax.CmdSubst:
		if n.Backquotes && holds(r.text(n), join, "<<") {
			r.doubt(r.text(n))
		}
		_, limit = r.span(n)
	case *syntax.ProcSubst:
		_, limit = r.span(n)
	case *syntax.SglQuoted:
		if !n.Dollar {
			r.mark(r.span(n))
		}
	case *syntax.Redirect:
		r.redirect(n, limit)
	}
	r.within = append(r.within, limit)
	return true
}

// holds reports whether one of the parts stands in a text.
func holds(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}

// redirect keeps a document, and doubts what stands behind a file that is closed.
func (r *reading) redirect(n *syntax.Redirect, limit int) {
	switch n.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		r.docs = append(r.docs, document{n, limit})
	case syntax.DplIn, syntax.DplOut:
		if target := r.text(n.Word); len(target) > 1 && target[0] == '-' {
			r.doubt(target)
		}
	}
}

// mark says that backslashes between two offsets stand for themselves.
func (r *reading) mark(from, to int) {
	for i := from; i < to; i++ {
		r.literal[i] = true
	}
}

// documents looks for the end of each here-document line by line, as bash does, and compares it with the parser's.
func (r *reading) documents() {
	slices.SortFunc(r.docs, func(a, b document) int {
		return cmp.Compare(a.OpPos.Offset(), b.OpPos.Offset())
	})
	line, from := -1, 0 // the end of the line of the operator, and where the next document of that line begins
	for _, d := range r.docs {
		op, _ := r.span(d.Redirect)
		length := strings.IndexByte(r.src[op:], '\n')
		if length < 0 {
			r.doubt(r.src[op:])
			continue
		}
		if op+length != line {
			line, from = op+length, op+length+1
		}
		stop, quoted := delimiter(d.Word)
		body, end := r.end(from, stop, quoted, d.Op == syntax.DashHdoc)
		same := stop != "" && body >= 0 && end < d.limit
		if _, word := r.span(d.Word); same && d.limit <= len(r.src) {
			same = !holds(r.src[min(word, line):line]+r.src[end:d.limit], ";")
		}
		if d.Hdoc == nil {
			same = same && body == from
		} else {
			same = same && int(d.Hdoc.Pos().Offset()) == from && int(d.Hdoc.End().Offset()) == end
		}
		if !same {
			r.doubt(r.src[op:line])
			continue
		}
		if quoted {
			r.mark(from, body)
		}
		from = end + 1
	}
}

// end returns where the line of the delimiter begins and ends, or -1 where that depends on who reads it.
func (r *reading) end(from int, stop string, quoted, tabs bool) (body, end int) {
	for at := from; at < len(r.src); {
		line, _, _ := strings.Cut(r.src[at:], "\n")
		text := line
		if tabs {
			text = strings.TrimLeft(line, "\t")
		}
		rest, begins := strings.CutPrefix(strings.TrimLeft(line, "\t"), stop)
		switch {
		case text == stop:
			return at, at + len(line)
		case begins && strings.ContainsAny(rest, ")}`"), !quoted && backslashes(line)%2 == 1:
			return -1, -1
		}
		at += len(line) + 1
	}
	return -1, -1
}

// delimiter returns the delimiter of a here-document and whether it is quoted, or "" where it is not one plain word.
func delimiter(w *syntax.Word) (stop string, quoted bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	switch x := w.Parts[0].(type) {
	case *syntax.Lit:
		stop, quoted = strings.CutPrefix(x.Value, `\`)
	case *syntax.SglQuoted:
		if !x.Dollar {
			stop, quoted = x.Value, true
		}
	case *syntax.DblQuoted:
		if lit, ok := onlyLit(x); ok && !x.Dollar {
			stop, quoted = lit.Value, true
		}
	}
	if strings.ContainsFunc(stop, func(c rune) bool { return c != '-' && c != '.' && !wordy(c) }) {
		return "", false
	}
	return stop, quoted
}

// onlyLit returns what stands in double quotes where that is nothing but text.
func onlyLit(x *syntax.DblQuoted) (*syntax.Lit, bool) {
	if len(x.Parts) != 1 {
		return nil, false
	}
	lit, ok := x.Parts[0].(*syntax.Lit)
	return lit, ok
}

// joins looks at every place where lines are joined. What is joined there is read alike where a blank keeps it apart,
// and where a letter or a digit follows that belongs to no expansion.
func (r *reading) joins() {
	for at := 0; ; at += len(join) {
		i := strings.Index(r.src[at:], join)
		if i < 0 {
			return
		}
		if at += i; r.literal[at] || backslashes(r.src[:at+1])%2 == 0 {
			continue
		}
		before, behind := byte('\n'), byte('\n')
		if at > 0 {
			before = r.src[at-1]
		}
		if at+len(join) < len(r.src) {
			behind = r.src[at+len(join)]
		}
		if !blank(before) && !blank(behind) && (before == '$' || !wordy(rune(behind))) {
			r.doubt(r.src[at-1 : at+len(join)+1])
		}
	}
}

// backslashes counts the backslashes at the end of s. An even number of them leaves nothing to what follows.
func backslashes(s string) int { return len(s) - len(strings.TrimRight(s, `\`)) }

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// wordy reports whether c continues a word and begins no operator.
func wordy(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}
