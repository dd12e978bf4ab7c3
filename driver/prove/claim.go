package prove

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"pawl/driver/prove/cut"
	"pawl/driver/verify/testlist"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// claim is what shows a criterion: subjects, of which each is told of, or the best where any of them will do; or a
// state of files.
type claim struct {
	plan.Criterion
	subjects []*subject
	any      bool
	absent   []string // tests that were named and are nowhere
	files    []*state
}

// state is a state of files that a criterion names.
type state struct {
	what        string
	before, now bool
}

// wants finds what the criteria ask for that can be tried on what was there before.
func (p *proving) wants(declared map[string][]testlist.Test) {
	for i := range p.claims {
		c := &p.claims[i]
		if c.Proof != plan.ProofKept || len(c.Tests)+len(c.Files) > 0 {
			continue
		}
		if c.Run != "" {
			c.subjects = append(c.subjects, p.subject(command(c.Run), testlist.Test{}, true))
			continue
		}
		for _, check := range checksOf(p.Checks, c.Criterion) {
			if p.known(check) == "" && len(c.Checks) == 0 {
				continue // that they pass with the work says enough, and the whole of them takes its time
			}
			s := p.subject(check, testlist.Test{}, true)
			s.tests = names(declared[effect.CheckKey(check)])
			c.subjects = append(c.subjects, s)
		}
	}
}

// wantsTests finds what else the criteria ask for, and the tests that the work added or changed.
func (p *proving) wantsTests(before, now map[string][]testlist.Test) {
	own := map[string][]*subject{}
	var all []*subject
	for _, c := range p.Checks {
		for _, t := range p.ownTests(c, before[effect.CheckKey(c)], now[effect.CheckKey(c)]) {
			if len(all) == effect.MaxTestNames {
				break
			}
			s := p.subject(c, t, false)
			if !s.own {
				s.own = true
				all, own[effect.CheckKey(c)] = append(all, s), append(own[effect.CheckKey(c)], s)
			}
		}
	}
	if len(all) == 0 && couldShow(p.result.Changed) && slices.ContainsFunc(p.claims, claim.open) {
		for _, c := range p.Checks {
			if isTests(c) {
				all = append(all, p.subject(c, testlist.Test{}, false))
			}
		}
	}
	for i := range p.claims {
		c := &p.claims[i]
		switch {
		case c.Proof != plan.ProofCheck && (c.Proof != plan.ProofKept || len(c.Tests)+len(c.Files) == 0):
		case c.Run != "":
			c.subjects = append(c.subjects, p.subject(command(c.Run), testlist.Test{}, false))
		case len(c.Tests) > 0:
			p.named(c, now)
		case len(c.Files) > 0:
			p.given(c, now)
		case len(c.Checks) > 0:
			c.any = true
			for _, check := range checksOf(p.Checks, c.Criterion) {
				if ofCheck := own[effect.CheckKey(check)]; len(ofCheck) > 0 {
					c.subjects = append(c.subjects, ofCheck...)
				} else {
					c.subjects = append(c.subjects, p.subject(check, testlist.Test{}, false))
				}
			}
		default:
			c.any, c.subjects = true, all
		}
	}
}

// open reports whether a criterion is shown by any test.
func (c claim) open() bool {
	return c.Proof == plan.ProofCheck && !c.Named()
}

// tried reports whether a criterion needs a copy to be looked at.
func (c claim) tried() bool {
	switch c.Proof {
	case plan.ProofCheck, plan.ProofGone:
		return true
	case plan.ProofKept:
		return c.Run != "" || len(c.Tests)+len(c.Files) > 0
	}
	return len(c.Texts) > 0
}

// couldShow reports whether checks that failed before may pass now: where nothing but documents changed, none of them
// is worth the time.
func couldShow(changed []effect.FileStat) bool {
	return slices.ContainsFunc(changed, func(f effect.FileStat) bool {
		return cut.IsSource(f.Path) || slices.Contains(definitions, path.Base(f.Path))
	})
}

// definitions are files that are no source and on which it depends what checks say.
var definitions = []string{"go.mod", "go.sum", "package.json", "pyproject.toml", "setup.cfg", "Cargo.toml", "Makefile",
	"pom.xml", "CMakeLists.txt"}

// command is a check that runs a command.
func command(run string) effect.Check {
	return effect.Check{Name: run, Command: run, Kind: kindCustom, Level: 2}
}

// checksOf are the checks that a criterion names, by name or kind; where it names none, those that test.
func checksOf(all []effect.Check, c plan.Criterion) []effect.Check {
	var out []effect.Check
	for _, check := range all {
		if len(c.Checks) == 0 && isTests(check) || slices.ContainsFunc(c.Checks, func(n string) bool {
			return n == "any" || n == check.Name || n == check.Kind
		}) {
			out = append(out, check)
		}
	}
	return out
}

// named finds the tests that a criterion names. Where the tests of a check are not known by name, the check stands for
// them.
func (p *proving) named(c *claim, declared map[string][]testlist.Test) {
	for _, name := range c.Tests {
		found := len(c.subjects)
		for _, check := range p.Checks {
			for _, t := range declared[effect.CheckKey(check)] {
				if slices.Contains([]string{t.Test, t.String(), t.Path + "::" + t.Test}, name) ||
					strings.HasSuffix(t.Test, "::"+name) {
					c.subjects = append(c.subjects, p.subject(check, t, false))
				}
			}
		}
		for _, check := range p.Checks {
			if found == len(c.subjects) && isTests(check) && len(declared[effect.CheckKey(check)]) == 0 {
				c.subjects = append(c.subjects, p.subject(check, testlist.Test{}, false))
			}
		}
		if found == len(c.subjects) {
			c.absent = append(c.absent, name)
		}
	}
}

// given finds the tests of the files that came with the plan. Where the tests of a check are not known by name, the
// check stands for them.
func (p *proving) given(c *claim, declared map[string][]testlist.Test) {
	for _, f := range c.Files {
		found := false
		for _, check := range p.Checks {
			all := declared[effect.CheckKey(check)]
			for _, t := range all {
				if path.Join(check.Dir, t.Path) == f.Path {
					c.subjects, found = append(c.subjects, p.subject(check, t, false)), true
				}
			}
			if isTests(check) && len(all) == 0 {
				c.subjects, found = append(c.subjects, p.subject(check, testlist.Test{}, false)), true
			}
		}
		if !found {
			c.absent = append(c.absent, f.Path)
		}
	}
}

// planned is the file of tests that came with the plan and declares a test, nil for any other test.
func (p *proving) planned(s *subject) *plan.TestFile {
	for _, c := range p.Criteria {
		for i := range c.Files {
			if f := &c.Files[i]; !s.whole() && f.Path == path.Join(s.check.Dir, s.test.Path) {
				return f
			}
		}
	}
	return nil
}

func names(tests []testlist.Test) []string {
	var out []string
	for _, t := range tests {
		out = append(out, t.String())
	}
	slices.Sort(out)
	return out
}

// filesOf looks at the states of files that the criteria name: before the work, and with it.
func (p *proving) filesOf(work bool) {
	root, err := os.OpenRoot(p.bench.place.Tree)
	if err != nil {
		return
	}
	defer root.Close()
	p.files(root, work)
}

// files is filesOf with the folder of the copy, which is only used for what cannot be told without.
func (p *proving) files(root *os.Root, work bool) {
	for i := range p.claims {
		c := &p.claims[i]
		if c.Proof != plan.ProofGone && c.Proof != plan.ProofDiff {
			continue
		}
		n := 0
		note := func(what string, is bool) {
			if n == len(c.files) {
				c.files = append(c.files, &state{what: what})
			}
			if c.files[n].now = is; !work {
				c.files[n].before = is
			}
			n++
		}
		if c.Proof == plan.ProofDiff || len(c.Texts) == 0 {
			for _, name := range c.Paths {
				if c.Proof == plan.ProofDiff {
					note(name, work && p.changed(name))
					continue
				}
				_, err := root.Lstat(path.Clean(name))
				note(name, err == nil)
			}
		}
		for _, text := range c.Texts {
			note(text, stands(root, p.result.Changed, c.Criterion, text))
		}
	}
}

// changed reports whether the work changed or brought a file, or one below a folder.
func (p *proving) changed(name string) bool {
	return slices.ContainsFunc(p.result.Changed, func(f effect.FileStat) bool {
		return f.Status != "D" && within(f.Path, name)
	})
}

// within reports whether a file is, or lies below, what a criterion names.
func within(file, name string) bool {
	name = path.Clean(name)
	return name == "." || file == name || strings.HasPrefix(file, name+"/")
}

// stands reports whether a text stands in the files that a criterion is about: those that it names, or else those that
// the work changed for a diff, and all for what is to be gone.
func stands(root *os.Root, changed []effect.FileStat, c plan.Criterion, text string) bool {
	found := false
	look := func(file string) {
		if !found {
			content, _ := readText(root, file)
			found = strings.Contains(content, text) && (c.Proof == plan.ProofDiff || apartIn(content, text))
		}
	}
	paths := c.Paths
	if len(paths) == 0 && c.Proof == plan.ProofDiff {
		for _, f := range changed {
			look(f.Path)
		}
		return found
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, name := range paths {
		_ = fs.WalkDir(root.FS(), path.Clean(name), func(file string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // what cannot be read says nothing
			case found:
				return fs.SkipAll
			case e.IsDir() && e.Name() == ".git":
				return fs.SkipDir
			case e.Type().IsRegular() && e.Name() != ".git":
				look(file)
			}
			return nil
		})
	}
	return found
}

// apartIn reports whether a text stands somewhere without being a part of a longer name: Sub is gone from a program
// that still has Subject.
func apartIn(content, text string) bool {
	for at := 0; at < len(content); at++ {
		i := strings.Index(content[at:], text)
		if i < 0 || text == "" {
			return false
		}
		at += i
		end := at + len(text)
		if !(at > 0 && joins(content[at-1]) && joins(text[0])) &&
			!(end < len(content) && joins(content[end]) && joins(text[len(text)-1])) {
			return true
		}
	}
	return false
}

// joins reports whether a byte is one of which names are made.
func joins(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
