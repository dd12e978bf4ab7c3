package triage

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed lexicon/notions.txt
var notionsText string

// notions are what words stand for when a sentence is guessed about, by the stems of English words and by Chinese ones.
var notions = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	rows(notionsText, func(notion, said string) {
		key := stems(said, split(said))
		out[key] = append(out[key], notion)
	})
	return out
})

// maxNotion is how many words or characters the longest entry has.
const maxNotion = 8

// meant is a word or a phrase with what it stands for, if that is known.
type meant struct {
	said    string
	notions []string
	han     bool // it holds Chinese
}

// knownWords takes a text apart into the longest entries that stand somewhere, and into the words between them.
func knownWords(text string) []meant {
	var out []meant
	for raw := split(text); len(raw) > 0; {
		for n := min(maxNotion, len(raw)); n > 0; n-- {
			said := stems(text, raw[:n])
			if list := notions()[said]; list != nil || n == 1 {
				han := raw[0].han || raw[n-1].han
				out, raw = append(out, meant{said, list, han}), raw[n:]
				break
			}
		}
	}
	return out
}

// stems are what words are looked up by: Chinese as it is written, English by stems.
func stems(text string, raw []token) string {
	if raw[0].han {
		return text[raw[0].start:raw[len(raw)-1].end]
	}
	out := make([]string, len(raw))
	for i, t := range raw {
		out[i] = stem(text[t.start:t.end])
	}
	return strings.Join(out, " ")
}

// stem cuts off what tells the forms of an English word apart: "dropped", "drops" and "dropping" are "drop".
func stem(w string) string {
	if len(w) > 3 {
		w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "s")
	}
	for _, end := range []string{"ing", "ed", "e"} {
		if head, ok := strings.CutSuffix(w, end); ok && len(head) > 2 {
			w = head
			break
		}
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] != 's' && w[n-1] != 'l' {
		w = w[:n-1]
	}
	return w
}
