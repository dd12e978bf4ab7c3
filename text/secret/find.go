package secret

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Finding is a secret in a text: bytes From to To of it.
type Finding struct {
	Rule     string
	From, To int
	// Weak says that it may well be none: an example, or a value that only its name makes one. A weak finding is taken
	// out of what is kept, and nobody is asked about it.
	Weak bool
}

// Line is the line of the text that a finding begins in, counted from 1.
func (f Finding) Line(text string) int { return 1 + strings.Count(text[:f.From], "\n") }

// Masked is as much of a secret as may be shown, for people to know it again: the mark, and of a long one how it
// begins.
func (f Finding) Masked(text string) string {
	const shown = 4
	value := text[f.From:f.To]
	if f.Rule == RulePrivateKey || len(value) < 4*shown || !utf8.ValidString(value[:shown]) {
		return Mark(f.Rule)
	}
	return value[:shown] + "…" + Mark(f.Rule)
}

// Mark is what stands in the place of a secret.
func Mark(rule string) string { return marked + rule + "]" }

const marked = "[secret:"

// IsMarked reports whether a text holds the mark of a secret that was taken out of it.
func IsMarked(text string) bool {
	for {
		at := strings.Index(text, marked)
		if at < 0 {
			return false
		}
		text = text[at+len(marked):]
		if name, _, ok := strings.Cut(text[:min(len(text), maxName)], "]"); ok && slices.Contains(names(), name) {
			return true
		}
	}
}

const maxName = 32

// Redactor finds secrets, those that are known among them. The nil Redactor knows none. It never changes, so that it
// may be used by many at once.
type Redactor struct{ known []string }

// minKnown is the length from which a value is looked for. A shorter one is a word of every text.
const minKnown = 8

// New returns a Redactor that knows these values besides the forms, also as they stand in JSON, in addresses and in
// base64. A value of several lines is known by each that is long enough.
func New(known ...string) *Redactor {
	r := &Redactor{}
	for _, v := range known {
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) >= minKnown {
				r.known = append(r.known, spellings(line)...)
			}
		}
	}
	// The longest first, so that nothing is left of one that holds another.
	slices.SortFunc(r.known, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	r.known = slices.Compact(r.known)
	return r
}

// Find lists the secrets of a text in the order in which they stand there. None lies within another.
func (r *Redactor) Find(text string) []Finding {
	if len(text) < minKnown {
		return nil
	}
	var out []Finding
	if r != nil {
		for _, k := range r.known {
			for from := 0; ; {
				at := strings.Index(text[from:], k)
				if at < 0 {
					break
				}
				out = append(out, Finding{Rule: RuleKnown, From: from + at, To: from + at + len(k)})
				from += at + len(k)
			}
		}
	}
	begins := byLead()
	for i := 0; i+minLead <= len(text); i++ {
		with := begins[uint16(text[i])<<8|uint16(text[i+1])]
		if with == nil {
			continue
		}
		if f, ok := formAt(text, i, with); ok {
			out = append(out, f)
			i = max(i, f.To-1)
		}
	}
	return apart(append(out, assigned(text)...))
}

// apart sorts findings and joins those that overlap.
func apart(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int { return a.From - b.From })
	out := all[:0]
	for _, f := range all {
		if n := len(out); n > 0 && f.From < out[n-1].To {
			out[n-1].To, out[n-1].Weak = max(out[n-1].To, f.To), out[n-1].Weak && f.Weak
			continue
		}
		out = append(out, f)
	}
	return out
}

// Text returns a text with marks in the place of its secrets. What it returns it leaves as it is.
func (r *Redactor) Text(text string) string { return marking(text, r.Find(text)) }

// Certain is Text for what somebody works on, such as the source of a program: what is weak stays.
func (r *Redactor) Certain(text string) string {
	return marking(text, slices.DeleteFunc(r.Find(text), func(f Finding) bool { return f.Weak }))
}

func marking(text string, found []Finding) string {
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, f := range found {
		b.WriteString(text[end:f.From])
		b.WriteString(Mark(f.Rule))
		end = f.To
	}
	b.WriteString(text[end:])
	return b.String()
}

// entropy is Shannon's, in bits a byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// pretended reports whether a value says that it stands for one.
func pretended(value string) bool {
	value = strings.ToLower(value)
	return slices.ContainsFunc(pretences, func(w string) bool { return strings.Contains(value, w) })
}

var pretences = []string{"example", "changeme", "change_me", "change-me", "your_", "your-", "placeholder", "redacted",
	"dummy", "fake", "sample", "xxxx", "****", "...", "notreal", "not-a-", "invalid"}
