package cli

import (
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/machine/workflow"
	"pawl/text/knowledge"
	"pawl/text/message"
	"pawl/text/policy"
)

// Config are the user's settings. DefaultConfig holds every default; files, the environment and flags change single ones.
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
	// Record keeps what runs decide and what their models say, for `pawl replay`.
	Record       bool
	CallTimeout  time.Duration
	CheckTimeout time.Duration
	TaskTimeout  time.Duration
	CancelGrace  time.Duration
	LeaseTime    time.Duration
	ReadDelays   []time.Duration
	// KBMode is KB_CREATE_MODE: what becomes of the knowledge base. Output is the language of documents and of commit messages,
	// "" for that of the texts on the screen; Bilingual adds an English block to messages in another.
	KBMode    knowledge.Mode
	Output    string
	Bilingual bool
	// PrepareScripts lets packages run programs when pawl prepare installs them.
	PrepareScripts bool
	// AutoContinue are the stages that an interactive flow leaves without waiting for a word.
	AutoContinue []workflow.Stage
	// Agent is the agent that plans and works, "" for the embedded one.
	Agent string
	// Notify is how a person who may have looked away is told that somebody is needed: bell, desktop or off.
	Notify  string
	Model   Model
	Budgets map[string]kernel.Limit
	// Agents is what is set for single installed agents, by name.
	Agents map[string]AgentSettings
	// MCP are the MCP servers whose tools models are offered, by name.
	MCP []MCPServer
	// Isolation says what holds commands: "" for the strongest walls that this machine gives, or outer where a person has said
	// that the machine itself, a container or a VM, is the wall.
	Isolation string
	// GitHub says where issues are imported from.
	GitHub         GitHub
	sources        map[string]string // where a setting comes from, when it is not the default
	userConfigFile string
}

// GitHub is how a repository's issues are reached: the address of the API, "" for the usual one, the variable that holds the
// token, and a PEM file of certificates to trust, if one is needed.
type GitHub struct{ BaseURL, TokenEnv, CAFile string }

// DefaultConfig returns the defaults. Those that are the kernel's are taken from the kernel, so that there is one place.
func DefaultConfig() Config {
	k := kernel.Defaults()
	return Config{
		RunMode: pawl.Assisted, Profile: k.Profile, MaxFixes: k.MaxFixes, MaxPlanSteps: k.Plan.MaxSteps, MaxCalls: k.MaxCalls,
		Retry: k.Retry, Gates: k.Gates, CallTimeout: k.Call, CheckTimeout: k.PerCheck, TaskTimeout: k.TaskTime,
		CancelGrace: k.CancelGrace, LeaseTime: k.LeaseTime, ReadDelays: k.ReadDelays,
		KBMode: knowledge.OnDemandAutoCoding, Notify: string(tui.NoticeBell),
		GitHub: GitHub{TokenEnv: "GITHUB_TOKEN"},
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
	base.Budgets = c.Budgets
	base.KnowledgeMode, base.Language, base.AutoContinue = c.KBMode, c.Output, c.AutoContinue
	base.CancelGrace, base.LeaseTime, base.ReadDelays = c.CancelGrace, c.LeaseTime, c.ReadDelays
	if base.Plan.Tools == nil {
		base.Plan.Tools = slices.Sorted(maps.Keys(base.Tools))
	}
	return base, nil
}

// setting is one entry of the configuration: its name in files, and how it is read and written as text. A list is written
// as several values. Project says whether the file in the repository may change it from one value to another: a repository
// that somebody else wrote must not be able to loosen what the user chose. For the same reason the project's values of a
// list that restricts are added to the user's (adds).
type setting struct {
	name string
	list bool
	adds bool
	// values are all that it takes, where they can be counted; "" beside them stands for none.
	values  []string
	get     func(*Config) []string
	set     func(*Config, []string) error
	project func(old, values []string) bool
}

// env is the name of the environment variable that sets it.
func (s setting) env() string {
	return "PAWL_" + strings.ToUpper(strings.ReplaceAll(s.name, ".", "_"))
}

// meaning says in a line what the setting does. Those of one limit, of one server or of one agent share their words.
func (s setting) meaning(pr *Printer) string {
	parts := strings.Split(s.name, ".")
	switch {
	case len(parts) == 3 && parts[0] == "budget":
		return pr.Text("setting.budget_"+parts[1], pr.Text("setting.budget."+parts[2]))
	case len(parts) > 3 && parts[0] == "mcp":
		return pr.Text("setting.mcp." + parts[3])
	case len(parts) == 3 && parts[0] == "agents":
		return pr.Text("setting.agents." + parts[2])
	}
	return pr.Text("setting." + s.name)
}

func always(_, _ []string) bool { return true }
func never(_, _ []string) bool  { return false }

// tighter lets the project move only to the right in a list of values, from the loosest to the strictest, and never to the
// first.
func tighter(ranks ...string) func(old, values []string) bool {
	return func(old, v []string) bool {
		at := slices.Index(ranks, v[0])
		return at > 0 && at >= slices.Index(ranks, old[0])
	}
}

// settings lists every setting in the order in which they are shown.
func settings() []setting {
	return slices.Concat(behaviourSettings(), documentSettings(), trackerSettings(), agentSettings(), policySettings(), limitSettings(), budgetSettings())
}

// isolation is the setting of who holds commands, and Outer its value for the machine around pawl.
const (
	isolation = "isolation"
	Outer     = "outer"
)

func behaviourSettings() []setting {
	return []setting{
		language("lang", func(c *Config) *string { return &c.Lang }),
		choice("run_mode", tighter(string(pawl.Autonomous), string(pawl.Assisted), string(pawl.Interactive)),
			func(c *Config) *pawl.RunMode { return &c.RunMode }, pawl.Interactive, pawl.Assisted, pawl.Autonomous),
		choice("notify", never, func(c *Config) *string { return &c.Notify }, tui.Notices()...),
		truth("strict", tighter("false", "true"), func(c *Config) *bool { return &c.Strict }),
		truth("record", never, func(c *Config) *bool { return &c.Record }),
		{name: "dependencies", list: true, project: never,
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
		truth("prepare_scripts", never, func(c *Config) *bool { return &c.PrepareScripts }),
		choice(isolation, never, func(c *Config) *string { return &c.Isolation }, "", Outer),
		{name: "gates.run", list: true, adds: true, project: always,
			get: func(c *Config) []string { return c.Gates },
			set: func(c *Config, v []string) error { c.Gates = v; return nil }},
		{name: "gates.smoke", project: never,
			get: func(c *Config) []string { return []string{c.SmokeCommand} },
			set: func(c *Config, v []string) error { c.SmokeCommand = v[0]; return nil }},
		{name: "gates.audit", project: tighter("warn", "enforce"), values: []string{"enforce", "warn"},
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

// trackerSettings are those of where issues are kept elsewhere. A project may set none: it could have the token sent to a server of
// its own.
func trackerSettings() []setting {
	word := func(name string, at func(*Config) *string) setting {
		return setting{name: name, project: never,
			get: func(c *Config) []string { return []string{*at(c)} },
			set: func(c *Config, v []string) error { *at(c) = v[0]; return nil }}
	}
	return []setting{
		word("github.base_url", func(c *Config) *string { return &c.GitHub.BaseURL }),
		word("github.token_env", func(c *Config) *string { return &c.GitHub.TokenEnv }),
		word("github.ca_file", func(c *Config) *string { return &c.GitHub.CAFile }),
	}
}

// documentSettings are those of the knowledge base and of commit messages.
func documentSettings() []setting {
	return []setting{
		{name: "kb.create_mode", project: always, values: []string{"0", "1", "2", "3"},
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
		{name: "interactive.auto_continue", list: true, project: never, values: []string{string(workflow.Analyze)},
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

func policySettings() []setting {
	words := func(name string, project func(_, _ []string) bool, at func(*policy.Profile) *[]string) setting {
		return setting{name: name, list: true, adds: true, project: project,
			get: func(c *Config) []string { return *at(&c.Profile) },
			set: func(c *Config, v []string) error { *at(&c.Profile) = v; return nil }}
	}
	return []setting{
		{name: "profile", project: tighter(policy.ProfileStandard, policy.ProfileStrict, policy.ProfileReadOnly),
			values: []string{policy.ProfileStrict, policy.ProfileStandard, policy.ProfileReadOnly},
			get:    func(c *Config) []string { return []string{c.Profile.Name} },
			set: func(c *Config, v []string) error {
				p, err := policy.Named(v[0])
				if err != nil {
					return err
				}
				old := c.Profile
				p.AllowNetwork, p.NoNetwork, p.MaxFiles, p.Sensitive = old.AllowNetwork, old.NoNetwork, old.MaxFiles, old.Sensitive
				p.AllowedTools, p.DisallowedTools, p.MCPTools = old.AllowedTools, old.DisallowedTools, old.MCPTools
				p.AllowedCommands, p.DeniedCommands = old.AllowedCommands, old.DeniedCommands
				c.Profile = p
				return nil
			}},
		truth("policy.allow_network", tighter("true", "false"), func(c *Config) *bool { return &c.Profile.AllowNetwork }),
		truth("policy.no_network", tighter("false", "true"), func(c *Config) *bool { return &c.Profile.NoNetwork }),
		number("policy.max_files", 0, 10_000, never, func(c *Config) *int { return &c.Profile.MaxFiles }),
		words("policy.allowed_tools", never, func(p *policy.Profile) *[]string { return &p.AllowedTools }),
		words("policy.disallowed_tools", always, func(p *policy.Profile) *[]string { return &p.DisallowedTools }),
		words("policy.mcp_tools", never, func(p *policy.Profile) *[]string { return &p.MCPTools }),
		words("policy.allowed_commands", never, func(p *policy.Profile) *[]string { return &p.AllowedCommands }),
		words("policy.denied_commands", always, func(p *policy.Profile) *[]string { return &p.DeniedCommands }),
		words("policy.sensitive", always, func(p *policy.Profile) *[]string { return &p.Sensitive }),
	}
}

func limitSettings() []setting {
	return []setting{
		number("max_fixes", 1, 20, always, func(c *Config) *int { return &c.MaxFixes }),
		number("max_plan_steps", 1, 30, always, func(c *Config) *int { return &c.MaxPlanSteps }),
		number("max_calls", 1, 100_000, always, func(c *Config) *int { return &c.MaxCalls }),
		number("retry.max", 0, 20, always, func(c *Config) *int { return &c.Retry.Max }),
		choice("retry.kind", always, func(c *Config) *string { return &c.Retry.Kind }, "none", "fixed", "linear", "exponential"),
		span("retry.base", func(c *Config) *time.Duration { return &c.Retry.Base }),
		span("retry.cap", func(c *Config) *time.Duration { return &c.Retry.Cap }),
		span("timeouts.call", func(c *Config) *time.Duration { return &c.CallTimeout }),
		span("timeouts.check", func(c *Config) *time.Duration { return &c.CheckTimeout }),
		span("timeouts.task", func(c *Config) *time.Duration { return &c.TaskTimeout }),
		span("timeouts.cancel", func(c *Config) *time.Duration { return &c.CancelGrace }),
		span("timeouts.lease", func(c *Config) *time.Duration { return &c.LeaseTime }),
		{name: "read_delays", list: true, project: always,
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

// choice is a setting that takes one of some values. Where "" is one of them, it is not named among those that there are.
func choice[T ~string](name string, project func(_, _ []string) bool, at func(*Config) *T, values ...T) setting {
	var named []string
	for _, v := range values {
		if v != "" {
			named = append(named, string(v))
		}
	}
	return setting{name: name, project: project, values: named,
		get: func(c *Config) []string { return []string{string(*at(c))} },
		set: func(c *Config, v []string) error {
			if !slices.Contains(values, T(v[0])) {
				return badValue(v[0], strings.Join(named, ", "))
			}
			*at(c) = T(v[0])
			return nil
		}}
}

// language is a setting of a language, which may be given as locales name it; "" is none.
func language(name string, at func(*Config) *string) setting {
	values := []string{string(message.English), string(message.Chinese)}
	return setting{name: name, project: always, values: values,
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

func truth(name string, project func(_, _ []string) bool, at func(*Config) *bool) setting {
	return setting{name: name, project: project, values: []string{"true", "false"},
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

func number(name string, least, most int, project func(_, _ []string) bool, at func(*Config) *int) setting {
	return setting{name: name, project: project,
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

func span(name string, at func(*Config) *time.Duration) setting {
	return setting{name: name, project: always,
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
	return pawl.Fail(pawl.CodeInvalid, "cli.config_value", policy.Display(value), allowed)
}

// findSetting returns the setting with a name.
func findSetting(name string) (setting, bool) {
	if s, ok := serverSetting(name); ok {
		return s, true
	}
	if s, ok := installedSetting(name); ok {
		return s, true
	}
	for _, s := range settings() {
		if s.name == name {
			return s, true
		}
	}
	return setting{}, false
}

// Model says which model answers, and where. The key itself is never a setting: a setting names the variable or the file
// that holds it.
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
func agentSettings() []setting {
	word := func(name string, at func(*Config) *string) setting {
		return setting{name: name, project: never,
			get: func(c *Config) []string { return []string{*at(c)} },
			set: func(c *Config, v []string) error { *at(c) = strings.TrimSpace(v[0]); return nil }}
	}
	return []setting{
		word("agent", func(c *Config) *string { return &c.Agent }),
		choice("model.kind", never, func(c *Config) *string { return &c.Model.Kind }, "", "openai", "anthropic", "gemini"),
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
		{name: "model.fallbacks", list: true, project: never,
			get: func(c *Config) []string { return c.Model.Fallbacks },
			set: func(c *Config, v []string) error { c.Model.Fallbacks = v; return nil }},
		number("model.window", 0, 100_000_000, never, func(c *Config) *int { return &c.Model.Window }),
		word("model.prices", func(c *Config) *string { return &c.Model.Prices }),
	}
}

// budgetSettings are the limits of work in each scope; 0 is no limit. A project may lower them.
func budgetSettings() []setting {
	var out []setting
	for _, scope := range []string{kernel.ScopeRun, kernel.ScopeIssue, kernel.ScopeDay} {
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
func amount(name string, unit float64, scope string, at func(*kernel.Limit) *int64) setting {
	return setting{name: name,
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

// AgentSettings are what the user set for one installed agent. A project sets none of them: a repository that somebody else wrote
// must not choose whose login is used, or where it goes.
type AgentSettings struct {
	// Login is whose own login the agent may work with, as it is shown, "any" for whatever it is, and "" for none.
	Login string
	// Way is how the agent reaches its model with that login: through pawl's gateway, which "" stands for, or by a tunnel.
	Way string
	// BaseURL replaces the address of the agent's makers.
	BaseURL string
	// Model replaces the model of the user's own settings of the agent.
	Model string
	// Trust are the digests of projects' own settings of the agent that the user trusts.
	Trust []string
}

const installedPrefix = "agents."

// installedSection reports whether a name is one of the levels above the settings of installed agents.
func installedSection(name string) bool {
	rest, ok := strings.CutPrefix(name, installedPrefix)
	return name == "agents" || ok && validServer(rest)
}

// installedSetting returns a setting of one installed agent, such as agents.codex.login.
func installedSetting(name string) (setting, bool) {
	parts := strings.Split(name, ".")
	if len(parts) != 3 || parts[0]+"." != installedPrefix || !validServer(parts[1]) {
		return setting{}, false
	}
	agent := parts[1]
	out := setting{name: name, project: never}
	keep := func(c *Config, change func(*AgentSettings)) {
		all := maps.Clone(c.Agents)
		if all == nil {
			all = map[string]AgentSettings{}
		}
		s := all[agent]
		change(&s)
		all[agent] = s
		c.Agents = all
	}
	word := func(at func(*AgentSettings) *string, fits func(string) bool, allowed string) (setting, bool) {
		out.get = func(c *Config) []string { s := c.Agents[agent]; return []string{*at(&s)} }
		out.set = func(c *Config, v []string) error {
			text := strings.TrimSpace(v[0])
			if text != "" && fits != nil && !fits(text) {
				return badValue(text, allowed)
			}
			keep(c, func(s *AgentSettings) { *at(s) = text })
			return nil
		}
		return out, true
	}
	switch parts[2] {
	case "login":
		return word(func(s *AgentSettings) *string { return &s.Login }, nil, "")
	case "way":
		out.values = []string{"gateway", "tunnel"}
		return word(func(s *AgentSettings) *string { return &s.Way }, func(v string) bool { return slices.Contains(out.values, v) }, "gateway, tunnel")
	case "base_url":
		return word(func(s *AgentSettings) *string { return &s.BaseURL }, safeAddress, "https://…, http://127.0.0.1:PORT/…")
	case "model":
		return word(func(s *AgentSettings) *string { return &s.Model }, nil, "")
	case "trust":
		out.list = true
		out.get = func(c *Config) []string { return c.Agents[agent].Trust }
		out.set = func(c *Config, v []string) error {
			for _, d := range v {
				if !digestWord().MatchString(d) {
					return badValue(d, "sha256:…")
				}
			}
			keep(c, func(s *AgentSettings) { s.Trust = v })
			return nil
		}
		return out, true
	}
	return setting{}, false
}

// safeAddress reports whether a login may be sent to an address: nobody on the way can read it.
func safeAddress(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || u.Scheme == "http" && (host == "127.0.0.1" || host == "::1" || host == "localhost")
}
