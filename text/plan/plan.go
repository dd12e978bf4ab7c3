// Package plan holds the plan: what an agent proposes, a person approves and pawl carries out. The types are those of
// docs/spec/turn.md#s3 with the exact shapes of docs/spec/turn.md#schemas; additions of the product are marked EXT. A
// plan is data: decoding, checking, patching and rendering it are pure functions.
package plan

import (
	"encoding/json"
	"slices"

	"pawl"
)

// Plan is the one of docs/spec/turn.md#s3-1. Network is EXT (docs/spec/composition.md#network): the places on the
// network that calls which ask for it may connect to, each the name of an ecosystem, for its registries, or "host",
// "host:port" or ".domain:port". Criteria is EXT: what holds once the work is done.
type Plan struct {
	PlanID       string             `json:"plan_id" yaml:"plan_id"`
	Goal         string             `json:"goal" yaml:"goal"`
	Constraints  []string           `json:"constraints" yaml:"constraints"`
	Network      []string           `json:"network,omitempty" yaml:"network,omitempty"`
	Criteria     []Criterion        `json:"criteria,omitempty" yaml:"criteria,omitempty"`
	Steps        []Step             `json:"steps" yaml:"steps"`
	Verification VerificationPolicy `json:"verification" yaml:"verification"`
	RiskLevel    pawl.Risk          `json:"risk_level" yaml:"risk_level"`
	CreatedAt    Instant            `json:"created_at,omitzero" yaml:"created_at"`
}

// Step is the one of docs/spec/turn.md#s3-2. DependsOn is EXT (docs/spec/turn.md#b8).
type Step struct {
	StepID            string             `json:"step_id" yaml:"step_id"`
	Title             string             `json:"title" yaml:"title"`
	Intent            string             `json:"intent" yaml:"intent"`
	Status            Status             `json:"status" yaml:"status"`
	DependsOn         []string           `json:"depends_on,omitempty" yaml:"depends_on,omitempty"`
	ToolCalls         []ToolCallTemplate `json:"tool_calls,omitempty" yaml:"tool_calls,omitempty"`
	ExpectedArtifacts []Artifact         `json:"expected_artifacts,omitempty" yaml:"expected_artifacts,omitempty"`
	RollbackHint      string             `json:"rollback_hint,omitempty" yaml:"rollback_hint,omitempty"`
}

// Status is the state of a step. The five values are the seed's; a failure is kept in the attempts, not here.
type Status string

// The five values of docs/spec/turn.md#s3-2.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Done       Status = "done"
	Blocked    Status = "blocked"
	Skipped    Status = "skipped"
)

// ToolCallTemplate is a call that a step expects to make: the tool's name and its arguments as a JSON object.
type ToolCallTemplate struct {
	Name     string          `json:"name" yaml:"name"`
	ArgsHint json.RawMessage `json:"args_hint" yaml:"args_hint"`
	Why      string          `json:"why,omitempty" yaml:"why,omitempty"`
}

// Artifact is something that a step is expected to leave behind.
type Artifact struct {
	Type  ArtifactType `json:"type" yaml:"type"`
	Value string       `json:"value" yaml:"value"`
}

// ArtifactType says what an artifact's value names.
type ArtifactType string

// The three types of docs/spec/turn.md#artifact.
const (
	ArtifactFile    ArtifactType = "file"
	ArtifactCommand ArtifactType = "command"
	ArtifactNote    ArtifactType = "note"
)

// Criterion is one thing that has to hold once the work is done, and how that is shown.
type Criterion struct {
	ID    string `json:"id" yaml:"id"`
	Text  string `json:"text" yaml:"text"`
	From  string `json:"from,omitempty" yaml:"from,omitempty"` // the words of the requirement that it comes from
	Proof Proof  `json:"proof" yaml:"proof"`
	// Run is a command that has to end with 0, Tests are tests by name, and Checks names or kinds of the project's own
	// checks, "any" for each: what shows a check, and what has to stay green for a kept one. Where all three are empty,
	// it is any test.
	Run    string   `json:"run,omitempty" yaml:"run,omitempty"`
	Tests  []string `json:"tests,omitempty" yaml:"tests,omitempty"`
	Checks []string `json:"checks,omitempty" yaml:"checks,omitempty"`
	// Paths are files and folders below the root of the project that a diff has to change or bring, and that are to be
	// gone.
	Paths []string `json:"paths,omitempty" yaml:"paths,omitempty"`
	// Texts has to stand in the paths of a diff, and nowhere, or not in these paths, where it is to be gone. Of the
	// tests that show a check, or are asked for, one has to speak of one of them.
	Texts []string `json:"texts,omitempty" yaml:"texts,omitempty"`
	// Files are tests that were written with the plan, for a check or for what is kept: all that they declare has to
	// pass, and nobody who works on the plan can change them.
	Files []TestFile `json:"files,omitempty" yaml:"files,omitempty"`
}

// TestFile is a file of tests that the project does not have yet.
type TestFile struct {
	Path    string `json:"path" yaml:"path"` // below the root of the project
	Content string `json:"content" yaml:"content"`
	// Held says that whoever does the work never sees the file: it shows that more than the cases that were shown is
	// met. It is not landed.
	Held bool `json:"held,omitempty" yaml:"held,omitempty"`
}

// Named reports whether a criterion says itself which tests, checks or command show it.
func (c Criterion) Named() bool { return c.Run != "" || len(c.Tests)+len(c.Checks)+len(c.Files) > 0 }

// Proof is the way in which a criterion is shown to hold.
type Proof string

// The kinds of proof. Pawl itself shows the first five; the last two are somebody's word.
const (
	ProofCheck  Proof = "check"  // red before the work, green after it
	ProofKept   Proof = "kept"   // green before and after it, with the same tests
	ProofGone   Proof = "gone"   // there before the work, and not after it
	ProofDiff   Proof = "diff"   // a file that the work changes or brings
	ProofTest   Proof = "test"   // a new test passes, and fails where what it is about does nothing
	ProofReview Proof = "review" // a reviewer finds nothing against it
	ProofPerson Proof = "person" // a person says so
)

// Tried reports whether pawl itself shows a proof of this kind, by trying it with and without the work.
func (p Proof) Tried() bool {
	return p == ProofCheck || p == ProofKept || p == ProofGone || p == ProofDiff || p == ProofTest
}

// Write is the call that puts the file into a tree, by the tool of docs/spec/turn.md#tools-list.
func (f TestFile) Write() ToolCallTemplate {
	args, _ := json.Marshal(map[string]string{"path": f.Path, "content": f.Content}) // texts always encode
	return ToolCallTemplate{Name: "write_file", ArgsHint: args}
}

// TestFiles lists the files of tests that were written with the plan and are shown to whoever does the work.
func (p Plan) TestFiles() []TestFile {
	var out []TestFile
	for _, c := range p.Criteria {
		for _, f := range c.Files {
			if !f.Held {
				out = append(out, f)
			}
		}
	}
	return out
}

// Withheld returns the plan as whoever does the work may see it: without the files that are held out.
func (p Plan) Withheld() Plan {
	p.Criteria = cloneCriteria(p.Criteria)
	for i := range p.Criteria {
		c := &p.Criteria[i]
		c.Files = slices.DeleteFunc(c.Files, func(f TestFile) bool { return f.Held })
	}
	return p
}

// Complete reports whether each step has its calls, so that no agent has to find them.
func (p Plan) Complete() bool {
	return !slices.ContainsFunc(p.Steps, func(s Step) bool { return len(s.ToolCalls) == 0 })
}

// Shown reports whether pawl can show of anything in the plan that it was done.
func (p Plan) Shown() bool {
	return slices.ContainsFunc(p.Criteria, func(c Criterion) bool { return c.Proof.Tried() })
}

// VerificationPolicy is the one of docs/spec/turn.md#s3-3. With Required false a failing command is a warning;
// StopOnFail ends the list of commands at the first failure (docs/spec/turn.md#b10).
type VerificationPolicy struct {
	Mode       Mode     `json:"mode" yaml:"mode"`
	Commands   []string `json:"commands" yaml:"commands"`
	Required   bool     `json:"required" yaml:"required"`
	StopOnFail bool     `json:"stop_on_fail" yaml:"stop_on_fail"`
}

// Demanding reports whether work must not be called done before checks have passed. Where none are asked for, Required,
// which is true unless a plan says otherwise, demands nothing.
func (v VerificationPolicy) Demanding() bool { return v.Required && v.Mode != VerifyNone }

// Mode says where the verification commands come from: none at all, those that pawl detects for linting, tests or the
// build, or those that the policy lists.
type Mode string

// The five modes of docs/spec/turn.md#s3-3.
const (
	VerifyNone   Mode = "none"
	VerifyLint   Mode = "lint"
	VerifyTest   Mode = "test"
	VerifyBuild  Mode = "build"
	VerifyCustom Mode = "custom"
)

// Ecosystems lists the names that stand in Plan.Network for the registries of an ecosystem. They are append-only.
func Ecosystems() []string {
	return []string{"go", "npm", "pypi", "crates", "rubygems", "packagist", "maven", "nuget", "pub"}
}
