package prove

import (
	"context"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pawl/driver/prove/cut"
	"pawl/kernel/effect"
	"pawl/text/testrun"
)

// doubts finds the tests that were red and are green, and show nothing all the same: the work knows their cases, or has
// made its own values equal to what they expect.
type doubts struct {
	*bench
	before, now map[string]string
	tests       []*subject
	wanted      string // the words of what was wanted
	values      map[*subject][]cut.Literal
	answers     []known
}

// doubt looks at what was red and is green.
func (p *proving) doubt(ctx context.Context) error {
	d := doubts{bench: p.bench, before: p.before, now: p.now, wanted: wanted(p.ProveSpec)}
	for _, s := range p.subjects {
		if !s.whole() && s.shows() {
			d.tests = append(d.tests, s)
		}
	}
	if len(d.tests) == 0 {
		return nil
	}
	d.memorised()
	return d.equality(ctx)
}

// wanted are the words of what was wanted.
func wanted(spec effect.ProveSpec) string {
	text := spec.Goal
	for _, c := range spec.Criteria {
		text += "\n" + c.Text + "\n" + c.From + "\n" + strings.Join(c.Texts, "\n")
	}
	return text
}

// shows reports whether a subject was red without the work and is green with it.
func (s *subject) shows() bool {
	return effect.Witness{Without: s.without, Confirmed: s.confirmed, Failed: !s.holds}.Shows()
}

// doubt notes why a test shows nothing, and which place of the work is the reason.
func (s *subject) doubt(why effect.Why, file string, line int) {
	place := file + ":" + strconv.Itoa(line)
	if s.doubted = why; !slices.Contains(s.at, place) && len(s.at) < effect.MaxShown {
		s.at = append(s.at, place)
	}
}

// known is an answer of the work that a worker may have written down from a test: its key says something.
type known struct {
	cut.Answer
	asked bool // the words of what was wanted have its key, or its value
}

// memorised doubts the tests all of whose values are keys and values of answers that the work brings: nothing shows
// that it knows anything else. A table that has entries which no test asks for is one, and so is an answer whose words are
// those of what was wanted.
func (d *doubts) memorised() {
	if d.learn(); len(d.answers) == 0 {
		return
	}
	var known []known
	for _, s := range d.tests {
		for _, a := range knows(d.answers, d.values[s]) {
			s.doubt(effect.WhyMemorised, a.Path, a.Line)
			known = append(known, a)
		}
	}
	for _, s := range d.tests { // what asks for nothing that is worth to be known adds nothing to what the others show
		if s.doubted != "" || len(d.values[s]) == 0 || slices.ContainsFunc(d.values[s], telling) {
			continue
		}
		spoken := cut.Names(s.test.Source)
		for _, a := range known {
			if a.Name == "" || spoken[a.Name[1+strings.LastIndexByte(a.Name, '.'):]] {
				s.doubt(effect.WhyMemorised, a.Path, a.Line)
			}
		}
	}
}

func telling(l cut.Literal) bool { return cut.Telling([]string{l.Text}) }

// learn finds the answers that may have been written down from tests.
func (d *doubts) learn() {
	words := cut.Words(d.wanted)
	asked := func(vals []string) bool {
		return cut.Telling(vals) && mentions(words, d.wanted, strings.Join(vals, " "))
	}
	for _, f := range d.changed {
		if text, ok := d.now[f.Path]; ok && !isTest(f.Path) {
			for _, a := range cut.Answers(f.Path, d.before[f.Path], text) {
				if cut.Telling(a.Key) || counts(a.Key) && cut.Telling(a.Value) {
					d.answers = append(d.answers, known{a, asked(a.Key) || asked(a.Value)})
				}
			}
		}
	}
	if len(d.answers) == 0 {
		return
	}
	d.values = map[*subject][]cut.Literal{}
	for _, s := range d.tests {
		d.values[s] = d.valuesOf(s)
	}
	more := map[string]bool{} // the groups with an answer that no test asks for
	for _, a := range d.answers {
		tested := func(s *subject) bool { return len(places(d.values[s], a.Key)) > 0 }
		more[a.Path+a.Group] = more[a.Path+a.Group] || !slices.ContainsFunc(d.tests, tested)
	}
	d.answers = slices.DeleteFunc(d.answers, func(a known) bool { return more[a.Path+a.Group] })
}

// counts reports whether a key is a number that says nothing by itself: a table may begin with it.
func counts(key []string) bool {
	return len(key) == 1 && strings.Trim(key[0], "-01") == "" && key[0] != ""
}

// valuesOf are those that a test writes down; where it goes through cases or writes nothing down, those of its file.
func (d *doubts) valuesOf(s *subject) []cut.Literal {
	own := cut.Literals(s.test.Path, s.test.Source)
	if len(own) > 0 && !loops().MatchString(s.test.Source) {
		return own
	}
	root, err := os.OpenRoot(d.place.Tree)
	if err != nil {
		return own
	}
	defer root.Close()
	text, _ := readText(root, path.Join(s.check.Dir, s.test.Path))
	return cut.Literals(s.test.Path, text)
}

// loops matches a test that goes through cases which may stand elsewhere in its file.
var loops = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bfor\s+[^\n]*\b(?:range|in|of)\s+[\w.]+\s*[:{)]|\.(?:forEach|each)\(|parametrize`)
})

// knows are the answers that a test asks for, where these are all that it asks for, and at least half of them are in no
// word of what was wanted.
func knows(answers []known, values []cut.Literal) []known {
	explained := make([]bool, len(values))
	var fresh []known
	asked := 0
	for _, a := range answers {
		switch met := explains(a.Answer, values, explained); {
		case met && a.Fresh && !a.asked:
			fresh = append(fresh, a)
		case met:
			asked++
		}
	}
	for i, v := range values {
		if !explained[i] && telling(v) {
			return nil
		}
	}
	if len(fresh) < asked {
		return nil
	}
	return fresh
}

// explains reports whether a test asks for an answer, and marks which of its values that explains.
func explains(a cut.Answer, values []cut.Literal, explained []bool) (met bool) {
	for _, at := range places(values, a.Key) {
		near := slices.DeleteFunc(places(values, a.Value), func(v int) bool {
			apart := values[v].Line - values[at].Line
			return apart < -1 || apart > maxApart
		})
		if cut.Telling(a.Value) && len(near) == 0 {
			continue
		}
		met = true
		for i, v := range values { // what stands beside a key in one list or call belongs to it
			explained[i] = explained[i] || v.In == values[at].In && v.Line == values[at].Line
		}
		for _, v := range near {
			for i := range a.Value {
				explained[v+i] = true
			}
		}
	}
	return met
}

// maxApart bounds the lines between what a test gives and what it expects.
const maxApart = 3

// places are where values stand one behind the other among those of a test.
func places(values []cut.Literal, wanted []string) []int {
	var out []int
	for i := 0; i+len(wanted) <= len(values) && len(wanted) > 0; i++ {
		if slices.EqualFunc(values[i:i+len(wanted)], wanted, func(l cut.Literal, w string) bool { return l.Text == w }) {
			out = append(out, i)
		}
	}
	return out
}

var (
	// wantsEqual matches words that ask for an equality of one's own, and wantsText those that ask for what a value is
	// in words.
	wantsEqual = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bequal|\bequat|==|__eq__|\beq\b|\bcompar|\bsame\b|\bidentical|\bdistinct|` +
			`\bduplicate|\bunique|\bhash|valueOf|toPrimitive|\bprimitive|\bmatches|\bwrap|errors\.Is|` +
			`相等|等于|比较|相同|一致|去重|唯一|匹配|包装`)
	})
	wantsText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)string|\btext|\bprint|json|\bformat|\btemplate|字符串|文本|打印|格式`)
	})
	// equalities match, by the ending of a file, the names by which a language asks values whether they are equal, or as
	// what they are compared; and where one is looked up it is out of sight.
	equalities = map[string]func() *regexp.Regexp{
		".py": sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`(?:^|[^.\w])(__eq__|__ne__)\b|\b(mock\.ANY)\b`)
		}),
		".go": sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`^func \([^)]*\) (Equal|Is)\(`)
		}),
		".js": sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`(?:^|[^.\w$])(valueOf|toString|toJSON|asymmetricMatch)\s*` +
				`(?:\([^)]*\)\s*\{|[=:]\s*)|\.(valueOf|toString|toJSON)\s*=[^=]|\bSymbol\.(toPrimitive)\b`)
		}),
	}
	ofClass = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*(?:export\s+)?(?:default\s+)?class\s+([\w$]+)|^func \(\w* ?\*?(\w+)`)
	})
)

// equality doubts the tests that fail when an equality is taken away that the work brings and nobody asked for: what it
// says is equal may be nothing of the kind. Tests that make the values themselves which are compared ask for it.
func (d *doubts) equality(ctx context.Context) error {
	if wantsEqual().MatchString(d.wanted) {
		return nil
	}
	for _, f := range d.changed {
		text, ok := d.now[f.Path]
		if !ok || isTest(f.Path) {
			continue
		}
		for _, e := range ownEqualities(f.Path, d.before[f.Path], text) {
			if strings.HasPrefix(text[e.From:], "to") && wantsText().MatchString(d.wanted) {
				continue
			}
			made := regexp.MustCompile(`\b` + regexp.QuoteMeta(e.Name) + `[({]`)
			err := d.taken(d.now, []cut.Part{e}, func() error {
				return d.try(ctx, d.tests, func(s *subject, is sight) {
					if is.end == testrun.Failed && (e.Blind || !made.MatchString(s.test.Source)) {
						s.doubt(effect.WhyEquality, f.Path, e.Line)
					}
				})
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// maxEqualities bounds those of a file that are tried.
const maxEqualities = 8

// ownEqualities are those that a change brings, as parts that give them another name; that of a part is its class.
func ownEqualities(file, before, now string) []cut.Part {
	ending := path.Ext(file)
	if scriptEnding().MatchString(ending) {
		ending = ".js"
	}
	form := equalities[ending]
	if form == nil {
		return nil
	}
	had := map[string]bool{}
	for line := range strings.Lines(before) {
		had[strings.TrimSpace(line)] = true
	}
	bodies := cut.Parts(file, before, now)
	var out []cut.Part
	at, number := 0, 0
	for line := range strings.Lines(now) {
		number++
		for _, m := range form().FindAllStringSubmatchIndex(line, -1) {
			for g := 2; g < len(m) && !had[strings.TrimSpace(line)] && len(out) < maxEqualities; g += 2 {
				if m[g] < 0 {
					continue
				}
				e := cut.Part{Path: file, Line: number, From: at + m[g], To: at + m[g+1], With: "pawl"}
				if line[m[g]:m[g+1]] == "mock.ANY" {
					e.With = "object()"
				}
				e.Blind = slices.ContainsFunc(bodies, func(b cut.Part) bool { return b.Line == number && b.Blind })
				if all := ofClass().FindAllStringSubmatch(now[:at+len(line)], -1); len(all) > 0 {
					e.Name = all[len(all)-1][1] + all[len(all)-1][2]
				}
				out = append(out, e)
			}
		}
		at += len(line)
	}
	return out
}

var scriptEnding = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.[cm]?[jt]sx?$`) })
