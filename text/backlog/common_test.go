package backlog_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pawl"
	"pawl/machine/board"
	"pawl/text/backlog"
	"pawl/text/message"
)

// read reads a text and fails the test on an error.
func read(t testing.TB, name, text string, opt backlog.Options) backlog.Backlog {
	t.Helper()
	b, err := backlog.Read(strings.NewReader(text), name, backlog.Auto, opt)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

// problems reads a text that is to be refused, and returns what is wrong as "line pointer key".
func problems(t testing.TB, name, text string) []string {
	t.Helper()
	b, err := backlog.Read(strings.NewReader(text), name, backlog.Auto, backlog.Options{})
	if err == nil {
		t.Errorf("%s: %d issues were read from %.200q", name, len(b.Issues), text)
		return nil
	}
	return list(t, err)
}

func list(t testing.TB, err error) []string {
	t.Helper()
	var m *pawl.Problems
	if pawl.CodeOf(err) != pawl.CodeInvalid || !errors.As(err, &m) || len(m.List) == 0 {
		t.Fatalf("not a list of problems: %v", err)
	}
	spoken(t, err)
	var out []string
	for _, p := range m.List {
		out = append(out, strings.Join(strings.Fields(fmt.Sprint(p.Line, " ", p.Field, " ", p.Key)), " "))
	}
	return out
}

// spoken fails the test unless an error, and each problem of it, has a text in both languages that is complete.
func spoken(t testing.TB, err error) {
	t.Helper()
	all := []error{err}
	var m *pawl.Problems
	if errors.As(err, &m) {
		for _, e := range m.Errors() {
			all = append(all, e)
		}
	}
	for _, e := range all {
		for _, l := range []message.Lang{message.English, message.Chinese} {
			text, hint := l.Error(e)
			if strings.Contains(text+hint, "%!") || strings.Contains(text, "backlog.") &&
				!strings.Contains(text, "backlog.j") || hint == "" {
				t.Errorf("%s: %q, %q", l, text, hint)
			}
		}
	}
}

// sound fails the test unless a backlog keeps what the package promises.
func sound(t testing.TB, b backlog.Backlog) {
	t.Helper()
	at := map[string]int{}
	for n, i := range b.Issues {
		if _, twice := at[i.ID]; twice || i.ID == "" {
			t.Fatalf("id %q twice or empty", i.ID)
		}
		at[i.ID] = n
		bad := func(r rune) bool { return unicode.IsControl(r) || r == 0x202E }
		if i.Title == "" || strings.ContainsFunc(i.Title+i.ID+strings.Join(i.Tags, ""), bad) ||
			len([]rune(i.Title)) > backlog.MaxTitle {
			t.Fatalf("title %q, id %q, tags %q", i.Title, i.ID, i.Tags)
		}
		if i.Priority < backlog.MinPriority || i.Priority > backlog.MaxPriority || !board.Issue.Known(i.Status) ||
			i.Line < 1 {
			t.Fatalf("priority %d, status %q, line %d", i.Priority, i.Status, i.Line)
		}
		if i.Digest() == "" {
			t.Fatal("no digest")
		}
	}
	waits := make([]int, len(b.Issues))
	after := make([][]int, len(b.Issues))
	for n, i := range b.Issues {
		for _, d := range i.DependsOn {
			to, ok := at[d]
			if !ok {
				t.Fatalf("%s depends on %q, which is not there", i.ID, d)
			}
			waits[n]++
			after[to] = append(after[to], n)
		}
	}
	var ready []int
	for n, w := range waits {
		if w == 0 {
			ready = append(ready, n)
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		n := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, a := range after[n] {
			if waits[a]--; waits[a] == 0 {
				ready = append(ready, a)
			}
		}
	}
	if done != len(b.Issues) {
		t.Fatalf("%d of %d issues are in a circle", len(b.Issues)-done, len(b.Issues))
	}
	for _, n := range b.Notes {
		for _, l := range []message.Lang{message.English, message.Chinese} {
			if text := l.Text(n.Key, n.Args...); strings.Contains(text, "%!") || strings.HasPrefix(text, "backlog.") {
				t.Fatalf("note %q", text)
			}
		}
	}
}

// shown writes a backlog for golden files.
func shown(b backlog.Backlog) string {
	var out strings.Builder
	for _, i := range b.Issues {
		fmt.Fprintf(&out, "%d %s (%s) P%d %s\n  title: %s\n", i.Line, i.ID, i.Ref, i.Priority, i.Status, i.Title)
		for _, f := range []struct {
			name  string
			value []string
		}{{"tags", i.Tags}, {"depends on", i.DependsOn}} {
			if len(f.value) > 0 {
				fmt.Fprintf(&out, "  %s: %s\n", f.name, strings.Join(f.value, ", "))
			}
		}
		for _, f := range i.Feedback {
			fmt.Fprintf(&out, "  %s %s: %s\n", f.Type, f.Stage, f.Content)
		}
		for l := range strings.SplitSeq(i.Body, "\n") {
			if i.Body != "" {
				fmt.Fprintln(&out, strings.TrimRight("  | "+l, " "))
			}
		}
	}
	for _, n := range b.Notes {
		fmt.Fprintf(&out, "note %d: %s / %s\n", n.Line, message.English.Text(n.Key, n.Args...),
			message.Chinese.Text(n.Key, n.Args...))
	}
	return out.String()
}

func keys(notes []backlog.Note) (out []string) {
	for _, n := range notes {
		out = append(out, n.Key)
	}
	slices.Sort(out)
	return out
}
