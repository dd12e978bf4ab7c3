package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSettingsOfAProject: a digest stands for exactly the bytes, the names and the places of what is there.
func TestSettingsOfAProject(t *testing.T) {
	p := Program{Obeys: []string{"a.json", ".tool"}}
	files := map[string]string{"a.json": "1", ".tool/x": "2", ".tool/d/y": "3", "other": "4"}
	digests := func(files map[string]string) (out []string) {
		for _, s := range p.Settings(project(t, files)) {
			out = append(out, s.Name+" "+s.Digest)
		}
		return out
	}
	first := digests(files)
	if len(first) != 2 || !strings.HasPrefix(first[0], "a.json sha256:") ||
		!strings.HasPrefix(first[1], ".tool sha256:") || !slices.Equal(first, digests(files)) {
		t.Fatalf("%q", first)
	}
	for name, change := range map[string]func(map[string]string){
		"changed":  func(f map[string]string) { f[".tool/d/y"] = "4" },
		"added":    func(f map[string]string) { f[".tool/z"] = "" },
		"removed":  func(f map[string]string) { delete(f, ".tool/x") },
		"renamed":  func(f map[string]string) { delete(f, ".tool/x"); f[".tool/w"] = "2" },
		"moved on": func(f map[string]string) { f[".tool/x"], f[".tool/d/y"] = "23", "" },
	} {
		other := map[string]string{}
		for n, text := range files {
			other[n] = text
		}
		change(other)
		if got := digests(other); got[0] != first[0] || got[1] == first[1] {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := digests(map[string]string{"other": ""}); got != nil {
		t.Errorf("%q where nothing is set", got)
	}
	if got := p.Settings(filepath.Join(t.TempDir(), "gone")); got != nil {
		t.Errorf("%q in no folder", got)
	}
}

// TestWhatCannotBeTrusted: a digest of what may be another thing tomorrow would promise too much.
func TestWhatCannotBeTrusted(t *testing.T) {
	p := Program{Obeys: []string{".tool"}}
	many := map[string]string{}
	for n := range maxSettingFiles + 1 {
		many[".tool/"+strconv.Itoa(n)] = ""
	}
	linked := project(t, map[string]string{".tool/x": "", "target": ""})
	if err := os.Symlink("../target", filepath.Join(linked, ".tool", "link")); err != nil {
		t.Fatal(err)
	}
	link := project(t, map[string]string{"target": ""})
	if err := os.Symlink("target", filepath.Join(link, ".tool")); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{
		"too many": project(t, many), "too large": project(t,
			map[string]string{".tool/x": strings.Repeat("x", maxSettingBytes+1)}), "a link in it": linked,
		"a link": link,
	} {
		if got := p.Settings(dir); len(got) != 1 || got[0].Digest != "" {
			t.Errorf("%s: %v", name, got)
		}
		if hidden, obeys := (External{Program: p, Trust: []string{""}}).distrusted(dir); len(hidden) != 1 || obeys {
			t.Errorf("%s: %q is hidden, obeyed: %v", name, hidden, obeys)
		}
	}
}

// TestDistrusted: a program is not shown what a project sets for it, and is told to leave it alone, unless all of it is
// trusted.
func TestDistrusted(t *testing.T) {
	dir := project(t, map[string]string{".claude/settings.json": "{}", ".mcp.json": "{}", "CLAUDE.md": "text"})
	claude, _ := Known("claude-code")
	all := claude.Settings(dir)
	for name, c := range map[string]struct {
		trust  []string
		hidden string
		told   bool
	}{
		"nothing": {nil, dir + "/.claude/settings.json " + dir + "/.mcp.json", true},
		"one":     {[]string{all[0].Digest}, dir + "/.mcp.json", true},
		"another": {[]string{"sha256:" + strings.Repeat("0", 64)}, dir + "/.claude/settings.json " + dir +
			"/.mcp.json", true},
		"everything": {[]string{all[1].Digest, all[0].Digest}, "", false},
	} {
		var got Spec
		j := &Job{ctx: t.Context(), places: places{home: "/h", temp: "/t"}, External: External{Program: claude,
			Path: "/bin/claude", Model: "m", Trust: c.trust, Start: func(_ context.Context, s Spec) (Process, error) {
				got = s
				return nil, errors.New("not started")
			}}}
		j.Effect.Place.Tree = dir
		_, _ = j.start(t.Context(), j.values("", "p"), claude.Args, true)
		if hidden := strings.Join(got.Hidden, " "); hidden != c.hidden {
			t.Errorf("%s trusted: %q is hidden, want %q", name, hidden, c.hidden)
		}
		args := strings.Join(got.Argv, " ")
		if told := strings.Contains(args, "--setting-sources user --strict-mcp-config"); told != c.told ||
			strings.Contains(args, distrust) {
			t.Errorf("%s trusted: %s", name, args)
		}
	}
}
