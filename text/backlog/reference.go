package backlog

import (
	"regexp"
	"strings"

	"pawl/text/markdown"
	"pawl/text/pattern"
)

// What texts say of dependencies: a phrase, then references. The phrases are those that people write on GitHub, in
// English and Chinese. One reference may stand in a link, in emphasis, or behind the word for what it is.
const (
	oneRef  = `(?:https?://[^\s()<>\]]+/(?:issues|pull)/[0-9]+|[\w.-]+/[\w.-]+#[0-9]+|#[\p{L}\p{N}_][\p{L}\p{N}_.-]*|GH-[0-9]+|ISS-[A-Za-z0-9-]+)`
	refTrim = `[\[\]*_()<>]*`
	refWord = `(?:(?:the |issues? |tasks? |tickets? |PRs? |pull requests? |议题|任务|问题)[ \t]*)*`
	refLink = `(?:\]\([^()\s]*\))?`
	refJoin = `(?:[ \t]*(?:,[ \t]*and|,|，|、|;|；|&|\+|and|和|与|及|以及)[ \t]*|[ \t]+)`
	refList = refWord + refTrim + oneRef + refLink + refTrim + `(?:` + refJoin + refWord + refTrim + oneRef +
		refLink + refTrim + `)*`
	refPhrase = `(?:\b(?:blocked by|blocked on|depends (?:up)?on|depend (?:up)?on|dependent on|requires|dependenc(?:y|ies))\b|依赖于|依赖|取决于|阻塞于|受阻于|前置任务|前置议题|前置)`
)

var (
	// depends finds a phrase with its references behind it; blockedBy is the Chinese form with the references in its
	// middle.
	depends   = pattern.New(`(?i)` + refPhrase + `[*_]*[ \t]*[:：]?[*_]*[ \t]*(` + refList + `)`)
	blockedBy = pattern.New(`(?i)(?:被|受)[ \t]*(` + refList + `)[ \t]*(?:所)?[ \t]*阻塞`)
	// announced is a line that says that a list of references follows.
	announced = pattern.New(`(?i)^[ \t]*(?:#{1,6}[ \t]*)?[*_]*` + refPhrase + `[*_]*[ \t]*[:：]?[*_]*[ \t]*$`)
	// listed is an entry of such a list.
	listed = pattern.New(`(?i)^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[[^\]]\][ \t]+)?(` + refList + `)`)
	// singleRef finds the references in a list of them.
	singleRef = pattern.New(`(?i)` + oneRef)
	// negated is what turns a phrase into its opposite, right in front of it.
	negated = pattern.New(`(?i)(?:\bnot|n't|\bno longer|\bnever|\bno|不|不再|无需|没有|未)[ \t]*(?:be[ \t]+|been[ \t]+|currently[ \t]+|actually[ \t]+)?$`)
	// struck is text that its author crossed out, and codeSpan text that is meant letter by letter.
	struck   = pattern.New(`~~[^~]*~~`)
	codeSpan = pattern.New("`[^`]*`")
)

// mention is a reference to another issue, in the text of one; line counts from 0 in that text.
type mention struct {
	ref  string
	line int
}

// mentions finds the dependencies that a text in Markdown states. What stands in code, in quotations, in comments or is
// crossed out states none.
func mentions(text string) (out []mention) {
	listing := false
	scan := &markdown.Scanner{Rules: listRules}
	for n, l := range strings.Split(text, "\n") {
		l, plain := scanLine(scan, l)
		if !plain || strings.HasPrefix(strings.TrimSpace(l), ">") {
			continue
		}
		if listing {
			if m := listed.Get().FindStringSubmatch(l); m != nil {
				out = refs(out, m[1], n)
				continue
			}
			listing = strings.TrimSpace(l) == ""
		}
		if announced.Get().MatchString(l) {
			listing = true
			continue
		}
		out = stated(out, l, n)
	}
	return out
}

// stated adds what one line states.
func stated(out []mention, l string, n int) []mention {
	if !strings.ContainsAny(l, "#-/") {
		return out // no reference is without one of these, and most lines end here
	}
	l = blank(struck.Get(), blank(codeSpan.Get(), l))
	for _, find := range []*regexp.Regexp{depends.Get(), blockedBy.Get()} {
		for _, at := range find.FindAllStringSubmatchIndex(l, -1) {
			if !negated.Get().MatchString(l[:at[0]]) {
				out = refs(out, l[at[2]:at[3]], n)
			}
		}
	}
	return out
}

// blank puts blanks in the place of what is found, so that places stay as they are.
func blank(what *regexp.Regexp, l string) string {
	return what.ReplaceAllStringFunc(l, func(s string) string { return strings.Repeat(" ", len(s)) })
}

func refs(out []mention, list string, n int) []mention {
	for _, ref := range singleRef.Get().FindAllString(list, -1) {
		out = append(out, mention{strings.TrimRight(ref, ".-_"), n})
	}
	return out
}

// listRules: comments may begin anywhere, and what stands behind the row of a fence holds no backtick.
var listRules = markdown.Rules{Comments: markdown.WithinLines,
	Fence: func(_, info string) bool { return !strings.Contains(info, "`") }}

// scanLine returns the next line without comments, and whether it is text and no code.
func scanLine(s *markdown.Scanner, l string) (string, bool) {
	if s.InCode() {
		l = strings.TrimSpace(l) // what ends a block may have blanks of every kind around it
	}
	l, kind := s.Next(l)
	return l, kind == markdown.Prose
}
