package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli/term"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/text/message"
)

func newAuditCommand(a *App) *cobra.Command {
	return a.Group("audit", "cli.audit",
		logCommand(a, "log [TASK]", "cli.audit.log", "  pawl audit log\n  pawl audit log T-001 --follow\n  pawl audit log -n 20 --json", Between(0, 1)),
		newAuditVerifyCommand(a), newAuditProveCommand(a), newAuditExportCommand(a), newAuditCheckpointCommand(a))
}

// logFlags are the flags of the log commands.
type logFlags struct {
	follow bool
	last   int
}

// logCommand lists audit records: all, or those of one task.
func logCommand(a *App, use, key, example string, args cobra.PositionalArgs) *cobra.Command {
	var f logFlags
	c := a.Command(use, key, example, args, nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.last < 0 {
			return Usage("cli.flag_invalid", strconv.Itoa(f.last), "--last", "0 …")
		}
		return a.With(c.Context(), Reading(), func(sess *Session) error {
			var about audit.Subject
			if len(args) > 0 {
				s, err := findTask(c.Context(), sess, args[0])
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
func printLog(ctx context.Context, sess *Session, about audit.Subject, f logFlags) error {
	next := int64(0)
	if f.last > 0 {
		first, err := sess.Ask().Log().FirstOf(ctx, about, f.last)
		if err != nil {
			return err
		}
		next = first
	}
	names := map[string]string{}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		out := bufio.NewWriterSize(sess.Std.Out, 32<<10)
		for rec, err := range sess.Ask().Log().Records(ctx, about, next) {
			if err != nil {
				return err
			}
			next = rec.Index + 1
			if err := writeRecord(ctx, sess, out, rec, names); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil || !f.follow {
			return err
		}
		if err := untilGrown(ctx, sess, next, tick); err != nil {
			return err
		}
	}
}

// untilGrown waits until the log is longer than size.
func untilGrown(ctx context.Context, sess *Session, size int64, tick *time.Ticker) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			head, err := sess.Ask().Log().Head(ctx)
			if err != nil || head.Size > size {
				return err
			}
		}
	}
}

// writeRecord writes a record: with --json its exact bytes, which are one line of JSON, else a line for people.
func writeRecord(ctx context.Context, sess *Session, out *bufio.Writer, rec audit.Stored, names map[string]string) error {
	if sess.JSON {
		_, err := out.Write(append(rec.Bytes[:len(rec.Bytes):len(rec.Bytes)], '\n'))
		return err
	}
	p, err := audit.Parse(rec.Bytes)
	if err != nil {
		return err
	}
	what := Display(p.Event)
	by := p.Actor
	if m := p.Move; m != nil {
		what, by = moveText(sess.Printer, m.From, m.To)+"  "+sess.Style.Dim(Display(m.Rule)), m.Actor
	}
	line := sess.Style.Dim(fmt.Sprintf("%6d", rec.Index)) + "  " + sess.Style.Dim(p.At.Local().Format("2006-01-02 15:04:05")) + "  " + term.Pad(nameOf(ctx, sess, p.Subject, names), 16) + "  " + what
	if by != "" {
		line += "  " + sess.Style.Dim(Display(string(by)))
	}
	if m := p.Move; m != nil && m.Reason != "" {
		line += "  " + sess.Style.Dim(term.Clip(Display(firstLine(becauseText(sess.Printer, m.Reason))), 60, sess.Style.Ellipsis()))
	}
	_, err = out.WriteString(line + "\n")
	return err
}

// moveText is a move between two states; a state that is empty is shown as nothing.
func moveText(pr *Printer, from, to string) string {
	name := func(state string) string {
		if state == "" {
			return pr.Style.None()
		}
		return Display(state)
	}
	return name(from) + " " + pr.Style.To() + " " + name(to)
}

// becauseText puts the reason of a record into the person's language, where it is one that pawl gives itself. What people and
// agents wrote stays as it is.
func becauseText(pr *Printer, reason string) string {
	if format, ok := pr.Lang.Format(reason); ok && strings.Contains(reason, ".") {
		// The record has the key alone: what the text says at its end with an argument stands in other records.
		head, _, _ := strings.Cut(format, ": %")
		head, _, _ = strings.Cut(head, "：%")
		if strings.Contains(head, "%") {
			return reason
		}
		return head
	}
	for _, c := range kernel.Compositions() {
		if c.Text == reason {
			return pr.Choose(c.Text, message.Translation("compose."+c.ID))
		}
	}
	for _, known := range []struct{ begins, key string }{
		{"claimed by ", "cli.because.claimed"}, {"stopped by ", "cli.because.stopped"}, {"answered by ", "cli.because.answered"},
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
func nameOf(ctx context.Context, sess *Session, s audit.Subject, names map[string]string) string {
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
	names[s.ID] = Display(name)
	return names[s.ID]
}

func newAuditVerifyCommand(a *App) *cobra.Command {
	var file, proof, key string
	c := a.Command("verify", "cli.audit.verify", "  pawl audit verify\n  pawl audit verify --checkpoint ~/pawl-head.note\n  pawl audit verify --proof proof.json --key pawl+1a2b3c4d+AbCd…", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case proof != "" && file != "":
			return Usage("cli.flags_conflict", "--proof", "--checkpoint")
		case proof != "":
			return verifyProof(a, proof, key)
		case key != "":
			return Usage("cli.audit.key_alone")
		}
		return a.With(c.Context(), Reading(), func(sess *Session) error { return verifyAudit(c.Context(), sess, file) })
	}
	c.Flags().StringVar(&file, "checkpoint", "", a.Text("cli.flag.checkpoint"))
	c.Flags().StringVar(&proof, "proof", "", a.Text("cli.flag.proof"))
	c.Flags().StringVar(&key, "key", "", a.Text("cli.flag.proof_key"))
	return c
}

func verifyAudit(ctx context.Context, sess *Session, file string) error {
	var notes [][]byte
	if file != "" {
		note, err := sess.App.ReadInput(file, 64<<10)
		if err != nil {
			return err
		}
		notes = append(notes, note)
	}
	report, err := sess.Workspace.Verify(ctx, notes...)
	if err != nil {
		return err
	}
	earlier, told, err := sess.Workspace.Earlier(ctx, !sess.JSON)
	if err != nil {
		return err
	}
	if sess.JSON {
		out := map[string]any{"ok": true, "records": report.Size, "subjects": len(report.Tails), "transitions": report.Moves, "root": report.Root.String(), "checkpoint": file != ""}
		if earlier != nil {
			out["earlier"] = earlier
		}
		return sess.PrintJSON(out)
	}
	if earlier != nil && !told {
		remark(sess.Printer, earlier.Fault())
	}
	sess.Say(sess.Style.OK() + " " + sess.Text("cli.audit.good", report.Size, len(report.Tails), report.Moves))
	sess.Say("  " + sess.Style.Dim(sess.Text("cli.audit.root", report.Root.String())))
	if file != "" {
		sess.Say(sess.Style.OK() + " " + sess.Text("cli.audit.note_good", file))
	}
	return nil
}

func newAuditExportCommand(a *App) *cobra.Command {
	return a.Command("export [FILE]", "cli.audit.export", "  pawl audit export > audit.jsonl\n  pawl audit export audit.jsonl", Between(0, 1), func(c *cobra.Command, args []string) error {
		return a.With(c.Context(), Reading(), func(sess *Session) error {
			if len(args) == 0 {
				_, err := exportAudit(c.Context(), sess, a.Std.Out)
				return err
			}
			return writeTo(a, args[0], func(w io.Writer) error {
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
func exportAudit(ctx context.Context, sess *Session, w io.Writer) (int64, error) {
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

func tellWritten(pr *Printer, name string, n int64) error {
	if pr.JSON {
		return pr.PrintJSON(map[string]any{"file": name, "records": n})
	}
	pr.Say(pr.Style.OK() + " " + pr.Text("cli.audit.exported", n, name))
	return nil
}

// writeTo writes a new file that the user named. An existing one is not overwritten.
func writeTo(a *App, name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(a.Path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return pawl.Fail(pawl.CodeConflict, "cli.file_exists", name)
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", name).Because(err)
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func newAuditCheckpointCommand(a *App) *cobra.Command {
	return a.Command("checkpoint [FILE]", "cli.audit.checkpoint", "  pawl audit checkpoint ~/pawl-head.note", Between(0, 1), func(c *cobra.Command, args []string) error {
		return a.With(c.Context(), Reading(), func(sess *Session) error {
			note, err := sess.Workspace.Checkpoint(c.Context())
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return writeTo(a, args[0], func(w io.Writer) error {
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

func printNote(pr *Printer, file string, note []byte) error {
	if pr.JSON {
		return pr.PrintJSON(map[string]any{"file": file, "note": string(note)})
	}
	pr.Say(pr.Style.OK() + " " + pr.Text("cli.audit.noted", file))
	return nil
}
