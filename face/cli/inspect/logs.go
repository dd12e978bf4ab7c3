package inspect

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/session"
	"pawl/store/logs"
)

// How often a log that is followed is read, and how often the store is asked what else there is to read.
const (
	readEvery = 20 * time.Millisecond
	askEvery  = 200 * time.Millisecond
)

// logsFlags are the flags of `pawl logs`.
type logsFlags struct {
	follow, failed, list, raw, plain bool
}

func newLogsCommand(a *cli.App) *cobra.Command {
	var f logsFlags
	c := a.Command("logs [RUN|TASK|ISSUE|COMMIT] [NAME]", "see.logs",
		"  pawl logs -f\n  pawl logs \"go test\"\n  pawl logs RUN-3 s2\n  pawl logs --failed\n  pawl logs ISS-2 codex -f\n  pawl logs --list", cli.Between(0, 2), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.follow && f.list {
			return cli.Usage("cli.flags_conflict", "--follow", "--list")
		}
		return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
			o, err := chosen(c.Context(), sess, args, f.failed)
			if err != nil {
				return err
			}
			if f.list || sess.JSON && !f.follow {
				return listOutputs(sess.Printer, o)
			}
			p := &reader{sess: sess, outputs: o, raw: f.raw, out: sess.Std.Out, waiting: waiting{sess: sess},
				seen: map[string]int64{}, told: map[string]bool{}}
			if f.follow {
				return p.follow(c.Context())
			}
			return paged(sess.Printer, f.plain, func(out io.Writer) error {
				p.out = out
				return p.whole()
			})
		})
	}
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, a.Text("see.flag.logs_follow"))
	c.Flags().BoolVar(&f.failed, "failed", false, a.Text("see.flag.logs_failed"))
	c.Flags().BoolVarP(&f.list, "list", "l", false, a.Text("see.flag.logs_list"))
	c.Flags().BoolVar(&f.plain, "no-pager", false, a.Text("see.flag.no_pager"))
	c.Flags().BoolVar(&f.raw, "raw", false, a.Text("see.flag.logs_raw"))
	return c
}

// outputs are those of a run that were asked for.
type outputs struct {
	run, name string // as they were given
	failed    bool
	of        view.RunOutputs
	dir       logs.Dir
	ended     map[string][]logs.Part // of the effects that are over, which grow no more
}

// chosen finds what was asked for. One word names a run where there is one of that name, and else what is to be read of
// the last one.
func chosen(ctx context.Context, sess *cli.Session, args []string, failed bool) (*outputs, error) {
	o := &outputs{failed: failed, dir: logs.Of(sess.Workspace.Place.Own())}
	switch len(args) {
	case 2:
		o.run, o.name = args[0], args[1]
	case 1:
		o.run = args[0]
	}
	err := o.read(ctx, sess)
	if len(args) == 1 && pawl.CodeOf(err) == pawl.CodeNotFound && !namesRun(args[0]) {
		o.run, o.name = "", args[0]
		err = o.read(ctx, sess)
	}
	if err == nil && o.name != "" && len(o.parts()) == 0 {
		if known := o.names(); len(known) > 0 {
			return nil, pawl.Fail(pawl.CodeNotFound, "see.output_unknown", o.name, strings.Join(known, ", "))
		}
	}
	return o, err
}

// namesRun reports whether a word can only have been meant as the name of a run, a task or an issue.
func namesRun(word string) bool {
	kind, number, ok := strings.Cut(strings.ToUpper(word), "-")
	return ok && slices.Contains([]string{"RUN", "T", "ISS"}, kind) && strings.Trim(number, "0123456789") == ""
}

func (o *outputs) read(ctx context.Context, sess *cli.Session) (err error) {
	o.of, err = sess.Ask().Outputs(ctx, sess.Label(), o.run)
	return err
}

// part is a piece of what an effect said that is read by itself: the output of a call, of one check, or of an agent.
type part struct {
	*view.Output
	name string
	log  *logs.Part       // nil where there is no file, or not yet
	kept *view.KeptOutput // nil where the store holds nothing of it
}

func (p part) running() bool { return p.State == "running" || p.State == "pending" }

// parts are the parts that were asked for, in order.
func (o *outputs) parts() []part {
	var out []part
	for _, p := range o.every() {
		if o.failed && (p.kept == nil && p.State != "failed" || p.kept != nil && !p.kept.Failed) {
			continue
		}
		if o.name == "" || p.called(o.name) {
			out = append(out, p)
		}
	}
	return out
}

// every are all parts: the files there are, with what the store holds of them, and what only the store has.
func (o *outputs) every() []part {
	var out []part
	for i := range o.of.Outputs {
		e := &o.of.Outputs[i]
		kept := slices.Clone(e.Kept)
		for _, l := range o.logsOf(e) {
			p := part{Output: e, name: l.Name, log: &l}
			if n := slices.IndexFunc(kept, func(k view.KeptOutput) bool {
				return k.Name == l.Name ||
					k.Name == ""
			}); n >= 0 {
				p.kept = &kept[n]
				kept = append(kept[:n:n], kept[n+1:]...)
			}
			out = append(out, p)
		}
		for _, k := range kept {
			if k.Bytes > 0 {
				out = append(out, part{Output: e, name: k.Name, kept: &k})
			}
		}
	}
	return out
}

// logsOf lists the logs of an effect: again and again while it is at work, once when it is over.
func (o *outputs) logsOf(e *view.Output) []logs.Part {
	if all, known := o.ended[e.Effect]; known {
		return all
	}
	all := o.dir.Parts(e.Effect)
	if !(part{Output: e}).running() {
		if o.ended == nil {
			o.ended = map[string][]logs.Part{}
		}
		o.ended[e.Effect] = all
	}
	return all
}

// called reports whether a part is what somebody calls by a name: that of its step, its check, its tool or agent, its
// effect, or the beginning of its command.
func (p part) called(name string) bool {
	return slices.Contains([]string{p.Step, p.name, p.Name, p.Effect, string(p.Kind)}, name) ||
		strings.HasPrefix(p.what(), name)
}

// what is what a part is the output of: the command, the check, or the agent.
func (p part) what() string {
	if p.Kind == effect.KindTool {
		return cmp.Or(cli.Subject(p.Args), p.Name)
	}
	return cmp.Or(p.name, p.Name)
}

// names are what parts can be called by, each once.
func (o *outputs) names() []string {
	var out []string
	for _, p := range o.every() {
		for _, n := range []string{p.Step, p.what()} {
			if n != "" && !slices.Contains(out, cli.Display(n)) {
				out = append(out, cli.Display(n))
			}
		}
	}
	return out
}

// title heads a part.
func (p part) title(pr *cli.Printer) string {
	out := cli.Display(p.what())
	if p.Step != "" {
		out = cli.Display(p.Step) + "  " + out
	}
	if p.Before {
		out += "  " + pr.Text("see.before_work")
	}
	if p.kept != nil && p.kept.Failed {
		out += "  " + pr.Text("cli.check.failed", p.kept.Exit)
	}
	return out
}

// listOutputs tells which outputs there are, where they are and how long.
func listOutputs(pr *cli.Printer, o *outputs) error {
	type line struct {
		*view.Output
		Part  string `json:"part,omitempty"`
		File  string `json:"file,omitempty"`
		Bytes int64  `json:"bytes"`
	}
	all := []line{}
	for _, p := range o.parts() {
		l := line{Output: p.Output, Part: p.name}
		if p.log != nil {
			l.File, l.Bytes = p.log.File, p.log.Size
		} else if p.kept != nil {
			l.Bytes = int64(len(p.kept.Text))
		}
		all = append(all, l)
		if !pr.JSON {
			pr.Say(p.title(pr) + "  " + pr.Style.Dim(pr.Text("see.bytes", l.Bytes)))
		}
	}
	if pr.JSON {
		return pr.PrintJSON(all)
	}
	if len(all) == 0 {
		pr.Note(pr.Text("see.no_output"))
	}
	return nil
}

// reader writes outputs to the person.
type reader struct {
	sess    *cli.Session
	outputs *outputs
	raw     bool
	out     io.Writer
	seen    map[string]int64 // how much of each file was written
	told    map[string]bool  // what was written of the store
	at      string           // the part that was written last
	open    bool             // and it has not ended its line
	waiting waiting
}

// whole writes all that there is.
func (r *reader) whole() error {
	parts := r.outputs.parts()
	for _, p := range parts {
		if err := r.write(p, len(parts) > 1); err != nil {
			return err
		}
	}
	if len(parts) == 0 {
		r.sess.Note(r.sess.Text("see.no_output"))
	}
	return nil
}

// write writes what of a part was not written yet.
func (r *reader) write(p part, headed bool) error {
	if p.log == nil {
		key := p.Effect + "/" + p.name
		if r.told[key] || p.kept == nil {
			return nil
		}
		r.told[key] = true
		if p.kept.Cut {
			r.sess.Note(r.sess.Style.Warn() + " " + r.sess.Text("see.output_end", cli.Display(p.what()), p.kept.Bytes))
		}
		if err := r.head(p, key, headed); err != nil {
			return err
		}
		return r.text(p, []byte(strings.TrimRight(p.kept.Text, "\n")+"\n"))
	}
	if r.seen[p.log.File] >= p.log.Size {
		return nil
	}
	if err := r.head(p, p.log.File, headed); err != nil {
		return err
	}
	n, err := p.log.Read(r.seen[p.log.File], !p.running(), func(b []byte) error { return r.text(p, b) })
	r.seen[p.log.File] += n
	return err
}

// head says whose output follows, where another's stood before.
func (r *reader) head(p part, key string, headed bool) error {
	if !headed || r.at == key || r.sess.JSON {
		r.at = key
		return nil
	}
	first := r.at == ""
	r.at = key
	gap := ""
	if r.open {
		gap = "\n"
	}
	if !first {
		gap += "\n"
	}
	r.open = false
	_, err := io.WriteString(r.out, gap+r.sess.Style.Bold("==> "+p.title(r.sess.Printer)+" <==")+"\n")
	return err
}

// text writes a piece of output: to a program as it came, without control sequences unless they were asked for, and to
// a person so that nothing in it can act on the terminal.
func (r *reader) text(p part, b []byte) error {
	if r.sess.JSON {
		return r.sess.PrintLine(map[string]any{"type": "output", "effect": p.Effect, "part": p.name, "text": string(b)})
	}
	if !r.raw {
		b = []byte(logs.Plain(b))
		if r.sess.Std.TTY {
			b = []byte(visible(string(b)))
		}
	}
	if len(b) > 0 {
		r.open = b[len(b)-1] != '\n'
	}
	_, err := r.out.Write(b)
	return err
}

// visible makes visible what a terminal would not show as it is: directions, blanks without width, and the like.
func visible(text string) string {
	var out strings.Builder
	for l := range strings.Lines(text) {
		body, ended := strings.CutSuffix(l, "\n")
		for i, cell := range strings.Split(body, "\t") {
			if i > 0 {
				out.WriteByte('\t')
			}
			out.WriteString(cli.Display(cell))
		}
		if ended {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// waiting tells once that nothing comes before a person has decided something.
type waiting struct {
	sess  *cli.Session
	state session.State // of the session when it was looked at last
}

// tell fails where nobody works, and nobody will before somebody has begun it again. Owned says that a process ran work
// before the outputs were read: afterwards it may have ended because the work had.
func (w *waiting) tell(of view.RunOutputs, owned bool) error {
	rests := of.State == session.Confirming || of.State == session.Blocked
	if of.State != "" && !rests && !owned && !of.Claimed {
		return pawl.Fail(pawl.CodeBlocked, "see.nobody_works", of.Run)
	}
	if rests && of.State != w.state {
		w.sess.Note(w.sess.Style.Warn() + " " + w.sess.Text("see.logs_wait", string(of.State)))
	}
	w.state = of.State
	return nil
}

// follow writes what there is and what comes, until the run is over.
func (r *reader) follow(ctx context.Context) error {
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	asked := time.Now()
	for {
		over := r.outputs.of.State == ""
		for _, p := range r.outputs.parts() {
			if err := r.write(p, true); err != nil {
				return err
			}
		}
		if over {
			if r.at == "" {
				r.sess.Note(r.sess.Text("see.no_output"))
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if time.Since(asked) >= askEvery {
			_, owned := r.sess.Workspace.Owner()
			if err := r.outputs.read(ctx, r.sess); err != nil {
				return err
			}
			if err := r.waiting.tell(r.outputs.of, owned); err != nil {
				return err
			}
			asked = time.Now()
		}
	}
}
