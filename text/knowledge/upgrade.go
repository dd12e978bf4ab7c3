package knowledge

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/text/pattern"
	"pawl/text/solution"
)

// MaxUpgrade is the number of files that one upgrade takes over.
const MaxUpgrade = 20_000

// Copy is a file to be copied. From is relative to the old folder, To to the root of pawl's knowledge base.
type Copy struct{ From, To string }

// Takeover is the plan by which an existing knowledge base becomes pawl's: first the old folder is copied to Backup, a
// name beside it that is free, then each file of Copies, none of which exists in pawl's folder. The old folder itself
// stays.
type Takeover struct {
	Backup string
	Copies []Copy
	// Findings tell of the files that are not copied, and why, and of packages that are copied and cannot be carried
	// out.
	Findings []pawl.Problem
}

// moved are the documents of older layouts by the names that they have in this one. A document that the folder holds
// under its own name, too, comes first, and the older one stays in the old folder.
var moved = []struct{ from, to string }{
	{"wiki/modules/", "modules/"},
	{"history/index.md", "archive/_index.md"},
	{"history/_index.md", "archive/_index.md"},
	{"history/", "archive/"},
	{"project.md", ContextName},
	{"wiki/overview.md", IndexName},
	{"wiki/", "wiki/"},
}

// Upgrade plans to take over a folder such as helloagents/, in its layout of today or an older one: folder is its name,
// files its files with slashes, relative to it, existing those that pawl's knowledge base holds, and beside the names
// that stand next to the folder. It opens nothing; whether the documents are fine, Judge says of the copies. Nothing is
// overwritten: a target that exists, in whatever case its letters are, is told of and left alone. The error of a folder
// without a document is CodeNotFound, of too many files CodeInvalid.
func Upgrade(folder string, files, existing, beside []string, at time.Time) (Takeover, error) {
	if len(files) > MaxUpgrade {
		return Takeover{}, pawl.Fail(pawl.CodeInvalid, "knowledge.upgrade_many", len(files),
			MaxUpgrade).In("knowledge.Upgrade")
	}
	taken := map[string]bool{}
	for _, f := range existing {
		taken[strings.ToLower(f)] = true
	}
	var t Takeover
	tell := func(file, key string, args ...any) {
		t.Findings = append(t.Findings, pawl.Problem{File: file, Key: key, Args: args})
	}
	type candidate struct {
		Copy
		older bool
	}
	var all []candidate
	for _, f := range slices.Sorted(slices.Values(files)) {
		to, older := target(f)
		switch {
		case !within(f):
			tell(oneLine(f), "knowledge.upgrade_bad_path")
		case to == "":
			tell(f, "knowledge.upgrade_unknown")
		default:
			all = append(all, candidate{Copy{f, to}, older})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		switch {
		case a.older == b.older:
			return 0
		case a.older:
			return 1
		}
		return -1
	})
	for _, c := range all {
		if low := strings.ToLower(c.To); taken[low] {
			tell(c.From, "knowledge.upgrade_exists", c.To)
		} else {
			taken[low] = true
			t.Copies = append(t.Copies, c.Copy)
		}
	}
	for _, dir := range unfinished(t.Copies) {
		tell(dir, "knowledge.upgrade_package")
	}
	if len(t.Copies) == 0 && len(all) == 0 {
		return Takeover{}, pawl.Fail(pawl.CodeNotFound, "knowledge.upgrade_nothing",
			solution.Clip(oneLine(folder), 80)).In("knowledge.Upgrade")
	}
	slices.SortFunc(t.Copies, func(a, b Copy) int { return strings.Compare(a.To, b.To) })
	t.Backup = backup(folder, beside, at)
	return t, nil
}

// target returns where a file of an old folder goes, "" for one that is none of its documents.
func target(f string) (to string, older bool) {
	for _, m := range moved {
		if strings.HasSuffix(m.from, "/") {
			if rest, ok := strings.CutPrefix(f, m.from); ok && rest != "" {
				return m.to + rest, true
			}
		} else if f == m.from {
			return m.to, true
		}
	}
	switch {
	case f == IndexName, f == ContextName, f == ChangelogName, shardForm.Get().MatchString(f):
		return f, false
	case strings.HasPrefix(f, modulesFolder), strings.HasPrefix(f, "plan/"), strings.HasPrefix(f, "archive/"):
		return f, false
	}
	return "", false
}

var (
	shardForm   = pattern.New(`^CHANGELOG_\d{4}\.md$`)
	packageForm = pattern.New(`^plan/(\d{12}_[^/]+)/`)
)

// within reports whether a path is one below its folder, written in the only way that there is of writing it.
func within(f string) bool {
	return f != "" && path.Clean(f) == f && !path.IsAbs(f) && f != "." && f != ".." && !strings.HasPrefix(f, "../") &&
		!strings.ContainsAny(f, "\\:") && f == oneLine(f)
}

// unfinished returns the packages in plan/ that lack one of their two files.
func unfinished(copies []Copy) []string {
	has := map[string]int{}
	var order []string
	for _, c := range copies {
		m := packageForm.Get().FindStringSubmatch(c.To)
		if m == nil {
			continue
		}
		if _, ok := has[m[1]]; !ok {
			order = append(order, m[1])
			has[m[1]] = 0
		}
		if c.To == m[0]+"proposal.md" || c.To == m[0]+"tasks.md" {
			has[m[1]]++
		}
	}
	return slices.DeleteFunc(order, func(p string) bool { return has[p] == 2 })
}

// backup returns the name of the backup, FOLDER_backup_YYYYMMDDHHMM with _v2 and so on where it is taken.
func backup(folder string, beside []string, at time.Time) string {
	taken := map[string]bool{}
	for _, b := range beside {
		taken[strings.ToLower(b)] = true
	}
	stem := strings.TrimSuffix(folder, "/") + "_backup_" + at.UTC().Format("200601021504")
	name := stem
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s_v%d", stem, n)
	}
	return name
}
