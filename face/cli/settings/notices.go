package settings

import (
	"cmp"
	"maps"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/notices"
)

// Notice is a channel by which the user is told what waits for them. A project sets none: a repository that somebody
// else wrote must not have messages sent anywhere.
type Notice struct {
	Kind, URL, Secret, User, From, To string
	// Rules say what is told, in the form of notices.ParseRule; none are the usual ones.
	Rules []string
}

// check refuses an address that its channel could not use. A file that is only read keeps one, so that a mistake in it
// stops no command; what sends messages refuses it then.
func (n Notice) check(channel, field string) (err error) {
	switch {
	case (field == "url" || field == "kind") && n.URL != "" && !n.reachable():
		return pawl.Fail(pawl.CodeInvalid, "notify.url", channel, n.URL)
	case field == "from" && n.From != "":
		_, err = mail.ParseAddress(n.From)
	case field == "to" && n.To != "":
		_, err = mail.ParseAddressList(n.To)
	}
	if err != nil {
		err = pawl.Fail(pawl.CodeInvalid, "notify.address", channel, cmp.Or(map[string]string{"to": n.To}[field], n.From))
	}
	return err
}

// reachable reports whether the URL has the form that the kind takes; without a kind, that some kind takes.
func (n Notice) reachable() bool {
	u, err := url.Parse(n.URL)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return false
	}
	ip, _ := netip.ParseAddr(u.Hostname())
	switch u.Scheme {
	case "smtp", "smtps":
		return n.Kind == "" || n.Kind == notices.Email
	case "http":
		return n.Kind != notices.Email && (u.Hostname() == "localhost" || ip.IsLoopback())
	}
	return u.Scheme == "https" && n.Kind != notices.Email
}

const noticePrefix = "notices."

// noticeSection reports whether a name is one of the levels above the settings of channels.
func noticeSection(name string) bool {
	parts := strings.Split(name, ".")
	return name == "notices" || len(parts) == 2 && strings.HasPrefix(name, noticePrefix) && validServer(parts[1])
}

// noticeSetting returns a setting of one channel, such as notices.phone.url.
func noticeSetting(name string) (Setting, bool) {
	parts := strings.Split(name, ".")
	if len(parts) != 3 || !strings.HasPrefix(name, noticePrefix) || !validServer(parts[1]) {
		return Setting{}, false
	}
	channel := parts[1]
	out := Setting{Name: name, project: never}
	keep := func(c *Config, change func(*Notice)) {
		all := maps.Clone(c.Notices)
		if all == nil {
			all = map[string]Notice{}
		}
		n := all[channel]
		change(&n)
		all[channel] = n
		c.Notices = all
	}
	if parts[2] == "rules" {
		out.List = true
		out.get = func(c *Config) []string { return c.Notices[channel].Rules }
		out.set = func(c *Config, v []string) error {
			for _, text := range v {
				if _, err := notices.ParseRule(text); err != nil {
					return err
				}
			}
			keep(c, func(n *Notice) { n.Rules = v })
			return nil
		}
		return out, true
	}
	at, ok := map[string]func(*Notice) *string{
		"kind": func(n *Notice) *string { return &n.Kind }, "url": func(n *Notice) *string { return &n.URL },
		"secret": func(n *Notice) *string { return &n.Secret }, "user": func(n *Notice) *string { return &n.User },
		"from": func(n *Notice) *string { return &n.From }, "to": func(n *Notice) *string { return &n.To },
	}[parts[2]]
	if !ok {
		return Setting{}, false
	}
	if parts[2] == "kind" {
		out.values = notices.Kinds()
	}
	out.get = func(c *Config) []string { n := c.Notices[channel]; return []string{*at(&n)} }
	out.set = func(c *Config, v []string) error {
		text := strings.TrimSpace(v[0])
		if parts[2] == "kind" && !slices.Contains(out.values, text) {
			return badValue(text, strings.Join(out.values, ", "))
		}
		keep(c, func(n *Notice) { *at(n) = text })
		return nil
	}
	return out, true
}

// quietSettings are those of what is not told, or later. A project may have less told, and no more.
func quietSettings() []Setting {
	return []Setting{
		{Name: "quiet.topics", List: true, adds: true, project: always, values: topics(),
			get: func(c *Config) []string { return c.Quiet },
			set: func(c *Config, v []string) error {
				for _, t := range v {
					if !slices.Contains(topics(), t) {
						return badValue(t, strings.Join(topics(), ", "))
					}
				}
				c.Quiet = v
				return nil
			}},
		longer("quiet.looking"),
	}
}

func topics() (out []string) {
	for _, t := range notices.Topics() {
		out = append(out, string(t))
	}
	return out
}

// longer is how long a person who looks is not told: a project may only have it be longer.
func longer(name string) Setting {
	s := span(name, func(c *Config) *time.Duration { return &c.Looking })
	s.project = func(old, v []string) bool {
		var was, is time.Duration
		return parseSpan(old[0], &was) == nil && parseSpan(v[0], &is) == nil && is >= was
	}
	return s
}
