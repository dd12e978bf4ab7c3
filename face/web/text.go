package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pawl/face/fault"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/text/display"
	"pawl/text/message"
	"pawl/text/policy"
)

// maxText bounds how much of one text a page holds, in bytes.
const maxText = 256 << 10

// Text renders a message in the language of the page.
func (p *page) Text(key string, args ...any) string { return p.lang.Text(key, args...) }

// reason renders why a result is where it is.
func (p *page) reason(l *view.Landing) string {
	switch {
	case l.Named == "":
		return p.Text(l.Reason)
	case l.Outcome == effect.Kept:
		return p.Text(l.Reason) + ": " + line(l.Named)
	}
	return p.Text(l.Reason, line(l.Named))
}

// word renders a message whose key ends with data, which is shown as it is where it has no text.
func (p *page) word(area, name string) string {
	if name == "" {
		return ""
	}
	if _, ok := p.lang.Format(area + name); !ok {
		return line(name)
	}
	return p.lang.Text(area + name)
}

// line is a text of one line that shows what it holds.
func line(s string) string { return display.Line(s) }

// title is the first line of a text, as long as a row has room for.
func title(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return display.Line(display.Clip(s, 200))
}

// lines are those of a text, each of which shows what it holds; of a very long one the end is kept.
func lines(s string) []string {
	cut := len(s) > maxText
	s = strings.TrimSuffix(display.Tail(s, maxText), "\n")
	out := strings.Split(s, "\n")
	for i := range out {
		out[i] = display.Line(strings.ReplaceAll(strings.TrimSuffix(out[i], "\r"), "\t", "    "))
	}
	if cut {
		out[0] = "…"
	}
	return out
}

// text is a text of several lines.
func text(s string) string { return strings.Join(lines(s), "\n") }

// fault puts a kept error into words.
func (p *page) fault(f *effect.Fault) string {
	if f == nil {
		return ""
	}
	out := p.said(f.Key, f.Args)
	for c := f.Cause; c != nil; c = c.Cause {
		out += p.Text("web.colon") + p.said(c.Key, c.Args)
	}
	return out
}

// note puts a note into words.
func (p *page) note(n view.Note) string { return p.said(n.Key, n.Args) }

// said puts a kept message into words.
func (p *page) said(key string, kept []string) string {
	args := make([]any, len(kept))
	for i := range kept {
		args[i] = kept[i]
	}
	return p.lang.Text(key, fault.Args(p.lang, key, args)...)
}

// reasons are what the policy has against a call.
func (p *page) reasons(v *policy.Verdict) (out []string) {
	for _, r := range v.Reasons {
		if r.Code != policy.CodeAllowed {
			out = append(out, p.said(r.Key, r.Args))
		}
	}
	return out
}

// ago says how long ago something was, in one unit.
func (p *page) ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch d := max(p.now.Sub(t), 0); {
	case d < time.Minute:
		return p.Text("web.ago.seconds", int(d.Seconds()))
	case d < time.Hour:
		return p.Text("web.ago.minutes", int(d.Minutes()))
	case d < 48*time.Hour:
		return p.Text("web.ago.hours", int(d.Hours()))
	default:
		return p.Text("web.ago.days", int(d.Hours()/24))
	}
}

// machineTime is an instant for programs, and clock for people.
func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
func clock(t time.Time) string       { return t.Local().Format("2006-01-02 15:04:05") }

// lasted is a duration with as much of it as matters.
func lasted(d time.Duration) string {
	if d > time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}

// money is an amount of micro-dollars.
func money(micro int64) string {
	if micro > 0 && micro < 10_000 {
		return fmt.Sprintf("$%.4f", float64(micro)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(micro)/1e6)
}

// cost is what was spent, "" where nothing was.
func (p *page) cost(u effect.Usage) string {
	out := ""
	if u.MicroUSD > 0 || u.Unpriced {
		out = money(u.MicroUSD)
		if u.Unpriced {
			out += "+"
		}
	}
	if n := u.InTokens + u.OutTokens; n > 0 {
		out = strings.TrimSpace(out + " " + p.Text("web.tokens", count(n)))
	}
	return out
}

// count is a number in thousands, where it has so many.
func count(n int64) string {
	switch {
	case n >= 10_000_000:
		return strconv.FormatInt(n/1_000_000, 10) + "M"
	case n >= 10_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatInt(n, 10)
}

// short is as much of a hash as is read.
func short(hash string) string { return display.Hash(hash) }

// moment and stamp are an instant in a cookie.
func moment(s string) time.Time {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 0 {
		return time.Unix(n, 0)
	}
	return time.Time{}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.Unix(), 10)
}

// at is a path of ours with its last part taken from data.
func at(path, name string) string { return path + url.PathEscape(name) }

// with is a path with a query.
func with(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// other is the language that a page can be switched to.
func (p *page) other() message.Lang {
	if p.lang == message.Chinese {
		return message.English
	}
	return message.Chinese
}

// either is a text of the machines' tables in the language of the page.
func (p *page) either(en, zh string) string {
	if p.lang == message.Chinese && zh != "" {
		return zh
	}
	return en
}

// problem puts an error into words, in one line.
func (p *page) problem(err error) string { return fault.Of(p.lang, "", err).Message }
