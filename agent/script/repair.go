package script

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl/text/shell"

	"pawl/kernel/effect"
	"pawl/text/plan"
)

// Reasons that a RepairResult gives in Why, as keys of the catalogue.
const (
	whyFormat      = "script.repair_format"
	whyLint        = "script.repair_lint"
	whyTidy        = "script.repair_tidy"
	whyMachine     = "script.repair_machine"
	whyNone        = "script.repair_none"
	whyAllTried    = "script.repair_all_tried"
	whyTreeChanged = "script.repair_tree_changed"
)

var why = map[class]string{formatters: whyFormat, linters: whyLint, tidiers: whyTidy}

// sign is a text by which a failure says what class of fixer mends it, and of which ecosystem; "" where that is not
// told.
type sign struct {
	class  class
	family string
	match  *regexp.Regexp
}

// signs are what tools say when the record of the dependencies does not fit the code, and when code is not formatted.
var signs = sync.OnceValue(func() []sign {
	return []sign{
		{tidiers, "go", regexp.MustCompile(`missing go\.sum entry|updates to go\.(mod|sum) needed|inconsistent vendoring|no required module provides package|go: go\.mod file indicates`)},
		{tidiers, "rust", regexp.MustCompile(`lock file .*needs to be updated but --locked|cannot update the lock file|the lock file .* (needs to be updated|is not up to date)`)},
		{tidiers, "dart", regexp.MustCompile(`pubspec\.lock|run ['"\x60]?(dart|flutter) pub get`)},
		{formatters, "go", regexp.MustCompile(`\bgofmt\b`)},
		{formatters, "rust", regexp.MustCompile(`Diff in .*\.rs`)},
		{formatters, "", regexp.MustCompile(`(?i)would reformat|code style issues found|not formatted`)},
	}
})

// styleCheck matches commands and names of checks that judge how code looks, whatever runs them.
var styleCheck = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|[^a-z])(fmt|format|formatting|lint|style|prettier|eslint|clippy|vet|rubocop|ruff|black)($|[^a-z])`)
})

func (a *Agent) repair(e effect.Effect) (effect.RepairResult, error) {
	spec, err := effect.Decode[effect.RepairSpec](e.Spec)
	if err != nil {
		return effect.RepairResult{}, err
	}
	v := a.view(e.Place)
	defer v.close()
	commands, reason := v.remedy(spec)
	return effect.RepairResult{Steps: proposal(commands, "r", spec.Failure.What), Why: reason,
		Final: len(commands) == 0, Said: effect.Said{Agent: Name}}, nil
}

// remedy chooses the commands of one attempt: the fixers of one class, the class that fits the failure first, without
// what was tried on the same failure before.
func (v *view) remedy(spec effect.RepairSpec) ([]string, string) {
	failing := failed(spec.Failure.Checks)
	if slices.ContainsFunc(failing, func(o effect.CheckOutcome) bool { return o.Environment }) {
		return nil, whyMachine
	}
	if len(failing) > 0 && !slices.ContainsFunc(failing, func(o effect.CheckOutcome) bool { return o.Command != "" }) {
		return nil, whyTreeChanged
	}
	fixers := relevant(v.fixers(spec.Context), failing)
	classes, own := fitting(spec.Failure, failing)
	if own != "" {
		fixers = slices.DeleteFunc(fixers, func(f fixer) bool { return f.family != own })
	}
	if !slices.ContainsFunc(fixers, func(f fixer) bool { return slices.Contains(classes, f.class) }) {
		return nil, whyNone
	}
	tried := tried(spec)
	for _, c := range classes {
		var commands []string
		for _, f := range fixers {
			command := f.shell()
			if f.command == goFormat {
				if listed := listedByGofmt(failing); listed != "" && !tried[listed] {
					command = listed
				}
			}
			if f.class == c && !tried[command] && !slices.Contains(commands, command) {
				commands = append(commands, command)
			}
		}
		if len(commands) > 0 {
			return commands, why[c]
		}
	}
	return nil, whyAllTried
}

// failed returns the outcomes that stand for a failure.
func failed(outcomes []effect.CheckOutcome) []effect.CheckOutcome {
	return slices.DeleteFunc(slices.Clone(outcomes), func(o effect.CheckOutcome) bool {
		return o.Status == effect.CheckPassed || o.Status == effect.CheckSkipped
	})
}

// relevant keeps the fixers of the folders and ecosystems in which a check failed. A failing command that belongs to no
// ecosystem, and the failure of a step, may be anybody's.
func relevant(fixers []fixer, failing []effect.CheckOutcome) []fixer {
	own := map[[2]string]bool{}
	for _, o := range failing {
		if o.Command == "" {
			continue
		}
		f := familyOf(o.Check)
		if f == "" {
			return fixers
		}
		own[[2]string{f, o.Dir}] = true
	}
	if len(own) == 0 {
		return fixers
	}
	return slices.DeleteFunc(slices.Clone(fixers), func(f fixer) bool {
		// The check of gofmt in a folder covers the modules below it.
		return !own[[2]string{f.family, f.dir}] &&
			!(f.family == "go" && f.class == formatters && own[[2]string{"go", ""}])
	})
}

// fitting are the classes that can mend a failure, the likeliest first: by what the failure says, and by what the check
// that failed is about. A test that fails is mended by no formatter, and neither is a step that could not be done.
// Where the text tells the ecosystem, that is told as well.
func fitting(f effect.Failure, failing []effect.CheckOutcome) (classes []class, own string) {
	text := f.Output
	looks, lints := false, false
	for _, o := range failing {
		text += "\n" + o.Output
		looks = looks || o.Kind == "format"
		lints = lints || o.Kind == "lint" || o.Kind != "test" && o.Kind != "build" &&
			styleCheck().MatchString(o.Name+" "+o.Command)
	}
	for _, s := range signs() {
		if !s.match.MatchString(text) {
			continue
		}
		if len(failing) > 0 {
			own = "" // the check says whose it is
		} else {
			own = s.family
		}
		if s.class == tidiers {
			return []class{tidiers}, own
		}
		return []class{formatters, linters}, own
	}
	switch {
	case looks:
		return []class{formatters, linters}, ""
	case lints:
		return []class{linters, formatters}, ""
	}
	return nil, ""
}

// tried returns the commands that were proposed for the very failure that stands again. An attempt whose failure is not
// known any more counts, so that nothing is proposed for ever.
func tried(spec effect.RepairSpec) map[string]bool {
	out := map[string]bool{}
	for _, s := range spec.Proposed {
		if n := s.Repair(); n >= 1 && n <= len(spec.Earlier) {
			if before := spec.Earlier[n-1].Fingerprint; before != "" && before != spec.Failure.Fingerprint {
				continue
			}
		}
		for _, command := range commandsOf(s) {
			out[command] = true
		}
	}
	return out
}

// commandsOf returns the commands that a step runs.
func commandsOf(s plan.Step) []string {
	var out []string
	for _, call := range s.ToolCalls {
		var args struct {
			Command string `json:"command"`
		}
		if call.Name == runTool && json.Unmarshal(call.ArgsHint, &args) == nil {
			out = append(out, args.Command)
		}
	}
	return out
}

const (
	goFormat  = "go fmt ./..."
	maxListed = 40 // files that a command names before it speaks of all of them
)

// listedByGofmt is the command that formats exactly the files that a failing check of gofmt listed, or "". It changes
// less than the formatting of whole modules does, and it reaches files that belong to no package.
func listedByGofmt(failing []effect.CheckOutcome) string {
	for _, o := range failing {
		if o.Kind != "format" || !strings.Contains(o.Command, "gofmt -l") {
			continue
		}
		var files []string
		for line := range strings.Lines(o.Output) {
			name := strings.TrimPrefix(strings.TrimSpace(line), "./")
			if !strings.HasSuffix(name, ".go") || !fs.ValidPath(name) || strings.HasPrefix(name, "-") ||
				len(files) == maxListed {
				return ""
			}
			files = append(files, shell.Quote(name))
		}
		if len(files) > 0 {
			return fixer{dir: o.Dir, command: "gofmt -w " + strings.Join(files, " ")}.shell()
		}
	}
	return ""
}
