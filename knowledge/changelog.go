package knowledge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/solution"
)

// Kind is what an entry of the CHANGELOG tells of.
type Kind string

// The kinds of entries. The first five are changes that a flow made; OutOfScope is a tweak that a person forced beyond the
// limits of a tweak, RolledBack what ~rollback restored, and RiskConfirmed that a person confirmed an EHRB risk.
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
	idForm        = pattern(`^[A-Za-z0-9._-]{1,64}$`)
	dayForm       = pattern(`^(?:.*[^0-9])?(\d{4}-\d{2}-\d{2})(?:[^0-9].*)?$`)
	entryForm     = pattern(`^[-*] (?:(\d\d:\d\d) )?(?:\*\*(.+?)\*\*[:：] )?(.*)$`)
	idAt          = pattern(`\s*<!-- pawl:([A-Za-z0-9._-]{1,64}) -->$`)
	linkForm      = pattern(`^\[(.*)\]\(<?(.*?)/?>?\)$`)
)

// In writes the entry in a language, without its day and its kind.
func (e Entry) In(l Language) []string {
	head := "- " + e.At.UTC().Format("15:04") + " "
	if m := tidy(e.Modules); len(m) > 0 {
		head += "**" + prose(strings.Join(m, ", ")) + "**: "
	}
	head += prose(e.Text)
	if e.ID != "" {
		head += " <!-- pawl:" + e.ID + " -->"
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
	solution.Text
	days []day
	open bool
}

func readLog(file string, data []byte) (*log, error) {
	if bad, is := solution.Unreadable(file, data); is {
		return nil, bad.Error().In("knowledge.ReadChangelog")
	}
	g := &log{Text: solution.TextOf(string(data))}
	var f solution.Fence
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
	for i := range g.Lines {
		line := g.Content(i)
		level, title, _ := solution.Heading(line)
		if f.Open() || level == 0 || level > 3 {
			f.Next(line)
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
		m := dayForm().FindStringSubmatch(title)
		if in = level == 2 && m != nil; in {
			if _, err := time.Parse(time.DateOnly, m[1]); err != nil {
				in = false
				continue
			}
			g.days = append(g.days, day{date: m[1], from: i})
		}
	}
	end(len(g.Lines))
	g.open = f.Open()
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

// ReadChangelog reads the entries of a CHANGELOG or a shard in the order of the file, whoever wrote them: the items that begin
// a line in a section whose heading has a day in it. An item under a heading that is none of the kinds has the kind "".
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
	var f solution.Fence
	for i := d.from + 1; i < d.to; i++ {
		line := g.Content(i)
		if level, title, _ := solution.Heading(line); level == 3 && !f.Open() {
			kind = kindOf(title)
			continue
		}
		f.Next(line)
		m := entryForm().FindStringSubmatch(line)
		switch {
		case f.Open():
		case m != nil:
			e := Entry{At: date, Kind: kind, Line: i + 1}
			if at, err := time.Parse(minute, d.date+" "+m[1]); err == nil {
				e.At = at
			}
			if id := idAt().FindStringSubmatch(m[3]); id != nil {
				e.ID = id[1]
				m[3] = strings.TrimSuffix(m[3], id[0])
			}
			e.Modules, e.Text = names(m[2]), unprose(m[3])
			out = append(out, e)
		case len(out) > 0:
			out[len(out)-1].detail(line)
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
		if m := linkForm().FindStringSubmatch(value); m != nil {
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

// Log returns a CHANGELOG with an entry added: behind the last of its kind in its day, below a heading of its own where the
// day has none, in a day of its own where there is none. Days stand from the newest to the oldest. Every line that was there
// stays, in its order. An entry whose ID stands in the file already is not added. A new file has a title. The error of a file
// that is no text, of an entry without a text, of an unknown kind or a bad ID is CodeInvalid.
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
		return "", pawl.Fail(pawl.CodeInvalid, "knowledge.bad_kind", solution.Clip(string(e.Kind), 40)).In("knowledge.Log")
	case e.ID != "" && !idForm().MatchString(e.ID):
		return "", pawl.Fail(pawl.CodeInvalid, "knowledge.bad_id", solution.Clip(oneLine(e.ID), 80)).In("knowledge.Log")
	case e.At.UTC().Year() < 2000 || e.At.UTC().Year() > 9999:
		return "", pawl.Fail(pawl.CodeInvalid, "knowledge.bad_time", e.At.UTC().Format(minute)).In("knowledge.Log")
	}
	if e.ID != "" && strings.Contains(string(data), "<!-- pawl:"+e.ID+" -->") {
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
	for to > from+1 && strings.TrimSpace(g.Content(to-1)) == "" {
		to--
	}
	return to
}

// insert adds lines. A heading that follows right behind keeps a blank line above it, and where a block of code is still open
// at the place nothing can be added.
func (g *log) insert(at int, lines []string) (string, error) {
	var f solution.Fence
	for i := range at {
		f.Next(g.Content(i))
	}
	if f.Open() {
		return "", Finding{File: ChangelogName, Line: at, Key: "knowledge.block_open"}.Error().In("knowledge.Log")
	}
	if at < len(g.Lines) && strings.HasPrefix(g.Content(at), "#") && lines[len(lines)-1] != "" {
		lines = append(lines, "")
	}
	if lines[0] == "" && at > 0 && strings.TrimSpace(g.Content(at-1)) == "" {
		lines = lines[1:]
	}
	// Behind a heading Markdown needs no blank line, but people put one, and behind a paragraph a list needs one.
	if strings.HasPrefix(lines[0], "- ") && at > 0 && strings.HasPrefix(g.Content(at-1), "#") {
		lines = append([]string{""}, lines...)
	}
	return splice(g.Text, at, at, lines).String(), nil
}

// Shards are what a CHANGELOG becomes when it holds more than 200 entries: Main is CHANGELOG.md, Years the shards to write, by
// name.
type Shards struct {
	Main  string
	Years map[string]string
}

// ShardName returns the name of the shard of a year.
func ShardName(year string) string { return fmt.Sprintf("CHANGELOG_%s.md", year) }

// Shard moves the days of past years out of a CHANGELOG that holds more than 200 entries, each into the shard of its year; old
// holds the shards that there are, by name. The newest year stays, however long it is, because it is still being written.
// Days move whole, byte for byte, with whatever people wrote in them, and lines outside of days stay. Write the shards
// first and CHANGELOG.md last: a day that stands in its shard already is not added again, so that it can be repeated after a
// crash. With nothing to move the result is the CHANGELOG and no shards.
func Shard(data []byte, old map[string][]byte, l Language) (Shards, error) {
	g, err := readLog(ChangelogName, data)
	if err != nil {
		return Shards{}, err
	}
	if g.open {
		return Shards{}, Finding{File: ChangelogName, Line: len(g.Lines), Key: "knowledge.block_open"}.Error().In("knowledge.Shard")
	}
	out := Shards{Main: string(data)}
	n, newest := 0, ""
	for _, d := range g.days {
		n += len(g.entries(d))
		newest = max(newest, d.date[:4])
	}
	if n <= MaxEntries {
		return out, nil
	}
	moved := map[string][]string{}
	var keep []string
	from := 0
	for _, d := range g.days {
		if d.date[:4] == newest {
			continue
		}
		keep = append(keep, g.Lines[from:d.from]...)
		from = d.to
		name := ShardName(d.date[:4])
		moved[name] = append(moved[name], strings.Join(g.Lines[d.from:d.to], ""))
	}
	if len(moved) == 0 {
		return out, nil
	}
	out.Main = solution.Text{Mark: g.Mark, Lines: append(keep, g.Lines[from:]...)}.String()
	out.Years = map[string]string{}
	for name, days := range moved {
		s, err := appended(name, old[name], days, l)
		if err != nil {
			return Shards{}, err
		}
		out.Years[name] = s
	}
	return out, nil
}

// appended adds days to a shard.
func appended(name string, data []byte, days []string, l Language) (string, error) {
	g, err := readLog(name, data)
	if err != nil {
		return "", err
	}
	if g.open {
		return "", Finding{File: name, Line: len(g.Lines), Key: "knowledge.block_open"}.Error().In("knowledge.Shard")
	}
	have := map[string]bool{}
	for _, d := range g.days {
		have[strings.TrimSpace(strings.Join(g.Lines[d.from:d.to], ""))] = true
	}
	s := string(data)
	if strings.TrimSpace(strings.TrimPrefix(s, solution.ByteOrderMark)) == "" {
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
	return s, nil
}
