package script

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"pawl"
	"pawl/agent/agenttest"
	"pawl/kernel/effect"
	"pawl/text/message"
	"pawl/text/plan"
)

func openDir(dir string) (fs.FS, io.Closer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	return root.FS(), root, nil
}

func TestSuite(t *testing.T) {
	agenttest.Run(t, func(*testing.T, agenttest.Workspace) agenttest.Agent {
		return New(Config{LookPath: agenttest.Tools, Open: openDir})
	}, agenttest.Traits{Intakes: true, Unplannable: "add a login page with OAuth", Explain: explain})
}

// explain is an error in both languages, or "" when a language lacks it.
func explain(err error) string {
	var e *pawl.Error
	if !errors.As(err, &e) {
		return ""
	}
	if _, ok := message.Lookup(e.Key); !ok {
		return ""
	}
	text, hint := message.English.Error(err)
	zh, zhHint := message.Chinese.Error(err)
	if text == zh || hint == zhHint {
		return ""
	}
	return text + "\n" + hint
}

func TestUnderstand(t *testing.T) {
	for requirement, want := range map[string][]goal{
		"make the checks pass":                              {goalChecks},
		"Make all the checks pass.":                         {goalChecks},
		"please make the tests pass again":                  {goalChecks},
		"get CI green":                                      {goalChecks},
		"fix the failing tests":                             {goalChecks},
		"Fix the build in this repo!":                       {goalChecks},
		"fix formatting":                                    {goalFormat},
		"fix the formatting errors":                         {goalFormat},
		"format the code":                                   {goalFormat},
		"Format  all\tGo files":                             {goalFormat},
		"run gofmt":                                         {goalFormat},
		"fix lint":                                          {goalLint},
		"fix all the linter warnings":                       {goalLint},
		"fix eslint errors":                                 {goalLint},
		"tidy dependencies":                                 {goalTidy},
		"go mod tidy":                                       {goalTidy},
		"clean up the go.mod":                               {goalTidy},
		"fix formatting and lint":                           {goalFormat, goalLint},
		"format the code, then tidy dependencies":           {goalFormat, goalTidy},
		"tidy dependencies, fix lint and format the code":   {goalFormat, goalLint, goalTidy},
		"让检查通过":                                             {goalChecks},
		"请让所有测试都通过。":                                        {goalChecks},
		"使构建能够通过":                                           {goalChecks},
		"修复失败的测试":                                           {goalChecks},
		"修复格式":                                              {goalFormat},
		"修复代码格式问题":                                          {goalFormat},
		"格式化代码":                                             {goalFormat},
		"帮我格式化一下代码":                                         {goalFormat},
		"修复lint错误":                                          {goalLint},
		"整理依赖":                                              {goalTidy},
		"修复格式和lint":                                         {goalFormat, goalLint},
		"格式化代码并整理依赖":                                        {goalFormat, goalTidy},
		"":                                                  nil,
		"make it fast":                                      nil,
		"format the date as ISO 8601":                       nil,
		"fix the style of the login page":                   nil,
		"fix the tests for the parser by rewriting it":      nil,
		"fix formatting and add a login page":               nil,
		"add tests":                                         nil,
		"delete the checks":                                 nil,
		"do not fix formatting":                             nil,
		"make the checks pass by deleting them":             nil,
		"make the checks pass; rm -rf build":                nil,
		"修复登录页面的样式":                                         nil,
		"删除所有测试":                                            nil,
		"让检查通过并删除测试":                                        nil,
		"fix lint" + strings.Repeat(" ", 500) + "and and":   nil,
		strings.Repeat("make the checks pass and ", 10_000): nil,
	} {
		got, ok := understand(requirement)
		if ok != (want != nil) || (ok && !slices.Equal(got, want)) {
			t.Errorf("%.60q: %v %v, want %v", requirement, got, ok, want)
		}
	}
}

// world is an agent with a project in memory.
func world(tree fstest.MapFS, installed ...string) *Agent {
	return New(Config{
		LookPath: func(p string) (string, bool) { return p, slices.Contains(installed, p) },
		Open:     func(string) (fs.FS, io.Closer, error) { return tree, io.NopCloser(nil), nil },
	})
}

func check(kind, command, dir string) effect.Check {
	return effect.Check{Name: command, Command: command, Kind: kind, Dir: dir}
}

func propose(t *testing.T, a *Agent, requirement string, checks ...effect.Check) ([]string, effect.Receipt) {
	t.Helper()
	r := a.Do(t.Context(), effect.Effect{Kind: effect.KindPlan, Place: effect.Place{Tree: "/t", Workspace: "/w"},
		Spec: effect.Encode(effect.PlanSpec{Requirement: requirement, Context: effect.ContextResult{Checks: checks}})},
		nil, nil)
	if !r.OK {
		return nil, r
	}
	result, err := effect.Decode[effect.PlanResult](r.Result)
	if err != nil {
		t.Fatal(err)
	}
	return commands(result.Plan.Steps), r
}

func commands(steps []plan.Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, commandsOf(s)...)
		if !strings.Contains(string(s.ToolCalls[0].ArgsHint), `"idempotent":true`) {
			out = append(out, "NOT IDEMPOTENT")
		}
	}
	return out
}

func TestPlanPerEcosystem(t *testing.T) {
	pkg := `{"scripts":{"lint:fix":"eslint --fix .","format":"prettier --check ."},"devDependencies":{"prettier":"3","eslint":"9"}}`
	tree := func(pairs ...string) fstest.MapFS {
		out := fstest.MapFS{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
		}
		return out
	}
	for name, test := range map[string]struct {
		requirement string
		tree        fstest.MapFS
		installed   []string
		checks      []effect.Check
		want        []string
	}{
		"go": {"make the checks pass", tree("go.mod", "go 1.26.0\n"), []string{"go", "gofmt"},
			[]effect.Check{check("format", "! gofmt -l . 2>&1 | grep .", ""), check("lint", "go vet ./...", "")},
			[]string{"go vet -fix ./... || true", "go fmt ./..."}},
		"go, older": {"fix formatting and tidy dependencies", tree("go.mod", "go 1.21\n", "vendor/modules.txt", ""),
			[]string{"go", "gofmt"},
			[]effect.Check{check("lint", "go vet ./...", "")},
			[]string{"go mod tidy", "go mod vendor", "go fmt ./..."}},
		"go in a folder with an odd name": {"format the code", tree("it's here/go.mod", "go 1.21\n"),
			[]string{"go", "gofmt"},
			[]effect.Check{check("lint", "go vet ./...", "it's here")}, []string{`cd 'it'\''s here' && go fmt ./...`}},
		"go that is not installed": {"format the code", tree("go.mod", "go 1.21\n"), nil,
			[]effect.Check{check("lint", "go vet ./...", "")}, nil},
		"node": {"fix lint", tree("package.json", pkg, "node_modules/.bin/prettier", ""), []string{"node", "npm"},
			[]effect.Check{check("test", "npm test", "")},
			[]string{"npm run lint:fix || true", "npx --no-install prettier --write ."}},
		"node without packages": {"format the code", tree("package.json", pkg), []string{"node", "npm"},
			[]effect.Check{check("test", "npm test", "")}, nil},
		"python": {"fix lint and formatting", tree("pyproject.toml", ""), []string{"ruff"},
			[]effect.Check{check("format", "ruff format --check .", ""), check("lint", "ruff check .", "")},
			[]string{"ruff check --fix --exit-zero .", "ruff format ."}},
		"rust": {"make the checks pass", tree("Cargo.toml", "", "Cargo.lock", ""),
			[]string{"cargo", "cargo-fmt", "cargo-clippy"},
			[]effect.Check{check("test", "cargo test --offline", "")},
			[]string{"cargo clippy --fix --allow-dirty --allow-staged --all-targets --offline", "cargo fmt --all"}},
		"dart": {"make the checks pass", tree(), []string{"dart"}, []effect.Check{check("lint", "dart analyze", "")},
			[]string{"dart fix --apply", "dart format ."}},
		"maven": {"format the code", tree("pom.xml", "<artifactId>spotless-maven-plugin</artifactId>"),
			[]string{"java"},
			[]effect.Check{check("test", "mvn -B -q -o test", "")}, []string{"mvn -B -q -o spotless:apply"}},
		"ruby": {"fix rubocop warnings", tree(), nil,
			[]effect.Check{check("lint", "bundle exec rubocop --cache false", "")},
			[]string{"bundle exec rubocop -a --fail-level F --cache false"}},
		"make": {"format the code", tree("Makefile", "fmt:\n\tindent\nfmts = 1\n"), []string{"make"},
			[]effect.Check{check("test", "make test", "")}, []string{"make fmt"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, r := propose(t, world(test.tree, test.installed...), test.requirement, test.checks...)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if test.want == nil && (r.Code != pawl.CodeCannotPlan || r.Key != "script.no_fixer") {
				t.Errorf("%+v", r)
			}
		})
	}
	if _, r := propose(t, world(nil), "fix lint"); r.Code != pawl.CodeCannotPlan || r.Key != "script.no_checks" {
		t.Errorf("a project that cannot be checked: %+v", r)
	}
}

func TestPlanFollowsFeedback(t *testing.T) {
	a := world(fstest.MapFS{"go.mod": {Data: []byte("go 1.26\n")}}, "go", "gofmt")
	ask := func(feedback ...string) []string {
		r := a.Do(t.Context(), effect.Effect{Kind: effect.KindPlan,
			Spec: effect.Encode(effect.PlanSpec{Requirement: "make the checks pass", Feedback: feedback,
				Context: effect.ContextResult{Checks: []effect.Check{check("lint", "go vet ./...", "")}}}),
			Place: effect.Place{Tree: "/t"}}, nil, nil)
		result, err := effect.Decode[effect.PlanResult](r.Result)
		if err != nil {
			t.Fatal(err)
		}
		return commands(result.Plan.Steps)
	}
	if d := cmp.Diff([]string{"go fmt ./..."}, ask("too much", "only fix the formatting")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(ask(), ask("I do not like it")); d != "" {
		t.Error(d)
	}
}

func TestRepair(t *testing.T) {
	tree := fstest.MapFS{"go.mod": {Data: []byte("go 1.26\n")},
		"web/package.json": {Data: []byte(`{"scripts":{"format":"prettier --write .","fix":"eslint --fix ."}}`)}}
	format, vet, test := check("format", "! find . -exec gofmt -l {} + 2>&1 | grep .", ""), check("lint",
		"go vet ./...", ""), check("test", "go test ./...", "")
	web := check("test", "npm test", "web")
	found := effect.ContextResult{Checks: []effect.Check{format, vet, test, web}}
	failing := func(c effect.Check, output string) []effect.CheckOutcome {
		return []effect.CheckOutcome{{Check: vet, Status: effect.CheckPassed},
			{Check: c, Status: effect.CheckFailed, ExitCode: 1, Output: output}}
	}
	a := world(tree, "go", "gofmt", "node", "npm")
	ask := func(spec effect.RepairSpec) ([]string, string) {
		t.Helper()
		r := a.Do(t.Context(), effect.Effect{Kind: effect.KindRepair, Place: effect.Place{Tree: "/t"},
			Spec: effect.Encode(spec)}, nil, nil)
		result, err := effect.Decode[effect.RepairResult](r.Result)
		if err != nil {
			t.Fatalf("%v %+v", err, r)
		}
		if _, ok := message.Lookup(result.Why); !ok {
			t.Errorf("no message %q", result.Why)
		}
		return commands(result.Steps), result.Why
	}
	goFix, goTidy := "go vet -fix ./... || true", "go mod tidy"
	for name, row := range map[string]struct {
		failure effect.Failure
		want    []string
		why     string
	}{
		"gofmt names the files": {effect.Failure{Checks: failing(format, "./a.go\n./b/c d.go\n")},
			[]string{"gofmt -w a.go 'b/c d.go'"}, whyFormat},
		"gofmt cannot parse": {effect.Failure{Checks: failing(format, "./a.go:3:1: expected declaration\n")},
			[]string{goFormat}, whyFormat},
		"names that lead out": {effect.Failure{Checks: failing(format, "../../etc/x.go\n")}, []string{goFormat},
			whyFormat},
		"names that are no names": {effect.Failure{Checks: failing(format, "../../etc/x.go\n-w.go\n")},
			[]string{goFormat}, whyFormat},
		"vet": {effect.Failure{Checks: failing(vet, "x.go:1: printf")}, []string{goFix}, whyLint},
		"go.sum": {effect.Failure{Checks: failing(test, "missing go.sum entry for module")},
			[]string{goTidy}, whyTidy},
		"a test": {effect.Failure{Checks: failing(test, "--- FAIL: TestA")}, nil, whyNone},
		"a test that says more": {effect.Failure{Checks: failing(web, "Code style issues found in 2 files")},
			[]string{"cd web && npm run format || true"}, whyFormat},
		"a build": {effect.Failure{Checks: failing(check("build", "go build ./...", ""),
			"x.go:3:2: undefined: y")}, nil, whyNone},
		"another folder": {effect.Failure{Checks: failing(check("lint", "npm run lint", "web"), "1 problem")},
			[]string{"cd web && npm run fix || true"}, whyLint},
		"a custom command": {effect.Failure{Checks: failing(check("custom", "./check.sh", ""), "no")}, nil,
			whyNone},
		"a command about looks": {effect.Failure{Checks: failing(check("custom", "./scripts/lint.sh", ""), "no")},
			[]string{goFix, "cd web && npm run fix || true"}, whyLint},
		"a step": {effect.Failure{What: "step s2", Output: "x"}, nil, whyNone},
		"a push": {effect.Failure{What: "step s1: run_terminal_cmd",
			Output: `{"exit_code":128,"output":"fatal: 'origin' does not appear to be a git repository"}`},
			nil, whyNone},
		"a step that tells of go.sum": {effect.Failure{What: "step s1", Output: "go: updates to go.mod needed"},
			[]string{goTidy}, whyTidy},
		"a step that tells of looks": {effect.Failure{What: "step s1", Output: "files differ: run gofmt"},
			[]string{goFormat}, whyFormat},
		"the tree moved": {effect.Failure{Checks: []effect.CheckOutcome{{Check: effect.Check{Name: "tree",
			Kind: "doctor"}, Status: effect.CheckError}}},
			nil, whyTreeChanged},
		"the machine": {effect.Failure{Checks: []effect.CheckOutcome{{Check: test, Status: effect.CheckFailed,
			Environment: true}}}, nil, whyMachine},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := ask(effect.RepairSpec{Attempt: 1, Context: found, Failure: row.failure})
			if d := cmp.Diff(row.want, got); d != "" || why != row.why {
				t.Errorf("%s %s", why, d)
			}
		})
	}

	t.Run("each that fits once, then no more", func(t *testing.T) {
		spec := effect.RepairSpec{Context: found,
			Failure: effect.Failure{Fingerprint: "f", Checks: failing(vet, "x.go:1: printf")}}
		var got []string
		for n := 1; n <= 4; n++ {
			spec.Attempt = n
			steps, why := ask(spec)
			got = append(got, strings.Join(steps, "; ")+" "+why)
			for i, c := range steps {
				spec.Proposed = append(spec.Proposed, proposal([]string{c}, "fix"+string(rune('0'+n))+"-", "")...)
				_ = i
			}
			spec.Earlier = append(spec.Earlier, spec.Failure)
		}
		want := []string{goFix + " " + whyLint, goFormat + " " + whyFormat, " " + whyAllTried, " " + whyAllTried}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		spec.Failure.Fingerprint = "another"
		if steps, _ := ask(spec); len(steps) == 0 {
			t.Error("what was tried on one failure may help another")
		}
	})
	if got, why := ask(effect.RepairSpec{Context: effect.ContextResult{},
		Failure: effect.Failure{Checks: failing(test, "x")}}); got != nil || why != whyNone {
		t.Errorf("%v %s", got, why)
	}
}

func FuzzUnderstand(f *testing.F) {
	f.Add("fix formatting and lint")
	f.Add("让检查通过")
	f.Fuzz(func(t *testing.T, s string) {
		goals, ok := understand(s)
		if ok != (len(goals) > 0) {
			t.Errorf("%q: %v %v", s, goals, ok)
		}
	})
}
