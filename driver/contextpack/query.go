package contextpack

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"pawl/kernel/effect"
	"pawl/text/pattern"
)

// query is what a requirement asks for, reduced to what can be looked up.
type query struct {
	terms  []term
	exact  map[string]int // by the word as it stands: its term
	folded map[string]int // by the word in lower case
	stems  map[string]int // by the stem of a part of a name: the term that weighs most
	// runs are pairs and triples of neighbouring words, for texts that are quoted in part.
	runs map[uint64]bool
	// marks are the short hashes of everything that a word can be found by.
	marks  [1 << markBits]bool
	places []spot
	paths  []string // names of files
}

// term is one word of a requirement. Weight says how surely the requirement means something of the program by it.
type term struct {
	text   string
	weight float64
}

// spot is a line of a file that a requirement names. Path is as it stands there.
type spot struct {
	path string
	line int
}

// Bounds of what is taken from a requirement.
const (
	maxRequirement = 64 << 10
	maxTerms       = 120
	maxSpots       = 40
)

// The weights of terms.
const (
	weightStem  = 2.5 // what is left of the name of a test
	weightName  = 2.0 // a word that only a program would write
	weightQuote = 1.5
	weightWord  = 1.0
	weightPair  = 0.7 // two characters of a text without spaces
)

var (
	spotPattern = pattern.New(`([\pL\d_.@+~\-/\\]*[\pL\d_]\.[A-Za-z]\w{0,9}):(\d{1,7})\b`)
	pyPattern   = pattern.New(`File "([^"\n]{1,400})", line (\d{1,7})`)
	pathPattern = pattern.New(`[\pL\d_.@+~\-/\\]*[\pL\d_]\.[A-Za-z]\w{0,9}`)
	wordPattern = pattern.New(`[\pL_$][\pL\pM\d_$]*(?:(?:\.|::|#)[\pL_][\pL\pM\d_]*)*(\(\))?`)
	quoted      = pattern.New("`[^`\n]{2,200}`|\"[^\"\n]{2,200}\"|“[^”\n]{2,200}”|「[^」\n]{2,200}」|'[^'\n]{2,200}'")
	testName    = pattern.New(`^(?:Test|Benchmark|Fuzz|Example)_?([\p{Lu}\d]\w*)$|^test_?([\w]+)$`)
)

// text is what a pack is for, in one text. A line that was said before tells nothing new and would take the place of
// others.
func (a Ask) text() string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, t := range append([]string{a.Requirement}, a.Said...) {
		for line := range strings.Lines(clip(t, maxRequirement)) {
			if plain := strings.TrimSpace(line); plain == "" || !seen[plain] {
				seen[plain] = true
				b.WriteString(strings.TrimRight(line, "\r\n") + "\n")
			}
		}
	}
	return b.String()
}

// ask reads a requirement.
func ask(text string) *query {
	text = strings.ToValidUTF8(clip(text, 2*maxRequirement), " ")
	q := &query{exact: map[string]int{}, folded: map[string]int{}, stems: map[string]int{}, runs: map[uint64]bool{}}
	q.readSpots(text)
	marked := ""
	for _, m := range quoted.Get().FindAllString(text, 64) {
		marked += " " + m
	}
	q.readWords(text, 0)
	q.readWords(marked, weightQuote)
	q.readRuns(text)
	q.parts()
	return q
}

// readSpots finds lines and files that are named, in the order in which they are.
func (q *query) readSpots(text string) {
	for _, p := range []*regexp.Regexp{pyPattern.Get(), spotPattern.Get()} {
		for _, m := range p.FindAllStringSubmatch(text, maxSpots) {
			if line, err := strconv.Atoi(m[2]); err == nil && len(q.places) < maxSpots {
				q.places = append(q.places, spot{slashed(m[1]), line})
			}
		}
	}
	for _, p := range pathPattern.Get().FindAllString(text, 4*maxSpots) {
		if p = slashed(p); !slices.Contains(q.paths, p) && len(q.paths) < maxSpots {
			q.paths = append(q.paths, p)
		}
	}
}

func slashed(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	return strings.TrimPrefix(p, "./")
}

// readWords adds the words of a text, with a least weight for those that count at all.
func (q *query) readWords(text string, least float64) {
	for _, w := range wordPattern.Get().FindAllString(text, 4*maxTerms) {
		called := strings.HasSuffix(w, "()")
		w = strings.TrimSuffix(w, "()")
		names := strings.FieldsFunc(w, func(r rune) bool { return r == '.' || r == ':' || r == '#' })
		for i, n := range names {
			q.word(n, called && i == len(names)-1, least)
		}
	}
}

// word adds one word.
func (q *query) word(w string, called bool, least float64) {
	if r, _ := utf8.DecodeRuneInString(w); cjk(r) || strings.IndexFunc(w, cjk) >= 0 {
		scanWords([]byte(w), otherText, func(pair []byte, _ int, _ bool) bool {
			if p := string(pair); !stopPairs()[p] {
				q.term(p, max(weightPair, least/2))
			}
			return true
		})
		return
	}
	low := strings.ToLower(w)
	if len(w) < 2 || len(w) > maxWord {
		return
	}
	if m := testName.Get().FindStringSubmatch(w); m != nil {
		q.term(w, weightName)
		rest := m[1] + m[2]
		q.term(rest, weightStem)
		if owner, name, ok := strings.Cut(rest, "_"); ok && m[1] != "" {
			q.term(owner, weightWord)
			q.term(name, weightStem)
		}
		return
	}
	switch {
	case looksLikeName(w) || called:
		q.term(w, weightName)
	case stopWords()[low]:
	case len(w) > 2:
		q.term(w, max(weightWord, least))
	}
}

// looksLikeName reports whether only a program would write a word like that.
func looksLikeName(w string) bool {
	if len(w) < 3 {
		return false
	}
	humps := 0
	for i := 1; i < len(w); i++ {
		if upper(w[i]) && lower(w[i-1]) || w[i] == '_' && i < len(w)-1 {
			humps++
		}
	}
	return humps > 0 || strings.ContainsAny(w, "$")
}

func (q *query) term(text string, weight float64) {
	if i, ok := q.exact[text]; ok {
		q.terms[i].weight = max(q.terms[i].weight, weight)
		return
	}
	if len(q.terms) == maxTerms {
		return
	}
	q.exact[text] = len(q.terms)
	q.terms = append(q.terms, term{text, weight})
}

// may reports whether a word with such a mark can have to do with the query.
func (q *query) may(mark uint64) bool {
	for ; mark != 0; mark >>= markBits {
		if q.marks[mark&(1<<markBits-1)] {
			return true
		}
	}
	return false
}

// parts fills in by what else than itself a term is found: without regard to case, and by the stems of the words that
// it is made of.
func (q *query) parts() {
	var buf []byte
	heavier := func(m map[string]int, key string, i int) {
		if have, ok := m[key]; !ok || q.terms[have].weight < q.terms[i].weight {
			m[key] = i
		}
	}
	for i, t := range q.terms {
		q.marks[shortHash(foldTo(nil, []byte(t.text)))] = true
		heavier(q.folded, string(foldTo(nil, []byte(t.text))), i)
		parts([]byte(t.text), buf, func(p []byte) {
			if len(p) > 2 && !stopWords()[string(p)] {
				q.marks[shortHash(stem(p))] = true
				heavier(q.stems, string(stem(p)), i)
			}
		})
	}
}

// readRuns notes the runs of words that say something, as readBody looks for them: those of which at least two words
// do.
func (q *query) readRuns(text string) {
	for line := range strings.Lines(text) {
		var r runs
		var says [3]bool
		scanWords([]byte(line), otherText, func(w []byte, _ int, _ bool) bool {
			says = [3]bool{!stopWords()[strings.ToLower(string(w))], says[0], says[1]}
			two, three := r.next(foldedHash(w))
			if two != 0 && says[0] && says[1] {
				q.runs[two] = true
			}
			if three != 0 && (says[0] && says[1] || says[0] && says[2] || says[1] && says[2]) {
				q.runs[three] = true
			}
			return len(q.runs) < 4096
		})
	}
}

// runs turns a stream of words into hashes of each two and three that follow one another.
type runs struct{ one, two uint64 }

// next takes the hash of the next word and returns those of the runs that it ends, 0 for none.
func (r *runs) next(h uint64) (two, three uint64) {
	if r.one != 0 {
		two = r.one*31 + h
	}
	if r.two != 0 {
		three = r.two*961 + r.one*31 + h + 1
	}
	r.two, r.one = r.one, h
	return two, three
}

// Ask is what a pack is for.
type Ask struct {
	Place effect.Place
	// Requirement is the text that everything is ranked for.
	Requirement string
	// Said is what else was said of it: answers of the person, feedback, what a failing check wrote, the most telling
	// first. Names of tests and functions, files and lines in it count like those in the requirement.
	Said []string
	// Tokens is what the pack may cost; see Cost.
	Tokens int
	// Recent are the results of the last tool calls, newest last.
	Recent []effect.ToolResult
}

// stopWords say nothing about what a requirement is about: they are grammar, or in every requirement and every program.
var stopWords = wordSet(`
a about above after again all also always an and any anything are as at be because been before being below between both but by
can cannot could did do does doing done down during each either else etc even every few for from get gets give given go goes
got had has have having he her here him his how however i if in instead into is isn it its itself just keep last later less
let like lot make makes making many may me might more most much must my need needs never new no nor not nothing now of off ok
on once one only onto or other our out over own per please rather really same say says see seem seems shall she should since
so some something still such sure take than that the their them then there these they thing things this those through to
together too two under until up upon us use used uses using very via want wanted wants was way we well were what when where
whether which while who whole whose why will with within without won work works would yes yet you your
add added adds adding bug bugs change changed changes code correct currently error errors expected expect fail failed failing
fails failure fix fixed fixes got implement implemented issue issues line lines problem requirement run running support test
tests todo update updated wrong ensure program
int string func return nil err true false var const type import package public private static void self null none
`)

// stopPairs are pairs of Chinese characters that say as little.
var stopPairs = wordSet(`
一个 一下 这个 那个 这些 那些 我们 你们 他们 可以 需要 应该 没有 不是 就是 还是 如果 但是 因为 所以 以及 或者 而且 然后 时候 问题 修复 错误
请在 请将 请把 并且 进行 使用 现在 目前 出现 导致 无法 不能 添加 增加 修改 实现 支持 功能 代码 测试 失败 期望 实际
`)

// wordSet makes a set of words when it is first needed, because most starts of a program put no pack together.
func wordSet(text string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for w := range strings.FieldsSeq(text) {
			out[w] = true
		}
		return out
	})
}
