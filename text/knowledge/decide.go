package knowledge

import (
	"pawl"
	"pawl/machine/workflow"
	"pawl/text/solution"
)

// Mode is the seed's KB_CREATE_MODE. Its numbers are what settings hold.
type Mode int

// The four modes.
const (
	Off                Mode = 0 // OFF
	OnDemand           Mode = 1 // ON_DEMAND
	OnDemandAutoCoding Mode = 2 // ON_DEMAND_AUTO_FOR_CODING, the default
	Always             Mode = 3 // ALWAYS
)

// ParseMode reads a setting: a number, or the seed's name. The error is CodeUsage.
func ParseMode(s string) (Mode, error) {
	for m, name := range modeNames {
		if s == name || s == string(rune('0'+m)) {
			return Mode(m), nil
		}
	}
	return 0, pawl.Fail(pawl.CodeUsage, "knowledge.bad_mode", solution.Clip(oneLine(s), 40)).In("knowledge.ParseMode")
}

var modeNames = [...]string{"OFF", "ON_DEMAND", "ON_DEMAND_AUTO_FOR_CODING", "ALWAYS"}

// String returns the seed's name.
func (m Mode) String() string {
	if m < 0 || int(m) >= len(modeNames) {
		return "?"
	}
	return modeNames[m]
}

// Condition is what there is of a knowledge base.
type Condition string

// The three conditions; Judge tells them.
const (
	Missing Condition = "missing"
	Bad     Condition = "bad"
	Fine    Condition = "fine"
)

// Point is a place of the flow at which the mode is looked at (docs/spec/workflow.md#knowledge-base).
type Point string

// The three points: step 1 of TWEAK, step 1 of ANALYZE, and step 3 of DEVELOP, which is one only when ~exec enters it.
const (
	AtTweak   Point = "tweak"
	AtAnalyze Point = "analyze"
	AtExec    Point = "exec"
)

// Action is what is done about the documents before the stage goes on.
type Action string

// The actions.
const (
	Nothing Action = "nothing" // go on with what there is
	Advise  Action = "advise"  // tell of ~init, and create nothing
	Flag    Action = "flag"    // tell what is bad, and repair nothing
	Create  Action = "create"
	Rebuild Action = "rebuild"
)

// Question is what a decision is made of. Coding says that the task changes code.
type Question struct {
	Mode      Mode
	Condition Condition
	Coding    bool
	At        Point
}

// Decision is what becomes of the knowledge base in a flow.
type Decision struct {
	// Skipped is KB_SKIPPED.
	Skipped workflow.Flag
	Do      Action
	// Read and Write say whether the flow reads the documents and whether it brings them up to date in the end. The
	// CHANGELOG has a rule of its own, Logs.
	Read, Write bool
	// Note is a key of the catalogue for what a person is told, or "".
	Note string
}

// row is a row of the decision table. An empty list fits everything; tasks is "coding", "other" or "".
type row struct {
	points     []Point
	modes      []Mode
	conditions []Condition
	tasks      string
	decision   Decision
}

// decisions is the whole rule (docs/spec/workflow.md#knowledge-base, docs/spec/workflow.md#c11). Exactly one row fits
// each question.
var decisions = []row{
	{[]Point{AtTweak}, []Mode{Off}, []Condition{Missing}, "",
		Decision{workflow.True, Nothing, false, false, "knowledge.skipped"}},
	{[]Point{AtTweak}, []Mode{OnDemand, OnDemandAutoCoding, Always}, []Condition{Missing}, "",
		Decision{workflow.True, Nothing, false, false, ""}},
	{[]Point{AtTweak}, nil, []Condition{Bad, Fine}, "", Decision{workflow.True, Nothing, true, false, ""}},

	{[]Point{AtAnalyze, AtExec}, []Mode{Off}, []Condition{Missing}, "",
		Decision{workflow.True, Nothing, false, false, "knowledge.skipped"}},
	{[]Point{AtAnalyze, AtExec}, []Mode{Off}, []Condition{Bad, Fine}, "",
		Decision{workflow.True, Nothing, true, false, ""}},

	{[]Point{AtAnalyze, AtExec}, []Mode{OnDemand}, []Condition{Missing}, "",
		Decision{workflow.False, Advise, false, false, "knowledge.suggest"}},
	{[]Point{AtAnalyze, AtExec}, []Mode{OnDemand}, []Condition{Bad}, "",
		Decision{workflow.False, Flag, true, true, "knowledge.flagged"}},

	{[]Point{AtAnalyze, AtExec}, []Mode{OnDemandAutoCoding}, []Condition{Missing}, "coding",
		Decision{workflow.False, Create, true, true, "knowledge.creates"}},
	{[]Point{AtAnalyze, AtExec}, []Mode{OnDemandAutoCoding}, []Condition{Missing}, "other",
		Decision{workflow.False, Advise, false, false, "knowledge.suggest"}},
	{[]Point{AtAnalyze, AtExec}, []Mode{Always}, []Condition{Missing}, "",
		Decision{workflow.False, Create, true, true, "knowledge.creates"}},
	{[]Point{AtAnalyze, AtExec}, []Mode{OnDemandAutoCoding, Always}, []Condition{Bad}, "",
		Decision{workflow.False, Rebuild, true, true, "knowledge.rebuilds"}},

	{[]Point{AtAnalyze, AtExec}, []Mode{OnDemand, OnDemandAutoCoding, Always}, []Condition{Fine}, "",
		Decision{workflow.False, Nothing, true, true, ""}},
}

func among[T comparable](list []T, v T) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return len(list) == 0
}

func (r row) fits(q Question) bool {
	return among(r.points, q.At) && among(r.modes, q.Mode) && among(r.conditions, q.Condition) &&
		(r.tasks == "" || (r.tasks == "coding") == q.Coding)
}

// Decide answers a question. A question with a value that is none of those above is CodeInternal.
//
// The flow sets KB_SKIPPED once and carries it (Carry). A bad document that pawl was not told to rebuild is read for
// what it says, and an update of it is refused, not forced.
func Decide(q Question) (Decision, error) {
	for _, r := range decisions {
		if r.fits(q) {
			return r.decision, nil
		}
	}
	return Decision{}, pawl.Fail(pawl.CodeInternal, "knowledge.no_rule", q.Mode.String(), string(q.Condition),
		string(q.At)).In("knowledge.Decide")
}

// Carry returns KB_SKIPPED after a point of the flow: what it was, where that is decided, and what the point decides
// otherwise. A tweak that grows into a light flow hands in Undecided at ANALYZE, because for that flow nothing is
// decided.
func Carry(current workflow.Flag, d Decision) workflow.Flag {
	if current != workflow.Undecided {
		return current
	}
	return d.Skipped
}

// Logging says whether a CHANGELOG entry is written and whether the folder has to be made for it.
type Logging struct{ Write, MakeFolder bool }

// Logs is the rule of the CHANGELOG (docs/spec/workflow.md#knowledge-base). DEVELOP always writes it, in mode 0, too,
// where it makes nothing but the folder and the file. So do a rollback and a confirmed risk, which nobody may lose
// sight of. A tweak, within its limits or forced beyond them, writes none where the mode is 0 and there is no folder.
func Logs(m Mode, folder bool, k Kind) Logging {
	if (k == Tweaked || k == OutOfScope) && m == Off && !folder {
		return Logging{}
	}
	return Logging{Write: true, MakeFolder: !folder}
}

// InitChoice is an answer to the question of ~init.
type InitChoice string

// The choices of ~init: make the documents, bring up to date those that are there, or write pawl's sections of all of
// them anew. Each keeps what people wrote.
const (
	InitCreate  InitChoice = "create"
	InitFill    InitChoice = "fill"
	InitRebuild InitChoice = "rebuild"
	InitCancel  InitChoice = "cancel"
)

// Init says what ~init does. Choices are what a person is asked to pick from, the default first; of one choice nothing
// is asked. ~init may create whatever the mode says; in mode 0 a person is asked first, and without one --yes is
// needed: the error is CodeApprovalNeeded (docs/spec/workflow.md#c14).
func Init(m Mode, c Condition, interactive, yes bool) ([]InitChoice, error) {
	choices := []InitChoice{InitCreate}
	switch c {
	case Bad:
		choices = []InitChoice{InitRebuild, InitFill, InitCancel}
	case Fine:
		choices = []InitChoice{InitFill, InitRebuild, InitCancel}
	default:
		if m == Off {
			choices = append(choices, InitCancel)
		}
	}
	switch {
	case yes:
		return choices[:1], nil
	case interactive:
		return choices, nil
	case m == Off:
		return nil, pawl.Fail(pawl.CodeApprovalNeeded, "knowledge.init_off").In("knowledge.Init")
	}
	return choices[:1], nil
}

// Judge tells the condition of a knowledge base from its documents, by their paths relative to its root; what is wrong
// with a bad one is in the findings. A folder that holds only a CHANGELOG, or only packages, is no knowledge base.
func Judge(files map[string][]byte) (Condition, []pawl.Problem) {
	if !Exists(files) {
		return Missing, nil
	}
	var found []pawl.Problem
	add := func(file string, err error) {
		if f, ok := findingOf(err); ok {
			found = append(found, f)
		} else if err != nil {
			found = append(found, pawl.Problem{File: file, Key: "knowledge.unreadable"})
		}
	}
	for _, name := range []string{IndexName, ContextName, ModulesName} {
		data, ok := files[name]
		switch {
		case !ok:
			found = append(found, pawl.Problem{File: name, Key: "knowledge.missing"})
			continue
		case name == IndexName:
			_, err := ReadIndex(data)
			add(name, err)
		case name == ContextName:
			_, err := ReadContext(data)
			add(name, err)
		default:
			list, err := ReadModules(data)
			add(name, err)
			found = append(found, unwritten(list, files)...)
		}
	}
	if data, ok := files[ChangelogName]; ok {
		_, err := ReadChangelog(ChangelogName, data)
		add(ChangelogName, err)
	}
	if len(found) > 0 {
		return Bad, found
	}
	return Fine, nil
}

// unwritten finds the modules whose documents are missing or cannot be read.
func unwritten(list []Module, files map[string][]byte) []pawl.Problem {
	var out []pawl.Problem
	for i, name := range ModuleFiles(list) {
		data, ok := files[name]
		if !ok {
			out = append(out, pawl.Problem{File: name, Key: "knowledge.no_module",
				Args: []any{solution.Clip(oneLine(list[i].Name), 60)}})
			continue
		}
		if _, err := ReadModule(name, data); err != nil {
			if f, ok := findingOf(err); ok {
				out = append(out, f)
			}
		}
	}
	return out
}

// Exists reports whether there is any document of a knowledge base but the CHANGELOG.
func Exists(files map[string][]byte) bool {
	for name := range files {
		if name == IndexName || name == ContextName || isModule(name) || name == ModulesName {
			return true
		}
	}
	return false
}
