package tui

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// key is something that a person did: a key by its name, such as "up", "ctrl+r" or "alt+b", a text that was typed, or one
// that was pasted.
type key struct{ name, text string }

// The names of what carries a text.
const (
	keyText  = "text"
	keyPaste = "paste"
)

// maxPaste bounds what one paste may hold; the rest is left out.
const maxPaste = 1 << 20

// keys turns the bytes of a terminal into keys. A sequence that is not at its end waits for the rest.
type keys struct {
	rest    []byte
	pasting bool
	pasted  []byte
}

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// feed takes bytes and returns the keys that are whole.
func (k *keys) feed(p []byte) []key {
	k.rest = append(k.rest, p...)
	var out []key
	for len(k.rest) > 0 {
		if k.pasting {
			got, ok := k.paste()
			if !ok {
				break
			}
			out = append(out, got)
			continue
		}
		got, n := decode(k.rest)
		if n == 0 {
			break
		}
		k.rest = k.rest[n:]
		switch {
		case got.name == "paste-begin":
			k.pasting = true
		case got.name == "":
		case got.name == keyText && len(out) > 0 && out[len(out)-1].name == keyText:
			out[len(out)-1].text += got.text
		default:
			out = append(out, got)
		}
	}
	return out
}

// paste collects what is pasted, up to the mark of its end.
func (k *keys) paste() (key, bool) {
	i := bytes.Index(k.rest, []byte(pasteEnd))
	end := i
	if i < 0 {
		// The mark itself may be cut in two.
		end = max(0, len(k.rest)-len(pasteEnd)+1)
	}
	k.pasted = append(k.pasted, k.rest[:min(end, max(0, maxPaste-len(k.pasted)))]...)
	if i < 0 {
		k.rest = k.rest[end:]
		return key{}, false
	}
	k.rest = k.rest[i+len(pasteEnd):]
	out := key{keyPaste, string(k.pasted)}
	k.pasting, k.pasted = false, nil
	return out, true
}

// waiting reports whether a sequence is cut off, so that a lone Escape can be told from the begin of one by the time that
// passes.
func (k *keys) waiting() bool { return len(k.rest) > 0 && !k.pasting }

// flush gives up on the rest of a sequence: what waits is taken for the keys that were pressed.
func (k *keys) flush() []key {
	if !k.waiting() {
		return nil
	}
	rest := k.rest
	k.rest = nil
	if rest[0] != 0x1b {
		return nil // a character that never came to its end
	}
	out := []key{{name: "esc"}}
	return append(out, k.feed(rest[1:])...)
}

// decode reads one key and says how many bytes it took; 0 when the rest is missing. A sequence that means nothing has no
// name.
func decode(p []byte) (key, int) {
	switch c := p[0]; {
	case c == 0x1b:
		return escape(p)
	case c == '\r', c == '\n':
		return key{name: "enter"}, 1
	case c == '\t':
		return key{name: "tab"}, 1
	case c == 0x7f:
		return key{name: "backspace"}, 1
	case c == 0:
		return key{name: "ctrl+space"}, 1
	case c < 0x1b:
		return key{name: "ctrl+" + string(rune('a'+c-1))}, 1
	case c < ' ':
		return key{}, 1
	}
	if !utf8.FullRune(p) {
		return key{}, 0
	}
	r, n := utf8.DecodeRune(p)
	return key{keyText, string(r)}, n
}

// escape reads what begins with Escape.
func escape(p []byte) (key, int) {
	if len(p) == 1 {
		return key{}, 0
	}
	switch p[1] {
	case '[':
		return control(p)
	case 'O':
		if len(p) == 2 {
			return key{}, 0
		}
		return key{name: named(0, p[2:3])}, 3
	case ']', 'P', '_', '^':
		return text(p)
	case 0x1b:
		// Some terminals put an Escape before a sequence when Alt is held.
		k, n := escape(p[1:])
		if n > 0 && k.name != "" {
			k.name = "alt+" + k.name
		}
		return k, n + min(n, 1)
	}
	k, n := decode(p[1:])
	switch {
	case n == 0:
		return k, 0
	case k.name == keyText:
		return key{name: "alt+" + k.text}, n + 1
	}
	return key{name: "alt+" + k.name}, n + 1
}

// text skips an answer of the terminal that is a text; it ends with BEL or with Escape and a backslash.
func text(p []byte) (key, int) {
	for i := 2; i < len(p); i++ {
		if p[i] == 7 {
			return key{}, i + 1
		}
		if p[i] == 0x1b && i+1 < len(p) && p[i+1] == '\\' {
			return key{}, i + 2
		}
	}
	return key{}, 0
}

// control reads a control sequence: numbers, then a letter that ends it.
func control(p []byte) (key, int) {
	end := 2
	for end < len(p) && (p[end] < 0x40 || p[end] > 0x7e || end == 2 && p[end] == '[') {
		if p[end] == 0x1b {
			return key{}, end // it was cut off by another sequence
		}
		end++
	}
	if end == len(p) {
		return key{}, 0
	}
	body, last := string(p[2:end]), p[end]
	nums := strings.Split(body, ";")
	modifier := 0
	if len(nums) > 1 {
		modifier = max(0, number(nums[1])-1)
	}
	if strings.HasPrefix(body, "[") {
		return key{}, end + 1 // a function key of the Linux console
	}
	if last != '~' && last != 'u' {
		return key{name: named(modifier, []byte{last})}, end + 1
	}
	if last == 'u' {
		return unicodeKey(number(nums[0]), modifier), end + 1
	}
	if body == "200" {
		return key{name: "paste-begin"}, end + 1
	}
	names := map[int]string{1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pgup", 6: "pgdown", 7: "home", 8: "end"}
	name := names[number(nums[0])]
	if name == "" {
		return key{}, end + 1
	}
	return key{name: modified(modifier) + name}, end + 1
}

// unicodeKey is a key in the form that newer terminals use, with the character's number.
func unicodeKey(code, modifier int) key {
	names := map[int]string{9: "tab", 13: "enter", 27: "esc", 127: "backspace"}
	if name := names[code]; name != "" {
		return key{name: modified(modifier) + name}
	}
	if code < ' ' || code > utf8.MaxRune {
		return key{}
	}
	if modifier <= 1 {
		return key{keyText, string(rune(code))}
	}
	return key{name: modified(modifier) + string(rune(code))}
}

func number(s string) int {
	s, _, _ = strings.Cut(s, ":")
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' || n > utf8.MaxRune {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// modified names the keys that were held: 1 Shift, 2 Alt, 4 Control.
func modified(m int) string {
	out := ""
	if m&4 != 0 {
		out += "ctrl+"
	}
	if m&2 != 0 {
		out += "alt+"
	}
	if m&1 != 0 {
		out += "shift+"
	}
	return out
}

// named returns the name of a key that a letter stands for, or "".
func named(modifier int, letter []byte) string {
	names := map[byte]string{'A': "up", 'B': "down", 'C': "right", 'D': "left", 'H': "home", 'F': "end", 'M': "enter", 'Z': "shift+tab"}
	name := names[letter[0]]
	if name == "" || name == "shift+tab" {
		return name
	}
	return modified(modifier) + name
}
