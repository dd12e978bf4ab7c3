package land

import (
	"context"
	"strconv"
	"strings"

	"pawl/text/shell"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// mostBranches bounds the names that are tried for a kept result.
const mostBranches = 20

// park keeps the commit on a branch of pawl's and says with which command it is merged. A name that another commit has
// is left alone and the next one is taken; where a branch stands in the way of the folder of names, so is the folder.
func (j *job) park(ctx context.Context, v venue) (effect.LandResult, error) {
	if j.keep == "" {
		return effect.LandResult{}, pawl.Fail(pawl.CodeInvalid, "land.no_name")
	}
	var last error
	for n := 0; n < mostBranches; n++ {
		name := j.keep
		if n >= mostBranches/2 {
			name = strings.ReplaceAll(name, "/", "-")
		}
		if n%(mostBranches/2) > 0 {
			name += "-" + strconv.Itoa(n%(mostBranches/2)+1)
		}
		result := j.result(effect.Kept)
		result.Branch, result.Reason, result.Named = name, v.reason, few(v.files)
		var err error
		if result.Command, err = j.command(ctx, v, name); err != nil {
			return effect.LandResult{}, err
		}
		entry := entry{Ref: git.BranchRef(name), Commit: j.commit, Base: j.base, From: j.from, To: j.to, Result: result}
		if err := entry.write(ctx, j.repo, j.id); err != nil {
			return effect.LandResult{}, err
		}
		switch last = j.reserve(ctx, entry.Ref); {
		case last == nil:
			return result, entry.finish(ctx, j.repo, j.id)
		case ctx.Err() != nil:
			return effect.LandResult{}, last
		}
	}
	return effect.LandResult{}, orFirst(drop(j.repo, j.id),
		pawl.Fail(pawl.CodeRepository, "land.keep_failed", j.keep).Because(last))
}

// reserve makes a branch of the commit, unless it is that already.
func (j *job) reserve(ctx context.Context, ref string) error {
	err := j.repo.Refs.Set(ctx, ref, j.commit, "", "pawl: keep")
	if err == nil {
		return nil
	}
	if now, readErr := j.repo.Refs.Lookup(ctx, ref); readErr == nil && now == j.commit {
		return nil
	}
	return err
}

// command is what a person types to bring a kept commit to its branch.
func (j *job) command(ctx context.Context, v venue, kept string) (string, error) {
	head, here, err := j.repo.Refs.Head(ctx)
	if err != nil {
		return "", err
	}
	tip := head
	if j.branch != "" && here != j.branch {
		if tip, err = j.repo.Refs.Lookup(ctx, git.BranchRef(j.branch)); err != nil {
			return "", err
		}
	}
	merge := "merge "
	if tip == j.base {
		merge = "merge --ff-only "
	}
	merge += shell.Quote(kept)
	switch {
	case v.reason == reasonGone:
		return "git branch -- " + shell.Quote(j.branch) + " " + shell.Quote(kept), nil
	case v.at != "":
		return "git -C " + shell.Quote(v.at) + " " + merge, nil
	case j.branch != "" && here != j.branch:
		return "git checkout " + shell.Quote(j.branch) + " -- && git " + merge, nil
	}
	return "git " + merge, nil
}

// message makes a commit message: a subject in one line, a body, and a last paragraph of trailers.
func message(subject, body string, trailers []string) string {
	parts := []string{oneLine(subject)}
	if parts[0] == "" {
		parts[0] = "pawl"
	}
	if body = strings.TrimSpace(body); body != "" {
		parts = append(parts, body)
	}
	var last []string
	for _, t := range trailers {
		if t = oneLine(t); t != "" {
			last = append(last, t)
		}
	}
	if len(last) > 0 {
		parts = append(parts, strings.Join(last, "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
