package policy

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"pawl/text/shell"
)

// canonical reports whether rel is a path inside the workspace in the one form that is accepted, and the code of the
// refusal where it is not.
func canonical(rel string) (Code, bool) {
	switch {
	case rel == "" || len(rel) > maxPath || !utf8.ValidString(rel):
		return CodePathForm, false
	case strings.ContainsFunc(rel, unicode.IsControl):
		return CodePathForm, false
	case rel[0] == '/' || rel[0] == '~' || rel[0] == '\\' || len(rel) > 1 && rel[1] == ':':
		return CodePathEscape, false
	}
	for _, part := range strings.FieldsFunc(rel, func(r rune) bool { return r == '/' || r == '\\' }) {
		if undot := strings.ReplaceAll(strings.ToLower(part), "%2e", "."); undot == ".." {
			return CodePathEscape, false
		}
	}
	if path.Clean(rel) != rel || strings.Contains(strings.ToLower(rel), "%2e%2e") ||
		strings.Contains(strings.ToLower(rel), "%2f") {
		return CodePathForm, false
	}
	return "", true
}

// fold returns the components of a path as the most forgiving file system would read them: letter case, Unicode forms,
// characters that are drawn as nothing, trailing dots and spaces, stream suffixes and short names make no difference.
func fold(rel string) []string {
	s := rel
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		s = norm.NFKC.String(s)
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case r >= 'a' && r <= 'z' || r == '/' || r == '.':
			return r
		case r != ' ' && shell.Hidden(r):
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, s)
	parts := strings.Split(s, "/")
	for i, p := range parts {
		if at := strings.IndexByte(p, ':'); at > 0 {
			p = p[:at]
		}
		if p != "." && p != ".." {
			p = strings.TrimRight(p, ". ")
		}
		if strings.HasPrefix(p, "git~") {
			p = ".git"
		}
		parts[i] = p
	}
	return parts
}

// classify says what may be done to a path inside the workspace. Pattern says that rel is a shell pattern, which may
// stand for any name that it matches.
func classify(rel string, op Op, pattern bool, sensitive []string) (Decision, Code) {
	parts := fold(rel)
	if op != OpRead && isProtected(parts, pattern) {
		return Deny, CodeProtectedPath
	}
	if op == OpRead && readsOwnState(parts) {
		return Deny, CodeProtectedPath
	}
	if isSecret(parts) {
		if op == OpRead {
			return Deny, CodeSecret
		}
		return Ask, CodeSensitivePath
	}
	if pattern && mayHide(parts) {
		return Ask, CodeDynamic
	}
	if op == OpRead {
		return Allow, CodeAllowed
	}
	if strings.ContainsFunc(rel, func(r rune) bool { return r != ' ' && shell.Hidden(r) }) {
		return Deny, CodePathForm
	}
	if isSensitive(parts, sensitive) {
		return Ask, CodeSensitivePath
	}
	return Allow, CodeAllowed
}

// isProtected reports whether a path belongs to git's or to pawl's own machinery.
func isProtected(parts []string, pattern bool) bool {
	for _, p := range parts {
		if p == ".git" || p == ".gitmodules" || p == ".pawl" {
			return true
		}
		if !pattern || !strings.ContainsAny(p, "*?[") {
			continue
		}
		for _, name := range []string{".git", ".gitmodules", ".pawl"} {
			if ok, err := path.Match(p, name); p[0] == '.' && (ok || err != nil) {
				return true
			}
		}
	}
	return false
}

// readsOwnState reports whether a path is part of .pawl beyond the projections that are made to be read, or holds the
// settings of git, where credentials may stand.
func readsOwnState(parts []string) bool {
	if i := slices.Index(parts, ".git"); i >= 0 && len(parts) > i+1 {
		return strings.HasPrefix(parts[len(parts)-1], "config") || strings.Contains(parts[len(parts)-1], "credential")
	}
	i := slices.Index(parts, ".pawl")
	if i < 0 || len(parts) == i+1 {
		return false
	}
	switch parts[i+1] {
	case "active_context.md", "state.json", "state-history.json", "plan", "archive", "history":
		return false
	}
	return true
}

// isSecret reports whether a path is known to hold credentials.
func isSecret(parts []string) bool {
	for _, dir := range parts {
		if slices.Contains(secretFolders, dir) {
			return true
		}
	}
	base := parts[len(parts)-1]
	if strings.HasPrefix(base, ".env") {
		rest := base[len(".env"):]
		return rest == "" || rest[0] == '.' && !slices.Contains(harmlessEnv, rest)
	}
	if slices.Contains(secretNames, base) || slices.Contains(secretSuffixes, path.Ext(base)) {
		return true
	}
	for _, prefix := range []string{"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"} {
		if strings.HasPrefix(base, prefix) {
			return path.Ext(base) != ".pub"
		}
	}
	return false
}

// mayHide reports whether a pattern can match a name that begins with a dot or one that holds a secret.
func mayHide(parts []string) bool {
	for _, p := range parts {
		switch {
		case p == ".git" || p == ".pawl":
			return true
		case p == "" || p == "*" || !strings.ContainsAny(p, "*?["):
			continue
		case p[0] == '.':
			return true
		}
		for _, name := range slices.Concat(secretNames, []string{"id_rsa", "id_ed25519", "id_ecdsa"}) {
			if ok, err := path.Match(p, name); ok && name[0] != '.' || err != nil {
				return true
			}
		}
		for _, suffix := range secretSuffixes {
			if ext := path.Ext(p); strings.ContainsAny(ext, "*?[") {
				if ok, _ := path.Match(ext, suffix); ok {
					return true
				}
			}
		}
	}
	return false
}

// isSensitive reports whether a change to the path changes what other tools do: pipelines, editors, agents, deployment.
func isSensitive(parts, extra []string) bool {
	joined := strings.Join(parts, "/")
	base := parts[len(parts)-1]
	for i, p := range parts {
		if slices.Contains(sensitiveFolders, p) {
			return true
		}
		// What a git obeys that is called in a repository among the files.
		if strings.HasSuffix(p, ".git") && i+1 < len(parts) && (parts[i+1] == "hooks" || strings.HasPrefix(parts[i+1],
			"config")) {
			return true
		}
	}
	if slices.Contains(sensitiveNames, base) || strings.HasSuffix(base, ".code-workspace") {
		return true
	}
	for _, dir := range append([]string{".github/workflows", ".github/actions", ".github/copilot-instructions.md"},
		extra...) {
		dir = strings.Join(fold(dir), "/")
		if joined == dir || strings.HasPrefix(joined, dir+"/") || strings.Contains("/"+joined+"/", "/"+dir+"/") {
			return true
		}
		// A folder above a sensitive one stands for it where it is replaced as a whole.
		if strings.HasPrefix(dir, joined+"/") && joined == ".github" {
			return true
		}
	}
	return false
}

// resolve returns the path that a word names in a command which runs in cwd, relative to the workspace. Inside is false
// where it leaves the workspace. A device that swallows or yields nothing of interest returns "" and true.
func (j *judge) resolve(cwd, text string) (rel string, inside bool) {
	switch text {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "-":
		return "", true
	}
	if strings.HasPrefix(text, "/dev/fd/") && !strings.Contains(text[8:], "/") {
		return "", true
	}
	if strings.HasPrefix(text, "/") {
		clean := path.Clean(text)
		if j.root == "" || clean != j.root && !strings.HasPrefix(clean, j.root+"/") {
			return "", isPrivate(j, clean)
		}
		if rel = strings.TrimPrefix(strings.TrimPrefix(clean, j.root), "/"); rel == "" {
			rel = "."
		}
		return rel, true
	}
	rel = path.Join(cwd, text)
	if rel == "" {
		rel = "."
	}
	return rel, rel != ".." && !strings.HasPrefix(rel, "../")
}

var (
	harmlessEnv   = []string{".example", ".sample", ".template", ".dist", ".defaults", ".schema"}
	secretFolders = []string{".ssh", ".gnupg", ".aws", ".azure", ".kube", ".gcloud", ".docker"}
	secretNames   = []string{
		".npmrc", ".netrc", "_netrc", ".pypirc", ".git-credentials", ".pgpass", ".htpasswd", ".my.cnf", ".dockercfg",
		"credentials", "credentials.json", "credentials.yml", "credentials.yaml", "credentials.toml", "credentials.ini",
		"credentials.csv", "secrets.json", "secrets.yml", "secrets.yaml", "secrets.toml", "secrets.env", "master.key",
	}
	secretSuffixes = []string{".pem", ".key", ".p12", ".pfx", ".keystore", ".jks", ".kdbx", ".ppk"}

	sensitiveFolders = []string{
		".ci", ".circleci", ".buildkite", ".vscode", ".idea", ".devcontainer", ".claude", ".codex", ".gemini",
		".cursor", ".opencode", ".qwen", ".continue", ".junie", ".amazonq", ".zed", ".fleet",
		".roo", ".windsurf", ".kiro", ".aider", ".husky", ".githooks", ".cargo", ".yarn", "infra", "auth", "payments",
	}
	sensitiveNames = []string{
		".gitattributes", ".pawlignore", ".gitlab-ci.yml", "jenkinsfile", "azure-pipelines.yml", ".travis.yml",
		".drone.yml",
		"bitbucket-pipelines.yml", ".envrc", "agents.md", "claude.md", "gemini.md", ".mcp.json", "mcp.json",
		".cursorrules",
		"agents.override.md", "claude.local.md", "qwen.md", "opencode.json", "opencode.jsonc", ".aider.conf.yml", ".goosehints",
		"lefthook.yml", ".lefthook.yml", ".windsurfrules", ".clinerules", ".pre-commit-config.yaml", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs",
		"sitecustomize.py", "usercustomize.py", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc",
		".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".inputrc", ".exrc", ".nvimrc", ".vimrc",
		".dir-locals.el", ".gitconfig",
		".ripgreprc",
		".bazelrc",
	}
)

// Secret reports whether a file at a path relative to the workspace is known to hold credentials, so that no command
// may read it.
func Secret(rel string) bool { return isSecret(fold(rel)) }
