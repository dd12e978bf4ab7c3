package allow

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/internal/golden"
)

// TestPage keeps docs/readable.md the list that the sandbox goes by.
func TestPage(t *testing.T) {
	var b strings.Builder
	code := func(list []string) string {
		for i, p := range list {
			list[i] = "`" + p + "`"
		}
		return strings.Join(list, ", ")
	}
	row := func(p Place, dir string) {
		var shown, clean, hidden []string
		for part := range strings.FieldsSeq(p.Parts) {
			switch name := strings.TrimLeft(part, "!?"); part[0] {
			case '!':
				hidden = append(hidden, name)
			case '?':
				clean = append(clean, name)
			default:
				shown = append(shown, name)
			}
		}
		if p.Variable != "" {
			if dir != "" {
				dir += " or "
			}
			dir += "`$" + p.Variable + "`"
		}
		b.WriteString("| " + dir + " | " + code(shown) + " | " + code(clean) + " | " + code(hidden) + " |\n")
	}
	head := "\n| directory | readable | readable without secrets | hidden |\n|---|---|---|---|\n"
	b.WriteString(`# What commands can read

Everything below ` + "`/`" + ` is hidden from commands, except what this page lists, the work itself, and what you name in the setting
` + "`readable`" + `. The sandbox goes by the same list (package ` + "`sandbox/allow`" + `), which this page is generated from. A file in the third column
is readable if it holds no login and no secret. ` + "`pawl doctor`" + ` and a failed check name what a project needs and cannot read.

## System

` + code(append([]string{}, whole...)) + ` are readable. Of other system directories, these parts are:
` + head)
	for _, p := range SystemPlaces {
		row(p, "`"+p.Dir+"`")
	}
	b.WriteString("\nOf an installed package in `/opt` or `/usr/local`, " + code(strings.Fields(prefixParts)) +
		" are readable. Of a program in `PATH` that is a link, the file and its package are.\n\n## Git directories\n\n" +
		"Of the git directories that commands see, these parts are readable, `config` and `config.worktree` without what may be a login:\n" +
		code(slices.Clone(gitParts)) + ".\n\n## Homes\n\n" +
		"Where a variable names another directory, the same parts of that directory are readable.\n" + head)
	for _, p := range Toolchains {
		dir := ""
		if p.Dir != "" {
			dir = "`" + filepath.Join("~", p.Dir) + "`"
		}
		row(p, dir)
	}
	golden.Check(t, filepath.Join("..", "..", "docs", "readable.md"), b.String())
}
