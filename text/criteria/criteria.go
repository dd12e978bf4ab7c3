// Package criteria reads from a requirement, in English or Chinese, what has to hold once it is met, and how that can
// be shown. It needs no model: the same words give the same criteria every time. What it does not understand it leaves
// to a person; it never makes a proof up.
//
// It goes by words and reads no code, so that it errs: of 40 requirements that were labelled before it was written, 30
// gave exactly the criteria of their labels, and 34 the right proofs. People see what it gives before they approve.
package criteria

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"pawl/text/display"
	"pawl/text/pattern"
	"pawl/text/plan"
)

// Limits on what is read and what comes of it.
const (
	maxRead  = 4 << 10 // bytes of a requirement
	maxOf    = 12      // criteria
	maxWords = 600     // characters of what a criterion says
	maxTexts = 8
)

// Of returns the criteria of a requirement: at least one and at most twelve, with the ids c1, c2 and so on, or none for
// a requirement that says nothing. From are the words of the requirement, and Text what they ask for. Behaviour is
// shown by a check, one of whose tests has to speak of a name in the words where there is one; what is only to be built
// otherwise is kept, what is to go is gone, and documents and configuration are a diff. What nothing can show is left
// to a person, and so is what is more than twelve or stands behind the first 4 KiB.
func Of(requirement string) []plan.Criterion {
	all := strings.TrimSpace(strings.ToValidUTF8(requirement, " "))
	text := display.Head(all, maxRead)
	if clip(all) == "" {
		return nil
	}
	var d deriver
	list := clauses(text)
	stay := alias.Get().MatchString(strings.ToLower(text))
	rest := "" // what nothing is read from
	for i := range list {
		if len(d.out) >= maxOf {
			rest += list[i].whole + "; "
			continue
		}
		list[i].alias = stay
		d.take(list[i], false)
	}
	rest += all[len(text):]
	for i := 0; i < len(list) && len(d.out) == 0; i++ {
		d.take(list[i], true)
	}
	if len(d.out) == 0 {
		d.add(clause{whole: all}, plan.Criterion{Proof: plan.ProofPerson})
	} else if rest = clip(rest); rest != "" || len(d.out) > maxOf {
		for _, c := range slices.Backward(d.out[min(len(d.out), maxOf-1):]) {
			rest = c.From + "; " + rest
		}
		d.out = d.out[:min(len(d.out), maxOf-1)]
		d.add(clause{whole: strings.TrimSuffix(rest, "; ")}, plan.Criterion{Proof: plan.ProofPerson})
	}
	for i := range d.out {
		d.out[i].ID = "c" + strconv.Itoa(i+1)
	}
	return d.out
}

// alias says that an old name is to stay beside the new one.
var alias = pattern.New(`\balias|backwards?[- ]compat|deprecat|别名|向后兼容|兼容旧|保留旧`)

// deriver collects the criteria of one requirement.
type deriver struct{ out []plan.Criterion }

// take adds what comes of one clause. It has to give something where nothing else does.
func (d *deriver) take(c clause, needed bool) {
	c.first = len(d.out) == 0
	for _, r := range rules {
		if list, ok := r(c, needed); ok {
			for _, p := range list {
				d.add(c, p)
			}
			return
		}
	}
}

// add completes a criterion: its words are the clause's, unless it says something of its own. Where what it needs is
// longer than any name, nobody but a person can say that it holds.
func (d *deriver) add(c clause, p plan.Criterion) {
	long := func(s string) bool { return s == "" || len(s) > 300 }
	p.Texts, p.Paths = slices.DeleteFunc(p.Texts, long), slices.DeleteFunc(p.Paths, long)
	if p.Proof == plan.ProofDiff && len(p.Paths) == 0 || p.Proof == plan.ProofGone && len(p.Paths)+len(p.Texts) == 0 {
		p = plan.Criterion{Proof: plan.ProofPerson}
	}
	p.From = clip(c.whole)
	if p.Text == "" {
		p.Text = p.From
	}
	for _, q := range d.out {
		if q.Text == p.Text && q.Proof == p.Proof {
			return
		}
	}
	d.out = append(d.out, p)
}

// clip makes the words of a requirement fit to stand in a plan: on one line, with nothing that is not seen.
func clip(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(blankLetters, r):
			return -1
		}
		return r
	}, s)), " ")
	if r := []rune(s); len(r) > maxWords {
		return string(r[:maxWords-1]) + "…"
	}
	return s
}

// blankLetters are letters that look like nothing.
var blankLetters = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x115f, Hi: 0x1160, Stride: 1},
	{Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xffa0, Hi: 0xffa0, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}}}
