package view

import (
	"fmt"
	"strconv"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/message"
)

// Pull is what a pull request says of a run.
type Pull struct {
	// Run and Task are the labels.
	Run, Task          string
	Title, Requirement string
	// Lang is the locale of the words.
	Lang  string
	Risk  pawl.Risk
	Steps []string
	// Proof is nil where none was made.
	Proof       *Proof
	Checks      []effect.CheckOutcome
	Environment string
	Spent       effect.Usage
	Land        effect.LandResult
	Base        string
}

// maxRows bounds the rows of each list in a pull request, so that the whole stays below what forges take.
const maxRows = 40

// alone keeps a forge from making something of names and numbers in the text of others: who is called by @ is told, and
// "fixes" before a number would close an issue.
var alone = strings.NewReplacer("@", "@&#8203;", "#", "#&#8203;")

func (p Pull) lang() message.Lang { return message.ParseLang(p.Lang) }

// OK reports whether the work is proven, or a person took it.
func (p Pull) OK() bool { return p.Proof == nil || p.Proof.Verdict != effect.Unproven }

// Line says in one line what was proven.
func (p Pull) Line() string {
	passed, shown, all := 0, 0, 0
	for _, c := range p.Checks {
		if c.Status == effect.CheckPassed {
			passed++
		}
	}
	if p.Proof != nil {
		all = len(p.Proof.Criteria)
		for _, c := range p.Proof.Criteria {
			if c.Verdict == effect.Proven || c.Verdict == effect.AlreadySo {
				shown++
			}
		}
	}
	return p.lang().Text("pull.line", shown, all, passed, len(p.Checks))
}

// Body is the description in Markdown.
func (p Pull) Body() string {
	l := p.lang()
	var b strings.Builder
	section := func(key string) { b.WriteString("\n### " + l.Text(key) + "\n\n") }
	b.WriteString(alone.Replace(quoted(p.Requirement)))
	if p.Proof != nil && len(p.Proof.Criteria) > 0 {
		section("pull.criteria")
		p.criteria(&b)
	}
	if len(p.Checks) > 0 {
		section("pull.checks")
		p.checks(&b)
	}
	if len(p.Steps) > 0 {
		section("pull.steps")
		for _, s := range p.Steps[:min(len(p.Steps), maxRows)] {
			b.WriteString("- " + alone.Replace(start(s, maxCell)) + "\n")
		}
		more(&b, len(p.Steps))
	}
	section("pull.facts")
	fact := func(key, value string) {
		if value != "" {
			b.WriteString("- " + l.Text(key) + ": " + value + "\n")
		}
	}
	fact("pull.tree", span(p.Land.Tree))
	fact("pull.base", code(p.Base))
	fact("pull.commit", span(p.Land.Commit))
	fact("pull.environment", code(p.Environment))
	fact("pull.risk", string(p.Risk))
	fact("pull.files", strconv.Itoa(len(p.Land.Files)))
	fact("pull.cost", p.cost())
	fact("pull.run", p.Run+" · "+p.Task)
	section("pull.undo")
	if p.Land.Outcome == effect.Landed {
		b.WriteString(l.Text("pull.undo_landed", p.Run) + "\n")
	} else {
		b.WriteString(l.Text("pull.undo_kept", p.Run) + "\n")
	}
	b.WriteString("\n" + l.Text("pull.said") + "\n")
	return b.String()
}

// code is span for what may be empty, and then is left out.
func code(s string) string {
	if s == "" {
		return ""
	}
	return span(s)
}

func more(b *strings.Builder, n int) {
	if n > maxRows {
		fmt.Fprintf(b, "- … +%d\n", n-maxRows)
	}
}

func (p Pull) criteria(b *strings.Builder) {
	l := p.lang()
	word := func(pair [2]string) string { return pair[map[message.Lang]int{message.English: 1}[l]] }
	for _, c := range p.Proof.Criteria[:min(len(p.Proof.Criteria), maxRows)] {
		v, why := c.Verdict, l.Text("proof."+string(c.Why))
		if v == effect.Unproven && p.Proof.Verdict == effect.Accepted {
			v, why = effect.Accepted, p.Proof.By.Label()+": "+p.Proof.Reason
		}
		text := "- " + word(proven[v]) + " · " + line(c.Text, maxCell) + " — " + line(why, maxCell)
		if len(c.Shown) > 0 {
			text += " (" + line(strings.Join(c.Shown, ", "), maxCell) + ")"
		}
		b.WriteString(alone.Replace(text) + "\n")
	}
	more(b, len(p.Proof.Criteria))
	if n := len(p.Proof.Unnoticed); n > 0 {
		b.WriteString("- " + l.Text("pull.unnoticed", n) + "\n")
	}
}

func (p Pull) checks(b *strings.Builder) {
	l := p.lang()
	b.WriteString("| " + l.Text("pull.check") + " | " + l.Text("pull.exit") + " | " + l.Text("pull.seconds") + " | " +
		l.Text("pull.tests") + " | " + l.Text("pull.digest") + " |\n|---|---|---|---|---|\n")
	for _, c := range p.Checks[:min(len(p.Checks), maxRows)] {
		tests := "-"
		if c.Tests != nil {
			tests = fmt.Sprintf("%d / %d", c.Tests.Passed, c.Tests.Passed+c.Tests.Failed+c.Tests.Skipped)
		}
		exit := strconv.Itoa(c.ExitCode)
		if c.Status == effect.CheckSkipped {
			exit = "-"
		}
		fmt.Fprintf(b, "| %s | %s | %.1f | %s | %s |\n", strings.ReplaceAll(span(c.Command), "|", `\|`), exit,
			float64(c.DurationMS)/1000, tests, code(short(c.Digest)))
	}
	more(b, len(p.Checks))
}

func (p Pull) cost() string {
	u := p.Spent
	if u.Requests == 0 {
		return p.lang().Text("pull.free")
	}
	money := strconv.FormatFloat(float64(u.MicroUSD)/1e6, 'f', 4, 64)
	if u.Unpriced {
		money = "≥ " + money
	}
	return p.lang().Text("pull.spent", money, u.InTokens+u.OutTokens, u.Requests)
}

// Note is the beginning of the comment that holds the proof of the records.
func (p Pull) Note() string { return p.lang().Text("pull.note", p.Task, p.Line()) }
