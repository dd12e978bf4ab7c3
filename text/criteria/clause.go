package criteria

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/text/markdown"
	"pawl/text/pattern"
)

// clause is a part of a requirement that asks for one thing.
type clause struct {
	text string // as it stands in the requirement
	// bare is text in lower case, with what is quoted and what is a path or an identifier out of sight, and without the
	// words of politeness before it. It is what verbs are looked for in.
	bare  string
	names []name
	asked bool // the sentence is a question
	main  bool // no clause of the same sentence stands before it
}

// hide returns a text in lower case, as long as it was, with the bytes of names replaced by one that is part of no word.
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
	marker   = pattern.New(`^\s*(?:[-*+•·]\s+(?:\[[ xX]\]\s*)?|[0-9]{1,2}[.)、]\s*|[(（][0-9]{1,2}[)）]\s*|[①-⑳]\s*|#{1,6}\s+|>\s?)+`)
	inline   = pattern.New(`(?:^|[\s;；，,：:])([(（][0-9]{1,2}[)）]|[0-9]{1,2}[)、]|[①-⑳])\s*`)
	ends     = pattern.New(`[。！？；;!?]+|\.(?:\s|$)`)
	commas   = pattern.New(`,\s*(?:(?:and|then|but|also|so)\s+)*|\s+(?:(?:and|then|but|also|&|plus)\s+)+|\s*[，、]?\s*(?:并且|而且|然后|同时|以及|但是|不过|此外|另外|最后|还要|[，并])+\s*`)
	without  = pattern.New(`\s+(?:without (?:any )?(?:chang|break|affect|alter|modif|touch|regress|losing|downtime|behaviou?r|api)\w*|while (?:keeping|preserving|leaving)|but (?:keep|do not|don't|leave))\b`)
	brackets = pattern.New(`\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]`)
	politely = pattern.New(`^(?:(?:hi|hey|hello|ok|okay|so|also|then|now|next|finally|first|second|and|but|just|only|todo:?|task:?|please|pls|kindly|(?:can|could|would|will) (?:you|we)(?: (?:please|also|maybe))*|would you mind|i(?:'d| would) like (?:you )?to|i (?:want|need) (?:you )?to|we (?:should|need to|want to|have to|must)|you (?:should|need to|must)|let'?s|~(?:auto|plan|exec))[\s,:]+|请问|请你|请帮我|请|帮我|帮忙|麻烦你?|能不能|能否|可不可以|可否|可以|我(?:想|要|希望|需要)(?:你)?(?:帮我?)?|我们(?:要|需要|应该)?|需要|应该|希望|先|再|也|还|都|同时|然后|另外|最后|并且|并|顺便|使用?~(?:auto|plan|exec)处理[:：]?|[,，:：\s])+`)
	leading  = pattern.New(`^(?:in|for|on|at|when|if|inside|under|within|from|after|before|once|as|since)\b[^,]{1,80},\s*`)
)

// clauses cuts a requirement into what it asks for, one after the other.
func clauses(text string) []clause {
	var out []clause
	scan := markdown.Scanner{}
	for line := range strings.Lines(text) {
		line, kind := scan.Next(strings.TrimRight(line, "\r\n"))
		if kind != markdown.Prose {
			continue // what a block shows is an example
		}
		if strings.HasPrefix(strings.TrimSpace(line), "//") {
			continue
		}
		line = line[len(marker.Get().FindString(line)):]
		for _, item := range numbered(line) {
			for _, s := range sentences(item) {
				out = append(out, parts(s)...)
			}
		}
	}
	return out
}

// numbered splits a line that lists several things by their numbers, of which the first is one.
func numbered(text string) []string {
	var out []string
	from := 0
	list := inline.Get().FindAllStringSubmatchIndex(text, -1)
	if len(list) < 2 || strings.Trim(text[list[0][2]:list[0][3]], "()（）、") != "1" && text[list[0][2]:list[0][3]] != "①" {
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

var shortened = strings.NewReplacer("e.g.", "e_g_", "i.e.", "i_e_", "etc.", "etc_", "vs.", "vs_", "E.g.", "E_g_")

// sentences keeps what ends a question.
func sentences(s string) []string {
	cover := shortened.Replace(hideInside(s))
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
		if m[0] <= from || !acts(cover[m[1]:]) || !complete(cover[from:m[0]]) {
			continue
		}
		list = append(list, strings.TrimSpace(s[from:m[0]]))
		from = m[1]
	}
	list = append(list, strings.TrimSpace(s[from:]))
	question := asked(s, hide(s, names(s)))
	var out []clause
	for i, text := range list {
		if c := made(text, i == 0); clip(c.text) != "" {
			c.asked = question
			out = append(out, c)
		}
	}
	return out
}

// splits are the places at which a sentence may be cut: where one part ends, and where the next begins.
func splits(cover string) [][]int {
	list := commas.Get().FindAllStringIndex(cover, -1)
	for _, m := range without.Get().FindAllStringIndex(cover, -1) {
		at := m[0] + len(cover[m[0]:m[1]]) - len(strings.TrimLeft(cover[m[0]:m[1]], " \t"))
		list = append(list, []int{m[0], at})
	}
	sortPairs(list)
	return list
}

func sortPairs(list [][]int) {
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && list[k][0] < list[k-1][0]; k-- {
			list[k], list[k-1] = list[k-1], list[k]
		}
	}
}

// complete reports whether what stands before a cut can stand alone: it is no condition that leads to what follows.
func complete(s string) bool {
	s = strings.TrimSpace(s)
	return utf8.RuneCountInString(s) > 1 && !conditional.Get().MatchString(s)
}

var conditional = pattern.New(`^(?:in|for|on|at|when|if|inside|under|within|from|after|before|once|as|since|while)\b[^,]*$|^(?:如果|若|当|在|对于?|关于)[^，]*(?:时|后|里|中|上|下|的话|前)?$`)

// acts reports whether a text begins with what is to be done or is not to be done.
func acts(s string) bool {
	s = trimmed(s)
	return enVerb.Get().MatchString(s) || zhVerb.Get().MatchString(s) || refuses.Get().MatchString(s) ||
		testsOnly.Get().MatchString(s)
}

// trimmed takes off the words of politeness.
func trimmed(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[len(politely.Get().FindString(s)):])
}

func made(text string, main bool) clause {
	list := names(text)
	bare := trimmed(hide(text, list))
	if rest := bare[len(leading.Get().FindString(bare)):]; enVerb.Get().MatchString(rest) {
		bare = rest
	}
	return clause{text: strings.Trim(text, " \t,，、:："), bare: bare, names: list, main: main}
}

var (
	asksEn = pattern.New(`^(?:what|what's|whats|why|how|where|when|which|who|whose|is|are|was|were|does|do (?:we|you|i|they|the)|did|has|have (?:i|we|you|they)|should|shall|can i|can we|could i|may i|tell me|show me|explain|describe how|walk me|i wonder|is there|are there)\b`)
	asksZh = pattern.New(`^(?:为什么|为何|为啥|怎么|怎样|如何|什么|啥|哪|谁|几|多少|是否|是不是|有没有|解释|介绍|讲讲|说说|告诉我|看看|看一下|想知道)|(?:吗|呢|是什么|为什么|怎么回事|哪些地方|有哪些|什么区别|是不是有)[^，。]*$`)
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
