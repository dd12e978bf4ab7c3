package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// secretive are words in a name that say that its value is secret.
var secretive = []string{"secret", "password", "passwd", "passphrase", "token", "apikey", "api_key", "api-key",
	"access_key", "access-key", "accesskey", "private_key", "private-key", "privatekey", "credential", "auth_key",
	"encryption_key", "signing_key", "client_key"}

// Named reports whether a name says that its value is secret.
func Named(name string) bool {
	if len(name) < len("token") {
		return false
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc(secretive, func(w string) bool { return strings.Contains(name, w) })
}

// assigned finds values that stand behind a name which says that they are secret, and that look random.
func assigned(text string) (out []Finding) {
	for i := 0; i < len(text); i++ {
		if text[i] != '=' && text[i] != ':' || !Named(label(text, i)) {
			continue
		}
		if from, to := valueAt(text, i+1); drawn(text[from:to]) {
			value := text[from:to]
			weak := len(value) < 16 || entropy(value) < 3.3 || rote(value)
			out = append(out, Finding{RuleAssigned, from, to, weak})
			i = to - 1
		}
	}
	return out
}

// label is the name before an equals sign or a colon.
func label(text string, end int) string {
	for end > 0 && strings.IndexByte(" \t\"'`:", text[end-1]) >= 0 {
		end--
	}
	from := end
	for from > max(0, end-maxLabel) && (inWord(text[from-1]) || text[from-1] == '-' || text[from-1] == '.') {
		from--
	}
	return text[from:end]
}

const (
	maxLabel = 64 // bytes of a name
	maxValue = 512
)

// valueAt is the value behind an equals sign or a colon: what stands in quotes, or up to the next blank.
func valueAt(text string, from int) (int, int) {
	end := min(len(text), from+maxValue)
	for from < end && strings.IndexByte("=> \t", text[from]) >= 0 {
		from++
	}
	if from < end && strings.IndexByte("\"'`", text[from]) >= 0 {
		quote := text[from]
		from++
		if n := strings.IndexByte(text[from:end], quote); n >= 0 {
			return from, from + n
		}
		return from, from
	}
	to := from + run(text[:end], from, assignable)
	if to < end && strings.IndexByte("([{", text[to]) >= 0 || code(text[from:to]) {
		return from, from
	}
	return from, to
}

// code reports whether a word without quotes is a name of a program's rather than a value.
func code(word string) bool {
	return strings.Contains(word, ".") && strings.Trim(word, dotted) == "" && strings.Contains(lower+upper, word[:1]) &&
		strings.Count(word, ".") < len(word)/4
}

// rote reports whether a value is what people type who need one.
func rote(value string) bool {
	value = strings.ToLower(value)
	return slices.ContainsFunc([]string{"0123456789", "1234567890", "abcdef", "000000", "test", "deadbeef", "qwert"},
		func(w string) bool { return strings.Contains(value, w) })
}

const assignable = dotted + "~+/=@!$%^&*"

// drawn reports whether a value that stands behind a secretive name may be one: of letters and digits, and neither
// words, a path, a call nor another name.
func drawn(value string) bool {
	if len(value) < minKnown || strings.ContainsAny(value, " \t(){}<>[]|;,") ||
		strings.ContainsAny(value[:1], "$./%") || !strings.ContainsAny(value, digits) ||
		!strings.ContainsAny(value, lower+upper) || pretended(value) {
		return false
	}
	return strings.Count(value, "/") <= 2 && !strings.Contains(value, "://") && entropy(value) >= 2.5
}

// Values are the secrets of a file that holds them, such as .env: what stands behind a secretive name, what looks
// random, passwords of addresses, and all that has a known form.
func Values(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok {
			name, value, ok = strings.Cut(strings.TrimSpace(line), ":")
		}
		if !ok { // .netrc has them in words
			fields := strings.Fields(line)
			if at := slices.Index(fields, "password"); at >= 0 && at+1 < len(fields) {
				name, value, ok = "password", fields[at+1], true
			}
		}
		value = strings.Trim(strings.TrimSpace(value), "\"'`,")
		name = strings.ToLower(strings.Trim(name, " \t\"'`"))
		telling := Named(name) || strings.HasSuffix(name, "key") || strings.HasSuffix(name, "pass") ||
			strings.HasSuffix(name, "pwd") || strings.HasSuffix(name, "auth")
		if ok && len(value) >= minKnown && !slices.Contains(usualPasswords, value) && (telling && !pretended(value) ||
			len(value) >= 16 && drawn(value)) {
			out = append(out, value)
		}
	}
	for _, f := range (*Redactor)(nil).Find(text) {
		out = append(out, text[f.From:f.To])
	}
	return out
}

// Known returns the secrets of an environment, as os.Environ gives it, by the names of its variables.
func Known(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if upper := strings.ToUpper(name); len(value) >= minKnown && (Named(name) || strings.Contains(upper, "KEY")) {
			out = append(out, value)
		}
	}
	return out
}

// spellings are the ways in which a value stands in texts.
func spellings(value string) []string {
	out := []string{value, base64.StdEncoding.EncodeToString([]byte(value))}
	if quoted, err := json.Marshal(value); err == nil {
		out = append(out, strings.Trim(string(quoted), `"`))
	}
	return append(out, url.QueryEscape(value), url.PathEscape(value))
}
