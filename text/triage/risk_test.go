package triage

import (
	"fmt"
	"strings"
	"testing"

	"pawl/internal/golden"
)

// measured counts what the sentences of a set are taken for: what is found, and what is only asked about.
type measured struct{ dangerous, found, asked, harmless, alarms, doubted int }

// caught is how many of the dangerous sentences are found or asked about, doubts how many of the others, in percent.
func (m measured) caught() float64 { return 100 * float64(m.found+m.asked) / float64(m.dangerous) }
func (m measured) doubts() float64 { return 100 * float64(m.alarms+m.doubted) / float64(m.harmless) }

// measure judges a set of labelled sentences, and tells wrong those that are not even asked about, and false alarms.
func measure(t *testing.T, name string, judge func(string) []Finding, wrong func(e example)) measured {
	t.Helper()
	var m measured
	for _, e := range examples(t, name) {
		list := judge(e.text)
		acts, asks := Acts(list), Asks(list)
		of, done, unsure := &m.harmless, &m.alarms, &m.doubted
		switch {
		case e.want == "dangerous":
			of, done, unsure = &m.dangerous, &m.found, &m.asked
		case e.want != "harmless":
			t.Fatalf("%s:%d: label %q", name, e.line, e.want)
		}
		*of++
		switch {
		case acts:
			*done++
		case asks:
			*unsure++
		}
		if e.want == "dangerous" != asks {
			wrong(e)
		}
	}
	return m
}

// weighed measures a set with the weights that are given.
func weighed(t *testing.T, name string, w map[string]float64) measured {
	t.Helper()
	return measure(t, name, func(text string) []Finding { return weigh(text, w) }, func(example) {})
}

// TestTunedRisks holds the judgement to the sentences that it was tuned on.
func TestTunedRisks(t *testing.T) {
	m := measure(t, "risk-tuned.tsv", Detect, func(e example) {
		t.Errorf("risk-tuned.tsv:%d: not %s: %s %v", e.line, e.want, e.input, Detect(e.text))
	})
	if m.dangerous != 229 || m.harmless != 201 {
		t.Errorf("%+v", m)
	}
}

// held are the sets of sentences that nobody looked at while the judgement was tuned, with what was found of each when
// it was measured, once. Each was written before the judgement was mended by what the set before it had shown; since
// then the sets hold what was reached, by the rules alone and with the guess. The weights are learnt from them, too: of
// leftOut percent something was found, or asked about, when they were learnt without the set, and of doubts percent of
// its harmless sentences.
var held = []struct {
	name            string
	sentences       int
	found, harmless string  // of the dangerous, and false alarms, when it was measured
	byRules         float64 // of the dangerous that the rules alone find now, in percent
	leftOut, doubts float64
}{
	{"risk-held-1.tsv", 360, "91.7 %", "6.1 %", 95, 99.4, 3.9},
	{"risk-held-2.tsv", 300, "93.3 %", "3.3 %", 95, 100, 4.7},
	{"risk-held-3.tsv", 300, "88.0 %", "6.7 %", 95, 99.3, 4.0},
	{"risk-held-4.tsv", 300, "90.0 %", "5.3 %", 95, 99.3, 4.7},
	{"risk-held-5.tsv", 305, "61.5 % (and 27.6 % asked about)", "0.0 % (and 4.7 % asked about)", 60, 95.5, 5.4},
}

func heldNames() (out []string) {
	for _, set := range held {
		out = append(out, set.name)
	}
	return out
}

// tolerated is by how many percent machines may differ in what they learn.
const tolerated = 0.7

// TestHeldRisks holds the judgement to the goal on every set: 95 % of the dangerous sentences are found or asked about,
// at most 3 % of the others are false alarms, and at most 5 % asked about. What it does on sentences that nobody has
// seen is less, and the table above says it.
func TestHeldRisks(t *testing.T) {
	for _, set := range held {
		wrong := map[string]int{}
		m := measure(t, set.name, Weigh, func(e example) { wrong[e.want+" "+e.kind+" "+e.form]++ })
		if m.dangerous+m.harmless != set.sentences {
			t.Errorf("%s: %+v", set.name, m)
		}
		if m.caught() < 95 || 100*m.alarms > 3*m.harmless || m.doubts() > 5 {
			t.Errorf("%s: %+v: %v", set.name, m, wrong)
		}
		rules := measure(t, set.name, Detect, func(example) {})
		if rules.caught() < set.byRules || rules.doubts() > 3 {
			t.Errorf("%s: the rules alone: %+v", set.name, rules)
		}
	}
}

// untuned is the newest set, on which nothing was ever tuned: what is found of its dangerous sentences, what is asked
// about because the judge is not sure, and what of the harmless ones is an alarm or is asked about. When it was measured
// first, 95.6 % was found or asked about, and 5.0 % of the harmless ones; since then the guess has learnt from requests
// of other kinds, which were written without a look at it.
var untuned = struct {
	name string
	measured
	foundPart, askedPart, alarmPart, doubtsPart string
}{"risk-held-6.tsv", measured{dangerous: 160, found: 97, asked: 55, harmless: 160, alarms: 0, doubted: 7},
	"60.6 %", "34.4 %", "0.0 %", "4.4 %"}

// TestUnseenRisks holds the judgement to what was measured. Figures that become better are no reason to change them,
// and a set that is tuned on is no longer unseen.
func TestUnseenRisks(t *testing.T) {
	got, want := weighed(t, untuned.name, weights()), untuned.measured
	if got.dangerous != want.dangerous || got.harmless != want.harmless {
		t.Errorf("%+v", got)
	}
	if got.caught() < want.caught() || got.alarms > want.alarms || got.doubts() > want.doubts() {
		t.Errorf("%+v, measured were %+v", got, want)
	}
}

// TestEveryRiskRule wants an example of each rule, so that no row of the table is idle, and ids of their own.
func TestEveryRiskRule(t *testing.T) {
	fired := map[string]bool{}
	for _, name := range append(heldNames(), "ehrb.tsv", "review.tsv", "risk-tuned.tsv") {
		for _, e := range examples(t, name) {
			f := fold(e.text)
			d := detector{folded: f, quotes: quotes(e.text)}
			for _, c := range clauses(f.text, d.quotes, f) {
				d.clause(c)
			}
			for _, id := range d.fired {
				fired[id] = true
			}
		}
	}
	seen := map[string]bool{}
	for _, r := range riskRules() {
		if seen[r.ID] || !fired[r.ID] {
			t.Errorf("%s has no example, or stands twice", r.ID)
		}
		seen[r.ID] = true
	}
}

// TestPublishedRiskRules holds docs/spec/risk.md to the table; -update writes it.
func TestPublishedRiskRules(t *testing.T) {
	golden.Check(t, "../../docs/spec/risk.md", riskPage())
}

func riskPage() string {
	var b strings.Builder
	b.WriteString(riskIntro)
	b.WriteString("| set | sentences | found when measured | false alarms when measured |" +
		" found or asked about when left out | harmless ones asked about when left out |\n|---|---|---|---|---|---|\n")
	for _, set := range held {
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s | %.1f %% | %.1f %% |\n", set.name, set.sentences, set.found, set.harmless,
			set.leftOut, set.doubts)
	}
	fmt.Fprintf(&b, riskUnseen, untuned.name, untuned.dangerous+untuned.harmless, untuned.foundPart, untuned.askedPart,
		untuned.alarmPart, untuned.doubtsPart)
	b.WriteString(riskTable)
	between := []string{"nothing", "a place", "anything"}
	for _, r := range riskRules() {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s | %s |\n", r.ID, r.Kind, r.Verb, r.Object,
			strings.ReplaceAll(strings.ReplaceAll(r.Need, " ", "; "), "|", " or "), r.Unless, between[r.Reach])
	}
	return b.String()
}

const riskIntro = `# How words are judged for high risk

Written by ` + "`go test ./text/triage -update`" + `, from the table that the program uses. [Extremely high risk](workflow.md#ehrb) says what comes of a
finding; commands, SQL and secret values in a text are judged on their own.

A sentence is cut into clauses, and a clause into words and phrases of ` + "`text/triage/lexicon`" + `, a file for each language, in which each stands under
what it means. A rule finds a verb of one class with an object of another, where what it needs besides stands in the clause and nothing
that takes it back: what is done at home (` + "`local`, `fake`" + `) destroys nobody's data. A word that only says of what kind a part of a program or a text is
is no object: "password field", 支付页面的按钮. Then the mood says whether it is done (an action, for which a person is asked), or only
mentioned: forbidden, asked about, documented, supposed, past, quoted, guarded against.

Where a verb is not known but the clause tells somebody to do something to what is live, with a secret and a place that others read, with all
customers or on somebody else's machine, the rules of the class ` + "`command`" + ` find it: that is unsure, and unsure asks.

## How well

The sets were written before the judge was mended by what the one before had shown, and each was measured once. The judge was mended after
each measurement, and a test holds these sets to the goal: 95 % found or asked about, at most 3 % false alarms, and at most 5 % of the harmless
ones asked about. "Left out" is what comes of a set when the guess (below) has learnt from all others; the rules have seen the first four, and
of the last they alone find some 60 %.

`

const riskUnseen = `
The newest set was written by somebody who had not read the lexicon, and a few lines only of the other sets. Nothing was ever changed by it, so
that its figures are those of sentences that nobody has seen: 95.0 %% found or asked about. At its first measurement it was 95.6 %%, with 5.0 %% of the
harmless ones; since then the guess has learnt from requests of two other kinds, to move code and to do something small.

| set | sentences | found | asked about | false alarms | harmless ones asked about |
|---|---|---|---|---|---|
| ` + "`%s`" + ` | %d | %s | %s | %s | %s |

## When it is not sure

The words of a requirement are also guessed about, sentence by sentence. ` + "`text/triage/lexicon/notions.txt`" + ` puts words of both languages that do
much the same to a sentence into one row, such as what erases, what is live, or what is a part of a program, and
` + "`text/triage/lexicon/weights.txt`" + ` says how much each word, each notion, each two notions and each class of the lexicon speak for high risk or against
it, as the labelled sentences have taught it (` + "`go test ./text/triage -run Learnt -update`" + `). Where the rules find nothing in a sentence that sounds
dangerous, or something in one that hardly sounds so, the finding is *unsure*: a person is asked as for any other, and nothing else follows from
it. What they find in words in a sentence that does not sound so at all is a mention. A line that was printed, by its form, is not guessed about: code
and output are indented, or begin with the place in a file that they are about. A command, SQL or a secret value in a text is no matter of a
guess. In the words of a plan what the rules find is doubted in the same way, and nothing is found beside that, because its calls are judged.
`

const riskTable = `
## Rules

Ids are never reused. Classes of one column are alternatives; "a or b; c" needs one of the first and one of the second. The last column says what
may stand between an English verb and its object: no preposition, a preposition of place, or anything.

| id | kind | verb | object | needs | unless | between |
|---|---|---|---|---|---|---|
`

// TestReviewedInputs holds every judgement to the inputs of a review of the whole program, with what it wanted of each.
func TestReviewedInputs(t *testing.T) {
	n := 0
	for _, e := range examples(t, "review.tsv") {
		n++
		want := strings.Fields(e.kind)
		route, err := Decide(e.text, Situation{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(route.Kind); e.want != "-" && e.want != got && e.want != route.Command {
			t.Errorf("review.tsv:%d: route %s %s, want %s: %s", e.line, got, route.Command, e.want, e.input)
		}
		got, err := Evaluate(e.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want[0] != "-" && got.Ready() != (want[0] == "y") {
			t.Errorf("review.tsv:%d: %d points, ready %s is wanted: %s", e.line, got.Score, want[0], e.input)
		}
		if path, _ := got.Path(); want[1] != "-" && string(path[:1]) != want[1] {
			t.Errorf("review.tsv:%d: path %s, want %s: %+v %s", e.line, path, want[1], got.Factors, e.input)
		}
		if risk := got.HighRisk; want[2] == "a" != got.Dangerous() && want[2] != "-" || want[2] == "n" &&
			len(risk) > 0 {
			t.Errorf("review.tsv:%d: %v, want %s: %s", e.line, risk, want[2], e.input)
		}
	}
	if n != 80 {
		t.Errorf("%d inputs", n)
	}
}
