package file

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"pawl"
	"pawl/kernel/effect"
)

// memory is a tree in memory: path → bytes.
type memory map[string]string

func (m memory) look(rel string) (content, error) {
	if data, ok := m[rel]; ok {
		return content{exists: true, data: []byte(data), mode: defaultMode}, nil
	}
	for p := range m {
		if strings.HasPrefix(p, rel+"/") {
			return content{dir: true}, nil
		}
	}
	return content{}, nil
}

// patched applies a patch to a copy of the tree. On failure the copy is as the tree was.
func (m memory) patched(text string) (memory, []edit, error) {
	sections, err := parsePatch(text)
	if err != nil {
		return m, nil, err
	}
	d := newDraft(m)
	if err := applyPatch(d, sections); err != nil {
		return m, nil, err
	}
	edits := d.edits()
	out := maps.Clone(m)
	for _, e := range edits {
		delete(out, e.path)
		if e.new.exists {
			out[e.path] = string(e.new.data)
		}
	}
	return out, edits, nil
}

// minScenarios is how many scenarios there are: one that gets lost must not go unnoticed.
const minScenarios = 47

// scenario is a patch with the tree before it and either the tree after it or the code of the error that refuses it.
type scenario struct {
	name, patch   string
	before, after memory
	refused       pawl.Code
}

// scenarios reads testdata/patches. Each file there is a txtar archive: first the rule in a sentence or two, then the
// sections patch, before/PATH for every file of the tree, and after/PATH for every file of the result or, for a patch
// that must be refused and then changes nothing, refused with the error's code.
//
// An archive ends every section with a newline, and editors and git rewrite line endings, blanks at the end of a line
// and byte order marks. A section in which these matter is therefore called NAME (quoted) and holds one Go string per
// line, which follow each other without anything in between. Such bytes in a plain section are an error.
func scenarios(t testing.TB) []scenario {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "patches", "*.txtar"))
	if err != nil || len(files) < minScenarios {
		t.Fatalf("found %d scenarios, want at least %d: %v", len(files), minScenarios, err)
	}
	var out []scenario
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseScenario(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		s.name = strings.TrimSuffix(filepath.Base(file), ".txtar")
		out = append(out, s)
	}
	return out
}

func parseScenario(data []byte) (scenario, error) {
	s := scenario{before: memory{}, after: memory{}}
	ar := txtar.Parse([]byte(strings.ReplaceAll(string(data), "\r\n", "\n"))) // git may have checked it out so
	if len(strings.Fields(string(ar.Comment))) < 5 {
		return s, errors.New("no sentence says what the rule is")
	}
	seen := map[string]bool{}
	for _, f := range ar.Files {
		name, quoted := strings.CutSuffix(f.Name, " (quoted)")
		text, err := sectionText(string(f.Data), quoted)
		if err != nil {
			return s, fmt.Errorf("section %s: %w", f.Name, err)
		}
		if seen[name] {
			return s, fmt.Errorf("section %s stands there twice", name)
		}
		seen[name] = true
		before, isBefore := strings.CutPrefix(name, "before/")
		after, isAfter := strings.CutPrefix(name, "after/")
		switch {
		case name == "patch":
			s.patch = text
		case name == "refused":
			s.refused = pawl.Code(strings.TrimSpace(text))
		case isBefore:
			s.before[before] = text
		case isAfter:
			s.after[after] = text
		default:
			return s, fmt.Errorf("section %s is unknown", f.Name)
		}
	}
	if s.patch == "" || (s.refused == "") == (len(s.after) == 0) {
		return s, errors.New("it needs a patch, and either files after it or the code of its refusal")
	}
	return s, nil
}

// sectionText returns what a section stands for.
func sectionText(data string, quoted bool) (string, error) {
	var b strings.Builder
	for l := range strings.Lines(data) {
		l = strings.TrimSuffix(l, "\n")
		if !quoted {
			if strings.TrimRight(l, " \t\r") != l || strings.ContainsAny(l, "\r\ufeff") {
				return "", fmt.Errorf("%q does not survive an editor; quote the section", l)
			}
			b.WriteString(l + "\n")
			continue
		}
		text, err := strconv.Unquote(l)
		if err != nil {
			return "", fmt.Errorf("%q: %w", l, err)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			want := s.after
			if s.refused != "" {
				want = s.before
			}
			got, _, err := s.before.patched(s.patch)
			if pawl.CodeOf(err) != s.refused {
				t.Fatalf("error = %v, want %q", err, s.refused)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEnvelope(t *testing.T) {
	const begin, end = "*** Begin Patch\n", "*** End Patch\n"
	two := memory{"f": "a\nb\nc\nb\nd\n"}
	for _, c := range []struct {
		name, patch string
		tree, want  memory
	}{
		{"anchor picks the second", begin + "*** Update File: f\n@@ c\n-b\n+B\n" + end, two,
			memory{"f": "a\nb\nc\nB\nd\n"}},
		{"two anchors", begin + "*** Update File: f\n@@ b\n@@ b\n+x\n" + end, two, memory{"f": "a\nb\nc\nb\nx\nd\n"}},
		{"line numbers are ignored", begin + "*** Update File: f\n@@ -1,2 +1,2 @@\n-a\n+A\n" + end, two,
			memory{"f": "A\nb\nc\nb\nd\n"}},
		{"end of file picks the last", begin + "*** Update File: f\n@@\n-b\n d\n*** End of File\n" + end, two,
			memory{"f": "a\nb\nc\nd\n"}},
		{"trailing space differs", begin + "*** Update File: f\n@@\n a \n-b\n+B\n" + end, two,
			memory{"f": "a\nB\nc\nb\nd\n"}},
		{"indentation differs", begin + "*** Update File: f\n@@\n-x()\n+y()\n" + end, memory{"f": "\tx()\n"},
			memory{"f": "y()\n"}},
		{"exact beats near", begin + "*** Update File: f\n@@\n-x\n+y\n" + end, memory{"f": " x\nx\n"},
			memory{"f": " x\ny\n"}},
		{"context keeps the file's bytes", begin + "*** Update File: f\n@@\n a\n-b\n" + end, memory{"f": "a  \nb\n"},
			memory{"f": "a  \n"}},
		{"blank line between hunks", begin + "*** Update File: f\n@@\n-a\n+A\n\n@@\n-d\n+D\n\n" + end, two,
			memory{"f": "A\nb\nc\nb\nD\n"}},
		{"blank line is context", begin + "*** Update File: f\n@@\n-a\n\n+c\n b\n" + end, memory{"f": "a\n\nb\n"},
			memory{"f": "\nc\nb\n"}},
		{"no final newline stays so", begin + "*** Update File: f\n@@\n-a\n+A\n" + end, memory{"f": "a\nb"},
			memory{"f": "A\nb"}},
		{"append behind no newline", begin + "*** Update File: f\n@@\n+c\n" + end, memory{"f": "a\r\nb"},
			memory{"f": "a\r\nb\r\nc\r\n"}},
		{"equally many endings", begin + "*** Update File: f\n@@\n+c\n" + end, memory{"f": "a\r\nb\n"},
			memory{"f": "a\r\nb\nc\r\n"}},
		{"byte order mark", begin + "*** Update File: f\n@@\n-a\n+A\n" + end, memory{"f": "\ufeffa\n"},
			memory{"f": "\ufeffA\n"}},
		{"carriage return is content", begin + "*** Update File: f\n@@\n-a\rb\n+c\n" + end, memory{"f": "a\rb\n"},
			memory{"f": "c\n"}},
		{"invalid UTF-8 elsewhere", begin + "*** Update File: f\n@@\n-a\n+A\n" + end, memory{"f": "a\n\xff\xfe\n"},
			memory{"f": "A\n\xff\xfe\n"}},
		{"add empty file", begin + "*** Add File: e\n" + end, memory{}, memory{"e": ""}},
		{"add then update", begin + "*** Add File: e\n+a\n*** Update File: e\n@@\n-a\n+b\n" + end, memory{},
			memory{"e": "b\n"}},
		{"move only", begin + "*** Update File: f\n*** Move to: g/h\n" + end, two, memory{"g/h": two["f"]}},
		{"move to itself", begin + "*** Update File: f\n*** Move to: f\n@@\n-a\n+A\n" + end, memory{"f": "a\n"},
			memory{"f": "A\n"}},
		{"swap by two moves", begin + "*** Update File: f\n*** Move to: t\n*** Update File: g\n*** Move to: f\n*** Update File: t\n*** Move to: g\n" + end,
			memory{"f": "1", "g": "2"}, memory{"f": "2", "g": "1"}},
		{"CRLF patch", strings.ReplaceAll(begin+"*** Update File: f\n@@\n-a\n+A\n"+end, "\n", "\r\n"),
			memory{"f": "a\n"}, memory{"f": "A\n"}},
		{"heredoc", "<<'EOF'\n" + begin + "*** Add File: e\n+x\n" + end + "EOF\n", memory{}, memory{"e": "x\n"}},
		{"marker as context", begin + "*** Update File: f\n@@\n *** Move to: x\n-a\n" + end,
			memory{"f": "*** Move to: x\na\n"}, memory{"f": "*** Move to: x\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := c.tree.patched(c.patch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPatchRefusals(t *testing.T) {
	const begin, end = "*** Begin Patch\n", "*** End Patch\n"
	tree := memory{"f": "a\nb\n", "d/x": "x\n"}
	long := strings.Repeat("+"+strings.Repeat("x", 1023)+"\n", maxFile>>10+1)
	for _, c := range []struct {
		name, patch string
		code        pawl.Code
	}{
		{"empty", "", pawl.CodeInvalid},
		{"prose", "please change the file\n", pawl.CodeInvalid},
		{"no end", begin + "*** Add File: x\n+a\n", pawl.CodeInvalid},
		{"text after end", begin + "*** Add File: x\n+a\n" + end + "more\n", pawl.CodeInvalid},
		{"no path", begin + "*** Add File: \n+a\n" + end, pawl.CodeInvalid},
		{"hunk without lines", begin + "*** Update File: f\n@@\n@@\n" + end, pawl.CodeInvalid},
		{"line without sign", begin + "*** Update File: f\n@@\n-a\nb\n" + end, pawl.CodeInvalid},
		{"added line without plus", begin + "*** Add File: x\n+a\nb\n" + end, pawl.CodeInvalid},
		{"hunks out of order", begin + "*** Update File: f\n@@\n-b\n@@\n-a\n" + end, pawl.CodeConflict},
		{"anchor missing", begin + "*** Update File: f\n@@ zzz\n-b\n" + end, pawl.CodeConflict},
		{"not at the end", begin + "*** Update File: f\n@@\n-a\n*** End of File\n" + end, pawl.CodeConflict},
		{"escape", begin + "*** Add File: ../x\n+a\n" + end, pawl.CodeDenied},
		{"hidden escape", begin + "*** Add File: d/../../x\n+a\n" + end, pawl.CodeDenied},
		{"absolute", begin + "*** Add File: /etc/x\n+a\n" + end, pawl.CodeDenied},
		{"move escape", begin + "*** Update File: f\n*** Move to: ../f\n" + end, pawl.CodeDenied},
		{"file as folder", begin + "*** Add File: f/x\n+a\n" + end, pawl.CodeConflict},
		{"removed file as folder", begin + "*** Delete File: f\n*** Add File: f/x\n+a\n" + end, pawl.CodeConflict},
		{"folder as file", begin + "*** Add File: d\n+a\n" + end, pawl.CodeInvalid},
		{"new file as folder", begin + "*** Add File: n/m\n+a\n*** Add File: n\n+a\n" + end, pawl.CodeConflict},
		{"too large", begin + "*** Add File: big\n" + long + end, pawl.CodeInvalid},
		{"second fails", begin + "*** Update File: f\n@@\n-a\n+A\n*** Delete File: nope\n" + end, pawl.CodeNotFound},
		{"diff offset", "--- a/f\n+++ b/f\n@@ -2,1 +2,1 @@\n-a\n+A\n", pawl.CodeConflict},
		{"diff miscount", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-a\n+A\n", pawl.CodeInvalid},
		{"diff undercount", "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+A\n+more\n", pawl.CodeInvalid},
		{"diff renames without saying", "--- a/f\n+++ b/g\n@@ -1,1 +1,1 @@\n-a\n+A\n", pawl.CodeInvalid},
		{"diff of existing new file", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,1 @@\n+A\n", pawl.CodeConflict},
		{"diff deletes half", "--- a/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n", pawl.CodeConflict},
		{"diff escape", "--- a/../f\n+++ b/../f\n@@ -1,1 +1,1 @@\n-a\n+A\n", pawl.CodeDenied},
		{"diff absolute", "--- /etc/f\n+++ /etc/f\n@@ -1,1 +1,1 @@\n-a\n+A\n", pawl.CodeDenied},
		{"symbolic link", "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n", pawl.CodeInvalid},
		{"submodule", "diff --git a/m b/m\nnew file mode 160000\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+Subproject commit 1\n", pawl.CodeInvalid},
		{"change into a link", "diff --git a/f b/f\nold mode 100644\nnew mode 120000\n", pawl.CodeInvalid},
		{"binary", "diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n", pawl.CodeInvalid},
		{"binary differs", "diff --git a/f b/f\nindex 1..2 100644\nBinary files a/f and b/f differ\n",
			pawl.CodeInvalid},
		{"copy", "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n", pawl.CodeInvalid},
		{"rename onto a file", "diff --git a/f b/d/x\nsimilarity index 100%\nrename from f\nrename to d/x\n",
			pawl.CodeConflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := tree.patched(c.patch)
			if pawl.CodeOf(err) != c.code {
				t.Fatalf("error = %v, want %s", err, c.code)
			}
			if diff := cmp.Diff(tree, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnified(t *testing.T) {
	tree := memory{"f": "a\nb\nc\n", "w": "a\r\nb\r\n", "dir/n": "x"}
	for _, c := range []struct {
		name, patch string
		want        memory
	}{
		{"plain", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n",
			memory{"f": "A\nb\nc\n", "w": tree["w"], "dir/n": "x"}},
		{"plain with prefixes and times", "--- a/f\t2024-01-01 00:00:00\n+++ b/f\t2024-01-02 00:00:00\n@@ -3 +3,2 @@\n c\n+d\n", memory{"f": "a\nb\nc\nd\n", "w": tree["w"], "dir/n": "x"}},
		{"git", "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+B\n",
			memory{"f": "a\nB\nc\n", "w": tree["w"], "dir/n": "x"}},
		{"no newline at the end", "--- a/dir/n\n+++ b/dir/n\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n", memory{"f": tree["f"], "w": tree["w"], "dir/n": "y"}},
		{"LF diff of a CRLF file", "--- a/w\n+++ b/w\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n",
			memory{"f": tree["f"], "w": "A\r\nb\r\n", "dir/n": "x"}},
		{"new and deleted", "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n--- a/f\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n", memory{"new": "n\n", "w": tree["w"], "dir/n": "x"}},
		{"rename", "diff --git a/f b/g\nsimilarity index 60%\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+A\n", memory{"g": "A\nb\nc\n", "w": tree["w"], "dir/n": "x"}},
		{"without the last newline", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A",
			memory{"f": "A\nb\nc\n", "w": tree["w"], "dir/n": "x"}},
		{"CRLF diff of an LF file", "diff --git a/f b/f\r\n--- a/f\r\n+++ b/f\r\n@@ -1 +1 @@\r\n-a\r\n+A\r\n",
			memory{"f": "A\nb\nc\n", "w": tree["w"], "dir/n": "x"}},
		{"CRLF diff of a CRLF file", "--- a/w\r\n+++ b/w\r\n@@ -1 +1 @@\r\n-a\r\n+A\r\n",
			memory{"f": tree["f"], "w": "A\r\nb\r\n", "dir/n": "x"}},
		{"mail signature", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\n-- \n2.39\n",
			memory{"f": "A\nb\nc\n", "w": tree["w"], "dir/n": "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := tree.patched(c.patch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestModes(t *testing.T) {
	_, edits, err := memory{"f": "a\n"}.patched("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n")
	if err != nil || len(edits) != 1 || edits[0].new.mode != 0o755 {
		t.Fatalf("%+v %v", edits, err)
	}
	im := edits[0].image(nil)
	if compare(im, edits[0].old) != asOld || compare(im, edits[0].new) != asNew {
		t.Error("a change of the mode alone is not told apart")
	}
}

// TestMoveWritesFirst: a crash in the middle of a move must leave the content twice rather than nowhere.
func TestMoveWritesFirst(t *testing.T) {
	_, edits, err := memory{"a": "1\n"}.patched("*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch\n")
	if err != nil || len(edits) != 2 || edits[0].path != "b" || edits[1].path != "a" {
		t.Errorf("%v %v", edits, err)
	}
}

// FuzzPatch: no patch makes parsing or applying panic, and whatever applies can be undone from its images alone.
func FuzzPatch(f *testing.F) {
	names := []string{"f"}
	for _, s := range scenarios(f) {
		for _, name := range slices.Sorted(maps.Keys(s.before)) {
			f.Add(s.patch, s.before[name])
			names = append(names, name)
		}
		f.Add(s.patch, "line one\nline two\r\nold\rnew\n")
	}
	f.Add("--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+A\n", "a\n")
	f.Add("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", "a")
	f.Add("*** Begin Patch\n*** Update File: f\n@@ a\n-b\n+c\n\n*** End of File\n*** End Patch\n", "a\nb\n\n")
	f.Fuzz(func(t *testing.T, patch, data string) {
		tree := memory{}
		for _, name := range names {
			tree[name] = data
		}
		after, edits, err := tree.patched(patch)
		if err != nil {
			if pawl.CodeOf(err) == pawl.CodeInternal {
				t.Fatal(err)
			}
			return
		}
		back := maps.Clone(after)
		for _, e := range slices.Backward(edits) {
			im := e.image(nil)
			if im.NewHash != "" && hashOf([]byte(after[e.path])) != im.NewHash {
				t.Fatalf("%s: image does not describe the result", e.path)
			}
			old, err := before(im, e.new)
			if err != nil {
				t.Fatal(err)
			}
			delete(back, e.path)
			if old.exists {
				back[e.path] = string(old.data)
			}
		}
		if diff := cmp.Diff(tree, back); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestImageSurvivesJSON(t *testing.T) {
	for name, pair := range map[string][2]string{
		"text":          {"a\nb\n", "a\nc\n"},
		"latin-1":       {"a\xff\n", "b\xff\n"},
		"to latin-1":    {"a\n", "\xff\n"},
		"binary":        {"\x00\x01", "\x00\x02"},
		"emptied":       {"a\n", ""},
		"was empty":     {"", "a\n"},
		"no newline":    {"a", "a\n"},
		"CR":            {"a\rb", "a\r\nb"},
		"line 2028":     {"a\u2028b\n", "c\n"},
		"all different": {strings.Repeat("x\n", 5000), strings.Repeat("y\n", 5000)},
	} {
		t.Run(name, func(t *testing.T) {
			e := edit{"f.txt", content{exists: true, data: []byte(pair[0]), mode: 0o600},
				content{exists: true, data: []byte(pair[1]), mode: 0o600}}
			for _, e.path = range []string{"f.txt", "odd\nname \"q\".txt", "日本\t"} {
				im, err := effect.Decode[effect.FileImage](effect.Encode(e.image(nil)))
				if err != nil {
					t.Fatal(err)
				}
				got, err := before(im, e.new)
				if err != nil || string(got.data) != pair[0] || got.mode != 0o600 {
					t.Fatalf("%q %o %v", got.data, got.mode, err)
				}
				if name == "text" && e.path == "f.txt" && im.Patch == "" {
					t.Error("text is not kept as a patch")
				}
			}
		})
	}
}

func TestDamagedImage(t *testing.T) {
	e := edit{"f", content{exists: true, data: []byte("\x00old")}, content{exists: true, data: []byte("new")}}
	im := e.image(nil)
	im.Before = []byte("\x00forged")
	if c, err := before(im, e.new); pawl.CodeOf(err) != pawl.CodeInternal {
		t.Errorf("%q %v", c.data, err)
	}
}

// TestSearch compares with the obvious method on every text and pattern of two symbols up to a length.
func TestSearch(t *testing.T) {
	words := func(most int) (out [][]int) {
		for n := range most + 1 {
			for bits := range 1 << n {
				w := make([]int, n)
				for i := range w {
					w[i] = bits >> i & 1
				}
				out = append(out, w)
			}
		}
		return out
	}
	for _, text := range words(9) {
		for _, pattern := range words(5) {
			want := -1
			for i := 0; want < 0 && i+len(pattern) <= len(text); i++ {
				if slices.Equal(text[i:i+len(pattern)], pattern) {
					want = i
				}
			}
			if got := search(text, pattern); got != want {
				t.Fatalf("%v in %v: %d, want %d", pattern, text, got, want)
			}
		}
	}
}
