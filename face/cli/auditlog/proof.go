package auditlog

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// proofFlags are the flags of `pawl audit prove`.
type proofFlags struct{ task, against, out string }

func newAuditProveCommand(a *cli.App) *cobra.Command {
	var f proofFlags
	c := a.Command("prove [RECORD]", "cli.audit.prove", `  pawl audit prove 12 --json > proof.json
  pawl audit prove --task T-001 --against ~/pawl-head.note --out proof.json
  pawl audit verify --proof proof.json`, cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if (len(args) == 1) == (f.task != "") {
			return cli.Usage("cli.audit.prove_what")
		}
		return a.With(c.Context(), cli.Reading(),
			func(sess *cli.Session) error { return prove(c.Context(), sess, args, f) })
	}
	c.Flags().StringVar(&f.task, "task", "", a.Text("cli.flag.prove_task"))
	c.Flags().StringVar(&f.against, "against", "", a.Text("cli.flag.against"))
	c.Flags().StringVarP(&f.out, "out", "o", "", a.Text("cli.flag.proof_out"))
	return c
}

// prove makes a proof and prints it, or writes it to a file.
func prove(ctx context.Context, sess *cli.Session, args []string, f proofFlags) error {
	p, err := makeProof(ctx, sess, args, f)
	if err != nil {
		return err
	}
	if f.out != "" {
		err := sess.App.WriteNew(f.out, func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			return enc.Encode(p)
		})
		if err != nil {
			return err
		}
		if sess.JSON {
			return sess.PrintJSON(map[string]any{"file": f.out, "records": len(p.Records), "log_size": p.Size,
				"log_root": p.Root.String()})
		}
		sess.Say(sess.Style.OK() + " " + sess.Text("cli.audit.proof_written", len(p.Records), f.out))
		sess.Say("  " + sess.Text("cli.audit.proof_check", "pawl audit verify --proof "+f.out))
		return nil
	}
	if sess.JSON {
		return sess.PrintJSON(p)
	}
	for _, r := range p.Records {
		sess.Say(sess.Style.OK() + " " + sess.Text("cli.audit.proven", r.Index, p.Size))
		proveRecord(sess.Printer, r.Record)
		printHashes(sess.Printer, r.Hashes)
	}
	sess.Say("  " + sess.Text("cli.audit.root", p.Root.String()))
	if c := p.Checkpoint; c != nil {
		sess.Say(sess.Style.OK() + " " + sess.Text("cli.audit.note_good", f.against))
		printHashes(sess.Printer, c.Hashes)
	}
	return nil
}

// makeProof selects the records and makes the proof of them.
func makeProof(ctx context.Context, sess *cli.Session, args []string, f proofFlags) (audit.Proof, error) {
	wanted, err := wantedRecords(ctx, sess, args, f.task)
	if err != nil {
		return audit.Proof{}, err
	}
	var leaves audit.Leaves
	var records []audit.Stored
	err = sess.Ask().Log().At(ctx, func(l audit.Log) (err error) {
		leaves, err = l.Leaves(func(rec audit.Stored) {
			if wanted(rec) {
				records = append(records, rec)
			}
		})
		return err
	})
	if err != nil {
		return audit.Proof{}, err
	}
	if len(records) == 0 {
		if f.task != "" {
			return audit.Proof{}, pawl.Fail(pawl.CodeNotFound, "cli.audit.no_records", f.task)
		}
		if n, err := strconv.ParseInt(args[0], 10, 64); err == nil {
			if _, err := leaves.ProveRecord(n); pawl.CodeOf(err) == pawl.CodeNotFound {
				return audit.Proof{}, err
			}
		}
		return audit.Proof{}, pawl.Fail(pawl.CodeNotFound, "cli.audit.no_record", args[0])
	}
	p, err := leaves.Prove(records...)
	if err != nil || f.against == "" {
		return p, err
	}
	text, err := sess.App.ReadInput(f.against, 64<<10)
	if err != nil {
		return p, err
	}
	c, older, err := sess.Workspace.Anchor(text)
	if err != nil {
		return p, err
	}
	return leaves.Tie(p, c, older)
}

// wantedRecords tells the records that are to be proven: the one with a number or an id, or all of a task.
func wantedRecords(ctx context.Context, sess *cli.Session, args []string,
	task string) (func(audit.Stored) bool, error) {
	if task != "" {
		s, err := cli.FindTask(ctx, sess, task)
		if err != nil {
			return nil, err
		}
		subject := audit.Subject{Kind: string(kernel.KindTask), ID: s.Task.ID}
		return func(r audit.Stored) bool { return r.Subject == subject }, nil
	}
	if n, err := strconv.ParseInt(args[0], 10, 64); err == nil {
		return func(r audit.Stored) bool { return r.Index == n }, nil
	}
	id, err := pawl.ParseID(strings.ToUpper(args[0]))
	if err != nil {
		return nil, pawl.Fail(pawl.CodeNotFound, "cli.audit.no_record", args[0])
	}
	return func(r audit.Stored) bool {
		p, err := audit.Parse(r.Bytes)
		return err == nil && p.ID == id
	}, nil
}

func proveRecord(pr *cli.Printer, record string) {
	const most = 12 // lines; the whole record is in the proof itself
	for i, l := range term.Wrap(cli.Display(record), pr.Std.Width-4) {
		if i == most {
			pr.Say("    " + pr.Style.Ellipsis())
			break
		}
		pr.Say("    " + l)
	}
}

func printHashes(pr *cli.Printer, hashes []audit.Hash) {
	pr.Say("  " + pr.Style.Dim(pr.Text("cli.audit.hashes", len(hashes))))
	for _, h := range hashes {
		pr.Say("    " + pr.Style.Dim(h.String()))
	}
}

// verifyProof checks a proof file. It needs neither a workspace nor a store.
func verifyProof(a *cli.App, name, key string) error {
	data, err := a.ReadInput(name, audit.MaxProof)
	if err != nil {
		return err
	}
	p, err := audit.ParseProof(data)
	if err != nil {
		return err
	}
	older, err := p.Check(key)
	if err != nil {
		return err
	}
	if a.JSON {
		out := map[string]any{"ok": true, "records": len(p.Records), "log_size": p.Size, "root": p.Root.String(),
			"checkpoint": p.Checkpoint != nil}
		if c := p.Checkpoint; c != nil {
			out["checkpoint_size"], out["key"], out["key_given"] = older.N, c.Key, key != ""
		}
		return a.PrintJSON(out)
	}
	for _, r := range p.Records {
		a.Say(a.Style.OK() + " " + a.Text("cli.audit.proven", r.Index, p.Size))
		proveRecord(a.Printer, r.Record)
	}
	a.Say("  " + a.Text("cli.audit.root", p.Root.String()))
	switch c := p.Checkpoint; {
	case c == nil:
		a.Say(a.Style.Warn() + " " + a.Text("cli.audit.proof_loose"))
	case key == "":
		a.Say(a.Style.OK() + " " + a.Text("cli.audit.proof_note", older.N))
		a.Say(a.Style.Warn() + " " + a.Text("cli.audit.proof_key", c.Key))
	default:
		a.Say(a.Style.OK() + " " + a.Text("cli.audit.proof_signed", older.N))
	}
	return nil
}
