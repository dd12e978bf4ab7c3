package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/modeltest"
	"pawl/internal/vendortest"
)

var liveLogins = flag.String("logins", "", "names of installed agents, with commas, that are driven with a login of their own (scripts/agents.sh)")

// loggedIn is a user with the small faulty module and an agent that is logged in by its own file at a maker on loopback.
type loggedIn struct {
	*user
	vendor *vendortest.Vendor
	agent  string
	file   string
}

// login makes the user. The settings hold nothing but where the maker is.
func logIn(t *testing.T, name string, s modeltest.Script, life time.Duration) *loggedIn {
	t.Helper()
	u := newUser(t)
	u.write("go.mod", "module example.org/sum\n\ngo 1.26\n")
	u.write("sum.go", sumWrong)
	u.write("sum_test.go", sumTest)
	u.module().repository()
	l := &loggedIn{user: u, agent: name, vendor: vendortest.Go(t, s, life)}
	url := l.vendor.URL
	if strings.HasPrefix(name, "codex") {
		url += "/backend-api/codex"
		l.file = ".codex/auth.json"
	} else {
		l.file = ".claude/.credentials.json"
	}
	l.own(".config/pawl/config.yaml", "agents:\n  "+name+":\n    base_url: "+url+"\n")
	l.write_(l.current())
	return l
}

// current is the login as its maker knows it.
func (l *loggedIn) current() []byte {
	if strings.HasPrefix(l.agent, "codex") {
		return l.vendor.CodexFile()
	}
	return l.vendor.ClaudeFile()
}

func (l *loggedIn) write_(raw []byte) { l.t.Helper(); l.own(l.file, string(raw)) }

// own writes a file of the user's home.
func (l *loggedIn) own(name, content string) {
	l.t.Helper()
	path := filepath.Join(l.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// kept is the file of the login.
func (l *loggedIn) kept() []byte {
	raw, err := os.ReadFile(filepath.Join(l.home, l.file))
	if err != nil {
		l.t.Fatal(err)
	}
	return raw
}

// TestLogins_Live drives the real programs, logged in by their own files.
func TestLogins_Live(t *testing.T) {
	for name := range strings.SplitSeq(*liveLogins, ",") {
		if name == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			l := logIn(t, name, modeltest.FixBug("sum.go", sumWorse, sumRight), 2*time.Hour)
			l.path = installed(t)
			before := l.kept()
			l.must(0, "config", "set", "agents."+name+".login", "any")
			a := l.pawl("run", "Sum(2, 3) is not 5", "--agent", name, "--yes", "--json")
			if f := os.Getenv("PAWL_DUMP"); f != "" {
				_ = os.WriteFile(f, []byte(l.vendor.Model.Requests()[0].Body), 0o600)
			}
			if l.read("sum.go") != sumRight || l.git("rev-list", "--count", "HEAD") != "2" {
				t.Errorf("the result did not land: %v", a)
			}
			if !bytes.Equal(before, l.kept()) {
				t.Error("the login was changed")
			}
			t.Log(l.vendor.Headers()[len(l.vendor.Headers())-1])
			t.Log(l.pawl("budget").out)
		})
	}
}
