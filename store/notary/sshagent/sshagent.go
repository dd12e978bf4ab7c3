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
const patience = time.Minute

// Key is an Ed25519 key in the agent. It is safe for concurrent use.
type Key struct {
	// Socket is the agent's ($SSH_AUTH_SOCK).
	Socket string
	// Fingerprint tells which key, as ssh-add -l prints it: SHA256:….
	Fingerprint string
}

// Public asks the agent for the public half. The error says what to do.
func (k Key) Public(ctx context.Context) (ed25519.PublicKey, error) {
	var public ed25519.PublicKey
	err := k.ask(ctx, func(a agent.ExtendedAgent, held *agent.Key) (err error) {
		public, err = k.half(held)
		return err
	})
	return public, err
}

// Sign asks the agent to sign.
func (k Key) Sign(ctx context.Context, data []byte) ([]byte, error) {
	var out []byte
	err := k.ask(ctx, func(a agent.ExtendedAgent, held *agent.Key) error {
		if _, err := k.half(held); err != nil {
			return err
		}
		signed, err := a.Sign(held, data)
		if err != nil {
			return pawl.Fail(pawl.CodeEnvironment, "audit.agent_refused", k.Fingerprint).Because(err)
		}
		out = signed.Blob
		return nil
	})
	return out, err
}

// half is the public half of a key that the agent holds.
func (k Key) half(held *agent.Key) (ed25519.PublicKey, error) {
	parsed, err := ssh.ParsePublicKey(held.Blob)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "audit.agent_kind", k.Fingerprint, held.Format).Because(err)
	}
	if wrapped, ok := parsed.(ssh.CryptoPublicKey); ok && parsed.Type() == ssh.KeyAlgoED25519 {
		if public, ok := wrapped.CryptoPublicKey().(ed25519.PublicKey); ok {
			return public, nil
		}
	}
	return nil, pawl.Fail(pawl.CodeInvalid, "audit.agent_kind", k.Fingerprint, parsed.Type())
}

// ask finds the key in the agent and has f use it.
func (k Key) ask(ctx context.Context, f func(agent.ExtendedAgent, *agent.Key) error) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if k.Socket == "" {
		return pawl.Fail(pawl.CodeEnvironment, "audit.no_agent", k.Fingerprint)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", k.Socket)
	if err != nil {
		return pawl.Fail(pawl.CodeEnvironment, "audit.no_agent", k.Fingerprint).Because(err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer conn.Close()
	client := agent.NewClient(conn)
	held, err := client.List()
	if err != nil {
		return pawl.Fail(pawl.CodeEnvironment, "audit.no_agent", k.Fingerprint).Because(errors.Join(ctx.Err(), err))
	}
	for _, h := range held {
		if ssh.FingerprintSHA256(h) == k.Fingerprint {
			return f(client, h)
		}
	}
	return pawl.Fail(pawl.CodeEnvironment, "audit.agent_lacks", k.Fingerprint)
}

// Is reports whether a public key is this one.
func (k Key) Is(public ed25519.PublicKey) bool {
	key, err := ssh.NewPublicKey(public)
	return err == nil && ssh.FingerprintSHA256(key) == k.Fingerprint
}
