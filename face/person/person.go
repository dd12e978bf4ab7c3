// Package person reports whether a person or a program gives this process its commands. Approvals rest on it: an
// approval is a person's only if pawl can vouch for the terminal that it comes from (docs/security.md#who-approves). If
// pawl cannot tell, it is a program's.
//
// A program that hides what it is can pass: it runs as the user, can name itself as it likes, and could as well write
// the user's settings. This keeps a helpful agent from approving what it asked for, and the log from saying that a
// person did.
package person

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// Unknown stands for a program whose name the machine does not tell.
const Unknown = "unknown"

// IsAgent reports whether a program that Program named is a coding agent.
func IsAgent(program string) bool {
	return slices.Contains(slices.Collect(maps.Values(agents)), program) ||
		slices.ContainsFunc(marks, func(m mark) bool { return m.agent == program })
}

// mark is a variable, and the agent whose mark it is.
type mark struct{ name, agent string }

// marks are the variables that coding agents set for the commands that they run, and whose mark each is. A value that
// is "", "0" or "false" marks nothing.
var marks = []mark{
	{"CLAUDECODE", "claude-code"}, {"CODEX_SANDBOX", "codex"}, {"CODEX_THREAD_ID", "codex"}, {"GEMINI_CLI", "gemini-cli"},
	{"QWEN_CODE", "qwen-code"}, {"OPENCODE", "opencode"}, {"CURSOR_AGENT", "cursor-agent"}, {"CLINE_ACTIVE", "cline"},
	{"GOOSE_TERMINAL", "goose"}, {"AI_AGENT", "ai-agent"},
}

// agents are the programs and packages of coding agents, and the names under which they are recorded.
var agents = map[string]string{
	"claude": "claude-code", "claude-code": "claude-code", "claude-agent-acp": "claude-code", "codex": "codex",
	"codex-acp": "codex", "gemini": "gemini-cli", "gemini-cli": "gemini-cli", "qwen": "qwen-code",
	"qwen-code": "qwen-code", "opencode": "opencode", "opencode-ai": "opencode", "cursor-agent": "cursor-agent",
	"cline": "cline", "cn": "continue", "pi-coding-agent": "pi", "goose": "goose", "aider": "aider", "crush": "crush",
	"amp": "amp", "droid": "droid", "copilot": "copilot", "kiro-cli": "kiro-cli", "auggie": "auggie",
}

// between are programs that run others and are asked for by somebody else: shells, wrappers, pawl itself.
var between = []string{
	"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "tcsh", "csh", "nu", "elvish", "xonsh", "busybox", "env", "sudo",
	"doas", "su", "timeout", "nohup", "setsid", "nice", "xargs", "script", "stdbuf", "time", "pawl",
}

// terminals are the programs that open a terminal for whoever sits at it and lets nobody else type: logins and terminal
// windows. Those that other programs can type into, or that keep running while nobody is there, are not among them:
// multiplexers, editors, emulators that take text by a command. One that is missing here costs a detour and opens
// nothing.
var terminals = []string{
	"sshd", "sshd-session", "login", "Relay", // the last is WSL's
	"alacritty", "foot", "ghostty", "gnome-terminal-server", "kgx", "kitty", "konsole", "lxterminal", "mate-terminal",
	"ptyxis-agent", "qterminal", "st", "terminator", "tilix", "urxvt", "xfce4-terminal", "xterm",
}

// plain are the arguments with which a shell only reads what is typed.
var plain = []string{
	"-i", "-l", "-il", "-li", "--interactive", "--login", "--noprofile", "--norc", "--posix",
}

// interpreters run the program that their first argument names.
var interpreters = []string{"node", "bun", "deno", "python", "python3", "ruby", "perl"}

// process is a program at work: its name, the beginning of its command line, and where it belongs. Parent is 0 for one
// that was started from outside the container. TTY is 0 for one without a controlling terminal.
type process struct {
	name                             string
	args                             []string
	pid, parent, group, session, tty int
}

// Program names the program that gives this process its commands. It is "" if a person does: from a terminal that is
// in's, in whose foreground the process is, for which pawl can vouch, and with no coding agent among the ancestors.
func Program(in *os.File, env func(string) string) string {
	return program(env, lineage(os.Getpid(), farthest), in != nil && foreground(int(in.Fd())))
}

// program decides by what was seen: the variables, this process and its ancestors (the nearest first), and whether it
// is in the foreground of a terminal.
func program(env func(string) string, chain []process, terminal bool) string {
	for _, m := range marks {
		if v := env(m.name); v != "" && v != "0" && v != "false" {
			return m.agent
		}
	}
	started := chain[min(1, len(chain)):]
	for _, p := range started {
		if name := p.agent(); name != "" {
			return name
		}
	}
	if terminal && vouched(chain) && !ownSSH(env("SSH_CONNECTION")) {
		return ""
	}
	for _, p := range started {
		if name := p.called(); !slices.Contains(between, name) {
			return name
		}
	}
	return Unknown
}

// vouched reports whether a process was started by hand: by a shell that a login or a terminal window opened to be
// typed into, through nothing but shells and wrappers. A process whose parent has ended has another one, which shows in
// its session and its group.
func vouched(chain []process) bool {
	if !slices.ContainsFunc(chain, func(p process) bool { return p.pid == chain[0].group }) {
		return false
	}
	for i, p := range chain {
		if p.tty == 0 || i > 0 && !slices.Contains(between, p.called()) {
			return false
		}
		opened := p.pid == p.session // by its parent, which stays in a session of its own
		if opened && (p.parent == 0 || i+1 < len(chain) && slices.Contains(terminals, chain[i+1].called())) {
			return i > 0 && !slices.ContainsFunc(p.args[min(1, len(p.args)):],
				func(arg string) bool { return !slices.Contains(plain, arg) })
		}
		if i+1 == len(chain) || !opened && chain[i+1].session != p.session {
			return false
		}
	}
	return false
}

// ownSSH reports whether a login came from this machine itself, where any program can make one.
func ownSSH(connection string) bool {
	ends := strings.Fields(connection) // the client's address and port, and the server's
	return len(ends) == 4 && ends[0] == ends[2]
}

// agent is the name of the coding agent that p is, or "".
func (p process) agent() string {
	if name, ok := agents[p.called()]; ok {
		return name
	}
	for _, arg := range p.args[:min(2, len(p.args))] {
		parts := strings.Split(arg, "/")
		at := slices.Index(parts, "node_modules")
		for _, part := range parts[max(at, 0):] {
			if name, ok := agents[part]; ok && at >= 0 {
				return name
			}
		}
	}
	return ""
}

// called is what p is called: for an interpreter the program that it runs, as far as that can be seen.
func (p process) called() string {
	name := p.name
	if len(p.args) > 0 && strings.HasPrefix(path.Base(p.args[0]), name) {
		name = path.Base(p.args[0]) // the system keeps the first letters of a name only
	}
	name, _, _ = strings.Cut(name, ":") // "tmux: server"
	name, _, _ = strings.Cut(name, "(") // "Relay(12)"
	name = clean(strings.TrimPrefix(name, "-"))
	if slices.Contains(interpreters, name) && len(p.args) > 1 && !strings.HasPrefix(p.args[1], "-") {
		script := path.Base(p.args[1])
		return clean(strings.TrimSuffix(script, path.Ext(script)))
	}
	return name
}

// clean makes a name fit for the record of who acted: others choose what their programs are called.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != ':' && r != '/' {
			return r
		}
		return -1
	}, name)
	if name = name[:min(len(name), 64)]; name == "" {
		return Unknown
	}
	return name
}
