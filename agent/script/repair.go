package script

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl/effect"
	"pawl/plan"
	"pawl/policy"
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

// dependencyFailure matches what tools say when the record of the dependencies does not fit the code.
var dependencyFailure = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`missing go\.sum entry`, `updates to go\.(mod|sum) needed`, `inconsistent vendoring`, `no required module provides package`,
		`go: go\.mod file indicates`, `lock file .*needs to be updated but --locked`, `cannot update the lock file`,
		`the lock file .* (needs to be updated|is not up to date)`, `pubspec\.lock`, `run ['"\x60]?(dart|flutter) pub get`,
	}, "|"))
})

// formatFailure matches the output of commands that judge the format of code.
var formatFailure = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bgofmt\b|would reformat|code style issues found|not formatted|Diff in .*\.rs`)
})

func (a *Agent) repair(e effect.Effect) (effect.RepairResult, error) {
	spec, err := effect.Decode[effect.RepairSpec](e.Spec)
	if err != nil {
		return effect.RepairResult{}, err
	}
	v := a.view(e.Place)
	defer v.close()
	commands, reason := v.remedy(spec)
	return effect.RepairResult{Steps: proposal(commands, "r", spec.Failure.What), Why: reason, Said: effect.Said{Agent: Name}}, nil
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
	if len(fixers) == 0 {
		return nil, whyNone
	}
	tried := tried(spec)
	for _, c := range order(spec.Failure, failing) {
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
		return !own[[2]string{f.family, f.dir}] && !(f.family == "go" && f.class == formatters && own[[2]string{"go", ""}])
	})
}

// order is the order in which classes are tried.
func order(f effect.Failure, failing []effect.CheckOutcome) []class {
	text := f.Output
	kinds := map[string]bool{}
	for _, o := range failing {
		text += "\n" + o.Output
		kinds[o.Kind] = true
	}
	switch {
	case dependencyFailure().MatchString(text):
		return []class{tidiers, formatters, linters}
	case kinds["format"] || formatFailure().MatchString(text):
		return []class{formatters, linters, tidiers}
	case kinds["lint"]:
		return []class{linters, formatters, tidiers}
	}
	return []class{formatters, linters, tidiers}
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

// listedByGofmt is the command that formats exactly the files that a failing check of gofmt listed, or "". It changes less
// than the formatting of whole modules does, and it reaches files that belong to no package.
func listedByGofmt(failing []effect.CheckOutcome) string {
	for _, o := range failing {
		if o.Kind != "format" || !strings.Contains(o.Command, "gofmt -l") {
			continue
		}
		var files []string
		for line := range strings.Lines(o.Output) {
			name := strings.TrimPrefix(strings.TrimSpace(line), "./")
			if !strings.HasSuffix(name, ".go") || !fs.ValidPath(name) || strings.HasPrefix(name, "-") || len(files) == maxListed {
				return ""
			}
			files = append(files, policy.Quote(name))
		}
		if len(files) > 0 {
			return fixer{dir: o.Dir, command: "gofmt -w " + strings.Join(files, " ")}.shell()
		}
	}
	return ""
}
