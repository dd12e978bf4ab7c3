package land

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/program"
	"pawl/store/disk"
)

// entry is what is written down of a landing before its reference moves, and completed when all has been done. It makes
// the effect happen at most once and says after a crash what is left.
type entry struct {
	Ref    string            `json:"ref"`    // reference that moves, in full
	Commit string            `json:"commit"` // to what
	Base   string            `json:"base"`
	From   string            `json:"from"` // trees of Base and Commit
	To     string            `json:"to"`
	Here   bool              `json:"here"`            // the checked-out tree goes with it
	Plain  bool              `json:"plain,omitempty"` // its files stood there before
	Done   bool              `json:"done"`
	Result effect.LandResult `json:"result"`
}

// effectID is the form of ids that may name a file.
var effectID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`) })

func file(repo *git.Repo, id string) (string, error) {
	if !effectID().MatchString(id) {
		return "", pawl.Fail(pawl.CodeInvalid, "land.bad_id", id)
	}
	return filepath.Join(repo.State("land"), id+".json"), nil
}

// write keeps the entry, durably.
func (n entry) write(ctx context.Context, repo *git.Repo, id string) error {
	program.Step(ctx, "write journal")
	path, err := file(repo, id)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(n)
	if err == nil {
		err = disk.Mkdir(repo.State("."), filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = disk.WriteFile(path, raw)
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "land.journal", path).Because(err)
	}
	return nil
}

// finish keeps the entry as complete.
func (n entry) finish(ctx context.Context, repo *git.Repo, id string) error {
	n.Done = true
	return n.write(ctx, repo, id)
}

// drop forgets an entry of which nothing has happened.
func drop(repo *git.Repo, id string) error {
	path, err := file(repo, id)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return pawl.Fail(pawl.CodeIO, "land.journal", path).Because(err)
	}
	return nil
}

// read is the entry of an effect; ok is false where there is none.
func read(repo *git.Repo, id string) (n entry, ok bool, err error) {
	path, err := file(repo, id)
	if err != nil {
		return n, false, err
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return n, false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &n)
	}
	if err != nil {
		return n, false, pawl.Fail(pawl.CodeIO, "land.journal", path).Because(err)
	}
	return n, true, nil
}

// takeBack brings the files and the index back to what they were before a landing, and then its branch.
func (n entry) takeBack(ctx context.Context, repo *git.Repo, checkout *git.Checkout) error {
	if !n.Plain {
		if _, err := checkout.Advance(ctx, n.To, n.From); err != nil {
			return err
		}
	}
	return repo.Refs.Set(ctx, n.Ref, n.Base, n.Commit, "pawl: landing failed")
}

// Settle ends what a landing of a process that is gone, or that gave up on it, has left half done in a workspace: it is
// taken back, or, where that cannot be, completed. It fails, and the user's index stays locked, where neither can be:
// branch, index and files are apart then. It may be repeated, and does nothing where nothing was left.
func Settle(ctx context.Context, m *git.Memory, p effect.Place) error {
	repo, err := open(ctx, m, effect.Place{Workspace: p.Workspace, State: p.State, Tree: p.Workspace, Git: p.Git})
	if err != nil {
		return err
	}
	if left := git.Abandoned(repo); left != "" {
		return settle(ctx, repo, left, recede, complete)
	}
	return nil
}

// settle ends the landing in whose name the lock of the index was left, in the first of the ways that can be gone.
func settle(ctx context.Context, repo *git.Repo, id string,
	ways ...func(context.Context, *git.Repo, string) error) error {
	var first error
	for _, way := range ways {
		err := way(ctx, repo, id)
		if err == nil {
			return git.DropAbandoned(repo)
		}
		first = cmp.Or(first, err)
	}
	return pawl.Fail(pawl.CodeIO, "land.apart").Because(first)
}

// complete finishes a landing.
func complete(ctx context.Context, repo *git.Repo, id string) error {
	_, _, err := resume(ctx, repo, id)
	return err
}

// recede takes a landing back that stands on top of its branch half done. What is not so is for resume.
func recede(ctx context.Context, repo *git.Repo, id string) error {
	n, ok, err := read(repo, id)
	if err != nil || !ok || n.Done {
		return err
	}
	git.ClearHead(ctx, repo)
	tip, err := repo.Refs.Lookup(ctx, n.Ref)
	if err == nil && (tip != n.Commit || !n.Here) {
		return complete(ctx, repo, id)
	}
	if err != nil {
		return err
	}
	checkout, err := repo.Checkout(ctx, id)
	if err != nil {
		return err
	}
	if err := n.takeBack(ctx, repo, checkout); err != nil {
		return err // the lock stays
	}
	return errors.Join(drop(repo, id), checkout.Close())
}

// resume completes what the journal says was begun. ok is false when nothing was, or nothing came of it.
func resume(ctx context.Context, repo *git.Repo, id string) (result effect.LandResult, ok bool, err error) {
	n, ok, err := read(repo, id)
	if err != nil || !ok || n.Done {
		return n.Result, ok && err == nil, err
	}
	git.ClearHead(ctx, repo)
	tip, err := repo.Refs.Lookup(ctx, n.Ref)
	if err != nil {
		return result, false, err
	}
	moved, err := repo.Objects.Contains(ctx, tip, n.Commit)
	if err != nil {
		return result, false, err
	}
	if !moved {
		return result, false, drop(repo, id)
	}
	// When somebody has committed on top since, the tree is theirs.
	if n.Here && tip == n.Commit {
		if err := catchUp(ctx, repo, id, n); err != nil {
			return result, false, err
		}
	}
	return n.Result, true, n.finish(ctx, repo, id)
}

// catchUp brings the checked-out tree after its branch.
func catchUp(ctx context.Context, repo *git.Repo, id string, n entry) error {
	checkout, err := repo.Checkout(ctx, id)
	if err != nil {
		return err
	}
	_, branch, err := repo.Refs.Head(ctx)
	if err == nil && git.BranchRef(branch) == n.Ref {
		if _, err = checkout.Advance(ctx, n.From, n.To); err == nil {
			err = recallModes(repo, n.Result.Files)
		}
	}
	if err != nil {
		return err // the lock stays, so that nobody commits the half of it
	}
	return checkout.Close()
}
