package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"net/url"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/egress"
)

// mail hands a message to a mail server. Its Message-ID is the same for each attempt.
func (d *Driver) mail(ctx context.Context, c Channel, id string, s *effect.NoticeSpec) error {
	u, rule, err := c.place()
	if err != nil {
		return err
	}
	from, err := mail.ParseAddress(c.From)
	if err != nil {
		return pawl.Fail(pawl.CodeInvalid, "notify.address", c.Name, c.From)
	}
	to, err := mail.ParseAddressList(c.To)
	if err != nil {
		return pawl.Fail(pawl.CodeInvalid, "notify.address", c.Name, c.To)
	}
	password, err := d.secret(ctx, c)
	if err != nil {
		return err
	}
	w := open(ctx, rule)
	defer w.close()
	trust := &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, RootCAs: d.Roots}
	server, err := w.greet(ctx, u, trust)
	if err == nil {
		defer server.Close()
		err = enter(server, u, rule, trust, c.User, password)
	}
	if err != nil {
		return d.mailed(w, err)
	}
	return d.mailed(w, d.letter(server, from, to, id, s))
}

// mailed puts into words why a mail server did not take a message.
func (d *Driver) mailed(w *way, err error) error {
	var said *textproto.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said) && said.Code == 535:
		return pawl.Fail(pawl.CodeLogin, "notify.refused", w.rule.String(), said.Code)
	case errors.As(err, &said) && (said.Code == 552 || said.Code == 554):
		return pawl.Fail(pawl.CodeInvalid, "notify.refused", w.rule.String(), said.Code)
	case errors.As(err, &said):
		return pawl.Fail(pawl.CodeEnvironment, "notify.refused", w.rule.String(), said.Code)
	case pawl.CodeOf(err) != pawl.CodeInternal:
		return err
	}
	return w.unreached(err)
}

// greet connects to a mail server.
func (w *way) greet(ctx context.Context, u *url.URL, trust *tls.Config) (*smtp.Client, error) {
	conn, err := w.dial(ctx, "tcp", w.rule.String())
	if err != nil {
		return nil, err
	}
	if u.Scheme == "smtps" {
		conn = tls.Client(conn, trust)
	}
	server, err := smtp.NewClient(conn, u.Hostname())
	if err != nil {
		_ = conn.Close()
	}
	return server, err
}

// enter makes sure that nobody on the way reads along, and logs in. A server on this machine needs neither.
func enter(server *smtp.Client, u *url.URL, rule egress.Rule, trust *tls.Config, user, password string) error {
	if can, _ := server.Extension("STARTTLS"); can {
		if err := server.StartTLS(trust); err != nil {
			return err
		}
	} else if u.Scheme != "smtps" && !rule.Local() {
		return pawl.Fail(pawl.CodeEnvironment, "notify.no_tls", rule.String())
	}
	if user == "" {
		return nil
	}
	return server.Auth(smtp.PlainAuth("", user, password, u.Hostname()))
}

// letter hands a message over. Until its last line is acknowledged the server has not taken it; whether one did that
// does not answer is not known.
func (d *Driver) letter(server *smtp.Client, from *mail.Address, to []*mail.Address, id string,
	s *effect.NoticeSpec) error {
	if err := server.Mail(from.Address); err != nil {
		return err
	}
	for _, a := range to {
		if err := server.Rcpt(a.Address); err != nil {
			return err
		}
	}
	out, err := server.Data()
	if err != nil {
		return err
	}
	if _, err = out.Write(letterOf(from, to, id, s)); err != nil {
		return err
	}
	if err = out.Close(); err != nil {
		if said := (*textproto.Error)(nil); errors.As(err, &said) {
			return err
		}
		return pawl.Fail(pawl.CodeOutcomeUnknown, "notify.unknown", "smtp").Because(err)
	}
	_ = server.Quit() // it has taken the message
	return nil
}

// text is a message as a letter.
func letterOf(from *mail.Address, to []*mail.Address, id string, s *effect.NoticeSpec) []byte {
	var b bytes.Buffer
	field := func(name, v string) { b.WriteString(name + ": " + v + "\r\n") }
	field("From", from.String())
	for i, a := range to {
		if i == 0 {
			b.WriteString("To: " + a.String())
		} else {
			b.WriteString(",\r\n " + a.String())
		}
	}
	b.WriteString("\r\n")
	field("Subject", mime.QEncoding.Encode("utf-8", s.Title))
	field("Date", s.At.Format(time.RFC1123Z))
	field("Message-ID", "<"+id+"@pawl.invalid>")
	field("Auto-Submitted", "auto-generated")
	field("MIME-Version", "1.0")
	field("Content-Type", "text/plain; charset=utf-8")
	field("Content-Transfer-Encoding", "quoted-printable")
	b.WriteString("\r\n")
	q := quotedprintable.NewWriter(&b)
	_, _ = q.Write([]byte(text(s) + "\r\n")) // a buffer takes everything
	_ = q.Close()
	return b.Bytes()
}
