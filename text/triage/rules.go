package triage

import (
	"pawl/text/pattern"
	"regexp"
	"strings"
)

// textRule is one way in which the text of a program says something of extremely high risk.
type textRule struct {
	kind  RiskKind
	match *regexp.Regexp
}

// zhGap is a character within a part of a Chinese sentence.
const zhGap = `[^,。;\n]`

var (
	sqlWords = pattern.New(`\b(?:delete\s+from|truncate(?:\s+table)?)\s+["\x60\[]?[a-z_][\w.]*["\x60\]]?|\b(?:drop\s+(?:table|database|schema|user|role|view)(?:\s+if\s+exists)?)\s+["\x60\[]?[a-z_][\w.]*`)
	upper    = pattern.New(`^[A-Z]+\b`)
	sqlTail  = pattern.New(`^\s*(?:;|where\b|cascade\b|restart identity\b)`)
)

// sql finds statements that destroy data. Words that also are English count as SQL where they are written as SQL is: in
// capitals, in code, or with what follows in a statement.
func (d *detector) sql(c clause) {
	text := d.text[c.start:c.end]
	if !hasAny(text, []string{"delete", "truncate", "drop"}) {
		return
	}
	for _, m := range sqlWords.Get().FindAllStringIndex(text, -1) {
		i, j := c.start+m[0], c.start+m[1]
		at := d.span(i, j)
		q, quoted := within(d.quotes, at.Start)
		code := quoted && q.kind != quoteSpeech
		if upper.Get().MatchString(at.In(d.src)) || code || sqlTail.Get().MatchString(d.text[j:]) {
			d.add(RiskDataLoss, i, j, d.stance(c, i, j))
		}
	}
}

var (
	// commandStart finds where a command may begin that is worth being parsed; the parser decides.
	commandStart = pattern.New(`(?:^|[\s:($>\x60'"“「]|\p{Han})((?:sudo|doas)\s+[a-z/.]|rm\s+-|git\s+(?:push|reset|clean|filter-branch|filter-repo|stash|reflog|branch|update-ref)\b|(?:kill|killall|pkill)\s+-|chmod\s+[-0-7a-z+=,]|chown\s|dd\s+(?:if|of)=|mkfs|wipefs\s|shred\s|find\s+\S+\s.*-(?:delete|exec)|kubectl\s|terraform\s|helm\s|docker\s|npm\s+(?:publish|unpublish)|yarn\s+(?:npm\s+)?publish|pnpm\s+publish|cargo\s+publish|twine\s+upload|gem\s+push|(?:shutdown|halt|poweroff)\s+(?:-|now|\+)|systemctl\s|psql\s|mysql\s|redis-cli\s|mongo(?:sh)?\s|aws\s|gcloud\s|ssh\s|dropdb\s|gh\s+(?:repo|release)\s)`)
	proseWord    = pattern.New(`\s(?:and|then|to|in|on|before|after|or|when|if|because|which|that|is|are|does|from|for|with|the|would|will|was|but|so|at|by|as|should|please|,)\s|\p{Han}|[。、]`)
)

// maxCandidate bounds what of a text is taken for one command, in bytes.
const maxCandidate = 4096

// commandsIn finds commands in a text and judges them as commands are judged. Of a command that stands among words,
// only what comes before the next plain word is taken.
func (d *detector) commandsIn(c clause) {
	text, done := d.text[c.start:c.end], 0
	for _, m := range commandStart.Get().FindAllStringSubmatchIndex(text, -1) {
		i, end := c.start+m[2], min(c.end, c.start+m[2]+maxCandidate)
		if i < done {
			continue // it belongs to the command before it
		}
		if q, ok := within(d.quotes, d.at[i]); ok {
			if q.kind != quoteFence {
				end = min(max(d.find(q.End), i), i+maxCandidate)
			}
			if mark := strings.IndexAny(d.text[i:end], "`\n"); mark >= 0 {
				end = i + mark
			}
			if q.kind == quoteSpeech {
				end = max(i, end-1)
			}
		} else if cut := proseWord.Get().FindStringIndex(d.text[i:end]); cut != nil && !c.comment {
			end = i + cut[0]
		}
		done = end
		for _, f := range DetectCommand(strings.TrimRight(d.kept[i:end], " .!?'\"”」")) {
			d.add(f.Kind, i+f.Start, i+f.End, d.stance(c, i, min(end, i+1)))
		}
	}
}
