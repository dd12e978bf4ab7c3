package approver_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh/agent"

	"pawl"
	"pawl/face/approver"
	"pawl/internal/sshtest"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/word"
	"pawl/store/sqlite"
)

// store is a store of its own.
func store(t *testing.T) kernel.Store {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "pawl.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestSignedOnce: a signature counts for the very decision, in the very workspace, and by the very key.
func TestSignedOnce(t *testing.T) {
	k, s := sshtest.New(t, "ed25519"), store(t)
	t.Setenv("SSH_AUTH_SOCK", sshtest.Serve(t, sshtest.Agent{Agent: agent.NewKeyring(), Key: k}))
	var told []error
	vouch, sign := approver.New(t.Context(), k.Line(), "/here", s, func(err error) { told = append(told, err) })
	d := word.Decision{About: "plan", Digest: "0123456789abcdef", Answer: "approve command",
		Subject: audit.Subject{Kind: "approval", ID: "01H"}, Version: 1}
	said, err := sign(t.Context(), d, "job")
	if err != nil || vouch(&d, said) != nil || len(told) != 1 || pawl.CodeOf(told[0]) != pawl.CodeApprovalNeeded {
		t.Fatalf("%+v %v, told %v", said, err, told)
	}
	for name, change := range map[string]func(d *word.Decision, s *word.Signed){
		"another digest":      func(d *word.Decision, _ *word.Signed) { d.Digest = "1" + d.Digest[1:] },
		"another question":    func(d *word.Decision, _ *word.Signed) { d.Subject.ID = "01J" },
		"again":               func(d *word.Decision, _ *word.Signed) { d.Version++ },
		"another answer":      func(d *word.Decision, _ *word.Signed) { d.Answer = "accept" },
		"another reason":      func(d *word.Decision, _ *word.Signed) { d.Note = "x" },
		"another text":        func(_ *word.Decision, s *word.Signed) { s.Text += "\n" },
		"another signature":   func(_ *word.Decision, s *word.Signed) { s.Signature = "x" },
		"another fingerprint": func(_ *word.Decision, s *word.Signed) { s.Fingerprint = "SHA256:x" },
		"another method":      func(_ *word.Decision, s *word.Signed) { s.Method = "terminal" },
	} {
		changed, word := d, *said
		if change(&changed, &word); vouch(&changed, &word) == nil {
			t.Errorf("%s is taken for what was said", name)
		}
	}
	for name, o := range map[string]struct {
		key, folder string
		store       kernel.Store
	}{
		"another folder":    {k.Line(), "/there", s},
		"another workspace": {k.Line(), "/here", store(t)},
		"another key":       {sshtest.New(t, "ed25519").Line(), "/here", s},
	} {
		vouch, _ := approver.New(t.Context(), o.key, o.folder, o.store, nil)
		if err := vouch(&d, said); err == nil {
			t.Errorf("%s takes it for what was said there", name)
		}
	}
}

// TestNoKey: where none is set nobody judges or asks; what cannot be used is told when it is to be.
func TestNoKey(t *testing.T) {
	if vouch, sign := approver.New(t.Context(), "", "/here", nil, nil); vouch != nil || sign != nil {
		t.Error("there is somebody")
	}
	vouch, sign := approver.New(t.Context(), "ssh-ed25519 x", "/here", nil, nil)
	_, err := sign(t.Context(), word.Decision{}, "job")
	if judged := vouch(&word.Decision{}, &word.Signed{}); err == nil || !errors.Is(judged, err) {
		t.Errorf("%v, %v", err, judged)
	}
}

// TestRead: a key is named by its line or by the whole path of its file, and nothing else is read.
func TestRead(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	k := sshtest.New(t, "ecdsa")
	file := filepath.Join(home, "id.pub")
	if err := os.WriteFile(file, []byte(k.Line()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{k.Line(), file, "~/id.pub"} {
		if got, err := approver.Read(name); err != nil || got.Fingerprint() != k.Fingerprint() {
			t.Errorf("%q: %v %v", name, got, err)
		}
	}
	t.Chdir(home)
	large := filepath.Join(home, "large")
	if err := os.WriteFile(large, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "id.pub", "./id.pub", "~id.pub", file + "x", home, large} {
		if got, err := approver.Read(name); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %v %v", name, got, err)
		}
	}
}
