// Package sshagent signs with a key that an SSH agent holds: OpenSSH's own, that of a desktop's keyring, of a
// password manager. The private half never comes to this process, and whoever reads the user's files does not have it.
package sshagent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"pawl"
)

// Patience is how long the agent may take: it may ask its user, or wait for a touch of a key.
const Patience = time.Minute

// Key is a key in the agent. It is safe for concurrent use.
type Key struct {
	// Socket is the agent's ($SSH_AUTH_SOCK).
	Socket string
	// Fingerprint tells which key, as ssh-add -l prints it: SHA256:….
	Fingerprint string
	// Setting is the one that names the key, for what is told of it.
	Setting string
}

// Public asks the agent for the public half of an Ed25519 key. The error says what to do.
func (k Key) Public(ctx context.Context) (ed25519.PublicKey, error) {
	var public ed25519.PublicKey
	err := k.ask(ctx, func(_ agent.ExtendedAgent, held *agent.Key) (err error) {
		public, err = k.half(held)
		return err
	})
	return public, err
}

// Sign asks the agent to sign with an Ed25519 key.
func (k Key) Sign(ctx context.Context, data []byte) ([]byte, error) {
	signed, err := k.signature(ctx, data, func(held *agent.Key) error { _, err := k.half(held); return err })
	if err != nil {
		return nil, err
	}
	return signed.Blob, nil
}

// signature asks the agent to sign with a key that fits.
func (k Key) signature(ctx context.Context, data []byte, fits func(*agent.Key) error) (*ssh.Signature, error) {
	var out *ssh.Signature
	err := k.ask(ctx, func(a agent.ExtendedAgent, held *agent.Key) error {
		if err := fits(held); err != nil {
			return err
		}
		signed, err := a.Sign(held, data)
		if err != nil {
			return pawl.Fail(pawl.CodeEnvironment, "key.refused", k.Fingerprint).Because(err)
		}
		out = signed
		return nil
	})
	return out, err
}

// half is the public half of an Ed25519 key that the agent holds.
func (k Key) half(held *agent.Key) (ed25519.PublicKey, error) {
	parsed, err := ssh.ParsePublicKey(held.Blob)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "key.not_ed25519", k.Fingerprint, held.Format, k.Setting).Because(err)
	}
	if wrapped, ok := parsed.(ssh.CryptoPublicKey); ok && parsed.Type() == ssh.KeyAlgoED25519 {
		if public, ok := wrapped.CryptoPublicKey().(ed25519.PublicKey); ok {
			return public, nil
		}
	}
	return nil, pawl.Fail(pawl.CodeInvalid, "key.not_ed25519", k.Fingerprint, parsed.Type(), k.Setting)
}

// ask finds the key in the agent and has f use it.
func (k Key) ask(ctx context.Context, f func(agent.ExtendedAgent, *agent.Key) error) error {
	ctx, stop := context.WithTimeout(ctx, Patience)
	defer stop()
	if k.Socket == "" {
		return pawl.Fail(pawl.CodeEnvironment, "key.no_agent", k.Fingerprint, k.Setting)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", k.Socket)
	if err != nil {
		return pawl.Fail(pawl.CodeEnvironment, "key.no_agent", k.Fingerprint, k.Setting).Because(err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer conn.Close()
	client := agent.NewClient(conn)
	held, err := client.List()
	switch {
	case err != nil:
		err = pawl.Fail(pawl.CodeEnvironment, "key.no_agent", k.Fingerprint, k.Setting).Because(err)
	case len(held) == 0: // which a locked one says, too
		err = pawl.Fail(pawl.CodeEnvironment, "key.agent_empty", k.Fingerprint)
	default:
		err = pawl.Fail(pawl.CodeEnvironment, "key.agent_lacks", k.Fingerprint, k.Setting)
	}
	for _, h := range held {
		if ssh.FingerprintSHA256(h) == k.Fingerprint {
			err = f(client, h)
		}
	}
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return pawl.Fail(pawl.CodeTimeout, "key.slow", k.Fingerprint).Because(ctx.Err())
	}
	return pawl.Fail(pawl.CodeCanceled, "key.canceled", k.Fingerprint).Because(ctx.Err())
}

// Is reports whether a public key is this one.
func (k Key) Is(public ed25519.PublicKey) bool {
	key, err := ssh.NewPublicKey(public)
	return err == nil && ssh.FingerprintSHA256(key) == k.Fingerprint
}
