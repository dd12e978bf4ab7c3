// Package noticetest receives messages for tests as others do: a mail server that is a library's, a webhook whose
// signatures another library verifies, and a session bus on which python-dbusmock plays the desktop.
package noticetest

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/godbus/dbus/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"pawl/internal/need"
)

// Letter is what a mail server took.
type Letter struct {
	From, User, Text string
	To               []string
	// Encrypted says that nobody on the way could read it.
	Encrypted bool
}

// Mail is a mail server. It lets in one user, where that is named, and takes letters from nobody else then.
type Mail struct {
	// At is its address, and Roots trust its certificate.
	At    string
	Roots *x509.CertPool
	user  string
	pass  string

	mu      sync.Mutex
	letters []Letter
	// tried counts how often somebody tried to log in.
	tried int
	// Cut has the next letters be taken, and the connection cut before that is acknowledged.
	Cut bool
}

// NewMail starts a mail server, which is encrypted from the first byte on, or when it is asked with STARTTLS.
func NewMail(t testing.TB, implicit bool, user, pass string) *Mail {
	t.Helper()
	secure := httptest.NewUnstartedServer(nil) // for its certificate
	secure.StartTLS()
	t.Cleanup(secure.Close)
	m := &Mail{user: user, pass: pass, Roots: x509.NewCertPool()}
	m.Roots.AddCert(secure.Certificate())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.At = l.Addr().String()
	s := smtp.NewServer(m)
	s.Domain, s.ErrorLog = "127.0.0.1", quiet{}
	config := &tls.Config{Certificates: secure.TLS.Certificates, MinVersion: tls.VersionTLS12}
	if s.TLSConfig = config; implicit {
		l = tls.NewListener(l, config)
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(l) }() // it ends by being closed
	t.Cleanup(func() { _ = s.Close(); <-served })
	return m
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// Letters are those that were taken.
func (m *Mail) Letters() []Letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Letter(nil), m.letters...)
}

// Messages counts those that were taken, each once by its Message-ID, as whoever reads mail sees them.
func (m *Mail) Messages() int {
	ids := map[string]bool{}
	for _, l := range m.Letters() {
		if got, err := mail.ReadMessage(strings.NewReader(l.Text)); err == nil {
			ids[got.Header.Get("Message-Id")] = true
		}
	}
	return len(ids)
}

// Tried counts how often somebody tried to log in.
func (m *Mail) Tried() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tried
}

// NewSession implements smtp.Backend.
func (m *Mail) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &visit{of: m, at: c}, nil
}

// visit is one connection.
type visit struct {
	of     *Mail
	at     *smtp.Conn
	user   string
	letter Letter
}

func (v *visit) AuthMechanisms() []string { return []string{sasl.Plain} }

func (v *visit) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, pass string) error {
		v.of.mu.Lock()
		defer v.of.mu.Unlock()
		if v.of.tried++; user != v.of.user || pass != v.of.pass {
			return smtp.ErrAuthFailed
		}
		v.user = user
		return nil
	}), nil
}

func (v *visit) Mail(from string, _ *smtp.MailOptions) error {
	if v.user != v.of.user {
		return smtp.ErrAuthRequired
	}
	_, encrypted := v.at.TLSConnectionState()
	v.letter = Letter{From: from, User: v.user, Encrypted: encrypted}
	return nil
}

func (v *visit) Rcpt(to string, _ *smtp.RcptOptions) error {
	v.letter.To = append(v.letter.To, to)
	return nil
}

func (v *visit) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	v.letter.Text = string(text)
	v.of.mu.Lock()
	defer v.of.mu.Unlock()
	v.of.letters = append(v.of.letters, v.letter)
	if v.of.Cut {
		return errors.Join(v.at.Conn().Close(), io.ErrClosedPipe)
	}
	return nil
}

func (v *visit) Reset()        {}
func (v *visit) Logout() error { return nil }

// Hook is a receiver of a webhook. It takes what another library says is signed with its key.
type Hook struct {
	*httptest.Server
	check *standardwebhooks.Webhook

	mu  sync.Mutex
	ids map[string]int
}

// NewHook starts a receiver.
func NewHook(t testing.TB, key string) *Hook {
	t.Helper()
	check, err := standardwebhooks.NewWebhook(key)
	if err != nil {
		t.Fatal(err)
	}
	h := &Hook{check: check, ids: map[string]int{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = h.check.Verify(body, r.Header)
		}
		if err != nil {
			t.Errorf("a webhook is not signed as it should be: %v", err)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ids[r.Header.Get("webhook-id")]++
	}))
	t.Cleanup(h.Close)
	return h
}

// Messages counts those that came, each once by its id, as a receiver does that knows the standard.
func (h *Hook) Messages() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ids)
}

// Bus starts a session bus of the test's own with a desktop, which is called at object.
func Bus(t testing.TB, name, path string) (address string, object dbus.BusObject) {
	t.Helper()
	daemon := exec.Command(need.Program(t, "dbus-daemon"), "--session", "--nofork", "--print-address",
		"--address=unix:dir="+t.TempDir())
	out, err := daemon.StdoutPipe()
	if err == nil {
		err = daemon.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(line)
	desktop := exec.Command(need.Python(t, "dbusmock"), "-m", "dbusmock", "--template", "notification_daemon")
	desktop.Env = append(desktop.Environ(), "DBUS_SESSION_BUS_ADDRESS="+address)
	if err := desktop.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = desktop.Process.Kill(); _ = desktop.Wait() })
	c, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	object = c.Object(name, dbus.ObjectPath(path))
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var can []string
		if err = object.Call(name+".GetCapabilities", 0).Store(&can); err == nil {
			return address, object
		}
		if time.Now().After(until) {
			t.Fatalf("python-dbusmock does not answer (make setup installs it): %v", err)
		}
	}
}

// Shown counts the messages that a desktop has shown.
func Shown(t testing.TB, object dbus.BusObject) (shown int) {
	t.Helper()
	var calls []struct {
		Time int64
		Name string
		Args []dbus.Variant
	}
	if err := object.Call("org.freedesktop.DBus.Mock.GetCalls", 0).Store(&calls); err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		if c.Name == "Notify" {
			shown++
		}
	}
	return shown
}
