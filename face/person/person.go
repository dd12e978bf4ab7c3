// Package person tells whether a person gives this process its commands, or a program does. It is what an approval
// rests on: a person's word counts where somebody can be seen who gives it (docs/security.md#who-approves).
//
// What it sees can be feigned by a program that opens a terminal of its own and hides what it is. Such a program runs
// as the user and could as well write the user's settings: this keeps a helpful agent from approving what it asked for,
// and the log from saying that a person did.
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
	"sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "env", "sudo", "doas", "su", "timeout", "nohup", "setsid",
	"nice", "xargs", "script", "stdbuf", "time", "pawl",
}

// interpreters run the program that their first argument names.
var interpreters = []string{"node", "bun", "deno", "python", "python3", "ruby", "perl"}

// process is a program at work: its name and the beginning of its command line.
type process struct {
	name string
	args []string
}

// Program names the program that gives this process its commands, and is "" where a person does: from a terminal that
// is in's, in whose foreground the process is, and with no coding agent among those who started it.
func Program(in *os.File, env func(string) string) string {
	return program(env, ancestors(), in != nil && foreground(int(in.Fd())))
}

// program decides by what was seen: the variables, who started the process (the nearest first), and whether it is in
// the foreground of a terminal.
func program(env func(string) string, started []process, terminal bool) string {
	for _, m := range marks {
		if v := env(m.name); v != "" && v != "0" && v != "false" {
			return m.agent
		}
	}
	for _, p := range started {
		if name := p.agent(); name != "" {
			return name
		}
	}
	if terminal {
		return ""
	}
	for _, p := range started {
		if name := p.called(); !slices.Contains(between, name) {
			return name
		}
	}
	return Unknown
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
