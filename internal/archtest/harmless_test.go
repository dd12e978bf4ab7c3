package archtest

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Tests try to break out, follow links, and remove things, as root in many places. What they aim at is therefore their
// own: a canary in a folder of the test. A fault, or a wall that is taken away, must never harm the machine of who runs
// them.

// ofTheMachine fits a path that is the machine's, at the beginning of a literal.
var ofTheMachine = regexp.MustCompile(`^/(bin|boot|dev|etc|home|lib|lib64|media|mnt|opt|proc|root|run|sbin|srv|sys|usr|var)(/.*)?$`)

// changing are the functions and methods that make, change, move or remove what a path leads to, or a link to it.
var changing = []string{
	"Chmod", "Chown", "Chtimes", "CopyFS", "Create", "Fchmodat", "Lchown", "Link", "Mkdir", "MkdirAll", "Mkfifo",
	"Mknod", "Mount", "OpenFile", "Remove",
	"RemoveAll", "Rename", "Renameat2", "Symlink", "Truncate", "Unlink", "Unmount", "Write", "WriteFile", "link",
	"write",
}

// looking are those that only look, or start a program by its name, so that their arguments harm nothing.
var looking = []string{
	"Access", "Command", "CommandContext", "EvalSymlinks", "Glob", "HasPrefix", "HasSuffix", "LookPath", "Lstat",
	"Open", "Openat2", "ReadDir", "ReadFile", "Readlink",
	"StartProcess", "Stat", "Statfs", "TrimPrefix",
}

// spared are literals of the machine's in functions that change something, with the reason why they harm nothing.
var spared = map[string]string{
	"sandbox/box_linux_test.go /var/tmp":                               "removes a file with a name of the test's own",
	"sandbox/box_linux_test.go /proc/1/":                               "opened for reading",
	"sandbox/safeopen/root_linux_test.go /proc/self/root":              "a way round to the test's own neighbour",
	"sandbox/machine_linux_test.go /proc/sys/user/max_user_namespaces": "the limit of a namespace that was made for the test, which is looked at first",
	"cmd/pawl/check_test.go /usr/local/sbin:/usr/bin:/bin":             "a search path",
	"internal/terminaltest/person_linux.go /proc/self/comm":            "the name of this program",
	"internal/terminaltest/person_linux.go /dev/ptmx":                  "makes a terminal of the test's own",
	"internal/terminaltest/person_linux.go /dev/pts/%d":                "that terminal",
	"cmd/pawl/output_linux_test.go /dev/full":                          "keeps nothing that is written to it",
}

// shellHarm fits what a shell does to the machine's files or to processes that are not its own.
var shellHarm = regexp.MustCompile(
	`>[>|]? *["']?` + machineDirs + `\b` +
		`|\b(rm|mv|ln|cp|tee|touch|mkdir|chmod|chown|truncate|mount|dd|install) ([^\n;|&]* |[^\n;|&]*\bof=)?["']?(` +
		machineDirs + `\b|/["']?( |$|\*))` +
		`|\bkill\b[^\n;|&]* -1\b|\b(pkill|killall) `)

const machineDirs = `/(bin|boot|etc|home|lib|lib64|media|mnt|opt|proc|root|run|sbin|srv|sys|usr|var)`

// guarded are texts that shellHarm fits and that harm nothing, in the one file where they stand.
var guarded = map[string][]string{
	"sandbox/box_linux_test.go": {
		// These are opened, and left as they are.
		"true >>/proc/sys/kernel/hostname", "true >>/proc/sys/kernel/core_pattern", "true >>/sys/kernel/mm/ksm/run",
		"kill -9 -1 2>/dev/null", // behind a question whether these are the machine's processes
		"cp /bin/true .",         // from the machine, not to it
		`>"/var/tmp/$2"`,         // a name of the test's own
	},
	"docs/cli.md":        {"> /etc/bash_completion.d/pawl"}, // an example of the help, which nobody types
	"scripts/install.sh": {"sudo tee /etc/apparmor.d/pawl"}, // what it tells a person to run
	"sandbox/floor_linux_test.go": {
		"cp /bin/true here",                                    // from the machine, not to it
		"chmod 777 /proc/self/fd/7", "echo x >/proc/self/fd/7", // a descriptor of the test's own file
	},
	"driver/verify/environment_test.go": {
		"mkdir /home/me/go/pkg/mod/cache/download/x: read-only file system", // what a tool said
	},
}

func TestTestsAimAtCanaries(t *testing.T) {
	seen, unused := 0, maps.Clone(spared)
	walkTests(t, func(rel string, data []byte) {
		seen++
		if !strings.HasSuffix(rel, ".go") {
			for _, bad := range harmOfShell(rel, string(data)) {
				t.Errorf("%s: %q is the machine's; aim at a canary of the test", rel, bad)
			}
			return
		}
		runs := true // a pure package judges commands and runs none
		if r, ok := ruleFor(filepath.ToSlash(filepath.Dir(rel))); ok && r.pure {
			runs = false
		}
		inspect(t, filepath.Join("..", "..", rel), func(n ast.Node) {
			switch n := n.(type) {
			case *ast.FuncDecl:
				for _, lit := range aims(n) {
					key := filepath.ToSlash(rel) + " " + lit.Value
					delete(unused, key)
					if spared[key] == "" {
						t.Errorf("%s: %s in a function that changes files; aim at a canary of the test",
							fset.Position(lit.ValuePos), lit.Value)
					}
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); runs && n.Kind == token.STRING && err == nil {
					for _, bad := range harmOfShell(rel, text) {
						t.Errorf("%s: %q is the machine's; aim at a canary of the test", fset.Position(n.Pos()), bad)
					}
				}
			}
		})
	})
	for key := range unused {
		t.Errorf("%s: nothing of it is left to spare", key)
	}
	if seen < 300 {
		t.Errorf("%d files were looked at", seen)
	}
}

// TestSignalsToAll: only a process 1 signals all that it can reach, which is the command's; to any other process, such as
// one whose namespace a test has taken away, that would be the whole machine.
func TestSignalsToAll(t *testing.T) {
	files, err := filepath.Glob("../../sandbox/*.go")
	more, wrong := filepath.Glob("../../sandbox/*/*.go")
	if err := errors.Join(err, wrong); err != nil || len(more) == 0 {
		t.Fatal(err)
	}
	guarded := 0
	for _, file := range append(files, more...) {
		for _, d := range parse(t, file).tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			var first, signals bool
			ast.Inspect(f, func(n ast.Node) bool {
				var text strings.Builder
				if e, ok := n.(ast.Expr); ok {
					_ = printer.Fprint(&text, fset, e) // into a text nothing fails
				}
				first = first || text.String() == "os.Getpid() == 1"
				signals = signals || strings.HasPrefix(text.String(), "unix.Kill(-1,")
				return true
			})
			if signals && !first {
				t.Errorf("%s: %s signals the whole machine where it is not process 1", file, f.Name.Name)
			}
			if signals {
				guarded++
			}
		}
	}
	if guarded == 0 {
		t.Error("no signal to all was found")
	}
}

// walkTests shows the files of all tests: their Go files, suites, and what they read that a shell may run, pages
// included.
func walkTests(t *testing.T, see func(rel string, data []byte)) {
	t.Helper()
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(rel string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir := filepath.Base(filepath.Dir(rel))
		switch {
		case d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin" ||
			rel == "internal/archtest"):
			return fs.SkipDir
		case d.IsDir() || !d.Type().IsRegular():
			return nil
		case strings.HasSuffix(rel, "_test.go"), strings.HasSuffix(dir, "test") && strings.HasSuffix(rel, ".go"),
			// cmd/pawl types what they say
			rel == "README.md", strings.HasPrefix(rel, "docs/") && strings.HasSuffix(rel, ".md"),
			strings.HasSuffix(rel, ".sh"), strings.Contains(rel, "testdata/") &&
				slices.Contains([]string{".txtar", ".txt", ".yaml", ".json"}, filepath.Ext(rel)):
			data, err := fs.ReadFile(root, rel)
			if err == nil {
				see(rel, data)
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// aims are the literals of a function that name what is the machine's, when the function also changes something and
// does not give them to what only looks. Their value is unquoted.
func aims(f *ast.FuncDecl) []*ast.BasicLit {
	changes := false
	var found []*ast.BasicLit
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := called(n)
			changes = changes || slices.Contains(changing, name)
			return !slices.Contains(looking, name)
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if err == nil && n.Kind == token.STRING && ofTheMachine.MatchString(text) {
				found = append(found, &ast.BasicLit{ValuePos: n.ValuePos, Value: text})
			}
		}
		return true
	})
	if !changes {
		return nil
	}
	return found
}

// called is the name of the function or method that a call is of.
func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

func harmOfShell(rel, text string) []string {
	for _, g := range guarded[rel] {
		text = strings.ReplaceAll(text, g, "")
	}
	return shellHarm.FindAllString(text, -1)
}

// TestHarmIsSeen guards the guard.
func TestHarmIsSeen(t *testing.T) {
	for text, want := range map[string]bool{
		"echo x >/etc/passwd": true, "echo x >> '/usr/x'": true, "rm -rf /": true, "rm -rf / x": true,
		"rm -f a /var/x": true, "ln -sf /etc/passwd l": true,
		"dd if=a of=/boot/x": true, "kill -9 -1": true, "kill -- -1": true, "pkill go": true,
		"mount -t tmpfs t /mnt": true, "touch \"/root/x\"": true,
		"echo x >/dev/null": false, "rm -rf /tmp/x": false, "cat /etc/passwd": false, "rm -rf ./etc": false,
		"cp stdout ../root.yaml": false,
		"kill -9 123":            false, "ls /usr; rm a": false, "a shutdown": false,
	} {
		if got := len(harmOfShell("x_test.go", text)) > 0; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for body, want := range map[string]int{
		`os.Symlink("/etc/passwd", x)`: 1, `for _, l := range []string{"/usr/x", "y"} { os.Remove(l) }`: 1,
		`os.ReadFile("/etc/hosts"); os.Remove(x)`: 0,
		`judge("/etc/x")`:                         0, `r.WriteFile("a", "/root/x"); exec.Command("/bin/true")`: 1,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() {\n"+body+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := aims(f.Decls[0].(*ast.FuncDecl)); len(got) != want {
			t.Errorf("%s: %d, want %d", body, len(got), want)
		}
	}
}
