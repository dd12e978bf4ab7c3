package forge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// Driver does the effects of a pull request. Each looks first whether it was done, so that it may be repeated, and none
// makes a second one of anything. It is safe for concurrent use.
type Driver struct {
	Memory *git.Memory
	// Target completes where a pull request goes, by the addresses of the remote that the branch is pushed to and of
	// the one that the work is for.
	Target func(t effect.Target, pushed, upstream string) (effect.Target, error)
	// Connect returns the forge of a target.
	Connect func(t effect.Target) (Forge, error)
	// Prove makes the file that shows that the records of a task stand in the audit log.
	Prove func(ctx context.Context, task string) ([]byte, error)
}

// Do does the effect, or finds that it was done.
func (d *Driver) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	if w := d.work(e.Kind); w != nil {
		return w.do(ctx, e)
	}
	return effect.Failed(pawl.Fail(pawl.CodeInternal, "runner.no_driver", string(e.Kind)))
}

// Done looks whether what the effect is for is there. Where that cannot be seen, nobody knows.
func (d *Driver) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	if w := d.work(e.Kind); w != nil {
		return w.done(ctx, e)
	}
	return effect.DoneUnknown, effect.Receipt{}
}

// worker is the work of one kind of effect.
type worker interface {
	do(ctx context.Context, e effect.Effect) effect.Receipt
	done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt)
}

// Kinds are the kinds of effects that the driver carries out.
func (*Driver) Kinds() []effect.Kind {
	return []effect.Kind{effect.KindPush, effect.KindPull, effect.KindStatus, effect.KindComment, effect.KindClose}
}

func (d *Driver) work(k effect.Kind) worker {
	switch k {
	case effect.KindPush:
		return work[effect.PushSpec, effect.PushResult]{d.pushed, d.push}
	case effect.KindPull:
		return work[effect.PullSpec, effect.PullResult]{d.opened, d.open}
	case effect.KindStatus:
		return work[effect.StatusSpec, effect.Posted]{d.reported, d.report}
	case effect.KindComment:
		return work[effect.CommentSpec, effect.Posted]{d.commented, d.comment}
	case effect.KindClose:
		return work[effect.CloseSpec, effect.PullResult]{d.closed, d.close}
	}
	return nil
}

// work is one kind of effect: look finds what is there of it, and says whether that is all; act does what is missing.
type work[S, R any] struct {
	look func(ctx context.Context, e effect.Effect, spec S) (there R, all bool, err error)
	act  func(ctx context.Context, e effect.Effect, spec S, there R) (R, error)
}

func (w work[S, R]) do(ctx context.Context, e effect.Effect) effect.Receipt {
	spec, err := effect.Decode[S](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	there, all, err := w.look(ctx, e, spec)
	if err != nil || all {
		return effect.Outcome(there, err)
	}
	made, err := w.act(ctx, e, spec, there)
	if taken(err) { // it may be there all the same
		if there, all, lookErr := w.look(ctx, e, spec); lookErr == nil && all {
			return effect.Succeeded(there)
		}
	}
	return effect.Outcome(made, err)
}

func (w work[S, R]) done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, err := effect.Decode[S](e.Spec)
	if err == nil {
		there, all, lookErr := w.look(ctx, e, spec)
		if lookErr == nil && all {
			return effect.DoneYes, effect.Succeeded(there)
		}
		err = lookErr
	}
	if err != nil {
		return effect.DoneUnknown, effect.Receipt{}
	}
	return effect.DoneNo, effect.Receipt{}
}

func (d *Driver) repository(ctx context.Context, place effect.Place) (*git.Repo, error) {
	if !place.Git {
		return nil, pawl.Fail(pawl.CodeRepository, "git.not_repository", place.Workspace)
	}
	return d.Memory.Open(ctx, layout.Place{Workspace: place.Workspace, Tree: place.Workspace, Git: true})
}

// destination finds out where a branch is pushed to, and what its pull request is for: the same repository, unless git
// has been told to push elsewhere than it fetches from, or the settings name another one.
func (d *Driver) destination(ctx context.Context, repo *git.Repo, spec effect.PushSpec) (out effect.PushResult,
	err error) {
	remotes, branch := git.NewRemotes(repo), spec.Branch
	if branch == "" { // the branch of a pull request is shared as the one is that is checked out
		if _, branch, err = repo.Refs.Head(ctx); err != nil {
			return out, err
		}
	}
	base, err := remotes.Upstream(ctx, branch)
	if err != nil {
		return out, err
	}
	if spec.Branch != "" {
		out.Base = strings.TrimPrefix(base.Ref, "refs/heads/")
	}
	pushed, err := "", error(nil)
	if branch != "" {
		pushed, err = remotes.Pushed(ctx, branch)
	}
	at := base.URL
	if spec.Remote = cmp.Or(pushed, base.Remote); err == nil && spec.Remote != base.Remote {
		at, err = remotes.URL(ctx, spec.Remote)
	}
	if err == nil {
		out.Target, err = d.Target(spec.Target, at, base.URL)
	}
	return out, err
}

// pushed looks where the branch of the remote is. What that has besides is never lost.
func (d *Driver) pushed(ctx context.Context, e effect.Effect, spec effect.PushSpec) (out effect.PushResult, all bool,
	err error) {
	repo, err := d.repository(ctx, e.Place)
	if err != nil {
		return out, false, err
	}
	if out, err = d.destination(ctx, repo, spec); err != nil {
		return out, false, err
	}
	tip, err := git.NewRemotes(repo).Fetch(ctx, upstream(out.Target, spec.Head))
	if err != nil {
		return out, false, err
	}
	if tip == spec.Commit {
		own, err := repo.Refs.Lookup(ctx, git.BranchRef(spec.Head))
		return out, own != "", err
	}
	if tip != "" {
		in, err := repo.Objects.Contains(ctx, spec.Commit, tip)
		if err == nil && !in {
			err = pawl.Fail(pawl.CodeConflict, "forge.diverged", spec.Head, out.Remote)
		}
		return out, false, err
	}
	return out, false, nil
}

func upstream(t effect.Target, head string) git.Upstream {
	return git.Upstream{Remote: t.Remote, Ref: git.BranchRef(head)}
}

// push shares the commit as a branch.
func (d *Driver) push(ctx context.Context, e effect.Effect, spec effect.PushSpec, out effect.PushResult) (
	effect.PushResult, error) {
	repo, err := d.repository(ctx, e.Place)
	if err != nil {
		return out, err
	}
	if err := git.NewRemotes(repo).Push(ctx, upstream(out.Target, spec.Head), spec.Commit); err != nil {
		return out, err
	}
	// The branch is here, too, so that what answers comments can be made on it.
	own, err := repo.Refs.Lookup(ctx, git.BranchRef(spec.Head))
	if err == nil && own == "" {
		err = repo.Refs.Set(ctx, git.BranchRef(spec.Head), spec.Commit, "", "pawl: pull request")
		if pawl.CodeOf(err) == pawl.CodeConflict {
			err = nil
		}
	}
	return out, err
}

// Marked reports whether a text has a mark of pawl's.
func Marked(text, mark string) bool { return strings.Contains(text, marked(mark)) }

// described is the body of a pull request, with the mark by which it is known again.
func described(spec effect.PullSpec) string { return spec.Body + "\n\n" + marked(spec.Marker) }

// pawlsPull reports whether a description is of a pull request that pawl opened, for this run or for an earlier one.
func pawlsPull(body string) bool {
	_, after, found := strings.Cut(body, "<!-- pawl pawl:")
	mark, _, ends := strings.Cut(after, " -->")
	return found && ends && strings.HasSuffix(mark, ":pull")
}

// plain is a text as it is compared with what a forge has made of it.
func plain(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }

// opened looks for the pull request of a branch into its base. One that a person closed or merged stays as it is,
// unless its branch has something new to say: then it is a new run's. One that a person opened or moved to another base
// keeps its description.
func (d *Driver) opened(ctx context.Context, _ effect.Effect, spec effect.PullSpec) (out effect.PullResult, all bool,
	err error) {
	at, err := d.Connect(spec.Target)
	if err != nil {
		return out, false, err
	}
	found, err := at.Find(ctx, spec.Head)
	fits := func(r Request) bool { return spec.Base == "" || r.Base == spec.Base }
	i := slices.IndexFunc(found, func(r Request) bool { return Marked(r.Body, spec.Marker) })
	if i < 0 {
		i = slices.IndexFunc(found, func(r Request) bool { return r.State == effect.PullOpen && fits(r) })
	}
	if err != nil || i < 0 {
		return out, false, err
	}
	r := found[i]
	out = r.result()
	out.Foreign = !pawlsPull(r.Body) || !fits(r)
	return out, out.Foreign || r.State != effect.PullOpen || plain(r.Body) == plain(described(spec)), nil
}

// open makes the pull request or brings the words of the one that is there up to date.
func (d *Driver) open(ctx context.Context, _ effect.Effect, spec effect.PullSpec, there effect.PullResult) (
	effect.PullResult, error) {
	at, err := d.Connect(spec.Target)
	if err != nil {
		return there, err
	}
	if there.Number > 0 {
		return there, at.Edit(ctx, there.Number, Change{Body: described(spec)})
	}
	made, err := at.Open(ctx, Request{Title: line(spec.Title, 200), Body: described(spec), Head: spec.Head,
		Base: spec.Base, State: effect.PullOpen})
	return made.result(), err
}

// places are where something is said of a commit: where the pull request is, and where its branch is, as who
// works in a fork may often say nothing at the first.
func (d *Driver) places(t effect.Target) (out []Forge, err error) {
	places := []effect.Target{t}
	if t.Fork != "" {
		places = append(places, effect.Target{Forge: t.Forge, Host: t.Host, Repository: t.Fork})
	}
	for _, p := range places {
		at, err := d.Connect(p)
		if err != nil {
			return nil, err
		}
		out = append(out, at)
	}
	return out, nil
}

// elsewhere reports whether an error says that something can be done at another place, if there is one.
func elsewhere(err error) bool {
	code := pawl.CodeOf(err)
	return code == pawl.CodeDenied || code == pawl.CodeNotFound
}

func reportOf(spec effect.StatusSpec) Report {
	return Report{Commit: spec.Commit, OK: spec.OK, Title: spec.Title, Text: spec.Text, URL: spec.URL,
		Marker: spec.Marker}
}

func (d *Driver) reported(ctx context.Context, _ effect.Effect, spec effect.StatusSpec) (effect.Posted, bool, error) {
	places, err := d.places(spec.Target)
	for i, at := range places {
		id := ""
		if id, err = at.Reported(ctx, reportOf(spec)); id != "" {
			return effect.Posted{ID: id, How: "found"}, true, nil
		}
		if err != nil && (!elsewhere(err) || i == len(places)-1) {
			break
		}
	}
	return effect.Posted{}, false, err
}

func (d *Driver) report(ctx context.Context, _ effect.Effect, spec effect.StatusSpec, _ effect.Posted) (
	out effect.Posted, err error) {
	places, err := d.places(spec.Target)
	for _, at := range places {
		if out.ID, out.How, err = at.Report(ctx, reportOf(spec)); !elsewhere(err) {
			break
		}
	}
	return out, err
}

// commented looks for the one comment of pawl's. It is all there where this effect wrote it: what it says of the log is
// another thing each time.
func (d *Driver) commented(ctx context.Context, e effect.Effect, spec effect.CommentSpec) (out effect.Posted, all bool,
	err error) {
	at, err := d.Connect(spec.Target)
	if err != nil {
		return out, false, err
	}
	said, err := at.Comments(ctx, spec.Number)
	i := slices.IndexFunc(said, func(c effect.PullComment) bool { return Marked(c.Text, spec.Marker) })
	if err != nil || i < 0 {
		return out, false, err
	}
	out = effect.Posted{ID: said[i].ID, How: "comment", Digest: effect.Digest([]byte(said[i].Text))}
	return out, Marked(said[i].Text, e.ID), nil
}

// comment writes the one comment of pawl's, or changes it.
func (d *Driver) comment(ctx context.Context, e effect.Effect, spec effect.CommentSpec, there effect.Posted) (
	out effect.Posted, err error) {
	at, err := d.Connect(spec.Target)
	if err != nil {
		return out, err
	}
	file, err := d.Prove(ctx, spec.Task)
	if err != nil {
		return out, err
	}
	text := proofText(spec.Text, file) + "\n\n" + marked(spec.Marker) + "\n" + marked(e.ID)
	id, err := at.Say(ctx, spec.Number, there.ID, text)
	return effect.Posted{ID: id, How: "comment", Digest: effect.Digest([]byte(text))}, err
}

// proofText puts the file of a proof below a text, as far as it has room in a comment.
func proofText(text string, file []byte) string {
	body := "<details><summary>pawl audit prove</summary>\n\n```json\n" + strings.TrimSpace(string(file)) +
		"\n```\n\n</details>"
	if len(text)+len(body) > maxComment {
		body = fmt.Sprintf("`pawl audit prove`: %d bytes, sha256 `%s`", len(file), effect.Digest(file))
	}
	return text + "\n\n`pawl audit verify --proof FILE`\n\n" + body
}

// closed looks whether a pull request is closed and its branch gone or, again, open. One that was merged is nothing
// that can be taken back here. A branch that names something else than pawl left there is somebody else's by now.
func (d *Driver) closed(ctx context.Context, e effect.Effect, spec effect.CloseSpec) (out effect.PullResult, all bool,
	err error) {
	at, err := d.Connect(spec.Target)
	if err != nil {
		return out, false, err
	}
	now, err := at.Look(ctx, spec.Number)
	if err != nil {
		return out, false, err
	}
	if out = now.result(); out.State == effect.PullMerged {
		return out, false, pawl.Fail(pawl.CodeConflict, "pull.merged", now.Number, now.URL, cmp.Or(now.Merge, "COMMIT"))
	}
	if spec.Again {
		return out, out.State == effect.PullOpen, nil
	}
	repo, err := d.repository(ctx, e.Place)
	if err != nil {
		return out, false, err
	}
	tip, err := git.NewRemotes(repo).Fetch(ctx, upstream(spec.Target, spec.Head))
	return out, out.State == effect.PullClosed && tip != spec.Commit, err
}

// close closes a pull request and takes its branch away, or brings both back.
func (d *Driver) close(ctx context.Context, e effect.Effect, spec effect.CloseSpec, there effect.PullResult) (
	effect.PullResult, error) {
	at, err := d.Connect(spec.Target)
	if err != nil {
		return there, err
	}
	repo, err := d.repository(ctx, e.Place)
	if err != nil {
		return there, err
	}
	remotes, to := git.NewRemotes(repo), upstream(spec.Target, spec.Head)
	tip, err := remotes.Fetch(ctx, to)
	if err == nil && spec.Again && tip == "" {
		err = remotes.Push(ctx, to, spec.Commit)
	}
	want := effect.PullClosed
	if spec.Again {
		want = effect.PullOpen
	}
	if err == nil && there.State != want {
		err = at.Edit(ctx, spec.Number, Change{State: want})
	}
	if err == nil && !spec.Again && tip == spec.Commit {
		err = remotes.Remove(ctx, to, spec.Commit)
	}
	there.State = want
	return there, err
}
