package policy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer writes shell texts that are as crooked as agents may write them, over programs that do nothing. The same seed
// gives the same texts. No text names a path that leads out of the folder that it runs in.
type writer struct {
	*rand.Rand
	plain bool     // a text as people type it
	slips bool     // one on which a hand slips
	docs  []string // here-documents whose operator stands in the line that is being written
}

// newWriter returns the writer of one text.
func newWriter(seed, number uint64) *writer {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, number))}
	w.plain = w.one(2)
	w.slips = !w.plain && w.one(4)
	return w
}

// one is true once in n times.
func (w *writer) one(n int) bool { return w.IntN(n) == 0 }

// pick returns one of the alternatives, which "¦" separates.
func (w *writer) pick(alternatives string) string {
	all := strings.Split(alternatives, "¦")
	return all[w.IntN(len(all))]
}

// command is one text, and in one of four crooked ones a hand has slipped.
func (w *writer) command() string {
	text := w.whole(2)
	if w.slips {
		for range 1 + w.IntN(3) {
			at := w.IntN(len(text))
			switch w.IntN(3) {
			case 0:
				text = text[:at] + text[at+1:] + " "
			case 1:
				text = text[:at] + w.pick("'¦\"¦\\¦$¦(¦)¦{¦}¦`¦ ¦;¦&¦|¦<¦>¦#¦\n¦!¦*¦[¦]¦=¦,¦\\\n¦$(¦<<E\n") + text[at:]
			default:
				to := at + w.IntN(len(text)-at)
				text = text[:to] + text[at:to] + text[to:]
			}
		}
	}
	return text
}

// whole is a text with the here-documents that it began.
func (w *writer) whole(depth int) string {
	outer := w.docs
	w.docs = nil
	text := w.list(depth)
	text += w.documents("")
	w.docs = outer
	return text
}

// documents are those of the line that ends here; or else what ends it without.
func (w *writer) documents(otherwise string) string {
	if len(w.docs) == 0 {
		return otherwise
	}
	text := "\n" + strings.Join(w.docs, "\n") + "\n"
	w.docs = nil
	return text
}

func (w *writer) list(depth int) string {
	text := w.pipe(depth)
	for w.one(3) {
		switch w.IntN(8) {
		case 0, 1:
			text += w.documents("\n") + w.pipe(depth)
		case 2:
			text += " &" + w.documents(" ") + w.pipe(depth)
		default:
			text += w.pick("; ¦ && ¦ || ¦;¦&&¦ &&\\\n ¦ || \\\n") + w.pipe(depth)
		}
	}
	if w.one(12) {
		text += w.pick(" &¦ # alpha; beta¦;") + w.documents("\n")
	}
	return text
}

func (w *writer) pipe(depth int) string {
	text := ""
	if w.one(10) {
		text = w.pick("! ¦time ¦time -p ")
	}
	text += w.one1(depth)
	for w.one(5) {
		text += w.pick(" | ¦|¦ |& ¦ | ¦ |\\\n") + w.one1(depth)
	}
	return text
}

// one1 is one command of any kind.
func (w *writer) one1(depth int) string {
	if depth <= 0 || !w.one(3) {
		return w.simple(depth)
	}
	in := func() string { return w.whole(depth - 1) }
	list := func() string { return closed(in()) + " " }
	redirected := func() string {
		if w.one(4) {
			return w.redirect(depth - 1)
		}
		return ""
	}
	kinds := 22
	if w.plain {
		kinds = 13
	}
	switch w.IntN(kinds) {
	case 0, 1:
		return "( " + in() + ")" + redirected()
	case 2, 3:
		return "{ " + list() + "}" + redirected()
	case 4, 5:
		if w.one(2) {
			return "if " + list() + "then " + list() + "else " + list() + "fi" + redirected()
		}
		return "if " + list() + "then " + list() + "fi" + redirected()
	case 6:
		return "for " + w.pick("x¦y") + " in " + w.words(depth-1, 3) + "; do " + list() + "done" + redirected()
	case 7:
		if w.slips {
			return w.simple(depth) // it might never end
		}
		return w.pick("while ¦until ") + list() + "do " + list() + "break; done"
	case 8, 9:
		return "case " + w.word(depth-1) + " in " + w.pick("a¦(a¦*¦a|b¦\"a\"¦$#¦[ab]") + ") " + list() +
			w.pick("esac¦\n;; esac¦\n;; *) alpha;; esac¦\n;& b) beta; esac")
	case 13:
		return w.pick("f¦alpha¦cat¦g") + w.pick("() { ¦ () { ¦()\n{ ") + list() + "}" + w.pick("; ¦\n") + w.pick("f¦alpha¦cat") + " " +
			w.word(0)
	case 10, 11, 12:
		return w.within(depth - 1)
	case 14:
		return "eval " + w.quote(in())
	case 15:
		return "[[ " + w.pick("-n ¦-z ¦-e ¦a == ¦b =~ ¦$x -eq ¦! -n ") + w.word(depth-1) + w.pick("¦ && -n $x¦ || -v x") + " ]]" + redirected()
	case 16:
		return w.pick("(( 1 + 1 ))¦(( x = 2 ))¦let x=1¦(( $(alpha) + 1 ))¦(( a[$(beta)] ))")
	case 17:
		return w.pick("export ¦declare ¦readonly ¦export LANG=a ¦declare -x ") + w.pick("x=¦y=¦CI=") + w.word(depth-1)
	case 18:
		return w.pick("coproc ¦trap ¦alias ¦exec ¦exec -a x ") + w.pick("alpha¦'alpha; beta'¦x=alpha¦beta a")
	case 19:
		return w.pick("x¦y¦v") + w.pick("=¦+=") + w.word(depth-1)
	case 20:
		return w.pick("cd sub && ./tool¦cd sub; ../tool¦(cd sub; ./tool a)¦./tool¦sub/tool¦. ./lib¦source lib")
	}
	return "{ " + list() + "}" + w.pick(" | xargs alpha¦ | xargs -n 1 beta¦ | xargs¦ | sh¦ | while read -r x; do cat $x; done")
}

// closed is a list that a word of the shell may follow.
func closed(list string) string {
	if strings.HasSuffix(list, "\n") || strings.HasSuffix(list, "&") || strings.HasSuffix(list, ";") {
		return list
	}
	return list + ";"
}

// within is a command that runs another one.
func (w *writer) within(depth int) string {
	inner := w.simple(depth)
	if w.plain {
		if w.one(3) {
			return w.pick("sh¦bash") + " -c " + w.quote(w.whole(depth)) + w.pick(" && ¦ || ") + inner
		}
		return w.pick("env a=b ¦timeout 5 ¦nice -n 5 ¦nohup ¦command ¦find . -maxdepth 0 -exec cat {} + && ¦ls | xargs -r ") + inner
	}
	switch w.IntN(12) {
	case 0:
		return w.pick("env ¦env -i ¦env a=b ¦env -u x ¦env - ¦env -S ¦env -- ") + inner
	case 1:
		return w.pick("timeout 5 ¦timeout -s KILL 5 ¦timeout -k 1 5s ") + inner
	case 2:
		return w.pick("nice ¦nice -n 5 ¦nice -5 ¦nohup ¦nice nohup ") + inner
	case 3:
		return w.pick("command ¦command -p ¦builtin ¦command -v ¦exec ") + inner
	case 4:
		return w.pick("echo a b | ¦alpha | ¦printf 'x\\ny' | ") + w.pick("xargs ¦xargs -r ¦xargs -n 1 ¦xargs -I{} ¦xargs -0 ") + inner
	case 5:
		return "find . -maxdepth 0 " + w.pick("-exec ¦-name . -exec ¦-execdir ¦-ok ") + inner + w.pick(" {}¦") + w.pick(" \\;¦ ';'¦ +")
	case 6:
		return "find . -maxdepth 0 -exec " + w.pick("sh¦bash") + " -c " + w.quote(w.whole(depth)) + w.pick(" \\;¦ {} \\;¦ x {} +")
	case 7:
		return w.pick("bash¦sh") + w.pick(" <<< ¦ -s <<< ¦ /dev/stdin <<< ") + w.quote(w.whole(depth))
	}
	return w.pick("sh -c ¦bash -c ¦sh -ec ¦bash -c -- ¦bash -euc ¦dash -c ") + w.quote(w.whole(depth)) + w.pick("¦ a¦ a b")
}

// quote makes one word of a text, or what should have been one.
func (w *writer) quote(text string) string {
	switch n := w.IntN(6); {
	case w.plain:
	case n == 0 && !strings.Contains(text, `"`):
		return `"` + text + `"`
	case n == 1:
		r := strings.NewReplacer(`"`, `\"`, `$`, `\$`, "`", "\\`", `\`, `\\`)
		return `"` + r.Replace(text) + `"`
	case n == 2:
		return "$'" + strings.NewReplacer(`'`, `\'`, `\`, `\\`).Replace(text) + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// simple is a simple command: assignments, a name, words and redirections in any order that a shell takes.
func (w *writer) simple(depth int) string {
	var parts []string
	if w.one(10) {
		parts = append(parts, w.pick("x=¦y=¦CI=¦TZ=")+w.word(depth-1))
	}
	if w.one(20) {
		parts = append(parts, w.redirect(depth-1))
	}
	parts = append(parts, w.name(depth-1))
	for range w.IntN(3) {
		parts = append(parts, w.word(depth-1))
	}
	if w.one(6) {
		parts = append(parts, w.redirect(depth-1))
	}
	return strings.Join(parts, w.pick(" ¦ ¦ ¦ ¦  ¦\t¦ \\\n "))
}

// name is where the name of a program stands.
func (w *writer) name(depth int) string {
	name := w.pick("alpha¦beta¦gamma¦cat¦ls¦wc¦sort¦head¦echo¦true¦printf")
	if w.plain || !w.one(3) {
		return name
	}
	half := w.IntN(len(name))
	switch w.IntN(12) {
	case 0:
		return "'" + name + "'"
	case 1:
		return `"` + name + `"`
	case 2:
		return name[:half] + `\` + name[half:]
	case 3:
		return name[:half] + w.pick("''¦\"\"¦'"+name[half:]+"' ¦\"${none}\"¦$none") + name[half:]
	case 4:
		return "$'" + name[:half] + fmt.Sprintf(`\x%x`, name[half]) + name[half+1:] + "'"
	case 5:
		return "{" + name + ",-n}"
	case 6:
		return name[:half] + "{" + name[half:] + "," + name[half:] + "x}"
	case 7:
		return "x=" + name + w.pick("; ¦\n") + w.pick("$x¦${x}¦\"$x\"¦${x%x}¦${x:-ls}")
	case 8:
		return w.pick("$(echo ¦\"$(printf %s ¦`echo ") + name + w.pick(")¦)\"¦`")
	case 9:
		return name[:half] + w.pick("?¦*¦["+string(name[half])+"]") + name[half+1:]
	case 10:
		return name[:half] + "\\\n" + name[half:]
	}
	return "${none:-" + name + "}"
}

func (w *writer) words(depth, most int) string {
	var out []string
	for range 1 + w.IntN(most) {
		out = append(out, w.word(depth))
	}
	return strings.Join(out, " ")
}

// word is a word with whatever may hide in one.
func (w *writer) word(depth int) string {
	if w.plain && (depth <= 0 || !w.one(4)) {
		return w.pick("a¦b¦-n¦x.txt¦a.b¦-l¦'a b'¦\"a b\"¦''¦'$(alpha)'¦a#b¦'#'¦{a,b}¦*.none¦$#¦$?")
	}
	if depth <= 0 || w.one(3) {
		return w.pick("a¦b¦-n¦x.txt¦a.b¦-l¦'a b'¦\"a b\"¦''¦a\\ b¦'$(alpha)'¦\"\\$(alpha)\"¦\\$x¦a#b¦'#'¦$x¦\"$x\"¦{a,b}¦*.none¦a=b¦$'a\\tb'¦$#¦$?")
	}
	in := w.whole(depth)
	if w.plain {
		return w.pick("$(" + in + ")¦\"a $(" + in + ")\"¦<(" + in + ")¦$((1 + 2))¦a{b,c}")
	}
	switch w.IntN(20) {
	case 0, 1, 2:
		return "$(" + in + ")"
	case 3, 4, 5:
		return `"` + w.pick("a ¦") + "$(" + in + ")" + w.pick(" b¦") + `"`
	case 6:
		return "`" + strings.NewReplacer("`", "\\`", `\`, `\\`).Replace(in) + "`"
	case 7:
		return "`" + w.pick("alpha¦cat <<< 'a'¦echo \"$(beta)\"¦echo \\`beta\\`¦alpha; beta¦echo \\$x") + "`"
	case 8, 9:
		return w.pick("<(¦>(") + in + ")"
	case 10, 11:
		of := w.pick("${x:-¦${x:+¦${x-¦${x:=¦${x?¦${x/a/¦${x//b/¦${x#¦${x%%") + w.pick("$("+in+")¦a$("+in+")b¦`alpha`¦a¦'a'¦$y") + "}"
		return w.pick(of + `¦"` + of + `"`)
	case 12:
		return w.pick("$((1 + 2))¦$(( $(alpha) + 1 ))¦$((x))¦$[1]¦$(( a[$(beta)0] ))¦$((`beta`))¦${#x}¦${x:$(alpha):1}¦${x:0:1}")
	case 13:
		return w.pick("{a,$(" + in + ")}¦a{b,c{d,e}}¦{1..3}¦{a,'b c'}¦{a,b}{c,d}¦{$x,a}")
	case 14:
		return w.pick("~¦~/a¦a~¦$HOME¦$PWD¦\"$PWD/a\"¦$TMPDIR¦~+¦$OLDPWD")
	case 15:
		return w.pick("${x@P}¦${!x}¦\"${a[$(alpha)]}\"¦${a[@]}¦${x^^}¦$*¦\"$@\"¦${@:1}¦$1¦${x@Q}¦${!a*}")
	case 16:
		return w.pick("$'\\'; alpha; #'¦$'\\x24(alpha)'¦$\"a $(alpha)\"¦'a'\\''b'¦\"a\\\"$(alpha)\\\"b\"¦\"`alpha`\"¦a'$(beta)'\"$(alpha)\"¦\\`alpha\\`¦\\\\$(beta)")
	}
	return w.quote(w.pick("a¦a b¦$x¦$(beta)¦`beta`¦a;beta¦\\$(beta)¦a\nbeta"))
}

// redirect is a redirection; the body of a here-document stands behind the line.
func (w *writer) redirect(depth int) string {
	in := "$(alpha)"
	if depth > 0 {
		in = "$(" + w.whole(depth-1) + ")"
	}
	if w.plain {
		if w.one(4) {
			w.docs = append(w.docs, w.pick("a¦"+in+"¦`beta`¦\\$(beta)")+"\nE")
			return "<<" + w.pick("E¦'E'")
		}
		return w.pick("> a¦>> a¦2>&1¦< x.txt¦<<< a¦&> a")
	}
	switch w.IntN(12) {
	case 0, 1, 2, 3:
		stop, tabs := w.pick("E¦'E'¦\"E\"¦\\E¦E¦E'F'"), w.pick("¦-")
		body := w.pick("a¦" + in + "¦a " + in + " b¦`beta`¦\\$(beta)¦a \\\nb¦$x¦${x:-$(beta)}¦'$(beta)'¦E a¦ E¦\tE¦a\nE\\\n")
		end := strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(stop)
		if tabs != "" && w.one(2) {
			end = "\t" + end
		}
		w.docs = append(w.docs, body+"\n"+end)
		return "<<" + tabs + w.pick("¦ ") + stop
	case 4, 5:
		return "<<< " + w.pick("a¦\""+in+"\"¦$x¦'$(beta)'¦"+in)
	case 6:
		return w.pick("< <(¦> >(") + w.whole(depth-1) + ")"
	}
	return w.pick("> a¦>> a¦>| a¦&> a¦>& a¦2>&1¦2> a¦< x.txt¦<> a¦>&-¦3> a¦2>a¦>a¦{v}> a¦> \"a$(alpha)\"¦> $x¦> a* ¦1>&2")
}
