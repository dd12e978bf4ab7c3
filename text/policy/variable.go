package policy

import (
	"slices"
	"strings"
)

// variable judges a change to a variable by its name. Most variables that programs read can make one of them run
// something else, so only names that are known to be inert pass.
func (j *judge) variable(name string, exported bool) {
	switch {
	case j.held && slices.Contains(pagers, name), j.own && tuning(name):
	case dangerousVariable(name):
		j.find(Deny, CodeEnvironment, name)
	case slices.Contains(inertVariables, name) || strings.HasPrefix(name, "LC_"):
	case (exported || name != strings.ToLower(name)) && !j.held:
		j.find(Ask, CodeEnvironment, name)
	}
}

// tuning reports whether a variable only makes the tools of an ecosystem run another program or use another place,
// which they may do anyway where walls hold them. What changes the meaning of the text itself, what the loader or every
// shell obeys, and what git and proxies obey, is not among them.
func tuning(name string) bool {
	lower := strings.ToLower(name)
	return slices.Contains(tuningVariables, name) ||
		slices.ContainsFunc(tuningPrefixes, func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
}

func dangerousVariable(name string) bool {
	if slices.Contains(dangerousVariables, name) {
		return true
	}
	lower := strings.ToLower(name)
	for _, prefix := range dangerousPrefixes {
		if strings.HasPrefix(lower, prefix) {
			return !slices.Contains(inertVariables, name)
		}
	}
	return strings.HasSuffix(lower, "_proxy")
}

var (
	// pagers are started for a terminal only, and no command has one.
	pagers          = []string{"PAGER", "MANPAGER", "GIT_PAGER", "LESS"}
	tuningVariables = []string{"CC", "CXX", "CPP", "AR", "GOFLAGS", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN", "MAKEFLAGS",
		"RUSTC", "RUSTFLAGS", "RUSTDOCFLAGS", "CLASSPATH"}
	tuningPrefixes = []string{
		"npm_", "yarn_", "pnpm_", "node_", "python", "pytest_", "pip_", "ruby", "bundle_", "java_", "_java", "maven_",
		"gradle_",
		"cargo_", "rustc_", "dotnet_", "cgo_", "eslint_",
	}

	// inertVariables change what programs print or how hard they work, and nothing else.
	inertVariables = []string{
		"CI", "DEBUG", "VERBOSE", "V", "TZ", "LANG", "LANGUAGE", "NO_COLOR", "FORCE_COLOR", "CLICOLOR",
		"CLICOLOR_FORCE",
		"TERM", "COLUMNS", "LINES", "CGO_ENABLED", "GOOS", "GOARCH", "GOARM", "GOAMD64", "GO111MODULE", "GOMAXPROCS",
		"GOGC",
		"GOMEMLIMIT", "GOTRACEBACK", "NODE_ENV", "BABEL_ENV", "RUST_BACKTRACE", "RUST_LOG", "RUST_TEST_THREADS",
		"CARGO_TERM_COLOR", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONHASHSEED", "RAILS_ENV",
		"RACK_ENV", "APP_ENV", "MIX_ENV", "ASPNETCORE_ENVIRONMENT", "DOTNET_CLI_TELEMETRY_OPTOUT", "DOTNET_NOLOGO",
		"CTEST_OUTPUT_ON_FAILURE", "SOURCE_DATE_EPOCH", "OPTIND",
	}
	dangerousVariables = []string{
		"PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND",
		"CDPATH",
		"HOME", "PWD", "OLDPWD", "SHELL", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE",
		"CC", "CXX", "CPP", "LD", "AR", "AS", "GOFLAGS", "GOROOT", "GOPATH", "GOENV", "GOTOOLCHAIN", "GOTOOLDIR",
		"GOPROXY",
		"GONOSUMDB", "GOSUMDB", "GOINSECURE", "GOCACHEPROG", "GOAUTH", "MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS",
		"RUSTC", "RUSTDOC", "RUSTFLAGS", "RUSTDOCFLAGS", "TAR_OPTIONS", "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "TMPDIR",
		"EXECIGNORE", "GLOBIGNORE",
		"FIGNORE", "FPATH", "HISTFILE", "MAIL", "MAILPATH", "FUNCNEST", "POSIXLY_CORRECT", "GCONV_PATH", "LOCPATH",
		"GZIP", "ZIPOPT", "UNZIP", "XDG_CONFIG_HOME", "CLASSPATH", "CARGO", "PHPRC",
		"PHP_INI_SCAN_DIR", "AWKPATH", "AWKLIBPATH", "MALLOC_CONF", "OPENSSL_CONF", "CMAKE_TOOLCHAIN_FILE",
	}
	dangerousPrefixes = []string{
		"ld_", "dyld_", "bash_func", "git_", "ssh_", "npm_", "yarn_", "pnpm_", "node_", "python", "perl", "ruby",
		"gem_",
		"bundle_", "java_", "_java", "jdk_", "maven_", "mvn_", "gradle_", "cargo_", "rustc_", "rustup_", "dotnet_",
		"coreclr_",
		"cgo_", "pip_", "virtual_env", "pytest_", "eslint_", "lua_", "gcc_", "compiler_path", "electron_", "docker_",
	}
)
