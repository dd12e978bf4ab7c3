package sshagent_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"pawl"
	"pawl/internal/sshtest"
	"pawl/sandbox/sshagent"
)

// generated is an ordinary key.
func generated() (ed25519.PrivateKey, ssh.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	key, err := ssh.NewPublicKey(public)
	return private, key, err
}

// fingerprint is that of a public key, as ssh-add -l prints it.
func fingerprint(t *testing.T, public any) string {
	t.Helper()
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return ssh.FingerprintSHA256(key)
}

func TestKey(t *testing.T) {
	ring := agent.NewKeyring()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []any{other, private} {
		if err := ring.Add(agent.AddedKey{PrivateKey: secret}); err != nil {
			t.Fatal(err)
		}
	}
	k := sshagent.Key{Socket: sshtest.Serve(t, ring), Fingerprint: fingerprint(t, public)}
	got, err := k.Public(t.Context())
	if err != nil || !got.Equal(public) || !k.Is(got) {
		t.Fatalf("%x %v", got, err)
	}
	signed, err := k.Sign(t.Context(), []byte("said"))
	if err != nil || !ed25519.Verify(public, []byte("said"), signed) {
		t.Fatalf("%x %v", signed, err)
	}
	for what, c := range map[string]struct {
		key  sshagent.Key
		code pawl.Code
	}{
		"no agent":     {sshagent.Key{Fingerprint: k.Fingerprint}, pawl.CodeEnvironment},
		"nobody there": {sshagent.Key{Socket: k.Socket + "x", Fingerprint: k.Fingerprint}, pawl.CodeEnvironment},
		"another key":  {sshagent.Key{Socket: k.Socket, Fingerprint: "SHA256:x"}, pawl.CodeEnvironment},
		"another kind": {sshagent.Key{Socket: k.Socket, Fingerprint: fingerprint(t, &other.PublicKey)}, pawl.CodeInvalid},
	} {
		if _, err := c.key.Sign(t.Context(), nil); pawl.CodeOf(err) != c.code {
			t.Errorf("%s: %v", what, err)
		}
		if c.key.Is(public) != (c.key.Fingerprint == k.Fingerprint) {
			t.Errorf("%s: it is taken for the key", what)
		}
	}
	if err := ring.Lock([]byte("word")); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Sign(t.Context(), nil); pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Errorf("locked: %v", err)
	}
}
