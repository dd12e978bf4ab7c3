package backlog

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// turning reports whether a character changes the direction or order in which others are shown, which lets a text read
// otherwise than it is.
func turning(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x200E || r == 0x200F || r == 0x061C
}

// blankish reports whether a character is read as a blank in a line: blanks of all kinds and what must not reach a
// terminal.
func blankish(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || r == 0xFEFF
}

// oneLine makes a text one line without control characters and doubled blanks.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if turning(r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.FieldsFunc(s, blankish), " ")
}

// prose cleans a text of several lines: line breaks of all systems become one, control characters go, and so do blank
// lines at its ends. Blanks within are left, as they mean something in Markdown and in code.
func prose(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r != '\n' && r != '\t' && unicode.IsControl(r) || turning(r) || r == 0xFEFF:
			return -1
		}
		return r
	}, s)
	for {
		first, rest, more := strings.Cut(s, "\n")
		if strings.TrimSpace(first) != "" || !more {
			break
		}
		s = rest
	}
	return strings.TrimRight(s, " \t\n")
}

// heading returns the title of an issue and its body. A title that is too long stands in full at the beginning of the
// body.
func heading(title, body string) (string, string, bool) {
	if utf8.RuneCountInString(title) <= MaxTitle {
		return title, body, false
	}
	short := strings.TrimRight(string([]rune(title)[:MaxTitle-1]), " ") + "…"
	return short, prose(title + "\n\n" + body), true
}

// made returns an external id for an issue whose source gives it none.
func made(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strings.ToLower(p)))
		h.Write([]byte{0})
	}
	return "txt-" + hex.EncodeToString(h.Sum(nil))[:12]
}

// goodID reports whether a text can be an external id: not too long, and without blanks.
func goodID(id string) bool {
	return id != "" && len(id) <= MaxID && !strings.ContainsFunc(id, func(r rune) bool {
		return blankish(r) || turning(r) || r == utf8.RuneError
	})
}

// slug is the name of a heading in links: letters, digits, hyphens and underscores, in small letters.
func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '-' || r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

// addTag adds a tag, if it is one and not there yet.
func addTag(tags []string, tag string) []string {
	if tag = oneLine(tag); tag == "" {
		return tags
	}
	for _, t := range tags {
		if strings.EqualFold(t, tag) {
			return tags
		}
	}
	return append(tags, tag)
}
