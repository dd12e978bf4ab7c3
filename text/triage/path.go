package triage

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"pawl/machine/workflow"
)

// Design says how much has to be designed before the work begins.
type Design string

// How much design is needed. The empty value says that it cannot be told.
const (
	DesignUnknown Design = ""
	DesignNone    Design = "none"
	DesignSimple  Design = "simple"
	DesignFull    Design = "full"
)

// Extent says how far a change reaches.
type Extent string

// How far a change reaches. The empty value says that it cannot be told.
const (
	ExtentUnknown Extent = ""
	ExtentPoint   Extent = "point" // 单点: one place
	ExtentLocal   Extent = "local" // 局部: one module
	ExtentCross   Extent = "cross" // 跨模块: several modules
)

// Factors are what the path of a requirement depends on (docs/spec/workflow.md#complexity), but for the findings of
// extremely high risk.
type Factors struct {
	New    bool   `json:"new"`   // a project from nothing
	Major  bool   `json:"major"` // a refactoring at large
	Design Design `json:"design"`
	Extent Extent `json:"extent"`
}

// Path decides the path, with the reasons, the first of which decided. ehrb says that the requirement would do
// something of extremely high risk. Where a factor cannot be told and none forces the standard path, the path is light.
func (f Factors) Path(ehrb bool) (workflow.Path, []Reason) {
	var why []Reason
	for _, row := range []struct {
		holds bool
		key   string
	}{
		{f.New, "triage.path_new"}, {f.Major, "triage.path_major"}, {ehrb, "triage.path_ehrb"},
		{f.Design == DesignFull, "triage.path_design_full"}, {f.Extent == ExtentCross, "triage.path_cross"},
	} {
		if row.holds {
			why = append(why, because(row.key))
		}
	}
	switch {
	case len(why) > 0:
		return workflow.PathStandard, why
	case f.Design == DesignNone && f.Extent == ExtentPoint:
		return workflow.PathTweak, []Reason{because("triage.path_point")}
	case f.Design == DesignUnknown || f.Extent == ExtentUnknown:
		return workflow.PathLight, []Reason{because("triage.path_unknown")}
	}
	if f.Design == DesignSimple {
		why = append(why, because("triage.path_design_simple"))
	}
	if f.Extent == ExtentLocal {
		why = append(why, because("triage.path_local"))
	}
	return workflow.PathLight, why
}

// Path decides the path of an evaluated requirement.
func (e Evaluation) Path() (workflow.Path, []Reason) { return e.Factors.Path(e.Dangerous()) }

// Limits of a tweak (docs/spec/workflow.md#paths), and the size from which a light change is clearly larger than it was
// taken for.
const (
	TweakFiles = 2
	TweakLines = 30
	LightFiles = 10
	LightLines = 500
)

// Facts are what is known of a change.
type Facts struct {
	Files    int  `json:"files"`
	Lines    int  `json:"lines"` // added and removed
	Modules  int  `json:"modules"`
	HighRisk bool `json:"ehrb"`
}

// Outgrown reports whether a change has become too large or too dangerous for its path. It returns the path that it
// needs and why, or the same path and an empty Reason. A tweak becomes light and a light change standard; the standard
// path is never outgrown. One step is taken at a time, because a change that is planned anew is measured anew.
func Outgrown(p workflow.Path, f Facts) (workflow.Path, Reason) {
	files, lines, next := 0, 0, p
	switch p {
	case workflow.PathTweak:
		files, lines, next = TweakFiles, TweakLines, workflow.PathLight
	case workflow.PathLight:
		files, lines, next = LightFiles, LightLines, workflow.PathStandard
	default:
		return p, Reason{}
	}
	switch {
	case f.HighRisk:
		return next, because("triage.grown_ehrb")
	case f.Modules > 1:
		return next, because("triage.grown_modules", strconv.Itoa(f.Modules))
	case f.Files > files:
		return next, because("triage.grown_files", strconv.Itoa(f.Files), strconv.Itoa(files))
	case f.Lines > lines:
		return next, because("triage.grown_lines", strconv.Itoa(f.Lines), strconv.Itoa(lines))
	}
	return p, Reason{}
}

// Changed is one file of a change.
type Changed struct {
	Path    string // relative to the repository, with slashes
	Added   int    // lines
	Removed int
}

// Measure counts what a change consists of. Each path counts once; pawl's own folder does not count. Files at the top
// of the repository, such as go.mod and README.md, belong to every module and are one of their own only when nothing
// else changes.
func Measure(files []Changed) Facts {
	var f Facts
	var paths, modules []string
	top := false
	for _, c := range files {
		p := path.Clean(strings.ReplaceAll(c.Path, `\`, "/"))
		p = strings.TrimPrefix(p, "/")
		if p == ".pawl" || strings.HasPrefix(p, ".pawl/") {
			continue
		}
		f.Lines += max(0, c.Added) + max(0, c.Removed)
		paths = append(paths, p)
		if m := Module(p); m == "" {
			top = true
		} else {
			modules = append(modules, m)
		}
	}
	f.Files, f.Modules = distinct(paths), distinct(modules)
	if f.Modules == 0 && top {
		f.Modules = 1
	}
	return f
}

func distinct(s []string) int {
	slices.Sort(s)
	return len(slices.Compact(s))
}

// containers are folders that hold modules without being one.
var containers = []string{"src", "internal", "pkg", "lib", "libs", "app", "apps", "packages", "cmd", "services",
	"modules", "crates", "plugins", "components"}

// Module names the module that a path belongs to: its first folder, or the one below a folder that only holds modules,
// such as src/ or internal/. Tests belong to what they test where they stand in a folder of the same name below tests/.
// It is "" for a file at the top of the repository.
func Module(p string) string {
	parts := strings.Split(p, "/")
	folders := parts[:len(parts)-1]
	if len(folders) > 1 && slices.Contains([]string{"test", "tests", "spec", "__tests__"}, folders[0]) {
		folders = folders[1:]
	}
	for len(folders) > 1 && slices.Contains(containers, folders[0]) {
		folders = folders[1:]
	}
	if len(folders) == 0 {
		return ""
	}
	return folders[0]
}
