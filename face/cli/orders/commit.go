package orders

import (
	"context"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/host"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/text/knowledge"
	"pawl/text/pattern"
)

// commitFlags are the flags of `pawl commit`.
type commitFlags struct {
	yes, all, push bool
	english        string
}

func newCommitCommand(a *cli.App) *cobra.Command {
	var f commitFlags
	c := a.Command("commit [MESSAGE]", "orders.commit",
		"  pawl commit\n  pawl commit \"fix(api): refuse empty names\" --yes\n  pawl commit --push --yes",
		cli.Between(0, 1000), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.With(c.Context(), host.Open{Create: true, Sure: f.yes},
			func(sess *cli.Session) error { return commit(c.Context(), sess, strings.Join(args, " "), f) })
	}
	c.Flags().BoolVar(&f.yes, "yes", false, a.Text("orders.flag.yes"))
	c.Flags().BoolVar(&f.all, "all", false, a.Text("orders.flag.commit_all"))
	c.Flags().BoolVar(&f.push, "push", false, a.Text("orders.flag.push"))
	c.Flags().StringVar(&f.english, "english", "", a.Text("orders.flag.english"))
	return c
}

// commit makes a commit of the user's changes, and shares the branch where that is asked for.
func commit(ctx context.Context, sess *cli.Session, given string, f commitFlags) (err error) {
	if _, err := sess.Do(ctx, &planning.Init{Place: sess.Workspace.Place}); err != nil {
		return err
	}
	if err := free(ctx, sess); err != nil {
		return err
	}
	st, err := sess.Workspace.Project.Standing(ctx, f.all)
	if err != nil {
		return err
	}
	if st.By.Name == "" {
		return pawl.Fail(pawl.CodeRepository, "orders.commit.nobody")
	}
	var m draftMessage
	if m.text, err = wording(sess, st, given, f.english); err != nil {
		return err
	}
	defer func() { err = m.settle(ctx, sess.Printer, err) }()
	push, up, err := m.agree(ctx, sess, st, f)
	if err != nil {
		return err
	}
	done, err := record(ctx, sess, st, m.text, f.all)
	if err != nil {
		return err
	}
	m.drop() // it stands in the commit
	if push {
		if done, err = pushBranch(ctx, sess, st.Branch, done, up); err != nil {
			return err
		}
	}
	if sess.JSON {
		return sess.PrintJSON(map[string]any{"commit": done.Commit, "branch": done.Branch, "message": m.text,
			"files": done.Files, "pushed": done.Pushed, "rebased": done.Rebased})
	}
	return nil
}

// record makes the commit, and says so.
func record(ctx context.Context, sess *cli.Session, st host.Standing, text string,
	all bool) (effect.CommitResult, error) {
	r, err := carry(ctx, sess, "~commit", effect.KindCommit, effect.CommitSpec{
		Branch: st.Branch, Parent: st.Head, From: st.From, Tree: st.Tree, All: !st.Staged, Message: text, By: st.By,
		At: sess.Workspace.Kernel.Now(),
	})
	if err != nil {
		return effect.CommitResult{}, err
	}
	done, err := effect.Decode[effect.CommitResult](r.Result)
	if err == nil && !sess.JSON {
		subject, _, _ := strings.Cut(text, "\n")
		sess.Say(sess.Style.OK() + " " + sess.Text("orders.commit.done", cli.Short(done.Commit), done.Branch,
			len(done.Files)) + "  " + cli.Display(subject))
	}
	return done, err
}

// credentials finds what stands in front of the host of an address of the web, which may be a key.
var credentials = pattern.New(`(https?://)[^/@\s]+@`)

// address is where a branch goes, without the credentials that people write into addresses.
func address(up host.Upstream) string { return credentials.Get().ReplaceAllString(up.URL, "$1") }

// pushBranch shares the branch. What was committed stays, whatever comes of it.
func pushBranch(ctx context.Context, sess *cli.Session, branch string, done effect.CommitResult,
	up host.Upstream) (effect.CommitResult, error) {
	spec := effect.CommitSpec{Branch: branch, Parent: done.Commit, At: sess.Workspace.Kernel.Now(), Push: &up.Push}
	r, err := carry(ctx, sess, "~commit", effect.KindCommit, spec)
	if err != nil {
		return done, pawl.Fail(pawl.CodeOf(err), "orders.commit.not_pushed", cli.Short(done.Commit),
			up.Remote).Because(err)
	}
	shared, err := effect.Decode[effect.CommitResult](r.Result)
	if err != nil {
		return done, err
	}
	shared.Files = done.Files
	if sess.JSON {
		return shared, nil
	}
	if shared.Rebased > 0 {
		sess.Say(sess.Style.OK() + " " + sess.Text("orders.commit.rebased", shared.Rebased, up.Remote))
	}
	sess.Say(sess.Style.OK() + " " + sess.Text("orders.commit.pushed", cli.Short(shared.Commit), up.Remote,
		address(up)))
	return shared, nil
}

// wording makes the message of what a person said or, where nobody said anything, of what the changes are.
func wording(sess *cli.Session, st host.Standing, given, english string) (string, error) {
	var changes []knowledge.Change
	kinds := map[string]knowledge.ChangeKind{"A": knowledge.FileAdded, "D": knowledge.FileDeleted}
	for _, f := range st.Files {
		kind, ok := kinds[f.Status]
		if !ok {
			kind = knowledge.FileModified
		}
		changes = append(changes, knowledge.Change{Path: f.Path, Kind: kind})
	}
	c, err := knowledge.SuggestCommit(changes, st.Head == "")
	if err != nil {
		return "", err
	}
	l, bilingual := language(sess), sess.Config.Bilingual
	if given = strings.TrimSpace(given); given != "" {
		if said, both, err := knowledge.ParseCommit(given); err == nil {
			local, en := c.Local, c.English
			if c = said; both {
				bilingual = true
			}
			c.Local, c.English = or(c.Local, or(c.English, local)), or(c.English, or(said.Local, en))
			if bilingual && said.English.Summary == "" {
				c.English = en // a suggestion in English is better than a text in another language
			}
		} else {
			c.Local.Summary = given
			if !bilingual || !chinese(given) {
				c.English.Summary = given
			}
		}
		if chinese(given) && l == knowledge.English {
			l = knowledge.Chinese
		}
	}
	if english != "" {
		c.English = knowledge.Wording{Summary: english}
	}
	return knowledge.Compose(c, l, bilingual)
}

func or(w, other knowledge.Wording) knowledge.Wording {
	if w.Summary == "" {
		return other
	}
	return w
}

func chinese(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// showCommit prints what would be committed, and how it would be called.
func showCommit(pr *cli.Printer, st host.Standing, text string) {
	if pr.JSON {
		return
	}
	key := "orders.commit.everything"
	if st.Staged {
		key = "orders.commit.staged"
	}
	cli.PrintSection(pr, key, cli.FileLines(pr, st.Files, "  "))
	if len(st.Beside) > 0 {
		pr.Say("  " + pr.Style.Dim(pr.Text("orders.commit.beside", len(st.Beside))))
	}
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, "  "+cli.Display(strings.TrimRight(l, "\n")))
	}
	cli.PrintSection(pr, "orders.commit.message", lines)
	pr.Say("")
}

// draftMessage is the message of a commit while it is talked about.
type draftMessage struct {
	text string
	file string // where the person wrote it, "" where nobody did
}

// drop gives up what the person wrote.
func (m *draftMessage) drop() {
	if m.file != "" {
		_ = os.Remove(m.file) // a file that stays in the temporary folder harms nothing
		m.file = ""
	}
}

// settle sees to it that a failure does not lose what the person wrote. Whoever says no gives it up.
func (m *draftMessage) settle(ctx context.Context, pr *cli.Printer, err error) error {
	switch {
	case err == nil || m.file == "":
	case pawl.CodeOf(err) == pawl.CodeUserDenied:
		m.drop()
	case ctx.Err() != nil: // an interrupt is not explained behind it
		pr.Note(pr.Text("cli.edit_kept", m.file))
	default:
		return cli.Kept(err, m.file)
	}
	return err
}

// agree finds out whether the commit is made, and whether and where the branch is shared then: as the flags say, else
// as a person does.
func (m *draftMessage) agree(ctx context.Context, sess *cli.Session, st host.Standing,
	f commitFlags) (push bool, up host.Upstream, err error) {
	ask := !f.yes && sess.Present()
	// The address is read before anything is asked or committed, so that it is known what is agreed to, and that a
	// branch without a remote is found out in time.
	var noRemote error
	if f.push || ask {
		if up, noRemote = sess.Workspace.Project.Upstream(ctx, st.Branch); noRemote != nil {
			up = host.Upstream{}
		}
	}
	switch {
	case f.push && noRemote != nil:
		return false, up, noRemote
	case ask:
		if push, err = m.ask(ctx, sess, st, f.push, up); err == nil && push {
			err = noRemote
		}
		return push, up, err
	case f.yes:
		return f.push, up, nil
	}
	showCommit(sess.Printer, st, m.text)
	if f.push && !sess.JSON {
		sess.SayText("orders.commit.address", st.Branch, up.Remote, address(up))
	}
	return false, up, pawl.Fail(pawl.CodeApprovalNeeded, "orders.commit.how")
}

// ask asks what is to be done with the commit, and lets the message be edited. A message of the person's own form is
// theirs to choose; only one that is empty is none.
func (m *draftMessage) ask(ctx context.Context, sess *cli.Session, st host.Standing, push bool,
	up host.Upstream) (bool, error) {
	there := sess.Text("orders.commit.push", st.Branch)
	if up.Remote != "" {
		there = sess.Text("orders.commit.push_to", st.Branch, up.Remote, address(up))
	}
	options := []option{
		{"l", sess.Text("orders.commit.local")}, {"p", there}, {"e", sess.Text("orders.commit.edit")}, {"c",
			sess.Text("orders.cancel")},
	}
	if push {
		options = []option{options[1], options[0], options[2], options[3]}
	}
	for {
		showCommit(sess.Printer, st, m.text)
		got, err := choose(ctx, sess.Printer, sess.Text("orders.commit.ask"), options)
		if err != nil {
			return false, err
		}
		switch got {
		case "l", "p":
			return got == "p", nil
		case "c":
			sess.SayText("orders.left")
			return false, cli.Shown(pawl.Fail(pawl.CodeUserDenied, "orders.declined"))
		}
		text, file, err := cli.Edit(ctx, sess.App, "pawl-commit-*.txt", m.text, knowledge.MaxMessage)
		if err != nil {
			return false, err
		}
		m.drop() // the new file began with what stands in the old one
		m.file = file
		if text = tidy(text); text != "" {
			m.text = text
		}
	}
}

// tidy takes off what git takes off with --cleanup=whitespace: blanks at the ends of lines, and empty lines at the
// beginning, at the end and in a row.
func tidy(text string) string {
	var out []string
	for l := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		l = strings.TrimRight(l, " \t\r")
		if l == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, l)
	}
	out = slices.Clip(out)
	if s := strings.TrimRight(strings.Join(out, "\n"), "\n"); s != "" {
		return s + "\n"
	}
	return ""
}
