package sshagent_test

import (
	"context"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"pawl"
	"pawl/internal/need"
	"pawl/internal/sshtest"
	"pawl/sandbox/sshagent"
)

// held is a security key in an agent, and the agent's socket.
func held(t *testing.T, kind string) (*sshtest.SecurityKey, sshagent.SecurityKey, string) {
	t.Helper()
	k := sshtest.New(t, kind)
	s, err := sshagent.ParseSecurityKey(k.Line())
	if err != nil || s.Fingerprint() != k.Fingerprint() || s.String() != strings.TrimSpace(k.Line()) {
		t.Fatalf("%s %v", s, err)
	}
	return k, s, sshtest.Serve(t, sshtest.Agent{Agent: agent.NewKeyring(), Key: k})
}

// TestSecurityKey: a signature counts for the text, the key and the purpose that it was given for, and only where
// somebody touched the key.
func TestSecurityKey(t *testing.T) {
	const text = "pawl decision 1\nanswer: \"approve\"\n"
	for _, kind := range []string{"ed25519", "ecdsa"} {
		t.Run(kind, func(t *testing.T) {
			k, s, socket := held(t, kind)
			signed, err := s.Sign(t.Context(), socket, "approve.key", text)
			if err != nil || s.Verify(text, signed) != nil {
				t.Fatalf("%s %v", signed, err)
			}
			verified(t, k, text, signed)
			_, other, _ := held(t, kind)
			if err := other.Verify(text, signed); pawl.CodeOf(err) != pawl.CodeDenied {
				t.Errorf("another key: %v", err)
			}
			if err := s.Verify(text+"x", signed); pawl.CodeOf(err) != pawl.CodeDenied {
				t.Errorf("another text: %v", err)
			}
			block, _ := pem.Decode([]byte(signed))
			for i := range block.Bytes {
				changed := *block
				changed.Bytes = append([]byte{}, block.Bytes...)
				changed.Bytes[i] ^= 1
				if err := s.Verify(text, string(pem.EncodeToMemory(&changed))); pawl.CodeOf(err) != pawl.CodeDenied {
					t.Errorf("byte %d changed: %v", i, err)
				}
				changed.Bytes = block.Bytes[:i]
				if err := s.Verify(text, string(pem.EncodeToMemory(&changed))); pawl.CodeOf(err) != pawl.CodeDenied {
					t.Errorf("cut to %d bytes: %v", i, err)
				}
			}
			for _, broken := range []string{"", "x", signed + signed, strings.ReplaceAll(signed, "SSH", "PGP")} {
				if err := s.Verify(text, broken); pawl.CodeOf(err) != pawl.CodeDenied {
					t.Errorf("%q: %v", broken, err)
				}
			}
			k.Silent = true
			_, err = s.Sign(t.Context(), socket, "approve.key", text)
			failed(t, "without a touch", err, "key.untouched")
		})
	}
}

// verified has OpenSSH verify a signature: whoever reads a record later needs nothing of pawl's.
func verified(t *testing.T, k *sshtest.SecurityKey, text, signed string) {
	t.Helper()
	keygen, dir := need.Program(t, "ssh-keygen"), t.TempDir()
	for name, content := range map[string]string{"signers": "ada " + k.Line(), "signature": signed} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		text string
		good bool
	}{{text, true}, {text + "x", false}} {
		cmd := exec.Command(keygen, "-Y", "verify", "-n", sshagent.Namespace, "-I", "ada", "-f", filepath.Join(dir, "signers"),
			"-s", filepath.Join(dir, "signature"))
		cmd.Stdin = strings.NewReader(c.text)
		if out, err := cmd.CombinedOutput(); (err == nil) != c.good {
			t.Errorf("%q: %v\n%s", c.text, err, out)
		}
	}
}

// failed holds an error to its key.
func failed(t *testing.T, what string, err error, key string) {
	t.Helper()
	if e, ok := err.(*pawl.Error); !ok || e.Key != key {
		t.Errorf("%s: %v, want %s", what, err, key)
	}
}

// TestNoSignature: each thing that can be wrong is told for itself.
func TestNoSignature(t *testing.T) {
	k, s, socket := held(t, "ed25519")
	sign := func(ctx context.Context, socket string) error {
		_, err := s.Sign(ctx, socket, "approve.key", "text")
		return err
	}
	failed(t, "no agent", sign(t.Context(), ""), "key.no_agent")
	failed(t, "nobody there", sign(t.Context(), socket+"x"), "key.no_agent")
	failed(t, "a locked agent", sign(t.Context(), sshtest.Serve(t, agent.NewKeyring())), "key.agent_empty")
	lacks := sshtest.Serve(t, sshtest.Agent{Agent: agent.NewKeyring(), Key: sshtest.New(t, "ed25519")})
	failed(t, "another key", sign(t.Context(), lacks), "key.agent_lacks")
	k.Touch = func() bool { return false }
	failed(t, "refused", sign(t.Context(), socket), "key.refused")

	waits := make(chan struct{})
	defer close(waits)
	k.Touch = func() bool { <-waits; return false }
	slow, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	failed(t, "no touch", sign(slow, socket), "key.slow")
	left, leave := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, leave)
	err := sign(left, socket)
	failed(t, "interrupted", err, "key.canceled")
	if !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Error(err)
	}
}

// TestParseSecurityKey: what proves nobody's presence is refused with what to do about it.
func TestParseSecurityKey(t *testing.T) {
	_, plain, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	line := string(ssh.MarshalAuthorizedKey(plain))
	_, err = sshagent.ParseSecurityKey(line)
	failed(t, "an ordinary key", err, "key.no_presence")
	good := sshtest.New(t, "ecdsa").Line()
	for what, c := range map[string]struct{ text, key string }{
		"nothing": {"", "key.malformed"}, "words": {"my key", "key.malformed"}, "two": {good + good, "key.several"},
		"half": {good[:len(good)/2], "key.malformed"},
	} {
		_, err := sshagent.ParseSecurityKey(c.text)
		failed(t, what, err, c.key)
	}
	if _, err := sshagent.ParseSecurityKey("# mine\n" + strings.TrimSpace(good) + " ada@desk\n\n"); err != nil {
		t.Error(err)
	}
}
