// Package approver is the key by which a person approves where no terminal shows that it is a person: over ssh without
// a terminal, in an editor, in a job (docs/security.md#who-approves). It is a security key, which signs only when
// somebody touches it, over a text that names the one decision.
package approver

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pawl"
	"pawl/face/cli/settings"
	"pawl/face/person"
	"pawl/kernel"
	"pawl/kernel/word"
	"pawl/sandbox/sshagent"
)

// longest is as long as the file of a public key may be.
const longest = 16 << 10

// approver asks for signatures for one workspace and judges them.
type approver struct {
	key              sshagent.SecurityKey
	broken           error
	identity, folder string
	socket           string
	tell             func(error)
}

// Vouch judges a signature over a decision, and Sign has a person give one where a program asks for it.
type (
	Vouch = func(*word.Decision, *word.Signed) error
	Sign  = func(ctx context.Context, d word.Decision, program string) (*word.Signed, error)
)

// New returns who judges and who asks in a workspace, nobody where no key is set. A key that cannot be used, and a
// store that cannot be read, are told once a signature is asked for. Tell hears when the key is to be touched.
func New(ctx context.Context, key, folder string, store kernel.Store, tell func(error)) (Vouch, Sign) {
	if key == "" {
		return nil, nil
	}
	a := &approver{folder: folder, socket: os.Getenv("SSH_AUTH_SOCK"), tell: tell}
	if a.key, a.broken = Read(key); a.broken == nil {
		a.identity, a.broken = kernel.Identity(ctx, store)
	}
	return a.vouch, a.sign
}

// Read reads a key: the one line of a .pub file, or the whole path of such a file, which ~ may begin.
func Read(key string) (sshagent.SecurityKey, error) {
	if strings.ContainsAny(strings.TrimSpace(key), " \t\n") {
		return sshagent.ParseSecurityKey(key)
	}
	path := key
	if rest, ok := strings.CutPrefix(key, "~/"); ok {
		home, _ := os.UserHomeDir() // without one there is no such file
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		return sshagent.SecurityKey{}, pawl.Fail(pawl.CodeInvalid, "key.malformed") // another one in each folder
	}
	raw, err := settings.ReadFile(path, longest)
	if err != nil {
		return sshagent.SecurityKey{}, pawl.Fail(pawl.CodeInvalid, "key.unreadable", key).Because(err)
	}
	return sshagent.ParseSecurityKey(string(raw))
}

// vouch refuses what is no signature by the key over a decision in this workspace. It looks at nothing else.
func (a *approver) vouch(d *word.Decision, said *word.Signed) error {
	if a.broken != nil {
		return a.broken
	}
	here := a.here(*d)
	if said.Text != here.Text() {
		return pawl.Fail(pawl.CodeApprovalStale, "key.other_decision")
	}
	if said.Fingerprint != a.key.Fingerprint() || said.Method != word.MethodKey {
		return pawl.Fail(pawl.CodeDenied, "key.wrong", a.key.Fingerprint())
	}
	return a.key.Verify(said.Text, said.Signature)
}

// here is a decision in this workspace.
func (a *approver) here(d word.Decision) word.Decision {
	d.Workspace, d.Folder = a.identity, a.folder
	return d
}

// sign has a person say a decision by a touch of the key, for which a program asks. It waits for the touch as long as
// the agent may take, or until ctx ends. For a coding agent it asks nobody: a touch says that a person is there, and
// not what that person was told.
func (a *approver) sign(ctx context.Context, d word.Decision, program string) (*word.Signed, error) {
	if person.IsAgent(program) {
		return nil, pawl.Fail(pawl.CodeDenied, "key.by_agent", program)
	}
	if a.broken != nil {
		return nil, a.broken
	}
	here := a.here(d)
	text := here.Text()
	a.tell(pawl.Fail(pawl.CodeApprovalNeeded, "key.touch", a.key.Fingerprint(),
		d.Answer+": "+d.About+" "+kernel.Short(d.Digest), int(sshagent.Patience/time.Second)))
	signature, err := a.key.Sign(ctx, a.socket, settings.ApproveKey, text)
	if err != nil {
		return nil, err
	}
	return &word.Signed{Method: word.MethodKey, Fingerprint: a.key.Fingerprint(), Program: program, Text: text,
		Signature: signature}, nil
}
