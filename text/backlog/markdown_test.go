package backlog_test

import (
	"os"
	"strings"
	"testing"

	"pawl/internal/golden"
	"pawl/text/backlog"
)

func TestMarkdown(t *testing.T) {
	for _, name := range []string{"mixed"} {
		raw, err := os.ReadFile("testdata/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		b := read(t, name+".md", string(raw), backlog.Options{})
		sound(t, b)
		golden.Check(t, "testdata/"+name+".golden", shown(b))
		windows := read(t, name+".md", "\xef\xbb\xbf"+strings.ReplaceAll(string(raw), "\n", "\r\n"), backlog.Options{})
		if shown(windows) != shown(b) {
			t.Errorf("%s: line breaks or a byte order mark change what is read:\n%s", name, shown(windows))
		}
	}
}

func TestBadMarkdown(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\n \n", "0 backlog.empty"},
		{"Some words.\n\n- a list\n- without boxes", "1 backlog.no_issue"},
		{"# Title\n\n## Done\n\n- [-] given up", ""},
		{"- [ ] a\n\xff", "2 backlog.not_text"},
		{"- [ ] a\n\x00", "1 backlog.not_text"},
		{"- [ ] a\n```sh\n- [ ] b", "2 backlog.open_block"},
		{"- [ ] a\n\n<!-- - [ ] b", "3 backlog.open_block"},
		{"- [ ] a {#x}\n- [ ] b {#x}", "2 backlog.duplicate"},
		{"## a {#x}\n\nText\n依赖：#y", "4 backlog.unknown"},
		{"- [ ] a {#x} (depends on #y)\n- [ ] b {#y} (依赖 #x)", "2 backlog.circle"},
		{"- [ ] a {#x}\n  depends on #x", "1 backlog.circle"},
		{"- [ ] Same name\n- [ ] same Name\n  b\n- [ ] c (depends on #same-name)", "4 backlog.unknown"},
		{"- [ ] \u202e", "1 backlog.no_title"},
	} {
		if c.want == "" {
			read(t, "a.md", c.text, backlog.Options{})
			continue
		}
		if got := strings.Join(problems(t, "a.md", c.text), " "); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	sound(t, read(t, "a.md", "- [ ] a {#x} (depends on #y)\n- [-] b {#y}", backlog.Options{}))
}
