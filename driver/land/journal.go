package land

import (
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
	Here   bool              `json:"here"` // the checked-out tree goes with it
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
		err = disk.Mkdir(repo.State(""), filepath.Dir(path), 0o700)
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

// resume completes what the journal says was begun. ok is false when nothing was, or nothing came of it.
func resume(ctx context.Context, repo *git.Repo, id string) (result effect.LandResult, ok bool, err error) {
	path, err := file(repo, id)
	if err != nil {
		return result, false, err
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return result, false, nil
	}
	var n entry
	if err == nil {
		err = json.Unmarshal(raw, &n)
	}
	if err != nil {
		return result, false, pawl.Fail(pawl.CodeIO, "land.journal", path).Because(err)
	}
	if n.Done {
		return n.Result, true, nil
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
