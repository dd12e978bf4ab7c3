package manual

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pawl/face/cli"
	"pawl/face/cli/commands"
	"pawl/face/host"
	"pawl/text/message"
)

// written are the pages of the whole program in a language.
func written(t *testing.T, lang string) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "man 1", "deep")
	var out bytes.Buffer
	more := slices.Concat(commands.Entries(), Entries())
	for range 2 { // the second time over the first
		if code := cli.Main(context.Background(), nil, host.Streams{Out: &out, Err: &out, Dir: t.TempDir()},
			[]string{"man", dir, "--lang", lang}, more...); code != 0 {
			t.Fatal(code, out.String())
		}
	}
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(raw)
	}
	return all
}

func TestPages(t *testing.T) {
	all := written(t, "en")
	page := all["pawl.1"]
	var sections []string
	for _, m := range regexp.MustCompile(`(?m)^\.SH (.*)$`).FindAllStringSubmatch(page, -1) {
		sections = append(sections, m[1])
	}
	want := "NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS OF EVERY COMMAND EXIT STATUS FILES ENVIRONMENT SEE ALSO"
	if strings.Join(sections, " ") != want {
		t.Errorf("sections %v", sections)
	}
	for _, want := range []string{
		"\\fB9\\fR\nsomething waits for approval", "\\fBPAWL_MAX_FIXES\\fR\nhow many repairs",
		"\\fB~/.config/pawl/config.yaml\\fR\nyour settings",
		"\\fB\\-\\-json\\fR\nwrite JSON", "\\fBpawl\\-issue\\fR(1)", "\\fBrun\\fR\ncarry out",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("pawl.1 has no %q", want)
		}
	}
	if got := all["pawl-issue-add.1"]; !strings.Contains(got, ".SH EXAMPLES\n.nf\n\\&  pawl issue add ") ||
		!strings.Contains(got, "\\fB\\-p, \\-\\-priority int\\fR\n") ||
		!strings.Contains(got, "\\fBpawl issue add\\fR TITLE [flags]\n") ||
		!strings.Contains(got, "\\fBpawl\\-issue\\fR(1)") {
		t.Errorf("pawl-issue-add.1:\n%s", got)
	}
	if len(all) < 100 {
		t.Errorf("only %d pages", len(all))
	}
	if zh := written(t, "zh-CN")["pawl.1"]; !strings.Contains(zh, ".SH 退出码\n") || !strings.Contains(zh, "连续多少次修复失败") {
		t.Error("the page is not in Chinese")
	}
}

// Every page that is referred to exists, no text is missing, and nothing is left for roff to take as a request.
func TestPagesAreWhole(t *testing.T) {
	request := regexp.MustCompile(`^\.(TH|SH|TP|nf|fi|nh|ad l)( |$)`)
	for _, lang := range []string{"en", "zh-CN"} {
		all := written(t, lang)
		for name, text := range all {
			for _, m := range regexp.MustCompile(`\\fB(\S*)\\fR\(1\)`).FindAllStringSubmatch(text, -1) {
				if _, ok := all[strings.ReplaceAll(m[1], `\-`, "-")+".1"]; !ok {
					t.Errorf("%s refers to %s", name, m[1])
				}
			}
			for l := range strings.Lines(text) {
				if l = strings.TrimSuffix(l, "\n"); strings.HasPrefix(l, "'") || strings.HasPrefix(l, ".") &&
					!request.MatchString(l) || strings.Contains(l, "manual.") &&
					!strings.Contains(l, "face/cli/manual.") {
					t.Errorf("%s (%s): %q", name, lang, l)
				}
			}
		}
	}
}

func TestEveryExitStatusHasAText(t *testing.T) {
	for _, n := range statuses() {
		key := "manual.exit." + strconv.Itoa(n)
		if _, ok := message.Lookup(key); !ok {
			t.Errorf("no %s", key)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"a-b": `a\-b`, `a\n"b"`: `a\en\(dqb\(dq`, ".SH x": `\&.SH x`, "'x": `\&'x`, "a\n.b\n'c": "a\n\\&.b\n\\&'c",
		"多": "多", "": "",
	} {
		if got := plain(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
