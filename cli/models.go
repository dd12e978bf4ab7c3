package cli

import (
	"math"
	"strconv"
	"strings"

	"pawl/kernel"
)

// Model says which model answers, and where. The key itself is never a setting: a setting names the variable or the file
// that holds it.
type Model struct {
	// Kind is the wire form: openai (and whatever is compatible with it), anthropic or gemini.
	Kind    string
	BaseURL string
	KeyEnv  string
	KeyFile string
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
		{name: "model.kind", project: never,
			get: func(c *Config) []string { return []string{c.Model.Kind} },
			set: func(c *Config, v []string) error {
				switch v[0] {
				case "", "openai", "anthropic", "gemini":
					c.Model.Kind = v[0]
					return nil
				}
				return badValue(v[0], "openai, anthropic, gemini")
			}},
		word("model.base_url", func(c *Config) *string { return &c.Model.BaseURL }),
		word("model.key_env", func(c *Config) *string { return &c.Model.KeyEnv }),
		word("model.key_file", func(c *Config) *string { return &c.Model.KeyFile }),
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

// budgetSettings are the limits of model calls in each scope; 0 is no limit. A project may lower them.
func budgetSettings() []setting {
	var out []setting
	for _, scope := range []string{kernel.ScopeRun, kernel.ScopeIssue, kernel.ScopeDay} {
		out = append(out,
			amount("budget."+scope+".usd", 1e6, scope, func(l *kernel.Limit) *int64 { return &l.MicroUSD }),
			amount("budget."+scope+".tokens", 1, scope, func(l *kernel.Limit) *int64 { return &l.Tokens }),
			amount("budget."+scope+".requests", 1, scope, func(l *kernel.Limit) *int64 { return &l.Requests }),
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
