package policy_test

import (
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"pawl/text/policy"
)

// readAlike are commands that every reader takes apart alike. All of them pass.
var readAlike = []string{
	"go build \\\n  ./...", "go test \\\n -run TestA \\\n ./...", "go vet\\\n ./...",
	"go vet ./... &&\\\ngo test ./...", "ls|\\\nwc -l",
	"ec\\\nho a", "echo a \\\\\n(ls)", "echo \"a \\\nb\" c", "echo 'a\\\n(b' c", "echo \"\\\\\"\nls",
	"ls \\\n\\\n src", "ls \\", "ls \\\n",
	"go vet ./... # all of them", "# first\nls", "ls # a \\ b", "ls # a \\", "ls \\\n # a\npwd", "ls; # a\npwd",
	"ls &&# a\npwd", "(# a\nls)", "echo a#b c\\#d", "if true; then # a\n ls # b\nfi # c",
	"case a in # a\n b) ls;; # b\nesac",
	"echo '# a \\\nb'", "echo \"# a \\\nb\"", "echo $# ${#x}", "x=(a # b\n c)",
	"cat <<E\nE\nls", "cat <<E\na\nE\nls", "cat <<-E\n\ta\n\tE\nls", "cat <<E\na \\\\\nE\nls",
	"cat <<E\na \\ b\n E\nE1\nE\nls",
	"cat <<'E'\na \\\n$(b\nE\nls", "cat <<\"E\"\na \\\nE\nls", "cat <<\\E\na \\\nE\nls",
	"cat <<A <<'B'\na\nA\nb \\\nB\nls", "cat <<E | wc -l\n$(pwd)\nE",
	"cat > Dockerfile <<'EOF'\nRUN a \\\n  b # c \\\nEOF\ngo build \\\n ./...",
	"echo \"$(cat <<'EOF'\na (b) \\\n# c\nEOF\n)\"", "(cat <<E\na)\nE\n)",
	"echo `pwd` `ls # a`", "echo \"${x:-a}\" ${x%.go} \"$x\"", "ls 2>&- >&2", "x=a y=\"b c\"; ls",
	"sh -c 'go vet ./... && ls'",
}

// readDifferently are commands that bash and the parser take apart differently, or could. None of them passes whatever
// else it holds; where a command stands in them that bash alone runs, that is pwd.
var readDifferently = []string{
	"ls # a \\\npwd", "# \\\npwd", "ls; # \\\npwd", "ls && # \\\npwd", "ls | # \\\npwd", "(ls # \\\npwd\n)",
	"{ ls # \\\npwd\n}",
	"echo $(ls # \\\npwd\n)", "echo \"$(ls # \\\npwd\n)\"", "cat <(ls # \\\npwd\n)", "if ls # \\\npwd\nthen ls; fi",
	"for f in a; do ls # \\\npwd\ndone", "case a in a) ls # \\\npwd\n;; esac", "ls \\\n # \\\npwd",
	"x=(a # \\\n)\npwd", "ls # \\\\\\ \\\npwd", "ls # \\\\\npwd", "ls # \\\\\\\npwd",
	"echo `ls # \\\npwd`", "echo `ls # \\\\\npwd`", "echo `cat <<E\na\nE`", "echo `cat <<E\na\nE\n`",
	"echo `echo \"\\$\\\\\n(pwd)\"`",
	"echo `cat <<E\n\\\\\nE\npwd\nE\n`", "echo `echo '\\\\\n'`", "bash -c 'ls # \\\npwd'", "sh -c 'ls # \\\npwd'",
	"cat <<E\n\\\nE\npwd\nE", "cat <<E\nE\\\n\npwd\nE", "cat <<E\na\\\nE\npwd\nE", "cat <<E\n\\\\\\\nE\npwd\nE",
	"cat <<-E\n\t\\\nE\npwd\nE",
	"cat <<A <<E\nA\n\\\nE\npwd\nE", "cat <<A <<E\n\\\nA\nE\npwd\nA\nE", "echo $(cat <<E\n\\\nE\npwd\nE\n)",
	"cat <<'E'F\na \\\nEF\npwd\nEF", "cat <<E''\nE\npwd", "cat <<\"E\\\"F\"\nE\"F\npwd\nE\\\"F",
	"cat <<$'E\\x46'\nEF\npwd\nE\\x46", "cat <<''\n\npwd", "cat <<$'E'\na\nE",
	"cat <<E\\\nF\nEF\npwd", "<<'E'#a pwd\nE", "cat <<E\n${x}E\n: '\nE\npwd\n: '",
	"cat <<E\n$(echo '\nE\npwd\n: ')\nE",
	"echo $(cat <<E\nE pwd)\nE\n)", "echo $(cat <<'E'\nE pwd)\nE\n)", "echo $(cat <<-E\n\tE pwd)\nE\n)",
	"cat <<E $(cat <<F\nE\nF\n)\nE", "echo $(cat <<E)\npwd\nE", "cat <(cat <<'E') \na\nE\npwd",
	"echo \"$\\\n(pwd)\"", "x=../y; cat $\\\nx", "(\\\n( true <<E ))\npwd\nE", "cat <<< \"$\\\n\\\n(pwd)\"",
	"echo ${x:\\\n-a}",
	"x=(a)#b pwd", "echo ${x:-<(pwd)}", "echo ${x:->(pwd)}", "echo \"${x:-'$(pwd)'}\"", ">&-pwd", "ls >&-a",
	"./x=[", "x=1 ./y=[", "echo $(ls <<E | wc; pwd\nE\n)", "cat <(ls <<E && wc; pwd\nE\n)",
	"echo $(if ls <<E\nE\nthen ls; fi; pwd)", "echo $({ ls <<'E'\nE\n}; pwd)",
}

func TestReading(t *testing.T) {
	for _, c := range readAlike {
		if v := judge(c); v.Decision != policy.Allow {
			t.Errorf("%q: %s %+v", c, v.Decision, v.Reasons)
		}
	}
	for _, c := range readDifferently {
		for _, text := range []string{c, "true\n" + c, c + "\nls", strings.ReplaceAll(c, "pwd", "rm a")} {
			if v := judge(text); v.Decision != policy.Deny || v.Code != policy.CodeAmbiguous {
				t.Errorf("%q: %s %+v", text, v.Decision, v.Reasons)
			}
		}
		if sh, err := policy.ParseCommand(c); err == nil && !strings.Contains(c, "sh -c ") {
			t.Errorf("%q parses: %+v", c, sh.Calls)
		}
	}
}

// What sh is differs between machines, so what it is given is judged twice; it still runs once.
func TestTextForSh(t *testing.T) {
	for _, c := range []string{
		"sh -c 'echo $'\\''a\\'\\''; rm a; #'\\'",
		"dash -c '[[ a && ./x ]]'", "ash -c 'x+=1'", "zsh -c ls", "ksh -c ls",
	} {
		if v := judge(c); v.Decision != policy.Ask {
			t.Errorf("%q: %s %+v", c, v.Decision, v.Reasons)
		}
	}
	if sh, err := policy.ParseCommand("sh -c 'go vet ./... && ls'"); err != nil || len(sh.Calls) != 3 {
		t.Errorf("%+v %v", sh, err)
	}
}

// TestJoinedLinesChangeNothing removes what joins lines from random commands. Bash does that before it looks at
// anything but comments and single quotes. So a command that passes has the same calls afterwards, or what was judged
// is not what would run.
func TestJoinedLinesChangeNothing(t *testing.T) {
	tokens := []string{
		"\\\n", "\\\n", "\\\n", "\n", "\n", " ", " ", " ", "#", " # ", "ls", "pwd", "echo ", "a", "E", "\nE\n",
		"cat <<E\n", "cat <<-E\n\t", "cat <<E <<A\n", "\nA\n", ";", "&", "|", "$", "(", ")", "$(", "{", "}", "\"",
		"<", ">", "-", "=", "true ", "if ", "then ", "fi", "${x:-", "\\\\",
	}
	random := rand.New(rand.NewSource(1))
	passed, joined := 0, 0
	for range 60_000 {
		var b strings.Builder
		for range 2 + random.Intn(14) {
			b.WriteString(tokens[random.Intn(len(tokens))])
		}
		text := b.String()
		if judge(text).Decision != policy.Allow {
			continue
		}
		passed++
		plain := strings.ReplaceAll(strings.ReplaceAll(text, `\\`, "\x00"), "\\\n", "")
		if plain = strings.ReplaceAll(plain, "\x00", `\\`); plain == text {
			continue
		}
		joined++
		want, err := policy.ParseCommand(plain)
		got, _ := policy.ParseCommand(text)
		if err != nil || !reflect.DeepEqual(argvs(got), argvs(want)) {
			t.Errorf("%q: %q, but %q when its lines are joined: %v", text, argvs(got), argvs(want), err)
		}
	}
	if passed < 500 || joined < 100 {
		t.Errorf("only %d commands passed, %d of them with joined lines", passed, joined)
	}
}

func argvs(s policy.Shell) (out [][]string) {
	for _, c := range s.Calls {
		out = append(out, c.Argv)
	}
	return out
}
