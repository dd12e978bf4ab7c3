package tui

import (
	"bytes"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/muesli/cancelreader"
)

// key is something that a person did: a key by its name, such as "up", "ctrl+r" or "alt+b", a text that was typed, or
// one that was pasted.
type key struct{ name, text string }

// The names of what carries a text.
const (
	keyText  = "text"
	keyPaste = "paste"
)

// maxPaste bounds what one paste may hold; the rest is left out.
const maxPaste = 1 << 20

// escapeTime is how long an Escape waits for the rest of a sequence before it counts as the key.
const escapeTime = 50 * time.Millisecond

const pasteEnd = "\x1b[201~"

// keyboard reads keys from a terminal, and never a byte more than belongs to the key that it reads: what was typed
// behind that stays with the terminal, for whoever reads next. The library's own reader takes all that there is, and
// what was typed behind the key that ends a program is lost with it.
type keyboard struct {
	in      cancelreader.CancelReader
	got     chan read
	reading bool
	keys
}

type read struct {
	bytes []byte
	err   error
}

func newKeyboard(in *os.File, rest []byte) (*keyboard, error) {
	r, err := cancelreader.NewReader(in)
	if err != nil {
		return nil, err
	}
	return &keyboard{in: r, got: make(chan read, 1), keys: keys{rest: rest}}, nil
}

// listen starts a read where none is under way.
func (k *keyboard) listen() {
	if k.reading {
		return
	}
	k.reading = true
	buf := make([]byte, k.least())
	go func() {
		n, err := k.in.Read(buf)
		k.got <- read{buf[:n], err}
	}()
}

// take takes in what a read brought.
func (k *keyboard) take(r read) error {
	k.reading = false
	k.rest = append(k.rest, r.bytes...)
	if r.err != nil || len(r.bytes) == 0 {
		return errGone
	}
	return nil
}

// close ends the reading and returns what was read and not used.
func (k *keyboard) close() []byte {
	if k.reading && k.in.Cancel() {
		r := <-k.got
		k.rest = append(k.rest, r.bytes...)
	}
	_ = k.in.Close() // nothing was written to it
	if k.pasting {
		return append(append([]byte(pasteBegin), k.pasted...), k.rest...)
	}
	return k.rest
}

// keys turns the bytes of a terminal into keys.
type keys struct {
	decoder uv.EventDecoder
	rest    []byte
	pasting bool
	pasted  []byte
}

const pasteBegin = "\x1b[200~"

// least is how many bytes may be read without reading beyond the next key: all that is missing of a paste is its mark.
func (k *keys) least() int {
	if !k.pasting {
		return 1
	}
	for n := min(len(pasteEnd)-1, len(k.rest)); n > 0; n-- {
		if bytes.HasSuffix(k.rest, []byte(pasteEnd[:n])) {
			return len(pasteEnd) - n
		}
	}
	return len(pasteEnd)
}

// waiting reports whether a sequence is cut off, so that a lone Escape can be told from the begin of one by the time
// that passes.
func (k *keys) waiting() bool { return len(k.rest) > 0 && !k.pasting }

// late tells when no more is waited for; never where nothing is.
func (k *keys) late() <-chan time.Time {
	if !k.waiting() {
		return nil
	}
	return time.After(escapeTime)
}

// next returns the next key. With late, what waits for the rest of a sequence is taken for the keys that were pressed.
func (k *keys) next(late bool) (key, bool) {
	for len(k.rest) > 0 {
		if k.pasting {
			return k.paste()
		}
		n := size(k.rest)
		switch {
		case n == 0 && !late:
			return key{}, false
		case n == 0 && k.rest[0] != 0x1b:
			k.rest = nil // a character that never came to its end
			return key{}, false
		case n == 0:
			n = 1
		}
		one := k.rest[:n]
		k.rest = k.rest[n:]
		if out := k.meaning(one); out.name != "" {
			return out, true
		}
	}
	return key{}, false
}

// meaning names a whole sequence; one that means nothing has no name.
func (k *keys) meaning(one []byte) key {
	if one[0] >= utf8.RuneSelf {
		r, _ := utf8.DecodeRune(one)
		return key{keyText, string(r)}
	}
	if bytes.HasPrefix(one, []byte("\x1b\x1b")) && len(one) > 2 {
		// Some terminals put an Escape before a sequence when Alt is held.
		out := k.meaning(one[1:])
		if out.name != "" {
			out.name = "alt+" + out.name
		}
		return out
	}
	_, event := k.decoder.Decode(one)
	switch e := event.(type) {
	case uv.PasteStartEvent:
		k.pasting, k.pasted = true, nil
	case uv.KeyPressEvent:
		if e.Text != "" && e.Mod&^uv.ModShift == 0 {
			return key{keyText, e.Text}
		}
		// A line that was typed ahead of the program ends as the terminal has it end.
		if name := e.Keystroke(); name != "ctrl+j" {
			return key{name: strings.Replace(name, "ctrl+@", "ctrl+space", 1)}
		}
		return key{name: "enter"}
	}
	return key{}
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

// size is how many bytes the first key takes; 0 when the rest is missing.
func size(p []byte) int {
	if p[0] != 0x1b {
		if !utf8.FullRune(p) {
			return 0
		}
		_, n := utf8.DecodeRune(p)
		return n
	}
	if len(p) == 1 {
		return 0
	}
	switch p[1] {
	case '[':
		for i := 2; i < len(p); i++ {
			switch {
			case p[i] == 0x1b:
				return i // it was cut off by another sequence
			case i == 2 && p[i] == '[': // a function key of the Linux console
			case p[i] >= 0x40 && p[i] <= 0x7e:
				return i + 1
			}
		}
		return 0
	case 'O':
		if len(p) == 2 {
			return 0
		}
		return 3
	case ']', 'P', '_', '^', 'X':
		// An answer of the terminal that is a text ends with BEL or with Escape and a backslash.
		for i := 2; i < len(p); i++ {
			if p[i] == 7 {
				return i + 1
			}
			if p[i] == 0x1b && i+1 < len(p) && p[i+1] == '\\' {
				return i + 2
			}
		}
		return 0
	}
	n := size(p[1:])
	return n + min(n, 1)
}
