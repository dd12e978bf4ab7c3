package orders

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/kernel/effect"
	"pawl/text/knowledge"
	"pawl/text/solution"
)

func newValidateCommand(a *cli.App) *cobra.Command {
	var fix bool
	c := a.Command("validate [PACKAGE|kb|all]", "orders.validate",
		"  pawl validate\n  pawl validate kb --json\n  pawl validate login --fix", cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		what := "all"
		if len(args) > 0 {
			what = args[0]
		}
		open := cli.Reading()
		if fix {
			open = cli.Writing()
		}
		return a.With(c.Context(), open, func(sess *cli.Session) error {
			return validate(c.Context(), sess, what,
				fix)
		})
	}
	c.Flags().BoolVar(&fix, "fix", false, a.Text("orders.flag.fix"))
	return c
}

// remark is something that is wrong with a document, for programs.
type remark struct {
	Place string `json:"place"`
	Text  string `json:"text"`
}

// judged is the knowledge base as it was judged: what is wrong with its documents, and what they say that the code does
// not.
type judged struct {
	Condition knowledge.Condition `json:"condition"`
	Valid     bool                `json:"valid"`
	Issues    []remark            `json:"issues"`
	Warnings  []remark            `json:"warnings"`
}

// verdict is all that was judged.
type verdict struct {
	KB       *judged
	Packages map[string]solution.Report
	names    []string
	others   []string // folders of plan/ whose names are none of packages
}

func (v verdict) wrong() int {
	n := 0
	if v.KB != nil && !v.KB.Valid {
		n++
	}
	for _, p := range v.Packages {
		if !p.Valid {
			n++
		}
	}
	return n
}

// validate judges documents, and repairs before what needs nobody's judgement where that is asked for.
func validate(ctx context.Context, sess *cli.Session, what string, fix bool) error {
	if fix {
		if err := repair(ctx, sess, what); err != nil {
			return err
		}
	}
	v, err := judge(ctx, sess, what)
	if err != nil {
		return err
	}
	if sess.JSON {
		err = v.print(sess.Printer, what)
	} else {
		v.say(sess.Printer)
	}
	if n := v.wrong(); n > 0 && err == nil {
		err = cli.Shown(pawl.Fail(pawl.CodeInvalid, "orders.validate.wrong", n))
	}
	return err
}

// judge reads what is asked about. "all" is the knowledge base and every package; a name is that of a package.
func judge(ctx context.Context, sess *cli.Session, what string) (verdict, error) {
	v := verdict{}
	if what == "kb" || what == "all" {
		kb, err := judgeKnowledge(ctx, sess)
		if err != nil {
			return v, err
		}
		v.KB = &kb
	}
	if what == "kb" {
		return v, nil
	}
	p, err := sess.Workspace.Project.Packages(ctx)
	if err != nil {
		return v, err
	}
	v.names, v.others = foldersIn(p.Names)
	if what != "all" {
		name, err := solution.Pick(p.Names, what)
		if err != nil {
			return v, err
		}
		v.names, v.others = []string{name}, nil
	}
	v.Packages = map[string]solution.Report{}
	for _, name := range v.names {
		v.Packages[name] = solution.Validate(p.Files[name])
	}
	return v, nil
}

// foldersIn tells the packages of plan/ from folders whose names are none.
func foldersIn(names []string) (packages, others []string) {
	for _, l := range solution.Leftovers(names, "") {
		if l.Package {
			packages = append(packages, l.Name)
		} else {
			others = append(others, l.Name)
		}
	}
	return packages, others
}

func judgeKnowledge(ctx context.Context, sess *cli.Session) (judged, error) {
	docs, err := sess.Workspace.Project.Documents(ctx)
	if err != nil {
		return judged{}, err
	}
	kb := judged{Issues: []remark{}, Warnings: []remark{}}
	var found []pawl.Problem
	kb.Condition, found = knowledge.Judge(docs)
	kb.Valid = kb.Condition != knowledge.Bad
	known := map[string]bool{}
	for _, f := range found {
		known[f.String()] = true
		kb.Issues = append(kb.Issues, remark{f.Place(), onOneLine(sess.Printer, f.Error(solution.At))})
	}
	if kb.Condition == knowledge.Missing {
		return kb, nil
	}
	project, err := sess.Workspace.Project.Scan(ctx, nil)
	if err != nil {
		return kb, err
	}
	for _, f := range knowledge.Audit(knowledge.Scan{Project: project, At: sess.Workspace.Kernel.Now(),
		Language: language(sess)}, docs) {
		if !known[f.String()] {
			kb.Warnings = append(kb.Warnings, remark{f.Place(), onOneLine(sess.Printer, f.Error(solution.At))})
		}
	}
	return kb, nil
}

// print writes the reports for programs: that of a package has the form that docs/spec/workflow.md#validation gives.
func (v verdict) print(pr *cli.Printer, what string) error {
	say := func(f pawl.Problem) string { return onOneLine(pr, f.Error(solution.At)) }
	reports := map[string]json.RawMessage{}
	for name, r := range v.Packages {
		raw, err := r.JSON(say)
		if err != nil {
			return err
		}
		reports[name] = raw
	}
	if what != "all" && what != "kb" {
		return pr.PrintJSON(reports[v.names[0]])
	}
	out := map[string]any{"valid": v.wrong() == 0, "kb": v.KB}
	if what == "all" {
		out["packages"] = reports
	}
	return pr.PrintJSON(out)
}

func (v verdict) say(pr *cli.Printer) {
	for _, o := range v.others {
		pr.Say(pr.Style.Warn() + " " + pr.Text("orders.clean.no_package", ".pawl/plan/"+o))
	}
	if kb := v.KB; kb != nil {
		symbol := pr.Style.OK()
		switch {
		case !kb.Valid:
			symbol = pr.Style.Bad()
		case len(kb.Warnings) > 0 || kb.Condition == knowledge.Missing:
			symbol = pr.Style.Warn()
		}
		pr.Say(symbol + " " + pr.Text("orders.validate.kb."+string(kb.Condition)))
		v.remarks(pr, kb.Issues, pr.Style.Bad())
		v.remarks(pr, kb.Warnings, pr.Style.Warn())
	}
	for _, name := range v.names {
		r := v.Packages[name]
		symbol, key := pr.Style.OK(), "orders.validate.package"
		switch {
		case !r.Valid:
			symbol, key = pr.Style.Bad(), "orders.validate.broken"
		case !r.Executable:
			key = "orders.validate.valid"
		}
		pr.Say(symbol + " " + pr.Text(key, name, r.Tasks.ByStatus.Completed, r.Tasks.Total))
		for _, f := range r.Issues {
			pr.Say("  " + pr.Style.Bad() + " " + onOneLine(pr, f.Error(solution.At)))
		}
		for _, f := range r.Warnings {
			pr.Say("  " + pr.Style.Warn() + " " + onOneLine(pr, f.Error(solution.At)))
		}
	}
	if v.KB == nil && len(v.names) == 0 {
		pr.SayText("orders.validate.nothing")
	}
	if v.wrong() > 0 || v.KB != nil && len(v.KB.Warnings) > 0 {
		pr.Say("  " + pr.Style.Cyan(pr.Text("cli.next")) + pr.Text("orders.validate.next"))
	}
}

// maxShown bounds what is shown of one list.
const maxShown = 20

func (v verdict) remarks(pr *cli.Printer, list []remark, symbol string) {
	for _, r := range list[:min(len(list), maxShown)] {
		pr.Say("  " + symbol + " " + r.Text)
	}
	if n := len(list) - maxShown; n > 0 {
		pr.Say("  " + pr.Style.Dim(pr.Text("orders.more", n)))
	}
}

// repair does what needs nobody's judgement: documents of the knowledge base are made again, around what people wrote
// in them, and the numbers at the head of task lists are counted again.
func repair(ctx context.Context, sess *cli.Session, what string) error {
	if err := free(ctx, sess); err != nil {
		return err
	}
	if what == "kb" || what == "all" {
		docs, err := sess.Workspace.Project.Documents(ctx)
		if err != nil {
			return err
		}
		condition, _ := knowledge.Judge(docs)
		if condition != knowledge.Missing {
			b := built{Condition: condition, Choice: knowledge.InitRebuild}
			if err := fill(ctx, sess, "~validate", docs, &b); err != nil {
				return err
			}
		}
	}
	if what == "kb" {
		return nil
	}
	p, err := sess.Workspace.Project.Packages(ctx)
	if err != nil {
		return err
	}
	names, _ := foldersIn(p.Names)
	if what != "all" {
		name, err := solution.Pick(p.Names, what)
		if err != nil {
			return err
		}
		names = []string{name}
	}
	var spec effect.KnowledgeSpec
	for _, name := range slices.Sorted(slices.Values(names)) {
		old, had := p.Files[name][solution.TasksName]
		file, err := solution.ReadTasks(old)
		if err != nil {
			continue // a list that cannot be read is a person's to mend
		}
		file.Recount()
		if text := file.String(); text != string(old) {
			spec.Files = append(spec.Files, effect.NewDocument(solution.LiveDir(name)+"/"+solution.TasksName, text, old,
				had))
		}
	}
	if len(spec.Files) == 0 {
		return nil
	}
	_, err = carry(ctx, sess, "~validate", effect.KindKnowledge, spec)
	return err
}

// keys returns the keys of a map, in order.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
