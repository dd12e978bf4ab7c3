// Package sshtest plays SSH agents and the security keys in them.
package sshtest

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/big"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// Serve has an agent listen until the test ends, and returns its socket.
func Serve(t testing.TB, a agent.Agent) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "agent")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			go func() { defer conn.Close(); _ = agent.ServeAgent(a, conn) }()
		}
	}()
	return socket
}

// Agent is an agent with a security key beside whatever else it holds.
type Agent struct {
	agent.Agent
	Key *SecurityKey
}

// List implements agent.Agent.
func (a Agent) List() ([]*agent.Key, error) {
	held, err := a.Agent.List()
	return append(held, &agent.Key{Format: a.Key.Public.Type(), Blob: a.Key.Public.Marshal()}), err
}

// Sign implements agent.Agent.
func (a Agent) Sign(key ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	if ssh.FingerprintSHA256(key) != ssh.FingerprintSHA256(a.Key.Public) {
		return a.Agent.Sign(key, data)
	}
	return a.Key.sign(data)
}

// SecurityKey is a key in hardware, as OpenSSH's PROTOCOL.u2f has it.
type SecurityKey struct {
	Public ssh.PublicKey
	// Touch is what happens when a touch is waited for: false is that nobody touches the key, with which it signs
	// nothing. Nil is a touch at once.
	Touch func() bool
	// Silent has it sign without a touch, and say so.
	Silent bool
	// Asked is how many signatures were asked for.
	Asked atomic.Int64

	private func(message []byte) []byte
}

// application is what keys for SSH are made for.
const application = "ssh:"

// New makes a security key of a kind: "ed25519" or "ecdsa".
func New(t testing.TB, kind string) *SecurityKey {
	t.Helper()
	var blob []byte
	k := &SecurityKey{}
	switch kind {
	case "ed25519":
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		blob = ssh.Marshal(struct {
			Kind        string
			Key         []byte
			Application string
		}{ssh.KeyAlgoSKED25519, public, application})
		k.private = func(message []byte) []byte { return ed25519.Sign(private, message) }
	case "ecdsa":
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		point, err := private.PublicKey.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		blob = ssh.Marshal(struct {
			Kind, Curve string
			Key         []byte
			Application string
		}{ssh.KeyAlgoSKECDSA256, "nistp256", point, application})
		k.private = func(message []byte) []byte {
			sum := sha256.Sum256(message)
			r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
			if err != nil {
				panic(err)
			}
			return ssh.Marshal(struct{ R, S *big.Int }{r, s})
		}
	}
	public, err := ssh.ParsePublicKey(blob)
	if err != nil {
		t.Fatal(err)
	}
	k.Public = public
	return k
}

// Line is the key as its .pub file has it.
func (k *SecurityKey) Line() string { return string(ssh.MarshalAuthorizedKey(k.Public)) }

// Fingerprint is that of the key, as ssh-add -l prints it.
func (k *SecurityKey) Fingerprint() string { return ssh.FingerprintSHA256(k.Public) }

// sign signs what the key's hardware would sign of some data: sha256(application), flags, counter, sha256(data).
func (k *SecurityKey) sign(data []byte) (*ssh.Signature, error) {
	counter := k.Asked.Add(1)
	said := byte(1)
	if k.Silent {
		said = 0
	} else if k.Touch != nil && !k.Touch() {
		return nil, errors.New("nobody touched the key")
	}
	flags := binary.BigEndian.AppendUint32([]byte{said}, uint32(counter))
	app, sum := sha256.Sum256([]byte(application)), sha256.Sum256(data)
	message := append(append(app[:], flags...), sum[:]...)
	return &ssh.Signature{Format: k.Public.Type(), Blob: k.private(message), Rest: flags}, nil
}
