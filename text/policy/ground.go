package policy

import (
	"path"
	"slices"
	"strings"

	"pawl"
	"pawl/text/pattern"
	"pawl/text/shell"
)

// Ground says where a command would run, as far as the caller vouches for it. The zero value vouches for nothing.
//
// Behind walls a question about what the walls hold protects nobody: a check that is run without asking may do all of
// it. So there policy asks about what a text shows to lead out, and about what the walls leave standing.
type Ground struct {
	// Walled says that walls hold the command: it changes nothing but the tree that it starts in and a /tmp of its own,
	// it reaches no network but what its call was granted, and no process of it is left.
	Walled bool `json:"walled,omitempty"`
	// Own says that the tree was made for this work: none of the user's files are in it, and it is landed or thrown
	// away as a whole. In the user's own tree files that git ignores cannot be restored, so what deletes and what is
	// not known is asked about there.
	Own bool `json:"own,omitempty"`
}

// guess asks about a word whose value is not known. The value may stay unknown where the text makes it itself, out of
// what was judged, and what stands beside it does not lead out. A variable that the text does not set may hold any
// path.
func (j *judge) guess(w shell.Word) {
	if !j.own || w.Foreign || leadsOut(j, w.Text) {
		j.find(Ask, CodeDynamic, w.Text)
	}
}

// pattern asks about a word that may turn into the name of a file which reads like an option.
func (j *judge) pattern(w shell.Word) {
	if !j.own {
		j.find(Ask, CodeDynamic, w.Text)
	}
}

// odd asks about a feature of the shell by which text becomes code, unless walls hold what it does and the text hides
// no command in quotes.
func (j *judge) odd(what string) {
	if !j.own || j.reader.Hides() {
		j.find(Ask, CodeShellFeature, what)
	}
}

// atLeast raises the risk of the verdict.
func (j *judge) atLeast(r pawl.Risk) {
	if r.AtLeast(j.least) {
		j.least = r
	}
}

// leadsOut reports whether a text begins like a path that is not the workspace's, or climbs.
func leadsOut(j *judge, text string) bool {
	if strings.HasPrefix(text, "..") || strings.Contains(text, "/..") || strings.HasPrefix(text, "~") {
		return true
	}
	return strings.HasPrefix(text, "/") && !isPrivate(j, text) && !inRoot(j, text)
}

// inRoot reports whether an absolute path begins in the workspace.
func inRoot(j *judge, text string) bool {
	clean := path.Clean(text)
	return j.root != "" && (clean == j.root || strings.HasPrefix(clean, j.root+"/"))
}

// isPrivate reports whether an absolute path belongs to the command alone: behind walls /tmp is empty at its start and
// gone at its end.
func isPrivate(j *judge, text string) bool {
	if !j.walled {
		return false
	}
	clean := path.Clean(text)
	for _, dir := range []string{"/tmp", "/var/tmp"} {
		if clean == dir || strings.HasPrefix(clean, dir+"/") {
			return true
		}
	}
	return false
}

// isCommon reports whether an absolute path is a part of the system that holds nobody's data: what it is, and its
// programs, headers and documents. Behind walls nothing of it can be changed.
func isCommon(j *judge, text string) bool {
	if !j.walled || strings.ContainsAny(text, "*?[") {
		return false
	}
	clean := path.Clean(text)
	if slices.Contains(systemFiles, clean) {
		return true
	}
	for _, dir := range systemFolders {
		if clean == dir || strings.HasPrefix(clean, dir+"/") {
			return true
		}
	}
	return false
}

var (
	systemFiles = []string{
		"/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/alpine-release", "/etc/redhat-release",
		"/etc/timezone",
		"/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/loadavg", "/proc/uptime", "/proc/self/status",
		"/proc/self/limits",
	}
	systemFolders = []string{"/usr/include", "/usr/share", "/usr/lib", "/usr/lib64", "/usr/bin", "/usr/local/go",
		"/usr/local/include", "/usr/local/lib", "/usr/local/bin", "/lib", "/lib64", "/bin"}
)

// codePath finds absolute paths in text that is code.
var codePath = pattern.New(`["'(=,\s](/[A-Za-z0-9_.][^\s"'(),;]*)`)

// strange judges a command that is on no list where walls hold it and the tree is pawl's own. What it does to the tree
// is not asked about; what its words show to lead out is, and so is a name that pretends to be a tool of the system.
func (c *command) strange() {
	c.judge.atLeast(pawl.RiskMedium)
	if base := c.argv[0].Base(); c.name != base && !strings.HasPrefix(c.name, "/") {
		if r, known := known().programs[base]; known && r.class == reads {
			c.ask(CodeNotAllowlisted)
		}
	}
	for _, w := range c.args {
		switch {
		case w.Dynamic:
			c.judge.guess(w)
		case handed.Get().MatchString(w.Text):
			c.judge.find(Ask, CodeDynamic, w.Text)
		default:
			c.judge.attached(w, c.cwds)
		}
	}
}

// handed finds a variable of the environment in text that is handed to another interpreter.
var handed = pattern.New(`\$\{?[A-Z][A-Z_]`)

// attached asks about a path that leads out or that is protected where it stands inside a word: behind an option or an
// equals sign, or in code.
func (j *judge) attached(w shell.Word, cwds []string) {
	var parts []string
	if _, value, ok := strings.Cut(w.Text, "="); ok {
		parts = append(parts, value)
	}
	if len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' && !strings.HasPrefix(w.Text, "-I") &&
		!strings.HasPrefix(w.Text, "-L") {
		parts = append(parts, w.Text[2:])
	}
	if strings.ContainsAny(w.Text, " '\"(\n") {
		for _, m := range codePath.Get().FindAllStringSubmatch(w.Text, 20) {
			parts = append(parts, m[1])
		}
	}
	for _, p := range parts {
		switch {
		case p == "" || len(p) > maxPath || isCommon(j, p) || strings.HasPrefix(p, "//"):
		case leadsOut(j, p):
			j.find(Ask, CodePathEscape, p)
		case strings.Contains(p, "/"):
			j.opaque([]shell.Word{{}, shell.Literal(p)}, cwds)
		}
	}
}

// isOffline reports whether a command that would fetch something can reach nothing: the walls hold it, and no network
// was asked for with the call. A question would not give it any.
func isOffline(c *command) bool {
	return c.judge.own && !c.judge.req.Network && !c.judge.prof.AllowNetwork
}

// judgeFetch judges a command that fetches dependencies.
func judgeFetch(c *command) {
	if isOffline(c) {
		c.judge.network = true
		c.strange()
		return
	}
	c.judge.connect(text(c.argv))
}

// checkFetch judges such a command with the files that it names.
func checkFetch(c *command, args []shell.Word) {
	judgeFetch(c)
	c.operandPaths(args)
}

// judgeRemote judges a program whose work lies elsewhere or comes from there.
func judgeRemote(c *command) {
	transports(c)
	name := c.argv[0].Base()
	switch {
	case reachesOthers(c):
		c.beyond()
	case slices.Contains(fetchers, name) && isOffline(c):
		c.judge.network = true
		c.judge.opaque(c.argv, c.cwds)
		c.strange()
		return
	case c.judge.held && !c.judge.req.Network && slices.Contains(probes, name) && local(c.args):
		c.judge.network = true
		c.judge.opaque(c.argv, c.cwds)
		return
	}
	c.judge.connect(text(c.argv))
	c.unlisted(CodeNotAllowlisted)
	if c.judge.own {
		c.strange()
	}
}

// local reports whether every address among the arguments of a client is the command's own loopback.
func local(args []shell.Word) bool {
	hosts := 0
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.Dynamic || w.Pattern && !strings.Contains(w.Text, "://"):
			return false
		case slices.Contains(valuedProbe, w.Text):
			i++
		case w.Flag():
			if !slices.Contains(plainProbe, w.Text) && strings.Trim(w.Text, "-sSfivLIkN") != "" {
				return false
			}
		default:
			host := w.Text
			if scheme, rest, ok := strings.Cut(host, "://"); ok {
				if scheme != "http" && scheme != "https" && scheme != "ws" {
					return false
				}
				host = rest
			}
			host, _, _ = strings.Cut(host, "/")
			host, _, _ = strings.Cut(host, "?")
			if strings.Contains(host, "@") {
				return false
			}
			if name, port, ok := strings.Cut(host, ":"); ok && number(port) {
				host = name
			}
			if !slices.Contains([]string{"localhost", "127.0.0.1", "0.0.0.0", "[::1]"}, host) &&
				!(hosts > 0 && number(host)) {
				return false
			}
			hosts++
		}
	}
	return hosts > 0
}

var (
	// fetchers get packages. Without a network they find what is there already, or fail.
	fetchers = []string{"pip", "pip3", "pipx", "uv", "uvx", "poetry", "gem", "rustup", "govulncheck"}
	// probes ask servers. Behind walls without a network the only ones are the command's own.
	probes      = []string{"curl", "wget", "nc", "ncat", "http", "xh", "ping"}
	valuedProbe = []string{"-o", "-d", "-H", "-X", "-m", "-w", "-A", "-c", "--data", "--data-raw", "--header",
		"--request", "--max-time", "--connect-timeout", "--retry", "--retry-delay", "-O"}
	plainProbe = []string{"--silent", "--fail", "--show-error", "--include", "--head", "--location", "--verbose", "-q",
		"-qO-", "-z", "--retry-connrefused", "--compressed"}
)
