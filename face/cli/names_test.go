package cli

import (
	"os"
	"os/user"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pawl"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/view"
	"pawl/text/message"
)

// nobodyNamed is a call of the program in an environment that names nobody, by a program where that is not "".
func nobodyNamed(program string) *App {
	return &App{Printer: &Printer{Lang: message.English, Std: host.Streams{Env: func(string) string { return "" },
		Program: func() string { return program }}}}
}

// TestActorHasAName: without the variables of a login the actor is the account by its user id.
func TestActorHasAName(t *testing.T) {
	want := "uid-" + strconv.Itoa(os.Getuid())
	if account, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		want = account.Username
	}
	if got := nobodyNamed("").Actor(); got != pawl.By(pawl.KindUser, want) {
		t.Errorf("%q, want the name %q", got, want)
	}
}

// TestEveryWayHasAText: each way of answering that the kernel records is told in words, also of an actor without a name,
// as earlier versions recorded one.
func TestEveryWayHasAText(t *testing.T) {
	source, err := os.ReadFile("../../kernel/command.go")
	if err != nil {
		t.Fatal(err)
	}
	ways := regexp.MustCompile(`Way\w+ +Way = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(ways) < 5 {
		t.Fatalf("ways of the kernel: %q", ways)
	}
	a := nobodyNamed("")
	for _, lang := range []message.Lang{message.English, message.Chinese} {
		a.Lang = lang
		for _, w := range append(ways, []string{"", ""}) {
			for _, about := range []string{"plan", kernel.AboutProof} {
				for _, by := range []string{"user", "user:ada", "automation", "policy"} {
					got := ApprovalText(&Session{Printer: a.Printer, App: a}, view.ApprovalLine{About: about, Way: w[1], By: by})
					if strings.Contains(got, "see.") || strings.Contains(got, "by ,") || strings.Contains(got, "  ,") {
						t.Errorf("%s %s %s: %q", about, w[1], by, got)
					}
				}
			}
			if _, ok := lang.Format("web.way." + w[1]); !ok && w[1] != "" {
				t.Errorf("the dashboard has no text for %s", w[1])
			}
		}
	}
}

// TestNextIsPossible: the command that is printed as next is one that this caller can give.
func TestNextIsPossible(t *testing.T) {
	approve := view.Next{Op: "confirm", Command: "pawl approve 1a2b"}
	accept := view.Next{Op: "accept", Command: "pawl accept 1a2b -m REASON"}
	choose := view.Next{Op: "confirm", Command: "pawl choose silent 1a2b"}
	person := "  (in a terminal window or an SSH login)"
	for _, c := range []struct {
		program, key string
		approvers    []string
		tty          bool
		next         view.Next
		want         string
	}{
		{tty: true, next: approve, want: "pawl approve 1a2b"},
		{next: approve, want: "pawl approve 1a2b --yes"},
		{next: choose, want: "pawl choose silent 1a2b"},
		{next: accept, want: `pawl accept 1a2b -m "the reason"`},
		{program: "cron", next: approve, want: "pawl approve 1a2b" + person},
		{program: "cron", next: choose, want: "pawl choose silent 1a2b" + person},
		{program: "cron", next: accept, want: `pawl accept 1a2b -m "the reason"` + person},
		{program: "cron", next: view.Next{Op: "deny", Command: "pawl deny"}, want: "pawl deny"},
		{program: "cron", approvers: []string{"cron"}, next: approve, want: "pawl approve 1a2b --yes"},
		{program: "cron", key: "FILE", next: approve, want: "pawl approve 1a2b"},
		{program: "claude-code", key: "FILE", next: approve, want: "pawl approve 1a2b" + person},
	} {
		a := nobodyNamed(c.program)
		a.Std.TTY, a.config.ApproveKey, a.config.Profile.Approvers = c.tty, c.key, c.approvers
		if got := strings.ReplaceAll(NextText(a.Printer, c.next), a.Text("cli.fill.reason"), "the reason"); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}
