package person

import (
	"slices"
	"testing"
)

// at puts processes into one session on one terminal, the nearest first: each is the parent of the one before it, the
// first leads its group, and the last leads the session.
func at(tty int, last int, chain ...process) []process {
	for i := range chain {
		p := &chain[i]
		p.pid, p.parent, p.session, p.tty = last+len(chain)-1-i, last+len(chain)-2-i, last, tty
		p.group = p.pid
	}
	return chain
}

// named is a process by its command line.
func named(name string, args ...string) process {
	return process{name: name, args: append([]string{name}, args...)}
}

// TestProgram: what comes from a terminal is a person's only if pawl can vouch for whoever opened it.
func TestProgram(t *testing.T) {
	own, bash, shell := named("pawl", "approve"), named("bash"), process{name: "bash", args: []string{"-bash"}}
	daemon := at(0, 1, named("systemd"))
	under := func(opener process, tty int, chain ...process) []process {
		opened := at(0, 20, opener)
		opened[0].parent, opened[0].tty = 1, tty
		return slices.Concat(at(9, 30, chain...), opened, daemon)
	}
	changed := func(chain []process, change func(c []process)) []process {
		change(chain)
		return chain
	}
	sshd := process{name: "sshd", args: []string{"sshd: ada@pts/0"}}
	tmux := process{name: "tmux: server", args: []string{"tmux", "new-session", "-d"}}
	window := process{name: "gnome-terminal-", args: []string{"/usr/libexec/gnome-terminal-server"}}
	gemini := process{name: "node", args: []string{"node", "/usr/lib/node_modules/@google/gemini-cli/dist/index.js"}}
	for name, c := range map[string]struct {
		env   map[string]string
		chain []process
		none  bool // no terminal in whose foreground it is
		want  string
	}{
		"a login":                     {chain: under(sshd, 0, own, shell)},
		"a newer login":               {chain: under(named("sshd-session"), 0, own, shell)},
		"a console":                   {chain: under(named("login"), 0, own, shell)},
		"a window":                    {chain: under(window, 0, own, bash)},
		"a window of its own process": {chain: under(named("alacritty"), 9, own, named("zsh", "-l"))},
		"WSL":                         {chain: under(process{name: "Relay(12)", args: []string{"/init"}}, 0, own, shell)},
		"a container":                 {chain: at(9, 1, own, bash)},
		"a container's exec":          {chain: changed(at(9, 40, own, bash), func(c []process) { c[1].parent = 0 })},
		"through a script":            {chain: under(sshd, 0, own, named("sh", "-c", "pawl approve"), shell)},
		"a recording":                 {chain: slices.Concat(at(8, 50, own, named("bash", "-i")), under(window, 0, named("script"), bash))},
		"as root":                     {chain: slices.Concat(at(8, 50, own, shell, named("sudo", "-i")), under(sshd, 0, named("sudo", "-i"), shell))},

		"tmux":             {chain: under(tmux, 0, own, shell), want: "tmux"},
		"tmux, a command":  {chain: under(tmux, 0, own), want: "tmux"},
		"tmux, as root":    {chain: slices.Concat(at(8, 50, own, shell, named("sudo", "-i")), under(tmux, 0, named("sudo", "-i"), shell)), want: "tmux"},
		"screen":           {chain: under(named("screen", "-d", "-m"), 0, own, bash), want: "screen"},
		"zellij":           {chain: under(named("zellij", "--server"), 0, own, bash), want: "zellij"},
		"dtach":            {chain: under(named("dtach", "-n", "x", "bash"), 0, own, bash), want: "dtach"},
		"a later one":      {chain: under(named("mux-of-2031"), 0, own, bash), want: "mux-of-2031"},
		"an editor":        {chain: under(named("code", "--type=utility"), 0, own, bash), want: "code"},
		"an editor's node": {chain: under(named("node", "/x/server-main.js"), 0, own, bash), want: "server-main"},
		"python's pty":     {chain: under(named("python3", "-c", "import pty"), 9, own, bash), want: "python3"},
		"script of an agent unknown to pawl": {chain: slices.Concat(at(8, 50, own, named("sh", "-c", "pawl approve")),
			under(window, 0, named("script", "-qc"), named("newagent"), bash)), want: "newagent"},
		"an agent unknown to pawl": {chain: under(window, 0, own, named("newagent"), bash), want: "newagent"},
		"make":                     {chain: under(window, 0, own, named("make", "ok"), bash), want: "make"},
		"a window for a command":   {chain: under(window, 0, own), want: "gnome-terminal-server"},
		"a window for a shell's":   {chain: under(named("xterm"), 9, own, named("sh", "-c", "pawl approve")), want: "xterm"},
		"a login for a command":    {chain: under(sshd, 0, own, named("bash", "-c", "pawl approve")), want: "sshd"},
		"a login from here": {env: map[string]string{"SSH_CONNECTION": "10.0.0.7 4022 10.0.0.7 22"},
			chain: under(sshd, 0, own, shell), want: "sshd"},
		"a login from elsewhere": {env: map[string]string{"SSH_CONNECTION": "10.0.0.8 4022 10.0.0.7 22"},
			chain: under(sshd, 0, own, shell)},
		"a parent that ended": {chain: slices.Concat(changed(at(9, 30, own), func(c []process) { c[0].session = 7 }), daemon),
			want: "systemd"},
		"a parent that ended in a container": {chain: changed(at(9, 1, own, bash), func(c []process) { c[0].group = 7 }), want: Unknown},
		"a terminal that outlived its opener in a container": {chain: slices.Concat(at(8, 50, own, bash),
			changed(at(8, 40, named("script")), func(c []process) { c[0].session, c[0].parent = 7, 1 }), at(9, 1, bash)), want: Unknown},
		"a wrapper without a terminal": {chain: slices.Concat(at(8, 50, own, bash), at(0, 40, named("script")), at(9, 1, bash)),
			want: Unknown},

		"setsid and no terminal":      {chain: slices.Concat(at(0, 30, own, shell), daemon), none: true, want: "systemd"},
		"cron":                        {chain: under(named("cron", "-f"), 0, own, named("sh", "-c", "x")), none: true, want: "cron"},
		"nobody at all":               {none: true, want: Unknown},
		"a system that tells nothing": {want: Unknown},
		"make for nobody":             {chain: under(window, 0, own, named("make", "ok"), bash), none: true, want: "make"},
		"an agent's mark":             {env: map[string]string{"CLAUDECODE": "1"}, chain: under(window, 0, own, bash), want: "claude-code"},
		"no mark":                     {env: map[string]string{"CLAUDECODE": "0"}, chain: under(window, 0, own, bash)},
		"an agent's shell":            {chain: under(window, 0, own, bash, named("codex"), bash), want: "codex"},
		"an agent's package":          {chain: under(window, 0, own, bash, gemini, bash), want: "gemini-cli"},
		"an agent's window":           {chain: slices.Concat(at(8, 50, own, bash), under(window, 0, named("xterm"), named("claude"), bash)), want: "claude-code"},
		"an agent renamed by itself":  {chain: under(window, 0, own, named("claude")), none: true, want: "claude-code"},
		"a package beside one": {chain: under(window, 0, own, named("node", "/x/node_modules/.bin/../tool/claude.md")),
			none: true, want: "claude-code"},
		"a script":       {chain: under(window, 0, own, named("python3", "bots/night.py")), none: true, want: "night"},
		"a long name":    {chain: under(process{name: "a-program-with-", args: []string{"/opt/a-program-with-a-name"}}, 0, own), want: "a-program-with-a-name"},
		"a hostile name": {chain: under(process{name: "us/er\x1b[1m:ada"}, 0, own), want: "user[1m"},
		"an empty name":  {chain: under(process{}, 0, own), want: Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			got := program(func(v string) string { return c.env[v] }, c.chain, !c.none)
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
