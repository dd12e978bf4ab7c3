// Package fingerprint tells failures apart.
package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pawl/kernel/effect"
)

// noise replaces what differs between two runs of the same failure. The order of the rows matters: longer forms first.
var noise = sync.OnceValue(func() []replacement {
	return []replacement{
		{regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`), ""},
		{regexp.MustCompile(`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?`), "<time>"},
		{regexp.MustCompile(`\b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:\s?[AP]M)?\b`), "<time>"},
		{regexp.MustCompile(`(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?\s?(?:ns|µs|μs|us|ms|s|sec|secs|seconds?|minutes?|min)\b`),
			"<span>"},
		{regexp.MustCompile(`(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s:'")\]]+`), "<temp>"},
		{regexp.MustCompile(`0x[0-9a-fA-F]+`), "<addr>"},
		{regexp.MustCompile(`\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b`), "<id>"},
		{regexp.MustCompile(`\b(?:127\.0\.0\.1|localhost|\[::1\]):\d+`), "<port>"},
		{regexp.MustCompile(`(?i)\b(goroutine|pid|process|thread|seed|worker)([ :=#]+)\d+`), "$1$2<n>"},
		{regexp.MustCompile(`\(cached\)`), "<span>"},
		{regexp.MustCompile(`\b\d{1,3}(?:\.\d+)?%`), "<part>"},
		{regexp.MustCompile(`[ \t]+`), " "},
	}
})

// replacement is what stands for a kind of noise.
type replacement struct {
	match *regexp.Regexp
	with  string
}

// Of identifies a failure: it is the sha256 (hex) of the failing checks, their exit codes and their output
// with times, durations, addresses, temporary paths and the paths of the place removed and the lines in a fixed order.
// The same failure of the same work has the same fingerprint on every run and in every worktree; it is "" when no check
// failed.
func Of(place effect.Place, outcomes []effect.CheckOutcome) string {
	h := sha256.New()
	failed := false
	for _, o := range outcomes {
		if o.Status == effect.CheckPassed || o.Status == effect.CheckSkipped {
			continue
		}
		failed = true
		h.Write([]byte(strings.Join([]string{o.Dir, o.Command, string(o.Status), strconv.Itoa(o.ExitCode)}, "\x00")))
		for _, line := range essence(place, o.Output) {
			h.Write([]byte("\n" + line))
		}
		h.Write([]byte{0})
	}
	if !failed {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// essence returns the distinct lines of an output without noise, sorted.
func essence(place effect.Place, output string) []string {
	for _, dir := range []string{place.Tree, place.Workspace} {
		if len(dir) > 1 {
			output = strings.ReplaceAll(output, dir, "<tree>")
		}
	}
	for _, n := range noise() {
		output = n.match.ReplaceAllString(output, n.with)
	}
	lines := strings.FieldsFunc(output, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
}
