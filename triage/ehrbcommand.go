package triage

import (
	"path"
	"slices"
	"strings"
	"sync"

	"pawl/policy"
)

// DetectCommand finds what is of extremely high risk in a shell command. The command is parsed as policy parses it, so that
// wrappers, chains, substitutions and bash -c hide nothing, and text that a command only prints or searches for is nothing.
// A command that cannot be parsed is judged by its words; policy refuses to run it anyway.
func DetectCommand(command string) []Finding {
	d := detector{folded: folded{src: command}}
	shell, err := policy.ParseCommand(command)
	calls := shell.Calls
	if err != nil {
		for line := range strings.Lines(command) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				calls = append(calls, policy.Call{Argv: strings.Fields(line)})
			}
		}
	}
	var argvs [][]string
	for _, c := range calls {
		if len(c.Argv) > 0 {
			argvs = append(argvs, c.Argv)
		}
	}
	at := placer{text: command}
	for _, argv := range argvs {
		span := at.place(argv)
		for _, kind := range judge(argv, 0) {
			d.put(kind, span)
		}
	}
	d.fed(argvs)
	if m := liveVariable().FindStringIndex(command); m != nil && slices.ContainsFunc(argvs, moves) {
		d.put(RiskProduction, Span{m[0], m[1]})
	}
	d.secretValues(Span{0, len(command)}, StanceAction)
	return d.result()
}

func (d *detector) put(kind RiskKind, at Span) {
	d.found = append(d.found, Finding{Kind: kind, Quote: at.In(d.src), Span: at, Stance: StanceAction})
}

// placer finds where the words of calls stand in the text of their command.
type placer struct {
	text string
	from int
}

// place returns the range of a call, or of the whole command where its words do not stand in it as they are.
func (p *placer) place(argv []string) Span {
	start := strings.Index(p.text[p.from:], argv[0])
	if start < 0 {
		return Span{0, len(p.text)}
	}
	start += p.from
	end := start + len(argv[0])
	for _, w := range argv[1:] {
		if i := strings.Index(p.text[end:], w); i >= 0 {
			end += i + len(w)
		}
	}
	p.from = start + len(argv[0])
	return Span{start, end}
}

// liveVariable says that a command works on what is live.
var liveVariable = pattern(`(?i)\b(?:rails_env|rack_env|node_env|app_env|env|environment|stage|deploy_env)=["']?prod(?:uction)?\b`)

// moves reports whether a command changes what it works on, by the name of its task.
func moves(argv []string) bool {
	return slices.ContainsFunc(argv, func(w string) bool { return taskWord().MatchString(w) })
}

var taskWord = pattern(`(?i)(?:^|[:_./-])(?:migrate|deploy|seed|rollback|drop|reset|release)(?:$|[:_./-])`)

// sqlClients read statements from their arguments or their input.
var sqlClients = []string{"psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "mongo", "mongosh", "clickhouse-client", "cqlsh", "duckdb", "sqlplus", "bq", "snowsql"}

// fed finds statements that are handed to a database, as an argument or through a pipe or a heredoc.
func (d *detector) fed(argvs [][]string) {
	client := slices.ContainsFunc(argvs, func(argv []string) bool {
		return slices.ContainsFunc(argv, func(w string) bool { return slices.Contains(sqlClients, path.Base(w)) })
	})
	if !client {
		return
	}
	for _, m := range statement().FindAllStringIndex(d.src, -1) {
		d.put(RiskDataLoss, Span{m[0], m[1]})
	}
}

var statement = pattern(`(?i)\b(?:drop\s+(?:table|database|schema|user|role|view|column)|truncate\s+(?:table\s+)?["\x60\w.]+|delete\s+from\s+["\x60\w.]+|dropDatabase\(|\.deleteMany\(\{\}\)|\.drop\(\))`)

// maxWrapped bounds programs that run programs that run programs.
const maxWrapped = 8

// judge returns the kinds of one command.
func judge(argv []string, depth int) []RiskKind {
	if len(argv) == 0 || depth > maxWrapped {
		return nil
	}
	name, args := path.Base(argv[0]), argv[1:]
	var out []RiskKind
	switch name {
	case "sudo", "doas", "pkexec", "su", "run0":
		out = append(out, RiskPrivilege)
		out = append(out, judge(unwrap(args, "-u", "-g", "-C", "-h", "-p", "-c"), depth+1)...)
		return out
	case "ssh":
		rest := unwrap(args, "-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-e", "-m", "-w", "-W")
		if len(rest) > 0 && liveWord(rest[0]) {
			out = append(out, RiskProduction)
		}
		return append(out, nested(rest, depth)...)
	case "docker", "podman", "kubectl":
		if i := slices.Index(args, "--"); i >= 0 {
			out = append(out, judge(args[i+1:], depth+1)...)
		}
	}
	if slices.ContainsFunc(args, dry) || name == "git" && slices.Contains(args, "clean") && slices.ContainsFunc(args, func(w string) bool { return short(w, 'n') }) {
		return out
	}
	for _, row := range programs() {
		if slices.Contains(row.names, name) && row.risky(args) {
			out = append(out, row.kind)
		}
	}
	if slices.Contains(deployers, name) && !onlyLooks(name, args) && slices.ContainsFunc(args, liveWord) {
		out = append(out, RiskProduction)
	}
	if slices.Contains(taskRunners, name) && moves(args) && slices.ContainsFunc(args, liveWord) {
		out = append(out, RiskProduction)
	}
	return out
}

// nested judges a command that is handed to another machine as text.
func nested(rest []string, depth int) []RiskKind {
	if len(rest) < 2 {
		return nil
	}
	shell, err := policy.ParseCommand(strings.Join(rest[1:], " "))
	if err != nil {
		return judge(rest[1:], depth+1)
	}
	var out []RiskKind
	for _, c := range shell.Calls {
		out = append(out, judge(c.Argv, depth+1)...)
	}
	return out
}

// unwrap returns the command behind the options of a wrapper; those in valued have a value.
func unwrap(args []string, valued ...string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if slices.Contains(valued, args[0]) && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	return args
}

func dry(w string) bool {
	return w == "--dry-run" || strings.HasPrefix(w, "--dry-run=") && w != "--dry-run=none" || w == "--dryrun"
}

// short reports whether a word is a group of one-letter options that holds a letter.
func short(w string, letter rune) bool {
	return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsRune(w[1:], letter)
}

var liveName = pattern(`(?i)(?:^|[^a-z0-9])(?:prod|production|prd|live)(?:$|[^a-z])`)

// liveWord reports whether a word names what is live.
func liveWord(w string) bool { return liveName().MatchString(w) }

// onlyLooks reports whether a program that works on live systems is asked to show something only.
func onlyLooks(name string, args []string) bool {
	looks := map[string][]string{
		"kubectl": {"get", "describe", "logs", "top", "diff", "explain", "version", "config"}, "helm": {"list", "ls", "status", "diff", "get", "history", "template", "lint"},
		"terraform": {"plan", "show", "output", "validate", "fmt"}, "heroku": {"logs", "ps", "releases", "status", "config"}, "pulumi": {"preview", "stack"},
	}[name]
	for _, w := range args {
		if !strings.HasPrefix(w, "-") && slices.Contains(looks, w) {
			return true
		}
	}
	if name == "aws" || name == "gcloud" || name == "az" {
		return slices.ContainsFunc(args, func(w string) bool {
			return w == "ls" || w == "list" || w == "show" || strings.HasPrefix(w, "describe") || strings.HasPrefix(w, "list-") || strings.HasPrefix(w, "get-")
		})
	}
	return false
}

var (
	deployers = []string{
		"kubectl", "helm", "terraform", "tofu", "pulumi", "ansible-playbook", "ansible", "fly", "flyctl", "vercel", "netlify", "heroku", "gcloud", "aws", "az",
		"sls", "serverless", "cap", "eb", "wrangler", "psql", "mysql", "mariadb", "mongo", "mongosh", "redis-cli", "scp", "rsync", "sftp", "kamal", "nomad",
		"firebase", "railway", "pg_restore", "dropdb", "createdb", "flyway", "liquibase",
	}
	taskRunners = []string{"make", "gmake", "npm", "yarn", "pnpm", "npx", "rake", "rails", "bundle", "php", "python", "python3", "gradle", "./gradlew", "mvn", "just", "task", "bash", "sh", "deploy", "deploy.sh", "alembic", "prisma", "knex", "go", "cargo", "composer"}
)

// program is a row of the table of programs: in which kind its arguments can make it risky.
type program struct {
	names []string
	kind  RiskKind
	risky func(args []string) bool
}

var programs = sync.OnceValue(func() []program {
	return []program{
		{[]string{"rm"}, RiskDataLoss, removes},
		{[]string{"find"}, RiskDataLoss, func(a []string) bool {
			return slices.Contains(a, "-delete") || slices.Contains(a, "rm") && (slices.Contains(a, "-exec") || slices.Contains(a, "-execdir"))
		}},
		{[]string{"shred", "wipefs", "fdisk", "parted", "sgdisk"}, RiskDataLoss, operands(1)},
		{[]string{"mkfs", "mkfs.ext4", "mkfs.xfs", "mkfs.ext3", "mkfs.vfat", "mkfs.btrfs", "mkswap"}, RiskDataLoss, operands(1)},
		{[]string{"dd"}, RiskDataLoss, func(a []string) bool {
			return slices.ContainsFunc(a, func(w string) bool { return strings.HasPrefix(w, "of=/dev/") && w != "of=/dev/null" })
		}},
		{[]string{"dropdb", "mysqladmin"}, RiskDataLoss, func(a []string) bool {
			return len(a) > 0 && (a[0][0] != '-' && len(a) < 3 || slices.Contains(a, "drop"))
		}},
		{[]string{"redis-cli"}, RiskDataLoss, hasWord("flushall", "flushdb")},
		{[]string{"kubectl"}, RiskDataLoss, hasWord("delete")}, {[]string{"helm"}, RiskDataLoss, hasWord("uninstall", "delete")},
		{[]string{"terraform", "tofu", "pulumi", "cdk"}, RiskDataLoss, hasWord("destroy", "-destroy")},
		{[]string{"docker", "podman"}, RiskDataLoss, func(a []string) bool {
			return hasWord("prune")(a) && hasWord("system", "volume")(a) || hasWord("volume")(a) && hasWord("rm")(a) || hasWord("down")(a) && hasWord("-v", "--volumes")(a)
		}},
		{[]string{"docker-compose"}, RiskDataLoss, func(a []string) bool { return hasWord("down")(a) && hasWord("-v", "--volumes")(a) }},
		{[]string{"aws"}, RiskDataLoss, func(a []string) bool {
			return hasWord("rb")(a) || hasWord("rm")(a) && hasWord("--recursive")(a) || slices.ContainsFunc(a, func(w string) bool { return strings.HasPrefix(w, "delete-") || strings.HasPrefix(w, "terminate-") })
		}},
		{[]string{"gcloud", "az", "gsutil"}, RiskDataLoss, func(a []string) bool { return hasWord("delete")(a) || hasWord("rm")(a) && hasWord("-r")(a) }},
		{[]string{"gh"}, RiskDataLoss, func(a []string) bool { return hasWord("repo")(a) && hasWord("delete")(a) }},
		{[]string{"rails", "rake", "bundle"}, RiskDataLoss, hasWord("db:drop", "db:reset", "db:purge", "db:schema:load")},
		{[]string{"php", "artisan"}, RiskDataLoss, hasWord("migrate:fresh", "migrate:reset", "db:wipe")},
		{[]string{"prisma", "npx"}, RiskDataLoss, func(a []string) bool {
			return hasWord("migrate")(a) && hasWord("reset")(a) || hasWord("--accept-data-loss", "--force-reset")(a)
		}},
		{[]string{"git"}, RiskHistory, destroysHistory},
		{[]string{"shutdown", "reboot", "halt", "poweroff"}, RiskOutage, func([]string) bool { return true }},
		{[]string{"init", "telinit"}, RiskOutage, hasWord("0", "6")},
		{[]string{"systemctl"}, RiskOutage, hasWord("reboot", "poweroff", "halt", "kexec", "stop", "kill")},
		{[]string{"kill", "pkill", "killall"}, RiskOutage, kills},
		{[]string{"chmod"}, RiskPrivilege, opensToAll},
		{[]string{"chown"}, RiskPrivilege, func(a []string) bool {
			o := plain(a)
			return len(o) > 0 && (o[0] == "root" || strings.HasPrefix(o[0], "root:"))
		}},
		{[]string{"npm", "pnpm", "cargo"}, RiskExternal, first("publish", "unpublish", "yank")},
		{[]string{"yarn"}, RiskExternal, func(a []string) bool { return hasWord("publish")(a) }},
		{[]string{"twine"}, RiskExternal, first("upload")}, {[]string{"gem", "docker", "podman"}, RiskExternal, first("push")},
		{[]string{"poetry", "flit", "uv", "hatch"}, RiskExternal, first("publish")},
		{[]string{"gh"}, RiskExternal, func(a []string) bool { return first("release")(a) && hasWord("create", "delete", "edit")(a) }},
		{[]string{"sendmail", "mail", "mailx", "mutt"}, RiskExternal, operands(1)},
	}
})

func hasWord(words ...string) func([]string) bool {
	return func(args []string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(words, strings.ToLower(a)) })
	}
}

func first(words ...string) func([]string) bool {
	return func(args []string) bool {
		o := plain(args)
		return len(o) > 0 && slices.Contains(words, o[0])
	}
}

func operands(n int) func([]string) bool {
	return func(args []string) bool { return len(plain(args)) >= n }
}

// plain returns the words that are no options.
func plain(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "--" {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(a, "-") {
			out = append(out, a)
		}
	}
	return out
}

// regenerable are folders and files that a build makes anew.
var regenerable = []string{
	"node_modules", "dist", "build", "target", "out", "bin", "obj", "coverage", "htmlcov", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache",
	".cache", ".next", ".nuxt", ".turbo", ".parcel-cache", ".gradle", ".tox", ".venv", "venv", "tmp", "temp", ".tmp", "*.pyc", "*.o", "*.log", "*.tmp", "*.class",
	"coverage.out", "package-lock.json", "yarn.lock", ".coverage", "storybook-static", "DerivedData", "_build",
}

// removes reports whether rm deletes more than what a build makes anew: a folder, or anything outside the present one.
func removes(args []string) bool {
	recursive := slices.ContainsFunc(args, func(w string) bool { return short(w, 'r') || short(w, 'R') || w == "--recursive" })
	forced := slices.ContainsFunc(args, func(w string) bool { return short(w, 'f') || w == "--force" })
	for _, w := range plain(args) {
		w = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(w, "/*"), "/"), "/.")
		made := slices.Contains(regenerable, path.Base(w)) && !strings.HasPrefix(w, "/") && !strings.HasPrefix(w, "~") && !strings.Contains(w, "..") && !strings.ContainsAny(w, "$`")
		made = made || strings.HasPrefix(w, "/tmp/") && !strings.ContainsAny(w, "*$`") && !strings.Contains(w, "..")
		if !made && (recursive || forced && strings.ContainsAny(w, "*?$`~/")) {
			return true
		}
	}
	return recursive && forced && len(plain(args)) == 0
}

// destroysHistory reports whether a git command destroys commits, or work that is in no commit.
func destroysHistory(args []string) bool {
	for len(args) > 1 && (args[0] == "-C" || args[0] == "-c" || args[0] == "--git-dir" || args[0] == "--work-tree") {
		args = args[2:]
	}
	rest := plain(args)
	if len(rest) == 0 {
		return false
	}
	has := func(words ...string) bool { return hasWord(words...)(args) }
	letter := func(r rune) bool { return slices.ContainsFunc(args, func(w string) bool { return short(w, r) }) }
	switch rest[0] {
	case "push":
		return letter('f') || has("--force", "--mirror", "--delete", "--prune") || slices.ContainsFunc(args, func(w string) bool {
			return strings.HasPrefix(w, "--force") || strings.HasPrefix(w, "+") && len(w) > 1 || strings.HasPrefix(w, ":") && len(w) > 1
		})
	case "reset":
		return has("--hard")
	case "clean":
		return letter('f') || has("--force")
	case "filter-branch", "filter-repo":
		return true
	case "stash":
		return len(rest) > 1 && (rest[1] == "clear" || rest[1] == "drop")
	case "reflog":
		return len(rest) > 1 && (rest[1] == "expire" || rest[1] == "delete")
	case "update-ref":
		return has("-d")
	}
	return false
}

// kills reports whether a process gets no chance to end by itself.
func kills(args []string) bool {
	for i, w := range args {
		u := strings.ToUpper(w)
		if w == "-9" || u == "-KILL" || u == "-SIGKILL" || u == "--SIGNAL=KILL" || u == "--SIGNAL=9" {
			return true
		}
		if (w == "-s" || w == "--signal") && i+1 < len(args) && slices.Contains([]string{"9", "KILL", "SIGKILL"}, strings.ToUpper(args[i+1])) {
			return true
		}
	}
	return false
}

var symbolicMode = pattern(`^[ugoa]*[+=][rwxXst]+(?:,[ugoa]*[+=-][rwxXst]+)*$`)

// opensToAll reports whether chmod lets everybody write, or lets a program run with another's rights.
func opensToAll(args []string) bool {
	o := plain(args)
	if len(o) == 0 {
		return false
	}
	mode := o[0]
	if strings.Trim(mode, "01234567") == "" && len(mode) >= 3 {
		return mode[len(mode)-1]&2 != 0 || len(mode) == 4 && mode[0] >= '4'
	}
	if !symbolicMode().MatchString(mode) {
		return false
	}
	for _, part := range strings.Split(mode, ",") {
		who, what, _ := strings.Cut(strings.Replace(part, "=", "+", 1), "+")
		if strings.Contains(what, "s") && strings.ContainsAny(part, "+=") || strings.ContainsAny(who, "oa") && strings.Contains(what, "w") {
			return true
		}
	}
	return false
}
