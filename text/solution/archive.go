package solution

import (
	"path"
	"slices"
	"strings"
	"time"

	"pawl"
)

// Folders of packages, relative to the folder of their owner.
const (
	PlanDir    = "plan"
	ArchiveTop = "archive"
)

// LiveDir is the folder of a package while it is worked on.
func LiveDir(name string) string { return PlanDir + "/" + name }

// ArchiveDir is the folder of a package in the archive, in that of the month in which it was made. A name that does not
// begin with a month goes into the folder 0000-00.
func ArchiveDir(name string) string {
	month := "0000-00"
	if len(name) >= 6 && strings.Trim(name[:6], "0123456789") == "" {
		month = name[:4] + "-" + name[4:6]
	}
	return path.Join(ArchiveTop, month, name)
}

// Record returns the files that a package leaves in the archive: its two documents, which never overwrite others, and
// its row in the index, below the head where that is missing. Writing them again adds nothing.
func Record(dir, proposal, tasks string, r Row) []pawl.ProjectedFile {
	head := IndexHead(Chinese)
	return []pawl.ProjectedFile{
		{Path: dir + "/" + ProposalName, Content: proposal, Unique: true},
		{Path: dir + "/" + TasksName, Content: tasks, Unique: true},
		{Path: IndexName, Content: IndexTitle(Chinese) + head, Append: true, Marker: head},
		{Path: IndexName, Content: r.In(Chinese), Append: true, Marker: r.Marker},
	}
}

// Retiring is a package that is to go into the archive.
type Retiring struct {
	// Name is the name of its folder in plan/, Files its documents by name.
	Name  string
	Files map[string][]byte
	// Result is how it ended; "" judges by the tasks. At is when it ended.
	Result Result
	At     time.Time
	// Reason says why a task was not carried out, for those that have no remark; nil gives the status.
	Reason func(Task) string
	// Modules and Marker are those of the row; Decisions are the proposal's where this is "".
	Modules, Decisions, Marker string
	// Index is the archive's index, "" where there is none; a new one is written in Language.
	Index    string
	Language Language
	// Exists says which folders there are, relative to the owner's.
	Exists func(dir string) bool
}

// Retirement says how a package goes into the archive: the folder From becomes the folder To, which does not exist yet,
// with Tasks for its tasks.md, and Index is the index with its row. Nothing is deleted and nothing overwritten.
type Retirement struct {
	From, To string
	Result   Result
	Tasks    string
	Row      Row
	Index    string
}

// Retire prepares a package for the archive (docs/spec/workflow.md#develop step 14, docs/spec/workflow.md#c9,
// docs/spec/workflow.md#c10): the result from what became of its tasks, the @status line, a remark at every task that
// is not completed, and the first free name. Packages are archived whatever became of them. A tasks.md that cannot be
// read stays as it is where a result is given, and is an error where the result would have to be read from it; so is a
// package without one. A name that is none is CodeInvalid.
func Retire(r Retiring) (Retirement, error) {
	name, err := ParseName(r.Name)
	if err != nil {
		return Retirement{}, err
	}
	free := name.Free(func(n string) bool { return r.Exists(ArchiveDir(n)) })
	out := Retirement{From: LiveDir(r.Name), To: ArchiveDir(free.String()), Result: r.Result,
		Tasks: string(r.Files[TasksName])}
	if r.Result != "" {
		if _, ok := ParseResult(string(r.Result)); !ok {
			return Retirement{}, pawl.Fail(pawl.CodeInvalid, "solution.bad_result",
				Clip(visible(string(r.Result)), 40)).In("solution.Retire")
		}
	}
	kind, decisions := Implementation, r.Decisions
	if p, _ := readProposal(r.Files[ProposalName]); p != nil {
		if kind = p.Type; decisions == "" {
			decisions = strings.Join(p.IDs, ", ")
		}
	}
	f, err := ReadTasks(r.Files[TasksName])
	switch {
	case err == nil:
		if out.Result == "" {
			out.Result = Judge(Count(f.List))
		}
		f.Close(Closing{Result: out.Result, At: r.At}, r.reason)
		out.Tasks = f.String()
	case r.Result == "" && kind == Overview:
		out.Result = EndedWell
	case r.Result == "":
		return Retirement{}, err
	}
	out.Row = Row{
		Stamp: free.Stamp(), Name: strings.TrimPrefix(free.String(), free.Stamp()+"_"), Dir: strings.TrimPrefix(out.To,
			ArchiveTop+"/"),
		Type: string(kind), Modules: r.Modules, Decisions: decisions, Result: out.Result, Marker: r.Marker,
	}
	out.Index = AddRow(r.Index, out.Row, r.Language)
	return out, nil
}

// reason says why a task was not carried out.
func (r Retiring) reason(t Task) string {
	if r.Reason != nil {
		return r.Reason(t)
	}
	return string(t.Status)
}

// Leftover is a folder that lies in plan/ and is not worked on. Package says that it has the name of a package; Minute
// and Feature are those of the name.
type Leftover struct {
	Name    string
	Package bool
	Minute  time.Time
	Feature string
}

// Leftovers lists the folders of plan/ other than the current package's, the oldest first and those that are no
// packages last (docs/spec/workflow.md#leftovers). current is a name or a path that ends in one; "" for none. Names
// that begin with a dot are no business of a person and are left out.
func Leftovers(names []string, current string) []Leftover {
	current = path.Base(strings.ReplaceAll(strings.TrimRight(current, `/\`), `\`, "/"))
	var out []Leftover
	for _, name := range names {
		if name == current || name == "" || strings.HasPrefix(name, ".") {
			continue
		}
		l := Leftover{Name: name}
		if n, err := ParseName(name); err == nil {
			l.Package, l.Minute, l.Feature = true, n.Minute, n.Feature
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Leftover) int {
		if a.Package != b.Package {
			if a.Package {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
