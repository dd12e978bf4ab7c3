package replay

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// hidden stands where a secret was.
const hidden = "[secret]"

// patterns find what looks like a secret wherever it stands. The group, where there is one, is the part to hide.
var patterns = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`),
		regexp.MustCompile(`\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}`),
		regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`),
		regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{20,})`),
		regexp.MustCompile(`\bxox[abeprs]-[A-Za-z0-9-]{10,}`),
		regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`),
		regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`),
		regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{16,})`),
		regexp.MustCompile(`://([^/@\s"'<>]+)@`),
		regexp.MustCompile(`(?i)(?:api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|secret|passwd|password|passphrase|credential)s?["']?\s*(?:=|:=|:)\s*["']?([A-Za-z0-9_~+/=.@!$%^&*-]{8,})`),
	}
})

// minKnown is the length from which a known secret is taken out. A shorter one is a placeholder, or a word of every
// text.
const minKnown = 8

// Redactor returns a function that takes secrets out of a text: the known ones, and what looks like a key, a token, a
// password or a private key. What it returns it leaves as it is.
func Redactor(known ...string) func(string) string {
	return func(text string) string {
		if len(text) < minKnown {
			return text
		}
		for _, k := range known {
			if len(k) >= minKnown {
				text = strings.ReplaceAll(text, k, hidden)
			}
		}
		for _, p := range patterns() {
			text = hide(text, p)
		}
		return text
	}
}

// hide replaces what a pattern finds, or its group.
func hide(text string, p *regexp.Regexp) string {
	found := p.FindAllStringSubmatchIndex(text, -1)
	if found == nil {
		return text
	}
	var b strings.Builder
	end := 0
	for _, m := range found {
		from, to := m[len(m)-2], m[len(m)-1]
		b.WriteString(text[end:from])
		b.WriteString(hidden)
		end = to
	}
	b.WriteString(text[end:])
	return b.String()
}

// redactJSON takes secrets out of the texts of a document, and leaves everything else of it byte for byte. A text that
// is the base64 of a text is looked into.
func redactJSON(raw json.RawMessage, redact func(string) string) (out json.RawMessage, changed bool) {
	var b bytes.Buffer
	rest := []byte(raw)
	for {
		start := bytes.IndexByte(rest, '"')
		if start < 0 {
			break
		}
		end := closing(rest, start)
		if end < 0 {
			break
		}
		var text string
		if json.Unmarshal(rest[start:end], &text) == nil {
			if clean := redactText(text, redact); clean != text {
				quoted, err := encode(clean)
				if err == nil {
					b.Write(rest[:start])
					b.Write(quoted)
					rest, changed = rest[end:], true
					continue
				}
			}
		}
		b.Write(rest[:end])
		rest = rest[end:]
	}
	if !changed {
		return raw, false
	}
	b.Write(rest)
	return b.Bytes(), true
}

// closing returns the place behind the quote that ends the text which begins at start, or -1.
func closing(raw []byte, start int) int {
	for i := start + 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// minPacked is the length from which a text may be a packed one.
const minPacked = 16

func redactText(text string, redact func(string) string) string {
	clean := redact(text)
	if clean != text || len(text) < minPacked || len(text)%4 != 0 {
		return clean
	}
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !utf8.Valid(packed) {
		return text
	}
	if inner := redact(string(packed)); inner != string(packed) {
		return base64.StdEncoding.EncodeToString([]byte(inner))
	}
	return text
}

// secretNames mark variables of the environment whose values are secrets.
var secretNames = []string{"TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"}

// Known returns the secrets of an environment, as os.Environ gives it, by the names of its variables.
func Known(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if len(value) >= minKnown && slices.ContainsFunc(secretNames,
			func(w string) bool { return strings.Contains(strings.ToUpper(name), w) }) {
			out = append(out, value)
		}
	}
	return out
}
