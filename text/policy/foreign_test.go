package policy_test

import (
	"testing"

	"pawl"
	"pawl/text/policy"
)

func TestForeignTools(t *testing.T) {
	with := func(change func(*policy.Profile)) policy.Profile {
		p := policy.Standard()
		change(&p)
		return p
	}
	net := []policy.Permission{policy.NetConnect}
	for name, c := range map[string]struct {
		permissions []policy.Permission
		profile     policy.Profile
		decision    policy.Decision
		code        policy.Code
	}{
		"standard":   {nil, policy.Standard(), policy.Ask, policy.CodeForeignTool},
		"strict":     {nil, policy.Strict(), policy.Ask, policy.CodeForeignTool},
		"no profile": {nil, policy.Profile{}, policy.Ask, policy.CodeForeignTool},
		"read only":  {nil, policy.ReadOnly(), policy.Deny, policy.CodeReadOnly},
		"read only, allowed": {nil, with(func(p *policy.Profile) {
			p.ReadOnly, p.MCPTools = true,
				[]string{"docs__*"}
		}), policy.Deny, policy.CodeReadOnly},
		"allowed": {nil, with(func(p *policy.Profile) { p.MCPTools = []string{"docs__search"} }),
			policy.Allow, policy.CodeAllowed},
		"its server allowed": {net, with(func(p *policy.Profile) { p.MCPTools = []string{"docs__*"} }), policy.Allow,
			policy.CodeAllowed},
		"another allowed": {nil, with(func(p *policy.Profile) {
			p.MCPTools = []string{"docs__searches", "doc__*",
				"docs__sea*"}
		}), policy.Ask, policy.CodeForeignTool},
		"the network allowed": {net, with(func(p *policy.Profile) { p.AllowNetwork = true }), policy.Ask,
			policy.CodeForeignTool},
		"no network": {net, with(func(p *policy.Profile) {
			p.NoNetwork, p.MCPTools = true,
				[]string{"docs__*"}
		}), policy.Deny, policy.CodeNetwork},
		"no network needed": {nil, with(func(p *policy.Profile) {
			p.NoNetwork, p.MCPTools = true,
				[]string{"docs__*"}
		}), policy.Allow, policy.CodeAllowed},
		"switched off": {nil, with(func(p *policy.Profile) {
			p.DisallowedTools,
				p.MCPTools = []string{"docs__search"}, []string{"docs__*"}
		}), policy.Deny, policy.CodeToolDisabled},
		"others only": {nil, with(func(p *policy.Profile) { p.AllowedTools = []string{"read_file"} }),
			policy.Deny, policy.CodeToolDisabled},
	} {
		v := policy.Judge(policy.Request{Tool: "docs__search", Foreign: "docs", Permissions: c.permissions}, c.profile)
		if v.Decision != c.decision || v.Code != c.code || v.Risk == pawl.RiskLow ||
			v.Network != (len(c.permissions) > 0) {
			t.Errorf("%s: %+v", name, v)
		}
		if v.Decision == policy.Ask && (v.Scope != policy.SingleAction || v.Risk != pawl.RiskHigh) {
			t.Errorf("%s: %+v", name, v)
		}
	}
	for _, bad := range []string{"", "*", "search", "*__search", "__x", "docs__ x"} {
		if err := with(func(p *policy.Profile) { p.MCPTools = []string{bad} }).Validate(); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
