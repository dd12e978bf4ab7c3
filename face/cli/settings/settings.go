// Package settings is the configuration: what can be set and what each setting means, where it comes from, and how the
// user's file is changed. It knows no commands.
package settings

import (
	"cmp"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/text/display"

	"pawl"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/kernel/budget"
	"pawl/machine/workflow"
	"pawl/text/knowledge"
	"pawl/text/message"
	"pawl/text/policy"
)

// Config are the user's settings. Default holds every default; files, the environment and flags change single ones.
type Config struct {
	Lang    string
	RunMode pawl.RunMode
	// Strict leaves out every row that pawl adds to its seeds.
	Strict       bool
	Profile      policy.Profile
	MaxFixes     int
	MaxPlanSteps int
	MaxCalls     int
	Retry        kernel.RetryConfig
	Gates        []string
	SmokeCommand string
	// Dependencies are further folders of dependencies, relative to the workspace, that worktrees are to have.
	Dependencies []string
	AuditWarn    bool
	// AuditKey is the fingerprint of the key in the SSH agent that signs checkpoints, "" for one in the user's state.
	AuditKey string
	// ApproveKey is the public key whose signatures are a person's word where none is seen, or the path of its file.
	ApproveKey string
	// Record keeps what runs decide and what their models say, for `pawl replay`.
	Record       bool
	CallTimeout  time.Duration
	CheckTimeout time.Duration
	// Twice has checks that decide run a second time, under other names.
	Twice        bool
	ProofTimeout time.Duration
	TaskTimeout  time.Duration
	CancelGrace  time.Duration
	LeaseTime    time.Duration
	ReadDelays   []time.Duration
	// KBMode is KB_CREATE_MODE: what becomes of the knowledge base. Output is the language of documents and of commit
	// messages, "" for that of the texts on the screen; Bilingual adds an English block to messages in another.
	KBMode    knowledge.Mode
	Output    string
	Bilingual bool
	// IgnoredMB is how much of what git ignores a run in place may copy, so that an undo can bring it back.
	IgnoredMB int
	// Retain says how long what runs leave is kept.
	Retain Retain
	// PrepareScripts lets packages run programs when pawl prepare installs them.
	PrepareScripts bool
	// AutoContinue are the stages that an interactive flow leaves without waiting for a word.
	AutoContinue []workflow.Stage
	// Agent is the agent that plans and works, "" for the embedded one. Planner and Worker name others for these, each
	// with a model of its own behind a colon. Reviewer names who reviews, "" for the agent that works and none for
	// nobody.
	Agent, Planner, Worker, Reviewer string
	// Notify is how a person who may have looked away is told that somebody is needed: bell, desktop or off.
	Notify  string
	Model   Model
	Budgets map[string]kernel.Limit
	// Notices are the channels by which the user is told what waits for them, by name. Quiet are topics of which nobody
	// is told, and Looking is how long nobody is told of what waits while a person looks.
	Notices map[string]Notice
	Quiet   []string
	Looking time.Duration
	// Agents is what is set for single installed agents, by name.
	Agents map[string]Agent
	// MCP are the MCP servers whose tools models are offered, by name.
	MCP []Server
	// Isolation says what holds commands: "" for the strongest walls that this machine gives, bwrap for bubblewrap
	// alone, or outer where a person has said that the machine itself, a container or a VM, is the wall.
	Isolation string
	// Readable are further files and folders that commands may read: absolute, or relative to the workspace.
	Readable []string
	// Memory and Disk in MiB, and Processes and Files in number, are what one command may use; zero for the defaults.
	Memory, Processes, Disk, Files int
	// GitHub says where issues are imported from, and Forge where pull requests are made. LandAs is how results land:
	// as a commit on the branch, or as a pull request.
	GitHub GitHub
	Forge  Forge
	LandAs string
	// File is the user's own configuration file, "" where the environment names no home.
	File string
	// Ignored are the lines of the project's file that are not in force, because a project may not set that: each is an
	// error that names its place.
	Ignored []error
	sources map[string]string // where a setting comes from, when it is not the default
}

// Retain says how long what runs leave beside their results is kept: for Days, of the newest Runs at most where that is
// not 0, and LogsMB MiB of logs. HistoryDays and HistoryMB (of records) bound the history of what ended before these
// days, where they are not 0. Auto has it retired before work begins.
type Retain struct {
	Days, Runs, LogsMB     int
	HistoryDays, HistoryMB int
	Auto                   bool
}

// Logs is how many bytes of logs are kept.
func (r Retain) Logs() int64 { return int64(r.LogsMB) << 20 }

// GitHub is how a repository's issues are reached: the address of the API, "" for the usual one, the variable that
// holds the token, and a PEM file of certificates to trust, if one is needed.
type GitHub struct{ BaseURL, TokenEnv, KeyRing, CAFile string }

// Forge is where pull requests are made, as far as the address of the remote does not say so: the kind of forge, and
// the repository there.
type Forge struct{ Kind, Repository, BaseURL, TokenEnv, KeyRing, CAFile string }

// AsPullRequest is the value of land.as that makes pull requests, and AsCommit the other one.
const (
	AsCommit      = "commit"
	AsPullRequest = "pull-request"
)

// Default returns the defaults. Those that are the kernel's are taken from the kernel, so that there is one place.
func Default() Config {
	k := kernel.Defaults()
	return Config{
		RunMode: pawl.Assisted, Profile: k.Profile, MaxFixes: k.MaxFixes, MaxPlanSteps: k.Plan.MaxSteps,
		MaxCalls: k.MaxCalls,
		Retry:    k.Retry, Gates: k.Gates, CallTimeout: k.Call, CheckTimeout: k.PerCheck,
		ProofTimeout: k.ProofTime, TaskTimeout: k.TaskTime,
		CancelGrace: k.CancelGrace, LeaseTime: k.LeaseTime, ReadDelays: k.ReadDelays,
		KBMode: knowledge.OnDemandAutoCoding, Notify: string(tui.NoticeBell), Looking: 20 * time.Second,
		GitHub: GitHub{TokenEnv: "GITHUB_TOKEN"}, IgnoredMB: 256, LandAs: AsCommit,
		Retain: Retain{Days: 7, LogsMB: 4096, Auto: true},
	}
}

// Kernel returns base with the settings put in. Tools and modes are the caller's and stay as they are.
func (c Config) Kernel(base kernel.Config) (kernel.Config, error) {
	if err := c.Profile.Validate(); err != nil {
		return kernel.Config{}, err
	}
	base.Strict, base.MaxFixes, base.Retry, base.Profile = c.Strict, c.MaxFixes, c.Retry, c.Profile
	base.Plan.MaxSteps, base.MaxCalls, base.AuditWarn, base.Gates = c.MaxPlanSteps, c.MaxCalls, c.AuditWarn, c.Gates
	base.Call, base.PerCheck, base.TaskTime = c.CallTimeout, c.CheckTimeout, c.TaskTimeout
	base.ProofTime, base.Twice = c.ProofTimeout, c.Twice
	base.Budgets, base.PullRequests = c.Budgets, c.LandAs == AsPullRequest
	base.KnowledgeMode, base.Language, base.AutoContinue = c.KBMode, c.Output, c.AutoContinue
	base.CancelGrace, base.LeaseTime, base.ReadDelays = c.CancelGrace, c.LeaseTime, c.ReadDelays
	if base.Plan.Tools == nil {
		base.Plan.Tools = slices.Sorted(maps.Keys(base.Tools))
	}
	return base, nil
}

// Setting is one entry of the configuration: its name in files, and how it is read and written as text. A list is
// written as several values. Project says whether the file in the repository may change it from one value to another: a
// repository that somebody else wrote must not be able to loosen what the user chose. For the same reason the project's
// values of a list that restricts are added to the user's (adds).
type Setting struct {
	Name string
	List bool
	adds bool
	// values are all that it takes, where they can be counted; "" beside them stands for none.
	values  []string
	get     func(*Config) []string
	set     func(*Config, []string) error
	project func(old, values []string) bool
}

// env is the name of the environment variable that sets it, "" where none does: who may approve, and what commands may
// read, is not for whoever calls to say. Machines without a person set the other two of Personal by their variables.
func (s Setting) env() string {
	if s.Personal() && s.Name != Isolation && s.Name != noNetwork {
		return ""
	}
	return "PAWL_" + strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_"))
}

// Personal reports whether only a person changes it: who approves, who signs, and what commands can read and reach.
func (s Setting) Personal() bool {
	return slices.Contains([]string{Approvers, ApproveKey, AuditKey, Isolation, readable, allowNetwork, noNetwork},
		s.Name)
}

// Text puts a message of the catalogue into the words of one language.
type Text func(key string, args ...any) string

// meaning says in a line what the setting does. Those of one limit, of one server or of one agent share their words.
func (s Setting) meaning(text Text) string {
	parts := strings.Split(s.Name, ".")
	switch {
	case len(parts) == 3 && parts[0] == "budget":
		return text("setting.budget_"+parts[1], text("setting.budget."+parts[2]))
	case len(parts) > 3 && parts[0] == "mcp":
		return text("setting.mcp." + parts[3])
	case len(parts) == 3 && parts[0] == "agents":
		return text("setting.agents." + parts[2])
	case len(parts) == 3 && parts[0] == "notices":
		return text("setting.notices." + parts[2])
	}
	return text("setting." + s.Name)
}

func always(_, _ []string) bool { return true }

func never(_, _ []string) bool { return false }

// tighter lets the project move only to the right in a list of values, from the loosest to the strictest, and never to
// the first.
func tighter(ranks ...string) func(old, values []string) bool {
	return func(old, v []string) bool {
		at := slices.Index(ranks, v[0])
		return at > 0 && at >= slices.Index(ranks, old[0])
	}
}

// all lists every setting in the order in which they are shown.
func all() []Setting {
	return slices.Concat(behaviourSettings(), quietSettings(), documentSettings(), trackerSettings(), agentSettings(),
		policySettings(), limitSettings(), budgetSettings())
}

// Approvers is the setting of the programs that may approve, ApproveKey that of the key by which a person does, and
// AuditKey that of the one that signs checkpoints. Isolation is that of who holds commands, Bubblewrap its
// value for that alone, and Outer the one for the machine around pawl.
const (
	Approvers  = "policy.approvers"
	ApproveKey = "approve.key"
	AuditKey   = "audit.key"
	Isolation  = "isolation"
	Bubblewrap = "bwrap"
	Outer      = "outer"

	readable     = "readable"
	allowNetwork = "policy.allow_network"
	noNetwork    = "policy.no_network"
)

func behaviourSettings() []Setting {
	return []Setting{
		language("lang", func(c *Config) *string { return &c.Lang }),
		choice("run_mode", tighter(string(pawl.Autonomous), string(pawl.Assisted), string(pawl.Interactive)),
			func(c *Config) *pawl.RunMode { return &c.RunMode }, pawl.Interactive, pawl.Assisted, pawl.Autonomous),
		choice("notify", never, func(c *Config) *string { return &c.Notify }, tui.Notices()...),
		truth("strict", tighter("false", "true"), func(c *Config) *bool { return &c.Strict }),
		word(AuditKey, func(c *Config) *string { return &c.AuditKey }),
		word(ApproveKey, func(c *Config) *string { return &c.ApproveKey }),
		truth("record", never, func(c *Config) *bool { return &c.Record }),
		{Name: "dependencies", List: true, project: never,
			get: func(c *Config) []string { return c.Dependencies },
			set: func(c *Config, v []string) error {
				for _, p := range v {
					if !filepath.IsLocal(filepath.FromSlash(p)) || p == "." {
						return badValue(p, "node_modules, tools/venv, …")
					}
				}
				c.Dependencies = v
				return nil
			}},
		number("undo.ignored_mb", 0, 1_000_000, never, func(c *Config) *int { return &c.IgnoredMB }),
		number("retain.days", 0, 36500, never, func(c *Config) *int { return &c.Retain.Days }),
		number("retain.runs", 0, 1_000_000, never, func(c *Config) *int { return &c.Retain.Runs }),
		number("retain.history_days", 0, 36500, never, func(c *Config) *int { return &c.Retain.HistoryDays }),
		number("retain.history_mb", 0, 1_000_000, never, func(c *Config) *int { return &c.Retain.HistoryMB }),
		number("retain.logs_mb", 1, 1_000_000, never, func(c *Config) *int { return &c.Retain.LogsMB }),
		truth("retain.auto", never, func(c *Config) *bool { return &c.Retain.Auto }),
		truth("prepare_scripts", never, func(c *Config) *bool { return &c.PrepareScripts }),
		choice(Isolation, never, func(c *Config) *string { return &c.Isolation }, "", Bubblewrap, Outer),
		{Name: readable, List: true, project: never,
			get: func(c *Config) []string { return c.Readable },
			set: func(c *Config, v []string) error {
				for _, p := range v {
					if p == "" || filepath.Clean(p) == "/" {
						return badValue(p, "../lib, /srv/data, …")
					}
				}
				c.Readable = v
				return nil
			}},
		{Name: "gates.run", List: true, adds: true, project: always,
			get: func(c *Config) []string { return c.Gates },
			set: func(c *Config, v []string) error { c.Gates = v; return nil }},
		word("gates.smoke", func(c *Config) *string { return &c.SmokeCommand }),
		{Name: "gates.audit", project: tighter("warn", "enforce"), values: []string{"enforce", "warn"},
			get: func(c *Config) []string {
				return []string{map[bool]string{false: "enforce", true: "warn"}[c.AuditWarn]}
			},
			set: func(c *Config, v []string) error {
				if v[0] != "enforce" && v[0] != "warn" {
					return badValue(v[0], "enforce, warn")
				}
				c.AuditWarn = v[0] == "warn"
				return nil
			}},
	}
}

// trackerSettings are those of where issues are kept elsewhere. A project may set none: it could have the token sent to
// a server of its own.
func trackerSettings() []Setting {
	return []Setting{
		word("github.base_url", func(c *Config) *string { return &c.GitHub.BaseURL }),
		word("github.token_env", func(c *Config) *string { return &c.GitHub.TokenEnv }),
		word("github.token_keyring", func(c *Config) *string { return &c.GitHub.KeyRing }),
		word("github.ca_file", func(c *Config) *string { return &c.GitHub.CAFile }),
		choice("land.as", never, func(c *Config) *string { return &c.LandAs }, AsCommit, AsPullRequest),
		choice("forge.kind", never, func(c *Config) *string { return &c.Forge.Kind }, "", "github", "gitlab", "gitea"),
		word("forge.repository", func(c *Config) *string { return &c.Forge.Repository }),
		word("forge.base_url", func(c *Config) *string { return &c.Forge.BaseURL }),
		word("forge.token_env", func(c *Config) *string { return &c.Forge.TokenEnv }),
		word("forge.token_keyring", func(c *Config) *string { return &c.Forge.KeyRing }),
		word("forge.ca_file", func(c *Config) *string { return &c.Forge.CAFile }),
	}
}

// documentSettings are those of the knowledge base and of commit messages.
func documentSettings() []Setting {
	return []Setting{
		{Name: "kb.create_mode", project: always, values: []string{"0", "1", "2", "3"},
			get: func(c *Config) []string { return []string{strconv.Itoa(int(c.KBMode))} },
			set: func(c *Config, v []string) error {
				m, err := knowledge.ParseMode(v[0])
				if err != nil {
					return badValue(v[0], "0, 1, 2, 3")
				}
				c.KBMode = m
				return nil
			}},
		language("output_language", func(c *Config) *string { return &c.Output }),
		{Name: "interactive.auto_continue", List: true, project: never, values: []string{string(workflow.Analyze)},
			get: func(c *Config) []string {
				out := []string{}
				for _, s := range c.AutoContinue {
					out = append(out, string(s))
				}
				return out
			},
			set: func(c *Config, v []string) error {
				c.AutoContinue = nil
				for _, s := range v {
					if s != string(workflow.Analyze) {
						return badValue(s, string(workflow.Analyze))
					}
					c.AutoContinue = append(c.AutoContinue, workflow.Stage(s))
				}
				return nil
			}},
		truth("bilingual_commit", always, func(c *Config) *bool { return &c.Bilingual }),
	}
}

func policySettings() []Setting {
	words := func(name string, project func(_, _ []string) bool, at func(*policy.Profile) *[]string) Setting {
		return Setting{Name: name, List: true, adds: true, project: project,
			get: func(c *Config) []string { return *at(&c.Profile) },
			set: func(c *Config, v []string) error { *at(&c.Profile) = v; return nil }}
	}
	return []Setting{
		{Name: "profile", project: tighter(policy.ProfileStandard, policy.ProfileStrict, policy.ProfileReadOnly),
			values: []string{policy.ProfileStrict, policy.ProfileStandard, policy.ProfileReadOnly},
			get:    func(c *Config) []string { return []string{c.Profile.Name} },
			set: func(c *Config, v []string) error {
				p, err := policy.Named(v[0])
				if err != nil {
					return err
				}
				old := c.Profile
				p.AllowNetwork, p.NoNetwork, p.MaxFiles, p.Sensitive = old.AllowNetwork, old.NoNetwork, old.MaxFiles,
					old.Sensitive
				p.Approvers = old.Approvers
				p.AllowedTools, p.DisallowedTools, p.MCPTools = old.AllowedTools, old.DisallowedTools, old.MCPTools
				p.AllowedCommands, p.DeniedCommands = old.AllowedCommands, old.DeniedCommands
				p.AllowedSecrets = old.AllowedSecrets
				c.Profile = p
				return nil
			}},
		truth(allowNetwork, tighter("true", "false"),
			func(c *Config) *bool { return &c.Profile.AllowNetwork }),
		truth(noNetwork, tighter("false", "true"), func(c *Config) *bool { return &c.Profile.NoNetwork }),
		number("policy.max_files", 0, 10_000, never, func(c *Config) *int { return &c.Profile.MaxFiles }),
		words("policy.allowed_tools", never, func(p *policy.Profile) *[]string { return &p.AllowedTools }),
		words("policy.disallowed_tools", always, func(p *policy.Profile) *[]string { return &p.DisallowedTools }),
		words("policy.mcp_tools", never, func(p *policy.Profile) *[]string { return &p.MCPTools }),
		words(Approvers, never, func(p *policy.Profile) *[]string { return &p.Approvers }),
		words("policy.allowed_commands", never, func(p *policy.Profile) *[]string { return &p.AllowedCommands }),
		words("policy.denied_commands", always, func(p *policy.Profile) *[]string { return &p.DeniedCommands }),
		words("policy.sensitive", always, func(p *policy.Profile) *[]string { return &p.Sensitive }),
		words("policy.allowed_secrets", never, func(p *policy.Profile) *[]string { return &p.AllowedSecrets }),
	}
}

func limitSettings() []Setting {
	return []Setting{
		number("max_fixes", 1, 20, always, func(c *Config) *int { return &c.MaxFixes }),
		number("max_plan_steps", 1, 30, always, func(c *Config) *int { return &c.MaxPlanSteps }),
		number("max_calls", 1, 100_000, always, func(c *Config) *int { return &c.MaxCalls }),
		number("limits.memory", 0, 1<<24, never, func(c *Config) *int { return &c.Memory }),
		number("limits.processes", 0, 1<<22, never, func(c *Config) *int { return &c.Processes }),
		number("limits.disk", 0, 1<<30, never, func(c *Config) *int { return &c.Disk }),
		number("limits.files", 0, 1<<30, never, func(c *Config) *int { return &c.Files }),
		truth("verify.twice", tighter("false", "true"), func(c *Config) *bool { return &c.Twice }),
		number("retry.max", 0, 20, always, func(c *Config) *int { return &c.Retry.Max }),
		choice("retry.kind", always, func(c *Config) *string { return &c.Retry.Kind }, "none", "fixed", "linear",
			"exponential"),
		span("retry.base", func(c *Config) *time.Duration { return &c.Retry.Base }),
		span("retry.cap", func(c *Config) *time.Duration { return &c.Retry.Cap }),
		span("timeouts.call", func(c *Config) *time.Duration { return &c.CallTimeout }),
		span("timeouts.check", func(c *Config) *time.Duration { return &c.CheckTimeout }),
		span("timeouts.proof", func(c *Config) *time.Duration { return &c.ProofTimeout }),
		span("timeouts.task", func(c *Config) *time.Duration { return &c.TaskTimeout }),
		span("timeouts.cancel", func(c *Config) *time.Duration { return &c.CancelGrace }),
		span("timeouts.lease", func(c *Config) *time.Duration { return &c.LeaseTime }),
		{Name: "read_delays", List: true, project: always,
			get: func(c *Config) []string {
				out := make([]string, len(c.ReadDelays))
				for i, d := range c.ReadDelays {
					out[i] = d.String()
				}
				return out
			},
			set: func(c *Config, v []string) error {
				delays := make([]time.Duration, len(v))
				for i := range v {
					if err := parseSpan(v[i], &delays[i]); err != nil {
						return err
					}
				}
				c.ReadDelays = delays
				return nil
			}},
	}
}

// choice is a setting that takes one of some values. Where "" is one of them, it is not named among those that there
// are.
func choice[T ~string](name string, project func(_, _ []string) bool, at func(*Config) *T, values ...T) Setting {
	var named []string
	for _, v := range values {
		if v != "" {
			named = append(named, string(v))
		}
	}
	return Setting{Name: name, project: project, values: named,
		get: func(c *Config) []string { return []string{string(*at(c))} },
		set: func(c *Config, v []string) error {
			if !slices.Contains(values, T(v[0])) {
				return badValue(v[0], strings.Join(named, ", "))
			}
			*at(c) = T(v[0])
			return nil
		}}
}

// word is a setting of the user's that takes any text, without the blanks around it.
func word(name string, at func(*Config) *string) Setting {
	return Setting{Name: name, project: never,
		get: func(c *Config) []string { return []string{*at(c)} },
		set: func(c *Config, v []string) error { *at(c) = strings.TrimSpace(v[0]); return nil }}
}

// language is a setting of a language, which may be given as locales name it; "" is none.
func language(name string, at func(*Config) *string) Setting {
	values := []string{string(message.English), string(message.Chinese)}
	return Setting{Name: name, project: always, values: values,
		get: func(c *Config) []string { return []string{*at(c)} },
		set: func(c *Config, v []string) error {
			lower := strings.ToLower(v[0])
			if lower != "" && !strings.HasPrefix(lower, "en") && !strings.HasPrefix(lower, "zh") {
				return badValue(v[0], strings.Join(values, ", "))
			}
			*at(c) = ""
			if lower != "" {
				*at(c) = string(message.ParseLang(lower))
			}
			return nil
		}}
}

func truth(name string, project func(_, _ []string) bool, at func(*Config) *bool) Setting {
	return Setting{Name: name, project: project, values: []string{"true", "false"},
		get: func(c *Config) []string { return []string{strconv.FormatBool(*at(c))} },
		set: func(c *Config, v []string) error {
			b, err := strconv.ParseBool(v[0])
			if err != nil {
				return badValue(v[0], "true, false")
			}
			*at(c) = b
			return nil
		}}
}

func number(name string, least, most int, project func(_, _ []string) bool, at func(*Config) *int) Setting {
	return Setting{Name: name, project: project,
		get: func(c *Config) []string { return []string{strconv.Itoa(*at(c))} },
		set: func(c *Config, v []string) error {
			n, err := strconv.Atoi(v[0])
			if err != nil || n < least || n > most {
				return badValue(v[0], strconv.Itoa(least)+" - "+strconv.Itoa(most))
			}
			*at(c) = n
			return nil
		}}
}

func span(name string, at func(*Config) *time.Duration) Setting {
	return Setting{Name: name, project: always,
		get: func(c *Config) []string { return []string{at(c).String()} },
		set: func(c *Config, v []string) error { return parseSpan(v[0], at(c)) }}
}

func parseSpan(text string, into *time.Duration) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > 7*24*time.Hour {
		return badValue(text, "200ms, 30s, 5m, 1h")
	}
	*into = d
	return nil
}

func badValue(value, allowed string) error {
	return pawl.Fail(pawl.CodeInvalid, "cli.config_value", display.Line(value), allowed)
}

// Cast are the agent that works and repairs, the agent that judges and plans where that is another one, and the agent
// that reviews.
func (c Config) Cast() (works, plans, reviews string) {
	works, _ = c.Role(c.Worker)
	if reviews = works; c.Reviewer != "" {
		reviews, _ = c.Role(c.Reviewer)
	}
	if plans, _ = c.Role(c.Planner); plans == works {
		return works, "", reviews
	}
	return works, cmp.Or(plans, embedded), reviews
}

// Nobody is the value of agents.review with which no work is reviewed.
const Nobody = "none"

// embedded is the name of the embedded agent, for which "" stands where no other one is meant.
const embedded = "script"

// Role is the agent of a setting such as agents.plan, and the model that it names for it.
func (c Config) Role(of string) (agent, model string) {
	if agent, model, _ = strings.Cut(of, ":"); agent == "" {
		agent = c.Agent
	}
	return agent, model
}

// Switch is Override of a flag that is given or not.
func Switch(name string, on bool) func(*Config) error {
	if !on {
		return Override(name, "")
	}
	return Override(name, "true")
}

// Override puts a flag on top of the configuration. An agent that is named so plans and works, and reviews unless
// another one is named for that.
func Override(name, value string) func(*Config) error {
	return func(c *Config) error {
		if value == "" {
			return nil
		}
		if name == "agent" {
			c.Planner, c.Worker = "", ""
		}
		s, _ := findSetting(name)
		if err := s.set(c, []string{value}); err != nil {
			return pawl.Fail(pawl.CodeUsage, "cli.flag_setting", "--"+strings.TrimPrefix(name, "run_")).Because(err)
		}
		return nil
	}
}

// Agent returns the agent that a setting is about or that a value of it names, "" for none.
func (s Setting) Agent(value string) string {
	name, _, _ := strings.Cut(strings.TrimSpace(value), ":")
	switch parts := strings.Split(s.Name, "."); {
	case parts[0] == "agents" && len(parts) == 3:
		return parts[1]
	case s.Name == "agents.review" && name == Nobody, s.Name != "agent" && parts[0] != "agents":
		return ""
	}
	return name
}

// OfServer is a setting of one MCP server, such as its digest.
func OfServer(server, what string) (Setting, error) { return Find(serverPrefix + server + "." + what) }

// OfAgent is a setting of one installed agent, such as its login.
func OfAgent(agent, what string) (Setting, error) { return Find(installedPrefix + agent + "." + what) }

// Find returns the setting with a name. An unknown one is CodeInvalid, which names the nearest.
func Find(name string) (Setting, error) {
	if s, ok := findSetting(name); ok {
		return s, nil
	}
	if near := pawl.Suggest(name, settingNames()); near != "" {
		return Setting{}, pawl.Fail(pawl.CodeInvalid, "cli.config_unknown_near", display.Line(name), near)
	}
	return Setting{}, pawl.Fail(pawl.CodeInvalid, "cli.config_unknown", display.Line(name))
}

// findSetting returns the setting with a name.
func findSetting(name string) (Setting, bool) {
	if s, ok := serverSetting(name); ok {
		return s, true
	}
	if s, ok := installedSetting(name); ok {
		return s, true
	}
	if s, ok := noticeSetting(name); ok {
		return s, true
	}
	for _, s := range all() {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// Model says which model answers, and where. The key itself is never a setting: a setting names the variable or the
// file that holds it.
type Model struct {
	// Kind is the wire form: openai (and whatever is compatible with it), anthropic or gemini.
	Kind string
	// API is the form that OpenAI's models are asked in: chat, which "" stands for, or responses.
	API     string
	BaseURL string
	KeyEnv  string
	KeyFile string
	// KeyRing is an entry of the system's keyring, SERVICE/ACCOUNT.
	KeyRing string
	CAFile  string
	// Name is the model; Intent, Planning and Implementation name others for single purposes, "" for Name.
	Name, Intent, Planning, Implementation string
	// Fallbacks are models that are tried in order where one cannot answer.
	Fallbacks []string
	// Window is the size of the model's context in tokens, 0 for what is known of it.
	Window int
	// Prices is a file that adds to or replaces the built-in prices.
	Prices string
}

// agentSettings are the settings about agents, models and what they may cost. A project sets none of them: a repository
// that somebody else wrote must not choose who is asked, or spend money.
func agentSettings() []Setting {
	return []Setting{
		word("agent", func(c *Config) *string { return &c.Agent }),
		word("agents.plan", func(c *Config) *string { return &c.Planner }),
		word("agents.work", func(c *Config) *string { return &c.Worker }),
		word("agents.review", func(c *Config) *string { return &c.Reviewer }),
		choice("model.kind", never, func(c *Config) *string { return &c.Model.Kind }, "", "openai", "anthropic",
			"gemini"),
		choice("model.api", never, func(c *Config) *string { return &c.Model.API }, "", "chat", "responses"),
		word("model.base_url", func(c *Config) *string { return &c.Model.BaseURL }),
		word("model.key_env", func(c *Config) *string { return &c.Model.KeyEnv }),
		word("model.key_file", func(c *Config) *string { return &c.Model.KeyFile }),
		word("model.key_keyring", func(c *Config) *string { return &c.Model.KeyRing }),
		word("model.ca_file", func(c *Config) *string { return &c.Model.CAFile }),
		word("model.name", func(c *Config) *string { return &c.Model.Name }),
		word("model.intent", func(c *Config) *string { return &c.Model.Intent }),
		word("model.planning", func(c *Config) *string { return &c.Model.Planning }),
		word("model.implementation", func(c *Config) *string { return &c.Model.Implementation }),
		{Name: "model.fallbacks", List: true, project: never,
			get: func(c *Config) []string { return c.Model.Fallbacks },
			set: func(c *Config, v []string) error { c.Model.Fallbacks = v; return nil }},
		number("model.window", 0, 100_000_000, never, func(c *Config) *int { return &c.Model.Window }),
		word("model.prices", func(c *Config) *string { return &c.Model.Prices }),
	}
}

// budgetSettings are the limits in each scope; 0 is no limit. A project may lower them.
func budgetSettings() []Setting {
	var out []Setting
	for _, scope := range budget.Scopes() {
		out = append(out,
			amount("budget."+scope+".usd", 1e6, scope, func(l *kernel.Limit) *int64 { return &l.MicroUSD }),
			amount("budget."+scope+".tokens", 1, scope, func(l *kernel.Limit) *int64 { return &l.Tokens }),
			amount("budget."+scope+".requests", 1, scope, func(l *kernel.Limit) *int64 { return &l.Requests }),
			amount("budget."+scope+".turns", 1, scope, func(l *kernel.Limit) *int64 { return &l.Turns }),
			amount("budget."+scope+".calls", 1, scope, func(l *kernel.Limit) *int64 { return &l.Calls }),
			amount("budget."+scope+".processes", 1, scope, func(l *kernel.Limit) *int64 { return &l.Processes }),
			amount("budget."+scope+".minutes", 60e3, scope, func(l *kernel.Limit) *int64 { return &l.WallMS }),
		)
	}
	return out
}

// amount is a setting of one limit, counted in units of 1/unit.
func amount(name string, unit float64, scope string, at func(*kernel.Limit) *int64) Setting {
	return Setting{Name: name,
		project: func(old, v []string) bool {
			was, errOld := strconv.ParseFloat(old[0], 64)
			is, err := strconv.ParseFloat(v[0], 64)
			return err == nil && errOld == nil && is > 0 && (was == 0 || is <= was)
		},
		get: func(c *Config) []string {
			l := c.Budgets[scope]
			return []string{strconv.FormatFloat(float64(*at(&l))/unit, 'f', -1, 64)}
		},
		set: func(c *Config, v []string) error {
			n, err := strconv.ParseFloat(v[0], 64)
			if err != nil || math.IsNaN(n) || n < 0 || n*unit > 1e15 {
				return badValue(v[0], "0, 0.01, 5, 100000")
			}
			budgets := map[string]kernel.Limit{}
			for k, l := range c.Budgets {
				budgets[k] = l
			}
			l := budgets[scope]
			*at(&l) = int64(math.Round(n * unit))
			budgets[scope] = l
			c.Budgets = budgets
			return nil
		}}
}

// server returns the server with a name, for reading.
func (c *Config) server(name string) Server {
	i := slices.IndexFunc(c.MCP, func(s Server) bool { return s.Name == name })
	if i < 0 {
		return Server{Name: name}
	}
	return c.MCP[i]
}

// keep puts a server into the list. The list is made anew, because settings are copied by value.
func (c *Config) keep(s Server) {
	list := slices.DeleteFunc(slices.Clone(c.MCP), func(o Server) bool { return o.Name == s.Name })
	list = append(list, s)
	slices.SortFunc(list, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	c.MCP = list
}

// Kept is the file that holds what a user trusts under a digest, beside the user's own settings, or "".
func (c Config) Kept(digest string) string {
	_, hex, ok := strings.Cut(digest, ":")
	if c.File == "" || !ok || !IsDigest(digest) {
		return ""
	}
	return filepath.Join(filepath.Dir(c.File), "mcp", hex+".json")
}
