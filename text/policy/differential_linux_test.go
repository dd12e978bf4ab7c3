package policy_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pawl/internal/need"
	"pawl/sandbox"
	"pawl/text/display"
	"pawl/text/policy"
)

var (
	manyLines = flag.Int("lines", 2000, "how many shell texts are run, and compared with what policy says that they run")
	lineSeed  = flag.Uint64("seed", 1, "the seed of these texts")
)

func TestMain(m *testing.M) {
	sandbox.Child()
	os.Exit(m.Run())
}

// The programs that the texts run. Each keeps by which name it was called and with which words. The leaves do no more,
// but that they print the name of another one, which is a command where a text takes it for one; the others are the
// machine's own behind that.
const (
	leaves   = "alpha beta gamma cat ls wc sort head echo true false printf test [ pwd tool"
	starters = "env xargs find timeout nice nohup sh bash dash"
)

// gauge evaluates one text after the other in a shell of its own, as bash -c would. What a text has started holds
// descriptor 200 until it ends, and the next one begins when all of it has; where one goes on for ever, gauge ends with 9.
// A name that no program has is kept, too.
const gauge = `export PATH=$1 HOME=$PWD FUNCNEST=5
log=$2 lines=$3
command_not_found_handle() { printf '%s\0' $(($# - 1)) "$@" >>"$log"; }
readonly log
set --
while IFS= read -r -d '' -u 100 __; do
	exec 101< <((
		ulimit -t 5
		eval "$__"
	) 200>&1 >/dev/null 2>&1 </dev/null 100<&-)
	read -r -t 20 -u 101 _
	[ $? -lt 128 ] || exit 9
	printf 'end\0' >>"$log"
done 100<"$lines"`

// run is a program that was started, with its words.
type started []string

// measure runs texts behind walls and returns what each of them started.
func measure(t *testing.T, texts []string) [][]started {
	t.Helper()
	root := t.TempDir()
	bin, work, out := filepath.Join(root, "bin"), filepath.Join(root, "work"), filepath.Join(root, "out")
	for _, dir := range []string{bin, filepath.Join(work, "sub"), out} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(out, "log")
	keeps := "#!/bin/sh\nprintf '%s\\0' $# \"$0\" \"$@\" >>" + log + "\n"
	programs := map[string]string{}
	for _, name := range strings.Fields(leaves) {
		programs[name] = keeps + "echo wc\n"
	}
	for _, name := range strings.Fields(starters) {
		programs[name] = keeps + "exec " + need.Program(t, name) + ` "$@"` + "\n"
	}
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{"tool", "sub/tool"} {
		if err := os.Symlink(filepath.Join(bin, "tool"), filepath.Join(work, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(work, "lib"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	lines := filepath.Join(root, "lines")
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	spec := sandbox.Spec{Argv: []string{need.Program(t, "bash"), "--norc", "--noprofile", "-c", gauge, "gauge", bin, log, lines},
		Dir: work, Writable: []string{work, out}, Readable: []string{bin, lines}, Env: sandbox.Environ(os.Environ(), nil), Timeout: time.Hour}
	var all [][]started
	for len(all) < len(texts) {
		rest := strings.Join(texts[len(all):], "\x00") + "\x00"
		if err := errors.Join(os.WriteFile(lines, []byte(rest), 0o644), os.WriteFile(log, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		result, err := box.Run(t.Context(), spec)
		data, failed := os.ReadFile(log)
		if err != nil || failed != nil || result.Exit != 0 && result.Exit != 9 {
			t.Fatalf("text %d: %v %v, exit %d: %s\n%s", len(all), err, failed, result.Exit, result.Output, texts[len(all)])
		}
		some := records(t, string(data), bin+"/")
		if all = append(all, some...); result.Exit == 0 {
			if len(all) != len(texts)+1 {
				t.Fatalf("%d of %d texts came to their end", len(all)-1, len(texts))
			}
			return all[:len(texts)] // nothing comes behind the last end
		}
	}
	return all
}

// records are what each text has started, and what one that did not end has until then.
func records(t *testing.T, log, bin string) [][]started {
	t.Helper()
	all := [][]started{nil}
	fields := strings.Split(strings.TrimSuffix(log, "\x00"), "\x00")
	for i := 0; i < len(fields); i++ {
		if fields[i] == "end" {
			all = append(all, nil)
			continue
		}
		n, err := strconv.Atoi(fields[i])
		if err != nil || i+n+2 > len(fields) {
			t.Fatalf("text %d: the record is broken at %q", len(all), fields[max(0, i-5):min(len(fields), i+5)])
		}
		argv := slices.Clone(fields[i+1 : i+n+2])
		argv[0] = strings.TrimPrefix(argv[0], bin)
		all[len(all)-1] = append(all[len(all)-1], argv)
		i += n + 1
	}
	return all
}

// unknowable are the codes by which policy says that it does not know what a text would run.
var unknowable = []policy.Code{policy.CodeDynamic, policy.CodeShellFeature, policy.CodeAmbiguous, policy.CodeUnparsable,
	policy.CodeTooComplex, policy.CodeInvalidText, policy.CodeDangerousFlag}

// tellsUnknown reports whether a verdict says so, and does not let the text pass.
func tellsUnknown(v policy.Verdict) bool {
	return v.Decision != policy.Allow && slices.ContainsFunc(v.Reasons, func(r policy.Reason) bool {
		return slices.Contains(unknowable, r.Code)
	})
}

// What a text starts when a shell runs it is among what policy says that it starts, or policy says that it does not know,
// and asks. It may not say so of more than a share of the texts, and of those that people type of a small one.
func TestWhatRunsIsWhatWasSaid(t *testing.T) {
	for _, program := range strings.Fields(starters) {
		need.Program(t, program)
	}
	texts, plain, plains := []string{}, make([]bool, *manyLines), 0
	for n := range *manyLines {
		w := newWriter(*lineSeed, uint64(n))
		texts = append(texts, w.command())
		if plain[n] = w.plain; w.plain {
			plains++
		}
	}
	var programs, idle, unknown, plainly, elsewhere, more, passed int
	for n, run := range measure(t, texts) {
		programs += len(run)
		if len(run) == 0 {
			idle++
		}
		for _, at := range []policy.Ground{own, {}} {
			v := on(at, texts[n])
			unsaid := slices.IndexFunc(run, func(argv started) bool { return !slices.Contains(v.Commands, display.Line(argv[0])) })
			if unsaid >= 0 && !tellsUnknown(v) {
				t.Errorf("text %d, %s %s: %q runs, and only %q was said\n%s", n, v.Decision, v.Code, run[unsaid], v.Commands, texts[n])
			}
			switch {
			case !tellsUnknown(v):
			case !at.Own:
				elsewhere++
				continue
			default:
				unknown++
			}
			switch {
			case !at.Own:
				continue
			case tellsUnknown(v) && plain[n]:
				plainly++
			case v.Decision == policy.Allow:
				passed++
			}
			if unsaid >= 0 {
				more++
			}
		}
		words(t, n, texts[n], run)
	}
	t.Logf("%d texts started %d programs, %d of them none; unknown %d, %d of %d as people type them, elsewhere %d; %d ran more, %d passed",
		len(texts), programs, idle, unknown, plainly, plains, elsewhere, more, passed)
	of := func(part, whole int) int { return part * 100 / whole }
	if of(unknown, len(texts)) > 50 || of(plainly, plains) > 20 || of(elsewhere, len(texts)) > 60 {
		t.Error("policy knows too little of what texts run")
	}
	if of(idle, len(texts)) > 30 || of(passed, len(texts)) < 35 || 2*programs < 3*len(texts) {
		t.Error("the texts show too little")
	}
}

// words compares the words of what ran with those that policy takes for certain.
func words(t *testing.T, n int, text string, run []started) {
	t.Helper()
	parsed, err := policy.ParseCommand(text)
	if err != nil || tellsUnknown(on(policy.Ground{}, text)) {
		return
	}
	for _, argv := range run {
		same := func(c policy.Call) bool {
			return len(c.Argv) > 0 && c.Argv[0] == argv[0] && (!c.Literal || slices.Equal(c.Argv, argv))
		}
		if !slices.ContainsFunc(parsed.Calls, same) {
			t.Errorf("text %d: %q runs, and only %v was said\n%s", n, argv, parsed.Calls, text)
		}
	}
}
