package policy

import (
	"path"
	"slices"
	"strings"

	"pawl/text/pattern"
)

// Harm is what a command would do that nobody can take back (docs/spec/workflow.md#ehrb).
type Harm string

// The harms of commands. They are persisted and append-only.
const (
	HarmProduction Harm = "production"       // what is live is changed
	HarmDataLoss   Harm = "data_loss"        // data is destroyed
	HarmHistory    Harm = "history"          // commits, or changes that are in no commit, are destroyed
	HarmOutage     Harm = "outage"           // machines or processes are put down
	HarmPrivilege  Harm = "privilege"        // rights are widened or taken
	HarmExternal   Harm = "external_service" // something reaches others and cannot be taken back
)

// Danger is the part of a command, command[Start:End], that would do a harm.
type Danger struct {
	Harm       Harm
	Start, End int
}

// Dangers returns what is of extremely high risk in a shell command, call by call, whatever a profile allows and
// wherever it would run. Wrappers, chains, substitutions and bash -c hide nothing, and text that a command only
// prints or searches for is nothing. A command that cannot be parsed is judged by its words; Judge refuses it anyway.
func Dangers(command string) []Danger {
	parsed, err := ParseCommand(command)
	calls := parsed.Calls
	if err != nil {
		for line := range strings.Lines(command) {
			if argv := strings.Fields(line); len(argv) > 0 && argv[0][0] != '#' {
				calls = append(calls, Call{Argv: argv})
			}
		}
	}
	var out []Danger
	from, client, tasks := 0, false, false
	for _, c := range calls {
		start, end := 0, 0
		start, end, from = place(command, c.Argv, from)
		for _, harm := range harms(c.Argv, 0) {
			out = append(out, Danger{harm, start, end})
		}
		client = client || slices.ContainsFunc(c.Argv, readsSQL)
		tasks = tasks || slices.ContainsFunc(c.Argv, movesTask)
	}
	if client {
		for _, m := range DestructiveSQL(command) {
			out = append(out, Danger{HarmDataLoss, m[0], m[1]})
		}
	}
	if m := liveVariable.Get().FindStringIndex(command); m != nil && tasks {
		out = append(out, Danger{HarmProduction, m[0], m[1]})
	}
	return out
}

// place finds the words of a call in the text of its command, from where the call before it was found. A call whose
// words do not stand there as they are has the whole command as its place.
func place(text string, argv []string, from int) (start, end, next int) {
	i := strings.Index(text[from:], argv[0])
	if i < 0 {
		return 0, len(text), from
	}
	start = from + i
	next = start + len(argv[0])
	end = next
	for _, w := range argv[1:] {
		if i := strings.Index(text[end:], w); i >= 0 {
			end += i + len(w)
		}
	}
	return start, end, next
}

// DestructiveSQL returns where statements stand in a text that destroy data in a database.
func DestructiveSQL(text string) [][]int { return statement.Get().FindAllStringIndex(text, -1) }

var (
	statement = pattern.New(`(?i)\b(?:drop\s+(?:table|database|schema|user|role|view|column)` +
		`|truncate\s+(?:table\s+)?["\x60\w.]+` +
		`|delete\s+from\s+["\x60\w.]+|dropDatabase\(|\.deleteMany\(\{\}\)|\.drop\(\))`)
	// liveVariable says that a command works on what is live, taskWord that a task changes what it works on.
	liveVariable = pattern.New(`(?i)\b(?:rails_env|rack_env|node_env|app_env|env|environment|stage|deploy_env)` +
		`=["']?prod(?:uction)?\b`)
	liveName     = pattern.New(`(?i)(?:^|[^a-z0-9])(?:prod|production|prd|live)(?:$|[^a-z])`)
	taskWord     = pattern.New(`(?i)(?:^|[:_./-])(?:migrate|deploy|seed|rollback|drop|reset|release)(?:$|[:_./-])`)
	symbolicMode = pattern.New(`^[ugoa]*[+=][rwxXst]+(?:,[ugoa]*[+=-][rwxXst]+)*$`)
)

func readsSQL(w string) bool { return slices.Contains(sqlClients, path.Base(w)) }

func namesLive(w string) bool { return liveName.Get().MatchString(w) }

func movesTask(w string) bool { return taskWord.Get().MatchString(w) }

// harms returns what one call would do. Depth counts the programs around it that run it.
func harms(argv []string, depth int) []Harm {
	if len(argv) == 0 || depth > maxDepth {
		return nil
	}
	name, args := path.Base(argv[0]), argv[1:]
	var out []Harm
	switch name {
	case "sudo", "doas", "pkexec", "su", "run0":
		return append([]Harm{HarmPrivilege}, harms(behindOptions(args, "-u -g -C -h -p -c"), depth+1)...)
	case "ssh":
		rest := behindOptions(args, "-i -p -l -o -F -J -L -R -D -b -c -e -m -w -W")
		if len(rest) > 0 && namesLive(rest[0]) {
			out = append(out, HarmProduction)
		}
		return append(out, remote(rest, depth)...)
	case "docker", "podman", "kubectl":
		if i := slices.Index(args, "--"); i >= 0 {
			out = harms(args[i+1:], depth+1)
		}
	}
	if rehearses(name, args) {
		return out
	}
	for _, row := range known().dangers[name] {
		if says(row.words, args, operands(args)) && (row.when == nil || row.when(args)) {
			out = append(out, row.harm)
		}
	}
	changes := slices.Contains(deployers, name) && !onlyLooks(name, args) ||
		slices.Contains(taskRunners, name) && slices.ContainsFunc(args, movesTask)
	if changes && slices.ContainsFunc(args, namesLive) {
		out = append(out, HarmProduction)
	}
	return out
}

// remote judges a command that ssh hands to another machine as text, behind the name of that machine.
func remote(rest []string, depth int) (out []Harm) {
	if len(rest) < 2 {
		return nil
	}
	parsed, err := ParseCommand(strings.Join(rest[1:], " "))
	if err != nil {
		return harms(rest[1:], depth+1)
	}
	for _, c := range parsed.Calls {
		out = append(out, harms(c.Argv, depth+1)...)
	}
	return out
}

// behindOptions returns the command behind the options of a wrapper; those in valued have a value.
func behindOptions(args []string, valued string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if listed(valued, args[0]) && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	return args
}

// rehearses reports whether a program is asked to say only what it would do.
func rehearses(name string, args []string) bool {
	return slices.ContainsFunc(args, func(w string) bool {
		mode, given := strings.CutPrefix(w, "--dry-run=")
		return w == "--dry-run" || w == "--dryrun" || given && mode != "none"
	}) || name == "git" && slices.Contains(args, "clean") && says("-n+", args, nil)
}

// onlyLooks reports whether a program that works on live systems is asked to show something only.
func onlyLooks(name string, args []string) bool {
	if listed("aws gcloud az", name) {
		return slices.ContainsFunc(args, func(w string) bool {
			return listed("ls list show", w) || hasAnyPrefix(w, "describe", "list-", "get-")
		})
	}
	more, known := looksToo[name]
	looks := func(w string) bool { return listed(more, w) || slices.Contains(lookers[name], w) }
	return known && slices.ContainsFunc(args, looks)
}

var (
	sqlClients = strings.Fields("psql mysql mariadb sqlite3 sqlcmd mongo mongosh clickhouse-client cqlsh duckdb " +
		"sqlplus bq snowsql")
	deployers = strings.Fields("kubectl helm terraform tofu pulumi ansible-playbook ansible fly flyctl vercel " +
		"netlify heroku gcloud aws az sls serverless cap eb wrangler psql mysql mariadb mongo mongosh redis-cli scp rsync " +
		"sftp kamal nomad firebase railway pg_restore dropdb createdb flyway liquibase")
	taskRunners = strings.Fields("make gmake npm yarn pnpm npx rake rails bundle php python python3 gradle mvn just " +
		"task bash sh deploy deploy.sh alembic prisma knex go cargo composer")
)

// looksToo are, of programs that work on live systems, words beside those in lookers by which they only look.
var looksToo = map[string]string{
	"kubectl": "diff config", "helm": "diff", "terraform": "", "heroku": "logs ps releases status config",
	"pulumi": "preview stack",
}

// danger says by which arguments some programs do harm: where they hold one of the alternatives of words (see says),
// and when reports it.
type danger struct {
	names string
	harm  Harm
	words string
	when  func(args []string) bool
}

var dangers = []danger{
	{"rm", HarmDataLoss, "", removes},
	{"find", HarmDataLoss, "", func(args []string) bool {
		runs := slices.Contains(args, "-exec") || slices.Contains(args, "-execdir")
		return slices.Contains(args, "-delete") || runs && slices.Contains(args, "rm")
	}},
	{"shred wipefs fdisk parted sgdisk mkfs mkfs.ext4 mkfs.xfs mkfs.ext3 mkfs.vfat mkfs.btrfs mkswap",
		HarmDataLoss, "^*", nil},
	{"dd", HarmDataLoss, "", func(args []string) bool {
		device := func(w string) bool { return strings.HasPrefix(w, "of=/dev/") && w != "of=/dev/null" }
		return slices.ContainsFunc(args, device)
	}},
	{"dropdb mysqladmin", HarmDataLoss, "", func(args []string) bool {
		named := len(args) > 0 && len(args) < 3 && !strings.HasPrefix(args[0], "-")
		return named || slices.Contains(args, "drop")
	}},
	{"redis-cli", HarmDataLoss, "flushall | flushdb", nil},
	{"kubectl", HarmDataLoss, "delete", nil},
	{"helm", HarmDataLoss, "uninstall | delete", nil},
	{"terraform tofu pulumi cdk", HarmDataLoss, "destroy | -destroy", nil},
	{"docker podman", HarmDataLoss, "prune system | prune volume | volume rm | down -v | down --volumes", nil},
	{"docker-compose", HarmDataLoss, "down -v | down --volumes", nil},
	{"aws", HarmDataLoss, "rb | rm --recursive | delete-* | terminate-*", nil},
	{"gcloud az gsutil", HarmDataLoss, "delete | rm -r", nil},
	{"gh", HarmDataLoss, "repo delete", nil},
	{"rails rake bundle", HarmDataLoss, "db:drop | db:reset | db:purge | db:schema:load", nil},
	{"php artisan", HarmDataLoss, "migrate:fresh | migrate:reset | db:wipe", nil},
	{"prisma npx", HarmDataLoss, "migrate reset | --accept-data-loss | --force-reset", nil},
	{"git", HarmHistory, "", destroysHistory},
	{"shutdown reboot halt poweroff", HarmOutage, "", nil},
	{"init telinit", HarmOutage, "0 | 6", nil},
	{"systemctl", HarmOutage, "reboot | poweroff | halt | kexec | stop | kill", nil},
	{"kill pkill killall", HarmOutage, "", kills},
	{"chmod", HarmPrivilege, "", opensToAll},
	{"chown", HarmPrivilege, "", func(args []string) bool {
		o := operands(args)
		return len(o) > 0 && (o[0] == "root" || strings.HasPrefix(o[0], "root:"))
	}},
	{"npm pnpm cargo", HarmExternal, "^publish | ^unpublish | ^yank", nil},
	{"yarn", HarmExternal, "publish", nil},
	{"twine", HarmExternal, "^upload", nil},
	{"gem docker podman", HarmExternal, "^push", nil},
	{"poetry flit uv hatch", HarmExternal, "^publish", nil},
	{"gh", HarmExternal, "^release create | ^release delete | ^release edit", nil},
	{"sendmail mail mailx mutt", HarmExternal, "^*", nil},
}

// gitHarms says by which words the commands of git destroy commits, or work that is in no commit.
var gitHarms = map[string]string{
	"push":  "-f+ | --force | --force* | --mirror | --delete | --prune | +? | :?",
	"reset": "--hard", "clean": "-f+ | --force", "filter-branch": "", "filter-repo": "", "stash": "^clear | ^drop",
	"reflog": "^expire | ^delete", "update-ref": "-d",
}

// says reports whether arguments hold all the words of one of the alternatives, which "|" separates. A word stands
// for itself in any letter case, "-x+" for joined letters with x among them, "x*" for what begins with x and "x?" for
// what goes on behind it; "^x" has to be the first operand, and "^*" any.
func says(alternatives string, args, operands []string) bool {
	for words := range strings.SplitSeq(alternatives, "|") {
		missing := func(word string) bool { return !hasWord(word, args, operands) }
		if !slices.ContainsFunc(strings.Fields(words), missing) {
			return true
		}
	}
	return false
}

func hasWord(word string, args, operands []string) bool {
	rest, last := word[:len(word)-1], word[len(word)-1]
	if word[0] == '^' {
		return len(operands) > 0 && (word == "^*" || operands[0] == word[1:])
	}
	return slices.ContainsFunc(args, func(w string) bool {
		switch last {
		case '+':
			return hasLetter(w, rest[1:])
		case '*':
			return strings.HasPrefix(w, rest)
		case '?':
			return strings.HasPrefix(w, rest) && len(w) > len(rest)
		}
		return strings.ToLower(w) == word
	})
}

// hasLetter reports whether a word is a group of one-letter options that holds one of the letters.
func hasLetter(w, letters string) bool {
	return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w[1:], letters)
}

// operands returns the words that are no options.
func operands(args []string) (out []string) {
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
const regenerable = "node_modules dist build target out bin obj coverage htmlcov __pycache__ .pytest_cache " +
	".mypy_cache .ruff_cache .cache .next .nuxt .turbo .parcel-cache .gradle .tox .venv venv tmp temp .tmp *.pyc *.o " +
	"*.log *.tmp *.class coverage.out package-lock.json yarn.lock .coverage storybook-static DerivedData _build"

// removes reports whether rm deletes more than what a build makes anew: a folder, or anything outside the present one.
func removes(args []string) bool {
	recursive := slices.ContainsFunc(args, func(w string) bool { return hasLetter(w, "rR") || w == "--recursive" })
	forced := slices.ContainsFunc(args, func(w string) bool { return hasLetter(w, "f") || w == "--force" })
	targets := operands(args)
	return recursive && forced && len(targets) == 0 || slices.ContainsFunc(targets, func(w string) bool {
		w = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(w, "/*"), "/"), "/.")
		return (recursive || forced && strings.ContainsAny(w, "*?$`~/")) && !madeAnew(w)
	})
}

// madeAnew reports whether a build makes anew what a path names, or whether that is only kept for a while.
func madeAnew(w string) bool {
	switch {
	case strings.ContainsAny(w, "$`") || strings.Contains(w, ".."):
		return false
	case strings.HasPrefix(w, "/"):
		return strings.HasPrefix(w, "/tmp/") && !strings.Contains(w, "*")
	}
	return listed(regenerable, path.Base(w)) && !strings.HasPrefix(w, "~")
}

// destroysHistory reports whether a git command destroys commits, or work that is in no commit.
func destroysHistory(args []string) bool {
	for len(args) > 1 && listed("-C -c --git-dir --work-tree", args[0]) {
		args = args[2:]
	}
	rest := operands(args)
	if len(rest) == 0 {
		return false
	}
	words, known := gitHarms[rest[0]]
	return known && says(words, args, rest[1:])
}

// kills reports whether a process gets no chance to end by itself.
func kills(args []string) bool {
	for i := range len(args) - 1 {
		if listed("-s --signal", args[i]) && listed("9 KILL SIGKILL", strings.ToUpper(args[i+1])) {
			return true
		}
	}
	return says("-9 | -kill | -sigkill | --signal=kill | --signal=9", args, nil)
}

// opensToAll reports whether chmod lets everybody write, or lets a program run with another's rights.
func opensToAll(args []string) bool {
	o := operands(args)
	if len(o) == 0 {
		return false
	}
	mode := o[0]
	if strings.Trim(mode, "01234567") == "" && len(mode) >= 3 {
		return mode[len(mode)-1]&2 != 0 || len(mode) == 4 && mode[0] >= '4'
	}
	if !symbolicMode.Get().MatchString(mode) {
		return false
	}
	for part := range strings.SplitSeq(mode, ",") {
		who, what, _ := strings.Cut(strings.Replace(part, "=", "+", 1), "+")
		if strings.Contains(what, "s") || strings.ContainsAny(who, "oa") && strings.Contains(what, "w") {
			return true
		}
	}
	return false
}
