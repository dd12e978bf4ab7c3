package pawl

import "strings"

// maxWord is the length above which nothing is suggested for a word, in bytes: no name is as long.
const maxWord = 256

// Suggest returns the candidate that a misspelt word most probably means, for the hint of an error, or "" when none is
// near enough to be worth suggesting: one edit for up to three letters, two for up to eight, and three for longer
// words. Case does not count.
func Suggest(word string, candidates []string) string {
	if len(word) > maxWord {
		return ""
	}
	best, limit := "", 2 // less than the number of edits of a suggestion that is not worth making
	if len(word) > 3 {
		limit = 3 + min(1, len(word)/9)
	}
	lower := strings.ToLower(word)
	for _, c := range candidates {
		if len(c) > maxWord || c == word {
			continue
		}
		if d := distance(lower, strings.ToLower(c)); d < limit {
			best, limit = c, d
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements of bytes that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
