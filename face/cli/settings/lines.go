package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/face/cli/term"
)

// Line is a setting as it is in force.
type Line struct {
	Name  string   `json:"name"`
	Value []string `json:"value"`
	// Source is the place that it comes from, or "default".
	Source string `json:"source"`
	Env    string `json:"env"`
	// Meaning says what it does, in the language of the person. Values are all that it takes, where they can be
	// counted.
	Meaning string   `json:"meaning"`
	Values  []string `json:"values,omitempty"`
	// Own says that the user's own file sets it.
	Own bool `json:"-"`
}

// line is the setting as it is in c.
func (s Setting) line(c *Config, text Text) Line {
	source := cmp.Or(c.sources[s.Name], "default")
	own := c.File != "" && strings.HasPrefix(source, c.File+":")
	return Line{s.Name, append([]string{}, s.get(c)...), source, s.env(), s.meaning(text), s.values, own}
}

// Lines are the settings in force: those that there always are, and those of single agents and servers that a file
// sets.
func (c Config) Lines(text Text) []Line {
	named := all()
	for _, name := range slices.Sorted(maps.Keys(c.sources)) {
		if s, ok := findSetting(name); ok && !slices.Contains(settingNames(), name) {
			named = append(named, s)
		}
	}
	var out []Line
	for _, s := range named {
		out = append(out, s.line(&c, text))
	}
	return out
}

// DefaultOf is a setting as it is where nothing is set; ok is false where there is no such setting.
func DefaultOf(name string, text Text) (line Line, ok bool) {
	s, ok := findSetting(name)
	if !ok {
		return Line{}, false
	}
	c := Default()
	return s.line(&c, text), true
}

// Template is a configuration file in which every setting stands as a comment with its default; a project's has those
// alone that it may set.
func Template(project bool, text Text) string {
	var b strings.Builder
	b.WriteString("# " + text("cli.config.template") + "\n")
	c := Default()
	section := ""
	for _, s := range all() {
		old := s.get(&c)
		if project && !s.project(old, old) {
			continue
		}
		head, rest, nested := strings.Cut(s.Name, ".")
		indent, name := "", s.Name
		if nested {
			if head != section {
				b.WriteString("#" + head + ":\n")
			}
			indent, name = "  ", rest
		}
		section = head
		value := strings.Join(old, ", ")
		if s.List {
			value = "[" + value + "]"
		} else if value == "" {
			value = `""`
		}
		for _, l := range term.Wrap(s.meaning(text), 96) {
			b.WriteString("#" + indent + "# " + l + "\n")
		}
		fmt.Fprintf(&b, "#%s%s: %s\n", indent, name, value)
	}
	return b.String()
}
