package orders

import (
	"context"

	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/face/host"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/text/knowledge"
	"pawl/text/solution"
)

func newUpgradeCommand(a *cli.App) *cobra.Command {
	var yes bool
	c := a.Command("upgrade", "orders.upgrade", "  pawl upgrade\n  pawl upgrade --yes --json", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), host.Open{Create: true, Meant: true},
			func(sess *cli.Session) error { return upgrade(c.Context(), sess, yes) })
	}
	c.Flags().BoolVar(&yes, "yes", false, a.Text("orders.flag.yes"))
	return c
}

// upgrade takes an older knowledge base over and judges what came of it.
func upgrade(ctx context.Context, sess *cli.Session, yes bool) error {
	if _, err := sess.Do(ctx, &planning.Init{Place: sess.Workspace.Place}); err != nil {
		return err
	}
	if err := free(ctx, sess); err != nil {
		return err
	}
	old, err := sess.Workspace.Project.Old(ctx)
	if err != nil {
		return err
	}
	all := keys(old.Files)
	t, err := knowledge.Upgrade(old.Name, all, old.Existing, old.Beside, sess.Workspace.Kernel.Now())
	if err != nil {
		return err
	}
	if !sess.JSON {
		sess.SayText("orders.upgrade.plan", old.Folder, len(t.Copies))
		if len(t.Copies) > 0 {
			sess.Say("  " + sess.Text("orders.upgrade.backup", t.Backup))
		}
		for n, f := range t.Findings {
			if n == maxShown {
				sess.Say("  " + sess.Style.Dim(sess.Text("orders.more", len(t.Findings)-n)))
				break
			}
			sess.Say("  " + sess.Style.Warn() + " " + onOneLine(sess.Printer, f.Error(solution.At)))
		}
	}
	if len(t.Copies) > 0 {
		if err := sure(ctx, sess.Printer, sess.Text("orders.upgrade.ask"), yes); err != nil {
			return err
		}
		spec := effect.KnowledgeSpec{Takeover: &effect.Takeover{Folder: old.Folder, Backup: t.Backup, All: all}}
		for _, c := range t.Copies {
			spec.Takeover.Copies = append(spec.Takeover.Copies,
				effect.Copied{From: c.From, To: c.To, Digest: old.Files[c.From]})
		}
		if _, err := carry(ctx, sess, "~upgrade", effect.KindKnowledge, spec); err != nil {
			return err
		}
	}
	v, err := judge(ctx, sess, "all")
	if err != nil {
		return err
	}
	if sess.JSON {
		told := []remark{}
		for _, f := range t.Findings {
			told = append(told, remark{f.Place(), onOneLine(sess.Printer, f.Error(solution.At))})
		}
		backup := t.Backup
		if len(t.Copies) == 0 {
			backup = ""
		}
		return sess.PrintJSON(map[string]any{"folder": old.Folder, "backup": backup, "copied": len(t.Copies),
			"notes": told, "valid": v.wrong() == 0, "kb": v.KB})
	}
	if len(t.Copies) == 0 {
		sess.Say(sess.Style.OK() + " " + sess.Text("orders.upgrade.nothing"))
	} else {
		sess.Say(sess.Style.OK() + " " + sess.Text("orders.upgrade.done", len(t.Copies), t.Backup))
	}
	v.say(sess.Printer)
	return nil
}
