package replay

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/joined"
	"pawl/kernel/notices"
	"pawl/kernel/planning"
	"pawl/kernel/steps"
	"pawl/kernel/tasks"
	"pawl/machine/task"
	"pawl/text/secret"
)

// recorded makes a session, takes up a requirement and moves a task, and returns the recording of it.
func recorded(t *testing.T, redact func(string) string, start *planning.Start) []byte {
	t.Helper()
	var out bytes.Buffer
	rec := NewRecorder(&out, redact)
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	k := kernel.New(joined.Table(), memory.New(), kernel.Defaults(), pawl.ClockFunc(func() time.Time { return now }),
		rand.Reader)
	k.OnDecide(rec.Record)
	do := func(c kernel.Command) kernel.Outcome {
		t.Helper()
		now = now.Add(time.Second)
		out, err := k.Do(context.Background(), kernel.Envelope{Actor: "user:ada", Command: c})
		if err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		return out
	}
	start.Place, start.RunMode = effect.Place{Workspace: "/w", Tree: "/w", Git: true}, pawl.Assisted
	do(&planning.Init{Place: start.Place})
	do(start)
	var id string
	if err := json.Unmarshal(do(&tasks.CreateTask{Title: "t"}).Result, &id); err != nil {
		t.Fatal(err)
	}
	do(&kernel.Transition{Task: id, To: task.Approved, Reason: "r"})
	if err := rec.Err(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// outcome replays a recording with the defaults, changed by f.
func outcome(raw []byte, f func(*kernel.Config)) (all []Finding, bad []error) {
	config := kernel.Defaults()
	if f != nil {
		f(&config)
	}
	for found, err := range Replay(bytes.NewReader(raw), &config) {
		if err != nil {
			bad = append(bad, err)
			continue
		}
		all = append(all, found)
	}
	return all, bad
}

func different(all []Finding) (out []Finding) {
	for _, f := range all {
		if f.Differs() {
			out = append(out, f)
		}
	}
	return out
}

func TestNothingChanged(t *testing.T) {
	raw := recorded(t, nil, &planning.Start{Requirement: "mend it"})
	all, bad := outcome(raw, nil)
	if len(all) != 4 || len(bad) != 0 || len(different(all)) != 0 {
		t.Fatalf("%+v, %v", all, bad)
	}
	if all[3].Command != "kernel.Transition" || len(all[3].Now) != 1 || all[3].Now[0].Rule != "T1" || all[3].Line != 4 ||
		all[3].Lost {
		t.Errorf("%+v", all[3])
	}
	if bytes.Contains(raw, []byte(`"altered"`)) {
		t.Error("a line without secrets is not what was decided")
	}
}

// refusing is a mode that refuses every move.
type refusing struct{ kernel.Mode }

func (refusing) ValidateTransition(kernel.ModeTask, string, string) kernel.Verdict {
	return kernel.Verdict{Decision: kernel.Rejected, Reason: "closed"}
}

func TestOtherSettingsAreNamed(t *testing.T) {
	raw := recorded(t, nil, &planning.Start{Requirement: "mend it"})
	all, _ := outcome(raw, func(c *kernel.Config) {
		c.MaxFixes = 1 // matters to none of these
		c.Modes = map[string]kernel.Mode{kernel.DefaultMode: refusing{c.Modes[kernel.DefaultMode]}}
	})
	diff := different(all)
	if len(diff) != 1 || diff[0].Line != 4 || diff[0].Refused == nil ||
		diff[0].Refused.Code != pawl.CodeModeViolation || diff[0].Refused.Rule != "T1" {
		t.Fatalf("%+v", diff)
	}
	var names []string
	for _, s := range diff[0].Settings {
		names = append(names, s.What)
	}
	if !slices.Equal(names, []string{"max_fixes", "modes"}) {
		t.Errorf("settings %v", names)
	}
	if c := diff[0].Changes[1]; c.What != "moves" || len(c.Decided) != 1 ||
		!strings.Contains(c.Decided[0], "draft → approved (T1") || len(c.Now) != 0 {
		t.Errorf("%+v", c)
	}
}

// TestEveryPartIsCompared changes one part of the recorded decision at a time.
func TestEveryPartIsCompared(t *testing.T) {
	raw := recorded(t, nil, &planning.Start{Requirement: "mend it"})
	lines := bytes.SplitAfter(raw, []byte("\n"))
	for what, change := range map[string]func(*line){
		"moves":   func(l *line) { l.Decision.Moves[0].Rule = "T99" },
		"effects": func(l *line) { l.Decision.Effects = append(l.Decision.Effects, "agent.plan") },
		"records": func(l *line) { l.Decision.Records[0].Data = "other" },
		"rows":    func(l *line) { l.Decision.Rows[0].State = "other" },
		"result":  func(l *line) { l.Decision.Result = json.RawMessage(`"other"`) },
	} {
		l := &line{}
		if err := strict(lines[1], l); err != nil { // Start, which has all of them
			t.Fatal(err)
		}
		change(l)
		l.Digest = l.Decision.digest()
		other, _ := encode(l)
		all, bad := outcome(slices.Concat(lines[0], other, []byte("\n"), lines[2], lines[3]), nil)
		diff := different(all)
		if len(bad) != 0 || len(diff) != 1 || diff[0].Line != 2 || diff[0].Changes[0].What != what {
			t.Errorf("%s: %+v, %v", what, diff, bad)
		}
	}
}

func TestADocumentsPlaceIsNamed(t *testing.T) {
	a := row{Kind: kernel.KindTask, ID: "1", Label: "T-001", State: "draft", Digest: "a",
		Doc: json.RawMessage(`{"title":"x","plan":{"steps":[{"status":"done"}]}}`)}
	b := a
	b.State, b.Digest, b.Doc = "queued", "b",
		json.RawMessage(`{"title":"x","plan":{"steps":[{"status":"pending"}]},"fixes":1}`)
	was, is := rows([]row{a}, []row{b})
	want := []string{`task T-001.state = "draft"`, `task T-001.fixes = –`, `task T-001.plan.steps[0].status = "done"`}
	if !slices.Equal(was, want) || len(is) != 3 || is[2] != `task T-001.plan.steps[0].status = "pending"` {
		t.Errorf("%q\n%q", was, is)
	}
}

func TestBadLines(t *testing.T) {
	raw := recorded(t, nil, &planning.Start{Requirement: "mend it"})
	lines := bytes.SplitAfter(raw, []byte("\n"))[:4]
	edit := func(n int, f func(string) string) []byte {
		out := slices.Clone(lines)
		out[n] = []byte(f(string(out[n])))
		return slices.Concat(out...)
	}
	swap := func(old, other string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, other, 1) }
	}
	for _, c := range []struct {
		name string
		raw  []byte
		key  string
		line any
		good int
	}{
		{"nothing", nil, "replay.empty", nil, 0},
		{"cut at the end", raw[:len(raw)-30], "replay.cut", 4, 3},
		{"without its end of line", raw[:len(raw)-1], "replay.cut", 4, 3},
		{"cut in the middle", edit(3, func(s string) string { return s[:40] + "\n" + s }), "replay.damaged", 4, 4},
		{"no JSON", edit(3, func(string) string { return "hello\n" }), "replay.damaged", 4, 3},
		{"an empty line", edit(3, func(string) string { return "\n" }), "replay.damaged", 4, 3},
		{"an exchange", edit(3, func(string) string {
			return `{"path":"/v1/x","digest":"0","request":{},"status":200}` +
				"\n"
		}), "replay.foreign", 4, 3},
		{"newer", edit(3, swap(`"format":3`, `"format":4`)), "replay.newer", 4, 3},
		{"unknown member", edit(3, swap(`"format":3`, `"format":3,"more":1`)), "replay.damaged", 4, 3},
		{"unknown command", edit(3, swap(`"command":"kernel.Transition"`, `"command":"Explode"`)), "", 4, 3},
		{"unknown part", edit(3, swap(`"snapshot":{"Task"`, `"snapshot":{"Tusk"`)), "", 4, 3},
		{"part of another form", edit(3, swap(`"snapshot":{"Task":{"row"`, `"snapshot":{"Within":{"row"`)), "", 4, 3},
		{"configuration in the snapshot", edit(3, swap(`"snapshot":{"Task"`, `"snapshot":{"Config"`)), "", 4, 3},
		{"another decision", edit(3, swap(`"rule":"T1"`, `"rule":"T2"`)), "replay.damaged", 4, 3},
		{"another document", edit(2, swap(`"title":"t"`, `"title":"u"`)), "", 3, 2}, // line 4 needs the document, too
		{"a malformed nonce", edit(3, swap(`"nonce":"`, `"nonce":"x`)), "", 4, 3},
	} {
		all, bad := outcome(c.raw, nil)
		if len(bad) == 0 || len(all) != c.good || len(different(all)) != 0 {
			t.Errorf("%s: %d good lines, %v, %+v", c.name, len(all), bad, different(all))
			continue
		}
		var e *pawl.Error
		if !errors.As(bad[0], &e) || e.Code != pawl.CodeInvalid || c.line != nil &&
			(e.Key != "replay.line" || e.Args[0] != c.line) {
			t.Errorf("%s: %v", c.name, bad[0])
		}
		if c.key != "" && !strings.Contains(bad[0].Error(), c.key) {
			t.Errorf("%s: %v is not %s", c.name, bad[0], c.key)
		}
	}
}

func TestReadingFails(t *testing.T) {
	for _, err := range Replay(failing{}, new(kernel.Config)) {
		if pawl.CodeOf(err) != pawl.CodeIO {
			t.Errorf("%v", err)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, errors.New("gone") }
func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWritingFailsAlone(t *testing.T) {
	rec := NewRecorder(failing{}, nil)
	k := kernel.New(joined.Table(), memory.New(), kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	k.OnDecide(rec.Record)
	out, err := k.Do(context.Background(),
		kernel.Envelope{Actor: "user:ada", Command: &planning.Init{Place: effect.Place{Workspace: "/w", Tree: "/w"}}})
	if err != nil || !out.Changed || pawl.CodeOf(rec.Err()) != pawl.CodeIO {
		t.Errorf("%+v, %v, %v", out, err, rec.Err())
	}
}

func TestSecretsAreLeftOut(t *testing.T) {
	const key, known = "sk-proj-0123456789abcdefghij", "hunter2-hunter2"
	raw := recorded(t, secret.New(known).Text, &planning.Start{
		Requirement: "call the API with " + key + " and " +
			known, Given: []byte("goal: use " + key + "\n"), Name: "p.yaml",
	})
	for _, secret := range []string{key, known} {
		for i := range 3 {
			packed := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", i) + secret))
			if bytes.Contains(raw, []byte(secret)) || bytes.Contains(raw, []byte(packed[8:len(packed)-8])) {
				t.Errorf("%s is in the recording", secret)
			}
		}
	}
	if !bytes.Contains(raw, []byte(`"altered":true`)) {
		t.Error("nothing says that something was left out")
	}
	if all, bad := outcome(raw, nil); len(all) != 4 || len(bad) != 0 || len(different(all)) != 0 || all[1].Lost {
		t.Errorf("%+v, %v", all, bad)
	}
}

// TestWhatDependsOnASecretIsLost: what cannot be decided without a secret is told of, and not compared.
func TestWhatDependsOnASecretIsLost(t *testing.T) {
	redact := func(s string) string { return strings.ReplaceAll(s, "approved", "[…]") }
	all, bad := outcome(recorded(t, redact, &planning.Start{Requirement: "mend it"}), nil)
	if len(all) != 4 || len(bad) != 0 || !all[3].Lost || all[3].Differs() || all[2].Lost {
		t.Errorf("%+v, %v", all, bad)
	}
}

func FuzzRedactJSON(f *testing.F) {
	f.Add(`{"a":"sk-0123456789abcdefghij","b":["\\\"","x"],"c":1.50}`)
	f.Add(`"c2stMDEyMzQ1Njc4OWFiY2RlZmdoaWo="`)
	redact := secret.New("hunter2-hunter2").Text
	f.Fuzz(func(t *testing.T, text string) {
		out, changed := secret.JSON(json.RawMessage(text), redact)
		if changed == bytes.Equal(out, []byte(text)) {
			t.Errorf("%q: %q, changed %v", text, out, changed)
		}
		if json.Valid([]byte(text)) && !json.Valid(out) {
			t.Errorf("%q became %q", text, out)
		}
	})
}

// FuzzReplay: no line makes a replay crash.
func FuzzReplay(f *testing.F) {
	t := new(testing.T)
	for _, l := range bytes.SplitAfter(recorded(t, nil, &planning.Start{Requirement: "mend it"}), []byte("\n")) {
		f.Add(l)
	}
	f.Fuzz(func(_ *testing.T, raw []byte) { outcome(raw, nil) })
}

// TestEveryCommandIsKnown reads the kernel's sources for commands.
func TestEveryCommandIsKnown(t *testing.T) {
	files, _ := filepath.Glob("../*.go")
	below, _ := filepath.Glob("../*/*.go")
	found := 0
	for _, name := range append(files, below...) {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`func \((?:c )?\*(\w+)\) Decide\(`).FindAllSubmatch(src, -1) {
			found++
			full := filepath.Base(filepath.Dir(name)) + "." + string(m[1])
			if filepath.Dir(name) == ".." {
				full = "kernel." + string(m[1])
			}
			full = cmp.Or(recordedAs[full], full)
			if c, err := command(full, []byte("{}")); err != nil || nameOf(c) != full {
				t.Errorf("the command %s cannot be replayed: %T, %v", full, c, err)
			}
		}
	}
	if all := protocols().Commands; found != len(all) || found < 30 {
		t.Errorf("%d commands in the sources, %d in the table", found, len(all))
	}
}

// TestCommandsOfOneTypeName: commands whose types have one name in two packages are recorded and read as what they are,
// and so are the recordings from when the type alone was written.
func TestCommandsOfOneTypeName(t *testing.T) {
	for _, c := range protocols().Commands {
		read, err := command(nameOf(c), []byte("{}"))
		if err != nil || reflect.TypeOf(read) != reflect.TypeOf(c) {
			t.Errorf("%T is read as %T: %v", c, read, err)
		}
	}
	for _, c := range []struct {
		name, args string
		want       kernel.Command
	}{
		{"Begin", `{"Effect":"e","Owner":"o","Day":"2026-03-04T00:00:00Z"}`, new(effects.Begin)},
		{"Begin", `{"Notice":"n","Owner":"o"}`, new(notices.Begin)},
		{"Begin", `{"Effect":"e","FieldOfAnEarlierVersion":1}`, new(effects.Begin)},
		{"Report", `{"Effect":"e","Token":1,"Receipt":{}}`, new(effects.Report)},
		{"Report", `{"Notice":"n","Token":1,"Receipt":{},"After":5}`, new(notices.Report)},
		{"Recover", `{"Notice":"n"}`, new(notices.Recover)},
		{"Give", `{}`, new(steps.AnswerQuestions)},
	} {
		read, err := command(c.name, []byte(c.args))
		if err != nil || reflect.TypeOf(read) != reflect.TypeOf(c.want) {
			t.Errorf("%s %s is read as %T: %v", c.name, c.args, read, err)
		}
	}
	if c, err := command("Nothing", []byte("{}")); err == nil {
		t.Errorf("an unknown command is read as %T", c)
	}
}

// TestGivenAgainIsRecordedOnce: a command that is answered with an earlier outcome decided nothing, nor did one that
// failed.
func TestGivenAgainIsRecordedOnce(t *testing.T) {
	var out bytes.Buffer
	k := kernel.New(joined.Table(), memory.New(), kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	k.OnDecide(NewRecorder(&out, nil).Record)
	do := func(key string, c kernel.Command) {
		_, _ = k.Do(context.Background(), kernel.Envelope{Actor: "user:ada", Key: key, Command: c})
	}
	do("a", &planning.Init{Place: effect.Place{Workspace: "/w", Tree: "/w"}})
	do("b", &tasks.CreateTask{Title: "t"})
	do("b", &tasks.CreateTask{Title: "t"})
	do("c", &approval.Approve{Hash: "nothing waits"})
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 2 {
		t.Errorf("%d decisions were recorded", n)
	}
}
