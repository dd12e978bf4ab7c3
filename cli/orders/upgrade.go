package orders

import (
	"context"

	"github.com/spf13/cobra"

	"pawl/cli"
	"pawl/effect"
	"pawl/kernel"
	"pawl/knowledge"
)

func newUpgradeCommand(a *cli.App) *cobra.Command {
	var yes bool
	c := a.Command("upgrade", "orders.upgrade", "  pawl upgrade\n  pawl upgrade --yes --json", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), cli.Open{Create: true, Meant: true}, func(d *cli.Desk) error { return upgrade(c.Context(), d, yes) })
	}
	c.Flags().BoolVar(&yes, "yes", false, a.Text("orders.flag.yes"))
	return c
}

// upgrade takes an older knowledge base over and judges what came of it.
func upgrade(ctx context.Context, d *cli.Desk, yes bool) error {
	if _, err := d.Do(ctx, &kernel.Init{Place: d.Workspace.Place}); err != nil {
		return err
	}
	if err := free(ctx, d); err != nil {
		return err
	}
	old, err := d.Workspace.Project.Old(ctx)
	if err != nil {
		return err
	}
	all := keys(old.Files)
	t, err := knowledge.Upgrade(old.Name, all, old.Existing, old.Beside, d.Workspace.Kernel.Now())
	if err != nil {
		return err
	}
	if !d.Flags.JSON {
		d.SayText("orders.upgrade.plan", old.Folder, len(t.Copies))
		if len(t.Copies) > 0 {
			d.Say("  " + d.Text("orders.upgrade.backup", t.Backup))
		}
		for n, f := range t.Findings {
			if n == maxShown {
				d.Say("  " + d.Style.Dim(d.Text("orders.more", len(t.Findings)-n)))
				break
			}
			d.Say("  " + d.Style.Warn() + " " + onOneLine(d, f.Error()))
		}
	}
	if len(t.Copies) > 0 {
		if err := sure(ctx, d.App, d.Text("orders.upgrade.ask"), yes); err != nil {
			return err
		}
		spec := effect.KnowledgeSpec{Takeover: &effect.Takeover{Folder: old.Folder, Backup: t.Backup, All: all}}
		for _, c := range t.Copies {
			spec.Takeover.Copies = append(spec.Takeover.Copies, effect.Copied{From: c.From, To: c.To, Digest: old.Files[c.From]})
		}
		if _, err := carry(ctx, d, "~upgrade", effect.KindKnowledge, spec); err != nil {
			return err
		}
	}
	v, err := judge(ctx, d, "all")
	if err != nil {
		return err
	}
	if d.Flags.JSON {
		told := []remark{}
		for _, f := range t.Findings {
			told = append(told, remark{f.Place(), onOneLine(d, f.Error())})
		}
		backup := t.Backup
		if len(t.Copies) == 0 {
			backup = ""
		}
		return d.PrintJSON(map[string]any{"folder": old.Folder, "backup": backup, "copied": len(t.Copies), "notes": told, "valid": v.wrong() == 0, "kb": v.KB})
	}
	if len(t.Copies) == 0 {
		d.Say(d.Style.OK() + " " + d.Text("orders.upgrade.nothing"))
	} else {
		d.Say(d.Style.OK() + " " + d.Text("orders.upgrade.done", len(t.Copies), t.Backup))
	}
	v.say(d)
	return nil
}
