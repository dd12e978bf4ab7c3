package complete

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pawl/face/cli"
	"pawl/face/cli/commands"
	"pawl/face/host"
)

// tree is every command of the program.
func tree(t *testing.T) *cobra.Command {
	t.Helper()
	var root *cobra.Command
	var out bytes.Buffer
	more := slices.Concat(commands.Entries(), Entries(),
		[]cli.Entry{{Tree: func(_ *cli.App, c *cobra.Command) { root = c }}})
	if code := cli.Main(context.Background(), nil, host.Streams{Out: &out, Err: &out}, []string{"--help"},
		more...); code != 0 || root == nil {
		t.Fatalf("%d %s", code, out.String())
	}
	return root
}

// onlyPeople are the words and flags whose values only a person can say.
var onlyPeople = strings.Fields(`ANSWER FEEDBACK MESSAGE RECORD REQUIREMENT TEXT TITLE TYPE WORDS
	github:OWNER/REPO --addr --branch --cause --context --digest --english --feedback --fix --host --http --key --labels --message --note --question
	--reason --replaces --scope --search --title`)

// onlyThere are those that mean something else, or nothing that can be known, at one command alone.
var onlyThere = []string{"tool enter NAME", "prompt WORDS", "serve token new NAME", "serve token revoke NAME"}

// A command that takes something new has to say what that is, or that only a person knows; and what nobody takes is not
// kept.
func TestEveryWordIsDecided(t *testing.T) {
	used := map[string]bool{}
	decided := func(c *cobra.Command, name string) bool {
		path := strings.TrimPrefix(c.CommandPath(), "pawl ")
		for _, key := range []string{path + " " + name, name} {
			if _, ok := kinds()[key]; ok {
				used[key] = true
				return true
			}
		}
		return name == strings.ToLower(name) && !strings.Contains(name, ":") && !strings.HasPrefix(name, "--") ||
			slices.Contains(onlyPeople, name) || slices.Contains(onlyThere, path+" "+name)
	}
	seen := 0
	every(tree(t), func(c *cobra.Command) {
		for n := 0; n < 3 && len(c.ValidArgs) == 0; n++ {
			for _, w := range wordsAt(c, n) {
				if seen++; !decided(c, w) {
					t.Errorf("%s: what can %s be?", c.CommandPath(), w)
				}
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !valued(f) {
				return
			}
			if seen++; !decided(c, "--"+f.Name) {
				t.Errorf("%s: what can --%s be?", c.CommandPath(), f.Name)
			}
		})
	})
	if seen < 150 {
		t.Errorf("only %d words were looked at", seen)
	}
	for key := range kinds() {
		if !used[key] {
			t.Errorf("no command takes %s", key)
		}
	}
}

func TestWordsAt(t *testing.T) {
	for use, want := range map[string][]string{
		"show": {"", "", ""}, "show ISSUE": {"ISSUE", "", ""}, "show [RUN|TASK]": {"RUN TASK", "",
			""}, "retry ISSUE...": {"ISSUE", "ISSUE", "ISSUE"},
		"plan [ISSUE]...": {"ISSUE", "ISSUE", "ISSUE"}, "clean [PACKAGE...]": {"PACKAGE", "PACKAGE",
			"PACKAGE"}, "set SETTING VALUE...": {"SETTING", "VALUE", "VALUE"},
		"review [all|PATH...]": {"all PATH", "all PATH", "all PATH"}, "test [-- COMMAND]": {"", "",
			""}, "move TASK --to STATE": {"TASK", "", ""},
	} {
		for n, words := range want {
			if got := strings.Join(wordsAt(&cobra.Command{Use: use}, n), " "); got != words {
				t.Errorf("%s, place %d: %q, want %q", use, n, got, words)
			}
		}
	}
}

// What a shell puts into a command line can do nothing there.
func TestFits(t *testing.T) {
	for value, ok := range map[string]bool{
		"ISS-1": true, "go vet": true, "202602081200_login": true, "名字": true, "a/b.c:d@e+f,g=h%": true, "RUN-12": true,
		"": false, "-rf": false, "--yes": false, "a;b": false, "$(id)": false, "`id`": false, "a\nb": false,
		"a\tb": false, "a\x1b[31m": false, "a|b": false, "a>b": false,
		"a*": false, "~": false, "a'b": false, `a"b`: false, `a\b`: false, "a&b": false, "!1": false, "{a,b}": false,
		"a\xff": false, "a\u202eb": false, "#a": false,
	} {
		if fits(value, "") != ok {
			t.Errorf("%q: %t", value, !ok)
		}
	}
	if !fits("ISS-12", "iss-1") || fits("ISS-12", "ISS-2") || fits("IS", "ISS-2") || fits("ſ1", "s1") {
		t.Error("prefixes")
	}
}

func TestShown(t *testing.T) {
	for about, want := range map[string]string{
		"": "x", " \n": "x", "one\ntwo": "x\tone", "a\tb": "x\ta\\tb", "\x1b[31mred": "x\t\\x1b[31mred",
		strings.Repeat("多", 80): "x\t" + strings.Repeat("多", 49) + "…",
	} {
		if got := shown(word{"x", about}); got != want {
			t.Errorf("%q: %q, want %q", about, got, want)
		}
	}
}
