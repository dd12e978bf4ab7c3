package triage

import (
	"fmt"
	"strings"
	"testing"

	"pawl/internal/golden"
)

// measured counts what Detect takes the sentences of a set for.
type measured struct{ dangerous, found, harmless, alarms int }

// measure judges a set of labelled sentences, and tells wrong those that it takes for something else.
func measure(t *testing.T, name string, wrong func(e example)) measured {
	t.Helper()
	var m measured
	for _, e := range examples(t, name) {
		acts := Acts(Detect(e.text))
		switch e.want {
		case "dangerous":
			m.dangerous++
			if acts {
				m.found++
				continue
			}
		case "harmless":
			m.harmless++
			if !acts {
				continue
			}
			m.alarms++
		default:
			t.Fatalf("%s:%d: label %q", name, e.line, e.want)
		}
		wrong(e)
	}
	return m
}

// TestTunedRisks holds the judgement to the sentences that it was tuned on.
func TestTunedRisks(t *testing.T) {
	m := measure(t, "risk-tuned.tsv", func(e example) {
		t.Errorf("risk-tuned.tsv:%d: not %s: %s %v", e.line, e.want, e.input, Detect(e.text))
	})
	if m.dangerous != 229 || m.harmless != 201 {
		t.Errorf("%+v", m)
	}
}

// held are the sets of sentences that nobody looked at while the judgement was tuned, with what was found of each when
// it was measured, once. Each was written before the judgement was mended by what the set before it had shown; since
// then the sets hold what was reached. The weights are learnt from them, too.
var held = []struct {
	name             string
	sentences        int
	found, harmless  string // of the dangerous, and false alarms, when it was measured
	dangerous, alarm int    // what has to be found at least, and may be a false alarm at most, in percent
}{
	{"risk-held-1.tsv", 360, "91.7 %", "6.1 %", 95, 3},
	{"risk-held-2.tsv", 300, "93.3 %", "3.3 %", 95, 3},
	{"risk-held-3.tsv", 300, "88.0 %", "6.7 %", 95, 3},
	{"risk-held-4.tsv", 300, "90.0 %", "5.3 %", 95, 3},
}

// TestHeldRisks holds the judgement to the goal on every set: 95 % of the dangerous sentences are found, and at most 3
// % of the others are false alarms. What it does on sentences that nobody has seen is less, and the table above says
// it.
func TestHeldRisks(t *testing.T) {
	for _, set := range held {
		wrong := map[string]int{}
		m := measure(t, set.name, func(e example) { wrong[e.want+" "+e.kind+" "+e.form]++ })
		if m.dangerous+m.harmless != set.sentences {
			t.Errorf("%s: %+v", set.name, m)
		}
		if 100*m.found < set.dangerous*m.dangerous || 100*m.alarms > set.alarm*m.harmless {
			t.Errorf("%s: %d of %d found, %d of %d false alarms: %v", set.name, m.found, m.dangerous, m.alarms,
				m.harmless, wrong)
		}
	}
}

// untuned is the newest set, on which nothing was tuned since it was measured, once: what was found of its dangerous
// sentences, what was asked about because the judge was not sure, and what of the harmless ones was an alarm or was
// asked about.
var untuned = struct {
	name                                        string
	dangerous, found, asked                     int
	harmless, alarms, doubted                   int
	foundPart, askedPart, alarmPart, doubtsPart string
}{"risk-held-5.tsv", 156, 96, 43, 149, 0, 7, "61.5 %", "27.6 %", "0.0 %", "4.7 %"}

// TestUnseenRisks holds the judgement to what was measured. Figures that become better are no reason to change them,
// and a set that is tuned on is no longer unseen.
func TestUnseenRisks(t *testing.T) {
	got := untuned
	got.dangerous, got.found, got.asked, got.harmless, got.alarms, got.doubted = 0, 0, 0, 0, 0, 0
	for _, e := range examples(t, untuned.name) {
		list := Weigh(e.text)
		acts, asks := Acts(list), Asks(list) && !Acts(list)
		n := map[bool]int{true: 1}
		if e.want == "dangerous" {
			got.dangerous, got.found, got.asked = got.dangerous+1, got.found+n[acts], got.asked+n[asks]
			continue
		}
		got.harmless, got.alarms, got.doubted = got.harmless+1, got.alarms+n[acts], got.doubted+n[asks]
	}
	if got.dangerous != untuned.dangerous || got.harmless != untuned.harmless {
		t.Errorf("%+v", got)
	}
	if got.found+got.asked < untuned.found+untuned.asked || got.alarms > untuned.alarms || got.doubted > untuned.doubted {
		t.Errorf("%+v, measured were %+v", got, untuned)
	}
}

// TestEveryRiskRule wants an example of each rule, so that no row of the table is idle, and ids of their own.
func TestEveryRiskRule(t *testing.T) {
	fired := map[string]bool{}
	for _, name := range []string{"ehrb.tsv", "review.tsv", "risk-tuned.tsv", "risk-held-1.tsv", "risk-held-2.tsv",
		"risk-held-3.tsv", "risk-held-4.tsv"} {
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
	b.WriteString("| set | sentences | found when measured | false alarms when measured |\n|---|---|---|---|\n")
	for _, set := range held {
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s |\n", set.name, set.sentences, set.found, set.harmless)
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
each measurement, and these sets are held to the goal of 95 % found and at most 3 % false alarms by a test.

`

const riskUnseen = `
The last set was written when a requirement was guessed about, too (below). Nothing was changed by it since, so that its figures are those of
sentences that nobody has seen: the goal is reached for false alarms, and not for what is found.

| set | sentences | found | asked about | false alarms | harmless ones asked about |
|---|---|---|---|---|---|
| ` + "`%s`" + ` | %d | %s | %s | %s | %s |

## When it is not sure

The words of a requirement are also guessed about, sentence by sentence: ` + "`text/triage/lexicon/weights.txt`" + ` says how much each word, each class
of the lexicon and each two classes speak for high risk or against it, as the labelled sentences have taught it
(` + "`go test ./text/triage -run Learnt -update`" + `). Where the rules find nothing in a sentence that sounds dangerous, or something in one that does not
sound so at all, the finding is *unsure*: a person is asked as for any other, and nothing else follows from it. The words of plans are not guessed about, because
their calls are judged.
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
