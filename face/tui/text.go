package tui

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/text/display"

	"github.com/charmbracelet/x/ansi"

	"pawl/face/cli/term"
	"pawl/text/message"
)

const (
	joiner   = '\u200d' // joins emoji to one picture
	keycap   = '\u20e3'
	emojiVS  = '\ufe0f' // asks for the picture in place of the character
	tabWidth = 4
)

// clusterEnd returns the length in bytes of the first character of s as a person sees it: a letter with its marks, a
// pair of regional letters, emoji with their modifiers and what is joined to them. It is 0 only for an empty text. It
// is what the library takes for one cell.
func clusterEnd(s string) int {
	if s == "" {
		return 0
	}
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1 // what most lines are made of
	}
	first, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(1, len(first))
}

// lastCluster returns where the last character of s begins. It looks back no further than the line.
func lastCluster(s string) int {
	at := strings.LastIndexByte(s, '\n')
	if at == len(s)-1 {
		return max(at, 0)
	}
	at++
	for {
		n := clusterEnd(s[at:])
		if at+n >= len(s) {
			return at
		}
		at += n
	}
}

// shown returns what is drawn for a character and how many columns it takes. Characters that nobody would see are drawn
// as escapes, because a line that was pasted may hold some; emoji keep the invisible ones that they need.
func shown(cluster string) (string, int) {
	if len(cluster) == 1 && cluster[0] >= ' ' && cluster[0] < 0x7f {
		return cluster, 1
	}
	first, n := utf8.DecodeRuneInString(cluster)
	text := cluster
	switch {
	case cluster == "\t":
		return strings.Repeat(" ", tabWidth), tabWidth
	case toned(first) || unicode.In(first, unicode.Mn, unicode.Me, unicode.Mc):
		// With nothing before it in the line it would become a part of what stands there.
		text = strings.Trim(strconv.QuoteToASCII(cluster), `"`)
	case regional(first) && len(cluster) > n:
	case strings.ContainsAny(cluster, string([]rune{joiner, emojiVS})) && pictured(cluster):
	case len(cluster) > n && strings.IndexFunc(cluster, toned) > 0:
	default:
		text = display.Line(cluster)
	}
	return text, ansi.StringWidth(text)
}

func regional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// toned reports whether r gives the emoji before it a colour of skin.
func toned(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// pictured reports whether a cluster with invisible characters is one picture: those may stand only behind something
// that is seen.
func pictured(cluster string) bool {
	seen := false
	for _, r := range cluster {
		switch r {
		case joiner, emojiVS:
			if !seen {
				return false
			}
		case keycap:
		default:
			if display.Line(string(r)) != string(r) {
				return false
			}
			seen = true
		}
	}
	return seen && (term.Width(cluster) >= 2 || strings.ContainsRune(cluster, emojiVS))
}

// clean takes out of a text what has no place in a line: control characters, and the ways in which line ends are
// written.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

// fit pads or cuts text to exactly w columns.
func fit(s string, w int, style term.Style) string {
	if w <= 0 {
		return ""
	}
	return term.Pad(cut(s, w, style), w)
}

// cut shortens text to w columns.
func cut(s string, w int, style term.Style) string {
	if w <= 0 {
		return ""
	}
	mark := style.Ellipsis()
	if term.Width(mark) > w {
		mark = ""
	}
	return term.Clip(s, w, mark)
}

// said is a message of the catalogue with the signs that the terminal can show.
func said(lang message.Lang, style term.Style, key string, args ...any) string {
	out := lang.Text(key, args...)
	if !style.Unicode {
		out = strings.NewReplacer("…", "...", "·", "-", "›", ">").Replace(out)
	}
	return out
}

// fresh begins at the left edge. Output that did not end its line would be drawn over otherwise; it is shown by a mark.
// The mark and blanks fill a line exactly: they reach into the next one only if something stood before them.
func (s *Screen) fresh() {
	mark := "%"
	if s.Style.Unicode {
		mark = "⏎"
	}
	width, _ := s.tty.size()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	s.put(fmt.Sprintf("%s%*s\r\x1b[J", s.Style.Dim(mark), max(1, width-1), ""))
	s.partial = false
}
