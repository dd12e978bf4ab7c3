package notify

import (
	"io"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/noticetest"
	"pawl/kernel/notices"
)

// mailing is a driver for a mail server, with a password.
func mailing(m *noticetest.Mail, scheme, password string) *Driver {
	d := driver(Channel{Kind: notices.Email, URL: scheme + "://" + m.At, From: "pawl <p@x.example>",
		To: "a@x.example, b@x.example", User: "ada"}, password)
	d.Roots = m.Roots
	return d
}

// TestMailServer: a server that a library plays takes a message that is whole, encrypted and from who may send it.
func TestMailServer(t *testing.T) {
	for scheme, implicit := range map[string]bool{"smtp": false, "smtps": true} {
		t.Run(scheme, func(t *testing.T) {
			m := noticetest.NewMail(t, implicit, "ada", "hunter2")
			for range 2 {
				if sent := mailing(m, scheme, "hunter2").Do(t.Context(), message()); !sent.OK {
					t.Fatal(sent.Err())
				}
			}
			for _, l := range m.Letters() {
				got, err := mail.ReadMessage(strings.NewReader(l.Text))
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(quotedprintable.NewReader(got.Body))
				if err != nil || l.From != "p@x.example" || len(l.To) != 2 || l.User != "ada" || !l.Encrypted ||
					got.Header.Get("Message-Id") != "<01HZX@pawl.invalid>" ||
					!strings.HasPrefix(string(text), "First\r\n.\r\nthird <!channel>") {
					t.Errorf("%+v %v\n%s", l, err, text)
				}
			}
			if n := len(m.Letters()); n != 2 {
				t.Errorf("%d letters", n)
			}
			// Who cannot log in is told so, and a server that is not trusted learns no password.
			if sent := mailing(m, scheme, "wrong").Do(t.Context(), message()); sent.Code != pawl.CodeLogin ||
				strings.Contains(sent.Detail, "wrong") {
				t.Errorf("%+v", sent.Receipt)
			}
			tried := m.Tried()
			stranger := mailing(m, scheme, "hunter2")
			stranger.Roots = nil
			if sent := stranger.Do(t.Context(), message()); sent.OK || sent.Code != pawl.CodeEnvironment || m.Tried() != tried {
				t.Errorf("%+v, %d logins", sent.Receipt, m.Tried()-tried)
			}
			// Taken and not acknowledged is not known.
			m.Cut = true
			if sent := mailing(m, scheme, "hunter2").Do(t.Context(), message()); sent.Code != pawl.CodeOutcomeUnknown {
				t.Errorf("%+v", sent.Receipt)
			}
			if n := len(m.Letters()); n != 3 {
				t.Errorf("%d letters", n)
			}
		})
	}
}
