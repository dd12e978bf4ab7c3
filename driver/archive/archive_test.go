package archive

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/knowledge"
	"pawl/text/message"
	"pawl/text/solution"
)

// content reads every file below a folder, path → text.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func archiveEffect(t *testing.T, files ...pawl.ProjectedFile) effect.Effect {
	return effect.Effect{Kind: effect.KindArchive, Place: effect.Place{Workspace: t.TempDir()},
		Spec: effect.Encode(effect.ArchiveSpec{Files: files})}
}

func TestDo(t *testing.T) {
	e := archiveEffect(t,
		pawl.ProjectedFile{Path: "active_context.md", Content: "idle"},
		pawl.ProjectedFile{Path: "history/task_archive_202602.md", Content: "## T-1\n", Append: true, Marker: "T-1"},
		pawl.ProjectedFile{Path: "archive/2026-02/202602011200_a/proposal.md", Content: "one", Unique: true},
		pawl.ProjectedFile{Path: "empty", Content: ""},
	)
	dir := filepath.Join(e.Place.Workspace, ".pawl")
	if answer, _ := New().Done(t.Context(), e); answer != effect.DoneNo {
		t.Fatalf("before: %s", answer)
	}
	want := map[string]string{
		"active_context.md": "idle", "history/task_archive_202602.md": "## T-1\n",
		"archive/2026-02/202602011200_a/proposal.md": "one", "empty": "",
	}
	for range 3 { // doing it again is the same as doing it once
		r := New().Do(t.Context(), e, nil)
		if !r.OK {
			t.Fatalf("%+v", r)
		}
		if d := cmp.Diff(want, content(t, dir)); d != "" {
			t.Fatal(d)
		}
		answer, again := New().Done(t.Context(), e)
		if answer != effect.DoneYes || string(again.Result) != string(r.Result) {
			t.Fatalf("%s %s %s", answer, again.Result, r.Result)
		}
	}
	if err := os.Remove(filepath.Join(dir, "empty")); err != nil {
		t.Fatal(err)
	}
	if answer, _ := New().Done(t.Context(), e); answer != effect.DoneNo {
		t.Errorf("a file is gone: %s", answer)
	}
}

func write(t *testing.T, dir string, files ...pawl.ProjectedFile) []string {
	t.Helper()
	names, err := Write(t.Context(), dir, files)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestAppendAndUnique(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".pawl")
	add := func(marker string) {
		write(t, dir, pawl.ProjectedFile{Path: "h.md", Content: "## " + marker + "\n", Append: true, Marker: marker})
	}
	add("A")
	add("B")
	add("A")
	unique := func(text string) string {
		return write(t, dir,
			pawl.ProjectedFile{Path: "a/b.c/p.md", Content: "same", Unique: true},
			pawl.ProjectedFile{Path: "a/b.c/t.md", Content: text, Unique: true},
			pawl.ProjectedFile{Path: "h.md", Content: "[" + text + "](b.c/t.md)\n", Append: true, Marker: "[" + text +
				"]"})[1]
	}
	names := []string{unique("1"), unique("2"), unique("1"), unique("3"), unique("2")}
	if d := cmp.Diff([]string{"a/b.c/t.md", "a/b.c_v2/t.md", "a/b.c/t.md", "a/b.c_v3/t.md", "a/b.c_v2/t.md"},
		names); d != "" {
		t.Error(d)
	}
	want := map[string]string{"h.md": "## A\n## B\n[1](b.c/t.md)\n[2](b.c_v2/t.md)\n[3](b.c_v3/t.md)\n"}
	for n, dir := range []string{"a/b.c", "a/b.c_v2", "a/b.c_v3"} {
		want[dir+"/p.md"], want[dir+"/t.md"] = "same", strconv.Itoa(n+1)
	}
	if d := cmp.Diff(want, content(t, dir)); d != "" {
		t.Error(d)
	}
	// A crash between the files of a folder leaves one of them; the rest joins it.
	if err := os.Remove(filepath.Join(dir, "a/b.c_v2/p.md")); err != nil {
		t.Fatal(err)
	}
	if name := unique("2"); name != "a/b.c_v2/t.md" {
		t.Error(name)
	}
	if d := cmp.Diff(want, content(t, dir)); d != "" {
		t.Error(d)
	}
}

// TestLog adds entries to the CHANGELOG once, whether there is a folder, a file or neither.
func TestLog(t *testing.T) {
	at := time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC)
	spec := effect.ArchiveSpec{Log: []effect.LogEntry{{At: at, Kind: "added", Text: "login", ID: "t1", Language: "en"},
		{At: at, Kind: "risk_confirmed", Text: "login", ID: "t1-risk", Language: "en"}}}
	for what, own := range map[string]string{"no folder": "", "no file": "", "a file": "# Ours\n\nkept\n"} {
		dir := t.TempDir()
		if what != "no folder" {
			if err := os.Mkdir(filepath.Join(dir, ".pawl"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if own != "" {
			if err := os.WriteFile(filepath.Join(dir, ".pawl/CHANGELOG.md"), []byte(own), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e := effect.Effect{Kind: effect.KindArchive, Place: effect.Place{Workspace: dir}, Spec: effect.Encode(spec)}
		if a, _ := New().Done(t.Context(), e); a != effect.DoneNo {
			t.Errorf("%s: before: %s", what, a)
		}
		for range 2 {
			if r := New().Do(t.Context(), e, nil); !r.OK {
				t.Fatalf("%s: %v", what, r.Err())
			}
		}
		if a, _ := New().Done(t.Context(), e); a != effect.DoneYes {
			t.Errorf("%s: after: %s", what, a)
		}
		raw, err := os.ReadFile(filepath.Join(dir, ".pawl/CHANGELOG.md"))
		if s := string(raw); err != nil || strings.Count(s, "pawl:t1 ") != 1 ||
			strings.Count(s, "pawl:t1-risk ") != 1 || !strings.Contains(s, own) {
			t.Errorf("%s: %v\n%s", what, err, s)
		}
	}
}

// logs is the effect that archives a task in a workspace, with an entry of the CHANGELOG.
func logs(dir string, at time.Time, id string) effect.Effect {
	spec := effect.ArchiveSpec{
		Files: []pawl.ProjectedFile{{Path: "history/" + id + ".md", Content: id}},
		Log:   []effect.LogEntry{{At: at, Kind: "added", Text: "task " + id, ID: id, Language: "en"}},
	}
	return effect.Effect{Kind: effect.KindArchive, Place: effect.Place{Workspace: dir}, Spec: effect.Encode(spec)}
}

// TestLogIsSplitByYear archives one task after the other, beyond what one CHANGELOG holds and over the end of a year.
func TestLogIsSplitByYear(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2025, 12, 31, 23, 0, 0, 0, time.UTC).AddDate(0, 0, -knowledge.MaxEntries+10)
	id := func(n int) string { return "T" + strconv.Itoa(n) }
	last := knowledge.MaxEntries + 1
	for n := range last + 1 {
		e := logs(dir, at.AddDate(0, 0, n), id(n))
		r := New().Do(t.Context(), e, nil)
		if !r.OK || r.Cause != nil {
			t.Fatalf("%d: %v %+v", n, r.Err(), r.Cause)
		}
		if n < knowledge.MaxEntries {
			continue
		}
		// Doing it again changes nothing, whatever has moved.
		before := content(t, dir)
		if a, again := New().Done(t.Context(), e); a != effect.DoneYes || again.Cause != nil {
			t.Errorf("%d: %s %+v", n, a, again.Cause)
		}
		if again := New().Do(t.Context(), e, nil); !again.OK {
			t.Errorf("%d: %v", n, again.Err())
		}
		if d := cmp.Diff(before, content(t, dir)); d != "" {
			t.Fatalf("%d: %s", n, d)
		}
	}
	files := content(t, filepath.Join(dir, ".pawl"))
	year := func(n int) string {
		if at.AddDate(0, 0, n).Year() == 2025 {
			return "CHANGELOG_2025.md"
		}
		return "CHANGELOG.md"
	}
	for n := range last + 1 {
		for _, name := range []string{"CHANGELOG.md", "CHANGELOG_2025.md"} {
			if got := strings.Count(files[name], "pawl:"+id(n)+" "); got != map[bool]int{true: 1}[name == year(n)] {
				t.Errorf("%s holds the entry of task %d %d times", name, n, got)
			}
		}
	}
	if !strings.Contains(files["CHANGELOG.md"], "](CHANGELOG_2025.md)") {
		t.Errorf("the shard is not named:\n%s", files["CHANGELOG.md"])
	}
}

// TestLogThatCannotGrow is a CHANGELOG that a person, or a repository, made unfit: the task is archived all the same,
// and the file stays as it is.
func TestLogThatCannotGrow(t *testing.T) {
	at := time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC)
	for key, text := range map[string]string{
		"solution.not_text": "\xff\xfe\x00", "knowledge.block_open": "# Log\n```\ncode\n",
		"solution.too_large": strings.Repeat("a line\n", solution.MaxFile/7+1),
	} {
		dir := t.TempDir()
		log := filepath.Join(dir, ".pawl/CHANGELOG.md")
		if err := errors.Join(os.Mkdir(filepath.Join(dir, ".pawl"), 0o755),
			os.WriteFile(log, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		e := logs(dir, at, "T1")
		r := New().Do(t.Context(), e, nil)
		a, again := New().Done(t.Context(), e)
		for _, r := range []effect.Receipt{r, again} {
			if !r.OK || r.Cause == nil || r.Cause.Key != "knowledge.not_logged" || !strings.Contains(r.Detail, key) {
				t.Errorf("%s: %v %+v", key, r.Err(), r)
			}
		}
		raw, err := os.ReadFile(log)
		if err != nil || string(raw) != text || a != effect.DoneYes {
			t.Errorf("%s: %s, %d bytes, %v", key, a, len(raw), err)
		}
		if got := content(t, filepath.Join(dir, ".pawl"))["history/T1.md"]; got != "T1" {
			t.Errorf("%s: the task is not archived: %q", key, got)
		}
	}
	for what, make := range map[string]func(name string) error{
		"a link":   func(name string) error { return os.Symlink("../src.md", name) },
		"a folder": func(name string) error { return os.Mkdir(name, 0o755) },
	} {
		dir := t.TempDir()
		err := errors.Join(os.Mkdir(filepath.Join(dir, ".pawl"), 0o755),
			os.WriteFile(filepath.Join(dir, "src.md"), []byte("mine"), 0o600),
			make(filepath.Join(dir, ".pawl/CHANGELOG.md")))
		if err != nil {
			t.Fatal(err)
		}
		r := New().Do(t.Context(), logs(dir, at, "T1"), nil)
		if !r.OK || r.Cause == nil || r.Cause.Key != "knowledge.not_logged" {
			t.Errorf("%s: %v %+v", what, r.Err(), r.Cause)
		}
		raw, _ := os.ReadFile(filepath.Join(dir, "src.md"))
		kept, _ := os.ReadFile(filepath.Join(dir, ".pawl/history/T1.md"))
		if string(raw) != "mine" || string(kept) != "T1" {
			t.Errorf("%s: %q %q", what, raw, kept)
		}
	}
}

// TestLogThatCannotBeSplit grows whole, and the receipt says what is in the way.
func TestLogThatCannotBeSplit(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	text := "# Log\n\n## 2025-06-01\n" + strings.Repeat("- x\n", knowledge.MaxEntries)
	err := errors.Join(os.MkdirAll(filepath.Join(dir, ".pawl/CHANGELOG_2025.md/odd"), 0o755),
		os.WriteFile(filepath.Join(dir, ".pawl/CHANGELOG.md"), []byte(text), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	r := New().Do(t.Context(), logs(dir, at.AddDate(1, 0, 0), "T1"), nil)
	if !r.OK || r.Cause == nil || r.Cause.Key != "knowledge.not_split" {
		t.Errorf("%v %+v", r.Err(), r.Cause)
	}
	raw, _ := os.ReadFile(filepath.Join(dir, ".pawl/CHANGELOG.md"))
	if s := string(raw); !strings.Contains(s, text[len("# Log\n\n"):]) || !strings.Contains(s, "pawl:T1 ") {
		t.Errorf("%.300s", s)
	}
}

// TestOddNamesBlockNothing is a repository that brings something that is no package where packages are archived.
func TestOddNamesBlockNothing(t *testing.T) {
	outside := t.TempDir()
	for what, put := range map[string]func(dir string) error{
		"a link out":        func(dir string) error { return os.Symlink(outside, dir) },
		"a link to nowhere": func(dir string) error { return os.Symlink("nowhere", dir) },
		"a file":            func(dir string) error { return os.WriteFile(dir, []byte("mine"), 0o600) },
		"a folder for a file": func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, "tasks.md"), 0o755)
		},
		"a link for a file": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o755),
				os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, "tasks.md")))
		},
	} {
		ws := t.TempDir()
		month := filepath.Join(ws, ".pawl/archive/2026-02")
		if err := errors.Join(os.MkdirAll(filepath.Join(month, `od\d`), 0o755),
			put(filepath.Join(month, "202602011200_a"))); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(filepath.Join(month, "202602011200_a"))
		names, err := Write(t.Context(), filepath.Join(ws, ".pawl"),
			[]pawl.ProjectedFile{{Path: "archive/2026-02/202602011200_a/tasks.md", Content: "T", Unique: true}})
		if err != nil || len(names) != 1 || names[0] != "archive/2026-02/202602011200_a_v2/tasks.md" {
			t.Errorf("%s: %v %v", what, names, err)
		}
		after, _ := os.Lstat(filepath.Join(month, "202602011200_a"))
		if !os.SameFile(before, after) || len(content(t, outside)) != 0 {
			t.Errorf("%s: it did not stay as it is", what)
		}
	}
}

func TestPathsAreConfined(t *testing.T) {
	for _, p := range []string{
		"", ".", "..", "../x", filepath.Join(t.TempDir(), "outside"), "a/../../x", "a//b", "a/", `a\b`, "a\x00b",
		"a\nb", "a\u202eb", "bad\xff",
		"pawl.db", "PAWL.DB", "pawl.db-wal", "git/config", "Git/HEAD", "cache/x", "trees/x", "lock", ".pawl-tmp-x",
	} {
		dir := filepath.Join(t.TempDir(), ".pawl")
		_, err := Write(t.Context(), dir, []pawl.ProjectedFile{{Path: "ok", Content: "x"}, {Path: p, Content: "x"}})
		if pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%q: %v", p, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%q: something was written before all was checked", p)
		}
		if _, ok := Written(dir, []pawl.ProjectedFile{{Path: p}}); ok {
			t.Errorf("%q is said to be written", p)
		}
	}
	_, err := Write(t.Context(), t.TempDir(),
		[]pawl.ProjectedFile{{Path: "big", Content: strings.Repeat("x", maxFile+1)}})
	if pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("%v", err)
	}
}

// TestLinks is a repository that brings links below .pawl.
func TestLinks(t *testing.T) {
	for link, target := range map[string]string{".pawl": "OUT", ".pawl/plan": "OUT", ".pawl/plan/x": "OUT",
		".pawl/plan/x/f": "OUT/f", ".pawl/plan/x/f#": "../../../git"} {
		link = strings.TrimSuffix(link, "#")
		ws, outside := t.TempDir(), t.TempDir()
		at := filepath.Join(ws, filepath.FromSlash(link))
		err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755),
			os.Symlink(strings.Replace(target, "OUT", outside, 1), at))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []pawl.ProjectedFile{{Path: "plan/x/f"}, {Path: "plan/x/f", Append: true}} {
			f.Content = "text"
			if _, err := Write(t.Context(), filepath.Join(ws, ".pawl"),
				[]pawl.ProjectedFile{f}); pawl.CodeOf(err) != pawl.CodeDenied {
				t.Errorf("%s: %v", link, err)
			}
		}
		if left := content(t, outside); len(left) != 0 {
			t.Errorf("%s: written outside: %v", link, left)
		}
	}
}

func TestFailures(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "f"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Write(t.Context(), dir, []pawl.ProjectedFile{{Path: "f", Content: "a folder is in the way"}})
	if pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error(err)
	}
	_, err = Write(t.Context(), filepath.Join(dir, "gone", "deeper"), []pawl.ProjectedFile{{Path: "f"}})
	if pawl.CodeOf(err) != pawl.CodeIO {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Write(ctx, dir, []pawl.ProjectedFile{{Path: "g"}})
	if pawl.CodeOf(err) != pawl.CodeCanceled {
		t.Error(err)
	}
	for n := range 150 {
		taken := filepath.Join(dir, version("v", n+1))
		if err := errors.Join(os.Mkdir(taken, 0o755), os.WriteFile(filepath.Join(taken, "u"), []byte("taken"),
			0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = Write(t.Context(), dir, []pawl.ProjectedFile{{Path: "u",
		Unique: true}}); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error(err)
	}
	// Names do not run out.
	if names, err := Write(t.Context(), dir, []pawl.ProjectedFile{{Path: "v/u", Content: "new", Unique: true}}); err != nil ||
		!slices.Equal(names, []string{version("v", 151) + "/u"}) {
		t.Error(names, err)
	}
	var e *pawl.Error
	if errors.As(err, &e) {
		if _, ok := message.Lookup(e.Key); !ok {
			t.Errorf("no message %q", e.Key)
		}
	}
	bad := effect.Effect{Place: effect.Place{Workspace: "relative"}, Spec: effect.Encode(effect.ArchiveSpec{})}
	if r := New().Do(t.Context(), bad, nil); r.Code != pawl.CodeInvalid {
		t.Errorf("%+v", r)
	}
	bad.Spec = nil
	if r := New().Do(t.Context(), bad, nil); r.OK {
		t.Errorf("%+v", r)
	}
	if answer, _ := New().Done(t.Context(), bad); answer != effect.DoneNo {
		t.Error(answer)
	}
}

// TestReadersSeeOldOrNew replaces a file while others read it: no reader may see a mixture or nothing.
func TestReadersSeeOldOrNew(t *testing.T) {
	dir := t.TempDir()
	versions := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 50_000)}
	write(t, dir, pawl.ProjectedFile{Path: "state.json", Content: versions[0]})
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				b, err := os.ReadFile(filepath.Join(dir, "state.json"))
				if err != nil || (string(b) != versions[0] && string(b) != versions[1]) {
					t.Errorf("torn: %d bytes, %v", len(b), err)
					return
				}
			}
		})
	}
	for n := range 30 {
		write(t, dir, pawl.ProjectedFile{Path: "state.json", Content: versions[n%2]})
	}
	close(stop)
	readers.Wait()
}

// TestSweep: a name that does not say who made it is nobody's to delete, however old it is.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, tempMark+"1"), filepath.Join(dir, tempMark+"2")
	past := time.Now().Add(-20 * 24 * time.Hour)
	err := errors.Join(os.WriteFile(old, nil, 0o644), os.WriteFile(young, nil, 0o644), os.Chtimes(old, past, past))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, pawl.ProjectedFile{Path: "f", Content: "x"})
	if d := cmp.Diff(map[string]string{tempMark + "1": "", tempMark + "2": "", "f": "x"}, content(t, dir)); d != "" {
		t.Error(d)
	}
}

func FuzzPath(f *testing.F) {
	f.Add("a/b", "x")
	f.Add("../x", "x")
	f.Fuzz(func(t *testing.T, p, text string) {
		ws := t.TempDir()
		dir := filepath.Join(ws, ".pawl")
		file := pawl.ProjectedFile{Path: p, Content: text}
		if _, err := Write(t.Context(), dir, []pawl.ProjectedFile{file}); err == nil {
			if _, ok := Written(dir, []pawl.ProjectedFile{file}); !ok {
				t.Errorf("%q was written and is not there", p)
			}
		}
		if entries, _ := os.ReadDir(ws); len(entries) > 1 || (len(entries) == 1 && entries[0].Name() != ".pawl") {
			t.Errorf("%q left the folder", p)
		}
	})
}
