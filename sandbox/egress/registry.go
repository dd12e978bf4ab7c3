package egress

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/effect"
)

// registries are the hosts that the tools of an ecosystem fetch from when the user's settings name no others.
var registries = map[string][]string{
	"go":        {"proxy.golang.org", "sum.golang.org"},
	"npm":       {"registry.npmjs.org", "registry.yarnpkg.com"},
	"pypi":      {"pypi.org", "files.pythonhosted.org"},
	"crates":    {"index.crates.io", "static.crates.io", "crates.io"},
	"rubygems":  {"rubygems.org", "index.rubygems.org"},
	"packagist": {"repo.packagist.org", "packagist.org"},
	"maven":     {"repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "plugins-artifacts.gradle.org"},
	"nuget":     {"api.nuget.org"},
	"pub":       {"pub.dev"},
}

// ownRegistry reports whether a host is a public registry that pawl names itself.
func ownRegistry(host string) bool {
	for _, hosts := range registries {
		if slices.Contains(hosts, host) {
			return true
		}
	}
	return false
}

// Settings are the user's own as far as they name registries: variables, and the files in which tools keep theirs.
type Settings struct {
	// Env is the environment of pawl's own process, as os.Environ gives it.
	Env []string
	// Home is the user's home folder, "" for none. Only its settings of go, npm and pip are read.
	Home string
}

// OfUser returns the settings of the user of this process.
func OfUser() Settings {
	home, _ := os.UserHomeDir()
	return Settings{Env: os.Environ(), Home: home}
}

// Sites lists Places as effects name them.
func (s Settings) Sites(grant string) ([]effect.Site, error) {
	rules, err := s.Places(grant)
	out := make([]effect.Site, len(rules))
	for i, r := range rules {
		out[i] = effect.Site(r)
	}
	return out, err
}

// Places lists the places that a grant of a plan stands for: the registries of an ecosystem by its name, where the
// user's settings name their own in place of the public ones, or the one place that it names itself. What is neither is
// pawl.CodeInvalid.
func (s Settings) Places(grant string) ([]Rule, error) {
	hosts, known := registries[grant]
	if !known {
		r, err := ParseRule(grant)
		return []Rule{r}, err
	}
	var out []Rule
	for _, v := range s.own(grant) {
		for _, u := range v.urls {
			if r, ok := registryRule(u); ok && !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	if grant == "go" && len(out) > 0 { // the database of checksums is asked beside any proxy
		hosts = hosts[1:]
		if s.variable("GOSUMDB") == "off" {
			hosts = nil
		}
	} else if len(out) > 0 {
		hosts = nil
	}
	for _, h := range hosts {
		out = append(out, Rule{Host: h, Port: DefaultPort})
	}
	if len(out) == 0 {
		return nil, pawl.Fail(pawl.CodeInvalid, "sandbox.egress_no_registry", grant).In("egress.Places")
	}
	return out, nil
}

// Variables are those by which the tools of an ecosystem learn of the registries that the user's settings name, because
// the files of these settings, which may hold secrets, are hidden from commands.
func (s Settings) Variables(grants []string) map[string]string {
	out := map[string]string{}
	for _, g := range grants {
		if g == "go" {
			out["GOPROXY"], out["GOSUMDB"] = "https://proxy.golang.org", "sum.golang.org"
		}
		for _, v := range s.own(g) {
			out[v.name] = v.text
		}
	}
	return out
}

// setting is one of the user's that names registries.
type setting struct {
	name string // of the variable that says the same
	text string
	urls []string
}

// own lists the user's settings for an ecosystem.
func (s Settings) own(ecosystem string) (out []setting) {
	add := func(name, text, separators string) {
		if text != "" {
			out = append(out, setting{name, text,
				strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) })})
		}
	}
	switch ecosystem {
	case "go":
		file := s.lines(".config/go/env")
		add("GOPROXY", s.value("GOPROXY", file, "GOPROXY"), ",|")
		add("GOSUMDB", s.value("GOSUMDB", file, "GOSUMDB"), " ")
	case "npm":
		add("npm_config_registry", s.value("npm_config_registry", loose(s.lines(".npmrc"), `"`), "registry"), "")
	case "pypi":
		file := loose(slices.Concat(s.lines(".config/pip/pip.conf"), s.lines(".pip/pip.conf")), "")
		index := s.value("PIP_INDEX_URL", file, "index-url")
		add("PIP_INDEX_URL", index, "")
		if index != "" {
			add("PIP_EXTRA_INDEX_URL", s.value("PIP_EXTRA_INDEX_URL", file, "extra-index-url"), " ")
		}
	case "pub":
		add("PUB_HOSTED_URL", s.variable("PUB_HOSTED_URL"), "")
	}
	return out
}

// value is what a variable says, else what the first line of a file does that sets a name to something.
func (s Settings) value(variable string, file []string, name string) string {
	if text := s.variable(variable); text != "" {
		return text
	}
	for _, l := range file {
		if text, ok := strings.CutPrefix(l, name+"="); ok && text != "" {
			return text
		}
	}
	return ""
}

// loose are the lines of a file whose tools allow blanks around names and values, and quotes around values, without
// them.
func loose(file []string, quotes string) []string {
	out := make([]string, len(file))
	for i, l := range file {
		name, text, _ := strings.Cut(l, "=")
		out[i] = strings.TrimSpace(name) + "=" + strings.Trim(strings.TrimSpace(text), quotes)
	}
	return out
}

// variable returns a variable, in the given case or in upper case.
func (s Settings) variable(name string) string {
	for _, want := range []string{name, strings.ToUpper(name)} {
		for _, kv := range s.Env {
			if k, v, _ := strings.Cut(kv, "="); k == want {
				return v
			}
		}
	}
	return ""
}

// lines returns the lines of a file of the user's; one that cannot be read has none.
func (s Settings) lines(name string) []string {
	if s.Home == "" {
		return nil
	}
	p := filepath.Join(s.Home, filepath.FromSlash(name))
	if info, err := os.Stat(p); err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return nil
	}
	data, err := os.ReadFile(p)
	if err != nil {
		return nil
	}
	return strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
}

// registryRule is the rule for a URL of the user's settings. What is no URL of a host, such as "direct", is none.
func registryRule(text string) (Rule, bool) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return Rule{}, false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	r, err := ParseRule(net.JoinHostPort(u.Hostname(), port))
	r.Private = err == nil && !r.Local()
	return r, err == nil
}
