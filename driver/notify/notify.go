// Package notify sends messages to people: to the desktop over D-Bus, to a webhook that is signed as Standard Webhooks
// says, to Slack, to ntfy and by e-mail. A message carries what was committed and the id of its row, by which receivers
// that can tell it from a repetition do. Whatever goes over a network goes through an egress proxy that lets one place
// pass, the channel's own; redirects are not followed.
package notify

import (
	"context"
	"crypto/x509"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/kernel/notices"
	"pawl/sandbox/egress"
	"pawl/sandbox/keyring"
)

// limit bounds one attempt, and maxReply what is read of an answer.
const (
	limit    = 30 * time.Second
	maxReply = 16 << 10
)

// Channel is a way to a person.
type Channel struct {
	Name, Kind string
	// URL is where it is: http(s)://… of a webhook, https://HOST/TOPIC of ntfy, smtp(s)://HOST:PORT of a mail server;
	// of Slack it may be left out.
	URL string
	// Secret is the entry of the keyring, SERVICE/ACCOUNT: the key of a webhook's signatures, the address of a Slack
	// webhook, a token for ntfy, the password of User at the mail server.
	Secret         string
	User, From, To string
}

// traits say of each kind whether its receivers tell repetitions from new messages, and whether a message can be taken
// back.
var traits = map[string]struct{ Repeatable, Withdraws bool }{
	notices.Desktop: {false, true}, notices.Webhook: {true, false}, notices.Slack: {false, false},
	notices.Ntfy: {true, true}, notices.Email: {true, false},
}

// Repeatable reports whether the receiver tells repetitions from new messages by their id, Withdraws whether a message
// can be taken back.
func (c Channel) Repeatable() bool { return traits[c.Kind].Repeatable }
func (c Channel) Withdraws() bool  { return traits[c.Kind].Withdraws }

// Driver sends messages. It is safe for concurrent use.
type Driver struct {
	Channels map[string]Channel
	// Secret reads an entry of the keyring; nil means keyring.Read.
	Secret func(ctx context.Context, entry string) (string, error)
	// Getenv is the environment in which the session bus is found; nil means that of this process.
	Getenv func(string) string
	Now    func() time.Time
	// Roots are the certificates that mail servers are trusted by; nil means those of the machine.
	Roots *x509.CertPool
}

// Sent is what came of a message. After says how long the receiver wants to be left alone.
type Sent struct {
	effect.Receipt
	After time.Duration
}

// slow asks to be left alone for a while.
type slow struct {
	error
	after time.Duration
}

func (s slow) Unwrap() error { return s.error }

// Do sends a message once. A failure of CodeOutcomeUnknown says that nobody knows whether it arrived, one of
// CodeInvalid that it never will.
func (d *Driver) Do(ctx context.Context, e effect.Effect) Sent {
	return d.attempt(ctx, e, func(ctx context.Context, c Channel, s *effect.NoticeSpec) (effect.NoticeResult, error) {
		switch c.Kind {
		case notices.Desktop:
			return d.show(ctx, s)
		case notices.Email:
			return effect.NoticeResult{}, d.mail(ctx, c, e.ID, s)
		}
		return d.post(ctx, c, e.ID, s)
	})
}

// Withdraw takes a message back by what its receiver calls it. Doing it twice is the same as doing it once.
func (d *Driver) Withdraw(ctx context.Context, e effect.Effect, handle string) effect.Receipt {
	return d.attempt(ctx, e, func(ctx context.Context, c Channel, _ *effect.NoticeSpec) (effect.NoticeResult, error) {
		var err error
		switch c.Kind {
		case notices.Desktop:
			err = d.close(ctx, handle)
		case notices.Ntfy:
			err = d.remove(ctx, c, handle)
		}
		return effect.NoticeResult{}, err
	}).Receipt
}

// attempt does something with a message once.
func (d *Driver) attempt(ctx context.Context, e effect.Effect,
	do func(context.Context, Channel, *effect.NoticeSpec) (effect.NoticeResult, error)) (out Sent) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := d.Now()
	spec, err := effect.Decode[effect.NoticeSpec](e.Spec)
	result := effect.NoticeResult{}
	if err == nil {
		c, ok := d.Channels[spec.Channel]
		if err = pawl.Fail(pawl.CodeNotFound, "notify.no_channel", spec.Channel); ok {
			result, err = do(ctx, c, &spec)
		}
	}
	out.Receipt = effect.Outcome(result, err)
	if s, ok := err.(slow); ok {
		out.After = s.after
	}
	out.Start, out.End = start, d.Now()
	return out
}

// secret reads the channel's secret.
func (d *Driver) secret(ctx context.Context, c Channel) (string, error) {
	if c.Secret == "" {
		return "", nil
	}
	if d.Secret != nil {
		return d.Secret(ctx, c.Secret)
	}
	return keyring.Read(ctx, c.Secret)
}

func (d *Driver) getenv(name string) string {
	if d.Getenv != nil {
		return d.Getenv(name)
	}
	return os.Getenv(name)
}

// usualSlack is where Slack's webhooks are.
const usualSlack = "https://hooks.slack.com"

// place is the one place that a channel may reach. Its host may be in a private network, as the user's own settings
// name it.
func (c Channel) place() (*url.URL, egress.Rule, error) {
	text := c.URL
	if text == "" && c.Kind == notices.Slack {
		text = usualSlack
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil, egress.Rule{}, pawl.Fail(pawl.CodeInvalid, "notify.url", c.Name, text)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "smtp": "587", "smtps": "465"}[u.Scheme]
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	rule, err := egress.ParseRule(host + ":" + port)
	rule.Private = true
	return u, rule, err
}

// Check says what is wrong with the settings of a channel, nil where nothing is.
func (c Channel) Check() error {
	if _, ok := traits[c.Kind]; !ok {
		return pawl.Fail(pawl.CodeInvalid, "notify.kind", c.Name, c.Kind, strings.Join(notices.Kinds(), ", "))
	}
	if c.Kind == notices.Desktop {
		return nil
	}
	u, rule, err := c.place()
	if err != nil {
		return err
	}
	schemes := []string{"https", "http"}
	if c.Kind == notices.Email {
		schemes = []string{"smtps", "smtp"}
	}
	plain := u.Scheme == "http" && !rule.Local()
	if !slices.Contains(schemes, u.Scheme) || plain || u.User != nil {
		return pawl.Fail(pawl.CodeInvalid, "notify.url", c.Name, c.URL)
	}
	missing := ""
	switch {
	case (c.Kind == notices.Webhook || c.Kind == notices.Slack) && c.Secret == "", c.User != "" && c.Secret == "":
		missing = "secret"
	case c.Kind == notices.Email && c.From == "":
		missing = "from"
	case c.Kind == notices.Email && c.To == "":
		missing = "to"
	case c.Kind == notices.Ntfy && strings.Trim(u.Path, "/") == "":
		missing = "url"
	}
	if missing != "" {
		return pawl.Fail(pawl.CodeInvalid, "notify.missing", c.Name, missing)
	}
	return nil
}

// text is all of a message but its title.
func text(s *effect.NoticeSpec) string {
	parts := []string{s.Body, s.Link, s.Command}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n\n")
}
