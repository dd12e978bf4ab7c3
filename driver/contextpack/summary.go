package contextpack

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// summary says in a few lines what the workspace is: its size, the kinds of its files, where its programs begin, what
// its README begins with, and what the directories with most sources are for.
func (s *scanned) summary(budget int) string {
	lines, bytes := 0, int64(0)
	kinds, sources, about := map[string]int{}, map[string]int{}, map[string]string{}
	var programs []string
	readme := ""
	for _, f := range s.files {
		lines, bytes = lines+f.lines, bytes+f.size
		dir, base := path.Dir(f.path), path.Base(f.path)
		if ext := path.Ext(base); f.text && ext != "" && ext != base {
			kinds[ext]++
		}
		if dir == "." && strings.HasPrefix(strings.ToLower(base), "readme") && f.about != "" && readme == "" {
			readme = f.path + ": " + f.about
		}
		if !isCode(f.path) || f.quality() < 1 {
			continue
		}
		if strings.Contains(" main __main__ manage server ", " "+stemOf(base)+" ") {
			programs = append(programs, f.path)
		}
		sources[dir]++
		if f.about != "" && (about[dir] == "" || base == "doc.go") {
			about[dir] = dir + ": " + clip(f.about, 110)
		}
	}
	size := fmt.Sprintf("%d files, %d lines, %d KiB", len(s.files), lines, (bytes+1023)/1024)
	for i, ext := range most(kinds)[:min(len(kinds), 6)] {
		size += []string{"; files by extension: ", ", "}[min(i, 1)] + fmt.Sprintf("%s %d", ext, kinds[ext])
	}
	slices.SortStableFunc(programs, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	out := []string{size + "."}
	if len(programs) > 0 {
		out = append(out, "Programs begin in: "+strings.Join(programs[:min(len(programs), 6)], ", "))
	}
	out = append(out, readme)
	for _, dir := range most(sources)[:min(len(sources), 12)] {
		out = append(out, about[dir])
	}
	return fitting(out, (budget-perItem)*tokenUnits)
}

// most returns the keys of counts, the highest first.
func most(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// fitting joins lines as far as there is room for them.
func fitting(lines []string, room int) string {
	var out []string
	for _, line := range lines {
		if line == "" {
			continue
		}
		if room -= units(line + "\n"); room < 0 {
			break
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
