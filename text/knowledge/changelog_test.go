package knowledge_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/internal/golden"
	"pawl/text/knowledge"
	"pawl/text/solution"
)

func entry(kind knowledge.Kind, at time.Time, text, id string) knowledge.Entry {
	return knowledge.Entry{At: at, Kind: kind, Text: text, ID: id}
}

func logged(t *testing.T, log string, l knowledge.Language, all ...knowledge.Entry) string {
	t.Helper()
	for _, e := range all {
		next, err := knowledge.Log([]byte(log), e, l)
		if err != nil {
			t.Fatal(err)
		}
		log = next
	}
	return log
}

func TestLogGolden(t *testing.T) {
	full := knowledge.Entry{At: noon, Kind: knowledge.Added, Modules: []string{"web", "auth"}, Text: "登录页 | login",
		Package: "202602081200_login", Folder: "archive/2026-02/202602081200_login", Decisions: []string{"login#D001"},
		Commit: "abc123", Files: []string{"a.go", "`b`.go"}, ID: "T1"}
	for _, l := range []knowledge.Language{knowledge.Chinese, knowledge.English} {
		log := logged(t, "", l, full,
			entry(knowledge.RolledBack, noon.Add(time.Hour), "restored 202602081200_login", "T2"),
			entry(knowledge.Tweaked, noon.AddDate(0, 0, -2), "typo", "T3"),
			entry(knowledge.OutOfScope, noon.AddDate(0, 0, 1), "rename", "T4"),
			entry(knowledge.RiskConfirmed, noon, "DROP TABLE users", "T5"),
			entry(knowledge.Added, noon.Add(time.Minute), "second", "T6"),
			entry(knowledge.Fixed, noon.AddDate(0, 0, -1), "between", ""))
		golden.Check(t, "testdata/changelog."+string(l)+".md", log)
		all, err := knowledge.ReadChangelog("c", []byte(log))
		if err != nil || len(all) != 7 {
			t.Fatalf("%d entries, %v", len(all), err)
		}
		for _, e := range all {
			if e.ID == "T1" {
				e.Line, full.Modules, full.Files = 0, []string{"auth", "web"}, []string{"`b`.go", "a.go"}
				if !reflect.DeepEqual(e, full) {
					t.Errorf("%+v, want %+v", e, full)
				}
			}
		}
		if again := logged(t, log, l, full); again != log {
			t.Error("an entry was added twice")
		}
	}
}

const person = "# Our log\r\n\r\n## [Unreleased]\r\n- soon\r\n\r\n## [1.2.0] - 2026-02-07\r\n\r\n### Added\r\n- by hand\r\n  more of it\r\n\r\nsome words\r\n### Misc\r\n* **web**: odd\r\n\r\n## 2025-13-40 is no day\r\n```\r\n## 2026-02-08\r\n```\r\n## 2024-01-01\r\nend"

func TestLogKeepsWhatPeopleWrote(t *testing.T) {
	all, err := knowledge.ReadChangelog("c", []byte(person))
	if err != nil || len(all) != 2 || all[0].Text != "by hand" || all[0].Kind != knowledge.Added || all[1].Kind != "" ||
		all[1].Modules[0] != "web" {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, at := range []time.Time{noon, noon.AddDate(0, 0, -1), noon.AddDate(-1, 0, 0), noon.AddDate(-5, 0, 0)} {
		log := logged(t, person, knowledge.English, entry(knowledge.Added, at, "new", "N"))
		if !contains(strings.Split(log, "\r\n"), strings.Split(person, "\r\n")) ||
			strings.Contains(strings.ReplaceAll(log, "\r\n", ""), "\n") {
			t.Errorf("%q", log)
		}
		got, _ := knowledge.ReadChangelog("c", []byte(log))
		if len(got) != 3 {
			t.Errorf("%s: %d entries:\n%s", at, len(got), log)
		}
		for _, e := range got {
			if e.ID == "N" && (!e.At.Equal(at) || e.Kind != knowledge.Added) {
				t.Errorf("%+v", e)
			}
		}
	}
}

// contains reports whether the lines of b stand in a in their order.
func contains(a, b []string) bool {
	for _, line := range a {
		if len(b) > 0 && line == b[0] {
			b = b[1:]
		}
	}
	return len(b) == 0
}

func TestLogRefuses(t *testing.T) {
	for key, c := range map[string]struct {
		log string
		e   knowledge.Entry
	}{
		"knowledge.no_text":    {"", entry(knowledge.Added, noon, " \n", "a")},
		"knowledge.bad_kind":   {"", entry("", noon, "a", "a")},
		"knowledge.bad_id":     {"", entry(knowledge.Added, noon, "a", "a -->")},
		"knowledge.bad_time":   {"", entry(knowledge.Added, time.Time{}, "a", "a")},
		"solution.not_text":    {"\xff", entry(knowledge.Added, noon, "a", "a")},
		"knowledge.block_open": {"# a\n```\n", entry(knowledge.Added, noon, "a", "a")},
	} {
		_, err := knowledge.Log([]byte(c.log), c.e, knowledge.English)
		e, ok := err.(*pawl.Error)
		if ok && e.Err != nil {
			e = e.Err.(*pawl.Error)
		}
		if !ok || e.Key != key || e.Code != pawl.CodeInvalid {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func noShards(string) ([]byte, error) { return nil, nil }

// shards reads from a map.
func shards(of map[string][]byte) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) { return of[name], nil }
}

// full is a CHANGELOG of as many entries as stay in one file, of four years, and one entry more.
func full(t *testing.T) (string, []knowledge.Entry) {
	t.Helper()
	log := "# Log\n\nwords above\n"
	at := time.Date(2023, 12, 1, 0, 0, 0, 0, time.UTC)
	for i := range knowledge.MaxEntries {
		log = logged(t, log, knowledge.English, entry(knowledge.Changed, at.AddDate(0, 0, 4*i), fmt.Sprint("n", i),
			fmt.Sprint("i", i)))
	}
	return log, []knowledge.Entry{entry(knowledge.Added, noon, "one more", "x")}
}

func TestGrowSplitsByYear(t *testing.T) {
	log, more := full(t)
	if g, err := knowledge.Grow([]byte(log), nil, noShards, knowledge.English); err != nil || g.Main != log ||
		g.Years != nil || g.Unsplit != nil {
		t.Fatalf("200 entries are not too many: %v", err)
	}
	old := map[string][]byte{"CHANGELOG_2024.md": []byte("# mine\n\n## 2024-05-05\n- by hand\n")}
	g, err := knowledge.Grow([]byte(log), more, shards(old), knowledge.English)
	if err != nil || g.Unsplit != nil || len(g.Years) != 3 {
		t.Fatalf("%v, %v, %v", len(g.Years), g.Unsplit, err)
	}
	main, _ := knowledge.ReadChangelog("c", []byte(g.Main))
	seen := map[string]int{}
	for _, e := range main {
		if seen[e.ID]++; e.At.Year() != 2026 {
			t.Errorf("%v stays", e.At)
		}
	}
	half := map[string][]byte{}
	for name, doc := range g.Years {
		half[name] = []byte(doc)
		all, _ := knowledge.ReadChangelog(name, []byte(doc))
		for _, e := range all {
			if seen[e.ID]++; name != fmt.Sprintf("CHANGELOG_%d.md", e.At.Year()) {
				t.Errorf("%v is in %s", e.At, name)
			}
		}
	}
	for i := range knowledge.MaxEntries {
		if seen[fmt.Sprint("i", i)] != 1 {
			t.Errorf("the entry %d is there %d times", i, seen[fmt.Sprint("i", i)])
		}
	}
	if seen["x"] != 1 || !strings.HasPrefix(g.Main, "# Log\n\nwords above\n") ||
		!strings.HasPrefix(g.Years["CHANGELOG_2024.md"], string(old["CHANGELOG_2024.md"])) {
		t.Errorf("%v\n%s", seen["x"], g.Main)
	}
	index := "\n\n## Earlier years\n\n- [CHANGELOG_2025.md](CHANGELOG_2025.md)\n- [CHANGELOG_2024.md](CHANGELOG_2024.md)\n- [CHANGELOG_2023.md](CHANGELOG_2023.md)\n"
	if !strings.HasSuffix(g.Main, index) {
		t.Errorf("the shards are not named:\n%s", g.Main)
	}
	// A crash between the shards and the CHANGELOG repeats the move, and what is done stays as it is.
	if again, err := knowledge.Grow([]byte(log), more, shards(half), knowledge.English); err != nil ||
		!reflect.DeepEqual(again, g) {
		t.Errorf("repeated, it is another: %v", err)
	}
	if again, err := knowledge.Grow([]byte(g.Main), more, shards(half), knowledge.English); err != nil ||
		again.Years != nil || again.Main != g.Main {
		t.Errorf("there is nothing left to do: %v, %v", again.Years, err)
	}
	moved := []knowledge.Entry{entry(knowledge.Changed, time.Date(2023, 12, 1, 0, 0, 0, 0, time.UTC), "n0", "i0")}
	if again, err := knowledge.Grow([]byte(g.Main), moved, shards(half), knowledge.English); err != nil ||
		again.Main != g.Main {
		t.Errorf("an entry that moved into its shard was added again: %v", err)
	}
	// The next year goes to the top of the section that there is.
	log = g.Main
	for i := range knowledge.MaxEntries {
		log = logged(t, log, knowledge.English, entry(knowledge.Fixed, noon.AddDate(0, 0, i%300), "m",
			fmt.Sprint("m", i)))
	}
	g, err = knowledge.Grow([]byte(log), []knowledge.Entry{entry(knowledge.Added, noon.AddDate(1, 0, 0), "next", "y")},
		shards(half), knowledge.English)
	if err != nil || len(g.Years) != 1 || !strings.HasSuffix(g.Main,
		strings.Replace(index, "years\n\n", "years\n\n- [CHANGELOG_2026.md](CHANGELOG_2026.md)\n", 1)) {
		t.Errorf("%v, %v\n%s", len(g.Years), err, g.Main)
	}
}

// What keeps a CHANGELOG from being split does not keep it from growing, and what would take it beyond its limit does.
func TestGrowWithinLimits(t *testing.T) {
	log, more := full(t)
	broken := errors.New("broken")
	for what, shard := range map[string]func(string) ([]byte, error){
		"no text":    shards(map[string][]byte{"CHANGELOG_2024.md": {0xff}}),
		"open":       shards(map[string][]byte{"CHANGELOG_2024.md": []byte("```\n")}),
		"too large":  shards(map[string][]byte{"CHANGELOG_2024.md": bytes.Repeat([]byte("x\n"), solution.MaxFile/2)}),
		"unreadable": func(string) ([]byte, error) { return nil, broken },
	} {
		g, err := knowledge.Grow([]byte(log), more, shard, knowledge.English)
		if err != nil || g.Unsplit == nil || g.Years != nil || g.Main != logged(t, log, knowledge.English, more...) {
			t.Errorf("%s: %v %v", what, g.Unsplit, err)
		}
	}
	if g, err := knowledge.Grow([]byte(log+"\n```\n"), more, noShards, knowledge.English); err != nil ||
		g.Unsplit == nil || !strings.Contains(g.Main, "one more") {
		t.Errorf("a block that is open at the end: %v %v", g.Unsplit, err)
	}
	brim := strings.Repeat("x\n", solution.MaxFile/2)
	if g, err := knowledge.Grow([]byte(brim), more, noShards,
		knowledge.English); pawl.CodeOf(err) != pawl.CodeInvalid || g.Main != "" {
		t.Errorf("beyond the limit: %d bytes, %v", len(g.Main), err)
	}
}

func TestEntriesRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	signs := []rune("ab -:：|`\\<>[]()*_#\n\t中文\u202e!.12:30 **<!-- pawl:x -->")
	text := func() string {
		out := []rune{'t'}
		for range r.Intn(14) {
			out = append(out, signs[r.Intn(len(signs))])
		}
		return string(out[r.Intn(2):])
	}
	for range 4000 {
		e := knowledge.Entry{At: noon, Kind: knowledge.Fixed, Modules: []string{text()}, Text: text() + "z",
			Package: text(), Folder: text(), Decisions: []string{text()}, Commit: text(), Files: []string{text()},
			ID: "A.1"}
		log := logged(t, "", knowledge.Chinese, e)
		all, err := knowledge.ReadChangelog("c", []byte(log))
		if err != nil || len(all) != 1 {
			t.Fatalf("%d, %v:\n%s", len(all), err, log)
		}
		if again := logged(t, "", knowledge.Chinese, all[0]); again != log {
			t.Fatalf("%+v\n%s\nbecame\n%s", all[0], log, again)
		}
	}
}

// bareLines returns the lines of a text without their breaks.
func bareLines(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\r\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	return lines
}

func FuzzLog(f *testing.F) {
	f.Add(person, "x", int64(0))
	f.Add("## 2026-02-08\n### 新增\n- a <!-- pawl:a -->\n# b", "- [x", int64(86400))
	f.Fuzz(func(t *testing.T, log, text string, sec int64) {
		before, err := knowledge.ReadChangelog("c", []byte(log))
		if err != nil {
			return
		}
		grown, err := knowledge.Log([]byte(log),
			entry(knowledge.RolledBack, noon.Add(time.Duration(sec%1e9)*time.Second), text, ""), knowledge.English)
		if err != nil {
			return
		}
		if strings.TrimSpace(strings.TrimPrefix(log, "\ufeff")) != "" && !contains(bareLines(grown), bareLines(log)) {
			t.Fatalf("a line is lost: %q became %q", log, grown)
		}
		after, err := knowledge.ReadChangelog("c", []byte(grown))
		if err != nil || len(after) != len(before)+1 {
			t.Fatalf("%d entries, had %d, %v: %q became %q", len(after), len(before), err, log, grown)
		}
		whole, err := knowledge.Grow([]byte(log),
			[]knowledge.Entry{entry(knowledge.RolledBack, noon.Add(time.Duration(sec%1e9)*time.Second), text, "")},
			noShards, knowledge.English)
		if err != nil || len(whole.Years) == 0 && whole.Main != grown {
			t.Fatalf("%v: %q became %q", err, log, whole.Main)
		}
	})
}
