package knowledge

import (
	"maps"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/text/markdown"
	"pawl/text/pattern"
	"pawl/text/solution"
)

// Kind is what an entry of the CHANGELOG tells of.
type Kind string

// The kinds of entries. The first five are changes that a flow made; OutOfScope is a tweak that a person forced beyond
// the limits of a tweak, RolledBack what ~rollback restored, and RiskConfirmed that a person confirmed an EHRB risk.
const (
	Added         Kind = "added"
	Changed       Kind = "changed"
	Fixed         Kind = "fixed"
	Removed       Kind = "removed"
	Tweaked       Kind = "tweaked"
	OutOfScope    Kind = "out_of_scope"
	RolledBack    Kind = "rolled_back"
	RiskConfirmed Kind = "risk_confirmed"
)

// kinds are the headings of entries in a day; the words of the last three are the seed's.
var kinds = []struct {
	kind Kind
	word word
}{
	{Added, word{"新增", "Added", []string{"添加"}}},
	{Changed, word{"变更", "Changed", []string{"修改", "优化"}}},
	{Fixed, word{"修复", "Fixed", nil}},
	{Removed, word{"移除", "Removed", []string{"删除"}}},
	{Tweaked, word{"微调", "Tweaked", []string{"快速修改"}}},
	{OutOfScope, word{"超范围微调", "Tweaked beyond its scope", nil}},
	{RolledBack, word{"回滚", "Rolled back", []string{"Rollback"}}},
	{RiskConfirmed, word{"用户确认EHRB风险", "EHRB risk confirmed by the user", nil}},
}

// Entry is an entry of the CHANGELOG. Its texts are plain text.
type Entry struct {
	// At is a minute in UTC; in an entry that a person wrote without a time it is the beginning of the day.
	At      time.Time
	Kind    Kind
	Modules []string
	Text    string
	// Package is the name of the solution package, Folder where it is, relative to the CHANGELOG.
	Package, Folder string
	Decisions       []string
	Commit          string
	Files           []string
	// ID tells the entry from all others and keeps it from being added twice: letters, digits, dots, dashes and
	// underscores, at most 64; "" for none.
	ID string
	// Line is where an entry that was read begins.
	Line int
}

var (
	wordPackage   = word{"方案", "Package", []string{"方案包"}}
	wordDecisions = word{"决策", "Decisions", nil}
	wordCommit    = word{"提交", "Commit", nil}
	titleLog      = word{"变更日志", "Changelog", nil}
	titleYears    = word{"往年记录", "Earlier years", nil}
	idForm        = pattern.New(`^[A-Za-z0-9._-]{1,64}$`)
	dayForm       = pattern.New(`^(?:.*[^0-9])?(\d{4}-\d{2}-\d{2})(?:[^0-9].*)?$`)
	entryForm     = pattern.New(`^[-*] (?:(\d\d:\d\d) )?(?:\*\*(.+?)\*\*[:：] )?(.*)$`)
	idAt          = pattern.New(`\s*<!-- pawl:([A-Za-z0-9._-]{1,64}) -->$`)
	linkForm      = pattern.New(`^\[(.*)\]\(<?(.*?)/?>?\)$`)
)

// In writes the entry in a language, without its day and its kind.
func (e Entry) In(l Language) []string {
	head := "- " + e.At.UTC().Format("15:04") + " "
	if m := tidy(e.Modules); len(m) > 0 {
		head += "**" + prose(strings.Join(m, ", ")) + "**: "
	}
	head += prose(e.Text)
	if e.ID != "" {
		head += " " + e.mark()
	}
	out := []string{head}
	sub := func(w word, s string) { out = append(out, "  - "+w.in(l)+": "+s) }
	if s := oneLine(e.Package); s != "" {
		if f := strings.TrimRight(oneLine(e.Folder), "/"); f != "" && !strings.ContainsAny(f, "<>()\\") {
			sub(wordPackage, "["+prose(s)+"](<"+f+"/>)")
		} else {
			sub(wordPackage, prose(s))
		}
	}
	if d := tidy(e.Decisions); len(d) > 0 {
		sub(wordDecisions, prose(strings.Join(d, ", ")))
	}
	if s := oneLine(e.Commit); s != "" {
		sub(wordCommit, code(s))
	}
	for _, f := range tidy(e.Files) {
		sub(wordFiles, code(f))
	}
	return out
}

// day is a section of the CHANGELOG: the lines from its heading up to the next heading of its level or above.
type day struct {
	date     string
	from, to int
	groups   []group
}

// group is the entries of a kind in a day. Its heading stands at from; from is -1 for lines above the first heading.
type group struct {
	kind     Kind
	from, to int
}

// log is a CHANGELOG with its days found. end is where the last of the lines that are not in an open block ends.
type log struct {
	markdown.Text
	rows []markdown.Row
	days []day
	open bool
}

func readLog(file string, data []byte) (*log, error) {
	if bad, is := solution.Unreadable(file, data); is {
		return nil, bad.Error(solution.At).In("knowledge.ReadChangelog")
	}
	g := &log{Text: markdown.TextOf(string(data))}
	var open int
	g.rows, open = g.Rows(markdown.Rules{})
	g.open = open > 0
	in := false
	end := func(i int) {
		if !in {
			return
		}
		d := &g.days[len(g.days)-1]
		d.to = i
		if n := len(d.groups); n > 0 {
			d.groups[n-1].to = i
		}
	}
	for i, row := range g.rows {
		level, title := row.Heading()
		if level == 0 || level > 3 {
			continue
		}
		if level == 3 {
			if in {
				d := &g.days[len(g.days)-1]
				if n := len(d.groups); n > 0 {
					d.groups[n-1].to = i
				}
				d.groups = append(d.groups, group{kind: kindOf(title), from: i})
			}
			continue
		}
		end(i)
		m := dayForm.Get().FindStringSubmatch(title)
		if in = level == 2 && m != nil; in {
			if _, err := time.Parse(time.DateOnly, m[1]); err != nil {
				in = false
				continue
			}
			g.days = append(g.days, day{date: m[1], from: i})
		}
	}
	end(len(g.Lines))
	return g, nil
}

func kindOf(title string) Kind {
	for _, k := range kinds {
		if k.word.is(title) {
			return k.kind
		}
	}
	return ""
}

// ReadChangelog reads the entries of a CHANGELOG or a shard in the order of the file, whoever wrote them: the items
// that begin a line in a section whose heading has a day in it. An item under a heading that is none of the kinds has
// the kind "".
func ReadChangelog(file string, data []byte) ([]Entry, error) {
	g, err := readLog(file, data)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, d := range g.days {
		out = append(out, g.entries(d)...)
	}
	return out, nil
}

func (g *log) entries(d day) []Entry {
	var out []Entry
	date, _ := time.Parse(time.DateOnly, d.date)
	kind := Kind("")
	for _, row := range g.rows[d.from+1 : d.to] {
		if level, title := row.Heading(); level == 3 {
			kind = kindOf(title)
			continue
		}
		m := entryForm.Get().FindStringSubmatch(row.Text)
		switch {
		case row.Kind != markdown.Prose:
		case m != nil:
			e := Entry{At: date, Kind: kind, Line: row.N}
			if at, err := time.Parse(minute, d.date+" "+m[1]); err == nil {
				e.At = at
			}
			if id := idAt.Get().FindStringSubmatch(m[3]); id != nil {
				e.ID = id[1]
				m[3] = strings.TrimSuffix(m[3], id[0])
			}
			e.Modules, e.Text = names(m[2]), unprose(m[3])
			out = append(out, e)
		case len(out) > 0:
			out[len(out)-1].detail(row.Text)
		}
	}
	return out
}

func names(s string) []string {
	if s = unprose(s); s == "" {
		return nil
	}
	return tidy(strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '，' || r == '、' }))
}

// detail reads a line below an entry.
func (e *Entry) detail(line string) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "- ")
	key, value, colon := cutColon(rest)
	if !ok || !colon || line == strings.TrimLeft(line, " \t") {
		return
	}
	value = strings.TrimSpace(value)
	switch key = strings.TrimSpace(key); {
	case wordPackage.is(key):
		e.Package = unprose(value)
		if m := linkForm.Get().FindStringSubmatch(value); m != nil {
			e.Package, e.Folder = unprose(m[1]), m[2]
		}
	case wordDecisions.is(key):
		e.Decisions = names(value)
	case wordCommit.is(key):
		e.Commit = uncode(value)
	case wordFiles.is(key):
		e.Files = append(e.Files, uncode(value))
	}
}

// Log returns a CHANGELOG with an entry added: behind the last of its kind in its day, below a heading of its own where
// the day has none, in a day of its own where there is none. Days stand from the newest to the oldest. Every line that
// was there stays, in its order. An entry whose ID stands in the file already is not added. A new file has a title. The
// error of a file that is no text, of an entry without a text, of an unknown kind or a bad ID is CodeInvalid.
func Log(data []byte, e Entry, l Language) (string, error) {
	g, err := readLog(ChangelogName, data)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(kinds, func(k struct {
		kind Kind
		word word
	}) bool {
		return k.kind == e.Kind
	})
	switch {
	case oneLine(e.Text) == "":
		return "", pawl.Fail(pawl.CodeInvalid, "knowledge.no_text").In("knowledge.Log")
	case i < 0:
		return "", pawl.Fail(pawl.CodeInvalid, "knowledge.bad_kind",
			solution.Clip(string(e.Kind), 40)).In("knowledge.Log")
	case e.ID != "" && !idForm.Get().MatchString(e.ID):
		return "", pawl.Fail(pawl.CodeInvalid, "knowledge.bad_id", solution.Clip(oneLine(e.ID), 80)).In("knowledge.Log")
	case e.At.UTC().Year() < 2000 || e.At.UTC().Year() > 9999:
		return "", pawl.Fail(pawl.CodeInvalid, "knowledge.bad_time", e.At.UTC().Format(minute)).In("knowledge.Log")
	}
	if e.ID != "" && strings.Contains(string(data), e.mark()) {
		return string(data), nil
	}
	if strings.TrimSpace(strings.Join(g.Lines, "")) == "" {
		g.Lines = []string{"# " + titleLog.in(l) + "\n"}
	}
	title := "### " + kinds[i].word.in(l)
	return g.add(e, title, l)
}

func (g *log) add(e Entry, title string, l Language) (string, error) {
	date, entry := e.At.UTC().Format(time.DateOnly), e.In(l)
	for _, d := range g.days {
		if d.date != date {
			continue
		}
		for _, k := range d.groups {
			if k.kind == e.Kind {
				return g.insert(g.last(k.from, k.to), entry)
			}
		}
		return g.insert(g.last(d.from, d.to), append([]string{"", title, ""}, entry...))
	}
	body := append([]string{"## " + date, "", title, ""}, entry...)
	for _, d := range g.days {
		if d.date < date {
			return g.insert(d.from, append(body, ""))
		}
	}
	if n := len(g.days); n > 0 {
		return g.insert(g.last(g.days[n-1].from, g.days[n-1].to), append([]string{""}, body...))
	}
	return g.insert(g.last(0, len(g.Lines)), append([]string{""}, body...))
}

// last returns the place behind the last line of a range that holds something.
func (g *log) last(from, to int) int {
	for to > from+1 && g.Blank(to-1) {
		to--
	}
	return to
}

// insert adds lines. A heading that follows right behind keeps a blank line above it, and where a block of code is
// still open at the place nothing can be added.
func (g *log) insert(at int, lines []string) (string, error) {
	if _, open := (markdown.Text{Lines: g.Lines[:at]}).Rows(markdown.Rules{}); open > 0 {
		return "", pawl.Problem{File: ChangelogName, Line: at,
			Key: "knowledge.block_open"}.Error(solution.At).In("knowledge.Log")
	}
	if at < len(g.Lines) && strings.HasPrefix(g.Content(at), "#") && lines[len(lines)-1] != "" {
		lines = append(lines, "")
	}
	if lines[0] == "" && at > 0 && g.Blank(at-1) {
		lines = lines[1:]
	}
	// Behind a heading Markdown needs no blank line, but people put one, and behind a paragraph a list needs one.
	if strings.HasPrefix(lines[0], "- ") && at > 0 && strings.HasPrefix(g.Content(at-1), "#") {
		lines = append([]string{""}, lines...)
	}
	return g.Splice(at, at, lines).String(), nil
}

// Grown is a CHANGELOG with entries added: Main is CHANGELOG.md, Years are the shards to write, by name. Write the
// shards first and CHANGELOG.md last: a day that stands in its shard already is not added to it again, so that it can
// be repeated after a crash. Unsplit says why a CHANGELOG that was to be split stayed whole, nil where nothing hindered
// it.
type Grown struct {
	Main    string
	Years   map[string]string
	Unsplit error
}

// Grow returns a CHANGELOG with entries added, each as Log adds it, and splits it by year when it holds more than 200
// entries. Shard returns what a shard says, by name, nil where there is none. An entry that stands in the shard of its
// year is not added again. The years before that of the newest entry move, each into its shard; later ones stay,
// because they are still being written. Days move whole, byte for byte, with whatever people wrote in them; lines
// outside of days stay, and a section of CHANGELOG.md names every shard. A CHANGELOG that cannot be split grows whole,
// and one that cannot grow is an error, as Log has them: too large is one of them.
func Grow(data []byte, all []Entry, shard func(name string) ([]byte, error), l Language) (Grown, error) {
	out, year := Grown{Main: string(data)}, ""
	for _, e := range all {
		y := e.At.UTC().Format("2006")
		year = max(year, y)
		if old, err := shard(shardName(y)); err == nil && e.ID != "" && strings.Contains(string(old), e.mark()) {
			continue
		}
		var err error
		if out.Main, err = Log([]byte(out.Main), e, l); err != nil {
			return Grown{}, err
		}
	}
	if main, years, err := split([]byte(out.Main), year, shard, l); err != nil {
		out.Unsplit = err
	} else {
		out.Main, out.Years = main, years
	}
	if bad, is := solution.Unreadable(ChangelogName, []byte(out.Main)); is {
		return Grown{}, bad.Error(solution.At).In("knowledge.Grow")
	}
	return out, nil
}

func (e Entry) mark() string { return "<!-- pawl:" + e.ID + " -->" }

func shardName(year string) string { return "CHANGELOG_" + year + ".md" }

// split moves the days before a year out of a CHANGELOG that holds more than 200 entries. With nothing to move there
// are no shards.
func split(data []byte, year string, shard func(name string) ([]byte, error),
	l Language) (string, map[string]string, error) {
	g, err := readLog(ChangelogName, data)
	if err != nil {
		return "", nil, err
	}
	n := 0
	for _, d := range g.days {
		n += len(g.entries(d))
	}
	if n <= MaxEntries {
		return string(data), nil, nil
	}
	if g.open {
		return "", nil, pawl.Problem{File: ChangelogName, Line: len(g.Lines),
			Key: "knowledge.block_open"}.Error(solution.At).In("knowledge.Grow")
	}
	moved := map[string][]string{}
	var keep []string
	from := 0
	for _, d := range g.days {
		if d.date[:4] >= year {
			continue
		}
		keep = append(keep, g.Lines[from:d.from]...)
		from = d.to
		name := shardName(d.date[:4])
		moved[name] = append(moved[name], strings.Join(g.Lines[d.from:d.to], ""))
	}
	if len(moved) == 0 {
		return string(data), nil, nil
	}
	years := map[string]string{}
	for name, days := range moved {
		old, err := shard(name)
		if err != nil {
			return "", nil, err
		}
		if years[name], err = appended(name, old, days, l); err != nil {
			return "", nil, err
		}
	}
	g.Lines = append(keep, g.Lines[from:]...)
	return named(g.Text, years, l).String(), years, nil
}

// named returns a CHANGELOG with a link to each of the shards that it does not link to yet, the newest first, at the
// top of the section of earlier years, which is made at the end where there is none.
func named(t markdown.Text, years map[string]string, l Language) markdown.Text {
	var links []string
	text := t.String()
	for name := range years {
		if link := "[" + name + "](" + name + ")"; !strings.Contains(text, link) {
			links = append(links, "- "+link)
		}
	}
	slices.Sort(links)
	slices.Reverse(links)
	if len(links) == 0 {
		return t
	}
	rows, _ := t.Rows(markdown.Rules{})
	for _, row := range rows {
		if level, title := row.Heading(); level != 2 || !titleYears.is(title) {
			continue
		}
		at := row.N
		for at < len(t.Lines) && t.Blank(at) {
			at++
		}
		if at == row.N {
			links = append([]string{""}, links...)
		}
		return t.Splice(at, at, links)
	}
	head := []string{"## " + titleYears.in(l), ""}
	n := len(t.Lines)
	if n > 0 && !t.Blank(n-1) {
		head = append([]string{""}, head...)
	}
	return t.Splice(n, n, append(head, links...))
}

// appended adds days to a shard.
func appended(name string, data []byte, days []string, l Language) (string, error) {
	g, err := readLog(name, data)
	if err != nil {
		return "", err
	}
	if g.open {
		return "", pawl.Problem{File: name, Line: len(g.Lines),
			Key: "knowledge.block_open"}.Error(solution.At).In("knowledge.Grow")
	}
	have := map[string]bool{}
	for _, d := range g.days {
		have[strings.TrimSpace(strings.Join(g.Lines[d.from:d.to], ""))] = true
	}
	s := string(data)
	if strings.TrimSpace(strings.TrimPrefix(s, markdown.ByteOrderMark)) == "" {
		s = "# " + titleLog.in(l) + " " + strings.TrimSuffix(strings.TrimPrefix(name, "CHANGELOG_"), ".md") + "\n\n"
	}
	for _, d := range days {
		if have[strings.TrimSpace(d)] {
			continue
		}
		if s != "" && !strings.HasSuffix(s, "\n") {
			s += "\n"
		}
		if !strings.HasSuffix(s, "\n\n") {
			s += "\n"
		}
		s += d
	}
	if bad, is := solution.Unreadable(name, []byte(s)); is {
		return "", bad.Error(solution.At).In("knowledge.Grow")
	}
	return s, nil
}

// auditLog tells of what keeps a CHANGELOG from growing or from being split, of which Judge says nothing because all of
// it can be read.
func auditLog(files map[string][]byte) []pawl.Problem {
	var out []pawl.Problem
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name != ChangelogName && !shardForm.Get().MatchString(name) {
			continue
		}
		g, err := readLog(name, files[name])
		if f, is := findingOf(err); is {
			out = append(out, f)
		} else if err == nil && g.open {
			out = append(out, pawl.Problem{File: name, Line: len(g.Lines), Key: "knowledge.block_open"})
		}
	}
	return out
}
