// Package conflict reads what git merge-tree says of a merge that does not fit, and puts it into words for people.
package conflict

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"pawl/kernel/effect"
	"pawl/sandbox/git/object"
)

// Clash is a merge that conflicts, as git tells of it.
type Clash struct {
	ours, theirs string // commits, by which git names the sides
	branch       string // what a person calls ours
	paths        map[string]*dispute
}

// dispute is what git says of one path.
type dispute struct {
	stages [4]object.Node // of the base, ours and theirs, from 1
	types  []string       // git's stable names of what is wrong
	said   []string       // git's own words
}

func (m Clash) at(path string) *dispute {
	// Where both sides need the name of a file, git adds the side to one of them.
	path = strings.TrimSuffix(strings.TrimSuffix(path, "~"+m.ours), "~"+m.theirs)
	if m.paths[path] == nil {
		m.paths[path] = &dispute{}
	}
	return m.paths[path]
}

// Read takes up the records of git merge-tree -z behind the tree that it made, of a merge of the commits ours and
// theirs; branch is what a person calls ours: a line "mode object stage<tab>path" for each side of a path, an empty
// record, and for each message the number of its paths, the paths, its type and its words.
func Read(parts []string, ours, theirs, branch string) Clash {
	m := Clash{ours: ours, theirs: theirs, branch: branch, paths: map[string]*dispute{}}
	i := 0
	for ; i < len(parts) && parts[i] != ""; i++ {
		head, path, _ := strings.Cut(parts[i], "\t")
		f := strings.Fields(head)
		if len(f) != 3 || len(f[2]) != 1 || f[2] < "1" || f[2] > "3" {
			continue
		}
		m.at(path).stages[f[2][0]-'0'] = object.Node{Mode: f[0], ID: f[1]}
	}
	for i++; i < len(parts); {
		n, err := strconv.Atoi(parts[i])
		if err != nil || n < 1 || i+n+2 >= len(parts) {
			return m
		}
		paths, kind, said := parts[i+1:i+1+n], parts[i+1+n], strings.TrimSpace(m.named(parts[i+n+2]))
		i += n + 3
		if kind == "Auto-merging" {
			continue
		}
		for _, path := range paths {
			d := m.at(path)
			d.types = append(d.types, kind)
			if !slices.Contains(d.said, said) {
				d.said = append(d.said, said)
			}
		}
	}
	return m
}

// named puts the names of the sides in the place of their ids.
func (m Clash) named(text string) string {
	return strings.NewReplacer(m.ours, m.branch, m.theirs, "work").Replace(text)
}

// kind is what a dispute is about, and ok that it is one: git speaks of paths that are merged as well.
func (d dispute) kind() (kind effect.ConflictKind, ok bool) {
	says := func(words ...string) bool {
		return slices.ContainsFunc(d.types, func(t string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(t, w) })
		})
	}
	base, ours, theirs := d.stages[1], d.stages[2], d.stages[3]
	switch {
	case says("file/directory", "distinct modes"):
		return effect.ConflictType, true
	case says("rename", "file location"):
		return effect.ConflictRenamed, true
	case says("submodule"):
		return effect.ConflictModule, true
	case says("modify/delete") && ours.Absent():
		return effect.ConflictDeletedThere, true
	case says("modify/delete"):
		return effect.ConflictDeletedHere, true
	case says("binary"):
		return effect.ConflictBinary, true
	case ours.Absent() || theirs.Absent():
		return effect.ConflictContent, len(d.types) > 0 || d.stages != [4]object.Node{}
	case ours.ID == theirs.ID && ours.Mode != theirs.Mode:
		return effect.ConflictMode, true
	case base.Absent():
		return effect.ConflictAdded, true
	}
	return effect.ConflictContent, true
}

// Texts are the first paths whose merged text has markers, in order: those whose texts conflicts wants to see.
func (m Clash) Texts() []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(m.paths)) {
		if kind, _ := m.paths[path].kind(); kind == effect.ConflictContent || kind == effect.ConflictAdded {
			out = append(out, path)
		}
	}
	return out[:min(len(out), mostTexts)]
}

// Bounds of what is shown of conflicts: of each, and of all together.
const (
	longestDetail  = 4 << 10
	longestDetails = 32 << 10
	mostTexts      = 20      // merged texts that are read for it
	LargestText    = 1 << 20 // of them, in bytes
)

// Conflicts lists the disputes; texts are merged texts by path.
func (m Clash) Conflicts(texts map[string]string) []effect.Conflict {
	var out []effect.Conflict
	room := longestDetails
	for _, path := range slices.Sorted(maps.Keys(m.paths)) {
		d := m.paths[path]
		kind, ok := d.kind()
		if !ok {
			continue
		}
		detail := strings.Join(d.said, "\n")
		switch {
		case kind == effect.ConflictMode:
			detail += "\n" + d.stages[2].Mode + " " + m.branch + "\n" + d.stages[3].Mode + " work"
		case texts[path] != "":
			detail += "\n" + m.excerpt(texts[path])
		}
		detail = strings.ToValidUTF8(strings.TrimSpace(detail), "�")
		if len(detail) > longestDetail {
			detail = strings.ToValidUTF8(detail[:longestDetail], "") + " …"
		}
		if room -= len(detail); room < 0 {
			detail = ""
		}
		out = append(out, effect.Conflict{Path: path, Kind: kind, Detail: detail})
	}
	return out
}

// around is how many lines are shown before and behind a conflict.
const around = 3

// excerpt is the places of a merged text that have markers, with a few lines around them. A line with three dots stands
// for what is left out.
func (m Clash) excerpt(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	show := make([]bool, len(lines))
	inside := false
	for i, l := range lines {
		begins, ends := strings.HasPrefix(l, "<<<<<<< "+m.ours), strings.HasPrefix(l, ">>>>>>> "+m.theirs)
		inside = inside || begins
		switch {
		case begins || ends:
			lines[i] = m.named(l)
			for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
				show[j] = true
			}
		case inside && strings.HasPrefix(l, "||||||| "):
			lines[i] = "||||||| base"
		}
		show[i] = show[i] || inside
		inside = inside && !ends
	}
	var b strings.Builder
	for i, l := range lines {
		switch {
		case show[i]:
			b.WriteString(strings.TrimSuffix(l, "\r") + "\n")
		case i > 0 && show[i-1]:
			b.WriteString("...\n")
		}
	}
	return b.String()
}
