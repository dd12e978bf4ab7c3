package tui

import (
	"slices"
	"strings"

	"pawl/text/display"

	"pawl/face/cli/term"
	"pawl/text/message"
)

// Status is what the prompt says of the session: its state, the mode and stage of the command under way, each "" when
// there is none, and whether work is going on.
type Status struct {
	State, Mode, Stage string
	Busy               bool
}

// Candidate is one way to complete a line. Insert takes the place of the word before the cursor, that is of what
// follows the last blank; a blank behind it is the candidate's own. Label, which is Insert when it is "", and Note are
// what the list shows.
type Candidate struct{ Insert, Label, Note string }

// act is what a key asks of the world.
type act int

const (
	nothing act = iota
	submit
	leave
	suspend
	resume // begin again on a terminal that something else was done with
	wipe   // draw everything again, on an empty screen
)

// ask is one line being asked for: pure, so that every key can be tried.
type ask struct {
	line     line
	lang     message.Lang
	style    term.Style
	status   Status
	history  *history
	complete func(line string, cursor int) []Candidate

	// question is what stands before the line in place of the status. A question is answered by any line, and left by
	// one key.
	question string

	place  int    // in the history; its length stands for the line that was begun
	draft  string // that line, while another one is looked at
	list   *list
	search *search
	note   string // a line below, until the next key
	armed  bool   // Ctrl-C was pressed on an empty line
}

// list is an open list of candidates.
type list struct {
	items []Candidate
	at    int // -1 before one is chosen
	from  int // where the word begins
	word  string
}

// search is a search through the history.
type search struct {
	query line
	found int // -1 when nothing fits
}

func (a *ask) text(key string, args ...any) string { return said(a.lang, a.style, key, args...) }

// begin starts with an empty line.
func (a *ask) begin() {
	a.line.set("")
	a.place, a.draft, a.list, a.search, a.note, a.armed = len(a.history.lines), "", nil, nil, "", false
}

// press does what a key means.
func (a *ask) press(k key) act {
	armed := a.armed
	a.armed, a.note = false, ""
	switch {
	case k.name == "ctrl+z":
		return suspend
	case k.name == "ctrl+l":
		return wipe
	case a.search != nil:
		a.searching(k)
		return nothing
	case a.list != nil && a.choosing(k):
		return nothing
	}
	a.list = nil
	switch k.name {
	case "enter":
		if a.question != "" || strings.TrimSpace(a.line.text) != "" {
			return submit
		}
	case "ctrl+c":
		return a.interrupted(armed)
	case "ctrl+d":
		if a.line.text == "" {
			return leave
		}
		a.line.edit(key{name: "delete"})
	case "tab":
		a.completing()
	default:
		if !a.recalling(k) {
			a.line.edit(k)
		}
	}
	return nothing
}

// interrupted is what Ctrl-C means: a question is left at once, the prompt when it is empty and Ctrl-C was pressed
// before.
func (a *ask) interrupted(armed bool) act {
	switch {
	case a.question != "":
		return leave
	case a.line.text != "":
		a.begin()
		return nothing
	case armed:
		return leave
	}
	a.armed, a.note = true, a.text("tui.prompt.leave")
	return nothing
}

// recalling does what a key means that leads into the history. It reports whether it is one.
func (a *ask) recalling(k key) bool {
	switch k.name {
	case "ctrl+r":
		a.search = &search{found: -1}
		a.seek(len(a.history.lines))
	case "up", "ctrl+p":
		if a.leafing() || !a.line.up() {
			a.remember(a.place - 1)
		}
	case "down", "ctrl+n":
		if a.leafing() || !a.line.down() {
			a.remember(a.place + 1)
		}
	case "pgup":
		a.remember(0)
	case "pgdown":
		a.remember(len(a.history.lines))
	default:
		return false
	}
	return true
}

// leafing reports whether what is shown is an entry of the history that nobody changed: up and down go on through the
// history then, however many rows it has.
func (a *ask) leafing() bool {
	return a.place < len(a.history.lines) && a.line.text == a.history.lines[a.place]
}

// remember shows an entry of the history; behind the newest stands the line that was begun.
func (a *ask) remember(place int) {
	if place < 0 || place > len(a.history.lines) || place == a.place {
		return
	}
	if a.place == len(a.history.lines) {
		a.draft = a.line.text
	}
	a.place = place
	if place == len(a.history.lines) {
		a.line.set(a.draft)
		return
	}
	a.line.set(a.history.lines[place])
}

// searching is what keys mean while the history is searched.
func (a *ask) searching(k key) {
	s := a.search
	switch k.name {
	case "ctrl+r", "up":
		if s.found >= 0 {
			a.seek(s.found)
		}
	case "esc", "ctrl+g", "ctrl+c":
		a.search = nil
	case "enter", "tab", "right", "left", "home", "end", "ctrl+a", "ctrl+e":
		if s.found >= 0 {
			a.remember(s.found)
		}
		a.search = nil
	default:
		if s.query.edit(k) {
			s.query.set(strings.ReplaceAll(s.query.text, "\n", " "))
			s.found = -1
			a.seek(len(a.history.lines))
		}
	}
}

// seek finds the next older line, and stays where it is when there is none.
func (a *ask) seek(from int) {
	if a.search.query.text == "" {
		a.search.found = -1
		return
	}
	shown := a.search.found
	for i := a.history.before(from, a.search.query.text); i >= 0; i = a.history.before(i, a.search.query.text) {
		if shown < 0 || a.history.lines[i] != a.history.lines[shown] {
			a.search.found = i
			return
		}
	}
}

// completing asks for the candidates: one is taken, of several what they have in common, and only when that is there
// already they are listed.
func (a *ask) completing() {
	if a.complete == nil {
		return
	}
	from := strings.LastIndexAny(a.line.text[:a.line.at], " \t\n\u3000") + 1
	if from > 0 && strings.HasPrefix(a.line.text[from-1:], "\u3000") {
		from += len("\u3000") - 1
	}
	word := a.line.text[from:a.line.at]
	items := slices.DeleteFunc(slices.Clone(a.complete(a.line.text, a.line.at)),
		func(c Candidate) bool { return c.Insert == "" })
	if len(items) == 0 {
		a.note = a.text("tui.prompt.no_completion")
		return
	}
	common := items[0].Insert
	for _, c := range items[1:] {
		common = prefix(common, c.Insert)
	}
	if len(items) == 1 || len(common) > len(word) && strings.HasPrefix(strings.ToLower(common), strings.ToLower(word)) {
		a.replace(from, common)
		return
	}
	a.list = &list{items: items, at: -1, from: from, word: word}
}

func (a *ask) replace(from int, text string) {
	a.line.erase(from, a.line.at)
	a.line.insert(clean(text))
}

// prefix returns what two texts begin with, in whole characters.
func prefix(x, y string) string {
	n := 0
	for n < len(x) {
		c := clusterEnd(x[n:])
		if !strings.HasPrefix(y[n:], x[n:n+c]) {
			break
		}
		n += c
	}
	return x[:n]
}

// choosing is what keys mean while a list is open; it reports whether the key was one for the list.
func (a *ask) choosing(k key) bool {
	l := a.list
	step := 0
	switch k.name {
	case "tab", "down", "ctrl+n":
		step = 1
	case "shift+tab", "up", "ctrl+p":
		step = -1
	case "esc", "ctrl+g", "ctrl+c":
		a.replace(l.from, l.word)
		a.list = nil
		return true
	case "enter":
		if l.at >= 0 {
			a.list = nil
			return true
		}
		return false
	default:
		return false
	}
	if l.at < 0 && step < 0 {
		l.at = 0
	}
	l.at = (l.at + step + len(l.items)) % len(l.items)
	a.replace(l.from, l.items[l.at].Insert)
	return true
}

// close leaves the line as it was entered, without what stood below it.
func (a *ask) close() {
	a.list, a.search, a.note = nil, nil, ""
	a.line.move(len(a.line.text))
}

// shape draws the prompt for a terminal of so many columns and rows. No row is as wide as the terminal, so that none
// wraps.
func (a *ask) shape(width, height int) frame {
	w, h := max(width, 12)-1, max(height, 3)
	if a.search != nil {
		return a.shapeSearch(w, h)
	}
	var below []string
	switch {
	case a.list != nil:
		below = a.listed(w, min(8, max(1, h/2)))
	case a.note != "":
		for _, l := range term.Wrap(a.note, w-2) {
			below = append(below, "  "+a.style.Dim(cut(l, w-2, a.style)))
		}
	}
	below = below[:min(len(below), h-1)]
	above, head, plain := a.invite(w)
	f := a.rows(head, plain, w)
	f.rows, f.row = append(above, f.rows...), f.row+len(above)
	if over := len(f.rows) + len(below) - h; over > 0 {
		f = around(f, max(1, len(f.rows)-over))
	}
	f.rows = append(f.rows, below...)
	return f
}

// around keeps so many rows of a frame, the one with the cursor among them.
func around(f frame, n int) frame {
	from := min(max(0, f.row-n/2), max(0, len(f.rows)-n))
	f.rows = slices.Clone(f.rows[from:min(len(f.rows), from+n)])
	f.row -= from
	return f
}

// invite is what stands before the line: rows above it, and what it begins with.
func (a *ask) invite(w int) (above []string, painted, plain string) {
	if a.question == "" {
		painted, plain = a.head(w)
		return nil, painted, plain
	}
	for _, l := range strings.Split(a.question, "\n") {
		above = append(above, term.Wrap(l, w)...)
	}
	last := len(above) - 1
	if plain = above[last] + " "; term.Width(plain) <= w-12 {
		return above[:last], plain, plain
	}
	plain = "› "
	if !a.style.Unicode {
		plain = "> "
	}
	return above, a.style.Cyan(plain), plain
}

// head is what stands before the line: the state, the mode and the stage, as far as there is room.
func (a *ask) head(w int) (painted, plain string) {
	s := a.status
	paint := a.style.Cyan
	switch s.State {
	case "IDLE", "":
		paint = a.style.Green
	case "BLOCKED":
		paint = a.style.Red
	case "CONFIRMING":
		paint = a.style.Yellow
	}
	arrow, busy := "›", "●"
	if !a.style.Unicode {
		arrow, busy = ">", "*"
	}
	if !s.Busy {
		busy = ""
	}
	build := func(parts ...string) bool {
		painted, plain = "", ""
		add := func(text string, paint func(string) string) {
			if plain != "" {
				plain, painted = plain+" ", painted+" "
			}
			plain, painted = plain+text, painted+paint(text)
		}
		if busy != "" {
			add(busy, a.style.Yellow)
		}
		for i, p := range parts {
			p = display.Line(p)
			switch {
			case p == "":
			case i == 0:
				add(p, func(t string) string { return a.style.Bold(paint(t)) })
			default:
				add(a.style.Middle()+" "+p, a.style.Dim)
			}
		}
		add(arrow, paint)
		plain, painted = plain+" ", painted+" "
		return term.Width(plain) <= w*2/3
	}
	_ = build(s.State, s.Mode, s.Stage) || build(s.State) || build()
	return painted, plain
}

// cell is a character as it is drawn; at is its place in the line.
type cell struct {
	text     string
	cols, at int
}

// rows breaks the line into rows of at most w columns, behind blanks where there are any. The first stands behind the
// head, the others are indented.
func (a *ask) rows(head, plain string, w int) frame {
	const indent = "  "
	f := frame{}
	row, used := head, term.Width(plain)
	put := func(cells []cell, last bool) {
		found := false
		for _, c := range cells {
			if c.at == a.line.at {
				f.row, f.upTo, found = len(f.rows), row, true
			}
			row += c.text
		}
		if last && !found && a.line.at == len(a.line.text) {
			f.row, f.upTo = len(f.rows), row
		}
		f.rows = append(f.rows, row)
		row = indent
	}
	var cells []cell
	for at := 0; at < len(a.line.text); {
		n := clusterEnd(a.line.text[at:])
		c := cell{at: at}
		if a.line.text[at] == '\n' {
			put(append(cells, c), false)
			cells, used = nil, len(indent)
			at += n
			continue
		}
		c.text, c.cols = shown(a.line.text[at : at+n])
		if c.cols > w-len(indent) {
			c.text, c.cols = fit(c.text, w-len(indent), a.style), w-len(indent)
		}
		for used+c.cols > w && (len(cells) > 0 || row != indent) {
			keep := breakAt(cells)
			put(cells[:keep], false)
			cells, used = slices.Clone(cells[keep:]), len(indent)
			for _, c := range cells {
				used += c.cols
			}
		}
		cells, used = append(cells, c), used+c.cols
		at += n
	}
	put(cells, true)
	return f
}

// breakAt returns how many of the cells stay in their row: those up to the last blank, or all when there is none.
func breakAt(cells []cell) int {
	for i := len(cells); i > 0; i-- {
		if cells[i-1].text == " " || cells[i-1].cols == 2 {
			return i
		}
	}
	return len(cells)
}

// listed draws the open list, with at most so many candidates around the chosen one.
func (a *ask) listed(w, most int) []string {
	l := a.list
	wide := 0
	for _, c := range l.items {
		wide = max(wide, term.Width(label(c)))
	}
	wide = min(wide, max(8, w/2))
	from := min(max(0, l.at-most/2), max(0, len(l.items)-most))
	to := min(len(l.items), from+most)
	var out []string
	for i, c := range l.items[from:to] {
		name := fit(label(c), min(wide, w-2), a.style)
		note := cut(display.Line(c.Note), w-wide-4, a.style)
		row := "  " + name
		if i+from == l.at {
			row = a.style.Arrow() + " " + a.style.Bold(name)
		}
		if note != "" {
			row += "  " + a.style.Dim(note)
		}
		out = append(out, strings.TrimRight(row, " "))
	}
	if more := len(l.items) - (to - from); more > 0 {
		out = append(out, a.style.Dim(cut("  "+a.text("tui.more", more), w, a.style)))
	}
	return out
}

func label(c Candidate) string {
	if c.Label == "" {
		return display.Line(strings.TrimSpace(c.Insert))
	}
	return display.Line(c.Label)
}

// shapeSearch draws the search: what is looked for, what was found, and the keys.
func (a *ask) shapeSearch(w, h int) frame {
	s := a.search
	sub := &ask{line: s.query, style: a.style}
	name := cut(a.text("tui.prompt.search"), w/2, a.style)
	f := sub.rows(a.style.Cyan(name)+" ", name+" ", w)
	f = around(f, min(2, h-2))
	found := a.style.Dim(cut("  "+a.text("tui.prompt.not_found"), w, a.style))
	switch {
	case s.found >= 0:
		found = "  " + cut(display.Line(a.history.lines[s.found]), w-2, a.style)
	case s.query.text == "":
		found = ""
	}
	if found != "" {
		f.rows = append(f.rows, found)
	}
	f.rows = append(f.rows, a.style.Dim(cut("  "+a.text("tui.prompt.search_keys"), w, a.style)))
	return f
}
