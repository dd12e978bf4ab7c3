package project

import (
	"testing"

	"pawl"
	"pawl/face/cli/settings"
	"pawl/kernel/effect"
)

// TestTarget: where a pull request goes is what the settings say, and then the address that the work is for; a branch
// that is pushed elsewhere on the same host is one of a fork.
func TestTarget(t *testing.T) {
	const up, own = "https://github.com/acme/app.git", "git@github.com:ada/app.git"
	for name, c := range map[string]struct {
		set              settings.Forge
		pushed, upstream string
		repository, fork string
		key              string
	}{
		"one place":                  {settings.Forge{}, up, up, "acme/app", "", ""},
		"another spelling":           {settings.Forge{}, "git@github.com:Acme/App.git", up, "acme/app", "", ""},
		"a fork":                     {settings.Forge{}, own, up, "acme/app", "ada/app", ""},
		"a fork, by the settings":    {settings.Forge{Repository: "acme/app"}, own, own, "acme/app", "ada/app", ""},
		"the settings say the same":  {settings.Forge{Repository: "ada/app"}, own, own, "ada/app", "", ""},
		"below a folder of the host": {settings.Forge{Kind: "gitlab", Repository: "g/app"}, "https://x.test/lab/g/app", "https://x.test/lab/g/app", "g/app", "", ""},
		"a folder":                   {settings.Forge{Kind: "github", Repository: "acme/app", BaseURL: "https://x.test"}, "/srv/app", "/srv/app", "acme/app", "", ""},
		"two hosts":                  {settings.Forge{}, "https://gitlab.com/ada/app", up, "", "", "pull.two_hosts"},
		"no forge":                   {settings.Forge{}, "https://x.test/a/b", "https://x.test/a/b", "", "", "pull.unknown_forge"},
		"no repository":              {settings.Forge{}, "https://github.com/a", "https://github.com/a", "", "", "pull.unknown_repository"},
		"no host":                    {settings.Forge{Kind: "gitea", Repository: "a/b"}, "/srv/app", "/srv/app", "", "", "pull.no_host"},
	} {
		got, err := target(settings.Config{Forge: c.set}, effect.Target{Remote: "origin"}, c.pushed, c.upstream)
		e, _ := err.(*pawl.Error)
		if c.key == "" && (err != nil || got.Repository != c.repository || got.Fork != c.fork || got.Remote != "origin") ||
			c.key != "" && (e == nil || e.Key != c.key) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestToken: the keyring comes before the variable, and what is said of the forge before what is said of GitHub.
func TestToken(t *testing.T) {
	for want, c := range map[string]settings.Config{
		"GITLAB_TOKEN": {Forge: settings.Forge{Kind: "gitlab"}, GitHub: settings.GitHub{TokenEnv: "GITHUB_TOKEN"}},
		"HUB":          {Forge: settings.Forge{Kind: "github"}, GitHub: settings.GitHub{TokenEnv: "HUB"}},
		"pawl/hub":     {Forge: settings.Forge{Kind: "github"}, GitHub: settings.GitHub{TokenEnv: "HUB", KeyRing: "pawl/hub"}},
		"OWN": {Forge: settings.Forge{Kind: "github", TokenEnv: "OWN"},
			GitHub: settings.GitHub{TokenEnv: "HUB", KeyRing: "pawl/hub"}},
		"pawl/own": {Forge: settings.Forge{Kind: "gitea", TokenEnv: "OWN", KeyRing: "pawl/own"}},
	} {
		got, err := reach(c, effect.Target{Forge: c.Forge.Kind, Host: "x.test"})
		if err != nil || got.TokenName != want {
			t.Errorf("%s: %+v, %v", want, got, err)
		}
	}
}
