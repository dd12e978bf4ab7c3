package allow

import (
	"slices"
	"strings"
)

// secretWords mark a variable as a secret wherever they stand in its name.
var secretWords = []string{"TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH", "COOKIE"}

// Secretive reports whether a text holds a word of secretWords.
func Secretive(text string) bool {
	text = strings.ToUpper(text)
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(text, w) })
}

// HasUserinfo reports whether v holds a URL with a user name or a password in it.
func HasUserinfo(v string) bool {
	for {
		_, rest, ok := strings.Cut(v, "://")
		if !ok {
			return false
		}
		end := strings.IndexAny(rest, "/?#,| \t\n")
		if end < 0 {
			end = len(rest)
		}
		if strings.Contains(rest[:end], "@") {
			return true
		}
		v = rest
	}
}
