package agent

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pawl/kernel/effect"
	"pawl/text/strictjson"
)

// Bounds of a review: the objections that one may have, and the bytes of their texts.
const (
	maxObjections = 5
	maxReason     = 1500
	maxTestText   = 8 << 10
	maxTestRun    = 500
)

// review is the document of a reviewer.
type review struct {
	Verdict    string             `json:"verdict"`
	Objections []effect.Objection `json:"objections"`
}

// The verdicts of a review.
const (
	noObjection = "no_objection"
	objects     = "objections"
)

const reviewForm = `{"type":"object","additionalProperties":false,"required":["verdict","objections"],"properties":{` +
	`"verdict":{"type":"string","enum":["no_objection","objections"]},` +
	`"objections":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["reason"],"properties":{` +
	`"criterion":{"type":"string"},"file":{"type":"string"},"line":{"type":"integer"},"reason":{"type":"string"},` +
	`"test":{"type":"object","additionalProperties":false,"required":["path","content"],"properties":{` +
	`"path":{"type":"string"},"content":{"type":"string"},"run":{"type":"string"}}}}}}}}`

// ReviewQuestion asks for objections to a change, in the language of the person where that is known. Each has to name
// what can be looked at: a criterion with a line of a file that was changed, or a test.
func ReviewQuestion(spec effect.ReviewSpec, chinese bool) (Question, *[]effect.Objection) {
	if spec.Lang != "" {
		chinese = strings.HasPrefix(strings.ToLower(spec.Lang), "zh")
	}
	found := new([]effect.Objection)
	return Question{Purpose: purposeReview, Chinese: chinese, Schema: reviewForm, Text: reviewText(spec),
		take: func(raw []byte) error {
			var r review
			if err := strictjson.Decode(raw, &r, strictjson.Options{Depth: maxDepth, HalfPairs: true}); err != nil {
				return err
			}
			*found = r.Objections
			return r.flaw(spec)
		}}, found
}

// flaw is what is wrong with a review, nil where nothing is.
func (r review) flaw(spec effect.ReviewSpec) error {
	switch n := len(r.Objections); {
	case r.Verdict != noObjection && r.Verdict != objects:
		return fmt.Errorf("verdict: %q is neither %s nor %s", r.Verdict, noObjection, objects)
	case (r.Verdict == objects) != (n > 0):
		return fmt.Errorf("verdict: it says %s, and there are %d objections", r.Verdict, n)
	case n > maxObjections:
		return fmt.Errorf("objections: %d are too many: the %d gravest, please", n, maxObjections)
	}
	for i, o := range r.Objections {
		if err := flawOf(o, spec); err != nil {
			return fmt.Errorf("objections[%d].%w", i, err)
		}
	}
	return nil
}

func flawOf(o effect.Objection, spec effect.ReviewSpec) error {
	at := slices.IndexFunc(spec.Files, func(f effect.ReviewedFile) bool { return f.Path == o.File })
	switch {
	case strings.TrimSpace(o.Reason) == "" || len(o.Reason) > maxReason:
		return fmt.Errorf("reason: it is empty, or longer than %d bytes", maxReason)
	case o.ID != "" || o.Ended != "":
		return fmt.Errorf("id, ended: not yours to say")
	case o.Criterion != "" && !slices.ContainsFunc(spec.Criteria, func(c effect.Met) bool { return c.ID == o.Criterion }):
		return fmt.Errorf("criterion: there is no %q", o.Criterion)
	case o.File != "" && at < 0:
		return fmt.Errorf("file: the change has no file %q", o.File)
	case o.File != "" && (o.Line < 1 || o.Line > spec.Files[at].Lines):
		return fmt.Errorf("line: %s has no line %d, but %d lines", o.File, o.Line, spec.Files[at].Lines)
	case o.File == "" && o.Line != 0:
		return fmt.Errorf("line: it is the line of no file")
	case o.Test != nil:
		return flawOfTest(*o.Test)
	case o.Criterion == "" || o.File == "":
		return fmt.Errorf("test: where there is none, criterion, file and line have to be there")
	}
	return nil
}

func flawOfTest(t effect.ReviewTest) error {
	parts := strings.Split(strings.ToLower(t.Path), "/")
	switch {
	case !filepath.IsLocal(filepath.FromSlash(t.Path)) || path.Clean(t.Path) != t.Path || t.Path == "." ||
		strings.ContainsAny(t.Path, "\\\x00") || slices.Contains(parts, ".git") || slices.Contains(parts, ".pawl"):
		return fmt.Errorf("test.path: %q is no path of a new file in the repository", t.Path)
	case strings.TrimSpace(t.Content) == "" || len(t.Content) > maxTestText:
		return fmt.Errorf("test.content: it is empty, or longer than %d bytes", maxTestText)
	case len(t.Run) > maxTestRun || strings.ContainsAny(t.Run, "\n\x00"):
		return fmt.Errorf("test.run: it is longer than %d bytes, or than one line", maxTestRun)
	}
	return nil
}

// reviewText is what a reviewer is told: what was wanted, what pawl has seen of it, and the change.
func reviewText(spec effect.ReviewSpec) string {
	var wanted, checks, files strings.Builder
	for _, c := range spec.Criteria {
		fmt.Fprintf(&wanted, "%s: %s\n  %s (%s) %s\n", c.ID, c.Text, c.Verdict, strings.ReplaceAll(string(c.Why), "_", " "),
			strings.Join(c.Shown, ", "))
	}
	for _, o := range spec.Checks {
		fmt.Fprintf(&checks, "%s: %s (%s)", o.Name, o.Status, o.Command)
		if o.Tests != nil {
			fmt.Fprintf(&checks, ", %d tests passed, %d skipped", o.Tests.Passed, o.Tests.Skipped)
		}
		checks.WriteByte('\n')
	}
	for _, f := range spec.Files {
		fmt.Fprintf(&files, "%s %s, %d lines, +%d -%d\n", f.Status, f.Path, f.Lines, f.Added, f.Removed)
	}
	out := Section("Requirement", head(spec.Requirement, maxGoal)) + answersText(spec.Answers) +
		Section("What had to hold, and what shows it", head(wanted.String(), maxStep)) +
		Section("Checks that pawl ran on the result", head(checks.String(), maxStep)) +
		Section("Files that were changed", head(files.String(), maxStep))
	if len(spec.Cut) > 0 {
		out += Section("Files that are not in the change below, or not to their end",
			head(strings.Join(spec.Cut, "\n"), maxStep))
	}
	return out + Section("The change", head(spec.Patch, maxPack))
}
