package verify

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel/effect"
)

func value(env []string, name string) (string, bool) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

func TestFetching(t *testing.T) {
	ws, home := t.TempDir(), t.TempDir()
	own := filepath.Join(home, "go", "pkg", "mod", "cache", "download")
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	place := effect.Place{Workspace: ws, Tree: ws}
	h := Host{Home: home, Env: []string{"PATH=/bin", "HOME=" + home, "GOFLAGS=-mod=mod"}, LookPath: everything}
	before, err := h.Toolchain(place, UseVerify)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := value(before.Env, "GOPROXY"); v != "off" {
		t.Errorf("GOPROXY=%s", v)
	}
	got, err := h.Fetching(place, map[string]string{"GOPROXY": "https://p.example,direct",
		"npm_config_registry": "https://n.example"})
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(ws, ".pawl", "cache", "work", "gomod")
	for name, want := range map[string]string{
		"GOPROXY": "file://" + own + ",https://p.example,direct,off", "GOMODCACHE": cache,
		"GOFLAGS": "-mod=mod -modcacherw", "npm_config_registry": "https://n.example",
	} {
		if v, _ := value(got.Env, name); v != want {
			t.Errorf("%s=%s, want %s", name, v, want)
		}
	}
	for _, name := range []string{"npm_config_offline", "PIP_NO_INDEX", "CARGO_NET_OFFLINE", "GOSUMDB"} {
		if v, ok := value(got.Env, name); ok {
			t.Errorf("%s=%s", name, v)
		}
	}
	if err := os.MkdirAll(filepath.Join(cache, "cache", "download"), 0o755); err != nil {
		t.Fatal(err)
	}
	after, err := h.Toolchain(place, UseVerify)
	if err != nil {
		t.Fatal(err)
	}
	download := filepath.Join(cache, "cache", "download")
	if v, _ := value(after.Env, "GOMODCACHE"); v != filepath.Join(after.caches, "gomod") {
		t.Errorf("a verification must not use what a command unpacked: %s", v)
	}
	if v, _ := value(after.Env, "GOPROXY"); v != "file://"+own+",file://"+download+",off" {
		t.Errorf("GOPROXY=%s", v)
	}
	if !slices.Contains(after.Readable, download) || slices.Contains(after.Writable, download) {
		t.Errorf("%+v", after)
	}
}

// TestFetchedModulesAreNoWayOut: a command can write to the cache of work, and must not make a verification read
// elsewhere.
func TestFetchedModulesAreNoWayOut(t *testing.T) {
	for _, at := range []string{"gomod", "gomod/cache", "gomod/cache/download"} {
		ws, outside := t.TempDir(), t.TempDir()
		p := filepath.Join(ws, ".pawl", "cache", "work", filepath.FromSlash(at))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, p); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(outside, "cache", "download"), 0o755); err != nil {
			t.Fatal(err)
		}
		h := Host{Env: []string{"PATH=/bin"}, LookPath: everything}
		if _, err := h.Toolchain(effect.Place{Workspace: ws, Tree: ws},
			UseVerify); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// TestNoModulesYet: where a person has fetched no module, the go command finds a cache that it may make use of, in the
// workspace.
func TestNoModulesYet(t *testing.T) {
	ws, home := t.TempDir(), t.TempDir()
	h := Host{Home: home, Env: []string{"PATH=/bin", "HOME=" + home}, LookPath: everything}
	for _, use := range []Use{UseVerify, UseWork} {
		got, err := h.Toolchain(effect.Place{Workspace: ws, Tree: ws}, use)
		if err != nil {
			t.Fatal(err)
		}
		cache, _ := value(got.Env, "GOMODCACHE")
		if cache != filepath.Join(got.caches, "gomod") || !isDir(cache) {
			t.Errorf("%s: GOMODCACHE=%s", use, cache)
		}
	}
	own := filepath.Join(home, "go", "pkg", "mod")
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := h.Toolchain(effect.Place{Workspace: ws, Tree: ws}, UseVerify)
	if cache, _ := value(got.Env, "GOMODCACHE"); err != nil || cache != own {
		t.Errorf("GOMODCACHE=%s, %v", cache, err)
	}
}
