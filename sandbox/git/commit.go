package git

import (
	"context"
	"strconv"
	"strings"
	"time"

	"pawl"
)

// Commit is a commit, to be made or as it stands. By is not read back.
type Commit struct {
	ID      string // empty in a commit to be made
	Tree    string
	Parents []string
	Message string
	By      Identity
	At      time.Time
}

// WriteCommit makes a commit object and returns its id. The same commit always has the same id; no reference names it yet.
func (r objects) WriteCommit(ctx context.Context, c Commit) (string, error) {
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
	run := r.withoutTree(message, append(args, "-F", "-", c.Tree)...)
	run.env = append(run.env, c.By.env(c.At)...)
	out, _, err := run.run(ctx)
	return strings.TrimSpace(string(out)), err
}

// ReadCommit returns the commit with an id. It fails with CodeNotFound where there is none.
func (r objects) ReadCommit(ctx context.Context, id string) (Commit, error) {
	if !validID(id) {
		return Commit{}, pawl.Fail(pawl.CodeInvalid, "git.bad_id", id)
	}
	out, status, err := callWith(r.withoutTree("", "cat-file", "commit", id), 128).run(ctx)
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
func (r objects) Contains(ctx context.Context, tip, commit string) (bool, error) {
	if !validID(tip) || !validID(commit) {
		return false, nil
	}
	if tip == commit {
		return true, nil
	}
	// A shallow history ends in commits whose parents are missing; what cannot be found is not contained.
	_, status, err := callWith(r.plumbing("", "merge-base", "--is-ancestor", commit, tip), 1, 128).run(ctx)
	return status == 0 && err == nil, err
}

// Combine merges two commits in memory and returns the tree, or the paths that conflict. It reads and writes objects only;
// no merge driver of the repository's runs.
func (r objects) Combine(ctx context.Context, ours, theirs string) (tree string, conflicts []string, err error) {
	if !validID(ours) || !validID(theirs) {
		return "", nil, pawl.Fail(pawl.CodeInvalid, "git.bad_id", ours+" "+theirs)
	}
	out, status, err := callWith(r.withoutTree("", "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs), 1).run(ctx)
	if err != nil {
		return "", nil, err
	}
	parts := fields(string(out))
	if len(parts) == 0 {
		return "", nil, pawl.Fail(pawl.CodeIO, "git.failed", "merge-tree")
	}
	if status == 1 {
		return "", parts[1:], nil
	}
	return parts[0], nil, nil
}

// Ids of the tree without entries, in repositories of either kind. Git knows them by heart and may name them without writing
// the object, which a reference to it then lacks.
const (
	emptySHA1   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptySHA256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

// emptyTree returns the id of the tree without entries, and makes sure that it exists.
func (r objects) emptyTree(ctx context.Context) (string, error) {
	out, _, err := r.withoutTree("", "mktree").run(ctx)
	return strings.TrimSpace(string(out)), err
}
