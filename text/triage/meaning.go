package triage

import (
	"pawl/text/pattern"
	"slices"
	"strings"
	"sync"
)

// grammar are the classes by which the parts of a clause are told apart.
type grammar struct {
	verbs, artifact, codepart, det, prep, loose, joint, do, live, back, firm, measure, things, make senses
	supposing, passes, time, hence, actor, turns, check, filler, handle, notVerb, finite, unable    senses
	open, pronoun, ends, passive, done, including, hidden, destroy, command, weighty, stops         senses
}

var grammarOf = sync.OnceValue(func() grammar {
	l := words()
	return grammar{
		verbs:     l.set(isVerb),
		artifact:  l.set("artifact"),
		codepart:  l.set("codepart artifact"),
		det:       l.set("det"),
		prep:      l.set("prep"),
		loose:     l.set("loose"),
		joint:     l.set("joint"),
		do:        l.set("do"),
		live:      l.set("live livemode"),
		back:      l.set("local"),
		firm:      l.set("provider golive forcepush hardreset others asroot social registry masslist freeentry"),
		measure:   l.set("all det"),
		things:    l.set("store machine workload system record"),
		make:      l.set("make"),
		supposing: l.set("supposing"),
		passes:    l.set("passes"),
		time:      l.set("time"),
		hence:     l.set("hence"),
		actor:     l.set("actor"),
		turns:     l.set("joint relative"),
		check:     l.set("check artifact"),
		filler:    l.set("filler"),
		handle:    l.set("handle"),
		notVerb:   l.set("det prep loose supposing live owner others joint refusing"),
		finite:    l.set("finite"),
		unable:    l.set("unable"),
		open:      l.set("open"),
		pronoun:   l.set("pronoun"),
		ends:      l.set("prep loose joint supposing"),
		passive:   l.set("passive"),
		done:      l.set("done"),
		including: l.set("including"),
		hidden:    l.set("secret person"),
		destroy:   l.set("destroy"),
		command:   l.set("command"),
		weighty:   l.set("store machine workload live everything secret guard rights payee money"),
		stops:     l.set("joint det prep"),
	}
})

// reading is a clause that is read for its meaning.
type reading struct {
	d      *detector
	c      clause
	text   string
	tokens []token
	all    senses // of every token that counts
	part   []int  // the part to which each token belongs
	parts  []senses
	made   int // the token with which a Chinese clause makes a part of a text or of a program, or -1
	g      grammar
}

// meanings finds what the words of a clause would do together.
func (d *detector) meanings(c clause) {
	if text := lex(d.text[c.start:c.end]); len(text) > 1 && c.start > c.sentence.start && d.before.end > 0 &&
		d.before.sentence == c.sentence && pointsBack(text) {
		c.start = d.before.start // the word for what is meant stands in the clause before
	}
	text := d.text[c.start:c.end]
	r := reading{d: d, c: c, text: text, tokens: lex(text), g: grammarOf()}
	r.made = r.makes()
	r.gather()
	command := r.command()
	for i, t := range r.tokens {
		if i == command {
			t.senses = t.senses.join(r.g.command)
		}
		if t.senses == (senses{}) {
			continue
		}
		for _, rule := range readyRules() {
			switch {
			case !r.holds(rule, i):
			case rule.Verb == "":
				if t.senses.meets(rule.object) {
					r.found(rule, i, i)
				}
			case !t.senses.meets(rule.verb) || i != command && !r.acts(i):
			case rule.Object == "" && r.neutral(i):
			case rule.Object == "":
				r.found(rule, i, i)
			default:
				if j := r.object(rule, i); j >= 0 {
					r.found(rule, i, j)
				}
			}
		}
	}
}

// pointsBack reports whether a clause is about what a pronoun stands for.
func pointsBack(tokens []token) bool {
	g := grammarOf()
	if tokens[0].senses.meets(g.including) && slices.ContainsFunc(tokens, func(t token) bool {
		return t.senses.meets(g.hidden)
	}) {
		return true
	}
	for i, t := range tokens[1:] {
		if t.senses.meets(g.pronoun) && tokens[i].senses.meets(g.verbs) && i < 3 {
			return true
		}
	}
	return false
}

// gather collects the senses of a clause, and of each of its parts: "reset the database and load the demo data" has
// two.
func (r *reading) gather() {
	r.part = make([]int, len(r.tokens))
	r.parts = []senses{{}}
	for i, t := range r.tokens {
		if i > 0 && !t.han && t.senses.meets(r.g.verbs) && r.tokens[i-1].senses.meets(r.g.joint) {
			r.parts = append(r.parts, senses{})
		}
		n := len(r.parts) - 1
		r.part[i] = n
		if !r.neutral(i) {
			r.all, r.parts[n] = r.all.join(t.senses), r.parts[n].join(t.senses)
		}
	}
}

// command returns the token with which a clause tells somebody to do something, whatever it is, or -1: its first word,
// if that may be a verb, or the Chinese word that brings in what something is done to.
func (r *reading) command() int {
	for i, t := range r.tokens {
		switch {
		case t.senses.meets(r.g.filler) && !t.han:
		case t.han:
			return r.handle()
		case t.senses.meets(r.g.notVerb), t.form&formGerund != 0, t.form&(formBase|formPast) == formPast:
			return -1
		case i+1 < len(r.tokens) && r.tokens[i+1].senses.meets(r.g.finite):
			return -1 // "users are …"
		default:
			return i
		}
	}
	return -1
}

// handle returns the Chinese word that brings in what something is done to, or -1 where nothing can be done.
func (r *reading) handle() int {
	if r.all.meets(r.g.unable) {
		return -1
	}
	for k, t := range r.tokens {
		if t.han && t.senses.meets(r.g.handle) {
			return k
		}
	}
	return -1
}

// holds reports whether what a rule needs besides stands in the clause, and nothing that takes it back. What is live
// is not at home.
func (r *reading) holds(rule readyRule, i int) bool {
	unless := rule.unless
	if r.all.meets(r.g.live) {
		unless = unless.less(r.g.back)
	}
	if r.parts[r.part[i]].meets(unless) || !r.all.meets(rule.object) && rule.Object != "" {
		return false
	}
	for _, group := range rule.need {
		if !r.all.meets(group) {
			return false
		}
	}
	return true
}

// found notes what a verb does to its object, with the mood in which it is said.
func (r *reading) found(rule readyRule, i, j int) {
	from, to := r.tokens[min(i, j)].start, r.tokens[max(i, j)].end
	if n := max(i, j) + 1; n < len(r.tokens) && !r.tokens[n].han && r.tokens[n].start == to+1 &&
		r.tokens[n].senses.meets(r.g.things) && !r.tokens[n].senses.meets(r.g.joint) {
		to = r.tokens[n].end // "the production database" as a whole
	}
	// The mood is that of the verb: what stands before it says whether it is done.
	told, end := from, to
	if rule.Verb == "command" {
		told, end = r.tokens[j].start, r.tokens[j].end
	}
	r.d.kind, r.d.bidden, r.d.fired = rule.Kind, i == 0, append(r.d.fired, rule.ID)
	stance := r.mood(i, told, end)
	if a, b := r.tokens[min(i, j)].end, r.tokens[max(i, j)].start; a < b && len(refusals(r.text[a:b])) > 0 {
		stance = StanceMention // 推送不能进 main
	}
	r.d.add(rule.Kind, r.c.start+from, r.c.start+to, stance)
}

// word returns what a token says.
func (r *reading) word(i int) string { return r.text[r.tokens[i].start:r.tokens[i].end] }

// acts reports whether a token that may be a verb is one here: "the release" and "a delete button" are none.
func (r *reading) acts(i int) bool {
	t := r.tokens[i]
	if t.han {
		return r.actsHan(i)
	}
	if t.form&(formBase|formS) == 0 {
		return true
	}
	if next := r.next(i); next.senses.meets(r.g.codepart) && !next.han && next.start == t.end+1 &&
		!next.senses.meets(r.g.verbs) && !next.senses.meets(r.g.weighty) {
		return false
	}
	return i == 0 || r.tokens[i-1].han || !r.named(i)
}

// actsHan is acts for a Chinese verb: 删除的条目, 部署脚本 and 改不了 do nothing.
func (r *reading) actsHan(i int) bool {
	t, next := r.tokens[i], r.next(i)
	switch {
	case next.senses.meets(r.g.unable), t.senses.meets(r.g.destroy) && next.end > 0 && r.word(i+1) == "的":
		return false
	case t.senses.meets(r.g.do), strings.HasSuffix(r.word(i), "掉"), strings.HasSuffix(r.word(i), "了"):
		return true
	}
	return next.start > t.end || !next.senses.meets(r.g.codepart) || next.senses.meets(r.g.verbs)
}

// named reports whether an article or the like before a word makes a thing of it, which nobody does: "kick off a
// production deploy" does.
func (r *reading) named(i int) bool {
	for k := i - 1; k >= max(0, i-3); k-- {
		before := r.tokens[k]
		switch {
		case before.senses.meets(r.g.do) && k < i-1, k > 0 && r.tokens[k-1].senses.meets(r.g.do) && k == i-1:
			return false
		case before.senses.meets(r.g.measure):
			return true
		case before.senses != (senses{}), k == i-1 && before.end != r.tokens[i].start-1:
			return false
		}
	}
	return false
}

// next is the token behind another; it is empty behind the last.
func (r *reading) next(i int) token {
	if i+1 < len(r.tokens) {
		return r.tokens[i+1]
	}
	return token{}
}

// passive reports whether a participle stands behind a form of "be".
func (r *reading) passive(i int) bool {
	for k := i - 1; k >= max(0, i-2); k-- {
		switch r.word(k) {
		case "be", "get", "gets", "is", "are", "being", "needs", "need", "want":
			return true
		}
	}
	return false
}

// Windows in which the object of a verb is looked for.
const (
	maxObject    = 16 // tokens behind an English verb
	maxObjectHan = 40 // tokens on both sides in a clause with Chinese
	maxBack      = 60 // tokens before a verb that are looked at for what they make of it
)

// object returns the place of the object of a verb, or -1.
func (r *reading) object(rule readyRule, i int) int {
	most, han := maxObject, r.mixed(i)
	if han {
		most = maxObjectHan
	}
	if j := r.objectBehind(rule, i, most, han); j >= 0 {
		return j
	}
	// It stands before a verb in Chinese, before a participle, and where a pronoun stands for it.
	if !han && !r.passive(i) && !r.next(i).senses.meets(r.g.pronoun) {
		return -1
	}
	for j := i - 1; j >= max(0, i-most); j-- {
		if r.tokens[j].senses.meets(r.g.time) && r.tokens[j].han {
			break // what happens at another time
		}
		if r.tokens[j].senses.meets(rule.object) && !r.neutral(j) && r.together(i, j) {
			return j
		}
	}
	return -1
}

// objectBehind is object behind the verb, up to where another verb begins something else.
func (r *reading) objectBehind(rule readyRule, i, most int, han bool) int {
	need := direct
	for j := i + 1; j < len(r.tokens) && j <= i+most; j++ {
		t := r.tokens[j]
		switch {
		case t.senses.meets(rule.object) && !r.neutral(j) && (need <= rule.Reach || han) && r.together(i, j):
			return j
		case t.han && t.senses.meets(r.g.time) && (r.next(j).end == 0 || r.word(j+1) != "的"):
			return -1 // what happens at another time
		case han:
		case t.senses.meets(r.g.supposing), t.senses.meets(r.g.turns) && r.next(j).senses.meets(r.g.verbs):
			return -1
		case t.senses.meets(r.g.loose):
			need = anywhere
		case t.senses.meets(r.g.prep):
			need = across
		}
	}
	return -1
}

// mixed reports whether Chinese stands around a token, so that its object may stand before it.
func (r *reading) mixed(i int) bool {
	for k := max(0, i-3); k < min(len(r.tokens), i+4); k++ {
		if r.tokens[k].han {
			return true
		}
	}
	return false
}

// together reports whether two tokens stand in the same quote, or in none. What is only named in speech marks is not
// what is done to.
func (r *reading) together(i, j int) bool {
	at := func(k int) (quote, bool) { return within(r.d.quotes, r.d.at[r.c.start+r.tokens[k].start]) }
	p, _ := at(i)
	q, _ := at(j)
	return p == q || p.kind != quoteSpeech && q.kind != quoteSpeech
}

// maxCompound is how many tokens of a compound are looked at for its head.
const maxCompound = 4

// neutral reports whether a token only says of what kind another thing is: the head of "password field" and of
// 支付页面的按钮 is a part of a program or of a text.
func (r *reading) neutral(i int) bool {
	t := r.tokens[i]
	if r.made >= 0 && i > r.made || t.senses.meets(r.g.firm) || t.senses.meets(r.g.measure) {
		return false
	}
	for k := i + 1; k < len(r.tokens) && k <= i+maxCompound; k++ {
		switch r.compound(i, k) {
		case headFound:
			return true
		case compoundEnds:
			return false
		}
	}
	return false
}

// What a token behind another says of the compound that both may belong to.
const (
	compoundGoesOn = iota
	headFound
	compoundEnds
)

// compound says whether token k is the head of a compound that begins with token i, or ends it. "The production search
// cluster" goes on behind its part of a program.
func (r *reading) compound(i, k int) int {
	n := r.tokens[k]
	if gap := r.text[r.tokens[k-1].end:n.start]; n.han != r.tokens[i].han && !n.han || len(gap) > 4 ||
		strings.Trim(gap, " -\"'`“”「」") != "" {
		return compoundEnds
	}
	verb, next := n.senses.meets(r.g.verbs), r.next(k)
	closes := next.end == 0 || next.senses.meets(r.g.ends) // nothing follows that a verb could act on
	switch {
	case n.senses.meets(r.g.artifact) && (n.han || !verb || closes):
		if !n.han && next.start == n.end+1 && next.senses.meets(r.g.things) {
			return compoundGoesOn
		}
		return headFound
	case n.senses.meets(r.g.stops), n.han && strings.ContainsAny(r.word(k), "把将给在到和里上中及并从用对"),
		n.han && verb && !r.heads(k), !n.han && n.senses.meets(r.g.do):
		return compoundEnds
	}
	return compoundGoesOn
}

// heads reports whether a Chinese verb only says of what kind the part is that follows it: 部署脚本, 重启的事故.
func (r *reading) heads(k int) bool {
	for n := k + 1; n < len(r.tokens) && n <= k+4; n++ {
		switch {
		case r.tokens[n].senses.meets(r.g.artifact):
			return true
		case !strings.Contains("的那这一个几", r.word(n)):
			return false
		}
	}
	return false
}

// mood says whether what a verb stands for would be done.
func (r *reading) mood(i, from, to int) Stance {
	if s := r.d.stance(r.c, r.c.start+from, r.c.start+to); s == StanceMention {
		return s
	}
	if r.modifies(i) || r.made >= 0 || onlyIf.Get().MatchString(r.text) || r.past(i) || r.content(i) || r.supposed(i) {
		return StanceMention
	}
	return StanceAction
}

// modifies reports whether a verb stands in what only says which part of a text or a program is meant, as between the
// first word and the last of 更新密钥存放位置的文档.
func (r *reading) modifies(i int) bool {
	n := len(r.tokens) - 1
	return i > 0 && i < n && n > 1 && r.tokens[n].han && r.tokens[n].senses.meets(r.g.artifact) && r.word(n-1) == "的" &&
		r.tokens[0].han && r.tokens[0].senses.meets(r.g.verbs) && !r.tokens[0].senses.meets(r.g.do)
}

// onlyIf says what has to come first: 两个人审批才能付.
var onlyIf = pattern.New(`才(?:能|可以|允许|行)`)

// past reports whether a verb stands in the past, as in "a script deleted all backups".
func (r *reading) past(i int) bool {
	t := r.tokens[i]
	if t.han {
		return i > 0 && r.tokens[i-1].senses.meets(r.g.passive) || r.next(i).senses.meets(r.g.done)
	}
	return t.form&(formBase|formS) == 0 && t.form&formPast != 0 && !r.passive(i)
}

// supposed reports whether a clause only supposes what a verb says, or says when something else is to happen: "if the
// database is wiped, …", "when the user deletes all files", 管理员清空租户时. What is to be done as soon as the checks
// pass is done.
func (r *reading) supposed(i int) bool {
	at := -1
	for k := i - 1; k >= max(0, i-maxBack); k-- {
		switch t := r.tokens[k]; {
		case t.senses.meets(r.g.passes), t.han && t.senses.meets(r.g.hence):
			return false
		case t.senses.meets(r.g.supposing):
			at = k
		}
		if at >= 0 {
			break
		}
	}
	switch goesOn := strings.Trim(r.d.text[r.c.end:r.c.sentence.end], " ,") != ""; {
	case at == 0 || at == 1 && r.tokens[1].han:
		return goesOn || r.tokens[at].han
	case at > 0:
		return i-at > 1
	}
	if next := r.next(i); next.han && next.senses.meets(r.g.time) && !strings.ContainsAny(r.text, "把将") {
		return true // 所有文件移除以后
	}
	for k := i + 1; k < len(r.tokens) && k <= i+maxObjectHan; k++ {
		if t := r.tokens[k]; t.han && t.senses.meets(r.g.time) && r.tokens[0].senses.meets(r.g.actor) {
			return true
		}
	}
	return false
}

// content reports whether a verb is the content of a part of a text or of a program: "the sentence about deleting
// backups", "the test that restarts the server", 关于删除备份的那句话. Who runs it does it.
func (r *reading) content(i int) bool {
	for k := i - 1; k >= max(0, i-maxBack); k-- {
		t := r.tokens[k]
		switch {
		case t.senses.meets(r.g.joint) && !t.han && !t.senses.meets(r.g.artifact):
			return false
		case r.d.kind == RiskSecret && t.senses.meets(r.g.open): // where it is shown
		case t.senses.meets(r.g.artifact) && !t.han && !r.neutral(k):
			return !r.carriedOut(k) && !source.Get().MatchString(r.text[:t.start])
		}
	}
	return false
}

// carriedOut reports whether what is told stands before a token: "run the script that …".
func (r *reading) carriedOut(k int) bool {
	for n := k - 1; n >= max(0, k-4); n-- {
		if r.tokens[n].senses.meets(r.g.do) {
			return true
		}
	}
	return false
}

// makes returns where a Chinese clause makes a part of a text or of a program, beside which the rest only says what it
// is about, or -1: 给部署脚本加一个确认提示.
func (r *reading) makes() int {
	made := -1
	for k, t := range r.tokens {
		switch {
		case t.han && t.senses.meets(r.g.make):
			made = k
		case made >= 0 && t.han && t.senses.meets(r.g.check):
			return made
		}
	}
	return -1
}
