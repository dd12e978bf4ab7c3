package verify

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pawl/kernel/effect"
)

// needsOf writes files below a folder of its own, home among them, and returns what is missing for the checks of ws:
// one word for each need, "ecosystem dir: names: command".
func needsOf(t *testing.T, files map[string]string) []string {
	t.Helper()
	top := t.TempDir()
	for name, text := range files {
		p := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	home, ws := filepath.Join(top, "home"), filepath.Join(top, "ws")
	host := Host{Home: home, LookPath: func(program string) (string,
		bool) {
		return filepath.Join(top, "usr", "bin", program), true
	}}
	c := NewContext(host, OpenDir, func(context.Context, effect.Place) (string, string, []string, error) {
		return "",
			"", nil, nil
	})
	r := c.Do(t.Context(), effect.Effect{Kind: effect.KindContext, Place: effect.Place{Workspace: ws, Tree: ws},
		Spec: effect.Encode(effect.ContextSpec{})}, nil)
	found, err := effect.Decode[effect.ContextResult](r.Result)
	if err != nil || !r.OK {
		t.Fatal(err, r.Err())
	}
	var out []string
	for _, n := range found.Needs {
		if n.Count < len(n.Missing) || len(n.Missing) > maxNamed {
			t.Errorf("%+v", n)
		}
		out = append(out, n.Ecosystem+": "+strings.Join(n.Missing, " ")+": "+n.Next())
	}
	return out
}

const goMod = `module example.org/w

go 1.21

require (
	example.org/there v1.0.0
	example.org/Zipped v1.0.0
	example.org/gone v1.2.0
	example.org/tools v0.1.0
	example.org/elsewhere v0.1.0
	example.org/local v0.0.0
	example.org/forked v1.0.0
	example.org/deep v1.0.0 // indirect
)

replace example.org/local => ../local

replace example.org/forked v1.0.0 => example.org/fork v1.1.0
`

func TestNeeds(t *testing.T) {
	elsewhere := "windows"
	if runtime.GOOS == elsewhere {
		elsewhere = "linux"
	}
	goFiles := map[string]string{
		"ws/go.mod": goMod, "ws/a.go": "package w\n\nimport (\n\t_ \"example.org/there/x\"\n\t_ \"example.org/Zipped\"\n\t_ \"example.org/local\"\n\t_ \"fmt\"\n)\n",
		"ws/in/b_test.go":           "package in\n\nimport _ \"example.org/gone/sub\"\nimport _ \"example.org/forked\"\n",
		"ws/tools.go":               "//go:build tools\n\npackage w\n\nimport _ \"example.org/tools\"\n",
		"ws/c_" + elsewhere + ".go": "package w\n\nimport _ \"example.org/elsewhere\"\n",
		"ws/testdata/d.go":          "package d\n\nimport _ \"example.org/elsewhere\"\n",
		"ws/broken.go":              "package\n",
		"home/go/pkg/mod/x":         "",
		"home/go/pkg/mod/example.org/there@v1.0.0/go.mod":                  "",
		"home/go/pkg/mod/cache/download/example.org/!zipped/@v/v1.0.0.zip": "",
	}
	with := func(more map[string]string) map[string]string {
		out := map[string]string{}
		for _, m := range []map[string]string{goFiles, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	site := "usr/lib/python3.11/site-packages/"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"go": {goFiles, "go: example.org/fork@v1.1.0 example.org/gone@v1.2.0: go mod download"},
		"go, fetched": {with(map[string]string{"home/go/pkg/mod/example.org/gone@v1.2.0/a.go": "",
			"home/go/pkg/mod/example.org/fork@v1.1.0/a.go": ""}), ""},
		"go, by pawl": {with(map[string]string{"ws/.pawl/cache/work/gomod/example.org/gone@v1.2.0/a.go": "",
			"ws/.pawl/cache/work/gomod/example.org/fork@v1.1.0/a.go": ""}), ""},
		"go, vendored": {with(map[string]string{"ws/vendor/modules.txt": ""}), ""},
		"go, below": {map[string]string{"ws/a b/go.mod": "module m\n\ngo 1.21\n\nrequire example.org/gone v1.2.0\n",
			"ws/a b/m.go": "package m\n\nimport _ \"example.org/gone\"\n"},
			"go: example.org/gone@v1.2.0: (cd 'a b' && go mod download)"},
		"go, not a module": {map[string]string{"ws/go.mod": "nonsense"}, ""},
		"node":             {map[string]string{"ws/package.json": `{"scripts":{"test":"node --test"},"dependencies":{"is-odd":"1","@a/b":"1"},"optionalDependencies":{"fsevents":"1"}}`, "ws/package-lock.json": "{}"}, "node: @a/b is-odd: npm ci"},
		"node, some": {map[string]string{"ws/package.json": `{"scripts":{"test":"x"},"dependencies":{"a":"1"},"devDependencies":{"b":"1"}}`, "ws/node_modules/a/package.json": ""},
			"node: b: npm install"},
		"node, all": {map[string]string{"ws/package.json": `{"scripts":{"test":"x"},"dependencies":{"a":"1"}}`,
			"ws/node_modules/a/package.json": ""}, ""},
		"node, none":      {map[string]string{"ws/package.json": `{"scripts":{"test":"x"}}`}, ""},
		"node, no checks": {map[string]string{"ws/package.json": `{"dependencies":{"a":"1"}}`}, ""},
		"node, pnp": {map[string]string{"ws/package.json": `{"scripts":{"test":"x"},"dependencies":{"a":"1"}}`,
			"ws/yarn.lock": "", "ws/.pnp.cjs": ""}, ""},
		"node, pnpm": {map[string]string{"ws/package.json": `{"scripts":{"test":"x"},"dependencies":{"a":"1"}}`,
			"ws/pnpm-lock.yaml": ""}, "node: a: pnpm install --frozen-lockfile"},
		"node, outside": {map[string]string{"ws/package.json": `{"scripts":{"test":"x"},"dependencies":{"../../home":"1"}}`}, ""},
		"python":        {map[string]string{"ws/requirements.txt": "Requests_Toolbelt>=1 # http\nsix\n-e .\nwin; sys_platform == 'win32'\n", "ws/test_a.py": "", site + "six-1.16.0.dist-info/METADATA": ""}, "python: Requests_Toolbelt: python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"},
		"python, venv": {map[string]string{"ws/requirements.txt": "requests-toolbelt\n", "ws/test_a.py": "",
			"ws/.venv/lib/python3.12/site-packages/requests_toolbelt-1.0.dist-info/METADATA": ""}, ""},
		"python, unknown": {map[string]string{"ws/requirements.txt": "requests\n", "ws/test_a.py": ""}, ""},
		"python, pytest":  {map[string]string{"ws/pyproject.toml": "[project]\nname = \"p\"\ndependencies = [\n  \"attrs>=2\",\n]\n[tool.pytest.ini_options]\n", "ws/test_a.py": "", "ws/.venv/pyvenv.cfg": "", site + "attrs-2.dist-info/METADATA": ""}, "python: pytest: .venv/bin/pip install pytest -e ."},
		"python, uv": {map[string]string{"ws/pyproject.toml": "[project]\ndependencies = ['attrs']\n",
			"ws/uv.lock": "", "ws/test_a.py": "", site + "six.egg-info": ""}, "python: attrs: uv sync"},
		"rust": {map[string]string{"ws/Cargo.toml": "[package]\nname = \"w\"\n[dependencies]\nserde = { version = \"1\" }\nrand = { version = \"1\", optional = true }\n[target.'cfg(windows)'.dependencies]\nwinapi = \"1\"\n", "ws/Cargo.lock": lock("serde", "rand", "winapi", "libc")}, "rust: serde 1.0.0: cargo fetch --locked"},
		"rust, fetched": {map[string]string{"ws/Cargo.toml": "[dependencies]\nserde = \"1\"\n",
			"ws/Cargo.lock": lock("serde"), "home/.cargo/registry/cache/index/serde-1.0.0.crate": ""}, ""},
		"rust, vendored": {map[string]string{"ws/Cargo.toml": "[dependencies]\nserde = \"1\"\n",
			"ws/Cargo.lock":         lock("serde"),
			"ws/.cargo/config.toml": "[source.crates-io]\nreplace-with = \"vendored\"\n"}, ""},
		"php": {map[string]string{"ws/composer.json": `{"require":{"php":">=8","a/b":"1"}}`},
			"php: a/b: composer install"},
		"dart": {map[string]string{"ws/pubspec.yaml": "name: x\n"},
			"dart: .dart_tool/package_config.json: dart pub get"},
	} {
		if got := strings.Join(needsOf(t, c.files), "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// lock is a Cargo.lock of packages that come from a registry.
func lock(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString("[[package]]\nname = \"" + n +
			"\"\nversion = \"1.0.0\"\nsource = \"registry+https://example.org\"\n\n")
	}
	return b.String()
}
