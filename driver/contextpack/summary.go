package contextpack

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// summary says in a few lines what the workspace is: its size, its languages, where its programs begin, and what its
// most used folders are for.
func (c *corpus) summary(budget int) string {
	var b strings.Builder
	room := (budget - perItem) * tokenUnits
	add := func(line string) bool {
		cost := units(line) + 4
		if line == "" || cost > room {
			return line == ""
		}
		room -= cost
		b.WriteString(line + "\n")
		return true
	}
	ok := add(c.sizes()) && add(list("Programs begin in: ", c.programs(), 6)) && add(c.readme())
	for _, line := range c.busiest(12) {
		if !ok || !add(line) {
			break
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// sizes is a line on the number and kind of files.
func (c *corpus) sizes() string {
	lines, bytes := 0, int64(0)
	count := map[language]int{}
	for _, f := range c.files {
		bytes += max(0, f.stamp.size)
		lines += int(f.lines)
		if f.marks&unread == 0 {
			count[f.lang]++
		}
	}
	langs := make([]language, 0, len(count))
	for l := range count {
		if l != otherText {
			langs = append(langs, l)
		}
	}
	slices.SortFunc(langs, func(a, b language) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	var names []string
	for _, l := range langs[:min(len(langs), 6)] {
		names = append(names, fmt.Sprintf("%s %d", styles[l].name, count[l]))
	}
	out := fmt.Sprintf("%d files, %d lines, %d KiB", len(c.files), lines, (bytes+1023)/1024)
	if len(names) > 0 {
		out += "; files by language: " + strings.Join(names, ", ")
	}
	return out + "."
}

func list(head string, names []string, most int) string {
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > most {
		names, more = names[:most], ", …"
	}
	return head + strings.Join(names, ", ") + more
}

// programs are the files at which programs begin, those nearest to the top first.
func (c *corpus) programs() []string {
	var out []string
	for _, f := range c.files {
		if f.marks&starts != 0 && f.marks&tests == 0 &&
			!inFolder(f.path, "testdata", "examples", "example", "third_party") {
			out = append(out, f.path)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return out
}

// readme is what the project says of itself.
func (c *corpus) readme() string {
	for _, f := range c.files {
		if !strings.Contains(f.path, "/") && strings.HasPrefix(strings.ToLower(f.path), "readme") && f.about != "" {
			return f.path + ": " + oneLine(f.about, 160)
		}
	}
	return ""
}

// busiest are lines on the folders whose declarations are used most, with what their package says of itself.
func (c *corpus) busiest(most int) []string {
	type folder struct {
		dir, about string
		used       int
	}
	byDir := map[string]*folder{}
	for i, f := range c.files {
		if f.marks&(tests|generated|unread) != 0 || !styles[f.lang].code {
			continue
		}
		d := byDir[c.dirs[i]]
		if d == nil {
			d = &folder{dir: c.dirs[i]}
			byDir[d.dir] = d
		}
		for _, s := range f.symbols {
			if len(c.declaring(s.name)) <= maxNamed {
				d.used += int(c.users[s.name])
			}
		}
		if f.about != "" && (d.about == "" || path.Base(f.path) == "doc.go") {
			d.about = f.about
		}
	}
	all := make([]*folder, 0, len(byDir))
	for _, d := range byDir {
		if d.about != "" {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b *folder) int { return cmp.Or(b.used-a.used, cmp.Compare(a.dir, b.dir)) })
	var out []string
	for _, d := range all[:min(len(all), most)] {
		out = append(out, d.dir+": "+oneLine(d.about, 110))
	}
	return out
}
