package backlog_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/golden"
	"pawl/machine/board"
	"pawl/text/backlog"
)

const ccw = `{"id":"ISS-20250129-001","title":"Login fails","status":"queued","priority":1,"context":"Long names.\r\nAll of them.","source":"text","tags":["auth","Auth","web"],"expected_behavior":"It works","actual_behavior":"It does not","affected_components":["web","db"],"feedback":[{"type":"failure","stage":"execute","content":"tests fail","created_at":"2025-01-30T08:00:00+08:00"}],"bound_solution_id":"SOL-ISS-20250129-001-1","solution_count":1,"created_at":"2025-01-29T00:00:00Z","updated_at":"2025-01-31T00:00:00Z"}
{"id":"GH-7","title":"支付回调","status":"paused","priority":"高","depends_on":["ISS-20250129-001"],"extended":{"x":[1,"}",2]},"source_url":"https://github.com/acme/app/issues/7"}

{"title":"Only a title"}
{"title":"Only a title"}
{"title":"Only a title","body":"and a text"}
{"id":12,"title":"By number","error":"it broke","blocked_by":["#GH-7"],"extended":1}
`

func TestRecords(t *testing.T) {
	b := read(t, "issues.jsonl", ccw, backlog.Options{Scope: "old"})
	sound(t, b)
	golden.Check(t, "testdata/records.golden", shown(b))
	first := b.Issues[0]
	if first.ID != "ISS-20250129-001" || first.SolutionID != "SOL-ISS-20250129-001-1" ||
		first.Feedback[0].At != "2025-01-30T00:00:00Z" || first.UpdatedAt == "" {
		t.Errorf("%+v", first)
	}
	if second := b.Issues[1]; !second.Paused || second.Priority != 2 || second.URL == "" {
		t.Errorf("%+v", second)
	}
}

// The same records may stand in lines, over several lines, in one array, in several, and with another break of lines.
func TestFormsOfRecords(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(ccw, "\n\n", "\n")), "\n")
	want := read(t, "issues.jsonl", ccw, backlog.Options{}).Issues
	for name, text := range map[string]string{
		"one array":      "[" + strings.Join(lines, ",\n") + "]",
		"two arrays":     " [" + strings.Join(lines[:2], ",") + "]\n[" + strings.Join(lines[2:], " , ") + "] ",
		"lines":          strings.Join(lines, "\r\n"),
		"nothing around": strings.Join(lines, ""),
		"many lines":     strings.ReplaceAll(ccw, `,"`, ",\n\t\""),
	} {
		got := read(t, "issues.json", text, backlog.Options{}).Issues
		if len(got) != len(want) {
			t.Errorf("%s: %d issues", name, len(got))
			continue
		}
		for i := range got {
			if got[i].Digest() != want[i].Digest() || got[i].ID != want[i].ID {
				t.Errorf("%s: %+v, want %+v", name, got[i], want[i])
			}
		}
	}
}

func TestBadRecords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "0 backlog.empty"},
		{"\xef\xbb\xbf", "0 backlog.empty"},
		{"\xff\xfe{\x00}\x00", "1 backlog.not_text"},
		{"hello", "1 backlog.not_object"},
		{`{"title":"a"}` + "\nnull", "2 backlog.not_object"},
		{`[{"title":"a"}`, "1 backlog.cut_off"},
		{`[{"title":"a"},]`, "1 backlog.not_object"},
		{`[{"title":"a"} {"title":"b"}]`, "1 backlog.not_object"},
		{`[[{"title":"a"}]]`, "1 backlog.not_object"},
		{`{"title":"a"}]`, "1 backlog.not_object"},
		{"{\"title\":\"a\n\"}", "1 backlog.open_text"},
		{"{\"title\":\"a\"}\n{\"title\":\"b", "2 backlog.cut_off"},
		{"{\"title\":\"a\"}\n{\"title\":,}", "2 backlog.json"},
		{"{\"title\":\"a\"}\n{\"title\":\"\xc3\"}", "2 backlog.not_text"},
		{`{"body":"a"}`, "1 /title backlog.no_title"},
		{`{"title":" \u0007 "}`, "1 /title backlog.no_title"},
		{`[{"title":"a"},` + "\n" + `{"title":7}]`, "2 /1/title backlog.type 2 /1/title backlog.no_title"},
		{`{"title":"a","title":"b"}`, "1 /title backlog.twice"},
		{`{"title":"a","priority":0}`, "1 /priority backlog.priority"},
		{`{"title":"a","priority":"very"}`, "1 /priority backlog.priority"},
		{`{"title":"a","priority":2.5}`, "1 /priority backlog.priority"},
		{`{"title":"a","status":"flying"}`, "1 /status backlog.status"},
		{`{"title":"a","tags":"x"}`, "1 /tags backlog.type"},
		{`{"title":"a","tags":["x",1]}`, "1 /tags/1 backlog.type"},
		{`{"title":"a","feedback":[{"type":"praise","content":"x"}]}`, "1 /feedback/0/type backlog.feedback"},
		{`{"title":"a","feedback":[1]}`, "1 /feedback/0 backlog.type"},
		{`{"title":"a","id":"a b"}`, "1 /id backlog.id"},
		{`{"title":"a","id":"` + strings.Repeat("x", 300) + `"}`, "1 /id backlog.id"},
		{"{\"title\":\"a\",\"id\":\"1\"}\n{\"title\":\"b\",\"id\":\"1\"}", "2 backlog.duplicate"},
		{`{"title":"a","body":"` + strings.Repeat("x", backlog.MaxBody+1) + `"}`, "1 backlog.body"},
		{`{"title":"a","id":"1","depends_on":["` + "\n", "1 backlog.open_text"},
		{"{\"title\":\"a\",\"id\":\"1\",\n\"depends_on\":[\"2\"]}", "2 /depends_on/0 backlog.unknown"},
		{`{"title":"a","id":"1","depends_on":["1"]}`, "1 backlog.circle"},
		{`{"number":0,"title":"a"}`, "1 /number backlog.number"},
		{`{"number":1.5,"title":"a"}`, "1 /number backlog.type 1 /number backlog.number"},
		{`{"number":1,"title":"a"}`, "1 /html_url backlog.repository"},
		{strings.Repeat(`{"x":`, 20000) + "1" + strings.Repeat("}", 20000), "1 backlog.json"},
	} {
		if got := strings.Join(problems(t, "list.jsonl", c.text), " "); got != c.want {
			t.Errorf("%.80s: %s, want %s", c.text, got, c.want)
		}
	}
	many := strings.Repeat(`{"body":1}`+"\n", 50)
	if got := problems(t, "list.jsonl", many); len(got) != 20 {
		t.Errorf("%d problems are listed", len(got))
	}
}

func TestCircles(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, `{"id":"%d","title":"t%d","depends_on":["%d"]}`+"\n", i, i, (i+1)%30)
	}
	_, err := backlog.Read(strings.NewReader(b.String()), "ring.jsonl", backlog.Records, backlog.Options{})
	var m *pawl.Problems
	if !errors.As(err, &m) || len(m.List) != 1 {
		t.Fatal(err)
	}
	if got := fmt.Sprint(m.List[0].Args...); got != "0 → 1 → 2 → 3 → 4 → 5 → … → 25 → 26 → 27 → 28 → 29 → 0" {
		t.Errorf("the way is shown as %s", got)
	}
	text := `{"id":"a","title":"a","depends_on":["b","c"]}{"id":"b","title":"b","depends_on":["c"]}{"id":"c","title":"c","depends_on":["a","nobody"]}`
	got := problems(t, "x.jsonl", text)
	if !slices.Equal(got, []string{"1 /depends_on/1 backlog.unknown", "1 backlog.circle"}) {
		t.Errorf("%v", got)
	}
	behind := `{"id":"a","title":"a","depends_on":["b"]}{"id":"b","title":"b","depends_on":["c","d"]}{"id":"c","title":"c","depends_on":["b"]}{"id":"d","title":"d"}`
	_, err = backlog.Read(strings.NewReader(behind), "x.jsonl", backlog.Records, backlog.Options{})
	if !errors.As(err, &m) || len(m.List) != 1 || m.List[0].Args[0] != "b → c → b" {
		t.Errorf("a circle behind the first issue: %v", err)
	}
	loose := read(t, "x.jsonl", text, backlog.Options{Loose: true})
	sound(t, loose)
	if !slices.Equal(keys(loose.Notes), []string{"backlog.note_circle", "backlog.note_unknown"}) ||
		len(loose.Issues[2].DependsOn) != 0 || len(loose.Issues[0].DependsOn) != 2 {
		t.Errorf("%+v", loose)
	}
}

// A chain as long as a backlog may be must not use up the stack, nor the patience.
func TestLongChain(t *testing.T) {
	const n = 100_000
	var text strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&text, `{"id":"%d","title":"t","depends_on":["%d"]}`+"\n", i, i+1)
	}
	fmt.Fprintf(&text, `{"id":"%d","title":"t"}`, n-1)
	b, err := backlog.Read(strings.NewReader(text.String()), "chain.jsonl", backlog.Records, backlog.Options{})
	if err != nil || len(b.Issues) != n {
		t.Fatalf("%d issues, %v", len(b.Issues), err)
	}
	sound(t, b)
}

func TestReadFails(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, head := range []string{"", `{"title":"a"}`, `[{"title":"a"`} {
		in := io.MultiReader(strings.NewReader(head), &failing{broken})
		_, err := backlog.Read(in, "a.jsonl", backlog.Auto, backlog.Options{})
		if pawl.CodeOf(err) != pawl.CodeIO || !errors.Is(err, broken) {
			t.Errorf("%q: %v", head, err)
		}
		spoken(t, err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestSecondImport(t *testing.T) {
	first := read(t, "issues.jsonl", ccw, backlog.Options{Scope: "a.jsonl"})
	known := map[string]string{}
	for _, i := range first.Issues {
		known[i.ID] = i.Digest()
	}
	again := read(t, "issues.jsonl", "\n\n"+ccw, backlog.Options{Scope: "a.jsonl"})
	c := backlog.Compare(known, again.Issues)
	if len(c.Added)+len(c.Changed)+len(c.Gone) > 0 || c.Same != len(first.Issues) {
		t.Errorf("the same again: %+v", c)
	}
	later := strings.Replace(ccw, "2025-01-31T00:00:00Z", "2025-02-01T00:00:00Z", 1)
	if c = backlog.Compare(known, read(t, "issues.jsonl", later,
		backlog.Options{Scope: "a.jsonl"}).Issues); len(c.Changed) > 0 {
		t.Errorf("another time alone is a change: %+v", c.Changed)
	}
	changed := strings.Replace(strings.Replace(ccw, `"Long names.`, `"Longer names.`, 1),
		`{"id":12,"title":"By number"`, `{"id":13,"title":"By number"`, 1)
	c = backlog.Compare(known, read(t, "issues.jsonl", changed, backlog.Options{Scope: "a.jsonl"}).Issues)
	if len(c.Added) != 1 || c.Added[0].Ref != "13" || len(c.Changed) != 1 || c.Changed[0].ID != "ISS-20250129-001" ||
		!slices.Equal(c.Gone, []string{"a.jsonl:12"}) {
		t.Errorf("one changed, one renamed: %+v", c)
	}
	c = backlog.Compare(known, read(t, "issues.jsonl", ccw, backlog.Options{Scope: "b.jsonl"}).Issues)
	if len(c.Added) != len(first.Issues)-1 {
		t.Errorf("another scope: %d added", len(c.Added))
	}
}

func TestTextsAreClean(t *testing.T) {
	text := `{"title":"\u001b[31mred\u202e\nnext ` + strings.Repeat("长", 400) +
		`","body":"a\u0000b\u001b[2J\r\nc","tags":["\u0007x"," x "],"status":"OPEN"}`
	b := read(t, "a.jsonl", text, backlog.Options{})
	sound(t, b)
	i := b.Issues[0]
	if !strings.HasPrefix(i.Title, "[31mred next 长") || !strings.HasSuffix(i.Title, "…") ||
		!strings.Contains(i.Body, strings.Repeat("长", 400)) || !strings.HasSuffix(i.Body, "ab[2J\nc") {
		t.Errorf("%+v", i)
	}
	if !slices.Equal(i.Tags, []string{"x"}) || i.Status != board.IssueRegistered {
		t.Errorf("%+v", i)
	}
}
