package tui

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/charmbracelet/x/ansi"

	"pawl/face/cli/term"
	"pawl/text/message"
)

func thousand() (out []Item) {
	for n := range 1000 {
		out = append(out, Item{ID: fmt.Sprintf("ISS-%d", n+1), Title: fmt.Sprintf("Mend part %d of the 导出器\nand more",
			n+1), Note: []string{"planned", "failed"}[n%2]})
	}
	return out
}

func picker(items []Item) *picking {
	p := &picking{ask: ask{lang: message.English, style: term.Style{Unicode: true}, question: "Which issue?",
		history: &history{}}, items: items}
	p.ask.begin()
	return p
}

func TestPickKeys(t *testing.T) {
	for _, c := range []struct {
		keys, want string
		act        act
	}{
		{"<enter>", "ISS-1", submit}, {"<down><down><up><enter>", "ISS-2", submit}, {"<up><enter>", "ISS-1",
			submit}, {"part 77<enter>", "ISS-77", submit},
		{"FAILED 77<down><enter>", "ISS-772", submit}, {"zebra<enter>", "", nothing}, {"zebra<esc><enter>", "ISS-1",
			submit}, {"<esc>", "ISS-1", leave}, {"x<ctrl+c>", "", leave},
		{"<ctrl+d>", "ISS-1", leave}, {"<pgdown><enter>", "ISS-13", submit}, {"5<down>0<enter>", "ISS-50",
			submit}, {"zebra<down><ctrl+u><enter>", "ISS-1", submit},
	} {
		p, last := picker(thousand()), nothing
		for _, k := range typedKeys(c.keys) {
			last = p.press(k)
		}
		got := ""
		if items := p.fitting(); p.at < len(items) {
			got = items[p.at].ID
		}
		if last != c.act || got != c.want && c.want != "" {
			t.Errorf("%s: %s and %v, want %s and %v", c.keys, got, last, c.want, c.act)
		}
	}
}

// typedKeys reads keys: names in <>, everything else as text.
func typedKeys(keys string) (out []key) {
	for keys != "" {
		if strings.HasPrefix(keys, "<") {
			name, rest, _ := strings.Cut(keys[1:], ">")
			out, keys = append(out, key{name: name}), rest
			continue
		}
		i := strings.IndexByte(keys, '<')
		if i < 0 {
			i = len(keys)
		}
		out, keys = append(out, key{keyText, keys[:i]}), keys[i:]
	}
	return out
}

// However small the terminal, no row is too wide and there are not too many.
func TestPickFitsAnyTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(12, 120).Draw(t, "w"), rapid.IntRange(3, 30).Draw(t, "h")
		p := picker(thousand()[:rapid.IntRange(1, 40).Draw(t, "n")])
		for range rapid.IntRange(0, 8).Draw(t, "keys") {
			p.press(rapid.SampledFrom([]key{{name: "down"}, {name: "up"}, {name: "pgdown"}, {name: "esc"},
				{keyText, "任 1"}, {keyPaste, "a\nb"}, {name: "ctrl+w"}}).Draw(t, "key"))
		}
		f := p.shape(w, h)
		if len(f.rows) > h || f.row >= len(f.rows) || !strings.HasPrefix(f.rows[f.row], f.upTo) {
			t.Fatalf("%d rows of %d: %q", len(f.rows), h, f.rows)
		}
		for _, r := range f.rows {
			if columns(ansi.Strip(r)) >= w {
				t.Fatalf("%q is as wide as the terminal (%d)", r, w)
			}
		}
	})
}
