package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
)

// Staged is what the user's index holds.
type Staged struct {
	Tree  string   // of the index
	Files []string // that differ from the commit
}

// StagedIn writes what the user's index holds as a tree, and leaves the index as it is. An index with unresolved conflicts is
// CodeConflict. head is the commit to compare with, "" before the first one.
func StagedIn(ctx context.Context, r *Repo, head string) (Staged, error) {
	if !r.git {
		return Staged{}, pawl.Fail(pawl.CodeRepository, "git.not_repository", r.workspace)
	}
	source := filepath.Join(r.gitDir, "index")
	if !exists(source) {
		tree, err := r.EmptyTree(ctx)
		return Staged{Tree: tree}, err
	}
	copied, err := r.copyIndex(source)
	if err != nil {
		return Staged{}, err
	}
	defer os.Remove(copied)
	w := r.Workspace()
	out, _, err := w.on(copied, "", "ls-files", "-z", "--unmerged").run(ctx)
	if err != nil {
		return Staged{}, err
	}
	if len(out) > 0 {
		_, path, _ := strings.Cut(fields(string(out))[0], "\t")
		return Staged{}, pawl.Fail(pawl.CodeConflict, "git.unmerged", path)
	}
	files, err := w.staged(ctx, copied, head)
	if err != nil {
		return Staged{}, err
	}
	tree, _, err := w.on(copied, "", "write-tree").run(ctx)
	return Staged{Tree: strings.TrimSpace(string(tree)), Files: files}, err
}

// Begin makes an empty index where there is none yet, as in a repository in which nothing was ever added.
func (c *Checkout) Begin(ctx context.Context) error {
	index := filepath.Join(c.repo.gitDir, "index")
	if _, err := os.Stat(index); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	f, err := os.CreateTemp(c.repo.State("tmp"), "index-*")
	if err != nil {
		return ioError("git.index", err)
	}
	f.Close()
	os.Remove(f.Name()) // git makes the file; the name alone is needed
	defer os.Remove(f.Name())
	if _, _, err := c.repo.on(f.Name(), "", "read-tree", "--empty").run(ctx); err != nil {
		return err
	}
	return c.install(ctx, f.Name(), index, 0o644)
}

// History returns the newest commits from a commit back along first parents, at most n, with the messages that they have.
func (r refs) History(ctx context.Context, from string, n int) ([]Commit, error) {
	return r.history(ctx, "--first-parent", "--max-count="+strconv.Itoa(n), from)
}

// Until returns the newest commit at or before an instant along first parents from a commit, or CodeNotFound.
func (r refs) Until(ctx context.Context, from string, at time.Time) (Commit, error) {
	list, err := r.history(ctx, "--first-parent", "--max-count=1", "--until=@"+strconv.FormatInt(at.Unix(), 10), from)
	if err == nil && len(list) == 0 {
		err = pawl.Fail(pawl.CodeNotFound, "git.no_commit", at.UTC().Format(time.DateTime))
	}
	if err != nil {
		return Commit{}, err
	}
	return list[0], nil
}

func (r refs) history(ctx context.Context, args ...string) ([]Commit, error) {
	from := args[len(args)-1]
	if !validID(from) {
		return nil, pawl.Fail(pawl.CodeInvalid, "git.bad_id", from)
	}
	run := append([]string{"log", "-z", "--no-show-signature", "--no-decorate", "--no-notes", "--no-patch", "--no-mailmap", "--format=%H%x01%T%x01%P%x01%ct%x01%B"}, args...)
	out, _, err := r.plumbing("", run...).run(ctx)
	if err != nil {
		return nil, err
	}
	var list []Commit
	for _, record := range fields(string(out)) {
		part := strings.SplitN(record, "\x01", 5)
		if len(part) != 5 {
			continue
		}
		seconds, _ := strconv.ParseInt(part[3], 10, 64)
		list = append(list, Commit{ID: part[0], Tree: part[1], Parents: strings.Fields(part[2]), At: time.Unix(seconds, 0).UTC(), Message: part[4]})
	}
	return list, nil
}

// Find returns the commit that a person names by its id, by the beginning of it, or by a branch or a tag, or CodeNotFound.
func (r refs) Find(ctx context.Context, name string) (string, error) {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, " \x00\n") {
		return "", pawl.Fail(pawl.CodeNotFound, "git.no_commit", name)
	}
	out, status, err := callWith(r.plumbing("", "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}"), 1, 128).run(ctx)
	id := strings.TrimSpace(string(out))
	if err == nil && (status != 0 || !validID(id)) {
		err = pawl.Fail(pawl.CodeNotFound, "git.no_commit", name)
	}
	return id, err
}

// Upstream is where a branch is shared.
type Upstream struct {
	Remote string // its name
	URL    string // as git would use it to push; where there are several, all of them
	Ref    string // in full, as the remote knows it
	// New says that nothing says so yet, and that the only remote there is was taken.
	New bool
}

// Sharing is what pawl asks of the remotes of a repository, and nothing else does.
type Sharing struct{ *Repo }

// NewSharing returns the remotes of a repository.
func NewSharing(r *Repo) Sharing { return Sharing{r} }

// Upstream finds out where a branch is shared: what the user configured, else the only remote there is, or "origin". It asks
// nobody on the network. Without a remote it is CodeNotFound.
func (r Sharing) Upstream(ctx context.Context, branch string) (Upstream, error) {
	get := func(args ...string) string {
		out, _, err := callWith(r.plumbing("", append([]string{"config", "--null"}, args...)...), 1).run(ctx)
		if err != nil {
			return ""
		}
		values := fields(string(out))
		if len(values) == 0 {
			return ""
		}
		return values[len(values)-1]
	}
	u := Upstream{Remote: get("--get", "branch."+branch+".remote"), Ref: get("--get", "branch."+branch+".merge")}
	if u.Remote == "" || u.Remote == "." || u.Ref == "" {
		out, _, err := r.plumbing("", "remote").run(ctx)
		if err != nil {
			return u, err
		}
		names := strings.Fields(string(out))
		u = Upstream{Remote: "origin", Ref: BranchRef(branch), New: true}
		if len(names) == 1 {
			u.Remote = names[0]
		}
	}
	if strings.HasPrefix(u.Remote, "-") || strings.ContainsAny(u.Remote, " \x00") {
		return u, pawl.Fail(pawl.CodeInvalid, "git.bad_ref", u.Remote)
	}
	urls, err := r.pushURLs(ctx, u.Remote)
	u.URL = strings.Join(urls, ", ")
	return u, err
}

// pushURLs are all the addresses that a push to a remote goes to.
func (r Sharing) pushURLs(ctx context.Context, remote string) ([]string, error) {
	out, status, err := callWith(r.plumbing("", "remote", "get-url", "--push", "--all", "--", remote), 2, 128).run(ctx)
	if err == nil && status != 0 {
		err = pawl.Fail(pawl.CodeNotFound, "git.no_remote", remote)
	}
	var urls []string
	for line := range strings.Lines(string(out)) {
		urls = append(urls, strings.TrimSpace(line))
	}
	return urls, err
}

// transport is a call that talks to a remote. It is the one kind that has the user's own settings and credentials: those of
// the user's files and environment. What the repository's configuration could make it run is switched off or named here.
func (r Sharing) transport(ctx context.Context, args ...string) (call, error) {
	own := func(key string) []string {
		env := append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}, configEnv()...)
		c := call{args: []string{"config", "--global", "--null", "--includes", "--get-all", key}, env: env, dir: r.shadow}
		// No such key, and no such file, both mean that the user says nothing.
		out, _, err := callWith(c, 1, 128).run(ctx)
		if err != nil {
			return nil
		}
		return fields(string(out))
	}
	pairs := [][2]string{
		{"core.hooksPath", os.DevNull}, {"core.fsmonitor", "false"}, {"core.pager", "cat"}, {"core.editor", "false"}, {"core.gitProxy", ""},
		{"core.alternateRefsCommand", "false"}, {"push.gpgSign", "false"}, {"push.followTags", "false"}, {"submodule.recurse", "false"},
		{"fetch.recurseSubmodules", "false"}, {"push.recurseSubmodules", "no"}, {"gc.auto", "0"}, {"maintenance.auto", "false"}, {"fetch.writeCommitGraph", "false"},
		{"safe.bareRepository", "explicit"}, {"credential.helper", ""},
	}
	for _, h := range own("credential.helper") {
		pairs = append(pairs, [2]string{"credential.helper", h})
	}
	ssh := "ssh -o BatchMode=yes"
	if own := own("core.sshCommand"); len(own) > 0 {
		ssh = own[len(own)-1]
	}
	pairs = append(pairs, [2]string{"core.sshCommand", ssh}, [2]string{"core.askPass", ""})
	env := []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=false", "GIT_PAGER=cat", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ADVICE=0",
		"GIT_ALLOW_PROTOCOL=https:http:ssh:file", // of the environment, because the configuration could allow single ones again
		"GIT_DIR=" + r.gitDir, "GIT_WORK_TREE=" + r.workspace, "GIT_INDEX_FILE=" + r.State("no-index")}
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "TMPDIR", "SYSTEMROOT", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GIT_SSH", "GIT_SSH_COMMAND",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "DBUS_SESSION_BUS_ADDRESS"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(pairs)))
	for i, p := range pairs {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+p[0], "GIT_CONFIG_VALUE_"+n+"="+p[1])
	}
	if !r.git {
		return call{}, pawl.Fail(pawl.CodeRepository, "git.not_repository", r.workspace)
	}
	return call{args: args, env: env, dir: r.workspace, stdin: strings.NewReader("")}, nil
}

// Fetch asks a remote for a branch and brings what it has. It returns the commit that the branch is at there, "" where the
// remote has no such branch.
func (r Sharing) Fetch(ctx context.Context, u Upstream) (string, error) {
	look, err := r.transport(ctx, "ls-remote", "--quiet", "--upload-pack=git-upload-pack", "--", u.Remote, u.Ref)
	if err != nil {
		return "", err
	}
	out, _, err := look.run(ctx)
	if err != nil {
		return "", pawl.Fail(pawl.CodeIO, "git.remote_failed", u.Remote).Because(err)
	}
	id := ""
	for line := range strings.Lines(string(out)) {
		if got, ref, _ := strings.Cut(strings.TrimSpace(line), "\t"); ref == u.Ref && validID(got) {
			id = got
		}
	}
	if id == "" {
		return "", nil
	}
	keep := PrivateRef("fetched/" + strings.TrimPrefix(u.Ref, "refs/heads/"))
	get, err := r.transport(ctx, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head", "--force",
		"--upload-pack=git-upload-pack", "--", u.Remote, u.Ref+":"+keep)
	if err != nil {
		return "", err
	}
	if _, _, err := get.run(ctx); err != nil {
		return "", pawl.Fail(pawl.CodeIO, "git.remote_failed", u.Remote).Because(err)
	}
	got, err := r.Ref(ctx, keep)
	if err == nil && got == "" {
		err = pawl.Fail(pawl.CodeIO, "git.remote_failed", u.Remote)
	}
	return got, err
}

// Push makes a branch of a remote name a commit that contains what it names now. Nothing is ever forced.
func (r Sharing) Push(ctx context.Context, u Upstream, commit string) error {
	if !validID(commit) {
		return pawl.Fail(pawl.CodeInvalid, "git.bad_id", commit)
	}
	receiver, err := r.receiver(ctx, u.Remote)
	if err != nil {
		return err
	}
	c, err := r.transport(ctx, "push", "--quiet", "--porcelain", "--no-verify", "--no-force", "--no-follow-tags", "--recurse-submodules=no", "--no-signed",
		"--receive-pack="+receiver, "--", u.Remote, commit+":"+u.Ref)
	if err != nil {
		return err
	}
	if _, _, err := c.run(ctx); err != nil {
		return pawl.Fail(pawl.CodeIO, "git.remote_failed", u.Remote).Because(err)
	}
	return nil
}

// receiver is the program that takes a push in. Where the remote is a folder of this machine, that program runs here, without what
// this process switched off, and the repository's configuration chose the folder: it could be one that came with the
// repository. So hooks are switched off for it once more. Elsewhere it is the remote's own affair what runs.
func (r Sharing) receiver(ctx context.Context, remote string) (string, error) {
	urls, err := r.pushURLs(ctx, remote)
	if slices.ContainsFunc(urls, onDisk) {
		return "git -c core.hooksPath=" + os.DevNull + " -c core.alternateRefsCommand=false -c core.fsmonitor=false receive-pack", err
	}
	return "git-receive-pack", err
}

// onDisk reports whether an address of a remote names a folder, as git tells it from a host.
func onDisk(url string) bool {
	head, _, found := strings.Cut(url, ":")
	return !found || strings.Contains(head, "/") || strings.HasPrefix(url, "file://")
}

// maxRebased bounds the commits that are put on top of another.
const maxRebased = 500

// Replay puts the commits that tip has and onto lacks on top of onto, in memory: no file, index or branch changes. It returns
// the new tip and the number of commits. Where they do not fit, or one of them is a merge, it is CodeConflict. At is the
// date of committing, so that the same commits are made again after a crash.
func (r Sharing) Replay(ctx context.Context, onto, tip, branch string, at time.Time) (string, int, error) {
	if !validID(onto) || !validID(tip) {
		return "", 0, pawl.Fail(pawl.CodeInvalid, "git.bad_id", onto+" "+tip)
	}
	list, err := r.history(ctx, "--topo-order", "--reverse", "--max-count="+strconv.Itoa(maxRebased+1), "^"+onto, tip)
	if err != nil {
		return "", 0, err
	}
	if len(list) > maxRebased {
		return "", 0, pawl.Fail(pawl.CodeConflict, "git.replay_many", maxRebased)
	}
	head, err := r.ResolveTree(ctx, onto)
	if err != nil {
		return "", 0, err
	}
	made := 0
	for _, c := range list {
		if len(c.Parents) != 1 {
			return "", 0, pawl.Fail(pawl.CodeConflict, "git.replay_merge", c.ID)
		}
		base, err := r.ResolveTree(ctx, c.Parents[0])
		if err != nil {
			return "", 0, err
		}
		tree, conflicts, err := r.Merge(ctx, base, head, c.Tree, branch)
		if err != nil {
			return "", 0, err
		}
		if len(conflicts) > 0 {
			var paths []string
			for _, f := range conflicts {
				paths = append(paths, f.Path)
			}
			return "", 0, pawl.Fail(pawl.CodeConflict, "git.replay_conflict", Listing(paths))
		}
		if tree == head {
			continue // somebody pushed the same change
		}
		if onto, err = r.again(ctx, c, tree, onto, at); err != nil {
			return "", 0, err
		}
		head = tree
		made++
	}
	return onto, made, nil
}

// again makes a commit like another, by the same author, with another tree and parent.
func (r Sharing) again(ctx context.Context, c Commit, tree, parent string, at time.Time) (string, error) {
	out, _, err := r.withoutTree("", "cat-file", "commit", c.ID).run(ctx)
	if err != nil {
		return "", err
	}
	head, message, _ := strings.Cut(string(out), "\n\n")
	env := r.config.identity.env(at)
	for line := range strings.Lines(head) {
		author, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "author ")
		name, rest, found := strings.Cut(author, " <")
		email, date, closed := strings.Cut(rest, "> ")
		if ok && found && closed {
			env = append(env, "GIT_AUTHOR_NAME="+name, "GIT_AUTHOR_EMAIL="+email, "GIT_AUTHOR_DATE=@"+date)
		}
	}
	run := r.withoutTree(message, "commit-tree", "-p", parent, "-F", "-", tree)
	run.env = append(run.env, env...)
	id, _, err := run.run(ctx)
	return strings.TrimSpace(string(id)), err
}
