package file

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl"
	"pawl/effect"
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

func readTree(t *testing.T, dir string) memory {
	t.Helper()
	out := memory{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}

// scenarios finds the folder of patch scenarios beside the repository.
func scenarios(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	dir = filepath.Join(filepath.Dir(dir), "shared", "apply-patch-scenarios")
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the patch scenarios are missing: put them into %s", dir)
	}
	return dir
}

func TestScenarios(t *testing.T) {
	all, err := filepath.Glob(filepath.Join(scenarios(t), "*", "patch.txt"))
	if err != nil || len(all) < 25 {
		t.Fatalf("found %d scenarios: %v", len(all), err)
	}
	for _, file := range all {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			patch, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			oracle, err := os.ReadFile(filepath.Join(dir, "oracle.json"))
			if err != nil {
				t.Fatal(err)
			}
			before := readTree(t, filepath.Join(dir, "input"))
			want := readTree(t, filepath.Join(dir, "expected"))
			fails := !strings.Contains(string(oracle), `"exit": 0`)
			if fails {
				want = before // the one difference: a failing patch changes nothing
			}
			got, _, err := before.patched(string(patch))
			if (err != nil) != fails {
				t.Fatalf("error = %v, want failure %v", err, fails)
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
		{"anchor picks the second", begin + "*** Update File: f\n@@ c\n-b\n+B\n" + end, two, memory{"f": "a\nb\nc\nB\nd\n"}},
		{"two anchors", begin + "*** Update File: f\n@@ b\n@@ b\n+x\n" + end, two, memory{"f": "a\nb\nc\nb\nx\nd\n"}},
		{"line numbers are ignored", begin + "*** Update File: f\n@@ -1,2 +1,2 @@\n-a\n+A\n" + end, two, memory{"f": "A\nb\nc\nb\nd\n"}},
		{"end of file picks the last", begin + "*** Update File: f\n@@\n-b\n d\n*** End of File\n" + end, two, memory{"f": "a\nb\nc\nd\n"}},
		{"trailing space differs", begin + "*** Update File: f\n@@\n a \n-b\n+B\n" + end, two, memory{"f": "a\nB\nc\nb\nd\n"}},
		{"indentation differs", begin + "*** Update File: f\n@@\n-x()\n+y()\n" + end, memory{"f": "\tx()\n"}, memory{"f": "y()\n"}},
		{"exact beats near", begin + "*** Update File: f\n@@\n-x\n+y\n" + end, memory{"f": " x\nx\n"}, memory{"f": " x\ny\n"}},
		{"context keeps the file's bytes", begin + "*** Update File: f\n@@\n a\n-b\n" + end, memory{"f": "a  \nb\n"}, memory{"f": "a  \n"}},
		{"blank line between hunks", begin + "*** Update File: f\n@@\n-a\n+A\n\n@@\n-d\n+D\n\n" + end, two, memory{"f": "A\nb\nc\nb\nD\n"}},
		{"blank line is context", begin + "*** Update File: f\n@@\n-a\n\n+c\n b\n" + end, memory{"f": "a\n\nb\n"}, memory{"f": "\nc\nb\n"}},
		{"no final newline stays so", begin + "*** Update File: f\n@@\n-a\n+A\n" + end, memory{"f": "a\nb"}, memory{"f": "A\nb"}},
		{"append behind no newline", begin + "*** Update File: f\n@@\n+c\n" + end, memory{"f": "a\r\nb"}, memory{"f": "a\r\nb\r\nc\r\n"}},
		{"equally many endings", begin + "*** Update File: f\n@@\n+c\n" + end, memory{"f": "a\r\nb\n"}, memory{"f": "a\r\nb\nc\r\n"}},
		{"byte order mark", begin + "*** Update File: f\n@@\n-a\n+A\n" + end, memory{"f": "\ufeffa\n"}, memory{"f": "\ufeffA\n"}},
		{"carriage return is content", begin + "*** Update File: f\n@@\n-a\rb\n+c\n" + end, memory{"f": "a\rb\n"}, memory{"f": "c\n"}},
		{"invalid UTF-8 elsewhere", begin + "*** Update File: f\n@@\n-a\n+A\n" + end, memory{"f": "a\n\xff\xfe\n"}, memory{"f": "A\n\xff\xfe\n"}},
		{"add empty file", begin + "*** Add File: e\n" + end, memory{}, memory{"e": ""}},
		{"add then update", begin + "*** Add File: e\n+a\n*** Update File: e\n@@\n-a\n+b\n" + end, memory{}, memory{"e": "b\n"}},
		{"move only", begin + "*** Update File: f\n*** Move to: g/h\n" + end, two, memory{"g/h": two["f"]}},
		{"move to itself", begin + "*** Update File: f\n*** Move to: f\n@@\n-a\n+A\n" + end, memory{"f": "a\n"}, memory{"f": "A\n"}},
		{"swap by two moves", begin + "*** Update File: f\n*** Move to: t\n*** Update File: g\n*** Move to: f\n*** Update File: t\n*** Move to: g\n" + end,
			memory{"f": "1", "g": "2"}, memory{"f": "2", "g": "1"}},
		{"CRLF patch", strings.ReplaceAll(begin+"*** Update File: f\n@@\n-a\n+A\n"+end, "\n", "\r\n"), memory{"f": "a\n"}, memory{"f": "A\n"}},
		{"heredoc", "<<'EOF'\n" + begin + "*** Add File: e\n+x\n" + end + "EOF\n", memory{}, memory{"e": "x\n"}},
		{"marker as context", begin + "*** Update File: f\n@@\n *** Move to: x\n-a\n" + end, memory{"f": "*** Move to: x\na\n"}, memory{"f": "*** Move to: x\n"}},
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
		{"binary differs", "diff --git a/f b/f\nindex 1..2 100644\nBinary files a/f and b/f differ\n", pawl.CodeInvalid},
		{"copy", "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n", pawl.CodeInvalid},
		{"rename onto a file", "diff --git a/f b/d/x\nsimilarity index 100%\nrename from f\nrename to d/x\n", pawl.CodeConflict},
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
		{"plain", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n", memory{"f": "A\nb\nc\n", "w": tree["w"], "dir/n": "x"}},
		{"plain with prefixes and times", "--- a/f\t2024-01-01 00:00:00\n+++ b/f\t2024-01-02 00:00:00\n@@ -3 +3,2 @@\n c\n+d\n", memory{"f": "a\nb\nc\nd\n", "w": tree["w"], "dir/n": "x"}},
		{"git", "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+B\n", memory{"f": "a\nB\nc\n", "w": tree["w"], "dir/n": "x"}},
		{"no newline at the end", "--- a/dir/n\n+++ b/dir/n\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n", memory{"f": tree["f"], "w": tree["w"], "dir/n": "y"}},
		{"LF diff of a CRLF file", "--- a/w\n+++ b/w\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n", memory{"f": tree["f"], "w": "A\r\nb\r\n", "dir/n": "x"}},
		{"new and deleted", "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n--- a/f\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n", memory{"new": "n\n", "w": tree["w"], "dir/n": "x"}},
		{"rename", "diff --git a/f b/g\nsimilarity index 60%\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+A\n", memory{"g": "A\nb\nc\n", "w": tree["w"], "dir/n": "x"}},
		{"without the last newline", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A", memory{"f": "A\nb\nc\n", "w": tree["w"], "dir/n": "x"}},
		{"CRLF diff of an LF file", "diff --git a/f b/f\r\n--- a/f\r\n+++ b/f\r\n@@ -1 +1 @@\r\n-a\r\n+A\r\n", memory{"f": "A\nb\nc\n", "w": tree["w"], "dir/n": "x"}},
		{"CRLF diff of a CRLF file", "--- a/w\r\n+++ b/w\r\n@@ -1 +1 @@\r\n-a\r\n+A\r\n", memory{"f": tree["f"], "w": "A\r\nb\r\n", "dir/n": "x"}},
		{"mail signature", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\n-- \n2.39\n", memory{"f": "A\nb\nc\n", "w": tree["w"], "dir/n": "x"}},
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
	if all, err := filepath.Glob("../../../shared/apply-patch-scenarios/*/patch.txt"); err == nil {
		for _, name := range all {
			if data, err := os.ReadFile(name); err == nil {
				f.Add(string(data), "line1\nline2\r\nold\rtwo\n")
			}
		}
	}
	f.Add("--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+A\n", "a\n")
	f.Add("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", "a")
	f.Add("*** Begin Patch\n*** Update File: f\n@@ a\n-b\n+c\n\n*** End of File\n*** End Patch\n", "a\nb\n\n")
	f.Fuzz(func(t *testing.T, patch, data string) {
		tree := memory{}
		for _, name := range []string{"f", "foo.txt", "modify.txt", "lines.txt", "old/name.txt"} {
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
			e := edit{"f.txt", content{exists: true, data: []byte(pair[0]), mode: 0o600}, content{exists: true, data: []byte(pair[1]), mode: 0o600}}
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
