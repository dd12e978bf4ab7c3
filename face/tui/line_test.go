package tui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// cursor shows a line with a "|" where the cursor stands; at makes a line from such a text.
func cursor(l *line) string { return l.text[:l.at] + "|" + l.text[l.at:] }

func at(text string) *line {
	before, after, _ := strings.Cut(text, "|")
	return &line{text: before + after, at: len(before)}
}

func TestEditing(t *testing.T) {
	for _, c := range []struct{ from, keys, want string }{
		{"ab|", "left", "a|b"}, {"a任b|", "left left", "a|任b"}, {"e\u0301x|", "left left", "|e\u0301x"}, {"|e\u0301x",
			"right", "e\u0301|x"},
		{"👨\u200d👩\u200d👧x|", "left left", "|👨\u200d👩\u200d👧x"}, {"👨\u200d👩\u200d👧|", "backspace", "|"}, {"👍🏽|",
			"backspace", "|"},
		{"🇩🇪🇫🇷|", "backspace", "🇩🇪|"}, {"|🇩🇪🇫🇷", "delete", "|🇫🇷"}, {"❤\ufe0fx|", "left left",
			"|❤\ufe0fx"}, {"🤷\u200d♂\ufe0f|", "left", "|🤷\u200d♂\ufe0f"},
		{"a\nb|c", "home", "a\n|bc"}, {"a\n|bc", "home", "|a\nbc"}, {"a|b\nc", "end", "ab|\nc"}, {"ab|\nc", "end",
			"ab\nc|"},
		{"one two|", "ctrl+w", "one |"}, {"one two |", "ctrl+w ctrl+w", "|"}, {"one-two|", "ctrl+w", "|"}, {"one-two|",
			"alt+backspace", "one-|"},
		{"one two|", "ctrl+w ctrl+w ctrl+y", "one two|"}, {"one |two", "ctrl+k home ctrl+y", "two|one "}, {"one |two",
			"ctrl+u end ctrl+y", "twoone |"},
		{"a|\nb", "ctrl+k", "a|b"}, {"a\n|b", "ctrl+u", "a|b"}, {"one two three|", "alt+b alt+b",
			"one |two three"}, {"|one, two", "alt+f alt+f", "one, two|"},
		{"请修复 测试|", "alt+b", "请修复 |测试"}, {"修复，测试|", "alt+b", "修复，|测试"}, {"|one two", "alt+d ctrl+e ctrl+y",
			" twoone|"}, {"a|c", "alt+enter", "a\n|c"},
		{"|", "left backspace delete ctrl+w ctrl+k ctrl+u alt+b alt+f right ctrl+y", "|"},
	} {
		l := at(c.from)
		for _, k := range strings.Fields(c.keys) {
			if !l.edit(key{name: k}) {
				t.Errorf("%q is no key of editing", k)
			}
		}
		if got := cursor(l); got != c.want {
			t.Errorf("%q with %s = %q, want %q", c.from, c.keys, got, c.want)
		}
	}
}

func TestMovingBetweenRows(t *testing.T) {
	l := at("abcd\n任务列表\nxyz|")
	for _, want := range []string{"abcd\n任|务列表\nxyz", "ab|cd\n任务列表\nxyz"} {
		l.up()
		if got := cursor(l); got != want {
			t.Errorf("up: %q, want %q", got, want)
		}
	}
	if l.up() {
		t.Error("up left the first row")
	}
	l = at("ab|cd\n任务\n")
	l.down()
	if got := cursor(l); got != "abcd\n任|务\n" {
		t.Errorf("down: %q", got)
	}
}

// Whatever is done, the cursor stands between two characters, and a mark that joins the character before it is not torn
// off.
func TestCursorStandsBetweenCharacters(t *testing.T) {
	names := []string{"left", "right", "home", "end", "alt+b", "alt+f", "backspace", "delete", "ctrl+k", "ctrl+u",
		"ctrl+w", "ctrl+y", "alt+d", "alt+backspace", "alt+enter"}
	rapid.Check(t, func(t *rapid.T) {
		var l line
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			k := key{name: rapid.SampledFrom(names).Draw(t, "key")}
			if rapid.Bool().Draw(t, "text") {
				k = key{keyText, rapid.StringOf(rapid.SampledFrom([]rune("ab 任，\u0301👍🏽🇩🇪👨\u200d♂\ufe0f\u202e\t\n"))).Draw(t, "typed")}
			}
			l.edit(k)
			at := 0
			for at < l.at {
				at += clusterEnd(l.text[at:])
			}
			if at != l.at {
				t.Fatalf("the cursor stands inside a character: %q", cursor(&l))
			}
		}
	})
}

func TestKeys(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ab", "text:ab"}, {"任务", "text:任务"}, {"\x1b[A", "up"}, {"\x1bOB", "down"}, {"\x1b[1;5C",
			"ctrl+right"}, {"\x1b[1;3D", "alt+left"}, {"\x1b[3~", "delete"},
		{"\x1b[3;5~", "ctrl+delete"}, {"\x1b[H\x1b[F\x1b[1~\x1b[4~", "home end home end"}, {"\x1b[Z",
			"shift+tab"}, {"\x1bb\x1bf\x1b\x7f", "alt+b alt+f alt+backspace"},
		{"\x1b\r", "alt+enter"}, {"\r\n", "enter enter"}, {"\x01\x05\x12", "ctrl+a ctrl+e ctrl+r"}, {"\x7f\x08",
			"backspace ctrl+h"}, {"\x1b[13;3u", "alt+enter"}, {"\x1b[99;5u", "ctrl+c"},
		{"\x1b[200~a\r\nb\x1b[201~c", "paste:a\r\nb text:c"}, {"\x1b[?2026;2$yx", "text:x"}, {"\x1b]11;rgb:0/0/0\x07x",
			"text:x"}, {"\x1b[999~", ""}, {"\x1b[[Ax", "text:x"},
		{"\x1b\x1b[A", "alt+up"}, {"\x1b[1;\x1b[A", "up"}, {"a\xff", "text:a\ufffd"},
	} {
		// Wherever the bytes are cut apart, the keys are the same.
		for cutAt := range len(c.in) + 1 {
			var k keys
			got := names(append(feed(&k, c.in[:cutAt]), feed(&k, c.in[cutAt:])...))
			if got != c.want {
				t.Errorf("%q cut at %d: %q, want %q", c.in, cutAt, got, c.want)
			}
		}
	}
	var k keys
	if got := names(feed(&k, "\x1b")); got != "" || !k.waiting() {
		t.Errorf("a lone Escape: %q", got)
	}
	if got, ok := k.next(true); !ok || got.name != "esc" {
		t.Errorf("a lone Escape at last: %q", got)
	}
}

// feed takes bytes and returns the keys that are whole.
func feed(k *keys, bytes string) (out []key) {
	k.rest = append(k.rest, bytes...)
	for {
		was := len(k.rest)
		got, ok := k.next(false)
		if ok {
			out = append(out, got)
		} else if len(k.rest) == was || len(k.rest) == 0 || k.pasting {
			return out
		}
	}
}

func names(list []key) string {
	var out []string
	text := ""
	flush := func() {
		if text != "" {
			out, text = append(out, "text:"+text), ""
		}
	}
	for _, k := range list {
		if k.name == keyText {
			text += k.text
			continue
		}
		flush()
		if k.name == keyPaste {
			k.name += ":" + k.text
		}
		out = append(out, k.name)
	}
	flush()
	return strings.Join(out, " ")
}

func FuzzKeys(f *testing.F) {
	for _, s := range []string{"\x1b[1;5C", "\x1b[200~x\x1b[201~", "\x1bO", "任\xff", "\x1b]x\x1b\\", "\x1b[[A"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		var k keys
		a := ask{history: &history{}}
		for _, got := range feed(&k, string(p)) {
			a.press(got)
			_ = a.shape(20, 5)
		}
		for k.waiting() {
			got, _ := k.next(true)
			a.press(got)
		}
	})
}
