package main

import (
	"crypto/ed25519"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"pawl/internal/need"
	"pawl/internal/sshtest"
	"pawl/kernel/word"
	"pawl/sandbox/sshagent"
)

// keyHolder is a person whose security key approves what a job of theirs asks.
func keyHolder(t *testing.T) (*user, *sshtest.SecurityKey) {
	t.Helper()
	k := sshtest.New(t, "ed25519")
	u := newUser(t).repository()
	if err := os.WriteFile(filepath.Join(u.home, "id.pub"), []byte(k.Line()), 0o600); err != nil {
		t.Fatal(err)
	}
	u.must(0, "config", "set", "approve.key", "~/id.pub")
	if err := os.Remove(filepath.Join(u.home, "id.pub")); err != nil { // what was set is the key, not the file
		t.Fatal(err)
	}
	u.vars = append(u.vars, "SSH_AUTH_SOCK="+sshtest.Serve(t, sshtest.Agent{Agent: agent.NewKeyring(), Key: k}), byProgram+"=job")
	return u, k
}

// waiting is the hash of a plan that waits for approval.
func waiting(u *user) string {
	u.t.Helper()
	u.must(9, "run", "--plan", u.plan(smallPlan))
	return u.status().Approval.Hash
}

// TestApproveByKey: where no terminal shows a person, the touch of their security key is their word, for this question
// and once. The log says so, and whoever reads it can verify the signature.
func TestApproveByKey(t *testing.T) {
	t.Parallel()
	u, k := keyHolder(t)
	hash := waiting(u)
	a := u.must(0, "approve", hash[:12])
	if k.Asked.Load() != 1 || !strings.Contains(a.err, "touch the security key "+k.Fingerprint()) || !strings.Contains(a.err, hash[:12]) {
		t.Errorf("asked %d times: %v", k.Asked.Load(), a)
	}
	if shown := u.must(0, "show"); !strings.Contains(strings.Join(strings.Fields(shown.out), " "), "by ada, with pawl approve HASH signed with the key "+k.Fingerprint()) {
		t.Errorf("%v", shown)
	}
	if log := u.must(0, "audit", "log").out; !strings.Contains(log, "DECISION_SIGNED  user:ada  signed with the key "+k.Fingerprint()+", for the program job") {
		t.Error(log)
	}
	for line := range strings.Lines(u.must(0, "audit", "log", "--json").out) {
		var r struct {
			Payload word.Signed
		}
		if !strings.Contains(line, "DECISION_SIGNED") {
			continue
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		key, err := sshagent.ParseSecurityKey(k.Line())
		if err != nil {
			t.Fatal(err)
		}
		if err := key.Verify(r.Payload.Text, r.Payload.Signature); err != nil || !strings.Contains(r.Payload.Text, hash) {
			t.Errorf("%s %v", line, err)
		}
	}
	u.must(0, "audit", "verify")
}

// TestNobodyTouchesTheKey: what is no touch of this very key for this very question approves nothing, and each says why.
func TestNobodyTouchesTheKey(t *testing.T) {
	t.Parallel()
	u, k := keyHolder(t)
	hash, held := waiting(u), u.vars
	said := func(code int, text string, args ...string) {
		t.Helper()
		if a := u.must(code, args...); !strings.Contains(a.err, text) {
			t.Errorf("pawl %s: want %q, got %v", strings.Join(args, " "), text, a)
		}
	}
	with := func(more ...string) { u.vars = append(held[:len(held):len(held)], more...) }
	with("SSH_AUTH_SOCK=")
	said(10, "SSH_AUTH_SOCK", "approve", hash)
	with("SSH_AUTH_SOCK=" + sshtest.Serve(t, agent.NewKeyring()))
	said(10, "shows no key", "approve", hash)
	with("SSH_AUTH_SOCK=" + sshtest.Serve(t, sshtest.Agent{Agent: agent.NewKeyring(), Key: sshtest.New(t, "ed25519")}))
	said(10, "does not hold the key "+k.Fingerprint(), "approve", hash)
	with(byProgram + "=claude-code")
	said(5, "claude-code is a coding agent", "approve", hash)
	with(byProgram+"=claude-code", "CLAUDECODE=1")
	said(5, "claude-code is a coding agent", "approve", hash, "--yes")
	if n := k.Asked.Load(); n != 0 {
		t.Errorf("the key was asked %d times", n)
	}
	with()
	u.must(9, "approve") // no touch is asked for what nobody was shown
	k.Silent = true
	said(5, "without a touch", "approve", hash)
	k.Silent, k.Touch = false, func() bool { return false }
	said(10, "did not sign", "approve", hash)

	// Whoever does not want to say it after all leaves, and nothing was said.
	waits := make(chan struct{})
	k.Touch = func() bool { <-waits; return true }
	p := u.start("approve", hash)
	for n := k.Asked.Load(); n == k.Asked.Load(); {
		time.Sleep(10 * time.Millisecond)
	}
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if a := p.wait(); a.code != 130 || !strings.Contains(a.err, "touch the security key") {
		t.Errorf("%v", a)
	}
	// What changed while the key was waited for is not what was signed.
	n := k.Asked.Load()
	p = u.start("approve", hash)
	for n == k.Asked.Load() {
		time.Sleep(10 * time.Millisecond)
	}
	u.must(0, "revise", "-m", "not like that")
	close(waits)
	if a := p.wait(); a.code != 4 {
		t.Errorf("%v", a)
	}
	if log := u.must(0, "audit", "log").out; strings.Contains(log, "SIGNED") || strings.Contains(log, "GRANTED") {
		t.Error(log)
	}
}

// TestWhoseKeyApproves: only the person says which key is theirs, and only a key that has to be touched.
func TestWhoseKeyApproves(t *testing.T) {
	t.Parallel()
	u, mine := keyHolder(t)
	hash, held := waiting(u), u.vars
	other := sshtest.New(t, "ecdsa")
	theirs := strings.TrimSpace(other.Line())
	u.vars = append(held[:len(held):len(held)], "SSH_AUTH_SOCK="+sshtest.Serve(t, sshtest.Agent{Agent: agent.NewKeyring(), Key: other}),
		"PAWL_APPROVE_KEY="+theirs)
	u.must(5, "config", "set", "approve.key", theirs)
	u.must(10, "approve", hash)
	u.write(".pawl/config.yaml", "approve:\n  key: "+theirs+"\n")
	if a := u.must(10, "approve", hash); !strings.Contains(a.err, "(approve.key) cannot be used") {
		t.Errorf("%v", a)
	}
	if n := mine.Asked.Load() + other.Asked.Load(); n != 0 {
		t.Errorf("keys were asked %d times", n)
	}
	if err := os.Remove(filepath.Join(u.dir, ".pawl/config.yaml")); err != nil {
		t.Fatal(err)
	}
	u.vars = held[:len(held)-1] // the person
	plain, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		string(ssh.MarshalAuthorizedKey(plain)): "ssh-keygen -t ed25519-sk",
		"id.pub":                                ".pub file",
		filepath.Join(u.home, "none.pub"):       "none.pub",
	} {
		if a := u.must(13, "config", "set", "approve.key", text); !strings.Contains(a.err, want) {
			t.Errorf("%q: want %q, got %v", text, want, a)
		}
	}
	u.must(0, "config", "set", "approve.key", theirs)
	if a := u.must(0, "config", "show"); !strings.Contains(a.out, theirs) {
		t.Errorf("%v", a)
	}
	// A key in a file of the user's own that cannot approve is told when it is to.
	u.must(0, "config", "unset", "approve.key")
	file := filepath.Join(u.home, ".config/pawl/config.yaml")
	if err := os.WriteFile(file, []byte("approve:\n  key: "+string(ssh.MarshalAuthorizedKey(plain))), 0o600); err != nil {
		t.Fatal(err)
	}
	u.vars = held
	if a := u.must(13, "approve", hash); !strings.Contains(a.err, "ssh-keygen -t ed25519-sk") {
		t.Errorf("%v", a)
	}
}

// TestKeySaysWhatAPersonSays: whatever is a person's alone to say, the key says: a plan that no flag covers, a task that
// is moved by hand, work without proof.
func TestKeySaysWhatAPersonSays(t *testing.T) {
	t.Parallel()
	u, k := keyHolder(t)
	u.must(0, "config", "set", "record", "true")
	u.must(9, "run", "--plan", u.plan(strings.Replace(smallPlan, "Say hello", "drop the users table of the production database", 1)))
	hash := u.status().Approval.Hash
	u.must(9, "approve", "--yes") // a touch for whatever waits is no look at it
	u.must(0, "approve", hash)
	if u.read("hello.txt") == "" || k.Asked.Load() != 2 {
		t.Errorf("asked %d times", k.Asked.Load())
	}
	u.must(0, "task", "create", "measure the start-up time")
	u.must(0, "task", "move", "T-002", "--to", "approved")
	if log := u.must(0, "audit", "log", "T-002").out; k.Asked.Load() != 3 || !strings.Contains(log, "DECISION_SIGNED") {
		t.Errorf("asked %d times:\n%s", k.Asked.Load(), log)
	}
	u.must(9, "auto", "make the tests pass, then drop the users table of the production database")
	u.pawl("choose", "silent", u.status().Approval.Hash)
	if log := u.must(0, "audit", "log").out; k.Asked.Load() != 4 || !strings.Contains(log, "RISK_CONFIRMED  user:ada") {
		t.Errorf("asked %d times:\n%s", k.Asked.Load(), log)
	}
	u.must(0, "audit", "verify")
	u.must(0, "replay", "RUN-1")
	u.vars = append(u.vars, "HOME="+t.TempDir()) // in which no key is set
	if a := u.pawl("replay", "RUN-1"); a.code == 0 {
		t.Errorf("decided alike without the key: %v", a)
	}
}

// counting counts who asks an agent for anything.
type counting struct {
	agent.Agent
	asked atomic.Int64
}

func (c *counting) List() ([]*agent.Key, error) { c.asked.Add(1); return c.Agent.List() }

// TestCommandsReachNoAgent: a command behind walls that knows the agent's socket, and can see it, does not reach it.
func TestCommandsReachNoAgent(t *testing.T) {
	t.Parallel()
	need.Program(t, "ssh-keygen") // of one package with ssh-add
	c := &counting{Agent: sshtest.Agent{Agent: agent.NewKeyring(), Key: sshtest.New(t, "ed25519")}}
	socket := sshtest.Serve(t, c)
	u := newUser(t)
	u.write("reach.sh", "test -z \"$SSH_AUTH_SOCK\" && test -S "+socket+" && ! SSH_AUTH_SOCK="+socket+" "+
		need.Program(t, "ssh-add")+" -l\n")
	u.repository()
	outside := exec.Command("sh", filepath.Join(u.dir, "reach.sh"))
	if outside.Env = u.env(); outside.Run() == nil || c.asked.Load() != 1 {
		t.Fatalf("outside of the walls the agent was asked %d times", c.asked.Load())
	}
	u.vars = append(u.vars, "SSH_AUTH_SOCK="+socket)
	u.must(0, "config", "set", "readable", filepath.Dir(socket))
	plan := strings.Replace(smallPlan, "test -f hello.txt", "sh reach.sh", 1)
	u.must(0, "run", "--plan", u.plan(plan), "--yes")
	u.must(0, "run", "--plan", u.plan(strings.Replace(plan, "name: write_file\n        args_hint: {path: hello.txt, content: \"hello\\n\"}",
		"name: run_terminal_cmd\n        args_hint: {command: sh reach.sh}", 1)), "--yes", "--in-place")
	if n := c.asked.Load(); n != 1 {
		t.Errorf("commands asked the agent %d times", n-1)
	}
}
