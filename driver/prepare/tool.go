package prepare

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pawl/text/shell"

	"pawl"
	"pawl/sandbox"
	"pawl/sandbox/deps"
	"pawl/text/pattern"
)

// tool is how a set is fetched. In the values of env, {temp} is a folder that is gone afterwards, and {tree} the folder
// of the lock file.
type tool struct {
	name     string
	programs []string
	command  string
	env      map[string]string
}

// Tool says how a folder of dependencies would be filled. It is pawl.CodeInvalid where nobody knows a tool for it.
func Tool(f deps.Folder, scripts bool, tree string) (string, error) {
	t, err := choose(f, scripts, tree)
	return t.command, err
}

// choose picks the project's own tool by its lock file.
func choose(f deps.Folder, scripts bool, tree string) (tool, error) {
	has := func(names ...string) bool {
		return slices.ContainsFunc(f.Locks, func(l string) bool { return slices.Contains(names, path.Base(l)) })
	}
	switch f.Ecosystem {
	case deps.Node:
		return chooseNode(f, has, scripts, tree), nil
	case deps.Python:
		if t, ok := choosePython(f, has, scripts); ok {
			return t, nil
		}
	case deps.PHP:
		t := tool{name: "composer", programs: []string{"composer"},
			command: "composer install --no-interaction --no-progress --prefer-dist --no-plugins",
			env:     map[string]string{"COMPOSER_HOME": "{temp}", "COMPOSER_CACHE_DIR": "{temp}/cache"}}
		if !scripts {
			t.command += " --no-scripts"
		}
		return t, nil
	}
	return tool{}, pawl.Fail(pawl.CodeInvalid, "prepare.unknown", f.Path, strings.Join(f.Locks, ", ")).In("prepare.Do")
}

func chooseNode(f deps.Folder, has func(...string) bool, scripts bool, tree string) tool {
	quiet := map[string]string{
		"npm_config_cache": "{temp}/npm", "npm_config_audit": "false", "npm_config_fund": "false",
		"npm_config_progress": "false", "npm_config_loglevel": "warn",
		"npm_config_ignore_scripts": "true", "npm_config_fetch_retries": "1",
		"npm_config_fetch_retry_mintimeout": "1000", "YARN_CACHE_FOLDER": "{temp}/yarn",
		"YARN_ENABLE_SCRIPTS": "false", "YARN_ENABLE_GLOBAL_CACHE": "false", "YARN_ENABLE_TELEMETRY": "false",
		"YARN_IGNORE_PATH": "1", "YARN_NODE_LINKER": "node-modules",
		"BUN_INSTALL_CACHE_DIR": "{temp}/bun", "COREPACK_ENABLE_DOWNLOAD_PROMPT": "0", "COREPACK_ENABLE_STRICT": "0",
	}
	no := " --ignore-scripts"
	if scripts {
		no, quiet["npm_config_ignore_scripts"], quiet["YARN_ENABLE_SCRIPTS"] = "", "false", "true"
	}
	switch {
	case has("package-lock.json", "npm-shrinkwrap.json"):
		return tool{"npm ci", []string{"node", "npm"}, "npm ci --no-audit --no-fund" + no, quiet}
	case has("pnpm-lock.yaml"):
		// the store is gone afterwards
		quiet["npm_config_store_dir"], quiet["npm_config_package_import_method"] = "{temp}/store", "copy"
		return tool{"pnpm install", []string{"node", "pnpm"}, "pnpm install --frozen-lockfile --ignore-pnpmfile" + no,
			quiet}
	case has("yarn.lock") && berry(tree, f):
		return tool{"yarn install", []string{"node", "yarn"}, "yarn install --immutable", quiet}
	case has("yarn.lock"):
		return tool{"yarn install", []string{"node", "yarn"}, "yarn install --frozen-lockfile --non-interactive" + no,
			quiet}
	case has("bun.lock", "bun.lockb"):
		return tool{"bun install", []string{"bun"}, "bun install --frozen-lockfile" + no, quiet}
	}
	return tool{"npm install", []string{"node", "npm"}, "npm install --no-package-lock --no-audit --no-fund" + no,
		quiet}
}

// berry reports whether a lock file is one of Yarn 2 or later.
func berry(tree string, f deps.Folder) bool {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return false
	}
	defer root.Close()
	file, err := root.Open(filepath.FromSlash(path.Join(f.Root, "yarn.lock")))
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(file, head)
	return strings.Contains(string(head[:n]), "__metadata:")
}

func choosePython(f deps.Folder, has func(...string) bool, scripts bool) (tool, bool) {
	// What has to be built first runs the programs of whoever wrote it.
	only, build := " --only-binary :all:", " --no-build"
	if scripts {
		only, build = "", ""
	}
	quiet := map[string]string{
		"UV_PROJECT_ENVIRONMENT": "{tree}/.venv", "UV_CACHE_DIR": "{temp}/uv", "UV_NO_PROGRESS": "1",
		"UV_PYTHON_DOWNLOADS": "never", "UV_LINK_MODE": "copy",
		"POETRY_VIRTUALENVS_IN_PROJECT": "true", "POETRY_CACHE_DIR": "{temp}/poetry", "POETRY_NO_INTERACTION": "1",
		"PIP_CACHE_DIR": "{temp}/pip", "PIP_NO_INPUT": "1",
		"PIP_PROGRESS_BAR": "off", "VIRTUAL_ENV": "", "PYTHONPATH": "",
	}
	pip := func(args string) tool {
		return tool{"pip install", []string{"python3"},
			"python3 -m venv .venv && .venv/bin/python -m pip install --disable-pip-version-check" + only + args, quiet}
	}
	switch {
	case has("uv.lock"):
		return tool{"uv sync", []string{"uv"}, "uv sync --frozen --no-install-project --all-extras --all-groups" +
			build, quiet}, true
	case has("poetry.lock"):
		if !scripts {
			quiet["POETRY_INSTALLER_ONLY_BINARY"] = ":all:"
		}
		return tool{"poetry install", []string{"poetry", "python3"}, "poetry install --no-root --all-extras",
			quiet}, true
	case has("pdm.lock", "Pipfile.lock"):
		return tool{}, false
	}
	var args string
	for _, l := range f.Locks {
		name := strings.TrimPrefix(strings.TrimPrefix(l, f.Root), "/")
		if strings.HasSuffix(name, ".txt") {
			args += " -r " + shell.QuoteAll([]string{name})
		}
	}
	if args != "" {
		return pip(args), true
	}
	if has("pyproject.toml") {
		return tool{"uv pip install", []string{"uv"},
			"uv venv .venv && uv pip install --python .venv/bin/python -r pyproject.toml --all-extras" + build,
			quiet}, true
	}
	return tool{}, false
}

// What tools say of the faults that a person can do something about.
var (
	saysNoAnswer = pattern.New(`(?i)\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|EHOSTUNREACH)\b|could not resolve|name resolution|connection (refused|reset|timed out)|network is unreachable|` +
		`NewConnectionError|Cannot connect to proxy|ProxyError|ConnectTimeout|Failed to fetch|error sending request|\b50[234] (Bad Gateway|Service|Gateway)|\bE50[0-9]\b`)
	saysLogin    = pattern.New(`(?i)\bE40[13]\b|\b40[13] (unauthorized|forbidden)|\bE?NEEDAUTH\b|authentication required|ERR_PNPM_FETCH_40[13]|HTTP status (client )?error.*40[13]`)
	saysDisk     = pattern.New(`(?i)\bENOSPC\b|no space left on device|disk quota exceeded`)
	saysMismatch = pattern.New(`(?i)in sync|\bEUSAGE\b|\bETARGET\b|ERR_PNPM_OUTDATED_LOCKFILE|lockfile needs to be updated|would have been modified|frozen-lockfile|frozen lockfile|lock file is not compatible|pyproject\.toml changed significantly`)
	saysBuild    = pattern.New(`(?i)no matching distribution found|--no-build|only-binary|has no (usable|compatible) wheel|building source distributions is disabled|unable to find installation candidates`)
)

// shownOutput is how much of a tool's output goes along with an error.
const shownOutput = 2000

// judge turns the end of a tool into an error, nil for success.
func (f *fetch) judge(r sandbox.Result, t tool, away *refusals) error {
	if r.Exit == 0 && !r.Canceled && !r.TimedOut {
		return nil
	}
	text := strings.ToValidUTF8(string(r.Output), "�")
	tail := errors.New(strings.TrimSpace(text[max(0, len(text)-shownOutput):]))
	fail := func(code pawl.Code, key string, args ...any) error {
		return pawl.Fail(code, key, args...).Because(tail).In("prepare.Do")
	}
	var sites []string
	for _, s := range f.set.Sites {
		sites = append(sites, s.Host)
	}
	registries := strings.Join(sites, ", ")
	away.mu.Lock()
	defer away.mu.Unlock()
	switch {
	case r.Canceled:
		return pawl.Fail(pawl.CodeCanceled, "prepare.canceled").In("prepare.Do")
	case r.TimedOut:
		return fail(pawl.CodeTimeout, "prepare.timeout", t.name, limit.String())
	case saysDisk.Get().MatchString(text):
		return fail(pawl.CodeDiskFull, "prepare.disk", t.name)
	case len(away.hosts) > 0:
		return fail(pawl.CodeDenied, "prepare.elsewhere", t.name, strings.Join(away.hosts, ", "))
	case saysLogin.Get().MatchString(text):
		return fail(pawl.CodeEnvironment, "prepare.login", registries)
	case saysMismatch.Get().MatchString(text):
		return fail(pawl.CodeInvalid, "prepare.mismatch", strings.Join(f.set.Locks, ", "))
	case away.gone || saysNoAnswer.Get().MatchString(text):
		return fail(pawl.CodeEnvironment, "prepare.no_answer", registries)
	case f.folder.Ecosystem == deps.Python && !f.scripts && saysBuild.Get().MatchString(text):
		return fail(pawl.CodeDenied, "prepare.builds", t.name)
	}
	return fail(pawl.CodeBuildFail, "prepare.failed", t.name, r.Exit)
}
