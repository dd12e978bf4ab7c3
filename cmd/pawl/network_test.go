package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// registry is a proxy of Go modules with one module, and remembers what it was asked for.
func registry(t *testing.T) (url string, asked func() string) {
	t.Helper()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range map[string]string{"go.mod": "module example.com/dep\n\ngo 1.20\n",
		"dep.go": "package dep\n\nconst Word = \"fetched\"\n"} {
		f, err := z.Create("example.com/dep@v1.0.0/" + name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"list": "v1.0.0\n", "v1.0.0.info": `{"Version":"v1.0.0"}`, "v1.0.0.mod": "module example.com/dep\n\ngo 1.20\n",
		"v1.0.0.zip": archive.String(),
	}
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.URL.Path)
		mu.Unlock()
		text, ok := files[strings.TrimPrefix(r.URL.Path, "/example.com/dep/@v/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() string { mu.Lock(); defer mu.Unlock(); return strings.Join(seen, " ") }
}

// fetching is a plan that fetches a module and uses it.
func fetching(grant, ask string) string {
	return `goal: Use a dependency
` + grant + `
steps:
  - step_id: s1
    title: Fetch it
    intent: It is needed
    tool_calls:
      - name: run_terminal_cmd
        args_hint: {command: "go get example.com/dep@v1.0.0"` + ask + `}
  - step_id: s2
    title: Use it
    intent: That is what was asked for
    tool_calls:
      - name: write_file
        args_hint: {path: main.go, content: "package main\n\nimport \"example.com/dep\"\n\nfunc main() { println(dep.Word) }\n"}
verification: {mode: custom, commands: ["go vet ./...", "go run . 2>&1 | grep fetched"], required: true, stop_on_fail: true}
risk_level: low
`
}

// TestDependenciesAreFetchedThroughTheGrant goes the whole way: the plan names the registry, one command fetches from
// it, and the checks, which have no network, find what was fetched.
func TestDependenciesAreFetchedThroughTheGrant(t *testing.T) {
	t.Parallel()
	url, asked := registry(t)
	scene := func(t *testing.T) *user {
		u := newUser(t)
		u.write("go.mod", "module example.com/app\n\ngo 1.20\n")
		u.module()
		settings := filepath.Join(u.home, ".config", "go", "env")
		if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(settings, []byte("GOPROXY="+url+"\nGOSUMDB=off\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return u.repository()
	}
	t.Run("not named", func(t *testing.T) {
		u := scene(t)
		a := u.must(13, "run", "--plan", u.plan(fetching("", ", network: true")), "--yes")
		if !strings.Contains(a.err, "names no place") {
			t.Errorf("%v", a)
		}
	})
	t.Run("not asked for", func(t *testing.T) {
		u := scene(t)
		before := asked()
		a := u.pawl("run", "--plan", u.plan(fetching("network: [go]", "")), "--yes")
		if a.code == 0 || asked() != before {
			t.Errorf("a command that does not ask gets no network: %v\n%s", a, asked())
		}
	})
	t.Run("named and asked for", func(t *testing.T) {
		u := scene(t)
		u.must(9, "run", "--plan", u.plan(fetching("network: [go]", ", network: true")))
		if a := u.must(0, "plan", "show"); !strings.Contains(a.out, "NETWORK go: calls that ask for it may connect to "+
			strings.TrimPrefix(url, "http://")) {
			t.Errorf("%v", a)
		}
		u.must(0, "approve", "--yes")
		if !strings.Contains(asked(), "/example.com/dep/@v/v1.0.0.zip") {
			t.Errorf("the registry was asked for %s", asked())
		}
		if got := u.read("go.mod"); !strings.Contains(got, "example.com/dep v1.0.0") {
			t.Error(got)
		}
		if log := u.must(0, "audit", "log", "--json"); !strings.Contains(log.out, "tool.call") {
			t.Errorf("%v", log)
		}
		u.must(0, "audit", "verify")
		u.quiet()
	})
}
