package egress

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/text/plan"
)

func TestPlaces(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".npmrc":               "# mine\nregistry = https://npm.corp.example:8443/x/\n//npm.corp.example/:_authToken=secret\n",
		".config/pip/pip.conf": "[global]\nindex-url = https://pip.corp.example/simple\nextra-index-url = https://pypi.org/simple\n",
		".config/go/env":       "GOPROXY=https://user:pass@go.corp.example,https://proxy.golang.org|direct\n",
	} {
		p := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		env         string
		home, grant string
		want        string
	}{
		{"", "", "go", "proxy.golang.org:443 sum.golang.org:443"},
		{"", home, "go", "go.corp.example:443* proxy.golang.org:443* sum.golang.org:443"},
		{"GOPROXY=http://localhost:3000,off GOSUMDB=off", home, "go", "localhost:3000"},
		{"GOPROXY=direct", "", "go", "proxy.golang.org:443 sum.golang.org:443"},
		{"", "", "npm", "registry.npmjs.org:443 registry.yarnpkg.com:443"},
		{"", home, "npm", "npm.corp.example:8443*"},
		{"NPM_CONFIG_REGISTRY=https://other.example/", home, "npm", "other.example:443*"},
		{"", home, "pypi", "pip.corp.example:443* pypi.org:443*"},
		{"PIP_INDEX_URL=https://10.0.0.1/simple", "", "pypi", "pypi.org:443 files.pythonhosted.org:443"},
		{"", home, "crates", "index.crates.io:443 static.crates.io:443 crates.io:443"},
		{"", home, "name.example:8080", "name.example:8080"},
		{"", home, "127.0.0.1:11434", "127.0.0.1:11434"},
		{"", home, "10.0.0.1:80", ""},
	} {
		s := Settings{Env: strings.Fields(c.env), Home: c.home}
		rules, err := s.Places(c.grant)
		var got []string
		for _, r := range rules {
			text := r.String()
			if r.Private {
				text += "*"
			}
			got = append(got, text)
		}
		if c.want == "" {
			if pawl.CodeOf(err) != pawl.CodeInvalid {
				t.Errorf("%+v: %v %v", c, got, err)
			}
			continue
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v %v", c, got, err)
		}
	}
	vars := Settings{Home: home}.Variables([]string{"npm", "go", "pypi", "name.example"})
	if vars["npm_config_registry"] != "https://npm.corp.example:8443/x/" ||
		vars["PIP_INDEX_URL"] != "https://pip.corp.example/simple" ||
		!strings.Contains(vars["GOPROXY"], "go.corp.example") || vars["GOSUMDB"] != "sum.golang.org" {
		t.Errorf("%v", vars)
	}
}

// TestEcosystems: every name that a plan may use has its registries, and every place of a plan is one here.
func TestEcosystems(t *testing.T) {
	for _, name := range plan.Ecosystems() {
		if _, ok := registries[name]; !ok {
			t.Errorf("no registries of %s", name)
		}
	}
	for name, hosts := range registries {
		if !slices.Contains(plan.Ecosystems(), name) {
			t.Errorf("a plan cannot name %s", name)
		}
		if _, err := Rules(hosts); err != nil {
			t.Error(err)
		}
	}
}
