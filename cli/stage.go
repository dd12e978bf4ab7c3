package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/machine/workflow"
	"pawl/triage"
)

// aboutStage is what an approval is about that a stage of a flow ends with.
const aboutStage = "stage"

// stage puts the question that a stage ends with before a person: what was found, and the ways on.
func (v *Drive) stage(ctx context.Context, s *kernel.Snapshot) (again bool, err error) {
	needed := shown{pawl.Fail(pawl.CodeApprovalNeeded, "cli.approval_needed", aboutText(v.voice, aboutStage), short(s.Approval.Hash))}
	if v.Flags.JSON {
		line := map[string]any{"type": "approval", "approval": s.Status().Approval, "stage": s.Run.Stage, "evaluation": s.Run.Evaluation, "path": s.Run.Path}
		if err := v.rep.printLine(line); err != nil {
			return false, err
		}
		return false, needed
	}
	for _, l := range stageSheet(v.voice, s) {
		v.Say(l)
	}
	if !v.ask {
		for _, n := range s.Status().Next {
			v.Say("  " + nextText(v.voice, n))
		}
		return false, needed
	}
	return v.askStage(ctx, s)
}

// askStage asks until one of the ways was picked.
func (v *Drive) askStage(ctx context.Context, s *kernel.Snapshot) (again bool, err error) {
	key, path := "cli.stage.ask_interactive", workflow.PathNone
	auto := s.Flow.Mode.Auto() && s.Run.Stage == workflow.Evaluate
	switch {
	case auto:
		key = "cli.stage.ask_auto"
	case s.Run.Stage != workflow.Evaluate:
		key = "cli.stage.ask_on"
	}
	for {
		line, err := v.Prompt(ctx, v.Text(key)+" ", func() bool { return v.settled(ctx, s.Approval.ID) })
		switch {
		case errors.Is(err, errSettled):
			v.SayText("cli.ask.settled")
			return true, nil
		case errors.Is(err, io.EOF):
			return false, shown{pawl.Fail(pawl.CodeApprovalNeeded, "cli.approval_needed", aboutText(v.voice, aboutStage), short(s.Approval.Hash))}
		case err != nil:
			return false, err
		}
		choice := ""
		switch word := strings.ToLower(strings.TrimSpace(line)); word {
		case "y", "yes", "是":
			if choice = workflow.ChooseStart; auto {
				choice = workflow.ChooseSilent
			}
		case "i", "interactive":
			if auto {
				choice = workflow.ChooseInteractive
			}
		case "tweak", "light", "standard":
			if s.Run.Stage == workflow.Evaluate {
				path = workflow.Path(word)
				v.SayText("cli.stage.path_set", word)
			}
		case "n", "no", "否", "cancel":
			_, err := v.Do(ctx, &kernel.CancelRun{Reason: "canceled at the stage"})
			return err == nil, err
		}
		if choice == "" {
			continue
		}
		if _, err = v.Do(ctx, &kernel.Choose{Choice: choice, Path: path, Hash: s.Approval.Hash}); err == nil {
			return true, nil
		}
		v.report(err)
	}
}

// stageSheet tells what a stage has found.
func stageSheet(a *voice, s *kernel.Snapshot) []string {
	if s.Run.Stage != workflow.Evaluate || s.Run.Evaluation == nil {
		out := []string{"", a.Style.Bold(a.Text("cli.stage.analyzed"))}
		if c := s.Run.Context; c != nil {
			out = append(out, "  "+a.Text("cli.stage.files", c.Files, strings.Join(c.Ecosystems, ", ")))
			for _, check := range c.Checks {
				out = append(out, "  "+a.Style.Middle()+" "+Display(check.Name)+"  "+a.Style.Dim(Display(check.Command)))
			}
		}
		return out
	}
	e := s.Run.Evaluation
	out := []string{"", a.Style.Bold(a.Text("cli.stage.evaluated", e.Score, e.By))}
	for _, d := range e.Dimensions {
		words := make([]string, 0, len(d.Evidence))
		for _, q := range d.Evidence {
			words = append(words, "“"+Display(q.Quote)+"”")
		}
		if len(words) == 0 {
			words = []string{a.Style.Dim(a.Text("cli.stage.no_evidence"))}
		}
		out = append(out, "  "+a.Text("cli.stage.dimension", a.Text("cli.stage.aspect."+string(d.Name)), d.Points, d.Name.Most())+"  "+strings.Join(words, " "))
	}
	_, why := e.Path()
	reasons := make([]string, 0, len(why))
	for _, r := range why {
		reasons = append(reasons, a.Text(r.Key, words(r.Args)...))
	}
	out = append(out, "  "+a.Text("cli.stage.path", string(s.Run.Path), strings.Join(reasons, "; ")))
	for _, f := range e.EHRB {
		mark, key := a.Style.Middle(), "cli.stage.risk_mention"
		if f.Stance == triage.StanceAction {
			mark, key = a.Style.Warn(), "cli.stage.risk_action"
		}
		out = append(out, "  "+mark+" "+a.Text(key, string(f.Kind), Display(f.Quote)))
	}
	return out
}
