package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl"
)

// marked reports the processes of this machine whose command line holds a mark.
func marked(mark string) []string {
	var out []string
	eachMarked(mark, func(_ int, line string) { out = append(out, line) })
	return out
}

func eachMarked(mark string, see func(pid int, line string)) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		b, err := os.ReadFile(f)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err == nil && bytes.Contains(b, []byte(mark)) && pid != os.Getpid() {
			see(pid, string(b))
		}
	}
}

// slack is what a busy machine may add to a duration. What would otherwise be waited for is a day.
const slack = time.Minute

// mark makes a number of seconds that no other process sleeps. Should a process be left that does, the test ends it.
func mark(t *testing.T) string {
	m := "98765." + strconv.FormatUint(uint64(time.Now().UnixNano()), 10)
	t.Cleanup(func() { eachMarked(m, func(pid int, _ string) { _ = unix.Kill(pid, unix.SIGKILL) }) })
	return m
}

func TestExitsAndSignals(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		for _, c := range []struct {
			script string
			exit   int
			signal string
		}{
			{"exit 0", 0, ""}, {"exit 3", 3, ""}, {"exit 255", 255, ""},
			{"kill -TERM $$", 143, "SIGTERM"}, {"kill -KILL $$", 137, "SIGKILL"}, {"kill -SEGV $$", 139, "SIGSEGV"},
			{"(sleep 0.01; exit 9) & exit 4", 4, ""},
		} {
			res := run(t, b, spec(t, c.script))
			if res.Exit != c.exit || res.Signal != c.signal || res.TimedOut || res.Canceled {
				t.Errorf("%s: exit %d %q", c.script, res.Exit, res.Signal)
			}
		}
	})
}

func TestArgumentsArriveByteForByte(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		args := []string{"", "-x", "--", "$(touch x)", "`id`", "a\nb", "\xff\xfe\x80", "'\"\\", "日本", "\x1b[31m",
			strings.Repeat("y", 100_000)}
		s := spec(t, "")
		s.Argv = append([]string{"printf", `%s\0`}, args...)
		s.OutputLimit = 1 << 20
		if got := output(t, b, s); got != strings.Join(args, "\x00")+"\x00" {
			t.Errorf("%.200q", got)
		}
		s.Env = append(s.Env, "ODD=\xff\n=x")
		s.Argv = []string{"sh", "-c", `printf %s "$ODD"`}
		if got := output(t, b, s); got != "\xff\n=x" {
			t.Errorf("%q", got)
		}
	})
}

func TestNothingShowsInTheProcessList(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		s := spec(t, `echo ready; read x`)
		hidden := "hush-" + rand.Text()
		s.Env = append(s.Env, "HUSH="+hidden)
		s.Argv = []string{"sh", "-c", "echo ready; sleep 0.2"}
		seen := []string{"not looked"}
		var once sync.Once
		s.OnOutput = func([]byte) { once.Do(func() { seen = marked(hidden) }) }
		output(t, b, s)
		if len(seen) != 0 {
			t.Error(seen)
		}
	})
}

func TestStartFailures(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		s := spec(t, "")
		write(t, filepath.Join(s.Dir, "plain"), "text")
		write(t, filepath.Join(s.Dir, "garbage"), "\x7fELFgarbage")
		if err := os.Chmod(filepath.Join(s.Dir, "garbage"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			argv []string
			dir  string
			code pawl.Code
			exit int
		}{
			{[]string{"no-such-command"}, s.Dir, pawl.CodeEnvironment, 127},
			{[]string{"./no-such-command"}, s.Dir, pawl.CodeEnvironment, 127},
			{[]string{"./plain"}, s.Dir, pawl.CodeEnvironment, 126},
			{[]string{"./garbage"}, s.Dir, pawl.CodeEnvironment, 126},
			{[]string{"/"}, s.Dir, pawl.CodeEnvironment, 126},
			{[]string{"true"}, s.Dir + "/absent", pawl.CodeNotFound, 126},
			{[]string{"true", strings.Repeat("x", 1<<18)}, s.Dir, pawl.CodeInvalid, 126},
		} {
			s.Argv, s.Dir = c.argv, c.dir
			res, err := b.Run(context.Background(), s)
			if pawl.CodeOf(err) != c.code || res.Exit != c.exit || len(res.Walls) == 0 {
				t.Errorf("%.40q: exit %d, %v", c.argv, res.Exit, err)
			}
		}
	})
}

func TestSpecsThatMakeNoSense(t *testing.T) {
	b := box(t, Options{})
	ok := spec(t, "true")
	for name, c := range map[string]struct {
		change func(*Spec)
		code   pawl.Code
	}{
		"no command":      {func(s *Spec) { s.Argv = nil }, pawl.CodeInvalid},
		"empty command":   {func(s *Spec) { s.Argv = []string{""} }, pawl.CodeInvalid},
		"NUL":             {func(s *Spec) { s.Argv = []string{"echo", "a\x00b"} }, pawl.CodeInvalid},
		"relative dir":    {func(s *Spec) { s.Dir = "." }, pawl.CodeInvalid},
		"relative path":   {func(s *Spec) { s.Hidden = []string{"x"} }, pawl.CodeInvalid},
		"writable /":      {func(s *Spec) { s.Writable = []string{"/"} }, pawl.CodeDenied},
		"writable /etc":   {func(s *Spec) { s.Writable = []string{"/etc"} }, pawl.CodeDenied},
		"writable /tmp":   {func(s *Spec) { s.Writable = []string{"/tmp/"} }, pawl.CodeDenied},
		"writable device": {func(s *Spec) { s.Writable = []string{"/dev/null"} }, pawl.CodeDenied},
		"writable /sys":   {func(s *Spec) { s.Writable = []string{"/sys/kernel"} }, pawl.CodeDenied},
		"writable /proc":  {func(s *Spec) { s.Writable = []string{"/proc/self/cwd/../../../../../"} }, pawl.CodeDenied},
		"missing":         {func(s *Spec) { s.Writable = []string{s.Dir + "/absent"} }, pawl.CodeNotFound},
	} {
		s := ok
		c.change(&s)
		if _, err := b.Run(context.Background(), s); pawl.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Run(ctx, ok); pawl.CodeOf(err) != pawl.CodeCanceled {
		t.Error(err)
	}
	if _, err := New(Options{Mechanism: "chroot"}); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Error(err)
	}
}

func TestStandardInput(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		s := spec(t, "cat")
		s.Stdin = bytes.Repeat([]byte("\x00\xffline\n"), 50_000)
		res := run(t, b, s)
		sum := sha256.Sum256(s.Stdin)
		if res.Digest != hex.EncodeToString(sum[:]) || res.Bytes != int64(len(s.Stdin)) ||
			!bytes.Equal(res.Output, s.Stdin) {
			t.Errorf("%d bytes", res.Bytes)
		}
		// One that nobody reads hangs nothing, and none is an end of file at once.
		s.Argv = []string{"true"}
		run(t, b, s)
		s.Argv, s.Stdin = []string{"cat"}, nil
		run(t, b, s)
	})
}

func TestNobodyIsLeft(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		m := mark(t)
		s := spec(t, fmt.Sprintf("setsid sh -c 'trap \"\" TERM HUP; sleep %s' </dev/null >/dev/null 2>&1 & sleep %s & nohup sleep %s & sleep 0.05; echo up", m, m, m))
		begin := time.Now()
		if got := output(t, b, s); !strings.Contains(got, "up") {
			t.Error(got)
		}
		if left := marked(m); len(left) != 0 {
			t.Error(left)
		}
		if d := time.Since(begin); d > slack {
			t.Errorf("an inherited pipe held the run up for %v", d)
		}
	})
}

func TestTimeoutAndCancel(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *Box) {
		t.Parallel()
		t.Run("polite", func(t *testing.T) {
			t.Parallel()
			m := mark(t)
			s := spec(t, "trap 'echo bye; exit 7' TERM; echo hi; sleep "+m+" & wait")
			s.Timeout = 3 * time.Second // in which the command comes to its first line on a busy machine as well
			res := run(t, b, s)
			if !res.TimedOut || res.Canceled || res.Exit != 7 || string(res.Output) != "hi\nbye\n" ||
				res.Duration > slack {
				t.Errorf("%+v %s", res, res.Output)
			}
			if left := marked(m); len(left) != 0 {
				t.Error(left)
			}
		})
		t.Run("stubborn", func(t *testing.T) {
			t.Parallel()
			m := mark(t)
			s := spec(t, "trap '' TERM INT HUP; setsid sleep "+m+" & while :; do sleep 0.05; done")
			s.Timeout = 100 * time.Millisecond
			res := run(t, b, s)
			if !res.TimedOut || res.Signal != "SIGKILL" || res.Duration > grace+slack {
				t.Errorf("%+v", res)
			}
			if left := marked(m); len(left) != 0 {
				t.Error(left)
			}
		})
		t.Run("cancel", func(t *testing.T) {
			t.Parallel()
			m := mark(t)
			s := spec(t, "echo hi; sleep "+m)
			ctx, cancel := context.WithCancel(context.Background())
			s.OnOutput = func([]byte) { cancel() }
			res, err := b.Run(ctx, s)
			if err != nil || !res.Canceled || res.TimedOut || res.Signal != "SIGTERM" || res.Duration > slack {
				t.Errorf("%v %+v", err, res)
			}
			if left := marked(m); len(left) != 0 {
				t.Error(left)
			}
		})
	})
}

// spew prints a gibibyte.
func spew() {
	buf := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)
	for range 1 << 10 {
		if _, err := os.Stdout.Write(buf); err != nil {
			os.Exit(1)
		}
	}
}

func TestAGibibyteOfOutput(t *testing.T) {
	b := box(t, Options{Mechanism: MechanismNamespaces})
	s := self(t, "spew")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	res := run(t, b, s)
	runtime.ReadMemStats(&after)
	if res.Bytes != 1<<30 || !res.Truncated || int64(len(res.Output)) > DefaultOutputLimit+64 {
		t.Errorf("%d bytes, %d kept", res.Bytes, len(res.Output))
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
	if !strings.HasPrefix(string(res.Output), "0123456789") || !strings.HasSuffix(string(res.Output), "abcde\n") ||
		!bytes.Contains(res.Output, []byte("\n[... ")) {
		t.Error("the ends are not what was printed")
	}
	t.Logf("%.2f GiB/s", 1/res.Duration.Seconds())
}

// owner plays the pawl that is killed: it runs commands that would stay for a day.
func owner() {
	b, err := New(Options{Mechanism: Mechanism(os.Getenv("PAWL_TEST_MECHANISM"))})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	m := os.Getenv("PAWL_TEST_MARK")
	dir, _ := os.Getwd()
	_, err = b.Run(context.Background(), Spec{
		Argv: []string{"sh", "-c", "trap '' TERM HUP; setsid sleep " + m + " & sleep " + m +
			" & echo up; wait; sleep " + m},
		Dir:      dir,
		Env:      Environ(os.Environ(), nil),
		OnOutput: func(p []byte) { _, _ = os.Stdout.Write(p) },
	})
	fmt.Println(err)
}

func TestAKilledPawlTakesItsCommandsAlong(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, b *Box) {
		for range 3 {
			m := mark(t)
			cmd := exec.Command(exe)
			cmd.Dir = "/"
			cmd.Env = append(os.Environ(), role+"=owner", "PAWL_TEST_MARK="+m, "PAWL_TEST_MECHANISM="+
				string(b.mechanism))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "up\n" {
				t.Fatal(line, err)
			}
			if len(marked(m)) < 2 {
				t.Error("the commands do not run: ", marked(m))
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			deadline := time.Now().Add(slack)
			for len(marked(m)) > 0 && time.Now().Before(deadline) {
				time.Sleep(5 * time.Millisecond)
			}
			if left := marked(m); len(left) > 0 {
				t.Errorf("%q", left)
			}
		}
	})
}

func TestProcessesAndMemoryAreBounded(t *testing.T) {
	t.Parallel()
	b := box(t, Options{Mechanism: MechanismNamespaces})
	m := mark(t)
	s := spec(t, "i=0; while [ $i -lt 300 ]; do sleep "+m+" & i=$((i+1)); done; echo all; wait")
	s.MaxProcs, s.Timeout = 40, 20*time.Second // a shell that cannot fork ends at once, or tries again for some seconds
	res := run(t, b, s)
	if strings.Contains(string(res.Output), "all\n") && !res.TimedOut || !bytes.Contains(res.Output, []byte("ork")) {
		t.Errorf("%d %.200s", res.Exit, res.Output)
	}
	if left := marked(m); len(left) != 0 {
		t.Error(len(left), "processes are left")
	}
	if b.launchers.groups()["memory"] == "" {
		t.Log("no memory cgroup can be made here")
		return
	}
	s = spec(t, `x=aaaaaaaa; while :; do x=$x$x; done; echo survived`)
	s.MaxMemory = 64 << 20
	if res := run(t, b, s); bytes.Contains(res.Output, []byte("survived")) && res.Exit == 0 {
		t.Errorf("%d %s", res.Exit, res.Output)
	}
}

func TestManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		var wg sync.WaitGroup
		for i := range 16 {
			s := spec(t, fmt.Sprintf("echo %d; exit %d", i, i))
			wg.Go(func() {
				res, err := b.Run(context.Background(), s)
				if err != nil || res.Exit != i || string(res.Output) != fmt.Sprintln(i) {
					t.Errorf("%d: %v %d %q", i, err, res.Exit, res.Output)
				}
			})
		}
		wg.Wait()
		b.Close()
		if left := groupsLeft(b); len(left) > 0 {
			t.Error(left)
		}
	})
}

// TestWhoeverTakesTheCommandKnowsItsEnd: one waits for the command, another ends all that is left meanwhile, and takes
// it first now and then.
func TestWhoeverTakesTheCommandKnowsItsEnd(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=ender")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// ender ends commands of its own in a process where nobody else has any.
func ender() {
	for range 300 {
		cmd := exec.Command("sleep", "100")
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		var others sync.WaitGroup
		kids := new(children)
		for range 3 {
			others.Go(func() {
				for !kids.gone() {
					runtime.Gosched()
				}
			})
		}
		_ = cmd.Process.Kill()
		if st := kids.reap(cmd.Process.Pid); !st.Signaled() || st.Signal() != syscall.SIGKILL {
			fmt.Printf("%#x\n", st)
			os.Exit(1)
		}
		others.Wait()
		if !kids.endAll() {
			fmt.Println("one is left")
			os.Exit(1)
		}
	}
}

// TestStreamsAreTheCommandsOwn: what runs beside a command that pawl listens to, as the same user, can neither write in
// its place nor answer it in pawl's.
func TestStreamsAreTheCommandsOwn(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		p, err := b.Start(t.Context(), spec(t, `(for f in /proc/[0-9]*/fd/[01]; do echo forged >"$f"; done) </dev/null >/dev/null 2>&1
echo own; cat; echo aside >/dev/stderr`))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = p.Stdin.WriteString("told\n")
		aside := make(chan string, 1)
		go func() { raw, _ := io.ReadAll(p.Stderr); aside <- string(raw) }()
		said := make(chan string, 1)
		go func() { raw, _ := io.ReadAll(p.Stdout); said <- string(raw) }()
		_ = p.Stdin.Close()
		res, err := p.Wait()
		if out, errs := <-said, <-aside; err != nil || res.Exit != 0 || out != "own\ntold\n" || errs != "aside\n" {
			t.Errorf("%v %+v: %q, aside %q", err, res, out, errs)
		}
	})
}
