package main

import (
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/face/app"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
)

// planted is a bug in a public module: one line of one function is replaced by another one.
type planted struct {
	module, file     string
	line, bug, worse string // the line, the bug, and what the model makes of it first
	function         string // that the line is part of, as it is declared
	requirement      string // what somebody writes who saw the test fail
}

var plantedBugs = []planted{
	{
		module: "github.com/bluekeyes/go-gitdiff", file: "gitdiff/file_header.go",
		function: "func parseName(s string, term byte, dropPrefix int) (name string, n int, err error) {",
		line:     "\treturn cleanName(name, dropPrefix), n, nil", bug: "\treturn cleanName(name, 0), n, nil",
		worse: "\treturn cleanName(name, dropPrefix+1), n, nil",
		requirement: "go test fails:\n--- FAIL: TestParseGitFileHeader (0.00s)\n    --- FAIL: TestParseGitFileHeader/fileContentChange (0.00s)\n" +
			"        file_header_test.go:166: incorrect file\n            expected: diff --git a/dir/file.txt b/dir/file.txt\n            index 1c23fcc..40a1b33 100644\n\n" +
			"              actual: diff --git a/a/dir/file.txt b/b/dir/file.txt\n            index 1c23fcc..40a1b33 100644\n" +
			"    --- FAIL: TestParseGitFileHeader/deleteFile (0.00s)\n                file_header_test.go:162: unexpected error parsing git file header: gitdiff: line 4: git file header: inconsistent old filename",
	},
	{
		module: "github.com/aymanbagabas/go-udiff", file: "diff.go",
		function: "func expandEdit(edit Edit, src string) Edit {",
		line:     "\t\t\tedit.End = end + nl + 1 // extend beyond \\n",
		bug:      "\t\t\tedit.End = end + nl // extend beyond \\n",
		worse:    "\t\t\tedit.End = end + nl - 1 // extend beyond \\n",
		requirement: "go test fails:\n--- FAIL: TestLineEdits (0.00s)\n    --- FAIL: TestLineEdits/delete_rune (0.00s)\n        diff_test.go:106: in=<<groat\n            >>\n" +
			"            out=<<goat\n            >>\n            raw  edits=[{Start:1,End:2,New:\"\"}]\n            line edits=[{Start:0,End:5,New:\"goat\"}]\n            want: [{Start:0,End:6,New:\"goat\\n\"}]",
	},
	{
		module: "github.com/dustin/go-humanize", file: "times.go",
		function: "func CustomRelTime(a, b time.Time, albl, blbl string, magnitudes []RelTimeMagnitude) string {",
		line:     "\t\t\t\targs = append(args, diff/mag.DivBy)", bug: "\t\t\t\targs = append(args, diff/mag.D)",
		worse: "\t\t\t\targs = append(args, mag.DivBy)",
		requirement: "go test fails:\n--- FAIL: TestPast (0.00s)\n    common_test.go:14: On 12 seconds ago, expected '12 seconds ago', but got '0 seconds ago'\n" +
			"    common_test.go:14: On 2 hours ago, expected '2 hours ago', but got '0 hours ago'",
	},
}

// planOfTests is a plan that names its checks, because not every module passes all that pawl would find to check.
const planOfTests = `{"goal":"mend the failing test","constraints":[],"risk_level":"low","steps":[{"step_id":"s1","title":"Mend it","intent":"The test must pass"}],` +
	`"criteria":[{"id":"c1","text":"the failing test passes","proof":"check"}],` +
	`"verification":{"mode":"custom","commands":["go vet ./...","go test ./..."],"required":true,"stop_on_fail":true}}`

// TestModulesAreMended has a model mend a planted bug in public modules at its second attempt. What pawl tells the
// model of the code must contain the faulty function early enough.
func TestModulesAreMended(t *testing.T) {
	t.Parallel()
	for _, p := range plantedBugs {
		t.Run(path.Base(p.module), func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			if err := copyOf(p.module, u.dir); err != nil {
				t.Fatal(err)
			}
			right := u.read(p.file)
			if strings.Count(right, p.line) != 1 {
				t.Fatalf("%s does not have the line %q once", p.file, p.line)
			}
			with := func(line string) string { return strings.Replace(right, p.line, line, 1) }
			u.write(p.file, with(p.bug))
			u.module().repository()
			script := asking(modeltest.FixBug(p.file, with(p.worse), right))
			script.JSON["plan"] = json.RawMessage(planOfTests)
			srv := u.modelled("openai", script)
			a := u.must(0, "run", p.requirement, "--yes", "--json")
			if u.read(p.file) != right || u.git("rev-list", "--count", "HEAD") != "2" ||
				u.git("diff", "--name-only", "HEAD^") != p.file || u.git("status", "--porcelain") != "" {
				t.Errorf("the result did not land: %v", a)
			}
			if got := strings.Join(u.states(),
				" "); got != "IDLE PLANNING CONFIRMING EXECUTING AUTO_FIX EXECUTING ARCHIVING IDLE" {
				t.Errorf("states %s", got)
			}
			u.shows(p, srv)
			u.must(0, "audit", "verify")
			u.quiet()
		})
	}
}

// early is how many tokens into a pack's snippets the faulty function has to end.
const early = 2000

// shows fails unless the run's context pack shows the faulty function early, and the model was told of it.
func (u *user) shows(p planted, srv *modeltest.Server) {
	u.t.Helper()
	ctx := context.Background()
	h := app.Host{State: filepath.Join(u.home, ".local", "state", "pawl")}
	place, err := h.Find(u.dir)
	if err != nil {
		u.t.Fatal(err)
	}
	w, err := h.Open(ctx, place, host.Open{ReadOnly: true, Config: settings.Default()})
	if err != nil {
		u.t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	s, err := w.Kernel.LastRun(ctx)
	if err != nil || s.Run == nil || s.Run.Context == nil || s.Run.Context.Pack == nil {
		u.t.Fatalf("there is no context pack: %v %+v", err, s)
	}
	pack := s.Run.Context.Pack
	bytes := 0
	i := slices.IndexFunc(pack.Snippets, func(c effect.CodeSnippet) bool {
		bytes += len(c.Content)
		return c.Path == filepath.ToSlash(p.file) && strings.Contains(c.Content, p.function) &&
			strings.Contains(c.Content, p.bug)
	})
	if i < 0 || bytes/4 > early {
		var all []string
		for _, c := range pack.Snippets {
			first, _, _ := strings.Cut(c.Content, "\n")
			all = append(all, c.Path+" "+first)
		}
		u.t.Errorf("%s is not in the first %d tokens of the pack: snippet %d, %d tokens, of\n%s", p.function, early, i,
			bytes/4, strings.Join(all, "\n"))
		return
	}
	u.t.Logf("%s is in snippet %d of %d, within the first %d tokens", p.function, i+1, len(pack.Snippets), bytes/4)
	if !slices.ContainsFunc(srv.Requests(),
		func(r modeltest.Request) bool { return strings.Contains(r.Body, p.function) }) {
		u.t.Error("the model was not shown the function")
	}
}
