package shell

import "strings"

// Quote writes a word so that a POSIX shell takes it as it is. A word in which nothing is special to a shell stays
// without quotes, for the sake of whoever reads the command.
func Quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// QuoteAll is the command line by which a shell calls a program, the first word, with exactly these words.
func QuoteAll(words []string) string {
	out := make([]string, len(words))
	for n, w := range words {
		out[n] = Quote(w)
		if n == 0 && out[n] == w && strings.Contains(w, "=") {
			out[n] = "'" + w + "'" // without quotes the shell would take it as an assignment
		}
	}
	return strings.Join(out, " ")
}
