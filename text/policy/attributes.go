package policy

import (
	"strconv"
	"strings"

	"pawl/text/gitpattern"
)

// Filter is one line of git's attributes that sends files through a filter, or takes a filter away. Git runs the
// filter's program on the content before it stores a file: git-crypt encrypts it, Git LFS replaces it by a pointer.
type Filter struct {
	Dir     string `json:"dir,omitempty"` // directory of the .gitattributes file, "" for the top and for other files
	Pattern string `json:"pattern"`
	Name    string `json:"name,omitempty"` // "" if the line takes the filter away
}

// AttributeFile is the text of a file of attributes and the directory, relative to the top, that its patterns are for.
type AttributeFile struct{ Dir, Text string }

// maxFilters bounds the lines that are stored with a run. Landing asks git about each path, whatever their number.
const maxFilters = 1000

// InspectAttributes returns the lines that set or unset filters, of files in the order of their precedence, the lowest
// first. Every named filter counts, configured or not: a repository whose filter is not set up on this machine holds
// filtered files all the same.
func InspectAttributes(files ...AttributeFile) (out []Filter) {
	macros := map[string]string{}
	for _, f := range files {
		for line := range strings.Lines(f.Text) {
			line = strings.TrimSpace(line)
			pattern, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
			if quoted, err := strconv.QuotedPrefix(line); err == nil && line[0] == '"' {
				pattern, _ = strconv.Unquote(quoted)
				rest = line[len(quoted):]
			}
			name, says := "", false
			for _, word := range strings.Fields(rest) {
				key, value, _ := strings.Cut(word, "=")
				if by, known := macros[word]; known {
					name, says = by, true
				} else if strings.TrimLeft(key, "-!") == "filter" {
					name, says = value, true
				}
			}
			macro, defines := strings.CutPrefix(pattern, "[attr]")
			switch {
			case !says || pattern == "" || pattern[0] == '#':
			case defines:
				macros[macro] = name
			case len(out) < maxFilters:
				out = append(out, Filter{f.Dir, pattern, name})
			}
		}
	}
	return out
}

// FilterOf returns the filter that git sends a file through, "" for none.
func (r Repo) FilterOf(rel string) string {
	for i := len(r.Filters) - 1; i >= 0; i-- {
		if f := r.Filters[i]; gitpattern.Match(f.Dir, f.Pattern, rel) {
			return f.Name
		}
	}
	return ""
}
