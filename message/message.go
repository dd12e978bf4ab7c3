// Package message is the one catalogue of user-facing text, English and 简体中文. Code elsewhere names an entry by key and
// passes arguments; only the faces (cli, web, tui, mcp) turn keys into text. State names, identifiers and flags are data
// and are never translated. The package imports nothing of ours but the root, and nothing of it is mutable.
package message

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl"
)

// Lang is a language of the catalogue.
type Lang string

// The languages that the catalogue holds in full.
const (
	English Lang = "en"
	Chinese Lang = "zh-CN"
)

// Entry is one message. En and Zh are formats of package fmt; where the order of arguments differs, they use explicit
// indexes. HintEn and HintZh name the next step and take the same arguments; they may be empty.
type Entry struct {
	En, Zh         string
	HintEn, HintZh string
}

// Table is the part of the catalogue that belongs to one area; the area is the part of its keys before the first dot.
type Table map[string]Entry

// ParseLang picks the catalogue's language for a locale such as "zh_CN.UTF-8", "zh-Hans" or "en_GB"; English is the
// answer to anything else.
func ParseLang(locale string) Lang {
	if strings.HasPrefix(strings.ToLower(locale), "zh") {
		return Chinese
	}
	return English
}

// Lookup returns the entry of a key.
func Lookup(key string) (Entry, bool) {
	for _, p := range partsOf(key) {
		if e, ok := p.entries()[key]; ok {
			return e, true
		}
	}
	return Entry{}, false
}

// Keys returns every key of the catalogue, in no particular order.
func Keys() []string {
	var out []string
	for i := range areas {
		for _, p := range areas[i].parts {
			out = slices.AppendSeq(out, maps.Keys(p.entries()))
		}
	}
	return out
}

// Text renders a message. A key that is not in the catalogue is shown with its arguments rather than hidden.
func (l Lang) Text(key string, args ...any) string {
	e, ok := Lookup(key)
	if !ok {
		return strings.TrimSpace(key + " " + strings.TrimSpace(fmt.Sprintln(args...)))
	}
	return l.format(l.pick(e.En, e.Zh), args)
}

// Hint renders the next step of a message, or "".
func (l Lang) Hint(key string, args ...any) string {
	e, _ := Lookup(key)
	hint := l.pick(e.HintEn, e.HintZh)
	if hint == "" {
		return ""
	}
	return l.format(hint, args)
}

// Error renders an error for a person: its text, its cause where the cause says more, and its hint.
func (l Lang) Error(err error) (text, hint string) {
	var e *pawl.Error
	if !errors.As(err, &e) {
		return err.Error(), ""
	}
	text = l.Text(e.Key, e.Args...)
	if e.Err != nil {
		cause, inner := l.Error(e.Err)
		text += l.pick(": ", "：") + cause
		hint = inner
	}
	if own := l.Hint(e.Key, e.Args...); own != "" {
		hint = own
	}
	return text, hint
}

func (l Lang) pick(en, zh string) string {
	if l == Chinese {
		return zh
	}
	return en
}

// format fills the placeholders. Hints may use fewer arguments than the text, which fmt would report as extra.
func (l Lang) format(f string, args []any) string {
	if !strings.Contains(f, "%") {
		return f
	}
	out := fmt.Sprintf(f, texts(args)...)
	if i := strings.Index(out, "%!(EXTRA"); i >= 0 {
		out = out[:i]
	}
	return out
}

// texts lets strings stand where a format wants a number: the arguments of errors that were kept in the store come back
// as text.
func texts(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		if s, ok := a.(string); ok {
			a = text(s)
		}
		out[i] = a
	}
	return out
}

// text is a string that %d prints as it is.
type text string

// Format implements fmt.Formatter.
func (t text) Format(s fmt.State, verb rune) {
	if verb == 'd' {
		verb = 's'
	}
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), string(t))
}
