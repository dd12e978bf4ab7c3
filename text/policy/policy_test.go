package policy_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/text/display"

	"go.yaml.in/yaml/v4"

	"pawl"
	"pawl/internal/spent"
	"pawl/text/message"
	"pawl/text/policy"
)

var clean = policy.InspectGit("")

func judge(command string) policy.Verdict {
	return policy.Judge(policy.Request{Tool: "run_terminal_cmd", Permissions: []policy.Permission{policy.ProcExec},
		Command: command, Repo: clean}, policy.Standard())
}

func TestOrdinaryCommandsPass(t *testing.T) {
	asked := 0
	for _, c := range ordinary {
		if v := judge(c); v.Decision != policy.Allow {
			asked++
			t.Logf("%q: %s %+v", c, v.Decision, v.Reasons)
		}
	}
	if len(ordinary) < 150 || asked*20 > len(ordinary) {
		t.Fatalf("%d of %d ordinary commands do not pass; at most 5 in 100 may", asked, len(ordinary))
	}
}

// BenchmarkOrdinary is the verdict on one ordinary command, which may take 50 µs.
func BenchmarkOrdinary(b *testing.B) {
	for n := 0; b.Loop(); n++ {
		judge(ordinary[n%len(ordinary)])
	}
}

func TestQuestionsAndRefusals(t *testing.T) {
	for _, c := range questions {
		if v := judge(c); v.Decision != policy.Ask && !(v.Decision == policy.Deny && strings.HasPrefix(c, "trap")) {
			t.Errorf("%q: %s %+v, want a question", c, v.Decision, v.Reasons)
		}
	}
	for _, c := range refusals {
		if v := judge(c); v.Decision != policy.Deny {
			t.Errorf("%q: %s %+v, want a refusal", c, v.Decision, v.Reasons)
		}
	}
}

// TestPrefixesDoNotWeaken judges each command again behind harmless ones: the answer may not become laxer.
func TestPrefixesDoNotWeaken(t *testing.T) {
	for _, c := range slices.Concat(questions, refusals) {
		if c == "" {
			continue
		}
		for _, prefix := range []string{"echo ok\n", "true && ", "ls; ", strings.Repeat("true; ", 60)} {
			if v := judge(prefix + c); v.Decision == policy.Allow && c != "# nothing" {
				t.Errorf("%q is allowed behind %.20q", c, prefix)
			}
		}
	}
}

// payload is a command that does more than it shows or that reaches out of the workspace.
//
// A payload can be run as well as judged. Whoever runs one keeps it within walls and gives it: a working folder that is
// a git repository on a branch, with user.name and user.email set and one commit, in which a.txt has some lines of
// text; the folder above, which belongs to the run; and, exported, HOME and OUTSIDE, two empty folders of the run
// elsewhere, CANARY, a path in OUTSIDE at which nothing stands, and CACHE, a folder for what compilers keep. Setup and
// then Command are each run by bash -c. Without walls Command, and not Setup, leaves something at CANARY. No payload
// names a path outside of these folders to write to.
type payload struct {
	Name    string `yaml:"name"`
	Case    int    `yaml:"case"` // its number in docs/spec/threats.md
	Why     string `yaml:"why"`  // how it gets out, in one sentence
	Setup   string `yaml:"setup"`
	Command string `yaml:"command"`
	// Inside says that only the place is wrong, so that the command may pass with a path of the workspace instead.
	Inside bool `yaml:"inside"`
}

// at returns the command with another path for its variables.
func (p payload) at(canary string) string {
	dir, base := path.Split(canary)
	return strings.NewReplacer(
		"${CANARY##*/}", base, "${CANARY}", canary, "$CANARY", canary, "$OUTSIDE", path.Clean(dir),
	).Replace(p.Command)
}

// payloadCounts are the files of testdata/hostile, one for each way out, with how many payloads each has at least: one
// that gets lost must not go unnoticed.
var payloadCounts = map[string]int{
	"archives": 14, "build": 28, "disguise": 49, "environment": 18, "git": 54, "programs": 28, "reads": 24,
	"runtimes": 17, "shell": 38, "wrappers": 21, "writes": 39,
}

func payloads(t *testing.T) []payload {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "hostile", "*.yaml"))
	if err != nil || len(files) != len(payloadCounts) {
		t.Fatalf("found %d files of payloads, want %d: %v", len(files), len(payloadCounts), err)
	}
	var all []payload
	seen, cases := map[string]bool{}, map[int]bool{0: true}
	for group, want := range payloadCounts {
		data, err := os.ReadFile(filepath.Join("testdata", "hostile", group+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var some []payload
		if err := yaml.Load(data, &some, yaml.WithKnownFields()); err != nil || len(some) < want {
			t.Fatalf("%s: %d payloads, want at least %d: %v", group, len(some), want, err)
		}
		for _, p := range some {
			p.Name = group + ": " + p.Name
			leads := p.Command != "" && strings.Contains(p.Setup+p.Command, "CANARY")
			if seen[p.Name] || !leads || p.Case < 1 || p.Case > 100 || !strings.HasSuffix(p.Why, ".") {
				t.Fatalf("%s: it lacks a name of its own, the number of its case, a sentence that says why, or a way to CANARY", p.Name)
			}
			seen[p.Name], cases[p.Case] = true, true
			all = append(all, p)
		}
	}
	for n := range 31 { // those about shells, but texts that no shell takes, and how many commands a text may have
		if !cases[n] && n != 28 && n != 30 {
			t.Errorf("there is no payload of case %d", n)
		}
	}
	return all
}

// repoAfter is what the caller's inspection would find after the setup of a payload.
func repoAfter(setup string) policy.Repo {
	repo := policy.InspectGit("")
	for line := range strings.Lines(strings.NewReplacer(";", "\n", "&&", "\n").Replace(setup)) {
		fields := strings.Fields(line)
		for i := range fields[:max(len(fields)-2, 0)] {
			if fields[i] == "git" && fields[i+1] == "config" && fields[i+2][0] != '-' {
				section, key, _ := strings.Cut(fields[i+2], ".")
				text := "[" + section + "]\n" + key[strings.LastIndexByte(key, '.')+1:] + " = x"
				repo.Hazards = append(repo.Hazards, policy.InspectGit(text).Hazards...)
			}
		}
	}
	return repo
}

// TestAdversarialPayloads judges each payload with a path that is not known, with one that is outside, and with one
// that is inside: there nothing but the way itself is left to be noticed.
func TestAdversarialPayloads(t *testing.T) {
	for _, p := range payloads(t) {
		repo := repoAfter(p.Setup)
		for _, prefix := range []string{"", "echo ok\n", "true && "} {
			for place, text := range map[string]string{
				"unknown": p.Command, "outside": p.at("/canary/file"), "inside": p.at("canary/file"),
			} {
				command := prefix + text
				start := spent.Processor()
				v := policy.Judge(policy.Request{Command: command, Repo: repo}, policy.Standard())
				if passes := place == "inside" && p.Inside; passes != (v.Decision == policy.Allow) {
					t.Errorf("%s: %s %s with a path that is %s: %q", p.Name, v.Decision, v.Code, place, command)
				}
				if d := spent.Processor() - start; d > 200*time.Millisecond {
					t.Errorf("%s took %v", p.Name, d)
				}
			}
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		path string
		op   policy.Op
		want policy.Decision
		code policy.Code
	}{
		{"main.go", policy.OpWrite, policy.Allow, policy.CodeAllowed},
		{"main.go", policy.OpDelete, policy.Ask, policy.CodeDelete},
		{".env.example", policy.OpRead, policy.Allow, policy.CodeAllowed},
		{".", policy.OpRead, policy.Allow, policy.CodeAllowed},
		{"internal/credentials/store.go", policy.OpRead, policy.Allow, policy.CodeAllowed},
		{"id_rsa.pub", policy.OpRead, policy.Allow, policy.CodeAllowed},
		{".git/HEAD", policy.OpRead, policy.Allow, policy.CodeAllowed},
		{".pawl/plan/x/tasks.md", policy.OpRead, policy.Allow, policy.CodeAllowed},
		{"../x", policy.OpRead, policy.Deny, policy.CodePathEscape},
		{"/etc/x", policy.OpRead, policy.Deny, policy.CodePathEscape},
		{"~/x", policy.OpRead, policy.Deny, policy.CodePathEscape},
		{"a/../../x", policy.OpWrite, policy.Deny, policy.CodePathEscape},
		{"%2e%2e/x", policy.OpRead, policy.Deny, policy.CodePathEscape},
		{`..\x`, policy.OpRead, policy.Deny, policy.CodePathEscape},
		{`C:\x`, policy.OpRead, policy.Deny, policy.CodePathEscape},
		{"../", policy.OpRead, policy.Deny, policy.CodePathEscape},
		{"./a/", policy.OpRead, policy.Deny, policy.CodePathForm},
		{"", policy.OpRead, policy.Deny, policy.CodePathForm},
		{"a\x00b", policy.OpRead, policy.Deny, policy.CodePathForm},
		{"a\xffb", policy.OpRead, policy.Deny, policy.CodePathForm},
		{strings.Repeat("a", 5000), policy.OpRead, policy.Deny, policy.CodePathForm},
		{".git/hooks/pre-commit", policy.OpWrite, policy.Deny, policy.CodeProtectedPath},
		{".Git/hooks/x", policy.OpWrite, policy.Deny, policy.CodeProtectedPath},
		{".g\u200cit/x", policy.OpWrite, policy.Deny, policy.CodeProtectedPath},
		{".\uff47it/x", policy.OpWrite, policy.Deny, policy.CodeProtectedPath},
		{".git./x", policy.OpWrite, policy.Deny, policy.CodeProtectedPath},
		{".git::$INDEX_ALLOCATION/x", policy.OpWrite, policy.Deny, policy.CodeProtectedPath},
		{"GIT~1/config", policy.OpWrite, policy.Deny, policy.CodeProtectedPath},
		{"sub/.git", policy.OpDelete, policy.Deny, policy.CodeProtectedPath},
		{".gitmodules", policy.OpWrite, policy.Deny, policy.CodeProtectedPath},
		{".pawl/pawl.db", policy.OpWrite, policy.Deny, policy.CodeProtectedPath},
		{".PAWL/pawl.db", policy.OpRead, policy.Deny, policy.CodeProtectedPath},
		{".git/config", policy.OpRead, policy.Deny, policy.CodeProtectedPath},
		{".env", policy.OpRead, policy.Deny, policy.CodeSecret},
		{"packages/app/.ENV", policy.OpRead, policy.Deny, policy.CodeSecret},
		{"a/.ssh/known_hosts", policy.OpRead, policy.Deny, policy.CodeSecret},
		{"server.pem", policy.OpRead, policy.Deny, policy.CodeSecret},
		{".env", policy.OpWrite, policy.Ask, policy.CodeSensitivePath},
		{".gitattributes", policy.OpWrite, policy.Ask, policy.CodeSensitivePath},
		{".github/workflows/ci.yml", policy.OpWrite, policy.Ask, policy.CodeSensitivePath},
		{".VSCODE/tasks.json", policy.OpWrite, policy.Ask, policy.CodeSensitivePath},
		{"x.code-workspace", policy.OpWrite, policy.Ask, policy.CodeSensitivePath},
		{"docs/AGENTS.md", policy.OpWrite, policy.Ask, policy.CodeSensitivePath},
		{".claude/settings.json", policy.OpWrite, policy.Ask, policy.CodeSensitivePath},
		{"infra/main.tf", policy.OpWrite, policy.Ask, policy.CodeSensitivePath},
		{"src/author.go", policy.OpWrite, policy.Allow, policy.CodeAllowed},
		{"legal/terms.md", policy.OpWrite, policy.Ask, policy.CodeSensitivePath},
		{"x", "rename", policy.Deny, policy.CodeInvalidRequest},
	} {
		p := policy.Standard()
		p.Sensitive = []string{"legal"}
		v := policy.Judge(policy.Request{Paths: []policy.Path{{Rel: c.path, Op: c.op}}}, p)
		if v.Decision != c.want || v.Code != c.code {
			t.Errorf("%s %.60q: %s %s, want %s %s", c.op, c.path, v.Decision, v.Code, c.want, c.code)
		}
	}
}

func TestProfiles(t *testing.T) {
	write := policy.Request{Tool: "write_file", Permissions: []policy.Permission{policy.FSWrite},
		Paths: []policy.Path{{Rel: "a", Op: policy.OpWrite}}}
	run := func(c string) policy.Request {
		return policy.Request{Tool: "run_terminal_cmd", Command: c, Repo: clean}
	}
	many := policy.Request{Tool: "apply_patch", Files: 21}
	own := policy.Standard()
	own.AllowedCommands, own.DeniedCommands = []string{"go run", "npm run *", "sed -i",
		"git commit"}, []string{"go test", "* test"}
	own.AllowedTools, own.DisallowedTools = []string{"run_terminal_cmd"}, []string{"grep"}
	network := policy.Standard()
	network.AllowNetwork = true
	none := network
	none.NoNetwork = true
	asks := policy.Request{Tool: "run_terminal_cmd", Command: "go mod download", Network: true, Repo: clean}
	open := policy.Standard()
	open.Unconfined = true
	for i, c := range []struct {
		request policy.Request
		profile policy.Profile
		want    policy.Decision
		code    policy.Code
	}{
		{asks, policy.Standard(), policy.Ask, policy.CodeNetwork},
		{asks, network, policy.Allow, policy.CodeAllowed},
		{asks, none, policy.Deny, policy.CodeNetwork},
		{asks, policy.ReadOnly(), policy.Deny, policy.CodeNetwork},
		{run("curl https://example.com"), none, policy.Deny, policy.CodeNetwork},
		{write, policy.Standard(), policy.Allow, policy.CodeAllowed},
		{write, policy.Strict(), policy.Ask, policy.CodeWrite},
		{write, policy.Profile{}, policy.Ask, policy.CodeWrite},
		{write, policy.ReadOnly(), policy.Deny, policy.CodeReadOnly},
		{many, policy.Standard(), policy.Ask, policy.CodeManyFiles},
		{run("ls"), policy.Strict(), policy.Ask, policy.CodeExec},
		{run("ls"), policy.ReadOnly(), policy.Allow, policy.CodeAllowed},
		{run("go test ./..."), policy.ReadOnly(), policy.Deny, policy.CodeReadOnly},
		{run("touch a"), policy.ReadOnly(), policy.Deny, policy.CodeReadOnly},
		{run("ls > a"), policy.ReadOnly(), policy.Deny, policy.CodeReadOnly},
		{run("python x"), policy.ReadOnly(), policy.Deny, policy.CodeReadOnly},
		{run("bash x"), policy.ReadOnly(), policy.Deny, policy.CodeReadOnly},
		{run("git commit -m x"), policy.ReadOnly(), policy.Deny, policy.CodeReadOnly},
		{run("ls"), open, policy.Ask, policy.CodeNoWalls},
		{run("go run ."), own, policy.Allow, policy.CodeAllowed},
		{run("env go test ./..."), own, policy.Deny, policy.CodeDeniedCommand},
		{run("make test"), own, policy.Deny, policy.CodeDeniedCommand},
		{run("npm run deploy"), own, policy.Allow, policy.CodeAllowed},
		{run("npm run $x"), own, policy.Ask, policy.CodeNotAllowlisted},
		{run("sed -i s/a/b/ f"), own, policy.Allow, policy.CodeAllowed},
		{run("sed -i 's/a/b/e' f"), own, policy.Ask, policy.CodeDangerousFlag},
		{run("git commit -m x"), own, policy.Allow, policy.CodeAllowed},
		{run("go run . ../x"), own, policy.Ask, policy.CodePathEscape},
		{policy.Request{Tool: "grep"}, own, policy.Deny, policy.CodeToolDisabled},
		{policy.Request{Tool: "read_file"}, own, policy.Deny, policy.CodeToolDisabled},
		{policy.Request{Tool: "x", Permissions: []policy.Permission{"root"}}, policy.Standard(), policy.Deny,
			policy.CodeInvalidRequest},
		{policy.Request{Tool: "x", Permissions: []policy.Permission{policy.ProcExec}}, policy.Standard(), policy.Deny,
			policy.CodeInvalidRequest},
		{policy.Request{Tool: "fetch", Network: true}, policy.Standard(), policy.Ask, policy.CodeNetwork},
		{policy.Request{Tool: "fetch", Network: true}, network, policy.Allow, policy.CodeAllowed},
		{policy.Request{Tool: "fetch", Network: true}, policy.ReadOnly(), policy.Deny, policy.CodeNetwork},
		{run("npm ci"), network, policy.Allow, policy.CodeAllowed},
		{run("curl x"), network, policy.Ask, policy.CodeNotAllowlisted},
		{policy.Request{Command: "git status"}, policy.Standard(), policy.Ask, policy.CodeGitConfig},
		{policy.Request{Command: "cat /ws/a", Root: "/ws"}, policy.Standard(), policy.Allow, policy.CodeAllowed},
		{policy.Request{Command: "cat /ws-evil/a", Root: "/ws"}, policy.Standard(), policy.Deny, policy.CodePathEscape},
		{policy.Request{Command: "cat \"$PWD/a\"", Root: "/ws"}, policy.Standard(), policy.Allow, policy.CodeAllowed},
		{policy.Request{Command: "cat \"$PWD/../a\"", Root: "/ws"}, policy.Standard(), policy.Deny,
			policy.CodePathEscape},
	} {
		v := policy.Judge(c.request, c.profile)
		if v.Decision != c.want || v.Code != c.code {
			t.Errorf("%d %+v under %s: %s %s %+v, want %s %s", i, c.request, c.profile.Name, v.Decision, v.Code,
				v.Reasons, c.want, c.code)
		}
		if (v.Decision == policy.Ask) != (v.Scope != "") {
			t.Errorf("%d: scope %q of %s", i, v.Scope, v.Decision)
		}
	}
}

func TestProfileValidate(t *testing.T) {
	for _, p := range []policy.Profile{policy.Strict(), policy.Standard(), policy.ReadOnly(),
		{Name: "own", AllowedCommands: []string{"go run", "npm run *"}, Sensitive: []string{"db/migrations"}}} {
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	for _, p := range []policy.Profile{
		{}, {Name: "x", MaxFiles: -1}, {Name: "x", AllowedCommands: []string{"*"}}, {Name: "x",
			AllowedCommands: []string{"bash -c"}}, {Name: "x", AllowedCommands: []string{""}},
		{Name: "x", AllowedCommands: []string{"/bin/sh x"}}, {Name: "x", DeniedCommands: []string{"a; b"}}, {Name: "x",
			Sensitive: []string{"../x"}}, {Name: "x", AllowedTools: []string{""}},
	} {
		if err := p.Validate(); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := policy.Named("yolo"); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Error("an unknown profile has a name")
	}
}

func TestVerdictDetails(t *testing.T) {
	v := judge("cd api && go test ./... | tee out.txt; rm -rf build")
	if want := []string{"cd", "go", "tee", "rm"}; !slices.Equal(v.Commands, want) {
		t.Errorf("commands %v", v.Commands)
	}
	if !slices.Contains(v.Paths, policy.Path{Rel: "api/out.txt", Op: policy.OpWrite}) || v.Risk != pawl.RiskHigh ||
		v.Code != policy.CodeDestructive || v.Scope != policy.SingleAction {
		t.Errorf("%+v", v)
	}
	if err := v.Err(); pawl.CodeOf(err) != pawl.CodeApprovalNeeded {
		t.Errorf("%v", err)
	}
	if err := judge("cat ../x").Err(); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Errorf("%v", err)
	}
	if err := judge("ls \x07").Err(); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("%v", err)
	}
	if judge("ls").Err() != nil {
		t.Error("an allowed call has an error")
	}
	// A flood of questions does not push the refusal out.
	var flood strings.Builder
	for range 500 {
		flood.WriteString("tool" + strings.Repeat("x", flood.Len()%97) + "; ")
	}
	if v := judge(flood.String() + "sudo ls"); v.Decision != policy.Deny || v.Code != policy.CodePrivilege {
		t.Errorf("after a flood: %s %s", v.Decision, v.Code)
	}
	if r := policy.Risk(judge("ls"), judge("touch x")); r != pawl.RiskMedium {
		t.Errorf("risk %s", r)
	}
	if policy.Risk() != pawl.RiskLow || policy.Risk(policy.Verdict{}) != pawl.RiskHigh {
		t.Error("risk of nothing, and of an unknown grade")
	}
}

func TestMessages(t *testing.T) {
	seen := map[policy.Code]bool{}
	for _, c := range slices.Concat(questions, refusals, ordinary[:1]) {
		for _, r := range judge(c).Reasons {
			seen[r.Code] = true
			e, ok := message.Lookup(r.Key)
			args := make([]any, len(r.Args))
			for i, a := range r.Args {
				args[i] = a
			}
			for _, l := range []message.Lang{message.English, message.Chinese} {
				if text := l.Text(r.Key, args...) + l.Hint(r.Key, args...); !ok || e.En == "" || e.Zh == "" ||
					strings.Contains(text, "%!") {
					t.Errorf("%s %q: %s", r.Key, r.Args, text)
				}
			}
			if r.Key != "policy."+string(r.Code) || display.Line(strings.Join(r.Args, "")) != strings.Join(r.Args,
				"") {
				t.Errorf("%+v", r)
			}
		}
	}
	if len(seen) < 18 {
		t.Errorf("only %d codes were met", len(seen))
	}
}

func TestParseCommand(t *testing.T) {
	sh, err := policy.ParseCommand("env CI=1 timeout 5 go test ./... && echo \"$(date)\" > out.txt")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range sh.Calls {
		names = append(names, c.Argv[0])
	}
	if want := []string{"env", "timeout", "go", "date", "echo"}; !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
	if last := sh.Calls[len(sh.Calls)-1]; last.Literal || last.Argv[1] != "$(date)" {
		t.Errorf("%+v", last)
	}
	for _, bad := range []string{"", "ls 'x", "ls \x00", strings.Repeat("(", 9000)} {
		if _, err := policy.ParseCommand(bad); err == nil {
			t.Errorf("%.20q parses", bad)
		}
	}
	// The unwrapped command is found although the text around it is refused.
	if sh, err := policy.ParseCommand("sudo rm x"); err != nil || len(sh.Calls) != 1 {
		t.Errorf("%+v %v", sh, err)
	}
}

func TestInspectGit(t *testing.T) {
	harmless := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\turl = x\n\tfetch = +refs\n[branch \"main\"]\n\tremote = origin\n; note\n[user] name = x\n"
	if r := policy.InspectGit(harmless); !r.Inspected || len(r.Hazards) != 0 {
		t.Errorf("%+v", r)
	}
	for _, bad := range []string{
		"[core]\nfsmonitor = ./x", "[CORE] FSMonitor=./x", "[core]fsmonitor", "[diff]\nexternal = x",
		"[diff \"z\"]\ntextconv = x", "[filter \"z\"]\nclean = x", "[include]\npath = x",
		"[includeIf \"gitdir:/\"]\npath=x",
		"[alias]\nq = !x", "[core]\nhooksPath = x", "[core]\nworktree = ..", "[core]\npager = x", "[gpg]\nprogram = x",
		"[user]\nname = a\\\n[core]\nfsmonitor = x", "[broken", "[diff.z]\ntextconv=x", "[submodule \"s\"]\nupdate=!x",
		"[extensions]\nworktreeConfig=true",
	} {
		if len(policy.InspectGit(bad).Hazards) == 0 {
			t.Errorf("%q passes", bad)
		}
	}
}

// hostile are texts that are made to cost time or memory.
func hostile() map[string]string {
	out := map[string]string{"10,000 commands": strings.Repeat("true\n", 10_000), "1 MiB": "echo " +
		strings.Repeat("x", 1<<20), "sixty thousand bytes": "echo " + strings.Repeat("x", 60_000)}
	for _, s := range []string{
		"(", "((", "$(", "{ ", "`", "if ", "while ", "! ", "f()", "a|", "a&&", "$((-", "$((- ", "${a:-", "\"$(",
		"case a in a)", "time ", "coproc ", "<(", "x<<E\n", "x=$(", "a[", "@(a|", "$[ ", "let ", "$((a?",
		"{a,", "{", "a{b,c}", "x=a;cat $x ", "cd a; ", "cd a || ", "echo 'a' ", "env ", "bash -c '", "x<<a ", "*", "[",
		"$a", "a;", "{}", "sed 's/a/b/;", "x=1 ", "nice ", "a=(", "cat ../x;",
	} {
		out["repeated "+s] = strings.Repeat(s, 64<<10/len(s))
	}
	nest := "ls"
	for range 12 {
		nest = "bash -c " + quote(nest)
		if len(nest) > 60_000 {
			break
		}
		out["nested "+nest[:min(20, len(nest))]] = nest
	}
	twice := strings.Repeat("ls;", 15_000)
	for range 7 {
		twice = "sh -c " + quote(twice)
	}
	out["nested sh"] = twice
	out["balanced parentheses"] = strings.Repeat("( ", 1400) + "ls" + strings.Repeat(")", 1400)
	out["balanced substitutions"] = "echo " + strings.Repeat("$(", 1400) + "ls" + strings.Repeat(")", 1400)
	out["balanced braces"] = strings.Repeat("{", 1400) + strings.Repeat("x", 50_000) + strings.Repeat("}", 1400)
	out["values"] = "for f in " + strings.Repeat("a ", 60) + "; do cat " + strings.Repeat("$f ", 8000) + "; done"
	out["folders"] = strings.Repeat("cd a; ", 6) + strings.Repeat("cat x; ", 8000)
	out["eval"] = strings.Repeat("eval 'eval 'ls; ", 3000)
	return out
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// TestHostileTextIsBounded: what grows with the square of a text, or faster, takes minutes for these. What is bounded
// takes milliseconds of the processor, far less than the limit.
func TestHostileTextIsBounded(t *testing.T) {
	for name, text := range hostile() {
		start := spent.Processor()
		judge(text)
		if took := spent.Processor() - start; took > 10*time.Second {
			t.Errorf("%.40q took %v", name, took)
		}
	}
	for _, deep := range []string{"balanced parentheses", "repeated (", "1 MiB"} {
		if v := judge(hostile()[deep]); v.Decision != policy.Deny {
			t.Errorf("%s: %s", deep, v.Decision)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, c := range slices.Concat(ordinary, questions, refusals) {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, command string) {
		start := spent.Processor()
		v := judge(command)
		if d := spent.Processor() - start; d > time.Second {
			t.Fatalf("took %v", d)
		}
		if len(v.Reasons) == 0 || v.Code != v.Reasons[0].Code || !v.Risk.Valid() {
			t.Fatalf("%+v", v)
		}
		if err := v.Err(); (err == nil) != (v.Decision == policy.Allow) {
			t.Fatalf("%v", err)
		}
		// What holds no command is refused as a call that asks for nothing, which it no longer is behind another.
		if behind := judge("true\n" + command); v.Decision == policy.Deny && behind.Decision == policy.Allow &&
			(v.Code != policy.CodeInvalidRequest || len(v.Commands) > 0) {
			t.Fatalf("%q is denied alone and allowed behind another command", command)
		}
		for _, r := range v.Reasons {
			for _, a := range r.Args {
				if display.Line(a) != a {
					t.Fatalf("%q is not safe to show", a)
				}
			}
		}
	})
}
