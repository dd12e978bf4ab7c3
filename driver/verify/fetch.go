package verify

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pawl/kernel/effect"
	"pawl/sandbox/deps"
	"pawl/sandbox/safeopen"
	"pawl/store/disk"
)

// offline are the variables that keep tools from trying the network, which a command that was granted it must not have.
var offline = []string{
	"GOPROXY", "GOSUMDB", "CARGO_NET_OFFLINE", "npm_config_offline", "PIP_NO_INDEX", "COMPOSER_DISABLE_NETWORK",
	"BUNDLE_FROZEN",
}

// fetched is the folder of the workspace's state in which commands that were granted the network keep the Go modules
// that they fetch, because the user's own cache is read-only to them.
const fetched = "cache/" + string(UseWork) + "/gomod"

// Fetching is the Toolchain of a command of an agent that was granted the network: its tools may fetch, from the
// registries that vars name (GOPROXY, npm_config_registry and their like). Go modules are stored among its caches, and
// every later Toolchain of the workspace finds them there; what other ecosystems fetch belongs into the tree.
func (h Host) Fetching(place effect.Place, vars map[string]string) (Toolchain, error) {
	t, err := h.Toolchain(place, UseWork)
	if err != nil {
		return t, err
	}
	// what is fetched now is to stay in the tree, and not in a layer over what was there
	t.Dependencies = deps.Found{Place: place}
	root, err := disk.Root(place.Own())
	gopath := "cache/" + string(UseWork) + "/gopath" // the checksums that the go command has seen are kept there
	if err == nil {
		err = errors.Join(safeopen.PlainDirs(root, fetched), safeopen.PlainDirs(root, gopath))
		_ = root.Close()
	}
	if err != nil {
		return t, ioError("verify.cache_unusable", place.Workspace, err)
	}
	t.Env = slices.DeleteFunc(t.Env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(offline, name)
	})
	for name, value := range vars {
		t.Env = set(t.Env, name, value)
	}
	t.Env = set(t.Env, "GOPATH", place.Own(gopath))
	proxies := h.downloads()
	if own := vars["GOPROXY"]; own != "" {
		proxies = append(proxies, own)
	}
	t.Env = modules(t.Env, place.Own(fetched), append(proxies, "off"))
	slices.Sort(t.Env)
	return t, nil
}

// useFetched lets the tools of a workspace find the Go modules that a command was granted to fetch. A verification
// unpacks them anew into a cache of its own, so that they are what the tree's go.sum says and nothing that a command
// put in their place.
func (h Host) useFetched(place effect.Place, use Use, t *Toolchain) error {
	root, err := disk.Root(place.Own())
	if err != nil {
		return err
	}
	defer root.Close()
	at := ""
	for part := range strings.SplitSeq(fetched+"/cache/download", "/") {
		at = path.Join(at, part)
		info, err := root.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return safeopen.ErrInWay
		}
	}
	work := place.Own(fetched)
	download := filepath.Join(work, "cache", "download")
	proxies := append(h.downloads(), "file://"+filepath.ToSlash(download), "off")
	if use == UseWork {
		t.Env = modules(t.Env, work, proxies)
		return nil
	}
	t.Readable, t.fetched = append(t.Readable, download), true
	t.Env = modules(t.Env, filepath.Join(t.caches, modCache), proxies)
	return nil
}

// downloads is the user's own cache of Go modules as a proxy, where there is one.
func (h Host) downloads() []string {
	dir := h.getenv("GOMODCACHE")
	if dir == "" {
		dir = h.goModCache()
	}
	if dir == "" && h.Home != "" {
		dir = filepath.Join(h.Home, "go", "pkg", "mod")
	}
	if dir = filepath.Join(dir, "cache", "download"); !filepath.IsAbs(dir) || !isDir(dir) {
		return nil
	}
	return []string{"file://" + filepath.ToSlash(dir)}
}

// modules sets a module cache that can be removed again, and where its modules come from.
func modules(env []string, cache string, proxies []string) []string {
	flags := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "GOFLAGS="); ok {
			flags = v + " "
		}
	}
	env = set(env, "GOFLAGS", flags+"-modcacherw")
	env = set(env, "GOMODCACHE", cache)
	return set(env, "GOPROXY", strings.Join(proxies, ","))
}
