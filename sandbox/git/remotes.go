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
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/program"
	"pawl/store/lockfile"
)

// Staged is what the user's index holds.
type Staged struct {
	Tree  string   // of the index
	Files []string // that differ from the commit
}

// StagedIn writes what the user's index holds as a tree, and leaves the index as it is. An index with unresolved
// conflicts is CodeConflict. head is the commit to compare with, "" before the first one.
func StagedIn(ctx context.Context, r *Repo, head string) (Staged, error) {
	if !r.paths.Git {
		return Staged{}, pawl.Fail(pawl.CodeRepository, "git.not_repository", r.paths.Workspace)
	}
	source := filepath.Join(r.paths.GitDir, "index")
	if !layout.Exists(source) {
		tree, err := r.Objects.EmptyTree(ctx)
		return Staged{Tree: tree}, err
	}
	copied, err := r.index.copyIndex(source)
	if err != nil {
		return Staged{}, err
	}
	defer os.Remove(copied)
	w := r.Workspace()
	out, _, err := w.paths.On(copied, "", "ls-files", "-z", "--unmerged").Run(ctx)
	if err != nil {
		return Staged{}, err
	}
	if len(out) > 0 {
		_, path, _ := strings.Cut(program.Fields(string(out))[0], "\t")
		return Staged{}, pawl.Fail(pawl.CodeConflict, "git.unmerged", path)
	}
	files, err := w.index.staged(ctx, copied, head)
	if err != nil {
		return Staged{}, err
	}
	tree, _, err := w.paths.On(copied, "", "write-tree").Run(ctx)
	return Staged{Tree: strings.TrimSpace(string(tree)), Files: files}, err
}

// Begin makes an empty index where there is none yet, as in a repository in which nothing was ever added.
func (c *Checkout) Begin(ctx context.Context) error {
	index := filepath.Join(c.repo.paths.GitDir, "index")
	if _, err := os.Stat(index); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	f, err := os.CreateTemp(c.repo.paths.State("tmp"), "index-"+lockfile.Maker()+"-*")
	if err != nil {
		return program.IOError("git.index", err)
	}
	f.Close()
	os.Remove(f.Name()) // git makes the file; the name alone is needed
	defer os.Remove(f.Name())
	if _, _, err := c.repo.paths.On(f.Name(), "", "read-tree", "--empty").Run(ctx); err != nil {
		return err
	}
	return c.install(ctx, f.Name(), index, 0o644)
}

// History returns the newest commits from a commit back along first parents, at most n, with the messages that they
// have.
func (r Objects) History(ctx context.Context, from string, n int) ([]Commit, error) {
	return r.history(ctx, "--first-parent", "--max-count="+strconv.Itoa(n), from)
}

// Until returns the newest commit at or before an instant along first parents from a commit, or CodeNotFound.
func (r Objects) Until(ctx context.Context, from string, at time.Time) (Commit, error) {
	list, err := r.history(ctx, "--first-parent", "--max-count=1", "--until=@"+strconv.FormatInt(at.Unix(), 10), from)
	if err == nil && len(list) == 0 {
		err = pawl.Fail(pawl.CodeNotFound, "git.no_commit", at.UTC().Format(time.DateTime))
	}
	if err != nil {
		return Commit{}, err
	}
	return list[0], nil
}

func (r Objects) history(ctx context.Context, args ...string) ([]Commit, error) {
	from := args[len(args)-1]
	if !validID(from) {
		return nil, pawl.Fail(pawl.CodeInvalid, "git.bad_id", from)
	}
	run := append([]string{"log", "-z", "--no-show-signature", "--no-decorate", "--no-notes", "--no-patch",
		"--no-mailmap", "--format=%H%x01%T%x01%P%x01%ct%x01%B"}, args...)
	out, _, err := r.paths.Plumbing("", run...).Run(ctx)
	if err != nil {
		return nil, err
	}
	var list []Commit
	for _, record := range program.Fields(string(out)) {
		part := strings.SplitN(record, "\x01", 5)
		if len(part) != 5 {
			continue
		}
		seconds, _ := strconv.ParseInt(part[3], 10, 64)
		list = append(list, Commit{ID: part[0], Tree: part[1], Parents: strings.Fields(part[2]),
			At: time.Unix(seconds, 0).UTC(), Message: part[4]})
	}
	return list, nil
}

// Find returns the commit that a person names by its id, by the beginning of it, or by a branch or a tag, or
// CodeNotFound.
func (r Refs) Find(ctx context.Context, name string) (string, error) {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, " \x00\n") {
		return "", pawl.Fail(pawl.CodeNotFound, "git.no_commit", name)
	}
	out, status, err := r.paths.Plumbing("", "rev-parse", "--verify", "--quiet", "--end-of-options", name+
		"^{commit}").Answering(1, 128).Run(ctx)
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

// Remotes is what pawl asks of the remotes of a repository, and nothing else does. It is safe for concurrent use.
type Remotes struct{ repo *Repo }

// NewRemotes returns the remotes of a repository.
func NewRemotes(r *Repo) Remotes { return Remotes{r} }

// Upstream finds out where a branch is shared: what the user configured, else the only remote there is, or "origin". It
// asks nobody on the network. Without a remote it is CodeNotFound.
func (r Remotes) Upstream(ctx context.Context, branch string) (Upstream, error) {
	u := Upstream{}
	for key, into := range map[string]*string{"remote": &u.Remote, "merge": &u.Ref} {
		values, err := r.configured(ctx, "branch."+branch+"."+key)
		if err != nil {
			return u, err
		}
		if len(values) > 0 {
			*into = values[len(values)-1]
		}
	}
	if u.Remote == "" || u.Remote == "." || u.Ref == "" {
		out, _, err := r.repo.paths.Plumbing("", "remote").Run(ctx)
		if err != nil {
			return u, err
		}
		names := strings.Fields(string(out))
		u = Upstream{Remote: "origin", Ref: BranchRef(branch), New: true}
		if len(names) == 1 {
			u.Remote = names[0]
		}
	}
	var err error
	u.URL, err = r.URL(ctx, u.Remote)
	return u, err
}

// URL is the address of a remote as git would use it to push; where there are several, all of them. A remote that the
// repository does not know is CodeNotFound.
func (r Remotes) URL(ctx context.Context, remote string) (string, error) {
	if strings.HasPrefix(remote, "-") || strings.ContainsAny(remote, " \x00\n") {
		return "", pawl.Fail(pawl.CodeInvalid, "git.bad_ref", remote)
	}
	w, err := r.connect(ctx, remote)
	if err != nil {
		return "", err
	}
	defer w.close()
	urls, err := w.pushURLs(ctx)
	return strings.Join(urls, ", "), err
}

// Pushed is the remote that git pushes a branch to, which need not be the one that it is fetched from. It is "" where
// there is no such branch, or nothing says so.
func (r Remotes) Pushed(ctx context.Context, branch string) (string, error) {
	out, _, err := r.repo.paths.Plumbing("", "for-each-ref", "--format=%(push:remotename)", BranchRef(branch)).Run(ctx)
	return strings.TrimSpace(string(out)), err
}

// configured are the values that the repository's own configuration gives a key, in their order.
func (r Remotes) configured(ctx context.Context, key string) ([]string, error) {
	// Status 1 says that the key is not there. Every other one says that the configuration could not be read.
	out, _, err := r.repo.paths.Plumbing("", "config", "--null", "--get-all", key).Answering(1).Run(ctx)
	return program.Fields(string(out)), err
}

// connection is a git directory for one talk with a remote, on the user's objects. What talks to a remote is the one
// kind of call that has the user's own settings and credentials: those of the user's files and environment. So nothing
// that the repository's configuration says may act on it, such as a proxy, a certificate that need not be checked, a
// header, a program or another address. It is not read at all; what is taken from it, as data, is where the remote is.
type connection struct {
	paths  *layout.Layout
	dir    string
	remote string // its name
	env    []string
}

// escaped writes a text between quotation marks of a configuration file.
var escaped = strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n")

// connect opens a way to a remote, which the caller closes. A remote that the repository does not know is CodeNotFound.
func (r Remotes) connect(ctx context.Context, remote string) (_ *connection, err error) {
	if !r.repo.paths.Git {
		return nil, pawl.Fail(pawl.CodeRepository, "git.not_repository", r.repo.paths.Workspace)
	}
	var config strings.Builder
	config.WriteString(r.repo.paths.Config.Own() + "[remote \"" + escaped.Replace(remote) + "\"]\n")
	known := 0
	// Of a partial clone git must know that what is missing was promised, and what not to ask for.
	for _, key := range []string{"url", "pushurl", "promisor", "partialclonefilter"} {
		values, err := r.configured(ctx, "remote."+remote+"."+key)
		if err != nil {
			return nil, err
		}
		known += len(values)
		for _, v := range values {
			config.WriteString("\t" + key + " = \"" + escaped.Replace(v) + "\"\n")
		}
	}
	if known == 0 {
		return nil, pawl.Fail(pawl.CodeNotFound, "git.no_remote", remote)
	}
	// A new folder holds nothing that came with the repository.
	w := &connection{paths: r.repo.paths, remote: remote}
	if w.dir, err = os.MkdirTemp(r.repo.paths.State("tmp"), "remote-"+lockfile.Maker()+"-*"); err != nil {
		return nil, program.IOError("git.remote", err)
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	files := map[string][]byte{"config": []byte(config.String()), "HEAD": []byte("ref: refs/heads/pawl\n")}
	// Where a history was cut off is no setting, but a part of what there is.
	if cut, readErr := layout.ReadCapped(filepath.Join(r.repo.paths.CommonDir, "shallow"), 64<<20); readErr == nil {
		files["shallow"] = cut
	} else if !errors.Is(readErr, os.ErrNotExist) {
		return nil, program.IOError("git.remote", readErr)
	}
	err = os.Mkdir(filepath.Join(w.dir, "refs"), 0o700)
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(w.dir, name), content, 0o600))
	}
	if err != nil {
		return nil, program.IOError("git.remote", err)
	}
	pairs := [][2]string{
		{"core.hooksPath", os.DevNull}, {"core.fsmonitor", "false"}, {"core.pager", "cat"}, {"core.editor", "false"},
		{"core.askPass", ""}, {"core.alternateRefsCommand", "false"}, {"push.gpgSign", "false"},
		{"push.followTags", "false"}, {"submodule.recurse", "false"}, {"fetch.recurseSubmodules", "false"},
		{"push.recurseSubmodules", "no"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
		{"fetch.unpackLimit", "1"}, // a pack is safe from a garbage collection that has begun already
		{"fetch.writeCommitGraph", "false"}, {"safe.bareRepository", "explicit"},
	}
	w.env = w.environment(pairs)
	// Without a setting of the user's, ssh must not wait for an answer that nobody gives.
	own, _, err := w.call("config", "--null", "--get", "core.sshCommand").Answering(1).Run(ctx)
	if err == nil && len(own) == 0 {
		w.env = w.environment(append(pairs, [2]string{"core.sshCommand", "ssh -o BatchMode=yes"}))
	}
	return w, err
}

// environment is that of the calls: the user's, with some configuration that outranks the user's files.
func (w *connection) environment(pairs [][2]string) []string {
	env := []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=false", "GIT_PAGER=cat",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ADVICE=0",
		// of the environment, because the configuration could allow single ones again
		"GIT_ALLOW_PROTOCOL=https:http:ssh:file", "GIT_DIR=" + w.dir, "GIT_INDEX_FILE=" + w.paths.State("no-index"),
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(w.paths.CommonDir, "objects"), "GIT_WORK_TREE=" + w.paths.Workspace}
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "TMPDIR",
		"SYSTEMROOT", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL",
		"GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy",
		"https_proxy", "no_proxy", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
		"DBUS_SESSION_BUS_ADDRESS"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(pairs)))
	for i, p := range pairs {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+p[0], "GIT_CONFIG_VALUE_"+n+"="+p[1])
	}
	return env
}

// call is a call that may talk to the remote. It runs at the top of the workspace, which the path of a remote may start
// from.
func (w *connection) call(args ...string) program.Call {
	return program.Call{Args: args, Env: w.env, Dir: w.paths.Workspace, Stdin: strings.NewReader("")}
}

// close leaves to a sweep what cannot be removed.
func (w *connection) close() { _ = layout.Discard(w.paths, w.dir) }

// know tells the other side what is here already, so that only the rest is sent: the user's references.
func (w *connection) know(ctx context.Context) error {
	out, _, err := w.paths.Plumbing("", "for-each-ref", "--format=%(objectname) %(refname)").Run(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.dir, "packed-refs"), out, 0o600); err != nil {
		return program.IOError("git.remote", err)
	}
	return nil
}

// pushURLs are all the addresses that a push goes to.
func (w *connection) pushURLs(ctx context.Context) ([]string, error) {
	out, status, err := w.call("remote", "get-url", "--push", "--all", "--", w.remote).Answering(2, 128).Run(ctx)
	if err == nil && status != 0 {
		err = pawl.Fail(pawl.CodeNotFound, "git.no_remote", w.remote)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' || r == '\r' }), err
}

// Fetch asks a remote for a branch and brings what it has. It returns the commit that the branch is at there, "" where
// the remote has no such branch.
func (r Remotes) Fetch(ctx context.Context, u Upstream) (string, error) {
	w, err := r.connect(ctx, u.Remote)
	if err != nil {
		return "", err
	}
	defer w.close()
	out, _, err := w.call("ls-remote", "--quiet", "--upload-pack=git-upload-pack", "--", u.Remote, u.Ref).Run(ctx)
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
	if err := w.know(ctx); err != nil {
		return "", err
	}
	const here = "refs/heads/pawl-fetched"
	if _, _, err := w.call("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance",
		"--no-write-fetch-head", "--force", "--upload-pack=git-upload-pack", "--", u.Remote,
		u.Ref+":"+here).Run(ctx); err != nil {
		return "", pawl.Fail(pawl.CodeIO, "git.remote_failed", u.Remote).Because(err)
	}
	out, _, err = w.call("rev-parse", "--verify", "--quiet", here).Run(ctx)
	id = strings.TrimSpace(string(out))
	if err != nil || !validID(id) {
		return "", pawl.Fail(pawl.CodeIO, "git.remote_failed", u.Remote).Because(err)
	}
	return id, r.fetched(ctx, u, id)
}

// fetched keeps what was fetched, and lets the user's own name for it follow.
func (r Remotes) fetched(ctx context.Context, u Upstream, id string) error {
	keep := PrivateRef("fetched/" + strings.TrimPrefix(u.Ref, "refs/heads/"))
	old, err := r.repo.Refs.Lookup(ctx, keep)
	if err == nil && old != id {
		err = r.repo.Refs.Set(ctx, keep, id, old, "pawl: fetch")
	}
	if err != nil {
		return err
	}
	return r.follow(ctx, u, id)
}

// Push makes a branch of a remote name a commit that contains what it names now. Nothing is ever forced.
func (r Remotes) Push(ctx context.Context, u Upstream, commit string) error {
	err := r.send(ctx, u, commit, commit, "--no-force")
	if err == nil {
		_ = r.follow(ctx, u, commit) // what was pushed is there, whether or not the user's git hears of it
	}
	return err
}

// Remove takes a branch of a remote away that names a commit. One that names another by then stays, and that is an
// error.
func (r Remotes) Remove(ctx context.Context, u Upstream, commit string) error {
	return r.send(ctx, u, commit, "", "--force-with-lease="+u.Ref+":"+commit)
}

// send has a branch of a remote name something, as may be forced for the sake of a commit.
func (r Remotes) send(ctx context.Context, u Upstream, commit, to, force string) error {
	if !validID(commit) {
		return pawl.Fail(pawl.CodeInvalid, "git.bad_id", commit)
	}
	w, err := r.connect(ctx, u.Remote)
	if err != nil {
		return err
	}
	defer w.close()
	receiver, err := w.receiver(ctx)
	if err != nil {
		return err
	}
	if _, _, err := w.call("push", "--quiet", "--porcelain", "--no-verify", force, "--no-follow-tags", "--no-signed",
		"--recurse-submodules=no", "--receive-pack="+receiver, "--", u.Remote, to+":"+u.Ref).Run(ctx); err != nil {
		return pawl.Fail(pawl.CodeIO, "git.remote_failed", u.Remote).Because(err)
	}
	return nil
}

// follow lets the reference by which the user's git remembers a branch of a remote name what the branch is at, as the
// user's own fetch and push do. The repository's configuration says which one it is, so it must be one for that
// purpose.
func (r Remotes) follow(ctx context.Context, u Upstream, id string) error {
	specs, err := r.configured(ctx, "remote."+u.Remote+".fetch")
	if err != nil {
		return err
	}
	for _, spec := range specs {
		name := tracking(spec, u.Ref)
		if !strings.HasPrefix(name, "refs/remotes/") {
			continue
		}
		old, err := r.repo.Refs.Lookup(ctx, name)
		if err == nil && old != id {
			err = r.repo.Refs.Set(ctx, name, id, old, "pawl: remote")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tracking is the reference in which a refspec keeps what a remote calls ref, "" where it does not.
func tracking(spec, ref string) string {
	from, to, _ := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
	head, tail, wild := strings.Cut(from, "*")
	if !wild {
		if from == ref {
			return to
		}
		return ""
	}
	rest, begins := strings.CutPrefix(ref, head)
	middle, ends := strings.CutSuffix(rest, tail)
	if !begins || !ends {
		return ""
	}
	return strings.Replace(to, "*", middle, 1)
}

// receiver is the program that takes a push in. Where the remote is a folder of this machine, that program runs here,
// without what this process switched off, and the repository's configuration chose the folder: it could be one that
// came with the repository. So hooks are switched off for it once more. Elsewhere it is the remote's own affair what
// runs.
func (w *connection) receiver(ctx context.Context) (string, error) {
	urls, err := w.pushURLs(ctx)
	if slices.ContainsFunc(urls, onDisk) {
		return "git -c core.hooksPath=" + os.DevNull +
			" -c core.alternateRefsCommand=false -c core.fsmonitor=false receive-pack", err
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

// Replay puts the commits that tip has and onto lacks on top of onto, in memory: no file, index or branch changes. It
// returns the new tip and the number of commits. Where they do not fit, or one of them is a merge, it is CodeConflict.
// At is the date of committing, so that the same commits are made again after a crash.
func (r Remotes) Replay(ctx context.Context, onto, tip, branch string, at time.Time) (string, int, error) {
	if !validID(onto) || !validID(tip) {
		return "", 0, pawl.Fail(pawl.CodeInvalid, "git.bad_id", onto+" "+tip)
	}
	list, err := r.repo.Objects.history(ctx, "--topo-order", "--reverse", "--max-count="+strconv.Itoa(maxRebased+1),
		"^"+onto, tip)
	if err != nil {
		return "", 0, err
	}
	if len(list) > maxRebased {
		return "", 0, pawl.Fail(pawl.CodeConflict, "git.replay_many", maxRebased)
	}
	head, err := r.repo.Objects.ResolveTree(ctx, onto)
	if err != nil {
		return "", 0, err
	}
	made := 0
	for _, c := range list {
		if len(c.Parents) != 1 {
			return "", 0, pawl.Fail(pawl.CodeConflict, "git.replay_merge", c.ID)
		}
		base, err := r.repo.Objects.ResolveTree(ctx, c.Parents[0])
		if err != nil {
			return "", 0, err
		}
		tree, conflicts, err := r.repo.Objects.Merge(ctx, base, head, c.Tree, branch)
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
func (r Remotes) again(ctx context.Context, c Commit, tree, parent string, at time.Time) (string, error) {
	out, _, err := r.repo.paths.WithoutTree("", "cat-file", "commit", c.ID).Run(ctx)
	if err != nil {
		return "", err
	}
	head, message, _ := strings.Cut(string(out), "\n\n")
	env := r.repo.paths.Config.Identity.Env(at)
	for line := range strings.Lines(head) {
		author, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "author ")
		name, rest, found := strings.Cut(author, " <")
		email, date, closed := strings.Cut(rest, "> ")
		if ok && found && closed {
			env = append(env, "GIT_AUTHOR_NAME="+name, "GIT_AUTHOR_EMAIL="+email, "GIT_AUTHOR_DATE=@"+date)
		}
	}
	run := r.repo.paths.WithoutTree(message, "commit-tree", "-p", parent, "-F", "-", tree)
	run.Env = append(run.Env, env...)
	id, _, err := run.Run(ctx)
	return strings.TrimSpace(string(id)), err
}
