package policy

import "pawl"

// Permission names one kind of effect that a tool declares (docs/spec/turn.md#permissions).
type Permission string

// The six permissions. They are persisted and append-only.
const (
	FSRead     Permission = "fs.read"
	FSWrite    Permission = "fs.write"
	FSDelete   Permission = "fs.delete"
	ProcExec   Permission = "proc.exec"
	NetConnect Permission = "net.connect"
	GitWrite   Permission = "git.write"
)

// Valid reports whether p is one of the six permissions.
func (p Permission) Valid() bool {
	switch p {
	case FSRead, FSWrite, FSDelete, ProcExec, NetConnect, GitWrite:
		return true
	}
	return false
}

// Op says what happens to a path.
type Op string

// The three operations on a path.
const (
	OpRead   Op = "read"
	OpWrite  Op = "write"
	OpDelete Op = "delete"
)

// Path is one path that a call touches. Rel is relative to the workspace, separated by slashes and lexically clean
// (path.Clean(Rel) == Rel); any other form is refused rather than repaired, because a path that two programs read
// differently is how workspaces are escaped.
type Path struct {
	Rel string `json:"path"`
	Op  Op     `json:"op"`
}

// Repo is what the caller found out about the git configuration that a command in the workspace would obey. The zero
// value says that nobody looked, and then git commands are asked for.
type Repo struct {
	// Inspected says that every configuration file which git would read was given to InspectGit, or that there is no
	// repository at all.
	Inspected bool `json:"inspected,omitempty"`
	// Hazards names the settings that may make git run a program or leave the workspace when it only reads, with their
	// values where those say what would run.
	Hazards []string `json:"hazards,omitempty"`
	// Writing names those that a command of git obeys only when it changes the repository or talks to another.
	Writing []string `json:"writing,omitempty"`
	// HooksPath is the folder that core.hooksPath names, "" for the usual one.
	HooksPath string `json:"hooks_path,omitempty"`
	// Filters are the lines of the attributes that send files through a filter, the one that wins last.
	Filters []Filter `json:"filters,omitempty"`
}

// Request is a tool call reduced to what policy needs. The caller fills it from the validated arguments of the call;
// text that an agent wrote reaches policy only in Paths and Command.
type Request struct {
	// Tool is the name of the tool, matched against the lists of the profile.
	Tool string
	// Permissions are those that the tool declares, not those that the agent asks for.
	Permissions []Permission
	// Paths are the files that the call touches.
	Paths []Path
	// Command is a shell command as bash will get it, or "". It starts in the workspace root.
	Command string
	// Root is the absolute path of the workspace as the command sees it. With it, absolute paths inside the workspace
	// are recognised; without it every absolute path counts as an escape.
	Root string
	// Files is the number of files that the call changes where that is more than Paths names, else 0.
	Files int
	// Network says that the call itself connects somewhere.
	Network bool
	// Foreign names the MCP server whose tool it is, "" for pawl's own. What such a tool does is only known to the
	// server, so nothing of the request but its name and NetConnect among its permissions is judged.
	Foreign string
	// Repo is what is known of the git configuration and attributes.
	Repo Repo
	// Ground is where the call would be carried out.
	Ground Ground
}

// Decision is the answer of the policy, as it is written in records (docs/spec/turn.md#policy-decision).
type Decision string

// The three decisions.
const (
	Allow Decision = "ALLOW"
	Ask   Decision = "REQUIRE_CONFIRMATION"
	Deny  Decision = "DENY"
)

// Scope says how far a confirmation may reach.
type Scope string

// The three scopes, from the narrowest to the widest.
const (
	SingleAction Scope = "single_action"
	Session      Scope = "session"
	Workspace    Scope = "workspace"
)

// Code is the exact reason of a decision. Codes are stable and append-only; people read the message of a Reason
// instead.
type Code string

// The codes, in the order in which policy.go of the catalogue explains them.
const (
	CodeAllowed        Code = "allowed"
	CodeInvalidRequest Code = "invalid_request"
	CodeInvalidText    Code = "invalid_text"
	CodeUnparsable     Code = "unparsable"
	CodeTooComplex     Code = "too_complex"
	CodeToolDisabled   Code = "tool_disabled"
	CodePathEscape     Code = "path_escape"
	CodePathForm       Code = "path_form"
	CodeProtectedPath  Code = "protected_path"
	CodeSensitivePath  Code = "sensitive_path"
	CodeSecret         Code = "secret"
	CodeWrite          Code = "write"
	CodeReadOnly       Code = "read_only"
	CodeDelete         Code = "delete"
	CodeManyFiles      Code = "many_files"
	CodeExec           Code = "exec"
	CodeNotAllowlisted Code = "not_allowlisted"
	CodeDangerousFlag  Code = "dangerous_flag"
	CodeDynamic        Code = "dynamic"
	CodeShellFeature   Code = "shell_feature"
	CodeEnvironment    Code = "environment"
	CodeHiddenText     Code = "hidden_text"
	CodeNetwork        Code = "network"
	CodeGitWrite       Code = "git_write"
	CodeGitConfig      Code = "git_config"
	CodeFiltered       Code = "filtered"
	CodeDestructive    Code = "destructive"
	CodePrivilege      Code = "privilege"
	CodeDeniedCommand  Code = "denied_command"
	CodeNoWalls        Code = "no_walls"
	CodeForeignTool    Code = "foreign_tool"
	CodeAmbiguous      Code = "ambiguous"
	CodeOutward        Code = "outward"
	CodeRepository     Code = "repository"
	CodeLargeFile      Code = "large_file"
	CodeSecretText     Code = "secret_text"
	CodeSecretMark     Code = "secret_mark"
)

// Reason is one finding: its code, and the key and arguments of its message in the catalogue. Args that an agent wrote
// are already escaped by Display and shortened.
type Reason struct {
	Code Code     `json:"code"`
	Key  string   `json:"key"`
	Args []string `json:"args,omitempty"`
}

// Verdict is the decision on one request and what it rests on.
type Verdict struct {
	Decision Decision `json:"decision"`
	// Scope is the widest scope that a confirmation may have; it is empty unless Decision is Ask.
	Scope Scope `json:"scope,omitempty"`
	// Code is the code of the first reason.
	Code Code `json:"code"`
	// Reasons holds the findings, the gravest first; at most maxReasons of them, and one, CodeAllowed, when there is
	// none.
	Reasons []Reason `json:"reasons"`
	// Risk is the grade of what the call would do when it is carried out.
	Risk pawl.Risk `json:"risk"`
	// Commands are the programs and builtins that a command would start, as written, each once, in order of appearance.
	Commands []string `json:"commands,omitempty"`
	// Paths are the paths that were judged, from the request and from the command, each once.
	Paths []Path `json:"paths,omitempty"`
	// Network says that the call would connect somewhere and was asked for or allowed as such.
	Network bool `json:"network,omitempty"`
	// Person says that the call reaches beyond the machine or cannot be taken back: only a person who saw this very
	// call can say yes to it, no policy in a person's name.
	Person bool `json:"person,omitempty"`
}

// Err returns nil for Allow; a *pawl.Error with CodeApprovalNeeded for Ask; and for Deny one with CodeDenied, or with
// CodeInvalid where the request itself is malformed. The error carries the first reason's key and arguments.
func (v Verdict) Err() error {
	if v.Decision == Allow || len(v.Reasons) == 0 {
		return nil
	}
	code := pawl.CodeDenied
	switch {
	case v.Decision == Ask:
		code = pawl.CodeApprovalNeeded
	case v.Code == CodeInvalidText || v.Code == CodeInvalidRequest:
		code = pawl.CodeInvalid
	}
	first := v.Reasons[0]
	args := make([]any, len(first.Args))
	for i, a := range first.Args {
		args[i] = a
	}
	return pawl.Fail(code, first.Key, args...).In("policy.judge")
}

// Risk returns the gravest risk of the verdicts, and low for none.
func Risk(verdicts ...Verdict) pawl.Risk {
	worst := pawl.RiskLow
	for _, v := range verdicts {
		if v.Risk.AtLeast(worst) {
			worst = v.Risk
		}
	}
	if !worst.Valid() {
		return pawl.RiskHigh
	}
	return worst
}
