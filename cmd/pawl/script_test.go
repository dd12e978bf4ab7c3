package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"pawl"
	"pawl/store/known"
	"pawl/text/message"
)

// TestScript runs the scripts of testdata/script: one person, one folder, the real command line. Beside the commands of
// testscript they have:
//
//	exits STATUS PROGRAM ARG...  runs a program that has to end with the exit status; what pawl prints is read for slips
//	repo                         makes the current folder a git repository with one commit of everything in it
//	keep                         remembers the files of the current folder, without git's and pawl's own
//	same                         fails unless they are what they were
//	poke FILE OFFSET HEX         overwrites bytes of a file
//	cut FILE SIZE                cuts a file short
//	own                          sets OWN to the state of the workspace in the current directory
//	compiled                     puts what is compiled of Go's standard library where pawl keeps it, without the list of what it is: pawl
//	                             has it compiled again, in less time
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               scriptSetup,
		Condition:           scriptCondition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "repo": scriptRepo, "keep": scriptKeep, "same": scriptSame, "poke": scriptPoke,
			"cut": scriptCut, "compiled": scriptCompiled, "own": scriptOwn,
		},
	})
}

// scriptSetup gives a script a home of its own and the test binary under the name pawl, in front of the search path.
func scriptSetup(e *testscript.Env) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bin, home := filepath.Join(e.WorkDir, ".bin"), filepath.Join(e.WorkDir, ".home")
	for _, d := range []string{bin, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	e.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, value := range map[string]string{
		"HOME": home, "USER": "ada", "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1", "BIN": bin, asPawl: "1",
	} {
		e.Setenv(name, value)
	}
	config := "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
	return errors.Join(
		os.Symlink(self, filepath.Join(bin, "pawl")),
		os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644))
}

func scriptOwn(ts *testscript.TestScript, _ bool, _ []string) {
	home := cmp.Or(ts.Getenv("XDG_STATE_HOME"), filepath.Join(ts.Getenv("HOME"), ".local", "state"))
	ts.Setenv("OWN", known.In(filepath.Join(home, "pawl")).State(ts.MkAbs(".")))
}

// scriptCondition knows [namespaces]: whether mounts of one's own can be made here.
func scriptCondition(cond string) (bool, error) {
	if cond != "namespaces" {
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	return mountsOfOnesOwn(), nil
}

var mountsOfOnesOwn = sync.OnceValue(func() bool {
	return exec.Command("unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=1m none /tmp").Run() == nil
})

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
	if args[1] != "pawl" || slices.Contains(args, "--json") {
		return
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if slip := slipIn(ts.ReadFile(stream)); slip != "" {
			ts.Fatalf("%s: %s", stream, slip)
		}
	}
}

// keyLike matches what could be a key of the message catalogue.
var keyLike = regexp.MustCompile(`[a-z]+(\.[a-z0-9_]+)+`)

// slipIn returns what no person should ever be shown: escape codes in a pipe, placeholders that were not filled, and
// keys of the catalogue instead of their text.
func slipIn(text string) string {
	if i := strings.IndexByte(text, 0x1b); i >= 0 {
		return fmt.Sprintf("an escape code: %q", text[i:min(len(text), i+20)])
	}
	if i := strings.Index(text, "%!"); i >= 0 {
		return fmt.Sprintf("a placeholder: %q", text[i:min(len(text), i+40)])
	}
	for _, word := range keyLike.FindAllString(text, -1) {
		area, rest, _ := strings.Cut(word, ".")
		_, ok := message.Lookup(word)
		if parent := word[:strings.LastIndexByte(word, '.')]; ok || area == "cli" && rest != "" || parents()[parent] {
			return "a key of the catalogue: " + word
		}
	}
	for line := range strings.Lines(text) {
		slug, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "  ")
		slug, _, _ = strings.Cut(slug, " · ")
		if ok && slices.Contains(pawl.Codes(), pawl.Code(slug)) {
			return "the code of an error: " + slug
		}
	}
	if i := strings.Index(text, "by ,"); i >= 0 {
		return "somebody without a name: " + text[i:min(len(text), i+40)]
	}
	return ""
}

// parents are the beginnings of two words or more that keys of the catalogue have in common: a key that is put together
// of one of them and of data may have no text.
var parents = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, key := range message.Keys() {
		if i := strings.LastIndexByte(key, '.'); strings.Contains(key[:i], ".") {
			out[key[:i]] = true
		}
	}
	return out
})

func TestSlipsAreSeen(t *testing.T) {
	for text, bad := range map[string]bool{
		"all good: plan.yaml, pawl.db, gates.run": false,
		"problems: %!d(string=1)":                 true,
		"cli.no_such_text T-001":                  true,
		"plan.unknown_tool_near write_fil":        true,
		"\x1b[1mbold":                             true,
		"approved  the plan  see.by_way.pigeon":   true,
		"pawl: no\n  next: stop\n  not_found\n":   true,
		"pawl: no\n  denied · rule T1\n":          true,
		"approved  by , at the terminal":          true,
		"  not_found is what programs read":       false,
	} {
		if got := slipIn(text); (got != "") != bad {
			t.Errorf("slipIn(%q) = %q", text, got)
		}
	}
}

func scriptRepo(ts *testscript.TestScript, neg bool, args []string) {
	for _, line := range []string{"init -q", "add -A", "commit -q --allow-empty -m base"} {
		ts.Check(ts.Exec("git", strings.Fields(line)...))
	}
}

func scriptKeep(ts *testscript.TestScript, neg bool, args []string) {
	m, err := scriptFiles(ts.MkAbs("."))
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), ".kept"), []byte(m), 0o644))
}

func scriptSame(ts *testscript.TestScript, neg bool, args []string) {
	want, err := os.ReadFile(filepath.Join(ts.Getenv("WORK"), ".kept"))
	ts.Check(err)
	got, err := scriptFiles(ts.MkAbs("."))
	ts.Check(err)
	if got != string(want) {
		ts.Fatalf("the files changed\n--- before\n%s--- now\n%s", want, got)
	}
}

// scriptFiles lists path, mode and content of everything below dir except git's and pawl's own.
func scriptFiles(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == ".pawl") {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			content, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var raw []byte
			raw, err = os.ReadFile(path)
			content = string(raw)
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s %s %q\n", info.Mode(), rel, content)
		return err
	})
	return b.String(), err
}

func scriptPoke(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: poke FILE OFFSET HEX")
	}
	at, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	raw, err := hex.DecodeString(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteAt(raw, at)
	ts.Check(errors.Join(err, f.Close()))
}

func scriptCompiled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: compiled")
	}
	_, err := warmCache()
	ts.Check(err)
	cache := filepath.Join(ts.Getenv("HOME"), ".cache")
	ts.Check(linkAll(filepath.Join(warmFolder, "home", ".cache"), cache))
	lists, err := filepath.Glob(filepath.Join(cache, "pawl", "go-build-std", "go-*", "packages"))
	ts.Check(err)
	if len(lists) != 1 {
		ts.Fatalf("what is compiled is listed in %v", lists)
	}
	ts.Check(errors.Join(os.Remove(lists[0]), os.WriteFile(lists[0], nil, 0o600))) // another name of it is the list of all
}

func scriptCut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cut FILE SIZE")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}
