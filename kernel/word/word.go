// Package word is a person's word where no terminal shows that it is one: the text in which a decision is signed by a
// key of theirs, and what is recorded of it. Whether a signature holds is for whoever knows the key.
package word

import (
	"fmt"
	"strings"

	"pawl/kernel/audit"
)

// Decision is the statement that a person signs to approve something. It is an error that wraps Refused, so that a
// face can ask for the signature; its text is that of Refused, because no text for people shows the statement.
type Decision struct {
	// Refused says why the command failed without the signature.
	Refused error
	// Workspace is the identity of the store, and Folder where the workspace is.
	Workspace, Folder string
	// About, Digest and Answer say what is decided, by the hash of what was shown, and how. Note is what the person
	// adds, "" for nothing.
	About, Digest, Answer, Note string
	// Subject is the question, or the task, and Version that of its row: what was said of it once says nothing of it
	// again.
	Subject audit.Subject
	Version int64
}

// Text is what is signed. It names all of the decision, and nothing in it can pass for another line of it.
func (d *Decision) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "pawl decision 1\nworkspace: %q in %q\nabout: %q\ndigest: %q\nanswer: %q\n", d.Workspace, d.Folder,
		d.About, d.Digest, d.Answer)
	if d.Note != "" {
		fmt.Fprintf(&b, "note: %q\n", d.Note)
	}
	fmt.Fprintf(&b, "of: %q at version %d\n", d.Subject, d.Version)
	return b.String()
}

// Error implements error.
func (d *Decision) Error() string { return d.Refused.Error() }

// Unwrap returns Refused.
func (d *Decision) Unwrap() error { return d.Refused }

// Signed is the word of a person by a key of theirs, as it is recorded. Its names are kept in audit logs, so they are
// append-only.
type Signed struct {
	// Method is how it was given: MethodKey.
	Method string `json:"method"`
	// Fingerprint is that of the key, as ssh-add -l prints it, and Program the one that asked for the signature.
	Fingerprint string `json:"fingerprint"`
	Program     string `json:"program"`
	// Text was signed, and Signature is the signature as `ssh-keygen -Y verify` reads it.
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

// MethodKey is the method of a word by a security key.
const MethodKey = "key"
