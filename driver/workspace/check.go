package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/program"
	"pawl/store/known"
	"pawl/store/owndir"
)

// Enter is Find, for a workspace that passes Check.
func Enter(ctx context.Context, l known.List, dir string) (effect.Place, error) {
	place, err := Find(l, dir)
	if err == nil {
		err = Check(ctx, place)
	}
	return place, err
}

// Check decides whether pawl may use the .pawl directory of a workspace. A repository, an archive, a branch that was
// checked out, or an agent can put anything there, so call it before anything below .pawl is opened, listed, written,
// deleted, or given another mode. It returns CodeDenied, and changes nothing, if
//
//   - git tracks anything in .pawl except the regular file config.yaml, in any letter case;
//   - .pawl or an entry in it is a link, a pipe, a socket, a device, or a file with another name (see unread);
//   - .pawl belongs to another user.
//
// The state of the workspace is held to the same, but for git. It takes the rights of other users away from what is the
// user's own. What is missing passes.
func Check(ctx context.Context, p effect.Place) error {
	if err := untracked(ctx, p.Workspace); err != nil {
		return err
	}
	if err := private(p.Workspace, Dir, unread); err != nil || p.State == "" {
		return err
	}
	// The directory of pawl's state may be elsewhere, as its user likes. In it are the states of other workspaces, too.
	list, own := filepath.Split(p.State)
	list = filepath.Clean(list)
	if err := private(filepath.Dir(list), ".", func(name string) bool {
		below, ok := strings.CutPrefix(name, filepath.Base(list)+"/")
		of, rest, _ := strings.Cut(below, "/")
		return ok && (of != own || unread(rest))
	}); err != nil {
		return err
	}
	return private(list, own, func(string) bool { return true })
}

// private refuses a directory below base, unless it is the user's own and has only files and directories. It does not
// look into those that skip names.
func private(base, name string, skip func(string) bool) error {
	d, err := owndir.Open(base, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer d.Close()
		if err = d.Plain(skip); err == nil {
			err = d.Claim()
		}
	}
	if err != nil && pawl.CodeOf(err) != pawl.CodeDenied {
		err = pawl.Fail(pawl.CodeIO, "cli.dir", filepath.Join(base, name)).Because(err)
	}
	return err
}

// unread reports whether Check leaves a directory alone. Checkouts, dependencies, homes of agents and object stores
// contain links of their own; of the directories that have these, only the entries are inspected. A server has its
// socket in serve.
func unread(name string) bool {
	top, _, deep := strings.Cut(name, "/")
	return name == "serve" || name == "git/objects" || name == "git/packs" ||
		deep && slices.Contains([]string{"agents", "cache", "logs", "mcp", "workers", "worktrees"}, top)
}

// untracked asks the index of the repository around dir, so that it notices every checkout. Git runs no program of the
// repository's choice.
func untracked(ctx context.Context, dir string) error {
	top, ok := layout.Top(dir)
	if !ok {
		return nil
	}
	gitDir, _, err := layout.Locate(top)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(top, filepath.Join(dir, Dir))
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "cli.dir", dir).Because(err)
	}
	own := filepath.ToSlash(rel)
	call := program.Call{Args: []string{"ls-files", "-s", "-z", "--", ":(icase,literal)" + own}, Dir: top,
		Env: append(program.Environment(), "GIT_DIR="+gitDir, "GIT_WORK_TREE="+top, "GIT_LITERAL_PATHSPECS=0"),
		// An empty input, so that git never waits for a terminal.
		Stdin: strings.NewReader("")}
	out, _, err := call.Run(ctx)
	if err != nil {
		return err
	}
	for _, entry := range program.Fields(string(out)) {
		mode, name, _ := strings.Cut(entry, "\t")
		reason := "cli.workspace_tracked"
		if name == own+"/config.yaml" {
			if strings.HasPrefix(mode, "100") {
				continue
			}
			reason = "cli.workspace_tracked_link"
		}
		return pawl.Fail(pawl.CodeDenied, reason, filepath.Join(top, filepath.FromSlash(name)))
	}
	return nil
}
