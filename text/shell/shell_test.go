package shell_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pawl/text/shell"
)

// transcript writes down what it is told. Its cd leads into the folder that is named, and its sh has its last word
// read.
type transcript struct {
	reader shell.Reader
	lines  []string
}

func (t *transcript) note(format string, args ...any) {
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

// show writes words with what is known of them behind a colon: dynamic, expanded, pattern, home and foreign, by their
// letters.
func show(words []shell.Word) string {
	var out []string
	for _, w := range words {
		marks := ""
		for i, is := range []bool{w.Dynamic, w.Expanded, w.Pattern, w.Home, w.Foreign} {
			if is {
				marks += "dephf"[i : i+1]
			}
		}
		if marks != "" {
			marks = ":" + marks
		}
		out = append(out, w.Text+marks)
	}
	return strings.Join(out, " ")
}

func (t *transcript) Call(argv []shell.Word, dirs []string) shell.Outcome {
	t.note("call %s in %q", show(argv), dirs)
	switch last := argv[len(argv)-1]; argv[0].Text {
	case "cd":
		return shell.Outcome{OK: []string{last.Text}, Fail: dirs}
	case "sh":
		t.reader.Read(last.Text, shell.POSIX, dirs)
	}
	return shell.Same(dirs)
}

func (t *transcript) Declare(builtin string) { t.note("declare %s", builtin) }

func (t *transcript) Assign(name string, values []shell.Word, exported bool, _ []string) {
	t.note("assign %s=%s %t", name, show(values), exported)
}

func (t *transcript) Open(file shell.Word, write bool, dirs []string) {
	t.note("open %s %t in %q", show([]shell.Word{file}), write, dirs)
}

func (t *transcript) Doubt(d shell.Doubt, what string) { t.note("doubt %d %s", d, what) }

func read(src string) (lines []string, ok bool) {
	t := &transcript{}
	t.reader = shell.Reader{Visitor: t, Root: "/ws", Temp: "/tmp"}
	ok = t.reader.Read(src, shell.Bash, []string{""})
	if t.reader.Hides() {
		t.note("hides")
	}
	return t.lines, ok
}

// TestRead: a visitor is told what a text would do, in order, with what is known of each word and where the shell is
// then.
func TestRead(t *testing.T) {
	for src, want := range map[string][]string{
		`go test ./... | tee "a b"`:  {`call go test ./... in [""]`, `call tee a b in [""]`},
		"cd a && ls; ls":             {`call cd a in [""]`, `call ls in ["a"]`, `call ls in ["a" ""]`},
		"cd a || ls":                 {`call cd a in [""]`, `call ls in [""]`},
		"(cd a); ls":                 {`call cd a in [""]`, `call ls in [""]`},
		"if true; then cd a; fi; ls": {`call true in [""]`, `call cd a in [""]`, `call ls in ["" "a"]`},
		"for i in 1 2; do cd a; done": {
			`call cd a in [""]`, fmt.Sprintf("doubt %d cd", shell.Dynamic),
		},
		"rm *.go ~/x $Y":       {`call rm *.go:p ~/x:h $Y:def in [""]`},
		"x=a; cat $x.{go,md}":  {`assign x=a false`, `call cat a.go:e a.md:e in [""]`},
		"cat $PWD/a $TMPDIR/b": {`call cat ./a:e /tmp/b:e in [""]`},
		`echo "$(date -u)" >out`: {`open out true in [""]`, `call date -u in [""]`,
			`call echo $(date -u):de in [""]`},
		"sort <in 2>&1 >&-":         {`open in false in [""]`, `call sort in [""]`},
		"export CI=1 B":             {`assign CI=1 true`, `assign B= true`, "declare export"},
		"A=1 go vet":                {`assign A=1 true`, `call go vet in [""]`},
		"cat <<E\n$(pwd)\nE\n":      {`call pwd in [""]`, `call cat in [""]`},
		"cat <<'E'\n$(pwd)\nE\n":    {`call cat in [""]`, "hides"},
		"sh -c 'cd a && ls'":        {`call sh -c cd a && ls in [""]`, `call cd a in [""]`, `call ls in ["a"]`},
		"echo '$(pwd)'":             {`call echo $(pwd) in [""]`, "hides"},
		"f() { ls; }":               {fmt.Sprintf("doubt %d function", shell.Evaluated), `call ls in [""]`},
		"echo $((x + 1))":           {fmt.Sprintf("doubt %d $((x + 1))", shell.Evaluated), `call echo 0:e in [""]`},
		"coproc ls":                 {fmt.Sprintf("doubt %d coproc", shell.Feature), `call ls in [""]`},
		"echo a\u200bb":             {fmt.Sprintf("doubt %d ", shell.HiddenText), "call echo a\u200bb in [\"\"]"},
		"ls # a \\\npwd":            {fmt.Sprintf("doubt %d # a \\\n", shell.Ambiguous)},
		"ls \x07":                   {fmt.Sprintf("doubt %d ", shell.InvalidText)},
		"# nothing":                 {fmt.Sprintf("doubt %d # nothing", shell.Empty)},
		strings.Repeat("(", 4000):   {fmt.Sprintf("doubt %d nesting", shell.TooComplex)},
		strings.Repeat("a", 65<<10): {fmt.Sprintf("doubt %d 64 KiB", shell.TooComplex)},
	} {
		got, ok := read(src)
		if !slices.Equal(got, want) {
			t.Errorf("%.40q is\n%s\nwant\n%s", src, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		refused := len(want) == 1 && !strings.HasPrefix(want[0], "call")
		if ok == refused {
			t.Errorf("%.40q: parsed %t", src, ok)
		}
	}
}

// TestWords: what a visitor decides by.
func TestWords(t *testing.T) {
	for w, want := range map[shell.Word]string{
		{Text: "-n"}: "flag", {Text: "-"}: "", {Text: "a", Dynamic: true}: "unsure", {Text: "a",
			Expanded: true}: "unsure",
		{Text: "*a", Pattern: true}: "open", {Text: "a*", Pattern: true}: "", shell.Literal("*"): "",
	} {
		var is []string
		for name, yes := range map[string]bool{"flag": w.Flag(), "unsure": w.Unsure(), "open": w.StartsOpen()} {
			if yes {
				is = append(is, name)
			}
		}
		if got := strings.Join(is, " "); got != want {
			t.Errorf("%+v is %q, want %q", w, got, want)
		}
	}
	if b := (shell.Word{Text: "/usr/bin/env"}).Base(); b != "env" {
		t.Error(b)
	}
	long := strings.Repeat("a", shell.MaxText-1) + "éb"
	if s := shell.Shorten(long); s != strings.Repeat("a", shell.MaxText-1)+"…" {
		t.Errorf("cut to %q", s)
	}
}

// FuzzRead: no text makes the reader panic, and a text that is refused leads to no call.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"a && b | c", "cat <<E\n$x\nE", "x=(1 2); echo ${x[0]}", "if a; then b; fi",
		"echo {a,b}{c..d}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if lines, ok := read(src); !ok && slices.ContainsFunc(lines,
			func(l string) bool { return strings.HasPrefix(l, "call") }) {
			t.Errorf("%q is refused, and was told of: %q", src, lines)
		}
	})
}
