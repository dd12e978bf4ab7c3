package git

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git/conflict"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
)

// Commit is a commit, to be made or as it stands. By is not read back.
type Commit struct {
	ID      string // empty in a commit to be made
	Tree    string
	Parents []string
	Message string
	By      layout.Identity
	At      time.Time
}

// WriteCommit makes a commit object in pawl's own store and returns its id. The same commit always has the same id; no
// reference names it yet.
func (r Objects) WriteCommit(ctx context.Context, c Commit) (string, error) {
	if !validID(c.Tree) {
		return "", pawl.Fail(pawl.CodeInvalid, "git.bad_id", c.Tree)
	}
	args := []string{"commit-tree"}
	for _, p := range c.Parents {
		if !validID(p) {
			return "", pawl.Fail(pawl.CodeInvalid, "git.bad_id", p)
		}
		args = append(args, "-p", p)
	}
	message := strings.ToValidUTF8(strings.ReplaceAll(c.Message, "\x00", ""), "�")
	run := r.paths.WithoutTree(message, append(args, "-F", "-", c.Tree)...)
	run.Env = append(run.Env, c.By.Env(c.At)...)
	out, _, err := run.Run(ctx)
	return strings.TrimSpace(string(out)), err
}

// ReadCommit returns the commit with an id. It fails with CodeNotFound where there is none.
func (r Objects) ReadCommit(ctx context.Context, id string) (Commit, error) {
	if !validID(id) {
		return Commit{}, pawl.Fail(pawl.CodeInvalid, "git.bad_id", id)
	}
	out, status, err := r.paths.WithoutTree("", "cat-file", "commit", id).Answering(128).Run(ctx)
	if err != nil {
		return Commit{}, err
	}
	if status != 0 {
		return Commit{}, pawl.Fail(pawl.CodeNotFound, "git.no_commit", id)
	}
	c := Commit{ID: id}
	head, message, _ := strings.Cut(string(out), "\n\n")
	c.Message = message
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "committer":
			c.At = committed(value)
		}
	}
	return c, nil
}

// committed reads the instant at the end of a committer line: "name <address> seconds zone".
func committed(line string) time.Time {
	f := strings.Fields(line)
	if len(f) < 2 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(f[len(f)-2], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// Contains reports whether a commit is tip or an ancestor of it.
func (r Objects) Contains(ctx context.Context, tip, commit string) (bool, error) {
	if !validID(tip) || !validID(commit) {
		return false, nil
	}
	if tip == commit {
		return true, nil
	}
	// A shallow history ends in commits whose parents are missing; what cannot be found is not contained.
	_, status, err := r.paths.Both("", "merge-base", "--is-ancestor", commit, tip).Answering(1, 128).Run(ctx)
	return status == 0 && err == nil, err
}

// Combine merges two commits in memory and returns the tree, or the paths that conflict. It reads and writes objects
// only; no merge driver of the repository's runs.
func (r Objects) Combine(ctx context.Context, ours, theirs string) (tree string, conflicts []string, err error) {
	parts, clean, err := r.mergeTree(ctx, ours, theirs, "--name-only", "--no-messages")
	if err != nil {
		return "", nil, err
	}
	if !clean {
		return "", parts[1:], nil
	}
	return parts[0], nil, nil
}

// usageStatus is the status with which git refuses an option that it does not know.
const usageStatus = 129

// mergeTree merges two commits and returns what git says of it, of which the tree is the first record.
func (r Objects) mergeTree(ctx context.Context, ours, theirs string,
	how ...string) (parts []string, clean bool, err error) {
	if !validID(ours) || !validID(theirs) {
		return nil, false, pawl.Fail(pawl.CodeInvalid, "git.bad_id", ours+" "+theirs)
	}
	args := append([]string{"merge-tree", "--write-tree", "-z"}, how...)
	c := r.paths.WithoutTree("", append(args, ours, theirs)...).Answering(1, usageStatus)
	out, status, err := c.Run(ctx)
	if err != nil {
		return nil, false, err
	}
	if status == usageStatus {
		return nil, false, pawl.Fail(pawl.CodeEnvironment, "git.too_old", oldestGit)
	}
	parts = strings.Split(string(out), "\x00")
	if !validID(parts[0]) {
		return nil, false, pawl.Fail(pawl.CodeIO, "git.failed", "merge-tree")
	}
	return parts[:len(parts)-1], status == 0, nil
}

// oldestGit is the first version that merges without a working tree.
const oldestGit = "2.38"

// Merge merges what two trees made of a third and returns the tree, or the conflicts, in the order of paths. It reads
// and writes objects only; no merge driver of the repository's runs. Branch is what markers call the side of ours.
func (r Objects) Merge(ctx context.Context, base, ours, theirs,
	branch string) (tree string, conflicts []effect.Conflict, err error) {
	switch {
	case base == theirs || ours == theirs:
		return ours, nil, nil
	case base == ours:
		return theirs, nil, nil
	}
	// Commits that say nothing but that: the histories of the sides play no part, and the same trees give the same
	// commits.
	var ids []string
	for _, t := range []string{base, ours, theirs} {
		c := Commit{Tree: t, Message: "side " + strconv.Itoa(len(ids)) + " of a merge\n", By: layout.Pawl,
			At: time.Unix(0, 0)}
		if len(ids) > 0 {
			c.Parents = ids[:1]
		}
		id, err := r.WriteCommit(ctx, c)
		if err != nil {
			return "", nil, r.missing(ctx, err, t)
		}
		ids = append(ids, id)
	}
	parts, clean, err := r.mergeTree(ctx, ids[1], ids[2], "--messages")
	if err != nil {
		return "", nil, err
	}
	if clean {
		return parts[0], nil, nil
	}
	m := conflict.Read(parts[1:], ids[1], ids[2], branch)
	return "", m.Conflicts(r.Texts(ctx, parts[0], m.Texts())), nil
}

// Texts reads files of a tree by their paths, the first MiB of each. What cannot be read is left out.
func (r Objects) Texts(ctx context.Context, tree string, paths []string) map[string]string {
	texts := map[string]string{}
	if len(paths) == 0 {
		return texts
	}
	out, _, err := r.paths.WithoutTree("", append([]string{"ls-tree", "-z", "--end-of-options", tree, "--"},
		paths...)...).Run(ctx)
	if err != nil {
		return texts
	}
	var ids, names []string
	for _, l := range program.Fields(string(out)) {
		head, path, _ := strings.Cut(l, "\t")
		if f := strings.Fields(head); len(f) == 3 && f[1] == "blob" && f[0] != object.ModeLink {
			ids, names = append(ids, f[2]), append(names, path)
		}
	}
	err = r.Blobs(ctx, ids, func(n int, size int64, content io.Reader) error {
		text := &program.Capped{Limit: conflict.LargestText}
		_, err := io.CopyN(text, content, size)
		texts[names[n]] = string(text.Kept)
		return err
	})
	if err != nil {
		return map[string]string{}
	}
	return texts
}
