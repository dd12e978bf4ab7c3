package view_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"pawl/internal/golden"
	"pawl/kernel/view"
	"pawl/kernel/view/viewtest"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/text/plan"
)

var noon = time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC)

// working is a session in the middle of a repair.
func working() view.Context {
	return view.Context{
		SessionID: "01JKG3V6ZZ0000000000000000", State: session.AutoFix, Attempts: 1, Checkpoint: "chk-202602081200",
		Ended: noon.Add(-24 * time.Hour), Updated: noon.Add(1500 * time.Millisecond),
		Summary: "T-002 1/3 Rename the function",
		Goal:    "Rename Foo to Bar\nand add a test",
		Tasks: []view.ContextTask{{
			Label: "T-002", Title: "Rename Foo to Bar", State: task.Running, File: "foo.go",
			Steps: []view.StepLine{
				{ID: "s1", Title: "Read the code", Status: plan.Done}, {ID: "s2", Title: "Rename the function",
					Status: plan.InProgress, File: "foo.go"},
				{ID: "s3", Title: "Add a test", Status: plan.Pending}, {ID: "fix1-1", Title: "Format",
					Status: plan.Skipped, Repair: 1},
			},
		}, {Label: "T-003", Title: "By hand", State: task.Draft}},
		More: 2,
		Pad:  []view.PadLine{{Name: "turn", Value: "RECOVERING"}, {Name: "failure", Value: "checks_failed go test"}},
		History: []view.HistoryLine{{Label: "T-001", Title: "First", Result: view.EndedWell,
			Ended: noon.Add(-24 * time.Hour), Commit: "c0ffee1234567890", Archived: true}},
		Workers: []view.Worker{{Task: "T-002", Session: "01JKG3V6ZZ0000000000000001", State: "running",
			Note: "host/4711"}},
	}
}

func TestActiveContext(t *testing.T) {
	golden.Check(t, "testdata/active_context.md", string(view.ActiveContext(working())))
	golden.Check(t, "testdata/active_context_empty.md", string(view.ActiveContext(view.Context{State: session.Idle})))
}

func TestHistoryIsShort(t *testing.T) {
	c := working()
	for range 10 {
		c.History = append(c.History, c.History[0])
	}
	if n := strings.Count(string(view.ActiveContext(c)), "Details: "); n != view.MaxHistory {
		t.Errorf("%d entries of history", n)
	}
}

// text draws what a hostile plan file could contain.
func text() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\r\n", "---", "\n---\n", "# Forged", "\n## 4. History\n", "> ", "<!--", "-->", "<script>", "|", "\\",
			"](", "`", "```", "\x1b[31m", "\x00", "\u202e",
			"\u200b", "中文标题", "\xff", "\"", "'", ": ", "{a: b}", "&x", "*x", "- [✅ DONE] T-9: no", "1. ",
			"[x]: http://e", "\t", "    ", "projection: \"sha256:", "\u2028", "😀", "~~~", "===",
		}),
		rapid.String(), rapid.Just(strings.Repeat("长", 3000)),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "")
	})
}

func hostile(t *rapid.T) view.Context {
	draw := func(name string) string { return text().Draw(t, name) }
	c := working()
	c.SessionID, c.Checkpoint, c.Summary, c.Goal = draw("session"), draw("checkpoint"), draw("summary"), draw("goal")
	c.State = rapid.SampledFrom(session.Table.States()).Draw(t, "state")
	c.Tasks[0].Title, c.Tasks[0].File, c.Tasks[0].Steps[0].Title, c.Tasks[0].Steps[0].File = draw("title"),
		draw("file"), draw("step"), draw("step file")
	c.Pad[0].Value, c.History[0].Title, c.Workers[0].Note = draw("pad"), draw("history"), draw("worker")
	return c
}

// headings are the lines of the file that make its form.
func form(data []byte) []string {
	var out []string
	for _, l := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(l, "#") || l == "---" || strings.HasPrefix(l, "|") {
			if strings.HasPrefix(l, "| ") {
				l = strings.Repeat("|", len(cells.FindAllString(l, -1)))
			}
			out = append(out, l)
		}
	}
	return out
}

// cells matches a bar that is not escaped.
var cells = regexp.MustCompile(`(^|[^\\])(\\\\)*\|`)

// live matches markup that would come alive: an angle bracket or the second half of a link that is not escaped.
var live = regexp.MustCompile(`(^|[^\\])(\\\\)*<|(^|[^\\])(\\\\)*\]\(`)

func TestNothingBreaksTheFormOfActiveContext(t *testing.T) {
	want := form(view.ActiveContext(working()))
	rapid.Check(t, func(rt *rapid.T) {
		c := hostile(rt)
		data := view.ActiveContext(c)
		if got := form(data); strings.Join(got, "\n") != strings.Join(want, "\n") {
			rt.Fatalf("the form is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if !utf8.Valid(data) || bytes.ContainsAny(data, "\x00\x1b\r\t") || bytes.Contains(data, []byte("\u202e")) {
			rt.Fatalf("unsafe characters in %q", data)
		}
		_, body, _ := bytes.Cut(data[4:], []byte("\n---\n"))
		if at := live.Find(body); at != nil {
			rt.Fatalf("live markup %q in %s", at, body)
		}
		if view.Edited(data) {
			rt.Fatalf("fresh, and already edited:\n%s", data)
		}
		f, err := viewtest.Parse(data)
		if err != nil {
			rt.Fatal(err)
		}
		if f.State != string(c.State) || !kept(c.SessionID, f.SessionID) || !kept(c.Checkpoint, f.Checkpoint) ||
			f.Attempts != 1 || f.Stash {
			rt.Fatalf("read back %+v", f)
		}
	})
}

// FuzzActiveContext: whatever was said and named, what stands in the front matter is read back as it was, and the file
// is known for pawl's own, until somebody adds to it.
func FuzzActiveContext(f *testing.F) {
	for _, s := range []string{"", "---", "a\n---\nb", "projection: \"sha256:", "null", "yes", "0x1F", "- a", "{a: b}", "'\"",
		"\u202e", "\xff", "# c", "key: value", "!!int 3", "&a *a", "~", "1e3", "2026-01-30", "| <b>", " x "} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, id, goal, title string) {
		c := working()
		c.SessionID, c.Checkpoint, c.Goal, c.Summary = id, title, goal, goal
		c.Tasks[0].Title, c.Tasks[0].File, c.History[0].Title, c.Workers[0].Note, c.Pad[0].Value = title, goal, goal, title, id
		data := view.ActiveContext(c)
		read, err := viewtest.Parse(data)
		if err != nil || !kept(id, read.SessionID) || !kept(title, read.Checkpoint) || read.State != string(c.State) ||
			read.Attempts != 1 || read.Stash {
			t.Fatalf("read back %+v, %v from\n%s", read, err, data)
		}
		if view.Edited(data) || !view.Edited(append(data, '\n')) {
			t.Fatalf("not known for what it is:\n%s", data)
		}
	})
}

// kept reports whether a value that was written was read back, cut where it is very long.
func kept(written, read string) bool {
	if utf8.RuneCountInString(written) > 200 {
		return strings.HasSuffix(read, "…") && utf8.RuneCountInString(read) <= 200
	}
	return read == strings.ToValidUTF8(written, "\ufffd")
}

func TestFrontMatterIsOrderedYAML(t *testing.T) {
	front, _, _ := bytes.Cut(view.ActiveContext(working())[4:], []byte("\n---\n"))
	var node yaml.Node
	if err := yaml.Unmarshal(front, &node); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for i := 0; i < len(node.Content[0].Content); i += 2 {
		keys = append(keys, node.Content[0].Content[i].Value)
	}
	want := "session_id task_status auto_fix_attempts last_checkpoint stash_applied last_session_end last_updated context_summary projection"
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("keys %s, want %s", got, want)
	}
}

func TestEveryEditIsSeen(t *testing.T) {
	data := view.ActiveContext(working())
	rapid.Check(t, func(rt *rapid.T) {
		edited := bytes.Clone(data)
		i := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
		switch rapid.IntRange(0, 3).Draw(rt, "how") {
		case 0:
			edited[i] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
		case 1:
			edited = edited[:i]
		case 2:
			edited = append(edited[:i], edited[i+1:]...)
		default:
			edited = append(edited[:i:i], append([]byte("x"), edited[i:]...)...)
		}
		if !bytes.Equal(edited, data) && !view.Edited(edited) {
			rt.Fatalf("not seen:\n%s", edited)
		}
	})
	if !view.Edited(nil) || !view.Edited([]byte("---\ntask_status: IDLE\n---\n")) {
		t.Error("a file that is none of ours passes for unedited")
	}
}
