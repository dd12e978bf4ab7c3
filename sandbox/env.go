package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"pawl/sandbox/allow"
)

// passed lists the variables that a command inherits when pawl has them: locale, time zone and the places of toolchains
// and their caches. Everything else is left behind, so that a variable nobody thought of carries nothing inside.
var passed = []string{
	"PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_COLLATE", "LC_NUMERIC", "LC_TIME", "TZ",
	"GOROOT", "GOPATH", "GOMODCACHE", "GOFLAGS", "GOTOOLCHAIN", "GOEXPERIMENT", "GOOS", "GOARCH", "GOAMD64", "GOARM64",
	"GO111MODULE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "CGO_ENABLED",
	"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "JAVA_HOME", "ANDROID_HOME", "FLUTTER_ROOT", "PUB_CACHE",
	"DOTNET_ROOT", "NVM_DIR", "VOLTA_HOME", "PYENV_ROOT", "RBENV_ROOT", "GEM_HOME", "GEM_PATH", "VIRTUAL_ENV",
	"PNPM_HOME", "NODE_ENV", "NODE_PATH", "CC", "CXX", "CI", "SOURCE_DATE_EPOCH", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"GIT_CONFIG_NOSYSTEM",
}

// homeDirs are variables of directories that toolchains look for below the user's home. They are set because the
// command's own HOME is elsewhere.
var homeDirs = []string{"GOPATH", "CARGO_HOME", "RUSTUP_HOME", "PYENV_ROOT", "NVM_DIR", "VOLTA_HOME", "PUB_CACHE"}

// Environ returns the environment of a command, sorted, made of the harmless part of base (usually os.Environ()) and of
// extra. HOME is the private Home, TMPDIR is /tmp, TERM is dumb, and PATH and LANG always have a value. Variables whose
// names speak of tokens, keys, secrets or passwords are dropped from base and from extra alike, as are malformed ones.
// Toolchains that keep their state below the user's home are told where it is.
func Environ(base []string, extra map[string]string) []string {
	env := map[string]string{
		"PATH": "/usr/local/bin:/usr/bin:/bin",
		"LANG": "C.UTF-8",
	}
	home := ""
	for _, kv := range base {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || v == "" {
			continue
		}
		if k == "HOME" {
			home = v
		}
		if slices.Contains(passed, k) && usable(k, v) {
			env[k] = v
		}
	}
	if filepath.IsAbs(home) {
		for _, k := range homeDirs {
			if env[k] == "" && usable(k, home) {
				env[k] = filepath.Join(home, allow.Default(k))
			}
		}
	}
	env["HOME"], env["TMPDIR"], env["TERM"] = Home, "/tmp", "dumb"
	env["GIT_TERMINAL_PROMPT"], env["NO_COLOR"] = "0", "1"
	for k, v := range extra {
		if usable(k, v) {
			env[k] = v
		}
	}
	out := make([]string, 0, len(env))
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

// usable reports whether a variable can be passed on: well formed, without a secret's name, and without credentials in
// a URL, which is how registries are often configured.
func usable(k, v string) bool {
	if k == "" || strings.ContainsAny(k, "=\x00") || strings.IndexByte(v, 0) >= 0 {
		return false
	}
	return !allow.Secretive(k) && !allow.HasUserinfo(v)
}
