package policy

import (
	"slices"
	"strings"

	"pawl/text/display"

	"pawl"
	"pawl/text/shell"
)

// The names of the built-in profiles.
const (
	ProfileStrict   = "strict"
	ProfileStandard = "standard"
	ProfileReadOnly = "readonly"
)

// defaultMaxFiles is the number of files that one call may change without asking (docs/spec/turn.md#patch).
const defaultMaxFiles = 20

// Profile is what the user chose. It can make policy stricter in every respect and laxer only where it says so: nothing
// in a profile lifts a Deny, and nothing lifts the question before a destructive or sensitive action. A profile without
// a name is judged as strict.
type Profile struct {
	Name string `json:"name" yaml:"name"`
	// ReadOnly denies writes, deletions and every command that is not a known reader.
	ReadOnly bool `json:"read_only,omitempty" yaml:"read_only,omitempty"`
	// ConfirmWrite asks before every write.
	ConfirmWrite bool `json:"confirm_write,omitempty" yaml:"confirm_write,omitempty"`
	// ConfirmExec asks before every command.
	ConfirmExec bool `json:"confirm_exec,omitempty" yaml:"confirm_exec,omitempty"`
	// AllowNetwork is the grant of the user to connect without being asked.
	AllowNetwork bool `json:"allow_network,omitempty" yaml:"allow_network,omitempty"`
	// NoNetwork denies every call that asks for the network or would connect, whatever a plan grants and a person
	// allows.
	NoNetwork bool `json:"no_network,omitempty" yaml:"no_network,omitempty"`
	// Unconfined says that this machine cannot wall commands in: what would have run without asking is asked for.
	Unconfined bool `json:"unconfined,omitempty" yaml:"unconfined,omitempty"`
	// MaxFiles is the number of files that one call may change without asking; 0 means 20.
	MaxFiles int `json:"max_files,omitempty" yaml:"max_files,omitempty"`
	// AllowedTools, where it is not empty, are the only tools that may be called. DisallowedTools may not be called.
	AllowedTools    []string `json:"allowed_tools,omitempty" yaml:"allowed_tools,omitempty"`
	DisallowedTools []string `json:"disallowed_tools,omitempty" yaml:"disallowed_tools,omitempty"`
	// MCPTools are the tools of MCP servers that need no question, as server__tool, or server__* for all of a server's.
	MCPTools []string `json:"mcp_tools,omitempty" yaml:"mcp_tools,omitempty"`
	// AllowedCommands are argument prefixes such as "go run" or "npm run codegen" that need no question although they
	// are not on the list of known commands. Words match exactly; "*" matches any one word. DeniedCommands are never
	// run.
	AllowedCommands []string `json:"allowed_commands,omitempty" yaml:"allowed_commands,omitempty"`
	DeniedCommands  []string `json:"denied_commands,omitempty" yaml:"denied_commands,omitempty"`
	// Approvers are the programs that may approve what waits for a person, by the names under which they are recorded.
	Approvers []string `json:"approvers,omitempty" yaml:"approvers,omitempty"`
	// Sensitive are further folders or files, relative to the workspace, that are asked for before they are written.
	Sensitive []string `json:"sensitive,omitempty" yaml:"sensitive,omitempty"`
	// AllowedSecrets are files and folders, relative to the workspace, in which what looks like a secret may land
	// without a question.
	AllowedSecrets []string `json:"allowed_secrets,omitempty" yaml:"allowed_secrets,omitempty"`
}

// Strict asks before every write and every command. It is the profile of interactive runs (docs/spec/turn.md#b11).
func Strict() Profile {
	return Profile{Name: ProfileStrict, ConfirmWrite: true, ConfirmExec: true}
}

// Standard lets writes inside the workspace and known commands pass, because they can be undone and are walled in, and
// asks before deletions, unknown commands, the network, many files and sensitive paths (docs/spec/turn.md#b11).
func Standard() Profile { return Profile{Name: ProfileStandard} }

// ReadOnly lets a call look and nothing else.
func ReadOnly() Profile { return Profile{Name: ProfileReadOnly, ReadOnly: true} }

// Named returns a built-in profile, or CodeInvalid for a name that is none.
func Named(name string) (Profile, error) {
	switch name {
	case ProfileStrict:
		return Strict(), nil
	case ProfileStandard:
		return Standard(), nil
	case ProfileReadOnly:
		return ReadOnly(), nil
	}
	return Profile{}, pawl.Fail(pawl.CodeInvalid, "policy.profile_unknown", display.Line(name)).In("policy.named")
}

// Validate returns nil, or a CodeInvalid error that names the first field which cannot be used. A profile that a user
// wrote is validated before it is put into effect.
func (p Profile) Validate() error {
	bad := func(field, value string) error {
		return pawl.Fail(pawl.CodeInvalid, "policy.profile_field", field, display.Line(value)).In("policy.validate")
	}
	if strings.TrimSpace(p.Name) == "" {
		return bad("name", p.Name)
	}
	if p.MaxFiles < 0 {
		return bad("max_files", "< 0")
	}
	for field, list := range map[string][]string{"allowed_tools": p.AllowedTools, "disallowed_tools": p.DisallowedTools,
		"mcp_tools": p.MCPTools, "approvers": p.Approvers} {
		for _, name := range list {
			if server, _, ok := strings.Cut(name, "__"); field == "mcp_tools" &&
				(!ok || server == "" || server == "*") {
				return bad(field, name)
			}
			if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || shell.Hidden(r) }) {
				return bad(field, name)
			}
		}
	}
	for _, list := range []struct {
		field    string
		patterns []string
	}{{"allowed_commands", p.AllowedCommands}, {"denied_commands", p.DeniedCommands}} {
		for _, pattern := range list.patterns {
			if !validPattern(pattern, list.field == "allowed_commands") {
				return bad(list.field, pattern)
			}
		}
	}
	for field, paths := range map[string][]string{"sensitive": p.Sensitive, "allowed_secrets": p.AllowedSecrets} {
		for _, s := range paths {
			if _, ok := canonical(s); !ok {
				return bad(field, s)
			}
		}
	}
	return nil
}

// validPattern reports whether a command pattern is made of plain words and names its program. A pattern that would
// allow any program, a shell or a wrapper is refused, since it would allow everything.
func validPattern(pattern string, allows bool) bool {
	words := strings.Fields(pattern)
	if len(words) == 0 || words[0] == "*" {
		return false
	}
	if strings.ContainsAny(pattern, "\n\r;&|<>$`\"'\\(){}") || strings.ContainsFunc(pattern, shell.Hidden) {
		return false
	}
	return !allows || !opensEverything(words[0])
}

// opensEverything reports whether a program runs whatever its arguments say.
func opensEverything(name string) bool {
	return slices.Contains(allPowerful, name[strings.LastIndexByte(name, '/')+1:])
}

func (p Profile) maxFiles() int {
	if p.MaxFiles == 0 {
		return defaultMaxFiles
	}
	return p.MaxFiles
}

// maxRule is how many words a proposed rule has at most.
const maxRule = 3

// AllowingRule returns the beginning of a command that would have to be among the allowed commands for it to need no
// question: of at least two words if it has two, "" if none would do or none is needed.
func AllowingRule(r Request, p Profile) string {
	words := strings.Fields(r.Command)
	if Judge(r, p).Decision != Ask {
		return ""
	}
	for n := min(2, len(words)); n <= min(maxRule, len(words)); n++ {
		rule := strings.Join(words[:n], " ")
		with := p
		with.AllowedCommands = append(slices.Clone(p.AllowedCommands), rule)
		if with.Validate() == nil && Judge(r, with).Decision == Allow {
			return rule
		}
	}
	return ""
}
