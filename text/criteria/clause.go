package criteria

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/text/display"
	"pawl/text/markdown"
	"pawl/text/pattern"
)

// Bounds on what is looked at, in bytes: a clause is about what its first words say.
const (
	maxVerb   = 200 // for a word that says what is to be done
	maxClause = 800 // for what a clause asks for
	maxSplits = 200 // places at which a sentence may be cut
)

// clause is a part of a requirement that asks for one thing.
type clause struct {
	whole string // as it stands in the requirement
	text  string // the same as far as it is looked at
	// bare is text in lower case, with what is quoted and what is a path or an identifier out of sight, and without the
	// words of politeness before it. It is what verbs are looked for in.
	bare  string
	names []name
	asked bool // the sentence is a question
	alias bool // an old name is to stay beside the new one
	first bool // nothing came of the clauses before it
}

// hide returns a text in lower case, as long as it was, with the bytes of names replaced by one that is part of no
// word.
func hide(s string, list []name) string {
	b := []byte(s)
	for _, n := range list {
		for i := n.start; i < n.end; i++ {
			b[i] = hidden
		}
	}
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
			return l
		}
		return r
	}, string(b))
}

const hidden = 0x01

var (
	marker = pattern.New(`^\s*(?:[-*+•·]\s+(?:\[[ xX]\]\s*)?|[0-9]{1,2}[.)、]\s*|[(（][0-9]{1,2}[)）]\s*|[①-⑳]\s*|` +
		`#{1,6}\s+|>\s?)+`)
	inline = pattern.New(`(?:^|[\s;；，,：:])([(（][0-9]{1,2}[)）]|[0-9]{1,2}[)、]|[①-⑳])\s*`)
	ends   = pattern.New(`[。！？；;!?]+|\.(?:\s|$)`)
	commas = pattern.New(`,\s*(?:(?:and|then|but|also|so)\s+)*|\s+(?:(?:and|then|but|also|&|plus)\s+)+|` +
		`\s*[，、]?\s*(?:并且|而且|然后|同时|以及|但是|不过|此外|另外|最后|还要|[，并])+\s*`)
	without = pattern.New(`\s+(?:without (?:any )?(?:chang|break|affect|alter|modif|touch|regress|losing|` +
		`downtime|behaviou?r|api)\w*|while (?:keeping|preserving|leaving)|but (?:keep|do not|don't|leave))\b`)
	brackets = pattern.New(`\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]`)
	politely = pattern.New(`^(?:(?:hi|hey|hello|ok|okay|so|also|then|now|next|finally|first|second|and|but|just|` +
		`only|todo:?|task:?|please|pls|kindly|(?:can|could|would|will) (?:you|we)(?: (?:please|also|maybe))*|` +
		`would you mind|i(?:'d| would) like (?:you )?to|i (?:want|need) (?:you )?to|we (?:should|need to|want to|` +
		`have to|must)|you (?:should|need to|must)|let'?s|~(?:auto|plan|exec))[\s,:]+|请问|请你|请帮我|请|帮我|帮忙|麻烦你?|能不能|` +
		`能否|可不可以|可否|可以|我(?:想|要|希望|需要)(?:你)?(?:帮我?)?|我们(?:要|需要|应该)?|需要|希望|只|仅|先|再|也|还|都|同时|然后|另外|最后|并且|并|顺便|` +
		`使用?~(?:auto|plan|exec)处理[:：]?|[,，:：\s])+`)
	leading = pattern.New(`^(?:in|for|on|at|when|if|inside|under|within|from|after|before|once|as|` +
		`since)\b[^,]{1,80},\s*`)
)

// clauses cuts a requirement into what it asks for, one after the other.
func clauses(text string) []clause {
	var out []clause
	scan := markdown.Scanner{}
	lead := "" // what the line above a list says is to be done with its items
	for line := range strings.Lines(text) {
		line, kind := scan.Next(strings.TrimRight(line, "\r\n"))
		if kind != markdown.Prose {
			continue // what a block shows is an example
		}
		if strings.HasPrefix(strings.TrimSpace(line), "//") {
			continue
		}
		mark := marker.Get().FindString(line)
		line = strings.TrimSpace(line[len(mark):])
		if mark == "" {
			lead = ""
		}
		if strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：") {
			lead = verbOf(trimmed(hide(line, names(line))))
			continue
		}
		for _, item := range numbered(line) {
			for _, s := range sentences(item) {
				out = append(out, led(lead, parts(s))...)
			}
		}
	}
	return out
}

// opening is the number of the first thing in a list, or of the second where the first began the line.
var opening = pattern.New(`^\D?[12]\D?$|^[①②]$`)

// led has clauses that do not say what is to be done with what they name do what leads to their list.
func led(lead string, list []clause) []clause {
	for i := range list {
		if lead != "" && !acts(list[i].bare) {
			list[i].bare = lead + " " + list[i].bare
		}
	}
	return list
}

// numbered splits a line that lists several things by their numbers.
func numbered(text string) []string {
	var out []string
	from := 0
	list := inline.Get().FindAllStringSubmatchIndex(text, -1)
	if len(list) == 0 || !opening.Get().MatchString(text[list[0][2]:list[0][3]]) {
		return []string{text}
	}
	for _, m := range list {
		if s := strings.TrimSpace(text[from:m[0]]); s != "" {
			out = append(out, s)
		}
		from = m[1]
	}
	if s := strings.TrimSpace(text[from:]); s != "" {
		out = append(out, s)
	}
	return out
}

// shortened are words whose point ends no sentence.
var shortened = pattern.New(`\b(?:e\.g|i\.e|etc|vs|incl|approx)\.`)

// sentences keeps what ends a question.
func sentences(s string) []string {
	cover := shortened.Get().ReplaceAllStringFunc(hideInside(s), func(s string) string {
		return strings.Repeat(string(rune(hidden)), len(s))
	})
	var out []string
	from := 0
	for _, m := range ends.Get().FindAllStringIndex(cover, -1) {
		if strings.TrimSpace(s[from:m[0]]) == "" {
			from = m[1]
			continue
		}
		end := m[0]
		if strings.ContainsAny(cover[m[0]:m[1]], "?？") {
			end = m[1]
		}
		out, from = append(out, strings.TrimSpace(s[from:end])), m[1]
	}
	if rest := strings.TrimSpace(s[from:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// hideInside hides names, and what stands in brackets.
func hideInside(s string) string {
	b := []byte(hide(s, names(s)))
	for _, m := range brackets.Get().FindAllIndex(b, -1) {
		for i := m[0]; i < m[1]; i++ {
			b[i] = hidden
		}
	}
	return string(b)
}

// parts cuts a sentence where something else is asked for. A part that asks for nothing of its own belongs to the one
// before it, or to the one behind it where it is the first.
func parts(s string) []clause {
	cover := hideInside(s)
	var list []string
	from := 0
	for _, m := range splits(cover) {
		if m[0] <= from || !acts(cover[m[1]:]) && !stays.Get().MatchString(untilComma(cover[m[1]:])) ||
			!complete(cover[from:m[0]]) {
			continue
		}
		list = append(list, strings.TrimSpace(s[from:m[0]]))
		from = m[1]
	}
	list = append(list, strings.TrimSpace(s[from:]))
	question := asked(s, hide(s, names(s)))
	var out []clause
	for _, text := range list {
		if c := made(text); clip(c.whole) != "" {
			c.asked = question
			out = append(out, c)
		}
	}
	return out
}

// splits are the places at which a sentence may be cut: where one part ends, and where the next begins.
func splits(cover string) [][]int {
	list := commas.Get().FindAllStringIndex(cover, maxSplits)
	for _, m := range without.Get().FindAllStringIndex(cover, maxSplits) {
		word := strings.TrimLeft(cover[m[0]:m[1]], " \t")
		list = append(list, []int{m[0], m[1] - len(word)})
	}
	slices.SortStableFunc(list, func(a, b []int) int { return a[0] - b[0] })
	return list
}

// complete reports whether what stands before a cut can stand alone: it is no condition that leads to what follows.
func complete(s string) bool {
	s = display.Head(strings.TrimSpace(s), maxVerb)
	return utf8.RuneCountInString(s) > 1 && (!conditional.Get().MatchString(s) || acts(s))
}

var conditional = pattern.New(`^(?:in|for|on|at|when|if|inside|under|within|from|after|before|once|as|since|` +
	`while)\b[^,]*$|^(?:如果|若|当|在|对于?|关于)[^，]*(?:时|后|里|中|上|下|的话|前)?$`)

// acts reports whether a text begins with what is to be done or is not to be done.
func acts(s string) bool {
	s = trimmed(display.Head(s, maxVerb))
	return !answers.Get().MatchString(s) && (enVerb.Get().MatchString(s) || zhVerb.Get().MatchString(s) ||
		refuses.Get().MatchString(s) || testsOnly.Get().MatchString(s))
}

// answers begins what an answer is to be: it belongs to what is answered.
var answers = pattern.New(`^(?:return|respond|answer)s?\b|^返回`)

// verbOf returns the word with which a text says what is to be done.
func verbOf(s string) string {
	if v := enVerb.Get().FindString(s); v != "" {
		return v
	}
	return zhVerb.Get().FindString(s)
}

func untilComma(s string) string {
	if i := strings.IndexAny(s, ",，"); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

// trimmed takes off the words of politeness.
func trimmed(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[len(politely.Get().FindString(s)):])
}

// edges is what a clause neither begins nor ends with.
const edges = " \t,，、:："

func made(text string) clause {
	whole := text
	text = display.Head(text, maxClause)
	list := names(text)
	bare := trimmed(hide(text, list))
	if rest := bare[len(leading.Get().FindString(bare)):]; enVerb.Get().MatchString(rest) {
		bare = rest
	}
	return clause{whole: strings.Trim(whole, edges), text: strings.Trim(text, edges), bare: bare, names: list}
}

var (
	asksEn = pattern.New(`^(?:what|what's|whats|why|how|where|when|which|who|whose|is|are|was|were|does|do (?:we|` +
		`you|i|they|the)|did|has|have (?:i|we|you|they)|should|shall|can i|can we|could i|may i|tell me|show me|` +
		`explain|describe how|walk me|i wonder|is there|are there)\b`)
	asksZh = pattern.New(`^(?:为什么|为何|为啥|怎么|怎样|如何|什么|啥|哪|谁|几|多少|是否|是不是|有没有|解释|介绍|讲讲|说说|告诉我|看看|看一下|想知道)|(?:吗|呢|是什么|` +
		`为什么|怎么回事|哪些地方|有哪些|什么区别|是不是有)[^，。]*$`)
)

// asked reports whether a sentence only asks something: "could you add …?" asks for something.
func asked(s, bare string) bool {
	rest := trimmed(bare)
	if asksEn.Get().MatchString(rest) || asksZh.Get().MatchString(rest) {
		return strings.HasSuffix(strings.TrimSpace(s), "?") || strings.HasSuffix(s, "？") || !strings.ContainsAny(rest, ",，")
	}
	if !strings.HasSuffix(strings.TrimSpace(s), "?") && !strings.HasSuffix(s, "？") {
		return false
	}
	return !enVerb.Get().MatchString(rest) && !zhVerb.Get().MatchString(rest)
}
