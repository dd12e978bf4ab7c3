package person

import "testing"

// TestProgram: a word is a person's only at a terminal, and only where no coding agent stands between.
func TestProgram(t *testing.T) {
	shell := process{"bash", []string{"-bash"}}
	for name, c := range map[string]struct {
		env      map[string]string
		started  []process
		terminal bool
		want     string
	}{
		"a person":                {started: []process{shell, {"sshd", []string{"sshd: ada@pts/0"}}}, terminal: true},
		"a person without shells": {terminal: true},
		"setsid and no terminal":  {started: []process{shell, {"systemd", []string{"/lib/systemd/systemd"}}}, want: "systemd"},
		"cron": {started: []process{{"sh", []string{"sh", "-c", "x"}}, {"cron", []string{"/usr/sbin/cron", "-f"}}},
			want: "cron"},
		"nobody at all":    {want: Unknown},
		"make at hand":     {started: []process{{"make", []string{"make", "ok"}}, shell}, terminal: true},
		"make for nobody":  {started: []process{{"make", []string{"make", "ok"}}, shell}, want: "make"},
		"an agent's mark":  {env: map[string]string{"CLAUDECODE": "1"}, started: []process{shell}, terminal: true, want: "claude-code"},
		"no mark":          {env: map[string]string{"CLAUDECODE": "0"}, started: []process{shell}, terminal: true},
		"an agent's shell": {started: []process{shell, {"codex", []string{"codex"}}, shell}, terminal: true, want: "codex"},
		"an agent's package": {started: []process{shell,
			{"node", []string{"node", "/usr/lib/node_modules/@google/gemini-cli/dist/index.js"}}}, terminal: true, want: "gemini-cli"},
		"an agent renamed by itself": {started: []process{{"claude", []string{"claude"}}}, want: "claude-code"},
		"a package beside one":       {started: []process{{"node", []string{"node", "/x/node_modules/.bin/../tool/claude.md"}}, shell}, want: "claude-code"},
		"a script":                   {started: []process{{"python3", []string{"python3", "bots/night.py"}}}, want: "night"},
		"a long name":                {started: []process{{"a-program-with-", []string{"/opt/a-program-with-a-name"}}}, want: "a-program-with-a-name"},
		"a hostile name":             {started: []process{{"user:ada\x1b[1m", nil}}, want: "userada[1m"},
		"an empty name":              {started: []process{{"", nil}}, want: Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			got := program(func(v string) string { return c.env[v] }, c.started, c.terminal)
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestIsAgent: whatever is recorded as a coding agent is one, and nothing else.
func TestIsAgent(t *testing.T) {
	for _, m := range marks {
		if !IsAgent(m.agent) {
			t.Error(m.agent)
		}
	}
	for program, name := range agents {
		if got := (process{name: program}).agent(); got != name || !IsAgent(got) {
			t.Errorf("%s is recorded as %q", program, got)
		}
	}
	for _, name := range []string{"", "cron", "sshd", Unknown, "bash", "claude-cod"} {
		if IsAgent(name) {
			t.Errorf("%q is taken for an agent", name)
		}
	}
}
