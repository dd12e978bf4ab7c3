package agent

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pawl/agent/wire"
)

// Dialect is the form of an agent's event stream.
type Dialect string

// The dialects. DialectACP is the Agent Client Protocol.
const (
	DialectACP      Dialect = "acp"
	DialectCodex    Dialect = "codex"
	DialectClaude   Dialect = "claude"
	DialectOpencode Dialect = "opencode"
	DialectGemini   Dialect = "gemini"
	DialectPi       Dialect = "pi"
	DialectContinue Dialect = "continue"
	DialectCline    Dialect = "cline"
)

// Program is one way to run one external agent, as data. In Args, Resume, Setup, Env and Files these stand for values:
// {url} the gateway's base address for the agent's provider, {model} the model, {window} the size of its context and
// {out} that of an answer, both in tokens, {key} the dummy key, {home} the agent's own home, {session} its session,
// {prompt} the prompt; the last two only in Args and Resume.
type Program struct {
	// Name is the agent's name in pawl, Title what its makers call it.
	Name, Title string
	Kind        Kind
	// Names are the program's names on PATH, best first.
	Names []string
	// Version are the arguments that print the version, nil where there are none, and Tested the first and the last
	// version that pawl was tried with.
	Version []string
	Tested  [2]string
	// Install is the command that installs the last tested version.
	Install string

	Wire    wire.Form
	Dialect Dialect
	// Args run the agent; Resume goes on with its session instead, and is nil where a session cannot be gone on with.
	// An ACP agent is resumed over the protocol.
	Args, Resume []string
	// Acts and Reads are arguments that stand for {access} in these: for an agent that works, and for one that is asked
	// and must change nothing. There {schema} is the form of the answer as JSON, and {form} a file that holds it as
	// OpenAI's strict mode wants it.
	Acts, Reads []string
	// Setup are commands to run first, each time.
	Setup [][]string
	// Env is added to the environment, and Files are written below its home before it starts.
	Env   map[string]string
	Files map[string]string
	// Obeys are the files and folders of a project by which the program can be made to run commands or to call
	// elsewhere. It sees those alone that its user trusts (Settings), and is not started where the others cannot be
	// hidden. Distrust are arguments that stand for {distrust}, which has it leave all of them alone by itself, hidden
	// or not; they are left out where all are trusted.
	Obeys, Distrust []string
	// Texts are files below the home that are made of texts of the project, which the agent does not read there by
	// itself.
	Texts map[string][]string
	// Chooses says that the program has a model of its own choice where none is named (Unnamed).
	Chooses bool
	// Mode is the session mode in which an ACP agent asks before it acts, where that is not its default.
	Mode string
	// Asks says that the agent asks for permission before it acts. One that does not is held by the walls alone.
	Asks bool
	// ReadsAlone says that the agent is not offered to read files through pawl, because it makes nothing of the answer
	// that one is not there. It reads them from the disk then.
	ReadsAlone bool
	// Unproxied says that the agent would ask even for its own loopback through a proxy, whatever NO_PROXY says.
	Unproxied bool
	// Quirks are catalogue keys of what a user should know.
	Quirks []string
}

// Catalog returns every external agent that pawl knows, in the order in which they are offered. The caller may change
// it.
func Catalog() []Program {
	return slices.Concat(headlessPrograms(), acpPrograms())
}

// Names lists the names of the catalog.
func Names() []string {
	var out []string
	for _, p := range Catalog() {
		out = append(out, p.Name)
	}
	return out
}

// Unnamed is the program as it runs where no model is named: without every argument, variable and line of its settings
// that would name one.
func (p Program) Unnamed() Program {
	const value = "{model}"
	arguments := func(args []string) []string {
		for i := 1; i < len(args); i++ {
			if args[i] == value {
				return slices.Concat(args[:i-1], args[i+1:])
			}
		}
		return args
	}
	p.Args, p.Resume = arguments(p.Args), arguments(p.Resume)
	env, files := map[string]string{}, map[string]string{}
	for name, v := range p.Env {
		if v != value {
			env[name] = v
		}
	}
	for name, text := range p.Files {
		var kept strings.Builder
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) != "model = \"{model}\"" {
				kept.WriteString(line)
			}
		}
		files[name] = kept.String()
	}
	p.Env, p.Files = env, files
	return p
}

// Known returns the catalog's entry of a name.
func Known(name string) (Program, bool) {
	all := Catalog()
	i := slices.IndexFunc(all, func(p Program) bool { return p.Name == name })
	if i < 0 {
		return Program{}, false
	}
	return all[i], true
}

// Installed returns the absolute path of a program, where one of its names is found. look is exec.LookPath or the like.
func (p Program) Installed(look func(program string) (string, bool)) (string, bool) {
	for _, n := range p.Names {
		if path, ok := look(n); ok {
			return path, true
		}
	}
	return "", false
}

var versionText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+\.\d+`) })

// FindVersion finds a version in what a program prints, "" when there is none.
func FindVersion(output string) string { return versionText().FindString(output) }

// TestedWith reports whether a version lies in the tested range.
func (p Program) TestedWith(version string) bool {
	return version != "" && compare(version, p.Tested[0]) >= 0 && compare(version, p.Tested[1]) <= 0
}

// compare orders versions of three numbers.
func compare(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range 3 {
		if d := number(x, i) - number(y, i); d != 0 {
			return d
		}
	}
	return 0
}

func number(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, _ := strconv.Atoi(parts[i]) // what is no number counts as 0
	return n
}
