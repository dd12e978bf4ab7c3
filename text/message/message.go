// Package message is the one catalogue of user-facing text, English and 简体中文. Code elsewhere names an entry by key and
// passes arguments; only the faces (cli, web, tui, mcp), and the documents that the kernel projects, turn keys into
// text. State names, identifiers and flags are data and are never translated. The package imports nothing of ours but
// the root, and nothing of it is mutable.
//
// The texts stand in catalogue/en and catalogue/zh-CN, in one file for each area, which is the part of a key before its
// first dot. A line is `key = text`, or `key.hint = text` for the next step of a message, and lines are sorted by their
// keys. All that follows the first " = " up to the end of the line is the text; in it `\n`, `\t` and `\\` stand for a
// line end, a tab and a backslash, and {N:one|other} for the form that the number in argument N takes. Lines that begin
// with # are comments.
//
// The tables of the machines and of their composition say in English, in their code, what their rows are; the file of
// rules in catalogue/zh-CN has the Chinese of it and no counterpart in English.
package message

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"pawl"
)

// Lang is a language of the catalogue.
type Lang string

// The languages of the catalogue. Whatever has a key has a text in both.
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

// ParseLang picks the catalogue's language for a locale such as "zh_CN.UTF-8", "zh-Hans" or "en_GB"; English is the
// answer to anything else.
func ParseLang(locale string) Lang {
	if strings.HasPrefix(strings.ToLower(locale), "zh") {
		return Chinese
	}
	return English
}

// Lookup returns the entry of a key, in both languages. For one of them, Format, Text and Hint read less.
func Lookup(key string) (Entry, bool) {
	en, ok := English.Format(key)
	if !ok {
		return Entry{}, false
	}
	zh, _ := Chinese.Format(key)
	hintEn, _ := english.find(key + hintSuffix)
	hintZh, _ := chinese.find(key + hintSuffix)
	return Entry{En: en, Zh: zh, HintEn: hintEn, HintZh: hintZh}, true
}

// Keys returns every key of the catalogue, in no particular order.
func Keys() []string {
	var out []string
	for _, area := range english.areas() {
		for _, name := range names(english.read(area)) {
			if !strings.HasSuffix(name, hintSuffix) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Format returns a message as it stands in the catalogue, with its placeholders, and whether there is one.
func (l Lang) Format(key string) (string, bool) {
	if strings.HasSuffix(key, hintSuffix) {
		return "", false
	}
	return l.shelf().find(key)
}

// Text renders a message. A key that is not in the catalogue is shown with its arguments rather than hidden.
func (l Lang) Text(key string, args ...any) string {
	f, ok := l.Format(key)
	if !ok {
		return strings.TrimSpace(key + " " + strings.TrimSpace(fmt.Sprintln(args...)))
	}
	return l.format(f, args)
}

// Hint renders the next step of a message, or "".
func (l Lang) Hint(key string, args ...any) string {
	f, _ := l.shelf().find(key + hintSuffix)
	return l.format(f, args)
}

// Translation returns the Chinese of what a table says in English, by the id of the row, state, event or gate, such as
// "task.T1"; it is "" where there is none.
func Translation(id string) string {
	text, _ := chinese.find(rules + "." + id)
	return text
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
		text += l.colon() + cause
		hint = inner
	}
	if own := l.Hint(e.Key, e.Args...); own != "" {
		hint = own
	}
	return text, hint
}

// colon parts an error from its cause.
func (l Lang) colon() string {
	if l == Chinese {
		return "："
	}
	return ": "
}

// format fills the placeholders. Hints may use fewer arguments than the text, which fmt would report as extra.
func (l Lang) format(f string, args []any) string {
	if !strings.Contains(f, "%") {
		return f
	}
	f = counted(f, args)
	out := fmt.Sprintf(f, texts(args)...)
	if i := strings.Index(out, "%!(EXTRA"); i >= 0 {
		out = out[:i]
	}
	return out
}

var plural = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\d):([^|{}]*)\|([^{}]*)\}`) })

// counted replaces each {N:one|other} with the form for the number that is argument N.
func counted(f string, args []any) string {
	if !strings.Contains(f, "|") {
		return f
	}
	return plural().ReplaceAllStringFunc(f, func(forms string) string {
		m := plural().FindStringSubmatch(forms)
		if n := int(m[1][0] - '0'); n > 0 && n <= len(args) && fmt.Sprint(args[n-1]) == "1" {
			return m[2]
		}
		return m[3]
	})
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
