package git

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/effect"
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
	run := r.paths.withoutTree(message, append(args, "-F", "-", c.Tree)...)
	run.env = append(run.env, c.By.env(c.At)...)
	out, _, err := run.run(ctx)
	return strings.TrimSpace(string(out)), err
}

// ReadCommit returns the commit with an id. It fails with CodeNotFound where there is none.
func (r Objects) ReadCommit(ctx context.Context, id string) (Commit, error) {
	if !validID(id) {
		return Commit{}, pawl.Fail(pawl.CodeInvalid, "git.bad_id", id)
	}
	out, status, err := callWith(r.paths.withoutTree("", "cat-file", "commit", id), 128).run(ctx)
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
	_, status, err := callWith(r.paths.plumbing("", "merge-base", "--is-ancestor", commit, tip), 1, 128).run(ctx)
	return status == 0 && err == nil, err
}

// Combine merges two commits in memory and returns the tree, or the paths that conflict. It reads and writes objects only;
// no merge driver of the repository's runs.
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
func (r Objects) mergeTree(ctx context.Context, ours, theirs string, how ...string) (parts []string, clean bool, err error) {
	if !validID(ours) || !validID(theirs) {
		return nil, false, pawl.Fail(pawl.CodeInvalid, "git.bad_id", ours+" "+theirs)
	}
	args := append([]string{"merge-tree", "--write-tree", "-z"}, how...)
	c := callWith(r.paths.withoutTree("", append(args, ours, theirs)...), 1, usageStatus)
	out, status, err := c.run(ctx)
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

// Merge merges what two trees made of a third and returns the tree, or the conflicts, in the order of paths. It reads and
// writes objects only; no merge driver of the repository's runs. Branch is what markers call the side of ours.
func (r Objects) Merge(ctx context.Context, base, ours, theirs, branch string) (tree string, conflicts []effect.Conflict, err error) {
	switch {
	case base == theirs || ours == theirs:
		return ours, nil, nil
	case base == ours:
		return theirs, nil, nil
	}
	// Commits that say nothing but that: the histories of the sides play no part, and the same trees give the same commits.
	var ids []string
	for _, t := range []string{base, ours, theirs} {
		c := Commit{Tree: t, Message: "side " + strconv.Itoa(len(ids)) + " of a merge\n", By: Pawl, At: time.Unix(0, 0)}
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
	m := clash{ours: ids[1], theirs: ids[2], branch: branch, paths: map[string]*dispute{}}
	m.read(parts[1:])
	return "", m.conflicts(r.conflictTexts(ctx, parts[0], m.texts())), nil
}

// clash is a merge that conflicts, as git tells of it.
type clash struct {
	ours, theirs string // commits, by which git names the sides
	branch       string // what a person calls ours
	paths        map[string]*dispute
}

// dispute is what git says of one path.
type dispute struct {
	stages [4]node  // of the base, ours and theirs, from 1
	types  []string // git's stable names of what is wrong
	said   []string // git's own words
}

func (m clash) at(path string) *dispute {
	// Where both sides need the name of a file, git adds the side to one of them.
	path = strings.TrimSuffix(strings.TrimSuffix(path, "~"+m.ours), "~"+m.theirs)
	if m.paths[path] == nil {
		m.paths[path] = &dispute{}
	}
	return m.paths[path]
}

// read takes up the records behind the tree: a line "mode object stage<tab>path" for each side of a path, an empty record,
// and for each message the number of its paths, the paths, its type and its words.
func (m clash) read(parts []string) {
	i := 0
	for ; i < len(parts) && parts[i] != ""; i++ {
		head, path, _ := strings.Cut(parts[i], "\t")
		f := strings.Fields(head)
		if len(f) != 3 || len(f[2]) != 1 || f[2] < "1" || f[2] > "3" {
			continue
		}
		m.at(path).stages[f[2][0]-'0'] = node{f[0], f[1]}
	}
	for i++; i < len(parts); {
		n, err := strconv.Atoi(parts[i])
		if err != nil || n < 1 || i+n+2 >= len(parts) {
			return
		}
		paths, kind, said := parts[i+1:i+1+n], parts[i+1+n], strings.TrimSpace(m.named(parts[i+n+2]))
		i += n + 3
		if kind == "Auto-merging" {
			continue
		}
		for _, path := range paths {
			d := m.at(path)
			d.types = append(d.types, kind)
			if !slices.Contains(d.said, said) {
				d.said = append(d.said, said)
			}
		}
	}
}

// named puts the names of the sides in the place of their ids.
func (m clash) named(text string) string {
	return strings.NewReplacer(m.ours, m.branch, m.theirs, "work").Replace(text)
}

// kind is what a dispute is about, and ok that it is one: git speaks of paths that are merged as well.
func (d dispute) kind() (kind effect.ConflictKind, ok bool) {
	says := func(words ...string) bool {
		return slices.ContainsFunc(d.types, func(t string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(t, w) })
		})
	}
	base, ours, theirs := d.stages[1], d.stages[2], d.stages[3]
	switch {
	case says("file/directory", "distinct modes"):
		return effect.ConflictType, true
	case says("rename", "file location"):
		return effect.ConflictRenamed, true
	case says("submodule"):
		return effect.ConflictModule, true
	case says("modify/delete") && ours.absent():
		return effect.ConflictDeletedThere, true
	case says("modify/delete"):
		return effect.ConflictDeletedHere, true
	case says("binary"):
		return effect.ConflictBinary, true
	case ours.absent() || theirs.absent():
		return effect.ConflictContent, len(d.types) > 0 || d.stages != [4]node{}
	case ours.id == theirs.id && ours.mode != theirs.mode:
		return effect.ConflictMode, true
	case base.absent():
		return effect.ConflictAdded, true
	}
	return effect.ConflictContent, true
}

// texts are the paths whose merged text has markers, in order.
func (m clash) texts() []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(m.paths)) {
		if kind, _ := m.paths[path].kind(); kind == effect.ConflictContent || kind == effect.ConflictAdded {
			out = append(out, path)
		}
	}
	return out
}

// Bounds of what is shown of conflicts: of each, and of all together.
const (
	longestDetail  = 4 << 10
	longestDetails = 32 << 10
	mostTexts      = 20
	largestText    = 1 << 20
)

// conflicts lists the disputes; texts are merged texts by path.
func (m clash) conflicts(texts map[string]string) []effect.Conflict {
	var out []effect.Conflict
	room := longestDetails
	for _, path := range slices.Sorted(maps.Keys(m.paths)) {
		d := m.paths[path]
		kind, ok := d.kind()
		if !ok {
			continue
		}
		detail := strings.Join(d.said, "\n")
		switch {
		case kind == effect.ConflictMode:
			detail += "\n" + d.stages[2].mode + " " + m.branch + "\n" + d.stages[3].mode + " work"
		case texts[path] != "":
			detail += "\n" + m.excerpt(texts[path])
		}
		detail = strings.ToValidUTF8(strings.TrimSpace(detail), "�")
		if len(detail) > longestDetail {
			detail = strings.ToValidUTF8(detail[:longestDetail], "") + " …"
		}
		if room -= len(detail); room < 0 {
			detail = ""
		}
		out = append(out, effect.Conflict{Path: path, Kind: kind, Detail: detail})
	}
	return out
}

// around is how many lines are shown before and behind a conflict.
const around = 3

// excerpt is the places of a merged text that have markers, with a few lines around them. A line with three dots stands for
// what is left out.
func (m clash) excerpt(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	show := make([]bool, len(lines))
	inside := false
	for i, l := range lines {
		begins, ends := strings.HasPrefix(l, "<<<<<<< "+m.ours), strings.HasPrefix(l, ">>>>>>> "+m.theirs)
		inside = inside || begins
		switch {
		case begins || ends:
			lines[i] = m.named(l)
			for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
				show[j] = true
			}
		case inside && strings.HasPrefix(l, "||||||| "):
			lines[i] = "||||||| base"
		}
		show[i] = show[i] || inside
		inside = inside && !ends
	}
	var b strings.Builder
	for i, l := range lines {
		switch {
		case show[i]:
			b.WriteString(strings.TrimSuffix(l, "\r") + "\n")
		case i > 0 && show[i-1]:
			b.WriteString("...\n")
		}
	}
	return b.String()
}

// conflictTexts reads the first few of the paths from a tree. What cannot be read is not shown.
func (r Objects) conflictTexts(ctx context.Context, tree string, paths []string) map[string]string {
	texts := map[string]string{}
	if paths = paths[:min(len(paths), mostTexts)]; len(paths) == 0 {
		return texts
	}
	out, _, err := r.paths.withoutTree("", append([]string{"ls-tree", "-z", "--end-of-options", tree, "--"}, paths...)...).run(ctx)
	if err != nil {
		return texts
	}
	var ids, names []string
	for _, l := range fields(string(out)) {
		head, path, _ := strings.Cut(l, "\t")
		if f := strings.Fields(head); len(f) == 3 && f[1] == "blob" && f[0] != modeLink {
			ids, names = append(ids, f[2]), append(names, path)
		}
	}
	err = r.blobs(ctx, ids, func(n int, size int64, content io.Reader) error {
		text := &capped{limit: largestText}
		_, err := io.CopyN(text, content, size)
		texts[names[n]] = string(text.kept)
		return err
	})
	if err != nil {
		return map[string]string{}
	}
	return texts
}

// Ids of the tree without entries, in repositories of either kind. Git knows them by heart and may name them without writing
// the object, which a reference to it then lacks.
const (
	emptySHA1   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptySHA256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

// EmptyTree returns the id of the tree without entries, and makes sure that it exists.
func (r Objects) EmptyTree(ctx context.Context) (string, error) {
	out, _, err := r.paths.withoutTree("", "mktree").run(ctx)
	return strings.TrimSpace(string(out)), err
}
