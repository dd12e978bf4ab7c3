package prove

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"

	"pawl/driver/prove/cut"
	"pawl/text/testrun"
)

// idle looks whether tests that were asked for notice when what they are about does nothing.
type idle struct {
	*bench
	wanted string
}

const (
	maxWalked = 5000 // entries of the tree that are looked at
	maxIdle   = 12   // functions that are made to do nothing, one by one
)

// confirm has the functions that the work's own tests speak of do nothing, one at a time, until each of these tests has
// noticed. Where the words of what was wanted name functions, these are the ones.
func (d *idle) confirm(ctx context.Context, subjects []*subject) error {
	var tests []*subject
	spoken := map[string]bool{}
	for _, s := range subjects {
		if s.own && s.holds && !s.whole() && !s.shows() {
			tests = append(tests, s)
			for n := range cut.Names(s.test.Source) {
				spoken[n] = true
			}
		}
	}
	if len(tests) == 0 {
		return nil
	}
	d.say("verify.prove_confirm")
	texts, functions := d.functions(spoken)
	for _, f := range functions[:min(len(functions), maxIdle)] {
		if len(tests) == 0 {
			break
		}
		for _, with := range []string{f.With, f.Other} {
			if f.With = with; with == "" || len(tests) == 0 {
				continue // what is expected may be nothing: then something is not
			}
			err := d.taken(texts, []cut.Part{f}, func() error {
				return d.try(ctx, tests, func(s *subject, is sight) {
					s.confirmed = s.confirmed || is.end == testrun.Failed
				})
			})
			if err != nil {
				return err
			}
			tests = slices.DeleteFunc(tests, func(s *subject) bool { return s.confirmed })
		}
	}
	return nil
}

// functions are those of the copy that are spoken of, with the texts of their files. Where what was wanted names
// functions, spoken of or not, they are those of them that are.
func (d *idle) functions(spoken map[string]bool) (texts map[string]string, found []cut.Part) {
	root, err := os.OpenRoot(d.place.Tree)
	if err != nil {
		return nil, nil
	}
	defer root.Close()
	texts = map[string]string{}
	words := cut.Words(strings.Join(slices.DeleteFunc(strings.Fields(d.wanted), func(w string) bool {
		return slices.Contains(aboutTests, strings.ToLower(strings.Trim(w, ".,:;")))
	}), " "))
	var named []cut.Part
	asked, walked := false, 0
	_ = fs.WalkDir(root.FS(), ".", func(file string, e fs.DirEntry, err error) error {
		walked++
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is no function
		case walked > maxWalked:
			return fs.SkipAll
		case e.IsDir() && (e.Name() == "node_modules" || e.Name() == "vendor" || file != "." && e.Name()[0] == '.'):
			return fs.SkipDir
		case !e.Type().IsRegular() || isTest(file) || !cut.IsSource(file):
			return nil
		}
		text, _ := readText(root, file)
		for _, f := range cut.Parts(file, "", text) {
			name := f.Name[1+strings.LastIndexByte(f.Name, '.'):]
			is := mentions(words, d.wanted, name)
			asked = asked || is
			if texts[file] = text; spoken[name] && is {
				named = append(named, f)
			} else if spoken[name] {
				found = append(found, f)
			}
		}
		return nil
	})
	if asked {
		return texts, named
	}
	return texts, found
}

// aboutTests are words with which tests are asked for, and which name no function then.
var aboutTests = strings.Fields(`add write create make cover test tests testing case cases unit for with of the a an new
	run check get set when that`)
