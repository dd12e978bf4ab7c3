package triage

import (
	"strings"

	"pawl/text/display"

	"pawl/text/pattern"
)

// clause is a part of a sentence with a message of its own: up to a comma, or to a word such as "but" or "then".
type clause struct {
	start, end int // in the folded text
	sentence   sentence
	refused    bool // a heading or an earlier part of the list forbids what stands here
	comment    bool // the line is a comment of some language, or a heading
	asked      bool // the sentence is a question
}

var (
	breaks = pattern.New(`,|\b(?:but|however|then|although|instead|so|otherwise)\b|但是?|然后|而是|不过|接着|所以|因此`)

	// no are words behind which nothing is done. Those that follow "no" and take it back are in notSo.
	no = pattern.New(`\b(?:do(?:es)? not|don't|doesn't|did not|didn't|dont|never|must not|mustn't|should not|shouldn't|shall not|cannot|can't|can not|may not|won't|will not|no|not|without|avoid(?:s|ing)?|prevent(?:s|ing)?|forbid(?:s|ding)?|prohibit(?:s|ing)?|refus(?:e|es|ing)|reject(?:s|ing)?|block(?:s|ing)?|disallow(?:s|ing)?|instead of|rather than|nor|neither|nothing|nobody|no one|none|guards? against|protects? (?:against|from)|stop \w+ from|only [\w ]{1,30}? (?:may|can|should))\b` +
		`|不要|不得|不能|不可|不准|不许|不应|不会|不用|不必|不需要|不允许|不想|勿|禁止|严禁|避免|防止|杜绝|无需|拒绝|阻止|拦截|而不是|而非|代替|替代|[不没未](?:有|再)?$|免得|以免|以防|不再|不直接|(?:^|[^区识级特分类个性鉴差辨])别`)
	notSo = pattern.New(`^\s*(?:forget|hesitate|only|just|matter|doubt|problem|worry|less|wait|忘|仅|只|犹豫|急|担心|客气)`)
	never = pattern.New(`(?:never|do not|don't|forbidden|prohibited|not allowed|out of scope|non-goals?|must not|不做|非目标|禁止|严禁|不允许|禁忌|不包括|不在范围内?|范围外|不得)[^\n]{0,12}:\s*$`)

	listed  = pattern.New(`^\s*(?:[-*+•·]|[0-9]+[.)、])\s`)
	remarks = pattern.New(`^\s*(?:#|//|--\s|/\*|\*\s|<!--|;;)`)
	alsoNo  = pattern.New(`^\s*(?:or|nor|或者?|以及)\b|^\s*(?:或者?|以及)|\bor\b|或`)
)

// clauses splits a folded text. Quotes are not split, so that a command in one stays whole.
func clauses(text string, qs []quote, f folded) []clause {
	var out []clause
	forbidden := false // by a heading above
	at := 0
	for _, line := range strings.SplitAfter(text, "\n") {
		start, end := at, at+len(line)
		at = end
		body := strings.TrimRight(text[start:end], "\n")
		if strings.TrimSpace(body) == "" {
			continue
		}
		// A forbidding heading holds for the list below it.
		if !listed.Get().MatchString(body) {
			forbidden = false
		}
		comment := remarks.Get().MatchString(body)
		for _, s := range joined(sentences(body), start, qs, f) {
			s.question = s.question && s.end > s.start
			asked, _ := s.asks(display.Head(text[s.start:s.end], maxPart))
			list := cutClauses(text, s, qs, f)
			for i := range list {
				list[i].refused, list[i].comment, list[i].asked = forbidden, comment, asked && (i == 0 || s.question)
			}
			carry(text, list)
			out = append(out, list...)
		}
		if never.Get().MatchString(body) {
			forbidden = true
		}
	}
	return out
}

// joined puts sentences together that end inside a quote, and moves them to where their line begins.
func joined(list []sentence, start int, qs []quote, f folded) []sentence {
	var out []sentence
	for _, s := range list {
		s.start += start
		s.end += start
		if n := len(out); n > 0 {
			if q, ok := within(qs, f.at[out[n-1].end]); ok && f.at[s.start] < q.End {
				out[n-1].end, out[n-1].question = s.end, s.question
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// cutClauses splits one sentence.
func cutClauses(text string, s sentence, qs []quote, f folded) []clause {
	var out []clause
	start := s.start
	for _, m := range breaks.Get().FindAllStringIndex(text[s.start:s.end], -1) {
		i, j := s.start+m[0], s.start+m[1]
		if _, quoted := within(qs, f.at[i]); quoted || i <= start {
			continue
		}
		if text[i:j] == "instead" && strings.HasPrefix(text[j:], " of") {
			continue
		}
		out = append(out, clause{start: start, end: i, sentence: s})
		start = j
	}
	return append(out, clause{start: start, end: s.end, sentence: s})
}

// carry lets a word that forbids hold for the whole of an enumeration: "never a, b or c".
func carry(text string, list []clause) {
	last := -1 // the last clause that says "or"
	for i, c := range list {
		if alsoNo.Get().MatchString(text[c.start:c.end]) {
			last = i
		}
	}
	refusing := false
	for i := range list {
		if refusing && i <= last && strings.HasSuffix(text[:list[i].start], ",") {
			list[i].refused = true
			continue
		}
		refusing = len(refusals(text[list[i].start:list[i].end])) > 0
	}
}

// refusals returns where the words end behind which nothing of a text is done.
func refusals(s string) []int {
	var out []int
	for _, m := range no.Get().FindAllStringIndex(s, -1) {
		if !notSo.Get().MatchString(s[m[1]:]) {
			out = append(out, m[1])
		}
	}
	return out
}
