package effect

import "strings"

// DiffStat counts the lines of a unified diff by file.
func DiffStat(diff string) []FileStat {
	var out []FileStat
	for l := range strings.SplitSeq(diff, "\n") {
		if rest, ok := strings.CutPrefix(l, "diff --git "); ok {
			_, name, _ := strings.Cut(rest, " b/")
			out = append(out, FileStat{Path: name, Status: "M"})
			continue
		}
		if len(out) == 0 {
			continue
		}
		f := &out[len(out)-1]
		switch {
		case strings.HasPrefix(l, "new file "):
			f.Status = "A"
		case strings.HasPrefix(l, "deleted file "):
			f.Status = "D"
		case strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++"):
			f.Added++
		case strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "---"):
			f.Removed++
		}
	}
	return out
}
