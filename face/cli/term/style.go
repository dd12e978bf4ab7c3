package term

import "strings"

// Style says how text is decorated. The zero Style is plain ASCII without colour.
type Style struct {
	Color   bool
	Unicode bool
}

// Detect returns the style for a stream. Colour needs a terminal and is turned off by NO_COLOR, by TERM=dumb and by the
// caller; symbols need a UTF-8 locale. An environment that names no locale at all counts as UTF-8, because today's
// terminals are.
func Detect(tty, off bool, env func(string) string) Style {
	s := Style{Color: (tty || forced(env)) && !off && env("NO_COLOR") == "" && env("TERM") != "dumb", Unicode: true}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env(name); v != "" {
			v = strings.ToUpper(v)
			s.Unicode = strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
			break
		}
	}
	return s
}

// forced reports whether somebody wants colour where there is no terminal (CLICOLOR_FORCE).
func forced(env func(string) string) bool {
	v := env("CLICOLOR_FORCE")
	return v != "" && v != "0"
}

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold, Dim, Red, Green, Yellow and Cyan decorate text that holds no control characters of its own.
func (s Style) Bold(t string) string   { return s.paint("1", t) }
func (s Style) Dim(t string) string    { return s.paint("2", t) }
func (s Style) Red(t string) string    { return s.paint("31", t) }
func (s Style) Green(t string) string  { return s.paint("32", t) }
func (s Style) Yellow(t string) string { return s.paint("33", t) }
func (s Style) Cyan(t string) string   { return s.paint("36", t) }

func (s Style) symbol(unicode, ascii string) string {
	if s.Unicode {
		return unicode
	}
	return ascii
}

// OK, Bad, Warn, Dot and Arrow are the symbols in front of lines, coloured; Ellipsis marks what was cut off,
// None stands for a value that is empty.
func (s Style) OK() string       { return s.Green(s.symbol("✓", "+")) }
func (s Style) Bad() string      { return s.Red(s.symbol("✗", "x")) }
func (s Style) Warn() string     { return s.Yellow("!") }
func (s Style) Dot() string      { return s.Dim(s.symbol("•", "-")) }
func (s Style) Arrow() string    { return s.Cyan(s.symbol("→", ">")) }
func (s Style) Ellipsis() string { return s.symbol("…", "...") }
func (s Style) To() string       { return s.symbol("→", "->") }
func (s Style) None() string     { return s.symbol("—", "-") }
func (s Style) Middle() string   { return s.symbol("·", "-") }
