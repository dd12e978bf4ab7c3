package triage

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed lexicon/en.txt
var lexiconEnglish string

//go:embed lexicon/zh.txt
var lexiconChinese string

// sense is a class of words of the lexicon, by its number.
type sense uint8

// senses is a set of them.
type senses [3]uint64

func (s senses) has(n sense) bool { return s[n>>6]&(1<<(n&63)) != 0 }

func (s senses) meets(t senses) bool { return s[0]&t[0]|s[1]&t[1]|s[2]&t[2] != 0 }

func (s *senses) add(n sense) { s[n>>6] |= 1 << (n & 63) }

func (s senses) join(t senses) senses { return senses{s[0] | t[0], s[1] | t[1], s[2] | t[2]} }

// less is a set without what is in another.
func (s senses) less(t senses) senses { return senses{s[0] &^ t[0], s[1] &^ t[1], s[2] &^ t[2]} }

// form is the form in which an English verb stands.
type form uint8

const (
	formBase form = 1 << iota
	formS
	formPast
	formGerund
)

// entry is one form of one word or phrase. Particle is what has to stand behind the object of a verb, "" for none.
type entry struct {
	words    []string
	particle string
	senses   senses
	form     form
}

// lexicon is what is known of words: English entries by their first word, Chinese ones by their first character. The
// longest entries come first.
type lexicon struct {
	names   map[string]sense
	order   []string // the names in the order of their numbers
	english map[string][]entry
	chinese map[rune][]entry
}

// isVerb are the classes whose English entries stand in the forms of verbs.
const isVerb = " destroy overwrite reset format down change access install attack send broadcast publish sendout " +
	"commit charge pay weakpay buy price modify leak put rotate disable permit grant launch rewrite discard collect do " +
	"annihilate edit filing cancel writing pricing paying "

// words is the lexicon. It is read when it is first needed.
var words = sync.OnceValue(func() *lexicon {
	l := &lexicon{names: map[string]sense{}, english: map[string][]entry{}, chinese: map[rune][]entry{}}
	english := map[string]*entry{}
	var order []string
	rows(lexiconEnglish, func(class, said string) {
		n := l.number(class)
		verb := strings.Contains(isVerb, " "+class+" ")
		for text, f := range forms(said, verb) {
			e := english[text]
			if e == nil {
				e = &entry{}
				english[text] = e
				order = append(order, text)
				phrase, particle, _ := strings.Cut(text, " | ")
				e.words, e.particle = strings.Fields(strings.ReplaceAll(phrase, "-", " ")), particle
			}
			e.senses.add(n)
			e.form |= f
		}
	})
	for _, text := range order {
		e := english[text]
		l.english[e.words[0]] = longestFirst(l.english[e.words[0]], *e)
	}
	chinese := map[string]senses{}
	rows(lexiconChinese, func(class, said string) {
		s := chinese[said]
		s.add(l.number(class))
		chinese[said] = s
	})
	for said, s := range chinese {
		// 删掉 means what 删 does, and 全体员工 what 全体 and 员工 do.
		s = s.join(chinese[strings.TrimRight(said, "到给进在上掉了光")])
		for i := range said {
			if head := chinese[said[:i]]; head.has(l.number("all")) {
				s = s.join(head).join(chinese[said[i:]])
			}
		}
		r, _ := utf8.DecodeRuneInString(said)
		l.chinese[r] = longestFirst(l.chinese[r], entry{words: []string{said}, senses: s, form: formBase})
	}
	return l
})

// number returns the number of a class, which it gets when it is first named.
func (l *lexicon) number(class string) sense {
	n, known := l.names[class]
	if !known {
		n = sense(len(l.names))
		l.names[class] = n
		l.order = append(l.order, class)
	}
	return n
}

// set returns the classes of a list of names. A name that no line of the lexicon has is a slip of the table.
func (l *lexicon) set(names string) senses {
	var s senses
	for _, name := range strings.Fields(names) {
		n, known := l.names[name]
		if !known {
			panic("triage: no class " + name)
		}
		s.add(n)
	}
	return s
}

// longestFirst puts an entry where it belongs among those with the same beginning.
func longestFirst(list []entry, e entry) []entry {
	size := func(e entry) int {
		return len(e.words[0]) + 100*min(1, len(e.particle))
	}
	i := 0
	for i < len(list) && (len(list[i].words) > len(e.words) || len(list[i].words) == len(e.words) &&
		size(list[i]) >= size(e)) {
		i++
	}
	return append(list[:i], append([]entry{e}, list[i:]...)...)
}

// rows reads the lines of a lexicon.
func rows(text string, each func(class, said string)) {
	for line := range strings.Lines(text) {
		class, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for said := range strings.SplitSeq(list, ",") {
			if said = strings.TrimSpace(said); said != "" {
				each(class, said)
			}
		}
	}
}

// forms returns the forms of an English entry: those of a verb are made of its first word, the plural of its last.
func forms(said string, verb bool) map[string]form {
	out := map[string]form{said: formBase}
	if !verb {
		out[plural(said)] = formBase
		return out
	}
	head, rest, _ := strings.Cut(said, " ")
	if rest != "" {
		rest = " " + rest
	}
	stem, final := head, head[len(head)-1]
	switch {
	case final == 'e':
		out[head+"s"+rest], out[head+"d"+rest], stem = formS, formPast, head[:len(head)-1]
	case final == 'y' && !strings.ContainsRune("aeiou", rune(head[len(head)-2])):
		out[head[:len(head)-1]+"ies"+rest], out[head[:len(head)-1]+"ied"+rest] = formS, formPast
	default:
		out[plural(head)+rest] = formS
		if doubles(head) {
			stem += string(final)
		}
		out[stem+"ed"+rest] = formPast
	}
	out[stem+"ing"+rest] = formGerund
	return out
}

// doubles reports whether a verb doubles its last letter: "dropped", but not "deployed", "loaded" or "opened".
func doubles(head string) bool {
	n := len(head)
	const vowels, single = "aeiou", " open trigger credit order lower transfer suspend alter "
	return n >= 3 && !strings.Contains(single, " "+head+" ") && !strings.ContainsRune("aeiouwxy", rune(head[n-1])) &&
		strings.ContainsRune(vowels, rune(head[n-2])) && !strings.ContainsRune(vowels, rune(head[n-3])) &&
		(n <= 4 || strings.HasSuffix(head, "mit") || strings.HasSuffix(head, "fer"))
}

func plural(s string) string {
	n := len(s)
	switch {
	case strings.HasSuffix(s, "y") && n > 1 && !strings.ContainsRune("aeiou", rune(s[n-2])):
		return s[:n-1] + "ies"
	case strings.HasSuffix(s, "s"), strings.HasSuffix(s, "x"), strings.HasSuffix(s, "ch"), strings.HasSuffix(s, "sh"):
		return s + "es"
	}
	return s + "s"
}

// token is a word or a phrase of a clause with what it may mean. Words that are not known have no senses.
type token struct {
	start, end int // in the clause
	senses     senses
	form       form
	han        bool
}

// lex takes a clause apart, which is folded. Each byte is looked at once for each word of the longest entry.
func lex(text string) []token {
	out := lexWords(text)
	l := words()
	perhaps, live := l.set("perhaps"), l.names["live"]
	things := l.set("store machine workload system record money others shared")
	det, number, local := l.set("det prep"), l.names["number"], l.names["local"]
	for i := range out {
		// "live" is what is live in "the live box", and not in "live preview" or "they live here".
		if out[i].senses.meets(perhaps) && i+1 < len(out) && (out[i+1].senses.meets(things) ||
			i > 0 && out[i-1].senses.meets(det)) {
			out[i].senses.add(live)
		}
		if tests(text[out[i].start:out[i].end]) && i+1 < len(out) && out[i+1].senses.meets(things) {
			out[i].senses.add(local)
		}
		if many(text[out[i].start:out[i].end]) {
			out[i].senses.add(number)
		}
	}
	return out
}

// tests reports whether a word before a thing says that it is for tests: "the test bucket", 测试桶.
func tests(w string) bool {
	return strings.Contains(" test testing dev demo 测试 开发 演示 ", " "+w+" ")
}

// many reports whether a word is a number of a hundred or more that is no year.
func many(w string) bool {
	digits := strings.ReplaceAll(w, ",", "")
	year := len(w) == 4 && (w[:2] == "19" || w[:2] == "20")
	return w == "百" || w == "千" || w == "万" || len(digits) > 2 && !year && strings.Trim(digits, "0123456789") == ""
}

func lexWords(text string) []token {
	l := words()
	raw := split(text)
	var out []token
	for i := 0; i < len(raw); {
		t, n := raw[i], 1
		if t.han {
			t, n = l.longestChinese(text, raw, i)
		} else {
			t, n = l.longestEnglish(text, raw, i)
		}
		out = append(out, t)
		i += n
	}
	return out
}

// split cuts a clause into Latin words and Han characters.
func split(text string) []token {
	var out []token
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case han(r):
			out = append(out, token{start: i, end: i + size, han: true})
		case wordByte(text[i]) || text[i] == '/' || text[i] == '.' || strings.HasPrefix(text[i:], "~/"):
			j := i
			for j < len(text) && (wordByte(text[j]) || strings.IndexByte("./'@~", text[j]) >= 0 ||
				text[j] == ',' && digit(text, j-1) && digit(text, j+1)) {
				j++
			}
			if end := i + len(strings.TrimRight(text[i:j], ".'/~@")); end > i {
				out = append(out, token{start: i, end: end})
			}
			i = j
			continue
		}
		i += size
	}
	return out
}

func wordByte(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_' }

// longestChinese finds the longest entry at a character, and how many tokens it takes.
func (l *lexicon) longestChinese(text string, raw []token, i int) (token, int) {
	t := raw[i]
	r, _ := utf8.DecodeRuneInString(text[t.start:])
	for _, e := range l.chinese[r] {
		if !strings.HasPrefix(text[t.start:], e.words[0]) {
			continue
		}
		t.end, t.senses, t.form = t.start+len(e.words[0]), e.senses, formBase
		n := 0
		for i+n < len(raw) && raw[i+n].start < t.end {
			n++
		}
		return t, n
	}
	return t, 1
}

// longestEnglish finds the longest entry at a word, and how many tokens it takes.
func (l *lexicon) longestEnglish(text string, raw []token, i int) (token, int) {
	t := raw[i]
	word := text[t.start:t.end]
	if strings.Contains(word, "/") {
		t.senses = l.pathSenses(word)
		return t, 1
	}
	list := l.english[word]
	if owner, owns := strings.CutSuffix(word, "'s"); owns && list == nil {
		list = l.english[owner]
	}
	for _, e := range list {
		n := len(e.words)
		if i+n > len(raw) || !matches(text, raw[i:i+n], e.words) {
			continue
		}
		if e.particle != "" && !behind(text, raw[i+n:], e.particle) {
			continue
		}
		t.end, t.senses, t.form = raw[i+n-1].end, e.senses, e.form
		return t, n
	}
	switch _, ext, named := strings.Cut(word, "."); {
	case strings.HasSuffix(word, "'s"):
		t.senses = t.senses.join(l.set("det owner"))
	case named && strings.Contains(textFiles, " "+ext+" "):
		t.senses.add(l.names["open"])
	}
	return t, 1
}

// textFiles are the endings of files that are read by many: what is written into one is not hidden.
const textFiles = " js ts go py rb java php html css md txt yml yaml json toml ini conf sh xml properties cs "

func matches(text string, raw []token, words []string) bool {
	for k, w := range words {
		got := text[raw[k].start:raw[k].end]
		if got != w && strings.TrimSuffix(got, "'s") != w || raw[k].han {
			return false
		}
	}
	return true
}

// maxParticle is how many words may stand between a verb and its particle.
const maxParticle = 7

// behind reports whether a particle stands behind an object.
func behind(text string, raw []token, particle string) bool {
	for k := 1; k < len(raw) && k <= maxParticle; k++ {
		if text[raw[k].start:raw[k].end] == particle {
			return true
		}
	}
	return false
}

// pathSenses says what a path is: a folder that tools make again is local, an absolute one is data.
func (l *lexicon) pathSenses(word string) senses {
	var s senses
	base := l.set("artifact")
	parts := strings.Split(strings.Trim(word, "./~"), "/")
	for _, part := range parts {
		switch part {
		case "tmp", "node_modules", "dist", "build", "testdata", "fixtures", "target", "out", "coverage", "test",
			"tests":
			return l.set("local")
		}
		for _, e := range l.english[part] {
			if len(e.words) == 1 && !e.senses.meets(base) {
				s = s.join(e.senses)
			}
		}
	}
	if word[0] == '/' || word[0] == '~' {
		s.add(l.names["path"])
	}
	return s
}
