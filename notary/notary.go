// Package notary keeps signed checkpoints of a workspace's audit log outside the workspace, where neither an agent nor a
// restored copy of the store can change them. A checkpoint that was kept makes it evident when the log is cut short or
// rewritten later; whoever can read the key can still rewrite the log's tail since the last one (docs/store.md).
package notary

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"pawl"
	"pawl/audit"
	"pawl/kernel"
)

// keep is how many checkpoints of a workspace are kept; the oldest go first.
const keep = 64

// Notary signs for one workspace. It is safe for use by several processes; a checkpoint is a file of its own.
type Notary struct {
	dir    string // of this workspace's checkpoints
	keys   string // folder of the keys
	origin string
	random io.Reader
}

// New returns the notary of a workspace. State is the folder for the user's state ($XDG_STATE_HOME/pawl); it is made when
// the first checkpoint is signed.
func New(state, workspace string, random io.Reader) *Notary {
	sum := sha256.Sum256([]byte(workspace))
	id := hex.EncodeToString(sum[:8])
	return &Notary{dir: filepath.Join(state, "checkpoints", id), keys: state, origin: "pawl/" + id, random: random}
}

// Sign signs the present head of the log, keeps the note and returns it.
func (n *Notary) Sign(ctx context.Context, store kernel.Store) ([]byte, error) {
	head, err := store.Head(ctx)
	if err != nil {
		return nil, err
	}
	secret, _, err := n.key()
	if err != nil {
		return nil, err
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "audit.key", n.keys).Because(err)
	}
	text, err := audit.Checkpoint(head, n.origin, signer)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "audit.keep", n.dir).Because(err)
	}
	name := filepath.Join(n.dir, fmt.Sprintf("%020d.note", head.Size))
	if err := writeNew(name, text); err != nil {
		return nil, err
	}
	n.prune()
	return text, nil
}

// Verify checks that the log still begins with what the notes said; without notes it takes those that were kept.
func (n *Notary) Verify(ctx context.Context, store kernel.Store, notes ...[]byte) (audit.Report, error) {
	anchors, err := n.anchors(notes)
	if err != nil {
		return audit.Report{}, err
	}
	// The notes come first: one that is written meanwhile may be of a longer log than the one that is read.
	var report audit.Report
	err = store.Log(ctx, func(l audit.Log) error {
		report, err = l.Verify(anchors...)
		return err
	})
	return report, err
}

func (n *Notary) anchors(notes [][]byte) ([]audit.Tree, error) {
	if len(notes) == 0 {
		for _, name := range n.kept() {
			text, err := os.ReadFile(name)
			if errors.Is(err, os.ErrNotExist) {
				continue // the oldest go while others sign
			}
			if err != nil {
				return nil, pawl.Fail(pawl.CodeIO, "audit.keep", name).Because(err)
			}
			notes = append(notes, text)
		}
	}
	if len(notes) == 0 {
		return nil, nil
	}
	_, public, err := n.key()
	if err != nil {
		return nil, err
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "audit.key", n.keys).Because(err)
	}
	var out []audit.Tree
	for _, text := range notes {
		tree, err := audit.VerifyCheckpoint(text, n.origin, verifier)
		if err != nil {
			return nil, err
		}
		out = append(out, tree)
	}
	return out, nil
}

// Anchor verifies a note of this workspace's log and returns it in the form that proofs carry, with what it says.
func (n *Notary) Anchor(text []byte) (audit.ProvenCheckpoint, audit.Tree, error) {
	trees, err := n.anchors([][]byte{text})
	if err != nil {
		return audit.ProvenCheckpoint{}, audit.Tree{}, err
	}
	_, public, err := n.key()
	return audit.ProvenCheckpoint{Log: n.origin, Note: string(text), Key: public}, trees[0], err
}

// key reads the user's signing key, or makes it.
func (n *Notary) key() (secret, public string, err error) {
	name := filepath.Join(n.keys, "audit.key")
	pair, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		if err := n.makeKey(name); err != nil {
			return "", "", err
		}
		pair, err = os.ReadFile(name)
	}
	if err != nil {
		return "", "", pawl.Fail(pawl.CodeIO, "audit.keep", name).Because(err)
	}
	secret, public, _ = strings.Cut(strings.TrimSpace(string(pair)), "\n")
	return secret, public, nil
}

// makeKey makes the pair. Both halves are in one file, so that two processes which make one at the same time agree.
func (n *Notary) makeKey(name string) error {
	if err := os.MkdirAll(n.keys, 0o700); err != nil {
		return pawl.Fail(pawl.CodeIO, "audit.keep", n.keys).Because(err)
	}
	secret, public, err := audit.GenerateKey("pawl", n.random)
	if err != nil {
		return err
	}
	return writeNew(name, []byte(secret+"\n"+public+"\n"))
}

// writeNew writes a file completely or not at all, and leaves one that is there already alone.
func writeNew(name string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "audit.keep", name).Because(err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Link(tmp.Name(), name)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return pawl.Fail(pawl.CodeIO, "audit.keep", name).Because(err)
	}
	return nil
}

func (n *Notary) kept() []string {
	names, _ := filepath.Glob(filepath.Join(n.dir, "*.note")) // the pattern is well formed
	sort.Strings(names)
	return names
}

func (n *Notary) prune() {
	names := n.kept()
	for len(names) > keep {
		// A note that cannot be removed is removed the next time.
		_ = os.Remove(names[0])
		names = names[1:]
	}
}
