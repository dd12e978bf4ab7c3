package search_test

import (
	"regexp"
	"strings"
)

// slowly finds the numbers of the matching lines in the most obvious way.
func slowly(pattern, data string, fold bool) []int {
	if fold {
		pattern = "(?i)" + pattern
	}
	re := regexp.MustCompile(pattern)
	var out []int
	n := 0
	for l := range strings.Lines(data) {
		n++
		l = strings.TrimSuffix(l, "\n")
		if re.MatchString(strings.TrimSuffix(l, "\r")) {
			out = append(out, n)
		}
	}
	return out
}
