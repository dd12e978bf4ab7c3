package plan

import (
	"slices"
	"strings"

	"pawl/text/pattern"
)

// Limits on criteria. A plan that needs more is several plans.
const (
	maxCriteria = 50
	maxClaim    = 2000 // characters of what is to hold, and of the words it comes from
	maxNamed    = 32   // tests, checks, paths or texts of one criterion
	maxPath     = 1000 // characters
	maxFiles    = 8    // files of one criterion
	maxContent  = 64 << 10
)

// localPattern is the form of a path below the root of a project: segments that are neither empty nor "." nor "..",
// with a slash between them and perhaps at the end, and nothing that a system takes for a drive or another separator.
const (
	segmentPattern = `([^./\\:\n][^/\\:\n]*|\.[^./\\:\n][^/\\:\n]*|\.\.[^/\\:\n]+)`
	localPattern   = `^` + segmentPattern + `(/` + segmentPattern + `)*/?$`
)

var localPath = pattern.New(localPattern)

// testPattern is a localPattern of a file that runners, and pawl, take for one of tests.
const (
	folders     = `(` + segmentPattern + `/)*`
	testPattern = `^` + folders + `([^/\\:\n]+_test\.go|test_[^/\\:\n]+\.py|[^/\\:\n]+_test\.py|` +
		`[^/\\:\n]+[.-](test|spec)\.[cm]?[jt]sx?|` +
		`(tests?|spec|__tests__)/` + folders + `[^/\\:\n]+\.(py|[cm]?[jt]sx?|rs|rb|java|kt|php|cs|c|cc|cpp))$`
)

var testPath = pattern.New(testPattern)

// Proofs are the ways in which a criterion may be shown.
func Proofs() []Proof {
	return []Proof{ProofCheck, ProofKept, ProofGone, ProofDiff, ProofTest, ProofReview, ProofPerson}
}

// means says with which proofs a field of a criterion has a meaning.
var means = []struct {
	field  string
	proofs []Proof
	given  func(Criterion) bool
}{
	{"run", []Proof{ProofCheck, ProofKept}, func(c Criterion) bool { return c.Run != "" }},
	{"tests", []Proof{ProofCheck, ProofKept}, func(c Criterion) bool { return len(c.Tests) > 0 }},
	{"checks", []Proof{ProofCheck, ProofKept}, func(c Criterion) bool { return len(c.Checks) > 0 }},
	{"files", []Proof{ProofCheck, ProofKept}, func(c Criterion) bool { return len(c.Files) > 0 }},
	{"paths", []Proof{ProofGone, ProofDiff}, func(c Criterion) bool { return len(c.Paths) > 0 }},
	{"texts", []Proof{ProofCheck, ProofGone, ProofDiff, ProofTest}, func(c Criterion) bool { return len(c.Texts) > 0 }},
}

// criteria checks the criteria of a plan or a patch.
func (s shape) criteria(list []Criterion) {
	if len(list) > maxCriteria {
		s.report("criteria", "plan.too_many", maxCriteria)
		return
	}
	at, files := map[string]int{}, map[string]string{}
	for i, c := range list {
		path := index("criteria", i)
		s.criterion(path, c)
		s.files(path+".files", c.Files, files)
		if first, twice := at[c.ID]; twice {
			s.report(path+".id", "plan.duplicate_criterion", clip(c.ID), index("criteria", first))
			continue
		}
		at[c.ID] = i
	}
}

func (s shape) criterion(path string, c Criterion) {
	if !identifier.Get().MatchString(c.ID) {
		s.report(path+".id", "plan.bad_criterion_id", clip(c.ID))
	}
	s.prose(path+".text", c.Text, maxClaim, 0)
	s.prose(path+".from", c.From, maxClaim, optionalText)
	s.prose(path+".run", c.Run, maxProse, optionalText)
	choice(s, path+".proof", c.Proof, Proofs())
	s.named(path+".tests", c.Tests, maxTitle)
	s.named(path+".checks", c.Checks, maxTitle)
	s.named(path+".texts", c.Texts, maxTitle)
	s.named(path+".paths", c.Paths, maxPath)
	for i, p := range c.Paths[:min(len(c.Paths), maxNamed)] {
		if at := index(path+".paths", i); !s.found.has(at) && !localPath.Get().MatchString(p) {
			s.report(at, "plan.bad_path", clip(p))
		}
	}
	if s.found.has(path + ".proof") {
		return
	}
	for _, m := range means {
		if m.given(c) && !slices.Contains(m.proofs, c.Proof) {
			s.report(path+"."+m.field, "plan.proof_field", m.field, string(c.Proof), proofNames(m.proofs))
		}
	}
	switch {
	case c.Proof == ProofDiff && len(c.Paths) == 0:
		s.report(path+".paths", "plan.diff_paths")
	case c.Proof == ProofGone && len(c.Paths)+len(c.Texts) == 0:
		s.report(path+".texts", "plan.gone_what")
	}
}

// files checks the files of tests of a criterion. Of those that were seen before, seen has the places by path.
func (s shape) files(path string, list []TestFile, seen map[string]string) {
	if len(list) > maxFiles {
		s.report(path, "plan.too_many", maxFiles)
		return
	}
	for i, f := range list {
		at := index(path, i)
		s.prose(at+".path", f.Path, maxPath, oneLine)
		s.prose(at+".content", f.Content, maxContent, 0)
		first, twice := seen[f.Path]
		switch {
		case s.found.has(at + ".path"):
		case !testPath.Get().MatchString(f.Path):
			s.report(at+".path", "plan.no_test_file", clip(f.Path))
		case twice:
			s.report(at+".path", "plan.duplicate_file", clip(f.Path), first)
		default:
			seen[f.Path] = at
		}
	}
}

// named checks a list of names, each of one line.
func (s shape) named(path string, list []string, limit int) {
	if len(list) > maxNamed {
		s.report(path, "plan.too_many", maxNamed)
		return
	}
	for i, text := range list {
		s.prose(index(path, i), text, limit, oneLine)
	}
}

func proofNames(list []Proof) string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}

func cloneCriteria(list []Criterion) []Criterion {
	list = slices.Clone(list)
	for i := range list {
		c := &list[i]
		c.Tests, c.Checks = slices.Clone(c.Tests), slices.Clone(c.Checks)
		c.Paths, c.Texts, c.Files = slices.Clone(c.Paths), slices.Clone(c.Texts), slices.Clone(c.Files)
	}
	return list
}

// equal compares as Hash does: a list that is absent is one that is empty.
func (c Criterion) equal(d Criterion) bool { return c.ID == d.ID && len(c.differing(d)) == 0 }

// differing returns the names of the fields in which two criteria say something else.
func (c Criterion) differing(d Criterion) []string {
	var out []string
	for _, f := range []struct {
		name string
		same bool
	}{
		{"text", c.Text == d.Text}, {"from", c.From == d.From}, {"proof", c.Proof == d.Proof}, {"run", c.Run == d.Run},
		{"tests", slices.Equal(c.Tests, d.Tests)}, {"checks", slices.Equal(c.Checks, d.Checks)},
		{"paths", slices.Equal(c.Paths, d.Paths)}, {"texts", slices.Equal(c.Texts, d.Texts)},
		{"files", slices.Equal(c.Files, d.Files)},
	} {
		if !f.same {
			out = append(out, f.name)
		}
	}
	return out
}

// diffCriteria tells what was changed in criteria, which are matched by their ids.
func diffCriteria(from, to []Criterion, add func(field, key string, args ...any)) {
	find := func(list []Criterion, id string) int {
		return slices.IndexFunc(list, func(c Criterion) bool { return c.ID == id })
	}
	var was, is []string // the ids that both have, in the order of each
	for _, c := range from {
		if find(to, c.ID) < 0 {
			add("criteria", "plan.change_criterion_removed", c.ID)
		} else {
			was = append(was, c.ID)
		}
	}
	for i, c := range to {
		path, at := index("criteria", i), find(from, c.ID)
		if at < 0 {
			add(path, "plan.change_criterion_added", c.ID, c.Text)
			continue
		}
		is = append(is, c.ID)
		for _, name := range from[at].differing(c) {
			add(path+"."+name, "plan.change_criterion", c.ID, name)
		}
	}
	if !slices.Equal(was, is) {
		add("criteria", "plan.change_criterion_order")
	}
}
