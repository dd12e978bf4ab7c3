// Package auditlog is what looks at the records of what was decided: pawl audit, with its proofs, and pawl replay,
// which decides again.
package auditlog

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"pawl"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/composition"
	"pawl/kernel/query"
	"pawl/kernel/word"
	"pawl/text/message"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{
		{Name: "audit", Group: "look", Build: newAuditCommand},
		{Name: "replay", Group: "look", Build: newReplayCommand},
	}
}

func newAuditCommand(a *cli.App) *cobra.Command {
	return a.Group("audit", "cli.audit",
		NewLogCommand(a, "log [TASK]", "cli.audit.log",
			"  pawl audit log\n  pawl audit log T-001 --follow\n  pawl audit log -n 20 --json", cli.Between(0, 1)),
		newAuditVerifyCommand(a), newAuditProveCommand(a), newAuditExportCommand(a), newAuditCheckpointCommand(a))
}

// logFlags are the flags of the log commands.
type logFlags struct {
	follow bool
	last   int
}

// NewLogCommand lists audit records: all, or those of one task.
func NewLogCommand(a *cli.App, use, key, example string, args cobra.PositionalArgs) *cobra.Command {
	var f logFlags
	c := a.Command(use, key, example, args, nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.last < 0 {
			return cli.Usage("cli.flag_invalid", strconv.Itoa(f.last), "--last", "0 …")
		}
		return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
			var about audit.Subject
			if len(args) > 0 {
				s, err := cli.FindTask(c.Context(), sess, args[0])
				if err != nil {
					return err
				}
				about = audit.Subject{Kind: string(kernel.KindTask), ID: s.Task.ID}
			}
			return printLog(c.Context(), sess, about, f)
		})
	}
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, a.Text("cli.flag.follow"))
	c.Flags().IntVarP(&f.last, "last", "n", 0, a.Text("cli.flag.last"))
	return c
}

// printLog streams records, and with follow waits for further ones until ctx ends.
func printLog(ctx context.Context, sess *cli.Session, about audit.Subject, f logFlags) error {
	next := int64(0)
	if f.last > 0 {
		first, err := sess.Ask().Log().FirstOf(ctx, about, f.last)
		if err != nil {
			return err
		}
		next = first
	}
	head, err := sess.Ask().Log().Head(ctx)
	if err != nil {
		return err
	}
	names := map[string]string{}
	out := bufio.NewWriterSize(sess.Std.Out, 32<<10)
	for rec, err := range sess.Ask().Log().Records(ctx, about, next) {
		if err != nil {
			return err
		}
		if rec.Index >= head.Size {
			break
		}
		if err := writeRecord(ctx, sess, out, rec, names); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil || !f.follow {
		return err
	}
	for rec, err := range sess.Workspace.Feed.Follow(ctx, head.Size) {
		if err != nil {
			return err
		}
		if about != (audit.Subject{}) && rec.Subject != about {
			continue
		}
		if err := writeRecord(ctx, sess, out, rec, names); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// writeRecord writes a record: with --json its exact bytes, which are one line of JSON, else a line for people.
func writeRecord(ctx context.Context, sess *cli.Session, out *bufio.Writer, rec audit.Stored,
	names map[string]string) error {
	if sess.JSON {
		_, err := out.Write(append(rec.Bytes[:len(rec.Bytes):len(rec.Bytes)], '\n'))
		return err
	}
	p, err := audit.Parse(rec.Bytes)
	if err != nil {
		return err
	}
	what := cli.Display(p.Event)
	by := p.Actor
	if m := p.Move; m != nil {
		what, by = cli.MoveText(sess.Printer, m.From, m.To)+"  "+sess.Style.Dim(cli.Display(m.Rule)), m.Actor
	}
	line := sess.Style.Dim(fmt.Sprintf("%6d", rec.Index)) + "  " +
		sess.Style.Dim(p.At.Local().Format("2006-01-02 15:04:05")) + "  " +
		term.Pad(nameOf(ctx, sess, p.Subject, names), 16) + "  " + what
	if by != "" {
		line += "  " + sess.Style.Dim(cli.Display(string(by)))
	}
	if p.Event == string(kernel.AuditDecisionSigned) {
		var said word.Signed
		_ = json.Unmarshal(p.Data, &said) // what cannot be read is not shown, and for `pawl audit verify` to tell
		line += "  " + sess.Style.Dim(cli.Display(sess.Text("see.by_key_through", said.Fingerprint, said.Program)))
	}
	if m := p.Move; m != nil && m.Reason != "" {
		line += "  " + sess.Style.Dim(term.Clip(cli.Display(cli.FirstLine(becauseText(sess.Printer, m.Reason))), 60,
			sess.Style.Ellipsis()))
	}
	_, err = out.WriteString(line + "\n")
	return err
}

// becauseText puts the reason of a record into the person's language, where it is one that pawl gives itself. What
// people and agents wrote stays as it is.
func becauseText(pr *cli.Printer, reason string) string {
	if format, ok := pr.Lang.Format(reason); ok && strings.Contains(reason, ".") {
		// The record has the key alone: what the text says at its end with an argument stands in other records.
		head, _, _ := strings.Cut(format, ": %")
		head, _, _ = strings.Cut(head, "：%")
		if strings.Contains(head, "%") {
			return reason
		}
		return head
	}
	for _, c := range composition.Rows() {
		if c.Text == reason {
			return pr.Choose(c.Text, message.Translation("compose."+c.ID))
		}
	}
	for _, known := range []struct{ begins, key string }{
		{"claimed by ", "cli.because.claimed"}, {"stopped by ", "cli.because.stopped"}, {"answered by ",
			"cli.because.answered"},
		{"allowed by ", "cli.because.allowed_by"}, {"back at ", "cli.because.back"}, {"plan ", "cli.because.plan"},
		{"every gate passed on tree ", "cli.because.proven"}, {"the last repair failed: ", "cli.because.fuse"},
	} {
		if rest, ok := strings.CutPrefix(reason, known.begins); ok && pr.Choose("en", "zh") == "zh" {
			return pr.Text(known.key, rest)
		}
	}
	switch reason {
	case "approved", "archived", "landed", "allowed", "empty", "kept":
		return pr.Text("cli.because." + reason)
	case "context built", "attempt at the approved plan", "the task was canceled":
		return pr.Text("cli.because." + strings.ReplaceAll(reason, " ", "_"))
	}
	return reason
}

// nameOf names a record's subject by its label where it has one, else by its kind and the end of its id.
func nameOf(ctx context.Context, sess *cli.Session, s audit.Subject, names map[string]string) string {
	if n, ok := names[s.ID]; ok {
		return n
	}
	name := s.Kind + " " + s.ID[max(0, len(s.ID)-6):]
	if s.Kind == string(kernel.KindSession) {
		name = s.Kind
	} else if label := sess.Ask().Log().NameOf(ctx, s); label != "" {
		name = label
	} else if s.Kind == string(kernel.KindFlow) {
		name = s.Kind
	}
	names[s.ID] = cli.Display(name)
	return names[s.ID]
}

func newAuditVerifyCommand(a *cli.App) *cobra.Command {
	var file, proof, key string
	c := a.Command("verify", "cli.audit.verify",
		"  pawl audit verify\n  pawl audit verify --checkpoint ~/pawl-head.note\n  pawl audit verify --proof proof.json --key pawl+1a2b3c4d+AbCd…", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case proof != "" && file != "":
			return cli.Usage("cli.flags_conflict", "--proof", "--checkpoint")
		case proof != "":
			return verifyProof(a, proof, key)
		case key != "":
			return cli.Usage("cli.audit.key_alone")
		}
		return a.With(c.Context(), cli.Reading(),
			func(sess *cli.Session) error { return verifyAudit(c.Context(), sess, file) })
	}
	c.Flags().StringVar(&file, "checkpoint", "", a.Text("cli.flag.checkpoint"))
	c.Flags().StringVar(&proof, "proof", "", a.Text("cli.flag.proof"))
	c.Flags().StringVar(&key, "key", "", a.Text("cli.flag.proof_key"))
	return c
}

func verifyAudit(ctx context.Context, sess *cli.Session, file string) error {
	var notes [][]byte
	if file != "" {
		note, err := sess.App.ReadInput(file, 64<<10)
		if err != nil {
			return err
		}
		notes = append(notes, note)
	}
	// The rows are part of what the log vouches for: Check compares them with it, and the log with kept checkpoints.
	report, err := sess.Workspace.Check(ctx, nil)
	if err == nil && file != "" {
		report, err = sess.Workspace.Verify(ctx, notes...)
	}
	if err == nil && file == "" {
		err = Unwitnessed(ctx, sess)
	}
	if err != nil {
		return err
	}
	earlier, told, err := sess.Workspace.Earlier(ctx, !sess.JSON)
	if err != nil {
		return err
	}
	kept, err := sess.Workspace.Witness(ctx)
	if err != nil {
		return err
	}
	if sess.JSON {
		out := map[string]any{"ok": true, "records": report.Size, "subjects": len(report.Tails),
			"transitions": report.Moves, "root": report.Root.String(), "checkpoint": file != "", "kept": kept,
			"retired": report.Front}
		if earlier != nil {
			out["earlier"] = earlier
		}
		return sess.PrintJSON(out)
	}
	if earlier != nil && !told {
		cli.Remark(sess.Printer, earlier.Fault())
	}
	sess.Say(sess.Style.OK() + " " + sess.Text("cli.audit.good", report.Size, len(report.Tails), report.Moves))
	if report.Front > 0 {
		sess.Say("  " + sess.Text("cli.audit.retired", report.Front))
	}
	sess.Say("  " + sess.Style.Dim(sess.Text("cli.audit.root", report.Root.String())))
	if kept.Covers > 0 {
		sess.Say("  " + sess.Style.Dim(sess.Text("cli.audit.kept", kept.Covers, report.Size, sess.Clock(kept.At))))
	}
	if file != "" {
		sess.Say(sess.Style.OK() + " " + sess.Text("cli.audit.note_good", file))
	}
	return nil
}

// Unwitnessed is an error where runs have ended and no checkpoint of the log is kept outside of the workspace: nothing
// would show that the log was cut short or replaced.
func Unwitnessed(ctx context.Context, sess *cli.Session) error {
	kept, err := sess.Workspace.Witness(ctx)
	if err != nil || kept.Covers > 0 {
		return err
	}
	for run, err := range sess.Ask().Runs(ctx, query.Page{Newest: true, Limit: 2}) { // one of them may be at work
		if err != nil {
			return err
		}
		if run.Value.Outcome != "" {
			return pawl.Fail(pawl.CodeAuditBroken, "audit.unwitnessed")
		}
	}
	return nil
}

func newAuditExportCommand(a *cli.App) *cobra.Command {
	return a.Command("export [FILE]", "cli.audit.export",
		"  pawl audit export > audit.jsonl\n  pawl audit export audit.jsonl", cli.Between(0, 1), func(c *cobra.Command,
			args []string) error {
			return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
				if len(args) == 0 {
					_, err := exportAudit(c.Context(), sess, a.Std.Out)
					return err
				}
				return a.WriteNew(args[0], func(w io.Writer) error {
					n, err := exportAudit(c.Context(), sess, w)
					if err == nil {
						err = tellWritten(a.Printer, args[0], n)
					}
					return err
				})
			})
		})
}

// exportAudit writes every record's exact bytes, one on a line, and returns their number.
func exportAudit(ctx context.Context, sess *cli.Session, w io.Writer) (int64, error) {
	out := bufio.NewWriterSize(w, 64<<10)
	n := int64(0)
	for rec, err := range sess.Ask().Log().Records(ctx, audit.Subject{}, 0) {
		if err != nil {
			return n, err
		}
		if _, err := out.Write(append(rec.Bytes[:len(rec.Bytes):len(rec.Bytes)], '\n')); err != nil {
			return n, err
		}
		n++
	}
	return n, out.Flush()
}

func tellWritten(pr *cli.Printer, name string, n int64) error {
	if pr.JSON {
		return pr.PrintJSON(map[string]any{"file": name, "records": n})
	}
	pr.Say(pr.Style.OK() + " " + pr.Text("cli.audit.exported", n, name))
	return nil
}

func newAuditCheckpointCommand(a *cli.App) *cobra.Command {
	return a.Command("checkpoint [FILE]", "cli.audit.checkpoint", "  pawl audit checkpoint ~/pawl-head.note",
		cli.Between(0, 1), func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
				note, err := sess.Workspace.Checkpoint(c.Context())
				if err != nil {
					return err
				}
				if len(args) > 0 {
					return a.WriteNew(args[0], func(w io.Writer) error {
						if _, err := w.Write(note); err != nil {
							return err
						}
						return printNote(a.Printer, args[0], note)
					})
				}
				if a.JSON {
					return printNote(a.Printer, "", note)
				}
				_, err = a.Std.Out.Write(note)
				return err
			})
		})
}

func printNote(pr *cli.Printer, file string, note []byte) error {
	if pr.JSON {
		return pr.PrintJSON(map[string]any{"file": file, "note": string(note)})
	}
	pr.Say(pr.Style.OK() + " " + pr.Text("cli.audit.noted", file))
	return nil
}
