package audit

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"pawl"
)

// Tree is a log's size and root: what a checkpoint says.
type Tree = tlog.Tree

// Tree returns the head without its frontier.
func (h Head) Tree() Tree { return Tree{N: h.Size, Hash: h.Root} }

// GenerateKey makes an Ed25519 key pair for checkpoints in the text forms of x/mod/sumdb/note. The name identifies the
// key's owner and must hold neither spaces nor a plus sign. Randomness is an argument because this package has no
// source of its own; the caller keeps the signer key secret (mode 0600, outside the workspace).
func GenerateKey(name string, random io.Reader) (signer, verifier string, err error) {
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsSpace) ||
		strings.Contains(name, "+") {
		return "", "", pawl.Fail(pawl.CodeInvalid, "audit.key", name).In("audit.key")
	}
	signer, verifier, err = note.GenerateKey(random, name)
	if err != nil {
		return "", "", pawl.Fail(pawl.CodeInvalid, "audit.key", name).In("audit.key").Because(err)
	}
	return signer, verifier, nil
}

// Checkpoint signs the statement that the log named origin had this size and root, as a C2SP tlog-checkpoint: origin,
// size and root on lines of their own, then the signature of a signed note. Kept where the workspace cannot be written
// from, it is what makes truncating or rewriting older records evident.
func Checkpoint(head Head, origin string, signer note.Signer) ([]byte, error) {
	if origin == "" || strings.ContainsAny(origin, "\r\n") {
		return nil, pawl.Fail(pawl.CodeInvalid, "audit.origin", origin).In("audit.checkpoint")
	}
	if !head.Valid() {
		return nil, pawl.Fail(pawl.CodeAuditBroken, "audit.head", head.Size).In("audit.checkpoint")
	}
	head = head.Append()
	text := make([]byte, 0, len(origin)+80)
	text = append(text, origin...)
	text = append(text, '\n')
	// tlog's own tree note is a fixed first line, then the two lines that a checkpoint shares with it.
	_, rest, _ := bytes.Cut(tlog.FormatTree(head.Tree()), []byte("\n"))
	text = append(text, rest...)
	out, err := note.Sign(&note.Note{Text: string(text)}, signer)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "audit.sign", origin).In("audit.checkpoint").Because(err)
	}
	return out, nil
}

// VerifyCheckpoint checks that one of the verifiers signed the checkpoint and that it is about the log named origin,
// and returns what it says. Whether a log still fits it is for Verify to find out.
func VerifyCheckpoint(checkpoint []byte, origin string, verifiers ...note.Verifier) (Tree, error) {
	n, err := note.Open(checkpoint, note.VerifierList(verifiers...))
	if err != nil {
		return Tree{}, pawl.Fail(pawl.CodeAuditBroken, "audit.signature", origin).In("audit.checkpoint").Because(err)
	}
	first, rest, _ := bytes.Cut([]byte(n.Text), []byte("\n"))
	if string(first) != origin {
		return Tree{}, pawl.Fail(pawl.CodeAuditBroken, "audit.otherlog", string(first), origin).In("audit.checkpoint")
	}
	tree, err := tlog.ParseTree(append([]byte(treeLine), rest...))
	if err != nil {
		return Tree{}, pawl.Fail(pawl.CodeAuditBroken, "audit.signature", origin).In("audit.checkpoint").Because(err)
	}
	return tree, nil
}

// treeLine is the fixed first line of tlog's tree notes.
const treeLine = "go.sum database tree\n"
