//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pawl/internal/modeltest"
	"pawl/internal/terminaltest"
)

// reader is somebody who types what pages say: a person in a folder, with one shell.
type reader struct {
	*user
	shell   *exec.Cmd
	in      io.Writer
	status  *bufio.Reader
	put     []string // what stands in pages, and what stands for it here
	leave   func()   // ends the shell
	typed   int
	printed string // by the statements of the last block
	said    strings.Builder
}

// begins are what pages begin with: a new person in a folder of her own. The projects are a few lines of shell, whose
// checks take no time: what pages say holds in any language.
var begins = map[string]func(t *testing.T) *user{
	"repo":        func(t *testing.T) *user { return shellProject(t, "+").repository() },
	"red-repo":    func(t *testing.T) *user { return shellProject(t, "-").repository() },
	"folder":      func(t *testing.T) *user { return shellProject(t, "+") },
	"node-repo":   nodeProject,
	"codex":       func(t *testing.T) *user { return subscriber(t, "codex") },
	"claude-code": func(t *testing.T) *user { return subscriber(t, "claude-code") },
	"monorepo": func(t *testing.T) *user {
		u := newUser(t)
		for _, part := range []string{"api", "web"} {
			u.write("services/"+part+"/Makefile", "test:\n\tgrep -q ok state.txt\n")
			u.write("services/"+part+"/state.txt", "ok\n")
		}
		return u.repository()
	},
}

// setups are what else can be there before a block.
var setups = map[string]func(t *testing.T, r *reader){
	"ollama": func(t *testing.T, r *reader) {
		srv := modeltest.Go(t, asking(modeltest.FixBug("sum.sh", shellSum("*"), shellSum("+"))))
		r.put = append(r.put, "http://localhost:11434", srv.URL)
	},
	"backlog": func(t *testing.T, r *reader) {
		s := newIssueServer(t, 2)
		s.issues[0].(map[string]any)["title"] = sumTask
		r.modelled("openai", asking(modeltest.FixBug("sum.sh", shellSum("*"), shellSum("+"))), "github:",
			"  base_url: "+s.URL)
	},
	"landed": func(t *testing.T, r *reader) { r.must(0, "run", "--plan", r.plan(smallPlan), "--yes") },
	"landed again": func(t *testing.T, r *reader) {
		r.must(0, "run", "--plan", r.plan(strings.NewReplacer("hello.txt", "bye.txt", "Say hello",
			"Say goodbye").Replace(smallPlan)), "--yes")
	},
	"blocked": func(t *testing.T, r *reader) {
		r.must(8, "run", "--plan", r.plan(strings.Replace(smallPlan, "test -f", "! test -f", 1)), "--yes")
	},
}

// shellSum is a script that adds, where the operator is +.
func shellSum(operator string) string {
	return "#!/bin/sh\n# Prints the sum of two numbers.\necho $(($1 " + operator + " $2))\n"
}

// shellProject is a project of two scripts, a greeting and a sum, with a test of both.
func shellProject(t *testing.T, operator string) *user {
	u := newUser(t)
	u.write("greeting.txt", "Hello, world\n")
	u.write("sum.sh", shellSum(operator))
	u.write("test.sh", `#!/bin/sh
grep -q "Hello, world" greeting.txt || { echo "greeting.txt: nobody is greeted"; exit 1; }
sum=$(sh sum.sh 2 3)
[ "$sum" = 5 ] || { echo "sum.sh:3: 2 and 3 make $sum, want 5"; exit 1; }
`)
	return u
}

// subscriber is somebody who is logged in to an agent, in a project whose test fails. The agent and its maker are
// scripted.
func subscriber(t *testing.T, agent string) *user {
	l := shellProject(t, "-").repository().logIn(t, agent, modeltest.FixBug("sum.sh", shellSum("*"), shellSum("+")),
		2*time.Hour)
	l.vars = append(l.vars, "PATH="+fakes(t)+":"+os.Getenv("PATH"))
	return l.user
}

// begin starts the reader's shell, with the test's own program as pawl.
func (r *reader) begin() {
	r.t.Helper()
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	bin := r.t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "pawl")); err != nil {
		r.t.Fatal(err)
	}
	answers, status, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	path := os.Getenv("PATH")
	for _, v := range r.vars {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	r.shell = exec.Command("bash", "--norc", "--noprofile")
	r.shell.Dir, r.shell.Env = r.dir, r.env(asPawl+"=1", "TERM=dumb", "PATH="+bin+":"+path)
	r.shell.ExtraFiles = []*os.File{status}
	r.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := r.shell.StdinPipe()
	if err == nil {
		err = r.shell.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	_ = status.Close()
	r.in, r.status = in, bufio.NewReader(answers)
	r.leave = sync.OnceFunc(func() {
		_ = in.Close()
		_ = r.shell.Wait()
		_ = answers.Close()
	})
	r.t.Cleanup(r.leave)
}

// types types one statement and returns its exit status and what it printed. Where there is an answer it is asked at a
// terminal.
func (r *reader) types(statement, answer string) (int, string) {
	r.t.Helper()
	r.typed++
	file := filepath.Join(filepath.Dir(r.dir), fmt.Sprintf("typed-%d", r.typed))
	if err := os.WriteFile(file, []byte(statement+"\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	from, to := os.DevNull, file+".out"
	said := func() (string, bool) { raw, _ := os.ReadFile(to); return string(raw), true }
	if answer != "" {
		var hear func() (string, bool)
		to, hear = r.terminal(answer)
		from, said = to, hear
	}
	fmt.Fprintf(r.in, "{ . %q; } <%q >%q 2>&1 3>&-; echo $? >&3\n", file, from, to)
	end := time.AfterFunc(limit, func() { _ = syscall.Kill(-r.shell.Process.Pid, syscall.SIGKILL) })
	defer end.Stop()
	line, err := r.status.ReadString('\n')
	code, bad := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || bad != nil {
		out, _ := said()
		r.t.Fatalf("the shell ended at %q:\n%s", statement, out)
	}
	out, asked := said()
	if !asked {
		r.t.Errorf("%q asks nothing:\n%s", statement, out)
	}
	return code, out
}

// asks fits what a terminal shows when it waits for an answer: a question, and nothing behind its line.
var asks = regexp.MustCompile(`(\?|\[n\]o|\[y/N\])[^\n]*$`)

// limit bounds every statement of a page.
const limit = 5 * time.Minute

// terminal makes a terminal at which the first question is answered. The function tells what was printed there, and
// whether anything was asked.
func (r *reader) terminal(answer string) (name string, hear func() (string, bool)) {
	r.t.Helper()
	// The program's end stays open: a terminal that nobody has open any more forgets what was printed.
	screen, held := terminaltest.Open(r.t)
	r.t.Cleanup(func() { _ = screen.Close() })
	var mu sync.Mutex
	var printed strings.Builder
	answered := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := screen.Read(buf)
			mu.Lock()
			printed.Write(buf[:n])
			ask := !answered && asks.MatchString(printed.String())
			answered = answered || ask
			mu.Unlock()
			if ask {
				_, _ = io.WriteString(screen, answer+"\r")
			}
			if err != nil {
				return
			}
		}
	}()
	return held.Name(), func() (string, bool) {
		_ = held.Close()
		select {
		case <-done:
		case <-time.After(5 * time.Second): // somebody else has the terminal open
		}
		mu.Lock()
		defer mu.Unlock()
		return strings.ReplaceAll(printed.String(), "\r\n", "\n"), answered
	}
}

// reads does what a page says, and returns who is there in the end. Somebody who comes from another page goes on in the
// same folder.
func (p page) reads(t *testing.T, r *reader) *reader {
	t.Helper()
	goesOn := r != nil
	for _, b := range p.blocks {
		for _, name := range b.all("setup") {
			folder, first := begins[name]
			setup, ok := setups[name]
			switch {
			case first && !goesOn:
				r = &reader{user: folder(t)}
			case ok && r != nil:
				setup(t, r)
			case !first:
				t.Fatalf("%s: there is no setup %q, or no folder for it", b.at(), name)
			}
		}
		if _, not := b.one("not run"); !not && !p.generated() {
			b.done(t, r)
		}
	}
	return r
}

// tellsPeople says that a statement prints pawl's words to people: no JSON, and no names of settings, which look like
// keys.
func tellsPeople(statement string) bool {
	return strings.HasPrefix(statement, "pawl ") && !strings.Contains(statement, "--json") &&
		!strings.HasPrefix(statement, "pawl config show")
}

// done does what one block says.
func (b block) done(t *testing.T, r *reader) {
	t.Helper()
	file, isFile := b.one("file")
	_, isOutput := b.one("output")
	if b.lang != "sh" && !isFile && !isOutput {
		return
	}
	if r == nil {
		t.Fatalf("%s: the page says nothing of the folder that this is for (<!-- setup: … -->)", b.at())
	}
	if r.shell == nil {
		r.begin()
	}
	text := strings.NewReplacer(r.put...).Replace(b.text)
	switch {
	case isFile:
		status, out := r.types("mkdir -p \"$(dirname '"+file+"')\" && cat >'"+file+"' <<'END OF THE FILE'\n"+text+
			"END OF THE FILE", "")
		if status != 0 {
			t.Fatalf("%s: %s", b.at(), out)
		}
		return
	case isOutput:
		if line := shows(text, r.printed); line != "" {
			t.Errorf("%s: this is not printed (there):\n%s\n--- what is printed:\n%s", b.at(), line, r.printed)
		}
		return
	}
	b.text = text
	all, _, err := b.statements()
	if err != nil {
		t.Fatalf("%s: %v", b.at(), err)
	}
	want := 0
	if v, ok := b.one("exit"); ok {
		if want, err = strconv.Atoi(v); err != nil {
			t.Fatalf("%s: %v", b.at(), err)
		}
	}
	r.printed = ""
	for i, s := range all {
		last, answer := i == len(all)-1, ""
		expected := 0
		if last {
			answer, _ = b.one("answer")
			expected = want
		}
		begun := time.Now()
		status, out := r.types(s, answer)
		r.printed += out
		fmt.Fprintf(&r.said, "$ %s    (%s)\n%s", s, time.Since(begun).Round(time.Millisecond), out)
		if status != expected {
			t.Fatalf("%s: %s\nended with %d, want %d; the block printed:\n%s", b.at(), s, status, expected, r.printed)
		}
		if slip := slipIn(out); slip != "" && tellsPeople(s) && answer == "" {
			t.Errorf("%s: %s shows %s", b.at(), s, slip)
		}
	}
}

// tasks are what people want to do, the pages that lead them through it one behind the other, and what has come of it
// in the end.
var tasks = map[string]struct {
	pages []string
	ended func(t *testing.T, r *reader)
}{
	"set up Codex": {[]string{"docs/howto/codex.md"}, func(t *testing.T, r *reader) {
		if got := r.read("sum.sh"); got != shellSum("+") || r.git("rev-list", "--count", "HEAD") != "2" {
			t.Errorf("Codex mended nothing: %s", got)
		}
		if list := r.must(0, "agent", "list").out; !regexp.MustCompile(`(?m)^codex .*not set up`).MatchString(list) {
			t.Errorf("the login may still be used:\n%s", list)
		}
		r.quiet()
	}},
	"write a plan": {[]string{"docs/howto/write-a-plan.md"}, func(t *testing.T, r *reader) {
		if r.read("greeting.txt") != "Hello, world\nHallo, Welt\n" || r.read("NEWS.md") == "" ||
			r.git("log", "-1", "--format=%s") != "Greet in German as well" {
			t.Errorf("the plan was not carried out: %q, %s", r.read("greeting.txt"), r.git("log", "--oneline"))
		}
		r.quiet()
	}},
	"find out why a run failed, and undo it": {[]string{"docs/howto/why-did-it-fail.md", "docs/howto/undo.md"},
		func(t *testing.T, r *reader) {
			first := r.git("rev-list", "--max-parents=0", "HEAD")
			if left := r.git("diff", "--name-only", first, "HEAD"); left != "bye.txt" { // which another run made, that nobody undid
				t.Errorf("this is left of it: %s", left)
			}
			r.must(0, "audit", "verify")
			r.quiet()
		}},
}

// TestPages runs every page of its own.
func TestPages(t *testing.T) {
	t.Parallel()
	commands := readSurface(t)
	var chained []string
	for _, c := range tasks {
		chained = append(chained, c.pages...)
	}
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.lang == "sh" {
				commands.exist(t, b)
			}
		}
		if slices.Contains(chained, p.name) || p.generated() {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.reads(t, nil)
		})
	}
}

// TestTasksFromThePages does what people want to do by the pages alone. With -v it shows the transcripts, with the time
// of each statement.
func TestTasksFromThePages(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for name, task := range tasks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r *reader
			for _, name := range task.pages {
				i := slices.IndexFunc(all, func(p page) bool { return p.name == name })
				if i < 0 {
					t.Fatalf("there is no page %s", name)
				}
				r = all[i].reads(t, r)
			}
			r.leave()
			t.Log(r.said.String())
			task.ended(t, r)
		})
	}
}
