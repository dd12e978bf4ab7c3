// Package notary keeps signed checkpoints of a workspace's audit log outside the workspace, where neither an agent nor
// a restored copy of the store can change them. A checkpoint that was kept makes it evident when the log is cut short
// or rewritten later; whoever can read the key can still rewrite the log's tail since the last one (docs/store.md).
//
// Checkpoints belong to a log by the identity of its store, and are kept apart by where the workspace was when they
// were signed: a workspace that was made anew in the same place has another log, and one that was copied has two that
// go on from one.
package notary

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/store/lockfile"
)

// keep is how many checkpoints of a workspace are kept; the oldest go first.
const keep = 64

// Notary signs for one workspace. It is safe for use by several processes; a checkpoint is a file of its own.
type Notary struct {
	keys      string // folder of the keys, and of the checkpoints by identity and place
	workspace string
	place     string // short for the workspace
	at        func(workspace string) string
	random    io.Reader
	holder    Holder
}

// Holder holds the signing key where its private half cannot be read (sandbox/sshagent).
type Holder interface {
	// Public is the public half. It may ask whoever holds the key.
	Public(ctx context.Context) (ed25519.PublicKey, error)
	// Is reports whether a public key is that of the holder's, without asking anybody.
	Is(public ed25519.PublicKey) bool
	Sign(ctx context.Context, data []byte) ([]byte, error)
}

// Hold has a key sign that is kept elsewhere, instead of the one in the user's state. What that one has signed before
// stays true. It is called before anything else.
func (n *Notary) Hold(h Holder) { n.holder = h }

// hint is the name of the file that says which workspace the checkpoints beside it were signed in.
const hint = "path"

// New returns the notary of a workspace. State is the folder for the user's state ($XDG_STATE_HOME/pawl); it is made
// when the first checkpoint is signed. At returns the identity of the store in a workspace, "" where there is none; it
// is asked only for checkpoints of this log that were signed elsewhere.
func New(state, workspace string, at func(workspace string) string, random io.Reader) *Notary {
	sum := sha256.Sum256([]byte(workspace))
	return &Notary{keys: state, workspace: workspace, place: hex.EncodeToString(sum[:8]), at: at, random: random}
}

// origin is the name of a log in checkpoints.
func origin(id string) string { return "pawl/" + id }

// folder is where the checkpoints are that were signed for a log in this place.
func (n *Notary) folder(identity string) string {
	return filepath.Join(n.keys, "checkpoints", identity, n.place)
}

// Signed reports whether a log of an identity was ever signed with the keys in a directory, in any place.
func Signed(keys, identity string) bool {
	places, _ := os.ReadDir(filepath.Join(keys, "checkpoints", identity)) // where there are none, nothing was signed
	return identity != "" && filepath.IsLocal(identity) && len(places) > 0
}

// old is where checkpoints of this place were kept before logs had an identity, under the name of the place.
func (n *Notary) old() string { return filepath.Join(n.keys, "checkpoints", n.place) }

// Sign signs the present head of the log, keeps the note and returns it.
func (n *Notary) Sign(ctx context.Context, store kernel.Store) ([]byte, error) {
	var head audit.Head
	var id string
	if err := store.Log(ctx, func(l audit.Log) error { head, id = l.Head, l.Identity; return nil }); err != nil {
		return nil, err
	}
	k, err := n.signer(ctx)
	if err != nil {
		return nil, err
	}
	text, err := audit.Checkpoint(head, origin(id), k.Signer)
	if err != nil {
		return nil, err
	}
	dir := n.folder(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "audit.keep", dir).Because(err)
	}
	if err := writeNew(filepath.Join(dir, hint), []byte(n.workspace+"\n")); err != nil {
		return nil, err
	}
	if err := writeNew(filepath.Join(dir, fmt.Sprintf("%020d.note", head.Size)), text); err != nil {
		return nil, err
	}
	prune(dir)
	return text, nil
}

// Verify checks that the log still begins with what the notes said; without notes it takes those that were kept.
func (n *Notary) Verify(ctx context.Context, store kernel.Store, notes ...[]byte) (audit.Report, error) {
	anchors, err := n.Anchors(ctx, store, notes...)
	if err != nil {
		return audit.Report{}, err
	}
	var report audit.Report
	err = store.Log(ctx, func(l audit.Log) (err error) {
		report, err = l.Verify(anchors...)
		return err
	})
	return report, err
}

// Anchors are what notes say of the log: those that are given, or those that were kept. They are read before the log is
// verified: a note that somebody signs meanwhile may be of a longer one.
func (n *Notary) Anchors(ctx context.Context, store kernel.Store, notes ...[]byte) (anchors []audit.Tree, err error) {
	err = store.Log(ctx, func(l audit.Log) (err error) {
		anchors, err = n.anchors(l, notes)
		return err
	})
	return anchors, err
}

// anchors are what notes say of a log: those that are given, or those that were kept.
func (n *Notary) anchors(l audit.Log, notes [][]byte) ([]audit.Tree, error) {
	var names []string
	if len(notes) == 0 {
		names = n.kept(l)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // the oldest go while others sign
		}
		if err != nil {
			return nil, pawl.Fail(pawl.CodeIO, "audit.keep", name).Because(err)
		}
		notes = append(notes, text)
	}
	if len(notes) == 0 {
		return nil, nil
	}
	keys, err := n.verifiers()
	if err != nil {
		return nil, err
	}
	var out []audit.Tree
	for _, text := range notes {
		tree, _, _, err := n.read(l, text, keys)
		if err != nil {
			return nil, err
		}
		out = append(out, tree)
	}
	return out, nil
}

// read verifies a note about a log, and returns the name that it gives the log and the key that signed it, in text.
func (n *Notary) read(l audit.Log, text []byte, keys keys) (tree audit.Tree, name, by string, err error) {
	name = origin(l.Identity)
	if l.Unnamed && bytes.HasPrefix(text, []byte(origin(n.place)+"\n")) {
		name = origin(n.place)
	}
	tree, by, err = keys.open(text, name)
	return tree, name, by, err
}

// kept names the notes that were kept of a log: those that were signed in this place, and those of places where the
// workspace is no longer. A copy of it that is still in its place goes on with a log of its own.
func (n *Notary) kept(l audit.Log) []string {
	names := notesIn(n.folder(l.Identity))
	if l.Unnamed {
		names = append(names, notesIn(n.old())...)
	}
	places, _ := os.ReadDir(filepath.Join(n.keys, "checkpoints", l.Identity)) // where there are none, nothing was kept
	for _, p := range places {
		dir := filepath.Join(n.keys, "checkpoints", l.Identity, p.Name())
		was, err := os.ReadFile(filepath.Join(dir, hint))
		if p.Name() == n.place || err != nil {
			continue
		}
		if n.at(strings.TrimSuffix(string(was), "\n")) != l.Identity {
			names = append(names, notesIn(dir)...)
		}
	}
	return names
}

// Newest finds the checkpoint that was kept last of the log, its size 0 where none is kept, and says when that was. Its
// signature is not looked at.
func (n *Notary) Newest(ctx context.Context, store kernel.Store) (size int64, at time.Time, err error) {
	var names []string
	var head int64
	if err := store.Log(ctx, func(l audit.Log) error {
		if names, head = n.kept(l), l.Head.Size; len(names) == 0 { // a copy goes on from what the original had
			names, _ = filepath.Glob(filepath.Join(n.keys, "checkpoints", l.Identity, "*", "*.note"))
		}
		return nil
	}); err != nil {
		return 0, at, err
	}
	for _, name := range names {
		covers, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(name), ".note"), 10, 64)
		if info, gone := os.Stat(name); err == nil && gone == nil && min(covers, head) > size {
			size, at = min(covers, head), info.ModTime()
		}
	}
	return size, at, nil
}

// Earlier is another log that was kept in the place of a workspace: its last checkpoint.
type Earlier struct {
	Size int64
	Root audit.Hash
	At   time.Time
	// Kept is the file of the checkpoint.
	Kept string
}

// Earlier finds the newest checkpoint of another log that was kept in this place, nil where there is none. Told says
// that it was asked for, and found, before; with tell it is noted that it is told now.
func (n *Notary) Earlier(ctx context.Context, store kernel.Store, tell bool) (found *Earlier, told bool, err error) {
	var l audit.Log
	if err := store.Log(ctx, func(log audit.Log) error { l = log; return nil }); err != nil {
		return nil, false, err
	}
	folders, _ := filepath.Glob(filepath.Join(n.keys, "checkpoints", "*", n.place)) // a folder of the user's own state
	if !l.Unnamed {
		folders = append(folders, n.old())
	}
	name := ""
	for _, dir := range folders {
		notes := notesIn(dir)
		if dir == n.folder(l.Identity) || len(notes) == 0 {
			continue
		}
		last := notes[len(notes)-1]
		info, err := os.Stat(last)
		if err == nil && (found == nil || info.ModTime().After(found.At)) {
			found, name = &Earlier{At: info.ModTime(), Kept: last}, filepath.Base(filepath.Dir(dir))
		}
	}
	if found == nil {
		return nil, false, nil
	}
	text, err := os.ReadFile(found.Kept)
	if err != nil {
		return nil, false, pawl.Fail(pawl.CodeIO, "audit.keep", found.Kept).Because(err)
	}
	keys, err := n.verifiers()
	if err != nil {
		return nil, false, err
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	tree, _, err := keys.open(text, string(first))
	if err != nil {
		return nil, false, nil // not signed with the user's key, and so no word of theirs
	}
	found.Size, found.Root = tree.N, tree.Hash
	mark := filepath.Join(n.folder(l.Identity), "told-"+name)
	if _, err := os.Stat(mark); err == nil || !tell {
		return found, err == nil, nil
	}
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		return nil, false, pawl.Fail(pawl.CodeIO, "audit.keep", mark).Because(err)
	}
	return found, false, writeNew(mark, nil)
}

// Missing is the error for a store that is missing at a path although checkpoints of one were kept in this place, nil
// where none were.
func (n *Notary) Missing(path string) error {
	var at time.Time
	folders, _ := filepath.Glob(filepath.Join(n.keys, "checkpoints", "*", n.place)) // a folder of the user's own state
	for _, dir := range folders {
		for _, name := range notesIn(dir) {
			if info, err := os.Stat(name); err == nil && info.ModTime().After(at) {
				at = info.ModTime()
			}
		}
	}
	if at.IsZero() {
		return nil
	}
	return pawl.Fail(pawl.CodeNotFound, "store.gone", path, at.Format(time.DateTime))
}

// Anchor verifies a note of this workspace's log and returns it in the form that proofs carry, with what it says.
func (n *Notary) Anchor(ctx context.Context, store kernel.Store,
	text []byte) (audit.ProvenCheckpoint, audit.Tree, error) {
	keys, err := n.verifiers()
	if err != nil {
		return audit.ProvenCheckpoint{}, audit.Tree{}, err
	}
	var tree audit.Tree
	var name, by string
	err = store.Log(ctx, func(l audit.Log) error {
		tree, name, by, err = n.read(l, text, keys)
		return err
	})
	return audit.ProvenCheckpoint{Log: name, Note: string(text), Key: by}, tree, err
}

// key is a signing key, or its other half alone, by which everybody can check what it signed.
type key struct {
	note.Signer
	verifier note.Verifier
	public   string
}

// keys are those whose notes are believed.
type keys []key

// open verifies a note that one of the keys signed about a log, and returns which did, in text.
func (ks keys) open(text []byte, origin string) (tree audit.Tree, by string, err error) {
	_, err = audit.VerifyCheckpoint(text, origin) // which says what is wrong where there is no key
	for _, k := range ks {
		if tree, err = audit.VerifyCheckpoint(text, origin, k.verifier); err == nil {
			return tree, k.public, nil
		}
	}
	return tree, "", err
}

// signer is the key that signs now.
func (n *Notary) signer(ctx context.Context) (key, error) {
	if n.holder == nil {
		return n.ownKey()
	}
	public, err := n.holder.Public(ctx)
	if err != nil {
		return key{}, err
	}
	text, err := note.NewEd25519VerifierKey(keyName, public)
	if err != nil {
		return key{}, pawl.Fail(pawl.CodeInvalid, "audit.key", n.keys).Because(err)
	}
	if err := os.MkdirAll(n.keys, 0o700); err != nil {
		return key{}, pawl.Fail(pawl.CodeIO, "audit.keep", n.keys).Because(err)
	}
	if err := writeNew(n.public(public), []byte(text+"\n")); err != nil {
		return key{}, err
	}
	k := key{public: text}
	if k.verifier, err = note.NewVerifier(text); err == nil {
		k.Signer = held{k.verifier, n.holder, ctx}
	}
	return k, err
}

// held has a holder sign a note.
type held struct {
	note.Verifier
	by  Holder
	ctx context.Context
}

func (h held) Sign(msg []byte) ([]byte, error) { return h.by.Sign(h.ctx, msg) }

// keyName is the name of the user's keys in notes.
const keyName = "pawl"

// public is where the public half of a key that is held elsewhere is remembered, to check with while the holder is not
// there.
func (n *Notary) public(of ed25519.PublicKey) string {
	sum := sha256.Sum256(of)
	return filepath.Join(n.keys, "audit-"+hex.EncodeToString(sum[:8])+".pub")
}

// verifiers are the keys whose notes are believed: the one in the user's state and, of those that were remembered, the
// one that the holder says is its own.
func (n *Notary) verifiers() (keys keys, err error) {
	if n.holder != nil {
		names, _ := filepath.Glob(filepath.Join(n.keys, "audit-*.pub"))
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, pawl.Fail(pawl.CodeIO, "audit.keep", name).Because(err)
			}
			k := key{public: strings.TrimSpace(string(text))}
			if k.verifier, err = note.NewVerifier(k.public); err == nil && n.holder.Is(publicHalf(k.public)) {
				keys = append(keys, k)
			}
		}
		if _, err := os.Stat(filepath.Join(n.keys, ownName)); errors.Is(err, os.ErrNotExist) {
			return keys, nil
		}
	}
	own, err := n.ownKey()
	return append(keys, own), err
}

// publicHalf is the key in the text form of a verifier that was found to be one: NAME+HASH+BASE64, whose first byte is
// the algorithm.
func publicHalf(text string) ed25519.PublicKey {
	raw, _ := base64.StdEncoding.DecodeString(strings.SplitN(text, "+", 3)[2])
	return ed25519.PublicKey(raw[1:])
}

// ownName is the file of the key in the user's state.
const ownName = "audit.key"

// ownKey reads the signing key in the user's state, or makes it. The halves are tried on each other: with one that was
// damaged, no checkpoint would be signed from then on that anybody could check, and nobody would hear of it.
func (n *Notary) ownKey() (k key, err error) {
	name := filepath.Join(n.keys, ownName)
	pair, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		if err := n.makeKey(name); err != nil {
			return key{}, err
		}
		pair, err = os.ReadFile(name)
	}
	if err != nil {
		return key{}, pawl.Fail(pawl.CodeIO, "audit.keep", name).Because(err)
	}
	secret, public, _ := strings.Cut(strings.TrimSpace(string(pair)), "\n")
	k.public = public
	k.verifier, err = note.NewVerifier(public)
	if err == nil {
		k.Signer, err = note.NewSigner(secret)
	}
	if err == nil {
		var signed []byte
		if signed, err = k.Sign(pair); err == nil && !k.verifier.Verify(pair, signed) {
			err = errors.New("its halves do not belong together")
		}
	}
	if err != nil {
		return key{}, pawl.Fail(pawl.CodeInvalid, "audit.key", n.keys).Because(err)
	}
	return k, nil
}

// makeKey makes the pair. Both halves are in one file, so that two processes which make one at the same time agree.
func (n *Notary) makeKey(name string) error {
	if err := os.MkdirAll(n.keys, 0o700); err != nil {
		return pawl.Fail(pawl.CodeIO, "audit.keep", n.keys).Because(err)
	}
	secret, public, err := audit.GenerateKey(keyName, n.random)
	if err != nil {
		return err
	}
	return writeNew(name, []byte(secret+"\n"+public+"\n"))
}

// writeNew writes a file completely or not at all, and leaves one that is there already alone.
func writeNew(name string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".new-"+lockfile.Maker()+"-*")
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

// notesIn names the notes in a folder, those of shorter logs first.
func notesIn(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, "*.note")) // the pattern is well formed
	sort.Strings(names)
	return names
}

// prune removes the oldest notes of a folder, and what a process left that ended while it wrote one.
func prune(dir string) {
	halves, _ := filepath.Glob(filepath.Join(dir, ".new-*")) // the pattern is well formed
	for _, half := range halves {
		if lockfile.Left(filepath.Base(half)) {
			_ = os.Remove(half)
		}
	}
	names := notesIn(dir)
	for len(names) > keep {
		// A note that cannot be removed is removed the next time.
		_ = os.Remove(names[0])
		names = names[1:]
	}
}
