package contextpack

import (
	"unicode"
	"unicode/utf8"

	"pawl/kernel/effect"
)

// Tokens estimates how many tokens a model needs for a text: a third of a token for a byte of ASCII, one for a Chinese,
// Japanese or Korean character and three quarters for any other. It is rounded up, grows with the text, and never is
// less for two texts than for one of them.
func Tokens(s string) int { return toTokens(units(s)) }

// tokenUnits is the number of units in a token: the least common multiple of the shares above.
const tokenUnits = 12

func toTokens(units int) int { return (units + tokenUnits - 1) / tokenUnits }

// units is the estimate before it is rounded, so that the lines of a text can be added up.
func units(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			n += 4
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if cjk(r) {
			n += tokenUnits
		} else {
			n += 9
		}
		i += size
	}
	return n
}

// cjk reports whether a character belongs to a script that is written without spaces between words.
func cjk(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// perItem is what the frame around an item of a pack costs: its separators, and the numbers in it.
const perItem = 10

// Cost is what a pack costs as a whole: the estimate of every text in it and a frame for each item. It is what
// TokenBudget calls used.
func Cost(p effect.ContextPack) int {
	n := textCost(p.WorkspaceSummary)
	for _, c := range p.Constraints {
		n += textCost(c)
	}
	for _, h := range p.Hits {
		n += hitCost(h)
	}
	for _, s := range p.Snippets {
		n += snippetCost(s)
	}
	for _, r := range p.RecentActions {
		n += actionCost(r)
	}
	return n
}

func textCost(s string) int {
	if s == "" {
		return 0
	}
	return perItem + Tokens(s)
}

func hitCost(h effect.Hit) int {
	return perItem + toTokens(units(h.Path)+units(h.Summary)+units(h.Lines)+units(h.Source))
}

func snippetCost(s effect.CodeSnippet) int {
	return perItem + toTokens(units(s.Path)+units(s.Content))
}

func actionCost(r effect.ToolResult) int { return perItem + Tokens(string(effect.Encode(r))) }
