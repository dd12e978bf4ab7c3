package reporters

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/text/shell"
	"pawl/text/testrun"
)

// maxNarrow bounds the tests that a command names one by one.
const maxNarrow = 300

// endsModule runs the programs of go test so that each leaves a witness of its end.
const endsModule = "ends.sh"

// Ends says whether each program of tests leaves a witness of its end in the folder of Apply: a file NAME.log that
// begins with EndMark, beside NAME.dir, which says in which folder it ran.
func (r Reporter) Ends() bool { return r.narrow && r.Runner == testrun.Go }

// EndMark is how the package testing begins the log that it writes when a run has come to its end.
const EndMark = "# test log"

// Narrow returns the reporter for a command that runs these tests alone, and never from a cache, as far as the runner
// can be told so; what runs besides does no harm. It is false where that cannot be done to the command.
func (r Reporter) Narrow(names []testrun.Name) (Reporter, bool) {
	if len(r.argv) == 0 || len(names) == 0 || len(names) > maxNarrow {
		return r, false
	}
	r.narrow = true
	var files, tests []string
	for _, n := range names {
		files, tests = append(files, n.File), append(tests, n.Test)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	switch r.Runner {
	case testrun.Go:
		if strings.HasPrefix(files[0], "/") || files[0] == "" {
			return r, false // in no module, so that the packages have no names
		}
		flags, _ := parted(r.argv[2:], goSwitches)
		flags = slices.DeleteFunc(flags, func(f string) bool { return f == "-v" || f == "--v" || f == "-v=true" })
		for i := range tests {
			tests[i] = regexp.QuoteMeta(tests[i])
		}
		flags = append(flags, "-count=1", "-run", "^("+strings.Join(tests, "|")+")$")
		prefix, _, _ := strings.Cut(r.command, "go test")
		r.Verbose = false
		r.command = prefix + shell.QuoteAll(slices.Concat([]string{"go", "test"}, flags, files))
		return r, true
	case testrun.Node:
		if filepath.Base(r.argv[0]) != "node" || !slices.Contains(r.argv, "--test") {
			return r, false
		}
		flags, _ := parted(r.argv[1:], nodeSwitches)
		r.command = shell.QuoteAll(slices.Concat(r.argv[:1], flags, files))
		return r, true
	case testrun.Unittest:
		for _, t := range tests {
			r.command += " -k " + shell.Quote(strings.ReplaceAll(t, "::", "."))
		}
		return r, true
	case testrun.Pytest:
		from := slices.IndexFunc(r.argv, func(a string) bool { return path.Base(a) == "pytest" })
		if slices.ContainsFunc(r.argv[from+1:], func(a string) bool { return !strings.HasPrefix(a, "-") }) {
			return r, false // that may be the value of a flag, or a folder
		}
		for _, n := range names {
			r.command += " " + shell.Quote(n.File+"::"+n.Test)
		}
		return r, true
	case testrun.Cargo:
		r.command += r.ofCargo(tests)
		return r, true
	}
	return r, false
}

// ofCargo are the words that have cargo run tests of those names.
func (r Reporter) ofCargo(tests []string) string {
	slices.Sort(tests)
	words := " " + shell.QuoteAll(slices.Compact(tests))
	if !slices.Contains(r.argv, "--") {
		return " --" + words
	}
	return words
}

// Script is the script of package.json that a package manager of Node was told to run, and nothing else; else "".
func (r Reporter) Script() string {
	if r.Runner != testrun.Node || len(r.argv) == 0 || filepath.Base(r.argv[0]) == "node" {
		return ""
	}
	words := slices.DeleteFunc(slices.Clone(r.argv[1:]), func(a string) bool { return a == "run" || a == "run-script" })
	switch {
	case len(words) != 1 || strings.HasPrefix(words[0], "-"):
		return ""
	case words[0] == "t":
		return "test"
	}
	return words[0]
}

// goSwitches are the flags of go test without a value behind them, and nodeSwitches says of node's which have one.
func goSwitches(name string) bool {
	return slices.Contains([]string{"a", "asan", "benchmem", "cover", "failfast", "fullpath", "i", "linkshared",
		"modcacherw", "msan", "race", "short", "trimpath", "v", "work"}, name)
}

func nodeSwitches(name string) bool {
	return !slices.Contains([]string{"r", "require", "import", "loader", "experimental-loader", "C", "conditions",
		"env-file", "test-concurrency", "test-timeout", "test-name-pattern", "test-skip-pattern"}, name)
}

// parted parts the flags of a command, with the values that stand behind them, from its other words.
func parted(args []string, isSwitch func(name string) bool) (flags, words []string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, _, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		switch {
		case !strings.HasPrefix(a, "-"):
			words = append(words, a)
		case given || isSwitch(name) || i+1 == len(args):
			flags = append(flags, a)
		default:
			flags = append(flags, a, args[i+1])
			i++
		}
	}
	return flags, words
}
