package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pawl"
	"pawl/face/cli"
	"pawl/face/host"
	"pawl/kernel/planning"
	"pawl/kernel/view"
	"pawl/text/criteria"
	"pawl/text/plan"
	"pawl/text/solution"
)

// exec carries out a package.
func exec(ctx context.Context, a *cli.App, f flags, want string) error {
	overrides, err := f.overrides(ctx, a, "")
	if err != nil {
		return err
	}
	return a.With(ctx, host.Open{Create: true, Sure: f.yes}, func(sess *cli.Session) error {
		s, err := packageToRun(ctx, sess, strings.TrimSpace(want))
		if err != nil {
			return err
		}
		return whole(ctx, sess, f, s)
	}, overrides...)
}

// packageToRun finds the package that is meant among those in plan/, and judges it by its files. One that lies there as
// pawl wrote it is carried out by the plan that the store has; what a person wrote, or changed since, is what counts.
func packageToRun(ctx context.Context, sess *cli.Session, want string) (*planning.Start, error) {
	known, err := sess.Ask().Packages(ctx)
	if err != nil {
		return nil, err
	}
	found, err := sess.Workspace.Project.Packages(ctx)
	if err != nil {
		return nil, err
	}
	names, err := runnable(ctx, sess, known, found)
	if err != nil {
		return nil, err
	}
	if _, err := solution.ParseName(want); err != nil && slices.Contains(found.Names, want) {
		return nil, pawl.Fail(pawl.CodeInvalid, "cli.flow.package_name", want)
	}
	name, err := solution.Pick(names, want)
	if err != nil {
		return nil, err
	}
	files, made := found.Files[name], view.Package{}
	if p, ok := known[name]; ok && p.Written == nil {
		if made = p; len(files) == 0 || untouched(p, files) {
			return &planning.Start{Command: "~exec", Package: name, Requirement: p.Plan.Goal}, nil
		}
	}
	report := solution.Validate(files)
	switch {
	case !report.Valid:
		return nil, pawl.Fail(pawl.CodeInvalid, "cli.flow.package_invalid", name,
			len(report.Issues)).Because(report.Issues[0].Error(solution.At))
	case report.Proposal.Type == solution.Overview:
		return nil, pawl.Fail(pawl.CodeInvalid, "cli.flow.package_overview", name)
	case report.Tasks.ByStatus.Pending == 0 && report.Executable:
		return nil, pawl.Fail(pawl.CodeInvalid, "cli.flow.package_no_pending", name)
	case !report.Executable:
		return nil, pawl.Fail(pawl.CodeInvalid, "cli.flow.package_done", name)
	}
	return planOf(name, files, made)
}

// untouched reports whether a package lies in plan/ as pawl wrote it, with nothing beside.
func untouched(p view.Package, files map[string][]byte) bool {
	live := p.Live()
	for _, f := range live {
		name := strings.TrimPrefix(f.Path, p.LiveDir()+"/")
		if have, ok := files[name]; ok && string(have) != f.Content {
			return false
		}
	}
	return len(files) <= len(live)
}

// runnable names the packages that may be carried out: those that the store keeps for ~exec, and those in plan/ that it
// does not know. What it knows and does not keep is in use, or was carried out.
func runnable(ctx context.Context, sess *cli.Session, known map[string]view.Package,
	found host.Packages) (names []string, err error) {
	for name, p := range known {
		if p.Written == nil || slices.Contains(found.Names, name) {
			names = append(names, name)
		}
	}
	for _, n := range found.Names {
		used, err := sess.Ask().PackageUsed(ctx, n)
		if err != nil {
			return nil, err
		}
		if _, ok := known[n]; !used && !ok {
			names = append(names, n)
		}
	}
	return names, nil
}

// planOf turns the tasks of a package into a plan: each task that is left is a step. A task of a package that pawl had
// made keeps what its step was to do.
func planOf(name string, files map[string][]byte, made view.Package) (*planning.Start, error) {
	tasks, err := solution.ReadTasks(files[solution.TasksName])
	if err != nil {
		return nil, err
	}
	proposal, err := solution.ReadProposal(files[solution.ProposalName])
	if err != nil {
		return nil, err
	}
	p := plan.Plan{Goal: name, RiskLevel: pawl.RiskMedium, Verification: plan.VerificationPolicy{Mode: plan.VerifyTest,
		Commands: []string{}, Required: true, StopOnFail: true}, Constraints: proposal.Brief()}
	if proposal.Title != "" {
		p.Goal = proposal.Title
	}
	steps, err := known(made, &p, files)
	if err != nil {
		return nil, err
	}
	was := matched(steps, tasks.List)
	w := &solution.Written{Tasks: string(files[solution.TasksName]), Boxes: map[string]int{}, Decisions: proposal.IDs,
		Digest: solution.DigestOf(files)}
	// A task may depend on one that stands behind it, so that all of them have their ids first. What is no longer
	// pending is waited for by nobody.
	ids := map[string]string{}
	for n, t := range tasks.List {
		if t.Status == solution.Pending {
			ids[t.Number] = fmt.Sprintf("s%d", n+1)
		}
	}
	wanted := ""
	for n, t := range tasks.List {
		if t.Status != solution.Pending {
			continue
		}
		wanted += "- " + t.Title + "\n"
		step := plan.Step{Title: t.Title, Status: plan.Pending,
			Intent: strings.TrimSpace(t.Title + "\n" + strings.Join(t.Verify, "\n"))}
		if made, ok := was[n]; ok {
			step = made.written(t)
		}
		step.StepID, step.DependsOn = fmt.Sprintf("s%d", n+1), nil
		for _, on := range t.DependsOn {
			if id := ids[on]; id != "" {
				step.DependsOn = append(step.DependsOn, id)
			}
		}
		p.Steps, w.Boxes[step.StepID] = append(p.Steps, step), t.Line
	}
	if len(p.Criteria) == 0 {
		p.Criteria = criteria.Of(wanted) // the tasks say more of what is to be there than the title
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeInternal, "cli.flow.plan").Because(err)
	}
	return &planning.Start{Command: "~exec", Package: name, Written: w, Requirement: p.Goal, Given: raw,
		Name: name + ".json"}, nil
}

// known returns the steps of a package that pawl had made, and has the plan keep whatever else of it the documents
// still say.
func known(made view.Package, p *plan.Plan, files map[string][]byte) (steps []madeStep, err error) {
	if made.Name == "" {
		return nil, nil
	}
	p.Criteria = made.Plan.Criteria
	for _, f := range made.Live() {
		switch strings.TrimPrefix(f.Path, made.LiveDir()+"/") {
		case solution.TasksName:
			steps = madeTasks(made, f.Content)
		case solution.ProposalName:
			is := files[solution.ProposalName]
			if f.Content == string(is) {
				p.Constraints = made.Plan.Constraints
			}
			was, err := solution.ReadProposal([]byte(f.Content))
			if err != nil {
				continue
			}
			if was.Title == p.Goal {
				p.Goal = made.Plan.Goal
			}
			now, err := solution.ReadProposal(is)
			if err == nil && now.Acceptance != was.Acceptance {
				p.Criteria, err = criteriaIn(made, was.Acceptance, now.Acceptance)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	p.RiskLevel, p.Verification, p.Network = made.Plan.RiskLevel, made.Plan.Verification, made.Plan.Network
	return steps, nil
}
