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
func (p *proving) doubts(ctx context.Context) error {
	var tests []*subject
	for _, s := range p.subjects {
		if !s.whole() && s.shows() {
			tests = append(tests, s)
		}
	}
	if len(tests) == 0 {
		return nil
	}
	p.memorised(tests)
	return p.equality(ctx, tests)
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

// asked are the words of what was wanted.
func (p *proving) asked() string {
	text := p.Goal
	for _, c := range p.Criteria {
		text += "\n" + c.Text + "\n" + c.From + "\n" + strings.Join(c.Texts, "\n")
	}
	return text
}

// known is an answer of the work that a worker may have written down from a test: its key says something.
type known struct {
	cut.Answer
	asked bool // the words of what was wanted have its key, or its value
}

// memorised doubts the tests all of whose values are keys and values of answers that the work brings: nothing shows that
// it knows anything else. A table that has entries which no test asks for is one, and so is an answer whose words are
// those of what was wanted.
func (p *proving) memorised(tests []*subject) {
	var answers []known
	wanted := p.asked()
	words := cut.Words(wanted)
	for _, f := range p.result.Changed {
		if text, ok := p.now[f.Path]; ok && !isTest(f.Path) {
			for _, a := range cut.Answers(f.Path, p.before[f.Path], text) {
				if key := cut.Telling(a.Key); key || counts(a.Key) && cut.Telling(a.Value) {
					answers = append(answers, known{a, key && mentions(words, wanted, strings.Join(a.Key, " ")) ||
						cut.Telling(a.Value) && mentions(words, wanted, strings.Join(a.Value, " "))})
				}
			}
		}
	}
	if len(answers) == 0 {
		return
	}
	values := map[*subject][]cut.Literal{}
	more := map[string]bool{} // the groups with an answer that no test asks for
	for _, s := range tests {
		values[s] = p.values(s)
	}
	for _, a := range answers {
		tested := slices.ContainsFunc(tests, func(s *subject) bool { return len(places(values[s], a.Key)) > 0 })
		more[a.Path+a.Group] = more[a.Path+a.Group] || !tested
	}
	answers = slices.DeleteFunc(answers, func(a known) bool { return more[a.Path+a.Group] })
	for _, s := range tests {
		for _, a := range knows(answers, values[s]) {
			s.doubt(effect.WhyMemorised, a.Path, a.Line)
		}
	}
	for _, s := range tests { // what asks for nothing that is worth to be known adds nothing to what the others show
		if s.doubted != "" || slices.ContainsFunc(values[s], func(l cut.Literal) bool { return cut.Telling([]string{l.Text}) }) {
			continue
		}
		spoken := cut.Names(s.test.Source)
		for _, o := range tests {
			for _, a := range knows(answers, values[o]) {
				if (a.Name == "" || spoken[short(a.Name)]) && len(values[s]) > 0 {
					s.doubt(effect.WhyMemorised, a.Path, a.Line)
				}
			}
		}
	}
}

// counts reports whether a key is a number that says nothing by itself: a table may begin with it.
func counts(key []string) bool {
	return len(key) == 1 && strings.Trim(key[0], "-01") == "" && key[0] != ""
}

// short is the last part of a function's name.
func short(name string) string { return name[1+strings.LastIndexByte(name, '.'):] }

// values are those that a test writes down; where it goes through cases or writes nothing down, those of its file.
func (p *proving) values(s *subject) []cut.Literal {
	own := cut.Literals(s.test.Path, s.test.Source)
	if len(own) > 0 && !loops().MatchString(s.test.Source) {
		return own
	}
	root, err := os.OpenRoot(p.bench.place.Tree)
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
	var fresh, asked []known
	for _, a := range answers {
		met := false
		for _, at := range places(values, a.Key) {
			near := []int{}
			for _, v := range places(values, a.Value) {
				if d := values[v].Line - values[at].Line; d >= -1 && d <= maxApart {
					near = append(near, v)
				}
			}
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
		switch {
		case met && a.Fresh && !a.asked:
			fresh = append(fresh, a)
		case met:
			asked = append(asked, a)
		}
	}
	for i, v := range values {
		if !explained[i] && cut.Telling([]string{v.Text}) {
			return nil
		}
	}
	if len(fresh) < len(asked) {
		return nil
	}
	return fresh
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
		return regexp.MustCompile(`(?i)\bequal|\bequat|==|__eq__|\beq\b|\bcompar|\bsame\b|\bidentical|\bdistinct|\bduplicate|` +
			`\bunique|\bhash|valueOf|toPrimitive|\bprimitive|\bmatches|\bwrap|errors\.Is|` +
			`相等|等于|比较|相同|一致|去重|唯一|匹配|包装`)
	})
	wantsText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)string|\btext|\bprint|json|\bformat|\btemplate|字符串|文本|打印|格式`)
	})
	// equalities match, by the ending of a file, the names by which a language asks values whether they are equal, or as
	// what they are compared; and where one is looked up it is out of sight.
	equalities = map[string]func() *regexp.Regexp{
		".py": sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^.\w])(__eq__|__ne__)\b|\b(mock\.ANY)\b`) }),
		".go": sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^func \([^)]*\) (Equal|Is)\(`) }),
		".js": sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`(?:^|[^.\w$])(valueOf|toString|toJSON|asymmetricMatch)\s*(?:\([^)]*\)\s*\{|[=:]\s*)|` +
				`\.(valueOf|toString|toJSON)\s*=[^=]|\bSymbol\.(toPrimitive)\b`)
		}),
	}
	ofClass = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*(?:export\s+)?(?:default\s+)?class\s+([\w$]+)|^func \(\w* ?\*?(\w+)`)
	})
)

// equality doubts the tests that fail when an equality is taken away that the work brings and nobody asked for: what it
// says is equal may be nothing of the kind. Tests that make the values themselves which are compared ask for it.
func (p *proving) equality(ctx context.Context, tests []*subject) error {
	wanted := p.asked()
	if wantsEqual().MatchString(wanted) {
		return nil
	}
	for _, f := range p.result.Changed {
		text, ok := p.now[f.Path]
		if !ok || isTest(f.Path) {
			continue
		}
		for _, e := range ownEqualities(f.Path, p.before[f.Path], text) {
			if strings.HasPrefix(text[e.From:], "to") && wantsText().MatchString(wanted) {
				continue
			}
			made := regexp.MustCompile(`\b` + regexp.QuoteMeta(e.Name) + `[({]`)
			err := p.taken([]cut.Part{e}, func() error {
				return p.bench.try(ctx, tests, func(s *subject, is sight) {
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
