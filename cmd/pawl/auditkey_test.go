package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// TestAuditKey: checkpoints are signed by the key in the SSH agent that the user's settings name. Without the agent
// nothing is signed and that is said; what it has signed is verified all the same, and by no other key.
func TestAuditKey(t *testing.T) {
	t.Parallel()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	ring, socket := agent.NewKeyring(), filepath.Join(t.TempDir(), "agent")
	if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			go func() { defer conn.Close(); _ = agent.ServeAgent(ring, conn) }()
		}
	}()

	u := newUser(t).repository()
	plain := u.vars
	u.vars = append(plain[:len(plain):len(plain)], byProgram+"=claude-code", "PAWL_AUDIT_KEY=x")
	u.must(5, "config", "set", "audit.key", ssh.FingerprintSHA256(public))
	u.must(5, "config", "unset", "audit.key")
	if a := u.must(0, "config", "show", "--json"); strings.Contains(a.out, "PAWL_AUDIT_KEY") {
		t.Errorf("a variable names the key: %v", a)
	}
	u.vars = plain
	for _, text := range []string{"x", "SHA256:", "SHA256:AAAA", strings.TrimPrefix(ssh.FingerprintSHA256(public), "SHA256:")} {
		u.must(13, "config", "set", "audit.key", text)
	}
	u.must(0, "config", "set", "audit.key", ssh.FingerprintSHA256(public))
	u.vars = append(plain[:len(plain):len(plain)], "SSH_AUTH_SOCK="+socket)
	u.must(0, "init")
	run := u.must(0, "run", "--plan", u.plan(smallPlan), "--yes")
	if strings.Contains(run.err, "agent") {
		t.Errorf("%v", run)
	}
	u.must(0, "audit", "checkpoint", u.beside("head.note"))
	if _, err := os.Stat(filepath.Join(u.home, ".local/state/pawl/audit.key")); err == nil {
		t.Error("a key was written to the user's state")
	}
	u.vars = append(plain[:len(plain):len(plain)], "SSH_AUTH_SOCK=")
	u.must(0, "audit", "verify", "--checkpoint", u.beside("head.note"))
	if a := u.must(0, "audit", "verify"); strings.Contains(a.out, "newest checkpoint kept outside: 0") || a.err != "" {
		t.Errorf("%v", a)
	}
	if a := u.pawl("audit", "checkpoint"); a.code == 0 || !strings.Contains(a.err, "SSH_AUTH_SOCK") {
		t.Errorf("signed without the agent: %v", a)
	}
	if a := u.must(0, "run", "--plan", u.plan(strings.Replace(smallPlan, "hello.txt", "more.txt", 1)), "--yes"); !strings.Contains(a.err, "no SSH agent") {
		t.Errorf("nothing was said of the checkpoint: %v", a)
	}
	u.vars = plain
	u.must(0, "config", "unset", "audit.key")
	if a := u.pawl("audit", "verify", "--checkpoint", u.beside("head.note")); a.code != 11 {
		t.Errorf("believed although no setting names the key: %v", a)
	}
}
