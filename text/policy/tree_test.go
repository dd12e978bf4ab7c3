package policy

import (
	"fmt"
	"strings"
	"testing"
)

// TestJudgeTree holds the judgement of trees against that of tools: what a tool is denied may not land, and what it is
// asked about is asked about.
func TestJudgeTree(t *testing.T) {
	for _, c := range []struct {
		entry Entry
		want  string
	}{
		{Entry{Path: "src/x.go"}, ""},
		{Entry{Path: "docs/a b.md"}, ""},
		{Entry{Path: "testdata/http%3A%2F%2Fx.json"}, ""},
		{Entry{Path: "~lock"}, ""},
		{Entry{Path: "日本.txt"}, ""},
		{Entry{Path: "HEAD"}, ""},
		{Entry{Path: "AGENTS.md"}, "ask sensitive_path"},
		{Entry{Path: "a/b/agents.MD"}, "ask sensitive_path"},
		{Entry{Path: ".githooks/pre-commit"}, "ask sensitive_path"},
		{Entry{Path: "fixtures/x.git/config"}, "ask sensitive_path"},
		{Entry{Path: "fixtures/x.git/hooks/pre-commit"}, "ask sensitive_path"},
		{Entry{Path: ".zshenv"}, "ask sensitive_path"},
		{Entry{Path: ".github/workflows/ci.yml"}, "ask sensitive_path"},
		{Entry{Path: ".vscode/tasks.json", Mode: "gone"}, "ask sensitive_path"},
		{Entry{Path: ".env"}, "ask sensitive_path"},
		{Entry{Path: "deploy/prod.yml"}, "ask sensitive_path"}, // of the profile
		{Entry{Path: ".gitmodules"}, "deny protected_path"},
		{Entry{Path: ".gitmodules", Mode: "gone"}, "deny protected_path"},
		{Entry{Path: "sub/.Git/config"}, "deny protected_path"},
		{Entry{Path: "git~1/config"}, "deny protected_path"},
		{Entry{Path: ".g\u200cit/config"}, "deny path_form"},
		{Entry{Path: "a\\..\\..\\b"}, "deny path_form"},
		{Entry{Path: "x\\.git\\config"}, "deny protected_path"},
		{Entry{Path: "osc\x1b]0;x\a"}, "deny path_form"},
		{Entry{Path: "bidi\u202etxt.exe"}, "deny path_form"},
		{Entry{Path: "latin\xe9"}, "deny path_form"},
		{Entry{Path: "sub", Mode: modeNested}, "deny repository"},
		{Entry{Path: "b/HEAD", Head: true}, "deny repository"},
		{Entry{Path: "b/head", Head: true}, "deny repository"},
		{Entry{Path: "b/HEAD", Mode: modeLink, Target: "refs/heads/main"}, "deny repository"},
		{Entry{Path: "b/HEAD", Mode: "gone", Head: true}, ""},
		{Entry{Path: "l", Mode: modeLink, Target: "/etc/passwd"}, "deny path_escape"},
		{Entry{Path: "l", Mode: modeLink, Target: "../x"}, "deny path_escape"},
		{Entry{Path: "a/l", Mode: modeLink, Target: "../../x"}, "deny path_escape"},
		{Entry{Path: "a/l", Mode: modeLink, Target: "b/../../c"}, "deny path_escape"},
		{Entry{Path: "l", Mode: modeLink, Target: ""}, "deny path_escape"},
		{Entry{Path: "a/l", Mode: modeLink, Target: "../.git/hooks"}, "deny protected_path"},
		{Entry{Path: "a/l", Mode: modeLink, Target: "../.pawl/pawl.db"}, "deny protected_path"},
		{Entry{Path: "a/l", Mode: modeLink, Target: "../.env"}, "ask sensitive_path"},
		{Entry{Path: "a/l", Mode: modeLink, Target: "../b/c.txt"}, ""},
		{Entry{Path: "a/l", Mode: modeLink, Target: "./c/"}, ""},
		{Entry{Path: "big", Size: largeFile + 1}, "ask large_file"},
		{Entry{Path: "big", Size: largeFile}, ""},
		{Entry{Path: "x.txt", Secrets: []Sighting{{3, "ghp_…"}}}, "ask secret_text person"},
		{Entry{Path: "examples/x.txt", Secrets: []Sighting{{3, "ghp_…"}}}, ""},
		{Entry{Path: "examples.txt", Secrets: []Sighting{{3, "ghp_…"}}}, "ask secret_text person"},
		{Entry{Path: "x.txt", Marked: true}, "ask secret_mark person"},
		{Entry{Path: "CLAUDE.md", Secrets: []Sighting{{1, "x"}}}, "ask sensitive_path, ask secret_text person"},
	} {
		p := Standard()
		p.Sensitive, p.AllowedSecrets = []string{"deploy"}, []string{"examples"}
		switch c.entry.Mode {
		case "":
			c.entry.Mode = "100644"
		case "gone":
			c.entry.Mode = ""
		}
		c.entry.Digest = "d1"
		found, added := JudgeTree([]Entry{c.entry}, p)
		var got []string
		for _, f := range found {
			said := map[Decision]string{Ask: "ask ", Deny: "deny "}[f.Decision] + string(f.Code)
			if f.Person {
				said += " person"
			}
			got = append(got, said)
			if f.Path != c.entry.Path || f.Digest != "d1" {
				t.Errorf("%q: found %+v", c.entry.Path, f)
			}
		}
		if strings.Join(got, ", ") != c.want || added != nil {
			t.Errorf("%q: %q, want %q", c.entry.Path, got, c.want)
		}
		if _, tool := canonical(c.entry.Path); tool && c.entry.Mode == "100644" && c.entry.Size == 0 &&
			len(c.entry.Secrets) == 0 && !c.entry.Marked && !c.entry.Head {
			v := Judge(Request{Tool: "write_file", Permissions: []Permission{FSWrite},
				Paths: []Path{{c.entry.Path, OpWrite}}}, p)
			if (v.Decision == Allow) != (c.want == "") || v.Decision == Deny != strings.HasPrefix(c.want, "deny") {
				t.Errorf("%q: a tool is told %s", c.entry.Path, v.Decision)
			}
		}
	}
	if found, _ := JudgeTree([]Entry{{Path: "x", Mode: "100644"}}, ReadOnly()); len(found) != 1 || found[0].Code != CodeReadOnly {
		t.Errorf("who may only look has changed something: %+v", found)
	}
}

// TestManyFiles: new files are counted, those that are expected are not, and what cannot be named in full is denied.
func TestManyFiles(t *testing.T) {
	change := make([]Entry, 0, 3000)
	for i := range cap(change) {
		change = append(change, Entry{Path: fmt.Sprintf("f%04d", i), Mode: "100644", New: true, Digest: "d"})
	}
	none := func(string) bool { return false }
	if _, added := JudgeTree(change[:20], Standard()); added.Except(none) != nil {
		t.Error("twenty files are too many")
	}
	_, added := JudgeTree(change[:21], Standard())
	f := added.Except(none)
	if f == nil || f.Decision != Ask || f.Code != CodeManyFiles || f.Digest == "" || f.Args[0] != "21" {
		t.Fatalf("%+v", f)
	}
	if added.Except(func(p string) bool { return p == "f0003" }) != nil {
		t.Error("a file that was expected is counted")
	}
	_, other := JudgeTree(append([]Entry{{Path: "f0000", Mode: "100644", New: true, Digest: "e"}}, change[1:21]...),
		Standard())
	if other.Digest == added.Digest {
		t.Error("other contents have the same digest")
	}
	if _, all := JudgeTree(change, Standard()); len(all.Files) != maxAdded || all.Except(none).Args[0] != "3000" {
		t.Errorf("%d names, %+v", len(all.Files), all.Except(none))
	}
	for i := range change {
		change[i].Path += "/AGENTS.md"
	}
	change[2999].Path = ".gitmodules"
	found, _ := JudgeTree(change, Standard())
	if len(found) != maxFound+1 || found[0].Code != CodeProtectedPath || found[maxFound].Decision != Deny {
		t.Errorf("%d findings, the first %+v", len(found), found[0])
	}
}
