package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"pawl"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/query"
	"pawl/store/disk"
	"pawl/store/lockfile"
)

// Tokens are those by which programs use the API of a workspace. They are in the user's own state, never in the
// project, by the store's identity, so that a token is good for this workspace wherever it is moved to. What is kept of
// a token is its digest. It is safe for concurrent use, by several processes as well.
type Tokens struct {
	dir string
	log query.Log
	now func() time.Time
}

// NewTokens returns the tokens of a workspace below the folder of the user's state.
func NewTokens(state string, k *kernel.Kernel) *Tokens {
	return &Tokens{dir: filepath.Join(state, "serve"), log: query.Of(k).Log(), now: k.Now}
}

// kept is a token as it is kept.
type kept struct {
	host.Token
	// Digest is the SHA-256 of the token, in hexadecimal digits.
	Digest string `json:"digest"`
	// Person is the user who gave it, in whose name it decides where it may approve.
	Person pawl.Actor `json:"person"`
}

// maxTokens bounds how many tokens a workspace has.
const maxTokens = 100

// name matches the names of tokens: they stand in records.
var name = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$`) })

func (t *Tokens) file(ctx context.Context) (string, error) {
	id := ""
	err := t.log.At(ctx, func(l audit.Log) error { id = l.Identity; return nil })
	return filepath.Join(t.dir, id+".json"), err
}

// read reads the tokens that there are. What does not belong to the user alone is refused.
func (t *Tokens) read(file string) (out []kept, err error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "serve.tokens_unreadable", file).Because(err)
	}
	return out, nil
}

// change changes the tokens under a lock.
func (t *Tokens) change(ctx context.Context, f func([]kept) ([]kept, error)) error {
	file, err := t.file(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", t.dir).Because(err)
	}
	lock, err := lockfile.Wait(ctx, file+".lock", lockfile.Patience{All: 10 * time.Second})
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }()
	all, err := t.read(file)
	if err == nil {
		all, err = f(all)
	}
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = disk.WriteFile(file, append(raw, '\n'))
	}
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", file).Because(err)
	}
	return nil
}

// New makes a token, which is told this once.
func (t *Tokens) New(ctx context.Context, of host.Token, person pawl.Actor) (token string, err error) {
	if !name().MatchString(of.Name) {
		return "", pawl.Fail(pawl.CodeInvalid, "serve.token_name", of.Name)
	}
	token = "pawl_" + rand.Text()
	of.Made = t.now()
	return token, t.change(ctx, func(all []kept) ([]kept, error) {
		switch {
		case slices.ContainsFunc(all, func(k kept) bool { return k.Name == of.Name }):
			return nil, pawl.Fail(pawl.CodeConflict, "serve.token_taken", of.Name)
		case len(all) >= maxTokens:
			return nil, pawl.Fail(pawl.CodeConflict, "serve.token_many", maxTokens)
		}
		return append(all, kept{Token: of, Digest: digest(token), Person: person}), nil
	})
}

// List returns the tokens that there are, the oldest first.
func (t *Tokens) List(ctx context.Context) ([]host.Token, error) {
	file, err := t.file(ctx)
	if err != nil {
		return nil, err
	}
	all, err := t.read(file)
	out := []host.Token{}
	for _, k := range all {
		out = append(out, k.Token)
	}
	slices.SortStableFunc(out, func(a, b host.Token) int { return a.Made.Compare(b.Made) })
	return out, err
}

// Revoke takes a token back. It is good for nothing from then on.
func (t *Tokens) Revoke(ctx context.Context, name string) error {
	return t.change(ctx, func(all []kept) ([]kept, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(k kept) bool { return k.Name == name })
		if len(left) == len(all) {
			return nil, pawl.Fail(pawl.CodeNotFound, "serve.token_unknown", name)
		}
		return left, nil
	})
}

// known finds the token that is shown, nil where there is none like it. It takes the same time for every other one.
func (t *Tokens) known(ctx context.Context, token string) *kept {
	file, err := t.file(ctx)
	if err != nil || token == "" {
		return nil
	}
	all, err := t.read(file)
	if err != nil {
		return nil
	}
	sum := digest(token)
	for i := range all {
		if subtle.ConstantTimeCompare([]byte(all[i].Digest), []byte(sum)) == 1 {
			return &all[i]
		}
	}
	return nil
}

func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
