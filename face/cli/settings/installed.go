package settings

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Agent are what the user set for one installed agent. A project sets none of them: a repository that somebody else
// wrote must not choose whose login is used, or where it goes.
type Agent struct {
	// Login is whose own login the agent may work with, as it is shown, "any" for whatever it is, and "" for none.
	Login string
	// Key is which key of pawl's the user agreed to have used for the agent, as it is shown.
	Key string
	// Way is how the agent reaches its model with that login: through pawl's gateway, which "" stands for, or by a
	// tunnel.
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
func installedSetting(name string) (Setting, bool) {
	parts := strings.Split(name, ".")
	if len(parts) != 3 || parts[0]+"." != installedPrefix || !validServer(parts[1]) {
		return Setting{}, false
	}
	agent := parts[1]
	out := Setting{Name: name, project: never}
	keep := func(c *Config, change func(*Agent)) {
		all := maps.Clone(c.Agents)
		if all == nil {
			all = map[string]Agent{}
		}
		s := all[agent]
		change(&s)
		all[agent] = s
		c.Agents = all
	}
	word := func(at func(*Agent) *string, fits func(string) bool, allowed string) (Setting, bool) {
		out.get = func(c *Config) []string { s := c.Agents[agent]; return []string{*at(&s)} }
		out.set = func(c *Config, v []string) error {
			text := strings.TrimSpace(v[0])
			if text != "" && fits != nil && !fits(text) {
				return badValue(text, allowed)
			}
			keep(c, func(s *Agent) { *at(s) = text })
			return nil
		}
		return out, true
	}
	switch parts[2] {
	case "login":
		return word(func(s *Agent) *string { return &s.Login }, nil, "")
	case "key":
		return word(func(s *Agent) *string { return &s.Key }, nil, "")
	case "way":
		out.values = []string{"gateway", "tunnel"}
		return word(func(s *Agent) *string { return &s.Way },
			func(v string) bool { return slices.Contains(out.values, v) }, "gateway, tunnel")
	case "base_url":
		return word(func(s *Agent) *string { return &s.BaseURL }, safeAddress, "https://…, http://127.0.0.1:PORT/…")
	case "model":
		return word(func(s *Agent) *string { return &s.Model }, nil, "")
	case "trust":
		out.List = true
		out.get = func(c *Config) []string { return c.Agents[agent].Trust }
		out.set = func(c *Config, v []string) error {
			for _, d := range v {
				if !IsDigest(d) {
					return badValue(d, "sha256:…")
				}
			}
			keep(c, func(s *Agent) { s.Trust = v })
			return nil
		}
		return out, true
	}
	return Setting{}, false
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
