//go:build linux

package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// wellFormed fails where a picture is no XML.
func wellFormed(t *testing.T, name, picture string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// TestFilm: what is written at once is one frame, long waits are cut, rows that are alike are drawn once, and style and
// columns are kept.
func TestFilm(t *testing.T) {
	at := time.Unix(0, 0)
	f := newFilm(20, 3, at)
	for _, w := range []struct {
		after time.Duration
		text  string
	}{
		{0, "\x1b[32m$\x1b[0m a  <b>"}, {10 * time.Millisecond, "\r\n"}, {10 * time.Millisecond, "\x1b[1;7m好\x1b[0m."},
		{time.Minute, "\r\n\x1b]133;A\x07$ a"}, {time.Second, "\r\x1b[K"}, {time.Second, "$ a"},
	} {
		at = at.Add(w.after)
		f.show([]byte(w.text), at)
	}
	picture := f.svg("a \"film\"")
	wellFormed(t, "the film", picture)
	var times []time.Duration
	for _, r := range f.frames {
		times = append(times, r.time)
	}
	if len(times) != 4 || times[0] != pause || times[1] != time.Second || times[3] != last {
		t.Errorf("the frames stand for %v", times)
	}
	if f.frames[1].rows[2] == 0 || f.frames[1].rows[2] != f.frames[3].rows[2] || f.frames[2].rows[2] != 0 ||
		len(f.drawn) != 3 {
		t.Errorf("frames %v of %d rows", f.frames, len(f.drawn))
	}
	for _, want := range []string{
		`fill="#56d364">$</text>`, `>a  &lt;b&gt;</text>`, `x="16.8"`, `font-weight="bold">好</text>`,
		`<rect x="0.0" width="16.8" height="18" fill="#d0d7de"/>`,
		`aria-label="a &#34;film&#34;"`, "animation:film 9.00s step-end infinite",
		"22.222%{transform:translateX(-196px)}",
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("%q is not drawn:\n%s", want, picture)
		}
	}
}

// TestFilmsAreThere: each scene has its film, a page shows it, and no film is left of a scene that is gone.
func TestFilmsAreThere(t *testing.T) {
	const dir = "../../docs/recordings"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(scenes) {
		t.Errorf("%d films of %d scenes: %v", len(entries), len(scenes), entries)
	}
	pages := ""
	for _, page := range []string{"../../README.md", "../../docs/start.md", "../../docs/howto/github-issues.md"} {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		pages += string(raw)
	}
	for _, s := range scenes {
		raw, err := os.ReadFile(filepath.Join(dir, s.name+".svg"))
		if err != nil {
			t.Errorf("%v; make recordings makes it", err)
			continue
		}
		wellFormed(t, s.name, string(raw))
		for _, step := range s.steps {
			if len(step.keys) < 2 {
				continue
			}
			// A command line stands on the screen in one run, as it was typed.
			if want := strings.ReplaceAll(strings.ReplaceAll(step.keys, "&", "&amp;"), `"`,
				"&#34;"); !strings.Contains(string(raw), want) {
				t.Errorf("%s does not show %q; make recordings makes it anew", s.name, step.keys)
			}
		}
		if !strings.Contains(pages, "recordings/"+s.name+".svg") {
			t.Errorf("no page shows %s", s.name)
		}
		if len(raw) > 600_000 {
			t.Errorf("%s has %d kB", s.name, len(raw)/1000)
		}
	}
}
