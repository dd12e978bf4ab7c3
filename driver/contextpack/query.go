package contextpack

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pawl/kernel/effect"
	"pawl/text/pattern"
)

// query is what a requirement asks for, reduced to texts that can be looked up.
type query struct {
	terms  []term // the heaviest first
	runs   []term // neighboring words, which quote a text of the program
	places []spot
	paths  []string // names of files
}

// term is a text in lower case. Weight says how surely the requirement means something of the program by it.
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
	maxTerms       = 64
	maxSpots       = 40
	maxWord        = 64 // bytes; longer words are data
)

// The weights of terms.
const (
	weightStem  = 2.5 // the rest of the name of a test
	weightName  = 2.0 // a word that only a program would write
	weightQuote = 1.5
	weightWord  = 1.0
	weightPair  = 0.7 // two characters of a text without spaces
	weightPart  = 0.4 // a part of a name
)

var (
	spotPattern = pattern.New(`([\pL\d_.@+~\-/\\]*[\pL\d_]\.[A-Za-z]\w{0,9}):(\d{1,7})\b`)
	pyPattern   = pattern.New(`File "([^"\n]{1,400})", line (\d{1,7})`)
	pathPattern = pattern.New(`[\pL\d_.@+~\-/\\]*[\pL\d_]\.[A-Za-z]\w{0,9}`)
	wordPattern = pattern.New(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]+|` +
		`[A-Za-z_$\x{c0}-\x{1fff}][\w$\x{c0}-\x{1fff}]*(?:\(\))?`)
	quoted = pattern.New("`[^`\n]{3,200}`|\"[^\"\n]{3,200}\"|“[^”\n]{3,200}”|「[^」\n]{3,200}」|" +
		"'[^'\n]{3,200}'")
	testName = pattern.New(`^(?:Test|Benchmark|Fuzz|Example)_?(\p{Lu}\w*|\d\w*)$|^test_?(\w+)$`)
	namePart = pattern.New(`\p{Lu}*[^\p{Lu}_$]+|\p{Lu}+`)
)

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
	q := &query{}
	for _, p := range []*regexp.Regexp{pyPattern.Get(), spotPattern.Get()} {
		for _, m := range p.FindAllStringSubmatch(text, maxSpots) {
			if line, err := strconv.Atoi(m[2]); err == nil && len(q.places) < maxSpots {
				q.places = append(q.places, spot{slashed(m[1]), line})
			}
		}
	}
	for _, p := range pathPattern.Get().FindAllString(text, maxSpots) {
		q.paths = append(q.paths, slashed(p))
	}
	for _, m := range quoted.Get().FindAllString(text, maxTerms) {
		m = strings.Trim(m, "`\"'“”「」")
		q.runs = add(q.runs, m, weightName)
		if strings.IndexFunc(m, notWord) < 0 {
			q.terms = add(q.terms, m, weightQuote)
		}
	}
	for line := range strings.Lines(text) {
		q.line(line)
	}
	for _, list := range []*[]term{&q.terms, &q.runs} {
		slices.SortStableFunc(*list, func(a, b term) int { return cmp.Compare(b.weight, a.weight) })
		*list = (*list)[:min(len(*list), maxTerms)]
	}
	return q
}

func slashed(p string) string { return strings.TrimPrefix(strings.ReplaceAll(p, `\`, "/"), "./") }

// line adds the words of a line, and the runs of two and three of them.
func (q *query) line(line string) {
	at := wordPattern.Get().FindAllStringIndex(line, 16*maxTerms)
	for i, m := range at {
		says := q.word(line[m[0]:m[1]])
		for n := i - 1; n >= 0 && n >= i-2 && len(q.runs) < 16*maxTerms; n-- {
			if run := line[at[n][0]:m[1]]; says && !strings.ContainsAny(run, "\t/") && len(run) > 8 {
				q.runs = add(q.runs, run, weightQuote)
			}
		}
	}
}

// word adds a word, and reports whether it says anything.
func (q *query) word(w string) bool {
	w, called := strings.CutSuffix(w, "()")
	runes := []rune(w)
	m := testName.Get().FindStringSubmatch(w)
	switch {
	case cjk(runes[0]):
		for i := range max(1, len(runes)-1) {
			q.terms = add(q.terms, string(runes[i:min(i+2, len(runes))]), weightPair)
		}
	case len(w) < 3 || len(w) > maxWord || isStop(w) && !called:
		return false
	case m != nil:
		q.terms = add(q.terms, w, weightName)
		rest := m[1] + m[2]
		q.terms = add(q.terms, rest, weightStem)
		if _, name, ok := strings.Cut(rest, "_"); ok && m[1] != "" {
			q.terms = add(q.terms, name, weightStem)
		}
		q.parts(rest)
	case called || strings.ContainsAny(w[1:len(w)-1], "_$") || humps(w):
		q.terms = add(q.terms, w, weightName)
		q.parts(w)
	default:
		q.terms = add(q.terms, stem(w), weightWord)
	}
	return true
}

// parts adds the words that a name is made of.
func (q *query) parts(name string) {
	for _, p := range namePart.Get().FindAllString(name, 8) {
		if len(p) > 3 && len(p) < len(name) && !isStop(p) {
			q.terms = add(q.terms, stem(p), weightPart)
		}
	}
}

// humps reports whether a word has a capital behind a small letter, as only names have.
func humps(w string) bool {
	for i := 1; i < len(w); i++ {
		if w[i] >= 'A' && w[i] <= 'Z' && w[i-1] >= 'a' && w[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// stem cuts the ending of an English word, so that its forms meet.
func stem(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) > 3 {
			return rest
		}
	}
	return w
}

// add adds a term to a list, or lets the one that is there weigh as much.
func add(list []term, text string, weight float64) []term {
	text = strings.ToLower(text)
	if i := slices.IndexFunc(list, func(t term) bool { return t.text == text }); i >= 0 {
		list[i].weight = max(list[i].weight, weight)
		return list
	}
	return append(list, term{text, weight})
}

// stopWords are English words that say nothing of what a requirement is about.
const stopWords = " " +
	"about after all also and any are because been before but can cannot could did does done each for " +
	"from get gets give given has have how into its just make makes may more most must need not now off " +
	"one only other our out over own per please same shall should since some such take than that the " +
	"their them then there these they this those through too under until use used uses using want was way " +
	"were what when where which while who why will with within without would you your fail failed failing " +
	"fails pass test tests returns wrong "

func isStop(w string) bool { return strings.Contains(stopWords, " "+strings.ToLower(w)+" ") }
