package host

import (
	"context"
	"strings"
	"time"

	"pawl"
	"pawl/text/display"
)

// Agents are the agents of this machine.
type Agents struct {
	// List describes them, with what was found of each. With a name only that one is looked into, which takes no time;
	// the others are named.
	List func(ctx context.Context, only string) []AgentInfo
	// Installed describes those that are installed and the model that is set, and starts none for that.
	Installed func(ctx context.Context) []AgentInfo
	// Other names an agent that can be used now, and the command that uses it or, without any, that sets up one which
	// is installed. Both are "" if none is.
	Other func(ctx context.Context) (name, command string)
	// Embedded reports whether pawl's own agent can do without a model what a requirement asks for.
	Embedded func(requirement string) bool
	// Check tries one out with a scripted model, in a folder of its own that is gone afterwards. The error tells what
	// kept the check from being made; that the agent does not work is a stage that failed. kept is the folder where it
	// is kept.
	Check func(ctx context.Context, c Check) (kept string, err error)
	// Login looks at the login that the user has for an agent, whether or not it may be used. The error says what is
	// missing.
	Login func(ctx context.Context, name string) (AgentLogin, error)
	// Forget takes back every copy of the login that was left behind, and returns how many there were.
	Forget func(name string) (int, error)
	// Servers describe the MCP servers of the settings. None is started for that.
	Servers func() []ServerInfo
	// Ask starts an MCP server of the settings for a moment and returns what it offers. One that cannot be trusted
	// because of a conflict with the tools of others is an error.
	Ask func(ctx context.Context, server string) (Offer, error)
}

// Known refuses a name that no agent has, and names those that there are.
func (a Agents) Known(ctx context.Context, name string) error {
	var names []string
	for _, i := range a.List(ctx, name) {
		if names = append(names, i.Name); i.Name == name {
			return nil
		}
	}
	return pawl.Fail(pawl.CodeInvalid, "agent.unknown", display.Line(name), strings.Join(names, ", "))
}

// AgentInfo is one line of `pawl agent list`.
type AgentInfo struct {
	Name string `json:"name"`
	// Kind is script, llm, acp or headless.
	Kind string `json:"kind"`
	// State is ready, missing (not installed), untested (a version that was not tried) or unset (settings are missing).
	State   string `json:"state"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
	// Account says whose login, or which key, it would work with, without a secret; Login is subscription, token or key
	// for a login of the user's own, Plan and Where what it says of itself and where it is, and Expires when it ends,
	// where that is known.
	Account string     `json:"account,omitempty"`
	Login   string     `json:"login,omitempty"`
	Plan    string     `json:"plan,omitempty"`
	Where   string     `json:"where,omitempty"`
	Expires *time.Time `json:"expires,omitempty"`
	// Model is what it would use, "" for its own default.
	Model string `json:"model,omitempty"`
	// Offer says that the login could be used and only the user's word is missing. Agreed says that the user has agreed
	// to the use of this account.
	Offer  bool `json:"offer,omitempty"`
	Agreed bool `json:"agreed,omitempty"`
	// Next is the command that sets an installed agent up, "" for one that can be used, or where no command does.
	Next string `json:"next,omitempty"`
	// Settings are what the project sets for it, which it obeys only where it is trusted.
	Settings []ProjectSetting `json:"project_settings,omitempty"`
	// Key and Args name the message that says what to do where State is not ready.
	Key  string   `json:"key,omitempty"`
	Args []string `json:"args,omitempty"`
}

// LeftOut are the names of the settings of a project that an agent does not obey.
func (i AgentInfo) LeftOut() []string {
	var out []string
	for _, s := range i.Settings {
		if !s.Trusted {
			out = append(out, s.Name)
		}
	}
	return out
}

// ProjectSetting is a file or a folder in which a project sets something for an agent.
type ProjectSetting struct {
	Name string `json:"name"`
	// Digest is what trust is given to, "" for what cannot be trusted.
	Digest  string `json:"digest,omitempty"`
	Trusted bool   `json:"trusted"`
}

// AgentLogin is the login that a user has for an agent, or pawl's key for its model, without a secret.
type AgentLogin struct {
	Agent   string `json:"agent"`
	Title   string `json:"title"`
	Maker   string `json:"maker"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path"`
	// Account names it, Plan is what is paid for, Kind is subscription, token or key, and Where is the file or the
	// variable of a login, "" for pawl's key.
	Account string `json:"account"`
	Plan    string `json:"plan,omitempty"`
	Kind    string `json:"kind"`
	Where   string `json:"where"`
	// Expires is when it ends, where that is known, and Renewer the program that renews it, "" where only the user can.
	Expires *time.Time `json:"expires,omitempty"`
	Renewer string     `json:"renewer,omitempty"`
	Model   string     `json:"model,omitempty"`
	// Way is gateway or tunnel, Sites where it is shown, and Readable says that commands of the agent can read the
	// copy.
	Way      string   `json:"way"`
	Sites    []string `json:"sites"`
	Readable bool     `json:"readable_by_commands"`
	// Agreed says that it may be used.
	Agreed bool `json:"agreed"`
}
