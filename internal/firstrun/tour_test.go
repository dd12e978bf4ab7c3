package firstrun

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// pretender is a program that stands in for pawl: what it does on each command is a piece of shell.
func pretender(t *testing.T, dir string, does map[string]string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("#!/bin/sh\ncase \"$1\" in\n__complete) printf 'run\\tr\\nfix\\tf\\nagent\\ta\\nprepare\\tp\\nstatus\\ts\\nskip\\ts\\n' ;;\nstatus) echo '{\"state\":\"IDLE\"}' ;;\n")
	b.WriteString("task) echo '{\"verification\":{\"checks\":[{\"name\":\"test\",\"command\":\"sh test.sh\",\"status\":\"passed\"}]}}' ;;\n")
	for verb, script := range does {
		b.WriteString(verb + ")\n" + script + "\n;;\n")
	}
	b.WriteString("*) exit 2 ;;\nesac\n")
	path := filepath.Join(dir, "pretender")
	if err := os.WriteFile(path, []byte(b.String()), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestVerdicts has programs stand in for pawl that do well, badly, and nothing.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	const (
		mend  = "printf '#!/bin/sh\\necho $(($1 + $2))\\n' >sum.sh; git commit -qam mended"
		botch = "echo x >README.md; git commit -qam botched"
		tells = "echo 'sum of 2 and 3 is -1'; echo 'pawl: red'; echo '  next: Go on with: "
	)
	all := Folders()
	shell := all[slices.IndexFunc(all, func(f Folder) bool { return f.Name == "shell" })]
	for _, c := range []struct {
		name string
		does map[string]string
		want Verdict
		why  string
	}{
		{"mends", map[string]string{"run": mend}, Done, ""},
		{"says so", map[string]string{"run": botch}, Unproven, "fails in a clean clone"},
		{"says nothing", map[string]string{"run": "echo 'pawl: no'; exit 1"}, DeadEnd, "names no command"},
		{"gives up", map[string]string{"run": "echo 'pawl: no'; echo '  next: pawl skip'; exit 1"}, DeadEnd,
			"nothing that goes on"},
		{"goes round", map[string]string{"run": tells + "pawl fix'; exit 8", "fix": "echo 'pawl: red'; exit 8"},
			DeadEnd, "same message"},
		{"prepares", map[string]string{"run": "[ ! -e .git/ready ] || { " + mend +
			"; exit; }\necho 'pawl: not ready'; echo '  next: Fetch them with: pawl prepare'; exit 10",
			"prepare": "touch .git/ready"}, DoneNext, ""},
		{"prepares, then fixes", map[string]string{"run": "echo 'pawl: not ready'; echo '  next: pawl prepare, then: pawl fix'; exit 10", "prepare": "touch .git/ready", "fix": "[ -e .git/ready ] && " + mend}, DoneNext, ""},
		{"asks an agent", map[string]string{"run": "case \"$*\" in *--agent*) " + mend + " ;; *) " + tells +
			"pawl run \"X\" --agent NAME'; exit 14 ;; esac"}, DoneNext, ""},
		{"has the plan written", map[string]string{"run": "case \"$*\" in *--plan*) " + mend + " ;; *) " + tells +
			"pawl run --plan FILE'; exit 14 ;; esac"}, ByHand, ""},
		{"asks the network", map[string]string{"run": tells + "npm ci'; exit 10"}, Yours, "npm ci"},
		{"shows who could", map[string]string{"run": tells + "pawl agent list'; exit 14",
			"agent": "echo '  next: pawl agent add codex'"}, Yours, "pawl agent add codex"},
		{"lists what it lacks", map[string]string{"run": tells + "pawl agent list'; exit 14",
			"agent": "printf 'AGENT   STATE\\ncodex   missing   Install it: npm install -g codex\\n'"}, Yours,
			"npm install -g codex"},
		{"asks for a login", map[string]string{"run": tells + "pawl run \"X\" --agent codex'; exit 14"}, Yours,
			"codex"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o := Options{Dir: dir, Pawl: pretender(t, dir, c.does), Path: filepath.SplitList(os.Getenv("PATH")),
				Floor: Floor{Name: "none"}, Patience: time.Minute}
			row, err := Go(t.Context(), o, shell, Default)
			if err != nil || row.Verdict != c.want || !strings.Contains(row.Why, c.why) {
				t.Errorf("%s: %s, %v\n%s", row.Verdict, row.Why, err, strings.Join(row.Screens, "\n"))
			}
			if row.Verdict == Done && !slices.Contains(row.Checks, "test") {
				t.Errorf("checks %v", row.Checks)
			}
		})
	}
}

// TestBlind has a program ask the person to mend what it has not told.
func TestBlind(t *testing.T) {
	t.Parallel()
	all := Folders()
	checked := all[slices.IndexFunc(all, func(f Folder) bool { return f.Name == "shell" })]
	checked.custom = false // as if pawl knew what to check
	for says, want := range map[string]Verdict{"red": DeadEnd, "red: " + Told: Done} {
		dir := t.TempDir()
		run := "echo 'pawl: " + says + "'; echo '  next: pawl run --plan FILE'; exit 14"
		o := Options{Dir: dir, Pawl: pretender(t, dir, map[string]string{"run": run}),
			Path: filepath.SplitList(os.Getenv("PATH")), Floor: Floor{Name: "none"}, Patience: time.Minute}
		row, err := Go(t.Context(), o, checked, Default)
		if err != nil || strings.Contains(row.Why, "no screen has told") != (want == DeadEnd) {
			t.Errorf("%s: %s: %s, %v", says, row.Verdict, row.Why, err)
		}
	}
}
