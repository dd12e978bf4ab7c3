package git

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git/object"
	"pawl/sandbox/git/program"
)

// Change is one path that differs between two trees.
type Change struct {
	Path   string
	Status string // A added, D deleted, M modified, T of another type
	// Added and Removed count lines; both are 0 for binary files.
	Added, Removed int
	Binary         bool
	// Old and New are what stood at the path and what does.
	Old, New object.Node
}

// Stats is what Diff says of two trees, as results keep it.
func Stats(ctx context.Context, r *Repo, from, to string) ([]effect.FileStat, error) {
	changes, err := r.Objects.Diff(ctx, from, to)
	stats := make([]effect.FileStat, 0, len(changes))
	for _, c := range changes {
		stats = append(stats, effect.FileStat{Path: c.Path, Status: c.Status, Added: c.Added, Removed: c.Removed})
	}
	return stats, err
}

// delta is one path that differs between two trees, with both sides.
type delta struct {
	path     string
	old, new object.Node
}

// Diff returns what changed from one tree to another, in the order of paths. Renames are a deletion and an addition. An
// empty id stands for the empty tree.
func (r Objects) Diff(ctx context.Context, from, to string) ([]Change, error) {
	out, err := r.diffTree(ctx, from, to, "--raw", "--no-abbrev", "--numstat")
	if err != nil {
		return nil, err
	}
	var changes []Change
	at := map[string]int{}
	for i := 0; i < len(out); i++ {
		if raw, ok := strings.CutPrefix(out[i], ":"); ok && i+1 < len(out) {
			f := strings.Fields(raw)
			if len(f) != 5 {
				continue
			}
			i++
			at[out[i]] = len(changes)
			changes = append(changes, Change{Path: out[i], Status: f[4], Old: node(f[0], f[2]), New: node(f[1], f[3])})
			continue
		}
		f := strings.SplitN(out[i], "\t", 3)
		if n, ok := at[f[len(f)-1]]; ok && len(f) == 3 {
			c := &changes[n]
			c.Binary = f[0] == "-"
			c.Added, _ = strconv.Atoi(f[0])
			c.Removed, _ = strconv.Atoi(f[1])
		}
	}
	return changes, nil
}

// node is one side of a difference.
func node(mode, id string) object.Node {
	if mode == "000000" {
		return object.Node{}
	}
	return object.Node{Mode: mode, ID: id}
}

// deltas returns what changed from one tree to another, and refuses paths that no checkout of pawl's may write.
func (r Objects) deltas(ctx context.Context, from, to string) ([]delta, error) {
	if from == to {
		return nil, nil
	}
	out, err := r.diffTree(ctx, from, to, "--raw", "--no-abbrev")
	if err != nil {
		return nil, err
	}
	var ds []delta
	for i := 0; i+1 < len(out); i += 2 {
		f := strings.Fields(strings.TrimPrefix(out[i], ":"))
		if len(f) != 5 {
			return nil, pawl.Fail(pawl.CodeIO, "git.failed", "diff-tree")
		}
		d := delta{out[i+1], node(f[0], f[2]), node(f[1], f[3])}
		if !safePath(d.path) {
			return nil, pawl.Fail(pawl.CodeDenied, "git.unsafe_path", strconv.Quote(d.path))
		}
		ds = append(ds, d)
	}
	return ds, nil
}

// diffTree runs diff-tree and splits its records.
func (r Objects) diffTree(ctx context.Context, from, to string, format ...string) ([]string, error) {
	args, err := r.diffArgs(ctx, from, to, append(format, "-z")...)
	if err != nil {
		return nil, err
	}
	out, _, err := r.paths.WithoutTree("", args...).Run(ctx)
	if err != nil {
		return nil, r.missing(ctx, err, from, to)
	}
	return program.Fields(string(out)), nil
}

func (r Objects) diffArgs(ctx context.Context, from, to string, format ...string) ([]string, error) {
	for _, id := range []*string{&from, &to} {
		if *id == "" {
			empty, err := r.EmptyTree(ctx)
			if err != nil {
				return nil, err
			}
			*id = empty
		}
		if !validID(*id) {
			return nil, pawl.Fail(pawl.CodeInvalid, "git.bad_id", *id)
		}
	}
	args := []string{"diff-tree", "-r", "--no-renames", "--no-ext-diff", "--no-textconv"}
	return append(append(args, format...), from, to), nil
}

// missing says so where a failure comes from an object that is not there, which is what a pruned or partial repository
// looks like.
func (r Objects) missing(ctx context.Context, cause error, ids ...string) error {
	for _, id := range ids {
		if !validID(id) {
			continue
		}
		_, status, err := r.paths.WithoutTree("", "cat-file", "-e", id).Answering(1, 128).Run(ctx)
		if err == nil && status != 0 {
			return pawl.Fail(pawl.CodeRepository, "git.object_missing", id).Because(cause)
		}
	}
	return cause
}

// Patch returns the unified diff from one tree to another, for people to read. Binary files are named only. At most
// limit bytes are returned; cut says that there was more.
func (r Objects) Patch(ctx context.Context, from, to string, limit int) (patch string, cut bool, err error) {
	args, err := r.diffArgs(ctx, from, to, "-p", "--full-index", "--src-prefix=a/", "--dst-prefix=b/")
	if err != nil {
		return "", false, err
	}
	out := &program.Capped{Limit: limit}
	c := r.paths.WithoutTree("", args...)
	c.Stdout = out
	if _, _, err := c.Run(ctx); err != nil {
		return "", false, r.missing(ctx, err, from, to)
	}
	return string(out.Kept), out.Over, nil
}

// safePath reports whether a path from a tree may be written: relative, clean, and neither .pawl nor anything of git's.
// Git itself refuses most of these; a tree can be made without git.
func safePath(path string) bool {
	for i, part := range strings.Split(path, "/") {
		switch {
		case part == "" || part == "." || part == ".." || !filepath.IsLocal(part):
			return false
		case strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1"):
			return false
		case i == 0 && strings.EqualFold(part, ".pawl"):
			return false
		}
	}
	return true
}

// ResolveTree returns the tree of a commit, or the id itself when it is a tree.
func (r Objects) ResolveTree(ctx context.Context, id string) (string, error) {
	if !validID(id) {
		return "", pawl.Fail(pawl.CodeInvalid, "git.bad_id", id)
	}
	out, status, err := r.paths.WithoutTree("", "rev-parse", "--verify", "--quiet", "--end-of-options", id+
		"^{tree}").Answering(1, 128).Run(ctx)
	if err != nil {
		return "", err
	}
	if status != 0 {
		return "", pawl.Fail(pawl.CodeRepository, "git.object_missing", id)
	}
	return strings.TrimSpace(string(out)), nil
}

// EmptyTree returns the id of the tree without entries, and makes sure that it exists.
func (r Objects) EmptyTree(ctx context.Context) (string, error) {
	out, _, err := r.paths.WithoutTree("", "mktree").Run(ctx)
	return strings.TrimSpace(string(out)), err
}

// Ids of the tree without entries, in repositories of either kind. Git knows them by heart and may name them without
// writing the object, which a reference to it then lacks.
const (
	emptySHA1   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptySHA256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)
