package forge

import (
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
	// Target completes where a pull request goes, by the address of the remote.
	Target func(t effect.Target, remote string) (effect.Target, error)
	// Connect returns the forge of a target.
	Connect func(t effect.Target) (Forge, error)
	// Prove makes the file that shows that the records of a task stand in the audit log.
	Prove func(ctx context.Context, task string) ([]byte, error)
}

// Do does the effect, or finds that it was done.
func (d *Driver) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	switch e.Kind {
	case effect.KindPush:
		return effect.Outcome(spoken(ctx, e, d.push))
	case effect.KindPull:
		return effect.Outcome(spoken(ctx, e, d.pull))
	case effect.KindStatus:
		return effect.Outcome(spoken(ctx, e, d.report))
	case effect.KindComment:
		return effect.Outcome(spoken(ctx, e, d.comment))
	}
	return effect.Failed(pawl.Fail(pawl.CodeInternal, "runner.no_driver", string(e.Kind)))
}

// Done says no, since Do looks itself and does what is missing.
func (d *Driver) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

func spoken[S, R any](ctx context.Context, e effect.Effect, do func(context.Context, effect.Place, S) (R, error)) (R,
	error) {
	spec, err := effect.Decode[S](e.Spec)
	if err != nil {
		var none R
		return none, err
	}
	return do(ctx, e.Place, spec)
}

// push shares the commit as a branch. What the branch of the remote has besides is never lost.
func (d *Driver) push(ctx context.Context, place effect.Place, spec effect.PushSpec) (out effect.PushResult,
	err error) {
	if !place.Git {
		return out, pawl.Fail(pawl.CodeRepository, "git.not_repository", place.Workspace)
	}
	repo, err := d.Memory.Open(ctx, layout.Place{Workspace: place.Workspace, Tree: place.Workspace, Git: true})
	if err != nil {
		return out, err
	}
	remotes := git.NewRemotes(repo)
	at, err := remotes.Upstream(ctx, spec.Branch)
	if err != nil {
		return out, err
	}
	if spec.Branch != "" {
		out.Base = strings.TrimPrefix(at.Ref, "refs/heads/")
	}
	spec.Remote = at.Remote
	if out.Target, err = d.Target(spec.Target, at.URL); err != nil {
		return out, err
	}
	to := git.Upstream{Remote: at.Remote, Ref: git.BranchRef(spec.Head)}
	tip, err := remotes.Fetch(ctx, to)
	if err != nil {
		return out, err
	}
	if tip != spec.Commit {
		if err := follows(ctx, repo, spec, tip); err != nil {
			return out, err
		}
		if err := remotes.Push(ctx, to, spec.Commit); err != nil {
			return out, err
		}
	}
	// The branch is here, too, so that what answers comments can be made on it.
	if own, err := repo.Refs.Lookup(ctx, git.BranchRef(spec.Head)); err == nil && own == "" {
		err = repo.Refs.Set(ctx, git.BranchRef(spec.Head), spec.Commit, "", "pawl: pull request")
		if err != nil && pawl.CodeOf(err) != pawl.CodeConflict {
			return out, err
		}
	}
	return out, nil
}

// follows fails where the branch of the remote has what the commit has not.
func follows(ctx context.Context, repo *git.Repo, spec effect.PushSpec, tip string) error {
	if tip == "" {
		return nil
	}
	in, err := repo.Objects.Contains(ctx, spec.Commit, tip)
	if err == nil && !in {
		err = pawl.Fail(pawl.CodeConflict, "forge.diverged", spec.Head, spec.Remote)
	}
	return err
}

// Marked reports whether a text has a mark of pawl's.
func Marked(text, mark string) bool { return strings.Contains(text, marked(mark)) }

// pull makes the pull request of a branch or, where there is one, brings its words up to date. One that a person closed
// or merged stays as it is, unless its branch has something new to say: then it is a new run's.
func (d *Driver) pull(ctx context.Context, _ effect.Place, spec effect.PullSpec) (out effect.PullResult, err error) {
	at, err := d.Connect(spec.Target)
	if err != nil {
		return out, err
	}
	body := spec.Body + "\n\n" + marked(spec.Marker)
	for first := true; ; first = false {
		found, err := at.Find(ctx, spec.Head)
		if err != nil {
			return out, err
		}
		i := slices.IndexFunc(found, func(r Request) bool {
			return r.State == effect.PullOpen || Marked(r.Body, spec.Marker)
		})
		if i >= 0 {
			r := found[i]
			if r.State == effect.PullOpen && r.Body != body {
				err = at.Edit(ctx, r.Number, r.Title, body)
			}
			return effect.PullResult{Number: r.Number, URL: r.URL, State: r.State, Base: r.Base}, err
		}
		made, err := at.Open(ctx, Request{Title: line(spec.Title, 200), Body: body, Head: spec.Head, Base: spec.Base})
		switch {
		case err == nil:
			return effect.PullResult{Number: made.Number, URL: made.URL, State: effect.PullOpen, Base: made.Base}, nil
		case !first || !taken(err):
			return out, err
		}
		if again, _ := at.Find(ctx, spec.Head); !slices.ContainsFunc(again, func(r Request) bool {
			return r.State == effect.PullOpen
		}) {
			return out, err // it is not there, and what it was refused for is for a person
		}
	}
}

func (d *Driver) report(ctx context.Context, _ effect.Place, spec effect.StatusSpec) (out effect.Posted, err error) {
	at, err := d.Connect(spec.Target)
	if err != nil {
		return out, err
	}
	r := Report{Commit: spec.Commit, OK: spec.OK, Title: spec.Title, Text: spec.Text, URL: spec.URL,
		Marker: spec.Marker}
	id, err := at.Reported(ctx, r)
	if err != nil || id != "" {
		return effect.Posted{ID: id, How: "found"}, err
	}
	if id, out.How, err = at.Report(ctx, r); pawl.CodeOf(err) == pawl.CodeOutcomeUnknown {
		if found, lookErr := at.Reported(ctx, r); lookErr == nil && found != "" {
			return effect.Posted{ID: found, How: "found"}, nil
		}
	}
	out.ID = id
	return out, err
}

// comment writes the one comment of pawl's, or changes it.
func (d *Driver) comment(ctx context.Context, _ effect.Place, spec effect.CommentSpec) (out effect.Posted, err error) {
	at, err := d.Connect(spec.Target)
	if err != nil {
		return out, err
	}
	file, err := d.Prove(ctx, spec.Task)
	if err != nil {
		return out, err
	}
	text := proofText(spec.Text, file) + "\n\n" + marked(spec.Marker)
	out = effect.Posted{How: "comment", Digest: effect.Digest([]byte(text))}
	find := func() (effect.PullComment, error) {
		all, err := at.Comments(ctx, spec.Number)
		for _, c := range all {
			if Marked(c.Text, spec.Marker) {
				return c, nil
			}
		}
		return effect.PullComment{}, err
	}
	there, err := find()
	if err != nil {
		return out, err
	}
	if out.ID = there.ID; there.Text == text {
		return out, nil
	}
	id, err := at.Say(ctx, spec.Number, there.ID, text)
	if pawl.CodeOf(err) == pawl.CodeOutcomeUnknown {
		if found, lookErr := find(); lookErr == nil && found.Text == text {
			id, err = found.ID, nil
		}
	}
	out.ID = id
	return out, err
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
